/** Answers of the REST interface that follow the simulation: read again at ticks, and after every action of this page. */
import { effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Call } from '../api/call';
import { perform, Problem } from '../api/perform';
import { link, tick } from './stream';

/** What is known of an answer. */
interface Live<R> {
  readonly data: R | undefined;
  /** of the newest attempt; null if that succeeded */
  readonly problem: Problem | null;
}

/** `tick`: at each tick, at most once per second, and every 5 s; `once`: at first and after actions; a number: every so many ms. */
type Pace = 'tick' | 'once' | number;

/** Between two reads at ticks, ms. */
const leastGapMs = 900;

class Reader {
  readonly answer: Signal<Live<unknown>> = signal({ data: undefined, problem: null });
  users = 0;
  readonly #wishes = new Set<{ readonly pace: Pace }>();
  #busy = false;
  #again = false;
  /** a tick came too soon after the last read: it is read when the clock of the page strikes next */
  #missedTick = false;
  #readAtMs = -Infinity;
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** The fastest pace of its users holds. @returns ends the wish */
  want(pace: Pace): () => void {
    const wish = { pace };
    this.#wishes.add(wish);
    return () => this.#wishes.delete(wish);
  }

  get #pace(): Pace {
    const paces = [...this.#wishes].map(({ pace }) => pace);
    const fixed = Math.min(...paces.filter((pace) => typeof pace === 'number'));
    // ticks come at any rate, and are read at most once per second
    if (paces.includes('tick')) return fixed < 1000 ? fixed : 'tick';
    return Number.isFinite(fixed) ? fixed : 'once';
  }

  isDue(nowMs: number, ticked: boolean): boolean {
    const age = nowMs - this.#readAtMs;
    if (this.#pace === 'once') return false;
    if (typeof this.#pace === 'number') return age >= this.#pace;
    if (age >= (ticked || this.#missedTick ? leastGapMs : 5000)) return true;
    this.#missedTick ||= ticked;
    return false;
  }

  async read(): Promise<void> {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    this.#missedTick = false;
    this.#readAtMs = performance.now();
    try {
      this.answer.value = { data: await perform(this.#call), problem: null };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.answer.value = { data: this.answer.peek().data, problem: error };
    } finally {
      this.#busy = false;
    }
    if (this.#again) {
      this.#again = false;
      await this.read();
    }
  }
}

const readers = new Map<string, Reader>();

/** An answer that nothing shows is kept this long: the next view often shows it too. */
const keptMs = 2000;

function forget(address: string, reader: Reader): void {
  if (reader.users === 0 && readers.get(address) === reader) readers.delete(address);
}

function readerOf(call: Call): Reader {
  const known = readers.get(call.address);
  if (known) return known;
  const made = new Reader(call);
  readers.set(call.address, made);
  return made;
}

/**
 * The answer to a GET, kept up to date while a component shows it. Components that show the same address share it.
 * @param call null: nothing is read
 */
export function useLive<R>(call: Call<R> | null, pace: Pace = 'tick'): Live<R> {
  const address = call?.address ?? null;
  const reader = call === null ? null : readerOf(call);
  useEffect(() => {
    if (reader === null || address === null) return undefined;
    readers.set(address, reader);
    reader.users += 1;
    const unwant = reader.want(pace);
    void reader.read();
    return () => {
      reader.users -= 1;
      unwant();
      setTimeout(() => forget(address, reader), keptMs);
    };
  }, [address, pace]);
  return (reader?.answer.value ?? { data: undefined, problem: null }) as Live<R>;
}

/** Reads everything on the page again: after an action, and when the daemon is back. */
export function refresh(): void {
  for (const reader of readers.values()) if (reader.users > 0) void reader.read();
}

function readDue(ticked: boolean): void {
  if (document.hidden || link.peek().state === 'lost') return;
  const nowMs = performance.now();
  for (const reader of readers.values()) if (reader.users > 0 && reader.isDue(nowMs, ticked)) void reader.read();
}

/** Starts reading at ticks and by the clock. @param streamed false: there is no stream at this address, so time alone counts */
export function startLive(streamed: boolean): void {
  setInterval(() => readDue(!streamed), 500);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) refresh();
  });
  effect(() => {
    if (tick.value >= 0) readDue(true);
  });
  effect(() => {
    if (link.value.state === 'open') refresh();
  });
}
