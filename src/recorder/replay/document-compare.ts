/** Compares JSON and XML documents whose times and generated ids differ from run to run. */
import type { Buffer } from 'node:buffer';
import type { ReplayOptions } from './options.ts';
import { isMembers } from './recording.ts';

/** A value at its JSON pointer. */
interface ValueDifference {
  readonly pointer: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface JsonRules extends Pick<ReplayOptions, 'measurementTolerance' | 'ignore'> {
  /** ids of the new build by recorded id; the first occurrence pairs them */
  readonly ids: Map<string, string>;
  /** true if the numbers at a pointer are measurements */
  readonly moves: (pointer: string) => boolean;
}

interface JsonComparison {
  readonly differences: readonly ValueDifference[];
  /** values that may differ */
  readonly ignored: number;
}

const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const generatedId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const maxDepth = 64;

const asNumber = (value: unknown) =>
  typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;

/** Pairs a recorded id with a replayed one, unless it has a pair already. @returns true if the two are a pair */
function pairIds(recorded: string, replayed: string, form: RegExp, ids: Map<string, string>): boolean {
  if (!form.test(recorded) || !form.test(replayed)) return false;
  if (!ids.has(recorded)) ids.set(recorded, replayed);
  return ids.get(recorded) === replayed;
}

/** True if two different values are equivalent: both are times, or they are ids that are a pair or become one. */
function areEquivalent(recorded: unknown, replayed: unknown, { ids }: JsonRules): boolean {
  if (typeof recorded !== 'string' || typeof replayed !== 'string') return false;
  return (timeForm.test(recorded) && timeForm.test(replayed)) || pairIds(recorded, replayed, generatedId, ids);
}

function mayDiffer(
  pointer: string,
  recorded: unknown,
  replayed: unknown,
  { measurementTolerance: tolerance, ignore, moves }: JsonRules,
): boolean {
  if (ignore.includes(pointer) || ignore.includes(pointer.slice(pointer.lastIndexOf('/') + 1))) return true;
  const [before, after] = [asNumber(recorded), asNumber(replayed)];
  if (tolerance === 'exact' || !moves(pointer) || Number.isNaN(before) || Number.isNaN(after)) return false;
  return tolerance === 'any' || Math.abs(after - before) <= (Math.abs(before) * tolerance) / 100;
}

export function compareJson(recorded: unknown, replayed: unknown, rules: JsonRules): JsonComparison {
  const differences: ValueDifference[] = [];
  let ignored = 0;
  const compare = (before: unknown, after: unknown, pointer: string, depth: number): void => {
    if (before === after || depth > maxDepth) return;
    if (Array.isArray(before) && Array.isArray(after)) {
      for (let i = 0; i < Math.max(before.length, after.length); i += 1)
        compare(before[i], after[i], `${pointer}/${i}`, depth + 1);
    } else if (isMembers(before) && isMembers(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        compare(before[name], after[name], `${pointer}/${name}`, depth + 1);
    } else if (!areEquivalent(before, after, rules)) {
      if (mayDiffer(pointer, before, after, rules)) ignored += 1;
      else differences.push({ pointer, recorded: before, replayed: after });
    }
  };
  compare(recorded, replayed, '', 0);
  return { differences, ignored };
}

const maxShown = 120;

function shownValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** `/firmwareVersion was "1.0", is "1.1"` */
export function differenceInWords({ pointer, recorded, replayed }: ValueDifference): string {
  return `${pointer === '' ? 'the payload' : pointer} was ${shownValue(recorded)}, is ${shownValue(replayed)}`;
}

const token = /<(\/?)([\w:.-]+)([^>]*?)(\/?)>|([^<]+)/g;
const attribute = /([\w:.-]+)\s*=\s*"([^"]*)"/g;
/** Elements with times in seconds since the epoch. */
const times: ReadonlySet<string> = new Set([
  'createdDateTime',
  'currentTime',
  'localTime',
  'dateTime',
  'start',
  'readingTime',
  'changedTime',
  'lastUpdateTime',
  // set at the start of the program
  'mfDate',
  'swActTime',
]);
/** Elements with measurements. */
const measured =
  /\/(value|stateOfChargeStatus|reserveChargePercent|reservePercent|availabilityDuration|maxChargeDuration)(\[\d+\])?(\/|$)/;
const longId = /^[0-9A-Fa-f]{32}$/;
const anyTime = '<time>';

/** The texts of a document by path: `DERStatus/genConnectStatus/value`, numbered where elements repeat. */
function textsOf(xml: string): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  const path: { readonly name: string; readonly counts: Map<string, number> }[] = [];
  const root = { name: '', counts: new Map<string, number>() };
  const place = () => path.map(({ name }) => name).join('/');
  for (const [, closing, fullName, attributes, empty, text] of xml.replace(/<[?!][^>]*>/g, '').matchAll(token)) {
    if (text !== undefined) {
      if (text.trim() !== '' && path.length > 0) texts[place()] = text.trim();
      continue;
    }
    if (closing === '/') {
      path.pop();
      continue;
    }
    const name = (fullName ?? '').replace(/^.*:/, '');
    const { counts } = path.at(-1) ?? root;
    const n = (counts.get(name) ?? 0) + 1;
    counts.set(name, n);
    path.push({ name: n > 1 ? `${name}[${n}]` : name, counts: new Map() });
    for (const [, key = '', value = ''] of (attributes ?? '').matchAll(attribute))
      if (!key.startsWith('xmlns')) texts[`${place()}/@${key}`] = value;
    if (empty === '/') path.pop();
  }
  return texts;
}

/** The name of the root element. Empty: none. */
export function rootOf(body: Buffer): string {
  return /<(?:[\w.-]+:)?(\w+)[\s>/]/.exec(body.toString().replace(/<[?!][^>]*>/g, ''))?.[1] ?? '';
}

export function compareXml(recorded: Buffer, replayed: Buffer, rules: Omit<JsonRules, 'moves'>): JsonComparison {
  const [before, after] = [{ ...textsOf(recorded.toString()) }, { ...textsOf(replayed.toString()) }];
  for (const [name, text] of Object.entries(before)) {
    const replayedText = after[name];
    const leaf = name.slice(name.lastIndexOf('/') + 1).replace(/\[\d+\]$/, '');
    if (replayedText === undefined) continue;
    if (times.has(leaf) || pairIds(text, replayedText, longId, rules.ids)) before[name] = after[name] = anyTime;
  }
  return compareJson(before, after, { ...rules, moves: (pointer) => measured.test(pointer) });
}
