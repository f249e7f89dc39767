/** The overview of a fleet: the parts of those of its shards, which clients share for a moment. */
import type { CommReply } from '../../api/devices.ts';
import { alarmSeverities } from '../../api/devices.ts';
import { commNames } from '../../core/adapter.ts';
import { describeError, HttpProblem } from '../../api/http/errors.ts';
import type { ForwardedReply, ShardPlace } from './forward.ts';
import { missingOf } from './lists.ts';
import type { MissingShard } from '../../api/fleet/members.ts';

/** Devices and alarms that an overview lists at most. */
export const maxListed = 1000;
/** Age up to which parts are shared, ms. */
const sharedMs = 500;

interface Alarms {
  readonly active_count: number;
  readonly highest_severity: (typeof alarmSeverities)[number] | null;
  readonly active: readonly unknown[];
  readonly latched_count: number;
}

/** The overview of a shard; its further members are those of a snapshot. */
interface ShardOverview {
  readonly devices: readonly unknown[];
  readonly comm_status: Readonly<Record<string, CommReply>>;
  readonly devices_total: number;
  readonly devices_truncated: boolean;
  readonly alarms: Alarms;
}

/** Entries of `devices` in an answer. */
export interface Listing {
  /** entries at most; undefined: as many as a gateway lists */
  readonly limit: number | undefined;
  /** only devices with a higher index; -1: all */
  readonly after: number;
}

interface Shared {
  readonly limit: number;
  readonly after: number;
  readonly madeMs: number;
  readonly work: Promise<{ readonly shown: object; readonly snapshot: object; readonly alarms: Alarms }>;
}

/** Asks a shard for an overview. @throws HttpProblem */
export type AskOverview = (shard: ShardPlace, query: string) => Promise<ForwardedReply>;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function joinAlarms(all: readonly Alarms[]): Alarms {
  const present = new Set(all.map(({ highest_severity: severity }) => severity));
  return {
    active_count: sum(all.map(({ active_count: count }) => count)),
    highest_severity: alarmSeverities.findLast((severity) => present.has(severity)) ?? null,
    active: all.flatMap(({ active }) => active).slice(0, maxListed),
    latched_count: sum(all.map(({ latched_count: count }) => count)),
  };
}

/** A protocol in several processes shows as one, as several servers of one process do. */
function joinComm(all: readonly CommReply[]): CommReply | undefined {
  const shown = all.find(({ state }) => state === 'error') ?? all.find(({ enabled }) => enabled) ?? all[0];
  if (shown === undefined) return undefined;
  const total = (pick: (each: CommReply) => number) => sum(all.map(pick));
  const newest = all.toSorted((a, b) => (b.last_error_at ?? '').localeCompare(a.last_error_at ?? ''))[0] ?? shown;
  return {
    ...shown,
    enabled: all.some(({ enabled }) => enabled),
    peers: total(({ peers }) => peers),
    last_activity:
      all
        .flatMap(({ last_activity: at }) => at ?? [])
        .sort()
        .at(-1) ?? null,
    rx_count: total(({ rx_count: count }) => count),
    tx_count: total(({ tx_count: count }) => count),
    error_count: total(({ error_count: count }) => count),
    last_error: newest.last_error,
    last_error_at: newest.last_error_at,
  };
}

const joinStatus = (all: readonly ShardOverview['comm_status'][]) =>
  Object.fromEntries(commNames.map((name) => [name, joinComm(all.flatMap((status) => status[name] ?? []))]));

function readOverview({ bytes }: ForwardedReply): { readonly rest: ShardOverview; readonly snapshot: object } {
  const overview = JSON.parse(bytes.toString()) as ShardOverview;
  const { devices, comm_status, devices_total, devices_truncated, alarms, ...snapshot } = overview;
  return { rest: { devices, comm_status, devices_total, devices_truncated, alarms }, snapshot };
}

export class FleetOverview {
  readonly #shards: () => readonly ShardPlace[];
  readonly #nowMs: () => number;
  #shared: Shared | null = null;

  /** @param nowMs monotonic */
  constructor(shards: () => readonly ShardPlace[], nowMs: () => number) {
    this.#shards = shards;
    this.#nowMs = nowMs;
  }

  /**
   * @param holder shard of the device of the request; null: the first device that a living shard has
   * @returns the answer, or the refusal of the shard
   */
  async answer(
    ask: AskOverview,
    { limit, after }: Listing,
    selected: { readonly holder: ShardPlace; readonly device: number } | null,
  ): Promise<ForwardedReply> {
    const single = selected && (await ask(selected.holder, `device=${selected.device}&limit=0`));
    if (single !== null && single.status !== 200) return single;
    const { shown, snapshot, alarms } = await this.#parts(ask, Math.min(limit ?? maxListed, maxListed), after);
    const ofDevice = single && readOverview(single);
    const body = { ...(ofDevice?.snapshot ?? snapshot), ...shown, alarms: ofDevice?.rest.alarms ?? alarms };
    return { status: 200, type: 'application/json', headers: {}, bytes: Buffer.from(JSON.stringify(body)) };
  }

  #parts(ask: AskOverview, limit: number, after: number): Shared['work'] {
    const nowMs = this.#nowMs();
    const shared = this.#shared;
    if (shared?.limit === limit && shared.after === after && nowMs - shared.madeMs < sharedMs) return shared.work;
    const work = this.#join(ask, limit, after);
    this.#shared = { limit, after, madeMs: nowMs, work };
    // a refusal is not shared: the next request asks again
    work.catch(() => (this.#shared = null));
    return work;
  }

  async #join(ask: AskOverview, limit: number, after: number): Shared['work'] {
    const shards = this.#shards();
    const missing: MissingShard[] = [];
    let before = 0;
    const errors: Error[] = [];
    const asked = await Promise.all(
      shards.map(async (shard) => {
        const follows = shard.first + shard.room - 1 > after;
        const left = follows ? Math.max(0, limit - before) : 0;
        // a shard that `after` cuts may list less: the rest is read, and cut off
        before += shard.isLost || shard.first <= after ? 0 : shard.count;
        try {
          const reply = await ask(shard, `limit=${left}${follows && after >= shard.first ? `&after=${after}` : ''}`);
          if (reply.status === 200) return readOverview(reply);
          missing.push(missingOf(shard, 'upstream-error'));
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          errors.push(error);
          missing.push(missingOf(shard, describeError(error).code));
        }
        return null;
      }),
    );
    const present = asked.filter((each) => each !== null);
    const [first] = present;
    if (first === undefined) throw errors[0] ?? new HttpProblem('shard-lost', 'No shard has joined the fleet yet.');
    const following = present.flatMap(({ rest }) => rest.devices);
    const devices = following.slice(0, limit);
    const isCut =
      devices.length < following.length ||
      asked.some(
        (each, at) => each?.rest.devices_truncated && (shards[at]?.first ?? 0) + (shards[at]?.room ?? 0) - 1 > after,
      );
    const total = sum(present.map(({ rest }) => rest.devices_total));
    return {
      snapshot: first.snapshot,
      alarms: joinAlarms(present.map(({ rest }) => rest.alarms)),
      shown: {
        devices,
        comm_status: joinStatus(present.map(({ rest }) => rest.comm_status)),
        devices_total: total,
        devices_truncated: isCut,
        missing: missing.sort((a, b) => a.first - b.first),
      },
    };
  }
}
