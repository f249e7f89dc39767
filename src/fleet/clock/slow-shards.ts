/** Shards that were in time and fall behind the grid: the fleet may wait for them. */
import { tickAt } from './record.ts';
import type { ClockRecord } from './record.ts';

/** The part of the head of a tick that tells how late its shard is. */
export interface FollowedTick {
  readonly session: string;
  readonly tick: number;
  /** end of the tick, by the clock of the shard */
  readonly wallMs: number;
}

/** Ticks over which the least lag counts: a clock that was set has its new lag once they are over. */
const lagTicks = 60;

export class SlowShards {
  /** shards that have been in time since they joined, by session */
  readonly #inTime = new Set<string>();
  /** times from the end of a tick, by the clock of its shard, to its arrival, ms: those of the last ticks by session */
  readonly #lagsMs = new Map<string, readonly number[]>();

  /**
   * Slots by which a shard is late; 0: it is in time, or catches up and does not count yet.
   * @param nowMs time of the fleet, at which the tick has come
   */
  slotsBehind(head: FollowedTick, record: ClockRecord, nowMs: number): number {
    const behind = tickAt(record, this.#sentMs(head, nowMs)) - head.tick;
    if (behind <= 1) this.#inTime.add(head.session);
    return behind >= 2 && this.#inTime.has(head.session) ? behind : 0;
  }

  /**
   * The time of the fleet at which a tick was sent: where this process has stood still, messages have waited here, and
   * their shards are in time.
   */
  #sentMs({ session, wallMs }: FollowedTick, nowMs: number): number {
    const lagsMs = [...(this.#lagsMs.get(session) ?? []), nowMs - wallMs].slice(-lagTicks);
    this.#lagsMs.set(session, lagsMs);
    return wallMs + Math.min(...lagsMs);
  }

  /** A shard that was lost catches up where it comes back: nobody waits for it before it is in time again. */
  lose(session: string): void {
    this.#inTime.delete(session);
    this.#lagsMs.delete(session);
  }

  clear(): void {
    this.#inTime.clear();
    this.#lagsMs.clear();
  }
}
