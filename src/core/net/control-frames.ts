import type { WallClock } from '../time/clock.ts';

/**
 * Maximum pings and pongs of a peer within `controlFramesMs`; at line speed they would leave no time for other peers.
 */
export const maxControlFrames = 100;
const controlFramesMs = 1000;

/** @returns function that counts a ping or pong of a WebSocket and returns their number within the present second */
export function controlCounter(clock: Pick<WallClock, 'monotonicMs'>): () => number {
  let count = 0;
  let sinceMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - sinceMs >= controlFramesMs) [sinceMs, count] = [nowMs, 0];
    count += 1;
    return count;
  };
}
