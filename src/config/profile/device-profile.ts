import { z } from 'zod';
import type { AssetType, InverterParameters } from '../../contract/device.ts';
import type { Issue } from '../../core/errors.ts';
import { gradientRange } from '../../contract/device.ts';
import { defaultMapShape, mapBases, mapLayouts } from '../../contract/map-layout.ts';
import type { MapShape } from '../../contract/map-layout.ts';
import { chainOf, chainSchema } from './map-chain.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import type { SourceParameters } from '../../contract/kinds/table.ts';
import { functionModels } from '../../sunspec/map/grid-support/functions.ts';
import { faultListSchema } from './fault-list.ts';
import type { FaultGroup } from './fault-list.ts';
import { blockNames, kindBlocksSchema, kindParameters, kindsOfBlock } from './kind-parameters.ts';
import type { ProfileTarget } from './kind-parameters.ts';

/** Models that a profile may give start values for. */
export const settableModels: readonly string[] = ['1', '702', ...functionModels.map(String), '715'];

const measured = 'the device measures its values; models of measurements have no start values';
const ofBattery = 'its values follow from the battery block (capacity_wh, power_w, soc_pct, soh_pct and others)';
const modelsWithoutStart: ReadonlyMap<PropertyKey, string> = new Map([
  ['701', measured],
  ['713', ofBattery],
  ['714', measured],
  ['802', ofBattery],
]);

/** Reason why a profile cannot give a model that devices have; null: the key is not such a model. */
export function whyNotSettable(path: readonly PropertyKey[]): string | null {
  const reason = path.at(-2) === 'models' ? modelsWithoutStart.get(path.at(-1) ?? '') : undefined;
  return reason === undefined ? null : `cannot be given: ${reason}; allowed: ${settableModels.join(', ')}`;
}

const pointValue = z.union([z.number(), z.string().max(256)]);
const pointName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]*(\[\d{1,4}\])?(\.[A-Za-z][A-Za-z0-9_]*(\[\d{1,4}\])?)*$/, 'a point name');
const points = z.record(pointName, pointValue);
const ratings = points.meta({
  description: 'Ratings and settings of model 702; a missing setting equals its rating.',
});

const modelsSchema = z
  .strictObject(Object.fromEntries(settableModels.map((id) => [id, (id === '702' ? ratings : points).optional()])))
  .meta({
    description:
      'Start values of register points, by model id and point name: numbers in engineering units, enumerations as symbol or number.',
  });

const slope = z.number().min(gradientRange.min).max(gradientRange.max).nullable().optional();

const gradientSchema = z
  .strictObject({
    w_pct_per_s: slope.meta({
      description: 'Active power, percent of 702.WMax per second; default null: as 704.WRmp.',
    }),
    var_pct_per_s: slope.meta({
      description:
        'Reactive power, percent of the larger of 702.VarMaxInj and VarMaxAbs per second; default null: as 704.VarRmp.',
    }),
  })
  .meta({
    description: 'Slopes with which power follows commands, finer and slower than 704.WRmp and VarRmp allow.',
  });

const inverterSchema = z
  .strictObject({
    low_power_vars: z
      .enum(['reduced', 'full'])
      .optional()
      .meta({
        description:
          'Reactive power below 20 % of rated power: reduced to the minimum of IEEE 1547-2018, or full; ' +
          'default reduced, but full for devices with WChaRteMaxRtg.',
      }),
    may_trip: z
      .enum(['stay', 'trip'])
      .optional()
      .meta({ description: 'Behaviour beyond the may-trip curve; default stay.' }),
    cessation_return_s: z
      .number()
      .min(0)
      .max(10)
      .optional()
      .meta({ description: 'Time from the end of momentary cessation to the first output, s; default 0.' }),
    cessation_ramp_s: z
      .number()
      .min(0)
      .max(10)
      .optional()
      .meta({ description: 'Time from the first output after momentary cessation to full output, s; default 0.' }),
    anti_islanding_s: z
      .number()
      .min(0.16)
      .max(2)
      .optional()
      .meta({ description: 'Time after which the device trips in an island, s; default 1.' }),
    rocof_relay_hz_s: z
      .number()
      .min(0.1)
      .max(20)
      .nullable()
      .optional()
      .meta({ description: 'Trip limit of a rate-of-change-of-frequency relay, Hz/s; default null, no relay.' }),
    vector_shift_relay_deg: z
      .number()
      .min(2)
      .max(180)
      .nullable()
      .optional()
      .meta({ description: 'Trip limit of a vector shift relay, degrees; default null, no relay.' }),
    adoption_s: z
      .number()
      .min(0)
      .max(60)
      .optional()
      .meta({ description: 'Duration of the adoption of a stored curve, s; default 0.' }),
    gradient: gradientSchema.optional(),
  })
  .meta({
    description: 'Properties of the inverter that the standard leaves to its manufacturer and no register holds.',
  });

