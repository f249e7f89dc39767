/** Which interop tests run when: `.ci/judges.json`. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {object} Judges
 * @property {readonly string[]} first the longest, so that none of them is left alone at the end
 * @property {readonly string[]} nightly dear ones that a change does not wait for
 * @property {readonly string[]} alone those that measure time
 * @property {Readonly<Record<string, readonly string[]>>} calledBy nightly ones that a change below a folder calls
 */

/** @returns {Judges} */
export const judges = () => JSON.parse(readFileSync(`${root}/.ci/judges.json`, 'utf8'));

const pathOf = (name) => `test/interop/${name}.test.ts`;

/**
 * Files of the interop tests for a change; all of them where `changed` is null.
 * @param {readonly string[] | null} changed paths
 */
export function interopFiles(changed) {
  const { first, nightly, alone, calledBy } = judges();
  const called = Object.entries(calledBy)
    .filter(([folder]) => changed === null || changed.some((path) => path.startsWith(folder)))
    .flatMap(([, names]) => names);
  const names = readdirSync(`${root}/test/interop`)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.slice(0, -'.test.ts'.length))
    .filter((name) => changed === null || !nightly.includes(name) || called.includes(name))
    .sort((a, b) => Number(first.includes(b)) - Number(first.includes(a)) || (a < b ? -1 : 1));
  return {
    together: names.filter((name) => !alone.includes(name)).map(pathOf),
    alone: names.filter((name) => alone.includes(name)).map(pathOf),
  };
}
