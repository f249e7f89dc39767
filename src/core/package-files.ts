import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memo } from './lazy.ts';

/** The nearest folder above this module with a package.json: sources and build lie at different depths below it. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

const root = packageRoot();

/** Absolute path of a file or folder of the package, such as `config/profiles`. */
export function packageFile(path: string): string {
  return join(root, path);
}

/** True if this code runs from `dist/`. Checked by path: an outdated `dist/` may exist while the sources run. */
export const runsFromBuild = dirname(fileURLToPath(import.meta.url)) === packageFile('dist');

/** The version from package.json, its only source; requests to servers name it. */
export const packageVersion = memo((): string => {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
});

/** The commit that the running build was made from; without one, the version. */
export const buildId = memo((): string => {
  try {
    if (runsFromBuild) return readFileSync(packageFile('dist/build-id.txt'), 'utf8').trim();
  } catch {
    // the build had no git
  }
  return `npm-${packageVersion()}`;
});
