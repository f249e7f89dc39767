/** The last runs that have ended in the shared bucket, so that the next leader lists them too. */
import type { AssertionResult, RunReport, StepResult } from '../../../contract/scenarios.ts';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log/log.ts';
import { jsonOf } from '../../clock/messages.ts';
import { replaceShared } from '../../clock/store.ts';
import type { FleetLink } from '../../link.ts';

const key = 'runs';
/** Runs that the bucket keeps, the newest ones. */
const maxRuns = 20;
/** Bytes of all of them: a message of the server has at most 1 MiB. */
const maxBytes = 512 * 1024;

/** A report as JSON has it, without its plots. */
interface StoredRun {
  readonly report: Omit<RunReport, 'steps' | 'assertions' | 'series'>;
  readonly steps: readonly StepResult[];
  readonly assertions: readonly AssertionResult[];
}

interface StoredRuns {
  readonly v: 1;
  /** oldest first */
  readonly runs: readonly StoredRun[];
}

const what = 'the ended scenarios of the fleet';

function decoded(bytes: Uint8Array): StoredRuns {
  const { runs } = (jsonOf(bytes, what) ?? {}) as { readonly runs?: unknown };
  return { v: 1, runs: Array.isArray(runs) ? (runs as readonly StoredRun[]) : [] };
}

const entry = { key, decode: decoded, encode: (value: StoredRuns) => Buffer.from(JSON.stringify(value)) };

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const isSame = (one: Pick<RunReport, 'name' | 'startedAtMs'>, other: typeof one) =>
  one.name === other.name && one.startedAtMs === other.startedAtMs;

/** A run whose results alone are too long is kept without them. */
function storedOf(report: RunReport): StoredRun {
  const whole = { report, steps: report.steps(), assertions: report.assertions() };
  return sizeOf(whole) <= maxBytes / 2 ? whole : { report, steps: [], assertions: [] };
}

/** The newest runs that fit. */
export function fittingRuns<T>(runs: readonly T[]): readonly T[] {
  const kept: T[] = [];
  let bytes = 0;
  for (const run of runs.toReversed()) {
    bytes += sizeOf(run);
    if (kept.length === maxRuns || bytes > maxBytes) break;
    kept.unshift(run);
  }
  return kept;
}

const reportOf = ({ report, steps, assertions }: StoredRun): RunReport => ({
  ...report,
  steps: () => steps,
  assertions: () => assertions,
  series: () => [],
});

export interface RunHistoryOptions {
  readonly link: Pick<FleetLink, 'shared'>;
  readonly log: Pick<Logger, 'warning'>;
}

export class RunHistory {
  readonly #options: RunHistoryOptions;
  /** runs that this gateway lists already */
  readonly #known: Pick<RunReport, 'name' | 'startedAtMs'>[] = [];
  /** each write begins when the one before it is done */
  #last: Promise<void> = Promise.resolve();

  constructor(options: RunHistoryOptions) {
    this.#options = options;
  }

  /** Keeps a run that has ended. Resolves when it is written, or cannot be. */
  add(report: RunReport): Promise<void> {
    this.#know(report);
    return this.#change((runs) => [...runs.filter((run) => !isSame(run.report, report)), storedOf(report)]);
  }

  /** Forgets a run that a client has removed. */
  forget(report: RunReport): Promise<void> {
    return this.#change((runs) => runs.filter((run) => !isSame(run.report, report)));
  }

  /** Resolves when nothing is left to write. */
  get written(): Promise<void> {
    return this.#last;
  }

  /** True for a run that this gateway lists already. */
  knows(report: RunReport): boolean {
    return this.#known.some((each) => isSame(each, report));
  }

  /** Runs of former leaders that this gateway does not list yet, oldest first. */
  async takeOver(): Promise<readonly RunReport[]> {
    const { link, log } = this.#options;
    try {
      const stored = await link.shared.get(key);
      if (stored === null) return [];
      const reports = decoded(stored.value).runs.map(reportOf);
      const others = reports.filter((report) => !this.knows(report));
      for (const report of others) this.#know(report);
      return others;
    } catch (error) {
      log.warning(`${what} cannot be read: ${errorText(error)}`);
      return [];
    }
  }

  #know({ name, startedAtMs }: RunReport): void {
    this.#known.push({ name, startedAtMs });
    // the bucket and the book have fewer
    if (this.#known.length > 1000) this.#known.shift();
  }

  #change(next: (runs: readonly StoredRun[]) => readonly StoredRun[]): Promise<void> {
    const { link, log } = this.#options;
    this.#last = this.#last
      .then(async () => {
        await replaceShared<StoredRuns>(link, entry, (stored) => ({
          v: 1,
          runs: fittingRuns(next(stored?.runs ?? [])),
        }));
      })
      .catch((error: unknown) => {
        log.warning(`${what} cannot be written down: ${errorText(error)}`);
      });
    return this.#last;
  }
}
