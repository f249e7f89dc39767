import { z } from 'zod';
import { maxPvInputs } from '../../../contract/kinds/pv.ts';
import type { PvInputParameters, PvParameters, PvShading } from '../../../contract/kinds/pv.ts';
import type { Issue } from '../../../core/errors.ts';
import type { Phases } from '../device-types.ts';

/** Data-sheet values at 1000 W/m2 and 25 C, which size strings and arrays. */
const modules = {
  'CS5P-220M': { mppV: 46.9, mppA: 4.69, openV: 59.4 },
  'DATASHEET-270': { mppV: 31.0, mppA: 8.71, openV: 38.3 },
} as const;

export type PvModule = keyof typeof modules;
export const pvModules = Object.keys(modules) as [PvModule, ...PvModule[]];

const volts = z.number().min(1).max(1e5);

const clearSkyOnly = (text: string) =>
  `${text} For the irradiance source clear_sky only; CSV irradiance is in the plane of the array.`;

const moduleType = z.enum(pvModules).optional();
const seriesCount = z.number().min(1).max(1000).optional();
const parallelCount = z.number().min(0.01).max(1e6).optional();
const tilt = z.number().min(0).max(90).optional();
const azimuth = z.number().min(0).max(360).optional();

const shadingSchema = z.strictObject({
  shaded_share: z
    .number()
    .min(0)
    .max(1)
    .meta({ description: 'Fraction of the modules of each string that are shaded, 0 to 1.' }),
  irradiance_share: z
    .number()
    .min(0)
    .max(1)
    .meta({ description: 'Fraction of the irradiance that reaches the shaded modules, 0 to 1.' }),
});

const ofBlock = (text: string) => `${text}; default: that of the block pv.`;

const pvInputSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\x20-\x7e]{1,16}$/, '1 to 16 printable ASCII characters')
    .optional()
    .meta({ description: 'Name of the port, 714.Prt.IDStr: 1 to 16 ASCII characters; default PV and its number.' }),
  module: moduleType.meta({ description: ofBlock('Module type') }),
  series: seriesCount.meta({ description: ofBlock('Modules in series in a string') }),
  parallel: parallelCount.meta({
    description:
      'Strings in parallel; default: parallel of the block pv, otherwise whole strings, so that all ' +
      'inputs together have about 15 % more power than WMaxRtg.',
  }),
  tilt_deg: tilt.meta({ description: ofBlock('Tilt from horizontal, degrees, for the irradiance source clear_sky') }),
  azimuth_deg: azimuth.meta({
    description: ofBlock('Azimuth from north, clockwise, degrees, for the irradiance source clear_sky'),
  }),
  shading: shadingSchema.optional().meta({ description: ofBlock('Partial shading') }),
});

