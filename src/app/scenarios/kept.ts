/**
 * Scenarios that a running simulator keeps, and the simulator as their host. The code of scenarios is loaded with the
 * first scenario.
 */
import { bundledScenarioNames, bundledScenarioPath, readingBundledScenarios } from '../../config/profile/bundled.ts';
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import type {
  KeptScenario,
  ReportFormat,
  RunReport,
  ScenarioBook,
  ScenarioStart,
  ClockOwner,
} from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { Issue } from '../../core/errors.ts';
import { lazily, Late } from '../../core/lazy.ts';
import { didYouMean } from '../../core/nearest.ts';
import { LoopShare, Turns } from '../../core/turns.ts';
import type { Origin } from '../../core/origin.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { Scenario } from '../../scenario/model.ts';
import type { Api } from '../../api/http/server.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { Source } from '../../scenario/file/source.ts';
import type { ScenarioHost } from '../../scenario/run/host.ts';
import type { ScenarioRun } from '../../scenario/run/run.ts';
import type { ReportOrigin } from '../../scenario/report/document.ts';
import type { Perform } from '../../api/http/perform.ts';
import type { RunningConfig } from './fit.ts';
import type { ScenarioShelf, ShelvedScenario } from './shelf.ts';

/** Parts of the simulator that scenarios run on. */
interface HostParts {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly wireLog: WireLog;
  readonly csip: CsipEvents;
  readonly findings: FindingRegistry;
  readonly perform: Perform;
  readonly clockHold: ClockHold;
}

/** Reserves the clock for one scenario at a time. */
class ClockHold implements ClockOwner {
  #name: string | null = null;

  get name(): string | null {
    return this.#name;
  }

