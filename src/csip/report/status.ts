/** DERStatus, DeviceStatus and PowerStatus: the states and alarms of model 701 in terms of IEEE 2030.5. */
import type { Device } from '../../contract/device.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import type { DERStatus, DeviceStatus, PowerStatus } from '../xml/documents.ts';
import { alarmBits } from './model.ts';
import type { AlarmBit, ReportOptions } from './model.ts';
import { hexBits, perCent, present, signed16 } from './units.ts';

type InverterState = NonNullable<MapView['m701']['InvSt']>;

/** InverterStatusType by 701.InvSt: the SunSpec values start at 0, those of IEEE 2030.5 at 1. */
export const inverterStatus: Readonly<Record<InverterState, number>> = {
  OFF: 1,
  SLEEPING: 2,
  STARTING: 3,
  RUNNING: 4,
  THROTTLED: 5,
  SHUTTING_DOWN: 6,
  FAULT: 7,
  STANDBY: 8,
};

const operating: ReadonlySet<InverterState> = new Set(['STARTING', 'RUNNING', 'THROTTLED', 'SHUTTING_DOWN']);
/** states of a device that runs, or that can start by itself once source and grid allow */
const available: ReadonlySet<InverterState> = new Set(['SLEEPING', 'STARTING', 'RUNNING', 'THROTTLED', 'STANDBY']);

/** Bit of 701.Alrm by bit of alarmStatus; the numbering differs. */
const alarmSources: Readonly<Partial<Record<AlarmBit, number>>> = {
  1: 10, // AC_OVER_VOLT
  2: 11, // AC_UNDER_VOLT
  3: 8, // OVER_FREQUENCY
  4: 9, // UNDER_FREQUENCY
  7: 6, // MANUAL_SHUTDOWN
};
const emergencyLocal = 7;

/** The alarms in 701.Alrm, as bits of alarmStatus. A disconnect by the server is no emergency of the device. */
export function alarmsOf({ bank, overrides }: Pick<Device, 'bank' | 'overrides'>): ReadonlySet<AlarmBit> {
  const alrm = bank.map.m701.Alrm ?? 0;
  const alarms = new Set<AlarmBit>();
  for (const bit of alarmBits) {
    const source = alarmSources[bit];
    if (source !== undefined && (alrm & (1 << source)) !== 0) alarms.add(bit);
  }
  const openedByServer = overrides.find(({ name }) => name === 'switch')?.source === 'csip';
  if (openedByServer && bank.map.m715.OpCtl !== 'STOP') alarms.delete(emergencyLocal);
  return alarms;
}

function alarmStatus(device: Device): string {
  let bits = 0;
  for (const bit of alarmsOf(device)) bits |= 1 << bit;
  return hexBits(bits, 4);
}

/** ConnectStatusType of 2018. */
export function connectStatus(connected: boolean, state: InverterState): string {
  let bits = connected ? 1 : 0;
  if (available.has(state)) bits |= 2;
  if (operating.has(state)) bits |= 4;
  if (state === 'FAULT') bits |= 16;
  return hexBits(bits, 1);
}

/** ConnectStatusType2 of 2023: connected, energized. */
function connectStatus2(connected: boolean, state: InverterState): string {
  return hexBits((connected ? 1 : 0) | (operating.has(state) ? 2 : 0), 1);
}

/** OperationalModeStatusType: 1 off, 2 operational. A source at rest is off. */
function operationalMode(state: InverterState): number {
  return operating.has(state) ? 2 : 1;
}

/** ManufacturerStatusType has room for six characters. */
function manufacturerStatus(state: InverterState, alrm: number | null): string {
  if (state === 'FAULT') return 'FAULT';
  return (alrm ?? 0) === 0 ? 'OK' : 'ALARM';
}

const storageModes = { charge: 0, discharge: 1, idle: 2 } as const;

/** StorageModeStatusType; undefined: no storage. */
function storageMode({ detail }: Device): number | undefined {
  if (detail.kind === 'evse') {
    if (detail.battery === null || detail.powerW === 0) return storageModes.idle;
    return detail.powerW > 0 ? storageModes.charge : storageModes.discharge;
  }
  const storage = storageIn(detail);
  return storage === null ? undefined : storageModes[storage.mode];
}

/** State of charge of the storage or of the vehicles, percent; null: unknown, or no storage. */
export function socOf({ bank, detail }: Device): number | null {
  if (detail.kind === 'evse') return detail.battery?.socPct ?? null;
  return storageIn(detail) === null ? null : bank.map.m713.SoC;
}

