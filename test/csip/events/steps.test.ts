/** What one step decides: who wins which mode, what is owed, what is due next. */
import { expect } from 'chai';
import type { ControlOutcome, LeftOutMode } from '../../../src/csip/control/model.ts';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { changedControls, createSchedule, knownControls, nextStep } from '../../../src/csip/events/schedule.ts';
import { byPrimacy } from '../../../src/csip/events/state.ts';
import { applied, control, defaults, one, outcome, pf, program, resolved, Scene, watt } from './scene.ts';

const of = (mrid: string, modes: readonly (typeof watt)[], over: Partial<ListedControl> = {}) =>
  control(mrid, { modes, control: resolved(modes), ...over });
const both = (mrid: string, over: Partial<ListedControl> = {}) => of(mrid, [watt, pf], over);
const without = (reason: LeftOutMode['reason'], state: ControlOutcome['state'] = 'applied'): ControlOutcome => ({
  state,
  leftOut: [{ mode: pf, reason, detail: '' }],
  overwritten: false,
});
const elsewhere = { href: 'https://other/derp' };

describe('CSIP events: order of priority', () => {
  it('of programs is that of primacy, then of keys', () => {
    const programs = ['c', 'a', 'b', 'd'].map((key) => ({ key, primacy: key === 'd' ? 1 : 2 }));
    for (const list of [programs, [...programs].reverse()])
      expect([...list].sort(byPrimacy).map(({ key }) => key)).to.deep.equal(['d', 'a', 'b', 'c']);
    expect(byPrimacy({ key: 'a', primacy: 1 }, { key: 'a', primacy: 1 })).to.equal(0);
    expect(byPrimacy({ key: 'b', primacy: 1 }, { key: 'a', primacy: 1 })).to.be.above(0);
  });

  it('of events that do not concern each other is seen in what is in force', () => {
    const list = [
      of('C', [watt], { creationS: 1 }),
      of('B', [pf], { creationS: 1 }),
      of('A', ['opModConnect'], { creationS: 2 }),
    ];
    for (const order of [list, [...list].reverse()])
      expect(new Scene().read(0, program('P', 1, order)).time(100).now).to.deep.equal([
        'A: Connect',
        'B: FixedPFInjectW',
        'C: MaxLimW',
      ]);
  });
});

describe('CSIP events: what a winner takes', () => {
  it('nothing from an event that runs before or after it', () => {
    for (const startS of [0, 200]) {
      const scene = new Scene().read(-1, program('P', 1, [control('W')]), program('Q', 2, [control('L', { startS })]));
      expect(scene.runTo(400).of('L'), String(startS)).to.deep.equal([1, 2, 3]);
    }
  });

  it('nothing from an event that has ended', () => {
    const [winner, loser] = [program('P', 1, [control('W', { startS: 150 })]), program('Q', 2, [control('L')])];
    const scene = new Scene().read(0, winner, loser).time(100);
    scene.read(120, winner, program('Q', 2, [control('L', { status: 'cancelled' })])).time(150);
    expect(scene.state.events.get('L')?.lost).to.deep.equal([]);
  });

  it('a mode of an event whose curves are still missing', () => {
    const missing = { base: {}, curves: new Map([['/c', null]]) };
    const loser = control('L', { startS: 150, modes: ['opModVoltVar', watt], control: missing });
    const scene = new Scene().read(0, program('P', 1, [control('W')]), program('Q', 2, [loser])).time(100, 150);
    expect(scene.now).to.deep.equal(['W: MaxLimW', 'L: VoltVar']);
  });

  it('no mode that it has lost itself', () => {
    const scene = new Scene().read(
      0,
      program('P', 1, [control('T', { durationS: 20 })]),
      program('Q', 2, [both('M', { durationS: 200 })]),
      program('R', 3, [control('L', { startS: 150 })]),
    );
    scene.time(100, 120, 150);
    expect(scene.now).to.deep.equal(['M: FixedPFInjectW', 'L: MaxLimW']);
  });

  it('one that has no mode in common is not named as the winner', () => {
    const scene = new Scene({ revision: '2023' }).read(
      0,
      program('Q', 1, [control('W', { creationS: 3 }), control('L', { creationS: 1 })]),
      program('R', 1, [of('X', [pf], { creationS: 2 })]),
    );
    expect(scene.time(100).of('L')).to.deep.equal([1, 7]);
  });

  it('an event that cannot carry out any mode anyway is not superseded', () => {
    const scene = one();
    scene.outcomeOf = () => outcome('waiting', watt);
    scene.time(100, 150);
    expect(scene.stateOf('A')).to.equal('active');
    expect(scene.runTo(300).of('A')).to.deep.equal([1, 10]);
  });

  it('an event without modes runs beside every other one', () => {
    const scene = new Scene().read(0, program('P', 1, [control('W')]), program('Q', 2, [of('L', [])]));
    expect(scene.runTo(300).of('L')).to.deep.equal([1, 2, 3]);
  });

  it('an event whose last mode is impossible is superseded, one whose last mode is outweighed is not', () => {
    const run = (left: ControlOutcome) => {
      const scene = new Scene();
      scene.outcomeOf = (id) => (id === 'L' ? left : applied);
      const winner = control('W', { startS: 150, durationS: 20 });
      scene.read(0, program('P', 1, [winner]), program('Q', 2, [both('L')]));
      return scene.runTo(300).of('L');
    };
    expect(run(without('unsupported'))).to.deep.equal([1, 2, 7]);
    expect(run(without('invalid'))).to.deep.equal([1, 2, 7]);
    expect(run(without('outweighed'))).to.deep.equal([1, 2, 3]);
  });

  it('the end of one event lets the next start in the same step', () => {
    const scene = new Scene({ pick: () => 0.5 });
    scene.outcomeOf = (id) => (id === 'A' ? without('unsupported') : applied);
    scene.read(
      0,
      program('P', 1, [of('B', [pf], { startS: 200 })]),
      program('Q', 2, [control('W', { startS: 205 })]),
      program('R', 3, [both('A', { randomizeDurationS: 60 })]),
    );
    scene.time(100, 204);
    expect(scene.now).to.deep.equal(['A: MaxLimW FixedPFInjectW']);
    const { inForce } = nextStep(scene.state, { kind: 'time' }, 205, scene.options);
    expect(inForce.map(({ id }) => id)).to.deep.equal(['B', 'W']);
  });
});