  /** @throws SimError COMMAND_CONFLICT */
  take(name: string): () => void {
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
  perform,
  clockHold,
}: HostParts): (name: string) => ScenarioHost {
  return (name) => ({
    plant,
    wall,
    later,
    csip,
    findings,
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

interface KeptParts extends Pick<HostParts, 'plant' | 'wall' | 'later' | 'csip' | 'findings'> {
  readonly hostOf: (name: string) => ScenarioHost;
  readonly origin: ReportOrigin;
  readonly config: RunningConfig;
  /** keeps the scenarios over a restart; null: they end with the process */
  readonly shelf: ScenarioShelf | null;
}

const maxScenarios = 64;
/** Maximum number of scenarios that wait to be checked. */
const maxWaiting = 16;
/** Octets of the contents of all scenarios. */
const maxContentBytes = 32 * 1024 * 1024;
/** Memory of the results of all runs, bytes. */
const maxResultBytes = 64 * 1024 * 1024;
/** Memory of the result of one step or assertion, bytes, as measured. */
const bytesOfStep = 1024;
const bytesOfAssertion = 2560;
/** Real time for the steps of `finally` when the simulator stops, ms. */
const finallyMs = 2000;
/** Real time for which a request to stop waits for the end of the run, ms. */
const stopMs = 1000;

/** The code of scenarios. */
const loaded = lazily(() => import('../../scenario/assembly.ts'));
const checks = lazily(() => import('./checks.ts'));
const fitCode = lazily(() => import('./fit.ts'));

interface Kept extends ShelvedScenario {
  run: ScenarioRun | null;
  /** octets of the steps of `run` with parameters put in */
  filledBytes: number;
  /** true: the results of its run were dropped for those of later runs */
  isDropped: boolean;
}

const notRun = { run: null, filledBytes: 0, isDropped: false } as const;

/** A scenario without its run. */
function shelved({ id, content, head, bundled, addedBy, addedAtMs, unusedSettings }: Kept): ShelvedScenario {
  return { id, content, head, bundled, addedBy, addedAtMs, unusedSettings };
}

/** Memory of the results of a run. */
function resultBytesOf({ run, filledBytes }: Kept): number {
  if (run === null) return 0;
  const { stepsInAll, assertionsInAll, assertionsForgotten } = run.report;
  return filledBytes + stepsInAll * bytesOfStep + (assertionsInAll - assertionsForgotten) * bytesOfAssertion;
}

/** Turns an error of a scenario into an error of the request. @param issueOf names an issue by its place in the body */
function refused(error: unknown, issueOf: (issue: Issue) => Issue): unknown {
  if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') return error;
  return new SimError('COMMAND_BAD_VALUE', error.message, error.issues.map(issueOf));
}

/** Names an issue by its place in the body, or in the file of a bundled scenario. */
const ofScenario = ({ name, detail }: Issue): Issue =>
  name === '' || name.startsWith('/')
    ? { name: `/scenario${name}`, detail }
    : { name: '/bundled', detail: `${name}: ${detail}` };
/** Names an issue by the parameters of the request. */
const ofParameters = ({ name, detail }: Issue): Issue =>
  /(^|\W)parameters$/.test(name)
    ? { name: '/parameters', detail }
    : { name: '/parameters', detail: `${name}: ${detail}` };

class KeptScenarios implements ScenarioBook {
  readonly maxScenarios = maxScenarios;
  readonly #parts: KeptParts;
  readonly #kept = new Map<string, Kept>();
  /** ids are never reused */
  #lastId = 0;
  /** true: no run begins any more */
  #isClosed = false;
  /** thousands of steps are read in turns with other work */
  readonly #loopShare = new LoopShare();
  /** one scenario is read at a time: its steps take tens of megabytes until they are checked */
  readonly #turns = new Turns();
  readonly bundled = lazily(() => this.#loopShare.runInParts(readingBundledScenarios()));

  constructor(parts: KeptParts) {
    this.#parts = parts;
    const { lastId, scenarios } = parts.shelf?.read() ?? { lastId: 0, scenarios: [] };
    this.#lastId = lastId;
    for (const scenario of scenarios) this.#kept.set(scenario.id, { ...scenario, ...notRun });
  }

  list(): readonly KeptScenario[] {
    return [...this.#kept.values()].map(viewOf);
  }

  get(id: string): KeptScenario {
    return viewOf(this.#find(id));
  }

  async add(addition: { readonly content: unknown } | { readonly bundled: string }, by: Origin): Promise<KeptScenario> {
    this.#checkRoom();
    const [open, bundled]: [OpenSource, string | null] =
      'content' in addition
        ? [(code) => code.sourceOfRequest(addition.content), null]
        : [(code) => code.sourceOfFile(pathOf(addition.bundled)), addition.bundled];
    const content = 'content' in addition ? JSON.stringify(addition.content) : null;
    const { scenario, unusedSettings } = await this.#read(open, bundled ?? 'scenario', ofScenario);
    // other scenarios may have been added meanwhile
    this.#checkRoom(content);
    const { name, description, parameters } = scenario;
    const entry: Kept = {
      id: String((this.#lastId += 1)),
      content,
      head: { name, description, parameters },
      bundled,
      addedBy: by,
      addedAtMs: this.#parts.wall.nowMs(),
      unusedSettings,
      ...notRun,
    };
    this.#kept.set(entry.id, entry);
    await this.#parts.shelf?.put(shelved(entry), this.#index);
    return viewOf(entry);
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
   * Reads and checks a scenario when those before it are checked.
   * @param issueOf names an issue by its place in the request
   * @throws SimError COMMAND_QUEUE_FULL, COMMAND_BAD_VALUE, COMMAND_CONFLICT, STOPPING
   */
  async #read(
    open: OpenSource,
    name: string,
    issueOf: (issue: Issue) => Issue,
    parameters: NonNullable<ScenarioStart['parameters']> = {},
  ): Promise<{ readonly scenario: Scenario; readonly unusedSettings: readonly string[] }> {
    if (this.#turns.waiting >= maxWaiting)
      throw new SimError('COMMAND_QUEUE_FULL', `${maxWaiting} scenarios wait already to be checked`);
    return this.#turns.take(async () => {
      try {
        const code = await loaded();
        const source = open(code);
        const unusedSettings = await this.#unused(code, source, parameters);
        const { plant, csip } = this.#parts;
        const { checkRequest, scenarioNames } = await checks();
        const scenario = await this.#loopShare.runInParts(
          code.readingScenario(source, name, parameters, checkRequest, (whole) =>
            code.layoutIssues(whole, { plant, hasCsip: csip.enabled, names: scenarioNames() }),
          ),
        );
        return { scenario, unusedSettings };
      } catch (error) {
        throw refused(error, issueOf);
      }
    });
  }

  /** Drops results of ended runs, oldest scenario first, until the others fit; the results of `last` stay. */
  #makeRoom(last: Kept): void {
    const kept = [...this.#kept.values()];
    let sum = kept.reduce((all, entry) => all + resultBytesOf(entry), 0);
    for (const entry of kept) {
      if (sum <= maxResultBytes) return;
      if (entry === last || entry.run === null || entry.run.report.state === 'running') continue;
      sum -= resultBytesOf(entry);
      entry.run = null;
      entry.isDropped = true;
    }
  }

  /**
   * The settings of `config` that this simulator does not apply.
   * @throws SimError COMMAND_CONFLICT with the reasons why this simulator does not fit the scenario, CONFIG_INVALID
   */
  async #unused(
    code: ScenarioCode,
    source: Source,
    parameters: NonNullable<ScenarioStart['parameters']>,
  ): Promise<readonly string[]> {
    const configOrName = code.configOfScenario(source, parameters);
    if (configOrName === null) return [];
    const { misfits, settingsOfBundled } = await fitCode();
    const { plant, config: running } = this.#parts;
    const config = typeof configOrName === 'string' ? settingsOfBundled(configOrName) : configOrName;
    if (config === null) return ['config'];
    const invalid = (entries: readonly { readonly path: readonly PropertyKey[]; readonly detail: string }[]) =>
      code.invalidScenario(
        entries.map(({ path, detail }) => ({
          name: code.placeText(source.place(['config', 'devices', ...path])),
          detail,
        })),
      );
    const reasons = await this.#loopShare.runInParts(misfits(config, plant, running, invalid));
    if (reasons.length > 0)
      throw new SimError('COMMAND_CONFLICT', `${reasons.join('; ')}; derbench run starts a simulator for the scenario`);
    return typeof configOrName === 'string' ? ['config'] : Object.keys(config).filter((key) => key !== 'devices');
  }

  async start(id: string, { pace, parameters }: ScenarioStart, by: Origin): Promise<KeptScenario> {
    const { content, bundled, head } = this.#find(id);
    const { plant, hostOf } = this.#parts;
    const open: OpenSource = (code) =>
      content === null ? code.sourceOfFile(pathOf(bundled ?? '')) : code.sourceOfRequest(JSON.parse(content));
    // devices may have been added or removed since the scenario was added
    const { scenario } = await this.#read(open, head.name, ofParameters, parameters);
    const { ScenarioRun } = await loaded();
    // the scenario may have been removed meanwhile, or the simulator stops
    const entry = this.#find(id);
    if (this.#isClosed) throw isStopping();
    const defaultPace = plant.time.mode === 'paused' ? 'fast' : 'real';
    entry.run = new ScenarioRun(scenario, hostOf(scenario.name), { pace: pace ?? defaultPace, by });
    entry.filledBytes = scenario.filledBytes;
    entry.isDropped = false;
    this.#makeRoom(entry);
    // rules add results during the run
    void entry.run.finished.then(() => {
      this.#makeRoom(entry);
    });
    return viewOf(entry);
  }

  async stop(id: string): Promise<KeptScenario> {
    const entry = this.#find(id);
    if (entry.run?.report.state !== 'running') throw new SimError('COMMAND_CONFLICT', 'the scenario does not run');
    entry.run.stop();
    await this.#within(stopMs, entry.run.finished);
    return viewOf(entry);
  }

  get #index() {
    return { lastId: this.#lastId, ids: [...this.#kept.keys()] };
  }

  async remove(id: string): Promise<void> {
    if (this.#find(id).run?.report.state === 'running')
      throw new SimError('COMMAND_CONFLICT', 'the scenario runs; POST scenarios/{id}/stop ends it');
    this.#kept.delete(id);
    await this.#parts.shelf?.drop(id, this.#index);
  }

  async report(id: string, format: ReportFormat): Promise<string> {
    const code = await loaded();
    const { run, isDropped } = this.#find(id);
    if (run === null || run.report.state === 'running')
      throw new SimError(
        'COMMAND_CONFLICT',
        run !== null
          ? 'the scenario still runs'
          : isDropped
            ? 'its results were dropped to make room for those of later runs'
            : 'the scenario has not run',
      );
    const { origin } = this.#parts;
    if (format === 'junit') return code.junitXml([run.report]);
    if (format === 'html') return code.htmlPage(run.report, origin);
    return JSON.stringify(code.reportDocument(run.report, origin));
  }

  /** Ends a run under way; its steps of `finally` have `finallyMs` before the simulator stops. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#turns.refuseWaiting(isStopping());
    const run = [...this.#kept.values()].find((entry) => entry.run?.report.state === 'running')?.run;
    if (!run) return;
    run.stop();
    await this.#within(finallyMs, run.finished);
  }

  /** The run under way; null: none. */
  get running(): RunReport | null {
    return [...this.#kept.values()].find(({ run }) => run?.report.state === 'running')?.run?.report ?? null;
  }

  /** Waits for the end of a run, at most `ms`. */
  #within(ms: number, finished: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.later(ms, resolve);
      void finished.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #find(id: string): Kept {
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

export function composeScenarios(parts: Omit<KeptParts, 'hostOf'> & { readonly wireLog: WireLog }): Scenarios {
  const clock = new ClockHold();
  const api: Scenarios['api'] = new Late();
  const perform: Perform = (request) => api.proxy.perform(request);
  const hostOf = createScenarioHost({ ...parts, clockHold: clock, perform });
  return { kept: new KeptScenarios({ ...parts, hostOf }), clock, hostOf, api };
}

type ScenarioCode = Awaited<ReturnType<typeof loaded>>;
/** Opens the source of a scenario. @throws SimError CONFIG_INVALID, COMMAND_BAD_VALUE */
type OpenSource = (code: ScenarioCode) => Source;

const isStopping = () => new SimError('STOPPING', 'the simulator stops');

/** @throws SimError COMMAND_BAD_VALUE */
function pathOf(name: string): string {
  const path = bundledScenarioPath(name);
  if (path !== undefined) return path;
  const detail = `no bundled scenario has this name${didYouMean(name, bundledScenarioNames)}`;
  throw new SimError('COMMAND_BAD_VALUE', 'no such scenario', [
    { name: '/bundled', detail, allowed: bundledScenarioNames },
  ]);
}

function viewOf({ id, head, bundled, addedBy, addedAtMs, unusedSettings, run }: Kept): KeptScenario {
  const { name, description, parameters } = head;
  return { id, name, description, bundled, parameters, addedBy, addedAtMs, unusedSettings, run: run?.report ?? null };
}
