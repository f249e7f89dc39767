import { expect } from 'chai';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { control, defaults, maxLim, pf, program, watt } from '../events/scene.ts';
import { target } from '../walk/scripted.ts';
import { judges, JudgeRig } from './rig.ts';

/** One program with controls, and a default control. */
const one = (...controls: readonly ListedControl[]) =>
  program('P', 1, controls, { defaultControl: defaults('P', maxLim) });
/** A control of a mode with a value. */
const valued = (value: unknown, over: Partial<ListedControl> = {}) =>
  control('A', {
    control: { base: { opModTargetW: value } as object, curves: new Map() },
    modes: ['opModTargetW'],
    ...over,
  });
const curve = (href: string, mRID: string | null) => {
  const document = mRID === null ? null : { mRID };
  return control('A', {
    control: { base: { opModVoltVar: { href } }, curves: new Map([[href, document]]) },
    modes: ['opModVoltVar'],
  });
};
const empty = { base: {}, curves: new Map<string, null>() };
/** From 100 to 200, created at 50. */
const later = (mrid: string, startS: number, over: Partial<ListedControl> = {}) => control(mrid, { startS, ...over });

/** A program with events of 300 s that are under way. */
const live = (make: typeof one, ...controls: readonly ListedControl[]) =>
  make(
    ...controls.map((each) => ({
      ...each,
      durationS: 300,
      status: each.status === 'scheduled' ? 'active' : each.status,
    })),
  );

