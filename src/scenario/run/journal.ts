/** Messages and writes during a run in order of arrival. */
import type { Change } from '../../sunspec/map/bank.ts';

/** A message from `GET <protocol>/messages`. */
export interface Message extends Readonly<Record<string, unknown>> {
  readonly id: number;
}

/** A message of a feed. */
export interface MessageEvent {
  readonly kind: 'message';
  readonly feed: string;
  readonly id: number;
  /** undefined: not read yet; null: lost before it was read */
  message: Message | null | undefined;
}

/** A write to the registers of a device. */
export interface WriteEvent {
  readonly kind: 'write';
  readonly device: number;
  readonly change: Change;
}

export type RunEvent = MessageEvent | WriteEvent;

/** Unneeded events are dropped when the number of kept ones is a multiple of this. */
const trimEvery = 1000;
/** Maximum of events kept for a slow reader. */
const maxKept = 100_000;

const isUnread = (event: RunEvent | 'dropped'): boolean =>
  event !== 'dropped' && event.kind === 'message' && event.message === undefined;

/** Reads a journal from a position; the journal keeps the events from there on. */
export class JournalReader {
  /** number of events before the next one to read */
  position: number;
  readonly #journal: Journal;

  constructor(journal: Journal, position: number) {
    this.#journal = journal;
    this.position = position;
  }

  /**
   * The next event that meets a test; null: none so far. The position moves after it, but never beyond a message that
   * has not been read, which may meet the next test.
   */
  next(meets: (event: RunEvent) => boolean): RunEvent | null {
    for (;;) {
      const event = this.#journal.at(this.position);
      if (event === undefined || isUnread(event)) return null;
      this.position += 1;
      if (event !== 'dropped' && meets(event)) return event;
    }
  }

  end(): void {
    this.#journal.forget(this);
  }
}

export class Journal {
  #events: RunEvent[] = [];
  /** number of dropped events */
  #dropped = 0;
  readonly #readers = new Set<JournalReader>();
  /** dropped events that a reader still needed */
  #lost = 0;

  /** Number of events so far, which is the position of the next one. */
  get end(): number {
    return this.#dropped + this.#events.length;
  }

  /** Number of events lost to a reader since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  add(event: RunEvent): void {
    this.#events.push(event);
    if (this.#events.length % trimEvery === 0) this.#trim();
  }

  /** The event at a position; undefined: not arrived yet. */
  at(position: number): RunEvent | 'dropped' | undefined {
    return position < this.#dropped ? 'dropped' : this.#events[position - this.#dropped];
  }

  reader(position: number): JournalReader {
    const reader = new JournalReader(this, position);
    this.#readers.add(reader);
    return reader;
  }

  forget(reader: JournalReader): void {
    this.#readers.delete(reader);
  }

  #trim(): void {
    const needed = Math.min(this.end, ...[...this.#readers].map(({ position }) => position));
    const firstKept = Math.max(needed, this.end - maxKept);
    this.#lost += Math.max(0, firstKept - Math.max(needed, this.#dropped));
    const surplus = firstKept - this.#dropped;
    if (surplus <= 0) return;
    this.#events = this.#events.slice(surplus);
    this.#dropped = firstKept;
  }
}
