/** Compares documents that a client of IEEE 2030.5 sends: the texts of their elements and attributes by path. */
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
/** Elements whose numbers are measurements. */
const measured = /\/(value|stateOfChargeStatus|estimatedVarAvail|estimatedWAvail|availabilityDuration)(\[\d+\])?(\/|$)/;
const longId = /^[0-9A-Fa-f]{32}$/;
const time = '<time>';

/** The texts of a document: `DERStatus/genConnectStatus/value`, with numbers behind elements that repeat. */
export function textsOf(xml: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const path: { readonly name: string; readonly counts: Map<string, number> }[] = [];
  const root = { name: '', counts: new Map<string, number>() };
  const place = () => path.map(({ name }) => name).join('/');
  for (const [, closing, fullName, attributes, empty, text] of xml.replace(/<[?!][^>]*>/g, '').matchAll(token)) {
    if (text !== undefined) {
      if (text.trim() !== '' && path.length > 0) found[place()] = text.trim();
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
      if (!key.startsWith('xmlns')) found[`${place()}/@${key}`] = value;
    if (empty === '/') path.pop();
  }
  return found;
}

/** The name of the root element; empty: there is none. */
export function rootOf(body: Buffer): string {
  return /<(?:[\w.-]+:)?(\w+)[\s>/]/.exec(body.toString().replace(/<[?!][^>]*>/g, ''))?.[1] ?? '';
}

/** Long ids that clients make up, in the form that stands for one id in the whole recording. */
function withIds(was: string, is: string, ids: Map<string, string>): boolean {
  if (!longId.test(was) || !longId.test(is)) return false;
  if (!ids.has(was)) ids.set(was, is);
  return ids.get(was) === is;
}

export function compareXml(was: Buffer, is: Buffer, rules: Omit<JsonRules, 'moves'>): JsonComparison {
  const [before, after] = [{ ...textsOf(was.toString()) }, { ...textsOf(is.toString()) }];
  for (const [name, text] of Object.entries(before)) {
    const now = after[name];
    const leaf = name.slice(name.lastIndexOf('/') + 1).replace(/\[\d+\]$/, '');
    if (now === undefined) continue;
    if (times.has(leaf) || withIds(text, now, rules.ids)) before[name] = after[name] = time;
  }
  return compareJson(before, after, { ...rules, moves: (pointer) => measured.test(pointer) });
}
