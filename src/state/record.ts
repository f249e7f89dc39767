/**
 * Records of the journal: one line of text each, `<CRC-32> {"n":12,"slot":"ocpp/CP-1/...","append":[...]}`. Numbers
 * ascend without gaps, so that a lost line is noticed as a changed one is.
 */
import { crc32 } from 'node:zlib';

/** The form of the files; a reader migrates older ones and refuses newer ones. */
export const formatVersion = 1;

export type Change = 'append' | 'replace';

/** State at the end of the readable records. */
export interface Replay {
  /** JSON texts of each slot */
  readonly slots: Map<string, string[]>;
  /** number of the last record */
  readonly last: number;
  /** octets up to the end of the last readable record */
  readonly goodBytes: number;
  /** version of the form that the file says */
  readonly version: number;
  /**
   * state of what follows the readable records; null: nothing does. `torn`: a write that did not end; `damaged`: records
   * that were whole are lost, or the file is none of ours
   */
  readonly damage: 'torn' | 'damaged' | null;
}

const checksum = (text: string) => crc32(text).toString(16).padStart(8, '0');
const lineOf = (text: string) => `${checksum(text)} ${text}\n`;

/** The first line of a journal. */
export const headLine = (number: number): string => lineOf(`{"n":${number},"derbench_state":${formatVersion}}`);

/** @param texts JSON of the values */
export const changeLine = (number: number, slot: string, change: Change, texts: readonly string[]): string =>
  lineOf(`{"n":${number},"slot":${JSON.stringify(slot)},"${change}":[${texts.join(',')}]}`);

interface JournalRecord {
  readonly n: number;
  /** of the first line */
  readonly derbench_state?: number;
  readonly slot?: string;
  readonly append?: readonly unknown[];
  readonly replace?: readonly unknown[];
}

/** null: the line was not written whole, or has changed since */
function parseLine(line: string): JournalRecord | null {
  const text = line.slice(9);
  if (line[8] !== ' ' || checksum(text) !== line.slice(0, 8)) return null;
  return JSON.parse(text) as JournalRecord;
}

function apply(slots: Map<string, string[]>, { slot, append, replace }: JournalRecord): void {
  if (slot === undefined) return;
  const texts = (append ?? replace ?? []).map((value) => JSON.stringify(value));
  const list = slots.get(slot);
  if (replace || !list) slots.set(slot, texts);
  else for (const text of texts) list.push(text);
}

/** The lines of a file, with the place after each. */
function* linesOf(data: Buffer, start = 0): Generator<readonly [line: string, end: number]> {
  for (let from = start; from < data.length; ) {
    const end = data.indexOf(10, from);
    if (end < 0) return;
    yield [data.toString('utf8', from, end), end + 1];
    from = end + 1;
  }
}

/** Reads a journal up to the first record that is missing or damaged. */
export function replay(data: Buffer): Replay {
  const slots = new Map<string, string[]>();
  let [last, goodBytes, version] = [-1, 0, formatVersion];
  for (const [line, end] of linesOf(data)) {
    const record = parseLine(line);
    const isHead = record?.derbench_state !== undefined;
    if (record === null || isHead !== (goodBytes === 0) || (!isHead && record.n !== last + 1)) break;
    version = record.derbench_state ?? version;
    apply(slots, record);
    last = record.n;
    goodBytes = end;
  }
  return { slots, version, last, goodBytes, damage: damageOf(data, goodBytes) };
}

function damageOf(data: Buffer, goodBytes: number): Replay['damage'] {
  if (goodBytes === data.length) return null;
  if (goodBytes === 0) return 'damaged';
  for (const [line] of linesOf(data, goodBytes)) if (parseLine(line) !== null) return 'damaged';
  return 'torn';
}
