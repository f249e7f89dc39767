/** Runs of scenarios: those under way, and the last ones that have ended. */
import type { KeptRun, ReportFormat, RunReport, ScenarioRuns } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import type { JsonValue } from '../../core/store.ts';
import type { Later } from '../../core/time/timers.ts';
import type { ReportOrigin } from '../../scenario/report/document.ts';
import { loadedScenarioCode } from './code.ts';
import type { ScenarioShelf } from './shelf.ts';

const maxRuns = 50;
/** Memory of the results of all runs, bytes. */
const maxResultBytes = 64 * 1024 * 1024;
/** Memory of the result of one step or assertion, bytes, as measured. */
const bytesOfStep = 1024;
const bytesOfAssertion = 2560;
/** Real time for the steps of `finally` when the simulator stops, ms. */
const finallyMs = 2000;
/** Real time for which a request to stop waits for the end of the run, ms. */
const stopMs = 1000;

/** A run under way. */
interface Running {
  readonly report: RunReport;
  readonly finished: Promise<RunReport>;
  /** A second call ends the steps of `finally` too. */
  stop(): void;
}

interface Entry extends Omit<KeptRun, 'report'> {
  report: RunReport;
  /** null: it has ended, also in an earlier process */
  running: Running | null;
  /** octets of the steps with parameters put in */
  readonly filledBytes: number;
}

/** A run as JSON has it: lists in place of functions. */
interface StoredRun extends Omit<KeptRun, 'report'> {
  readonly report: Omit<RunReport, 'steps' | 'assertions' | 'series'>;
  readonly lists: { readonly [Name in 'steps' | 'assertions' | 'series']: ReturnType<RunReport[Name]> };
}

function bytesOf({ running, report, filledBytes, text }: Entry): number {
  const { stepsInAll, assertionsInAll, assertionsForgotten } = running?.report ?? report;
  return (
    (text?.content.length ?? 0) +
    filledBytes +
    stepsInAll * bytesOfStep +
    (assertionsInAll - assertionsForgotten) * bytesOfAssertion
  );
}

const listsOf = (report: RunReport): StoredRun['lists'] => ({
  steps: report.steps(),
  assertions: report.assertions(),
  series: report.series(),
});

function storedRun({ report, ...run }: KeptRun): JsonValue {
  return JSON.parse(JSON.stringify({ ...run, report, lists: listsOf(report) })) as JsonValue;
}

/** True for a value that `storedRun` has made, as far as its members can tell. */
function isStoredRun(value: unknown): value is StoredRun {
  if (!isJsonObject(value) || typeof value['id'] !== 'string') return false;
  const { report, lists } = value;
  return (
    isJsonObject(report) &&
    isJsonObject(lists) &&
    typeof report['stepsInAll'] === 'number' &&
    [lists['steps'], lists['assertions'], lists['series'], report['failures']].every(Array.isArray)
  );
}

/** A report that holds its results, and no longer the simulator that it is about. */
function withLists(report: StoredRun['report'], { steps, assertions, series }: StoredRun['lists']): RunReport {
  return { ...report, steps: () => steps, assertions: () => assertions, series: () => series };
}

/** Runs of earlier versions have no member `text`. */
const restoredRun = ({ report, lists, text, ...run }: Omit<StoredRun, 'text'> & Partial<StoredRun>): Entry => ({
  ...run,
  text: text ?? null,
  report: withLists(report, lists),
  running: null,
  filledBytes: 0,
});

const viewOf = ({ id, scenarioId, bundled, isBeside, text, running, report }: Entry): KeptRun => ({
  id,
  scenarioId,
  bundled,
  isBeside,
  text,
  report: running?.report ?? report,
});

interface RunBookParts {
  readonly later: Later;
  readonly origin: ReportOrigin;
  /** keeps ended runs over a restart; null: they end with the process */
  readonly shelf: ScenarioShelf | null;
}

export class RunBook implements ScenarioRuns {
  readonly maxRuns = maxRuns;
  readonly #parts: RunBookParts;
  /** oldest first */
  readonly #entries = new Map<string, Entry>();
  /** ids are never reused */
  #lastId = 0;
  /** the last write to the shelf; each begins when the one before it is done */
  #written: Promise<unknown> = Promise.resolve();

