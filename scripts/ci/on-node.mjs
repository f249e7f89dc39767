/** Runs a command with another version of Node.js: `node scripts/ci/on-node.mjs 22.23.3 npm test`. */
import { spawnSync } from 'node:child_process';
import { nodeOf, withNode } from './runtime.mjs';

const [version, program, ...args] = process.argv.slice(2);
const { status } = spawnSync(program, args, {
  stdio: 'inherit',
  env: withNode(nodeOf(version, { exact: true })),
});
process.exitCode = status ?? 1;
