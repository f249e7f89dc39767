/** Samples that survive the process: their batches, and the rings into which those of an earlier process go. */
import type { Metric } from './metrics.ts';
import { firstMetric, tickColumn } from './ring.ts';
import type { SampleRing } from './ring.ts';
import type { Series, SeriesKey } from './series.ts';

/** Takes each new sample. */
export interface SampleSink {
  /** @param sample a row of its own */
  add(key: SeriesKey, metrics: readonly Metric[], sample: Float64Array): void;
}

/** The samples of a series that wait for the next batch. */
export interface WaitingSamples {
  readonly metrics: readonly Metric[];
  /** the life of the device; empty: a scope */
  readonly life: string;
  readonly samples: Float64Array[];
}

/** Rows of a series from here on. */
interface Begin {
  readonly key: SeriesKey;
  /** the life of the device in which its samples were taken */
  readonly life: string;
  /** names of the columns behind the first ones */
  readonly metrics: readonly string[];
  /** tick of the first row; it replaces earlier rows of this tick and of later ones, which were run again */
  readonly fromTick: number;
}

/** Earlier files name the key `device`. */
type ReadBegin = Omit<Begin, 'key'> & ({ readonly key: SeriesKey } | { readonly device: SeriesKey });

interface BatchHead {
  readonly begin: readonly ReadBegin[];
  readonly rows: readonly (readonly [key: SeriesKey, count: number])[];
}

const lengthBytes = 4;

/**
 * A batch: the length of its head, the head as JSON, and the rows as little-endian doubles.
 * @param begins true: the segment does not have the columns of the series in this life yet
 */
export function batchOf(
  waiting: ReadonlyMap<SeriesKey, WaitingSamples>,
  begins: (key: SeriesKey, life: string) => boolean,
): Buffer {
  const head: { begin: Begin[]; rows: [SeriesKey, number][] } = { begin: [], rows: [] };
  const octets: Uint8Array[] = [];
  for (const [key, { metrics, life, samples }] of waiting) {
    if (begins(key, life))
      head.begin.push({
        key,
        life,
        metrics: metrics.map(({ name }) => name),
        fromTick: samples[0]?.[tickColumn] ?? 0,
      });
    head.rows.push([key, samples.length]);
    for (const { buffer, byteOffset, byteLength } of samples)
      octets.push(new Uint8Array(buffer, byteOffset, byteLength));
  }
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, ...octets]);
}

/** Reads batches, oldest first. */
export class BatchReader {
  readonly #ringOf: (key: SeriesKey, life: string) => KeptSamples | null;
  readonly #open = new Map<SeriesKey, { readonly width: number; readonly kept: KeptSamples | null }>();

  /** @param ringOf where the samples of a series go; null: nowhere */
  constructor(ringOf: (key: SeriesKey, life: string) => KeptSamples | null) {
    this.#ringOf = ringOf;
  }

  /** @throws Error for a batch of another form */
  take(batch: Buffer): void {
    const headEnd = lengthBytes + batch.readUInt32LE(0);
    const head = JSON.parse(batch.toString('utf8', lengthBytes, headEnd)) as BatchHead;
    for (const begin of head.begin) {
      const { life, metrics, fromTick } = begin;
      const key = 'key' in begin ? begin.key : begin.device;
      const kept = this.#ringOf(key, life);
      kept?.begin(metrics, fromTick);
      this.#open.set(key, { width: firstMetric + metrics.length, kept });
    }
    let at = headEnd;
    for (const [key, count] of head.rows) {
      const open = this.#open.get(key);
      if (open === undefined) throw new Error(`series ${key} has samples without columns`);
      const rows = new Float64Array(count * open.width);
      const end = at + rows.byteLength;
      if (end > batch.length) throw new Error('a batch has fewer samples than it says');
      new Uint8Array(rows.buffer).set(batch.subarray(at, end));
      open.kept?.add(rows);
      at = end;
    }
  }
}

/** The samples that a series had in earlier processes. */
export class KeptSamples {
  readonly ring: SampleRing;
  readonly #names: readonly string[];
  readonly #depth: () => number;
  /** column of each present metric in the rows to come; -1: none */
  #columns: readonly number[] = [];
  #width = firstMetric;

  /** @param depth samples to keep */
  constructor(series: Pick<Series, 'emptyRing' | 'metrics'>, depth: () => number) {
    this.ring = series.emptyRing();
    this.#names = series.metrics.map(({ name }) => name);
    this.#depth = depth;
  }

  begin(metrics: readonly string[], fromTick: number): void {
    this.ring.dropFrom(fromTick);
    this.#columns = this.#names.map((name) => metrics.indexOf(name));
    this.#width = firstMetric + metrics.length;
  }

  add(rows: Float64Array): void {
    const depth = this.#depth();
    for (let from = 0; from < rows.length; from += this.#width) {
      const [simMs = NaN, wallMs = NaN, tick = NaN] = rows.subarray(from, from + firstMetric);
      const { values, at } = this.ring.append(depth, simMs, wallMs, tick);
      this.#columns.forEach((column, i) => {
        values[at + i] = column < 0 ? NaN : (rows[from + firstMetric + column] ?? NaN);
      });
    }
  }
}
