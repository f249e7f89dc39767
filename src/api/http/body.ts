import type { IncomingMessage } from 'node:http';
import { pointerStep } from '../../core/errors.ts';
import { jsonPlace } from '../../core/json-place.ts';
import { runWhole } from '../../core/turns.ts';
import { HttpProblem, invalid } from './errors.ts';

const maxDepth = 32;
const maxItems = 10_000;
/** Three times the points of a device: checking members against a schema costs much more than parsing them. */
const maxMembers = 4_000;
/** Maximum members of an import, which no schema checks as a whole. */
const maxImportMembers = 400_000;
/** Maximum bytes of an import. */
export const maxImportBytes = 5 * 1024 * 1024;
/** maximum characters of a text, unless the operation sets another */
const maxStringLength = 1_000;
/** Values or tokens of a body that are checked in a row; they take about a millisecond. */
const checkedPerPart = 2_000;
/** characters of a member's name in an issue */
const shownNameLength = 100;
/** Bytes read beyond the limit, so that the client gets the answer instead of a reset. */
const drainBytes = 1024 * 1024;
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype']);

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** True if a header is repeated: `headers` holds only the first one, `rawHeaders` all. */
function isRepeated(request: IncomingMessage, header: string): boolean {
  return request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === header).length > 1;
}

function checkMediaType(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem('unsupported-media-type', 'Content-Encoding is not supported; send the body as it is.');
  }
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (
    isRepeated(request, 'content-type') ||
    type !== 'application/json' ||
    (charset !== undefined && charset !== 'utf-8' && charset !== 'us-ascii')
  ) {
    throw new HttpProblem('unsupported-media-type', 'The body must have the Content-Type application/json in UTF-8.');
  }
}

export function tooLarge(limit: number, close = false): HttpProblem {
  return new HttpProblem('too-large', `The body is larger than ${limit} bytes.`, { close });
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit + drainBytes) return Promise.reject(tooLarge(limit, true));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size > limit + drainBytes) reject(tooLarge(limit, true));
    });
    request.once('end', () => {
      if (size > limit) reject(tooLarge(limit));
      else resolve(Buffer.concat(chunks));
    });
    // the answer to an aborted request goes nowhere; the problem only ends the handler
    request.once('close', () => {
      if (!request.complete) reject(new HttpProblem('malformed-request', 'The request was cut off.', { close: true }));
    });
  });
}

/** Makes the JSON pointer of a value, which only a refusal needs. */
type Pointer = () => string;

/**
 * Checks the bounds of every body, whatever its schema; yields when other work may run.
 * @throws HttpProblem `validation`
 */
function* checkingShape(body: unknown, maxTextLength: number, memberLimit: number): Generator<undefined, void> {
  let members = 0;
  let checked = 0;
  function count(more: number): void {
    members += more;
    if (members > memberLimit) {
      const detail = `must have at most ${memberLimit} members in all objects together; a list or an empty object counts as one`;
      throw invalid('body', '', detail);
    }
  }
  function checkName(name: string, pointer: Pointer): void {
    if (forbiddenNames.has(name)) throw invalid('body', pointer(), 'is not a permitted member name');
    if (name.length > maxStringLength) throw invalid('body', pointer(), 'has too long a name');
  }
  function checkPlain(value: unknown, pointer: Pointer): void {
    if (typeof value === 'string' && value.length > maxTextLength)
      throw invalid('body', pointer(), `must have at most ${maxTextLength} characters`);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw invalid('body', pointer(), 'must be a finite number');
  }
  function* check(holder: object, pointer: Pointer, depth: number): Generator<undefined, void> {
    if (depth >= maxDepth) throw invalid('body', pointer(), `must not be nested deeper than ${maxDepth} levels`);
    const isList = Array.isArray(holder);
    if (isList && holder.length > maxItems) throw invalid('body', pointer(), `must have at most ${maxItems} items`);
    const names = isList ? null : Object.keys(holder);
    const size = isList ? holder.length : (names?.length ?? 0);
    // an empty object costs the schema as much as a member, and takes only three characters
    count(isList ? 1 : Math.max(1, size));
    for (let i = 0; i < size; i += 1) {
      const name = names?.[i] ?? i;
      const value = (holder as Readonly<Record<string | number, unknown>>)[name];
      // most values of long bodies
      if (isList && Number.isFinite(value)) continue;
      const inner = () => pointer() + pointerStep(String(name).slice(0, shownNameLength));
      if (typeof name === 'string') checkName(name, inner);
      if (typeof value === 'object' && value !== null) yield* check(value, inner, depth + 1);
      else checkPlain(value, inner);
      checked += 1;
      if (checked % checkedPerPart === 0) yield;
    }
  }
  if (typeof body === 'object' && body !== null) yield* check(body, () => '', 0);
  else checkPlain(body, () => '');
}

