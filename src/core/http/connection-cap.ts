/**
 * The maximum number of HTTP connections: when it is reached, the client goes that keeps the server waiting longest, or
 * without such a client the one that reads its answer most slowly.
 */
import type { Socket } from 'node:net';
import { newestAnswer } from './answer-order.ts';
import type { UnreadAnswers } from './unread-answers.ts';

export interface ConnectionCapOptions {
  readonly max: number;
  readonly monotonicMs: () => number;
  /** Told of each connection that was closed for another one. @param waitedMs for how long it had asked for nothing */
  readonly onGaveWay: (socket: Socket, waitedMs: number) => void;
  /** of the same server */
  readonly unread: Pick<UnreadAnswers, 'closeSlowest'>;
}

/** A client that has just connected must have time to send its request. */
export const minWaitMs = 1000;

const waitingSince = Symbol('monotonic ms of the connection or of its last request');
const upgraded = Symbol('no longer HTTP');
/** Fields of the socket: a weak map would cost a hot read more than the rest of this file. */
interface CappedSocket {
  [waitingSince]?: number;
  [upgraded]?: true;
}

/** From here on the connection belongs to another protocol, whose own rules close it. It still counts. */
export function leaveHttp(socket: object): void {
  (socket as CappedSocket)[upgraded] = true;
}

/** True if the server waits for the client: for a request, or for the rest of one. */
function isWaiting(socket: Socket): boolean {
  const last = newestAnswer(socket);
  return last === undefined || last.closed || !last.req.complete;
}

/** Replaces `maxConnections` of a server, which refuses every new connection at the cap: idle ones would hold it. */
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

  /** Takes a new connection in; at the cap one that waits or reads slowly gives way, or else the new one is closed. */
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

  /** A request has begun: the time of a connection that waits runs from its last one. */
  asked(socket: Socket): void {
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
