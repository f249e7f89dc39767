/** Versions of judges as they are installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `peer`: installed by `npm run peers`; `npm`: in node_modules; `program`: answers `--version`; `file`: the first group of the
 * pattern in a file of the repository.
 */
export type VersionSource =
  | { readonly peer: string }
  | { readonly npm: string }
  | { readonly program: string }
  | { readonly file: string; readonly pattern: RegExp }
  | { readonly fixed: string };

type Versions = Readonly<Record<string, string | null>>;

function json(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Programs tell their version in a sentence. */
const versionIn = (text: string) => /\d+(?:\.\d+)+[\w.-]*/.exec(text)?.[0] ?? null;

/** @returns null if it is unknown */
export function versionOf(source: VersionSource, root: string): string | null {
  if ('fixed' in source) return source.fixed;
  if ('file' in source) return source.pattern.exec(readFileSync(join(root, source.file), 'utf8'))?.[1] ?? null;
  if ('program' in source) {
    const { status, stdout } = spawnSync(source.program, ['--version'], { encoding: 'utf8' });
    return status === 0 ? versionIn(stdout) : null;
  }
  if ('npm' in source) {
    const { version } = json(join(root, 'node_modules', source.npm, 'package.json')) as { version?: string };
    return version ?? null;
  }
  const { versions } = json(join(root, '.cache/peers.json')) as { versions?: Versions };
  return versionIn(versions?.[source.peer] ?? '');
}
