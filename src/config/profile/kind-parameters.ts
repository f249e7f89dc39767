/**
 * Defaults that depend on the kind of a device: its physical parameters, and the ratings of model 702 that its profile
 * leaves out.
 */
import { z } from 'zod';
import type { AssetType } from '../../contract/device.ts';
import type { Issue } from '../../core/errors.ts';
import { kindsWhere } from '../../contract/kinds/table.ts';
import type { BlockName, SourceParameters } from '../../contract/kinds/table.ts';
import type { WindParameters } from '../../contract/kinds/wind.ts';
import { batterySchema, resolveBattery } from './blocks/battery.ts';
import { evseSchema, resolveEvse } from './blocks/evse.ts';
import { fuelCellSchema, resolveFuelCell } from './blocks/fuel-cell.ts';
import { hybridSchema, resolveHybrid } from './blocks/hybrid.ts';
import { arrayPowerW, pvSchema, resolvePv } from './blocks/pv.ts';
import { windSchema, resolveWind } from './blocks/wind.ts';
import type { DeviceTypeInfo, Phases } from './device-types.ts';

/** The blocks of physical parameters that a device profile may have. */
export const kindBlocksSchema = z.strictObject({
  pv: pvSchema.optional(),
  battery: batterySchema.optional(),
  wind: windSchema.optional(),
  fuel_cell: fuelCellSchema.optional(),
  hybrid: hybridSchema.optional(),
  evse: evseSchema.optional(),
} satisfies Record<BlockName, z.ZodType>);

type KindBlocks = z.infer<typeof kindBlocksSchema>;

export const blockNames = Object.keys(kindBlocksSchema.shape) as BlockName[];

/** Kinds of devices that a block belongs to. */
export function kindsOfBlock(block: BlockName): AssetType[] {
  return kindsWhere(({ blocks }) => (blocks as readonly BlockName[]).includes(block));
}

export interface ProfileTarget extends Pick<DeviceTypeInfo, 'assetType' | 'phases' | 'windType'> {
  /** longitude of a PV array whose profile gives none, degrees east */
  readonly longitudeDeg: number;
}

/** Ratings that the profile gives, W, VA and V line to line. */
interface GivenRatings {
  readonly wMaxW: number | undefined;
  readonly vaMaxVa: number | undefined;
  readonly vNomV: number | undefined;
}

interface KindParameters {
  readonly source: SourceParameters;
  /** defaults of points of 702; without WChaRteMaxRtg the device only delivers power */
  readonly ratings: Readonly<Record<string, number>>;
}

interface Request {
  readonly blocks: KindBlocks;
  readonly given: GivenRatings;
  readonly target: ProfileTarget;
  readonly where: string;
  readonly issues: Issue[];
}

const inverterRatings: Readonly<Record<Phases, { readonly wMaxW: number; readonly vNomV: number }>> = {
  three: { wMaxW: 10_000, vNomV: 480 },
  split: { wMaxW: 10_000, vNomV: 240 },
  single: { wMaxW: 5000, vNomV: 240 },
};

const windVoltageV = { 'nrel-5mw': 690, 'iea-15mw': 6600, 'farm-100kw': 480 } as const;
/** Reactive share of an inverter whose profile gives no reactive ratings. */
const usualReactiveShare = 0.44;
const fuelCellW = { PEMFC: 5000, SOFC: 200_000 } as const;
const hybridW = 15_000;
/** Rated voltage of a station, line to line: 230 V line to neutral. */
const evseVoltageV = 400;
const evseW = 22_000;
const dcConnectorW = 50_000;

/** When only one of the two power ratings is given, the other equals it. */
function powerRatings(
  { wMaxW, vaMaxVa }: GivenRatings,
  presetW: number,
): { readonly WMaxRtg: number; readonly VAMaxRtg: number } {
  const rated = wMaxW ?? vaMaxVa ?? presetW;
  return { WMaxRtg: rated, VAMaxRtg: vaMaxVa ?? rated };
}

function pvParameters({ blocks, given, target, where, issues }: Request): KindParameters {
  const { wMaxW, vNomV } = inverterRatings[target.phases];
  const ratings = powerRatings(given, wMaxW);
  return {
    source: { kind: 'pv', pv: resolvePv(blocks.pv ?? {}, ratings.WMaxRtg, target, where, issues) },
    ratings: { ...ratings, VNomRtg: vNomV },
  };
}

