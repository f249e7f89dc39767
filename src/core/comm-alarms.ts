/**
 * Communication alarms: an adapter has lost the line or the peer of a device, or the state folder takes no more writes.
 * They are listed with the alarms of the
 * device but have no bit in 701.Alrm, which a master without a connection could not read.
 */

export type CommAlarmSeverity = 'warning' | 'error';

/** Every communication alarm; each belongs to one adapter or to the state folder, which raises and ends it. */
export const commAlarmKinds = {
  modbus_port_lost: { severity: 'warning' },
  rtu_port_lost: { severity: 'warning' },
  proxy_port_lost: { severity: 'warning' },
  csip_connection_lost: { severity: 'warning' },
  ocpp_connection_lost: { severity: 'warning' },
  dnp3_master_lost: { severity: 'warning' },
  state_not_kept: { severity: 'error' },
  dnp3_port_lost: { severity: 'warning' },
} as const satisfies Record<string, { readonly severity: CommAlarmSeverity }>;
export type CommAlarmCode = keyof typeof commAlarmKinds;

export interface CommAlarm {
  readonly code: CommAlarmCode;
  readonly severity: CommAlarmSeverity;
  /** wall time, ms since the epoch */
  readonly sinceMs: number;
  readonly message: string;
}

/** Raises and ends alarms, for adapters. */
export interface CommAlarmSwitch {
  /** Begins an alarm of a device; an active alarm keeps its begin and gets the new message. */
  raise(deviceIndex: number, code: CommAlarmCode, message: string): void;
  /** Ends an alarm; does nothing if it is not active. */
  end(deviceIndex: number, code: CommAlarmCode): void;
}

/** characters; a message may repeat text of a peer */
const maxMessageLength = 256;

const none: readonly CommAlarm[] = [];

export class CommAlarms implements CommAlarmSwitch {
  readonly #nowMs: () => number;
  /** by device, in the order in which they began; a device without an alarm has no entry */
  readonly #active = new Map<number, Map<CommAlarmCode, CommAlarm>>();

  /** @param nowMs wall time, ms since the epoch */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The alarms of a device, oldest first. */
  of(deviceIndex: number): readonly CommAlarm[] {
    const alarms = this.#active.get(deviceIndex);
    return alarms === undefined ? none : [...alarms.values()];
  }

  raise(deviceIndex: number, code: CommAlarmCode, text: string): void {
    const alarms = this.#active.get(deviceIndex) ?? new Map<CommAlarmCode, CommAlarm>();
    this.#active.set(deviceIndex, alarms);
    alarms.set(code, {
      code,
      severity: commAlarmKinds[code].severity,
      sinceMs: alarms.get(code)?.sinceMs ?? this.#nowMs(),
      message: text.slice(0, maxMessageLength),
    });
  }

  end(deviceIndex: number, code: CommAlarmCode): void {
    const alarms = this.#active.get(deviceIndex);
    alarms?.delete(code);
    if (alarms?.size === 0) this.#active.delete(deviceIndex);
  }

  /** Drops the alarms of a removed device. */
  forget(deviceIndex: number): void {
    this.#active.delete(deviceIndex);
  }
}
