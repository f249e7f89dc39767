/** Output of the generators: written to the checkout, or with `--check` compared with what stands there. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const maxShown = 100;

/** Texts of generated files, by their paths from the root of the checkout. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** Code as Biome formats it: the checkout keeps generated code formatted. @throws Error if Biome refuses the text */
export function formatted(path: string, text: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${path} cannot be formatted: ${stderr}`);
  return stdout;
}

/** Where two texts differ first; null: they are equal. */
export function firstDifference(present: string, generated: string): string | null {
  if (present === generated) return null;
  const [before, after] = [present.split('\n'), generated.split('\n')];
  let line = 0;
  while (before[line] === after[line]) line += 1;
  const shown = (text: string | undefined) =>
    text === undefined ? 'nothing' : excerpt(text, before[line], after[line]);
  return `line ${line + 1} is ${shown(before[line])}, the generator makes ${shown(after[line])}`;
}

/** Text around the first character in which two lines differ: some lines have thousands. */
function excerpt(text: string, before = '', after = ''): string {
  let equal = 0;
  while (equal < before.length && before[equal] === after[equal]) equal += 1;
  const start = Math.max(0, equal - maxShown / 2);
  const part = text.slice(start, start + maxShown);
  return JSON.stringify(`${start > 0 ? '…' : ''}${part}${start + maxShown < text.length ? '…' : ''}`);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** What is wrong with the files of the checkout, a line each. */
export function differences(files: GeneratedFiles, folder = root): readonly string[] {
  return [...files].flatMap(([path, generated]) => {
    const present = textOf(join(folder, path));
    if (present === null) return [`${path} is missing`];
    const difference = firstDifference(present, generated);
    return difference === null ? [] : [`${path} is not what its generator makes: ${difference}`];
  });
}

/** Writes the files that differ: an equal one keeps its time, so that a build stays valid. */
export function writeGenerated(files: GeneratedFiles, folder = root): void {
  for (const [path, text] of files) {
    const file = join(folder, path);
    if (textOf(file) === text) continue;
    // the context of a container has no docs
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Writes the files, or compares them if the arguments have `--check`. @returns the exit code */
export function deliver(files: GeneratedFiles, args: readonly string[]): 0 | 1 {
  if (!args.includes('--check')) {
    writeGenerated(files);
    return 0;
  }
  const problems = differences(files);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

/** The folder of source data among the arguments, `--check` aside. @throws Error with the usage if there is not one folder */
export function dataFolder(args: readonly string[], usage: string): string {
  const [folder, ...rest] = args.filter((arg) => arg !== '--check');
  if (folder === undefined || rest.length > 0 || folder.startsWith('--')) throw new Error(`usage: ${usage}`);
  return folder;
}
