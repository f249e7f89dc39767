/**
 * The memory of one outstation that survives the process: values by name, and the events of each master. Changes of one
 * turn are written together.
 */
import { errorText } from '../../core/errors.ts';
import type { Kept } from '../../core/kept.ts';
import { slotName } from '../../core/store.ts';
import type { JsonValue, Store } from '../../core/store.ts';
import type { Outstation } from '../stack/outstation/outstation.ts';
import type { Database } from '../stack/outstation/types.ts';
import { EventLog } from './event-log.ts';
import { NamedValues } from './values.ts';

/** Makes state survive the process. @returns to be called after each change of the state */
export type Keep = (name: string, kept: Kept) => () => void;

/** Keeps nothing. */
export const keepNothing: Keep = () => () => undefined;

export interface MemoryOptions {
  readonly store: Pick<Store, 'slot'>;
  /** name of the outstation, the same in each process */
  readonly name: string;
  /** saves the registers of the device */
  readonly commit: () => Promise<void> | null;
  readonly log: { warning(message: string): void };
}

export class OutstationMemory {
  readonly #options: MemoryOptions;
  readonly #values: NamedValues;
  readonly #parts = new Map<string, Kept>();
  readonly #changed = new Set<string>();
  readonly #eventLogs: EventLog[] = [];
  /** resolves when all writes so far are durable; null: they are */
  #pending: Promise<void> | null = null;
  /** true: the end of the turn writes what has changed */
  #isPlanned = false;
  #isOpen = false;
  #isFailing = false;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#values = new NamedValues(options.store.slot(slotName('dnp3', options.name, 'values')), options.log);
  }

  readonly keep: Keep = (name, kept) => {
    this.#parts.set(name, kept);
    return () => {
      this.#changed.add(name);
      this.#plan();
    };
  };

  /** Keeps the events of all masters. */
  keepEvents({ associations }: Outstation, database: Database): void {
    const { store, name, log } = this.#options;
    for (const { masterAddress, events, time } of associations) {
      const slot = store.slot(slotName('dnp3', name, `events ${masterAddress}`));
      this.#eventLogs.push(new EventLog({ slot, log, buffer: events, time, database, changed: () => this.#plan() }));
    }
  }

  /** To be called when a master has set its clock. */
  timeChanged(): void {
    for (const log of this.#eventLogs) log.timeChanged();
  }

  /** Restores the state of an earlier process; from here on changes are written. */
  async restore(): Promise<void> {
    const values = await this.#values.read();
    for (const [name, kept] of this.#parts) this.#restorePart(name, kept, values.get(name));
    // event times need the restored clocks
    for (const log of this.#eventLogs) await log.restore();
    this.#isOpen = true;
    this.flush();
  }

  /** Resolves when all changes so far are durable, or cannot be made so; null: they are. */
  durable(): Promise<void> | null {
    this.flush();
    return this.#pending;
  }

  /** Makes `durable` wait for a write of others too. */
  follow(write: Promise<void> | null): void {
    if (write !== null) this.#follow(write);
  }

  /** Writes what has changed. */
  flush(): void {
    this.#isPlanned = false;
    if (!this.#isOpen) return;
    const writes = this.#eventLogs.map((log) => log.flush());
    if (this.#changed.size > 0) writes.push(this.#options.commit(), this.#putChanged());
    for (const write of writes) this.follow(write);
  }

  /** Writes what has changed; later changes are not written. */
  close(): void {
    this.flush();
    this.#isOpen = false;
  }

  /** Clears the memory of an outstation that is removed. */
  clear(): void {
    this.#isOpen = false;
    this.#follow(this.#values.clear());
    for (const log of this.#eventLogs) this.#follow(log.clear());
  }

  #putChanged(): Promise<void> {
    const names = [...this.#changed];
    this.#changed.clear();
    return this.#values.put(Object.fromEntries(names.map((name) => [name, this.#parts.get(name)?.save() ?? null])));
  }

  #restorePart(name: string, kept: Kept, value: JsonValue | undefined): void {
    if (value === undefined || value === null) return;
    try {
      kept.restore(value);
    } catch (error) {
      this.#options.log.warning(`the kept state "${name}" of the outstation cannot be used: ${errorText(error)}`);
    }
  }

  #plan(): void {
    if (this.#isPlanned || !this.#isOpen) return;
    this.#isPlanned = true;
    // once for all changes of a turn
    queueMicrotask(() => {
      if (this.#isPlanned) this.flush();
    });
  }

  #follow(write: Promise<void>): void {
    const pending = Promise.all([this.#pending, write])
      .then(() => {
        this.#isFailing = false;
      })
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        if (this.#pending === pending) this.#pending = null;
      });
    this.#pending = pending;
  }

  #failed(error: unknown): void {
    if (!this.#isFailing)
      this.#options.log.warning(`a restart would lose state of the outstation: ${errorText(error)}`);
    this.#isFailing = true;
  }
}
