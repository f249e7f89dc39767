import { expect } from 'chai';
import { joinFleet } from '../../../src/fleet/clock/join.ts';
import { BarrierError } from '../../../src/fleet/clock/barrier.ts';
import { changed, ClockKeeper } from '../../../src/fleet/clock/keeper.ts';
import { ClockMember } from '../../../src/fleet/clock/member.ts';
import { clockMessage, clockSubject, nowSubject } from '../../../src/fleet/clock/messages.ts';
import { clockKey, decodedRecord, encodedRecord, slotEndMs } from '../../../src/fleet/clock/record.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import type { WallClock } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { clockRecord, handTime, quietLog, SkewedWall } from '../support/clock.ts';

interface Shard {
  readonly shard: string;
  readonly plant: SimPlant;
  readonly member: ClockMember;
}

/** Shards of one PV each, with clocks of their own, and the keeper of their clock. */
async function rig(
  over: Partial<ClockRecord>,
  walls: readonly (readonly [offsetMs: number, ppm: number])[] = [[0, 0]],
) {
  const { wall, timers, settle, pass } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const leader = server.link();
  const record = clockRecord({ sim0Us: testPlant().now, wall0Ms: wall.ms, madeMs: wall.ms, ...over });
  await leader.shared.create(clockKey, encodedRecord(record));
  await leader.serve('now', nowSubject('lab'), () => Promise.resolve(clockMessage({ ms: wall.nowMs() })));
  const lost = new Map<string, AbortController>();
  const made: Shard[] = [];
  const add = async (shard: string, own: WallClock, tickS = record.tickS) => {
    const plant = testPlant({ wall: own, mode: record.mode, rate: record.rate, tickIntervalS: tickS });
    const link = server.link();
    const around = { wall: own, later: timers.later, log: quietLog, sent: () => Promise.resolve() };
    const member = new ClockMember({ link, prefix: 'lab', shard, epoch: () => 1, plant, record, ...around });
    await member.open();
    lost.set(shard, new AbortController());
    made.push({ shard, plant, member });
    return link;
  };
  const links = [];
  for (const [at, [offsetMs, ppm]] of walls.entries())
    links.push(await add(String.fromCharCode(97 + at), new SkewedWall(wall, offsetMs, ppm)));
  const noResponders: string[] = [];
  const leading = { isHere: true };
  const keeperOf = (pace: 'hold' | 'free' = 'hold', link = server.link()) => {
    const keeper = new ClockKeeper({
      link,
      prefix: 'lab',
      wall,
      nowMs: () => wall.nowMs(),
      shards: () => [...lost].map(([shard, { signal }]) => ({ shard, epoch: 1, lost: signal })),
      noResponder: (shard) => noResponders.push(shard),
      wait: () => Promise.resolve(),
      ticksCome: () => Promise.resolve(),
      pace,
      log: quietLog,
      leads: () => leading.isHere,
    });
    keeper.start();
    return keeper;
  };
  const keeper = keeperOf();
  await settle();
  /** Passes time until the work has ended. */
  const passUntil = async <T>(work: Promise<T>): Promise<T> => {
    const ended = { isDone: false };
    const end = () => {
      ended.isDone = true;
    };
    work.then(end, end);
    for (let at = 0; at < 200 && !ended.isDone; at += 1) await pass(100);
    return work;
  };
  const stored = () => decodedRecord(server.shared.get(clockKey)!.value);
  const begin = () => {
    for (const { member } of made) member.startTicks();
  };
  return {
    wall,
    server,
    record,
    made,
    lost,
    links,
    keeper,
    keeperOf,
    noResponders,
    leading,
    pass,
    settle,
    passUntil,
    stored,
    begin,
  };
}

/** The shards because of which nothing was done. */
const failedOf = (work: Promise<unknown>): Promise<BarrierError['failed']> =>
  work.then(
    () => [],
    (error: unknown) => {
      if (error instanceof BarrierError) return error.failed;
      throw error;
    },
  );

const isAt = ({ plant }: Shard) => [plant.time.mode, plant.time.rate, plant.latest.tick, plant.latest.sim];