describe('CSIP findings: events', () => {
  judges('event_rewritten', {
    wrong: (rig) => rig.read(10, one(control('A'))).read(20, one(control('A', { durationS: 90 }))),
    evidence: 'the event A has another interval than at first',
    right: (rig) => rig.read(10, one(control('A'))).read(20, one(control('A', { description: 'x', version: 2 }))),
    trap: (rig) => {
      rig.read(10, one(valued({ multiplier: 0, value: 5000 }))).read(20, one(valued({ multiplier: 3, value: 5 })));
      rig.read(30, one(valued({ value: 5000 }, { status: 'active' })));
      // the clock of its FSA was read again
      rig.read(40, one(valued({ value: 5000 }, { aheadS: 10, startS: 90, creationS: -10, status: 'active' })));
    },
  });

  it('event_rewritten: another value, and a mode more or less, are found', () => {
    for (const latest of [
      valued({ value: 4999 }),
      valued({ multiplier: 1, value: 5000 }),
      control('A', { modes: [watt] }),
      control('A', { control: empty, modes: [] }),
    ]) {
      const rig = new JudgeRig().read(10, one(valued({ value: 5000 }))).read(20, one(latest));
      expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.event_rewritten']);
      expect(rig.findings.row(rig.peer, 'csip.event_rewritten').cases[0]?.text).to.contain('opModTargetW');
    }
  });

  it('event_rewritten: curves are told apart by mRID, not by address', () => {
    const states = [curve('/dc/2', '0a'), curve('/dc/2', null), curve('/dc/1', '0B')].map((latest) => {
      const rig = new JudgeRig().read(10, one(curve('/dc/1', '0A'))).read(20, one(latest));
      return rig.findings.row(rig.peer, 'csip.event_rewritten').state;
    });
    expect(states).to.deep.equal(['held', 'held', 'broken']);
  });

  it('event_rewritten: a value that cannot be read is not decided', () => {
    const unread = { opModTargetW: { reason: 'value', detail: 'x' } } as const;
    const latest = control('A', { control: { base: { unread }, curves: new Map() }, modes: [] });
    const rig = new JudgeRig().read(10, one(valued({ value: 5000 }))).read(20, one(latest));
    expect(rig.findings.row(rig.peer, 'csip.event_rewritten')).to.include({ state: 'undecided', undecided: 1 });
  });

  judges('event_vanished', {
    wrong: (rig) => rig.read(10, one(control('A'))).read(194, one()),
    evidence: 'the event A has left its list 6 s before its end',
    right: (rig) => rig.read(10, one(control('A'))).read(20, one(control('A'))),
    trap: (rig) => {
      // at its end, in a list that was not read or not whole, with its program, or after it was cancelled
      rig.read(10, one(control('A'))).read(195, one());
      rig
        .read(300, one(later('B', 400)))
        .read(310, program('P', 1, undefined))
        .read(320, { ...one(), isPartial: true });
      rig.read(330);
      rig
        .read(340, one(later('C', 400)))
        .read(350, one(later('C', 400, { status: 'cancelled' })))
        .read(360, one());
    },
  });

  judges('event_status_back', {
    wrong: (rig) =>
      rig.read(10, one(control('A', { status: 'cancelled', statusS: 9 }))).read(20, one(control('A', { statusS: 15 }))),
    evidence: 'the event A was cancelled and is scheduled',
    right: (rig) => {
      const ended = control('A', { status: 'superseded', statusS: 9 });
      rig.read(10, one(ended)).read(20, one(ended));
    },
    // a copy of another list that is not up to date
    trap: (rig) =>
      rig.read(10, one(control('A', { status: 'cancelled', statusS: 9 }))).read(20, one(control('A', { statusS: 8 }))),
  });

  judges('event_status_late', {
    wrong: (rig) => rig.read(161, one(control('A'))),
    evidence: '61 s after its start',
    right: (rig) => rig.read(161, one(control('A', { status: 'active' }))),
    // within the tolerance, within the random delay, after the end
    trap: (rig) => {
      rig.read(160, one(control('A'))).read(165, one(control('A', { randomizeStartS: 5 })));
      rig.read(200, one(control('A')));
      // a list that was read before the start, and shown again because another list was read
      const readMs = rig.findings.wall.monotonicMs();
      rig.pass(120).read(180, { ...one(control('A')), controlsReadMs: readMs });
    },
  });

  judges('creation_time_moved', {
    wrong: (rig) => rig.read(10, one(control('A', { creationS: 5 }))).read(20, one(control('A', { creationS: 6 }))),
    evidence: 'went from 5 to 6',
    right: (rig) => rig.read(10, one(control('A', { creationS: 5 }))).read(20, one(control('A', { creationS: 5 }))),
    trap: (rig) => rig.read(10, one(control('A', { creationS: 5 }))).read(20, one(control('A', { creationS: 0 }))),
  });

  judges('creation_time_future', {
    wrong: (rig) => rig.read(10, one(control('A', { creationS: 16 }))),
    evidence: 'was created 6 s after the time of the server',
    right: (rig) => rig.read(10, one(control('A', { creationS: 15 }))),
    trap: (rig) => rig.read(10, one(control('A'))),
  });

  judges('control_empty', {
    wrong: (rig) => rig.read(10, one(control('A', { control: empty, modes: [] }))),
    evidence: 'the event A has no mode',
    right: (rig) => rig.read(10, one(control('A'))),
    trap: (rig) => {
      const unread = { opModTargetW: { reason: 'value', detail: 'x' } } as const;
      rig.read(10, one(control('A', { control: { base: { unread }, curves: new Map() }, modes: [] })));
      rig.read(15).read(20, one(control('B', { control: { base: { rampTms: 5 }, curves: new Map() }, modes: [] })));
    },
  });

  judges('reply_to_missing', {
    wrong: (rig) => rig.read(10, one(control('A', { replyTo: null, responseRequired: 1 }))),
    evidence: '"responseRequired":1',
    right: (rig) => rig.read(10, one(control('A'))),
    trap: (rig) => rig.read(10, one(control('A', { replyTo: null, responseRequired: 0 }))),
  });

  const silent = (count: number) =>
    Array.from({ length: count }, (_, at) => later(`S${at}`, 100 * (at + 1), { responseRequired: 0 }));
  judges('response_unasked', {
    wrong: (rig) => rig.read(10, one(...silent(5))),
    evidence: 'none of 5 events',
    right: (rig) => rig.read(10, one(control('A'))),
    trap: (rig) => {
      rig.read(10, one(...silent(4))).read(20, one(...silent(4)));
      // for other devices, or ended: such ones come as new ones with each reading
      const foreign = later('F', 600, { deviceCategory: 1, responseRequired: 0 });
      const over = later('O', 700, { status: 'cancelled', responseRequired: 0 });
      rig.read(30, one(...silent(4), foreign, over)).read(40, one(...silent(4), foreign, over));
    },
  });

  judges('duration_zero', {
    wrong: (rig) => rig.read(10, one(control('A', { durationS: 0 }))),
    evidence: 'the event A lasts 0 s',
    right: (rig) => rig.read(10, one(control('A', { durationS: 1 }))),
    trap: (rig) => rig.read(10, one(control('A', { durationS: 31_622_400 }))),
  });

  judges('mrid_reused', {
    wrong: (rig) => rig.read(10, one(control('A')), program('Q', 2, [control('A', { startS: 110 })])),
    evidence: '"starts":"100 110"',
    right: (rig) => rig.read(10, one(control('A')), program('Q', 2, [control('A')])),
    // another event, and the same one below an FSA whose clock is ten hours ahead
    trap: (rig) => {
      rig.read(10, one(control('A')), program('Q', 2, [control('B', { startS: 300 })])).read(15);
      rig.read(20, one(later('C', 400)), program('Q', 2, [later('C', 400, { aheadS: 36_000 })]));
    },
  });

  judges('overlap_undecidable', {
    wrong: (rig) => rig.read(10, one(control('A'), later('B', 199))),
    evidence: 'the events A and B overlap',
    right: (rig) => rig.read(10, one(control('A'), later('B', 150, { creationS: 5 }))),
    trap: (rig) => {
      rig.read(10, one(control('A'), later('B', 200), later('C', 250, { modes: [pf] })));
      // another category of devices, another primacy, or an event that has ended
      rig.read(15).read(20, one(later('D', 500, { deviceCategory: 1 }), later('E', 550, { deviceCategory: 2 })));
      rig.read(25).read(30, one(later('F', 700)), program('Q', 2, [later('G', 750)]));
      rig.read(35).read(40, one(later('H', 900, { status: 'superseded' }), later('I', 950)));
    },
  });

  judges('gap_between_events', {
    wrong: (rig) => rig.read(10, one(control('A'), later('B', 260))),
    evidence: '"gapS":60',
    right: (rig) => rig.read(10, one(control('A'), later('B', 200))),
    trap: (rig) => {
      rig.read(10, one(control('A'), later('B', 261), later('C', 400, { randomizeStartS: 9 })));
      // another event fills the gap, or another program follows
      rig.read(15).read(20, one(later('D', 600), later('E', 690, { creationS: 5, durationS: 20 }), later('F', 710)));
      rig.read(25).read(30, one(later('G', 900)), program('Q', 2, [later('H', 1010)]));
    },
  });

  const [a, b] = [later('A', 100, { creationS: 1 }), later('B', 150, { creationS: 2 })];
  judges('superseded_unmarked', {
    wrong: (rig) => rig.read(10, one({ ...a, durationS: 300 }, { ...b, durationS: 300 })).read(270, live(one, a, b)),
    evidence: '"first":"A","second":"B","bothForS":120',
    right: (rig) => rig.read(10, one(control('A', { status: 'superseded' }), b)),
    trap: (rig) => {
      rig
        .read(10, live(one, a, b))
        .read(269, live(one, a, b))
        .read(400, live(one, a, b))
        .read(410);
      const odd: readonly Partial<ListedControl>[] = [
        { modes: [...maxLim, pf] },
        { deviceCategory: 1 },
        { randomizeStartS: 1 },
        { randomizeDurationS: 1 },
        { status: 'superseded' },
      ];
      for (const [at, over] of odd.entries()) {
        const beganS = 1000 * (at + 1);
        const pair = [later(`X${at}`, beganS, { creationS: 1 }), later(`Y${at}`, beganS, { creationS: 2, ...over })];
        rig.read(beganS + 200, live(one, ...pair)).read(beganS + 900);
      }
      // in programs of their own, and as of a reading long ago
      const [c, d] = [later('C', 9000, { creationS: 1 }), later('D', 9000, { creationS: 2 })];
      rig.read(9200, live(one, c), program('Q', 1, live(one, d).controls)).read(9900);
      const readMs = rig.findings.wall.monotonicMs();
      const [e, f] = [later('E', 10_000, { creationS: 1 }), later('F', 10_000, { creationS: 2 })];
      rig.pass(60).read(10_150, { ...live(one, e, f), controlsReadMs: readMs });
    },
  });

  /** The server has taken the DERCapability: 5 kW, and opModMaxLimW. */
  const capable = (rig: JudgeRig, over: object = {}, answer: object = {}) => {
    const rtgMaxW = { multiplier: 3, value: 5 };
    const body = { name: 'DERCapability', value: { modesSupported: '00100000', rtgMaxW, type: 4, ...over } } as const;
    const request = { method: 'PUT', href: '/dercap', resource: 'DERCapability', body } as const;
    return rig.answer(request, '', { status: 204, headers: {}, ...answer });
  };
  /** New events, each one a minute after a reading of its list, from now on. */
  const created = (rig: JudgeRig, ...events: readonly ListedControl[]) => {
    const part = (...controls: readonly ListedControl[]) => ({ ...one(...controls), isPartial: true });
    for (const event of events) {
      const nowS = rig.scene.nowS + 1;
      rig.read(nowS, part()).pass(60);
      const fresh = { creationS: nowS + (event.creationS < 0 ? event.creationS : 50), startS: nowS + 1000 };
      rig.read(nowS + 60, part(control(`${event.mrid}${nowS}`, { ...event, ...fresh, mrid: `${event.mrid}${nowS}` })));
    }
    return rig;
  };
  const powered = (mode: string, value: object, over: Partial<ListedControl> = {}, mrid = 'A') =>
    control(mrid, {
      control: { base: { [mode]: value }, curves: new Map() },
      modes: [mode as 'opModTargetW'],
      ...over,
    });
  const three = (mode: string, ...values: readonly object[]) =>
    ['A', 'B', 'C'].map((mrid, at) => powered(mode, values[at % values.length] ?? {}, {}, mrid));
  const powers = (baseW: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ multiplier: 0, value: baseW + 1 + at }));
  const both = {
    modesSupported2: 'FFFFFFFF',
    doeModesSupported: '0F',
    vppModesSupported: '01',
    modesSupported: 'FFFFFFFF',
  };

  judges('value_scale', {
    wrong: (rig) => created(capable(rig, both), ...three('opModTargetW', ...powers(50_000, 3))),
    evidence: '"mode":"opModTargetW","watts":50003,"ratedW":5000,"events":3',
    right: (rig) => created(capable(rig, both), powered('opModTargetW', { multiplier: 3, value: -50 })),
    trap: (rig) => {
      const off = { multiplier: 0, value: 4 };
      const offs = powers(1, 3);
      // numbers for nothing and for everything
      const plain = new JudgeRig();
      created(
        capable(plain, both),
        ...three('opModExpLimW', { value: 1 }),
        ...three('opModTargetW', { value: 999_999 }),
      );
      expect(plain.findings.ids(plain.peer)).to.deep.equal([]);
      // no power is a number of every unit
      const idle = new JudgeRig();
      created(capable(idle, both), ...three('opModExpLimW', { value: 4 }, { value: 0 }, { value: 3 }));
      expect(idle.findings.ids(idle.peer)).to.deep.equal([]);
      // before the capability, or after a fault or a refusal
      created(rig, ...three('opModExpLimW', ...offs));
      capable(rig, both, { status: 400 });
      capable(rig, both, { isDisturbed: true });
      created(rig, ...three('opModExpLimW', ...offs));
      // taken after the events were created, and before they were read
      const part = (...controls: readonly ListedControl[]) => ({ ...one(...controls), isPartial: true });
      rig.read(4000, part()).pass(60);
      const fresh = three('opModExpLimW', ...offs).map((event, at) => ({
        ...event,
        startS: 9000,
        creationS: 4010 + at,
      }));
      capable(rig, both)
        .pass(1)
        .read(4061, part(...fresh));
      created(rig, ...three('opModExpLimW', { value: 0 }));
      // no limit, none at all, one in between that fits, a limit of load, and one that is switched off
      created(rig, ...three('opModExpLimW', { multiplier: 9, value: 30_000 }, { value: 0 }, { value: 5 }));
      created(rig, ...three('opModExpLimW', off, { value: 5 }, off), powered('opModGenLimW', { value: 3 }));
      created(rig, powered('opModGenLimW', { value: 5000 }), ...three('opModImpLimW', off));
      created(rig, ...three('opModTargetW', { value: 30_000, multiplier: 3, disabled: true }));
      // known before
      const old = three('opModExpLimW', ...offs).map((event) => ({ ...event, creationS: -1 }));
      created(rig, ...old);
    },
  });

  it('value_scale: limits below a thousandth of the rating, and the rating of a battery', () => {
    const rig = new JudgeRig();
    created(
      capable(rig, { ...both, rtgMaxChargeRateW: { multiplier: 3, value: 20 } }),
      ...three('opModGenLimW', ...powers(16, 3)),
    );
    const [first] = rig.findings.row(rig.peer, 'csip.value_scale').cases;
    expect(first?.facts).to.include({ watts: 19, ratedW: 20_000 });
  });

  it('value_scale: a site is judged once all its documents were taken', () => {
    for (const [documents, isFound] of [
      [2, true],
      [3, false],
    ] as const) {
      const rig = new JudgeRig();
      for (const index of [0, 1]) {
        const body = {
          name: 'DERCapability',
          value: { modesSupported: '0', rtgMaxW: { multiplier: 3, value: 5 }, type: 4 },
        } as const;
        rig.answer({ method: 'PUT', resource: 'DERCapability', body, deviceIndex: index }, '', {
          status: 204,
          headers: {},
        });
      }
      const site = { ...target, deviceIndex: null, derCount: () => documents };
      for (const [at, event] of three('opModTargetW', ...powers(100_000, 3)).entries()) {
        const seen = { events: new Map(), deviceIndex: null };
        rig.judge.programs(site, { ...seen, programs: [one()], nowS: 1000 + at * 60 });
        rig.pass(60);
        const fresh = { ...event, startS: 2000, creationS: 1050 + at * 60 };
        rig.judge.programs(site, { ...seen, programs: [one(fresh)], nowS: 1060 + at * 60 });
      }
      expect(rig.findings.ids(rig.peer)).to.deep.equal(isFound ? ['csip.value_scale', 'csip.mode_unsupported'] : []);
    }
  });

  judges('mode_unsupported', {
    wrong: (rig) => created(capable(rig), ...three('opModVoltVar', { href: '/dc/1' })),
    evidence: '"modes":"opModVoltVar","events":3',
    right: (rig) => created(capable(rig), control('A')),
    trap: (rig) => {
      created(capable(rig), ...three('opModVoltVar', { href: '/dc/1' }).slice(1), control('A'));
      created(rig, ...three('opModVoltVar', { href: '/dc/1' }).slice(1));
      // for other devices
      created(rig, ...three('opModWattVar', { href: '/dc/1' }).map((event) => ({ ...event, deviceCategory: 1 })));
    },
  });

  it('value_scale, mode_unsupported, event_over: an event counts once, in several programs and with a creationTime that moves', () => {
    const rig = capable(new JudgeRig(), { modesSupported: '0' });
    rig.read(1000, one(), program('Q', 2, []), program('R', 3, [])).pass(60);
    const odd = (creationS: number, value: number) =>
      powered('opModTargetW', { value }, { creationS, startS: 900, durationS: 200 });
    const [first, second, third] = powers(60_000, 3).map(({ value }) => odd(1010, value));
    rig.read(1060, one(first!), program('Q', 2, [second!]), program('R', 3, [third!])).pass(60);
    for (const nowS of [1120, 1180, 1240])
      rig.read(nowS, one(odd(nowS - 10, 70_000 + nowS)), program('Q', 2, []), program('R', 3, [])).pass(60);
    const isJudged = (rule: string) => rig.findings.row(rig.peer, `csip.${rule}`).broken;
    expect(['value_scale', 'mode_unsupported', 'event_over'].map(isJudged)).to.deep.equal([0, 0, 0]);
  });

  judges('event_over', {
    wrong: (rig) =>
      rig.read(1000, one()).read(1060, one(control('A', { creationS: 1001, startS: 900, durationS: 101 }))),
    evidence: 'the event A ended 0 s before it was created',
    right: (rig) =>
      rig
        .read(1000, one())
        .read(1060, one(control('A', { creationS: 1001, startS: 1002, durationS: 20, status: 'active' }))),
    trap: (rig) => {
      const over = { creationS: 1001, startS: 900, durationS: 50 };
      // at the first reading, listed before, ended, with random parts, for other devices
      rig.read(1000, one(control('A', { creationS: 990, startS: 900, durationS: 50 })));
      rig.read(1060, one(control('B', { ...over, creationS: 1000 })));
      rig.read(1070, one(control('C', { ...over, creationS: 1065, status: 'superseded' })));
      rig.read(1080, one(control('D', { ...over, creationS: 1075, randomizeStartS: -100, randomizeDurationS: 100 })));
      rig.read(1090, one(control('E', { ...over, creationS: 1085, deviceCategory: 1 })));
      rig.read(1100, program('Q', 1, [control('F', { ...over, creationS: 1095 })]));
    },
  });

  const typed = (curveType: number | undefined, mode = 'opModVoltVar') =>
    control('A', {
      control: {
        base: { [mode]: { href: '/dc/1' } },
        curves: new Map([['/dc/1', curveType === undefined ? {} : { curveType }]]),
      },
      modes: [mode as 'opModVoltVar'],
    });
  judges('curve_link', {
    wrong: (rig) => rig.read(10, one(typed(0))),
    evidence: '"mode":"opModVoltVar","curveType":0,"type":11',
    right: (rig) => rig.read(10, one(typed(12, 'opModVoltWatt'))),
    trap: (rig) =>
      rig
        .read(10, one(typed(undefined)))
        .read(20)
        .read(30, one(curve('/dc/1', null))),
  });

  it('curve_link: default controls are judged too', () => {
    const rig = new JudgeRig();
    const base = { ...defaults('P', ['opModWattVar']), control: typed(11, 'opModWattVar').control };
    rig.read(10, program('P', 1, [], { defaultControl: base }));
    expect(rig.findings.row(rig.peer, 'csip.curve_link').cases[0]?.text).to.contain('of the default control of P');
  });

  judges('default_missing', {
    wrong: (rig) => {
      rig
        .read(10, program('P', 1, [control('A')]))
        .pass(600)
        .read(20, program('P', 1, [control('A')]));
    },
    evidence: 'no program has a DefaultDERControl for 600 s',
    right: (rig) => rig.read(10, one(control('A'))),
    // one in time, one that cannot be read, and programs without events
    trap: (rig) => {
      rig
        .read(10, program('P', 1, [control('A')]))
        .pass(599)
        .read(20, one(control('A')));
      rig
        .pass(1)
        .read(30, program('P', 1, [control('A')], { defaultControl: undefined }))
        .pass(600);
      rig
        .read(40, program('Q', 1, []))
        .pass(600)
        .read(50, program('Q', 1, []));
    },
  });

  it('judges nothing by a time that it does not know', () => {
    const rig = new JudgeRig();
    const programs = [one(control('A', { creationS: 1e9 }))];
    rig.judge.programs(target, { programs, events: new Map(), deviceIndex: 0, nowS: null });
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
  });

  it('a server with events or a default control has written', () => {
    const rig = new JudgeRig().read(10, program('P', 1, []));
    expect(rig.peer.hasWritten).to.equal(false);
    rig.read(20, one());
    expect(rig.peer.hasWritten).to.equal(true);
  });

  it('a judge that throws is switched off with the rules of its topic, and the others go on', () => {
    const rig = new JudgeRig();
    rig.judge.programs({} as never, null as never);
    expect(rig.findings.row(rig.peer, 'csip.event_vanished').state).to.equal('not_observable');
    expect(rig.findings.row(rig.peer, 'csip.schema').state).to.equal('not_exercised');
  });
});