describe('CSIP events: by whom an event was superseded', () => {
  const taken = (winner: Parameters<typeof program>[3], loser: Parameters<typeof program>[3]) => {
    const scene = new Scene({ revision: '2023' });
    scene.read(0, program('P', 1, [control('W')], winner), program('Q', 2, [control('L')], loser)).time(100);
    return scene.of('L').at(-1);
  };

  it('by another server only where both are known', () => {
    expect(taken(elsewhere, {})).to.equal(13);
    expect(taken({}, {})).to.equal(14);
    expect(taken({ href: '/derp' }, {})).to.equal(14);
    expect(taken({}, { href: '/derp' })).to.equal(14);
    expect(taken({ href: '/a' }, { href: '/b' })).to.equal(14);
  });

  it('by another program where the winner has left before the loser ended', () => {
    const scene = new Scene({ revision: '2023' });
    const [winner, loser] = [program('P', 1, [control('W')], elsewhere), program('Q', 2, [both('L')])];
    scene.read(0, winner, loser).time(100).read(110, loser);
    scene.outcomeOf = () => without('unsupported');
    scene.time(120);
    expect(scene.of('L')).to.deep.equal([1, 2, 14]);
  });
});

describe('CSIP events: 7 at discovery', () => {
  const discovery = (over: ConstructorParameters<typeof Scene>[0] = {}) =>
    new Scene({ supersededResponse: 'at_discovery', ...over });
  const loser = program('Q', 2, [control('L')]);

  it('not for a winner that is cancelled, refused or opted out of', () => {
    const cancelled = program('P', 1, [control('W', { status: 'cancelled' })]);
    expect(discovery().read(0, cancelled, loser).of('L')).to.deep.equal([1]);
    const later = discovery().read(0, program('P', 1, [control('W')]));
    expect(later.read(10, cancelled, loser).of('L')).to.deep.equal([1]);
    const check = ({ base }: { base: object }) => outcome(pf in base ? 'invalid' : 'applied');
    expect(
      discovery({ check })
        .read(0, program('P', 1, [both('W')]), loser)
        .of('L'),
    ).to.deep.equal([1]);
    const scene = discovery().read(0, program('P', 1, [control('W')]));
    expect(
      scene
        .opt(10, 'W', false)
        .read(20, program('P', 1, [control('W')]), loser)
        .of('L'),
    ).to.deep.equal([1]);
  });

  it('not for one that runs before or after it', () => {
    for (const startS of [0, 200]) {
      const scene = discovery().read(-1, program('P', 1, [control('W', { startS })]), loser);
      expect(scene.of('L'), String(startS)).to.deep.equal([1]);
    }
  });

  it('once; at its start the winner takes over without another answer', () => {
    const scene = discovery()
      .read(0, program('P', 1, [control('W')]), loser)
      .read(10, loser)
      .read(20, loser);
    expect(scene.of('L')).to.deep.equal([1, 7]);
    expect(scene.responses).to.include('0 L 7');
  });

  it('counts modes that are lost already and those that two winners will take', () => {
    const first = control('W', { durationS: 20 });
    const second = of('X', [pf], { startS: 180, durationS: 10 });
    const scene = discovery()
      .read(0, program('P', 1, [first]), program('Q', 2, [both('L')]))
      .time(100, 120);
    scene.read(130, program('P', 1, [first, second]), program('Q', 2, [both('L')]));
    expect(scene.of('L')).to.deep.equal([1, 2, 7]);
    expect(scene.stateOf('L')).to.equal('active');
    const two = discovery().read(0, program('P', 1, [first, second]), program('Q', 2, [both('L')]));
    expect(two.of('L')).to.deep.equal([1, 7]);
  });

  it('a winner takes no mode that it will lose itself', () => {
    const programs = [
      program('P', 1, [control('T', { durationS: 20 })]),
      program('Q', 2, [both('M')]),
      program('R', 3, [control('L', { startS: 150, durationS: 20 })]),
    ];
    expect(
      discovery()
        .read(0, ...programs)
        .of('L'),
    ).to.deep.equal([1]);
  });

  it('an event that will be superseded takes nothing', () => {
    const programs = [
      program('P', 1, [control('T', { durationS: 20 })]),
      program('Q', 2, [control('M', { durationS: 200 })]),
      program('R', 3, [control('L', { startS: 200 })]),
    ];
    const scene = discovery().read(0, ...programs);
    expect(scene.of('M')).to.deep.equal([1, 7]);
    expect(scene.of('L')).to.deep.equal([1]);
  });

  it('names the last winner', () => {
    const scene = discovery({ revision: '2023' }).read(
      0,
      program('P', 1, [control('W', { durationS: 20 })]),
      program('Q', 2, [of('X', [pf])], elsewhere),
      program('R', 3, [both('L')]),
    );
    expect(scene.of('L')).to.deep.equal([1, 13]);
    const other = discovery({ revision: '2023' }).read(
      0,
      program('P', 1, [control('W', { durationS: 20 })], elsewhere),
      program('Q', 2, [of('X', [pf])]),
      program('R', 3, [both('L')]),
    );
    expect(other.of('L')).to.deep.equal([1, 14]);
  });

  it('at the start by default: nothing is foretold', () => {
    expect(new Scene().read(0, program('P', 1, [control('W')]), loser).of('L')).to.deep.equal([1]);
  });
});

