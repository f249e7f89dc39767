/** Transactions of a station, running and ended, kept over a restart. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import { createSaver } from '../station/stack.ts';

// Acts at a device that may refuse them for now: under local control it takes no command.

export interface Insistence {
  /**
   * Acts, and again each second until the act throws nothing; in place of an earlier act with this key.
   * @param refused text of the log before the reason, once
   */
  insist(key: string, refused: string, act: () => void): void;
  /** Ends the attempts with this key. */
  end(key: string): void;
  stop(): void;
}

/** Between two attempts, on the clock of the central system. */
const retryMs = 1000;

export function createInsistence(
  clock: Pick<RemoteClock, 'nowMs' | 'at'>,
  log: Pick<Logger, 'warning'>,
  deviceIndex: number,
): Insistence {
  /** ends the wait for the next attempt */
  const waiting = new Map<string, () => void>();
  const end = (key: string): void => {
    waiting.get(key)?.();
    waiting.delete(key);
  };
  const attempt = (key: string, refused: string, act: () => void, again: boolean): void => {
    waiting.delete(key);
    try {
      act();
    } catch (error) {
      if (!again) log.warning(`${refused}: ${errorText(error)}`, deviceIndex);
      const endWait = clock.at(clock.nowMs() + retryMs, () => {
        attempt(key, refused, act, true);
      });
      waiting.set(key, endWait);
    }
  };
  return {
    insist(key, refused, act) {
      end(key);
      attempt(key, refused, act, false);
    },
    end,
    stop() {
      for (const endWait of waiting.values()) endWait();
      waiting.clear();
    },
  };
}

/** A transaction as every version keeps it. */
interface LedgerRecord {
  /** chosen by the station, unique for ever: links its messages in the queue */
  readonly key: string;
  readonly connectorId: number;
  /** null: it runs */
  readonly endedMs: number | null;
}

export interface Ledger<Entry extends LedgerRecord> {
  /** newest last */
  readonly records: readonly Entry[];
  readonly running: readonly Entry[];
  get(key: string): Entry | null;
  /** running, at a connector */
  at(connectorId: number): Entry | null;
  /** @param make from the number of transactions that there ever were, with this one */
  add(make: (count: number) => Entry): Entry;
  /** @returns the record after the change; null: there is none */
  change(key: string, patch: Partial<Entry>): Entry | null;
  load(): Promise<void>;
}

/** ended transactions that are kept for the view */
const keptEnded = 100;

/** of running and of ended transactions: each meter value changes a running one, and only it is written then */
interface LedgerSlots {
  readonly running: Slot;
  readonly ended: Slot;
}

interface Book<Entry> {
  readonly records: Map<string, Entry>;
  /** transactions ever */
  count: number;
}

const isRunning = ({ endedMs }: LedgerRecord) => endedMs === null;

/** Keeps the book in the store. */
function createRecordStore<Entry extends LedgerRecord>(
  book: Book<Entry>,
  slots: LedgerSlots,
  log: Pick<Logger, 'error'>,
) {
  const { records } = book;
  const which = (running: boolean) => [...records.values()].filter((record) => isRunning(record) === running);
  const values = (list: readonly unknown[]) => list as readonly JsonValue[];
  const running = createSaver(slots.running, () => values([{ count: book.count }, ...which(true)]), log);
  const ended = createSaver(slots.ended, () => values(which(false)), log);
  return {
    /** @param before absent: it has just begun */
    changed(after: Entry, before?: Entry): void {
      // the end is kept before the running one is forgotten: found twice, it has ended
      if (!isRunning(after)) ended.save();
      if (before === undefined || isRunning(before)) running.save();
    },
    async load(): Promise<void> {
      const [head, ...open] = (await slots.running.read()) as unknown as readonly [{ count: number }?, ...Entry[]];
      const past = (await slots.ended.read()) as unknown as readonly Entry[];
      book.count = head?.count ?? 0;
      for (const record of [...past, ...open]) if (!records.has(record.key)) records.set(record.key, record);
    },
  };
}

/** @param isQueued messages of it wait, so its record is needed */
export function createLedger<Entry extends LedgerRecord>(
  slots: LedgerSlots,
  isQueued: (key: string) => boolean,
  log: Pick<Logger, 'error'>,
): Ledger<Entry> {
  const book: Book<Entry> = { records: new Map(), count: 0 };
  const { records } = book;
  const recordStore = createRecordStore(book, slots, log);
  const running = () => [...records.values()].filter(isRunning);
  function forgetOld(): void {
    let left = records.size - running().length - keptEnded;
    for (const { key, endedMs } of records.values()) {
      if (left <= 0) return;
      if (endedMs === null || isQueued(key)) continue;
      records.delete(key);
      left -= 1;
    }
  }
  return {
    get records() {
      return [...records.values()];
    },
    get running() {
      return running();
    },
    get: (key) => records.get(key) ?? null,
    at: (connectorId) => running().find((record) => record.connectorId === connectorId) ?? null,
    add(make) {
      book.count += 1;
      const record = make(book.count);
      records.set(record.key, record);
      forgetOld();
      recordStore.changed(record);
      return record;
    },
    change(key, patch) {
      const record = records.get(key);
      if (record === undefined) return null;
      const changed = { ...record, ...patch };
      records.set(key, changed);
      recordStore.changed(changed, record);
      return changed;
    },
    load: () => recordStore.load(),
  };
}
