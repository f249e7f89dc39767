/** Queued events for one master, and the internal indications of its association. IEEE 1815 4.1.6, 4.2.4, 11.5 */
import { pointKinds } from '../points.ts';
import type { PointKind } from '../points.ts';
import type { Instant, PointEvent, AssociationClock, Cast, OutstationOptions } from './types.ts';
import { iin } from '../application/types.ts';

export interface QueuedEvent extends PointEvent {
  /** rises by one with each event of this master */
  readonly number: number;
  readonly at: Instant;
  /** true: the event is part of a response that awaits its confirm */
  isSent: boolean;
}

/** Events that a read requests. */
interface EventSelection {
  /** absent: all */
  readonly kind?: PointKind;
  /** absent: all */
  readonly class?: EventClass;
}

type EventClass = 1 | 2 | 3;
type ByClass<T> = Readonly<Record<EventClass, T>>;
type Queues = Readonly<Record<PointKind, ByClass<QueuedEvent[]>>>;

/** Observer of the changes of a buffer. */
export interface EventObserver {
  added(event: QueuedEvent): void;
  /** The event is confirmed, lost, or replaced by a newer one of its point. */
  removed(event: QueuedEvent): void;
  /** The overflow has begun or ended. */
  overflowChanged(): void;
}

/**
 * Each kind and class has its own capacity, so that a flood in one displaces no events of another; a full queue drops its
 * oldest event.
 */
export class EventBuffer {
  readonly #capacity: number;
  readonly #queues: Queues;
  readonly #all: readonly QueuedEvent[][];
  /** by point with `keeps: 'latest'`: its newest event */
  readonly #latest = new Map<PointEvent['spec'], QueuedEvent>();
  #next = 1;
  #isOverflown = false;
  /** null: none */
  observer: EventObserver | null = null;
  /** events lost since the start */
  lost = 0;
  /** events added since the start */
  added = 0;

