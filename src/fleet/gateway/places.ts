/** The shards of a registry, as requests find them. */
import type { ObservedShard } from '../registry/observer.ts';
import type { ShardPlace } from './forward.ts';

/** Shards in the order of their devices. @param nowMs monotonic */
export function placesOf(shards: ReadonlyMap<string, ObservedShard>, nowMs: number): readonly ShardPlace[] {
  return [...shards]
    .map(([name, { lease, isLive, seenMs }]) => ({
      name,
      first: lease.first,
      room: lease.room,
      count: lease.count,
      epoch: lease.epoch,
      isLost: !isLive,
      lastSeen: `it was seen ${((nowMs - seenMs) / 1000).toFixed(1)} s ago`,
    }))
    .sort((a, b) => a.first - b.first);
}
