/** Long answers that are made while they are sent. */
import type { ServerResponse } from 'node:http';
import { watchUnread } from '../../core/http/connections.ts';
import { commonHeaders } from '../../core/http/problem.ts';
import { Turns } from '../../core/turns.ts';
import { endingOf, requestId, startUnreadLimit } from './reply.ts';
import type { StreamedReply } from './route.ts';

const turns = new Turns();

/**
 * A turn of the event loop for this caller alone: many long answers together delay ticks and other requests no more than
 * one does.
 */
function ownTurn(): Promise<void> {
  return turns.take(
    () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
  );
}

/** Makes each piece in its own turn; a consumer that stops early ends the iterator. */
export async function* inTurns<Piece>(pieces: Iterable<Piece>): AsyncGenerator<Piece> {
  const left = pieces[Symbol.iterator]();
  try {
    for (;;) {
      await ownTurn();
      const next = left.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    left.return?.();
  }
}

/** A function, so that the compiler does not carry a check over an `await`. */
const isGone = (response: ServerResponse) => response.destroyed;

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/**
 * Sends a body while it is made, no faster than the client reads: each piece is made when the previous one has left for
 * the network. Ends when the client disconnects. HEAD gets the headers alone, and no piece is made.
 * @throws what a piece throws; the connection has then ended in the middle of the answer
 */
export async function streamReply(
  response: ServerResponse,
  status: number,
  { type, pieces }: StreamedReply,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (response.headersSent || isGone(response)) return;
  response.writeHead(status, {
    'Content-Type': type,
    ...commonHeaders,
    'X-Request-Id': requestId(response.req),
    ...headers,
  });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  if (response.socket) startUnreadLimit(response.socket);
  try {
    for await (const piece of inTurns(pieces)) {
      // after a close during the turn neither `drain` nor another `close` follows
      if (isGone(response)) return;
      if (!(typeof piece === 'string' ? response.write(piece, 'latin1') : response.write(piece))) {
        if (response.socket) watchUnread(response.socket);
        await drained(response);
      }
      if (isGone(response)) return;
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
  response.end(endingOf(type));
}
