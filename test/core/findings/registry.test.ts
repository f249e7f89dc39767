import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

describe('findings: registry', () => {
  let rig: FindingsRig;
  let peer: Peer;

  beforeEach(() => {
    rig = new FindingsRig();
    peer = rig.peer('127.0.0.2');
  });

  it('holds a rule that was exercised, and not one that never came up', () => {
    const rules = rig.registry.rules('modbus', { a: row, b: row });
    rules.a.exercised(peer);
    expect(rig.ids(peer, 'held')).to.deep.equal(['modbus.a']);
    expect(rig.ids(peer, 'not_exercised')).to.deep.equal(['modbus.b']);
  });

  it('counts repetitions within the quiet time as one case, and makes no words for them', () => {
    const rules = rig.registry.rules('modbus', { a: row });
    let words = 0;
    const broken = (key?: string) => {
      rules.a.broken(
        peer,
        0,
        () => {
          words += 1;
          return { text: 'wrong' };
        },
        key,
      );
    };
    broken();
    rig.timers.pass(59_000);
    broken();
    rig.timers.pass(59_999);
    broken();
    expect(rig.row(peer, 'modbus.a')).to.include({ broken: 1, repeats: 2, exercised: 3 });
    rig.timers.pass(60_000);
    broken();
    broken('other');
    expect(rig.row(peer, 'modbus.a')).to.include({ broken: 3, repeats: 2 });
    expect(words).to.equal(3);
  });

  it('takes nothing from a stranger', () => {
    const rules = rig.registry.rules('modbus', { a: row });
    peer.isValid = false;
    rules.a.broken(peer, 0, () => ({ text: 'wrong' }));
    peer.isValid = true;
    expect(rig.row(peer, 'modbus.a').broken).to.equal(0);
  });

  it('breaks a rule at its deadline only if the peer was there all the time', () => {
    const rules = rig.registry.rules('modbus', { a: row, b: row });
    peer.connected(0);
    const wait = { peer, deviceIndex: null, waitMs: 10_000, expired: () => ({ text: 'nothing came' }) } as const;
    rig.registry.waitFor({ ...wait, rule: rules.a, presence: 'connected' });
    rig.registry.waitFor({ ...wait, rule: rules.b, presence: 'active' });
    rig.timers.pass(9_999);
    expect(rig.row(peer, 'modbus.a').state).to.equal('undecided');
    rig.timers.pass(1);
    expect(rig.row(peer, 'modbus.a').state).to.equal('broken');
    expect(rig.row(peer, 'modbus.b').state).to.equal('undecided');
    rig.registry.waitFor({ ...wait, rule: rules.b, presence: 'active' });
    rig.timers.pass(6_000);
    peer.requests += 1;
    rig.timers.pass(4_000);
    expect(rig.row(peer, 'modbus.b').state).to.equal('broken');
  });

  it('ends the waits at a device that is gone, and no others', () => {
    const rules = rig.registry.rules('modbus', { a: row, b: row });
    peer.connected(0);
    const wait = { peer, waitMs: 10_000, presence: 'connected', expired: () => ({ text: 'nothing came' }) } as const;
    rig.registry.waitFor({ ...wait, rule: rules.a, deviceIndex: 1 });
    rig.registry.waitFor({ ...wait, rule: rules.b, deviceIndex: 0 });
    rig.registry.deviceRemoved(1);
    expect(rig.ids(peer, 'undecided')).to.deep.equal(['modbus.b']);
    rig.timers.pass(10_000);
    expect(rig.ids(peer)).to.deep.equal(['modbus.b']);
  });

  it('switches a rule off whose wait ends in an error, which no timer throws', () => {
    const rules = rig.registry.rules('modbus', { a: row });
    peer.connected(0);
    const expired = () => {
      throw new Error('bang');
    };
    rig.registry.waitFor({ rule: rules.a, peer, deviceIndex: 0, waitMs: 1000, presence: 'connected', expired });
    rig.timers.pass(1000);
    expect(rig.row(peer, 'modbus.a').reason).to.equal('the judge failed: bang');
  });

  it('drops a connection that ended in between, and counts what was done in time', () => {
    const rules = rig.registry.rules('modbus', { a: row, b: row });
    peer.connected(0);
    const wait = { peer, deviceIndex: null, waitMs: 10_000, expired: () => ({ text: 'nothing came' }) } as const;
    rig.registry.waitFor({ ...wait, rule: rules.a, presence: 'connected' });
    const deadline = rig.registry.waitFor({ ...wait, rule: rules.b, presence: 'connected' });
    peer.disconnected(0);
    peer.connected(0);
    deadline.met();
    deadline.met();
    rig.timers.pass(10_000);
    expect(rig.row(peer, 'modbus.a').state).to.equal('undecided');
    expect(rig.row(peer, 'modbus.b')).to.include({ state: 'held', exercised: 1 });
  });
});