describe('fleet/clock: changes of all shards', () => {
  it('come into force at the end of one slot', async () => {
    const { keeper, made, passUntil, begin, stored, pass } = await rig({}, [
      [0, 0],
      [40, 0],
    ]);
    begin();
    await pass(2000);
    const outcome = await passUntil(keeper.change({ rate: 30, clockTime: '06:00:00' }, byTest));
    expect(outcome).to.deep.equal({ applied: ['a', 'b'], failed: [] });
    const { tick0, sim0Us, changedBy } = stored();
    expect(tick0).to.equal(3);
    expect(changedBy).to.deep.include({ ...byTest, at: sim0Us });
    for (const shard of made) {
      expect(isAt(shard)).to.deep.equal(['accelerated', 30, 3, sim0Us]);
      expect(shard.plant.time.clockTime).to.equal('06:00:00');
    }
    const paused = await passUntil(keeper.change({ mode: 'paused' }, byTest));
    expect(paused.failed).to.deep.equal([]);
    expect(isAt(made[0]!)).to.deep.equal(isAt(made[1]!));
    expect(made[0]!.plant.time.mode).to.equal('paused');
  });

  it('are made by none where one refuses, which stands in the middle of a tick', async () => {
    const { keeper, made, stored, record } = await rig({ mode: 'paused' }, [
      [0, 0],
      [0, 0],
    ]);
    await made[1]!.plant.driven.begin(byTest);
    expect(await failedOf(keeper.change({ rate: 5 }, byTest))).to.deep.equal([
      { shard: 'b', kind: 'refused', reason: 'a step is under way' },
    ]);
    expect([stored().rate, made[0]!.plant.time.rate]).to.deep.equal([record.rate, record.rate]);
  });

  it('are refused by a shard that has run past their slot', async () => {
    const { server, begin, pass } = await rig({});
    begin();
    await pass(4600);
    const ask = (atTick: number) =>
      server
        .link()
        .request(clockSubject('lab', 'set', 'a'), clockMessage({ phase: 'prepare', term: 0, seq: 2, atTick }), 100);
    expect((await failureOf(ask(2))).message).to.contain('it has run tick 3, and the change is for tick 2');
    await ask(3);
  });

  it('ask a shard again that does not serve, and name it as lost', async () => {
    const { keeper, lost, noResponders } = await rig({ mode: 'paused' });
    lost.set('z', new AbortController());
    const failed = await failedOf(keeper.change({ rate: 5 }, byTest));
    expect(failed.map(({ shard, kind }) => [shard, kind])).to.deep.equal([['z', 'lost']]);
    expect(noResponders).to.deep.equal(['z', 'z']);
  });

  it('start a paused clock on a new grid at the instant of the furthest shard', async () => {
    const { keeper, made, begin, stored, pass, wall } = await rig({ mode: 'paused' }, [
      [0, 0],
      [0, 0],
    ]);
    begin();
    await made[1]!.plant.step(4);
    await keeper.change({ mode: 'accelerated' }, byTest);
    expect(stored()).to.include({ tick0: 4, sim0Us: made[1]!.plant.latest.sim, wall0Ms: wall.ms + 300 });
    await pass(2000);
    expect(isAt(made[0]!)).to.deep.equal(isAt(made[1]!));
    expect(made[0]!.plant.latest.tick).to.equal(5);
  });

  it('are not made, and no tick runs, by a gateway that has ceased to lead meanwhile', async () => {
    const { keeper, made, leading, begin, passUntil, stored, record } = await rig({ mode: 'paused' });
    begin();
    const { plant } = made[0]!;
    plant.onTick(({ tick }) => {
      leading.isHere = tick < 2;
    });
    const step = failureOf(keeper.step({ ticks: 9 }, byTest));
    const change = failureOf(passUntil(keeper.change({ rate: 5 }, byTest)));
    for (const { message } of [await step, await change]) expect(message).to.contain('no longer leads');
    expect([plant.latest.tick, stored().tick0, stored().rate]).to.deep.equal([2, 2, record.rate]);
  });

  it('keep the checks of one process', () => {
    const origin = { tick0: 0, wall0Ms: 0, sim0Us: clockRecord().sim0Us };
    expect(() => changed(clockRecord(), { rate: 1e6 }, origin)).to.throw('rate must be');
    expect(() => changed(clockRecord(), { timezone: 'Mars/Base' }, origin)).to.throw('Mars/Base');
    const follows = changed(clockRecord({ mode: 'wall_clock' }), { mode: 'paused' }, { ...origin, wall0Ms: 5e12 });
    expect(follows.shiftMs, 'dates go on').to.equal(5e12 - origin.sim0Us / 1000);
  });
});

