/** Runs of the tests that judges take part in, and their reports. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOf } from './verdicts.ts';
import type { Selector, Skip, TestReport } from './verdicts.ts';

export interface TestRunFolder {
  /** folder of the reports, named as the stages of a night are */
  readonly reports: string;
  /** file of the lines that `skip` writes */
  readonly skips: string;
}

interface Suite {
  readonly report: string;
  readonly config: string;
  readonly args?: readonly string[];
  readonly takes: (file: string) => boolean;
}

const isInterop = (file: string) => file.startsWith('test/interop/');
const isBrowser = (file: string) => file.startsWith('test/browser/');

/** Files of a list of .ci/judges.json. */
function filesOf(root: string, list: 'alone' | 'nightly'): readonly string[] {
  const lists = JSON.parse(readFileSync(join(root, '.ci/judges.json'), 'utf8')) as Record<typeof list, string[]>;
  return lists[list].map((name) => `test/interop/${name}.test.ts`);
}

/** Files of the night of which a run of CI has no report: no changed file called them. */
export function leftOutOf(root: string, reports: readonly TestReport[]): ReadonlySet<string> {
  const reported = new Set(reports.map(({ file }) => file));
  return new Set(filesOf(root, 'nightly').filter((file) => !reported.has(file)));
}

/** The commands of the stages of CI (scripts/ci/stages.mjs), each for its files. */
function suites(root: string): readonly Suite[] {
  const alone = filesOf(root, 'alone');
  return [
    { report: 'npm-test', config: '.mocharc.cjs', takes: (file) => !isInterop(file) && !isBrowser(file) },
    {
      report: 'interop-tests',
      config: '.mocharc.interop.cjs',
      takes: (file) => isInterop(file) && !alone.includes(file),
    },
    {
      report: 'interop-tests-one-at-a-time',
      config: '.mocharc.interop.cjs',
      args: ['--no-parallel'],
      takes: (file) => alone.includes(file),
    },
    { report: 'browser-tests', config: '.mocharc.browser.cjs', takes: isBrowser },
  ];
}

function mocha(root: string, args: readonly string[], environment: NodeJS.ProcessEnv, output: 'inherit' | 'ignore') {
  const program = join(root, 'node_modules/mocha/bin/mocha.js');
  return spawnSync(process.execPath, [program, ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, 'inherit'],
  }).status;
}

const reportsIn = (file: string): readonly TestReport[] =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TestReport[]) : [];

/** Test files that may have tests of the selectors. */
function candidates(root: string, selectors: readonly Selector[]): readonly string[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => `test/${name}`).filter((file) => file.endsWith('.test.ts'));
  const mayHave = (file: string) =>
    selectors.some(({ files: beginnings }) =>
      beginnings === undefined ? isInterop(file) : beginnings.some((each) => file.startsWith(`test/${each}`)),
    );
  return files.filter(mayHave);
}

/** All tests of the selectors, also those that a run would skip. */
export function plannedTests(root: string, folder: string, selectors: readonly Selector[]): readonly TestReport[] {
  const files = candidates(root, selectors);
  mkdirSync(folder, { recursive: true });
  return suites(root).flatMap(({ config, takes }, index) => {
    const chosen = files.filter(takes);
    if (chosen.length === 0) return [];
    const report = join(folder, `plan-${index}.json`);
    const args = ['--config', config, '--dry-run', '--no-parallel', ...chosen];
    if (mocha(root, args, { TEST_REPORT: report }, 'ignore') !== 0)
      throw new Error(`the tests of ${config} cannot be listed`);
    return reportsIn(report).filter((test) => isOf(test, selectors));
  });
}

/** Runs files with the usual output, and writes a report for each suite. Failures are in the reports alone. */
export function runTests(root: string, { reports, skips }: TestRunFolder, files: readonly string[]): void {
  rmSync(skips, { force: true });
  for (const { report, config, args = [], takes } of suites(root)) {
    const file = join(reports, `${report}.json`);
    rmSync(file, { force: true });
    const chosen = files.filter(takes);
    if (chosen.length === 0) continue;
    const environment = { TEST_REPORT: file, TEST_SKIPPED: skips, TEST_PROGRAM: 'dist/main.js' };
    mocha(root, ['--config', config, ...args, ...chosen], environment, 'inherit');
  }
}

/** Reports of all suites; a suite that did not run has none. */
export const reportsOf = (root: string, { reports }: TestRunFolder): readonly TestReport[] =>
  suites(root).flatMap(({ report }) => reportsIn(join(reports, `${report}.json`)));

export function skipsOf({ skips }: TestRunFolder): readonly Skip[] {
  if (!existsSync(skips)) return [];
  const lines = readFileSync(skips, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Skip);
}
