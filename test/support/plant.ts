import { addSeconds, simTimeFromMs, systemClock } from '../../src/core/time/clock.ts';
import type { ClockMode, WallClock } from '../../src/core/time/clock.ts';
import type { CommAlarms } from '../../src/core/comm-alarms.ts';
import type { FaultRegistry } from '../../src/core/faults/registry.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { Logger } from '../../src/core/log/log.ts';
import { localDateMs, SimClock } from '../../src/core/time/sim-clock.ts';
import { createPlant } from '../../src/der/plant/create-plant.ts';
import type { SpreadAnchor } from '../../src/der/plant/device-factory.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { FeederSpec } from '../../src/der/surroundings/grid/feeder.ts';
import { parseSeries } from '../../src/der/surroundings/series.ts';
import type { Series } from '../../src/der/surroundings/series.ts';
import type { CloudPreset } from '../../src/der/surroundings/sky/clouds.ts';
import { defaultMapShape } from '../../src/contract/map-layout.ts';
import type { MapShape } from '../../src/contract/map-layout.ts';
import type { InverterParameters } from '../../src/contract/device.ts';
import type { PvParameters } from '../../src/contract/kinds/pv.ts';
import type { ProfileSpec } from '../../src/der/device/template.ts';
import { configuredDevices } from './configured.ts';
import type { ConfiguredDevice } from './configured.ts';

export interface TestPlantOptions {
  /** device types as `--device_type` takes them; one device each */
  readonly types?: readonly string[];
  /** in place of `types` and of the changes to their profiles */
  readonly devices?: readonly ConfiguredDevice[];
  /** default `paused`: ticks come from `step` alone */
  readonly mode?: ClockMode;
  readonly firstIndex?: number;
  readonly tickIntervalS?: number;
  readonly wall?: WallClock;
  readonly rate?: number;
  readonly date?: string;
  readonly time?: string;
  readonly timezone?: string;
  readonly seed?: number;
  /** a fleet that runs since the date and time, for so many ticks, which the plant joins now */
  readonly joinsAfterTicks?: number;
  /** default 0: devices of one type are equal */
  readonly spreadPct?: number;
  readonly spreadAnchor?: SpreadAnchor;
  readonly nominalHz?: number;
  readonly weatherSource?: 'csv' | 'clear_sky';
  readonly clouds?: CloudPreset;
  /** CSV text with `time_s,voltage_pu,frequency_hz`, time from local midnight */
  readonly gridProfile?: string;
  /** start values over those of the bundled profile, by model and point, for every device */
  readonly models?: Readonly<Record<string, Readonly<Record<string, number | string>>>>;
  readonly pv?: Partial<PvParameters>;
  readonly inverter?: Partial<InverterParameters>;
  /** over the default map */
  readonly map?: Partial<MapShape>;
  /** null: a stiff grid */
  readonly feeder?: FeederSpec | null;
  /** models 64413 and 64414 in the maps */
  readonly simModels?: boolean;
  /** the connection point has a meter */
  readonly meter?: { readonly float: boolean; readonly unitId?: number };
  /** start value of 1.DA; default: devices have none */
  readonly unitAddressOf?: (index: number) => number;
  /** makes the registry whose faults the devices carry out */
  readonly faults?: (clock: SimClock) => FaultRegistry;
  readonly commAlarms?: CommAlarms;
  readonly log?: Logger;
  readonly dcLog?: Logger;
}

function withChanges(
  profile: ProfileSpec,
  { models = {}, pv = {}, inverter = {}, map = {} }: TestPlantOptions,
): ProfileSpec {
  const merged = Object.fromEntries(
    Object.entries(models).map(([id, points]) => [id, { ...profile.models[id], ...points }]),
  );
  const source =
    profile.source.kind === 'pv' ? { ...profile.source, pv: { ...profile.source.pv, ...pv } } : profile.source;
  return {
    ...profile,
    models: { ...profile.models, ...merged },
    map: { ...defaultMapShape, ...map },
    inverter: { ...profile.inverter, ...inverter },
    source,
  };
}

/** Profiles without changes: plants share them, and what follows from them. */
const plainProfiles = new WeakMap<ProfileSpec, ProfileSpec>();

function profileOf(profile: ProfileSpec, options: TestPlantOptions): ProfileSpec {
  const { models, pv, inverter, map } = options;
  if (models ?? pv ?? inverter ?? map) return withChanges(profile, options);
  const plain = plainProfiles.get(profile) ?? withChanges(profile, {});
  plainProfiles.set(profile, plain);
  return plain;
}

function gridSeries(text: string): Series {
  const columns = [
    { name: 'voltage_pu', required: true, min: 0, max: 2 },
    { name: 'frequency_hz', required: true, min: 0, max: 100 },
  ];
  return parseSeries(text, { name: 'grid', columns });
}

/** One device of each type; devices of one type share one profile. */
function devicesOf(types: readonly string[], options: TestPlantOptions): readonly ConfiguredDevice[] {
  const ofType = new Map(
    [...new Set(types)].map((type) => [
      type,
      configuredDevices('--device_type', type).map((device) => ({
        ...device,
        profile: profileOf(device.profile, options),
      })),
    ]),
  );
  return types.flatMap((type, position) =>
    (ofType.get(type) ?? []).map((device) => ({ ...device, name: `${device.name} ${position}` })),
  );
}

const defaults = {
  types: ['PV-3Phase'],
  mode: 'paused',
  firstIndex: 0,
  tickIntervalS: 1.5,
  wall: systemClock,
  rate: 1,
  date: '2026-06-21',
  time: '12:00:00',
  timezone: 'UTC',
  seed: 1,
  spreadPct: 0,
  nominalHz: 60,
  weatherSource: 'csv',
  clouds: 'clear',
  feeder: null,
  simModels: false,
  log: silentLogger,
} satisfies TestPlantOptions;

/** The real plant with bundled profiles at noon of a clear day; nothing drives it but the test. */
export function testPlant(options: TestPlantOptions = {}): SimPlant {
  const {
    types,
    mode,
    firstIndex,
    tickIntervalS,
    wall,
    rate,
    date,
    time,
    timezone,
    seed,
    spreadPct,
    spreadAnchor,
    nominalHz,
    weatherSource,
    clouds,
    gridProfile,
    feeder,
    simModels,
    meter = null,
    unitAddressOf,
    joinsAfterTicks = 0,
    faults,
    commAlarms,
    log,
    dcLog,
  } = { ...defaults, ...options };
  const devices = options.devices ?? devicesOf(types, options);
  const start = simTimeFromMs(localDateMs(date, time, timezone));
  const begin = addSeconds(start, joinsAfterTicks * rate * tickIntervalS);
  const clock = new SimClock(wall, { mode, rate, timezone }, begin);
  return createPlant({
    devices,
    firstIndex,
    clock,
    tickIntervalS,
    nominalHz,
    seed,
    spreadPct,
    version: '0.1.0',
    log,
    ...(dcLog && { dcLog }),
    ...(joinsAfterTicks > 0 && { joins: { start, tick: joinsAfterTicks } }),
    weatherSource,
    clouds,
    feeder,
    simModels,
    meter,
    gridProfile: gridProfile === undefined ? null : gridSeries(gridProfile),
    monotonicMs: () => wall.monotonicMs(),
    ...(spreadAnchor && { spreadAnchor }),
    ...(unitAddressOf && { unitAddressOf }),
    ...(faults && { faults: faults(clock) }),
    ...(commAlarms && { commAlarms }),
  });
}