/** Nominal frequency of a grid, Hz. */
export const nominalFrequencySchema = z.number().min(40).max(70);

/** A device profile in a file. */
export const deviceProfileSchema = z
  .strictObject({
    name: z.string().min(1).max(64).optional().meta({ description: 'Display name.' }),
    description: z.string().max(1000).optional(),
    nominal_frequency_hz: nominalFrequencySchema.optional().meta({
      description:
        'Nominal frequency of the grid that the device is made for, Hz; the grid has it if the configuration ' +
        'sets none. Default: any.',
      examples: [50, 60],
    }),
    layout: z
      .enum(mapLayouts)
      .optional()
      .meta({
        description:
          'SunSpec models that the map shows: current (701 to 715), classic (101 to 124, 160), both, or mixed ' +
          '(123 and current); default current.',
      }),
    float: z.boolean().optional().meta({
      description: 'True: the map shows 111 to 113 in the place of 101 to 103; default false.',
    }),
    base_address: z
      .literal(mapBases)
      .optional()
      .meta({ description: 'PDU address of the marker of the map; default 40000.' }),
    hidden_models: z
      .array(z.int().min(2).max(65_534))
      .max(50)
      .optional()
      .meta({
        description:
          'Numbers of models of the layout that masters do not find, although the device has them; default none.',
        examples: [[121, 122]],
      }),
    chain: chainSchema.optional(),
    models: modelsSchema.optional(),
    inverter: inverterSchema.optional(),
    ...kindBlocksSchema.shape,
    faults: faultListSchema.optional().meta({
      description:
        'Faults that act on devices of this profile from the start, before those of the configuration: ' +
        'bundled names, paths, or faults that name no device; default none.',
    }),
  })
  .meta({
    title: 'Device profile',
    description: 'Start values of one device and the physical parameters of its kind.',
  });

export type DeviceProfileInput = z.infer<typeof deviceProfileSchema>;

type PointValues = Readonly<Record<string, number | string>>;

/** A profile with every default filled in; devices of one profile share one object. */
export interface DeviceProfile {
  readonly name: string | null;
  readonly description: string | null;
  /** of the grid that the device is made for; null: any */
  readonly nominalFrequencyHz: number | null;
  /** start values by model id; `702` always has WMaxRtg, VAMaxRtg, VNomRtg, NorOpCatRtg and AbnOpCatRtg */
  readonly models: Readonly<Record<string, PointValues>>;
  readonly map: MapShape;
  readonly inverter: InverterParameters;
  readonly source: SourceParameters;
  /** from the start, on each of its devices */
  readonly faults: readonly FaultGroup[];
}

const numericRatings = ['WMaxRtg', 'VAMaxRtg', 'VNomRtg', 'WChaRteMaxRtg'] as const;

function resolveInverter(inverter: NonNullable<DeviceProfileInput['inverter']>, charges: boolean): InverterParameters {
  return {
    lowPowerVars: inverter.low_power_vars ?? (charges ? 'full' : 'reduced'),
    mayTrip: inverter.may_trip ?? 'stay',
    cessationReturnS: inverter.cessation_return_s ?? 0,
    cessationRampS: inverter.cessation_ramp_s ?? 0,
    antiIslandingS: inverter.anti_islanding_s ?? 1,
    rocofRelayHzS: inverter.rocof_relay_hz_s ?? null,
    vectorShiftRelayDeg: inverter.vector_shift_relay_deg ?? null,
    adoptionS: inverter.adoption_s ?? 0,
    gradient: {
      wPctPerS: inverter.gradient?.w_pct_per_s ?? null,
      varPctPerS: inverter.gradient?.var_pct_per_s ?? null,
    },
  };
}

