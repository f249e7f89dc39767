import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { evidenceFormat, evidenceIn, evidenceSchema } from '../../scripts/evidence/document.ts';
import type { Evidence, Look } from '../../scripts/evidence/document.ts';
import { chosenIds, evidenceOf, staleDisagreements } from '../../scripts/evidence/evidence.ts';
import type { Judge, Table } from '../../scripts/evidence/evidence.ts';
import { indexOf, pageOf } from '../../scripts/evidence/page.ts';
import { claimsIn, refusals } from '../../scripts/evidence/refusals.ts';
import { leftOutOf } from '../../scripts/evidence/runs.ts';
import { lookOf, nightAlone } from '../../scripts/evidence/verdicts.ts';
import type { Skip, TestReport, TestRun } from '../../scripts/evidence/verdicts.ts';
import { schemaOf } from '../../scripts/generate-schemas.ts';
import { packageFile } from '../../src/core/package-files.ts';

const commit = 'c'.repeat(40);
const peers = new Set(['alpha', 'beta', 'gamma']);

/** A suite with judges that pass, fail and are missing. */
const suiteText = `
import { strictEqual } from 'node:assert';
import { skip } from ${JSON.stringify(packageFile('test/support/skip.ts'))};
describe('alpha', () => {
  describe('a master', () => {
    it('reads', () => undefined);
    it('captures', function () { skip(this, 'this user may not capture'); });
  });
});
describe('alpha, beta', () => {
  describe('two masters', () => {
    it('agree', () => strictEqual(1, 2));
  });
});
describe('gamma', () => {
  before(function () { skip(this, 'gamma is missing (npm run peers)'); });
  describe('a server', () => {
    it('answers', () => undefined);
    it('refuses', () => undefined);
  });
});
describe('derbench alone', () => {
  it('starts', () => undefined);
});
`;

