/** The latest samples of one device, as rows of numbers; NaN stands for null. */

/** The first columns of every row. */
export const simColumn = 0;
export const wallColumn = 1;
export const tickColumn = 2;
/** Column of the first metric. */
export const firstMetric = 3;

const bytesPerNumber = 8;

/** Memory of one sample. @param metrics number of metrics */
export function sampleBytes(metrics: number): number {
  return (firstMetric + metrics) * bytesPerNumber;
}

/** Successive rows of one block of memory. */
export interface Run {
  /** row by row */
  readonly values: Float64Array;
  /** the first row */
  readonly from: number;
  /** the row after the last */
  readonly to: number;
}

/** A run with bounds of the simulated times of its rows, ms since the epoch. */
export interface TimedRun extends Run {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Range of simulated times of dropped samples, ms since the epoch; null: none was dropped. */
export type Span = { readonly fromMs: number; readonly toMs: number } | null;

/** A snapshot of the samples, oldest first; later recording does not change it. */
export interface Cut {
  readonly width: number;
  readonly runs: readonly TimedRun[];
  readonly gone: Span;
}

interface Block {
  readonly values: Float64Array;
  readonly capacity: number;
  used: number;
  /** simulated times of its rows */
  fromMs: number;
  toMs: number;
  /** an answer may still read this block */
  shared: boolean;
}

/** The span extended by further times. */
function joined(span: Span, fromMs: number, toMs: number): Span {
  return { fromMs: Math.min(span?.fromMs ?? fromMs, fromMs), toMs: Math.max(span?.toMs ?? toMs, toMs) };
}

const minRows = 8;
const maxRows = 512;
/** Memory is allocated and freed in blocks of `depth / blocksPerDepth` rows. */
const blocksPerDepth = 16;
/** A prime above `maxRows`: it shares no factor with any number of rows of a block. */
const staggerStep = 7919;

/**
 * Grows block by block up to its depth, then reuses the oldest block. Rows of a cut are never overwritten: such a block
 * is left to the answers that read it.
 */
export class SampleRing {
  readonly width: number;
  readonly #stagger: number;
  #blocks: Block[] = [];
  /** dropped rows of the first block */
  #first = 0;
  #count = 0;
  /** span of the dropped blocks */
  #gone: Span = null;
  /** a dropped block, ready for reuse */
  #spare: Block | null = null;

  /**
   * @param stagger any whole number, such as the index of the device. It spreads allocations: as many devices with
   *   successive numbers as a block has rows never allocate in the same tick.
   */
  constructor(width: number, stagger: number) {
    this.width = width;
    this.#stagger = stagger;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Begins a sample; drops the oldest until at most `depth` are left.
   * @param simMs simulated time, @param wallMs wall time: ms since the epoch
   * @returns the position of its first metric; write all metrics before the next call
   */
  append(
    depth: number,
    simMs: number,
    wallMs: number,
    tick: number,
  ): { readonly values: Float64Array; readonly at: number } {
    let block = this.#blocks.at(-1);
    if (!block || block.used === block.capacity) {
      block = this.#newBlock(depth);
      this.#blocks.push(block);
    }
    const { values } = block;
    const at = block.used * this.width;
    values[at + simColumn] = simMs;
    values[at + wallColumn] = wallMs;
    values[at + tickColumn] = tick;
    if (simMs < block.fromMs) block.fromMs = simMs;
    if (simMs > block.toMs) block.toMs = simMs;
    block.used += 1;
    this.#count += 1;
    this.keep(depth);
    return { values, at: at + firstMetric };
  }

  /** Drops the oldest samples until at most `depth` are left. */
  keep(depth: number): void {
    if (this.#count <= depth) return;
    this.#first += this.#count - depth;
    this.#count = depth;
    for (let [block] = this.#blocks; block && this.#first >= block.capacity; [block] = this.#blocks) {
      this.#blocks.shift();
      this.#first -= block.capacity;
      this.#gone = joined(this.#gone, block.fromMs, block.toMs);
      this.#spare = block.shared ? null : block;
    }
  }

  /** Drops the newest samples whose tick has this number or a later one. Call it before the first cut. */
  dropFrom(tick: number): void {
    while (this.#count > 0 && this.newestTick >= tick) {
      const block = this.#blocks.at(-1);
      if (!block) return;
      block.used -= 1;
      this.#count -= 1;
      if (block.used === 0) this.#blocks.pop();
    }
    if (this.#count > 0) return;
    this.#blocks = [];
    this.#first = 0;
  }

  /** Number of the tick of the newest sample; -Infinity: there is none. */
  get newestTick(): number {
    const block = this.#blocks.at(-1);
    return (block && block.values[(block.used - 1) * this.width + tickColumn]) ?? -Infinity;
  }

  /** A copy of the newest row. */
  newest(): Float64Array {
    const block = this.#blocks.at(-1);
    return block ? block.values.slice((block.used - 1) * this.width, block.used * this.width) : new Float64Array(0);
  }

  cut(): Cut {
    const runs = this.#blocks.map((block, i) => {
      block.shared = true;
      return {
        values: block.values,
        from: i === 0 ? this.#first : 0,
        to: block.used,
        fromMs: block.fromMs,
        toMs: block.toMs,
      };
    });
    return { width: this.width, runs, gone: this.#goneNow() };
  }

  #goneNow(): Span {
    let gone = this.#gone;
    const [block] = this.#blocks;
    for (let row = 0; block && row < this.#first; row += 1) {
      const simMs = block.values[row * this.width + simColumn] ?? NaN;
      gone = joined(gone, simMs, simMs);
    }
    return gone;
  }

  #newBlock(depth: number): Block {
    const rows = Math.min(maxRows, Math.max(minRows, Math.ceil(depth / blocksPerDepth)));
    const capacity = this.#blocks.length === 0 ? 1 + ((this.#stagger * staggerStep) % rows) : rows;
    const spare = this.#spare;
    this.#spare = null;
    const values = spare?.capacity === capacity ? spare.values : new Float64Array(capacity * this.width);
    return { values, capacity, used: 0, fromMs: Infinity, toMs: -Infinity, shared: false };
  }
}
