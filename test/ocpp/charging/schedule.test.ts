import { expect } from 'chai';
import type { ChargingProfile, RunningTransaction, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';
import { nextBoundary, periodAt } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';
import { one, periods, profile } from './profiles.ts';
import type { Change } from './profiles.ts';

const dayS = 86_400;
const running: RunningTransaction = { connectorId: 1, transactionId: 'T', startedMs: noonMs + 5000 };

/** Limits at seconds after noon; undefined: not in force. */
const limits = (change: Change, seconds: readonly number[], transaction: RunningTransaction | null = null) =>
  seconds.map((s) => periodAt(profile(change), noonMs + s * 1000, transaction)?.limit);

/** The next boundary after so many seconds, in seconds after noon. */
const after = (made: ChargingProfile, s: number, transaction: RunningTransaction | null = null) =>
  (nextBoundary(made, noonMs + s * 1000, transaction) - noonMs) / 1000;

/** All boundaries after so many seconds, one after the other, in seconds after noon. */
function boundaries(change: Change, fromS: number, transaction: RunningTransaction | null = null): readonly number[] {
  const made = profile(change);
  const all: number[] = [];
  for (let s = after(made, fromS, transaction); s < Infinity && all.length < 9; s = after(made, s, transaction)) {
    expect(s).to.be.above(all.at(-1) ?? fromS);
    all.push(s);
  }
  return all;
}

const steps = periods([0, 1], [10, 2], [20, 3]);

describe('Charging schedules: when each period is in force', () => {
  it('from its start to the next one, from the start of the schedule on', () => {
    const change = { schedule: { startMs: noonMs, periods: steps } };
    expect(limits(change, [-0.001, 0, 9.999, 10, 19.999, 20, 1e6])).to.deep.equal([undefined, 1, 1, 2, 2, 3, 3]);
    expect(boundaries(change, -1)).to.deep.equal([0, 10, 20]);
    expect(boundaries(change, 0)).to.deep.equal([10, 20]);
    expect(boundaries(change, 20)).to.deep.equal([]);
  });

  it('a schedule without a start begins when it was received', () => {
    for (const kind of ['absolute', 'relative', 'dynamic'] as const)
      expect(boundaries({ kind, receivedMs: noonMs + 3000, schedule: { periods: steps } }, 0), kind).to.deep.equal([
        3, 13, 23,
      ]);
  });

  it('before a first period that starts late nothing is in force', () => {
    const change = { schedule: { startMs: noonMs, periods: periods([5, 1], [8, 2]) } };
    expect(limits(change, [0, 4.999, 5, 8])).to.deep.equal([undefined, undefined, 1, 2]);
    expect(boundaries(change, 0)).to.deep.equal([5, 8]);
    expect(limits({ schedule: { startMs: noonMs, periods: [] } }, [0])).to.deep.equal([undefined]);
  });

  it('ends with its duration, which may be shorter than its periods', () => {
    const change = { schedule: { startMs: noonMs, durationS: 15, periods: steps } };
    expect(limits(change, [0, 14.999, 15, 20])).to.deep.equal([1, 2, undefined, undefined]);
    expect(boundaries(change, 0)).to.deep.equal([10, 15, 20]);
    expect(boundaries({ schedule: { ...change.schedule, durationS: 30 } }, 0)).to.deep.equal([10, 20, 30]);
    expect(boundaries({ schedule: { ...change.schedule, durationS: 20 } }, 20)).to.deep.equal([]);
  });

  it('is in force from the begin of its validity to before its end', () => {
    const change = {
      validFromMs: noonMs + 4000,
      validToMs: noonMs + 12_000,
      schedule: { startMs: noonMs, periods: steps },
    };
    expect(limits(change, [3.999, 4, 10, 11.999, 12])).to.deep.equal([undefined, 1, 2, 2, undefined]);
    expect(boundaries(change, -5)).to.deep.equal([4, 10, 12]);
    expect(boundaries(change, 4)).to.deep.equal([10, 12]);
    expect(boundaries(change, 12)).to.deep.equal([]);
    expect(boundaries({ ...change, schedule: { startMs: noonMs + 20_000 } }, 5)).to.deep.equal([12]);
    expect(boundaries({ ...change, schedule: { startMs: noonMs + 8000 } }, 5)).to.deep.equal([8, 12]);
  });

  it('an equal period is no boundary, one that differs in a single member is', () => {
    const plain = {
      limit: 5,
      numberPhases: 3,
      setpoint: 4,
      dischargeLimit: -4,
      mode: 'CentralSetpoint',
      frequencyWatt: { baselineW: 1, curve: [], signalCurve: null },
    } as const;
    const changes: readonly Partial<SchedulePeriod>[] = [
      { limit: 6 },
      { limit: null },
      { numberPhases: 1 },
      { setpoint: 3 },
      { dischargeLimit: -3 },
      { mode: 'Idle' },
      { frequencyWatt: { baselineW: 2, curve: [], signalCurve: null } },
    ];
    const of = (change: Partial<SchedulePeriod>) => {
      const rows = [0, 10, 20].map((startS) => ({ ...plain, ...(startS === 20 && change), startS }));
      return boundaries({ schedule: { startMs: noonMs, periods: rows } }, 0);
    };
    expect(of({})).to.deep.equal([]);
    for (const change of changes) expect(of(change), JSON.stringify(change)).to.deep.equal([20]);
  });

  it('each of many periods is found at its own second', () => {
    for (const count of [1, 2, 3, 4, 5, 8, 9]) {
      const rows = periods(...Array.from({ length: count }, (_, i) => [i * 2, i] as const));
      const change = { schedule: { startMs: noonMs, periods: rows } };
      const seconds = Array.from({ length: count * 2 }, (_, s) => s);
      expect(limits(change, seconds)).to.deep.equal(seconds.map((s) => Math.floor(s / 2)));
    }
  });
});

describe('Charging schedules: relative to a transaction', () => {
  const ofTransaction = ['tx', 'tx_default', 'priority'] as const;
  const schedule = { startMs: noonMs - 50_000, periods: steps };

  it('begins with it, whatever start it names; those of the station begin when received', () => {
    for (const purpose of ofTransaction) {
      const change = { purpose, kind: 'relative', schedule } as const;
      expect(limits(change, [4.999, 5, 15, 25], running), purpose).to.deep.equal([undefined, 1, 2, 3]);
      expect(boundaries(change, 0, running), purpose).to.deep.equal([5, 15, 25]);
    }
    for (const purpose of ['station_max', 'external', 'local_generation'] as const)
      expect(boundaries({ purpose, kind: 'relative', schedule }, 0, running), purpose).to.deep.equal([10, 20]);
  });

  it('shows its first period while no transaction runs, as long as it is valid', () => {
    for (const purpose of ofTransaction) {
      const change = { purpose, kind: 'relative', schedule, validToMs: noonMs + 30_000 } as const;
      expect(limits(change, [-100, 0, 29, 30]), purpose).to.deep.equal([1, 1, 1, undefined]);
      expect(boundaries(change, 0), purpose).to.deep.equal([30]);
      expect(boundaries({ ...change, validToMs: null }, 0), purpose).to.deep.equal([]);
    }
  });

  it('one that is not relative does not begin with it', () => {
    expect(boundaries({ purpose: 'tx', schedule: { ...schedule, startMs: noonMs } }, 0, running)).to.deep.equal([
      10, 20,
    ]);
  });
});

describe('Charging schedules: what recurs', () => {
  for (const [kind, cycleS] of [
    ['recurring_daily', dayS],
    ['recurring_weekly', 7 * dayS],
  ] as const) {
    it(`${kind}: begins anew each time, and not before its start`, () => {
      const change = { kind, schedule: { startMs: noonMs, durationS: 30, periods: steps } };
      const inThird = [0, 10, 20, 29.999, 30].map((s) => s + 2 * cycleS);
      expect(limits(change, inThird)).to.deep.equal([1, 2, 3, 3, undefined]);
      expect(limits(change, [-cycleS, -1])).to.deep.equal([undefined, undefined]);
      expect(boundaries(change, 0).slice(0, 5)).to.deep.equal([10, 20, 30, cycleS, cycleS + 10]);
      expect(after(profile(change), 2 * cycleS)).to.equal(2 * cycleS + 10);
      expect(after(profile(change), 2 * cycleS + 30)).to.equal(3 * cycleS);
      expect(after(profile(change), -2.5 * cycleS)).to.equal(0);
    });

    it(`${kind}: a duration beyond the next begin ends nothing`, () => {
      const change = { kind, schedule: { startMs: noonMs, durationS: cycleS + 5, periods: steps } };
      expect(limits(change, [cycleS - 1, cycleS, cycleS + 5])).to.deep.equal([3, 1, 1]);
      expect(boundaries(change, 20).slice(0, 3)).to.deep.equal([cycleS, cycleS + 10, cycleS + 20]);
    });
  }

  it('the end of the validity comes before the next begin', () => {
    const change = { kind: 'recurring_daily', validToMs: noonMs + 3_600_000, schedule: { startMs: noonMs } } as const;
    expect(boundaries(change, 0)).to.deep.equal([3600]);
  });

  it('a period alone is a boundary at each begin', () => {
    expect(
      boundaries({ kind: 'recurring_daily', schedule: { startMs: noonMs, periods: one({ limit: 5 }) } }, 1)[0],
    ).to.equal(dayS);
  });
});
