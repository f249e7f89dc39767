import type { WallClock } from '../../core/time/clock.ts';
import type { Plant } from '../../contract/plant.ts';

/** Values that replies share until something changes. */
export interface ReplyCache {
  /**
   * The last value of `build` for this key. It is built again after a tick, after a device has joined or left,
   * after a call of `changed`, and after 100 ms, because states of protocols and alarms change between ticks.
   */
  of<T>(key: string, build: () => T): T;
  /** Call it when a request may have changed what replies show. */
  changed(): void;
}

const maxAgeMs = 100;
/** Maximum number of values: a fleet has as many overviews as devices, and each is long. */
const maxValues = 16;

export function createReplyCache(plant: Plant, clock: WallClock): ReplyCache {
  const values = new Map<string, unknown>();
  let { latest, devices } = plant;
  let madeMs = -Infinity;

  function dropStale(): void {
    const nowMs = clock.monotonicMs();
    if (plant.latest === latest && plant.devices === devices && nowMs - madeMs < maxAgeMs) return;
    values.clear();
    ({ latest, devices } = plant);
    madeMs = nowMs;
  }

  return {
    of<T>(key: string, build: () => T): T {
      dropStale();
      const cached = values.get(key);
      // a key has one builder, so that its values have one type
      if (cached !== undefined) return cached as T;
      const built = build();
      if (values.size < maxValues) values.set(key, built);
      return built;
    },
    changed() {
      madeMs = -Infinity;
    },
  };
}
