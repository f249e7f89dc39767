/**
 * Repeats a command for some seconds, with the next FC_SEED each time, until it fails:
 * `node scripts/ci/repeated.mjs 600 npm test -- FILE`.
 */
import { spawnSync } from 'node:child_process';

const [seconds, program, ...args] = process.argv.slice(2);
const endsAtMs = Date.now() + Number(seconds) * 1000;
const firstSeed = Number(process.env.FC_SEED ?? 1);
let rounds = 0;
let status = 0;
while (status === 0 && Date.now() < endsAtMs) {
  const FC_SEED = String((firstSeed + rounds) | 0);
  const round = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, FC_SEED } });
  rounds += 1;
  status = round.status ?? 1;
  if (status !== 0) process.stdout.write(`${round.stdout}${round.stderr}\nfailed with FC_SEED=${FC_SEED}\n`);
}
console.log(`${rounds} rounds`);
process.exitCode = status;
