/**
 * Which test files run the functions of a rule module: a help for `spec` in `test/mutation.json`.
 *
 *   node scripts/mutation/specs.mjs MODULE [test files or globs]
 *
 * Runs each test file by itself, by default every one whose imports lead to the module, and prints the share of the
 * module's functions that it runs, and its seconds. Take those with a tenth or more that last less than 2 s.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testsReaching } from '../test/changed.mjs';
import { filesOf, moduleNamed } from './modules.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(root);
const { testFiles } = createRequire(import.meta.url)('../test/mocha-options.cjs');

/** Names of the functions of some sources, of those that ran and of all. */
function functionsIn(folder, sources) {
  const [ran, all] = [new Set(), new Set()];
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(folder, name), 'utf8')).result) {
      const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)).replaceAll('\\', '/') : '';
      if (!sources.has(file)) continue;
      // the first one is the file itself
      for (const { ranges } of functions.slice(1)) {
        const place = `${file}:${ranges[0].startOffset}`;
        all.add(place);
        if (ranges[0].count > 0) ran.add(place);
      }
    }
  }
  return { ran, all };
}

function measure(test, sources) {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-specs-'));
  const begin = performance.now();
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/mocha/bin/mocha.js', '--no-parallel', '--reporter', 'dot', test],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_V8_COVERAGE: folder, FC_SCALE: '0.2', TEST_DEPTH: 'quick' },
    },
  );
  const seconds = (performance.now() - begin) / 1000;
  const functions = functionsIn(folder, sources);
  rmSync(folder, { recursive: true });
  return { test, status, seconds, ...functions };
}

const [name, ...globs] = process.argv.slice(2);
const { mutate, spec } = moduleNamed(name);
const sources = new Set(filesOf(mutate));
const judges = new Set(filesOf(spec));
const tests =
  globs.length > 0
    ? filesOf(globs)
    : testsReaching(testFiles('test', ['test/interop', 'test/browser', 'test/ui']), sources);
const measured = tests.map((test) => measure(test, sources));
const total = new Set(measured.flatMap(({ all }) => [...all])).size;
for (const { test, status, seconds, ran } of measured.sort((a, b) => b.ran.size - a.ran.size)) {
  const percent = Math.round((ran.size / Math.max(1, total)) * 100);
  const notes = [judges.has(test) ? 'in spec' : '', status === 0 ? '' : 'fails']
    .filter((note) => note !== '')
    .join(', ');
  console.log(`${String(percent).padStart(3)} %  ${seconds.toFixed(1).padStart(5)} s  ${test}  ${notes}`);
}
