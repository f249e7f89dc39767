/** Verdicts of judges, from the reports that the tests write (scripts/test/reporter.cjs). */
import type { Look } from './document.ts';

export interface TestReport {
  readonly file: string;
  readonly title: string;
  /** titles of the suites around the test, and its own */
  readonly path: readonly string[];
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'quarantined' | 'retried';
}

/** Tests of a suite that the document names. */
const maxNames = 20;

/** A line that `skip` of test/support/skip.ts writes; its title is that of a test, or of the suite that a hook skips. */
export interface Skip {
  readonly title: string;
  readonly reason: string;
}

/** Tests that a judge takes part in; a test must fit all members. */
export interface Selector {
  /** peer of `describeWith` */
  readonly peer?: string;
  /** beginnings of paths below test/ */
  readonly files?: readonly string[];
  readonly title?: RegExp;
}

/** What ran: `plan` has all tests that should have. */
export interface TestRun {
  readonly plan: readonly TestReport[];
  readonly reports: readonly TestReport[];
  readonly skips: readonly Skip[];
  /** files, as reports name them, that the run leaves to the night */
  readonly leftOut: ReadonlySet<string>;
  readonly date: string;
  readonly commit: string;
}

/** Reason of the tests of a file that a run leaves to the night. */
export const nightAlone = 'the reports are of a run that leaves its file to the night';

/** The peers of a suite made by `describeWith`, whose title lists them. */
const peersOf = (title: string) => title.split(', ');

const fits = (test: TestReport, { peer, files, title }: Selector) =>
  (peer === undefined || test.path.some((each) => peersOf(each).includes(peer))) &&
  (files === undefined || files.some((file) => test.file.startsWith(`test/${file}`))) &&
  (title === undefined || title.test(test.title));

export const isOf = (test: TestReport, selectors: readonly Selector[]): boolean =>
  selectors.some((selector) => fits(test, selector));

interface Result {
  readonly test: TestReport;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'missing';
}

const keyOf = ({ file, title }: TestReport) => `${file}: ${title}`;

/** Each report and each planned test without one; a test in quarantine that fails has failed for its judge. */
function resultsOf({ plan, reports, leftOut }: TestRun, selectors: readonly Selector[]): readonly Result[] {
  const ended = reports.filter((test) => test.outcome !== 'retried' && isOf(test, selectors));
  const keys = new Set(ended.map(keyOf));
  return [
    ...ended.map((test) => ({
      test,
      outcome: test.outcome === 'passed' || test.outcome === 'skipped' ? test.outcome : ('failed' as const),
    })),
    ...plan
      .filter((test) => isOf(test, selectors) && !keys.has(keyOf(test)))
      .map((test) => ({ test, outcome: leftOut.has(test.file) ? ('skipped' as const) : ('missing' as const) })),
  ];
}

/** The reason of the notice with the longest title that the test's title begins with. */
function reasonOf({ title, file }: TestReport, { skips, leftOut }: TestRun): string {
  if (leftOut.has(file)) return nightAlone;
  const fitting = skips.filter((skip) => title === skip.title || title.startsWith(`${skip.title} `));
  const longest = fitting.toSorted((a, b) => b.title.length - a.title.length)[0];
  return longest?.reason ?? 'no reason was given';
}

function counted<T>(items: readonly T[], keyOfItem: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOfItem(item), (counts.get(keyOfItem(item)) ?? 0) + 1);
  return counts;
}

/** The suite of a test, by its first title that is no list of peers, and the name of the test in it. */
function placeOf({ path }: TestReport, peers: ReadonlySet<string>): { title: string; name: string } {
  const titles = path.filter((title) => !peersOf(title).every((each) => peers.has(each)));
  const [title = '', ...inner] = titles.length > 1 ? titles : path;
  return { title, name: inner.join(': ') };
}

function suitesOf(results: readonly Result[], peers: ReadonlySet<string>): Look['suites'] {
  const suites = new Map<string, Look['suites'][number]>();
  for (const { test } of results) {
    const { title, name } = placeOf(test, peers);
    const key = `${test.file}: ${title}`;
    const suite = suites.get(key) ?? { file: test.file, title, tests: 0, names: [] };
    suite.tests += 1;
    if (suite.names.length < maxNames) suite.names.push(name);
    suites.set(key, suite);
  }
  return [...suites.values()];
}

function notRunReason(results: readonly Result[], skips: Look['skips']): string {
  if (results.length === 0) return 'no test names it';
  if (skips.length === 0) return `none of its ${results.length} tests came to an end`;
  return skips.map(({ reason }) => reason).join('; ');
}

/** Reason of a judge that nobody has asked. */
export const outsideRun = 'it was not part of the run (--only)';

/** A judge or procedure that did not run. */
export function notRun(reason: string): Look {
  return {
    verdict: 'not_run',
    reason,
    date: null,
    commit: null,
    failed_runs: 0,
    tests: { passed: 0, failed: 0, skipped: 0 },
    skips: [],
    failures: [],
    suites: [],
  };
}

/** @param peers names that `describeWith` takes */
export function lookOf(run: TestRun, selectors: readonly Selector[], peers: ReadonlySet<string>): Look {
  const results = resultsOf(run, selectors);
  const having = (...outcomes: readonly Result['outcome'][]) =>
    results.filter(({ outcome }) => outcomes.includes(outcome));
  const skipped = having('skipped');
  const skips = [...counted(skipped, ({ test }) => reasonOf(test, run))].map(([reason, tests]) => ({
    reason,
    tests,
  }));
  const passed = having('passed').length;
  if (passed + having('failed').length === 0)
    return { ...notRun(notRunReason(results, skips)), tests: { passed: 0, failed: 0, skipped: skipped.length }, skips };
  // a test that was begun beside others and has no result was cut short
  const bad = having('failed', 'missing');
  return {
    verdict: bad.length > 0 ? 'failed' : 'passed',
    reason: null,
    date: run.date,
    commit: run.commit,
    failed_runs: 0,
    tests: { passed, failed: bad.length, skipped: skipped.length },
    skips,
    failures: bad.map(({ test, outcome }) => (outcome === 'missing' ? `${test.title} (did not end)` : test.title)),
    suites: suitesOf(having('passed', 'failed', 'missing'), peers),
  };
}
