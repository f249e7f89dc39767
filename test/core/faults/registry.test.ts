import { expect } from 'chai';
import { z } from 'zod';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { Issue } from '../../../src/core/errors.ts';
import type { FaultKind, FaultRequest } from '../../../src/core/faults/kinds.ts';
import { FaultRegistry, keptEnded, maxActiveFaults, maxKeptMaps } from '../../../src/core/faults/registry.ts';
import type { FaultChange } from '../../../src/core/faults/registry.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const knock: FaultKind<{ code: number; loud: boolean }> = {
  protocol: 'modbus',
  kind: 'knock',
  layer: 'acceptance',
  summary: 'Knocks.',
  targets: ['points', 'functions'],
  parameters: z.strictObject({ code: z.int().min(1).max(9), loud: z.boolean().default(true) }),
};
const stall: FaultKind<Record<string, never>> = {
  protocol: 'modbus',
  kind: 'stall',
  layer: 'transport',
  summary: 'Stalls.',
  targets: [],
  parameters: z.strictObject({}),
};
const doze: FaultKind<Record<string, never>> = {
  protocol: 'device',
  kind: 'doze',
  layer: 'effect',
  summary: 'Dozes.',
  targets: ['points'],
  parameters: z.strictObject({}),
};

const by = { source: 'rest', peer: '10.0.0.5:4711' } as const;
const one = (extra: Partial<FaultRequest> = {}): FaultRequest => ({
  protocol: 'modbus',
  kind: 'knock',
  parameters: { code: 4 },
  ...extra,
});

