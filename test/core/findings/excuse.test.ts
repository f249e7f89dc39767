import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import type { RuleRow } from '../../../src/core/findings/rule.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { ignoreWriteFault } from '../../../src/fault-kinds/modbus-map.ts';
import { dropFault, outageFault } from '../../../src/fault-kinds/modbus-transport.ts';
import { ocppFaults } from '../../../src/fault-kinds/ocpp.ts';
import { FaultBench } from '../../support/faults.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

describe('findings: excuses', () => {
  let rig: FindingsRig;
  let bench: FaultBench;
  let peer: Peer;

  beforeEach(() => {
    rig = new FindingsRig();
    bench = new FaultBench([0, 1]);
    peer = rig.peer('127.0.0.2');
  });

  /** The state after one case at a device. */
  const stateOf = (more: Partial<RuleRow> = {}, deviceIndex: number | null = 0) => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, ...more } });
    a.broken(peer, deviceIndex, () => ({ text: 'wrong' }));
    return rig.row(peer, 'modbus.a');
  };

  for (const [title, kind] of [
    ['a transport fault of the protocol', dropFault],
    ['an outage', outageFault],
    ['a restart of the device', rebootFault],
  ] as const)
    it(`excuses a case under ${title} (G1)`, () => {
      rig.active = [bench.inject(kind)];
      const result = stateOf();
      expect(result).to.include({ state: 'excused', broken: 0, excused: 1, exercised: 1 });
      expect(result.reason).to.match(/^the fault \w+\.\w+ is active$/);
      expect(result.cases[0]).to.deep.include({ excuse: result.reason, faults: [result.reason?.split(' ')[2]] });
    });

  it('takes no excuse from faults that cannot have caused the behaviour', () => {
    rig.active = [bench.inject(ignoreWriteFault), bench.inject(ocppFaults[0]!)];
    expect(stateOf()).to.include({ state: 'broken', excused: 0 });
  });

  it('takes those that the row names, and none where it says so', () => {
    rig.active = [bench.inject(ignoreWriteFault)];
    expect(stateOf({ excusedBy: ['modbus.ignore_write'] }).state).to.equal('excused');
    rig = new FindingsRig();
    peer = rig.peer('127.0.0.2');
    rig.active = [bench.inject(dropFault)];
    expect(stateOf({ excusedBy: 'none' }).state).to.equal('broken');
  });

  it('does not excuse by the fault that provokes the rule', () => {
    rig.active = [bench.inject(dropFault)];
    expect(stateOf({ provokedBy: ['modbus.drop'] }).state).to.equal('broken');
  });

  it('excuses a provoked rule by another fault', () => {
    rig.active = [bench.inject(dropFault), bench.inject(outageFault)];
    expect(stateOf({ provokedBy: ['modbus.drop'] }).state).to.equal('excused');
  });

  it('excuses by a fault of the same device only, and a case of no device by any', () => {
    rig.active = [bench.inject(dropFault, {}, { deviceIndex: 1 })];
    expect(stateOf().state).to.equal('broken');
    rig = new FindingsRig();
    peer = rig.peer('127.0.0.2');
    rig.active = [bench.inject(dropFault, {}, { deviceIndex: 1 })];
    expect(stateOf({}, null).state).to.equal('excused');
  });

  it('excuses until 30 s after the end of the fault', () => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, quietS: 0 } });
    rig.ended = [{ fault: bench.inject(dropFault), end: 'cleared', endedAtMs: rig.wall.nowMs() }];
    rig.wall.advance(29_999);
    a.broken(peer, 0, () => ({ text: 'wrong' }));
    expect(rig.row(peer, 'modbus.a')).to.include({
      state: 'excused',
      reason: 'the fault modbus.drop ended less than 30 s ago',
    });
    rig.wall.advance(1);
    a.broken(peer, 0, () => ({ text: 'wrong' }));
    expect(rig.row(peer, 'modbus.a')).to.include({ state: 'broken', broken: 1, excused: 1 });
  });

  it('excuses until the second request after the end of the fault, however late it comes', () => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, quietS: 0 } });
    const request = (by = peer) => {
      by.requests += 1;
      a.broken(by, 0, () => ({ text: 'wrong' }));
      return rig.row(by, 'modbus.a');
    };
    peer.requests = 7;
    rig.endFault(bench.inject(dropFault));
    rig.wall.advance(3_600_000);
    const late = rig.peer('127.0.0.3');
    expect(request().reason).to.equal('the peer has sent 2 requests at most since the end of the fault modbus.drop');
    expect(request()).to.include({ state: 'excused', excused: 2 });
    expect(request()).to.include({ state: 'broken', broken: 1, excused: 2 });
    expect(request(late)).to.include({ state: 'broken', excused: 0 });
  });

  it('excuses rules about time after a stall of this process, and no others (G8)', () => {
    rig.hasStalled = true;
    expect(stateOf({ isTimed: true })).to.include({ state: 'excused', reason: 'this process stood still just before' });
    const { b } = rig.registry.rules('modbus', { b: row });
    b.broken(peer, 0, () => ({ text: 'wrong' }));
    expect(rig.row(peer, 'modbus.b').state).to.equal('broken');
  });

  it('excuses rules of several protocols by transport faults of that of the peer', () => {
    const { a } = rig.registry.rules('common', { a: row });
    rig.active = [bench.inject(dropFault)];
    const station = rig.peer('ws://a', 'ocpp');
    a.broken(peer, 0, () => ({ text: 'wrong' }));
    a.broken(station, 0, () => ({ text: 'wrong' }));
    expect(rig.row(peer, 'common.a').state).to.equal('excused');
    expect(rig.row(station, 'common.a').state).to.equal('broken');
  });

  it('counts no excused case in the verdict, and makes no line of it', () => {
    rig.active = [bench.inject(dropFault)];
    stateOf();
    expect(rig.ids(peer)).to.deep.equal([]);
    expect(rig.lines).to.deep.equal([]);
    expect(rig.registry.totals.findings.size).to.equal(0);
    expect(rig.registry.totals.excused.get('modbus')).to.equal(1);
  });

  it('lets an excused case neither hide one that counts nor stand as its evidence', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    rig.active = [bench.inject(dropFault)];
    for (const index of [0, 1]) a.broken(peer, index, () => ({ text: 'excused' }));
    rig.active = [];
    rig.timers.pass(1000);
    a.broken(peer, 0, () => ({ text: 'counts' }));
    rig.active = [bench.inject(dropFault)];
    rig.timers.pass(61_000);
    a.broken(peer, 1, () => ({ text: 'excused again' }));
    const result = rig.row(peer, 'modbus.a');
    expect(result).to.include({ state: 'broken', broken: 1, excused: 3, repeats: 0 });
    expect(result.cases.map(({ text }) => text)).to.deep.equal(['counts']);
    expect(result.deviceIndexes).to.deep.equal([0]);
    expect(result.first?.wallMs).to.equal(result.last?.wallMs);
  });
});
