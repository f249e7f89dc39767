/** Messages and writes during a run, in the order in which they came. */
import type { Change } from '../../sunspec/map/bank.ts';

/** A message as `GET <protocol>/messages` shows it. */
export interface Message extends Readonly<Record<string, unknown>> {
  readonly id: number;
}

/** A message of a feed. */
export interface MessageEvent {
  readonly kind: 'message';
  readonly feed: string;
  readonly id: number;
  /** undefined: it has not been read yet; null: it was gone before that */
  message: Message | null | undefined;
}

/** A write to the registers of a device. */
export interface WriteEvent {
  readonly kind: 'write';
  readonly device: number;
  readonly change: Change;
}

export type RunEvent = MessageEvent | WriteEvent;

/** Events are dropped in steps of so many once nobody can ask for them any more. */
const trimmedAtOnce = 1000;
/** Events kept for a reader that does not come to them. */
const maxKept = 100_000;

const isUnread = (event: RunEvent | 'gone'): boolean =>
  event !== 'gone' && event.kind === 'message' && event.message === undefined;

/** Reads a journal from a position on, as long as it is kept. */
export class JournalReader {
  /** number of events before the next one to be looked at */
  position: number;
  readonly #journal: Journal;

  constructor(journal: Journal, position: number) {
    this.#journal = journal;
    this.position = position;
  }

  /**
   * The next event that meets a test; null: none has come so far. The position is behind it, and never behind a message
   * that has not been read: it may have come while something else was looked at.
   */
  next(meets: (event: RunEvent) => boolean): RunEvent | null {
    for (;;) {
      const event = this.#journal.at(this.position);
      if (event === undefined || isUnread(event)) return null;
      this.position += 1;
      if (event !== 'gone' && meets(event)) return event;
    }
  }

  end(): void {
    this.#journal.forget(this);
  }
}

export class Journal {
  #events: RunEvent[] = [];
  /** number of events that are not kept any more */
  #dropped = 0;
  readonly #readers = new Set<JournalReader>();
  /** events that a reader would have needed */
  #lost = 0;

  /** Number of events so far: the position of what comes from now on. */
  get end(): number {
    return this.#dropped + this.#events.length;
  }

  /** Events that went although a reader had not come to them, since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  add(event: RunEvent): void {
    this.#events.push(event);
    if (this.#events.length % trimmedAtOnce === 0) this.#trim();
  }

  /** The event at a position; undefined: it has not come. */
  at(position: number): RunEvent | 'gone' | undefined {
    return position < this.#dropped ? 'gone' : this.#events[position - this.#dropped];
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
    const kept = Math.max(needed, this.end - maxKept);
    this.#lost += Math.max(0, kept - Math.max(needed, this.#dropped));
    const gone = kept - this.#dropped;
    if (gone <= 0) return;
    this.#events = this.#events.slice(gone);
    this.#dropped = kept;
  }
}