/** The `pv` block of a device profile. */
export const pvSchema = z
  .strictObject({
    module: moduleType.meta({ description: 'Module type; default CS5P-220M.' }),
    series: seriesCount.meta({
      description: 'Modules in series in a string; the default depends on phases and rating.',
    }),
    parallel: parallelCount.meta({
      description:
        'Strings in parallel; default: whole strings with about 15 % more power than WMaxRtg, in a hybrid hybrid.pv_w.',
    }),
    min_dc_voltage_v: volts
      .optional()
      .meta({ description: 'Lower end of the DC window, V; default half the string voltage at maximum power.' }),
    max_dc_voltage_v: volts
      .optional()
      .meta({ description: 'Upper end of the DC window, V; default 1.25 times the open-circuit string voltage.' }),
    efficiency_nominal: z
      .number()
      .min(0.8)
      .max(1)
      .optional()
      .meta({ description: 'Nominal inverter efficiency; default 0.96.' }),
    mppt_time_constant_s: z
      .number()
      .min(0.001)
      .max(3600)
      .optional()
      .meta({ description: 'Time constant of maximum power point tracking, s; default 1.5.' }),
    start_time_s: z
      .number()
      .min(0)
      .max(3600)
      .optional()
      .meta({ description: 'Time from open circuit to tracking at start, s; default 10.' }),
    start_power_w: z
      .number()
      .min(0)
      .max(1e9)
      .optional()
      .meta({
        description:
          'DC power of the array at which the inverter starts, W, up to the rated power of the array; below 75 % ' +
          'of this power it sleeps again. Default 0.8 % of WMaxRtg, in a hybrid of hybrid.pv_w, a little more than the ' +
          'no-load losses.',
      }),
    night_power_w: z
      .number()
      .min(0)
      .max(1e9)
      .optional()
      .meta({
        description:
          'AC power that the sleeping inverter takes from the grid, W, up to 5 % of WMaxRtg; default 0.02 % of WMaxRtg. ' +
          'It has no effect in a hybrid.',
      }),
    tilt_deg: tilt.meta({ description: clearSkyOnly('Tilt from horizontal, degrees; default 30.') }),
    azimuth_deg: azimuth.meta({
      description: clearSkyOnly(
        'Azimuth from north, clockwise, degrees; default 180, or 0 in the southern hemisphere.',
      ),
    }),
    latitude_deg: z
      .number()
      .min(-90)
      .max(90)
      .optional()
      .meta({ description: clearSkyOnly('Latitude, degrees north; default 40.') }),
    longitude_deg: z
      .number()
      .min(-180)
      .max(180)
      .optional()
      .meta({
        description: clearSkyOnly(
          'Longitude, degrees east; by default the sun is highest near 12:00 in the time zone of the clock.',
        ),
      }),
    shading: shadingSchema.optional().meta({ description: 'Partial shading; default none.' }),
    mppt: z.enum(['global', 'local']).optional().meta({
      description:
        'Tracker: global finds the highest maximum of a shaded array, local stays on the first maximum below open circuit; default global.',
    }),
    inputs: z
      .array(pvInputSchema)
      .min(2)
      .max(maxPvInputs)
      .optional()
      .meta({
        description:
          'Inputs of the inverter, each with its own array and tracker, in the order of the ports of ' +
          'model 714; not in a hybrid. Default: one input.',
      }),
  })
  .meta({ description: 'PV generator and its DC input.' });

export type PvBlock = z.infer<typeof pvSchema>;

/** Default start and night power as shares of the rating, typical of the CEC inverter database. */
const startShare = 0.008;
const nightShare = 0.0002;
/** Maximum night power as a share of the rating. */
const maxNightShare = 0.05;

interface PvSite {
  readonly phases: Phases;
  /** default of the longitude, degrees east */
  readonly longitudeDeg: number;
  /** power of the array at standard conditions, W; absent: whole strings that suit the rating */
  readonly arrayW?: number;
}

/** Default voltage of a string at maximum power, V, for inverters of the 600, 1000 and 1500 V classes. */
function stringTargetV(phases: Phases, ratedW: number): number {
  if (phases !== 'three') return 420;
  return ratedW < 100_000 ? 610 : 1030;
}

/** Power of an array at 1000 W/m2 and 25 C, W. */
export function arrayPowerW({
  module,
  series,
  parallel,
}: {
  readonly module: PvModule;
  readonly series: number;
  readonly parallel: number;
}): number {
  const { mppV, mppA } = modules[module];
  return series * parallel * mppV * mppA;
}

function stringsFor(
  string: { readonly module: PvModule; readonly series: number },
  ratedW: number,
  arrayW?: number,
): number {
  const stringW = arrayPowerW({ ...string, parallel: 1 });
  // the array of a hybrid is given in watts, which may need a fractional number of strings
  return arrayW === undefined ? Math.max(1, Math.round((1.15 * ratedW) / stringW)) : arrayW / stringW;
}

function resolveShading(shading: z.infer<typeof shadingSchema>): PvShading {
  return { shadedShare: shading.shaded_share, irradianceShare: shading.irradiance_share };
}

type StringDesign = Readonly<Record<'module', PvModule>> & Pick<PvParameters, 'series'>;
type ResolvedInput = PvInputParameters & StringDesign;

/** Fills in the defaults of the inputs. @param block resolved values of the block, the defaults of each input */
function resolveInputs(
  input: PvBlock,
  inputs: NonNullable<PvBlock['inputs']>,
  ratedW: number,
  block: StringDesign & Pick<PvParameters, 'tiltDeg' | 'azimuthDeg' | 'shading'>,
): readonly ResolvedInput[] {
  return inputs.map((pvInput, i) => {
    const module = pvInput.module ?? block.module;
    const series = pvInput.series ?? block.series;
    return {
      name: pvInput.name ?? `PV ${i + 1}`,
      module,
      series,
      parallel: pvInput.parallel ?? input.parallel ?? stringsFor({ module, series }, ratedW / inputs.length),
      tiltDeg: pvInput.tilt_deg ?? block.tiltDeg,
      azimuthDeg: pvInput.azimuth_deg ?? block.azimuthDeg,
      shading: pvInput.shading ? resolveShading(pvInput.shading) : block.shading,
    };
  });
}