  constructor(parts: RunBookParts) {
    this.#parts = parts;
    const { lastId, entries } = parts.shelf?.readRuns() ?? { lastId: 0, entries: [] };
    this.#lastId = lastId;
    for (const run of entries) if (isStoredRun(run)) this.#entries.set(run.id, restoredRun(run));
  }

  /** Newest first. */
  list(): readonly KeptRun[] {
    return [...this.#entries.values()].map(viewOf).reverse();
  }

  /** @throws SimError UNKNOWN_RESOURCE */
  get(id: string): KeptRun {
    return viewOf(this.#find(id));
  }

  /** The last run of a scenario; null: none is kept. */
  lastOf(scenarioId: string): KeptRun | null {
    return this.list().find((run) => run.scenarioId === scenarioId) ?? null;
  }

  add(running: Running, run: Omit<KeptRun, 'id' | 'report'>, filledBytes: number): KeptRun {
    const id = String((this.#lastId += 1));
    const { report } = running;
    const entry: Entry = { ...run, id, report, running, filledBytes };
    this.#entries.set(id, entry);
    this.#makeRoom(entry);
    void running.finished.then((last) => {
      this.#ended(entry, last);
    });
    return viewOf(entry);
  }

  /** Adds a run that has ended elsewhere. */
  addEnded(report: RunReport): KeptRun {
    const id = String((this.#lastId += 1));
    const about = { scenarioId: null, bundled: null, isBeside: false, text: null };
    const entry: Entry = { ...about, id, report, running: null, filledBytes: 0 };
    this.#entries.set(id, entry);
    this.#makeRoom(entry);
    return viewOf(entry);
  }

  #ended(entry: Entry, report: RunReport): void {
    entry.report = withLists(report, listsOf(report));
    entry.running = null;
    // rules add results during the run
    this.#makeRoom(entry);
    this.#write((shelf) => shelf.putRun(entry.id, storedRun(viewOf(entry)), this.#index));
  }

  get #index() {
    return { lastId: this.#lastId, ids: [...this.#entries.values()].flatMap(({ id, running }) => (running ? [] : id)) };
  }

  #write(write: (shelf: ScenarioShelf) => Promise<unknown>): void {
    const { shelf } = this.#parts;
    if (shelf === null) return;
    // the state reports its own failures
    this.#written = this.#written.then(() => write(shelf)).catch(() => undefined);
  }

  /** Drops ended runs, oldest first, until the others fit; `last` stays. */
  #makeRoom(last: Entry): void {
    const entries = [...this.#entries.values()];
    let bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    for (const entry of entries) {
      if (bytes <= maxResultBytes && this.#entries.size <= maxRuns) return;
      if (entry === last || entry.running !== null) continue;
      bytes -= bytesOf(entry);
      this.#drop(entry);
    }
  }

  #drop({ id }: Entry): void {
    this.#entries.delete(id);
    this.#write((shelf) => shelf.dropRun(id, this.#index));
  }

  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT when it has ended */
  async stop(id: string): Promise<KeptRun> {
    const entry = this.#find(id);
    if (entry.running === null) throw new SimError('COMMAND_CONFLICT', 'the run has ended');
    entry.running.stop();
    await this.#within(stopMs, entry.running.finished);
    return viewOf(entry);
  }

  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while it runs */
  async remove(id: string): Promise<KeptRun> {
    const entry = this.#find(id);
    if (entry.running !== null) throw new SimError('COMMAND_CONFLICT', 'the scenario still runs');
    this.#drop(entry);
    await this.#written;
    return viewOf(entry);
  }

  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while it runs */
  async report(id: string, format: ReportFormat): Promise<string> {
    const { report } = this.get(id);
    if (report.state === 'running') throw new SimError('COMMAND_CONFLICT', 'the scenario still runs');
    const { junitXml, htmlPage, reportDocument } = await loadedScenarioCode();
    const { origin } = this.#parts;
    if (format === 'junit') return junitXml([report]);
    if (format === 'html') return htmlPage(report, origin);
    return JSON.stringify(reportDocument(report, origin));
  }

  /** Ends all runs; their steps of `finally` have two seconds. */
  async close(): Promise<void> {
    const running = [...this.#entries.values()].flatMap((entry) => entry.running ?? []);
    for (const run of running) run.stop();
    if (running.length > 0) await this.#within(finallyMs, Promise.all(running.map(({ finished }) => finished)));
    await this.#written;
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

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no run ${JSON.stringify(id)}`);
    return entry;
  }
}
