/**
 * `npm run coverage:report`: coverage of the last run with `NODE_V8_COVERAGE=.cache/v8`, by folder, against the bounds of
 * `.coverage.json` (lines and branches in percent; the longest matching folder counts). `npm run coverage` runs the tests
 * before.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const data = '.cache/v8';
if (process.argv.includes('--run')) {
  rmSync(data, { recursive: true, force: true });
  const env = { ...process.env, NODE_V8_COVERAGE: data };
  const { status: tested } = spawnSync(process.execPath, ['scripts/test.mjs'], { stdio: 'inherit', env });
  if (tested !== 0) process.exit(tested ?? 1);
}
const { status } = spawnSync('npx', ['c8', 'report', '--temp-directory', data, '--reports-dir', 'coverage'], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const bounds = JSON.parse(readFileSync('.coverage.json', 'utf8'));
const folders = Object.keys(bounds).sort((a, b) => b.length - a.length);
const counts = Object.fromEntries(folders.map((folder) => [folder, { lines: [0, 0], branches: [0, 0] }]));

for (const [path, file] of Object.entries(JSON.parse(readFileSync('coverage/coverage-summary.json', 'utf8')))) {
  const folder = folders.find((name) => relative(process.cwd(), path).startsWith(name));
  if (path === 'total' || folder === undefined) continue;
  for (const kind of ['lines', 'branches']) {
    counts[folder][kind][0] += file[kind].covered;
    counts[folder][kind][1] += file[kind].total;
  }
}

const percent = ([covered, total]) => (total === 0 ? 100 : Math.floor((covered / total) * 1000) / 10);
const result = {};
let failures = 0;
for (const folder of folders.sort()) {
  const measured = [percent(counts[folder].lines), percent(counts[folder].branches)];
  const isLow = measured.some((value, i) => value < bounds[folder][i]);
  if (isLow) failures += 1;
  result[folder] = measured;
  console.log(
    `${isLow ? 'LOW ' : '    '}${folder.padEnd(28)} lines ${measured[0]} (${bounds[folder][0]}), branches ${measured[1]} (${bounds[folder][1]})`,
  );
}
writeFileSync('.cache/coverage.json', JSON.stringify(result));
if (failures > 0) process.exitCode = 1;
