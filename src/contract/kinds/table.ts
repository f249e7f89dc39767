/**
 * The kinds of devices: the types of each kind, and one row of facts from which map, configuration and
 * interfaces derive what differs between them. Their physics is in `der/device/kinds.ts`.
 */
import { batteryOverrides } from './battery.ts';
import type { BatteryCommand, BatteryDetail, BatteryParameters } from './battery.ts';
import { evseOverrides } from './evse-commands.ts';
import type { EvseCommand } from './evse-commands.ts';
import type { EvseDetail, EvseParameters } from './evse.ts';
import { fuelCellOverrides } from './fuelcell.ts';
import type { FuelCellCommand, FuelCellDetail, FuelCellParameters } from './fuelcell.ts';
import { hybridOverrides } from './hybrid.ts';
import type { HybridCommand, HybridDetail, HybridParameters } from './hybrid.ts';
import { pvOverrides } from './pv.ts';
import type { PvCommand, PvDetail, PvParameters } from './pv.ts';
import { windOverrides } from './wind.ts';
import type { WindCommand, WindDetail, WindParameters } from './wind.ts';

/** The words of `asset_type`, in the order in which the interface lists them. */
export const assetTypes = ['battery', 'wind', 'fuelcell', 'hybrid-dc', 'pv', 'evse'] as const;
export type AssetType = (typeof assetTypes)[number];

interface KindTypes {
  pv: { parameters: { readonly pv: PvParameters }; detail: PvDetail; command: PvCommand };
  battery: { parameters: { readonly battery: BatteryParameters }; detail: BatteryDetail; command: BatteryCommand };
  wind: { parameters: { readonly wind: WindParameters }; detail: WindDetail; command: WindCommand };
  fuelcell: {
    parameters: { readonly fuelCell: FuelCellParameters };
    detail: FuelCellDetail;
    command: FuelCellCommand;
  };
  'hybrid-dc': {
    parameters: { readonly pv: PvParameters; readonly battery: BatteryParameters; readonly hybrid: HybridParameters };
    detail: HybridDetail;
    command: HybridCommand;
  };
  evse: { parameters: { readonly evse: EvseParameters }; detail: EvseDetail; command: EvseCommand };
}

/** Parameters of the source behind the inverter of a device, as its profile gives them with every default filled in. */
export type SourceParameters<K extends AssetType = AssetType> = {
  [Kind in K]: { readonly kind: Kind } & KindTypes[Kind]['parameters'];
}[K];

/** Typed state of the source of a device; a new object at each change. */
export type DeviceDetail<K extends AssetType = AssetType> = KindTypes[K]['detail'];

/** The commands of a kind of device, for state that its registers do not hold. */
export type SourceCommand<K extends AssetType = AssetType> = KindTypes[K]['command'];

/** The part of an array's state that PV devices and hybrids share. */
export type PvArrayDetail = Pick<PvDetail, 'shading' | 'mpptState' | 'inputs'>;

interface KindFacts<K extends AssetType> {
  /** name of a device of the kind in messages */
  readonly label: string;
  /** `dc_mode` of telemetry */
  readonly dcMode: string;
  /** blocks of a profile that describe the kind */
  readonly blocks: readonly string[];
  /** series that feeds the DC side; null: none */
  readonly dcSeries: 'irradiance' | 'wind' | null;
  /** the devices of the kind that only deliver power, in words; null: all devices of the kind also take power */
  readonly deliversOnly: string | null;
  /** state of the storage behind models 713 and 802; null: the kind has none */
  readonly storage: ((detail: DeviceDetail<K>) => BatteryDetail) | null;
  /** state of the PV array; null: the kind has none */
  readonly array: ((detail: DeviceDetail<K>) => PvArrayDetail) | null;
  /**
   * for each command: the keys of `controls.overrides` that show its last writer; commands that set the same value
   * share a key
   */
  readonly overrides: Readonly<Record<SourceCommand<K>['kind'], readonly string[]>>;
}

/** A row for every kind. */
export const kindTable = {
  pv: {
    label: 'PV device',
    dcMode: 'pv',
    blocks: ['pv'],
    dcSeries: 'irradiance',
    deliversOnly: 'a PV device',
    storage: null,
    array: (detail) => detail,
    overrides: pvOverrides,
  },
  battery: {
    label: 'battery',
    dcMode: 'battery',
    blocks: ['battery'],
    dcSeries: null,
    deliversOnly: null,
    storage: (detail) => detail,
    array: null,
    overrides: batteryOverrides,
  },
  wind: {
    label: 'wind turbine',
    dcMode: 'wind',
    blocks: ['wind'],
    dcSeries: 'wind',
    deliversOnly: 'a wind turbine',
    storage: null,
    array: null,
    overrides: windOverrides,
  },
  fuelcell: {
    label: 'fuel cell',
    dcMode: 'fuelcell',
    blocks: ['fuel_cell'],
    dcSeries: null,
    deliversOnly: 'a fuel cell with operating_mode fc_only',
    storage: null,
    array: null,
    overrides: fuelCellOverrides,
  },
  'hybrid-dc': {
    label: 'hybrid',
    dcMode: 'hybrid-dc',
    blocks: ['pv', 'battery', 'hybrid'],
    dcSeries: 'irradiance',
    deliversOnly: 'a hybrid with charge_from_grid false',
    storage: (detail) => detail.battery,
    array: (detail) => detail.pv,
    overrides: hybridOverrides,
  },
  evse: {
    label: 'EVSE',
    dcMode: 'none',
    blocks: ['evse'],
    dcSeries: null,
    deliversOnly: null,
    storage: null,
    array: null,
    overrides: evseOverrides,
  },
} as const satisfies { readonly [K in AssetType]: KindFacts<K> };

type KindTable = typeof kindTable;
type Overrides = { [K in AssetType]: KindTable[K]['overrides'] }[AssetType];

export type DcMode = KindTable[AssetType]['dcMode'];
/** A block of physical parameters in a profile. */
export type BlockName = KindTable[AssetType]['blocks'][number];
/** Names of the values that the commands of the kinds set. */
export type SourceOverrideName = Overrides extends infer O
  ? O extends Readonly<Record<string, readonly (infer N)[]>>
    ? N
    : never
  : never;

const kinds = Object.keys(kindTable) as AssetType[];

/** The words of `dc_mode`. */
export const dcModes = [...new Set(kinds.map((kind) => kindTable[kind].dcMode))];

/** Kinds whose facts pass a test, in the order of the table. */
export function kindsWhere(passes: (facts: KindTable[AssetType]) => boolean): AssetType[] {
  return kinds.filter((kind) => passes(kindTable[kind]));
}

/** State of the storage of a device; null: its kind has none. */
export function storageIn(detail: DeviceDetail): BatteryDetail | null {
  const read: ((detail: never) => BatteryDetail) | null = kindTable[detail.kind].storage;
  return read && read(detail as never);
}

/** State of the PV array of a device; null: its kind has none. */
export function arrayIn(detail: DeviceDetail): PvArrayDetail | null {
  const read: ((detail: never) => PvArrayDetail) | null = kindTable[detail.kind].array;
  return read && read(detail as never);
}