const listOf = (kinds: readonly AssetType[]) => kinds.map((kind) => kindTable[kind].label).join(', ');

/** One issue for each block that belongs to other kinds. */
function foreignBlockIssues(input: DeviceProfileInput, kind: AssetType, where: string): Issue[] {
  const { blocks } = kindTable[kind];
  return blockNames
    .filter((block) => input[block] !== undefined && !kindsOfBlock(block).includes(kind))
    .map((block) => ({
      name: `${where}: ${block}`,
      detail: `belongs to: ${listOf(kindsOfBlock(block))}; allowed for a device of kind ${kind}: ${blocks.join(', ')}`,
    }));
}

function ratingIssues(nameplate: PointValues, where: string): Issue[] {
  return numericRatings.flatMap((point) => {
    const value = nameplate[point];
    if (value === undefined || (typeof value === 'number' && value >= 1 && value <= 1e9)) return [];
    return [
      {
        name: `${where}: models.702.${point}`,
        detail: `given ${JSON.stringify(value)}; allowed: a number from 1 to 1e9`,
      },
    ];
  });
}

/** Members that a chain replaces. */
const replacedByChain = ['layout', 'float', 'hidden_models'] as const;

function chainIssues(input: DeviceProfileInput, where: string): Issue[] {
  if (input.chain === undefined) return [];
  return replacedByChain
    .filter((name) => input[name] !== undefined)
    .map((name) => ({ name: `${where}: ${name}`, detail: 'given beside chain; allowed: one of the two' }));
}

function chargeIssue({ kind }: SourceParameters, nameplate: PointValues, where: string): Issue {
  const { deliversOnly, label } = kindTable[kind];
  return {
    name: `${where}: models.702.WChaRteMaxRtg`,
    detail:
      `given ${JSON.stringify(nameplate['WChaRteMaxRtg'])}, but ${deliversOnly ?? `this ${label}`} only ` +
      'delivers power; allowed: on devices that take power from the grid',
  };
}

/**
 * Fills in the members that a profile omits: physical parameters by kind, ratings that follow from them and from each
 * other.
 * @param target kind and phases of the device
 * @param where prefix of keys in issues
 * @param issues receives the issues
 * @param faults the resolved list of faults
 * @returns null when there are issues
 */
export function resolveProfile(
  input: DeviceProfileInput,
  target: ProfileTarget,
  where: string,
  issues: Issue[],
  faults: readonly FaultGroup[] = [],
): DeviceProfile | null {
  const models = input.models ?? {};
  const nameplate = models['702'] ?? {};
  const profileIssues: Issue[] = [
    ...foreignBlockIssues(input, target.assetType, where),
    ...ratingIssues(nameplate, where),
    ...chainIssues(input, where),
  ];
  const rated = (point: string) =>
    typeof nameplate[point] === 'number' && nameplate[point] > 0 ? nameplate[point] : undefined;
  const { source, ratings: derivedRatings } = kindParameters({
    blocks: input,
    given: { wMaxW: rated('WMaxRtg'), vaMaxVa: rated('VAMaxRtg'), vNomV: rated('VNomRtg') },
    target,
    where,
    issues: profileIssues,
  });
  const charges = derivedRatings['WChaRteMaxRtg'] !== undefined;
  if (!charges && nameplate['WChaRteMaxRtg'] !== undefined) profileIssues.push(chargeIssue(source, nameplate, where));
  if (profileIssues.length > 0) {
    issues.push(...profileIssues);
    return null;
  }
  return {
    name: input.name ?? null,
    description: input.description ?? null,
    nominalFrequencyHz: input.nominal_frequency_hz ?? null,
    models: {
      ...Object.fromEntries(
        Object.entries(models).filter((entry): entry is [string, PointValues] => entry[1] !== undefined),
      ),
      702: { ...derivedRatings, NorOpCatRtg: 'CAT_B', AbnOpCatRtg: 'CAT_3', ...nameplate },
    },
    map: {
      layout: input.layout ?? defaultMapShape.layout,
      float: input.float ?? defaultMapShape.float,
      base: input.base_address ?? defaultMapShape.base,
      hiddenModels: input.hidden_models ?? defaultMapShape.hiddenModels,
      ...(input.chain && { chain: chainOf(input.chain) }),
    },
    inverter: resolveInverter(input.inverter ?? {}, charges),
    source,
    faults,
  };
}
