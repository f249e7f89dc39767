/** Operations on the time of a fleet, as the gateway that leads carries them out. */
import { problemTable } from '../../core/http/problem.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import { SimError } from '../../core/errors.ts';
import { SimClock } from '../../core/time/sim-clock.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import type { SimTime, WallClock } from '../../core/time/clock.ts';
import { simStepS } from '../../contract/plant.ts';
import type { TimeNow } from '../../contract/plant.ts';
import type { ClockOwner } from '../../contract/scenarios.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import { checkClockHasNoOwner } from '../../api/common/clock-owner.ts';
import { camelCased } from '../../api/common/members.ts';
import { HttpProblem, invalid } from '../../api/http/errors.ts';
import { checkTimeChange, clock, stepBodySchema, stepResult, timeBodySchema, timeRoutes } from '../../api/time.ts';
import { BarrierError } from '../clock/barrier.ts';
import type { MemberFailure } from '../clock/barrier.ts';
import type { ClockKeeper, ClockOutcome } from '../clock/keeper.ts';
import { isPaused } from '../clock/record.ts';
import type { ClockRecord } from '../clock/record.ts';
import { FleetError } from '../link.ts';
import { lostShard } from './forward.ts';
import type { ForwardedReply, ShardPlace } from './forward.ts';
import type { LeadRequest } from './scenarios/operations.ts';
import type { ShardTick } from './tick-book.ts';

/** A request whose form is not checked yet. */
export type TimeRequest = Omit<LeadRequest, 'params'>;

/** The fleet as these operations see it. */
export interface TimedFleet {
  readonly keeper: Pick<ClockKeeper, 'record' | 'change' | 'step'>;
  /** in the order of their devices */
  readonly places: () => readonly ShardPlace[];
  readonly newest: (shard: string) => ShardTick | null;
  readonly wall: WallClock;
  /** the scenario that has the clock */
  readonly clockOwner: ClockOwner;
}

/** Status of a request that some shards have carried out, and others not. */
const partly = 207;
const codeOf: Readonly<Record<MemberFailure['kind'], ProblemCode>> = {
  silent: 'upstream-timeout',
  lost: 'shard-lost',
  refused: 'conflict',
};
const noShard = () => new HttpProblem('shard-lost', 'No shard has joined the fleet yet.');

function jsonReply(status: number, body: unknown): ForwardedReply {
  return { status, type: 'application/json', headers: {}, bytes: Buffer.from(JSON.stringify(body)) };
}

/** The refusal of a change or step of which nothing was done; other errors as they are. */
export function timeRefusal(error: unknown): unknown {
  if (error instanceof BarrierError) {
    const [first] = error.failed;
    return new HttpProblem(codeOf[first?.kind ?? 'refused'], `The fleet stands still: ${error.message}.`);
  }
  if (!(error instanceof FleetError)) return error;
  if (error.code === 'no-responder') return noShard();
  const reason = `The clock of the fleet cannot be reached: ${error.message}.`;
  return new HttpProblem(error.code === 'timeout' ? 'upstream-timeout' : 'fleet-offline', reason);
}

/** The time shown with a record, at the newest tick that has come. */
export function timeOf(record: ClockRecord, newest: readonly ShardTick[], wall: WallClock): TimeNow {
  const { mode, rate, timezone, tickS, changedBy, steppedBy, shiftMs } = record;
  const furthest = Math.max(...newest.map(({ head }) => head.tick), isPaused(record) ? record.tick0 : 0);
  const reached = newest.find(({ head }) => head.tick === furthest)?.head;
  const sim = (reached?.simUs ?? record.sim0Us) as SimTime;
  const shown = new SimClock(wall, { mode: 'paused', rate, timezone }, sim, shiftMs);
  const dateMs = mode === 'wall_clock' ? wall.nowMs() : shown.dateMs(sim);
  return {
    mode,
    rate,
    timezone,
    // the last tick before a start of the clock has none
    rateEffective: isPaused(record) ? 0 : Math.min(rate, ...newest.map(({ head }) => head.rateEffective || rate)),
    clockTime: shown.timeOfDate(dateMs),
    sim,
    dateMs,
    wallMs: wall.nowMs(),
    tick: reached?.tick ?? record.tick0,
    tickIntervalS: tickS,
    simStepS,
    changedBy,
    steppedBy,
  };
}

