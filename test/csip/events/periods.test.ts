import { expect } from 'chai';
import fc from 'fast-check';
import type { ModeName } from '../../../src/csip/control/model.ts';
import type { ListedControl, ScheduleOptions } from '../../../src/csip/events/model.ts';
import { overlap, restoreSchedule, saveSchedule } from '../../../src/csip/events/state.ts';
import { knownControls } from '../../../src/csip/events/schedule.ts';
import { holds } from '../../support/property.ts';
import { applied, control, outcome, pf, program, resolved, Scene, watt } from './scene.ts';

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
    expect(periodsOf(controls, { A: 0.99 })['C']).to.deep.equal([230, 330]);
    expect(periodsOf(controls, { B: 0.99 })['C']).to.deep.equal([230, 330]);
  });

  it('of a row follow from the first to the last, each with its whole duration (rules m and o)', () => {
    const controls = [
      control('C', { startS: 210 }),
      control('B', { startS: 200, durationS: 10 }),
      control('A', { randomizeDurationS: 60 }),
    ];
    expect(periodsOf(controls, { A: 0.999 })).to.deep.equal({ C: [270, 370], B: [260, 270], A: [100, 260] });
  });

  it('of a chain with gaps, whatever the draws, are those of the rule', () => {
    const link = fc.record({
      gapS: fc.constantFrom(0, 0, 1),
      durationS: fc.integer({ min: 1, max: 60 }),
      randomizeStartS: fc.integer({ min: -20, max: 20 }),
      randomizeDurationS: fc.integer({ min: -20, max: 20 }),
      picks: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
    });
    /** A draw from 0 to the bound, both included (10.2.3). */
    const draw = (bound: number, pick: number) =>
      Math.sign(bound) * Math.min(Math.abs(bound), Math.floor(pick * (Math.abs(bound) + 1)));
    holds('chains of events', fc.array(link, { minLength: 2, maxLength: 6 }), (links) => {
      let [specifiedS, endS] = [1000, -1];
      const expected: Record<string, readonly [number, number]> = {};
      const controls = links.map(({ gapS, picks, ...values }, i) => {
        const startS = specifiedS + gapS;
        const durationS = Math.max(0, values.durationS + draw(values.randomizeDurationS, picks[1]));
        const isSuccessor = i > 0 && gapS === 0 && durationS > 0;
        const effectiveS = isSuccessor ? endS : startS + draw(values.randomizeStartS, picks[0]);
        endS = effectiveS + durationS;
        specifiedS = startS + values.durationS;
        expected[`E${i}`] = [effectiveS, endS];
        return control(`E${i}`, { ...values, startS });
      });
      const pick = (mrid: string, purpose: string) => links[Number(mrid.slice(1))]!.picks[purpose === 'start' ? 0 : 1];
      const scene = new Scene({ pick }).read(0, program('P', 1, controls));
      const periods = knownControls(scene.state).map(({ listed, effectiveStartS, effectiveDurationS }) => [
        listed.mrid,
        [effectiveStartS, effectiveStartS + effectiveDurationS],
      ]);
      expect(Object.fromEntries(periods)).to.deep.equal(expected);
    });
  });

  it('without a duration stay at their specified start', () => {
    const controls = [control('A', { randomizeDurationS: 30 }), control('B', { startS: 200, durationS: 0 })];
    expect(periodsOf(controls, { A: 0.99 })['B']).to.deep.equal([200, 200]);
  });
});

