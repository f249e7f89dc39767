/** The form in which a person started the program, for the commands that a text suggests. */
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';

/** Facts of a process that tell the form. */
export interface Start {
  /** Path of the started script, `process.argv[1]`. */
  readonly script: string;
  readonly execPath: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const quoted = (path: string): string => (/^[\w@%+=:,./\\-]+$/.test(path) ? path : JSON.stringify(path));

/** A path as a person types it in a folder: relative below it, and whole elsewhere. */
function typed(path: string, folder: string): string {
  const below = relative(folder, path);
  return quoted(below.startsWith('..') || below === '' ? path : below);
}

/** Words before the arguments of a command: `derbench`, `npx --no-install derbench`, `npm start --` or `node FILE`. */
export function invocationOf({ script, execPath, folder, env }: Start): string {
  if (script.endsWith(join('scripts', 'start.mjs')))
    return env['npm_lifecycle_event'] === 'start' ? 'npm start --' : `node ${typed(script, folder)}`;
  // The launcher of the portable archive starts its own node beside the package.
  if (script === join(dirname(execPath), 'derbench', 'dist', 'main.js')) return 'derbench';
  if (basename(script) !== 'derbench') return `node ${typed(script, folder)}`;
  // A script of npm has the folder of the package's programs in its PATH, and the terminal has not.
  if (env['npm_lifecycle_event'] !== undefined) return 'npx --no-install derbench';
  const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(script));
  if (isOnPath) return 'derbench';
  const path = typed(script, folder);
  return path.includes(sep) ? path : `.${sep}${path}`;
}
