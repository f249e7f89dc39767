/** Long answers, made while they are sent. */
import type { ServerResponse } from 'node:http';
import { commonHeaders } from '../../core/http/problem.ts';
import { Turns } from '../../core/turns.ts';
import { beginLimit, requestId } from './reply.ts';
import type { PiecesReply } from './route.ts';

const turns = new Turns();

/**
 * A turn of the event loop that no other caller has: many long answers at once hold up ticks and other requests no longer
 * than one of them does.
 */
function ownTurn(): Promise<void> {
  return turns.take(
    () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
  );
}

/** Each piece is made in its own turn. */
async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
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

/** What is behind a wait knows nothing of what was so before it. */
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
 * Sends a body as it is made, no faster than the client takes it: the next piece is made when the one before has left
 * for the network. Stops when the client goes away. HEAD has the headers alone, for which no piece is made.
 * @throws what a piece throws; the connection has then ended in the middle of the answer
 */
export async function sendPieces(
  response: ServerResponse,
  status: number,
  { type, pieces }: PiecesReply,
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
  if (response.socket) beginLimit(response.socket);
  try {
    for await (const piece of inTurns(pieces)) {
      // gone during its turn: there will be neither a drain nor another close
      if (isGone(response)) return;
      if (!response.write(piece, 'latin1')) await drained(response);
      if (isGone(response)) return;
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
  response.end();
}
