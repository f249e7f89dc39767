/** Devices and clock of a fleet as a scenario uses them, at the end of one tick of all shards. */
import type { TickGuide } from '../../../contract/plant.ts';
import type { Snapshot } from '../../../contract/snapshot.ts';
import { errorText, SimError } from '../../../core/errors.ts';
import type { Listeners } from '../../../core/listeners.ts';
import type { Origin } from '../../../core/origin.ts';
import { simTimeFromMs } from '../../../core/time/clock.ts';
import type { SimTime, WallClock } from '../../../core/time/clock.ts';
import type { LaidOutPlant } from '../../../scenario/file/layout.ts';
import type { ScenarioPlant } from '../../../scenario/run/host.ts';
import type { ClockKeeper } from '../../clock/keeper.ts';
import { isPaused, tickUsOf } from '../../clock/record.ts';
import type { ClockRecord } from '../../clock/record.ts';
import type { Stop } from '../../link.ts';
import type { ShardPlace } from '../forward.ts';
import type { ShardTick } from '../tick-book.ts';
import type { FleetDevice, FleetDevices } from './devices.ts';

/** The shards as a scenario follows them. */
export interface FollowedShards {
  places(): readonly ShardPlace[];
  newest(shard: string): ShardTick | null;
  onTick(listener: (tick: ShardTick) => void): Stop;
  /** Calls the listener with the name of each shard that is lost or leaves. */
  onLost(listener: (shard: string) => void): Stop;
}

export interface FleetPlantParts {
  readonly shards: FollowedShards;
  readonly keeper: Pick<ClockKeeper, 'record' | 'step'>;
  readonly wall: WallClock;
  readonly devices: FleetDevices;
  readonly ticks: Listeners<[{ readonly sim: SimTime }]>;
}

/** A snapshot that is parsed at its first use. */
class LateSnapshot {
  readonly #json: Buffer;
  #value: Snapshot | null = null;

  constructor(json: Buffer) {
    this.#json = json;
  }

  get snapshot(): Snapshot {
    return (this.#value ??= JSON.parse(this.#json.toString()) as Snapshot);
  }
}

/** Snapshots of all living shards in the order of their devices. */
function publishedBy(shards: FollowedShards): readonly LateSnapshot[] {
  const live = shards.places().filter(({ isLost }) => !isLost);
  return live.flatMap(({ name }) =>
    (shards.newest(name)?.parts ?? []).flatMap(({ json }) => json.map((text) => new LateSnapshot(text))),
  );
}

/** The instant that all living shards have reached: that of the one furthest behind. */
function reachedBy(shards: FollowedShards): { readonly tick: number; readonly sim: SimTime } | null {
  const heads = shards.places().flatMap(({ name, isLost }) => (isLost ? [] : (shards.newest(name)?.head ?? null)));
  const [first] = heads;
  if (first === undefined || heads.includes(null)) return null;
  const last = heads.reduce((least, head) => ((head?.tick ?? 0) < (least?.tick ?? 0) ? head : least), first);
  return last && { tick: last.tick, sim: last.simUs as SimTime };
}

/** True if the newest tick of its shard shows an alarm of a device. */
export function hasAlarm(shards: FollowedShards, device: number): boolean {
  const holder = shards.places().find(({ first, room }) => device >= first && device < first + room);
  for (const { index, alarmSeverity } of (holder && shards.newest(holder.name)?.parts) ?? []) {
    const at = index.indexOf(device);
    if (at >= 0) return alarmSeverity[at] !== 0;
  }
  return false;
}

export class FleetPlant implements ScenarioPlant, LaidOutPlant {
  readonly #parts: FleetPlantParts;
  #at: { readonly tick: number; readonly sim: SimTime };
  #published: readonly LateSnapshot[] | null = null;
  #guide: TickGuide | null = null;
  #stopFollowing: Stop;
  /** true: the ticks that have come are being looked at */
  #isBusy = false;
  /** why the clock is gone; null: it is there */
  #failure: Error | null = null;

