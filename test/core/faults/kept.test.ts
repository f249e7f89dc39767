import { expect } from 'chai';
import fc from 'fast-check';
import { keptFault } from '../../../src/core/faults/kept-fault.ts';
import type { FaultRequest } from '../../../src/core/faults/kinds.ts';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { JsonValue } from '../../../src/core/store.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { cuts, expectContinuation, throughFile } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';
import { by, one, RegistryRig } from './registry-rig.ts';

/** A registry with the clocks and the devices of its process, and what its faults have done. */
class KeptRegistry extends RegistryRig {
  #struck: readonly string[] = [];

  kept(): Kept {
    return keptParts({
      rig: keptRecord(
        () => ({ ms: this.wall.ms, sim: this.sim, devices: this.devices, struck: this.#struck }),
        ({ ms, sim, devices, struck }) => {
          this.wall.ms = ms;
          Object.assign(this, { sim, devices });
          this.#struck = struck;
        },
      ),
      registry: this.registry.kept(),
    });
  }

  /** Offers each fault an occasion at each device. */
  strike(): void {
    for (const fault of this.registry.active)
      for (const device of this.devices) {
        const would = fault.concerns(device) && fault.wouldStrike(device);
        const struck = fault.concerns(device) && fault.strikes(device);
        this.#struck = [...this.#struck, `${fault.facts.id} ${would} ${struck} ${struck ? fault.random.normal() : ''}`];
      }
  }

  /** Offers a fault an occasion that is not used up. */
  look(): void {
    for (const fault of this.registry.active) fault.wouldStrike(0);
  }

  get seen(): unknown {
    const { registry } = this;
    return {
      active: registry.active.map((fault) => ({
        facts: throughFile(keptFault(fault).facts as unknown as JsonValue),
        kind: fault.facts.kind.kind,
        counts: [fault.occasions, fault.strikeCount, fault.remaining, fault.groupSize, fault.isOver],
        remainingS: registry.remainingS(fault),
      })),
      ended: registry.ended.map(({ fault, end, endedAtMs }) => [fault.facts.id, fault.strikeCount, end, endedAtMs]),
      struck: this.#struck,
    };
  }
}

type Act =
  | { readonly kind: 'inject'; readonly request: FaultRequest }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'strike' | 'look' | 'clear' | 'reset' | 'remove' };

/** A request of a group names devices that there are. */
const ofPresent = ({ group, ...request }: FaultRequest, { devices }: KeptRegistry): FaultRequest => ({
  ...request,
  ...(group && { group: group.filter((index) => devices.includes(index)) }),
});

function carryOut(rig: KeptRegistry, act: Act): void {
  const { registry } = rig;
  switch (act.kind) {
    case 'inject':
      registry.injectSets(
        [{ requests: [ofPresent(act.request, rig)], profile: 'course', deviceProfile: 'device' }],
        by,
      );
      break;
    case 'pass':
      rig.sim = addSeconds(rig.sim, act.seconds);
      rig.timers.pass(1000 * act.seconds);
      registry.expire();
      break;
    case 'strike':
      rig.strike();
      break;
    case 'look':
      rig.look();
      break;
    case 'clear':
      registry.clear({ kind: 'doze' });
      break;
    case 'reset':
      registry.deviceReset(0);
      break;
    case 'remove':
      rig.devices = rig.devices.filter((index) => index !== 1);
      registry.deviceRemoved(1);
      break;
  }
}

const requests: fc.Arbitrary<FaultRequest> = fc
  .record({
    kind: fc.constantFrom('knock', 'stall', 'doze'),
    who: fc.constantFrom({}, {}, { deviceIndex: 0 }, { group: [0, 1] }),
    count: fc.constantFrom({}, { count: 1 }, { count: 5 }),
    durationS: fc.constantFrom({}, { durationS: 3 }, { durationS: 7.5 }),
    probability: fc.constantFrom({}, { probability: 0.5 }),
    every: fc.constantFrom({}, { every: 2 }, { every: 3 }),
  })
  .map(({ kind, who, count, durationS, probability, every }) => ({
    ...(kind === 'knock' ? one({ target: { points: ['701.W'], functions: undefined } }) : {}),
    protocol: kind === 'doze' ? 'device' : 'modbus',
    kind,
    ...who,
    ...count,
    ...durationS,
    ...probability,
    ...every,
  }));

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('inject' as const), request: requests }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(0.4, 1, 2) }) },
  { weight: 5, arbitrary: fc.constant<Act>({ kind: 'strike' }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Act>({ kind: 'look' }, { kind: 'clear' }, { kind: 'reset' }, { kind: 'remove' }),
  },
);

