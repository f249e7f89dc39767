/** Transactions of a station, running and ended, kept over a restart. */
import { z } from 'zod';
import type { Logger } from '../../core/log/log.ts';
import { amount, formOf, instant, place, readEach, readHeaded, serial, simInstant } from '../../core/slot-values.ts';
import type { Members, SlotForm } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { SimTime, WallClock } from '../../core/time/clock.ts';
import { createSaver } from '../station/stack.ts';

/** Members of a transaction in every version. */
export interface LedgerRecord {
  /** chosen by the station, unique for ever: links its messages in the queue */
  readonly key: string;
  readonly connectorId: number;
  /** null: it runs */
  readonly endedMs: number | null;
  /** instant of `lastWh`, ms on the clock of the central system */
  readonly lastMs: number;
  /** last meter reading */
  readonly lastWh: number;
}

/** The last meter reading of a connector in any transaction. */
interface Reading {
  readonly energyWh: number;
  /** instant of the device */
  readonly at: SimTime;
  /** the same instant on the clock of the machine, ms since the epoch */
  readonly wallMs: number;
}

export interface Ledger<Entry extends LedgerRecord> {
  /** newest last */
  readonly records: readonly Entry[];
  readonly running: readonly Entry[];
  get(key: string): Entry | null;
  /** The running transaction at a connector. */
  at(connectorId: number): Entry | null;
  /** The last reading of a connector; null: none. */
  readingAt(connectorId: number): Reading | null;
  /** The device has the last reading of a connector now. */
  renewReading(connectorId: number): void;
  /** The meters begin anew. */
  forgetReadings(): void;
  /** true: an earlier process, or this version when it was at work before, has stored the ledger */
  readonly isContinued: boolean;
  /**
   * @param make creates the record from the number of all transactions so far, with this one
   * @param announce queues the first message, which the store keeps together with the record
   * @returns the record after `announce`
   */
  add(make: (count: number) => Entry, announce: (record: Entry) => void): Entry;
  /** @returns the record after the change; null: no such record */
  change(key: string, patch: Partial<Entry>): Entry | null;
  load(): Promise<void>;
}

/** Maximum of ended transactions kept for the view. */
const maxEnded = 100;

/** Separate slots: each meter value changes a running transaction, and ended ones are not written with it. */
interface LedgerSlots {
  readonly running: Slot;
  readonly ended: Slot;
}

interface Book<Entry> {
  readonly records: Map<string, Entry>;
  /** by connector */
  readonly readings: Map<number, Reading>;
  /** number of all transactions so far */
  count: number;
}

/** First entry of the slot of running transactions. */
interface Head {
  readonly count: number;
  readonly readings?: readonly (readonly [connectorId: number, reading: Reading])[];
}

const isRunning = ({ endedMs }: LedgerRecord) => endedMs === null;

const headForm = formOf<Head>(
  z.object({
    count: serial,
    readings: z.array(z.tuple([place, z.object({ energyWh: amount, at: simInstant, wallMs: instant })])).optional(),
  }),
);

/** Schemas of the members of a transaction in every version. */
export const ledgerMembers: Members<LedgerRecord> = {
  key: z.string(),
  connectorId: place,
  endedMs: instant.nullable(),
  lastMs: instant,
  lastWh: amount,
};

/** Transactions so far, at least those that have records. */
const countOf = (count: number, records: readonly LedgerRecord[]) =>
  Math.max(count, ...records.map(({ key }) => (/^\d{1,15}$/.test(key) ? Number(key) : 0)));

