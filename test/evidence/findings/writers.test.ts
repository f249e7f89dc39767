import { expect } from 'chai';
import type { Device } from '../../../src/contract/device.ts';
import type { DeviceChange } from '../../../src/contract/plant.ts';
import type { PeerIdentity } from '../../../src/core/findings/identity.ts';
import type { Peer } from '../../../src/core/findings/peer.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { judgeWriters } from '../../../src/evidence/findings/writers.ts';
import { commonRules } from '../../../src/finding-rules/common.ts';
import type { Change } from '../../../src/sunspec/map/bank.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { FindingsRig } from '../../support/findings.ts';

const slot = { modelName: '704', path: 'WMaxLimPct' } as PointSlot;
const other = { modelName: '704', path: 'VarSet' } as PointSlot;

/** A device of which only the writes of points are seen. */
class WrittenDevice {
  value = 0;
  listener: (change: Change) => void = () => undefined;
  readonly device: Device;

  constructor(index: number) {
    this.device = {
      index,
      bank: {
        value: () => this.value,
        onChange: (listener: (change: Change) => void) => {
          this.listener = listener;
          return () => {
            this.listener = () => undefined;
          };
        },
      },
    } as unknown as Device;
  }

  write(by: Origin, value: number, points: readonly PointSlot[] = [slot]): void {
    this.value = value;
    this.listener({ points, changed: points, by, at: 0 as Change['at'] });
  }
}

describe('findings: peers that write one point in turn', () => {
  const [a, b] = [
    { source: 'modbus', peer: '127.0.0.2:50001' },
    { source: 'modbus', peer: '127.0.0.3:50002' },
  ] as const;
  let rig: FindingsRig;
  let written: WrittenDevice;
  let change: (change: DeviceChange) => void;
  let peers: readonly Peer[];

  const valid = (identity: PeerIdentity) => {
    const peer = rig.registry.peer(identity);
    peer.isValid = true;
    return peer;
  };

  beforeEach(() => {
    rig = new FindingsRig();
    written = new WrittenDevice(0);
    judgeWriters({
      plant: {
        devices: [written.device],
        onDevices: (listener) => {
          change = listener;
          return () => undefined;
        },
      },
      findings: rig.registry,
      rules: rig.registry.rules('common', commonRules),
      wall: rig.wall,
    });
    peers = ['127.0.0.2', '127.0.0.3'].map((address) => valid({ protocol: 'modbus', address }));
  });

  const broken = () => peers.map((peer) => rig.row(peer, 'common.writers_fight').broken);
  /** Writes different values in turn. @param turns from one peer to the other */
  const dispute = (turns: number, one: Origin = a, two: Origin = b, pauseMs = 0, of = written) => {
    for (let at = 0; at <= turns; at += 1) {
      of.write(at % 2 === 0 ? one : two, at % 2);
      rig.timers.pass(pauseMs);
    }
  };

  it('are both told after the sixth turn, and not before', () => {
    dispute(5);
    expect(broken()).to.deep.equal([0, 0]);
    written.write(a, 0);
    expect(broken()).to.deep.equal([1, 1]);
    const [one] = rig.row(peers[0]!, 'common.writers_fight').cases;
    expect(one?.facts).to.deep.equal({ point: '704.WMaxLimPct', other: '127.0.0.3', turns: 6 });
  });

  it('hold the rule while they write the same value, and where their turns are too far apart', () => {
    for (let at = 0; at < 20; at += 1) written.write(at % 2 === 0 ? a : b, 7);
    dispute(20, a, b, 2 * 60_000);
    expect(broken()).to.deep.equal([0, 0]);
    expect(rig.row(peers[1]!, 'common.writers_fight').state).to.equal('held');
  });

  it('are one peer over several connections', () => {
    dispute(20, a, { source: 'modbus', peer: '127.0.0.2:50009' });
    expect(broken()).to.deep.equal([0, 0]);
  });

  it('are not blamed for a person or a reversion in between', () => {
    for (const source of ['rest', 'dashboard', 'reversion'] as const) {
      written.write({ source }, 3);
      dispute(4);
      written.write({ source }, 3);
      dispute(4);
    }
    dispute(20, a, { source: 'rest', peer: '127.0.0.1:50001' });
    expect(broken()).to.deep.equal([0, 0]);
  });

  it('are found across protocols, each by its own identity', () => {
    const station = valid({ protocol: 'ocpp', address: 'ws://127.0.0.1:9000/ocpp' });
    station.facet('station', 'SIM-CP-1');
    const master = valid({ protocol: 'dnp3', address: '1@127.0.0.5' });
    dispute(6, { source: 'ocpp', peer: 'SIM-CP-1' }, { source: 'dnp3', peer: '1@127.0.0.5:20001' });
    for (const peer of [station, master]) expect(rig.ids(peer)).to.deep.equal(['common.writers_fight']);
  });

  it('are left alone where a write could be of several peers, or of none', () => {
    const servers = ['a', 'b'].map((host) => valid({ protocol: 'csip', address: `https://${host}` }));
    dispute(20, a, { source: 'csip', peer: 'A1' });
    dispute(20, a, { source: 'modbus', peer: '127.0.0.9:1' });
    expect(broken()).to.deep.equal([0, 0]);
    for (const server of servers) expect(rig.ids(server)).to.deep.equal([]);
  });

  it('are told for each point of each device, also of one that joins, and of none that has left', () => {
    dispute(6);
    for (let at = 0; at <= 6; at += 1) written.write(at % 2 === 0 ? a : b, at, [other]);
    expect(broken()).to.deep.equal([2, 2]);
    const later = new WrittenDevice(1);
    change({ added: later.device, removed: null });
    dispute(6, a, b, 0, later);
    expect(broken()).to.deep.equal([3, 3]);
    change({ added: null, removed: later.device });
    rig.timers.pass(120_000);
    dispute(6, a, b, 0, later);
    expect(broken()).to.deep.equal([3, 3]);
  });
});
