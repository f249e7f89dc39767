import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { PointDatabase } from '../../../src/dnp3/stack/outstation/database.ts';
import { firstFrom, pointsNamed } from '../../../src/dnp3/stack/outstation/point-table.ts';
import type { DatabaseOptions } from '../../../src/dnp3/stack/outstation/database.ts';
import type { PointSpec, PointValue } from '../../../src/dnp3/stack/points.ts';
import { spec } from '../rig/stack.ts';

const [online, commLost, restart] = [0x01, 0x05, 0x02];

/** A database that writes down its events as `kind index: value`. */
function rig(specs: readonly PointSpec[], options: Omit<DatabaseOptions, 'specs'> = {}) {
  const database = new PointDatabase({ specs, ...options });
  const events: string[] = [];
  const end = database.onEvent(({ spec: { kind, index }, class: of, state, stamp }) => {
    const value = typeof state.value === 'number' ? state.value : state.value.toString('latin1');
    events.push(`${kind} ${index}: ${value}, flags ${state.flags}, class ${of}, at ${stamp}`);
  });
  let stamp = 0;
  const put = (value: PointValue, flags = online, kind: PointSpec['kind'] = 'analogInput', index = 0): number => {
    const before = events.length;
    database.update(kind, index, { value, flags }, (stamp += 1));
    return events.length - before;
  };
  return { database, events, end, put };
}

