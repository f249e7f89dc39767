/** What a soak calls right or wrong. */
import { expect } from 'chai';
import { createRandom } from '../../src/core/random.ts';
import { Books16 } from '../../soak/books.ts';
import { plan } from '../../soak/chaos.ts';
import type { Planned } from '../../soak/chaos.ts';
import { differences } from '../../soak/clients/modbus.ts';
import { isMet, reasons } from '../../soak/figures.ts';
import { soakOptions } from '../../soak/options.ts';
import { Promises } from '../../soak/promises.ts';
import { descriptorChange, slopeOf } from '../../soak/samples.ts';
import type { Sample } from '../../soak/samples.ts';

const samples = (residentMb: (atS: number) => number, descriptors: (atS: number) => number = () => 20): Sample[] =>
  Array.from({ length: 240 }, (_, atS) => ({ atS, residentMb: residentMb(atS), descriptors: descriptors(atS) }));

describe('the figures of a soak', () => {
  it('have the slope of a steady growth, whatever saw teeth are on it', () => {
    expect(slopeOf(samples((atS) => 100 + 0.05 * atS))).to.be.closeTo(0.05, 0.001);
    expect(slopeOf(samples((atS) => 100 + 0.05 * atS + (atS % 7)))).to.be.closeTo(0.05, 0.01);
    expect(slopeOf(samples((atS) => (atS < 200 ? 100 : 160)))).to.be.closeTo(0, 1e-9);
    expect(slopeOf(samples(() => 1).slice(0, 10))).to.be.NaN;
  });

  it('have the change of descriptors between both ends', () => {
    const rising = samples(
      () => 1,
      (atS) => 20 + Math.floor(atS / 24),
    );
    expect(descriptorChange(rising)).to.equal(9);
  });

  it('fail out of bounds, and where they could not be measured', () => {
    expect(isMet({ name: 'a', value: 10, atMost: 10 })).to.equal(true);
    expect(isMet({ name: 'a', value: 10.1, atMost: 10 })).to.equal(false);
    expect(isMet({ name: 'a', value: NaN, atMost: 10 })).to.equal(false);
    expect(isMet({ name: 'a', value: NaN })).to.equal(true);
    const figures = [
      { name: 'errors', value: 2, atMost: 0, details: ['one', 'two'] },
      { name: 'restarts', value: 9, atLeast: 10 },
      { name: 'ticks', value: 1 },
    ];
    expect(reasons(figures)).to.deep.equal([
      'errors: 2.00, must be <= 0',
      '    one',
      '    two',
      'restarts: 9.00, must be >= 10',
    ]);
  });
});

describe('the options of a soak', () => {
  it('are those of section "Soak targets" by default', () => {
    const { seconds, devices, masters, streams, restPerS, tickS, books } = soakOptions([]);
    expect([seconds, devices, masters, streams, restPerS, tickS, books.size]).to.deep.equal([
      600, 50, 20, 50, 5, 0.1, 5,
    ]);
    expect(soakOptions(['--kills', '9'])).to.include({ kills: 9, devices: 4 });
  });

  it('are refused with what is allowed', () => {
    for (const [args, text] of [
      [['--minutes', 'x'], '--minutes is x; allowed: 0.1 to 1440'],
      [['--devices', '2'], '--devices is 2; allowed: 4 to 200'],
      [['--seed', '1.5'], '--seed is 1.5; allowed: a whole number'],
      [['--books', 'tax'], '--books is tax; allowed: ocpp, csip, rest, dnp3, energy'],
    ] as const)
      expect(() => soakOptions(args)).to.throw(text);
  });
});

describe('promises over a restart', () => {
  const isRefusal = (error: unknown) => error instanceof RangeError;
  const lost = () => Promise.reject(new Error('closed'));
  const refused = () => Promise.reject(new RangeError('no'));
  const answered = () => Promise.resolve();
  const failing = (work: Promise<unknown>) => work.catch(() => undefined);

  it('hold the last answered value, or one whose answer was lost', async () => {
    const promises = new Promises();
    await promises.change('limit', 5, answered, isRefusal);
    await failing(promises.change('limit', 6, lost, isRefusal));
    await failing(promises.change('limit', 7, refused, isRefusal));
    expect(promises.check('limit', 6)).to.equal(null);
    expect(promises.check('limit', 5)).to.match(/is 5 after the restart; answered positively: 6/);
    const others = new Promises();
    await others.change('limit', 5, answered, isRefusal);
    await failing(others.change('limit', 7, refused, isRefusal));
    expect(others.check('limit', 7)).to.match(/answered positively: 5/);
  });

  it('say nothing of what was never answered', async () => {
    const promises = new Promises();
    await failing(promises.change('limit', 5, lost, isRefusal));
    expect(promises.size).to.equal(0);
    expect(promises.check('limit', 99)).to.equal(null);
  });
});