function batteryParameters({ blocks, given, target, where, issues }: Request): KindParameters {
  const { wMaxW, vNomV } = inverterRatings[target.phases];
  const block = blocks.battery ?? {};
  const ratings = powerRatings(given, block.power_w ?? wMaxW);
  return {
    source: {
      kind: 'battery',
      battery: resolveBattery(block, { ratedW: ratings.WMaxRtg, vNomV: given.vNomV ?? vNomV }, where, issues),
    },
    ratings: {
      ...ratings,
      VNomRtg: vNomV,
      WChaRteMaxRtg: ratings.WMaxRtg,
      WDisChaRteMaxRtg: ratings.WMaxRtg,
      VADisChaRteMaxRtg: ratings.VAMaxRtg,
    },
  };
}

/** Sizes the inverter of a turbine for its reactive power at full active power. */
function windRatings({ ratedPowerW, reactiveShare, turbine }: WindParameters, { wMaxW, vaMaxVa }: GivenRatings) {
  const vaPerW = 1 / Math.sqrt(1 - reactiveShare ** 2);
  const watts = wMaxW ?? (vaMaxVa === undefined ? ratedPowerW : Math.floor(vaMaxVa / vaPerW));
  // rounded up to a thousandth of the rating
  const apparent = vaMaxVa ?? (Math.ceil(1000 * vaPerW) * watts) / 1000;
  const reactive = reactiveShare * apparent;
  return {
    WMaxRtg: watts,
    VAMaxRtg: apparent,
    VNomRtg: windVoltageV[turbine],
    ...(reactiveShare > usualReactiveShare && { VarMaxInjRtg: reactive, VarMaxAbsRtg: reactive }),
  };
}

function windParameters({ blocks, given, target, where, issues }: Request): KindParameters {
  const block = blocks.wind ?? {};
  const presetW = target.windType === 'T3' ? 5e6 : 15e6;
  const ratedW = given.wMaxW ?? given.vaMaxVa ?? block.rated_power_w ?? presetW;
  // the ratings need the turbine and its reactive share, which do not depend on the size of the rotor
  const ratings = windRatings(resolveWind(block, ratedW, where, [], target.windType), given);
  const sized = { ...block, rated_power_w: block.rated_power_w ?? ratings.WMaxRtg };
  return { source: { kind: 'wind', wind: resolveWind(sized, ratedW, where, issues, target.windType) }, ratings };
}

function fuelCellParameters({ blocks, given, target, where, issues }: Request): KindParameters {
  const block = blocks.fuel_cell ?? {};
  const ratings = powerRatings(given, fuelCellW[block.chemistry ?? 'PEMFC']);
  const fuelCell = resolveFuelCell(block, ratings.WMaxRtg, where, issues);
  const charges = fuelCell.operatingMode === 'bidirectional';
  return {
    source: { kind: 'fuelcell', fuelCell },
    ratings: {
      ...ratings,
      VNomRtg: inverterRatings[target.phases].vNomV,
      ...(charges && { WChaRteMaxRtg: fuelCell.ratedElPowerW }),
    },
  };
}

const noLevels = {
  soc_pct: undefined,
  soc_min_pct: undefined,
  soc_max_pct: undefined,
  soc_reserve_min_pct: undefined,
  soc_reserve_max_pct: undefined,
};

/** The member that gave a limit of the hybrid: the battery block overrides the hybrid block. */
function hybridMember(name: string, part: NonNullable<KindBlocks['battery']>, where: string): string {
  const member = (['soc_min_pct', 'soc_max_pct'] as const).find(
    (limit) => part[limit] !== undefined && name === `${where}: hybrid.${limit}`,
  );
  return member === undefined ? name : `${where}: battery.${member}`;
}

