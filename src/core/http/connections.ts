/**
 * Connections of an HTTP server: the order of their answers, unread answers, and the maximum number of connections.
 * Unread answers stay in memory, so their number of bytes and the rate of their clients are limited.
 */
import type { Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { peerOf } from '../net/listen.ts';
import { Sweeper } from '../net/sweeper.ts';
import type { Swept } from '../net/sweeper.ts';
import type { WallClock } from '../time/clock.ts';

interface UnreadLimits {
  /** unread bytes of all connections together */
  readonly totalBytes: number;
  /** minimum rate at which a client must read its answer, measured over each window */
  readonly minBytesPerS: number;
  /** length of a window */
  readonly windowMs: number;
}

/** The part of a socket that is used. */
export type UnreadSocket = Pick<
  Socket,
  'writableLength' | 'bytesWritten' | 'destroyed' | 'destroy' | 'remoteAddress' | 'remotePort'
>;

interface UnreadAnswersOptions {
  readonly limits: UnreadLimits;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly log: { info(message: string): void };
  /** calls `sweep` twice a second while there are unread answers */
  readonly sweeper?: Pick<Sweeper, 'add' | 'delete'>;
}

/** Octets that a client has taken until an instant. */
interface Sample {
  readonly ms: number;
  readonly taken: number;
}

interface Entry {
  readonly sinceMs: number;
  /** octets taken at `sinceMs` */
  readonly takenAtStart: number;
  /** monotonic ms */
  windowStartMs: number;
  takenAtWindowStart: number;
  /**
   * two samples at least `sampleMs` apart, at first equal: the rate is measured since the earlier one, so it soon
   * ignores the initial filling of system buffers
   */
  samples: readonly [last: Sample, earlier: Sample];
}

/** An answer must be unread for this long before its connection may give way to a new one. */
export const sampleMs = 2000;

const takenOf = ({ bytesWritten, writableLength }: UnreadSocket) => bytesWritten - writableLength;
const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

/** Watches the connections of a server whose clients have something to read, and closes slow connections. */
export class UnreadAnswers implements Swept {
  readonly #limits: UnreadLimits;
  readonly #clock: UnreadAnswersOptions['clock'];
  readonly #log: UnreadAnswersOptions['log'];
  readonly #sweeper: NonNullable<UnreadAnswersOptions['sweeper']>;
  /** oldest first */
  readonly #unread = new Map<UnreadSocket, Entry>();
  /**
   * connections closed because their clients took too little, because all unread answers together exceeded
   * `totalBytes`, or to make room for a new connection
   */
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

  /** To be called when bytes of an answer wait for the client, once or more for each socket. */
  watch(socket: UnreadSocket): void {
    if (socket.destroyed) return;
    if (!this.#unread.has(socket)) {
      const [sinceMs, taken] = [this.#clock.monotonicMs(), takenOf(socket)];
      if (this.#unread.size === 0) this.#sweeper.add(this);
      const sample = { ms: sinceMs, taken };
      this.#unread.set(socket, {
        sinceMs,
        takenAtStart: taken,
        windowStartMs: sinceMs,
        takenAtWindowStart: taken,
        samples: [sample, sample],
      });
    }
    this.#keepBudget(socket);
  }

  /** Forgets connections without unread bytes, and closes slow connections. */
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
      const elapsedMs = nowMs - entry.windowStartMs;
      if (elapsedMs < windowMs) continue;
      const taken = takenOf(socket) - entry.takenAtWindowStart;
      if (taken < (minBytesPerS * elapsedMs) / 1000) {
        this.#close(socket, `it took ${taken} bytes of its answer in ${Math.round(elapsedMs / 1000)} s`);
      } else {
        entry.windowStartMs = nowMs;
        entry.takenAtWindowStart += taken;
      }
    }
    this.#keepBudget();
  }

  /**
   * Closes the connection whose client takes its answer most slowly at present, the oldest of equals.
   * @param mayClose true for the connections that may be closed
   * @param why text appended to the log line after the measured rate
   * @returns the closed connection; undefined: none that may be closed has been unread for `sampleMs`
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

  /** @param newest the connection whose answer was just written; never closed by this call */
  #keepBudget(newest?: UnreadSocket): void {
    let bytes = this.bytes;
    while (bytes > this.#limits.totalBytes) {
      const socket = this.#oldest(newest);
      if (socket === undefined) return;
      const unreadOctets = socket.writableLength;
      this.#close(
        socket,
        `it has ${megabytes(unreadOctets)} of the ${megabytes(bytes)} MiB of answers that clients have not read`,
      );
      bytes -= unreadOctets;
    }
  }

  /** The oldest connection whose client reads too slowly; without such a client, the oldest connection. */
  #oldest(newest: UnreadSocket | undefined): UnreadSocket | undefined {
    const nowMs = this.#clock.monotonicMs();
    let oldest: UnreadSocket | undefined;
    for (const [socket, { sinceMs, takenAtStart }] of this.#unread) {
      if (socket === newest || socket.writableLength === 0) continue;
      oldest ??= socket;
      const seconds = Math.max(1000, nowMs - sinceMs) / 1000;
      if (takenOf(socket) - takenAtStart < this.#limits.minBytesPerS * seconds) return socket;
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

const newest = Symbol('newest answer');
/** Field of the socket: a WeakMap would cost a frequent small request more time than the rest of this file. */
interface TrackedSocket {
  [newest]?: ServerResponse;
}
interface UnreadLimit {
  readonly timeoutMs: number;
  readonly answers: UnreadAnswers | undefined;
}
const unreadLimits = new WeakMap<Duplex, UnreadLimit>();

/** Records a pending answer; called once for each request, in the order of arrival. */
export function trackAnswer(response: ServerResponse): void {
  (response.req.socket as TrackedSocket)[newest] = response;
}

/**
 * The answer to the newest request of a connection, sent or pending. Answers are sent in order, so it is sent last.
 */
export function newestAnswer(socket: Duplex): ServerResponse | undefined {
  return (socket as TrackedSocket)[newest];
}

/**
 * Runs at once if no answer is pending, else when the newest answer was sent or its connection has ended.
 */
export function whenAnswered(socket: Duplex, run: () => void): void {
  const answer = newestAnswer(socket);
  if (!answer || answer.closed) run();
  else answer.once('close', run);
}

/**
 * Limits how long a client may leave its answer unread before it is disconnected: unread answers stay in memory.
 * @param answers tracker of the server, which limits unread bytes and the rate at which they are taken
 */
export function limitUnread(socket: Duplex, timeoutMs: number, answers?: UnreadAnswers): void {
  unreadLimits.set(socket, { timeoutMs, answers });
}

/** Reports to the server of the connection that bytes of an answer wait for the client. */
export function watchUnread(socket: Socket): void {
  unreadLimits.get(socket)?.answers?.watch(socket);
}

/** The limit of a connection, ms; undefined: no limit. */
export function unreadLimitMs(socket: Duplex): number | undefined {
  return unreadLimits.get(socket)?.timeoutMs;
}

interface ConnectionCapOptions {
  readonly max: number;
  readonly monotonicMs: () => number;
  /** Called for each connection closed in favour of a new connection. @param waitedMs time since its last request */
  readonly onGaveWay: (socket: Socket, waitedMs: number) => void;
  /** unread answers of the same server */
  readonly unread: Pick<UnreadAnswers, 'closeSlowest'>;
}

/** Time that a new client has to send its request before it may be disconnected. */
export const minWaitMs = 1000;

const waitingSince = Symbol('monotonic ms of the connection or of its last request');
const upgraded = Symbol('no longer HTTP');
/** Fields of the socket: a WeakMap would cost a frequent small request more time than the rest of this file. */
interface CappedSocket {
  [waitingSince]?: number;
  [upgraded]?: true;
}

/** Marks a connection as one of another protocol, which closes it by its own rules. It still counts for the maximum. */
export function leaveHttp(socket: object): void {
  (socket as CappedSocket)[upgraded] = true;
}

/** True if the server waits for a request of the client, or for the rest of a request. */
function isWaiting(socket: Socket): boolean {
  const answer = newestAnswer(socket);
  return answer === undefined || answer.closed || !answer.req.complete;
}

/**
 * The maximum number of HTTP connections: at the maximum, the client that has kept the server waiting longest is
 * disconnected, or without such a client the one that reads its answer most slowly. `maxConnections` of a server would
 * refuse every new connection instead, and idle connections would keep every slot.
 */
export class ConnectionCap {
  readonly #options: ConnectionCapOptions;
  readonly #open = new Set<Socket>();

  constructor(options: ConnectionCapOptions) {
    this.#options = options;
  }

  /** All open connections, upgraded ones included. */
  get open(): ReadonlySet<Socket> {
    return this.#open;
  }

  /** Adds a new connection; at the maximum it closes an idle or slow one, or without such a connection the new one. */
  admit(socket: Socket): void {
    const nowMs = this.#options.monotonicMs();
    if (this.#open.size >= this.#options.max && !this.#makeRoom(nowMs)) {
      socket.destroy();
      return;
    }
    (socket as CappedSocket)[waitingSince] = nowMs;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Counts the waiting time of a connection from now, the begin of a request. */
  requestBegan(socket: Socket): void {
    (socket as CappedSocket)[waitingSince] = this.#options.monotonicMs();
  }

  #makeRoom(nowMs: number): boolean {
    const { max, onGaveWay, unread } = this.#options;
    const [idle, since] = this.#longestWaiting();
    if (idle === undefined || nowMs - since < minWaitMs) {
      const isOurs = (socket: object) =>
        this.#open.has(socket as Socket) && (socket as CappedSocket)[upgraded] !== true;
      const slow = unread.closeSlowest(isOurs, `and all ${max} HTTP connections are taken`);
      return slow !== undefined && this.#open.delete(slow as Socket);
    }
    this.#open.delete(idle);
    onGaveWay(idle, nowMs - since);
    idle.destroy();
    return true;
  }

  #longestWaiting(): [socket: Socket | undefined, sinceMs: number] {
    let longestWaiting: Socket | undefined;
    let sinceMs = Infinity;
    for (const socket of this.#open) {
      const { [waitingSince]: since = Infinity, [upgraded]: other = false } = socket as CappedSocket;
      if (since < sinceMs && !other && isWaiting(socket)) [longestWaiting, sinceMs] = [socket, since];
    }
    return [longestWaiting, sinceMs];
  }
}
