/** Events that wait for one master. IEEE 1815 4.1.6, 11.5 */
import { pointKinds } from '../points.ts';
import type { PointKind } from '../points.ts';
import type { PointEvent } from './types.ts';

export interface QueuedEvent extends PointEvent {
  /** rises by one with each event of this master */
  readonly number: number;
  /** part of a response that waits for its confirm */
  isSent: boolean;
}

/** Events wanted by a read. */
export interface EventSelection {
  readonly kind?: PointKind;
  readonly class?: 1 | 2 | 3;
}

type Queues = Readonly<Record<PointKind, QueuedEvent[]>>;
type Classes = Readonly<Record<1 | 2 | 3, number>>;

/** Events of each kind are bounded by themselves: when there is no room the oldest of the kind goes. */
export class EventBuffer {
  readonly #capacity: number;
  readonly #queues: Queues;
  #next = 1;
  #isOverflown = false;
  /** events lost since the start */
  lost = 0;
  /** events taken in since the start */
  taken = 0;

  /** @param capacity events kept of each kind */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#queues = Object.fromEntries(pointKinds.map((kind) => [kind, []])) as unknown as Queues;
  }

  /** IIN2.3 */
  get isOverflown(): boolean {
    return this.#isOverflown;
  }

  add(event: PointEvent): void {
    const queue = this.#queues[event.spec.kind];
    this.taken += 1;
    if (event.spec.keeps === 'latest') {
      const at = queue.findIndex(({ spec, isSent }) => spec.index === event.spec.index && !isSent);
      if (at >= 0) queue.splice(at, 1);
    }
    if (queue.length >= this.#capacity) {
      queue.shift();
      this.lost += 1;
      this.#isOverflown = true;
    }
    queue.push({ ...event, number: this.#next++, isSent: false });
  }

  /** Events that wait and are not part of a response. */
  waiting(): Classes {
    const counts = { 1: 0, 2: 0, 3: 0 };
    for (const queue of Object.values(this.#queues))
      for (const each of queue) if (!each.isSent) counts[each.class] += 1;
    return counts;
  }

  get size(): number {
    return Object.values(this.#queues).reduce((sum, { length }) => sum + length, 0);
  }

  /** The events of a selection that are not sent yet, oldest first. */
  select({ kind, class: wanted }: EventSelection): readonly QueuedEvent[] {
    const queues = kind === undefined ? Object.values(this.#queues) : [this.#queues[kind]];
    const found = queues.flatMap((queue) =>
      queue.filter((each) => !each.isSent && (wanted === undefined || each.class === wanted)),
    );
    return queues.length > 1 ? found.sort((a, b) => a.number - b.number) : found;
  }

  /** The master has confirmed events: they are over. */
  confirm(events: readonly QueuedEvent[]): void {
    if (events.length === 0) return;
    const gone = new Set(events);
    for (const kind of pointKinds) {
      const queue = this.#queues[kind];
      if (queue.length === 0) continue;
      const kept = queue.filter((each) => !gone.has(each));
      queue.splice(0, queue.length, ...kept);
    }
    if (Object.values(this.#queues).every(({ length }) => length < this.#capacity)) this.#isOverflown = false;
  }

  /** The confirm has not come: they wait again. */
  release(events: readonly QueuedEvent[]): void {
    for (const each of events) each.isSent = false;
  }

  clear(): void {
    for (const queue of Object.values(this.#queues)) queue.length = 0;
    this.#isOverflown = false;
  }
}