describe('FaultRegistry', () => {
  let wall: HandWall;
  let sim = simTimeFromMs(0);
  let devices: number[];
  let lines: string[];
  let timers: HandTimers;
  let registry: FaultRegistry;

  function open(seed = 1, shapeOf?: (index: number) => unknown): FaultRegistry {
    const made = new FaultRegistry({
      wall,
      sim: () => sim,
      seed,
      deviceIndexes: () => devices,
      log: {
        info: (line) => {
          lines.push(line);
        },
        error: (line) => {
          lines.push(`error: ${line}`);
        },
      },
      later: timers.later,
      ...(shapeOf && { shapeOf }),
    });
    made.define([knock, stall, doze]);
    return made;
  }

  function first(requests: readonly FaultRequest[] = [one()], at = registry): ActiveFault {
    const [fault] = at.inject(requests, by);
    if (fault === undefined) throw new Error('nothing was injected');
    return fault;
  }

  function errorText(act: () => unknown): string {
    try {
      act();
    } catch (error) {
      return (error as SimError).message;
    }
    throw new Error('nothing was thrown');
  }

  function faultsOf(act: () => unknown, code = 'COMMAND_BAD_VALUE'): readonly Issue[] {
    try {
      act();
    } catch (error) {
      expect(error).to.be.instanceOf(SimError);
      expect((error as SimError).code).to.equal(code);
      return (error as SimError).issues;
    }
    throw new Error('nothing was thrown');
  }

  beforeEach(() => {
    wall = new HandWall();
    sim = simTimeFromMs(0);
    devices = [0, 1];
    lines = [];
    timers = new HandTimers(wall);
    registry = open();
  });

  describe('injection', () => {
    it('gives numbers, defaults of the kind, and what was asked', () => {
      const fault = first([one({ deviceIndex: 1, target: { points: ['704.WMaxLimPct'] }, count: 3 })]);
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
        beganAtMs: wall.nowMs(),
        target: { points: ['704.WMaxLimPct'] },
      });
      expect(registry.active).to.deep.equal([fault]);
      expect([fault.concerns(0), fault.concerns(1)]).to.deep.equal([false, true]);
      expect(fault.isOf(knock) && fault.parameters.code).to.equal(4);
      expect(fault.isOf(stall)).to.equal(false);
      expect(first().facts.id).to.equal(2);
    });

    it('names every member that is wrong by its request', () => {
      const issues = faultsOf(() =>
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
      faultsOf(() => registry.inject([one(), one({ kind: 'nothing' })], by));
      faultsOf(() => registry.inject([one(), one({ deviceIndex: 7 })], by), 'UNKNOWN_DEVICE');
      expect([registry.active, heard, lines, timers.waiting]).to.deep.equal([[], [], [], 0]);
      expect(first().facts.id).to.equal(1);
    });

    it('has a limit, at which nothing goes in', () => {
      registry.inject(
        Array.from({ length: maxActiveFaults - 1 }, () => one()),
        by,
      );
      faultsOf(() => registry.inject([one(), one()], by), 'COMMAND_CONFLICT');
      expect(registry.active).to.have.length(maxActiveFaults - 1);
      expect(registry.inject([one()], by)).to.have.length(1);
    });

    it('has a limit for what faults keep of all their devices, at which nothing goes in', () => {
      const hoard: FaultKind = { ...stall, kind: 'hoard', keptMaps: 40 };
      registry.define([hoard]);
      devices = Array.from({ length: maxKeptMaps / 100 }, (_, k) => k);
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

    it('puts several sets in under their profiles, or none of them', () => {
      registry.injectSets(
        [
          { requests: [one()], profile: 'a' },
          { requests: [one(), one()], profile: null },
        ],
        by,
      );
      expect(registry.active.map(({ facts }) => facts.profile)).to.deep.equal(['a', null, null]);
      const issues = faultsOf(() =>
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
      first([one({ deviceIndex: 1 })]);
      registry.clear();
      expect(lines).to.deep.equal([
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
        faultsOf(() => registry.inject([one(), one({ deviceIndex: 1 })], by)).map(({ name }) => name),
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
      expect(faultsOf(() => registry.inject([one()], by))).to.have.length(1);
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
      devices = [0, 1, 2, 3, 4];
      registry = open(1, (index) => index % 2);
      registry.define([knock], (_fault, index) => {
        asked.push(index);
        throw refusal;
      });
      faultsOf(() => registry.inject([one()], by));
      expect(asked).to.deep.equal([0, 1]);
      faultsOf(() => registry.inject([one({ deviceIndex: 4 })], by));
      expect(asked).to.deep.equal([0, 1, 4]);
    });

    it('hands on an error that names no member', () => {
      registry.define([doze], () => {
        throw new SimError('COMMAND_NOT_APPLICABLE', 'not of this kind');
      });
      faultsOf(() => registry.inject([{ protocol: 'device', kind: 'doze' }], by), 'COMMAND_NOT_APPLICABLE');
      expect(registry.active).to.deep.equal([]);
    });

    it('asks nobody where there is no device', () => {
      devices = [];
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
      const fault = first([one({ count: 2 })]);
      expect([fault.strikes(0), fault.remaining]).to.deep.equal([true, 1]);
      expect([fault.strikes(0), fault.remaining, registry.active]).to.deep.equal([true, 0, []]);
      expect(registry.ended[0]).to.include({ fault, end: 'count' });
      expect([fault.strikes(0), fault.strikeCount, fault.occasions]).to.deep.equal([false, 2, 2]);
    });

    it('come at each n-th occasion', () => {
      const fault = first([one({ every: 3, count: 2 })]);
      expect(pattern(fault, 7)).to.equal('..x..x.');
      expect([fault.occasions, fault.strikeCount]).to.deep.equal([6, 2]);
    });

    it('come at each n-th occasion of each device, and end after the count of all', () => {
      const fault = first([one({ every: 2, count: 3 })]);
      const inTurns = Array.from({ length: 8 }, (_, i) => fault.strikes(i % 2));
      expect(inTurns).to.deep.equal([false, false, true, true, false, false, true, false]);
      expect([fault.occasions, fault.strikeCount, registry.active.length]).to.deep.equal([7, 3, 0]);
    });

    it('come by chance, the same with the same seed', () => {
      const chance = { probability: 0.5 };
      const fault = first([one(chance)]);
      const course = pattern(fault, 200);
      expect(fault.strikeCount).to.be.within(70, 130);
      expect(pattern(first([one(chance)], open()), 200)).to.equal(course);
      expect(pattern(first([one(chance)], open(2)), 200)).not.to.equal(course);
      // the next fault has numbers of its own
      expect(pattern(first([one(chance)]), 200)).not.to.equal(course);
      // and the seed that is shown gives the same numbers again
      expect(pattern(first([one({ ...chance, seed: fault.facts.seed })], open(3)), 200)).to.equal(course);
    });

    it('leave the numbers for values alone', () => {
      const [quiet, struck] = [first([one({ seed: 5 })]), first([one({ seed: 5, probability: 0.5 })])];
      pattern(struck, 50);
      expect(struck.random.next()).to.equal(quiet.random.next());
    });

    it('always come with chance 1', () => {
      expect(pattern(first([one({ probability: 1 })]), 20)).to.equal('x'.repeat(20));
    });
  });

  describe('duration', () => {
    it('is simulated time, and wall time in the layer transport', () => {
      const [still, onWall] = registry.inject(
        [one({ durationS: 10 }), { protocol: 'modbus', kind: 'stall', durationS: 10 }],
        by,
      );
      if (still === undefined || onWall === undefined) throw new Error('two were injected');
      sim = addSeconds(sim, 4);
      wall.advance(7000);
      expect([registry.remainingS(still), registry.remainingS(onWall)]).to.deep.equal([6, 3]);
      registry.expire();
      expect(registry.active).to.have.length(2);
      sim = addSeconds(sim, 6);
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
      sim = addSeconds(sim, 0.299999);
      wall.advance(299);
      expect(strike()).to.deep.equal([true, true, true]);
      sim = addSeconds(sim, 0.000001);
      wall.advance(1);
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
      expect(timers.waiting).to.equal(1);
      timers.pass(10_000);
      expect(registry.active.map(({ facts }) => facts.id)).to.deep.equal([1, 3]);
      timers.pass(20_000);
      expect(registry.active.map(({ facts }) => facts.id)).to.deep.equal([3]);
      expect(timers.waiting).to.equal(0);
    });

    it('is not waited for when the registry is closed', () => {
      first([{ protocol: 'modbus', kind: 'stall', durationS: 30 }]);
      expect(timers.waiting).to.equal(1);
      registry.close();
      expect(timers.waiting).to.equal(0);
    });

    it('waits for no fault that is gone, and in bounded steps for a far end', () => {
      registry.inject([{ protocol: 'modbus', kind: 'stall', durationS: 1e9 }], by);
      expect(timers.nextMs).to.equal(2 ** 31 - 1);
      timers.pass(2 ** 31);
      expect(registry.active).to.have.length(1);
      expect(timers.waiting).to.equal(1);
      registry.clear();
      expect(timers.waiting).to.equal(0);
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
      expect(registry.ended[0]?.endedAtMs).to.equal(wall.nowMs());
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
      expect(lines.at(-1)).to.equal('error: a change of the faults was not followed: broken');
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
