/** Long replies in JSON, written piece by piece while they are sent, so that no tick or master waits for one of them. */
import { nested } from '../common/members.ts';
import type { Kind } from '../common/members.ts';
import { z } from '../description/zod.ts';
import { JsonText, StreamedReply } from './route.ts';

/** Characters of a piece: about a millisecond of work for what the lists of this interface hold. */
const pieceLength = 16 * 1024;

/** A list of a reply whose items are made when it is their turn. */
export class LaterItems<T> {
  readonly items: Iterable<T>;

  constructor(items: Iterable<T>) {
    this.items = items;
  }
}

/** A list of the results of `make`, called for each item at its turn. */
export function eachLater<T, R>(items: Iterable<T>, make: (item: T) => R): LaterItems<R> {
  return new LaterItems(made(items, make));
}

function* made<T, R>(items: Iterable<T>, make: (item: T) => R): Generator<R> {
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
export type InPieces<T> = T extends readonly (infer Item)[]
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

/** Text in ASCII, as pieces of a streamed reply are: JSON escapes the rest. */
export function asciiJson(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Texts joined to pieces of some length, so that a piece is worth its turn. */
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
 * A reply of any length: it is sent whole if it fits into one piece, else piece by piece. Late lists show the state at
 * their turn, unless their items are of one moment.
 */
export function replyInPieces<T>(reply: InPieces<T>): JsonText<T> | StreamedReply {
  const pieces = joined(texts(reply));
  const first = String(pieces.next().value);
  if (first.length < pieceLength) return new JsonText(Buffer.from(first));
  return new StreamedReply('application/json', inAscii(first, pieces));
}
