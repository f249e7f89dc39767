/**
 * Runs the tests, the judgement of the package and a TLS suite on other versions of Node.js:
 *
 *   npm run test:nodes [-- 22 26]    versions of scripts/nodes.json by their first number; default: all
 */
import { spawnSync } from 'node:child_process';
import { nodeOf, nodeVersions, withNode } from './ci/runtime.mjs';

const majors = process.argv.slice(2);
const versions = nodeVersions.filter((version) => majors.length === 0 || majors.includes(version.split('.')[0]));
if (versions.length === 0) throw new Error(`there is no ${majors.join(', ')} among ${nodeVersions.join(', ')}`);

const commands = [
  ['npm', 'test', '--silent'],
  ['node', '--import=tsx', 'scripts/pack-smoke.ts'],
  ['npm', 'run', '--silent', 'test:interop', '--', 'test/interop/modbus-tls.test.ts'],
];

for (const version of versions) {
  const env = withNode(nodeOf(version, { exact: true }));
  for (const [program, ...args] of commands) {
    console.log(`Node.js ${version}: ${[program, ...args].join(' ')}`);
    const { status } = spawnSync(program, args, { stdio: 'inherit', env });
    if (status !== 0) process.exitCode = 1;
  }
}
