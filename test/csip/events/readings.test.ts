/** Readings of lists: which controls they bring, keep and forget. */
import { expect } from 'chai';
import { createSchedule, knownControls, nextStep } from '../../../src/csip/events/schedule.ts';
import type { TrackedEvent } from '../../../src/csip/events/state.ts';
import { control, defaults, one, outcome, pf, program, resolved, Scene, watt } from './scene.ts';

const eventOf = (scene: Scene, mrid = 'A'): TrackedEvent | undefined => scene.state.events.get(mrid);

describe('CSIP events: programs of a reading', () => {
  it('are in order of primacy, then of their keys, in whatever order they come', () => {
    const list = [program('C', 3, []), program('B', 2, []), program('D', 2, []), program('A', 4, [])];
    for (const order of [list, [...list].reverse()]) {
      const { programs } = new Scene().read(0, ...order).state;
      expect(programs.map(({ key }) => key)).to.deep.equal(['B', 'D', 'C', 'A']);
    }
  });

  it('a program that is reached twice counts once, with the lower primacy', () => {
    for (const primacies of [
      [5, 2],
      [2, 5],
    ] as const) {
      const scene = new Scene().read(0, ...primacies.map((primacy) => program('P', primacy, [control('A')])));
      expect(scene.state.programs.map(({ key, primacy }) => [key, primacy])).to.deep.equal([['P', 2]]);
      expect(eventOf(scene)?.programs).to.deep.equal(['P']);
    }
  });

  it('reached twice, its default control is the one that could be read', () => {
    const readable = program('P', 1, [], { defaultControl: defaults('P', [watt]) });
    const unreadable = program('P', 1, [], { defaultControl: undefined });
    for (const programs of [
      [readable, unreadable],
      [unreadable, readable],
    ])
      expect(new Scene().read(0, ...programs).now).to.deep.equal(['default P: MaxLimW']);
    expect(new Scene().read(0, unreadable).now).to.deep.equal([]);
  });

  it('the same default control stays the same object, a changed one does not', () => {
    const reading = (modes = [watt]) => program('P', 1, [], { defaultControl: defaults('P', modes) });
    const scene = new Scene().read(0, reading());
    const [before] = scene.state.programs;
    scene.read(10, reading());
    expect(scene.state.programs[0]?.defaultControl).to.equal(before?.defaultControl);
    scene.read(20, reading([watt, pf]));
    expect(scene.now).to.deep.equal(['default P: MaxLimW FixedPFInjectW']);
  });
});

describe('CSIP events: several appearances of one control', () => {
  const shown = (first: number | null, second: number | null) =>
    new Scene()
      .read(
        50,
        program('P', 1, [control('A', { statusS: first })]),
        program('Q', 2, [control('A', { statusS: second, status: 'cancelled' })]),
      )
      .of('A');

  it('the later status counts; of equal ones, and of none, the first', () => {
    expect(shown(5, 6)).to.deep.equal([1, 6]);
    expect(shown(6, 5)).to.deep.equal([1]);
    expect(shown(5, 5)).to.deep.equal([1]);
    expect(shown(null, 0)).to.deep.equal([1]);
    expect(shown(0, null)).to.deep.equal([1]);
    expect(shown(null, 1)).to.deep.equal([1, 6]);
    expect(shown(null, null)).to.deep.equal([1]);
  });

  it('each program that shows it is kept, once, also from one reading to the next', () => {
    const scene = new Scene().read(0, program('P', 1, [control('A'), control('A')]), program('Q', 2, []));
    scene.read(10, program('P', 1, [control('A')]), program('Q', 2, [control('A')]));
    expect(eventOf(scene)?.programs).to.deep.equal(['P', 'Q']);
    scene.read(20, program('P', 1, []), program('Q', 2, [control('A')]));
    expect(eventOf(scene)?.programs).to.deep.equal(['P', 'Q']);
    scene.read(30, program('Q', 2, [control('A')]));
    expect(eventOf(scene)).to.deep.include({ programs: ['Q'], programKey: 'Q', primacy: 2 });
  });
});

