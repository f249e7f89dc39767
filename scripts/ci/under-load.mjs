/** Runs a command beside busy loops, one for each core: `node scripts/ci/under-load.mjs npm test`. */
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const [program, ...args] = process.argv.slice(2);
const loops = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
const { status } = spawnSync(program, args, { stdio: 'inherit' });
for (const loop of loops) loop.kill('SIGKILL');
process.exitCode = status ?? 1;
