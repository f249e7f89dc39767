import { expect } from 'chai';
import { failedIn } from '../../src/capture/fast-run.ts';
import { marksOf } from '../../src/capture/marks.ts';
import { Settling } from '../../src/capture/settling.ts';
import { thresholdsOf } from '../../src/capture/thresholds.ts';
import { isDisturbance, gridTrigger } from '../../src/capture/triggers.ts';
import { spanText } from '../../src/capture/words.ts';
import type { CaptureTrigger } from '../../src/contract/captures.ts';
import type { GridChange, GridCommand, GridState } from '../../src/contract/environment.ts';
import type { StepValues } from '../../src/contract/grid-trace.ts';
import type { Origin } from '../../src/core/origin.ts';
import { microsPerSecond } from '../../src/core/time/clock.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { columnsOf, courseOf, plainFacts, tripAt } from './course-support.ts';

const seconds = (s: number) => (s * microsPerSecond) as SimTime;

describe('settling of a device in a capture', () => {
  const step = (s: number, kw: number, more: Partial<StepValues> = {}): StepValues => ({
    at: seconds(s),
    activePowerW: kw * 1000,
    reactivePowerVar: 0,
    availableW: 0,
    lowestVoltagePct: 100,
    highestVoltagePct: 100,
    frequencyHz: 60,
    gridVoltagePct: 100,
    service: 'in_service',
    ramps: false,
    ...more,
  });
  const settledAt = (...steps: StepValues[]) => {
    const settling = new Settling(100_000);
    for (const each of steps) settling.add(each);
    return settling.settledAt;
  };

  it('takes a second within 1 % of the rating', () => {
    expect(settledAt(step(0, 50), step(0.99, 50))).to.equal(null);
    expect(settledAt(step(0, 50), step(0.5, 51), step(1.4, 50))).to.equal(seconds(1));
    const slope = step(0.5, 51.1, { ramps: true });
    expect(settledAt(step(0, 50), slope, step(1.4, 51.1))).to.equal(null);
    expect(settledAt(step(0, 50), slope, step(1.5, 51.1))).to.equal(seconds(1.5));
    // a step holds from the row before
    expect(settledAt(step(0, 50), step(0.4, 50), step(0.6, 52), step(1.4, 52))).to.equal(seconds(1.4));
  });

  it('lasts while the power moves with the weather, and ends with the grid or the service', () => {
    const calm = [step(0, 50), step(1, 50)];
    expect(settledAt(...calm, step(5, 80))).to.equal(seconds(1));
    expect(settledAt(...calm, step(1.5, 50, { gridVoltagePct: 99 }))).to.equal(null);
    expect(settledAt(...calm, step(1.5, 50, { frequencyHz: 59.9 }))).to.equal(null);
    expect(settledAt(...calm, step(1.5, 50, { service: 'waiting' }))).to.equal(null);
  });
});

const normal: GridState = {
  voltageAPu: 1,
  voltageBPu: 1,
  voltageCPu: 1,
  frequencyHz: 60,
  phaseAngleDeg: 0,
  source: 'const',
  profileLoaded: false,
  outage: false,
  island: false,
  rampRemainingS: 0,
  durationRemainingS: null,
  event: null,
  changedBy: null,
  deviatingDevices: [],
};

function change(command: GridCommand, after: Partial<GridState> = {}, by: Origin = { source: 'rest' }): GridChange {
  return {
    command,
    deviceIndex: null,
    before: normal,
    after: { ...normal, ...after },
    by: { ...by, at: seconds(0), wallMs: 0 },
  };
}