describe('CSIP events: a control that is read again', () => {
  it('takes over what a server may change, and nothing else', () => {
    const changes = {
      href: '/moved',
      description: 'words',
      version: 2,
      status: 'active',
      statusS: 40,
      potentiallySuperseded: true,
      responseRequired: 3,
      replyTo: 'https://server/moved',
    } as const;
    const scene = one().read(
      50,
      program('P', 1, [
        control('A', {
          ...changes,
          creationS: 9,
          startS: 1,
          durationS: 2,
          randomizeStartS: 3,
          randomizeDurationS: 4,
          modes: [pf],
          control: resolved([pf]),
        }),
      ]),
    );
    expect(eventOf(scene)?.listed).to.deep.equal(control('A', changes));
  });

  it('keeps its control as the same object while no curve is missing', () => {
    const scene = one();
    const before = eventOf(scene)?.listed.control;
    scene.read(50, program('P', 1, [control('A')]));
    expect(eventOf(scene)?.listed.control).to.equal(before);
  });

  it('takes the missing curves alone, those that came and no others', () => {
    const [first, second] = [{ curveType: 11 }, { curveType: 12 }] as const;
    const of = (curves: readonly (readonly [string, typeof first | typeof second | null])[]) => [
      control('A', { modes: ['opModVoltVar'], control: { base: {}, curves: new Map(curves) } }),
    ];
    const read = (scene: Scene, nowS: number, curves: Parameters<typeof of>[0]) => {
      scene.read(nowS, program('P', 1, of(curves)));
      return [...(eventOf(scene)?.listed.control.curves ?? [])];
    };
    const scene = new Scene();
    const start = [
      ['/a', first],
      ['/b', null],
      ['/c', null],
    ] as const;
    read(scene, 0, start);
    const before = eventOf(scene)?.listed.control;
    expect(read(scene, 10, [['/a', second]])).to.deep.equal(start);
    expect(read(scene, 20, [...start])).to.deep.equal(start);
    expect(eventOf(scene)?.listed.control).to.equal(before);
    const now = read(scene, 30, [
      ['/a', second],
      ['/b', second],
    ]);
    expect(now).to.deep.equal([
      ['/a', first],
      ['/b', second],
      ['/c', null],
    ]);
  });

  it('is checked at its receipt where all its curves are there', () => {
    const curves = new Map([['/c', { curveType: 11 }]]);
    const scene = new Scene({ check: () => outcome('invalid') });
    scene.read(0, program('P', 1, [control('A', { control: { base: {}, curves } })]));
    expect(scene.of('A')).to.deep.equal([1, 253]);
  });

  it('after its end changes nothing but the programs that show it', () => {
    const scene = one().runTo(300);
    scene.read(310, program('P', 1, []), program('Q', 2, [control('A', { version: 7, status: 'cancelled' })]));
    expect(eventOf(scene)).to.deep.include({ listed: control('A'), programs: ['P', 'Q'], present: true });
    expect(eventOf(scene)?.cancelAtS).to.equal(null);
  });

  it('the delay of a cancellation is that of the first reading that shows it', () => {
    const random = { randomizeDurationS: 40, status: 'cancelled with randomization' } as const;
    const scene = one({ randomizeDurationS: 40 }, new Scene({ pick: () => 0.5 })).time(100);
    scene.read(120, program('P', 1, [control('A', random)])).read(125, program('P', 1, [control('A', random)]));
    expect(eventOf(scene)?.cancelAtS).to.equal(140);
    expect(eventOf(one().read(50, program('P', 1, [control('A', { status: 'cancelled' })])))?.cancelAtS).to.equal(null);
  });
});

describe('CSIP events: controls that are not taken in', () => {
  const seenAt = (nowS: number, over: Parameters<typeof control>[1]) =>
    new Scene().read(nowS, program('P', 1, [control('A', over)])).of('A');

  it('taken back by the server and over, from the instant of the end on', () => {
    for (const status of ['cancelled', 'cancelled with randomization', 'superseded'] as const) {
      expect(seenAt(200, { status })).to.deep.equal([]);
      expect(seenAt(199.9, { status })).to.deep.equal([1, status === 'superseded' ? 7 : 6]);
    }
    expect(seenAt(210, { status: 'cancelled', randomizeDurationS: 60 })).to.deep.equal([1, 6]);
    expect(seenAt(230, { status: 'cancelled', randomizeDurationS: 60 })).to.deep.equal([]);
  });

  it('not those that are only too late', () => {
    expect(seenAt(200, { status: 'scheduled' })).to.deep.equal([1, 254]);
    expect(seenAt(200, { status: 'active' })).to.deep.equal([1, 254]);
  });

  it('those without a category are for every device, those of category 0 for none', () => {
    expect(seenAt(0, { deviceCategory: null })).to.deep.equal([1]);
    expect(seenAt(0, { deviceCategory: 0 })).to.deep.equal([]);
  });
});

