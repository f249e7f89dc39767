import { expect } from 'chai';
import { faultLayers } from '../../src/core/faults/kinds.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import {
  faultForms,
  faultRequest,
  faultSchema,
  flatFaults,
  flatPointer,
  reservedMembers,
  targetMembersOf,
} from '../../src/fault-kinds/request.ts';
import type { FlatFault } from '../../src/fault-kinds/request.ts';

const issuesOf = (flat: unknown) =>
  (faultSchema.safeParse(flat).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('catalogue of faults', () => {
  it('has each kind once, with its words', () => {
    const names = faultKinds.map(({ protocol, kind }) => `${protocol}.${kind}`);
    expect(new Set(names).size).to.equal(names.length);
    for (const { kind, layer, summary } of faultKinds) {
      expect(kind).to.match(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect(faultLayers).to.include(layer);
      expect(summary, kind).to.match(/^[A-Z].*\.$/s);
    }
  });

  for (const row of faultKinds) {
    it(`${row.protocol} ${row.kind}: parameters are described, and stand beside the members that all take`, () => {
      for (const [name, parameter] of Object.entries(row.parameters.shape)) {
        expect(name).to.match(/^[a-z][a-z0-9_]*$/);
        expect(reservedMembers, name).not.to.include(name);
        expect(Object.keys(targetMembersOf(row)), name).not.to.include(name);
        expect((parameter as { description?: string }).description, name).to.match(/^[A-Z].*\.$/s);
      }
      expect(row.parameters.safeParse({ no_such_parameter: 1 }).success).to.equal(false);
      expect(Object.keys(faultForms().ofKind(row).shape)).to.include.members([...reservedMembers]);
    });
  }
});

describe('flat form of a fault', () => {
  const read = (flat: FlatFault, fallback: number | null = 0) => faultRequest(faultSchema.parse(flat), fallback);

  it('is a request with target, parameters and numbers apart', () => {
    expect(
      read({
        kind: 'exception',
        code: 6,
        function: 6,
        address: 40_311,
        registers: 2,
        points: ['704'],
        when: { point: '701.W', below: 1 },
        count: 3,
        duration_s: 60,
        probability: 0.5,
        every: 2,
        seed: 9,
        device: 4,
      }),
    ).to.deep.equal({
      protocol: 'modbus',
      kind: 'exception',
      parameters: { code: 6, carried_out: false },
      deviceIndex: 4,
      target: { functions: [6], registers: { address: 40_311, count: 2 }, points: ['704'] },
      when: { point: '701.W', below: 1 },
      count: 3,
      durationS: 60,
      probability: 0.5,
      every: 2,
      seed: 9,
    });
  });

  it('is of Modbus where no protocol is named, for one register and for the device of the fallback', () => {
    expect(read({ kind: 'drop', address: 1 }, 7)).to.deep.equal({
      protocol: 'modbus',
      kind: 'drop',
      parameters: { carried_out: false },
      deviceIndex: 7,
      target: { registers: { address: 1, count: 1 } },
    });
    expect(read({ kind: 'drop', device: null }, null).deviceIndex).to.equal(null);
    expect(read({ kind: 'drop', device: 'all' }, 7).deviceIndex).to.equal(null);
    expect(read({ protocol: 'device', kind: 'reboot' })).to.deep.include({
      protocol: 'device',
      parameters: { off_s: 30, forget: true },
    });
  });

  it('takes a parameter that is called like a target of other kinds', () => {
    expect(read({ kind: 'base', address: 50_000 })).to.deep.equal({
      protocol: 'modbus',
      kind: 'base',
      parameters: { address: 50_000 },
      deviceIndex: 0,
    });
    expect(read({ kind: 'shift', model: 701, registers: 1 }).parameters).to.deep.include({ model: 701, registers: 1 });
  });

  it('refuses what no kind has', () => {
    expect(issuesOf({ kind: 'delay', delay_ms: 1, unit_id: 4 })).to.deep.equal([': Unrecognized key: "unit_id"']);
    expect(issuesOf({ kind: 'outage', function: 3 })).to.deep.equal([': Unrecognized key: "function"']);
    expect(issuesOf({ kind: 'drop', registers: 3 })).to.deep.equal(['registers: needs address']);
    expect(issuesOf({ kind: 'drop', when: { point: '701.W' } })).to.deep.equal([
      'when: one of below, above, equals is required',
    ]);
    expect(issuesOf({ kind: 'exception', code: 2, quantity_min: 2, quantity_max: 1 })).to.deep.equal([
      'quantity_max: must not be below quantity_min',
    ]);
    expect(issuesOf({ kind: 'nothing' })[0]).to.match(/^kind: /);
    expect(issuesOf({ protocol: 'device', kind: 'drop' })[0]).to.match(/^kind: /);
    expect(issuesOf({ protocol: 'bacnet', kind: 'drop' })[0]).to.match(/^protocol: /);
  });

  it('has the places of a request under other names', () => {
    expect(
      [
        '/0/parameters/code',
        '/parameters',
        '/3/target/points/1',
        '/target/registers',
        '/2/target/registers/count',
        '/target/registers/address',
        '/1/target/functions/0',
        '/0/when/point',
        '/0/kind',
        '/0/duration_s',
        '',
      ].map(flatPointer),
    ).to.deep.equal([
      '/0/code',
      '',
      '/3/points/1',
      '/address',
      '/2/registers',
      '/address',
      '/1/function',
      '/0/when/point',
      '/0/kind',
      '/0/duration_s',
      '',
    ]);
    const faults = [
      { name: '/0/parameters/code', detail: 'a' },
      { name: '/12', detail: 'b' },
      { name: 'elsewhere', detail: 'c' },
    ];
    expect(flatFaults(faults, (at) => `/inject/${at}`).map(({ name }) => name)).to.deep.equal([
      '/inject/0/code',
      '/inject/12',
      'elsewhere',
    ]);
  });
});
