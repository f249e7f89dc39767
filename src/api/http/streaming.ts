/** Long replies, written piece by piece while they are sent, so that no tick or master waits for one of them. */
import type { ServerResponse } from 'node:http';
import { watchUnread } from '../../core/http/connections.ts';
import { commonHeaders } from '../../core/http/problem.ts';
import { Turns } from '../../core/turns.ts';
import { endingOf, requestId, startUnreadLimit } from './reply.ts';
import { JsonText, StreamedReply } from './route.ts';
import { nested } from '../common/members.ts';
import type { Kind } from '../common/members.ts';
import { z } from '../description/zod.ts';

const turns = new Turns();

/**
 * A turn of the event loop for this caller alone: many long answers together delay ticks and other requests no more than
 * one does.
 */
function separateTurn(): Promise<void> {
  return turns.take(
    () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
  );
}

/** Makes each piece in its own turn; a consumer that stops early ends the iterator. */
export async function* inTurns<Piece>(pieces: Iterable<Piece>): AsyncGenerator<Piece> {
  const iterator = pieces[Symbol.iterator]();
  try {
    for (;;) {
      await separateTurn();
      const next = iterator.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    iterator.return?.();
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
 * Sends a body while it is made, no faster than the client reads: pieces are made while the send buffer has room. Ends
 * when the client disconnects. HEAD gets the headers alone, and no piece is made.
 * @throws what a piece throws; the connection has then ended in the middle of the answer
 */
export function streamReply(
  response: ServerResponse,
  status: number,
  { type, pieces }: StreamedReply,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  return streamPieces(response, status, { type, pieces: inTurns(pieces) }, headers);
}

/** As `streamReply`, of pieces that come from elsewhere. */
export async function streamPieces(
  response: ServerResponse,
  status: number,
  { type, pieces }: { readonly type: string; readonly pieces: AsyncIterable<string | Buffer> },
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
    for await (const piece of pieces) {
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

/** Characters of a piece: about a millisecond of work for the lists of this interface. */
const pieceLength = 16 * 1024;

/** A list of a reply whose items are made when it is their turn. */
class LaterItems<T> {
  readonly items: Iterable<T>;

  constructor(items: Iterable<T>) {
    this.items = items;
  }
}

/** A list of the results of `make`, called for each item at its turn. */
export function eachLater<T, R>(items: Iterable<T>, make: (item: T) => R): LaterItems<R> {
  return new LaterItems(mapped(items, make));
}

function* mapped<T, R>(items: Iterable<T>, make: (item: T) => R): Generator<R> {
  for (const item of items) yield make(item);
}

/** A member of a table: a list whose items are made when it is their turn. Such replies go through `replyInPieces`. */
export const listInPieces = <V, T, C>({ schema, reply }: Kind<V, T, C>) =>
  nested<Iterable<V>, readonly T[], C>({
    schema: () => z.array(schema()),
    reply: (values, context) =>
      eachLater(values, (value) => (reply ? reply(value, context) : value)) as unknown as readonly T[],
  });

/** A reply in which lists, at any depth of objects and of such lists, may be made later. */
type InPieces<T> = T extends readonly (infer Item)[]
  ? T | LaterItems<InPieces<Item>>
  : T extends object
    ? { readonly [Name in keyof T]: InPieces<T[Name]> }
    : T;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if a value is or contains a list that is built later. */
function isLate(value: unknown): boolean {
  return value instanceof LaterItems || (isPlainObject(value) && Object.values(value).some(isLate));
}

/** JSON of a value, item by item of its late lists. */
function* texts(value: unknown): Generator<string> {
  if (value instanceof LaterItems) {
    let before = '[';
    for (const item of value.items as Iterable<unknown>) {
      yield before;
      yield* texts(item);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else if (isLate(value)) {
    let before = '{';
    for (const [name, member] of Object.entries(value as object)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* texts(member);
      before = ',';
    }
    yield '}';
  } else {
    yield JSON.stringify(value);
  }
}

/** JSON in ASCII, as pieces of a streamed reply must be: other characters are escaped. */
export function asciiJson(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Texts joined to pieces of at least `length` characters but for the last one, so that a piece is worth its turn. */
export function* joined(parts: Iterable<string>, length = pieceLength): Generator<string> {
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length < length) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function* inAscii(first: string, rest: Iterable<string>): Generator<string> {
  yield asciiJson(first);
  for (const piece of rest) yield asciiJson(piece);
}

/**
 * A reply of any length: it is sent whole if it fits into one piece, else piece by piece. Items of a late list show
 * the state at their turn, unless the list was captured before.
 */
export function replyInPieces<T>(reply: InPieces<T>): JsonText<T> | StreamedReply {
  const pieces = joined(texts(reply));
  const first = String(pieces.next().value);
  if (first.length < pieceLength) return new JsonText(Buffer.from(first));
  return new StreamedReply('application/json', inAscii(first, pieces));
}
