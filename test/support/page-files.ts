/** The files that the dashboard loads, read from its page and its scripts. */

/** Reads a file by its path, such as `/assets/app-AbCd1234.js`. */
type Read = (path: string) => Promise<string>;

const inPage = /(?:src|href)="(\/assets\/[^"]+)"/g;
const imported = /(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g;
const importedLate = /import\(\s*["'`]\.\/([\w.-]+\.js)["'`]/g;

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Adds the scripts that a script imports, directly or not. */
async function follow(path: string, read: Read, patterns: readonly RegExp[], paths: Set<string>): Promise<void> {
  if (paths.has(path)) return;
  paths.add(path);
  if (!path.endsWith('.js')) return;
  const text = await read(path);
  for (const name of patterns.flatMap((pattern) => matches(text, pattern)))
    await follow(`/assets/${name}`, read, patterns, paths);
}

async function filesBy(read: Read, patterns: readonly RegExp[]): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  for (const path of matches(await read('/'), inPage)) await follow(path, read, patterns, paths);
  return paths;
}

/** Files that the page loads before it shows something. */
export function filesOfFirstLoad(read: Read): Promise<ReadonlySet<string>> {
  return filesBy(read, [imported]);
}

/** All files of the dashboard, with those of views that are loaded later. */
export function filesOfPage(read: Read): Promise<ReadonlySet<string>> {
  return filesBy(read, [imported, importedLate]);
}