/** The time of a fleet at its newest ticks. @throws HttpProblem `shard-lost` */
export function fleetTime({ keeper, places, newest, wall }: TimedFleet): TimeNow {
  if (keeper.record === null) throw noShard();
  const live = places().filter(({ isLost }) => !isLost);
  return timeOf(
    keeper.record,
    live.flatMap(({ name }) => newest(name) ?? []),
    wall,
  );
}

export class TimeOperations {
  readonly #fleet: TimedFleet;

  constructor(fleet: TimedFleet) {
    this.#fleet = fleet;
  }

  /** @throws HttpProblem, SimError */
  async answer(request: TimeRequest): Promise<ForwardedReply> {
    const { operationId, query, body } = request;
    if (operationId === 'get_time') return jsonReply(200, this.#shown());
    // a request of another gateway comes over the wire
    timeRoutes.find((route) => route.operationId === operationId)?.check({ params: {}, query, body });
    checkClockHasNoOwner(this.#fleet);
    try {
      return await (operationId === 'set_time' ? this.#set(request) : this.#step(request));
    } catch (error) {
      throw timeRefusal(error);
    }
  }

  async #set({ body, by }: TimeRequest): Promise<ForwardedReply> {
    const change = timeBodySchema().parse(body);
    checkTimeChange(change, this.#record().mode);
    return this.#reply(await this.#fleet.keeper.change(camelCased(change), by), this.#shown());
  }

  async #step({ query, body, by }: TimeRequest): Promise<ForwardedReply> {
    const { ticks, until } = stepBodySchema().parse(body);
    const index = this.#selected(query['device']);
    const { keeper } = this.#fleet;
    const outcome =
      until === undefined
        ? await keeper.step({ ticks: ticks ?? 1 }, by)
        : await atUntil(keeper.step({ untilUs: this.#instantOf(until) }, by));
    const time = this.#now();
    const snapshot = index === null ? null : this.#snapshot(index);
    const shown = stepResult.reply({ snapshot }, { plant: { time, dateMs: datesOf(time) } });
    return this.#reply(outcome, shown);
  }

  #reply({ applied, failed }: ClockOutcome, reply: unknown): ForwardedReply {
    if (failed.length === 0) return jsonReply(200, reply);
    const places = new Map(this.#fleet.places().map((place) => [place.name, place]));
    return jsonReply(partly, {
      applied,
      failed: failed.map(({ shard, kind, reason }) => {
        const { first = null, count = null } = places.get(shard) ?? {};
        const code = codeOf[kind];
        return { shard, first, count, status: problemTable[code].status, code, detail: reason };
      }),
      reply,
    });
  }

  /** @throws HttpProblem `shard-lost` */
  #record(): ClockRecord {
    const { record } = this.#fleet.keeper;
    if (record === null) throw noShard();
    return record;
  }

  #now(): TimeNow {
    return fleetTime(this.#fleet);
  }

  #shown() {
    const time = this.#now();
    return clock.reply(time, { plant: { dateMs: datesOf(time) } });
  }

  /** The instant of a simulated date. Replies show the present one without microseconds. */
  #instantOf(untilMs: number): SimTime {
    const { sim, dateMs } = this.#now();
    return Math.floor(dateMs) === untilMs ? sim : simTimeFromMs(untilMs - this.#record().shiftMs);
  }

  /** The device of a reply; null: no shard has one. @throws HttpProblem `unknown-device`, `shard-lost` */
  #selected(device: unknown): number | null {
    const places = this.#fleet.places();
    if (device === undefined) return places.find(({ isLost }) => !isLost)?.first ?? null;
    const index = Number(device);
    const holder = places.find(({ first, room }) => index >= first && index < first + room);
    if (holder?.isLost) throw lostShard(holder);
    if (holder === undefined || this.#snapshot(index) === null)
      throw new HttpProblem('unknown-device', `There is no device ${index} in the fleet.`);
    return index;
  }

  /** The newest snapshot of a device; null: there is none. */
  #snapshot(device: number): Snapshot | null {
    const { places, newest } = this.#fleet;
    for (const { name } of places())
      for (const { index, json } of newest(name)?.parts ?? []) {
        const text = json[index.indexOf(device)];
        if (text !== undefined) return JSON.parse(text.toString()) as Snapshot;
      }
    return null;
  }
}

/** Dates of instants, as the clock shows them now. */
export const datesOf =
  ({ dateMs, sim }: TimeNow) =>
  (t: SimTime) =>
    dateMs + (t - sim) / 1000;

async function atUntil<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof SimError && error.code === 'COMMAND_BAD_VALUE') throw invalid('body', '/until', error.message);
    throw error;
  }
}
