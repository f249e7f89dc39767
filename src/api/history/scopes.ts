/** Powers of the whole site and of groups of devices beside the limits in force, one sample per tick. */
import type { Plant } from '../../contract/plant.ts';
import { maxSiteGroups, siteLimitNames } from '../../contract/site.ts';
import type { SiteNow } from '../../contract/site.ts';
import { kilo } from '../common/members.ts';
import type { Metric } from './metrics.ts';
import { firstMetric } from './ring.ts';
import { FurtherColumns, furtherColumns } from './site-history.ts';
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

function put(to: Float64Array, at: number, { netW, generationW, consumptionW, loadW, tickLimitsW }: SiteNow): void {
  let i = at;
  to[i++] = kilo(netW);
  to[i++] = kilo(generationW);
  to[i++] = kilo(consumptionW);
  to[i++] = kilo(loadW);
  for (const name of siteLimitNames) to[i++] = kilo(tickLimitsW[name] ?? NaN);
}

/** The limits are the last columns. */
function hasLimit(values: Float64Array, at: number): boolean {
  const end = at + scopeColumns.length;
  for (let i = end - siteLimitNames.length; i < end; i += 1) if (!Number.isNaN(values[i])) return true;
  return false;
}

const groupPrefix = 'group:';
/** Key of the whole site. */
export const siteKey = 'site';
const groupKey = (devices: readonly number[]): SeriesKey => `${groupPrefix}${devices.join()}`;

/** Devices of a group; null: the key of another series. */
function devicesOf(key: SeriesKey): readonly number[] | null {
  if (typeof key !== 'string' || !key.startsWith(groupPrefix)) return null;
  return key.slice(groupPrefix.length).split(',').map(Number);
}

type RecordedPlant = Pick<Plant, 'devices' | 'latest' | 'site' | 'siteGroups' | 'siteOf' | 'sitePowerW'>;

/** The samples of one scope. */
export class ScopeRecording {
  /** null: the whole site */
  readonly devices: readonly number[] | null;
  readonly series: Series;
  /** samples since the last one with a limit */
  idle = 0;
  readonly #plant: RecordedPlant;
  /** null: a group, which has none */
  readonly #further: FurtherColumns | null;

  constructor(devices: readonly number[] | null, plant: RecordedPlant) {
    this.devices = devices;
    this.series =
      devices === null
        ? new Series(siteKey, [...scopeColumns, ...furtherColumns])
        : new Series(groupKey(devices), scopeColumns);
    this.#plant = plant;
    this.#further = devices === null ? new FurtherColumns(plant) : null;
  }

  /** Does the part of the next sample that grows with the number of devices. */
  *prepare(simMs: number): Generator<undefined, void> {
    if (this.#further !== null) yield* this.#further.prepare(simMs);
  }

  /** Adds a sample of the last tick, with the limits in force at its end. */
  add(depth: number, simMs: number, wallMs: number): void {
    const { site, latest } = this.#plant;
    const state = this.devices === null ? site : this.#plant.siteOf(this.devices);
    const { values, at } = this.series.append(depth, simMs, wallMs, latest.tick);
    put(values, at, state);
    this.idle = hasLimit(values, at) ? 0 : this.idle + 1;
    this.#further?.put(values, at + scopeColumns.length, simMs);
  }

  /** Counts again how long it has had no limit, after samples of an earlier process were put before those of this one. */
  countIdle(): void {
    this.idle = 0;
    const { runs, width } = this.series.cut();
    for (const { values, from, to } of runs.toReversed())
      for (let row = to - 1; row >= from; row -= 1) {
        if (hasLimit(values, row * width + firstMetric)) return;
        this.idle += 1;
      }
  }
}

/** The whole site, and each group from its first limit on. */
export class ScopeRecordings {
  readonly #plant: RecordedPlant;
  readonly #whole: ScopeRecording;
  /** in the order of their first samples; those of earlier processes in the order in which their files end */
  readonly #groups = new Map<SeriesKey, ScopeRecording>();
  /** groups with limits as `follow` last saw them */
  #limited: readonly (readonly number[])[] = [];
  #limitedKeys: ReadonlySet<SeriesKey> = new Set();

  constructor(plant: RecordedPlant) {
    this.#plant = plant;
    this.#whole = new ScopeRecording(null, plant);
  }

  get all(): readonly ScopeRecording[] {
    return [this.#whole, ...this.#groups.values()];
  }

  /** Devices of each group that has samples. */
  get groups(): readonly (readonly number[])[] {
    return Array.from(this.#groups.values(), ({ devices }) => devices ?? []);
  }

  /** Prepares the sample of the whole site in parts. */
  prepare(simMs: number): Generator<undefined, void> {
    return this.#whole.prepare(simMs);
  }

  /** @param devices ascending; null: the whole site */
  of(devices: readonly number[] | null): ScopeRecording | null {
    return devices === null ? this.#whole : (this.#groups.get(groupKey(devices)) ?? null);
  }

  /**
   * The scope of an earlier process; a group whose limits had ended before its end is recorded again. Called oldest
   * first, and again for each file that has the group: of too many groups those with the newest samples stay.
   */
  restored(key: SeriesKey): ScopeRecording | null {
    if (key === siteKey) return this.#whole;
    const devices = devicesOf(key);
    if (devices === null || !this.#areThere(devices)) return null;
    const recording = this.#groups.get(key) ?? new ScopeRecording(devices, this.#plant);
    this.#groups.delete(key);
    this.#groups.set(key, recording);
    this.#dropSurplus();
    return this.of(devices);
  }

  /** Ends the recordings of groups with a removed device. */
  dropRemoved(): void {
    for (const [key, { devices }] of this.#groups) if (!this.#areThere(devices ?? [])) this.#groups.delete(key);
  }

  /**
   * Begins the recordings of groups with a first limit, and ends those of groups without a sample with a limit.
   * @param depth samples kept
   * @returns there are other groups than before
   */
  follow(depth: number): boolean {
    const before = this.#groups.size;
    for (const [key, { idle }] of this.#groups)
      if (idle >= depth && !this.#limitedKeys.has(key)) this.#groups.delete(key);
    const hasDropped = this.#groups.size < before;
    const limited = this.#plant.siteGroups;
    if (limited === this.#limited) return hasDropped;
    this.#limited = limited;
    this.#limitedKeys = new Set(limited.map(groupKey));
    const fresh = limited.filter((devices) => !this.#groups.has(groupKey(devices)));
    for (const devices of fresh) this.#groups.set(groupKey(devices), new ScopeRecording(devices, this.#plant));
    this.#dropSurplus();
    return hasDropped || fresh.length > 0;
  }

  #areThere(devices: readonly number[]): boolean {
    const present = new Set(this.#plant.devices.map(({ index }) => index));
    return devices.every((index) => present.has(index));
  }

  /** As many groups as can have limits have samples: the earliest ones without a limit end. */
  #dropSurplus(): void {
    for (const key of [...this.#groups.keys()]) {
      if (this.#groups.size <= maxSiteGroups) return;
      if (!this.#limitedKeys.has(key)) this.#groups.delete(key);
    }
  }
}

/** Yields between scopes, after work for about as many devices. */
const devicesPerPart = 40;

/** Does work for each scope; large ones are parts of their own. */
export function* scopesInParts(
  scopes: readonly ScopeRecording[],
  work: (scope: ScopeRecording) => void,
): Generator<undefined, void> {
  let done = 0;
  for (const scope of scopes) {
    work(scope);
    done += scope.devices?.length ?? 1;
    if (done < devicesPerPart) continue;
    done = 0;
    yield;
  }
}