describe('CSIP events: programs that leave and return', () => {
  const back = program('P', 1, [control('A')]);

  it('an event that ended with its program is new before its end, and stays ended from its end on', () => {
    expect(one().time(100).read(120).read(199, back).of('A')).to.deep.equal([1, 2, 6, 1, 2]);
    expect(one().time(100).read(120).read(200, back).of('A')).to.deep.equal([1, 2, 6]);
    expect(one().time(100).read(120).read(130).read(150, back).of('A')).to.deep.equal([1, 2, 6, 1, 2]);
  });

  it('an event that had ended before its program left stays ended', () => {
    const taken = program('P', 1, [control('A', { status: 'superseded' })]);
    expect(one().time(100).read(110, taken).read(120).read(150, back).of('A')).to.deep.equal([1, 2, 7]);
  });

  it('one that ended early stays ended while its program is there', () => {
    const taken = program('P', 1, [control('A', { status: 'superseded' })]);
    expect(one().time(100).read(110, taken).read(150, back).of('A')).to.deep.equal([1, 2, 7]);
  });
});

describe('CSIP events: whether a list still shows an event', () => {
  const present = (...readings: readonly (readonly ReturnType<typeof program>[])[]) => {
    const scene = new Scene().read(0, program('P', 1, [control('A')]), program('Q', 2, [control('A')]));
    readings.forEach((programs, i) => scene.read(i + 1, ...programs));
    return eventOf(scene)?.present;
  };
  const empty = (key: string) => program(key, 1, []);
  const unread = (key: string) => program(key, 1, undefined);

  it('is known from readable lists; an unreadable one may still show it', () => {
    expect(present([empty('P'), empty('Q')])).to.equal(false);
    expect(present([unread('P'), empty('Q')])).to.equal(true);
    expect(present([unread('P'), unread('Q')])).to.equal(true);
    expect(present([empty('P'), empty('Q'), unread('R')])).to.equal(false);
  });

  it('once gone it is not thought to be back', () => {
    expect(present([empty('P'), empty('Q')], [unread('P'), unread('Q')])).to.equal(false);
    expect(present([empty('P'), empty('Q')], [empty('P'), program('Q', 1, [control('A')])])).to.equal(true);
  });
});

describe('CSIP events: ended events that have left their lists', () => {
  /** Events without a duration end at their start; the later ones of the list end first. */
  const list = (count: number) =>
    Array.from({ length: count }, (_, i) => control(`E${i}`, { startS: i < 2 ? 100 : 50, durationS: 0 }));
  const step = (state: Scene['state'], nowS: number, input: Parameters<typeof nextStep>[1]) =>
    nextStep(state, input, nowS, new Scene().options).state;
  const after = (count: number, ...kept: readonly ReturnType<typeof control>[]) => {
    const all = [...list(count), ...kept];
    let state = step(createSchedule(), 0, { kind: 'programs', programs: [program('P', 1, all)] });
    for (const nowS of [50, 100]) state = step(state, nowS, { kind: 'time' });
    return step(state, 110, { kind: 'programs', programs: [program('P', 1, [])] });
  };

  it('fewer are all kept', () => {
    for (const count of [3, 260, 499]) expect(after(count).events.size).to.equal(count);
  });

  it('500 are kept; of more those that ended first are forgotten', () => {
    expect(after(500).events.size).to.equal(500);
    const { events } = after(503);
    expect([...events.keys()].slice(0, 4)).to.deep.equal(['E0', 'E1', 'E5', 'E6']);
    expect(events.size).to.equal(500);
  });

  it('events that are not over do not count and are kept', () => {
    const { events } = after(500, control('L', { startS: 1_000 }));
    expect(events.size).to.equal(501);
    expect(after(501, control('L', { startS: 1_000 })).events.has('L')).to.equal(true);
  });

  it('nor do those that are still listed', () => {
    let state = after(500);
    const programs = [program('P', 1, [control('X', { durationS: 0 })])];
    state = step(state, 120, { kind: 'programs', programs });
    state = step(state, 130, { kind: 'programs', programs });
    expect(state.events.size).to.equal(501);
    expect(knownControls(state).at(-1)).to.include({ state: 'rejected' });
    expect(step(state, 140, { kind: 'programs', programs: [program('P', 1, [])] }).events.size).to.equal(500);
  });
});
