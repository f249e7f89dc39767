/** Answers that clients have not taken yet: they stay in memory, so that their bytes and their time are bounded. */
import type { Socket } from 'node:net';
import { peerOf } from '../net/listen.ts';
import { Sweeper } from '../net/sweeper.ts';
import type { Swept } from '../net/sweeper.ts';
import type { WallClock } from '../time/clock.ts';

export interface UnreadLimits {
  /** unread bytes of all connections together */
  readonly totalBytes: number;
  /** bytes that a client with an unread answer has to take, per second of each window */
  readonly minBytesPerS: number;
  readonly windowMs: number;
}

/** The part of a socket that is used. */
export type UnreadSocket = Pick<
  Socket,
  'writableLength' | 'bytesWritten' | 'destroyed' | 'destroy' | 'remoteAddress' | 'remotePort'
>;

export interface UnreadAnswersOptions {
  readonly limits: UnreadLimits;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly log: { info(message: string): void };
  /** calls `sweep` twice a second while there are unread answers */
  readonly sweeper?: Pick<Sweeper, 'add' | 'delete'>;
}

/** Octets taken by a client at an instant. */
interface Sample {
  readonly ms: number;
  readonly taken: number;
}

interface Entry {
  readonly sinceMs: number;
  /** octets taken at that instant */
  readonly takenBefore: number;
  windowMs: number;
  takenInWindow: number;
  /**
   * one `sampleMs` old, one twice as old: the rate is the present one, without octets taken by system buffers at the
   * begin
   */
  samples: readonly [last: Sample, earlier: Sample];
}

/** An answer must be unread for this long before its connection may give way to a new one. */
export const sampleMs = 2000;

const takenOf = ({ bytesWritten, writableLength }: UnreadSocket) => bytesWritten - writableLength;
const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

/** Watches the connections of a server whose clients have something to read, and closes those that take it too slowly. */
export class UnreadAnswers implements Swept {
  readonly #limits: UnreadLimits;
  readonly #clock: UnreadAnswersOptions['clock'];
  readonly #log: UnreadAnswersOptions['log'];
  readonly #sweeper: NonNullable<UnreadAnswersOptions['sweeper']>;
  /** oldest first */
  readonly #unread = new Map<UnreadSocket, Entry>();
  /** connections closed because their clients took too little, or for the bytes of all */
  closed = 0;

  constructor({ limits, clock, log, sweeper = new Sweeper() }: UnreadAnswersOptions) {
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
    this.#sweeper = sweeper;
  }

  /** Bytes of answers that clients have not taken. */
  get bytes(): number {
    let sum = 0;
    for (const socket of this.#unread.keys()) if (!socket.destroyed) sum += socket.writableLength;
    return sum;
  }

  /** Called when bytes of an answer wait for the client; more than one call for one socket does no harm. */
  watch(socket: UnreadSocket): void {
    if (socket.destroyed) return;
    if (!this.#unread.has(socket)) {
      const [sinceMs, taken] = [this.#clock.monotonicMs(), takenOf(socket)];
      if (this.#unread.size === 0) this.#sweeper.add(this);
      const sample = { ms: sinceMs, taken };
      this.#unread.set(socket, {
        sinceMs,
        takenBefore: taken,
        windowMs: sinceMs,
        takenInWindow: taken,
        samples: [sample, sample],
      });
    }
    this.#keepBudget(socket);
  }

  /** Forgets connections without unread bytes, and closes those that are too slow. */
  sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    const { windowMs, minBytesPerS } = this.#limits;
    for (const [socket, entry] of this.#unread) {
      if (socket.destroyed || socket.writableLength === 0) {
        this.#forget(socket);
        continue;
      }
      const [last] = entry.samples;
      if (nowMs - last.ms >= sampleMs) entry.samples = [{ ms: nowMs, taken: takenOf(socket) }, last];
      const lastMs = nowMs - entry.windowMs;
      if (lastMs < windowMs) continue;
      const taken = takenOf(socket) - entry.takenInWindow;
      if (taken < (minBytesPerS * lastMs) / 1000) {
        this.#close(socket, `it took ${taken} bytes of its answer in ${Math.round(lastMs / 1000)} s`);
      } else {
        entry.windowMs = nowMs;
        entry.takenInWindow += taken;
      }
    }
    this.#keepBudget();
  }

  /**
   * Closes the connection whose client takes its answer most slowly at present, the oldest of equals.
   * @param mayClose of these connections
   * @param why follows in the log on how slow it is
   * @returns the closed connection; undefined: none has been unread for `sampleMs`
   */
  closeSlowest(mayClose: (socket: UnreadSocket) => boolean, why: string): UnreadSocket | undefined {
    const nowMs = this.#clock.monotonicMs();
    let slowest: { socket: UnreadSocket; taken: number; ms: number } | undefined;
    for (const [socket, { samples }] of this.#unread) {
      const [, earlier] = samples;
      const [taken, ms] = [takenOf(socket) - earlier.taken, nowMs - earlier.ms];
      if (ms < sampleMs || socket.writableLength === 0 || socket.destroyed || !mayClose(socket)) continue;
      if (slowest === undefined || taken / ms < slowest.taken / slowest.ms) slowest = { socket, taken, ms };
    }
    if (slowest === undefined) return undefined;
    const { socket, taken, ms } = slowest;
    this.#close(socket, `it took ${taken} bytes of its answer in ${(ms / 1000).toFixed(1)} s ${why}`);
    return socket;
  }

  /** @param newest has only now something to read */
  #keepBudget(newest?: UnreadSocket): void {
    let bytes = this.bytes;
    while (bytes > this.#limits.totalBytes) {
      const socket = this.#oldest(newest);
      if (socket === undefined) return;
      const unreadOctets = socket.writableLength;
      this.#close(
        socket,
        `${megabytes(unreadOctets)} of ${megabytes(bytes)} MiB of answers that clients have not read are its own`,
      );
      bytes -= unreadOctets;
    }
  }

  /** The oldest connection that takes less than it has to; where none does, the oldest one. */
  #oldest(newest: UnreadSocket | undefined): UnreadSocket | undefined {
    const nowMs = this.#clock.monotonicMs();
    let oldest: UnreadSocket | undefined;
    for (const [socket, { sinceMs, takenBefore }] of this.#unread) {
      if (socket === newest || socket.writableLength === 0) continue;
      oldest ??= socket;
      const seconds = Math.max(1000, nowMs - sinceMs) / 1000;
      if (takenOf(socket) - takenBefore < this.#limits.minBytesPerS * seconds) return socket;
    }
    return oldest;
  }

  #close(socket: UnreadSocket, why: string): void {
    this.closed += 1;
    this.#log.info(`${peerOf(socket)} closed: ${why}`);
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: UnreadSocket): void {
    this.#unread.delete(socket);
    if (this.#unread.size === 0) this.#sweeper.delete(this);
  }
}