describe('CSIP events: who is followed without a gap (rule m)', () => {
  const later = control('B', { startS: 200, randomizeStartS: 30 });
  const random = { randomizeDurationS: 60 };
  /** Effective start of B, which by itself would start at 215. */
  const startOf = (scene: Scene) =>
    knownControls(scene.state).find(({ listed }) => listed.mrid === 'B')?.effectiveStartS;
  const sceneOf = (over: ConstructorParameters<typeof Scene>[0] = {}) =>
    new Scene({ pick: (_, purpose) => (purpose === 'cancel' ? 0.9 : 0.5), ...over });

  it('one that waits and one that its list calls active', () => {
    for (const status of ['scheduled', 'active'] as const) {
      const scene = sceneOf().read(0, program('P', 1, [control('A', { ...random, status }), later]));
      expect(startOf(scene), status).to.equal(230);
    }
  });

  it('one that is completed: a later one that is seen after that starts at its end', () => {
    const scene = sceneOf().read(0, program('P', 1, [control('A', { randomizeDurationS: 20 })]));
    scene.time(100, 210).read(212, program('P', 1, [later]));
    expect(scene.stateOf('A')).to.equal('completed');
    expect(startOf(scene)).to.equal(210);
  });

  it('none without a duration', () => {
    const nothing = control('A', { startS: 200, durationS: 0, randomizeStartS: 50 });
    expect(startOf(sceneOf().read(0, program('P', 1, [nothing, later])))).to.equal(215);
  });

  it('none that the user has opted out of, also where it is over', () => {
    const scene = sceneOf().read(0, program('P', 1, [control('A', random), later]));
    scene.opt(10, 'A', false);
    expect(startOf(scene)).to.equal(215);
    const over = sceneOf().read(0, program('P', 1, [control('A', { randomizeDurationS: 20 })]));
    over
      .opt(10, 'A', false)
      .time(100, 210)
      .read(212, program('P', 1, [later]));
    expect(startOf(over)).to.equal(215);
  });

  it('none that was refused, superseded or cancelled', () => {
    const refused = sceneOf({ check: ({ base }) => outcome('opModFixedPFInjectW' in base ? 'invalid' : 'applied') });
    const both = control('A', { ...random, modes: [watt, pf], control: resolved([watt, pf]) });
    expect(startOf(refused.read(0, program('P', 1, [both, later])))).to.equal(215);
    for (const status of ['cancelled', 'superseded', 'cancelled with randomization'] as const) {
      const scene = sceneOf().read(0, program('P', 1, [control('A', random), later]));
      scene.time(100).read(150, program('P', 1, [control('A', { ...random, status }), later]));
      expect(startOf(scene), status).to.equal(215);
    }
  });

  it('one whose program has left, until then: one that is seen at its end runs, a later one may be too late', () => {
    const scene = sceneOf()
      .read(0, program('P', 1, [control('A', random)]))
      .time(100);
    const short = (mrid: string) => control(mrid, { startS: 200, durationS: 10 });
    scene.read(225, program('Q', 2, [short('B')])).time(235);
    scene.read(236, program('Q', 2, [short('B'), short('C')]));
    expect(scene.responses.slice(2)).to.deep.equal([
      '225 B 1',
      '225 A 6',
      '225 B 2',
      '235 B 3',
      '236 C 1',
      '236 C 254',
    ]);
  });

  it('none that ends a second earlier or later', () => {
    for (const durationS of [99, 101]) {
      const scene = sceneOf().read(0, program('P', 1, [control('A', { ...random, durationS }), later]));
      expect(startOf(scene), String(durationS)).to.equal(215);
    }
  });

  it('one that has begun keeps the period with which it began', () => {
    const scene = sceneOf().read(0, program('P', 1, [control('A', { randomizeDurationS: 20 }), later]));
    scene.time(100, 210);
    scene.read(212, program('P', 1, [control('A', { status: 'cancelled' }), later]));
    expect(startOf(scene)).to.equal(210);
  });

  it('one that has begun keeps its start, also where an earlier one is discovered that ends later', () => {
    const scene = sceneOf()
      .read(0, program('Q', 2, [later]))
      .time(215);
    const both = control('A', { ...random, modes: [watt, pf], control: resolved([watt, pf]) });
    scene.read(220, program('P', 3, [both]), program('Q', 2, [later]));
    expect(scene.stateOf('A')).to.equal('active');
    expect(startOf(scene)).to.equal(215);
  });

  it('counts at the receipt: one that would be over by itself follows the one before it', () => {
    const [earlier, short] = [control('A', random), control('B', { startS: 200, durationS: 10 })];
    const scene = sceneOf()
      .read(0, program('P', 1, [earlier]))
      .time(100);
    expect(scene.read(220, program('P', 1, [earlier, short])).of('B')).to.deep.equal([1]);
    expect(scene.runTo(300).of('B')).to.deep.equal([1, 2, 3]);
    const together = sceneOf()
      .read(220, program('P', 1, [earlier, short]))
      .runTo(300);
    expect([together.of('A'), together.of('B')]).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('none for a mode that it has lost', () => {
    const both = control('A', { ...random, modes: [watt, pf], control: resolved([watt, pf]) });
    const scene = sceneOf().read(
      0,
      program('O', 0, [control('H')]),
      program('P', 1, [both, control('B', { startS: 200 })]),
    );
    scene.time(100);
    expect(startOf(scene)).to.equal(200);
  });

  it('of several ends each mode has its own, and the latest of its modes decides', () => {
    const controls = [
      control('A', random),
      control('C', { randomizeDurationS: 20, modes: [pf], control: resolved([pf]) }),
      control('B', { startS: 200, modes: [pf, watt], control: resolved([pf, watt]) }),
      control('D', { startS: 200, modes: [pf], control: resolved([pf]) }),
    ];
    const scene = sceneOf().read(0, program('P', 1, controls));
    const starts = knownControls(scene.state).map(({ listed, effectiveStartS }) => [listed.mrid, effectiveStartS]);
    expect(Object.fromEntries(starts)).to.deep.equal({ A: 100, C: 100, B: 230, D: 210 });
  });
});

describe('CSIP events: who has waited for one that ends early', () => {
  const both: readonly ModeName[] = [watt, pf];
  const random = { randomizeStartS: 30 };
  const first = (over: Partial<ListedControl> = {}) => control('A', { ...random, ...over });
  const next = (over: Partial<ListedControl> = {}) => control('B', { startS: 200, durationS: 20, ...over });
  const ofBoth = { modes: both, control: resolved(both) };
  /** A runs from 130 to 230, so that B waits until 230; a random cancellation of A lasts 18 s. */
  const sceneOf = (over: ConstructorParameters<typeof Scene>[0] = {}) =>
    new Scene({ pick: (mrid, purpose) => (purpose === 'cancel' ? 0.6 : mrid === 'A' ? 0.999 : 0), ...over });
  const periodOf = ({ state }: Scene) =>
    knownControls(state).flatMap(({ listed, effectiveStartS: startS, effectiveDurationS }) =>
      listed.mrid === 'B' ? [startS, startS + effectiveDurationS] : [],
    );
  const answersOf = (scene: Scene) => scene.responses.filter((line) => line.includes('B') && !line.startsWith('0 '));
  const waiting = (a = first(), b = next()) =>
    sceneOf()
      .read(0, program('P', 1, [a, b]))
      .time(130, 200);

  it('of one that is cancelled, or superseded by the server: starts at that instant, whole', () => {
    for (const status of ['cancelled', 'superseded'] as const)
      for (const durationS of [20, 100]) {
        const b = next({ durationS });
        const scene = waiting(first(), b).read(225, program('P', 1, [first({ status }), b]));
        expect(periodOf(scene), status).to.deep.equal([225, 225 + durationS]);
        expect(answersOf(scene.runTo(400)), status).to.deep.equal(['225 B 2', `${225 + durationS} B 3`]);
      }
  });

  it('of one that is cancelled with randomization: starts when its random delay is over', () => {
    const cancelled = [first({ status: 'cancelled with randomization' }), next()];
    const scene = waiting().read(210, program('P', 1, cancelled));
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    expect(periodOf(scene)).to.deep.equal([228, 248]);
    expect(answersOf(scene.runTo(400))).to.deep.equal(['228 B 2', '248 B 3']);
    const predicted = sceneOf({ supersededResponse: 'at_discovery' }).read(0, program('P', 1, [first(), next()]));
    predicted
      .time(130, 200)
      .read(210, program('P', 1, cancelled))
      .runTo(400);
    expect(answersOf(predicted)).to.deep.equal(['228 B 2', '248 B 3']);
    const atOnce = waiting().read(210, program('P', 1, cancelled));
    atOnce.read(220, program('P', 1, [first({ status: 'cancelled' }), next()])).runTo(400);
    expect(answersOf(atOnce)).to.deep.equal(['220 B 2', '240 B 3']);
  });

  it('of one whose program leaves', () => {
    const scene = sceneOf().read(0, program('P', 1, [first()]), program('Q', 2, [next()]));
    scene
      .time(130)
      .read(225, program('Q', 2, [next()]))
      .runTo(400);
    expect(answersOf(scene)).to.deep.equal(['225 B 2', '245 B 3']);
  });

  it('of one that the user opts out of, the last time if several', () => {
    const scene = waiting().opt(205, 'A', false);
    expect(periodOf(scene)).to.deep.equal([205, 225]);
    const again = sceneOf()
      .read(0, program('P', 1, [first(), next()]))
      .opt(150, 'A', false)
      .opt(160, 'A', true);
    expect(answersOf(again.time(200).opt(225, 'A', false).runTo(400))).to.deep.equal(['225 B 2', '245 B 3']);
  });

  it('of one that is refused after its start', () => {
    const scene = sceneOf();
    scene.outcomeOf = (id) => (id !== 'A' ? applied : outcome(scene.nowS < 225 ? 'waiting' : 'unsupported'));
    scene
      .read(0, program('P', 1, [first(), next()]))
      .time(130, 200, 225, 225)
      .runTo(400);
    expect(scene.of('A')).to.deep.equal([1, 252]);
    expect(answersOf(scene)).to.deep.equal(['225 B 2', '245 B 3']);
  });

  it('of one that loses its modes: starts then, and loses in turn only what the winner has', () => {
    const winner = program('O', 0, [control('W', { startS: 225, durationS: 50 })]);
    const same = sceneOf()
      .read(0, winner, program('P', 1, [first(), next()]))
      .time(130)
      .runTo(400);
    expect(answersOf(same)).to.deep.equal(['225 B 7']);
    const more = sceneOf()
      .read(0, winner, program('P', 1, [first(), next(ofBoth)]))
      .time(130, 225);
    expect(more.now).to.deep.equal(['W: MaxLimW', 'B: FixedPFInjectW']);
    expect(answersOf(more.runTo(400))).to.deep.equal(['225 B 2', '245 B 3']);
  });

  it('of one that loses some of its modes: waits for the end of the others', () => {
    const winner = program('O', 0, [control('W', { startS: 225, durationS: 3 })]);
    const scene = sceneOf()
      .read(0, winner, program('P', 1, [first(ofBoth), next(ofBoth)]))
      .time(130, 225);
    expect(periodOf(scene)).to.deep.equal([230, 250]);
    expect(scene.runTo(240).now).to.deep.equal(['B: MaxLimW FixedPFInjectW']);
  });

  it('of one that never began: starts as soon as it is cancelled', () => {
    const scene = sceneOf().read(0, program('P', 1, [first({ durationS: 10 }), next({ startS: 110 })]));
    expect(periodOf(scene)).to.deep.equal([140, 160]);
    scene.read(120, program('P', 1, [first({ durationS: 10, status: 'cancelled' }), next({ startS: 110 })]));
    expect(answersOf(scene.runTo(400))).to.deep.equal(['120 B 2', '140 B 3']);
  });

  it('does not start before its time, and is not cut where its time has passed', () => {
    const early = waiting().read(0, program('P', 1, [first(), next()]));
    early.read(199, program('P', 1, [first({ status: 'cancelled' }), next()]));
    expect(periodOf(early)).to.deep.equal([200, 220]);
    const before = sceneOf({ pick: () => 0.999 });
    const b = next({ randomizeStartS: -10 });
    before.read(0, program('P', 1, [first(), b])).time(130, 195);
    before.read(195, program('P', 1, [first({ status: 'cancelled' }), b]));
    expect(periodOf(before)).to.deep.equal([195, 215]);
  });

  it('of several starts at the latest end by time, unless it has waited longer', () => {
    const shorter = control('C', { randomizeDurationS: -10 });
    const pick = (mrid: string) => (mrid === 'B' ? 0 : 0.999);
    for (const [cancelS, startS] of [
      [150, 190],
      [195, 195],
    ] as const) {
      const low = (status: ListedControl['status']) => program('P', 1, [first({ status, ...ofBoth }), next(ofBoth)]);
      const high = program('Q', 0, [shorter]);
      const scene = sceneOf({ pick }).read(0, high, low('scheduled')).time(100, 130, 150);
      if (cancelS > 190) scene.time(190);
      expect(periodOf(scene.read(cancelS, high, low('cancelled')))).to.deep.equal([startS, startS + 20]);
    }
  });

  it('of one that ended before in another way has its first end', () => {
    const scene = sceneOf()
      .read(0, program('P', 1, [first()]))
      .time(130)
      .opt(205, 'A', false);
    scene.read(215, program('P', 1, [first({ status: 'cancelled' }), next()]));
    expect(periodOf(scene)).to.deep.equal([205, 225]);
  });

  it('of one whose end passed between two steps starts at that end', () => {
    const b = next({ durationS: 100 });
    const scene = waiting(first(), b).read(300, program('P', 1, [first({ status: 'cancelled' }), b]));
    expect(periodOf(scene)).to.deep.equal([230, 330]);
  });

  it('of one that was never accepted starts at its time', () => {
    const check: ScheduleOptions['check'] = ({ base }) => outcome(pf in base ? 'invalid' : 'applied');
    const scene = sceneOf({ check }).read(212, program('P', 1, [first(ofBoth), next()]));
    expect(periodOf(scene)).to.deep.equal([200, 220]);
  });

  it('keeps what it waited for after a restart and after a clock was set back', () => {
    const third = control('C', { randomizeDurationS: 60, modes: [pf], control: resolved([pf]) });
    const list = (status: ListedControl['status'], statusOfC: ListedControl['status'] = 'scheduled') =>
      program('P', 1, [first({ status }), next(ofBoth), { ...third, status: statusOfC }]);
    const scene = sceneOf({ pick: (mrid) => (mrid === 'B' ? 0 : 0.999) })
      .read(0, list('scheduled'))
      .time(130, 200);
    scene.read(225, list('cancelled'));
    expect(periodOf(scene)).to.deep.equal([260, 280]);
    scene.state = restoreSchedule(saveSchedule(scene.state));
    scene.read(150, list('cancelled')).read(160, list('cancelled', 'cancelled'));
    expect(periodOf(scene)).to.deep.equal([225, 245]);
  });
});

describe('CSIP events: random offsets', () => {
  const at = (pick: number, over: Partial<ListedControl>) =>
    knownControls(new Scene({ pick: () => pick }).read(0, program('P', 1, [control('A', over)])).state).map(
      ({ effectiveStartS, effectiveDurationS }) => [effectiveStartS, effectiveDurationS],
    )[0];

  it('never pass their bound, even for a pick of 1', () => {
    expect(at(1, { randomizeStartS: 20, randomizeDurationS: 30 })).to.deep.equal([120, 130]);
    expect(at(1, { randomizeStartS: -20, randomizeDurationS: -30 })).to.deep.equal([80, 70]);
  });

  it('leave a duration of 0 where they would make it negative', () => {
    expect(at(1, { durationS: 30, randomizeDurationS: -30 })).to.deep.equal([100, 0]);
    expect(at(1, { durationS: 30, randomizeDurationS: -31 })).to.deep.equal([100, 0]);
    expect(at(1, { durationS: 31, randomizeDurationS: -30 })).to.deep.equal([100, 1]);
  });
});
