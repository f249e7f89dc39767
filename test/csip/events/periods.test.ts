import { expect } from 'chai';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { overlap } from '../../../src/csip/events/periods.ts';
import { knownControls } from '../../../src/csip/events/schedule.ts';
import { control, program, Scene } from './scene.ts';

/** Effective start and end by mRID. @param picks the numbers from which random offsets follow, by mRID; default: 0 */
function periodsOf(
  controls: readonly ListedControl[],
  picks: Readonly<Record<string, number>>,
): Readonly<Record<string, readonly [number, number]>> {
  const scene = new Scene({ pick: (mrid) => picks[mrid] ?? 0 }).read(0, program('P', 1, controls));
  return Object.fromEntries(
    knownControls(scene.state).map(({ listed, effectiveStartS: startS, effectiveDurationS }) => [
      listed.mrid,
      [startS, startS + effectiveDurationS],
    ]),
  );
}

describe('CSIP events: effective periods (IEEE 2030.5-2018 10.2.3)', () => {
  it('are half open: one that ends where another starts has no instant in common with it', () => {
    const period = { startS: 100, endS: 200 };
    expect(overlap(period, { startS: 199, endS: 300 })).to.equal(true);
    expect(overlap(period, { startS: 200, endS: 300 })).to.equal(false);
    expect(overlap({ startS: 200, endS: 300 }, period)).to.equal(false);
    expect(overlap(period, { startS: 0, endS: 101 })).to.equal(true);
    expect(overlap(period, { startS: 0, endS: 100 })).to.equal(false);
  });

  it('after several events that end at one instant start at the latest of their ends (rule m)', () => {
    const random = { randomizeDurationS: 30 };
    const controls = [control('A', random), control('B', random), control('C', { startS: 200 })];
    expect(periodsOf(controls, { A: 0.99 })['C']).to.deep.equal([230, 300]);
    expect(periodsOf(controls, { B: 0.99 })['C']).to.deep.equal([230, 300]);
  });

  it('of a row follow from the first to the last, also where one is left no time (rule m)', () => {
    const controls = [
      control('C', { startS: 210 }),
      control('B', { startS: 200, durationS: 10 }),
      control('A', { randomizeDurationS: 60 }),
    ];
    expect(periodsOf(controls, { A: 0.999 })).to.deep.equal({ C: [260, 310], B: [260, 260], A: [100, 260] });
  });

  it('without a duration stay at their specified start', () => {
    const controls = [control('A', { randomizeDurationS: 30 }), control('B', { startS: 200, durationS: 0 })];
    expect(periodsOf(controls, { A: 0.99 })['B']).to.deep.equal([200, 200]);
  });
});
