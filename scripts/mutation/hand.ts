/**
 * Tries the hand mutations of `test/mutants` in copies of the checkout, and fails where one survives its tests.
 *
 *   node scripts/mutation/hand.ts [--changed | --part=K/N] [--after=REPORT] [id ...]
 *
 * --changed tries those whose source, tests or list differ from the last commit, --part the K-th of N parts, and those
 * that differ from the commit in CI_BASE. --after names the report of a run of these sources: test files that are green
 * there are not run once more without a mutation. Node.js below 24 needs --import=tsx.
 */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutantIssues, mutated, readMutants } from './mutants.ts';
import type { Mutant } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const resultFile = join(root, '.cache/mutation/hand.json');
const copyCount = 2;
/** A run of mocha that takes longer has no result. */
const maxRunMs = 600_000;
const notCopied = new Set(['.git', '.cache', '.stryker-tmp', '.venv', 'coverage', 'dist', 'node_modules']);

interface TestResult {
  /** absent: of a hook outside of files */
  readonly file?: string | null;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'retried' | 'quarantined';
  readonly error?: string;
}

interface MochaRun {
  /** null: no test ran, or the time limit ended the run */
  readonly tests: readonly TestResult[] | null;
  readonly output: string;
}

interface Verdict {
  readonly mutant: Mutant;
  readonly outcome: 'killed' | 'survived' | 'no result';
  /** title of the first test that failed, or why there is no result */
  readonly detail: string;
  /** that test ran into its time limit, as it may also do on a busy machine */
  readonly byTime: boolean;
  readonly seconds: number;
}

const runs = new Set<ChildProcess>();

/** Packages may also be installed below the checkout. */
const isCopied = (path: string): boolean => basename(path) !== 'node_modules';

/** A copy of the checkout in which tests find their neighbours: installed packages, and the folder beside the checkout. */
function copyOfCheckout(folder: string, number: number): string {
  const copy = join(folder, `${number}`, 'checkout');
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!notCopied.has(name)) cpSync(join(root, name), join(copy, name), { recursive: true, filter: isCopied });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const shared = join(root, '../shared');
  if (existsSync(shared)) symlinkSync(shared, join(folder, `${number}`, 'shared'));
  return copy;
}

/** Ends a run with the process that mocha starts for options of Node.js: both are of one group. */
function kill({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

// the depth and the notices of a night are not those of a judge
const environment = { ...process.env, FC_SCALE: '1', TEST_DEPTH: 'quick', TEST_SKIPPED: undefined };

function mocha(copy: string, files: readonly string[], options: readonly string[]): Promise<MochaRun> {
  const report = join(dirname(copy), 'report.json');
  rmSync(report, { force: true });
  const program = [
    'node_modules/mocha/bin/mocha.js',
    '--config',
    '.mocharc.cjs',
    '--no-parallel',
    '--timeout',
    '60000',
  ];
  const args = [...program, '--reporter', './scripts/test/reporter.cjs', ...options, ...files];
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: { ...environment, TEST_REPORT: report, NODE_COMPILE_CACHE: join(dirname(copy), 'code') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  runs.add(child);
  const limit = setTimeout(() => {
    kill(child);
  }, maxRunMs);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve) => {
    child.on('close', () => {
      clearTimeout(limit);
      runs.delete(child);
      const isComplete = child.exitCode !== null && existsSync(report);
      const tests = isComplete ? (JSON.parse(readFileSync(report, 'utf8')) as TestResult[]) : [];
      resolve({ tests: tests.length > 0 ? tests : null, output });
    });
  });
}

/** Why the tests cannot judge: one is not green without a mutation, or a title is not among them. */
async function baselineIssues(copy: string, mutants: readonly Mutant[]): Promise<readonly string[]> {
  const files = [...new Set(mutants.flatMap(({ spec }) => spec))];
  if (files.length === 0) return [];
  const { tests, output } = await mocha(copy, files, []);
  if (tests === null) return [`no test ran without a mutation:\n${output}`];
  const failed = tests.filter(({ outcome }) => outcome === 'failed');
  const titles = new Set(tests.map(({ title }) => title));
  return [
    ...failed.map(({ title, error = '' }) => `fails without a mutation: ${title}: ${error}`),
    ...mutants
      .filter(({ killedBy }) => !titles.has(killedBy))
      .map(({ id }) => `${id}: no test is titled as in "killedBy"`),
  ];
}

/** Those that a report does not show to be judged by green tests. @param path of the report; absent: all of them */
function unproved(mutants: readonly Mutant[], path: string | undefined): readonly Mutant[] {
  if (path === undefined || !existsSync(path)) return mutants;
  const tests = JSON.parse(readFileSync(path, 'utf8')) as TestResult[];
  const green = new Set(tests.filter(({ outcome }) => outcome === 'passed').map(({ title }) => title));
  const isRed = ({ outcome }: TestResult) => outcome !== 'passed' && outcome !== 'skipped';
  const redFiles = new Set(tests.filter(isRed).map(({ file }) => file));
  return mutants.filter(({ spec, killedBy }) => !green.has(killedBy) || spec.some((file) => redFiles.has(file)));
}

async function judge(copy: string, mutant: Mutant): Promise<Verdict> {
  const startedMs = Date.now();
  const path = join(copy, mutant.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutated(source, mutant));
  const bail = (...options: string[]) => mocha(copy, mutant.spec, ['--bail', ...options]);
  let run = await bail('--fgrep', mutant.killedBy);
  // it may fail by tests that stand beside the one that is named
  if (run.tests?.every(({ outcome }) => outcome !== 'failed')) run = await bail();
  writeFileSync(path, source);
  const { tests, output } = run;
  const seconds = (Date.now() - startedMs) / 1000;
  if (tests === null)
    return { mutant, outcome: 'no result', detail: output.trim().slice(-2000), byTime: false, seconds };
  const failed = tests.find(({ outcome }) => outcome === 'failed');
  const byTime = failed?.error?.startsWith('Timeout of') ?? false;
  return { mutant, outcome: failed ? 'killed' : 'survived', detail: failed?.title ?? '', byTime, seconds };
}

/** Shares work out to the copies, one piece at a time for each. */
async function inCopies<T, R>(
  copies: readonly string[],
  work: readonly T[],
  run: (copy: string, piece: T) => Promise<R>,
): Promise<readonly R[]> {
  const rest = work.entries();
  const results: R[] = [];
  const follow = async (copy: string): Promise<void> => {
    for (const [at, piece] of rest) results[at] = await run(copy, piece);
  };
  await Promise.all(copies.map(follow));
  return results;
}

function line({ mutant, outcome, detail, byTime, seconds }: Verdict): string {
  const killer = [byTime && 'by time', detail !== mutant.killedBy && `by another test: ${detail}`];
  const more = outcome === 'killed' ? killer.filter(Boolean).join(', ') : outcome === 'survived' ? mutant.what : detail;
  return `${outcome.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${mutant.id.padEnd(40)} ${more}`.trimEnd();
}

function changedFiles(base: string): ReadonlySet<string> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n');
  return new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]);
}

