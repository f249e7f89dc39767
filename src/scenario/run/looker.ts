/** What an assertion looks with. */
import type { Device } from '../../contract/device.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ScenarioHost } from './host.ts';

/** What an assertion sees at one look. */
export interface Sight {
  readonly holds: boolean;
  /** What was found, in words: `it was 3990 W`. */
  readonly found: () => string;
}

/** One subject, looked at again and again. */
export interface Looker {
  look(now: SimTime): Sight | Promise<Sight>;
  /** what was seen in the whole window, for a failure; empty: nothing more */
  history(): string;
  end(): void;
}

/** What belongs to an assertion: what comes from here on. */
export interface Since {
  /** position in the journal */
  readonly events: number;
  /** wall time, ms since the epoch */
  readonly wallMs: number;
}

/** The devices that an assertion is about; null: the one that it names is not there. */
export function chosen({ plant }: ScenarioHost, device: number | null): readonly Device[] | null {
  const devices = plant.devices.filter(({ index }) => device === null || index === device);
  return device !== null && devices.length === 0 ? null : devices;
}

/** Whether a device is gone, and the assertion named it no more than the others: it went while they were asked. */
export function hasGone({ plant }: ScenarioHost, index: number, named: number | null): boolean {
  return named === null && plant.devices.every((device) => device.index !== index);
}

export const lacking = (device: number | null): Sight => ({
  holds: false,
  found: () => `there is no device ${device}`,
});
