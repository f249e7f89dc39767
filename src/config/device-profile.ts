import { z } from 'zod';
import type { InverterParameters, PvParameters } from '../core/device.ts';
import type { Fault } from '../core/errors.ts';
import type { Phases } from './device-types.ts';

/** Models that a device serves and that a profile may give start values for. */
export const servedModels = [
  '1', '701', '702', '703', '704', '705', '706', '707', '708', '709', '710', '711', '712', '713', '714', '715',
] as const;

/** Data-sheet values at 1000 W/m2 and 25 C that string lengths are derived from. */
const modules = {
  'CS5P-220M': { mppV: 46.9, mppA: 4.69, openV: 59.4 },
  'DATASHEET-270': { mppV: 31.0, mppA: 8.71, openV: 38.3 },
} as const;

export type PvModule = keyof typeof modules;
export const pvModules = Object.keys(modules) as [PvModule, ...PvModule[]];

const positive = z.number().positive().max(1e9);
const pointValue = z.union([z.number(), z.string().max(256)]);
const pointName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]*(\[\d{1,4}\])?(\.[A-Za-z][A-Za-z0-9_]*(\[\d{1,4}\])?)*$/, 'a point name');
const points = z.record(pointName, pointValue);
const ratings = points.meta({ description: 'Ratings and settings of model 702; a setting that is not given follows its rating.' });

const modelsSchema = z.strictObject(
  Object.fromEntries(servedModels.map((id) => [id, (id === '702' ? ratings : points).optional()])),
).meta({ description: 'Start values of register points by model id and point name: numbers in engineering units, enumerations by symbol or number.' });

const site = (text: string) => `${text} Serves the clear_sky source; CSV irradiance is taken as in the plane of the array.`;

const pvSchema = z.strictObject({
  module: z.enum(pvModules).optional().meta({ description: 'Module type; default CS5P-220M.' }),
  series: z.number().min(1).max(1000).optional().meta({ description: 'Modules in series in a string; default by phases and rating.' }),
  parallel: z.number().min(0.01).max(1e6).optional().meta({ description: 'Strings in parallel; default 15 % more module power than WMaxRtg.' }),
  min_dc_voltage_v: positive.optional().meta({ description: 'Lower end of the DC window, V; default half the string voltage at maximum power.' }),
  max_dc_voltage_v: positive.optional().meta({ description: 'Upper end of the DC window, V; default 1.25 times the open-circuit string voltage.' }),
  efficiency_nominal: z.number().min(0.8).max(1).optional().meta({ description: 'Nominal inverter efficiency; default 0.96.' }),
  mppt_time_constant_s: z.number().min(0.001).max(3600).optional().meta({ description: 'Time constant of maximum power point tracking, s; default 1.5.' }),
  start_time_s: z.number().min(0).max(3600).optional().meta({ description: 'Time from open circuit to tracking at start, s; default 10.' }),
  tilt_deg: z.number().min(0).max(90).optional().meta({ description: site('Tilt from horizontal, degrees; default 30.') }),
  azimuth_deg: z.number().min(0).max(360).optional().meta({ description: site('Azimuth from north, clockwise, degrees; default 180, on the southern half 0.') }),
  latitude_deg: z.number().min(-90).max(90).optional().meta({ description: site('Latitude, degrees north; default 40.') }),
  longitude_deg: z.number().min(-180).max(180).optional().meta({ description: site('Longitude, degrees east; default where the time zone of the clock has its noon.') }),
}).meta({ description: 'PV generator and its DC input.' });

const inverterSchema = z.strictObject({
  low_power_vars: z.enum(['reduced', 'full']).optional().meta({ description: 'Reactive power below 20 % of rated power: as little as IEEE 1547-2018 asks for, or all of it; default reduced, for devices with WChaRteMaxRtg full.' }),
  may_trip: z.enum(['stay', 'trip']).optional().meta({ description: 'What the device does beyond its may-trip curve; default stay.' }),
  cessation_return_s: z.number().min(0).max(10).optional().meta({ description: 'Time from the end of momentary cessation to the first output, s; default 0.' }),
  cessation_ramp_s: z.number().min(0).max(10).optional().meta({ description: 'Time from the first output after momentary cessation to full output, s; default 0.' }),
  anti_islanding_s: z.number().min(0.16).max(2).optional().meta({ description: 'Time after which an islanded device trips, s; default 1.' }),
  rocof_relay_hz_s: z.number().min(0.1).max(20).nullable().optional().meta({ description: 'Limit of a relay for the rate of change of frequency, Hz/s; default null, not fitted.' }),
  vector_shift_relay_deg: z.number().min(2).max(180).nullable().optional().meta({ description: 'Limit of a vector shift relay, degrees; default null, not fitted.' }),
  adoption_s: z.number().min(0).max(60).optional().meta({ description: 'Time that the adoption of a stored curve takes, s; default 0.' }),
}).meta({ description: 'What the standard leaves to the maker of an inverter and no register holds.' });