describe('the books of transactions of 1.6', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 5, 21, 8, 0, second)).toISOString();
  const start = (meterStart: number, second = 0) => ({ connectorId: 1, idTag: 'A', meterStart, timestamp: at(second) });
  const stop = (transactionId: number, meterStop: number, second = 9) => ({
    transactionId,
    meterStop,
    timestamp: at(second),
  });

  it('count a repetition once', () => {
    const books = new Books16();
    expect([books.start(start(10)), books.start(start(10))]).to.deep.equal([1, 1]);
    books.stop(stop(1, 30));
    books.stop(stop(1, 30));
    expect(books.start(start(31, 10))).to.equal(2);
    books.stop(stop(2, 40, 20));
    expect([books.starts, books.open, books.energyWh]).to.deep.equal([2, 0, 29]);
    expect(books.issues).to.deep.equal([]);
  });

  for (const [title, act, issue] of [
    ['a stop without a start', (books: Books16) => books.stop(stop(5, 1)), /there is no transaction 5/],
    ['a second stop', (books: Books16) => [stop(1, 20), stop(1, 21)].forEach((each) => books.stop(each)), /two stops/],
    ['a meter that falls within', (books: Books16) => books.stop(stop(1, 9)), /falls from 10 to 9 Wh within/],
    ['a stop before the start', (books: Books16) => books.stop(stop(1, 20, -1)), /before its start/],
    ['a start where one is open', (books: Books16) => books.start(start(20, 5)), /1 has no stop/],
    [
      'a meter that falls between',
      (books: Books16) => {
        books.stop(stop(1, 20));
        books.start(start(19, 20));
      },
      /falls from 20 to 19 Wh between/,
    ],
    [
      'energy of no transaction',
      (books: Books16) => {
        books.stop(stop(1, 20));
        books.start(start(22, 20));
      },
      /2 Wh between 1 and 2 belong to no/,
    ],
  ] as const)
    it(`notice ${title}`, () => {
      const books = new Books16();
      books.start(start(10));
      act(books);
      expect(books.issues.join()).to.match(issue);
    });
});

describe('registers beside values of REST', () => {
  const point = { name: 'W', type: 'int16', address: 40_002, value: 1230, scale_factor: 1, implemented: true };
  const data = Buffer.alloc(12);
  data.writeInt16BE(123, 4);
  data.writeInt16BE(-0x8000, 6);

  it('differ where their numbers do', () => {
    expect(differences(data, 40_000, [point])).to.deep.equal([]);
    expect(differences(data, 40_000, [{ ...point, value: 1240 }])).to.deep.equal([
      'W is 123 over Modbus and 124 over REST',
    ]);
    const absent = { ...point, address: 40_003, value: null };
    expect(differences(data, 40_000, [absent])).to.deep.equal([]);
    expect(differences(data, 40_000, [{ ...absent, value: 0 }])).to.deep.equal([
      'W is null over Modbus and 0 over REST',
    ]);
  });
});

describe('the disturbances of a soak', () => {
  it('follow from the seed, with a kill 20 to 60 s after the one before', () => {
    const first = (seed: number, count: number) => {
      const plans = plan(createRandom(seed, 'test'));
      return Array.from({ length: count }, () => plans.next().value as Planned);
    };
    expect(first(1, 50)).to.deep.equal(first(1, 50));
    expect(first(1, 50)).not.to.deep.equal(first(2, 50));
    let lifeS = 0;
    for (const { what, afterS } of first(3, 200)) {
      lifeS += afterS;
      if (what !== 'kill') continue;
      expect(lifeS).to.be.within(19.999, 60.001);
      lifeS = 0;
    }
  });
});
