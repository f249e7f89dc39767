/** `npm start`: runs the program, built anew only when something it is made from is newer than the build. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './built.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Prints progress for a person who waits: a build without output looks like a hang. */
const show = process.stderr.isTTY ? (text) => process.stderr.write(text) : () => undefined;

function buildNow() {
  show('derbench: building, about 15 s ...');
  const startMs = performance.now();
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL('build.mjs', import.meta.url)), '--if-older'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status === 0) {
    show(` built in ${((performance.now() - startMs) / 1000).toFixed(1)} s\n`);
    return;
  }
  show('\n');
  process.stderr.write('derbench: the build failed, see above; "npm ci" installs what it needs\n');
  process.exit(1);
}

if (!isBuilt(root)) buildNow();
// in this process, so that signals reach the program
await import('../dist/main.js');
