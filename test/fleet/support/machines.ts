/** Shards on machines whose clocks differ, in free run by the record of their fleet; a leader may tell them its time. */
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { ClockMember } from '../../../src/fleet/clock/member.ts';
import { clockMessage, nowSubject } from '../../../src/fleet/clock/messages.ts';
import { clockKey, encodedRecord } from '../../../src/fleet/clock/record.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import type { Stop } from '../../../src/fleet/link.ts';
import { testPlant } from '../../support/plant.ts';
import { clockRecord, handTime, quietLog, SkewedWall } from './clock.ts';
import { MemoryServer } from './memory-link.ts';

/** Ways of a question to the leader and of its answer, ms. */
const tripMs = 2;

/** Difference to the clock of the leader at the start, and how much faster the clock of a machine runs. */
export interface Skew {
  readonly offsetMs: number;
  readonly ppm: number;
}

interface Machine {
  readonly plant: SimPlant;
  readonly member: ClockMember;
  /** numbers of its ticks in their order, with the true time at which each one ended, ms */
  readonly ticks: { readonly tick: number; readonly ms: number }[];
}

export async function machines(over: Partial<ClockRecord>, skews: readonly Skew[]) {
  const { wall, timers, settle } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const record = clockRecord({ sim0Us: testPlant().now, wall0Ms: wall.ms, madeMs: wall.ms, ...over });
  const leader = server.link();
  await leader.shared.create(clockKey, encodedRecord(record));
  const { mode, rate, tickS: tickIntervalS } = record;
  const made = skews.map(({ offsetMs, ppm }, at): Machine => {
    const own = new SkewedWall(wall, offsetMs, ppm);
    const plant = testPlant({ wall: own, mode, rate, tickIntervalS });
    const around = { wall: own, later: own.timersOf(timers), log: quietLog, sent: () => Promise.resolve() };
    const member = new ClockMember({
      link: server.link(),
      prefix: 'lab',
      shard: `s${at}`,
      epoch: () => 1,
      plant,
      record,
      ...around,
    });
    const ticks: Machine['ticks'] = [];
    plant.onTick(({ tick }) => ticks.push({ tick, ms: wall.ms }));
    return { plant, member, ticks };
  });
  /** greatest differences between two machines at one instant: ticks that have ended, and the time shown in ticks */
  const apart = { ticks: 0, shown: 0 };
  const compare = () => {
    const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
    apart.ticks = Math.max(apart.ticks, spread(made.map(({ plant }) => plant.latest.tick)));
    const tickUs = rate * tickIntervalS * 1e6;
    apart.shown = Math.max(apart.shown, spread(made.map(({ plant }) => plant.time.sim)) / tickUs);
  };
  /** Passes time from timer to timer, and compares the machines at each of them. */
  const pass = async (ms: number) => {
    await settle();
    for (const endMs = wall.ms + ms; wall.ms < endMs; ) {
      timers.pass(Math.min(timers.nextMs, endMs - wall.ms));
      await settle();
      compare();
    }
  };
  /** Makes a leader whose clock is so far ahead. @returns ends it */
  const lead = (aheadMs = 0): Promise<Stop> =>
    leader.serve('now', nowSubject('lab'), async () => {
      await new Promise<void>((resolve) => timers.later(tripMs, resolve));
      return clockMessage({ ms: wall.ms + aheadMs });
    });
  const open = async (...which: readonly Machine[]) => {
    const opening = Promise.all(which.map(({ member }) => member.open()));
    await pass(100);
    await opening;
    for (const { member } of which) member.startTicks();
  };
  const end = async () => {
    for (const { member } of made) {
      member.close();
      await member.stopTicks();
    }
  };
  /** greatest true time between the ends of one tick in two machines, ms; from a tick on */
  const spreadMs = (from = 0) => {
    const ended = new Map<number, number[]>();
    for (const { tick, ms } of made.flatMap(({ ticks }) => ticks))
      if (tick >= from) ended.set(tick, [...(ended.get(tick) ?? []), ms]);
    return Math.max(...[...ended.values()].map((times) => Math.max(...times) - Math.min(...times)));
  };
  return { wall, record, made, apart, pass, lead, open, end, spreadMs };
}
