import { expect } from 'chai';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { keptEnded } from '../../../src/core/faults/registry.ts';
import type { FaultChange, FaultRegistry } from '../../../src/core/faults/registry.ts';
import { by, one, RegistryRig } from './registry-rig.ts';

describe('FaultRegistry', () => {
  let rig: RegistryRig;
  let registry: FaultRegistry;
  beforeEach(() => {
    rig = new RegistryRig();
    ({ registry } = rig);
  });

  describe('duration', () => {
    it('is simulated time, and wall time in the layer transport', () => {
      const [still, onWall] = registry.inject(
        [one({ durationS: 10 }), { protocol: 'modbus', kind: 'stall', durationS: 10 }],
        by,
      );
      if (still === undefined || onWall === undefined) throw new Error('two were injected');
      rig.sim = addSeconds(rig.sim, 4);
      rig.wall.advance(7000);
      expect([registry.remainingS(still), registry.remainingS(onWall)]).to.deep.equal([6, 3]);
      registry.expire();
      expect(registry.active).to.have.length(2);
      rig.sim = addSeconds(rig.sim, 6);
      registry.expire();
      expect(registry.active).to.deep.equal([onWall]);
      expect(registry.ended.map(({ fault, end }) => [fault, end])).to.deep.equal([[still, 'duration']]);
      expect(registry.remainingS(still)).to.equal(0);
    });

    it('holds to the instant also before the registry looks, but for effects, which devices end by themselves', () => {
      const requests = [
        one({ durationS: 0.3 }),
        { protocol: 'modbus', kind: 'stall', durationS: 0.3 },
        { protocol: 'device', kind: 'doze', durationS: 0.3 },
      ] as const;
      const faults = registry.inject(requests, by);
      const strike = () => faults.map((fault) => fault.strikes(0));
      rig.sim = addSeconds(rig.sim, 0.299999);
      rig.wall.advance(299);
      expect(strike()).to.deep.equal([true, true, true]);
      rig.sim = addSeconds(rig.sim, 0.000001);
      rig.wall.advance(1);
      expect(faults.map(({ isOver }) => isOver)).to.deep.equal([true, true, false]);
      expect(strike()).to.deep.equal([false, false, true]);
      expect(faults.map(({ occasions }) => occasions)).to.deep.equal([1, 1, 2]);
      expect(registry.active).to.have.length(3);
      registry.expire();
      expect(registry.active).to.have.length(0);
    });

    it('ends by the wall clock without anybody asking, while simulated time stands', () => {
      registry.inject(
        [
          { protocol: 'modbus', kind: 'stall', durationS: 30 },
          { protocol: 'modbus', kind: 'stall', durationS: 10 },
          one({ durationS: 5 }),
        ],
        by,
      );
      expect(rig.timers.waiting).to.equal(1);
      rig.timers.pass(10_000);
      expect(registry.active.map(({ facts }) => facts.id)).to.deep.equal([1, 3]);
      rig.timers.pass(20_000);
      expect(registry.active.map(({ facts }) => facts.id)).to.deep.equal([3]);
      expect(rig.timers.waiting).to.equal(0);
    });

    it('is not waited for when the registry is closed', () => {
      rig.first([{ protocol: 'modbus', kind: 'stall', durationS: 30 }]);
      expect(rig.timers.waiting).to.equal(1);
      registry.close();
      expect(rig.timers.waiting).to.equal(0);
    });

    it('waits for no fault that is gone, and in bounded steps for a far end', () => {
      registry.inject([{ protocol: 'modbus', kind: 'stall', durationS: 1e9 }], by);
      expect(rig.timers.nextMs).to.equal(2 ** 31 - 1);
      rig.timers.pass(2 ** 31);
      expect(registry.active).to.have.length(1);
      expect(rig.timers.waiting).to.equal(1);
      registry.clear();
      expect(rig.timers.waiting).to.equal(0);
    });
  });

  describe('ends', () => {
    beforeEach(() => {
      registry.inject(
        [one(), one({ deviceIndex: 0 }), one({ deviceIndex: 1 }), { protocol: 'device', kind: 'doze', deviceIndex: 1 }],
        by,
      );
      registry.inject([one({ deviceIndex: 1 })], { source: 'profile' }, 'set');
    });

    const left = () => registry.active.map(({ facts }) => facts.id);

    it('by id, protocol, kind, device or profile', () => {
      expect(registry.clear({ id: 2 })).to.equal(1);
      expect(registry.clear({ id: 2 })).to.equal(0);
      expect(registry.clear({ profile: 'set' })).to.equal(1);
      expect(registry.clear({ deviceIndex: null })).to.equal(1);
      expect(left()).to.deep.equal([3, 4]);
      expect(registry.clear({ protocol: 'modbus', deviceIndex: 1 })).to.equal(1);
      expect(registry.clear({ kind: 'knock' })).to.equal(0);
      expect(registry.clear()).to.equal(1);
      expect(left()).to.deep.equal([]);
      expect(registry.ended.map(({ fault }) => fault.facts.id)).to.deep.equal([4, 3, 1, 5, 2]);
    });

    it('with the device that is removed, but not what is for all', () => {
      registry.deviceRemoved(1);
      expect(left()).to.deep.equal([1, 2]);
      expect(new Set(registry.ended.map(({ end }) => end))).to.deep.equal(new Set(['device_removed']));
    });

    it('with the reset of a device, but not what it was configured with', () => {
      registry.deviceReset(1);
      expect(left()).to.deep.equal([1, 2, 5]);
      expect(new Set(registry.ended.map(({ end }) => end))).to.deep.equal(new Set(['device_reset']));
    });

    it('are kept in a bounded list, newest first', () => {
      registry.clear();
      registry.inject(
        Array.from({ length: keptEnded + 5 }, () => one()),
        by,
      );
      registry.clear();
      expect(registry.ended).to.have.length(keptEnded);
      expect(registry.ended[0]?.fault.facts.id).to.equal(5 + keptEnded + 5);
      expect(registry.ended[0]?.endedAtMs).to.equal(rig.wall.nowMs());
    });
  });

  describe('listeners', () => {
    it('hear of each change when it is made', () => {
      const heard: string[] = [];
      const end = registry.onChange(({ begun, ended }) => {
        heard.push(
          `+${begun.map(({ facts }) => facts.id).join()} -${ended.map(({ facts }) => facts.id).join()} of ${registry.active.length}`,
        );
      });
      registry.inject([one(), one()], by);
      registry.clear({ id: 1 });
      registry.clear({ id: 1 });
      registry.expire();
      end();
      registry.clear();
      expect(heard).to.deep.equal(['+1,2 - of 2', '+ -1 of 1']);
    });

    it('are not disturbed by one that throws', () => {
      const heard: FaultChange[] = [];
      registry.onChange(() => {
        throw new Error('broken');
      });
      registry.onChange((change) => {
        heard.push(change);
      });
      expect(registry.inject([one()], by)).to.have.length(1);
      expect(heard).to.have.length(1);
      expect(rig.lines.at(-1)).to.equal('error: a listener for changes of faults failed: broken');
    });

    it('may change faults themselves: all hear of all changes in one order', () => {
      const heard: string[][] = [[], []];
      const note = (at: number, { begun, ended }: FaultChange) =>
        heard[at]?.push(
          [...begun.map(({ facts }) => `+${facts.id}`), ...ended.map(({ facts }) => `-${facts.id}`)].join(),
        );
      registry.onChange((change) => {
        note(0, change);
        if (change.begun.some(({ facts }) => facts.id === 1)) {
          registry.inject([one(), one({ count: 1 })], by)[1]?.strikes(0);
          registry.clear({ id: 1 });
        }
      });
      registry.onChange((change) => note(1, change));
      registry.inject([one()], by);
      expect(heard[0]).to.deep.equal(['+1', '+2,+3', '-3', '-1']);
      expect(heard[1]).to.deep.equal(heard[0]);
      expect(registry.active.map(({ facts }) => facts.id)).to.deep.equal([2]);
    });
  });
});
