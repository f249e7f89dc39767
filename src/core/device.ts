import type { SimTime } from './clock.ts';
import type { BatteryCommand, BatteryDetail } from './kinds/battery.ts';
import type { EvseCommand, EvseDetail } from './kinds/evse.ts';
import type { FuelCellCommand, FuelCellDetail } from './kinds/fuelcell.ts';
import type { HybridCommand, HybridDetail } from './kinds/hybrid.ts';
import type { PvCommand, PvDetail } from './kinds/pv.ts';
import type { WindCommand, WindDetail } from './kinds/wind.ts';

/** Who wrote: the provenance of a register write or a command. */
export const sources = [
  'default',
  'profile',
  'rest',
  'dashboard',
  'modbus',
  'csip',
  'ocpp',
  'dnp3',
  'scenario',
  'reversion',
  'fault',
] as const;
export type Source = (typeof sources)[number];

export interface Origin {
  readonly source: Source;
  /** peer address, mRID, control id */
  readonly peer?: string;
}

/** Sources that act from afar: refused while a device is under local control (715.LocRemCtl). */
export const remoteSources: readonly Source[] = ['modbus', 'csip', 'ocpp', 'dnp3'];

/** Last writer of a point. */
export interface Provenance extends Origin {
  readonly at: SimTime;
  /** wall time in ms since the epoch */
  readonly wallMs: number;
}

/** What has no register goes this road; all-or-nothing, with the same provenance as a register write. */
export type DeviceCommand =
  | SourceCommand
  /** the disconnect switch: opModConnect, DNP3 connect, operator stop */
  | { readonly kind: 'switch'; readonly closed: boolean }
  /** permits service and closes the switch (operator start) */
  | { readonly kind: 'start' }
  /** ends service, ramps to zero, opens (operator stop) */
  | { readonly kind: 'stop' }
  /** the local/remote switch at the device: local refuses every write and command from afar */
  | { readonly kind: 'local'; readonly local: boolean }
  /** clears latched alarms; `device` also ends overrides and reloads the start values */
  | { readonly kind: 'reset'; readonly scope: 'alarms' | 'device' };

/** What a kind of device takes besides its registers. */
export type SourceCommand = PvCommand | BatteryCommand | WindCommand | FuelCellCommand | HybridCommand | EvseCommand;

export const assetTypes = ['battery', 'wind', 'fuelcell', 'hybrid-dc', 'pv', 'evse'] as const;
export type AssetType = (typeof assetTypes)[number];
export const dcModes = ['pv', 'battery', 'wind', 'fuelcell', 'hybrid-dc', 'none'] as const;
export type DcMode = (typeof dcModes)[number];

export const serviceStates = ['off', 'on'] as const;
export const inverterStates = [
  'off',
  'sleeping',
  'starting',
  'running',
  'throttled',
  'shutting_down',
  'fault',
  'standby',
] as const;
export const connectionStates = ['disconnected', 'connected'] as const;

export type AlarmSeverity = 'info' | 'warning' | 'error';

export interface Alarm {
  readonly code: string;
  readonly source: 'ac' | 'dc' | 'battery' | 'comm' | 'evse' | 'sim';
  readonly severity: AlarmSeverity;
  /** wall time, ms since the epoch */
  readonly sinceMs: number;
  readonly deviceIndex: number;
  readonly port: number | null;
  readonly latched: boolean;
  readonly message: string;
}

/** The snapshot of one device and tick, in the names and units of the interface document. */
export interface Snapshot {
  readonly metrics: {
    readonly power_kw: number;
    readonly reactive_power_kvar: number;
    readonly apparent_power_kva: number;
    readonly voltage_ll_v: number | null;
    readonly voltage_ln_v: number;
    readonly current_a: number;
    readonly frequency_hz: number;
    readonly power_factor: number;
    readonly dc_power_kw: number | null;
    readonly dc_voltage_v: number | null;
    readonly dc_current_a: number | null;
    readonly state_of_charge_pct: number | null;
    readonly soc_reserve_min_pct: number | null;
    readonly soc_reserve_max_pct: number | null;
    readonly soc_min_pct: number | null;
    readonly soc_max_pct: number | null;
    readonly timestamp: string;
  };
  readonly pq: {
    readonly active_kw: number;
    readonly reactive_kvar: number;
    readonly apparent_kva: number;
    readonly angle_deg: number;
  };
  readonly status: {
    readonly service_state: (typeof serviceStates)[number];
    readonly inverter_state: (typeof inverterStates)[number];
    readonly connection_state: (typeof connectionStates)[number];
    readonly message?: string;
  };
  readonly clock_time: string;
  readonly dc_mode: DcMode;
  readonly dc_port_count: number;
  readonly device_type: string;
  readonly device_profile_name: string | null;
  readonly asset_type: AssetType;
  readonly device_index: number;
  readonly tick: number;
  readonly wall_time: string;
}

/** One snapshot, its JSON text and the detail of the same tick, shared by REST, history and stream. */
export interface Published {
  readonly snapshot: Snapshot;
  readonly detail: DeviceDetail;
  readonly json: Buffer;
}

/** Typed state with no SunSpec point, replaced as a whole by each tick. */
export type DeviceDetail = PvDetail | BatteryDetail | WindDetail | FuelCellDetail | HybridDetail | EvseDetail;

/** How an inverter behaves where the standard leaves the choice to the maker and no register holds it. */
export interface InverterParameters {
  /** reactive capability below 20 % of rated power: as little as Table 7 asks for, or all of it */
  readonly lowPowerVars: 'reduced' | 'full';
  /** what happens when the may-trip curve of 707-710 is passed and the must-trip curve is not */
  readonly mayTrip: 'stay' | 'trip';
  /** from the return of voltage after momentary cessation to the first output, and from there to full output, s */
  readonly cessationReturnS: number;
  readonly cessationRampS: number;
  /** an islanded device is found and trips after this time, s (704.AntiIslEna; at most 2 s, IEEE 1547-2018 8.1) */
  readonly antiIslandingS: number;
  /** relays that the standard does not ask for: rate of change of frequency, vector shift; null = not fitted */
  readonly rocofRelayHzS: number | null;
  readonly vectorShiftRelayDeg: number | null;
  /** time that the adoption of a curve takes, s: 705-712.AdptCrvRslt is IN_PROGRESS so long */
  readonly adoptionS: number;
}

/** One sample of a DC curve: volts, amperes, watts. */
export interface IvPoint {
  readonly v: number;
  readonly i: number;
  readonly p: number;
}

/** A DC-side curve of one 714 port at this moment. */
export interface IvCurve {
  readonly kind: 'pv' | 'battery' | 'fuelcell';
  readonly port: number;
  readonly irradianceWm2: number | null;
  readonly cellTemperatureC: number;
  readonly operatingPoint: IvPoint;
  readonly curve: readonly IvPoint[];
  readonly mpp: IvPoint | null;
  readonly vOcV: number | null;
  readonly iScA: number | null;
}
