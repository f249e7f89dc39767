/**
 * Communication alarms: an adapter has lost the line or the peer of a device, or the state folder takes no more writes.
 * They are listed with the alarms of the
 * device but have no bit in 701.Alrm, which a master without a connection could not read.
 */

import { Listeners } from './listeners.ts';

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

/** Begin or end of an alarm of a device. */
export interface CommAlarmChange {
  readonly deviceIndex: number;
  readonly alarm: CommAlarm;
  readonly isOver: boolean;
}

/** characters; a message may repeat text of a peer */
const maxMessageLength = 256;

const none: readonly CommAlarm[] = [];

export class CommAlarms implements CommAlarmSwitch {
  readonly #nowMs: () => number;
  /** by device, in the order in which they began; a device without an alarm has no entry */
  readonly #active = new Map<number, Map<CommAlarmCode, CommAlarm>>();

  readonly #listeners: Listeners<[CommAlarmChange]>;

  /**
   * @param nowMs wall time, ms since the epoch
   * @param onFailure called with the error of a listener
   */
  constructor(nowMs: () => number, onFailure: (error: unknown) => void = () => undefined) {
    this.#nowMs = nowMs;
    this.#listeners = new Listeners(onFailure);
  }

  /** Calls `listener` at the begin and at the end of each alarm. @returns function that unsubscribes */
  onChange(listener: (change: CommAlarmChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** The alarms of a device, oldest first. */
  of(deviceIndex: number): readonly CommAlarm[] {
    const alarms = this.#active.get(deviceIndex);
    return alarms === undefined ? none : [...alarms.values()];
  }

  raise(deviceIndex: number, code: CommAlarmCode, text: string): void {
    const alarms = this.#active.get(deviceIndex) ?? new Map<CommAlarmCode, CommAlarm>();
    this.#active.set(deviceIndex, alarms);
    const earlier = alarms.get(code);
    const alarm: CommAlarm = {
      code,
      severity: commAlarmKinds[code].severity,
      sinceMs: earlier?.sinceMs ?? this.#nowMs(),
      message: text.slice(0, maxMessageLength),
    };
    alarms.set(code, alarm);
    if (!earlier) this.#listeners.notify({ deviceIndex, alarm, isOver: false });
  }

  end(deviceIndex: number, code: CommAlarmCode): void {
    const alarms = this.#active.get(deviceIndex);
    const alarm = alarms?.get(code);
    if (!alarms || !alarm) return;
    alarms.delete(code);
    if (alarms.size === 0) this.#active.delete(deviceIndex);
    this.#listeners.notify({ deviceIndex, alarm, isOver: true });
  }

  /** Drops the alarms of a removed device. */
  forget(deviceIndex: number): void {
    this.#active.delete(deviceIndex);
  }
}
