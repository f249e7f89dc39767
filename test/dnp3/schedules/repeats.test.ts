import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { PointRig } from '../rig/points.ts';
import type { PointRigOptions } from '../rig/points.ts';
import { begin, limitOf, limitsSeen, off, schedule } from './orders.ts';

const [hourS, dayS] = [3600, 86_400];
const by = { source: 'rest', peer: 'test' } as const;
const limit = (seconds: number) =>
  [
    [0, 500],
    [seconds, 0],
  ] as const;

function rigAt(date: string, time: string, more: PointRigOptions = {}): PointRig {
  return new PointRig('PV-3Phase', { date, time, timezone: 'UTC', tickIntervalS: 600, ...more });
}
const passHours = (rig: PointRig, hours: number) => rig.plant.step((hours * hourS) / 600);

describe('schedules that repeat', () => {
  it('every so many seconds', async () => {
    const rig = rigAt('2026-06-03', '11:59:50', { tickIntervalS: 1 });
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: 10, unit: 1, interval: 45, points: limit(20) });
    await rig.pass(110);
    expect(seen).to.deep.equal([
      '2026-06-03 12:00:00 50',
      '2026-06-03 12:00:20 off',
      '2026-06-03 12:00:45 50',
      '2026-06-03 12:01:05 off',
      '2026-06-03 12:01:30 50',
    ]);
    expect([rig.value('AI579'), rig.value('AI569')]).to.deep.equal([4, 1]);
  });

  it('a schedule as long as its interval never lets go between its runs', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    const seen = limitsSeen(rig);
    begin(rig, 1, {
      unit: 1,
      interval: 30,
      points: [
        [0, 500],
        [15, 700],
        [30, 0],
      ],
    });
    await rig.pass(50);
    expect(seen).to.deep.equal([
      '2026-06-03 12:00:00 50',
      '2026-06-03 12:00:15 70',
      '2026-06-03 12:00:30 50',
      '2026-06-03 12:00:45 70',
    ]);
  });

  for (const seconds of [20, 30]) {
    it(`a point that another writer took in a run of ${seconds} s every 30 s belongs to the next run again`, async () => {
      const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
      begin(rig, 1, { unit: 1, interval: 30, points: limit(seconds) });
      await rig.pass(10);
      rig.device.bank.transact(by, (tx) => {
        tx.m704.WMaxLimPct = 25;
      });
      await rig.pass(5);
      expect(limitOf(rig)).to.deep.equal(['ENABLED', 25]);
      await rig.pass(20);
      expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['ENABLED', 50, 1]);
      rig.done(['BO42', false]);
      expect([...limitOf(rig), rig.value('AI569')]).to.deep.equal(['DISABLED', 25, 0]);
    });
  }

  it('one that is longer than its interval begins anew, and its last points are never in force', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    const seen = limitsSeen(rig);
    begin(rig, 1, {
      unit: 1,
      interval: 20,
      points: [
        [5, 500],
        [15, 700],
        [25, 900],
        [40, 0],
      ],
    });
    await rig.pass(40);
    expect(seen).to.deep.equal([
      '2026-06-03 12:00:05 50',
      '2026-06-03 12:00:15 70',
      '2026-06-03 12:00:20 off',
      '2026-06-03 12:00:25 50',
      '2026-06-03 12:00:35 70',
      '2026-06-03 12:00:40 off',
    ]);
  });

  it('every so many hours, over midnight', async () => {
    const rig = rigAt('2026-06-03', '15:00:00');
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS, unit: 3, interval: 5, points: limit(1800) });
    await passHours(rig, 12);
    expect(seen).to.deep.equal([
      '2026-06-03 16:00:00 50',
      '2026-06-03 16:30:00 off',
      '2026-06-03 21:00:00 50',
      '2026-06-03 21:30:00 off',
      '2026-06-04 02:00:00 50',
      '2026-06-04 02:30:00 off',
    ]);
  });

  it('every so many days, over the end of a month, with a run that lasts until the next day', async () => {
    const interval = pick({ quick: 1, ci: 2 });
    const rig = rigAt(`2026-06-${30 - interval}`, '22:00:00');
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS, unit: 4, interval, points: limit(2 * hourS) });
    await passHours(rig, interval * 24 + 4);
    expect(seen).to.deep.equal([
      `2026-06-${30 - interval} 23:00:00 50`,
      `2026-06-${31 - interval} 01:00:00 off`,
      '2026-06-30 23:00:00 50',
      '2026-07-01 01:00:00 off',
    ]);
    expect(rig.value('AI579')).to.equal(3);
  });

  it('every so many weeks from its start, without weekdays', async () => {
    const rig = rigAt('2026-06-17', '07:00:00');
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS - 14 * dayS, unit: 5, interval: 2, points: limit(hourS) });
    await passHours(rig, 3);
    expect(seen).to.deep.equal(['2026-06-17 08:00:00 50', '2026-06-17 09:00:00 off']);
  });

  // the first start is months or years ago: only the hours about the next one are simulated
  for (const [what, run, interval, first] of [
    ['the 31st of January in February', '2026-02-28', 1, '2026-01-31'],
    ['the 31st of January in February of a leap year', '2028-02-29', 1, '2028-01-31'],
    ['the 31st of January in March', '2026-03-31', 1, '2026-01-31'],
    ['the 31st of January in April', '2026-04-30', 1, '2026-01-31'],
    ['the 31st of December two months later', '2027-02-28', 2, '2026-12-31'],
    ['a leap day a year later', '2025-02-28', 12, '2024-02-29'],
    ['a leap day four years later', '2028-02-29', 12, '2024-02-29'],
  ] as const) {
    it(`every so many months: ${what}`, async () => {
      const rig = rigAt(run, '01:00:00');
      const seen = limitsSeen(rig);
      const inS = (Date.parse(`${first}T02:00:00Z`) - Date.parse(`${run}T01:00:00Z`)) / 1000;
      begin(rig, 1, { inS, unit: 6, interval, points: limit(hourS) });
      await passHours(rig, 4);
      expect(seen).to.deep.equal([`${run} 02:00:00 50`, `${run} 03:00:00 off`]);
    });
  }

  it('a monthly run lasts over the end of its month', async () => {
    const rig = rigAt('2028-02-29', '22:00:00');
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS - 29 * dayS, unit: 6, interval: 1, points: limit(3 * hourS) });
    await passHours(rig, 6);
    expect(seen).to.deep.equal(['2028-02-29 23:00:00 50', '2028-03-01 02:00:00 off']);
  });

  it('a daily schedule goes over a leap day', async () => {
    const rig = rigAt('2028-02-28', '23:00:00');
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS, unit: 4, interval: 1, points: limit(hourS) });
    await passHours(rig, 27);
    expect(seen).to.deep.equal([
      '2028-02-29 00:00:00 50',
      '2028-02-29 01:00:00 off',
      '2028-03-01 00:00:00 50',
      '2028-03-01 01:00:00 off',
    ]);
  });

  it('one that was made ready in the middle of a run goes on with the point of that instant', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    begin(rig, 1, {
      inS: -hourS - 40,
      unit: 3,
      interval: 1,
      points: [
        [0, 800],
        [30, 600],
        [60, 0],
      ],
    });
    expect(limitOf(rig)).to.deep.equal(['ENABLED', 60]);
    await rig.pass(21);
    expect(limitOf(rig)).to.deep.equal(off);
  });
});

