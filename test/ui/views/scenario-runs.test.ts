import { expect } from 'chai';
import { matches } from '../../../src/ui/views/scenarios/library/library';
import { countsText, pairsOf } from '../../../src/ui/views/scenarios/runs/differences';
import { timeTicks } from '../../../src/ui/views/scenarios/runs/signal-chart';
import { rangeOf, stepPath, ticksOf, valueAt } from '../../../src/ui/views/scenarios/runs/trace';
import { assertionsText, firstSentence } from '../../../src/ui/views/scenarios/words';

const assertion = (name: string, state: 'passed' | 'failed' | 'pending' | 'dropped', place = 'a.yaml:1') => ({
  place,
  name,
  state,
  message: '',
  signal: null,
  bounds: null,
  began_s: 0,
  decided_s: 1,
});

describe('two runs of a scenario', () => {
  const first = [
    assertion('a', 'passed'),
    assertion('b', 'failed'),
    assertion('b', 'passed'),
    assertion('c', 'failed'),
  ];
  const second = [
    assertion('a', 'failed'),
    assertion('b', 'failed'),
    assertion('b', 'passed'),
    assertion('d', 'passed'),
  ];
  const pairs = pairsOf(first, second);

  it('are compared by place, name and turn', () => {
    expect(pairs.map(({ name, first: one, second: other }) => [name, one?.state, other?.state])).to.deep.equal([
      ['a', 'passed', 'failed'],
      ['b', 'failed', 'failed'],
      ['b', 'passed', 'passed'],
      ['c', 'failed', undefined],
      ['d', undefined, 'passed'],
    ]);
    expect(pairs.map(({ differs }) => differs)).to.deep.equal([true, false, false, true, true]);
    expect(pairsOf([assertion('a', 'passed', 'x')], [assertion('a', 'passed', 'y')])).to.have.length(2);
  });

  it('are counted', () => {
    expect(countsText(pairs)).to.equal('1 differs, 1 passed in both, 1 failed in both, 2 only in one');
    expect(countsText(pairsOf(first, first))).to.equal('0 differ, 2 passed in both, 2 failed in both');
  });
});

describe('charts of runs', () => {
  const plain = { x: (s: number) => s, y: (value: number) => value };

  it('hold a value until the next sample', () => {
    expect(
      stepPath(
        [
          [0, 1],
          [10, 5],
          [20, 5],
        ],
        plain,
      ),
    ).to.equal('M0 1.0H10V5.0H20V5.0');
  });

  it('draw a dip between two pixels at every zoom', () => {
    const samples = Array.from({ length: 5000 }, (_none, n) => [n, n === 2500 ? -7 : 1] as const);
    for (const scale of [1, 0.1, 0.01])
      expect(stepPath(samples, { ...plain, x: (s) => s * scale }), String(scale)).to.contain('V-7.0');
    expect(stepPath(samples, { ...plain, x: (s) => s * 0.01 }).length).to.be.below(2000);
  });

  it('read the value that holds at a time', () => {
    const samples = [
      [1, 10],
      [2, 20],
      [4, 40],
    ] as const;
    expect([0.5, 1, 1.9, 2, 3.9, 4, 99].map((s) => valueAt(samples, s))).to.deep.equal([
      undefined,
      10,
      10,
      20,
      20,
      40,
      40,
    ]);
  });

  it('have one range for all lines', () => {
    expect(
      rangeOf([
        [[0, 5]],
        [
          [2, -1],
          [9, 3],
        ],
      ]),
    ).to.deep.equal({ s: [0, 9], value: [-1, 5] });
    expect(rangeOf([[], []])).to.equal(null);
  });

  it('have round ticks', () => {
    expect(ticksOf([479.4, 504.6], 4)).to.deep.equal([480, 490, 500]);
    expect(ticksOf([0.1, 0.35], 3)).to.deep.equal([0.1, 0.2, 0.3]);
    expect(ticksOf([1, 1], 3)).to.deep.equal([]);
    expect(timeTicks([0, 86_400], 600)).to.deep.equal([0, 21_600, 43_200, 64_800, 86_400]);
    expect(timeTicks([0, 70], 300)).to.deep.equal([0, 30, 60]);
  });
});

describe('words of scenarios', () => {
  it('count assertions', () => {
    const counts = (passed: number, failed: number, all: number) =>
      assertionsText({ assertions_passed: passed, assertions_failed: failed, assertions_in_all: all });
    expect([counts(0, 0, 0), counts(3, 1, 5), counts(2, 0, 2)]).to.deep.equal([
      'none',
      '3 passed, 1 failed, 1 open',
      '2 passed',
    ]);
  });

  it('begin a description with its first sentence', () => {
    expect(firstSentence('Of clause 5.4.2, in 3 min. Then more.')).to.equal('Of clause 5.4.2, in 3 min.');
    expect(firstSentence('One: two.')).to.equal('One.');
    expect(firstSentence('without an end')).to.equal('without an end');
  });

  it('find by every word, in any part', () => {
    expect(matches('volt 5.4', ['Volt-watt', 'IEEE 1547-2018 5.4.2', null])).to.equal(true);
    expect(matches('volt storm', ['Volt-watt', null])).to.equal(false);
    expect(matches('', ['x'])).to.equal(true);
  });
});
