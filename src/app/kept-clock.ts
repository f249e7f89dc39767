/** The clock of a kept state, before a plant is made of it: a fleet that begins with this process goes on there. */
import type { AppConfig } from '../config/settings/app-config.ts';
import type { Kept } from '../core/kept.ts';
import { isJsonObject } from '../core/json-object.ts';
import { slotName } from '../core/store.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { SimClock } from '../core/time/sim-clock.ts';
import { createClock } from './devices/plant.ts';
import { restoreEarly, UnfitState } from './keeping.ts';
import type { State } from './state.ts';

type Values = Pick<State, 'values'>;

/** A clock whose settings in the configuration have changed follows them; `start_paused` is of each start. */
export function followClockSettings(
  add: (part: string, kept: Kept) => void,
  clock: SimClock,
  { followsWall, rate, timezone, startsPaused }: AppConfig['clock'],
): void {
  const settings = JSON.stringify({ followsWall, rate, timezone });
  add('clock_settings', {
    save: () => settings,
    restore(saved) {
      if (saved !== settings) clock.set({ mode: followsWall ? 'wall_clock' : 'accelerated', rate, timezone });
    },
  });
  if (startsPaused) clock.set({ mode: 'paused' });
}

/** The clock with which a plant of this state begins, and the number of its last tick; null: no clock is kept, or none that can be read. */
export function keptClock(
  config: Pick<AppConfig, 'clock'>,
  wall: WallClock,
  state: Values,
): { readonly clock: SimClock; readonly tick: number } | null {
  const valueOf = (part: string) => state.values(slotName('plant', 'shared', part))[0];
  if (valueOf('clock') === undefined) return null;
  const clock = createClock(config, wall);
  try {
    restoreEarly('clock', clock.kept(), state, new Set());
  } catch (error) {
    // the plant says so, and starts anew
    if (error instanceof UnfitState) return null;
    throw error;
  }
  const restore = (part: string, kept: Kept) => {
    const saved = valueOf(part);
    if (saved !== undefined) kept.restore(saved);
  };
  followClockSettings(restore, clock, config.clock);
  const saved = valueOf('tick') ?? null;
  const tick = isJsonObject(saved) ? Number(saved['tick']) : 0;
  return { clock, tick: Number.isSafeInteger(tick) && tick >= 0 ? tick : 0 };
}
