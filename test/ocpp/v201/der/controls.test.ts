import { expect } from 'chai';
import fc from 'fast-check';
import { advance, clear, inForce, nextChangeMs, set } from '../../../../src/ocpp/v201/der-controls/controls.ts';
import type { DerBook } from '../../../../src/ocpp/v201/der-controls/controls.ts';
import type { DERControlEnum, DerControl, DerNotice } from '../../../../src/ocpp/v201/der-controls/model.ts';
import { holds } from '../../../support/property.ts';
import { NaiveControls } from './naive.ts';

let order = 0;

function control(id: string, given: Partial<DerControl> = {}): DerControl {
  order += 1;
  return {
    id,
    type: 'FixedVar',
    isDefault: false,
    priority: 5,
    startMs: 0,
    endMs: null,
    order,
    body: { member: 'fixedVar', value: { priority: 5, setpoint: 10, unit: 'PctMaxVar' } },
    superseded: false,
    started: false,
    ...given,
  };
}

/** A book that a test fills and moves on. */
class Desk {
  book: DerBook = [];
  nowMs = 0;
  readonly notices: DerNotice[] = [];

  set(...given: Parameters<typeof control>): readonly string[] {
    const change = set(this.book, control(...given), this.nowMs);
    this.book = change.book;
    this.notices.push(...change.notices);
    return change.supersededIds;
  }

  to(seconds: number): void {
    this.nowMs = seconds * 1000;
    const change = advance(this.book, this.nowMs);
    this.book = change.book;
    this.notices.push(...change.notices);
  }

  clear(id: string): void {
    const change = clear(this.book, (each) => each.id === id, this.nowMs);
    this.book = change.book;
    this.notices.push(...change.notices);
  }

  get now(): string | undefined {
    return inForce(this.book).get('FixedVar')?.id;
  }

  get superseded(): readonly string[] {
    return this.book.filter((each) => each.superseded).map(({ id }) => id);
  }

  get told(): readonly string[] {
    return this.notices.map(({ id, started, atMs, supersededIds }) =>
      [atMs / 1000, id, started ? 'starts' : 'ends', ...supersededIds].join(' '),
    );
  }
}

const at = (startS: number, endS: number | null = null) => ({
  startMs: startS * 1000,
  endMs: endS === null ? null : endS * 1000,
});