describe('triggers of captures by the grid', () => {
  const set = (patch: object, after: Partial<GridState> = {}) => isDisturbance(change({ kind: 'set', patch }, after));

  it('are changes of voltage above 2 % and of frequency above 0.2 Hz, also at the end of a ramp', () => {
    expect(set({ voltagePu: 0.98 }, { voltageAPu: 0.98, voltageBPu: 0.98, voltageCPu: 0.98 })).to.equal(false);
    expect(set({ voltagePu: 0.979, rampS: 5 })).to.equal(true);
    expect(set({ voltageBPu: 1.03 })).to.equal(true);
    expect(set({ frequencyHz: 60.2 })).to.equal(false);
    expect(set({ frequencyHz: 59.79, rampS: 5 })).to.equal(true);
    expect(set({ phaseAngleDeg: 20 })).to.equal(false);
    expect(set({ source: 'csv' }, { voltageAPu: 0.9 })).to.equal(true);
  });

  it('are outages, islands and their ends, events, and each change by a scenario', () => {
    expect(set({ outage: true }, { outage: true })).to.equal(true);
    expect(set({ island: true }, { island: true })).to.equal(true);
    expect(isDisturbance(change({ kind: 'event', name: 'phase_jump', args: {} }))).to.equal(true);
    expect(isDisturbance(change({ kind: 'end' }))).to.equal(false);
    const small = { kind: 'set', patch: { voltagePu: 0.99 } } as const;
    expect(isDisturbance(change(small))).to.equal(false);
    expect(isDisturbance(change(small, {}, { source: 'scenario', peer: 'sags' }))).to.equal(true);
  });

  it('have a title and the request that repeats them', () => {
    const of = (command: GridCommand, after: Partial<GridState> = {}) => {
      const { title, call } = gridTrigger(change(command, after), 0, []);
      return [title, call];
    };
    const args = { residual_pu: 0.42, duration_s: 1.2 };
    expect(of({ kind: 'event', name: 'sag', args }, { durationRemainingS: 1.2 })).to.deep.equal([
      'Sag to 42 % for 1.20 s',
      { path: '/controls/grid/event', body: { event: 'sag', parameters: args } },
    ]);
    expect(of({ kind: 'set', patch: { voltageAPu: 0.85, frequencyHz: 59 } })).to.deep.equal([
      'Voltage to 85 %, frequency to 59 Hz',
      { path: '/controls/grid', body: { voltage_a_pu: 0.85, frequency_hz: 59 } },
    ]);
    expect(of({ kind: 'set', patch: { outage: false } })[0]).to.equal('End of the outage');
  });
});

describe('marks of a capture', () => {
  const begin: CaptureTrigger = { kind: 'grid_event', tS: 0, title: 'Sag', deviceIndex: null, by: null, call: null };

  it('are begin, trips at one instant as one, the grid back, and the last device back', () => {
    const back = (index: number, backS: number) =>
      courseOf([{ toS: backS, vPct: 60, kw: 0 }, { toS: 5 }], { facts: { index, name: `D${index}` } });
    const tripped = [3, 4].map((index) =>
      courseOf([{ toS: 5, kw: 0, state: 'tripped' }], { facts: { index }, changes: [tripAt(0.16)] }),
    );
    const marks = marksOf([begin], [back(1, 1.3), back(2, 1.62), ...tripped], 1.2);
    expect(marks.map(({ number, tS, devices, text }) => [number, tS, devices, text])).to.deep.equal([
      [1, 0, [], 'Sag'],
      [2, 0.16, [3, 4], '2 devices trip'],
      [3, 1.2, [], 'grid back'],
      [4, 1.62, [2], 'D2 at its power before'],
    ]);
  });
});

describe('thresholds of a capture', () => {
  it('are listed once, with the devices that have them, and their category where they differ', () => {
    const same = thresholdsOf([plainFacts, { ...plainFacts, index: 1 }]);
    expect(same).to.have.length(10);
    expect(same[1]).to.deep.include({ value: 88, timeS: 21, devices: [0, 1], text: '0.88 trips after 21 s' });
    const mixed = thresholdsOf([plainFacts, { ...plainFacts, index: 1, category: 'CAT_2' }]);
    expect(mixed).to.have.length(20);
    expect(mixed[8]?.text).to.equal('0.50 ceases (III)');
  });
});

describe('failures in a fast run', () => {
  it('are in a capture whose time they touch', () => {
    const failed = { name: '', place: '', message: '', actions: [], signal: null, bounds: null };
    const hasFailed = failedIn({
      steps: () => [
        { ...failed, state: 'failed', atS: 5 },
        { ...failed, state: 'done', atS: 30 },
      ],
      assertions: () => [{ ...failed, state: 'failed', beganS: 10, decidedS: 20 }],
    });
    expect([hasFailed(0, 4), hasFailed(4, 6), hasFailed(12, 13), hasFailed(21, 40)]).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('columns and words of captures', () => {
  it('columns grow, drop what is too late, and give memory back', () => {
    const columns = columnsOf(Array.from({ length: 100 }, (_, n) => ({ toS: n, kw: n })));
    expect([columns.length, columns.pKw[99], columns.endS]).to.deep.equal([100, 99, 99]);
    const { bytes } = columns;
    columns.cutAfter(49.5);
    columns.trim();
    expect([columns.length, columns.endS, columns.pKw[49]]).to.deep.equal([50, 49, 49]);
    expect(columns.bytes).to.be.below(bytes / 2);
  });

  it('spans have hundredths, tenths or minutes', () => {
    expect([0.16, 1.2, 20, 299.9, 276].map(spanText)).to.deep.equal(['0.16 s', '1.20 s', '20 s', '5:00', '4:36']);
  });
});
