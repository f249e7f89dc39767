import { expect } from 'chai';
import type { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { FaultKind, FaultRequest } from '../../../src/core/faults/kinds.ts';
import { maxActiveFaults, maxKeptMaps } from '../../../src/core/faults/registry.ts';
import type { FaultChange, FaultRegistry } from '../../../src/core/faults/registry.ts';
import { by, doze, errorText, issuesOf, knock, one, RegistryRig, stall } from './registry-rig.ts';

describe('FaultRegistry', () => {
  let rig: RegistryRig;
  let registry: FaultRegistry;
  beforeEach(() => {
    rig = new RegistryRig();
    ({ registry } = rig);
  });

  describe('injection', () => {
    it('gives numbers, defaults of the kind, and what was asked', () => {
      const fault = rig.first([one({ deviceIndex: 1, target: { points: ['704.WMaxLimPct'] }, count: 3 })]);
      expect(fault.facts).to.deep.include({
        id: 1,
        kind: knock,
        deviceIndex: 1,
        parameters: { code: 4, loud: true },
        count: 3,
        every: 1,
        probability: 1,
        when: null,
        durationS: null,
        profile: null,
        by,
        beganAtMs: rig.wall.nowMs(),
        target: { points: ['704.WMaxLimPct'] },
      });
      expect(registry.active).to.deep.equal([fault]);
      expect([fault.concerns(0), fault.concerns(1)]).to.deep.equal([false, true]);
      expect(fault.isOf(knock) && fault.parameters.code).to.equal(4);
      expect(fault.isOf(stall)).to.equal(false);
      expect(rig.first().facts.id).to.equal(2);
    });

    it('names every member that is wrong by its request', () => {
      const issues = issuesOf(() =>
        registry.inject(
          [
            one(),
            one({ kind: 'nothing' }),
            one({ parameters: { code: 44, volume: 1 }, target: { registers: { address: 1, count: 1 } } }),
            one({ count: 0, durationS: 0, probability: 2, every: 1.5, seed: -1 }),
            one({ probability: 0 }),
          ],
          by,
        ),
      );
      expect(issues.map(({ name }) => name)).to.deep.equal([
        '/1/kind',
        '/2/target/registers',
        '/2/parameters/code',
        '/2/parameters/volume',
        '/3/count',
        '/3/duration_s',
        '/3/probability',
        '/3/every',
        '/3/seed',
        '/4/probability',
      ]);
      expect(issues[0]?.allowed).to.deep.equal(['knock', 'stall']);
    });

    it('is all or nothing', () => {
      const heard: FaultChange[] = [];
      registry.onChange((change) => {
        heard.push(change);
      });
      issuesOf(() => registry.inject([one(), one({ kind: 'nothing' })], by));
      issuesOf(() => registry.inject([one(), one({ deviceIndex: 7 })], by), 'UNKNOWN_DEVICE');
      expect([registry.active, heard, rig.lines, rig.timers.waiting]).to.deep.equal([[], [], [], 0]);
      expect(rig.first().facts.id).to.equal(1);
    });

    it('has a limit, at which nothing goes in', () => {
      registry.inject(
        Array.from({ length: maxActiveFaults - 1 }, () => one()),
        by,
      );
      issuesOf(() => registry.inject([one(), one()], by), 'COMMAND_CONFLICT');
      expect(registry.active).to.have.length(maxActiveFaults - 1);
      expect(registry.inject([one()], by)).to.have.length(1);
    });

    it('has a limit for what faults keep of all their devices, at which nothing goes in', () => {
      const hoard: FaultKind = { ...stall, kind: 'hoard', keptMaps: 40 };
      registry.define([hoard]);
      rig.devices = Array.from({ length: maxKeptMaps / 100 }, (_, k) => k);
      const all: FaultRequest = { protocol: 'modbus', kind: 'hoard' };
      registry.inject([all, { ...all, deviceIndex: 3 }], by);
      expect(errorText(() => registry.inject([one(), all, all], by))).to.match(
        /keep up to 40040 copies .* 80000 more; 100000 are possible/,
      );
      expect(registry.active).to.have.length(2);
      expect(registry.inject([all, one()], by)).to.have.length(2);
      expect(errorText(() => registry.inject([all], by))).to.contain('100000 are possible');
      expect(registry.inject([one()], by)).to.have.length(1);
    });

    it('of a group strikes its devices until the last of them has left', () => {
      const hoard: FaultKind = { ...stall, kind: 'hoard', keptMaps: 50 };
      registry.define([hoard]);
      rig.devices = Array.from({ length: maxKeptMaps / 100 }, (_, k) => k);
      const fault = rig.first([{ protocol: 'modbus', kind: 'hoard', group: [1, 3] }]);
      expect([0, 1, 2, 3].map((index) => fault.concerns(index))).to.deep.equal([false, true, false, true]);
      expect([fault.facts.deviceIndex, fault.isOfAll, rig.first().isOfAll]).to.deep.equal([null, false, true]);
      // 50 for each of its two devices, not for all
      const all: FaultRequest = { protocol: 'modbus', kind: 'hoard' };
      expect(errorText(() => rig.first([all, all]))).to.match(/keep up to 100 copies .* 100000 more/);
      registry.deviceRemoved(3);
      expect([fault.end, fault.concerns(3), fault.groupSize]).to.deep.equal([null, false, 1]);
      registry.deviceReset(1);
      registry.deviceRemoved(1);
      expect(fault.end).to.equal('device_removed');
    });

    it('puts several sets in under their profiles, or none of them', () => {
      registry.injectSets(
        [
          { requests: [one()], profile: 'a' },
          { requests: [one(), one()], profile: null },
        ],
        by,
      );
      expect(registry.active.map(({ facts }) => facts.profile)).to.deep.equal(['a', null, null]);
      const issues = issuesOf(() =>
        registry.injectSets(
          [
            { requests: [one()], profile: 'a' },
            { requests: [one({ kind: 'x' })], profile: 'b' },
          ],
          by,
        ),
      );
      expect(issues.map(({ name }) => name)).to.deep.equal(['/1/kind']);
      expect(registry.active).to.have.length(3);
    });

    it('writes a line at begin and end, with whose it is', () => {
      rig.first([one({ deviceIndex: 1 })]);
      registry.clear();
      expect(rig.lines).to.deep.equal([
        'fault 1 begins: modbus knock of device 1, asked by rest, 10.0.0.5:4711',
        'fault 1 ends (cleared): modbus knock of device 1, asked by rest, 10.0.0.5:4711',
      ]);
    });
  });

  describe('checks of devices', () => {
    const refusal = new SimError('MAP_UNKNOWN_POINT', 'no such point', [
      { name: '/target/points/0', detail: 'no such point' },
    ]);

    it('refuses for the device that is named', () => {
      registry.define([knock], (_fault, index) => {
        if (index === 1) throw refusal;
      });
      expect(
        issuesOf(() => registry.inject([one(), one({ deviceIndex: 1 })], by)).map(({ name }) => name),
      ).to.deep.equal(['/1/target/points/0']);
      expect(registry.inject([one({ deviceIndex: 0 })], by)).to.have.length(1);
    });

    it('accepts a fault for all devices when one of them can have it', () => {
      registry.define([knock], (_fault, index) => {
        if (index === 0) throw refusal;
      });
      expect(registry.inject([one()], by)).to.have.length(1);
      registry.define([knock], () => {
        throw refusal;
      });
      expect(issuesOf(() => registry.inject([one()], by))).to.have.length(1);
    });

    it('asks every check of a kind, with the parameters filled in', () => {
      const seen: unknown[] = [];
      registry.define([knock], ({ parameters, kind, request }, index) => {
        seen.push([kind.kind, parameters, request.deviceIndex, index]);
      });
      registry.define([doze], () => {
        throw refusal;
      });
      registry.inject([one({ deviceIndex: 1 })], by);
      expect(seen).to.deep.equal([['knock', { code: 4, loud: true }, 1, 1]]);
      expect(registry.kinds.map(({ kind }) => kind)).to.deep.equal(['knock', 'stall', 'doze']);
    });

    it('asks once for all devices of one shape', () => {
      const asked: number[] = [];
      rig.devices = [0, 1, 2, 3, 4];
      registry = rig.open(1, (index) => index % 2);
      registry.define([knock], (_fault, index) => {
        asked.push(index);
        throw refusal;
      });
      issuesOf(() => registry.inject([one()], by));
      expect(asked).to.deep.equal([0, 1]);
      issuesOf(() => registry.inject([one({ deviceIndex: 4 })], by));
      expect(asked).to.deep.equal([0, 1, 4]);
    });

    it('hands on an error that names no member', () => {
      registry.define([doze], () => {
        throw new SimError('COMMAND_NOT_APPLICABLE', 'not of this kind');
      });
      issuesOf(() => registry.inject([{ protocol: 'device', kind: 'doze' }], by), 'COMMAND_NOT_APPLICABLE');
      expect(registry.active).to.deep.equal([]);
    });

    it('asks nobody where there is no device', () => {
      rig.devices = [];
      registry.define([knock], () => {
        throw refusal;
      });
      expect(registry.inject([one()], by)).to.have.length(1);
    });
  });

  describe('strikes', () => {
    const pattern = (fault: ActiveFault, occasions: number) =>
      Array.from({ length: occasions }, () => (fault.strikes(0) ? 'x' : '.')).join('');

    it('end the fault after its count, the last one included', () => {
      const fault = rig.first([one({ count: 2 })]);
      expect([fault.strikes(0), fault.remaining]).to.deep.equal([true, 1]);
      expect([fault.strikes(0), fault.remaining, registry.active]).to.deep.equal([true, 0, []]);
      expect(registry.ended[0]).to.include({ fault, end: 'count' });
      expect([fault.strikes(0), fault.strikeCount, fault.occasions]).to.deep.equal([false, 2, 2]);
    });

    it('come at each n-th occasion', () => {
      const fault = rig.first([one({ every: 3, count: 2 })]);
      expect(pattern(fault, 7)).to.equal('..x..x.');
      expect([fault.occasions, fault.strikeCount]).to.deep.equal([6, 2]);
    });

    it('come at each n-th occasion of each device, and end after the count of all', () => {
      const fault = rig.first([one({ every: 2, count: 3 })]);
      const inTurns = Array.from({ length: 8 }, (_, i) => fault.strikes(i % 2));
      expect(inTurns).to.deep.equal([false, false, true, true, false, false, true, false]);
      expect([fault.occasions, fault.strikeCount, registry.active.length]).to.deep.equal([7, 3, 0]);
    });

    it('come by chance, the same with the same seed', () => {
      const chance = { probability: 0.5 };
      const fault = rig.first([one(chance)]);
      const course = pattern(fault, 200);
      expect(fault.strikeCount).to.be.within(70, 130);
      expect(pattern(rig.first([one(chance)], rig.open()), 200)).to.equal(course);
      expect(pattern(rig.first([one(chance)], rig.open(2)), 200)).not.to.equal(course);
      // the next fault has numbers of its own
      expect(pattern(rig.first([one(chance)]), 200)).not.to.equal(course);
      // and the seed that is shown gives the same numbers again
      expect(pattern(rig.first([one({ ...chance, seed: fault.facts.seed })], rig.open(3)), 200)).to.equal(course);
    });

    it('leave the numbers for values alone', () => {
      const [quiet, struck] = [rig.first([one({ seed: 5 })]), rig.first([one({ seed: 5, probability: 0.5 })])];
      pattern(struck, 50);
      expect(struck.random.next()).to.equal(quiet.random.next());
    });

    it('always come with chance 1', () => {
      expect(pattern(rig.first([one({ probability: 1 })]), 20)).to.equal('x'.repeat(20));
    });
  });
});