describe('faults over a restart', () => {
  it('go on with their counters, random numbers, turns and ends', () => {
    holds('faults go on', [fc.array(acts, { minLength: 8, maxLength: 30 }), cuts], (course, cut) => {
      const before = Math.round(cut * course.length);
      expectContinuation({
        make: () => new KeptRegistry(),
        drive: (rig, at) => {
          carryOut(rig, course[at]!);
        },
        observe: (rig) => rig.seen,
        before,
        after: course.length - before,
      });
    });
  });

  it('never use a number twice', () => {
    const rig = new RegistryRig();
    rig.first();
    rig.registry.clear();
    const next = rig.open();
    next.kept().restore(throughFile(rig.registry.kept().save()));
    expect(rig.first([one()], next).facts.id).to.equal(2);
  });

  it('end by the wall clock at their instant, also if it has passed meanwhile', () => {
    const rig = new RegistryRig();
    rig.first([{ protocol: 'modbus', kind: 'stall', durationS: 10 }]);
    const saved = throughFile(rig.registry.kept().save());
    rig.wall.advance(4000);
    const next = rig.open();
    next.kept().restore(saved);
    expect(next.remainingS(next.active[0]!)).to.equal(6);
    rig.timers.pass(6000);
    expect(next.ended.map(({ end }) => end)).to.deep.equal(['duration']);
    const late = rig.open();
    late.kept().restore(saved);
    rig.timers.pass(1);
    expect(late.active).to.deep.equal([]);
  });

  it('do not become longer by a wall clock that was set back', () => {
    const rig = new RegistryRig();
    rig.first([{ protocol: 'modbus', kind: 'stall', durationS: 10 }]);
    const saved = throughFile(rig.registry.kept().save());
    rig.wall.advance(-3_600_000);
    const next = rig.open();
    next.kept().restore(saved);
    expect(next.remainingS(next.active[0]!)).to.equal(10);
  });

  it('are dropped, with a line, where no device is left that they fit', () => {
    const rig = new RegistryRig();
    rig.registry.inject([one({ deviceIndex: 1 }), one({ group: [0, 1] }), one({ group: [1] }), one()], by);
    const saved = throughFile(rig.registry.kept().save());
    rig.devices = [0];
    rig.lines.length = 0;
    const next = rig.open();
    next.kept().restore(saved);
    expect(next.active.map(({ facts: { id }, groupSize }) => [id, groupSize])).to.deep.equal([
      [2, 1],
      [4, null],
    ]);
    expect(rig.lines[0]).to.match(/^fault 1 of the earlier process, modbus knock, is dropped: .*device 1/);
    expect(rig.lines[1]).to.match(
      /^fault 3 of the earlier process, modbus knock, is dropped: no device of its group is left$/,
    );
  });

  it('are dropped where this version has no such kind or no such parameters', () => {
    const rig = new RegistryRig();
    rig.registry.inject([one(), { protocol: 'device', kind: 'doze' }], by);
    const text = JSON.stringify(rig.registry.kept().save());
    const next = rig.open();
    next.kept().restore(JSON.parse(text.replace('"doze"', '"snooze"').replace('"code":4', '"code":77')));
    expect(next.active).to.deep.equal([]);
    expect(rig.lines.filter((line) => line.endsWith('this version does not have it'))).to.have.length(2);
  });

  it('are dropped where a check finds no device that they fit', () => {
    const rig = new RegistryRig();
    const saved = throughFile((rig.first(), rig.registry.kept().save()));
    const next = rig.open();
    next.define(next.kinds, () => {
      throw new Error('no such point');
    });
    next.kept().restore(saved);
    expect([next.active.length, rig.lines.at(-1)]).to.deep.equal([
      0,
      'fault 1 of the earlier process, modbus knock, is dropped: no such point',
    ]);
  });

  it('listeners that read the faults in force do so', () => {
    const rig = new RegistryRig();
    rig.first();
    const next = rig.open();
    let count = 0;
    next.onChange(() => {
      count = next.active.length;
    });
    next.kept().restore(throughFile(rig.registry.kept().save()));
    expect(count).to.equal(1);
  });
});
