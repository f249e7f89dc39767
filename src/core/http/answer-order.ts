/** What the sockets of an HTTP server still owe, for answers that are written by hand beside those of the server. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const newest = Symbol('newest answer');
/** A field of the socket: a weak map would cost a hot read more than everything else that is done for it here. */
interface Noted {
  [newest]?: ServerResponse;
}
const unreadLimits = new WeakMap<Duplex, number>();

/** Notes an answer that is to come; called once for each request, in the order of their arrival. */
export function noteAnswer(response: ServerResponse): void {
  (response.req.socket as Noted)[newest] = response;
}

/** The answer to the newest request of a connection, given or not. Answers leave in order: with it all others are given. */
export function newestAnswer(socket: Duplex): ServerResponse | undefined {
  return (socket as Noted)[newest];
}

/** Runs at once, or when the newest answer has left: never when the connection is gone before that. */
export function whenAnswered(socket: Duplex, run: () => void): void {
  const last = newestAnswer(socket);
  if (!last || last.closed) run();
  else last.once('close', run);
}

/** From now on, a client that takes nothing of its answer for so long is cut off: what it does not read stays in memory. */
export function limitUnread(socket: Duplex, timeoutMs: number): void {
  unreadLimits.set(socket, timeoutMs);
}

/** The limit of a connection, ms; undefined where there is none. */
export function unreadLimitMs(socket: Duplex): number | undefined {
  return unreadLimits.get(socket);
}
