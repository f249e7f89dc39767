/** The table of transitions, row by row and in its order. */
import { expect } from 'chai';
import type { Phase } from '../../../src/csip/events/state.ts';
import { dueTransition, eventDiagram, superseded } from '../../../src/csip/events/transitions.ts';
import type { EventFacts } from '../../../src/csip/events/transitions.ts';

const quiet: EventFacts = {
  status: 'scheduled',
  left: false,
  begun: false,
  successorWaits: false,
  over: false,
  cancelDue: false,
  lostAll: false,
  takenBy: 'same program',
  refusal: null,
  part: 'whole',
  revision: '2018',
};

/** `state response` after the transition; null: none is due. */
function due(phase: Phase, over: Partial<EventFacts>): string | null {
  const facts = { ...quiet, ...over };
  const row = dueTransition(phase, facts);
  return row === undefined ? null : `${row.to} ${row.answer(facts)}`;
}

const changes = {
  nothing: {},
  active: { status: 'active' },
  cancelled: { status: 'cancelled' },
  randomized: { status: 'cancelled with randomization' },
  superseded: { status: 'superseded' },
  superseding: { status: 'superseded', successorWaits: true },
  left: { left: true },
  cancelDue: { cancelDue: true },
  over: { over: true },
  unsupported: { refusal: 'unsupported' },
  invalid: { refusal: 'invalid' },
  lostAll: { lostAll: true },
  begun: { begun: true },
} as const;
type Change = keyof typeof changes;

const outcomes: Readonly<Record<'received' | 'scheduled' | 'active', Readonly<Record<Change, string | null>>>> = {
  received: {
    nothing: 'scheduled null',
    active: 'scheduled null',
    cancelled: 'cancelled 6',
    randomized: 'cancelled 6',
    superseded: 'superseded 7',
    superseding: 'superseded 7',
    left: 'scheduled null',
    cancelDue: 'scheduled null',
    over: 'rejected 254',
    unsupported: 'rejected 252',
    invalid: 'rejected 253',
    lostAll: 'scheduled null',
    begun: 'scheduled null',
  },
  scheduled: {
    nothing: null,
    active: null,
    cancelled: 'cancelled 6',
    randomized: 'cancelled 6',
    superseded: 'superseded 7',
    superseding: 'superseded 7',
    left: 'cancelled 6',
    cancelDue: null,
    over: 'completed 3',
    unsupported: null,
    invalid: null,
    lostAll: 'superseded 7',
    begun: 'active null',
  },
  active: {
    nothing: null,
    active: null,
    cancelled: 'cancelled 6',
    randomized: null,
    superseded: 'superseded 7',
    superseding: null,
    left: 'cancelled 6',
    cancelDue: 'cancelled 6',
    over: 'completed 3',
    unsupported: 'rejected 252',
    invalid: 'rejected 253',
    lostAll: 'superseded 7',
    begun: null,
  },
};

describe('CSIP events: each transition', () => {
  for (const phase of ['received', 'scheduled', 'active'] as const)
    it(`of a ${phase} event`, () => {
      for (const change of Object.keys(changes) as Change[])
        expect(due(phase, changes[change]), change).to.equal(outcomes[phase][change]);
    });

  it('none of an event that has ended', () => {
    for (const phase of ['completed', 'cancelled', 'superseded', 'rejected'] as const)
      for (const change of Object.keys(changes) as Change[]) expect(due(phase, changes[change])).to.equal(null);
  });

  it('of several that are due the first of the table', () => {
    const orders: Readonly<Record<keyof typeof outcomes, readonly Change[]>> = {
      received: ['cancelled', 'superseded', 'over', 'invalid', 'nothing'],
      scheduled: ['left', 'superseded', 'lostAll', 'over', 'begun'],
      active: ['left', 'cancelDue', 'superseded', 'lostAll', 'over', 'invalid'],
    };
    // with a second answer the first of two rows of one state is told from the other
    const facts = { takenBy: 'other server', part: 'none' } as const;
    for (const phase of ['received', 'scheduled', 'active'] as const)
      orders[phase].forEach((first, i) => {
        const alone = due(phase, { ...facts, ...changes[first] });
        for (const second of orders[phase].slice(i + 1))
          expect(
            due(phase, { ...facts, ...changes[second], ...changes[first] }),
            `${phase}: ${first}, ${second}`,
          ).to.equal(alone);
      });
  });
});

describe('CSIP events: the answer of a transition', () => {
  it('at the end says how far the device took part', () => {
    const answers = (['whole', 'out', 'in', 'none'] as const).map((part) => due('active', { over: true, part }));
    expect(answers).to.deep.equal(['completed 3', 'completed 8', 'completed 9', 'completed 10']);
  });

  it('to a takeover says by whom, in the words of the revision', () => {
    const takers = ['same program', 'other program', 'other server'] as const;
    const of = (revision: EventFacts['revision']) => takers.map((takenBy) => superseded({ takenBy, revision }));
    expect(of('2018')).to.deep.equal([7, 7, 13]);
    expect(of('2023')).to.deep.equal([7, 14, 13]);
    expect(due('scheduled', { lostAll: true, takenBy: 'other server', revision: '2023' })).to.equal('superseded 13');
  });

  it('to a control that is not possible depends on the reason and the revision', () => {
    const of = (refusal: 'unsupported' | 'invalid', revision: EventFacts['revision']) =>
      due('active', { refusal, revision });
    expect(of('unsupported', '2018')).to.equal('rejected 252');
    expect(of('unsupported', '2023')).to.equal('rejected 251');
    expect(of('invalid', '2018')).to.equal('rejected 253');
    expect(of('invalid', '2023')).to.equal('rejected 253');
  });
});

describe('CSIP events: the diagram of the table', () => {
  it('has each way of each state', () => {
    expect(eventDiagram().split('\n')).to.deep.equal([
      'stateDiagram-v2',
      '  [*] --> received',
      '  received --> cancelled: cancelled',
      '  scheduled --> cancelled: cancelled',
      '  scheduled --> cancelled: program left',
      '  active --> cancelled: program left',
      '  active --> cancelled: cancelled',
      '  active --> cancelled: random delay over',
      '  received --> superseded: superseded by the server',
      '  scheduled --> superseded: superseded by the server',
      '  active --> superseded: superseded by the server',
      '  received --> rejected: too late',
      '  received --> rejected: not possible',
      '  received --> scheduled: accepted',
      '  scheduled --> superseded: all modes taken',
      '  active --> superseded: all modes taken',
      '  scheduled --> completed: end',
      '  active --> completed: end',
      '  active --> rejected: not possible',
      '  scheduled --> active: start',
    ]);
  });
});