/** What mocha and its reporter write about the suite. */
function recorded(): Pick<TestRun, 'reports' | 'skips'> {
  const folder = mkdtempSync(join(tmpdir(), 'derbench-evidence-'));
  try {
    mkdirSync(join(folder, 'test'));
    writeFileSync(join(folder, 'test/made-up.test.mjs'), suiteText);
    const [report, skips] = [join(folder, 'report.json'), join(folder, 'skipped.jsonl')];
    const mocha = packageFile('node_modules/mocha/bin/mocha.js');
    const options = ['--no-config', '--reporter', packageFile('scripts/test/reporter.cjs')];
    spawnSync(process.execPath, [...process.execArgv, mocha, ...options, 'test/made-up.test.mjs'], {
      cwd: folder,
      env: { ...process.env, TEST_REPORT: report, TEST_SKIPPED: skips },
    });
    return {
      reports: JSON.parse(readFileSync(report, 'utf8')) as TestReport[],
      skips: readFileSync(skips, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Skip),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function judge(id: string, members: Partial<Judge> = {}): Judge {
  const facts = { id, name: `Judge ${id}`, home: 'https://example.org/', protocol: 'dnp3', role: 'master' } as const;
  return { ...facts, version: { fixed: '1.2' }, tests: [{ peer: id }], ...members };
}

const disagreement = {
  test: 'alpha, beta two masters agree',
  why: 'They count from 0 and 1.',
  right: 'derbench',
  clause: 'IEEE 1815-2012 4.1',
  issue: null,
} as const;

const heading = {
  format: evidenceFormat,
  version: '9.9.9',
  commit,
  source: 'tree',
  api_version: '1.0.0',
  date: '2026-12-02T04:00:00Z',
  node: 'v24.0.0',
  os: 'Linux',
  depth: 'ci',
  seed: '7',
};

/** Reports of tests by their titles, of one suite of a peer. */
function reportsOf(peer: string, outcomes: Readonly<Record<string, TestReport['outcome']>>): readonly TestReport[] {
  return Object.entries(outcomes).map(([name, outcome]) => ({
    file: 'test/interop/x.test.ts',
    title: `${peer} a suite ${name}`,
    path: [peer, 'a suite', name],
    outcome,
  }));
}

function runOf(reports: readonly TestReport[], plan = reports): TestRun {
  return { plan, reports, skips: [], leftOut: new Set(), date: '2026-12-02', commit };
}

const lookAt = (run: TestRun) => lookOf(run, [{ peer: 'alpha' }], peers);

describe('verdicts of judges', () => {
  it('follow from a made-up suite: passed, failed, skipped, missing judge', () => {
    const run = { ...runOf([]), ...recorded() };
    const look = (id: string) => lookOf(run, [{ peer: id }], peers);
    expect(lookOf(run, [{ peer: 'alpha', title: /master (reads|captures)/ }], peers)).to.deep.equal({
      verdict: 'passed',
      reason: null,
      date: '2026-12-02',
      commit,
      failed_runs: 0,
      tests: { passed: 1, failed: 0, skipped: 1 },
      skips: [{ reason: 'this user may not capture', tests: 1 }],
      failures: [],
      suites: [{ file: 'test/made-up.test.mjs', title: 'a master', tests: 1, names: ['reads'] }],
    });
    expect(look('alpha')).to.deep.include({ verdict: 'failed', tests: { passed: 1, failed: 1, skipped: 1 } });
    expect(look('beta')).to.deep.include({ verdict: 'failed', failures: ['alpha, beta two masters agree'] });
    expect(look('gamma')).to.deep.include({
      verdict: 'not_run',
      reason: 'gamma is missing (npm run peers)',
      date: null,
      tests: { passed: 0, failed: 0, skipped: 2 },
    });
    expect(look('delta')).to.include({ verdict: 'not_run', reason: 'no test names it' });
  });

  it('take a test in quarantine that fails for a failure, and a first try for nothing', () => {
    expect(lookAt(runOf(reportsOf('alpha', { one: 'passed', two: 'quarantined' })))).to.include({ verdict: 'failed' });
    const twice = [...reportsOf('alpha', { one: 'retried' }), ...reportsOf('alpha', { one: 'passed' })];
    expect(lookAt(runOf(twice))).to.deep.include({ verdict: 'passed', tests: { passed: 1, failed: 0, skipped: 0 } });
  });

  it('count a planned test without a result as failed beside others, and as not run alone', () => {
    const plan = reportsOf('alpha', { one: 'passed', two: 'passed' });
    expect(lookAt(runOf(plan.slice(1), plan))).to.deep.include({
      verdict: 'failed',
      failures: ['alpha a suite one (did not end)'],
    });
    expect(lookAt(runOf([], plan))).to.include({
      verdict: 'not_run',
      reason: 'none of its 2 tests came to an end',
    });
  });

  it('count the tests of a file that the run left to the night as not run', () => {
    const plan = reportsOf('alpha', { one: 'passed', two: 'passed' });
    const night = reportsOf('alpha', { three: 'passed' }).map((test) => ({ ...test, file: 'test/interop/y.test.ts' }));
    const leftOut = new Set(['test/interop/y.test.ts']);
    expect(lookAt({ ...runOf(plan, [...plan, ...night]), leftOut })).to.deep.include({
      verdict: 'passed',
      tests: { passed: 2, failed: 0, skipped: 1 },
      skips: [{ reason: nightAlone, tests: 1 }],
    });
    expect(lookAt({ ...runOf([], night), leftOut })).to.include({ verdict: 'not_run', reason: nightAlone });
    // a file of every run that has no report was cut short
    expect(lookAt({ ...runOf(plan.slice(1), [...plan, ...night]), leftOut })).to.include({ verdict: 'failed' });
  });

  it('leave out the files of the night that have no report', () => {
    const root = packageFile('');
    const [first, second] = [...leftOutOf(root, [])];
    expect(first).to.equal('test/interop/container.test.ts');
    const report = { file: String(first), title: 'x', path: ['x'], outcome: 'failed' as const };
    expect([...leftOutOf(root, [report])][0]).to.equal(second);
    expect(leftOutOf(root, []).has('test/interop/mbpoll.test.ts')).to.equal(false);
  });
});

describe('the document of evidence', () => {
  const table: Table = {
    judges: [
      judge('alpha', { known: [disagreement] }),
      judge('beta', { shares: 'a parser' }),
      judge('gamma', { protocol: 'ocpp' }),
    ],
    gaps: { dnp3: ['DNP3 over TLS'] },
    procedures: [{ id: 'own', name: 'Own procedure', clauses: 'IEEE 1547.1-2020', tests: [{ peer: 'beta' }] }],
    peers,
  };
  const all = runOf([...reportsOf('alpha', { one: 'passed' }), ...reportsOf('beta', { one: 'passed' })]);
  const documentOf = (run: TestRun, only: readonly string[] = [], before: Evidence | null = null) =>
    evidenceOf(table, { run, chosen: chosenIds(table, only), heading, before, root: packageFile('') });
  const whole = documentOf(all);
  const verdicts = ({ judges }: Evidence) => judges.map(({ verdict }) => verdict);
  const ofAnotherSource: Evidence = { ...whole, source: 'another tree' };

  it('fits its schema, which refuses another verdict', () => {
    expect(evidenceSchema.parse(JSON.parse(JSON.stringify(whole)))).to.deep.equal(whole);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schemaOf('evidence'));
    expect(validate(whole), JSON.stringify(validate.errors)).to.equal(true);
    const [first] = whole.judges;
    expect(validate({ ...whole, judges: [{ ...first, verdict: 'good' }] })).to.equal(false);
  });

  it('is refused in another form than this version reads', () => {
    expect(evidenceIn(JSON.stringify(whole), 'a.json')).to.deep.equal(whole);
    for (const format of [undefined, evidenceFormat + 1])
      expect(() => evidenceIn(JSON.stringify({ ...whole, format }), 'a.json')).to.throw(
        `a.json has the format ${format}; this version reads ${evidenceFormat}`,
      );
  });

  it('keeps verdicts of other judges for the same files alone', () => {
    const later = runOf(reportsOf('gamma', { one: 'passed' }));
    expect(verdicts(documentOf(later, ['ocpp'], whole))).to.deep.equal(['passed', 'passed', 'passed']);
    const anew = documentOf(later, ['ocpp'], ofAnotherSource);
    expect(verdicts(anew)).to.deep.equal(['not_run', 'not_run', 'passed']);
    expect(anew.judges[0]?.reason).to.equal('it was not part of the run (--only)');
  });

  it('counts the runs of the same files that failed before a judge passed', () => {
    const failed = documentOf(runOf(reportsOf('alpha', { one: 'failed' })), ['alpha'], whole);
    const twice = documentOf(runOf(reportsOf('alpha', { one: 'failed' })), ['alpha'], failed);
    const passed = documentOf(all, ['alpha'], twice);
    expect([whole, failed, twice, passed].map(({ judges: [alpha] }) => alpha?.failed_runs)).to.deep.equal([0, 0, 1, 2]);
    expect(pageOf(passed)).to.include('| ✅ passed, 2 runs before failed |');
    expect(documentOf(all, ['alpha'], { ...twice, source: 'another tree' }).judges[0]?.failed_runs).to.equal(0);
  });

  it('names known disagreements whose test is gone', () => {
    const chosen = new Set(['alpha']);
    expect(staleDisagreements(table, all.plan, chosen)).to.deep.equal([
      'alpha: no test begins with "alpha, beta two masters agree"',
    ]);
    expect(staleDisagreements(table, [{ ...all.plan[0]!, title: `${disagreement.test} twice` }], chosen)).to.be.empty;
  });

  describe('as a page', () => {
    const failing = reportsOf('alpha', { one: 'failed' });
    const page = pageOf(documentOf(runOf([...failing, ...reportsOf('beta', { one: 'passed' })])));
    const lineOf = (text: string) => page.split('\n').find((line) => line.includes(text)) ?? '';
    /** The text between two headings. */
    const section = (title: string) => page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

    it('has a table per protocol, with version, role, independence and verdict', () => {
      expect(section('DNP3 (IEEE 1815)')).to.include(
        '| [Judge alpha](https://example.org/) | 1.2 | master | yes | ❌ failed',
      );
      expect(section('DNP3 (IEEE 1815)')).to.include(
        '| no: a parser | ✅ passed | 1 | 0 | 0 | 2026-12-02 | cccccccccc |',
      );
      expect(section('OCPP')).to.include('[Judge gamma]').and.not.include('[Judge alpha]');
    });

    it('says why a judge did not run, and shows it in no green', () => {
      expect(section('OCPP')).to.include('- ⬜ Judge gamma: no test names it').and.not.include('✅');
      expect(section('OCPP')).to.include('[Judge gamma](https://example.org/) | - |');
    });

    it('shows failures with their issue, and who is right by which clause', () => {
      expect(lineOf('failed: alpha a suite one')).to.include('no issue yet');
      expect(lineOf('They count from 0 and 1.')).to.include('| derbench | IEEE 1815-2012 4.1 | - |');
    });

    it('says what no judge looks at, and which tests each has taken part in', () => {
      expect(section('DNP3 (IEEE 1815)')).to.include('### No judge looks at\n\n- DNP3 over TLS\n');
      expect(section('DNP3 (IEEE 1815)')).to.include('<summary>1 test</summary><ul><li>one</li></ul>');
    });

    it('says beside a verdict which tests did not run, and counts such judges apart', () => {
      const run = runOf(reportsOf('alpha', { one: 'passed', two: 'skipped', three: 'skipped' }));
      const skips = [{ title: 'alpha a suite', reason: 'this user may not capture' }];
      const partial = documentOf({ ...run, skips });
      expect(pageOf(partial))
        .to.include('| ✅ passed, 2 not run: this user may not capture | 1 | 0 | 2 |')
        .and.to.include('| Judge alpha 1.2 (2 not run) |');
      expect(indexOf([partial])).to.include('| cccccccccc | 1 | 1 | 0 | 2 | 1 |');
    });

    it('has our own procedures in a section of their own', () => {
      expect(section('Our own procedures')).to.include('Own procedure').and.not.include('Judge');
      expect(page.split('## Our own procedures')[0]).not.to.include('Own procedure');
    });

    it('makes no claim of an alliance', () => {
      expect(claimsIn(page)).to.be.empty;
      expect(claimsIn('It is certified. "A compliant device" is a title. Conformant?')).to.deep.equal([
        'certified',
        'Conformant',
      ]);
    });
  });

  describe('is refused for a release', () => {
    const last: Evidence = { ...whole, version: '9.9.8', date: '2026-11-01T04:00:00Z' };
    function refusalsOf(newest: Evidence, source: string | null = 'tree', version: string | null = null) {
      return refusals([newest, last], { source, version }, { page: pageOf(newest), index: indexOf([newest, last]) });
    }

    it('not if all is well', () => {
      expect(refusalsOf(whole)).to.be.empty;
    });

    it('if there is none', () => {
      expect(refusals([], { source: 'tree', version: null }, { page: null, index: null })).to.have.length(1);
    });

    it('if it is of another version than the release', () => {
      expect(refusalsOf(whole, 'tree', '9.9.9')).to.be.empty;
      expect(refusalsOf(whole, 'tree', '9.9.8')).to.deep.equal([
        'the newest evidence is for 9.9.9: npm run evidence -- --release 9.9.8',
      ]);
    });

    it('if the files are others, or not committed', () => {
      expect(refusalsOf(whole, 'another tree')).to.deep.equal([
        'the evidence for 9.9.9 is of other files: npm run evidence',
      ]);
      expect(refusalsOf(whole, null)).to.have.length(1);
    });

    it('if a judge failed, unless a known disagreement with an issue says why', () => {
      const failures = [`${disagreement.test} twice`];
      const withKnown = (issue: string | null): Evidence => ({
        ...whole,
        judges: whole.judges.map((each) =>
          each.id === 'alpha' ? { ...each, verdict: 'failed', failures, known: [{ ...disagreement, issue }] } : each,
        ),
      });
      expect(refusalsOf(withKnown(null))[0]).to.match(/^alpha failed without a known disagreement/);
      expect(refusalsOf(withKnown('12'))).to.be.empty;
    });

    it('if one of our own procedures failed', () => {
      const failed: Look['verdict'] = 'failed';
      const procedures = whole.procedures.map((each) => ({ ...each, verdict: failed }));
      expect(refusalsOf({ ...whole, procedures })).to.deep.equal(['own failed']);
    });

    it('if a judge that ran for the version before did not run, or is gone', () => {
      const without = documentOf(runOf(reportsOf('beta', { one: 'passed' })));
      expect(refusalsOf(without)).to.deep.equal([
        'alpha ran for the version before and did not run now: no test names it',
      ]);
      expect(refusalsOf({ ...whole, judges: whole.judges.slice(1) })).to.deep.equal([
        'alpha ran for the version before and is no judge now',
      ]);
    });

    it('if only some of the judges were asked', () => {
      const part = documentOf(all, ['dnp3'], ofAnotherSource);
      expect(refusalsOf(part)).to.deep.equal([
        'gamma has not been asked: npm run evidence -- --only gamma',
        'own has not been run',
      ]);
    });

    it('if the version of a judge is unknown', () => {
      const judges = whole.judges.map((each) => ({ ...each, judge_version: null }));
      expect(refusalsOf({ ...whole, judges })).to.deep.equal([
        'alpha ran, but its version is unknown',
        'beta ran, but its version is unknown',
      ]);
    });

    it('if a page was changed by hand', () => {
      const pages = { page: `${pageOf(whole)}It is certified.\n`, index: null };
      expect(refusals([whole, last], { source: 'tree', version: null }, pages)).to.deep.equal([
        'docs/evidence/9.9.9.md is not made from 9.9.9.json',
        'docs/evidence/index.md is not made from the documents',
        'the pages say "certified"',
      ]);
    });
  });
});
