/** Powers of the whole site and of groups of devices beside the limits in force, one sample per tick. */
import type { Plant } from '../../contract/plant.ts';
import { maxSiteGroups, siteLimitNames } from '../../contract/site.ts';
import type { SiteNow } from '../../contract/site.ts';
import { kilo } from '../common/members.ts';
import type { Metric } from './metrics.ts';
import { Series } from './series.ts';
import type { SeriesKey } from './series.ts';

/** Metrics of a scope, with their description. */
export const scopeMetrics = {
  net_power_kw: 'Power through the connection point, kW, positive into the grid, as in `site`.',
  generation_kw: 'Sum of what devices inject, kW.',
  consumption_kw: 'Sum of what devices absorb, kW, at least 0.',
  load_kw: 'Sum of the local loads beside the devices, kW.',
  export_limit_kw: 'Maximum net power into the grid, kW, the tightest of all owners; null: no limit.',
  import_limit_kw: 'Maximum net power from the grid, kW, at least 0; null: no limit.',
  generation_limit_kw: 'Maximum of `generation_kw`, kW; null: no limit.',
  load_limit_kw: 'Maximum of `consumption_kw`, kW; null: no limit.',
} as const;

/** The columns of every scope. */
export const scopeColumns: readonly Metric[] = Object.keys(scopeMetrics).map((name) => ({ name }));

function put(to: Float64Array, at: number, { netW, generationW, consumptionW, loadW, limits }: SiteNow): void {
  let i = at;
  to[i++] = kilo(netW);
  to[i++] = kilo(generationW);
  to[i++] = kilo(consumptionW);
  to[i++] = kilo(loadW);
  for (const name of siteLimitNames) to[i++] = kilo(limits[name].limitW ?? NaN);
}

const groupPrefix = 'group:';
const siteKey = 'site';
const groupKey = (devices: readonly number[]): SeriesKey => `${groupPrefix}${devices.join()}`;

/** Devices of a group; null: the key of another series. */
function devicesOf(key: SeriesKey): readonly number[] | null {
  if (typeof key !== 'string' || !key.startsWith(groupPrefix)) return null;
  return key.slice(groupPrefix.length).split(',').map(Number);
}

type RecordedPlant = Pick<Plant, 'devices' | 'site' | 'siteGroups' | 'siteOf'>;

interface Group {
  readonly devices: readonly number[];
  readonly series: Series;
}

/** The whole site, and each group from its first limit on. */
export class ScopeRecordings {
  readonly #plant: RecordedPlant;
  readonly #whole = new Series(siteKey, scopeColumns);
  /** in the order of their first samples */
  readonly #groups = new Map<SeriesKey, Group>();

  constructor(plant: RecordedPlant) {
    this.#plant = plant;
  }

  get all(): readonly Series[] {
    return [this.#whole, ...Array.from(this.#groups.values(), ({ series }) => series)];
  }

  /** Devices of each group that has samples. */
  get groups(): readonly (readonly number[])[] {
    return Array.from(this.#groups.values(), ({ devices }) => devices);
  }

  /** @param devices ascending; null: the whole site */
  of(devices: readonly number[] | null): Series | null {
    return devices === null ? this.#whole : (this.#groups.get(groupKey(devices))?.series ?? null);
  }

  /** The series of an earlier process; a group whose limits had ended before its end is recorded again. */
  restored(key: SeriesKey): Series | null {
    if (key === siteKey) return this.#whole;
    const devices = devicesOf(key);
    if (devices === null || !this.#areThere(devices)) return null;
    if (!this.#groups.has(key) && this.#groups.size < maxSiteGroups) this.#open(devices);
    return this.of(devices);
  }

  /** Ends the series of groups with a removed device. */
  dropRemoved(): void {
    for (const [key, { devices }] of this.#groups) if (!this.#areThere(devices)) this.#groups.delete(key);
  }

  /** Begins the series of groups with a first limit. @returns there are new ones */
  follow(): boolean {
    const limited = this.#plant.siteGroups;
    const fresh = limited.filter((devices) => !this.#groups.has(groupKey(devices)));
    for (const devices of fresh) this.#open(devices);
    if (this.#groups.size > maxSiteGroups) this.#dropEnded(new Set(limited.map(groupKey)));
    return fresh.length > 0;
  }

  /** Adds a sample of the last tick. */
  record(series: Series, depth: number, simMs: number, wallMs: number, tick: number): void {
    const devices = devicesOf(series.key);
    const { values, at } = series.append(depth, simMs, wallMs, tick);
    put(values, at, devices === null ? this.#plant.site : this.#plant.siteOf(devices));
  }

  #areThere(devices: readonly number[]): boolean {
    const present = new Set(this.#plant.devices.map(({ index }) => index));
    return devices.every((index) => present.has(index));
  }

  #open(devices: readonly number[]): void {
    const key = groupKey(devices);
    this.#groups.set(key, { devices, series: new Series(key, scopeColumns) });
  }

  /** As many groups as can have limits have samples: the earliest ones without a limit end. */
  #dropEnded(limited: ReadonlySet<SeriesKey>): void {
    for (const key of [...this.#groups.keys()]) {
      if (this.#groups.size <= maxSiteGroups) return;
      if (!limited.has(key)) this.#groups.delete(key);
    }
  }
}