/** @returns whether a mutation is of the part `K/N`, by its place in the lists @throws Error for other text */
function partOf(text: string): (at: number) => boolean {
  const [part = 0, count = 0] = text.split('/').map(Number);
  if (!(Number.isInteger(count) && Number.isInteger(part) && part >= 1 && part <= count))
    throw new Error(`--part is ${text}; allowed: K/N with 1 <= K <= N`);
  return (at) => at % count === part - 1;
}

function chosen(mutants: readonly Mutant[], args: readonly string[]): readonly Mutant[] {
  const ids = args.filter((arg) => !arg.startsWith('--'));
  const unknown = ids.filter((id) => !mutants.some((mutant) => mutant.id === id));
  if (unknown.length > 0) throw new Error(`no mutation has the id ${unknown.join(', ')}`);
  const named = ids.length === 0 ? mutants : mutants.filter(({ id }) => ids.includes(id));
  const part = args.find((arg) => arg.startsWith('--part='))?.slice('--part='.length);
  if (part === undefined && !args.includes('--changed')) return named;
  const isInPart = part === undefined ? () => false : partOf(part);
  const changed = changedFiles((part !== undefined && process.env['CI_BASE']) || 'HEAD');
  return named.filter(
    ({ file, spec, list }, at) => isInPart(at) || [file, list, ...spec].some((path) => changed.has(path)),
  );
}

/** @returns whether every mutation was killed */
async function tryAll(
  copies: readonly string[],
  mutants: readonly Mutant[],
  report: string | undefined,
): Promise<boolean> {
  // neighbours have their tests in common
  const toProve = unproved(mutants, report).toSorted((a, b) => (a.spec.join() < b.spec.join() ? -1 : 1));
  const share = Math.ceil(toProve.length / copies.length);
  const shares = copies.map((_, copy) => toProve.slice(copy * share, (copy + 1) * share));
  console.log(`${mutants.length} mutations; the tests of ${toProve.length} run without a mutation first`);
  const issues = (await inCopies(copies, shares, baselineIssues)).flat();
  for (const issue of issues) console.error(issue);
  if (issues.length > 0) return false;
  const verdicts = await inCopies(copies, mutants, async (copy, mutant) => {
    const verdict = await judge(copy, mutant);
    console.log(line(verdict));
    return verdict;
  });
  const alive = verdicts.filter(({ outcome }) => outcome !== 'killed').map(({ mutant }) => mutant.id);
  const killed = verdicts.length - alive.length;
  mkdirSync(dirname(resultFile), { recursive: true });
  writeFileSync(resultFile, `${JSON.stringify({ killed, survived: alive }, null, 2)}\n`);
  console.log(
    `${killed} of ${verdicts.length} mutations killed${alive.length > 0 ? `; not: ${alive.join(', ')}` : ''}`,
  );
  return alive.length === 0;
}

async function main(args: readonly string[]): Promise<boolean> {
  const mutants = chosen(readMutants(root), args);
  const issues = mutants.flatMap((mutant) => mutantIssues(root, mutant).map((issue) => `${mutant.id}: ${issue}`));
  for (const issue of issues) console.error(issue);
  if (issues.length > 0) return false;
  if (mutants.length === 0) {
    console.log('no mutation is concerned');
    return true;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hand-mutations-'));
  const clean = () => {
    for (const child of runs) kill(child);
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      clean();
      process.exit(1);
    });
  try {
    const copies = Array.from({ length: Math.min(copyCount, mutants.length) }, (_, at) => copyOfCheckout(folder, at));
    const report = args.find((arg) => arg.startsWith('--after='))?.slice('--after='.length);
    return await tryAll(copies, mutants, report);
  } finally {
    clean();
  }
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
