/** The events of one master in a slot of the store: what was added and removed since the last write, in one entry. */
import { z } from 'zod';
import { Buffer } from 'node:buffer';
import { fromExactJson, toExactJson } from '../../core/kept.ts';
import { instant, readEach, recordOf, serial } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { EventBuffer, EventObserver, QueuedEvent } from '../stack/outstation/events.ts';
import type { AssociationClock, Database } from '../stack/outstation/types.ts';
import { kindOfStaticGroup } from '../stack/outstation/point-table.ts';
import { groupsOf } from '../stack/points.ts';
import type { PointValue } from '../stack/points.ts';
import { appendOrReplace } from './values.ts';

/** Number of entries after which the slot is written anew. */
const maxEntries = 256;

/** Number, static group, index, class, value (octets as base64), flags, ms since the epoch on the clock of the master. */
type KeptEvent = readonly [
  number: number,
  group: number,
  index: number,
  eventClass: 1 | 2 | 3,
  value: JsonValue,
  flags: number,
  ms: number,
];

interface Entry {
  readonly added: readonly KeptEvent[];
  readonly removed: readonly number[];
  readonly overflow: boolean;
}

const keptValue = (value: PointValue): JsonValue =>
  typeof value === 'number' ? toExactJson(value) : value.toString('base64');

function restoredValue(kept: JsonValue): PointValue {
  return typeof kept === 'string' ? Buffer.from(kept, 'base64') : (fromExactJson(kept) as number);
}

const special = z.object({ $: z.enum(['NaN', 'Infinity', '-Infinity', '-0']) });
const keptEvent = z.tuple([
  serial,
  z.int(),
  z.int(),
  z.literal([1, 2, 3]),
  z.union([z.number(), z.string(), special]),
  z.int().min(0).max(255),
  instant,
]);

const entryForm = recordOf<Entry>({ added: z.array(keptEvent), removed: z.array(serial), overflow: z.boolean() });

export interface EventLogOptions {
  readonly slot: Slot;
  readonly log: { warning(message: string): void };
  readonly buffer: EventBuffer;
  readonly time: AssociationClock;
  readonly database: Database;
  /** called after each change that is to be written */
  readonly changed: () => void;
}

export class EventLog implements EventObserver {
  readonly #options: EventLogOptions;
  #added = new Map<number, QueuedEvent>();
  #removed: number[] = [];
  /** false: the slot has everything */
  #isChanged = false;
  /** true: all events are written at the next change */
  #isOutdated = false;
  #entries = 0;

  constructor(options: EventLogOptions) {
    this.#options = options;
    options.buffer.observer = this;
  }

  added(event: QueuedEvent): void {
    this.#added.set(event.number, event);
    this.#change();
  }

  removed({ number }: QueuedEvent): void {
    if (!this.#added.delete(number)) this.#removed.push(number);
    this.#change();
  }

  overflowChanged(): void {
    this.#change();
  }

  /** To be called when the clock of the master is set: the times of all events have changed. */
  timeChanged(): void {
    this.#isOutdated = true;
    this.#change();
  }

  /** Fills the buffer with the events of an earlier process; the clock must be restored before. */
  async restore(): Promise<void> {
    const { slot, buffer, log } = this.#options;
    const entries = await readEach(slot, entryForm, log);
    const events = new Map<number, KeptEvent>();
    for (const { added, removed } of entries) {
      for (const event of added) events.set(event[0], event);
      for (const number of removed) events.delete(number);
    }
    this.#entries = entries.length;
    const restored = [...events.values()].sort((a, b) => a[0] - b[0]).flatMap((event) => this.#restored(event));
    buffer.restore(restored, entries.at(-1)?.overflow ?? false);
  }

  /** Writes what has changed. @returns resolves when it is durable; null: nothing has changed */
  flush(): Promise<void> | null {
    if (!this.#isChanged) return null;
    const { slot, buffer } = this.#options;
    const added = Array.from(this.#added.values(), (event) => this.#kept(event));
    const entry: Entry = { added, removed: this.#removed, overflow: buffer.isOverflown };
    const isNew = this.#isOutdated || this.#entries >= maxEntries;
    this.#added = new Map();
    this.#removed = [];
    this.#isChanged = false;
    this.#isOutdated = false;
    this.#entries = isNew ? 1 : this.#entries + 1;
    return isNew ? slot.replace(this.#all()) : appendOrReplace(slot, entry as unknown as JsonValue, () => this.#all());
  }

  clear(): Promise<void> {
    this.#options.buffer.observer = null;
    this.#isChanged = false;
    return this.#options.slot.replace([]);
  }

  #all(): readonly JsonValue[] {
    const { buffer } = this.#options;
    const entry: Entry = {
      added: buffer.all.map((event) => this.#kept(event)),
      removed: [],
      overflow: buffer.isOverflown,
    };
    return [entry as unknown as JsonValue];
  }

  #kept({ number, spec, class: eventClass, state, at }: QueuedEvent): KeptEvent {
    // the wire has whole milliseconds, so that the time is the same after the restart
    const ms = Math.round(this.#options.time.timeOf(at).ms);
    return [number, groupsOf[spec.kind].static, spec.index, eventClass, keptValue(state.value), state.flags, ms];
  }

  /** The event; none for a point that the outstation no longer has. */
  #restored([number, group, index, eventClass, value, flags, ms]: KeptEvent): readonly QueuedEvent[] {
    const { database, time } = this.#options;
    const kind = kindOfStaticGroup(group);
    const point = kind && database.point(kind, index);
    if (point === undefined || (kind === 'octetString') !== (typeof value === 'string')) return [];
    const at = time.restoredInstant(ms);
    const state = { value: restoredValue(value), flags };
    return [{ spec: point.spec, class: eventClass, state, stamp: 0, number, at, isSent: false }];
  }

  #change(): void {
    this.#isChanged = true;
    this.#options.changed();
  }
}
