/** Builds a plant from device specifications: surroundings, factory, devices. */
import { microsPerSecond } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { Listeners } from '../../core/listeners.ts';
import type { Disturbance } from '../../contract/plant.ts';
import type { Issue } from '../../core/errors.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import type { Logger } from '../../core/log/log.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import { DarkDevices } from '../device/device-context.ts';
import { DeviceFactory } from './device-factory.ts';
import type { SpreadAnchor } from './device-factory.ts';
import type { DeviceSpec, ProfileSpec } from '../device/template.ts';
import { Environment } from '../surroundings/environment.ts';
import { followFaults } from '../faults/follow.ts';
import type { FeederSpec } from '../surroundings/grid/feeder.ts';
import type { Wiring } from '../inverter/ac.ts';
import { Places } from '../surroundings/places.ts';
import type { SimDevice } from '../device/device.ts';
import { SiteFlows } from '../site/flows.ts';
import { ConnectionMeter } from '../site/meter.ts';
import type { ConnectionMeterOptions } from '../site/meter.ts';
import { Metering } from '../site/metering.ts';
import { SimPlant } from './plant.ts';
import type { Series } from '../surroundings/series.ts';
import { SeriesTime } from '../surroundings/series-time.ts';
import { CloudTrack } from '../surroundings/sky/clouds.ts';
import type { CloudPreset } from '../surroundings/sky/clouds.ts';

export type { DeviceSeries, DeviceSpec } from '../device/template.ts';

/** A device with its index; absent: the indexes follow the first one. */
export type PlacedSpec = DeviceSpec & { readonly index?: number };

export interface PlantSpec {
  /** in the order of their indexes; none only where an earlier process has lost all */
  readonly devices: readonly PlacedSpec[];
  readonly firstIndex: number;
  /** true: clients have removed all devices; default false */
  readonly mayBeEmpty?: boolean;
  /** its instant is the begin of the first tick */
  readonly clock: SimClock;
  /** a fleet that runs already */
  readonly joins?: RunningFleet;
  readonly tickIntervalS: number;
  readonly nominalHz: number;
  readonly seed: number;
  /** maximum deviation between devices of one profile, percent; absent or 0: devices of one profile are equal */
  readonly spreadPct?: number;
  readonly spreadAnchor?: SpreadAnchor;
  readonly weatherSource: 'csv' | 'clear_sky';
  readonly clouds: CloudPreset;
  readonly gridProfile: Series | null;
  /** the line from every device to the grid; absent or null: a stiff grid */
  readonly feeder?: FeederSpec | null;
  /** true: devices also serve models 64413 and 64414; default false */
  readonly simModels?: boolean;
  /** injected faults; absent: no fault injection */
  readonly faults?: FaultRegistry;
  /** alarms raised by adapters; absent: none */
  readonly commAlarms?: CommAlarms;
  /** meter of the connection point; absent or null: no meter */
  readonly meter?: Pick<ConnectionMeterOptions, 'float' | 'unitId'> | null;
  /** true: charging stations authorise tokens at a central system from their start; default: they do not */
  readonly centralAuthority?: () => boolean;
  /** start value of 1.DA by device index; absent: not implemented */
  readonly unitAddressOf?: (index: number) => number;
  readonly version: string;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  /** log of the DC side of devices; default `log` */
  readonly dcLog?: Logger;
}

/** A fleet that a plant joins: its series and ticks count from the start of the fleet. */
export interface RunningFleet {
  /** instant at which the fleet started */
  readonly start: SimTime;
  /** number of its last tick */
  readonly tick: number;
}

/** @throws SimError CONFIG_INVALID with the issues of all profiles, each under the first device that uses it */
function checkDevices(devices: readonly DeviceSpec[], factory: DeviceFactory, start: SimTime): void {
  const invalid = new Map<ProfileSpec, Set<Wiring>>();
  const issues: Issue[] = [];
  devices.forEach((device, position) => {
    const { profile, phases } = device;
    const where = device.profilePlace ?? `devices[${position}] (${device.name})`;
    attempt(
      () => {
        factory.checkVisits(device);
      },
      where,
      issues,
    );
    if (invalid.get(profile)?.has(phases) === true) return;
    if (
      !attempt(
        () => {
          factory.template(device, start);
        },
        where,
        issues,
      )
    ) {
      invalid.set(profile, (invalid.get(profile) ?? new Set()).add(phases));
    }
  });
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', 'the device profiles are invalid', issues);
}

