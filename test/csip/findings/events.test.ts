import { expect } from 'chai';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import { control, defaults, maxLim, pf, program, watt } from '../events/scene.ts';
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
    trap: (rig) => rig.read(10, one(...silent(4))).read(20, one(...silent(4), later('A', 500))),
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
    rig.judge.programs({} as never, { programs, events: new Map(), deviceIndex: 0, nowS: null });
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
