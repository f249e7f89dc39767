/** Compares documents of an IEEE 2030.5 client: texts of elements and attributes by path. */
import type { Buffer } from 'node:buffer';
import { compareJson } from './json-compare.ts';
import type { JsonComparison, JsonRules } from './json-compare.ts';

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
]);
/** Elements with measurements. */
const measured = /\/(value|stateOfChargeStatus|estimatedVarAvail|estimatedWAvail|availabilityDuration)(\[\d+\])?(\/|$)/;
const longId = /^[0-9A-Fa-f]{32}$/;
const time = '<time>';

/** The texts of a document by path: `DERStatus/genConnectStatus/value`, numbered where elements repeat. */
export function textsOf(xml: string): Readonly<Record<string, string>> {
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

/** True if two long ids of clients correspond: each recorded one stands for one replayed one. */
function withIds(recorded: string, replayed: string, ids: Map<string, string>): boolean {
  if (!longId.test(recorded) || !longId.test(replayed)) return false;
  if (!ids.has(recorded)) ids.set(recorded, replayed);
  return ids.get(recorded) === replayed;
}

export function compareXml(recorded: Buffer, replayed: Buffer, rules: Omit<JsonRules, 'moves'>): JsonComparison {
  const [before, after] = [{ ...textsOf(recorded.toString()) }, { ...textsOf(replayed.toString()) }];
  for (const [name, text] of Object.entries(before)) {
    const replayedText = after[name];
    const leaf = name.slice(name.lastIndexOf('/') + 1).replace(/\[\d+\]$/, '');
    if (replayedText === undefined) continue;
    if (times.has(leaf) || withIds(text, replayedText, rules.ids)) before[name] = after[name] = time;
  }
  return compareJson(before, after, { ...rules, moves: (pointer) => measured.test(pointer) });
}
