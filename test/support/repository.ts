/** Paths of the checkout, without what is generated. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Start of the address of a file, as pages below docs/ write it. */
export const repositoryAddress = 'https://github.com/derbench/derbench/blob/main/';

export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Entries of .gitignore. */
export const ignored: readonly string[] = textOf('.gitignore').trim().split('\n');

export const isIgnored = (path: string): boolean =>
  ignored.some((entry) => entry.endsWith('/') && (path.startsWith(entry) || path.includes(`/${entry}`)));

/** Files and folders below a folder of the checkout. */
export function pathsBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.name !== '.git')
    .map((entry) => ({ path: join(folder, entry.name).replaceAll('\\', '/'), isFolder: entry.isDirectory() }))
    .filter(({ path }) => !isIgnored(`${path}/`))
    .flatMap(({ path, isFolder }) => (isFolder ? [path, ...pathsBelow(path)] : [path]));
}

/** File that a page links to by its address in the repository. */
export const linkedFile = (address: string): URL =>
  new URL(`../../${address.replace(repositoryAddress, '')}`, import.meta.url);
