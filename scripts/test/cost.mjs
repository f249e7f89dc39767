/**
 * Fails for test files that cost more CPU seconds in the last run than a file may: 3 in `quick`, 20 in `ci`. Exceptions
 * stand in `test/cost.json` with their reason. A slow machine may take more (`scripts/ci/speed.mjs`).
 */
import { existsSync, readFileSync } from 'node:fs';

const depth = process.env.TEST_DEPTH ?? 'quick';
const maxS = { quick: 3, ci: 20 }[depth];
const slowdown = Number(process.env.TEST_SLOWDOWN ?? 1);
const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

const costs = readJson('.cache/test-cost.json');
const exceptions = readJson('test/cost.json');
const sum = Object.values(costs).reduce((total, cost) => total + cost, 0);
console.log(`${Object.keys(costs).length} files, ${Math.round(sum)} CPU s at depth ${depth}, limits x ${slowdown}`);
let failures = 0;
const complain = (text) => {
  console.log(text);
  failures += 1;
};

if (Object.keys(costs).length === 0) complain('no cost was measured');
if (maxS !== undefined) {
  for (const [file, cost] of Object.entries(costs).sort(([, a], [, b]) => b - a)) {
    const limit = slowdown * Math.max(maxS, exceptions[file]?.maxS ?? 0);
    if (cost > limit) complain(`${file} costs ${cost} CPU s, more than ${limit}`);
  }
}
for (const file of Object.keys(exceptions))
  if (!existsSync(file)) complain(`test/cost.json names ${file}, which does not exist`);
if (failures > 0) process.exitCode = 1;