describe('fleet/clock: steps by the leader', () => {
  it('bring all shards to one instant, which a new process starts at', async () => {
    const { keeper, made, stored } = await rig({ mode: 'paused' }, [
      [0, 0],
      [0, 0],
    ]);
    expect(await keeper.step({ ticks: 3 }, byTest)).to.deep.equal({ applied: ['a', 'b'], failed: [] });
    const [a, b] = made;
    expect(isAt(a!)).to.deep.equal(isAt(b!));
    const { tick0, sim0Us, steppedBy } = stored();
    expect([tick0, sim0Us]).to.deep.equal([3, a!.plant.latest.sim]);
    expect(steppedBy).to.include(byTest);
    await keeper.step({ untilUs: (sim0Us + 2e6) as typeof sim0Us }, byTest);
    expect([stored().tick0, stored().sim0Us]).to.deep.equal([5, sim0Us + 2e6]);
  });

  it('are refused while the clock runs, and for instants that have passed or are too far ahead', async () => {
    const { keeper, record, begin, passUntil } = await rig({ mode: 'paused' });
    begin();
    const at = (us: number) => ({ untilUs: (record.sim0Us + us) as typeof record.sim0Us });
    expect((await failureOf(keeper.step(at(-1), byTest))).message).to.contain('in the past');
    expect((await failureOf(keeper.step(at(2e11), byTest))).message).to.contain('allowed: up to 100000 ticks');
    await passUntil(keeper.change({ mode: 'accelerated' }, byTest));
    expect((await failureOf(keeper.step({ ticks: 1 }, byTest))).message).to.contain('stepping needs the clock paused');
  });

  it('end after the tick under way when the clock starts', async () => {
    const { keeper, begin, stored } = await rig({ mode: 'paused' });
    begin();
    const step = failureOf(keeper.step({ ticks: 1000 }, byTest));
    const change = keeper.change({ mode: 'accelerated' }, byTest);
    expect((await step).message).to.match(/the clock left the mode paused; \d ticks of the request have run/);
    await change;
    expect(stored().mode).to.equal('accelerated');
  });

  for (const [name, piece] of [
    ['between two ticks', null],
    ['in the middle of a tick', 5e5],
  ] as const)
    it(`of a gateway that is killed ${name} end at one instant with the next leader`, async () => {
      const { server, keeperOf, made, record, settle, stored } = await rig({ mode: 'paused' }, [
        [0, 0],
        [0, 0],
      ]);
      const link = server.link();
      const killed = keeperOf('hold', link);
      await settle();
      const kill = () => link.set('offline');
      const { plant } = made[0]!;
      if (piece === null) plant.onTick(({ tick }) => tick === 2 && kill());
      else plant.at((record.sim0Us + 3e6 + piece) as typeof record.sim0Us, kill);
      await failureOf(killed.step({ ticks: 9 }, byTest));
      const reached = made.map((shard) => shard.plant.latest.tick);
      expect(Math.max(...reached), 'the request was under way').to.be.within(2, 3);
      const next = keeperOf();
      await settle();
      expect((await next.step({ ticks: 1 }, byTest)).applied).to.deep.equal(['a', 'b']);
      expect(isAt(made[0]!)).to.deep.equal(isAt(made[1]!));
      expect(made.map((shard) => shard.plant.driven.isOpen)).to.deep.equal([false, false]);
      expect(stored().tick0).to.equal(made[0]!.plant.latest.tick);
    });

  type Cut = (plant: SimPlant, cut: () => void) => unknown;
  const cuts: readonly (readonly [string, Cut, number])[] = [
    ['between begin and piece', (plant, cut) => plant.at(plant.now, cut), 1],
    ['between two pieces', (plant, cut) => plant.at((plant.now + 5e5) as typeof plant.now, cut), 1],
    ['after the last piece', (plant, cut) => plant.onTick(({ tick }) => tick === 1 && cut()), 2],
  ];
  for (const [name, plan, failedIn] of cuts)
    it(`name a shard that is cut off ${name}, and bring it to the others once it is back`, async () => {
      const { keeper, made, links, noResponders } = await rig({ mode: 'paused' }, [
        [0, 0],
        [0, 0],
        [0, 0],
      ]);
      plan(made[1]!.plant, () => links[1]!.set('offline'));
      for (let step = 1; step <= failedIn; step += 1) {
        const { applied, failed } = await keeper.step({ ticks: 1 }, byTest);
        if (step < failedIn) expect(failed).to.deep.equal([]);
        else
          expect([applied, failed.map(({ shard, kind }) => [shard, kind])]).to.deep.equal([
            ['a', 'c'],
            [['b', 'lost']],
          ]);
      }
      expect(noResponders).to.deep.equal(['b', 'b']);
      links[1]!.set('connected');
      const { applied, failed } = await keeper.step({ ticks: 1 }, byTest);
      expect([applied, failed]).to.deep.equal([['a', 'b', 'c'], []]);
      for (const shard of made) expect(isAt(shard)).to.deep.equal(isAt(made[0]!));
      expect(made.some(({ plant }) => plant.driven.isOpen)).to.equal(false);
    });

  it('of an earlier leader are refused once another one leads', async () => {
    const { keeper, keeperOf, settle } = await rig({ mode: 'paused' });
    await keeper.step({ ticks: 1 }, byTest);
    const next = keeperOf();
    await settle();
    await next.step({ ticks: 1 }, byTest);
    expect((await failureOf(keeper.step({ ticks: 1 }, byTest))).message).to.contain('of an earlier leader');
  });
});

