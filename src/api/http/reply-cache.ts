import type { WallClock } from '../../core/time/clock.ts';
import type { Plant } from '../../contract/plant.ts';

/** What replies share between two changes. */
export interface Fresh {
  /**
   * The value that `build` gave last for this key, made again when a tick has ended, a device has come or gone, a
   * request has changed something, or 100 ms have passed: states of protocols and alarms change between ticks.
   */
  of<T>(key: string, build: () => T): T;
  /** A request may have changed what replies show. */
  changed(): void;
}

const mostAgeMs = 100;
/** Beyond it values are made anew for each who asks: a fleet has as many overviews as devices, and each is long. */
const mostValues = 16;

export function createFresh(plant: Plant, clock: WallClock): Fresh {
  const values = new Map<string, unknown>();
  let { latest, devices } = plant;
  let madeMs = -Infinity;

  function letGo(): void {
    const nowMs = clock.monotonicMs();
    if (plant.latest === latest && plant.devices === devices && nowMs - madeMs < mostAgeMs) return;
    values.clear();
    ({ latest, devices } = plant);
    madeMs = nowMs;
  }

  return {
    of<T>(key: string, build: () => T): T {
      letGo();
      const known = values.get(key);
      // a key has one builder, so that its values have one type
      if (known !== undefined) return known as T;
      const made = build();
      if (values.size < mostValues) values.set(key, made);
      return made;
    },
    changed() {
      madeMs = -Infinity;
    },
  };
}
