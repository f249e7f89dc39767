/** The samples of one device, or of one connection point of the site. */
import type { Metric } from './metrics.ts';
import { firstMetric, sampleBytes, SampleRing, simColumn, tickColumn, wallColumn } from './ring.ts';
import type { Cut } from './ring.ts';

/** Index of a device, or the text of a scope: `site`, or `group:` with the indexes of its devices. */
export type SeriesKey = number | string;

/** Samples that an answer can be made of. */
export interface SeriesHistory {
  /** names and meaning of the columns, in the order of an answer without `metrics` */
  readonly metrics: readonly Metric[];
  /** samples kept at present */
  readonly count: number;
  /** a snapshot of the samples */
  cut(): Cut;
}

/** A history without samples. */
export function unrecorded(metrics: readonly Metric[]): SeriesHistory {
  return { metrics, count: 0, cut: () => ({ width: firstMetric + metrics.length, runs: [], gone: null }) };
}

/** FNV-1a of a text: keys of scopes begin alike, and their rings must not allocate in the same ticks. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

export class Series implements SeriesHistory {
  readonly key: SeriesKey;
  readonly metrics: readonly Metric[];
  #ring: SampleRing;

  constructor(key: SeriesKey, metrics: readonly Metric[]) {
    this.key = key;
    this.metrics = metrics;
    this.#ring = this.emptyRing();
  }

  emptyRing(): SampleRing {
    return new SampleRing(
      firstMetric + this.metrics.length,
      typeof this.key === 'number' ? this.key : hashOf(this.key),
    );
  }

  get count(): number {
    return this.#ring.count;
  }

  get sampleBytes(): number {
    return sampleBytes(this.metrics.length);
  }

  /** Begins a sample, as `SampleRing.append`. */
  append(depth: number, simMs: number, wallMs: number, tick: number): ReturnType<SampleRing['append']> {
    return this.#ring.append(depth, simMs, wallMs, tick);
  }

  /** Number of the tick of the newest sample; -Infinity: there is none. */
  get newestTick(): number {
    return this.#ring.newestTick;
  }

  /** A copy of the row that was added last. */
  newest(): Float64Array {
    return this.#ring.newest();
  }

  /**
   * Puts `ring` in the place of the present samples, with those of them that it does not have.
   * @param each gets each of those after it was added
   */
  join(ring: SampleRing, depth: number, each: () => void): void {
    const { runs, width } = this.#ring.cut();
    const rows = runs.flatMap(({ values, from, to }) =>
      Array.from({ length: to - from }, (_, i) => values.subarray((from + i) * width, (from + i + 1) * width)),
    );
    // ticks after the state that was restored are run again
    ring.dropFrom((rows[0]?.[tickColumn] ?? -1) + 1);
    this.#ring = ring;
    for (const row of rows) {
      const tick = row[tickColumn] ?? NaN;
      if (tick <= ring.newestTick) continue;
      const { values, at } = ring.append(depth, row[simColumn] ?? NaN, row[wallColumn] ?? NaN, tick);
      values.set(row.subarray(firstMetric), at);
      each();
    }
  }

  /** Drops the oldest samples until at most `depth` are left. */
  keep(depth: number): void {
    this.#ring.keep(depth);
  }

  cut(): Cut {
    return this.#ring.cut();
  }
}