/** A device profile as it stands in a file. */
export const deviceProfileSchema = z.strictObject({
  name: z.string().min(1).max(64).optional().meta({ description: 'Name for people.' }),
  description: z.string().max(1000).optional(),
  models: modelsSchema.optional(),
  pv: pvSchema.optional(),
  inverter: inverterSchema.optional(),
}).meta({ title: 'Device profile', description: 'Start values of one device, and its physical parameters.' });

export type DeviceProfileInput = z.infer<typeof deviceProfileSchema>;

/** PV generator and DC input with every default filled in. */
type PvProfile = PvParameters & { readonly module: PvModule };

type PointValues = Readonly<Record<string, number | string>>;

/** A profile with every default filled in; devices of one profile share one object. */
export interface DeviceProfile {
  readonly name: string | null;
  readonly description: string | null;
  /** start values by model id; `702` always has WMaxRtg, VAMaxRtg, VNomRtg, NorOpCatRtg and AbnOpCatRtg */
  readonly models: Readonly<Record<string, PointValues>>;
  readonly pv: PvProfile;
  readonly inverter: InverterParameters;
}

interface ProfileSite {
  readonly phases: Phases;
  /** used where the profile gives none */
  readonly longitudeDeg: number;
}

const defaultRatings = {
  three: { WMaxRtg: 10000, VNomRtg: 480 },
  split: { WMaxRtg: 10000, VNomRtg: 240 },
  single: { WMaxRtg: 5000, VNomRtg: 240 },
} as const;

const numericRatings = ['WMaxRtg', 'VAMaxRtg', 'VNomRtg'] as const;

/** String voltage at maximum power, V: 600 V, 1000 V and 1500 V class inverters. */
function stringTargetV(phases: Phases, ratedW: number): number {
  if (phases !== 'three') return 420;
  return ratedW < 100_000 ? 610 : 1030;
}

function resolvePv(pv: NonNullable<DeviceProfileInput['pv']>, ratedW: number, site: ProfileSite): PvProfile {
  const module = pv.module ?? 'CS5P-220M';
  const { mppV, mppA, openV } = modules[module];
  const series = pv.series ?? Math.round(stringTargetV(site.phases, ratedW) / mppV);
  const parallel = pv.parallel ?? Math.max(1, Math.round((1.15 * ratedW) / (series * mppV * mppA)));
  const latitudeDeg = pv.latitude_deg ?? 40;
  return {
    module,
    series,
    parallel,
    minDcVoltageV: pv.min_dc_voltage_v ?? Math.floor(0.5 * series * mppV),
    maxDcVoltageV: pv.max_dc_voltage_v ?? Math.ceil(1.25 * series * openV),
    efficiencyNominal: pv.efficiency_nominal ?? 0.96,
    mpptTimeConstantS: pv.mppt_time_constant_s ?? 1.5,
    startTimeS: pv.start_time_s ?? 10,
    tiltDeg: pv.tilt_deg ?? 30,
    azimuthDeg: pv.azimuth_deg ?? (latitudeDeg < 0 ? 0 : 180),
    latitudeDeg,
    longitudeDeg: pv.longitude_deg ?? site.longitudeDeg,
  };
}

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
  };
}

/**
 * Fills in what a profile leaves out. Of the two power ratings one follows the other; PV parameters follow WMaxRtg.
 * @param where put before the key in a fault
 * @param faults receives what is wrong across members
 * @returns null when there are faults
 */
export function resolveProfile(input: DeviceProfileInput, site: ProfileSite, where: string, faults: Fault[]): DeviceProfile | null {
  const models = input.models ?? {};
  const given = models['702'] ?? {};
  const before = faults.length;
  for (const point of numericRatings) {
    const value = given[point];
    if (value !== undefined && !(typeof value === 'number' && value > 0 && value <= 1e9)) {
      faults.push({ name: `${where}: models.702.${point}`, detail: `given ${JSON.stringify(value)}; allowed: a number above 0 up to 1e9` });
    }
  }
  const rated = (point: string) => (typeof given[point] === 'number' ? given[point] : undefined);
  const defaults = defaultRatings[site.phases];
  const ratedW = rated('WMaxRtg') ?? rated('VAMaxRtg') ?? defaults.WMaxRtg;
  const pv = resolvePv(input.pv ?? {}, ratedW, site);
  if (pv.minDcVoltageV >= pv.maxDcVoltageV) {
    faults.push({
      name: `${where}: pv.min_dc_voltage_v`,
      detail: `given or derived ${pv.minDcVoltageV}; allowed: below max_dc_voltage_v, which is ${pv.maxDcVoltageV}`,
    });
  }
  if (faults.length > before) return null;
  return {
    name: input.name ?? null,
    description: input.description ?? null,
    models: {
      ...Object.fromEntries(Object.entries(models).filter((entry): entry is [string, PointValues] => entry[1] !== undefined)),
      702: {
        WMaxRtg: ratedW, VAMaxRtg: ratedW, VNomRtg: defaults.VNomRtg, NorOpCatRtg: 'CAT_B', AbnOpCatRtg: 'CAT_3', ...given,
      },
    },
    pv,
    inverter: resolveInverter(input.inverter ?? {}, given['WChaRteMaxRtg'] !== undefined),
  };
}
