/**
 * Mutation tests of the rule modules of `test/mutation.json`. Needs Node.js 24; Stryker is installed on first use.
 *
 *   npm run mutation -- [module...] [--all] [--changed[=REF]] [--part N/M] [--sample N] [--fresh] [--raise] [--list]
 *
 * --changed takes the modules with a source or a test that differs from a commit (HEAD), --part every M-th from the N-th.
 * --sample mutates every N-th block of 30 lines: a score within some points in an N-th of the time. --fresh tries every mutant
 * again, also those of unchanged files. --raise writes floors that a score permits.
 * Fails when a module is below its floor. `.cache/mutation` holds a report for each module, and `summary.json`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  equivalentsFile,
  filesOf,
  maxEquivalentShare,
  moduleNamed,
  resultFile,
  ruleModules,
  tableFile,
} from './modules.mjs';
import { inWords, judged, unexplained } from './result.ts';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const folder = 'scripts/mutation';
const stryker = `${folder}/node_modules/@stryker-mutator/core/bin/stryker.js`;
const shim = fileURLToPath(new URL('mocha12.cjs', import.meta.url));

function readJson(file, otherwise) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : otherwise;
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function install() {
  if (existsSync(stryker)) return;
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('npm ci of Stryker failed');
}

/** Modules with a file that differs from a commit. */
function changedModules(ref) {
  const git = (...args) =>
    execFileSync('git', args, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  const changed = new Set([...git('diff', '--name-only', ref), ...git('ls-files', '--others', '--exclude-standard')]);
  return ruleModules().filter(({ mutate, spec }) =>
    [...filesOf(mutate), ...filesOf(spec)].some((file) => changed.has(file)),
  );
}

/** Takes an option and its value out of the arguments. @returns the value; undefined without the option */
function taken(args, option) {
  const at = args.indexOf(option);
  return at < 0 ? undefined : args.splice(at, 2)[1];
}

/** Modules in turn. @param part as `2/5`: the 2nd, the 7th and so on */
function modulesOfPart(part) {
  const [number, count] = part.split('/').map(Number);
  if (!(number >= 1 && number <= count)) throw new Error(`--part ${part} is not like 2/5`);
  return ruleModules().filter((_, i) => i % count === number - 1);
}

function chosen(args) {
  const part = taken(args, '--part');
  const names = args.filter((argument) => !argument.startsWith('-'));
  const unknown = args.find(
    (argument) => argument.startsWith('-') && !/^--(all|fresh|raise|list|changed(=.*)?)$/.test(argument),
  );
  if (unknown !== undefined) throw new Error(`${unknown} is not an option`);
  const changed = args.find((argument) => /^--changed(=|$)/.test(argument));
  const rows = [
    ...names.map(moduleNamed),
    ...(args.includes('--all') ? ruleModules() : []),
    ...(part === undefined ? [] : modulesOfPart(part)),
    ...(changed === undefined ? [] : changedModules(changed.split('=')[1] ?? 'HEAD')),
  ];
  return [...new Set(rows.map(({ module }) => module))].map(moduleNamed);
}

/** Lets Stryker try the mutants of a module. @returns whether it could */
function mutate(module, { isFresh, sample }) {
  const { status } = spawnSync(process.execPath, [stryker, 'run', `${folder}/stryker.conf.mjs`, '--logLevel', 'warn'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require="${shim}"`,
      // the outcomes of tests under mutation are no results of the suite
      ...{ TEST_REPORT: undefined, TEST_SKIPPED: undefined, TEST_COST: undefined },
      MUTATION_MODULE: module,
      MUTATION_FORCE: isFresh ? '1' : '0',
      MUTATION_SAMPLE: String(sample),
      FC_SCALE: process.env.FC_SCALE ?? '0.2',
      TEST_DEPTH: 'quick',
    },
  });
  return status === 0;
}

/** @returns what is wrong, in sentences */
function report({ module, floor, target }, { figures, survivors, equivalentShare, stale }) {
  const { killed, survived, timeout, noCoverage, score } = figures;
  for (const survivor of survivors) console.log(`  ${inWords(survivor)}`);
  console.log(
    `${module}: ${score} % (killed ${killed}, survived ${survived}, timeout ${timeout}, no coverage ${noCoverage}; ` +
      `floor ${floor}, target ${target})`,
  );
  return [
    ...(score < floor ? [`${module}: ${score} % is below the floor of ${floor} %`] : []),
    ...stale.map(({ file, line }) => `${equivalentsFile}: no survivor in ${file}: ${line}`),
    ...(equivalentShare > maxEquivalentShare
      ? [`${equivalentsFile}: ${Math.round(equivalentShare * 1000) / 10} % of ${module} are called equivalent`]
      : []),
  ];
}

/** Points between a score and its floor: of a sample more, since another one may differ. */
const margin = { all: 2, sample: 5 };

function raiseFloors(summary) {
  const rows = ruleModules().map((row) => {
    const { score = 0, sample = 1 } = summary[row.module] ?? {};
    const reached = Math.round((score - (sample === 1 ? margin.all : margin.sample)) * 10) / 10;
    return reached > row.floor ? { ...row, floor: reached } : row;
  });
  writeJson(tableFile, rows);
}

/** @returns what is wrong, in sentences */
function runModule(row, options) {
  const files = filesOf(row.mutate);
  const withoutReason = files.flatMap((file) =>
    unexplained(readFileSync(file, 'utf8')).map((line) => `${file}, ${line}: Stryker disable without a reason`),
  );
  if (withoutReason.length > 0) return withoutReason;
  console.log(`\n== ${row.module}: ${files.length} files, ${filesOf(row.spec).length} test files`);
  if (!mutate(row.module, options)) return [`${row.module}: Stryker failed`];
  const equivalents = readJson(equivalentsFile, []).filter(({ file }) => files.includes(file));
  const result = judged(readJson(resultFile(row.module)), equivalents);
  const { floor, target } = row;
  const { sample } = options;
  const summary = {
    ...readJson(resultFile('summary'), {}),
    [row.module]: { ...result.figures, floor, target, sample },
  };
  writeJson(resultFile('summary'), summary);
  // an equivalent mutant outside the sample did not survive, but was not tried
  return report(row, sample === 1 ? result : { ...result, stale: [] });
}

const args = process.argv.slice(2);
if (Number(process.versions.node.split('.')[0]) < 24)
  throw new Error('mutation tests need Node.js 24, which strips types');
if (args.includes('--list')) for (const { module } of ruleModules()) console.log(module);
else {
  install();
  mkdirSync('.cache/mutation', { recursive: true });
  const sample = Number(taken(args, '--sample') ?? 1);
  if (!(Number.isInteger(sample) && sample >= 1)) throw new Error('--sample needs a whole number from 1 on');
  const options = { isFresh: args.includes('--fresh'), sample };
  const wrong = chosen(args).flatMap((row) => runModule(row, options));
  if (args.includes('--raise')) raiseFloors(readJson(resultFile('summary'), {}));
  for (const sentence of wrong) console.error(sentence);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