  constructor(parts: FleetPlantParts) {
    this.#parts = parts;
    const { tick0, sim0Us } = this.#record;
    this.#at = { tick: tick0, sim: sim0Us };
    if (!isPaused(this.#record)) this.#at = reachedBy(parts.shards) ?? this.#at;
    this.#stopFollowing = parts.shards.onTick(() => {
      void this.#follow();
    });
  }

  /** @throws SimError COMMAND_CONFLICT */
  get #record(): ClockRecord {
    const { record } = this.#parts.keeper;
    if (record === null) throw new SimError('COMMAND_CONFLICT', 'no shard has joined the fleet yet');
    return record;
  }

  get devices(): readonly FleetDevice[] {
    return this.#parts.devices.list;
  }

  get now(): SimTime {
    return this.#at.sim;
  }

  get tickSimS(): number {
    return tickUsOf(this.#record) / 1e6;
  }

  get time() {
    const { mode, timezone } = this.#record;
    return { mode, timezone, sim: this.#at.sim };
  }

  get latest() {
    return { tick: this.#at.tick, published: (this.#published ??= publishedBy(this.#parts.shards)) };
  }

  get #shiftMs(): number {
    const { mode, shiftMs } = this.#record;
    return mode === 'wall_clock' ? this.#parts.wall.nowMs() - this.#at.sim / 1000 : shiftMs;
  }

  dateMs(t: SimTime): number {
    return t / 1000 + this.#shiftMs;
  }

  simAt(dateMs: number): SimTime {
    return simTimeFromMs(dateMs - this.#shiftMs);
  }

  onTick(listener: (event: { readonly sim: SimTime }) => void): Stop {
    return this.#parts.ticks.add(listener);
  }

  /** Devices that join or leave during a run do not belong to it. */
  onDevices(): Stop {
    return () => undefined;
  }

  /** The mode that a pace needs is agreed with all shards before the run begins. */
  setTime(): void {
    // nothing is left to change
  }

  /** @throws Error for a shard that does not get there, or a gateway that no longer leads */
  async runTo(t: SimTime, by: Origin = { source: 'scenario' }): Promise<void> {
    this.#check();
    if (t <= this.#at.sim) return;
    const { failed } = await this.#parts.keeper.step({ untilUs: t }, by);
    this.#check();
    const [first] = failed;
    if (first !== undefined) throw new Error(`the shard "${first.shard}" did not end the tick: ${first.reason}`);
    const { tick0, sim0Us } = this.#record;
    await this.#reach({ tick: tick0, sim: sim0Us });
  }

  /** Why the clock is gone; null: it is there. */
  get failure(): Error | null {
    return this.#failure;
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  async #reach(at: { readonly tick: number; readonly sim: SimTime }): Promise<void> {
    const { devices, ticks } = this.#parts;
    this.#at = at;
    this.#published = null;
    devices.ticked();
    await devices.refresh();
    ticks.notify({ sim: at.sim });
  }

  /** Follows the clock while it runs: a tick counts when all shards have it. */
  async #follow(): Promise<void> {
    if (this.#isBusy || this.#failure !== null || isPaused(this.#record)) return;
    this.#isBusy = true;
    try {
      for (;;) {
        const reached = reachedBy(this.#parts.shards);
        if (reached === null || reached.tick <= this.#at.tick) return;
        await this.#reach(reached);
        await this.#guide?.reached();
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** The clock of a fleet runs on: ticks do not end at the instants of a guide, and nothing waits for it. */
  guideTicks(guide: TickGuide): Stop {
    this.#guide = guide;
    return () => {
      this.#guide = null;
    };
  }

  /** Ends the use of the clock, with a reason for a run that goes on. */
  end(reason: unknown): void {
    this.#failure ??= reason instanceof Error ? reason : new Error(errorText(reason));
    this.#stopFollowing();
  }
}
