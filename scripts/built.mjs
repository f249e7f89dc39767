import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What `dist/` is made from; `config/` because the description names the bundled profiles. */
const made = ['src', 'scripts', 'config', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** File in `dist/` whose time is that of the begin of the build: what is saved while it runs is newer. */
export const stamp = 'THIRD-PARTY-LICENSES.txt';

/** Time of the last change of a file, or of anything in a folder; that of a folder itself shows removed files. */
function changedMs(path) {
  const { mtimeMs } = statSync(path);
  const inner = statSync(path).isDirectory() ? readdirSync(path).map((name) => changedMs(join(path, name))) : [];
  return Math.max(mtimeMs, ...inner);
}

/** Whether the build of a checkout is there and newer than what it is made from. */
export function isBuilt(root) {
  const begun = statSync(join(root, 'dist', stamp), { throwIfNoEntry: false });
  return begun !== undefined && made.every((path) => changedMs(join(root, path)) < begun.mtimeMs);
}
