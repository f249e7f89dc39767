import { expect } from 'chai';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { knownControls } from '../../../src/csip/events/schedule.ts';
import { applied, control, defaults, one, outcome, pf, program, resolved, Scene, watt } from './scene.ts';

describe('CSIP events: life of one event (IEEE 2030.5-2018 10.2.3)', () => {
  it('is received, started and completed on the half-open interval of server time', () => {
    const scene = one();
    expect(scene.responses).to.deep.equal(['0 A 1']);
    expect(scene.nextS).to.equal(100);
    scene.time(99.9);
    expect(scene.now).to.deep.equal([]);
    scene.time(100);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene.time(199.9);
    expect(scene.stateOf('A')).to.equal('active');
    scene.time(200);
    expect(scene.now).to.deep.equal([]);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 2', '200 A 3']);
    expect(scene.nextS).to.equal(null);
  });

  it('answers nothing twice, however often it is told', () => {
    const scene = one();
    scene.time(100, 100, 150).read(160, program('P', 1, [control('A', { status: 'active' })]));
    scene.time(200, 201).read(210, program('P', 1, [control('A', { status: 'active' })]));
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('seen after its start runs for the remainder', () => {
    const scene = new Scene().read(150, program('P', 1, [control('A', { status: 'active' })])).runTo(300);
    expect(scene.responses).to.deep.equal(['150 A 1', '150 A 2', '200 A 3']);
  });

  it('seen at or after its end is not run and answered 254', () => {
    const scene = new Scene().read(200, program('P', 1, [control('A', { status: 'active' })])).runTo(300);
    expect(scene.responses).to.deep.equal(['200 A 1', '200 A 254']);
    expect(scene.stateOf('A')).to.equal('rejected');
  });

  it('with no duration never starts: 10 at its instant', () => {
    const scene = one({ durationS: 0 }).runTo(200);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 10']);
  });

  it('of the longest duration is active for as long as it says', () => {
    const scene = one({ durationS: 2 ** 32 }).time(100);
    expect(scene.nextS).to.equal(100 + 2 ** 32);
    scene.time(99 + 2 ** 32);
    expect(scene.stateOf('A')).to.equal('active');
    scene.time(100 + 2 ** 32);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('vanishing from its list is not cancelled, before the start and while active', () => {
    const scene = one()
      .read(50, program('P', 1, []))
      .time(100)
      .read(150, program('P', 1, []))
      .time(200);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('keeps running while its program cannot be read', () => {
    const scene = one()
      .read(50, program('P', 1, undefined))
      .time(100)
      .read(150, program('P', 1, undefined))
      .time(200);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('ends when its program leaves the assignments: 6, and what it had is given back', () => {
    const scene = one().time(100).read(120);
    expect(scene.now).to.deep.equal([]);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 2', '120 A 6']);
    expect(scene.stateOf('A')).to.equal('cancelled');
  });

  it('is a new one when its program returns', () => {
    const scene = one()
      .time(100)
      .read(120)
      .read(150, program('P', 1, [control('A')]))
      .runTo(300);
    expect(scene.responses.slice(2)).to.deep.equal(['120 A 6', '150 A 1', '150 A 2', '200 A 3']);
  });

  it('in two programs runs once, with the lower primacy, until both have left', () => {
    const both = [program('P', 5, [control('A')]), program('Q', 2, [control('A')])];
    const scene = new Scene().read(0, ...both);
    expect(knownControls(scene.state).map(({ primacy }) => primacy)).to.deep.equal([2]);
    scene.time(100).read(110, program('P', 5, [control('A')]));
    expect(knownControls(scene.state).map(({ primacy, programKey }) => [primacy, programKey])).to.deep.equal([
      [5, 'P'],
    ]);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene.read(120);
    expect(scene.of('A')).to.deep.equal([1, 2, 6]);
  });

  it('shown twice in a list is one event, with the later status', () => {
    const twice = [control('A', { status: 'cancelled', statusS: 90 }), control('A', { statusS: 10 })];
    const scene = one()
      .read(95, program('P', 1, twice))
      .runTo(300);
    expect(scene.of('A')).to.deep.equal([1, 6]);
  });

  it('is immutable: another interval, other modes or a higher version change nothing', () => {
    const changed = { startS: 150, durationS: 5, version: 3, modes: [pf], control: resolved([pf]) };
    const scene = one()
      .read(50, program('P', 1, [control('A', changed)]))
      .time(100);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene.time(200);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 2', '200 A 3']);
  });

  it('takes curves that could not be read at first, and is checked at its start then', () => {
    const curve = { curveType: 11 };
    const missing = { base: { opModVoltVar: { href: '/c' } }, curves: new Map([['/c', null]]) };
    const whole = { ...missing, curves: new Map([['/c', curve]]) };
    const scene = new Scene({ check: () => outcome('invalid') });
    scene.read(0, program('P', 1, [control('A', { modes: ['opModVoltVar'], control: missing })]));
    expect(scene.of('A')).to.deep.equal([1]);
    scene.read(50, program('P', 1, [control('A', { modes: ['opModVoltVar'], control: whole })])).time(100);
    expect(scene.inForce[0]?.control.curves.get('/c')).to.equal(curve);
  });

  it('of another device category is ignored without a response', () => {
    const scene = one({ deviceCategory: 1 << 20 }).runTo(300);
    expect(scene.responses).to.deep.equal([]);
    expect(knownControls(scene.state)).to.deep.equal([]);
    expect(one({ deviceCategory: (1 << 20) | (1 << 21) }).of('A')).to.deep.equal([1]);
  });

  it('of the highest category bit is matched', () => {
    const scene = new Scene({ deviceCategory: 0x80000000 });
    expect(one({ deviceCategory: 0x80000000 }, scene).of('A')).to.deep.equal([1]);
  });
});

describe('CSIP events: cancellation', () => {
  const cancelled = (status: ListedControl['status'], over: Partial<ListedControl> = {}) =>
    program('P', 1, [control('A', { ...over, status, statusS: 1 })]);

  it('before the start: 6 at once, never applied', () => {
    const scene = one().read(50, cancelled('cancelled')).runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '50 A 6']);
  });

  it('while active: stops at once with 6', () => {
    const scene = one().time(100).read(150, cancelled('cancelled'));
    expect(scene.now).to.deep.equal([]);
    expect(scene.responses.at(-1)).to.equal('150 A 6');
  });

  it('with randomization: stops within the larger of both bounds, the same delay at each reading', () => {
    const random = { randomizeStartS: -10, randomizeDurationS: 40 };
    const scene = one(random, new Scene({ pick: (_, purpose) => (purpose === 'cancel' ? 0.5 : 0) }));
    scene.time(100).read(120, cancelled('cancelled with randomization', random));
    expect(scene.nextS).to.equal(140);
    scene.read(130, cancelled('cancelled with randomization', random));
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene.time(140);
    expect(scene.responses.at(-1)).to.equal('140 A 6');
    expect(scene.now).to.deep.equal([]);
  });

  it('with randomization before the start: 6 at once', () => {
    const scene = one({ randomizeStartS: 60 }).read(50, cancelled('cancelled with randomization'));
    expect(scene.responses.at(-1)).to.equal('50 A 6');
  });

  it('with randomization near the end: 6 at the end at the latest', () => {
    const random = { randomizeStartS: 0, randomizeDurationS: 600 };
    const scene = one(random, new Scene({ pick: (_, purpose) => (purpose === 'cancel' ? 0.99 : 0) }));
    scene.time(100).read(190, cancelled('cancelled with randomization', random)).runTo(300);
    expect(scene.responses.at(-1)).to.equal('200 A 6');
  });

  it('without randomization after one with it: stops at once', () => {
    const random = { randomizeDurationS: 60 };
    const scene = one(random).time(100).read(110, cancelled('cancelled with randomization', random));
    scene.read(115, cancelled('cancelled', random));
    expect(scene.responses.at(-1)).to.equal('115 A 6');
  });

  it('superseded by the server: stops at once with 7', () => {
    const scene = one().time(100).read(150, cancelled('superseded')).runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '100 A 2', '150 A 7']);
    expect(scene.stateOf('A')).to.equal('superseded');
  });

  it('superseded by the server while the new event waits for its random start: no instant without either', () => {
    const later = control('B', { startS: 150, creationS: 150, randomizeStartS: 30 });
    const scene = one().time(100);
    scene.read(150, program('P', 1, [control('A', { status: 'superseded' }), later]));
    const holders: string[] = [];
    for (let t = 150; t < 170; t += 1) holders.push(scene.time(t).now.join());
    expect([...new Set(holders)]).to.deep.equal(['A: MaxLimW', 'B: MaxLimW']);
    expect(holders.indexOf('B: MaxLimW')).to.equal(15);
    expect(scene.responses.slice(2)).to.deep.equal(['150 B 1', '165 A 7', '165 B 2']);
  });

  it('superseded by the server: the new event begins at once where its random start is over or there is none', () => {
    for (const [startS, randomizeStartS] of [
      [150, 0],
      [120, 30],
    ] as const) {
      const scene = one().time(100);
      const later = control('B', { startS, creationS: 120, randomizeStartS });
      scene.read(150, program('P', 1, [control('A', { status: 'superseded' }), later]));
      expect(scene.now).to.deep.equal(['B: MaxLimW']);
      expect(scene.responses.slice(2)).to.have.members(['150 B 1', '150 A 7', '150 B 2']);
    }
  });

  it('superseded by the server: it also waits where the clock of the client lags, and for the effective start', () => {
    const lagging = one().time(100);
    const active = control('B', { startS: 150, status: 'active', creationS: 150, randomizeStartS: 30 });
    lagging.read(149.5, program('P', 1, [control('A', { status: 'superseded' }), active]));
    expect(lagging.now).to.deep.equal(['A: MaxLimW']);
    expect(lagging.runTo(170).now).to.deep.equal(['B: MaxLimW']);
    // B follows C, whose random duration moves it
    const both = { modes: [watt, pf], control: resolved([watt, pf]) };
    const chained = new Scene({ pick: (mrid) => (mrid === 'C' ? 0.99 : 0) });
    const first = control('C', { startS: 50, randomizeDurationS: 50, modes: [pf], control: resolved([pf]) });
    const later = control('B', { ...both, startS: 150, creationS: 150 });
    chained.read(0, program('P', 1, [first, control('A'), later])).time(50, 100);
    chained.read(150, program('P', 1, [first, control('A', { status: 'superseded' }), later]));
    expect(chained.now.filter((holder) => holder.startsWith('A'))).to.deep.equal(['A: MaxLimW']);
  });

  it('superseded by the server: it does not wait for modes that the other event has lost', () => {
    const scene = new Scene({ pick: () => 0.99 });
    const both = { modes: [watt, pf], control: resolved([watt, pf]) };
    const waiting = control('L', { ...both, startS: 110, randomizeStartS: 60 });
    const programs = (status: 'active' | 'superseded') => [
      program('P', 1, [control('A', { status })]),
      program('Q', 9, [waiting]),
    ];
    scene.read(100, ...programs('active')).time(110);
    scene.read(120, ...programs('superseded'));
    expect(scene.of('A')).to.deep.equal([1, 2, 7]);
  });

  it('superseded by the server: it does not wait for an event of another mode, one to come, or one opted out', () => {
    const other = { modes: [pf], control: resolved([pf]) };
    for (const over of [{ ...other, startS: 150 }, { startS: 151 }]) {
      const scene = one().time(100);
      const later = control('B', { randomizeStartS: 30, ...over });
      scene.read(150, program('P', 1, [control('A', { status: 'superseded' }), later]));
      expect(scene.of('A')).to.deep.equal([1, 2, 7]);
    }
    const later = control('B', { startS: 150, randomizeStartS: 30 });
    const scene = one()
      .read(1, program('P', 1, [control('A'), later]))
      .opt(2, 'B', false)
      .time(100);
    scene.read(150, program('P', 1, [control('A', { status: 'superseded' }), later]));
    expect(scene.of('A')).to.deep.equal([1, 2, 7]);
  });

  it('seen cancelled or superseded for the first time: received and answered, never run', () => {
    for (const [status, answer] of [
      ['cancelled', 6],
      ['cancelled with randomization', 6],
      ['superseded', 7],
    ] as const) {
      const scene = new Scene().read(50, cancelled(status)).runTo(300);
      expect(scene.of('A'), status).to.deep.equal([1, answer]);
    }
  });

  it('of an event that was over before it was seen: nothing is answered', () => {
    const scene = new Scene().read(250, cancelled('cancelled'));
    expect(scene.responses).to.deep.equal([]);
  });

  it('after the end: nothing more is answered', () => {
    const scene = one().time(100, 200).read(210, cancelled('cancelled'));
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });
});

describe('CSIP events: randomization', () => {
  const period = (scene: Scene, mrid = 'A') => {
    const known = knownControls(scene.state).find(({ listed }) => listed.mrid === mrid);
    return [known?.effectiveStartS, known?.effectiveDurationS];
  };

  it('picks once per mRID, uniformly from both bounds on', () => {
    const seen = new Set<number | undefined>();
    for (let i = 0; i < 21; i++) {
      const scene = one({ randomizeStartS: 20 }, new Scene({ pick: () => i / 21 }));
      seen.add(period(scene)[0]);
    }
    expect([...seen]).to.deep.equal(Array.from({ length: 21 }, (_, i) => 100 + i));
  });

  it('negative bounds start earlier and shorten; the effective end follows both', () => {
    const scene = one({ randomizeStartS: -20, randomizeDurationS: -40 });
    expect(period(scene)).to.deep.equal([90, 80]);
    scene.runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '90 A 2', '170 A 3']);
  });

  it('is not picked again at a later reading', () => {
    let picks = 0;
    const pick = () => (picks++ % 2 === 0 ? 0.25 : 0.75);
    const scene = one({ randomizeStartS: 60, randomizeDurationS: 60 }, new Scene({ pick }));
    const before = period(scene);
    scene.read(50, program('P', 1, [control('A', { randomizeStartS: 60, randomizeDurationS: 60 })]));
    expect(period(scene)).to.deep.equal(before);
  });

  it('of the duration below zero leaves nothing to run: 10', () => {
    const scene = one({ durationS: 10, randomizeDurationS: -60 }).runTo(300);
    expect(scene.of('A')).to.deep.equal([1, 10]);
  });

  it('back to back: the earlier effective end is the later start, without gap or overlap (rule m)', () => {
    for (const [pickA, pickB] of [
      [0, 0.99],
      [0.99, 0],
      [0.5, 0.5],
    ] as const) {
      const scene = new Scene({ pick: (mrid) => (mrid === 'A' ? pickA : pickB) });
      const random = { randomizeStartS: 30, randomizeDurationS: 30 };
      const list = [control('A', random), control('B', { ...random, startS: 200 })];
      scene.read(0, program('P', 1, list, { defaultControl: defaults('P', [watt]) }));
      const [startS = 0, durationS = 0] = period(scene);
      expect(period(scene, 'B')[0]).to.equal(startS + durationS);
      const holders: string[] = [];
      for (let t = 90; t < 400; t++) holders.push(scene.time(t).now.join());
      const runs = holders.filter((holder, i) => holder !== holders[i - 1]);
      expect(runs).to.deep.equal(['default P: MaxLimW', 'A: MaxLimW', 'B: MaxLimW', 'default P: MaxLimW']);
      expect(scene.of('A')).to.deep.equal([1, 2, 3]);
      expect(scene.of('B')).to.deep.equal([1, 2, 3]);
    }
  });

  it('along a row of events without random durations: the random start of the first holds for each (rule o)', () => {
    const list = Array.from({ length: 50 }, (_, i) =>
      control(`E${i}`, { startS: 300 * i, durationS: 300, randomizeStartS: 20 }),
    );
    const pick = (mrid: string) => (mrid === 'E0' ? 0.6 : 0.1);
    const scene = new Scene({ pick }).read(-1, program('P', 1, list)).runTo(16_000);
    const controls = knownControls(scene.state);
    for (const { listed, effectiveStartS, effectiveDurationS } of controls)
      expect([effectiveStartS - listed.startS, effectiveDurationS], listed.mrid).to.deep.equal([12, 300]);
    expect(controls.map(({ state }) => state)).to.deep.equal(list.map(() => 'completed'));
  });

  it('along a row of events with random durations: each runs its own whole', () => {
    const list = [0, 1, 2].map((i) =>
      control(`E${i}`, { startS: 300 * i, durationS: 300, randomizeDurationS: i === 1 ? -20 : 20 }),
    );
    const scene = new Scene({ pick: () => 0.99 }).read(-1, program('P', 1, list)).runTo(2000);
    const periods = knownControls(scene.state).map((each) => [each.effectiveStartS, each.effectiveDurationS]);
    expect(periods).to.deep.equal([
      [0, 320],
      [320, 280],
      [600, 320],
    ]);
    expect(['E0', 'E1', 'E2'].map((mrid) => scene.of(mrid))).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('back to back in other modes: each starts by itself', () => {
    const list = [
      control('A', { randomizeDurationS: 30 }),
      control('B', { startS: 200, modes: [pf], control: resolved([pf]) }),
    ];
    const scene = new Scene().read(0, program('P', 1, list));
    expect(period(scene, 'B')).to.deep.equal([200, 100]);
  });

  it('back to back after a cancelled one: the later starts by itself', () => {
    const scene = new Scene({ pick: (mrid) => (mrid === 'A' ? 0 : 0.5) });
    const later = control('B', { startS: 200, randomizeStartS: 30 });
    scene.read(0, program('P', 1, [control('A', { randomizeDurationS: -50 }), later]));
    expect(period(scene, 'B')[0]).to.equal(200);
    scene.read(10, program('P', 1, [control('A', { status: 'cancelled' }), later]));
    expect(period(scene, 'B')[0]).to.equal(215);
  });
});

describe('CSIP events: clocks and resets', () => {
  it('a jump forward over a whole event: it took no part, 10', () => {
    expect(one().time(500).responses).to.deep.equal(['0 A 1', '500 A 10']);
  });

  it('a jump back changes nothing that has happened', () => {
    const scene = one().time(100);
    scene.time(50);
    expect(scene.now).to.deep.equal(['A: MaxLimW']);
    scene
      .time(200)
      .time(150)
      .read(151, program('P', 1, [control('A')]));
    expect(scene.now).to.deep.equal([]);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('reset of the device: not applied again, no default in its place, 3 at the end', () => {
    const scene = new Scene();
    scene.read(0, program('P', 1, [control('A')], { defaultControl: defaults('P', [watt]) })).time(100);
    scene.tell(150, { kind: 'reset' });
    expect(scene.now).to.deep.equal([]);
    scene.runTo(300);
    expect(scene.now).to.deep.equal(['default P: MaxLimW']);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });

  it('reset while the device takes no control: applied when it does', () => {
    const scene = one();
    scene.outcomeOf = () => outcome('waiting');
    scene.time(100).tell(120, { kind: 'reset' });
    scene.outcomeOf = () => applied;
    scene.time(150).runTo(300);
    expect(scene.responses).to.deep.equal(['0 A 1', '150 A 2', '200 A 3']);
  });

  it('reset before the start changes nothing', () => {
    const scene = one().tell(50, { kind: 'reset' }).runTo(300);
    expect(scene.of('A')).to.deep.equal([1, 2, 3]);
  });
});