  /** @param capacity maximum number of events of each kind and class */
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
    this.added += 1;
    const previous = this.#latest.get(event.spec);
    // the class of the point may have changed; a sent event stays
    if (previous !== undefined && !previous.isSent) this.#remove(previous);
    const queue = queues[event.class];
    if (queue.length >= this.#capacity) this.#dropOldest(queue);
    const { spec, class: eventClass, state, stamp } = event;
    const queued: QueuedEvent = { spec, class: eventClass, state, stamp, number: this.#next++, at, isSent: false };
    queue.push(queued);
    if (event.spec.keeps === 'latest') this.#latest.set(event.spec, queued);
    this.observer?.added(queued);
  }

  /** All events, oldest first. */
  get all(): readonly QueuedEvent[] {
    return this.#all.flat().sort((a, b) => a.number - b.number);
  }

  /**
   * Fills an empty buffer with the events that it had before a restart.
   * @param events oldest first, with rising numbers
   */
  restore(events: readonly QueuedEvent[], isOverflown: boolean): void {
    this.#isOverflown = isOverflown;
    for (const event of events) {
      const queue = this.#queues[event.spec.kind][event.class];
      if (queue.length >= this.#capacity) this.#dropOldest(queue);
      queue.push(event);
      if (event.spec.keeps === 'latest') this.#latest.set(event.spec, event);
      this.#next = event.number + 1;
    }
  }

  /** Number of unsent events, by class. */
  waiting(): ByClass<number> {
    const counts = { 1: 0, 2: 0, 3: 0 };
    for (const queue of this.#all) for (const each of queue) if (!each.isSent) counts[each.class] += 1;
    return counts;
  }

  /** True if a class has unsent events. */
  hasWaiting(eventClass: EventClass): boolean {
    return pointKinds.some((kind) => this.#queues[kind][eventClass].some(({ isSent }) => !isSent));
  }

  get size(): number {
    return this.#all.reduce((sum, { length }) => sum + length, 0);
  }

  /** Unsent events of a selection, oldest first. */
  select({ kind, class: eventClass }: EventSelection): readonly QueuedEvent[] {
    const kinds = kind === undefined ? Object.values(this.#queues) : [this.#queues[kind]];
    const queues = kinds.flatMap((queues) => (eventClass === undefined ? Object.values(queues) : [queues[eventClass]]));
    const unsentEvents = queues.flatMap((queue) => queue.filter((each) => !each.isSent));
    return queues.length > 1 ? unsentEvents.sort((a, b) => a.number - b.number) : unsentEvents;
  }

  /** Removes events that the master has confirmed. */
  confirm(events: readonly QueuedEvent[]): void {
    if (events.length === 0) return;
    const confirmed = new Set(events);
    for (const queue of this.#all) {
      if (queue.length === 0) continue;
      const unconfirmed = queue.filter((each) => !confirmed.has(each));
      queue.splice(0, queue.length, ...unconfirmed);
    }
    for (const each of events) this.observer?.removed(each);
  }

  /**
   * Handles the confirm of a response that reported the overflow. The overflow is over if no further event was lost, and
   * all queues have room. `lost` is the number of lost events when the response was built.
   */
  overflowReported(lost: number): void {
    if (lost !== this.lost || !this.#all.every(({ length }) => length < this.#capacity)) return;
    this.#isOverflown = false;
    this.observer?.overflowChanged();
  }

  /** Queues events again after a missing confirm, unless a newer event of the same point replaces them. */
  release(events: readonly QueuedEvent[]): void {
    for (const each of events) {
      each.isSent = false;
      if (each.spec.keeps === 'latest' && this.#latest.get(each.spec) !== each) this.#remove(each);
    }
  }

  #remove(event: QueuedEvent): void {
    const queue = this.#queues[event.spec.kind][event.class];
    const at = queue.indexOf(event);
    if (at < 0) return;
    queue.splice(at, 1);
    this.observer?.removed(event);
  }

  #dropOldest(queue: QueuedEvent[]): void {
    const oldest = queue.shift();
    this.lost += 1;
    this.#isOverflown = true;
    if (oldest === undefined) return;
    this.observer?.removed(oldest);
    this.observer?.overflowChanged();
  }
}

/** Conditions that a fragment reports; its confirm ends only these. */
export interface Report {
  /** IIN bits as sent */
  readonly bits: number;
  /** IIN bits without faults */
  readonly undisturbedBits: number;
  /** number of broadcasts received before the fragment was built */
  readonly broadcasts: number;
  /** number of events lost before the fragment was built */
  readonly lost: number;
}

/** Internal indications of one association, and the confirms that end them. */
export class Indications {
  readonly #outstation: Pick<OutstationOptions, 'conditions' | 'disturber'>;
  readonly #events: EventBuffer;
  readonly #time: AssociationClock;
  #cast: Cast = 'unicast';
  #broadcasts = 0;
  /** IIN1.7 */
  hasRestarted = true;

  constructor(
    outstation: Pick<OutstationOptions, 'conditions' | 'disturber'>,
    { events, time }: { readonly events: EventBuffer; readonly time: AssociationClock },
  ) {
    this.#outstation = outstation;
    this.#events = events;
    this.#time = time;
  }

  /** IIN bits of the next response; reading them does not count as reporting. */
  get nextBits(): number {
    return this.#undisturbedBits() | this.#outstation.disturber.iin(false);
  }

  /** True if the next response requests a confirm because of a broadcast. */
  get asksForConfirm(): boolean {
    return this.#cast === 'broadcast-confirm' || this.#cast === 'broadcast-confirm-optional';
  }

  broadcast(cast: Cast): void {
    this.#cast = cast;
    this.#broadcasts += 1;
  }

  /** Creates the report of the next fragment; a broadcast without confirm is reported once. */
  report(): Report {
    const undisturbedBits = this.#undisturbedBits();
    const bits = undisturbedBits | this.#outstation.disturber.iin(true);
    if (!this.asksForConfirm) this.#cast = 'unicast';
    return { bits, undisturbedBits, broadcasts: this.#broadcasts, lost: this.#events.lost };
  }

  /** Handles the confirm of a fragment. Call it after its events are removed. */
  confirmed({ undisturbedBits, broadcasts, lost }: Report): void {
    if ((undisturbedBits & iin.broadcast) !== 0 && broadcasts === this.#broadcasts) this.#cast = 'unicast';
    if ((undisturbedBits & iin.eventBufferOverflow) !== 0) this.#events.overflowReported(lost);
  }

  restart(): void {
    this.hasRestarted = true;
    this.#cast = 'unicast';
  }

  #undisturbedBits(): number {
    const { conditions } = this.#outstation;
    const events = this.#events;
    return (
      (this.#cast === 'unicast' ? 0 : iin.broadcast) |
      (events.hasWaiting(1) ? iin.class1 : 0) |
      (events.hasWaiting(2) ? iin.class2 : 0) |
      (events.hasWaiting(3) ? iin.class3 : 0) |
      (this.#time.needsTime ? iin.needTime : 0) |
      (conditions.localControl() ? iin.localControl : 0) |
      (conditions.trouble() ? iin.deviceTrouble : 0) |
      (this.hasRestarted ? iin.deviceRestart : 0) |
      (events.isOverflown ? iin.eventBufferOverflow : 0)
    );
  }
}
