/**
 * `npm test`: all tests that need Node.js alone.
 *
 *   npm test -- [--seed N] [--depth quick|ci|full] [--changed] [files, folders and options of mocha]
 *
 * --changed runs the files that import something which differs from the last commit.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { changedTests } from './test/changed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const { isNative, testFiles } = createRequire(import.meta.url)('./test/mocha-options.cjs');
const costFolder = '.cache/test-cost';
const costFile = '.cache/test-cost.json';

const mochaFlags = ['-b', '--bail', '-i', '--invert', '--dry-run', '--full-trace', '--parallel', '--no-parallel'];
const mochaSettings = ['-f', '--fgrep', '-g', '--grep', '-j', '--jobs', '-t', '--timeout'];
const depths = ['quick', 'ci', 'full'];

function refuse(text) {
  console.error(`npm test: ${text}`);
  process.exit(2);
}

/**
 * The command line: `options` of this script, test files that are named, and what mocha gets. A folder stands for the
 * tests below it.
 */
function request(line) {
  const options = { seed: undefined, depth: undefined, changed: false };
  const files = [];
  const forMocha = [];
  const rest = line.flatMap((argument) => (/^--\w[\w-]*=/.test(argument) ? argument.split(/=(.*)/s, 2) : [argument]));
  const valueOf = (name) => rest.shift() ?? refuse(`${name} needs a value`);
  while (rest.length > 0) {
    const argument = rest.shift();
    if (argument === '--changed') options.changed = true;
    else if (argument === '--seed' || argument === '--depth') options[argument.slice(2)] = valueOf(argument);
    else if (mochaFlags.includes(argument)) forMocha.push(argument);
    else if (mochaSettings.includes(argument)) forMocha.push(argument, valueOf(argument));
    else if (argument.startsWith('-')) refuse(`${argument} is not an option`);
    else if (!existsSync(argument)) refuse(`there is no file ${argument}`);
    else if (statSync(argument).isDirectory()) files.push(...testFiles(argument.replace(/\/$/, '')));
    else if (/\.test\.tsx?$/.test(argument)) files.push(argument);
    else refuse(`${argument} is not a test file (*.test.ts, *.test.tsx)`);
  }
  const { seed, depth } = options;
  if (seed !== undefined && !/^-?\d+$/.test(seed)) refuse(`--seed ${seed} is not a whole number`);
  if (depth !== undefined && !depths.includes(depth)) refuse(`--depth ${depth} is not one of ${depths.join(', ')}`);
  return { options, files, forMocha, isNarrowed: files.length > 0 };
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

/** @param output `pipe`: it is returned, else it is shown as it comes */
async function mocha(config, args, environment, output = 'inherit') {
  const child = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', '--config', config, ...args], {
    stdio: ['inherit', output, output],
    env: { ...process.env, ...environment },
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  return { code: code ?? 1, text: Buffer.concat(chunks) };
}

const { options, files, forMocha, isNarrowed } = request(process.argv.slice(2));
const { seed, depth } = options;
if (options.changed) {
  const { files: changed, unfollowed } = changedTests(testFiles('test', ['test/interop', 'test/browser']));
  if (unfollowed.length > 0) console.log(`no import leads to ${unfollowed.join(', ')}: run all tests for these`);
  if (changed.length === 0) {
    console.log('no test imports a changed file');
    process.exit(0);
  }
  files.push(...changed);
}
const isUi = (file) => /^(\.\/)?test\/ui\//.test(file);
const isAll = !isNarrowed && !options.changed;
const unitFiles = files.filter((file) => !isUi(file));
const uiFiles = files.filter(isUi);

// the build writes them too, but a fresh checkout has no build
if (!existsSync('config/schema'))
  execFileSync(process.execPath, ['--import=tsx', 'scripts/generate-schemas.ts', '--schemas'], { stdio: 'inherit' });
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
const runsUnit = isAll || unitFiles.length > 0;
const runs = [];
if (runsUnit) runs.push(mocha('.mocharc.cjs', [...forMocha, ...unitFiles], environment));
if (isAll || uiFiles.length > 0) {
  const coverage = process.env.NODE_V8_COVERAGE;
  const ui = {
    ...environment,
    ...(report && { TEST_REPORT: report.replace(/\.json$/, '-ui.json') }),
    // tsx loads other text from the same files: coverage of both would not fit together
    ...(coverage && { NODE_V8_COVERAGE: `${coverage}-ui` }),
  };
  const color = process.stdout.isTTY ? ['--color'] : [];
  // beside the others, which leave a core idle now and then; shown behind them
  runs.push(mocha('.mocharc.ui.cjs', [...color, ...forMocha, ...uiFiles], ui, runsUnit ? 'pipe' : 'inherit'));
}
const ended = await Promise.all(runs);
for (const { text } of ended) process.stdout.write(text);
keepCosts();
process.exitCode = Math.max(...ended.map(({ code }) => code));