/** Runs a check and adds its configuration issues under `where`. @returns true if it passed */
function attempt(check: () => void, where: string, issues: Issue[]): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    issues.push(...error.issues.map((issue) => ({ ...issue, name: `${where}: ${issue.name}` })));
    return false;
  }
}

/** The logs of plant and devices; those of sessions and commands are rate-limited, for large fleets. */
function logsOf({ log, dcLog = log, clock, monotonicMs }: PlantSpec) {
  const clocks = { nowMs: () => clock.wallMs(), monotonicMs };
  return {
    log,
    dcLog,
    sessionLog: new LimitedLog(dcLog, clocks, 'charging sessions'),
    commandLog: new LimitedLog(log, clocks, 'operator commands'),
  };
}

/** Parts shared by all devices, besides clock, surroundings and logs. */
function sharedOf({ faults, commAlarms, centralAuthority }: PlantSpec) {
  return {
    ...(faults && { faults }),
    ...(commAlarms && { commAlarms }),
    ...(centralAuthority && { centralAuthority }),
  };
}

function metersOf(
  { meter, version }: PlantSpec,
  devices: readonly SimDevice[],
  shared: Pick<ConnectionMeterOptions, 'clock' | 'surroundings' | 'start'>,
): { readonly meter: ConnectionMeter | null; readonly metering: Metering } {
  const flows = new SiteFlows(shared);
  const connection = meter ? new ConnectionMeter(devices, { ...shared, ...meter, version }, flows) : null;
  return { meter: connection, metering: new Metering(flows, connection) };
}

/** @throws SimError CONFIG_INVALID without devices, or with the issues of their profiles and tables of visits */
export function createPlant(spec: PlantSpec): SimPlant {
  const { clock, nominalHz, version } = spec;
  if (spec.devices.length === 0 && !spec.mayBeEmpty) throw new SimError('CONFIG_INVALID', 'there are no devices');
  const start = clock.tickTime;
  const dateMs = (t: SimTime) => clock.dateMs(t);
  const seriesOrigin = new SeriesTime(clock, spec.joins?.start);
  const seriesTime = (t: SimTime) => seriesOrigin.at(t);
  const clouds = new CloudTrack(spec.seed, spec.clouds);
  const places = new Places({
    clouds,
    dateMs,
    get originS() {
      return seriesOrigin.originS;
    },
  });
  const environment = new Environment(
    {
      nominalHz,
      gridProfile: spec.gridProfile,
      weatherSource: spec.weatherSource,
      seriesTime,
      seriesOrigin,
      weather: { csv: (index) => places.at(index).weather, clear_sky: (index) => places.at(index).sky },
      load: (index) => places.at(index).load,
    },
    start,
  );
  const commits = { sim: () => clock.acting(), wallMs: () => clock.wallMs() };
  const [dark, logs] = [new DarkDevices(spec.log), logsOf(spec)];
  const disturbances = new Listeners<[disturbance: Disturbance]>((error) => {
    spec.log.error(`a listener of disturbances failed: ${errorText(error)}`);
  });
  environment.onGridChange = (change) => {
    disturbances.notify({ kind: 'grid', ...change });
  };
  const factory = new DeviceFactory({
    context: {
      clock: commits,
      environment,
      seed: spec.seed,
      rate: () => clock.settings.rate,
      ...logs,
      feeder: spec.feeder ?? null,
      seriesTime,
      dark,
      disturbed: (disturbance) => {
        disturbances.notify(disturbance);
      },
      ...sharedOf(spec),
    },
    places,
    nominalHz,
    version,
    simModels: spec.simModels ?? false,
    unitAddressOf: spec.unitAddressOf,
    spreadPct: spec.spreadPct ?? 0,
    spreadAnchor: spec.spreadAnchor,
  });
  checkDevices(spec.devices, factory, start);
  const devices = spec.devices.map((device, at) => factory.make(device, device.index ?? spec.firstIndex + at, start));
  const plant = new SimPlant({
    devices,
    firstIndex: spec.firstIndex,
    firstTick: spec.joins?.tick,
    factory,
    ...metersOf(spec, devices, { clock: commits, surroundings: environment, start }),
    environment,
    clock,
    tickIntervalS: spec.tickIntervalS,
    hasFeeder: (spec.feeder ?? null) !== null,
    ...logs,
    monotonicMs: spec.monotonicMs,
    forgetBefore: (t) => {
      clouds.forgetBefore(t / microsPerSecond);
      environment.forgetBefore(t);
    },
    dark,
    disturbances,
  });
  if (spec.faults) followFaults(plant, spec.faults);
  return plant;
}
