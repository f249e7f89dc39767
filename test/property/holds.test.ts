import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { codePoint } from '../support/arbitrary.ts';
import { PropertyCases } from '../support/property-cases.ts';
import { casesFor, holds, holdsAsync } from '../support/property.ts';
import type { PropertyOptions, PropertyRun } from '../support/property.ts';
import { runSeed } from '../support/seed.ts';

const anyCase = fc.record({
  octets: fc.uint8Array({ maxLength: 3 }).map((octets) => Buffer.from(octets)),
  numbers: fc.array(fc.constantFrom(NaN, -Infinity, -0, 1.5), { maxLength: 3 }),
  others: fc.array(
    fc.oneof(fc.bigInt(), fc.date({ noInvalidDate: true }), fc.constant(undefined), fc.string({ unit: codePoint })),
    {
      maxLength: 3,
    },
  ),
  names: fc.dictionary(fc.constantFrom('$date', '__proto__', 'plain'), fc.option(fc.uint8Array({ maxLength: 2 }))),
});

describe('holds', () => {
  let folder: string;
  let run: PropertyRun;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'property-'));
    run = {
      seed: 7,
      scale: 1,
      examplesFolder: join(folder, 'examples'),
      counterexamplesFolder: join(folder, 'failed'),
    };
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const failureOf = (act: () => unknown): Error => {
    try {
      act();
    } catch (error) {
      return error as Error;
    }
    throw new Error('the property has not failed');
  };

  const triesOf = (name: string, options: PropertyOptions<[number, string]>) => {
    const tries: [number, string][] = [];
    const count = holds(name, [fc.nat(), fc.string()], (...args) => void tries.push(args), options);
    expect(tries).to.have.length(count);
    return tries;
  };

  it('tries the same cases for the same seed, and others for another', () => {
    const first = triesOf('cases of a seed', { run, runs: 20 });
    expect(triesOf('cases of a seed', { run, runs: 20 })).to.deep.equal(first);
    expect(triesOf('cases of a seed', { run: { ...run, seed: 8 }, runs: 20 })).to.not.deep.equal(first);
    expect(triesOf('cases of a seed', {})).to.deep.equal(
      triesOf('cases of a seed', { run: { seed: runSeed, examplesFolder: folder, counterexamplesFolder: folder } }),
    );
  });

  it('tries the examples first, and all the random cases after them', () => {
    const tries = triesOf('examples', {
      run,
      runs: 5,
      examples: [
        [1, 'a'],
        [2, 'b'],
      ],
    });
    expect(tries.slice(0, 2)).to.deep.equal([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(tries.slice(2)).to.deep.equal(triesOf('examples', { run, runs: 5 }));
  });

  it('tries as many cases as FC_SCALE or the depth asks for', () => {
    expect([0.2, 1, 3].map((scale) => casesFor(12, scale))).to.deep.equal([3, 12, 36]);
    expect((['quick', 'ci', 'full'] as const).map((depth) => casesFor(90, undefined, depth))).to.deep.equal([
      30, 54, 1800,
    ]);
    expect([5, 10, 29, 33].map((runs) => casesFor(runs, undefined, 'quick'))).to.deep.equal([5, 10, 10, 11]);
    expect([5, 15, 20, 55].map((runs) => casesFor(runs, undefined, 'ci'))).to.deep.equal([5, 10, 12, 33]);
  });

  it('tells the smallest counterexample, its path and the command that repeats the test', () => {
    const { message, cause } = failureOf(() =>
      holds(
        'below ten',
        fc.nat(),
        (value) => {
          expect(value, 'too much').to.be.below(10);
        },
        { run },
      ),
    );
    expect(message).to.match(/path: "\d+:[\d:]+"/);
    expect(message).to.include('Counterexample: [10]').and.to.include('too much: expected 10 to be below 10');
    expect(message).to.include(
      `FC_SEED=7 FC_SCALE=1 npx mocha test/property/holds.test.ts -f 'holds tells the smallest`,
    );
    expect(cause).to.have.property('name', 'AssertionError');
  });

  it('keeps the counterexample in a file, with which the property then fails at once', () => {
    const even = (seed: number, tries: number[]) => () =>
      holds('all even', fc.integer({ min: 0, max: 40 }), (value) => (tries.push(value), value !== 37), {
        run: { ...run, seed },
      });
    const failed = failureOf(even(7, []));
    expect(failed.message).to.include('property-holds--all-even.json');
    renameSync(run.counterexamplesFolder, run.examplesFolder);
    const tries: number[] = [];
    expect(failureOf(even(8, tries)).message).to.include('failed after 1 test');
    expect(tries[0]).to.equal(37);
  });

  it('keeps values that JSON lacks', () => {
    holds('values come back', anyCase, (value) => {
      const cases = new PropertyCases<[typeof value]>('test/a.test.ts', 'values');
      cases.write(folder, [value]);
      expect(isDeepStrictEqual(cases.read(folder), [[value]])).to.equal(true);
    });
  });

  it('says that a function is in no file, unless the property has a form for it', () => {
    const double = (value: number) => 2 * value;
    const none = () => false;
    const { message } = failureOf(() => holds('functions', fc.constant({ double }), none, { run }));
    expect(message).to.include('The case is in no file: case[0].double is a function, which JSON cannot hold');
    expect(failureOf(() => holds('errors', fc.constant(new RangeError()), none, { run })).message).to.include(
      'a RangeError',
    );
    const form = { write: () => 'double', read: (): [typeof double] => [double] };
    failureOf(() => holds('functions', fc.constant(double), none, { run, form }));
    const [file = ''] = readdirSync(run.counterexamplesFolder);
    expect(JSON.parse(readFileSync(join(run.counterexamplesFolder, file), 'utf8'))).to.deep.equal({
      file: 'test/property/holds.test.ts',
      property: 'functions',
      cases: ['double'],
    });
  });

  it('takes a predicate that answers later, and skips cases that it does not take', async () => {
    const later = (limit: number) =>
      holdsAsync(
        'later',
        [fc.nat(9), fc.nat(9)],
        async (a, b) => {
          await Promise.resolve();
          fc.pre(a !== 3);
          return a + b < limit;
        },
        { run },
      );
    expect(await later(19)).to.equal(100);
    const failure = await later(9).catch((error: unknown) => error as Error);
    expect(failure).to.be.instanceOf(Error).with.property('message').that.includes('property-holds--later.json');
  });

  it('refuses a predicate that takes time where nothing waits for it', () => {
    const { message } = failureOf(() => holds('hasty', fc.nat(), () => Promise.resolve(), { run }));
    expect(message).to.include('hasty: its predicate takes time, which is for holdsAsync');
  });
});
