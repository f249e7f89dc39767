/** Events that wait for one master. IEEE 1815 4.1.6, 11.5 */
import { pointKinds } from '../points.ts';
import type { PointKind } from '../points.ts';
import type { Instant, PointEvent } from './types.ts';

export interface QueuedEvent extends PointEvent {
  /** rises by one with each event of this master */
  readonly number: number;
  readonly at: Instant;
  /** part of a response that waits for its confirm */
  isSent: boolean;
}

/** Events wanted by a read. */
export interface EventSelection {
  readonly kind?: PointKind;
  readonly class?: 1 | 2 | 3;
}

type ByClass<T> = Readonly<Record<1 | 2 | 3, T>>;
type Queues = Readonly<Record<PointKind, ByClass<QueuedEvent[]>>>;

/**
 * Events of each kind and class are bounded by themselves, so that a flood of one class costs no other one its events:
 * when there is no room the oldest of the kind and class goes.
 */
export class EventBuffer {
  readonly #capacity: number;
  readonly #queues: Queues;
  readonly #all: readonly QueuedEvent[][];
  /** the last event of each point of which the latest alone is kept */
  readonly #latest = new Map<PointEvent['spec'], QueuedEvent>();
  #next = 1;
  #isOverflown = false;
  /** events lost since the start */
  lost = 0;
  /** events taken in since the start */
  taken = 0;

  /** @param capacity events kept of each kind and class */
  constructor(capacity: number) {
    this.#capacity = capacity;
    const empty = (): ByClass<QueuedEvent[]> => ({ 1: [], 2: [], 3: [] });
    this.#queues = Object.fromEntries(pointKinds.map((kind) => [kind, empty()])) as unknown as Queues;
    this.#all = Object.values(this.#queues).flatMap((queues) => Object.values(queues));
  }

  /** IIN2.3 */
  get isOverflown(): boolean {
    return this.#isOverflown;
  }

  add(event: PointEvent, at: Instant): void {
    const queues = this.#queues[event.spec.kind];
    this.taken += 1;
    const former = this.#latest.get(event.spec);
    // a master may have given the point another class since; a sent event stays
    if (former !== undefined && !former.isSent) remove(queues[former.class], former);
    const queue = queues[event.class];
    if (queue.length >= this.#capacity) {
      queue.shift();
      this.lost += 1;
      this.#isOverflown = true;
    }
    const { spec, class: of, state, stamp } = event;
    const queued: QueuedEvent = { spec, class: of, state, stamp, number: this.#next++, at, isSent: false };
    queue.push(queued);
    if (event.spec.keeps === 'latest') this.#latest.set(event.spec, queued);
  }

  /** Events that wait and are not part of a response. */
  waiting(): ByClass<number> {
    const counts = { 1: 0, 2: 0, 3: 0 };
    for (const queue of this.#all) for (const each of queue) if (!each.isSent) counts[each.class] += 1;
    return counts;
  }

  /** True if events of a class wait and are not part of a response. */
  hasWaiting(of: 1 | 2 | 3): boolean {
    return pointKinds.some((kind) => this.#queues[kind][of].some(({ isSent }) => !isSent));
  }

  get size(): number {
    return this.#all.reduce((sum, { length }) => sum + length, 0);
  }

  /** The events of a selection that are not sent yet, oldest first. */
  select({ kind, class: wanted }: EventSelection): readonly QueuedEvent[] {
    const kinds = kind === undefined ? Object.values(this.#queues) : [this.#queues[kind]];
    const queues = kinds.flatMap((queues) => (wanted === undefined ? Object.values(queues) : [queues[wanted]]));
    const unsentEvents = queues.flatMap((queue) => queue.filter((each) => !each.isSent));
    return queues.length > 1 ? unsentEvents.sort((a, b) => a.number - b.number) : unsentEvents;
  }

  /** The master has confirmed events: they are over. */
  confirm(events: readonly QueuedEvent[]): void {
    if (events.length === 0) return;
    const gone = new Set(events);
    for (const queue of this.#all) {
      if (queue.length === 0) continue;
      const kept = queue.filter((each) => !gone.has(each));
      queue.splice(0, queue.length, ...kept);
    }
  }

  /**
   * Handles the confirm of a response that reported the overflow, built when `lost` events had been lost. The overflow
   * is over if no more have been lost since, and there is room again.
   */
  overflowTold(lost: number): void {
    if (lost === this.lost && this.#all.every(({ length }) => length < this.#capacity)) this.#isOverflown = false;
  }

  /** The confirm has not come: they wait again, unless a newer event of the same point has made them worthless. */
  release(events: readonly QueuedEvent[]): void {
    for (const each of events) {
      each.isSent = false;
      if (each.spec.keeps === 'latest' && this.#latest.get(each.spec) !== each)
        remove(this.#queues[each.spec.kind][each.class], each);
    }
  }
}

function remove(queue: QueuedEvent[], event: QueuedEvent): void {
  const at = queue.indexOf(event);
  if (at >= 0) queue.splice(at, 1);
}