describe('OCPP 2.1 R04: the stacks of DER controls', () => {
  it('FR.03: a default of better priority supersedes the one before, in a stack beside the scheduled ones', () => {
    const desk = new Desk();
    expect(desk.set('A', { isDefault: true, priority: 5 })).to.deep.equal([]);
    expect(desk.set('S', { priority: 9, ...at(10, 20) })).to.deep.equal([]);
    expect(desk.set('B', { isDefault: true, priority: 3 })).to.deep.equal(['A']);
    expect([desk.now, desk.superseded]).to.deep.equal(['B', ['A']]);
    desk.to(10);
    expect(desk.now).to.equal('S');
    desk.to(20);
    expect([desk.now, desk.told]).to.deep.equal(['B', ['10 S starts', '20 S ends']]);
  });

  it('FR.06: a waiting one is superseded at once, even by one that begins later, and leaves at its end', () => {
    const desk = new Desk();
    desk.set('A', { priority: 5, ...at(10, 30) });
    expect(desk.set('B', { priority: 3, ...at(50, 60) })).to.deep.equal(['A']);
    desk.to(20);
    expect([desk.now, desk.superseded, desk.told]).to.deep.equal([undefined, ['A'], []]);
    desk.to(30);
    expect(desk.book.map(({ id }) => id)).to.deep.equal(['B']);
  });

  it('FR.07, FR.21: a running one goes on to the start of the better one, whose start names it', () => {
    const desk = new Desk();
    desk.set('A', { priority: 5, ...at(0, 100) });
    expect(desk.set('B', { priority: 3, ...at(40, 60) })).to.deep.equal([]);
    desk.to(39);
    expect(desk.now).to.equal('A');
    desk.to(40);
    expect([desk.now, desk.superseded]).to.deep.equal(['B', ['A']]);
    desk.to(70);
    // it never runs again, and stays until its end
    expect([desk.now, desk.superseded]).to.deep.equal([undefined, ['A']]);
    desk.to(100);
    expect([desk.book, desk.told]).to.deep.equal([[], ['0 A starts', '40 B starts A', '60 B ends']]);
  });

  it('FR.07: one that begins now supersedes the running one in its answer and in its start', () => {
    const desk = new Desk();
    desk.set('A', { priority: 5 });
    expect(desk.set('B', { priority: 4 })).to.deep.equal(['A']);
    expect(desk.told).to.deep.equal(['0 A starts', '0 B starts A']);
  });

  it('FR.08: one that is worse than the running one is superseded at birth', () => {
    const desk = new Desk();
    desk.set('A', { priority: 2, ...at(0, 10) });
    expect(desk.set('B', { priority: 4, ...at(20, 30) })).to.deep.equal(['B']);
    desk.to(25);
    expect([desk.now, desk.told]).to.deep.equal([undefined, ['0 A starts', '10 A ends']]);
  });

  it('one that begins while a better one runs never runs', () => {
    const desk = new Desk();
    desk.set('A', { priority: 2, ...at(10, 40) });
    expect(desk.set('B', { priority: 4, ...at(20, 60) })).to.deep.equal([]);
    desk.to(20);
    expect([desk.now, desk.superseded]).to.deep.equal(['A', ['B']]);
    desk.to(50);
    expect(desk.now).to.equal(undefined);
  });

  it('of equal priority both stay, and the newer is in force', () => {
    const desk = new Desk();
    desk.set('A', { ...at(0, 100) });
    desk.set('B', { ...at(10, 20) });
    desk.to(10);
    expect([desk.now, desk.superseded]).to.deep.equal(['B', []]);
    desk.to(20);
    expect([desk.now, desk.told]).to.deep.equal(['A', ['0 A starts', '10 B starts', '20 B ends']]);
  });

  it('clearing the winner revives nothing; clearing a running one ends it', () => {
    const desk = new Desk();
    desk.set('A', { isDefault: true, priority: 5 });
    desk.set('B', { isDefault: true, priority: 3 });
    desk.clear('B');
    expect([desk.now, desk.superseded]).to.deep.equal([undefined, ['A']]);
    desk.set('C', at(0, 100));
    desk.to(5);
    desk.clear('C');
    expect(desk.told).to.deep.equal(['0 C starts', '5 C ends']);
  });

  it('the same id replaces', () => {
    const desk = new Desk();
    desk.set('A', { priority: 1 });
    desk.to(3);
    desk.set('A', { priority: 9, ...at(10, 20) });
    expect([desk.now, desk.book.length, desk.told]).to.deep.equal([undefined, 1, ['0 A starts', '3 A ends']]);
  });

  it('knows its next change', () => {
    const desk = new Desk();
    expect(nextChangeMs(desk.book)).to.equal(null);
    desk.set('D', { isDefault: true });
    expect(nextChangeMs(desk.book)).to.equal(null);
    desk.set('A', at(10, 20));
    expect(nextChangeMs(desk.book)).to.equal(10_000);
    desk.to(10);
    expect(nextChangeMs(desk.book)).to.equal(20_000);
  });

  const types: readonly DERControlEnum[] = ['FixedVar', 'VoltVar'];
  const anySet = fc.record({
    kind: fc.constant('set' as const),
    id: fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F'),
    type: fc.constantFrom(...types),
    isDefault: fc.boolean(),
    priority: fc.integer({ min: 0, max: 3 }),
    startS: fc.integer({ min: -5, max: 30 }),
    durationS: fc.option(fc.integer({ min: 1, max: 30 }), { nil: null }),
  });
  const anyStep = fc.oneof(
    { weight: 3, arbitrary: anySet },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('clear' as const), id: fc.constantFrom('A', 'B', 'C', 'D') }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 15 }) }),
    },
  );

  type Set = typeof anySet extends fc.Arbitrary<infer Value> ? Value : never;

  function controlFrom(step: Set, nowMs: number): DerControl {
    const { id, type, isDefault, priority, startS, durationS } = step;
    const startMs = isDefault ? nowMs : nowMs + startS * 1000;
    const endMs = isDefault || durationS === null ? null : startMs + durationS * 1000;
    return control(id, { type, isDefault, priority, startMs: Math.max(nowMs, startMs), endMs });
  }

  it('is what a reference finds second by second', () => {
    holds(
      'a reference second by second',
      fc.array(anyStep, { minLength: 1, maxLength: 25 }),
      (steps) => {
        const naive = new NaiveControls();
        const desk = new Desk();
        const compare = () => {
          expect(Object.fromEntries([...inForce(desk.book)].map(([type, { id }]) => [type, id]))).to.deep.equal(
            naive.inForce(),
          );
          expect(desk.book.map((each) => `${each.id}${each.superseded ? ' superseded' : ''}`).sort()).to.deep.equal(
            naive.shown(),
          );
        };
        for (const step of steps) {
          if (step.kind === 'set') {
            const next = controlFrom(step, desk.nowMs);
            if (next.endMs !== null && next.endMs <= desk.nowMs) continue;
            const change = set(desk.book, next, desk.nowMs);
            desk.book = change.book;
            desk.notices.push(...change.notices);
            expect([...change.supersededIds].sort()).to.deep.equal(naive.set(next, desk.nowMs).sort());
          } else if (step.kind === 'clear') {
            naive.clear(({ id }) => id === step.id, desk.nowMs);
            desk.clear(step.id);
          } else {
            const untilMs = desk.nowMs + step.seconds * 1000;
            for (let ms = desk.nowMs + 1000; ms <= untilMs; ms += 1000) {
              naive.second(ms);
              // the book is moved on at its own instants alone
              const next = nextChangeMs(desk.book);
              if (next !== null && next <= ms) desk.to(ms / 1000);
              compare();
            }
            desk.to(untilMs / 1000);
          }
          compare();
        }
        const told = desk.notices.map(({ id, started, atMs, supersededIds }) =>
          started ? `${atMs} ${id} starts for [${supersededIds.join()}]` : `${atMs} ${id} ends`,
        );
        expect(told).to.deep.equal(naive.told);
      },
      { runs: 1000 },
    );
  });
});
