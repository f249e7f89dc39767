import { expect } from 'chai';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { faultParts, inRequest, listOfFaults } from '../../../src/fleet/gateway/faults.ts';
import type { ShardPlace } from '../../../src/fleet/gateway/forward.ts';

const place = (name: string, first: number): ShardPlace => ({
  name,
  first,
  epoch: 1,
  room: 10,
  count: 2,
  isLost: false,
  lastSeen: '',
});
const shards = [place('a', 0), place('b', 10)] as const;
/** Places are made anew at each look. */
const fleet = { shards, holding: (index: number) => ({ ...shards[index < 10 ? 0 : 1] }) };

/** Shards and bodies of the parts. */
const sent = (body: Readonly<Record<string, unknown>>, device?: number) =>
  faultParts({ device, body }, fleet).map((part) => [part.shards.map(({ name }) => name).join(), part.body]);
const fault = { protocol: 'modbus', kind: 'silent' };

describe('fleet/gateway: faults by shard', () => {
  it('of single devices go to the shards that have them, those of all devices behind them to all', () => {
    const inject = [{ ...fault, device: 12 }, fault, { ...fault, device: 'all' }, { ...fault, device: 11 }];
    expect(sent({ inject })).to.deep.equal([
      ['b', { inject: [inject[0], inject[3]] }],
      ['a', { inject: [{ ...fault, device: 0 }] }],
      ['a,b', { inject: [inject[2]] }],
    ]);
    expect(sent({ inject: [{ ...fault, device: null }] }, 13)).to.deep.equal([
      ['b', { inject: [{ ...fault, device: 13 }] }],
    ]);
  });

  it('of a profile, or alone in the body, have one device or all', () => {
    expect(sent({ profile: 'p' })).to.deep.equal([['a', { profile: 'p', device: 0 }]]);
    expect(sent({ profile: 'p', device: 'all' })).to.deep.equal([['a,b', { profile: 'p', device: 'all' }]]);
    expect(sent({ kind: 'silent', device: 14 }, 2)).to.deep.equal([['b', { kind: 'silent', device: 14 }]]);
  });

  it('end in all shards, or in that of a device', () => {
    for (const clear of [true, { kind: 'silent' }, { device: 'all' }, { device: 'meter' }])
      expect(sent({ clear })).to.deep.equal([['a,b', { clear }]]);
    expect(sent({ clear: true }, 12)).to.deep.equal([['b', { clear: true }]]);
    expect(sent({ clear: { device: 3 } })).to.deep.equal([['a', { clear: { device: 3 } }]]);
  });

  it('need a shard where ids count in it, or a meter is its own', () => {
    const bodies = [
      { clear: { id: 3 } },
      { inject: [fault, { ...fault, device: 'meter' }] },
      { profile: 'p', device: 'meter' },
    ];
    const places = bodies.map((body) => {
      try {
        return sent(body);
      } catch (error) {
        return error instanceof HttpProblem ? error.issues?.[0]?.name : error;
      }
    });
    expect(places).to.deep.equal(['/clear/id', '/inject/1/device', '/device']);
  });

  it('are named in refusals as in the request', () => {
    expect(inRequest('{"detail":"/inject/1/kind: x; /inject/0: y"}', [0, 3])).to.equal(
      '{"detail":"/inject/3/kind: x; /inject/0: y"}',
    );
    expect(inRequest('/inject/1', null)).to.equal('/inject/1');
    expect(['set_faults', 'set_csip_fault'].map(listOfFaults)).to.deep.equal(['get_faults', 'get_csip_faults']);
  });
});