describe('fleet/clock: free run of several machines', () => {
  it('waits for a shard that was in time and is late, unless it must not', async () => {
    const { keeper, keeperOf, wall, record, stored, settle } = await rig({});
    const free = keeperOf('free');
    await settle();
    const sent = (session: string, ageMs = 0) => ({ session, tick: 0, wallMs: wall.ms - 700 - ageMs });
    await keeper.follow(sent('s'));
    wall.advance(3 * 1500);
    await free.follow(sent('s'));
    await keeper.follow(sent('late from its start'));
    // the message has waited here, where the gateway stood still
    await keeper.follow(sent('s', 3 * 1500));
    expect(stored().seq).to.equal(record.seq);
    await keeper.follow(sent('s'));
    expect(slotEndMs(stored(), 0)).to.equal(record.wall0Ms + 3 * 1500);
    await keeper.follow(sent('s'));
    expect(stored().seq, 'the shard is in time again').to.equal(record.seq + 1);
    keeper.lose('s');
    wall.advance(5 * 1500);
    await keeper.follow(sent('s'));
    expect(stored().seq, 'it was lost, and catches up').to.equal(record.seq + 1);
  });
});

describe('fleet/clock: a process that joins', () => {
  const join = async (
    server: MemoryServer,
    nowMs: number,
    profiles: Readonly<Record<string, number>> = {},
    fleet = 'new',
  ) => {
    const first = () => clockRecord({ fleet, madeMs: nowMs, wall0Ms: nowMs });
    return joinFleet({ link: server.link(), first, profiles: new Map(Object.entries(profiles)), nowMs: () => nowMs });
  };

  it('begins the fleet, or takes its instant over while one of its shards lives', async () => {
    let ms = 0;
    const server = new MemoryServer(() => ms);
    ms = 60_000;
    expect((await join(server, ms, {}, 'one')).record.fleet).to.equal('one');
    expect((await join(server, ms + 1000, {}, 'two')).record.fleet, 'shards start together').to.equal('one');
    await server.link().leases.create('shard.a', Buffer.from('{}'));
    const roster = { entries: [{ shard: 'a', first: 0, room: 1, session: 's' }] };
    await server.link().shared.create('roster', Buffer.from(JSON.stringify(roster)));
    ms += 3500;
    const later = await join(server, 60_000 + 30_000, {}, 'three');
    expect([later.record.fleet, later.tick]).to.deep.equal(['one', 20]);
    ms += 1000;
    expect((await join(server, 60_000 + 30_000, {}, 'four')).record.fleet, 'no lease any more').to.equal('four');
  });

  it('shares the first device of each profile with the others, and not with a former fleet', async () => {
    const server = new MemoryServer();
    const anchors = async (...args: Parameters<typeof join>) => Object.fromEntries((await join(...args)).anchors);
    expect(await anchors(server, 0, { pv: 4, wind: 6 })).to.deep.equal({ pv: 4, wind: 6 });
    expect(await anchors(server, 0, { pv: 2, battery: 3 })).to.deep.equal({ pv: 2, wind: 6, battery: 3 });
    await server
      .link()
      .shared.update(
        'anchors',
        Buffer.from('{"fleet":"old","indexes":{"pv":0}}'),
        server.shared.get('anchors')!.revision,
      );
    expect(await anchors(server, 0, { pv: 9 })).to.deep.equal({ pv: 9 });
  });
});