/** The hybrid block sizes its parts; the blocks pv and battery override it. */
function hybridParameters({ blocks, given, target, where, issues }: Request): KindParameters {
  const ratings = powerRatings(given, hybridW);
  const { hybrid: block = {}, battery: part = {} } = blocks;
  const blockIssues: Issue[] = [];
  const whole = resolveHybrid(
    {
      ...block,
      ...(part.power_w !== undefined && { battery_w: part.power_w }),
      ...(part.capacity_wh !== undefined && { battery_wh: part.capacity_wh }),
      ...(part.soc_min_pct !== undefined && { soc_min_pct: part.soc_min_pct }),
      ...(part.soc_max_pct !== undefined && { soc_max_pct: part.soc_max_pct }),
    },
    ratings.WMaxRtg,
    where,
    blockIssues,
  );
  issues.push(...blockIssues.map((issue) => ({ ...issue, name: hybridMember(issue.name, part, where) })));
  // limits in the wrong order are reported already: the battery is then checked without levels
  const levels = blockIssues.length === 0 ? { soc_min_pct: whole.socMinPct, soc_max_pct: whole.socMaxPct } : noLevels;
  if (blocks.pv?.inputs !== undefined) {
    issues.push({
      name: `${where}: pv.inputs`,
      detail: 'given for a hybrid, whose array is on one input; allowed: for PV devices',
    });
  }
  const pv = resolvePv(blocks.pv ?? {}, whole.pvW, { ...target, arrayW: whole.pvW }, where, issues);
  const battery = resolveBattery(
    { ...part, power_w: whole.batteryW, capacity_wh: whole.batteryWh, ...levels },
    // a DC-DC converter connects the battery to the bus of the hybrid: no AC voltage sizes its strings
    { ratedW: whole.batteryW, vNomV: 0 },
    where,
    issues,
  );
  return {
    source: {
      kind: 'hybrid-dc',
      pv,
      battery,
      hybrid: { ...whole, pvW: blocks.pv?.parallel === undefined ? whole.pvW : arrayPowerW(pv) },
    },
    ratings: {
      ...ratings,
      VNomRtg: inverterRatings[target.phases].vNomV,
      ...(whole.chargeFromGrid && { WChaRteMaxRtg: ratings.WMaxRtg }),
      // the battery delivers active power only
      WDisChaRteMaxRtg: Math.min(ratings.WMaxRtg, whole.batteryW),
      VADisChaRteMaxRtg: Math.min(ratings.WMaxRtg, whole.batteryW),
    },
  };
}

/** Power that a station without a rating needs for all of its connectors, W. */
function connectorsW(connectors: NonNullable<NonNullable<KindBlocks['evse']>['connectors']>): number {
  return connectors.reduce(
    (sum, { type, max_power_w: watts, phases = 3, voltage_v: volts = 230, max_current_a: amperes = 32 }) =>
      sum + (watts ?? (type === 'dc' ? dcConnectorW : phases * volts * amperes)),
    0,
  );
}

function evseParameters({ blocks, given, where, issues }: Request): KindParameters {
  const block = blocks.evse ?? {};
  const presetW = block.max_power_w ?? (block.connectors ? connectorsW(block.connectors) : evseW);
  const evse = resolveEvse(block, given.wMaxW ?? given.vaMaxVa ?? presetW, where, issues);
  const ratings = powerRatings(given, evse.maxPowerW);
  // sized for the reactive power of the chargers, rounded up to 100 VA
  const powerFactor = Math.min(...evse.connectors.map((connector) => connector.powerFactor));
  const vaMaxVa = given.vaMaxVa ?? Math.ceil(ratings.WMaxRtg / powerFactor / 100) * 100;
  return {
    source: { kind: 'evse', evse },
    ratings: {
      ...ratings,
      VAMaxRtg: powerFactor < 1 ? vaMaxVa : ratings.VAMaxRtg,
      VNomRtg: evseVoltageV,
      WChaRteMaxRtg: ratings.WMaxRtg,
      ...(!evse.connectors.some(({ bidirectional }) => bidirectional) && { WDisChaRteMaxRtg: 0, VADisChaRteMaxRtg: 0 }),
    },
  };
}

const parametersOfKind: Readonly<Record<AssetType, (request: Request) => KindParameters>> = {
  pv: pvParameters,
  battery: batteryParameters,
  wind: windParameters,
  fuelcell: fuelCellParameters,
  'hybrid-dc': hybridParameters,
  evse: evseParameters,
};

/**
 * Fills in the defaults of the blocks of a profile, and the ratings that follow from them. Adds issues to the list of
 * the request.
 */
export function kindParameters(request: Request): KindParameters {
  return parametersOfKind[request.target.assetType](request);
}
