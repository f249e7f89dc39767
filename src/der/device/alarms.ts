/** Alarms and service state of a device: words, severities, registers, the begin of each alarm, and the status text. */
import type { Alarm, AlarmSeverity, ControlFunction, Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import { isDateMs } from '../../core/kept-dates.ts';
import type { Kept } from '../../core/kept.ts';
import type { LogEntry, Logger } from '../../core/log/log.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { TripCause } from '../inverter/protection.ts';
import type { DeviceContext } from './device-context.ts';
import type { TripKind } from '../inverter/trip.ts';
import type { DcPort } from '../source/source.ts';

interface AlarmKind {
  /** bit of 701.Alrm; null: no bit */
  readonly bit: number | null;
  readonly source: Alarm['source'];
  readonly severity: AlarmSeverity;
  /** true: active until a reset, even after its cause has ended */
  readonly latched?: true;
  readonly text: string;
}

const tripTexts: Readonly<Record<TripCause, string>> = {
  lowVoltage: 'tripped on under-voltage',
  highVoltage: 'tripped on over-voltage',
  lowFrequency: 'tripped on under-frequency',
  highFrequency: 'tripped on over-frequency',
  island: 'tripped on islanding',
  rocof: 'tripped on rate of change of frequency',
  vectorShift: 'tripped on vector shift',
};

/** Every alarm that a device can raise, some of them by fault injection alone. */
export const alarmKinds = {
  ground_fault: { bit: 0, source: 'evse', severity: 'error', text: 'ground fault at a charging connector' },
  dc_over_volt: { bit: 1, source: 'dc', severity: 'warning', text: 'the DC voltage is above the window of the input' },
  ac_disconnect: { bit: 2, source: 'ac', severity: 'error', text: 'the AC side is disconnected' },
  dc_disconnect: { bit: 3, source: 'dc', severity: 'warning', text: 'the DC source is disconnected' },
  grid_disconnect: { bit: 4, source: 'ac', severity: 'error', text: 'tripped on islanding or by a relay' },
  cabinet_open: { bit: 5, source: 'ac', severity: 'warning', text: 'the cabinet is open' },
  manual_shutdown: { bit: 6, source: 'ac', severity: 'info', text: 'stopped by operator' },
  over_temp: { bit: 7, source: 'battery', severity: 'error', latched: true, text: 'over temperature' },
  over_frequency: { bit: 8, source: 'ac', severity: 'error', text: tripTexts.highFrequency },
  under_frequency: { bit: 9, source: 'ac', severity: 'error', text: tripTexts.lowFrequency },
  ac_over_volt: { bit: 10, source: 'ac', severity: 'error', text: tripTexts.highVoltage },
  ac_under_volt: { bit: 11, source: 'ac', severity: 'error', text: tripTexts.lowVoltage },
  blown_string_fuse: { bit: 12, source: 'dc', severity: 'error', text: 'a string fuse has blown' },
  under_temp: { bit: 13, source: 'battery', severity: 'error', latched: true, text: 'under temperature' },
  memory_loss: { bit: 14, source: 'ac', severity: 'error', text: 'memory was lost' },
  hw_test_failure: {
    bit: 15,
    source: 'ac',
    severity: 'error',
    latched: true,
    text: 'the model gave a value that is not finite',
  },
  manufacturer_alrm: { bit: 16, source: 'dc', severity: 'error', text: 'fault of the primary source' },
  over_volt: {
    bit: 16,
    source: 'battery',
    severity: 'error',
    latched: true,
    text: 'a battery cell is above its voltage range',
  },
  under_volt: {
    bit: 16,
    source: 'battery',
    severity: 'error',
    latched: true,
    text: 'a battery cell is below its voltage range',
  },
  overspeed: { bit: 16, source: 'dc', severity: 'warning', text: 'the rotor turns too fast' },
  connector_fault: { bit: 16, source: 'evse', severity: 'error', text: 'a charging connector is faulted' },
  soc_low: { bit: null, source: 'battery', severity: 'warning', text: 'the state of charge is at its floor' },
  soc_high: { bit: null, source: 'battery', severity: 'info', text: 'the state of charge is at its ceiling' },
  h2_tank_low: { bit: null, source: 'dc', severity: 'warning', text: 'the hydrogen tank is low' },
  lvrt_active: { bit: null, source: 'ac', severity: 'warning', text: 'riding through low voltage' },
  hvrt_active: { bit: null, source: 'ac', severity: 'warning', text: 'momentary cessation on high voltage' },
  frt_active: { bit: null, source: 'ac', severity: 'warning', text: 'momentary cessation on frequency' },
  voltage_collapse: {
    bit: null,
    source: 'ac',
    severity: 'error',
    text: 'the feeder cannot carry this power: the last ratio of terminal to source voltage is held',
  },
} as const satisfies Record<string, AlarmKind>;
export type AlarmCode = keyof typeof alarmKinds;

const noAlarms: readonly Alarm[] = [];
const kindOf = (code: AlarmCode): AlarmKind => alarmKinds[code];

/** The alarm of a condition of the source; conditions without a code are vendor alarms. */
function sourceAlarm(condition: string): AlarmCode {
  return Object.hasOwn(alarmKinds, condition) ? (condition as AlarmCode) : 'manufacturer_alrm';
}

/** 701.Alrm. */
export function alarmBits(codes: Iterable<AlarmCode>): number {
  let bits = 0;
  for (const code of codes) {
    const { bit } = kindOf(code);
    if (bit !== null) bits |= 1 << bit;
  }
  return bits;
}

const vendorBit = 16;

/** 701.MnAlrmInfo: the present meaning of the vendor's alarm bit. */
export function vendorText(codes: Iterable<AlarmCode>): string {
  const texts = [...codes]
    .map(kindOf)
    .filter(({ bit }) => bit === vendorBit)
    .map(({ text }) => text);
  return texts.join('; ').slice(0, vendorTextLength);
}

/** octets of 701.MnAlrmInfo */
const vendorTextLength = 64;

/** Bits of 714.Prt.DCAlrm. */
const portBits: Readonly<Partial<Record<AlarmCode, number>>> = {
  ground_fault: 0,
  dc_over_volt: 1,
  over_volt: 1,
  dc_disconnect: 3,
  over_temp: 7,
  under_temp: 13,
  under_volt: 21,
};

/** 714.Prt.DCAlrm and DCSta. */
export function portState({ conditions, voltageV }: DcPort): {
  readonly bits: number;
  readonly state: 'OFF' | 'ON' | 'WARNING' | 'ERROR';
} {
  let bits = 0;
  let worst: AlarmSeverity = 'info';
  if (conditions && conditions.size > 0) {
    for (const condition of conditions) {
      const code = sourceAlarm(condition);
      const bit = portBits[code];
      if (bit === undefined) continue;
      bits |= 1 << bit;
      const { severity } = kindOf(code);
      if (severity === 'error' || worst === 'info') worst = severity;
    }
  }
  if (worst === 'error') return { bits, state: 'ERROR' };
  if (!(voltageV > 0) || conditions?.has('dc_disconnect') === true) return { bits, state: 'OFF' };
  return { bits, state: worst === 'warning' ? 'WARNING' : 'ON' };
}

const tripAlarms: Readonly<Record<TripCause, AlarmCode>> = {
  lowVoltage: 'ac_under_volt',
  highVoltage: 'ac_over_volt',
  lowFrequency: 'under_frequency',
  highFrequency: 'over_frequency',
  island: 'grid_disconnect',
  rocof: 'grid_disconnect',
  vectorShift: 'grid_disconnect',
};
export const tripNames: Readonly<Record<TripKind, ControlFunction>> = {
  lowVoltage: 'lv_trip',
  highVoltage: 'hv_trip',
  lowFrequency: 'lf_trip',
  highFrequency: 'hf_trip',
};
const cessationAlarms: Readonly<Record<TripKind, AlarmCode>> = {
  lowVoltage: 'lvrt_active',
  highVoltage: 'hvrt_active',
  lowFrequency: 'frt_active',
  highFrequency: 'frt_active',
};

/** Present alarms of inverter and source. @param trips trips of the tick; each stays active until the tick ends */
function activeAlarms(
  inverter: Inverter,
  conditions: ReadonlySet<string>,
  trips: readonly AlarmCode[],
): Set<AlarmCode> {
  const { phase, lastTrip, ceasedBy, switchClosed, settings } = inverter;
  const active = new Set<AlarmCode>(trips);
  if (phase === 'tripped' && lastTrip) active.add(tripAlarms[lastTrip]);
  if ((phase === 'off' || phase === 'shutting_down') && (!switchClosed || settings.operator === 'STOP'))
    active.add('manual_shutdown');
  if (ceasedBy !== null) active.add(cessationAlarms[ceasedBy]);
  for (const condition of conditions) active.add(sourceAlarm(condition));
  return active;
}

/** Causes of alarms besides inverter and source. */
interface DeviceTrouble {
  /** the feeder cannot carry the power */
  readonly collapsed: boolean;
  /** true: the model has failed */
  readonly fault: boolean;
  /** raised by fault injection */
  readonly raised: readonly AlarmCode[];
  /** the end of the tick */
  readonly at: SimTime;
}

const beginLine = (code: AlarmCode, text: string) => `alarm: ${code}: ${text}`;
const endLine = (code: string) => `alarm ended: ${code}`;
const lineForm = /^alarm( ended)?: (\w+)/;

/** The line of the log for an alarm that a restart has ended. */
export const endAtRestart = (code: string): string => `${endLine(code)}: it is not active after the restart`;

/** The begins of alarms whose ends a log does not have. @param entries oldest first */
export function openAlarms<T extends Pick<LogEntry, 'deviceIndex' | 'message'>>(
  entries: readonly T[],
): readonly { readonly code: string; readonly entry: T }[] {
  const open = new Map<string, { readonly code: string; readonly entry: T }>();
  for (const entry of entries) {
    const [, ended, code] = lineForm.exec(entry.message) ?? [];
    if (code === undefined || entry.deviceIndex === null) continue;
    const key = `${entry.deviceIndex} ${code}`;
    if (ended === undefined) open.set(key, { code, entry });
    else open.delete(key);
  }
  return [...open.values()];
}

const falseAlarmText = 'raised by fault injection, without a cause';

type AlarmContext = Pick<DeviceContext, 'log' | 'dcLog' | 'clock' | 'commAlarms' | 'disturbed'>;

const tripCodes: ReadonlySet<AlarmCode> = new Set(Object.values(tripAlarms));

const noCodes: ReadonlySet<AlarmCode> = new Set();

/** @throws SimError INTERNAL for alarms that no device has */
function checkKept(sinceMs: readonly (readonly [AlarmCode, number])[], codes: readonly AlarmCode[]): void {
  const isKind = (code: string) => Object.hasOwn(alarmKinds, code);
  if (!sinceMs.every(([code, beginMs]) => isKind(code) && isDateMs(beginMs)) || !codes.every(isKind))
    throw new SimError('INTERNAL', 'a kept alarm is none of the kinds of alarm, or its begin is no date');
}

/** Active alarms, from begin to end. */
export class DeviceAlarms {
  readonly #deviceIndex: number;
  readonly #context: AlarmContext;
  /** begin of each active alarm, wall ms */
  readonly #sinceMs = new Map<AlarmCode, number>();
  readonly #trips = new Set<AlarmCode>();
  #codes: readonly AlarmCode[] = [];
  /** alarms raised only by fault injection */
  #falseCodes: ReadonlySet<AlarmCode> = noCodes;

  constructor(deviceIndex: number, context: AlarmContext) {
    this.#deviceIndex = deviceIndex;
    this.#context = context;
  }

  codes(): readonly AlarmCode[] {
    return this.#codes;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        sinceMs: [...this.#sinceMs],
        trips: [...this.#trips],
        falseCodes: [...this.#falseCodes],
      }),
      ({ sinceMs, trips, falseCodes }) => {
        checkKept(sinceMs, [...trips, ...falseCodes]);
        this.#sinceMs.clear();
        for (const [code, beginMs] of sinceMs) this.#sinceMs.set(code, beginMs);
        this.#codes = [...this.#sinceMs.keys()];
        this.#trips.clear();
        for (const code of trips) this.#trips.add(code);
        this.#falseCodes = new Set(falseCodes);
      },
    );
  }

  get latchedCount(): number {
    let count = 0;
    for (const code of this.#sinceMs.keys()) if (kindOf(code).latched === true) count += 1;
    return count;
  }

  /** @param ports ports of the source, to which some alarms belong */
  list(ports: readonly DcPort[]): readonly Alarm[] {
    // alarms raised by adapters, unknown to registers and physics
    const ofAdapters = this.#context.commAlarms?.of(this.#deviceIndex) ?? [];
    if (this.#sinceMs.size === 0 && ofAdapters.length === 0) return noAlarms;
    const portOf = (code: AlarmCode) => {
      const at = ports.findIndex(({ conditions }) => conditions?.has(code));
      return at < 0 ? null : at;
    };
    const deviceIndex = this.#deviceIndex;
    const deviceAlarms = [...this.#sinceMs].map(([code, sinceMs]) => ({
      code,
      source: kindOf(code).source,
      severity: kindOf(code).severity,
      sinceMs,
      deviceIndex,
      port: portOf(code),
      latched: kindOf(code).latched === true,
      message: this.#textOf(code),
    }));
    const comm = ofAdapters.map((alarm) => ({
      ...alarm,
      source: 'comm' as const,
      deviceIndex,
      port: null,
      latched: false,
    }));
    return [...deviceAlarms, ...comm];
  }

  /** Records the alarm at the instant of the trip: its cause may end before the tick does. */
  recordTrip({ lastTrip }: Inverter, at: SimTime): void {
    if (lastTrip === null) return;
    this.#trips.add(tripAlarms[lastTrip]);
    this.#context.log.warning(tripTexts[lastTrip], this.#deviceIndex, at);
  }

  /** Updates the alarms of inverter and source at the end of a tick. @param conditions conditions of the source */
  follow(inverter: Inverter, conditions: ReadonlySet<string>, { collapsed, fault, raised, at }: DeviceTrouble): void {
    const calm =
      inverter.phase === 'in_service' &&
      inverter.ceasedBy === null &&
      conditions.size === 0 &&
      this.#trips.size === 0 &&
      raised.length === 0 &&
      !collapsed &&
      !fault;
    // the usual case: no alarm is active and none begins
    if (calm && this.#codes.length === 0) return;
    const trips = fault ? [] : [...this.#trips];
    this.#trips.clear();
    const active = activeAlarms(inverter, conditions, trips);
    if (collapsed) active.add('voltage_collapse');
    if (fault) active.add('hw_test_failure');
    this.#falseCodes = raised.length === 0 ? noCodes : new Set(raised.filter((code) => !active.has(code)));
    for (const code of raised) active.add(code);
    this.update(active, at);
  }

  /** Sets the active alarms at an instant; begins and ends are logged. */
  update(active: ReadonlySet<AlarmCode>, at: SimTime): void {
    let changed = false;
    for (const code of this.#sinceMs.keys()) {
      if (active.has(code)) continue;
      changed = true;
      this.#sinceMs.delete(code);
      this.#logOf(code).info(endLine(code), this.#deviceIndex, at);
    }
    for (const code of active) {
      if (this.#sinceMs.has(code)) continue;
      changed = true;
      this.#sinceMs.set(code, this.#context.clock.wallMs());
      // the level `error` is reserved for internal errors
      const { severity } = kindOf(code);
      const level = severity === 'info' ? 'info' : 'warning';
      this.#logOf(code)[level](beginLine(code, this.#textOf(code)), this.#deviceIndex, at);
      if (severity === 'error' && !tripCodes.has(code))
        this.#context.disturbed?.({ kind: 'alarm', deviceIndex: this.#deviceIndex, at, alarm: code });
    }
    if (changed) this.#codes = [...this.#sinceMs.keys()];
  }

  #logOf(code: AlarmCode): Logger {
    const { log, dcLog = log } = this.#context;
    return kindOf(code).source === 'ac' ? log : dcLog;
  }

  #textOf(code: AlarmCode): string {
    return this.#falseCodes.has(code) ? falseAlarmText : kindOf(code).text;
  }
}

/**
 * Alarms of the source that explain the output of a device in service, highest priority first: by severity, and among
 * errors what is dangerous before what may follow from it.
 */
const sourceReasons: readonly AlarmCode[] = [
  'ground_fault',
  'over_temp',
  'under_temp',
  'over_volt',
  'under_volt',
  'connector_fault',
  'dc_disconnect',
  'h2_tank_low',
  'soc_low',
  'soc_high',
];

/** True if the settings allow a device out of service to return by itself. */
function mayReturn({ settings: { enterService, operator } }: Inverter): boolean {
  return enterService.permit && operator !== 'ENTER_STANDBY';
}

/** Reason of a present stop, trip or derating. @param fault true: the model has failed @param alarms active alarms */
export function statusMessage(inverter: Inverter, fault: boolean, alarms: readonly AlarmCode[]): string | null {
  if (fault) return alarmKinds.hw_test_failure.text;
  const { enterService, operator } = inverter.settings;
  const notPermitted = enterService.permit ? 'standby by operator' : 'service not permitted';
  switch (inverter.phase) {
    case 'in_service':
      if (inverter.ceasedBy !== null) return 'momentary cessation';
      return inverter.apparentPowerLimited
        ? 'derated: the apparent power or current limit holds active power back'
        : sourceReason(alarms);
    case 'ramping':
      return 'ramping up after entering service';
    case 'waiting':
      if (!mayReturn(inverter)) return notPermitted;
      return inverter.enterDelayRuns ? 'waiting for the enter-service delay' : 'waiting for the grid';
    case 'ceased':
      return notPermitted;
    case 'shutting_down':
    case 'off':
      return operator === 'STOP' ? 'stopped by operator' : 'switch open';
    case 'tripped':
      return inverter.lastTrip ? tripTexts[inverter.lastTrip] : 'tripped';
  }
}

function sourceReason(alarms: readonly AlarmCode[]): string | null {
  if (alarms.length === 0) return null;
  const code = sourceReasons.find((reason) => alarms.includes(reason));
  return code === undefined ? null : alarmKinds[code].text;
}

export function enterServiceState(inverter: Inverter, instant: SimTime): Device['enterService'] {
  const { phase } = inverter;
  const delayRemainingS = inverter.enterDelayRemainingS(instant);
  if (phase === 'in_service' || phase === 'ramping') return { state: 'in_service', delayRemainingS };
  const returns = (phase === 'waiting' || phase === 'tripped') && mayReturn(inverter);
  return { state: returns ? 'waiting' : 'out_of_service', delayRemainingS };
}