/** The DC window, V; default: half the lowest MPP voltage to 1.25 times the highest open-circuit string voltage. */
function windowOf(
  input: PvBlock,
  strings: readonly StringDesign[],
): Pick<PvParameters, 'minDcVoltageV' | 'maxDcVoltageV'> {
  const halfV = Math.min(...strings.map(({ module, series }) => 0.5 * series * modules[module].mppV));
  const openV = Math.max(...strings.map(({ module, series }) => 1.25 * series * modules[module].openV));
  return {
    minDcVoltageV: input.min_dc_voltage_v ?? Math.floor(halfV),
    maxDcVoltageV: input.max_dc_voltage_v ?? Math.ceil(openV),
  };
}

/**
 * Reports a start power above the rating of the array, and a night power above its maximum.
 * @param rating of the inverter, in a hybrid that of the array, with the name of its member
 */
function checkSleep(
  { start_power_w: startW, night_power_w: nightW }: PvBlock,
  rating: { readonly name: string; readonly watts: number },
  arrayW: number,
  where: string,
  issues: Issue[],
): void {
  if (startW !== undefined && startW > arrayW) {
    issues.push({
      name: `${where}: pv.start_power_w`,
      detail: `given ${startW}; allowed: up to the rated power of the array, which is ${Math.floor(arrayW)}`,
    });
  }
  const maxNightW = maxNightShare * rating.watts;
  if (nightW !== undefined && nightW > maxNightW) {
    issues.push({
      name: `${where}: pv.night_power_w`,
      detail: `given ${nightW}; allowed: up to ${100 * maxNightShare} % of ${rating.name}, which is ${maxNightW}`,
    });
  }
}

/**
 * Fills in the defaults of the block.
 * @param ratedW of the inverter, in a hybrid of the array, W
 * @param where prefix of the key in an issue
 * @param issues receives errors across members
 */
export function resolvePv(
  input: PvBlock,
  ratedW: number,
  site: PvSite,
  where: string,
  issues: Issue[],
): PvParameters & { readonly module: PvModule } {
  const module = input.module ?? 'CS5P-220M';
  const series = input.series ?? Math.round(stringTargetV(site.phases, ratedW) / modules[module].mppV);
  const latitudeDeg = input.latitude_deg ?? 40;
  const plane = {
    tiltDeg: input.tilt_deg ?? 30,
    azimuthDeg: input.azimuth_deg ?? (latitudeDeg < 0 ? 0 : 180),
    shading: input.shading ? resolveShading(input.shading) : null,
  };
  const inputs = input.inputs && resolveInputs(input, input.inputs, ratedW, { module, series, ...plane });
  const { minDcVoltageV, maxDcVoltageV } = windowOf(input, inputs ?? [{ module, series }]);
  if (minDcVoltageV >= maxDcVoltageV) {
    issues.push({
      name: `${where}: pv.min_dc_voltage_v`,
      detail: `given or derived ${minDcVoltageV}; allowed: below max_dc_voltage_v, which is ${maxDcVoltageV}`,
    });
  }
  const parallel = input.parallel ?? stringsFor({ module, series }, ratedW, site.arrayW);
  const arrayW = (inputs ?? [{ module, series, parallel }]).reduce((sum, strings) => sum + arrayPowerW(strings), 0);
  const rating = { name: site.arrayW === undefined ? 'WMaxRtg' : 'hybrid.pv_w', watts: ratedW };
  checkSleep(input, rating, arrayW, where, issues);
  return {
    module,
    series,
    parallel,
    minDcVoltageV,
    maxDcVoltageV,
    efficiencyNominal: input.efficiency_nominal ?? 0.96,
    mpptTimeConstantS: input.mppt_time_constant_s ?? 1.5,
    startTimeS: input.start_time_s ?? 10,
    startPowerW: input.start_power_w ?? startShare * ratedW,
    nightPowerW: input.night_power_w ?? nightShare * ratedW,
    ...plane,
    mppt: input.mppt ?? 'global',
    latitudeDeg,
    longitudeDeg: input.longitude_deg ?? site.longitudeDeg,
    ...(inputs && { inputs }),
  };
}
