import type { AppConfig } from './config/settings/app-config.ts';
import type { FaultRegistry } from './core/faults/registry.ts';
import type { LogBook } from './core/log/log.ts';
import type { WallClock } from './core/time/clock.ts';
import type { SimPlant } from './der/plant/plant.ts';
import type { Layout } from './sunspec/map/layout.ts';

/** What an adapter is composed from: its `compose.ts` takes what it needs and gives nothing where it is switched off. */
export interface AdapterContext {
  readonly config: AppConfig;
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly clock: WallClock;
  readonly logBook: Pick<LogBook, 'logger'>;
  /** device types whose maps pass a test; takes up to a second, for messages about a start that fails */
  readonly typesWith: (passes: (layout: Layout) => boolean) => readonly string[];
}
