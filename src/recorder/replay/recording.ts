/** Reads a recording written by `format.ts`. */
import { Buffer } from 'node:buffer';
import { SimError } from '../../core/errors.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import type { WireDirection } from '../../core/wire/wire-log.ts';
import { recordingFormat } from '../format.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A message of a recording. */
export interface RecordedMessage {
  readonly id: number;
  /** ms since the epoch */
  readonly wallMs: number;
  /** simulated seconds since the start of the recording */
  readonly simS: number;
  readonly protocol: string;
  readonly key: string;
  readonly direction: WireDirection;
  readonly peer: string;
  readonly deviceIndex: number | null;
  readonly kind: string;
  readonly cut: boolean;
  readonly raw: Buffer;
  readonly details: Members;
}

export interface Recording {
  readonly header: Members;
  /** oldest first */
  readonly messages: readonly RecordedMessage[];
}

/** Maximum number of characters in a line. */
const maxLine = 8 * 1024 * 1024;
/** Maximum number of entries in a recording. */
const maxEntries = 2_000_000;

function wrong(line: number, detail: string): SimError {
  return new SimError('CONFIG_INVALID', `line ${line} of the recording ${detail}`);
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function membersOf(text: string, line: number): Members {
  if (text.length > maxLine) throw wrong(line, `has more than ${maxLine} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong(line, 'is no JSON');
  }
  if (!isMembers(value)) throw wrong(line, 'is not a JSON object');
  return value;
}

function checkHeader(header: Members): Members {
  if (header.recording !== 'derbench') throw wrong(1, 'is not the header of a recording of derbench');
  if (header.format !== recordingFormat)
    throw wrong(1, `has the format ${JSON.stringify(header.format)}; this version reads ${recordingFormat}`);
  return header;
}

function textOf(entry: Members, name: string, line: number): string {
  const value = entry[name];
  if (typeof value !== 'string') throw wrong(line, `has no text in ${name}`);
  return value;
}

function numberOf(entry: Members, name: string, line: number): number {
  const value = entry[name];
  if (typeof value !== 'number') throw wrong(line, `has no number in ${name}`);
  return value;
}

const unpadded = (base64: string) => base64.replace(/={1,2}$/, '');

/** Octets of `raw`. */
function octetsOf(entry: Members, encoding: 'utf8' | 'base64', line: number): Buffer {
  const text = textOf(entry, 'raw', line);
  const octets = Buffer.from(text, encoding);
  // Node ignores characters that are not base64
  if (encoding === 'base64' && unpadded(octets.toString('base64')) !== unpadded(text))
    throw wrong(line, 'has a raw that is no base64');
  return octets;
}

function messageOf(entry: Members, line: number): RecordedMessage {
  const direction = wireDirections.find((name) => name === entry.direction);
  if (direction === undefined) throw wrong(line, 'has a direction that is not in or out');
  const encoding = textOf(entry, 'encoding', line);
  if (encoding !== 'utf8' && encoding !== 'base64') throw wrong(line, 'has an encoding that is not utf8 or base64');
  const index = entry.device_index;
  return {
    id: numberOf(entry, 'id', line),
    wallMs: numberOf(entry, 'wall_ms', line),
    simS: numberOf(entry, 'sim_s', line),
    protocol: textOf(entry, 'protocol', line),
    key: textOf(entry, 'key', line),
    direction,
    peer: textOf(entry, 'peer', line),
    deviceIndex: typeof index === 'number' ? index : null,
    kind: textOf(entry, 'kind', line),
    cut: entry.cut === true,
    raw: octetsOf(entry, encoding, line),
    details: isMembers(entry.details) ? entry.details : {},
  };
}

/**
 * Lines of a text in pieces, without line ends.
 * @throws SimError CONFIG_INVALID for a line that is too long, before it is read whole
 */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  let count = 0;
  for await (const piece of pieces) {
    const lines = (rest + piece).split(/\r?\n/);
    rest = lines.pop() ?? '';
    count += lines.length;
    yield* lines;
    if (rest.length > maxLine) throw wrong(count + 1, `has more than ${maxLine} characters`);
  }
  if (rest !== '') yield rest;
}

/**
 * @param lines without line ends; empty lines and a byte order mark before the first are skipped
 * @throws SimError CONFIG_INVALID with the line that is invalid
 */
export async function readRecording(lines: AsyncIterable<string> | Iterable<string>): Promise<Recording> {
  let header: Members | null = null;
  const messages: RecordedMessage[] = [];
  let line = 0;
  for await (const rawLine of lines) {
    line += 1;
    const text = line === 1 ? rawLine.replace(/^\uFEFF/, '') : rawLine;
    if (text === '') continue;
    const members = membersOf(text, line);
    if (header === null) header = checkHeader(members);
    else messages.push(messageOf(members, line));
    if (messages.length > maxEntries) throw wrong(line, `is beyond ${maxEntries} entries`);
  }
  if (header === null) throw wrong(1, 'is missing: the recording is empty');
  return { header, messages };
}
