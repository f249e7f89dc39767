/** When periodic monitors are due (N08), on the clock of the central system. */
import type { RemoteClock } from '../../../core/time/remote-clock.ts';
import type { Monitor } from './model.ts';

const dayMs = 86_400_000;

/** The first instant after `nowMs` that is a multiple of the interval from midnight; midnight always is (N08.FR.07). */
function nextAligned(nowMs: number, intervalS: number): number {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  const passed = Math.floor((nowMs - midnightMs) / (intervalS * 1000) + 1e-9);
  return Math.min(midnightMs + (passed + 1) * intervalS * 1000, midnightMs + dayMs);
}

/** @param sinceMs when it was set, or was due last */
export function nextDue({ type, value }: Pick<Monitor, 'type' | 'value'>, sinceMs: number, nowMs: number): number {
  if (type === 'PeriodicClockAligned') return nextAligned(nowMs, value);
  const intervalMs = value * 1000;
  // the clock has been set back
  if (sinceMs > nowMs) return nowMs + intervalMs;
  const passed = Math.floor((nowMs - sinceMs) / intervalMs + 1e-9);
  return sinceMs + (passed + 1) * intervalMs;
}

export interface Alarm {
  /** Plans the next instant anew. */
  plan(): void;
  stop(): void;
}

/**
 * One act at the earliest of many instants.
 * @param next the next instant of all; Infinity: none
 * @param act plans the next one by itself
 */
export function createAlarm(clock: Pick<RemoteClock, 'at'>, next: () => number, act: (dueMs: number) => void): Alarm {
  let cancel: (() => void) | null = null;
  let plannedMs = Infinity;
  const stop = (): void => {
    cancel?.();
    cancel = null;
    plannedMs = Infinity;
  };
  return {
    plan() {
      const dueMs = next();
      if (dueMs === plannedMs && cancel !== null) return;
      stop();
      if (dueMs === Infinity) return;
      plannedMs = dueMs;
      cancel = clock.at(dueMs, () => {
        cancel = null;
        act(dueMs);
      });
    },
    stop,
  };
}

/** Calls `act` once after everything that runs now, however often it is asked to. */
export function atEndOfTurn(act: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      act();
    });
  };
}
