import { expect } from 'chai';
import { addSeconds, secondsBetween } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { Barrier, BarrierError, nextCut } from '../../../src/fleet/clock/barrier.ts';
import type { StepSharing, TickOutcome } from '../../../src/fleet/clock/barrier.ts';
import type { Standing } from '../../../src/fleet/clock/messages.ts';
import { SteppedTicks } from '../../../src/fleet/clock/stepped.ts';
import type { FleetFault } from '../../../src/fleet/link.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { FleetClaims, FleetLimits, LedPiece } from '../../../src/contract/fleet-site.ts';
import type { SitePatch } from '../../../src/contract/site.ts';
import { FleetAllocation } from '../../../src/der/site/fleet-allocation.ts';
import { failureOf } from '../../support/client.ts';
import { pick } from '../../support/depth.ts';
import { byTest } from '../../support/rig.ts';
import { fleetDevices, shardsOf, shownBy } from '../../support/shards.ts';
import { steppedShards } from '../support/stepped.ts';

const kinds = ['PV-3Phase', 'Batt-3Phase', 'EVSE', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase'] as const;
const options = { time: '08:30:00', spreadPct: 1 } as const;
const request = { endUs: (begin: SimTime) => addSeconds(begin, 1.5), by: byTest };
const pvFleet = (sizes: readonly number[]) =>
  steppedShards(shardsOf(fleetDevices(Array.from({ length: 3 }, () => 'PV-3Phase')), sizes, options));

/** The same acts in a plant that has all devices, or a part of them. */
function plan(plant: SimPlant): void {
  const { devices, now } = plant;
  const has = (index: number) => devices.some((device) => device.index === index);
  if (has(0)) plant.setSite({ export: 4000 }, byTest, { devices: [0] });
  if (has(3))
    plant.at(addSeconds(now, 2.2), () => {
      plant.setGrid({ voltagePu: 1.04 }, 3, byTest);
    });
  if (has(1)) plant.at(addSeconds(now, 3), () => plant.commands.submit({ command: 'stop', deviceIndex: 1 }, byTest));
  // an act that brings a further one forward inside the tick
  if (has(5))
    plant.at(addSeconds(now, 4), () => {
      plant.at(addSeconds(now, 4.25), () => {
        plant.setGrid({ voltagePu: 0.97 }, 5, byTest);
      });
    });
}

/** Limits and loads inside the shards, also of all devices of one that has three. */
function planLimits(plant: SimPlant): void {
  plan(plant);
  const has = (index: number) => plant.devices.some((device) => device.index === index);
  if (has(1)) plant.setSurroundings({ loadKw: 2.5 }, 1, byTest);
  if (has(4)) plant.setSurroundings({ loadKw: 0.8 }, 4, byTest);
  if (has(4)) plant.setSite({ generation: 9000 }, byTest, { devices: [4, 5] });
  if (has(2))
    plant.at(addSeconds(plant.now, 5.3), () => {
      plant.setSurroundings({ loadKw: 4 }, 2, byTest);
    });
}

/** Limits of the whole fleet, one after the other. */
const fleetLimits: readonly SitePatch[] = [
  { export: 3000, load: 2000 },
  { export: 0, import: 0, load: null },
  { export: null, import: 500, generation: 8000 },
  { export: null, import: null, generation: null, load: null },
];

/** Limits of the fleet as the leader has them. */
class TestSharing implements StepSharing {
  readonly #allocation = new FleetAllocation();
  #limits: FleetLimits = { export: null, import: null, generation: null, load: null };
  #revision = 0;

  set(patch: SitePatch): void {
    this.#revision += 1;
    const limits = Object.entries(patch).map(([name, limitW]) => [
      name,
      limitW === null ? null : { limitW, owner: 'rest' },
    ]);
    this.#limits = { ...this.#limits, ...(Object.fromEntries(limits) as Partial<FleetLimits>) };
  }

  get isLimited(): boolean {
    return Object.values(this.#limits).some((limit) => limit !== null);
  }

  share(claims: readonly FleetClaims[], endUs: SimTime): readonly LedPiece[] {
    const shares = this.#allocation.share(claims, this.#limits, this.#revision, endUs);
    return claims.map((_, i) => ({ limits: this.#limits, endUs, shares: shares?.[i] ?? null }));
  }
}

describe('fleet/clock: the barrier', () => {
  it('shards show what one process shows, bit by bit, for all kinds, acts and limits', async () => {
    const ticks = pick({ quick: 12, ci: 40, full: 200 });
    const devices = fleetDevices(kinds);
    const [whole] = shardsOf(devices, [6], options);
    const split = [
      [3, 3],
      [2, 2, 2],
    ].map((sizes) => steppedShards(shardsOf(devices, sizes, options)));
    for (const plant of [whole!, ...split.flat().map((shard) => shard.plant)]) plan(plant);
    await whole!.step(ticks, byTest);
    for (const shards of split) {
      const barrier = new Barrier(1);
      let outcome: TickOutcome | null = null;
      for (let tick = 0; tick < ticks; tick += 1)
        outcome = await barrier.tick(shards, { ...request, by: tick === 0 ? byTest : null });
      expect(outcome).to.deep.include({ tick: ticks, simUs: whole!.now, failed: [] });
      const plants = shards.map(({ plant }) => plant);
      expect(shownBy(plants)).to.deep.equal(shownBy([whole!]));
      for (const { time } of plants) expect(time).to.deep.equal(whole!.time);
    }
  });

  it('shares limits of the whole fleet as one process shares them, bit by bit, with limits inside the shards', async () => {
    const ticks = pick({ quick: 8, ci: 24, full: 120 });
    const devices = fleetDevices(kinds);
    const [whole] = shardsOf(devices, [6], options);
    const split = [
      [3, 3],
      [2, 2, 2],
    ].map((sizes) => {
      const shards = steppedShards(shardsOf(devices, sizes, options));
      return { shards, barrier: new Barrier(1), sharing: new TestSharing() };
    });
    for (const plant of [whole!, ...split.flatMap(({ shards }) => shards.map((shard) => shard.plant))])
      planLimits(plant);
    const cuts = (plants: readonly SimPlant[]) =>
      plants.flatMap((plant) => plant.devices.map(({ index }) => plant.siteCut(index)));
    const cutNames = new Set<string | undefined>();
    for (let tick = 0; tick < ticks; tick += 1) {
      const patch = fleetLimits[Math.floor((tick * fleetLimits.length) / ticks)]!;
      whole!.setSite(patch, byTest);
      await whole!.step(1, byTest);
      for (const { shards, barrier, sharing } of split) {
        sharing.set(patch);
        await barrier.tick(shards, { ...request, by: byTest, sharing });
        const plants = shards.map(({ plant }) => plant);
        expect(shownBy(plants), `tick ${tick}`).to.deep.equal(shownBy([whole!]));
        expect(cuts(plants), `tick ${tick}`).to.deep.equal(cuts([whole!]));
      }
      for (const cut of cuts([whole!])) cutNames.add(cut?.devices === null ? cut.limit : undefined);
    }
    expect([...cutNames], 'the limits have acted').to.include.members(['export', 'import', 'generation']);
  });

  const standing = (of: Partial<Standing>): Standing => ({
    step: 1,
    atUs: 0 as SimTime,
    tick: 0,
    isOpen: true,
    isResumed: false,
    dueUs: null,
    sharingUs: 10,
    isLimited: false,
    ...of,
  });
  const cuts: readonly (readonly [string, readonly Partial<Standing>[], number])[] = [
    ['the end of the tick', [{}, { dueUs: 200 }], 100],
    ['the earliest act of any shard', [{ dueUs: 50 }, { dueUs: 30 }], 30],
    ['the sharing of every shard, where one has limits', [{ isLimited: true, dueUs: 40 }, { sharingUs: 7 }], 7],
    ['no sharing without limits', [{ sharingUs: 7 }, {}], 100],
    ['no instant that has passed', [{ dueUs: 0 }, { dueUs: -5 }], 100],
  ];
  for (const [name, standings, at] of cuts)
    it(`the next piece ends at ${name}`, () => {
      expect(nextCut(standings.map(standing), 0 as SimTime, 100 as SimTime)).to.equal(at);
    });

  it('a repeated message of one step gives the stored answer, and does nothing', async () => {
    const [plant] = shardsOf(fleetDevices(['PV-3Phase']), [1], options);
    const ticks = new SteppedTicks({ plant: plant!, sent: () => Promise.resolve() });
    const toUs = addSeconds(plant!.now, 1.5);
    await ticks.prepare({ term: 1, step: 1, by: byTest });
    const first = await ticks.go({ term: 1, step: 2, toUs, tick: 1 });
    const { latest } = plant!;
    expect(await ticks.go({ term: 1, step: 2, toUs, tick: 1 })).to.equal(first);
    expect(plant!.latest).to.equal(latest);
  });

  it('older steps, another message of the same step, and earlier leaders are refused', async () => {
    const [plant] = shardsOf(fleetDevices(['PV-3Phase']), [1], options);
    const ticks = new SteppedTicks({ plant: plant!, sent: () => Promise.resolve() });
    const toUs = addSeconds(plant!.now, 1.5);
    await ticks.prepare({ term: 2, step: 5, by: byTest });
    const refusals = [
      ticks.go({ term: 2, step: 4, toUs, tick: 1 }),
      ticks.go({ term: 2, step: 5, toUs, tick: 1 }),
      ticks.go({ term: 1, step: 9, toUs, tick: 1 }),
    ].map(async (work) => (await failureOf(work)).message);
    expect(await Promise.all(refusals)).to.deep.equal([
      'the message is older, the last one was 5',
      'the message is same, the last one was 5',
      'the message is of an earlier leader, the last one was 5',
    ]);
    expect((await ticks.go({ term: 3, step: 1, toUs, tick: 1 })).tick, 'a new leader goes on').to.equal(1);
  });

  it('a refused begin advances nothing, and the next step works', async () => {
    const shards = pvFleet([1, 1, 1]);
    const barrier = new Barrier(1);
    const begin = shards[0]!.plant.now;
    shards[1]!.plant.setTime({ mode: 'accelerated' }, byTest);
    const failure = await barrier.tick(shards, request).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(BarrierError);
    expect((failure as BarrierError).message).to.contain('shard "b": the clock runs');
    for (const { plant } of shards) expect([plant.latest.sim, plant.driven.isOpen]).to.deep.equal([begin, false]);
    shards[1]!.plant.setTime({ mode: 'paused' }, byTest);
    expect(await barrier.tick(shards, request)).to.deep.include({ tick: 1, failed: [] });
  });

  const deaths: readonly (readonly [string, 'prepare' | 'go', FleetFault, boolean])[] = [
    ['is silent before it has carried out a piece', 'go', 'timeout', false],
    ['is silent after it has carried out a piece', 'go', 'timeout', true],
    ['is silent at the begin', 'prepare', 'timeout', true],
    ['is lost between begin and piece', 'go', 'no-responder', false],
    ['is lost after the piece', 'go', 'no-responder', true],
  ];
  for (const [name, verb, code, isDone] of deaths)
    it(`no shard is ahead of another after the next step where one ${name}`, async () => {
      const shards = pvFleet([1, 1, 1]);
      for (const { plant } of shards) plant.at(addSeconds(plant.now, 0.4), () => undefined);
      const begin = shards[0]!.plant.now;
      const barrier = new Barrier(1);
      await barrier.tick(shards, request);
      shards[2]!.fail(verb, code, isDone);
      const outcome = await barrier.tick(shards, request).catch((error: unknown) => error);
      if (code === 'timeout') expect(outcome).to.be.instanceOf(BarrierError);
      else {
        expect(outcome).to.deep.include({ reached: ['a', 'b'], tick: 2 });
        expect((outcome as TickOutcome).failed).to.deep.equal([
          { shard: 'c', kind: 'lost', reason: 'planned: no-responder' },
        ]);
      }
      const after = await barrier.tick(shards, request);
      expect(after.failed).to.deep.equal([]);
      const [first] = shards;
      for (const { plant } of shards) {
        expect(plant.latest.sim).to.equal(first!.plant.latest.sim);
        expect(plant.latest.tick).to.equal(first!.plant.latest.tick);
        expect(plant.driven.isOpen).to.equal(false);
      }
      expect(secondsBetween(begin, after.simUs) % 0.5, 'ticks are not torn').to.equal(0);
    });

  it('a tick that a former leader has begun is ended, and the next one has its own client', async () => {
    const shards = pvFleet([1, 2]);
    for (const each of shards) await each.prepare({ term: 1, step: 1, by: { source: 'scenario', peer: 'gone' } });
    expect(await new Barrier(2).tick(shards, request)).to.deep.include({ failed: [], reached: ['a', 'b'] });
    for (const { plant } of shards) expect(plant.time.steppedBy).to.include(byTest);
  });

  it('a tick that would end where it begins is none, and leaves no shard in the middle of one', async () => {
    const shards = pvFleet([1, 2]);
    const before = shards.map(({ plant }) => plant.latest);
    const outcome = await new Barrier(1).tick(shards, { endUs: (begin) => begin, by: byTest });
    expect(outcome).to.deep.include({ tick: 0, simUs: before[0]!.sim, reached: ['a', 'b'] });
    expect(shards.map(({ plant }) => plant.latest)).to.deep.equal(before);
    expect(shards.some(({ plant }) => plant.driven.isOpen)).to.equal(false);
  });

  it('a new process of a shard is brought to the instant of the others', async () => {
    const [a, b] = pvFleet([1, 2]);
    const barrier = new Barrier(1);
    for (let tick = 0; tick < 4; tick += 1) await barrier.tick([a!], request);
    const outcome = await barrier.tick([a!, b!], request);
    expect(outcome).to.deep.include({ tick: 5, reached: ['a', 'b'], simUs: a!.plant.now });
    expect(b!.plant.now).to.equal(a!.plant.now);
    expect(b!.plant.latest.tick).to.equal(5);
  });
});
