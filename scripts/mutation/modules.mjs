/** The rule modules of `test/mutation.json`, in the folder of the project. */
import { globSync, readFileSync } from 'node:fs';

/** Where the table is, which lists the rule modules in the order of the night runs. */
export const tableFile = 'test/mutation.json';

/** Mutants that no test can kill, each with its reason. */
export const equivalentsFile = 'test/mutation-equivalents.json';

/** Mutants of a module that may be called equivalent. */
export const maxEquivalentShare = 0.03;

/** @returns {{ module: string, mutate: string[], spec: string[], static: boolean, floor: number, target: number }[]} */
export function ruleModules() {
  return JSON.parse(readFileSync(tableFile, 'utf8'));
}

/** @param name as in the table */
export function moduleNamed(name) {
  const row = ruleModules().find(({ module }) => module === name);
  if (row === undefined) throw new Error(`${tableFile} has no module ${name}`);
  return row;
}

/** Files that match the globs, without those that match a glob after an exclamation mark. */
export function filesOf(globs) {
  const [without, within] = [
    globs.filter((glob) => glob.startsWith('!')),
    globs.filter((glob) => !glob.startsWith('!')),
  ];
  const left = new Set(without.flatMap((glob) => globSync(glob.slice(1))));
  const files = within.flatMap((glob) => {
    const matches = globSync(glob);
    if (matches.length === 0) throw new Error(`${tableFile}: no file matches ${glob}`);
    return matches;
  });
  return [...new Set(files.map((file) => file.replaceAll('\\', '/')))].filter((file) => !left.has(file)).sort();
}

const blockLines = 30;

/**
 * Every n-th block of lines, counted over all files, as Stryker names ranges. A mutant that spans blocks is in none.
 * @param files paths @param n 1: the files as a whole
 */
export function everyNthBlock(files, n) {
  if (n === 1) return files;
  const blocks = files.flatMap((file) => {
    const lineCount = readFileSync(file, 'utf8').split('\n').length;
    return Array.from(
      { length: Math.ceil(lineCount / blockLines) },
      (_, i) => `${file}:${i * blockLines + 1}-${(i + 1) * blockLines}`,
    );
  });
  return blocks.filter((_, i) => i % n === 0);
}

/** @param name of the module, with what the file holds */
export function resultFile(name) {
  return `.cache/mutation/${name}.json`;
}
