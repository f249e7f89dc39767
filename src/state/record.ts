/**
 * Records of the journal: one line of text each, `<CRC-32> {"n":12,"slot":"ocpp/CP-1/...","append":[...]}`. Numbers
 * ascend without gaps, so that a lost line is noticed as a changed one is. `replace` replaces all values of the slot,
 * `value` does so by one. Changes that were written together count together: all their records but the last have `more`,
 * and a reader that misses the last one drops them.
 */
import { crc32 } from 'node:zlib';
import { isNestedTooDeep } from '../core/json-object.ts';

/** The form of the files; a reader migrates older ones and refuses newer ones. */
export const formatVersion = 2;

export type Change = 'append' | 'replace' | 'value';

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
   * that were whole are lost, or the file is no journal
   */
  readonly damage: 'torn' | 'damaged' | null;
}

const checksum = (text: string) => crc32(text).toString(16).padStart(8, '0');
const lineOf = (text: string) => `${checksum(text)} ${text}\n`;

/** The first line of a journal. */
export const headLine = (number: number): string => lineOf(`{"n":${number},"derbench_state":${formatVersion}}`);

/** A change of the values of a slot. */
export interface SlotChange {
  readonly slot: string;
  readonly change: Change;
  /** JSON of the values */
  readonly texts: readonly string[];
}

/** @param hasMore true: the next change belongs to this one */
export function changeLine(number: number, { slot, change, texts }: SlotChange, hasMore = false): string {
  const values = change === 'value' ? texts[0] : `[${texts.join(',')}]`;
  const more = hasMore ? '"more":1,' : '';
  return lineOf(`{"n":${number},${more}"slot":${JSON.stringify(slot)},"${change}":${values}}`);
}

interface JournalRecord {
  readonly n: number;
  /** of the first line */
  readonly version: number | null;
  readonly hasMore: boolean;
  readonly slot: string;
  readonly change: Change;
  /** JSON of the values, or of the one value */
  readonly text: string;
}

/** A later version may add members. */
const headForm = /^\{"n":(\d+),"derbench_state":([1-9]\d*)(?:,.*)?\}$/;
const changeForm = /^\{"n":(\d+),("more":1,)?"slot":"([^"\\]*)","(append|replace|value)":/;

/** null: the line was not written whole, or has changed since */
function parseLine(line: string): JournalRecord | null {
  const json = line.slice(9);
  if (line[8] !== ' ' || checksum(json) !== line.slice(0, 8)) return null;
  const [, n, more, slot = '', change] = changeForm.exec(json) ?? [];
  if (change !== undefined) {
    // the values are not parsed here: most of them are replaced by later records
    const begin = json.indexOf(`"${change}":`) + change.length + 3;
    const text = json.slice(begin, -1);
    return { n: Number(n), version: null, hasMore: more !== undefined, slot, change: change as Change, text };
  }
  const [, first, version] = headForm.exec(json) ?? [];
  return first === undefined
    ? null
    : { n: Number(first), version: Number(version), hasMore: false, slot: '', change: 'replace', text: '' };
}

/** The changes of a slot since its values were last replaced. */
type SlotChanges = Pick<JournalRecord, 'change' | 'text'>[];

function apply(slots: Map<string, SlotChanges>, { slot, change, text }: JournalRecord): void {
  const changes = slots.get(slot);
  if (change === 'append' && changes) changes.push({ change, text });
  else slots.set(slot, [{ change, text }]);
}

/** JSON of each value of a change; null: its text is none, no list, or nested too deep, whatever its checksum says. */
function textsOf({ change, text }: SlotChanges[number]): readonly string[] | null {
  try {
    const parsed: unknown = JSON.parse(text);
    // the text of a value stays as it is, for writing all values anew takes long; one with few brackets is not nested deep
    if (change === 'value' && (text.match(/[[{]/g)?.length ?? 0) < 1000) return [text];
    const values: unknown = change === 'value' ? [parsed] : parsed;
    return Array.isArray(values) && !isNestedTooDeep(values) ? values.map((value) => JSON.stringify(value)) : null;
  } catch {
    return null;
  }
}

/** The values of each slot; null: some cannot be read. */
function slotsOf(changes: ReadonlyMap<string, SlotChanges>): Map<string, string[]> | null {
  const slots = new Map<string, string[]>();
  for (const [slot, list] of changes) {
    const texts = list.map(textsOf);
    if (texts.includes(null)) return null;
    slots.set(
      slot,
      texts.flatMap((each) => each ?? []),
    );
  }
  return slots;
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

/** Reads a journal up to the first change that is missing or damaged. */
export function replay(data: Buffer): Replay {
  const { changes, ...rest } = changesIn(data);
  const slots = slotsOf(changes);
  if (slots !== null) return { slots, ...rest };
  const readable = changesIn(data, (record) => textsOf(record) !== null);
  return { ...readable, slots: slotsOf(readable.changes) ?? new Map<string, string[]>() };
}

/** @param isReadable further demand on a change */
function changesIn(
  data: Buffer,
  isReadable: (record: JournalRecord) => boolean = () => true,
): Omit<Replay, 'slots'> & { readonly changes: ReadonlyMap<string, SlotChanges> } {
  const changes = new Map<string, SlotChanges>();
  let [last, goodBytes, readBytes, version] = [-1, 0, 0, formatVersion];
  let together: JournalRecord[] = [];
  for (const [line, end] of linesOf(data)) {
    const record = parseLine(line);
    const isHead = record !== null && record.version !== null;
    if (record === null || isHead !== (readBytes === 0)) break;
    if (!isHead && (record.n !== last + together.length + 1 || !isReadable(record))) break;
    readBytes = end;
    version = record.version ?? version;
    together.push(record);
    if (record.hasMore) continue;
    if (!isHead) for (const each of together) apply(changes, each);
    last = record.n;
    goodBytes = end;
    together = [];
  }
  return { changes, version, last, goodBytes, damage: damageOf(data, goodBytes, readBytes) };
}

/** @param readBytes octets up to the end of the last readable record, also one whose last companion is missing */
function damageOf(data: Buffer, goodBytes: number, readBytes: number): Replay['damage'] {
  if (goodBytes === data.length) return null;
  if (goodBytes === 0) return 'damaged';
  for (const [line] of linesOf(data, readBytes)) if (parseLine(line) !== null) return 'damaged';
  return 'torn';
}