/** An object or array that encloses the current position in the text. */
interface Place {
  /** null in an array */
  readonly names: Set<string> | null;
  /** member name or position */
  step: string | number;
}

const pointerTo = (places: readonly Place[]) =>
  places.map(({ step }) => pointerStep(String(step).slice(0, shownNameLength))).join('');

/**
 * Refuses duplicate member names: the parser keeps the last one, so another reader of the text could see another
 * request than the one carried out. Yields when other work may run.
 * @param text valid JSON
 * @throws HttpProblem `validation`
 */
function* checkingUniqueNames(text: string): Generator<undefined, void> {
  const places: Place[] = [];
  let checked = 0;
  // a list without texts and other holders is one token: it has no names
  for (const [token, name] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(?:\s*:)?|\[[^"{}[\]]*\]|[{}[\],]/g)) {
    const place = places.at(-1);
    if (token === '{') places.push({ names: new Set(), step: '' });
    else if (token === '[') places.push({ names: null, step: 0 });
    else if (token === '}' || token === ']') places.pop();
    else if (token === ',' && typeof place?.step === 'number') place.step += 1;
    else if (name !== undefined && name !== token && place?.names) {
      place.step = String(JSON.parse(name));
      if (place.names.has(place.step))
        throw invalid('body', pointerTo(places), 'is given more than once in one object');
      place.names.add(place.step);
    }
    checked += 1;
    if (checked % checkedPerPart === 0) yield;
  }
}

/**
 * The bytes of a body; undefined when there is neither body nor Content-Type.
 * @param limit bytes
 * @throws HttpProblem `unsupported-media-type`, `too-large`; `malformed-request` for a request that is cut off
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  if (!hasBody(request) && request.headers['content-type'] === undefined) return undefined;
  checkMediaType(request);
  return readBytes(request, limit);
}

/** @throws HttpProblem `malformed-json` */
function decoded(bytes: Buffer): string {
  try {
    // the decoder skips a byte order mark, which some editors put in front of every file
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HttpProblem('malformed-json', 'The body is not valid UTF-8.');
  }
}

/** @throws HttpProblem `malformed-json` with the place where the text stops being JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const place = jsonPlace(text);
    if (place === null) throw new HttpProblem('malformed-json', 'The body is not valid JSON.');
    const { line, column, expected, character } = place;
    const present = character === null ? 'the body ends' : `there is ${JSON.stringify(character)}`;
    const detail = `The body is not valid JSON: at line ${line}, column ${column} ${present}, where ${expected} must stand.`;
    throw new HttpProblem('malformed-json', detail);
  }
}

/** Limits of an operation on its body. */
export interface BodyBounds {
  /** characters of one text */
  readonly maxTextLength?: number;
  readonly isImport?: true;
  /** bytes of a body with long lists; absent: as other bodies */
  readonly maxBodyBytes?: number;
}

const membersOf = ({ isImport }: BodyBounds) => (isImport ? maxImportMembers : maxMembers);

/** Maximum bytes of a body. @param limit maximum of other bodies than imports */
export function bytesOf({ isImport, maxBodyBytes = 0 }: BodyBounds, limit: number): number {
  return Math.max(limit, isImport ? maxImportBytes : maxBodyBytes);
}

/**
 * Reads the JSON body of a request, `{}` when there is none or an empty one; yields when other work may run.
 * @throws HttpProblem `malformed-json`, `validation`
 */
export function* parsingBody(bytes: Buffer | undefined, bounds: BodyBounds = {}): Generator<undefined, unknown> {
  if (bytes === undefined || bytes.length === 0) return {};
  const text = decoded(bytes);
  const value = parsed(text);
  yield* checkingShape(value, bounds.maxTextLength ?? maxStringLength, membersOf(bounds));
  yield* checkingUniqueNames(text);
  return value;
}

/**
 * The body of a request without HTTP: a copy by way of its JSON text, so that no value is shared with the caller. `{}`
 * when there is none.
 * @param limit maximum bytes of other bodies than imports
 * @throws HttpProblem `malformed-json` for a value that has no JSON text, `too-large`, `validation`
 */
export function bodyInProcess(value: unknown, limit: number, bounds: BodyBounds = {}): unknown {
  if (value === undefined) return {};
  const text = jsonOf(value);
  const maxBytes = bytesOf(bounds, limit);
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(maxBytes);
  // `value`, since its text has null in place of numbers that are not finite
  runWhole(checkingShape(value, bounds.maxTextLength ?? maxStringLength, membersOf(bounds)));
  return JSON.parse(text);
}

/** @throws HttpProblem `malformed-json` */
function jsonOf(value: unknown): string {
  try {
    // undefined for a function or symbol, whatever its type says
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch {
    // a circular reference, a bigint or too deep nesting: refused below
  }
  throw new HttpProblem('malformed-json', 'The body is not a JSON value.');
}
