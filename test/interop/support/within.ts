// eslint-disable-next-line derbench/no-timed-wait -- a question is asked at intervals
import { setTimeout as delay } from 'node:timers/promises';

const betweenMs = 50;

/** Asks until something holds, at most so long. @returns the time that it took, ms @throws Error when the time is over */
export async function within(what: string, limitMs: number, holds: () => Promise<boolean> | boolean): Promise<number> {
  const beganMs = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - beganMs;
    if (performance.now() - beganMs > limitMs) throw new Error(`${what}: not within ${limitMs} ms`);
    await delay(betweenMs);
  }
}