describe('CSIP events: outcomes', () => {
  const tell = (scene: Scene, nowS: number, id: string, told: ControlOutcome) =>
    nextStep(scene.state, { kind: 'outcomes', outcomes: new Map([[id, told]]) }, nowS, scene.options);
  const outcomeIn = (state: Scene['state']) => state.events.get('A')?.outcome;

  it('count while an event is active, not opted out and not withdrawn', () => {
    const waiting = outcome('waiting');
    const scene = one();
    expect(tell(scene, 50, 'A', applied).responses).to.deep.equal([]);
    scene.outcomeOf = () => waiting;
    scene.time(100);
    expect(outcomeIn(scene.state)).to.deep.equal(waiting);
    const out = one();
    out.outcomeOf = () => waiting;
    out.time(100).opt(110, 'A', false);
    expect(tell(out, 120, 'A', applied).responses).to.deep.equal([]);
    const withdrawn = one().time(100).tell(110, { kind: 'reset' });
    expect(withdrawn.state.events.get('A')?.withdrawn).to.equal(true);
    expect(one().runTo(300).tell(310, { kind: 'reset' }).state.events.get('A')?.withdrawn).to.equal(false);
    expect(outcomeIn(tell(withdrawn, 120, 'A', waiting).state)).to.deep.equal(applied);
    const over = one().runTo(300);
    expect(outcomeIn(tell(over, 310, 'A', waiting).state)).to.deep.equal(applied);
    expect(tell(scene, 130, 'Z', applied).responses).to.deep.equal([]);
  });

  it('an event that was applied once counts as started from then on', () => {
    const scene = one().time(100);
    scene.outcomeOf = () => outcome('waiting');
    scene.time(120);
    expect(knownControls(scene.state)[0]).to.include({ started: true });
    scene.outcomeOf = () => applied;
    expect(scene.time(130).of('A')).to.deep.equal([1, 2]);
    expect(scene.runTo(300).of('A')).to.deep.equal([1, 2, 3]);
  });
});

