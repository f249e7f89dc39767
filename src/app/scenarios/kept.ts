/**
 * Scenarios that a running simulator keeps, and the simulator as their host. The code of scenarios is loaded with the
 * first scenario.
 */
import { readFile } from 'node:fs/promises';
import type { CsipEvents } from '../../contract/csip-reports.ts';
import { clockRefusal } from '../../contract/exchange.ts';
import type { Plant } from '../../contract/plant.ts';
import type {
  CheckedScenario,
  ClockOwner,
  ComparedScenario,
  DraftSource,
  KeptRun,
  KeptScenario,
  ReportFormat,
  RunReport,
  ScenarioAddition,
  ScenarioBook,
  ScenarioStart,
  TextChoice,
} from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { Issue } from '../../core/errors.ts';
import { packageFile } from '../../core/package-files.ts';
import { lazily, Late } from '../../core/lazy.ts';
import { LoopShare, Turns } from '../../core/turns.ts';
import type { Origin } from '../../core/origin.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { Scenario } from '../../scenario/model.ts';
import type { Api } from '../../api/http/server.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { Source } from '../../scenario/file/source.ts';
import type { ScenarioHost } from '../../scenario/run/host.ts';
import type { ReportOrigin } from '../../scenario/report/document.ts';
import type { Perform } from '../../api/http/perform.ts';
import { additionOf, bundledPath, keptForm, ofParameters, ofScenario, openerOf, refused, textOf } from './additions.ts';
import type { OpenSource } from './additions.ts';
import type { BesideApp } from './beside.ts';
import { loadedScenarioCode } from './code.ts';
import type { ScenarioCode } from './code.ts';
import type { RequiredByEntry, RunningConfig } from './fit.ts';
import { groundOf } from './ground.ts';
import type { Fitted, ScenarioGround } from './ground.ts';
import { RunBook } from './runs.ts';
import type { ScenarioShelf, ShelvedScenario } from './shelf.ts';
import type { Build } from './simulator.ts';

/** Parts of the simulator that scenarios run on. */
interface HostParts {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly wireLog: WireLog;
  readonly csip: CsipEvents;
  readonly findings: FindingRegistry;
  readonly timeline: TimelineSink;
  readonly perform: Perform;
  readonly clockHold: ClockHold;
}

/** Reserves the clock for one scenario at a time. */
class ClockHold implements ClockOwner {
  readonly #plant: Pick<Plant, 'exchange'>;
  #name: string | null = null;

  constructor(plant: Pick<Plant, 'exchange'>) {
    this.#plant = plant;
  }

  get name(): string | null {
    return this.#name;
  }

