import { readFileSync, writeFileSync } from 'node:fs';
import { apiVersion } from '../src/api/http/context.ts';
import { describeApi } from '../src/api/description/openapi.ts';
import { allRoutes } from '../src/api/routes.ts';
import { compareDocuments, versionFault } from './openapi-changes.ts';
import type { Change, Json } from './openapi-changes.ts';
import { compactDocument, printDocument } from './openapi-compact.ts';

type Document = Readonly<Record<string, Json>>;

/** A change of the description only: the released description was wrong there. Both patterns match whole texts. */
interface Correction {
  readonly where: string;
  readonly words: string;
  readonly reason: string;
}

const folder = new URL('../fixtures/openapi/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

export interface ReleaseCheck {
  readonly released: string;
  readonly changes: readonly Change[];
  readonly corrected: readonly Change[];
  /** corrections without a matching change */
  readonly idle: readonly string[];
  readonly fault: string | null;
  readonly present: Document;
}

/** The description of this build against the last released one. */
export function checkRelease(): ReleaseCheck {
  const before = read('released.json') as Document & { readonly info: { readonly version: string } };
  const corrections = (read('corrections.json') as readonly Correction[]).map(
    ({ where, words }) => new RegExp(`^${where}: ${words}$`),
  );
  const present = compactDocument(JSON.parse(JSON.stringify(describeApi(allRoutes, apiVersion))) as Document);
  const all = compareDocuments(before, present);
  const lineOf = ({ where, words }: Change) => `${where}: ${words}`;
  const corrected = all.filter((change) => corrections.some((pattern) => pattern.test(lineOf(change))));
  const changes = all.filter((change) => !corrected.includes(change));
  const idle = corrections.filter((pattern) => !all.some((change) => pattern.test(lineOf(change)))).map(String);
  const released = before.info.version;
  return { released, changes, corrected, idle, fault: versionFault(released, apiVersion, changes), present };
}

/** Makes a document the released one and empties the corrections. */
export function release(document: Document): void {
  writeFileSync(new URL('released.json', folder), printDocument(document));
  writeFileSync(new URL('corrections.json', folder), '[]\n');
}