describe('CSIP events: the next instant', () => {
  it('is the start of a waiting event, the end or the delayed cancellation of an active one, whichever is first', () => {
    const list = [control('A'), of('B', [pf], { startS: 120 })];
    const scene = new Scene({ pick: (_, purpose) => (purpose === 'cancel' ? 0.5 : 0) }).read(0, program('P', 1, list));
    const instants = [scene.nextS];
    for (const nowS of [100, 120, 200, 220]) instants.push(scene.time(nowS).nextS);
    expect(instants).to.deep.equal([100, 120, 200, 220, null]);
  });

  it('of a cancellation whose delay goes beyond the end is the end', () => {
    const random = { randomizeDurationS: 600 };
    const scene = one(random, new Scene({ pick: (_, purpose) => (purpose === 'cancel' ? 0.5 : 0) })).time(100);
    const cancelled = program('P', 1, [control('A', { ...random, status: 'cancelled with randomization' })]);
    expect(scene.read(190, cancelled).nextS).to.equal(200);
  });

  it('is none before the first reading, and none without an event', () => {
    expect(createSchedule()).to.deep.equal({ events: new Map(), programs: [], inForce: [] });
    const step = nextStep(createSchedule(), { kind: 'time' }, 0, new Scene().options);
    expect([step.nextS, step.inForce, step.responses]).to.deep.equal([null, [], []]);
  });
});

describe('CSIP events: default controls and what they leave', () => {
  it('one without modes is in force for a setting with a value alone', () => {
    const now = (settings: object | undefined) => {
      const defaultControl = {
        ...defaults('P', []),
        control: { ...resolved([]), ...(settings && { settings }) },
      };
      return new Scene().read(0, program('P', 1, [], { defaultControl })).now;
    };
    expect(now(undefined)).to.deep.equal([]);
    expect(now({})).to.deep.equal([]);
    expect(now({ setGradW: undefined })).to.deep.equal([]);
    expect(now({ setGradW: undefined, setESDelay: 0 })).to.deep.equal(['default P: ']);
  });

  it('one whose modes others define is not in force', () => {
    const [first, second] = [defaults('P', [watt, pf]), defaults('Q', [watt])];
    const scene = new Scene().read(
      0,
      program('P', 1, [], { defaultControl: first }),
      program('Q', 2, [], { defaultControl: second }),
    );
    expect(scene.now).to.deep.equal(['default P: MaxLimW FixedPFInjectW']);
  });

  it('an event that is opted out of keeps nothing from them, one that was withdrawn keeps its modes', () => {
    const reading = program('P', 1, [control('A')], { defaultControl: defaults('P', [watt, pf]) });
    const out = new Scene().read(0, reading).time(100).opt(110, 'A', false);
    expect(out.now).to.deep.equal(['default P: MaxLimW FixedPFInjectW']);
    const withdrawn = new Scene().read(0, reading).time(100).tell(110, { kind: 'reset' });
    expect(withdrawn.now).to.deep.equal(['default P: FixedPFInjectW']);
  });
});

describe('CSIP events: controls as they are shown', () => {
  const modesOf = (scene: Scene, mrid: string) =>
    knownControls(scene.state).find(({ listed }) => listed.mrid === mrid)?.modesInForce;

  it('with the modes in force: those not lost, while active and applied', () => {
    const scene = new Scene().read(0, program('P', 1, [control('W', { startS: 150 })]), program('Q', 2, [both('L')]));
    expect(modesOf(scene, 'L')).to.deep.equal([]);
    expect(modesOf(scene.time(100), 'L')).to.deep.equal([watt, pf]);
    expect(modesOf(scene.time(150), 'L')).to.deep.equal([pf]);
    expect(modesOf(scene.opt(160, 'L', false), 'L')).to.deep.equal([]);
    expect(modesOf(scene.tell(170, { kind: 'reset' }), 'W')).to.deep.equal([]);
  });

  it('those that changed from one state to another: in their phase or by their start', () => {
    const scene = new Scene();
    scene.outcomeOf = (id) => outcome(id === 'A' ? 'waiting' : 'applied');
    const names = (before: Scene['state']) =>
      changedControls(before, scene.state).map(({ listed, state, started }) => [listed.mrid, state, started]);
    let before = scene.state;
    scene.read(0, program('P', 1, [control('A'), of('B', [pf], { startS: 500 })]));
    expect(names(before)).to.deep.equal([
      ['A', 'scheduled', false],
      ['B', 'scheduled', false],
    ]);
    before = scene.state;
    scene.time(50);
    expect(names(before)).to.deep.equal([]);
    scene.time(100);
    expect(names(before)).to.deep.equal([['A', 'active', false]]);
    before = scene.state;
    scene.outcomeOf = () => applied;
    scene.time(120);
    expect(names(before)).to.deep.equal([['A', 'active', true]]);
    before = scene.state;
    expect(names(before)).to.deep.equal([]);
    scene.time(200);
    expect(names(before)).to.deep.equal([['A', 'completed', true]]);
  });
});
