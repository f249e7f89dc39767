/** The pending answers of each socket of an HTTP server, so that answers written by hand keep the order. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UnreadAnswers } from './unread-answers.ts';

const newest = Symbol('newest answer');
/** The answer is a field of the socket: a WeakMap would cost a hot read more than all other work in this file. */
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
 * The answer to the newest request of a connection, sent or pending. Answers leave in order, so this one leaves last.
 */
export function newestAnswer(socket: Duplex): ServerResponse | undefined {
  return (socket as TrackedSocket)[newest];
}

/** Runs at once, or when the newest answer has left; not at all when the connection ends first. */
export function whenAnswered(socket: Duplex, run: () => void): void {
  const last = newestAnswer(socket);
  if (!last || last.closed) run();
  else last.once('close', run);
}

/**
 * Limits how long a client may leave its answer unread before it is disconnected: unread answers stay in memory.
 * @param answers tracker of the server, which limits unread bytes and the rate at which they are taken
 */
export function limitUnread(socket: Duplex, timeoutMs: number, answers?: UnreadAnswers): void {
  unreadLimits.set(socket, { timeoutMs, answers });
}

/** Tells the server of the connection that bytes of an answer wait for the client. */
export function watchUnread(socket: Socket): void {
  unreadLimits.get(socket)?.answers?.watch(socket);
}

/** The limit of a connection, ms; undefined: no limit. */
export function unreadLimitMs(socket: Duplex): number | undefined {
  return unreadLimits.get(socket)?.timeoutMs;
}
