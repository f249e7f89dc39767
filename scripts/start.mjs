/** `npm start`: runs the program, built anew only when something it is made from is newer than the build. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const made = ['src', 'scripts', 'package.json', 'package-lock.json'];
/** written last by build.mjs */
const stamp = 'dist/THIRD-PARTY-LICENSES.txt';

/** Time of the last change of a file, or of anything in a folder; that of a folder itself shows removed files. */
function changedMs(path) {
  const { mtimeMs } = statSync(path);
  const inner = statSync(path).isDirectory() ? readdirSync(path).map((name) => changedMs(join(path, name))) : [];
  return Math.max(mtimeMs, ...inner);
}

/** Whether the build is there and not older than what it is made from. */
export function isBuilt(folder) {
  const built = statSync(join(folder, stamp), { throwIfNoEntry: false });
  return built !== undefined && made.every((path) => changedMs(join(folder, path)) <= built.mtimeMs);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!isBuilt(root))
    execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  // in this process, so that signals reach the program
  await import('../dist/main.js');
}
