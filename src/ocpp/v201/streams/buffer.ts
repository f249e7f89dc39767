/** Values of one periodic event stream that wait for their message (N15). */
import type { PeriodicEventStreamParams, Sends } from '../messages.ts';
import { stamp } from '../parts.ts';

type Message = Sends['NotifyPeriodicEventStream'];

export interface StreamValue {
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly value: string;
}

/** values that wait at most; beyond it the oldest are lost */
const capacity = 1000;
const perMessage = 100;

export interface StreamBuffer {
  readonly length: number;
  add(value: StreamValue): void;
  /** Takes everything out, in messages that are not too long. */
  drain(id: number): readonly Message[];
}

/** Zero, as an absent member, sets no limit. */
export function limitOf(value: number | undefined): number {
  return value === undefined || value === 0 ? Infinity : value;
}

/** Whether the number of values alone makes a message due; without any limit each value is one. */
export function isFull(length: number, { values, interval }: PeriodicEventStreamParams): boolean {
  const isUnlimited = limitOf(values) === Infinity && limitOf(interval) === Infinity;
  return length >= (isUnlimited ? 1 : Math.min(limitOf(values), capacity));
}

export function createStreamBuffer(): StreamBuffer {
  let waiting: readonly StreamValue[] = [];
  return {
    get length() {
      return waiting.length;
    },
    add(value) {
      waiting = [...waiting, value].slice(-capacity);
    },
    drain(id) {
      const values = waiting;
      waiting = [];
      const messages: Message[] = [];
      for (let from = 0; from < values.length; from += perMessage) {
        const part = values.slice(from, from + perMessage);
        const baseMs = part[0]?.atMs ?? 0;
        messages.push({
          id,
          pending: values.length - from - part.length,
          basetime: stamp(baseMs),
          // to the millisecond, in s
          data: part.map(({ atMs, value }) => ({ t: Math.round(atMs - baseMs) / 1000, v: value.slice(0, 2500) })),
        });
      }
      return messages;
    },
  };
}