describe('the points of a DNP3 outstation', () => {
  it('make an event of each change, of value or flags, but not of the first value', () => {
    const { events, put } = rig([spec('analogInput', 0, { class: 2 })]);
    expect([put(5), put(5), put(6), put(6, commLost), put(6, commLost), put(7)]).to.deep.equal([0, 0, 1, 1, 0, 1]);
    expect(events).to.deep.equal([
      'analogInput 0: 6, flags 1, class 2, at 3',
      'analogInput 0: 6, flags 5, class 2, at 4',
      'analogInput 0: 7, flags 1, class 2, at 6',
    ]);
  });

  it('make an event of a change above the deadband, counted from the last event', () => {
    const { put } = rig([spec('analogInput', 0, { deadband: 10 })]);
    put(100);
    expect([110, 90, 110.5, 100.5, 100.4].map((value) => put(value))).to.deep.equal([0, 0, 1, 0, 1]);
    // other flags are an event whatever the value, and the value is the new reference
    expect([put(105, commLost), put(114, commLost), put(116, commLost)]).to.deep.equal([1, 0, 1]);
  });

  it('make an event of a value that is no number, however large the deadband', () => {
    const { put } = rig([spec('analogInput', 0, { deadband: 10 })]);
    put(100);
    expect([NaN, NaN, 100, 100, Infinity].map((value) => put(value))).to.deep.equal([1, 0, 1, 0, 1]);
  });

  it('compare octet strings octet by octet, and with no number', () => {
    const { database, events, put } = rig([spec('octetString', 3, { deadband: 10 })]);
    const text = (value: PointValue) => put(value, online, 'octetString', 3);
    expect([
      text(Buffer.from('a')),
      text(Buffer.from('b')),
      text(Buffer.from('b')),
      text(7),
      text(Buffer.from('b')),
    ]).to.deep.equal([0, 1, 0, 1, 1]);
    expect(events[0]).to.equal('octetString 3: b, flags 1, class 1, at 2');
    expect(database.point('octetString', 3)?.state.value).to.deep.equal(Buffer.from('b'));
  });

  it('keep a value without an event where their class is 0, or nobody listens', () => {
    const { database, events, end, put } = rig([spec('analogInput', 0, { class: 0 }), spec('analogInput', 1)]);
    put(1);
    put(2);
    expect(database.point('analogInput', 0)?.state).to.include({ value: 2, flags: online });
    put(1, online, 'analogInput', 1);
    end();
    put(2, online, 'analogInput', 1);
    expect(events).to.deep.equal([]);
  });

  it('take no value for a point that is not there', () => {
    const { database, put } = rig([spec('analogInput', 0)]);
    expect(put(1, online, 'analogInput', 1)).to.equal(0);
    expect(database.point('analogInput', 1)).to.equal(undefined);
    expect(database.points('counter')).to.deep.equal([]);
  });

  it('stand in the order of their indexes', () => {
    const { database } = rig([7, 3, 5].map((index) => spec('analogInput', index, { inClass0: index !== 5 })));
    const indexes = (specs: readonly PointSpec[]) => specs.map(({ index }) => index);
    const { specs } = database.list('analogInput');
    expect(indexes(specs)).to.deep.equal([3, 5, 7]);
    expect(database.points('analogInput').map(({ spec: { index } }) => index)).to.deep.equal([3, 5, 7]);
    expect(indexes(database.listOfClass0('analogInput').specs)).to.deep.equal([3, 7]);
    expect([0, 3, 4, 7, 8].map((index) => firstFrom(specs, index))).to.deep.equal([0, 0, 1, 2, 3]);
  });

  it('are named by all, a span and a list, and not by a count', () => {
    const { database } = rig([spec('analogInput', 3), spec('analogInput', 4)]);
    const { specs } = database.list('analogInput');
    const named = (range: Parameters<typeof pointsNamed>[1], of = specs) => {
      const names = pointsNamed(of, range);
      return names && { missing: names.missing, existing: names.places.map((place) => of[place]?.index) };
    };
    expect(named({ kind: 'all' })).to.deep.equal({ existing: [3, 4], missing: false });
    expect(named({ kind: 'all' }, [])).to.deep.equal({ existing: [], missing: true });
    expect(named({ kind: 'span', start: 3, stop: 4 })).to.deep.equal({ existing: [3, 4], missing: false });
    expect(named({ kind: 'span', start: 4, stop: 5 })).to.deep.equal({ existing: [4], missing: true });
    expect(named({ kind: 'indexes', indexes: [4, 3, 9] })).to.deep.equal({ existing: [4, 3], missing: true });
    expect(named({ kind: 'count', count: 1 })).to.equal(null);
  });

  it('take a class only if they can make events, and go on from their present value', () => {
    const { database, put } = rig([
      spec('analogInput', 0, { deadband: 10 }),
      spec('analogInput', 1, { mayHaveEvents: false }),
    ]);
    put(100);
    put(109);
    expect(database.assignClass('analogInput', 0, 3)).to.equal(true);
    expect([put(118), put(120)]).to.deep.equal([0, 1]);
    for (const to of [1, 2, 3] as const) expect(database.assignClass('analogInput', 1, to)).to.equal(false);
    expect(database.point('analogInput', 1)?.class).to.equal(1);
    expect(database.assignClass('analogInput', 1, 0)).to.equal(true);
    expect(database.point('analogInput', 1)?.class).to.equal(0);
    expect(database.assignClass('analogInput', 2, 0)).to.equal(false);
  });

  it('take a deadband that is a number from 0 on', () => {
    const { database } = rig([spec('analogInput', 0), spec('counter', 1)]);
    expect([5, 0, 0.5].map((deadband) => database.setDeadband(0, deadband))).to.deep.equal([true, true, true]);
    expect([-0.1, NaN, Infinity].map((deadband) => database.setDeadband(0, deadband))).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(database.point('analogInput', 0)?.deadband).to.equal(0.5);
    expect(database.setDeadband(1, 5)).to.equal(false);
  });

  it('have class and deadband of the configuration after a restart', () => {
    const { database } = rig([spec('analogInput', 0, { class: 2, deadband: 3 })]);
    database.setDeadband(0, 9);
    database.assignClass('analogInput', 0, 0);
    database.restart();
    expect(database.point('analogInput', 0)).to.include({ class: 2, deadband: 3 });
  });

  describe('that count', () => {
    const counters = [
      ...[0, 1].map((index) => spec('counter', index, { class: 0 })),
      spec('counter', 2, { class: 0 }),
      spec('frozenCounter', 0, { class: 3 }),
      spec('frozenCounter', 1, { class: 0 }),
    ];
    function counting(clearsCounters?: boolean) {
      const made = rig(counters, clearsCounters === undefined ? {} : { clearsCounters });
      for (const index of [0, 1, 2]) made.put(7 + index, online, 'counter', index);
      const values = (kind: 'counter' | 'frozenCounter') => made.database.points(kind).map(({ state }) => state.value);
      return { ...made, values };
    }

    it('are frozen, each time with an event where the frozen counter has a class', () => {
      const { database, events, values } = counting();
      expect(database.point('frozenCounter', 0)?.state.flags).to.equal(restart);
      expect(database.freeze('all', false, 40)).to.equal(true);
      expect(database.freeze([0], false, 41)).to.equal(true);
      expect(values('frozenCounter')).to.deep.equal([7, 8]);
      expect(events).to.deep.equal([
        'frozenCounter 0: 7, flags 1, class 3, at 40',
        'frozenCounter 0: 7, flags 1, class 3, at 41',
      ]);
    });

    it('go on over a FREEZE_CLEAR, unless they are those that are cleared', () => {
      for (const [clearsCounters, clear, after] of [
        [undefined, true, [7, 8, 9]],
        [false, true, [7, 8, 9]],
        [true, false, [7, 8, 9]],
        [true, true, [0, 0, 0]],
      ] as const) {
        const { database, values } = counting(clearsCounters);
        database.freeze('all', clear, 40);
        expect(values('counter')).to.deep.equal(after);
        expect(values('frozenCounter')).to.deep.equal([7, 8]);
      }
    });

    it('are frozen though another one of the list is not there', () => {
      const { database, values } = counting();
      expect(database.freeze([9, 1], false, 40)).to.equal(false);
      expect(values('frozenCounter')).to.deep.equal([0, 8]);
    });
  });
});