describe('schedules and the simulated clock', () => {
  it('summer time and another time zone move nothing: schedules are in UTC', async () => {
    // the clocks of Berlin go on at 01:00 UTC
    const rig = rigAt('2026-03-29', '00:30:00', { timezone: 'Europe/Berlin' });
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: hourS, unit: 3, interval: 1, points: limit(1800) });
    await passHours(rig, 1.5);
    rig.plant.setTime({ timezone: 'America/New_York' }, by);
    await passHours(rig, 1);
    expect(seen).to.deep.equal([
      '2026-03-29 00:30:00 50',
      '2026-03-29 01:00:00 off',
      '2026-03-29 01:30:00 50',
      '2026-03-29 02:00:00 off',
    ]);
  });

  it('a clock that is set past the start begins', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    begin(rig, 1, { inS: 2 * hourS, points: limit(hourS) });
    rig.plant.setTime({ clockTime: '14:10:00' }, by);
    await rig.pass(2);
    expect([...limitOf(rig), rig.value('AI569'), rig.value('AI783')]).to.deep.equal(['ENABLED', 50, 1, 500]);
  });

  it('a clock that is set shortly before the start begins at its instant', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    const seen = limitsSeen(rig);
    begin(rig, 1, { inS: 2 * hourS, points: limit(60) });
    rig.plant.setTime({ clockTime: '13:59:50' }, by);
    await rig.pass(75);
    expect(seen).to.deep.equal(['2026-06-03 14:00:00 50', '2026-06-03 14:01:00 off']);
  });

  it('a clock that is set past the end gives back, and no run is to come', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    begin(rig, 1, { points: limit(hourS) });
    await rig.pass(10);
    rig.plant.setTime({ clockTime: '13:30:00' }, by);
    await rig.pass(2);
    expect([...limitOf(rig), rig.value('AI579'), rig.value('AI783')]).to.deep.equal([...off, 2, 0]);
  });

  it('a clock that is set back before the start gives back, and the run comes again', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    begin(rig, 1, { points: limit(60) });
    await rig.pass(10);
    rig.plant.setTime({ clockTime: '11:59:30' }, by);
    await rig.pass(2);
    expect([...limitOf(rig), rig.value('AI579')]).to.deep.equal([...off, 3]);
    const seen = limitsSeen(rig);
    await rig.pass(100);
    expect(seen).to.deep.equal(['2026-06-03 12:00:00 50', '2026-06-03 12:01:00 off']);
  });

  it('a clock that is set from one run into another goes on with the new one', async () => {
    const rig = rigAt('2026-06-03', '12:00:00', { tickIntervalS: 1 });
    rig.done(
      ...schedule(rig, 1, {
        unit: 3,
        interval: 1,
        points: [
          [0, 800],
          [600, 600],
          [1200, 0],
        ],
      }),
      ['BO42', true],
    );
    await rig.pass(10);
    rig.plant.setTime({ clockTime: '13:15:00' }, by);
    await rig.pass(2);
    expect([...limitOf(rig), rig.value('AI783')]).to.deep.equal(['ENABLED', 60, 600]);
  });
});
