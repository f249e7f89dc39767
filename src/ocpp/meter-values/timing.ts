/** When samples are due, on the clock of the central system. */
import type { RemoteClock } from '../../core/time/remote-clock.ts';

const dayMs = 86_400_000;

/** The first instant after `nowMs` that is a multiple of the interval from midnight; midnight always is (9.1). */
export function nextAligned(nowMs: number, intervalS: number): number {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  const intervalMs = intervalS * 1000;
  const passed = Math.floor((nowMs - midnightMs) / intervalMs + 1e-9);
  return Math.min(midnightMs + (passed + 1) * intervalMs, midnightMs + dayMs);
}

/** The first instant after `nowMs` in steps from `startMs`, which may lie ahead: within a tick a device is. */
export function nextPeriodic(startMs: number, nowMs: number, intervalS: number): number {
  const intervalMs = intervalS * 1000;
  const passed = Math.max(0, Math.floor((nowMs - startMs) / intervalMs + 1e-9));
  return startMs + (passed + 1) * intervalMs;
}

export interface Repeat {
  /** Plans anew: the interval, or the clock, has changed. */
  plan(): void;
  stop(): void;
}

/** An instant that lies further back than this was jumped over by a change of the clock. */
const lateMs = 60_000;

/**
 * Calls `act` at each due instant with that instant.
 * @param next the due instant after another one; null: none
 */
export function repeat(
  clock: Pick<RemoteClock, 'nowMs' | 'at'>,
  next: (nowMs: number) => number | null,
  act: (dueMs: number) => void,
): Repeat {
  let cancel: (() => void) | null = null;
  const planAfter = (ms: number) => {
    const dueMs = next(ms);
    if (dueMs === null) return;
    cancel = clock.at(dueMs, () => {
      cancel = null;
      const nowMs = clock.nowMs();
      // a timer may run a little early
      planAfter(Math.max(nowMs, dueMs));
      if (nowMs - dueMs < lateMs) act(dueMs);
    });
  };
  const stop = () => {
    cancel?.();
    cancel = null;
  };
  return {
    plan() {
      stop();
      planAfter(clock.nowMs());
    },
    stop,
  };
}