  /** @throws SimError COMMAND_CONFLICT */
  take(name: string): () => void {
    const refusal = clockRefusal(this.#plant.exchange);
    if (refusal !== null) throw new SimError('COMMAND_CONFLICT', refusal);
    if (this.#name !== null)
      throw new SimError('COMMAND_CONFLICT', `the scenario ${JSON.stringify(this.#name)} runs; one runs at a time`);
    this.#name = name;
    return () => {
      this.#name = null;
    };
  }
}

/** @returns function from the name of a scenario to its host, whose requests carry the name */
function createScenarioHost({
  plant,
  wall,
  later,
  wireLog,
  csip,
  findings,
  timeline,
  perform,
  clockHold,
}: HostParts): (name: string) => ScenarioHost {
  return (name) => ({
    plant,
    wall,
    later,
    csip,
    findings,
    timeline,
    perform: (request) => perform({ ...request, by: { source: 'scenario', peer: name } }),
    reserveClock: () => clockHold.take(name),
    onMessage: (protocol, station, listener) =>
      wireLog.find(protocol, station)?.subscribe(({ id }) => {
        listener(id);
      }) ?? (() => undefined),
    hasSwitchedMessages(protocol) {
      const last = wireLog.find(protocol, '')?.changedBy;
      return last?.source === 'scenario' && last.peer === name;
    },
  });
}

interface KeptParts extends Pick<HostParts, 'wall' | 'later'> {
  readonly ground: ScenarioGround;
  readonly origin: ReportOrigin;
  /** keeps the scenarios over a restart; null: they end with the process */
  readonly shelf: ScenarioShelf | null;
  /** builds simulators beside this one */
  readonly build: Build<BesideApp>;
}

const maxScenarios = 64;
/** Maximum number of scenarios that wait to be checked. */
const maxWaiting = 16;
/** Octets of the contents of all scenarios. */
const maxContentBytes = 32 * 1024 * 1024;
/** Maximum number of simulators beside this one. */
const maxBeside = 2;

const checks = lazily(() => import('./checks.ts'));
const fitCode = lazily(() => import('./fit.ts'));
const libraryCode = lazily(() => import('./library.ts'));
const besideCode = lazily(() => import('./beside.ts'));

interface Comparison {
  /** reasons why this simulator does not fit the scenario */
  readonly differences: readonly string[];
  /** settings of `config` that this simulator does not apply */
  readonly unusedSettings: readonly string[];
}
interface Examined extends Comparison {
  readonly scenario: Scenario;
  readonly needsPeer: boolean;
}

export class KeptScenarios implements ScenarioBook {
  readonly maxScenarios = maxScenarios;
  readonly #parts: KeptParts;
  readonly #kept = new Map<string, ShelvedScenario>();
  readonly runs: RunBook;
  /** ids of scenarios that wait for a peer or judge one */
  readonly #needPeer = new Set<string>();
  /** scenarios that were run by this process */
  readonly #hasRun = new Set<string>();
  /** simulators beside this one that run or are being built */
  #beside = 0;
  /** ids are never reused */
  #lastId = 0;
  /** true: no run begins any more */
  #isClosed = false;
  /** thousands of steps are read in turns with other work */
  readonly #loopShare = new LoopShare();
  /** one scenario is read at a time: its steps take tens of megabytes until they are checked */
  readonly #turns = new Turns();
  readonly #library = lazily(async () => this.#loopShare.runInParts((await libraryCode()).readingLibrary()));
  /** The shelf has no `needsPeer`: a later version may know better. */
  readonly #readEarlier = lazily(async () => {
    for (const entry of [...this.#kept.values()]) await this.#learnPeer(entry);
  });
  readonly #requiredByLibrary: RequiredByEntry = new Map();

  constructor(parts: KeptParts) {
    this.#parts = parts;
    const { lastId, scenarios } = parts.shelf?.read() ?? { lastId: 0, scenarios: [] };
    this.#lastId = lastId;
    for (const scenario of scenarios) this.#kept.set(scenario.id, scenario);
    this.runs = new RunBook(parts);
  }

  list(): readonly KeptScenario[] {
    return [...this.#kept.values()].map((scenario) => this.#viewOf(scenario));
  }

  get(id: string): KeptScenario {
    return this.#viewOf(this.#find(id));
  }

  readEarlier(): Promise<void> {
    return this.#readEarlier();
  }

  async #learnPeer(entry: ShelvedScenario): Promise<void> {
    try {
      const code = await loadedScenarioCode();
      const { value } = await openerOf(additionOf(entry), this.#loopShare)(code);
      if (code.needsPeer(value)) this.#needPeer.add(entry.id);
    } catch {
      // a bundled scenario that this version lacks, or a text that it cannot read: a start says so
    }
  }

  /** The first devices here, or the reason why they cannot be compared. */
  async #fitted(count: number): Promise<Fitted | string> {
    try {
      return await this.#parts.ground.fitted(count);
    } catch (error) {
      if (error instanceof SimError) return error.message;
      throw error;
    }
  }

  async bundled(): Promise<readonly ComparedScenario[]> {
    const { comparingLibrary, incomparable, maxDevicesOf } = await libraryCode();
    const library = await this.#library();
    const fitted = await this.#fitted(maxDevicesOf(library));
    // a list is shown also where no scenario could begin
    if (typeof fitted === 'string') return incomparable(library, fitted);
    const { devices, config } = fitted;
    return this.#loopShare.runInParts(comparingLibrary(library, devices, config, this.#requiredByLibrary));
  }

  async add(addition: ScenarioAddition, by: Origin): Promise<KeptScenario> {
    this.#checkRoom();
    const form = keptForm(addition);
    const { scenario, unusedSettings, needsPeer } = await this.#read(
      openerOf(addition, this.#loopShare),
      form.bundled ?? 'scenario',
      ofScenario,
    );
    // other scenarios may have been added meanwhile
    this.#checkRoom(form.content);
    const { name, description, parameters } = scenario;
    const entry: ShelvedScenario = {
      id: String((this.#lastId += 1)),
      ...form,
      head: { name, description, parameters },
      addedBy: by,
      addedAtMs: this.#parts.wall.nowMs(),
      unusedSettings,
    };
    this.#kept.set(entry.id, entry);
    if (needsPeer) this.#needPeer.add(entry.id);
    await this.#parts.shelf?.put(entry, this.#index);
    return this.#viewOf(entry);
  }

  async check(addition: ScenarioAddition): Promise<CheckedScenario> {
    const bundled = 'bundled' in addition ? addition.bundled : null;
    const open = openerOf(addition, this.#loopShare);
    const { scenario, ...comparison } = await this.#examine(open, bundled ?? 'scenario', ofScenario, {});
    const { name, description, parameters, steps, rules, finally: last } = scenario;
    return {
      name,
      description,
      parameters,
      steps: steps.length + last.length,
      rules: rules.length,
      assertions: (await loadedScenarioCode()).allExpectations(scenario).length,
      ...comparison,
    };
  }

  async text(of: TextChoice): Promise<string> {
    const addition = this.#additionOf(of);
    if ('bundled' in addition) return readFile(bundledPath(addition.bundled), 'utf8');
    return 'yaml' in addition ? addition.yaml : JSON.stringify(addition.content, null, 2);
  }

  async draft(source: DraftSource): Promise<Generator<undefined, string>> {
    const { captureDraft, timelineDraft } = await loadedScenarioCode();
    const { checkRequest } = await checks();
    return 'capture' in source
      ? captureDraft(source.capture, checkRequest)
      : timelineDraft(source.entries, source.dateMs, checkRequest);
  }

  #additionOf(of: TextChoice): ScenarioAddition {
    if ('bundled' in of) return of;
    if ('id' in of) return additionOf(this.#find(of.id));
    const { scenarioId, bundled, text } = this.runs.get(of.run);
    if (bundled !== null) return { bundled };
    const kept = this.#kept.get(scenarioId ?? '');
    if (kept) return additionOf(kept);
    if (text === null) throw new SimError('UNKNOWN_RESOURCE', `the text of run ${of.run} is not kept any more`);
    return text.isYaml ? { yaml: text.content } : { content: JSON.parse(text.content) as unknown };
  }

  async schema(): Promise<string> {
    try {
      return await readFile(packageFile('config/schema/scenario.schema.json'), 'utf8');
    } catch {
      throw new SimError('UNKNOWN_RESOURCE', 'this build has no schema of scenarios; npm run build makes it');
    }
  }

  #checkRoom(content: string | null = null): void {
    if (this.#kept.size >= maxScenarios)
      throw new SimError('COMMAND_CONFLICT', `${maxScenarios} scenarios are kept; DELETE scenarios/{id} makes room`);
    const octets = [...this.#kept.values(), { content }].reduce(
      (sum, entry) => sum + (entry.content === null ? 0 : Buffer.byteLength(entry.content)),
      0,
    );
    if (octets > maxContentBytes)
      throw new SimError(
        'COMMAND_CONFLICT',
        `scenarios of ${maxContentBytes / 1024 / 1024} MiB in all are kept; DELETE scenarios/{id} makes room`,
      );
  }

  /**
   * Reads and checks a scenario for this simulator.
   * @param issueOf names an issue by its place in the request
   * @throws SimError COMMAND_QUEUE_FULL, COMMAND_BAD_VALUE, COMMAND_CONFLICT if it is for another one, STOPPING
   */
  async #read(
    open: OpenSource,
    name: string,
    issueOf: (issue: Issue) => Issue,
    parameters: ScenarioStart['parameters'] = {},
  ): Promise<Examined> {
    const examined = await this.#examine(open, name, issueOf, parameters);
    const { differences } = examined;
    if (differences.length > 0)
      throw new SimError(
        'COMMAND_CONFLICT',
        `the scenario is for ${differences.join('; ')}; ${this.#parts.ground.otherWays}`,
      );
    return examined;
  }

  /** Reads and checks a scenario when those before it are checked. */
  async #examine(
    open: OpenSource,
    name: string,
    issueOf: (issue: Issue) => Issue,
    parameters: NonNullable<ScenarioStart['parameters']>,
  ): Promise<Examined> {
    return this.#inTurn(issueOf, async (code) => {
      const source = await open(code);
      const comparison = await this.#compared(code, source, parameters);
      const { ground } = this.#parts;
      const { checkRequest } = await checks();
      const isForOther = comparison.differences.length > 0;
      const read = (more?: (whole: Scenario) => Iterable<Issue | null>) =>
        this.#loopShare.runInParts(code.readingScenario(source, name, parameters, checkRequest, more));
      if (ground.read !== undefined && !isForOther) await ground.read(await read());
      const issues = await this.#issues(code);
      const scenario = await read(isForOther ? undefined : issues);
      return { scenario, needsPeer: code.needsPeer(source.value), ...comparison };
    });
  }

  /** Issues of a scenario with the devices here. */
  async #issues({ layoutIssues }: ScenarioCode): Promise<(whole: Scenario) => Iterable<Issue | null>> {
    const { ground } = this.#parts;
    const { scenarioNames } = await checks();
    return function* (whole) {
      yield* ground.issues(whole);
      yield* layoutIssues(whole, { plant: ground.laidOut, hasCsip: ground.hasCsip, names: scenarioNames() });
    };
  }

