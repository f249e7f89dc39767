/** One list of everything that changed something: bounded, and equal changes that come together are one entry. */
import { keptCount, keptRecord } from '../kept.ts';
import type { Kept } from '../kept.ts';
import { Listeners } from '../listeners.ts';
import { plainOrigin } from '../origin.ts';
import type { SimTime, WallClock } from '../time/clock.ts';
import { Shares } from './shares.ts';
import { isLevelFrom } from './entry.ts';
import type { Happening, TimelineEntry, TimelineKind, TimelineLevel } from './entry.ts';

/** Entries kept. */
export const timelineCapacity = 5000;
/** Equal changes from one source within this wall time are one entry. */
export const joinMs = 5000;
/** Ids kept ahead of the present one: a process that ends without warning uses none twice. */
const idsAhead = 10_000;

export interface TimelineOptions {
  readonly wall: WallClock;
  readonly sim: () => SimTime;
  /** receives the error of a listener */
  readonly onFailure?: (error: unknown) => void;
  /** default `timelineCapacity` */
  readonly capacity?: number;
}

export interface TimelineFilter {
  /** only entries with a higher id */
  readonly afterId?: number;
  readonly kinds?: readonly TimelineKind[];
  readonly deviceIndex?: number;
  /** mildest level that is listed */
  readonly level?: TimelineLevel;
  /** inclusive */
  readonly since?: SimTime;
  /** inclusive */
  readonly until?: SimTime;
  /** maximum number of entries; the newest are listed */
  readonly limit?: number;
}

/** Entries, as their sources see them. */
export interface TimelineSink {
  add(happening: Happening): TimelineEntry;
}

interface OpenEntry extends TimelineEntry {
  readonly devices: Set<number>;
  count: number;
  readonly key: string;
  /** monotonic time from which an equal change is an entry of its own */
  readonly joinsUntilMs: number;
}

/** A peer without its port, which changes with each connection. */
export const peerHost = (peer: string) => peer.replace(/:\d+$/, '');

function keyOf({ kind, level, by, title, text }: Happening): string {
  return `${kind}\n${level}\n${by?.source}\n${peerHost(by?.peer ?? '')}\n${title}\n${text}`;
}

function meets(
  { kind, devices, level, at }: TimelineEntry,
  { kinds, deviceIndex, level: minLevel, since, until }: TimelineFilter,
): boolean {
  return (
    (kinds?.includes(kind) ?? true) &&
    (deviceIndex === undefined || devices.has(deviceIndex)) &&
    (minLevel === undefined || isLevelFrom(minLevel, level)) &&
    (since === undefined || at >= since) &&
    (until === undefined || at <= until)
  );
}

export class Timeline implements TimelineSink {
  readonly #options: TimelineOptions;
  readonly #capacity: number;
  /** by id, oldest first */
  readonly #entries = new Map<number, OpenEntry>();
  readonly #shares = new Shares<OpenEntry>();
  /** entries that equal changes may join, oldest first */
  readonly #open = new Map<string, OpenEntry>();
  readonly #listeners: Listeners<[TimelineEntry]>;
  #nextId = 1;

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? timelineCapacity;
    this.#listeners = new Listeners(options.onFailure ?? (() => undefined));
  }

  /** Id of the newest entry; 0: none yet. */
  get lastId(): number {
    return this.#nextId - 1;
  }

  /** State that a restart keeps: ids go on above those of the earlier process, its entries end with it. */
  kept(): Kept {
    return keptRecord(
      () => ({ nextId: Math.ceil(this.#nextId / idsAhead + 1) * idsAhead }),
      ({ nextId }) => {
        this.#nextId = Math.max(this.#nextId, keptCount(nextId, 'id of the next entry of the timeline'));
      },
    );
  }

  /** Adds a change, or counts it in the entry of an equal one. */
  add(happening: Happening): TimelineEntry {
    const nowMs = this.#options.wall.monotonicMs();
    this.#closeUntil(nowMs);
    const key = keyOf(happening);
    const open = this.#open.get(key);
    const entry = open && this.#entries.get(open.id) === open ? open : this.#begin(happening, key, nowMs);
    if (entry === open) entry.count += 1;
    if (happening.deviceIndex !== undefined) entry.devices.add(happening.deviceIndex);
    this.#listeners.notify(entry);
    return entry;
  }

  /** Oldest first. */
  list(filter: TimelineFilter = {}): readonly TimelineEntry[] {
    const { afterId = 0, limit = this.#capacity } = filter;
    const newestFirst: TimelineEntry[] = [];
    for (const entry of [...this.#entries.values()].reverse()) {
      if (entry.id <= afterId || newestFirst.length >= limit) break;
      if (meets(entry, filter)) newestFirst.push(entry);
    }
    return newestFirst.reverse();
  }

  /**
   * The listener is called within the change, with a new entry and with one that has grown.
   * @returns function that unsubscribes
   */
  onEntry(listener: (entry: TimelineEntry) => void): () => void {
    return this.#listeners.add(listener);
  }

  #closeUntil(nowMs: number): void {
    for (const { key, joinsUntilMs } of this.#open.values()) {
      if (nowMs < joinsUntilMs) return;
      this.#open.delete(key);
    }
  }

  #begin(
    { kind, level = 'info', by, title, text, at, ref = null, message = null, calls }: Happening,
    key: string,
    nowMs: number,
  ): OpenEntry {
    const entry: OpenEntry = {
      id: this.#nextId,
      kind,
      level,
      at: at ?? this.#options.sim(),
      wallMs: this.#options.wall.nowMs(),
      devices: new Set<number>(),
      by: by ? plainOrigin(by) : null,
      title,
      text,
      count: 1,
      ref,
      message,
      calls: calls ?? null,
      key,
      joinsUntilMs: nowMs + joinMs,
    };
    this.#nextId += 1;
    this.#entries.set(entry.id, entry);
    this.#shares.add(`${kind} ${by?.source}`, peerHost(by?.peer ?? ''), entry);
    this.#makeRoom();
    // a key whose entry was dropped keeps its place otherwise
    this.#open.delete(key);
    this.#open.set(key, entry);
    return entry;
  }

  /** The oldest entry of the kind and source with the most entries goes, there that of the host with the most. */
  #makeRoom(): void {
    if (this.#entries.size <= this.#capacity) return;
    const dropped = this.#shares.drop();
    if (dropped) this.#entries.delete(dropped.id);
  }
}
