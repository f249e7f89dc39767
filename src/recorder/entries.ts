/** The entries of a recording in memory: limited, oldest dropped first, counted by protocol. */
import type { RecordedCounts, RecordingFilter } from '../contract/recorder.ts';
import { SimError } from '../core/errors.ts';
import type { WireChannel, WireEntry } from '../core/wire/wire-log.ts';

/** A message of any protocol. */
export interface Recorded {
  /** increases by one with each entry of the process */
  readonly id: number;
  readonly channel: WireChannel;
  readonly entry: WireEntry<unknown>;
}

interface Counts {
  entries: number;
  bytes: number;
  dropped: number;
}

interface Kept extends Recorded {
  readonly cost: number;
}

/** Entries between two calls of `clear`. A reader keeps the era in which it started. */
interface Era {
  list: (Kept | undefined)[];
  /** index of the oldest entry in the list */
  first: number;
  lastId: number;
  readers: number;
  /** memory of its entries after `clear`; 0 before `clear` */
  formerBytes: number;
  /** true: its entries were dropped before its readers reached them */
  isLost: boolean;
}

const eraAfter = (lastId: number): Era => ({
  list: [],
  first: 0,
  lastId,
  readers: 0,
  formerBytes: 0,
  isLost: false,
});

function firstId({ list, first, lastId }: Era): number {
  return lastId - (list.length - first) + 1;
}

/** Approximate memory of an entry without octets and texts, bytes. */
const baseCost = 512;
/** Minimum of dropped entries before the list is compacted; dropped ones must also be at least as many as kept ones. */
const minStale = 1024;

/** Approximate memory of the texts in facts, including objects two levels down. */
function textCost(value: unknown, depth = 0): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value !== 'object' || value === null || depth > 2) return 0;
  let cost = 0;
  for (const inner of Object.values(value)) cost += textCost(inner, depth + 1);
  return cost;
}

const costOf = ({ raw, summary, facts }: WireEntry<unknown>) =>
  baseCost + raw.length + 2 * summary.length + textCost(facts);

/** True if an entry passes a filter. */
function passes({ channel, entry: { wallMs } }: Recorded, filter: RecordingFilter): boolean {
  const { protocols, sinceMs = -Infinity, untilMs = Infinity } = filter;
  return (protocols === undefined || protocols.includes(channel.protocol)) && wallMs >= sinceMs && wallMs < untilMs;
}

function checkKept({ isLost }: Era): void {
  if (isLost)
    throw new SimError('SHORTAGE', 'the recording was cleared, and its entries were dropped to make room for new ones');
}

/**
 * @param end id of the last entry
 * @throws SimError SHORTAGE after `clear`, when the entries were dropped to make room
 */
function* selected(era: Era, end: number, filter: RecordingFilter): Generator<Recorded> {
  checkKept(era);
  for (let id = firstId(era); id <= end; id += 1) {
    checkKept(era);
    id = Math.max(id, firstId(era));
    const recorded = era.list[era.first + id - firstId(era)];
    if (recorded === undefined || id > end) return;
    if (passes(recorded, filter)) yield recorded;
  }
}

export class Entries {
  #limit: number;
  #era = eraAfter(0);
  /** cleared eras that are still read, oldest first; their memory counts in the limit */
  readonly #former = new Set<Era>();
  readonly #total: Counts = { entries: 0, bytes: 0, dropped: 0 };
  readonly #byProtocol = new Map<string, Counts>();

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): RecordedCounts {
    return this.#total;
  }

  get byProtocol(): ReadonlyMap<string, RecordedCounts> {
    return this.#byProtocol;
  }

  get lastId(): number {
    return this.#era.lastId;
  }

  /** Changes the limit, and drops the oldest entries beyond it. @param limit bytes */
  limitTo(limit: number): void {
    this.#limit = limit;
    this.#fit();
  }

  add(channel: WireChannel, entry: WireEntry<unknown>): void {
    const era = this.#era;
    era.lastId += 1;
    const cost = costOf(entry);
    era.list.push({ id: era.lastId, channel, entry, cost });
    for (const counts of [this.#total, this.#countsOf(channel.protocol)]) {
      counts.entries += 1;
      counts.bytes += cost;
    }
    this.#fit();
  }

  /** Drops all entries and counts; ids continue. */
  clear(): void {
    const era = this.#era;
    era.formerBytes = this.#total.bytes;
    if (era.readers > 0) this.#former.add(era);
    this.#era = eraAfter(era.lastId);
    this.#byProtocol.clear();
    Object.assign(this.#total, { entries: 0, bytes: 0, dropped: 0 });
  }

  /**
   * The present entries, oldest first; entries that are dropped before they are reached are skipped. After `clear` a
   * reader still gets the entries of its era, as long as the limit has room for them.
   */
  select(filter: RecordingFilter): Iterable<Recorded> {
    return this.#read(this.#era, this.#era.lastId, filter);
  }

  *#read(era: Era, end: number, filter: RecordingFilter): Generator<Recorded> {
    era.readers += 1;
    if (era !== this.#era && !era.isLost) this.#former.add(era);
    try {
      yield* selected(era, end, filter);
    } finally {
      era.readers -= 1;
      if (era.readers === 0) this.#former.delete(era);
    }
  }

  #countsOf(protocol: string): Counts {
    let counts = this.#byProtocol.get(protocol);
    if (counts === undefined) this.#byProtocol.set(protocol, (counts = { entries: 0, bytes: 0, dropped: 0 }));
    return counts;
  }

  #fit(): void {
    let formerBytes = 0;
    for (const { formerBytes: bytes } of this.#former) formerBytes += bytes;
    for (const former of this.#former) {
      if (this.#total.bytes + formerBytes <= this.#limit) break;
      formerBytes -= former.formerBytes;
      former.isLost = true;
      former.list = [];
      this.#former.delete(former);
    }
    while (this.#total.bytes > this.#limit && this.#total.entries > 1) this.#removeOldest();
    const era = this.#era;
    if (era.first < minStale || 2 * era.first < era.list.length) return;
    era.list = era.list.slice(era.first);
    era.first = 0;
  }

  #removeOldest(): void {
    const { list, first } = this.#era;
    const oldest = list[first];
    list[first] = undefined;
    this.#era.first += 1;
    if (oldest === undefined) return;
    for (const counts of [this.#total, this.#countsOf(oldest.channel.protocol)]) {
      counts.entries -= 1;
      counts.bytes -= oldest.cost;
      counts.dropped += 1;
    }
  }
}
