/** The run under way in the shared bucket, so that the next leader knows of a run whose gateway is gone. */
import type { RunReport } from '../../../contract/scenarios.ts';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log/log.ts';
import { jsonOf } from '../../clock/messages.ts';
import { replaceShared } from '../../clock/store.ts';
import type { FleetLink } from '../../link.ts';

const key = 'scenario';

type MarkedReport = Omit<RunReport, 'steps' | 'assertions' | 'series'>;

interface Mark {
  /** of the gateway that runs it */
  readonly session: string;
  /** as at its begin */
  readonly report: MarkedReport;
}

/** The report as the bucket keeps it. */
const withoutLists = (report: RunReport): MarkedReport =>
  Object.fromEntries(Object.entries(report).filter(([name]) => !lists.has(name))) as unknown as MarkedReport;

const lists: ReadonlySet<string> = new Set(['steps', 'assertions', 'series']);

const entry = {
  key,
  decode: (bytes: Uint8Array) => jsonOf(bytes, 'the scenario of the fleet') as Mark,
  encode: (mark: Mark) => Buffer.from(JSON.stringify(mark)),
};

export interface RunMarkOptions {
  readonly link: Pick<FleetLink, 'shared'>;
  readonly session: string;
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'warning'>;
}

export class RunMark {
  readonly #options: RunMarkOptions;
  /** each write begins when the one before it is done */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RunMarkOptions) {
    this.#options = options;
  }

  /** Writes down that a run has begun. */
  put(whole: RunReport): void {
    const { link, session } = this.#options;
    const report = withoutLists(whole);
    this.#do(() => replaceShared(link, entry, () => ({ session, report })));
  }

  /** Forgets the run of this gateway, which has ended. */
  clear(): void {
    const { link, session } = this.#options;
    this.#do(async () => {
      const stored = await link.shared.get(key);
      if (stored !== null && entry.decode(stored.value).session === session) await link.shared.delete(key);
    });
  }

  /** Takes the run of a gateway that is gone, as one that has ended with an error; null: there is none. */
  async takeGone(): Promise<RunReport | null> {
    const { link, session, nowMs, log } = this.#options;
    try {
      const stored = await link.shared.get(key);
      if (stored === null) return null;
      const mark = entry.decode(stored.value);
      if (mark.session === session) return null;
      await link.shared.delete(key);
      const ended = { state: 'error', error: 'the gateway that ran it is gone', endedAtMs: nowMs() } as const;
      return { ...mark.report, ...ended, steps: () => [], assertions: () => [], series: () => [] };
    } catch (error) {
      log.warning(`the scenario of the gateway before cannot be read: ${errorText(error)}`);
      return null;
    }
  }

  #do(work: () => Promise<unknown>): void {
    const { log } = this.#options;
    this.#last = this.#last.then(work).catch((error: unknown) => {
      log.warning(`the scenario of the fleet cannot be written down: ${errorText(error)}`);
    });
  }
}
