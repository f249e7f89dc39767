/** Newest whole tick of each shard: parts are put together, and what is old, double or missing is counted. */
import { decodeTick } from '../messages.ts';
import type { TickHead, TickPart } from '../messages.ts';

/** A whole tick of a shard. */
export interface ShardTick {
  readonly shard: string;
  /** of its first part */
  readonly head: TickHead;
  /** in index order */
  readonly parts: readonly TickPart[];
  /** monotonic time at which its last part came, ms */
  readonly arrivedMs: number;
}

export interface TickCounts {
  /** whole ticks */
  readonly ticks: number;
  /** ticks that did not come, or not whole */
  readonly missed: number;
  /** messages of a process that has lost the shard to another one */
  readonly fenced: number;
  /** messages that came twice, or later than a newer tick */
  readonly repeated: number;
  /** messages that do not add up */
  readonly broken: number;
  /** bytes of all messages */
  readonly bytes: number;
}

interface Shard {
  /** messages of a lower epoch are dropped */
  epoch: number;
  newest: ShardTick | null;
  /** parts of the tick that is not whole yet, by their number */
  readonly parts: Map<number, TickPart>;
  readonly counts: { -readonly [Name in keyof TickCounts]: TickCounts[Name] };
}

const noCounts: TickCounts = { ticks: 0, missed: 0, fenced: 0, repeated: 0, broken: 0, bytes: 0 };

export interface TickBookOptions {
  readonly nowMs: () => number;
  /** Called with each whole tick, in the order of the ticks of its shard. */
  readonly onTick: (tick: ShardTick) => void;
}

export class TickBook {
  readonly #options: TickBookOptions;
  readonly #shards = new Map<string, Shard>();

  constructor(options: TickBookOptions) {
    this.#options = options;
  }

  newest(shard: string): ShardTick | null {
    return this.#shards.get(shard)?.newest ?? null;
  }

  counts(shard: string): TickCounts {
    return this.#shards.get(shard)?.counts ?? noCounts;
  }

  /** Drops messages of earlier holders of the name of a shard from now on. @param epoch of its present holder */
  fence(shard: string, epoch: number): void {
    const entry = this.#of(shard);
    if (epoch <= entry.epoch) return;
    entry.epoch = epoch;
    entry.parts.clear();
  }

  /** Reads a message of a shard. */
  take(shard: string, body: Uint8Array): void {
    const entry = this.#of(shard);
    entry.counts.bytes += body.length;
    let part: TickPart;
    try {
      part = decodeTick(body);
    } catch {
      entry.counts.broken += 1;
      return;
    }
    const { head } = part;
    if (head.epoch < entry.epoch) {
      entry.counts.fenced += 1;
      return;
    }
    // the message may be faster than the news of the lease
    this.fence(shard, head.epoch);
    if (isSameRun(entry.newest?.head, head) && head.tick <= entry.newest.head.tick) entry.counts.repeated += 1;
    else this.#collect(shard, entry, part);
  }

  #of(name: string): Shard {
    const entry = this.#shards.get(name) ?? { epoch: 0, newest: null, parts: new Map(), counts: { ...noCounts } };
    this.#shards.set(name, entry);
    return entry;
  }

  #collect(shard: string, entry: Shard, part: TickPart): void {
    const { head } = part;
    const { parts, counts } = entry;
    const [present] = parts.values();
    if (present !== undefined && isSameRun(present.head, head) && head.tick < present.head.tick) {
      counts.repeated += 1;
      return;
    }
    // parts of an older tick can no longer become whole: the numbers of the ticks count it as missed
    if (present !== undefined && !(isSameRun(present.head, head) && present.head.tick === head.tick)) parts.clear();
    if (parts.has(head.part)) {
      counts.repeated += 1;
      return;
    }
    parts.set(head.part, part);
    if (parts.size === head.parts) this.#complete(shard, entry);
  }

  #complete(shard: string, entry: Shard): void {
    const parts = [...entry.parts.values()].sort((a, b) => a.head.part - b.head.part);
    entry.parts.clear();
    const [first] = parts;
    if (first === undefined || !isAscending(parts)) {
      entry.counts.broken += 1;
      return;
    }
    const { head } = first;
    entry.counts.missed += missedBetween(entry.newest?.head, head);
    entry.counts.ticks += 1;
    entry.newest = { shard, head, parts, arrivedMs: this.#options.nowMs() };
    this.#options.onTick(entry.newest);
  }
}

/** True if two ticks are of one process that has held its shard all the time. */
function isSameRun(a: TickHead | undefined, b: TickHead): a is TickHead {
  return a?.epoch === b.epoch && a.session === b.session;
}

/** Parts of one tick have the same number of parts, and no device twice. */
function isAscending(parts: readonly TickPart[]): boolean {
  let last = -1;
  for (const { head, index } of parts) {
    if (head.parts !== parts.length || (index[0] ?? Infinity) <= last) return false;
    last = index.at(-1) ?? last;
  }
  return true;
}

/** Ticks between two of a run, without numbers that no tick has had. */
function missedBetween(before: TickHead | undefined, after: TickHead): number {
  if (!isSameRun(before, after)) return 0;
  return Math.max(0, after.tick - before.tick - 1 - (after.unused - before.unused));
}