/** Stores the book. */
function createRecordStore<Entry extends LedgerRecord>(
  book: Book<Entry>,
  slots: LedgerSlots,
  { form, log }: Pick<LedgerDeps<Entry>, 'form' | 'log'>,
) {
  const { records } = book;
  const recordsOf = (running: boolean) => [...records.values()].filter((record) => isRunning(record) === running);
  const values = (list: readonly unknown[]) => list as readonly JsonValue[];
  const head = (): Head => ({ count: book.count, readings: [...book.readings] });
  const running = createSaver(slots.running, () => values([head(), ...recordsOf(true)]), log);
  const ended = createSaver(slots.ended, () => values(recordsOf(false)), log);
  return {
    /** Stores a change. @param before absent: the transaction has just begun */
    changed(after: Entry, before?: Entry): void {
      // the ended record is stored before the running one is removed; `load` prefers the ended one
      if (!isRunning(after)) ended.save();
      if (before === undefined || isRunning(before)) running.save();
    },
    saveHead(): void {
      running.save();
    },
    /** @returns false: nothing was stored before */
    async load(): Promise<boolean> {
      const isStored = (await slots.running.read()).length > 0;
      const stored = await readHeaded(slots.running, [headForm, form], log);
      const past = await readEach(slots.ended, form, log);
      const all = [...past, ...(stored?.rest ?? [])];
      book.count = countOf(stored?.head.count ?? 0, all);
      for (const [connectorId, reading] of stored?.head.readings ?? []) book.readings.set(connectorId, reading);
      for (const record of all) if (!records.has(record.key)) records.set(record.key, record);
      if (stored === null) running.save();
      return isStored;
    },
  };
}

interface LedgerDeps<Entry> {
  /** of a stored transaction */
  readonly form: SlotForm<Entry>;
  /** true if messages of a transaction wait, so that its record is needed, and no other one may have its key */
  readonly isQueued: (key: string) => boolean;
  /** the instant of the device */
  readonly now: () => SimTime;
  readonly wall: Pick<WallClock, 'nowMs'>;
  readonly log: Pick<Logger, 'error' | 'warning'>;
}

export function createLedger<Entry extends LedgerRecord>(
  slots: LedgerSlots,
  { form, isQueued, now, wall, log }: LedgerDeps<Entry>,
): Ledger<Entry> {
  const book: Book<Entry> = { records: new Map(), readings: new Map(), count: 0 };
  const { records } = book;
  const recordStore = createRecordStore(book, slots, { form, log });
  let isContinued = false;
  const noteReading = ({ connectorId, lastWh }: Entry) => {
    book.readings.set(connectorId, { energyWh: lastWh, at: now(), wallMs: wall.nowMs() });
  };
  const running = () => [...records.values()].filter(isRunning);
  function forgetOld(): void {
    let excess = records.size - running().length - maxEnded;
    for (const { key, endedMs } of records.values()) {
      if (excess <= 0) return;
      if (endedMs === null || isQueued(key)) continue;
      records.delete(key);
      excess -= 1;
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
    readingAt: (connectorId) => book.readings.get(connectorId) ?? null,
    renewReading(connectorId) {
      const reading = book.readings.get(connectorId);
      if (reading === undefined) return;
      book.readings.set(connectorId, { ...reading, at: now() });
      recordStore.saveHead();
    },
    forgetReadings() {
      book.readings.clear();
      recordStore.saveHead();
    },
    get isContinued() {
      return isContinued;
    },
    add(make, announce) {
      let record: Entry;
      // a waiting message whose record did not fit has the key that the count would give again
      do record = make((book.count += 1));
      while (isQueued(record.key));
      records.set(record.key, record);
      noteReading(record);
      announce(record);
      forgetOld();
      const announced = records.get(record.key) ?? record;
      // a change within `announce` has stored it
      if (announced === record) recordStore.changed(record);
      return announced;
    },
    change(key, patch) {
      const record = records.get(key);
      if (record === undefined) return null;
      const changed = { ...record, ...patch };
      records.set(key, changed);
      if (patch.lastWh !== undefined) noteReading(changed);
      recordStore.changed(changed, record);
      return changed;
    },
    async load() {
      isContinued = await recordStore.load();
    },
  };
}
