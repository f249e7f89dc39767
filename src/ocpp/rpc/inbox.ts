/**
 * Frames of one connection in the order of their arrival, one in each turn of the event loop: a central system that sends
 * many in one piece takes no time from others. While many wait no more is read.
 */
import { LoopQueue } from '../../core/turns.ts';

interface InboxOptions {
  /** @param isEarly it was there before the call ahead of it was answered */
  readonly take: (data: Buffer, isEarly: boolean) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** default: those that all connections of the process share */
  readonly turns?: Pick<LoopQueue, 'wait'>;
}

const sharedTurns = new LoopQueue();
/** Frames that are read already may still be added. */
const maxWaiting = 64;

export class Inbox {
  readonly #options: InboxOptions;
  readonly #turns: Pick<LoopQueue, 'wait'>;
  #waiting: Buffer[] = [];
  #isDue = false;
  #isPaused = false;
  /** so many of those that wait came before the last call was answered */
  #early = 0;
  #whenEmpty: (() => void) | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#turns = options.turns ?? sharedTurns;
  }

  put(data: Buffer): void {
    this.#waiting.push(data);
    if (this.#waiting.length >= maxWaiting && !this.#isPaused) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#plan();
  }

  /** The frame that is being taken is a call, and not answered yet. */
  called(): void {
    this.#early = this.#waiting.length;
  }

  /** Calls back once: at once where nothing waits, otherwise when the last frame was taken. */
  whenEmpty(act: () => void): void {
    this.#whenEmpty = act;
    this.#settle();
  }

  /** Nothing that waits is taken any more. */
  clear(): void {
    this.#waiting = [];
    this.#settle();
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    this.#turns.wait(() => {
      this.#isDue = false;
      this.#next();
    });
  }

  #next(): void {
    const data = this.#waiting.shift();
    if (data === undefined) return;
    this.#plan();
    const isEarly = this.#early > 0;
    if (isEarly) this.#early -= 1;
    this.#options.take(data, isEarly);
    this.#settle();
  }

  #settle(): void {
    if (this.#isPaused && this.#waiting.length < maxWaiting / 2) {
      this.#isPaused = false;
      this.#options.resume();
    }
    if (this.#waiting.length > 0) return;
    const act = this.#whenEmpty;
    this.#whenEmpty = null;
    act?.();
  }
}
