/**
 * `npm run coverage:report`: coverage of the last run with `NODE_V8_COVERAGE=.cache/v8`, by folder, against the bounds of
 * `.coverage.json` (lines and branches in percent; the longest matching folder counts). `npm run coverage` runs the tests
 * before.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { relative } from 'node:path';

const { stripTypeScriptTypes } = nodeModule;

/** Each part of the tests with its data: the parts load the same files in different ways. */
const parts = [
  { config: '.c8rc.json', data: '.cache/v8', reports: 'coverage' },
  { config: '.c8rc.ui.json', data: '.cache/v8-ui', reports: 'coverage/ui' },
];

if (process.argv.includes('--run')) {
  for (const { data } of parts) rmSync(data, { recursive: true, force: true });
  const env = { ...process.env, NODE_V8_COVERAGE: parts[0].data };
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs'], { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}

/** A file without code is never loaded; Node.js 24 shows what is left of one without its types. */
function isTypesOnly(path) {
  if (!stripTypeScriptTypes || !path.endsWith('.ts')) return false;
  const code = stripTypeScriptTypes(readFileSync(path, 'utf8'));
  return code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|\bexport \{\s*\};?|;/g, '').trim() === '';
}

const files = {};
for (const { config, data, reports } of parts) {
  const args = ['c8', 'report', '--config', config, '--temp-directory', data, '--reports-dir', reports];
  const { status } = spawnSync('npx', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  Object.assign(files, JSON.parse(readFileSync(`${reports}/coverage-summary.json`, 'utf8')));
}

const bounds = JSON.parse(readFileSync('.coverage.json', 'utf8'));
const folders = Object.keys(bounds).sort((a, b) => b.length - a.length);
const counts = Object.fromEntries(folders.map((folder) => [folder, { lines: [0, 0], branches: [0, 0] }]));

for (const [path, file] of Object.entries(files)) {
  const folder = folders.find((name) => relative(process.cwd(), path).startsWith(name));
  if (path === 'total' || folder === undefined || isTypesOnly(path)) continue;
  for (const kind of ['lines', 'branches']) {
    counts[folder][kind][0] += file[kind].covered;
    counts[folder][kind][1] += file[kind].total;
  }
}

const percent = ([covered, total]) => (total === 0 ? 0 : Math.floor((covered / total) * 1000) / 10);
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
