/**
 * `npm test`: all tests that need Node.js alone.
 *
 *   npm test -- [--seed N] [--depth quick|ci|full] [--changed] [files and options of mocha]
 *
 * --changed runs the files that import something which differs from the last commit.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { changedTests } from './test/changed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const { isNative, testFiles } = createRequire(import.meta.url)('./test/mocha-options.cjs');
const costFolder = '.cache/test-cost';
const costFile = '.cache/test-cost.json';

/** Takes an option with a value out of the arguments. */
function take(args, name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
}

function readCosts() {
  try {
    return JSON.parse(readFileSync(costFile, 'utf8'));
  } catch {
    return {};
  }
}

/** Adds what the workers wrote, one line a file, to the costs of earlier runs. */
function keepCosts() {
  const lines = readdirSync(costFolder).flatMap((name) => readFileSync(`${costFolder}/${name}`, 'utf8').split('\n'));
  const measured = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  const costs = Object.entries({ ...readCosts(), ...Object.fromEntries(measured) });
  writeFileSync(costFile, JSON.stringify(Object.fromEntries(costs.filter(([file]) => existsSync(file))), null, 1));
}

/** @returns the exit code of mocha */
function mocha(config, args, environment) {
  const { status } = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--config', config, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return status ?? 1;
}

const args = process.argv.slice(2);
const seed = take(args, '--seed');
const depth = take(args, '--depth');
if (args.includes('--changed')) {
  args.splice(args.indexOf('--changed'), 1);
  const files = changedTests(testFiles('test', ['test/interop', 'test/browser']));
  if (files.length === 0) {
    console.log('no test imports a changed file');
    process.exit(0);
  }
  args.push(...files);
}
const isUi = (argument) => /^(\.\/)?test\/ui\//.test(argument);
const isFile = (argument) => /\.test\.tsx?$/.test(argument);
const forUnit = args.filter((argument) => !isUi(argument));
const forUi = args.filter((argument) => !isFile(argument) || isUi(argument));

rmSync(costFolder, { recursive: true, force: true });
mkdirSync(costFolder, { recursive: true });
const environment = {
  ...(seed !== undefined && { FC_SEED: seed }),
  ...(depth !== undefined && { TEST_DEPTH: depth }),
  TEST_COST: costFolder,
  // Code that comes from the cache is counted less precisely by coverage. The path is absolute, since tests start Node.js
  // in other folders.
  ...(isNative &&
    !process.env.NODE_V8_COVERAGE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? `${root}.cache/node` }),
};
const report = process.env.TEST_REPORT;
const ran = [];
if (forUnit.some(isFile) || !args.some(isFile)) ran.push(mocha('.mocharc.cjs', forUnit, environment));
if (forUi.some(isFile) || !args.some(isFile)) {
  const coverage = process.env.NODE_V8_COVERAGE;
  const ui = {
    ...environment,
    ...(report && { TEST_REPORT: report.replace(/\.json$/, '-ui.json') }),
    // tsx loads other text from the same files: coverage of both would not fit together
    ...(coverage && { NODE_V8_COVERAGE: `${coverage}-ui` }),
  };
  ran.push(mocha('.mocharc.ui.cjs', forUi, ui));
}
keepCosts();
process.exitCode = Math.max(...ran);
