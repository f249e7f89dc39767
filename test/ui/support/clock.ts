/** The time of the page: it passes when a test says so. */
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { settle } from './settle.ts';

export const wall = new HandWall();
export const timers = new HandTimers(wall);

type Run = (...args: readonly unknown[]) => void;

/** Puts the timers and clocks of the page into the hands of the tests. */
export function installClock(): void {
  const ends = new Map<number, () => void>();
  let lastId = 0;
  const clear = (id: number | undefined) => {
    ends.get(id ?? 0)?.();
    ends.delete(id ?? 0);
  };
  const setTimeout = (run: Run, ms = 0, ...args: readonly unknown[]): number => {
    const id = (lastId += 1);
    const fire = () => {
      ends.delete(id);
      run(...args);
    };
    ends.set(id, timers.later(ms, fire));
    return id;
  };
  const setInterval = (run: Run, ms = 0): number => {
    const id = (lastId += 1);
    const again = () => {
      ends.set(id, timers.later(ms, again));
      run();
    };
    ends.set(id, timers.later(ms, again));
    return id;
  };
  Object.assign(globalThis, {
    setTimeout,
    setInterval,
    clearTimeout: clear,
    clearInterval: clear,
    requestAnimationFrame: (run: Run) => setTimeout(() => run(wall.monotonicMs()), 16),
    cancelAnimationFrame: clear,
  });
  Date.now = () => wall.nowMs();
  performance.now = () => wall.monotonicMs();
}

/** Lets time pass on the page, and what is due happen, each thing at its time. */
export async function pass(ms: number): Promise<void> {
  const endMs = wall.monotonicMs() + ms;
  while (wall.monotonicMs() + timers.nextMs <= endMs) {
    timers.pass(timers.nextMs);
    await settle();
  }
  timers.pass(endMs - wall.monotonicMs());
  await settle();
}
