import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { inWords, judged, unexplained } from '../../scripts/mutation/result.ts';
import type { Equivalent, Report } from '../../scripts/mutation/result.ts';

interface Row {
  readonly module: string;
  readonly mutate: readonly string[];
  readonly spec: readonly string[];
  readonly floor: number;
  readonly target: number;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
}

const source = 'const least = 1;\nexport const isOver = (n: number) =>\n  n > least &&\n  n < 9;\n';

/** A report with one mutant for each status, all of them on `n > least`. */
function reportOf(...statuses: readonly string[]): Report {
  const location = { start: { line: 3, column: 3 }, end: { line: 3, column: 12 } };
  const mutants = statuses.map((status, i) => ({
    mutatorName: 'EqualityOperator',
    replacement: `n >= ${i}`,
    status,
    location,
  }));
  return { files: { 'src/a.ts': { source, mutants } } };
}

const equivalent: Equivalent = {
  file: 'src/a.ts',
  line: 'n > least &&',
  original: 'n > least',
  mutator: 'EqualityOperator',
  replacement: 'n >= 1',
  reason: 'n is never 1',
};

describe('mutation scores', () => {
  it('count mutants that ran too long as killed, and those that no test runs as survivors', () => {
    const { figures, survivors } = judged(
      reportOf('Killed', 'Survived', 'Timeout', 'NoCoverage', 'Killed', 'Ignored'),
      [],
    );
    expect(figures).to.deep.equal({ killed: 2, survived: 1, timeout: 1, noCoverage: 1, score: 60 });
    expect(survivors.map(inWords)).to.deep.equal([
      'src/a.ts:3 EqualityOperator: n > least -> n >= 1',
      'src/a.ts:3 EqualityOperator, no test runs it: n > least -> n >= 3',
    ]);
  });

  it('leave out the survivors that are equivalent', () => {
    const { figures, survivors, equivalentShare, stale } = judged(reportOf('Killed', 'Survived', 'Killed'), [
      equivalent,
    ]);
    expect(figures).to.deep.equal({ killed: 2, survived: 0, timeout: 0, noCoverage: 0, score: 100 });
    expect([survivors, equivalentShare, stale]).to.deep.equal([[], 0.5, []]);
  });

  it('name an equivalent that a test kills', () => {
    const { figures, stale } = judged(reportOf('Survived', 'Killed'), [equivalent]);
    expect(figures.score).to.equal(50);
    expect(stale).to.deep.equal([equivalent]);
  });

  it('are 0 without a mutant: nothing was judged', () => {
    expect(judged({ files: {} }, []).figures.score).to.equal(0);
  });

  it('take the text of a mutant over several lines', () => {
    const location = { start: { line: 3, column: 3 }, end: { line: 4, column: 8 } };
    const mutants = [{ mutatorName: 'LogicalOperator', replacement: 'true', status: 'Survived', location }];
    const { survivors } = judged({ files: { 'src/a.ts': { source, mutants } } }, []);
    expect(survivors[0]?.original).to.equal('n > least &&\n  n < 9');
  });
});

describe('comments that switch Stryker off', () => {
  it('need a reason', () => {
    const comments = [
      '// Stryker disable next-line all: only the order of a log',
      'a();',
      '// Stryker disable all',
      '// Stryker disable next-line BooleanLiteral:',
    ];
    expect(unexplained(comments.join('\n'))).to.deep.equal(['line 3', 'line 4']);
  });
});

describe('table of the rule modules', () => {
  const rows = readJson('mutation.json') as readonly Row[];

  it('has each module once, with sources and tests', () => {
    const names = rows.map(({ module }) => module);
    expect(new Set(names).size).to.equal(names.length);
    for (const { module, mutate, spec } of rows) {
      expect(
        mutate.every((glob) => /^!?src\//.test(glob)),
        module,
      ).to.be.true;
      expect(
        spec.every((glob) => /^!?test\/.*\.test\.ts$/.test(glob)),
        module,
      ).to.be.true;
      expect([mutate.length, spec.length], module).to.not.include(0);
    }
  });

  it('asks for 80 % and more', () => {
    for (const { module, floor, target } of rows) {
      expect(target, module).to.be.within(80, 100);
      expect(floor, module).to.be.within(0, 100);
    }
  });

  it('comes with equivalents whose lines exist and that give a reason', () => {
    for (const { file, line, original, reason } of readJson('mutation-equivalents.json') as readonly Equivalent[]) {
      const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n');
      expect(lines.map((text) => text.trim())).to.include(line);
      expect(line, file).to.include(original.split('\n')[0]);
      expect(reason, line).to.match(/\w+ \w+ \w+/);
    }
  });
});