  /** Works on a scenario when the work on those before it is done. */
  async #inTurn<T>(issueOf: (issue: Issue) => Issue, work: (code: ScenarioCode) => Promise<T>): Promise<T> {
    if (this.#turns.waiting >= maxWaiting)
      throw new SimError('COMMAND_QUEUE_FULL', `${maxWaiting} scenarios wait already to be checked`);
    return this.#turns.take(async () => {
      try {
        return await work(await loadedScenarioCode());
      } catch (error) {
        throw refused(error, issueOf);
      }
    });
  }

  /** The `config` of a scenario beside this simulator. @throws SimError CONFIG_INVALID */
  async #compared(
    code: ScenarioCode,
    source: Source,
    parameters: NonNullable<ScenarioStart['parameters']>,
  ): Promise<Comparison> {
    const configOrName = code.configOfScenario(source, parameters);
    if (configOrName === null) return { differences: [], unusedSettings: [] };
    const { devicesIn, misfits, settingsOfBundled } = await fitCode();
    const config = typeof configOrName === 'string' ? settingsOfBundled(configOrName) : configOrName;
    if (config === null) return { differences: [], unusedSettings: ['config'] };
    const { devices, config: running } = await this.#parts.ground.fitted(devicesIn(config));
    const invalid = (entries: readonly { readonly path: readonly PropertyKey[]; readonly detail: string }[]) =>
      code.invalidScenario(
        entries.map(({ path, detail }) => ({
          name: code.placeText(source.place(['config', 'devices', ...path])),
          detail,
        })),
      );
    const differences = await this.#loopShare.runInParts(misfits(config, devices, running, invalid));
    const unused = Object.keys(config).filter((key) => key !== 'devices');
    return { differences, unusedSettings: typeof configOrName === 'string' ? ['config'] : unused };
  }

  async start(id: string, { pace, parameters }: ScenarioStart, by: Origin): Promise<KeptScenario> {
    const kept = this.#find(id);
    const { ground } = this.#parts;
    // devices may have been added or removed since the scenario was added
    const { scenario } = await this.#read(
      openerOf(additionOf(kept), this.#loopShare),
      kept.head.name,
      ofParameters,
      parameters,
    );
    const { ScenarioRun } = await loadedScenarioCode();
    // the scenario may have been removed meanwhile, or the simulator stops
    const entry = this.#find(id);
    const isClosed = () => this.#isClosed;
    if (isClosed()) throw isStopping();
    const wanted = pace ?? (ground.mode === 'paused' ? 'fast' : 'real');
    const host = await ground.begin(scenario, wanted);
    const run = new ScenarioRun(scenario, host, { pace: wanted, by });
    ground.begun?.(run);
    // it began to stop meanwhile
    if (isClosed()) run.stop();
    this.runs.add(run, { scenarioId: id, bundled: kept.bundled, isBeside: false, text: null }, scenario.filledBytes);
    this.#hasRun.add(id);
    return this.#viewOf(entry);
  }

  async stop(id: string): Promise<KeptScenario> {
    const run = this.runs.lastOf(this.#find(id).id);
    if (run?.report.state !== 'running') throw new SimError('COMMAND_CONFLICT', 'the scenario does not run');
    await this.runs.stop(run.id);
    return this.#viewOf(this.#find(id));
  }

  async startBeside(addition: ScenarioAddition, start: ScenarioStart, by: Origin): Promise<KeptRun> {
    if (this.#beside >= maxBeside)
      throw new SimError('COMMAND_CONFLICT', `${maxBeside} scenarios run beside already; one must end first`);
    const bundled = 'bundled' in addition ? addition.bundled : null;
    this.#beside += 1;
    try {
      const run = await this.#inTurn(ofScenario, async (code) => {
        const file = bundled === null ? null : bundledPath(bundled);
        const source = await openerOf(addition, this.#loopShare)(code);
        const { startBeside } = await besideCode();
        const { wall, later, build } = this.#parts;
        return startBeside({ source, name: bundled ?? 'scenario', file, start, by, clocks: { wall, later } }, build);
      });
      void run.finished.finally(() => {
        this.#beside -= 1;
      });
      const about = { scenarioId: null, bundled, isBeside: true, text: textOf(addition) };
      const kept = this.runs.add(run, about, run.filledBytes);
      // the simulator began to stop meanwhile
      if (this.#isClosed) run.stop();
      return kept;
    } catch (error) {
      this.#beside -= 1;
      throw error;
    }
  }

  async startAgain(id: string, start: ScenarioStart, by: Origin): Promise<KeptRun> {
    const { pace, parameters } = this.runs.get(id).report;
    return this.startBeside(this.#additionOf({ run: id }), { pace, parameters, ...start }, by);
  }

  get #index() {
    return { lastId: this.#lastId, ids: [...this.#kept.keys()] };
  }

  async remove(id: string): Promise<void> {
    if (this.get(id).run?.state === 'running')
      throw new SimError('COMMAND_CONFLICT', 'the scenario runs; POST scenarios/{id}/stop ends it');
    this.#kept.delete(id);
    this.#needPeer.delete(id);
    await this.#parts.shelf?.drop(id, this.#index);
  }

  async report(id: string, format: ReportFormat): Promise<string> {
    const run = this.runs.lastOf(this.#find(id).id);
    if (run !== null) return this.runs.report(run.id, format);
    throw new SimError(
      'COMMAND_CONFLICT',
      this.#hasRun.has(id)
        ? 'its results were dropped to make room for those of later runs'
        : 'the scenario has not run',
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#turns.refuseWaiting(isStopping());
    await this.runs.close();
  }

  /** The run under way on this simulator; null: none. */
  get running(): RunReport | null {
    const run = this.runs.list().find(({ isBeside, report }) => !isBeside && report.state === 'running');
    return run?.report ?? null;
  }

  #viewOf({ id, head, bundled, addedBy, addedAtMs, unusedSettings }: ShelvedScenario): KeptScenario {
    const { name, description, parameters } = head;
    const run = this.runs.lastOf(id)?.report ?? null;
    const needsPeer = this.#needPeer.has(id);
    return { id, name, description, bundled, parameters, addedBy, addedAtMs, unusedSettings, needsPeer, run };
  }

  #find(id: string): ShelvedScenario {
    const entry = this.#kept.get(id);
    if (entry === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no scenario ${JSON.stringify(id)}`);
    return entry;
  }
}

/** The scenarios of a running simulator, and the simulator as their host. */
export interface Scenarios {
  readonly kept: KeptScenarios;
  readonly clock: ClockHold;
  readonly hostOf: (name: string) => ScenarioHost;
  /** serves the requests of scenarios */
  readonly api: Late<Pick<Api, 'perform'>>;
}

export function composeScenarios(
  parts: Omit<KeptParts, 'ground'> &
    Pick<HostParts, 'plant' | 'csip' | 'findings' | 'wireLog' | 'timeline'> & { readonly config: RunningConfig },
): Scenarios {
  const clock = new ClockHold(parts.plant);
  const api: Scenarios['api'] = new Late();
  const perform: Perform = (request) => api.proxy.perform(request);
  const hostOf = createScenarioHost({ ...parts, clockHold: clock, perform });
  return { kept: new KeptScenarios({ ...parts, ground: groundOf({ ...parts, hostOf }) }), clock, hostOf, api };
}

const isStopping = () => new SimError('STOPPING', 'the simulator stops');
