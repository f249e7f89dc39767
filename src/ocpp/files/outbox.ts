/** Reports to the central system in the order of their making, one after another, also over a lost connection. */
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
  /** reports that wait at most; over it the oldest that `spare` names is lost, else the oldest */
  readonly capacity: number;
  /** messages that may be lost before the others; absent: none */
  readonly spare?: (report: Report) => boolean;
  /** ms after which a report without an answer is sent again; null: it counts as sent */
  readonly repeatMs: number | null;
  /** after each change of `waiting` */
  readonly changed?: () => void;
}

/** A message that is not on the wire, or broke with the line, is sent once the station is accepted again. */
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
      const sent = await delivered(next, options);
      if (stopped) return;
      if (sent === 'later' && options.repeatMs !== null) endWait = later(options.repeatMs, flush);
      if (sent !== 'done') return;
      const report = next;
      set(waiting.filter((each) => each !== report));
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

  // the states of the connectors go first: other parts send them now
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
  const first = new Set(reports.filter(spare).slice(0, lost));
  return reports.filter((report) => !first.has(report)).slice(-capacity);
}

/** Sends one. `later`: no answer came; `accepted`: it waits until the station is accepted again. */
async function delivered<Report>(
  report: Report,
  { repeatMs, send }: OutboxOptions<Report>,
): Promise<'done' | 'later' | 'accepted'> {
  const { kind } = await send(report);
  if (kind === 'unsent' || kind === 'lost') return 'accepted';
  return kind === 'timeout' && repeatMs !== null ? 'later' : 'done';
}
