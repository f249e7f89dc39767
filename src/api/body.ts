import type { IncomingMessage } from 'node:http';
import { HttpProblem, invalid } from './errors.ts';

const maxDepth = 32;
const maxItems = 10_000;
const maxStringLength = 1_000;
/** Bytes beyond the limit that are still taken in, so that the client reads the answer instead of a reset. */
const drainBytes = 1024 * 1024;
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype']);

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** Of a repeated header only the first is in `headers`. */
function isRepeated(request: IncomingMessage, header: string): boolean {
  return request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === header).length > 1;
}

function checkMediaType(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem('unsupported-media-type', 'Content-Encoding is not supported; send the body as it is.');
  }
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice(8).replaceAll('"', '');
  if (isRepeated(request, 'content-type') || type !== 'application/json' || (charset !== undefined && charset !== 'utf-8' && charset !== 'us-ascii')) {
    throw new HttpProblem('unsupported-media-type', 'The body must have the Content-Type application/json in UTF-8.');
  }
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = (close: boolean) => new HttpProblem('too-large', `The body is larger than ${limit} bytes.`, { close });
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit + drainBytes) return Promise.reject(tooLarge(true));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size > limit + drainBytes) reject(tooLarge(true));
    });
    request.once('end', () => {
      if (size > limit) reject(tooLarge(false));
      else resolve(Buffer.concat(chunks));
    });
    // an aborted request has nobody to answer to; the problem only ends the handler
    request.once('close', () => reject(new HttpProblem('malformed-request', 'The request was cut off.', { close: true })));
  });
}

/**
 * Bounds that hold for every body whatever its schema.
 * @throws HttpProblem `validation`
 */
function checkShape(value: unknown, pointer = '', depth = 0): void {
  const refuse = (detail: string): never => { throw invalid('body', pointer, detail); };
  if (typeof value === 'string' && value.length > maxStringLength) refuse(`must have at most ${maxStringLength} characters`);
  if (typeof value === 'number' && !Number.isFinite(value)) refuse('must be a finite number');
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) refuse(`must not be nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) {
    if (value.length > maxItems) refuse(`must have at most ${maxItems} items`);
    value.forEach((item, index) => checkShape(item, `${pointer}/${index}`, depth + 1));
    return;
  }
  const entries = Object.entries(value);
  if (entries.length > maxItems) refuse(`must have at most ${maxItems} members`);
  for (const [name, member] of entries) {
    const path = `${pointer}/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (forbiddenNames.has(name)) throw invalid('body', path, 'is not a permitted member name');
    if (name.length > maxStringLength) throw invalid('body', path, 'has too long a name');
    checkShape(member, path, depth + 1);
  }
}

/** Counts how often each member name stands in a JSON value. */
function countNames(value: unknown, counts: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) counts.set(name, (counts.get(name) ?? 0) + 1);
    countNames(member, counts);
  }
}

/**
 * The parser keeps the last of several members of one name, so that a reader of the text may see another request than
 * what is carried out. A name that stands in the text more often than in the value was repeated.
 * @throws HttpProblem `validation`
 */
function checkUniqueNames(text: string, value: unknown): void {
  const counts = new Map<string, number>();
  countNames(value, counts);
  for (const [, token = '""', colon] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)/g)) {
    if (colon === '') continue;
    const name = String(JSON.parse(token));
    const left = (counts.get(name) ?? 0) - 1;
    if (left < 0) throw invalid('body', `/${name.slice(0, 100)}`, 'is given more than once in one object');
    counts.set(name, left);
  }
}

/**
 * The JSON body of a request; `{}` when there is neither body nor Content-Type.
 * @throws HttpProblem `unsupported-media-type`, `too-large`, `malformed-json`, `validation`
 */
export async function readJsonBody(request: IncomingMessage, limit: number): Promise<unknown> {
  if (!hasBody(request) && request.headers['content-type'] === undefined) return {};
  checkMediaType(request);
  const bytes = await readBytes(request, limit);
  let text: string;
  let value: unknown;
  try {
    // a byte order mark, which some editors put in front of every file, is passed over
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new HttpProblem('malformed-json', bytes.length === 0 ? 'The body is empty.' : 'The body is not valid JSON in UTF-8.');
  }
  checkShape(value);
  checkUniqueNames(text, value);
  return value;
}
