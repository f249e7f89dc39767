/** The fleet as the ground of scenarios, in the gateway that leads. */
import type { RunPace, RunReport } from '../../../contract/scenarios.ts';
import type { Perform } from '../../../api/http/perform.ts';
import { errorText, SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import { FindingRegistry } from '../../../core/findings/registry.ts';
import { Listeners } from '../../../core/listeners.ts';
import type { Logger } from '../../../core/log/log.ts';
import type { Origin } from '../../../core/origin.ts';
import type { ClockMode, SimTime, WallClock } from '../../../core/time/clock.ts';
import type { Later } from '../../../core/time/timers.ts';
import { plainPath } from '../../../sunspec/map/layout.ts';
import type { PointSlot } from '../../../sunspec/map/layout.ts';
import type { AnyPointValue, GroupDef, PointDef } from '../../../sunspec/map/types.ts';
import { classicModels, servedModels } from '../../../sunspec/models/served.ts';
import { allExpectations, allSteps, valueTests } from '../../../scenario/model.ts';
import type { Scenario, Signal } from '../../../scenario/model.ts';
import type { LaidOutPlant } from '../../../scenario/file/layout.ts';
import type { ScenarioHost } from '../../../scenario/run/host.ts';
import type { ClockKeeper } from '../../clock/keeper.ts';
import type { Stop } from '../../link.ts';
import { FleetDevices } from './devices.ts';
import type { DeviceParts, FleetDevice, Get } from './devices.ts';
import { fleetIssues } from './limits.ts';
import { FleetPlant, hasAlarm } from './plant.ts';
import type { FollowedShards } from './plant.ts';
import { FleetRequests } from './requests.ts';
import type { RunHistory } from './run-history.ts';
import type { RunMark } from './run-mark.ts';

/** Ratings that were read longer ago are read anew, ms. */
const ratedMs = 60_000;
/** Devices of which a model is read where any of them may have a point. */
const maxSearched = 100;

export interface FleetGroundParts {
  readonly shards: FollowedShards;
  readonly keeper: Pick<ClockKeeper, 'record' | 'step' | 'change'>;
  /** Resolves when the living shards have sent their ticks up to this one. */
  readonly ticksCome: (tick: number) => Promise<void>;
  readonly perform: Perform;
  readonly wall: WallClock;
  readonly later: Later;
  readonly log: Logger;
  readonly mark: Pick<RunMark, 'put' | 'clear'>;
  readonly history: Pick<RunHistory, 'add'>;
}

/** Members of the configuration of a shard; absent: the default. */
export interface ShardSettings {
  readonly seed?: number;
  readonly irradiance_source?: string;
  readonly clouds?: string;
  readonly grid?: {
    readonly nominal_frequency_hz?: number;
    readonly feeder?: { readonly short_circuit_ratio: number; readonly x_over_r: number };
  };
}

/** A run under way. */
interface Running {
  abort(error: unknown): void;
  readonly report: RunReport;
  readonly finished: Promise<RunReport>;
}

/** A device with its models and ratings. */
export interface RatedDevice extends Pick<FleetDevice, 'index' | 'deviceType' | 'profileName'> {
  readonly bank: {
    readonly layout: FleetDevice['bank']['layout'];
    value(slot: PointSlot): AnyPointValue;
  };
}

interface Rated {
  /** names and ranges of the shards */
  readonly key: string;
  /** devices whose ratings were read, the first ones */
  readonly count: number;
  readonly readMs: number;
  readonly devices: readonly RatedDevice[];
}

/** The clock is that of one scenario at a time. */
interface Hold {
  readonly name: string;
  /** mode of the clock before the run */
  before: ClockMode;
  plant: FleetPlant | null;
  run: Running | null;
  stopFollowing: Stop;
  /** why this gateway no longer has the clock; null: it has */
  lost: Error | null;
}

function* pointsOf(
  { points, groups = [] }: Pick<GroupDef, 'points' | 'groups'>,
  prefix = '',
): Generator<[string, PointDef]> {
  for (const point of points) yield [prefix + point.name, point];
  for (const group of groups) yield* pointsOf(group, `${prefix}${group.name}.`);
}

const definitions = new Map<number, ReadonlyMap<string, PointDef>>();

/** Definition of a point by its path without indexes. */
function definitionOf(model: number, path: string): PointDef | undefined {
  const def = [...servedModels, ...classicModels].find(({ id }) => id === model);
  const byPath = definitions.get(model) ?? new Map(def && pointsOf(def));
  definitions.set(model, byPath);
  return byPath.get(plainPath(path));
}

/** Points that a scenario names, with their devices; null: any device. */
function* namedPoints(scenario: Scenario): Generator<readonly [device: number | null, point: string]> {
  const signals: readonly Signal[] = [
    ...valueTests(scenario).map(({ test }) => test.signal),
    ...scenario.plots.map(({ signal }) => signal),
  ];
  for (const signal of signals) if (signal.kind === 'point') yield [signal.device, signal.point];
  for (const { subject } of allExpectations(scenario))
    if (subject.kind === 'nothing_left') for (const point of subject.except) yield [subject.device, point];
  for (const { request } of allSteps(scenario).flatMap(({ actions }) => actions)) {
    const [, model] = /^\/registers\/([^/]+)$/.exec(request.path) ?? [];
    if (model !== undefined) yield [Number(request.query?.['device'] ?? 0), `${decodeURIComponent(model)}.`];
  }
}

const modelOf = (point: string) => point.slice(0, point.indexOf('.'));

/** Reads the models of the points that a scenario names. */
async function readModels(devices: FleetDevices, scenario: Scenario): Promise<void> {
  const byDevice = new Map<FleetDevice, Set<string>>();
  for (const [index, point] of namedPoints(scenario)) {
    const named = index === null ? devices.list.slice(0, maxSearched) : [devices.find(index) ?? []].flat();
    for (const device of named) byDevice.set(device, (byDevice.get(device) ?? new Set()).add(modelOf(point)));
  }
  await devices.each([...byDevice.keys()], async (device) => {
    for (const model of byDevice.get(device) ?? []) await device.bank.readModel(model);
  });
}

/** Has the points that the assertions and plots of a scenario read kept up to date. */
function watch(devices: FleetDevices, scenario: Scenario): void {
  const signals = [...valueTests(scenario).map(({ test }) => test), ...scenario.plots].map(({ signal }) => signal);
  for (const signal of signals) {
    if (signal.kind !== 'point') continue;
    const bank = devices.find(signal.device)?.bank;
    const slot = bank?.layout.named(signal.point);
    if (slot) bank?.watch(slot);
  }
}

export class FleetGround {
  readonly otherWays = 'derbench run starts a simulator for the scenario';
  /** findings of peers stand in the shards */
  readonly hasCsip = false;
  readonly #parts: FleetGroundParts;
  readonly #findings: FindingRegistry;
  /** as they were read for the last check */
  #devices: FleetDevices | null = null;
  /** ratings that were read last */
  #rated: Rated | null = null;
  #hold: Hold | null = null;
  #releasing: Promise<void> = Promise.resolve();

  constructor(parts: FleetGroundParts) {
    this.#parts = parts;
    const { wall, later, log, keeper } = parts;
    this.#findings = new FindingRegistry({
      wall,
      later,
      log,
      sim: () => keeper.record?.sim0Us ?? (0 as SimTime),
      faults: { active: [], ended: [], onChange: () => () => undefined },
      isRealTime: () => false,
      hasStalled: () => false,
      isOn: () => false,
      isKept: () => false,
    });
  }

  /** Name of the scenario that has the clock; null: none. */
  get name(): string | null {
    return this.#hold?.name ?? null;
  }

  get mode(): ClockMode {
    return this.#parts.keeper.record?.mode ?? 'paused';
  }

  get #get(): Get {
    const { perform } = this.#parts;
    return (path, query) => perform({ method: 'GET', path, ...(query && { query }), by: { source: 'scenario' } });
  }

  get #deviceParts(): DeviceParts {
    const { wall, shards } = this.#parts;
    return { get: this.#get, wall, definitionOf, hasAlarm: (device) => hasAlarm(shards, device) };
  }

  get laidOut(): LaidOutPlant {
    const { shards } = this.#parts;
    const texts = shards
      .places()
      .flatMap(({ name, isLost }) => (isLost ? [] : (shards.newest(name)?.parts ?? [])))
      .flatMap(({ json }) => json);
    return {
      devices: this.#devices?.list ?? [],
      latest: { published: texts.map((text) => ({ snapshot: JSON.parse(text.toString()) as never })) },
    };
  }

  async read(scenario: Scenario): Promise<void> {
    this.#devices = await this.#readFor(scenario);
  }

  async #readFor(scenario: Scenario): Promise<FleetDevices> {
    const devices = await FleetDevices.read(this.#deviceParts);
    await readModels(devices, scenario);
    return devices;
  }

  /** Settings of the shards beside which the `config` of a scenario is compared; a part that differs from its default. */
  async settings(): Promise<ShardSettings> {
    const [first] = this.#parts.shards.places().filter(({ isLost }) => !isLost);
    if (first === undefined) return {};
    const { status, body } = await this.#get('/config', { shard: first.name });
    return status < 300 ? (body as ShardSettings) : {};
  }

  issues(scenario: Scenario): readonly Issue[] {
    return fleetIssues(scenario);
  }

  /** Devices with the ratings of the first ones. */
  async ratedDevices(count: number): Promise<readonly RatedDevice[]> {
    const key = JSON.stringify(this.#parts.shards.places().map(({ name, first, count: all }) => [name, first, all]));
    const nowMs = this.#parts.wall.monotonicMs();
    const rated = this.#rated;
    if (rated?.key === key && rated.count >= count && nowMs - rated.readMs < ratedMs) return rated.devices;
    const devices = await this.#readRated(count);
    this.#rated = { key, count, readMs: nowMs, devices };
    return devices;
  }

  async #readRated(count: number): Promise<readonly RatedDevice[]> {
    const devices = await FleetDevices.read(this.#deviceParts);
    await devices.each(devices.list.slice(0, count), async ({ bank }) => {
      await bank.readModels();
      await bank.readModel('702');
    });
    return devices.list.map(({ index, deviceType, profileName, bank }) => ({
      index,
      deviceType,
      profileName,
      bank: { layout: bank.layout, value: bank.lastValue.bind(bank) },
    }));
  }

  /**
   * Takes the clock, brings it to the mode of the pace, and reads the devices.
   * @throws SimError COMMAND_CONFLICT while another scenario runs
   */
  async begin(scenario: Scenario, pace: RunPace): Promise<ScenarioHost> {
    const { name } = scenario;
    if (this.#hold !== null)
      throw new SimError(
        'COMMAND_CONFLICT',
        `the scenario ${JSON.stringify(this.#hold.name)} runs; one runs at a time`,
      );
    const hold: Hold = { name, before: this.mode, plant: null, run: null, stopFollowing: () => undefined, lost: null };
    this.#hold = hold;
    try {
      const host = await this.#hostOf(scenario, pace, hold);
      if (hold.lost !== null) throw new SimError('COMMAND_CONFLICT', hold.lost.message);
      return host;
    } catch (error) {
      this.#release(hold);
      throw error;
    }
  }

  async #hostOf(scenario: Scenario, pace: RunPace, hold: Hold): Promise<ScenarioHost> {
    const { shards, keeper, ticksCome, perform, wall, later, log } = this.#parts;
    const by: Origin = { source: 'scenario', peer: scenario.name };
    await this.#setMode(pace, hold, by);
    await ticksCome(keeper.record?.tick0 ?? 0);
    const devices = await this.#readFor(scenario);
    watch(devices, scenario);
    await devices.refresh();
    const onFailure = (error: unknown) => {
      log.error(`the scenario ${scenario.name}: ${errorText(error)}`);
    };
    const plant = new FleetPlant({ shards, keeper, wall, devices, ticks: new Listeners(onFailure) });
    hold.plant = plant;
    hold.stopFollowing = shards.onLost((shard) => {
      this.#fail(hold, new Error(`the shard "${shard}" is lost`));
    });
    const onChange = () => {
      devices.changed();
    };
    const requests = new FleetRequests({ perform, by, onChange });
    return {
      plant,
      wall,
      later,
      csip: { enabled: false, events: () => [], onEvent: () => () => undefined },
      findings: this.#findings,
      timeline: {
        add: ({ text }) => {
          log.info(text);
        },
      },
      perform: (request) => requests.perform(request),
      onMessage: () => () => undefined,
      hasSwitchedMessages: () => false,
      reserveClock: () => () => {
        this.#release(hold);
      },
    };
  }

  async #setMode(pace: RunPace, { before }: Hold, by: Origin): Promise<void> {
    const isPaused = before === 'paused';
    if (isPaused === (pace === 'fast')) return;
    const { failed } = await this.#parts.keeper.change({ mode: isPaused ? 'accelerated' : 'paused' }, by);
    const [first] = failed;
    if (first !== undefined)
      throw new SimError('COMMAND_CONFLICT', `the clock of the shard "${first.shard}" did not follow: ${first.reason}`);
  }

  begun(run: Running): void {
    const hold = this.#hold;
    if (hold !== null) hold.run = run;
    const failure = hold?.plant?.failure ?? null;
    if (failure !== null) run.abort(failure);
    const { mark, history } = this.#parts;
    mark.put(run.report);
    void run.finished.then(async (report) => {
      // in this order a run is never in neither of them
      await history.add(report);
      mark.clear();
    });
  }

  /** Lets go of the clock, in the mode that it had before. */
  #release(hold: Hold): void {
    if (this.#hold !== hold) return;
    const { keeper, log } = this.#parts;
    hold.stopFollowing();
    hold.plant?.end(new Error('the run has ended'));
    const done = () => {
      if (this.#hold === hold) this.#hold = null;
    };
    if (this.mode === hold.before) {
      done();
      return;
    }
    this.#releasing = keeper
      .change({ mode: hold.before }, { source: 'scenario', peer: hold.name })
      .catch((error: unknown) => {
        log.warning(`the clock keeps the mode of the scenario ${hold.name}: ${errorText(error)}`);
      })
      .then(done);
  }

  /** Resolves when the clock has the mode that it had before the last run. */
  get released(): Promise<void> {
    return this.#releasing;
  }

  /** Ends a run whose clock another gateway has now. */
  lose(reason: Error): void {
    const hold = this.#hold;
    if (hold === null) return;
    // the clock is no longer that of this gateway
    hold.before = this.mode;
    hold.lost = reason;
    this.#fail(hold, reason);
  }

  #fail(hold: Hold, reason: Error): void {
    hold.plant?.end(reason);
    hold.run?.abort(reason);
  }
}
