/** The contents of a store outside of it: slots with the JSON texts of their values, checked where they come from a file. */
import { SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import { isJsonObject, isNestedTooDeep } from '../core/json-object.ts';
import { defaultStoreLimits, isSlotName } from '../core/store.ts';
import type { StoreLimits } from '../core/store.ts';
import type { Folder } from './files.ts';
import { Journal } from './journal.ts';

/** JSON texts of the values of each slot, by name. */
export type Contents = ReadonlyMap<string, readonly string[]>;

/** Issues listed in a refusal. */
const maxIssues = 20;

export const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** A copy of a present store, which later changes leave as it is; slots without values are left out. */
export function copyOf(contents: Iterable<readonly [slot: string, texts: readonly string[]]>): Contents {
  const copy = new Map<string, readonly string[]>();
  for (const [slot, texts] of contents) if (texts.length > 0) copy.set(slot, [...texts]);
  return copy;
}

const short = (name: string) => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);

/** @returns the texts of a slot, or the reason for which a store has no room for them */
function textsOf(values: unknown, { maxEntries, maxBytes }: StoreLimits): readonly string[] | string {
  if (!Array.isArray(values)) return 'is no list of values';
  if (values.length > maxEntries) return `has ${values.length} values; allowed: ${maxEntries} at most`;
  if (isNestedTooDeep(values)) return 'has a value that is nested too deep';
  const texts = values.map((value) => JSON.stringify(value));
  const bytes = bytesOf(texts);
  return bytes > maxBytes ? `has ${bytes} octets; allowed: ${maxBytes} at most` : texts;
}

/**
 * Slots from a document.
 * @param slots lists of values by name, as JSON gives them
 * @throws SimError CONFIG_INVALID with JSON pointers for names, lists and sizes that a store would refuse
 */
export function checkedContents(slots: unknown, limits: StoreLimits = defaultStoreLimits): Contents {
  const issues: Issue[] = [];
  const contents = new Map<string, readonly string[]>();
  const note = (name: string, detail: string) => issues.push({ name, detail });
  const entries = isJsonObject(slots) ? Object.entries(slots) : [];
  if (!isJsonObject(slots)) note('/slots', 'is no object of lists by name');
  if (entries.length > limits.maxSlots)
    note('/slots', `has ${entries.length} slots; allowed: ${limits.maxSlots} at most`);
  for (const [name, values] of entries) {
    const texts = isSlotName(name) ? textsOf(values, limits) : 'is no name of a slot';
    if (typeof texts === 'string') note(`/slots/${short(name)}`, texts);
    else if (texts.length > 0) contents.set(name, texts);
  }
  if (issues.length === 0) return contents;
  const listed = issues.slice(0, maxIssues);
  const more = issues.length - listed.length;
  if (more > 0) listed.push({ name: '/slots', detail: `${more} further issues are not listed` });
  throw new SimError('CONFIG_INVALID', 'the state in the file cannot be kept', listed);
}

const silent = { error: () => undefined, info: () => undefined, warning: () => undefined };

/**
 * Replaces the journal of a folder by one with these contents: whole, or not at all.
 * @throws an error of the file system
 */
export async function replaceContents(folder: Folder, contents: Contents): Promise<void> {
  const journal = new Journal({
    folder,
    log: silent,
    later: () => () => undefined,
    limits: { compactBytes: Infinity, maxRetryMs: Infinity },
    contents: () => contents,
    onFailure: () => undefined,
  });
  await journal.open(null);
  await journal.close();
}
