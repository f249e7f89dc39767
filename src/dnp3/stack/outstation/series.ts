/** The fragments of one answer, of which each waits for the confirm of the one before it. IEEE 1815 4.1.5 */
import type { Buffer } from 'node:buffer';
import type { FragmentWriter } from '../application/writer.ts';
import type { EventBuffer, QueuedEvent } from './events.ts';
import type { ReadPlan, ReadStep } from './read.ts';

export interface Piece {
  readonly objects: Buffer;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** to be taken out of the buffer at the confirm */
  readonly events: readonly QueuedEvent[];
}

export class Series {
  readonly #steps: readonly ReadStep[];
  readonly #buffer: EventBuffer;
  readonly #open: Set<QueuedEvent>;
  #at = 0;
  #isFirst = true;

  constructor({ steps, events }: ReadPlan, buffer: EventBuffer) {
    this.#steps = steps;
    this.#buffer = buffer;
    this.#open = new Set(events);
  }

  /** The next fragment; not called again after the last one. */
  next(writer: FragmentWriter): Piece {
    const events: QueuedEvent[] = [];
    let isLast = true;
    for (; this.#at < this.#steps.length; this.#at += 1) {
      const step = this.#steps[this.#at];
      const isDone = step?.fill(writer) ?? true;
      events.push(...(step?.sent ?? []));
      if (!isDone) {
        isLast = false;
        break;
      }
    }
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return { objects: writer.take(), isFirst, isLast, events };
  }

  confirm({ events }: Piece): void {
    for (const each of events) this.#open.delete(each);
    this.#buffer.confirm(events);
  }

  /** The series ends without the confirm of all: its events wait again. */
  abandon(): void {
    this.#buffer.release([...this.#open]);
    this.#open.clear();
  }
}
