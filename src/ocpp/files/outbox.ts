/** Reports to the central system, sent one at a time in the order of `push`, also after a lost connection. */
import type { Logger } from '../../core/log/log.ts';
import type { Later } from '../../core/time/timers.ts';
import type { CallOutcome } from '../rpc/model.ts';

export interface Outbox<Report> {
  readonly waiting: readonly Report[];
  push(report: Report): void;
  /** Puts reports of an earlier run before all others. */
  restore(reports: readonly Report[]): void;
  stop(): void;
}

export interface OutboxParts {
  readonly later: Later;
  readonly log: Pick<Logger, 'warning'>;
  readonly device: { readonly deviceIndex: number };
  readonly registration: { readonly isReady: boolean; onAccepted(listener: () => void): () => void };
}

export interface OutboxOptions<Report> {
  readonly parts: OutboxParts;
  /** Sends one report. */
  readonly send: (report: Report) => Promise<Pick<CallOutcome, 'kind'>>;
  /** maximum of waiting reports; beyond it the oldest for which `spare` is true is lost, else the oldest */
  readonly capacity: number;
  /** true: the report may be lost before the others; absent: none may */
  readonly spare?: (report: Report) => boolean;
  /** ms after which a report without an answer is sent again; null: it counts as sent */
  readonly repeatMs: number | null;
  /** called after each change of `waiting` */
  readonly changed?: () => void;
}

/** A report that was not sent, or lost its connection before the answer, is sent once the station is accepted again. */
export function createOutbox<Report>(options: OutboxOptions<Report>): Outbox<Report> {
  const { later, registration } = options.parts;
  let waiting: readonly Report[] = [];
  let sending = false;
  let again = false;
  let stopped = false;
  let endWait: (() => void) | null = null;

  const set = (next: readonly Report[]) => {
    waiting = withinCapacity(next, options);
    options.changed?.();
  };
  const run = async () => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const outcome = await deliver(next, options);
      if (stopped) return;
      if (outcome === 'later' && options.repeatMs !== null) endWait = later(options.repeatMs, flush);
      if (outcome !== 'done') return;
      const report = next;
      set(waiting.filter((other) => other !== report));
    }
  };
  function flush(): void {
    again = sending;
    if (sending || stopped || !registration.isReady) return;
    endWait?.();
    endWait = null;
    sending = true;
    void run().finally(() => {
      sending = false;
      if (again) flush();
    });
  }

  // the states of the connectors are sent first, by other listeners
  const endAccepted = registration.onAccepted(() => {
    queueMicrotask(flush);
  });
  return {
    get waiting() {
      return waiting;
    },
    push(report) {
      set([...waiting, report]);
      flush();
    },
    restore(reports) {
      set([...reports, ...waiting]);
    },
    stop() {
      stopped = true;
      endWait?.();
      endAccepted();
    },
  };
}

function withinCapacity<Report>(
  reports: readonly Report[],
  { capacity, spare = () => false, parts: { log, device } }: OutboxOptions<Report>,
): readonly Report[] {
  const lost = reports.length - capacity;
  if (lost <= 0) return reports;
  log.warning(`${lost} reports for the central system are lost: too many wait`, device.deviceIndex);
  const dropped = new Set(reports.filter(spare).slice(0, lost));
  return reports.filter((report) => !dropped.has(report)).slice(-capacity);
}

/** Sends a report. `later`: no answer, to be repeated; `accepted`: to be sent once the station is accepted again. */
async function deliver<Report>(
  report: Report,
  { repeatMs, send }: OutboxOptions<Report>,
): Promise<'done' | 'later' | 'accepted'> {
  const { kind } = await send(report);
  if (kind === 'unsent' || kind === 'lost') return 'accepted';
  return kind === 'timeout' && repeatMs !== null ? 'later' : 'done';
}