/** Text that changes with each part of DERStatus except the state of charge. */
export function stateMark(device: Device): string {
  const { InvSt, ConnSt, Alrm } = device.bank.map.m701;
  return `${InvSt} ${ConnSt} ${Alrm} ${device.localControl} ${storageMode(device)}`;
}

type Stated<T> = { readonly dateTime: number; readonly value: T } | undefined;

/** The time since which each state applies. */
export class StateTimes {
  readonly #since = new Map<string, { readonly value: unknown; readonly s: number }>();

  /** A present state with the time since which it applies. */
  stated<T>(name: string, value: T | undefined, readingS: number): Stated<T> {
    if (value === undefined) {
      this.#since.delete(name);
      return undefined;
    }
    const previous = this.#since.get(name);
    // the time of a state must not be in the future after a clock was set back
    const s = previous?.value === value ? Math.min(previous.s, readingS) : readingS;
    this.#since.set(name, { value, s });
    return { dateTime: s, value };
  }
}

/** DERStatus of one device, with the time since which each state applies. */
export class StatusReport {
  readonly #device: Device;
  readonly #revision: ReportOptions['revision'];
  readonly #times = new StateTimes();

  constructor(device: Device, revision: ReportOptions['revision']) {
    this.#device = device;
    this.#revision = revision;
  }

  read(readingS: number): DERStatus {
    const device = this.#device;
    const m = device.bank.map.m701;
    const state = m.InvSt ?? 'OFF';
    const connected = m.ConnSt === 'CONNECTED';
    const stated = <T>(name: string, value: T | undefined) => this.#times.stated(name, value, readingS);
    const connection = connectStatus(connected, state);
    const storage = storageMode(device);
    const is2018 = this.#revision === '2018';
    // discharging storage is a generator too: CSIP-AUS servers read genConnectStatus only
    const generates = device.assetType !== 'evse' || (device.bank.map.m702.WDisChaRteMaxRtg ?? 0) > 0;
    return {
      readingTime: readingS,
      ...present({
        alarmStatus: alarmStatus(device),
        connectStatus: is2018 ? undefined : stated('connect', connectStatus2(connected, state)),
        genConnectStatus: is2018 && generates ? stated('gen', connection) : undefined,
        storConnectStatus: is2018 && storage !== undefined ? stated('stor', connection) : undefined,
        inverterStatus: stated('inverter', inverterStatus[state]),
        localControlModeStatus: stated('local', device.localControl ? 0 : 1),
        manufacturerStatus: stated('manufacturer', manufacturerStatus(state, m.Alrm)),
        operationalModeStatus: stated('operational', operationalMode(state)),
        stateOfChargeStatus: stated('soc', perCent(socOf(device))),
        storageModeStatus: stated('storage', storage),
      }),
    };
  }
}

/** DeviceStatus.opState by 701.InvSt; a device at rest does not operate. */
const operationStates: Readonly<Record<InverterState, number>> = {
  OFF: 1,
  SLEEPING: 1,
  STARTING: 3,
  RUNNING: 2,
  THROTTLED: 2,
  SHUTTING_DOWN: 4,
  FAULT: 1,
  STANDBY: 1,
};

export function deviceStatusOf({ bank }: Device, changedS: number): DeviceStatus {
  const m = bank.map.m701;
  const temperatures = [
    { subject: 0, ...signed16(m.TmpCab) },
    { subject: 1, ...signed16(m.TmpTrns) },
    { subject: 2, ...signed16(m.TmpSnk) },
  ].flatMap(({ subject, multiplier, value }) =>
    multiplier === undefined || value === undefined ? [] : [{ multiplier, subject, value }],
  );
  return {
    changedTime: changedS,
    opState: m.InvSt === null ? 0 : operationStates[m.InvSt],
    ...(temperatures.length > 0 && { Temperature: temperatures }),
  };
}

/** PowerSourceType. */
export const powerSources = { none: 0, mains: 1, battery: 2, local: 3 } as const;

/** State of charge below which a battery without a reserve in its registers is low, percent. */
const defaultLowPct = 20;

/** PowerStatus.batteryStatus: 1 normal, 2 low, 3 depleted, 4 no battery. */
function batteryStatus(socPct: number | null, lowPct: number): number {
  if (socPct === null) return 4;
  if (socPct <= 0) return 3;
  return socPct < lowPct ? 2 : 1;
}

export function powerStatusOf(device: Device, changedS: number): PowerStatus {
  const socPct = socOf(device);
  return {
    batteryStatus: batteryStatus(socPct, device.bank.map.m802?.SoCRsvMin ?? defaultLowPct),
    changedTime: changedS,
    currentPowerSource: powerSources.mains,
    ...present({ estimatedChargeRemaining: perCent(socPct) }),
  };
}
