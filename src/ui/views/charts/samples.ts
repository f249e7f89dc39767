/** Samples of devices: one read of their history, then the telemetry stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../../api/call';
import { perform, Problem } from '../../api/perform';
import { onSnapshot, opened } from '../../store/stream';
import type { Snapshot } from '../../store/stream';

/** Metrics that snapshots carry; others are read with the history only. */
export type Metric = Exclude<keyof Snapshot['metrics'], 'timestamp'>;

export const metrics = [
  'power_kw',
  'reactive_power_kvar',
  'apparent_power_kva',
  'voltage_ln_v',
  'frequency_hz',
  'power_factor',
  'current_a',
  'dc_power_kw',
  'dc_voltage_v',
  'dc_current_a',
  'state_of_charge_pct',
  'soc_reserve_min_pct',
  'soc_reserve_max_pct',
] as const satisfies readonly Metric[];

/** One device: times in seconds since the epoch (simulated), and a column per metric. */
export interface Samples {
  readonly times: readonly number[];
  readonly columns: ReadonlyMap<string, readonly (number | null)[]>;
}

interface Kept {
  times: number[];
  columns: Map<string, (number | null)[]>;
  /** samples that the daemon keeps of a device */
  capacity: number;
  /** whether this kind of device has the further metric */
  hasExtra: boolean;
}

type Row = Readonly<Record<string, number | string | null>>;

const timeOf = ({ timestamp }: Row) => Date.parse(String(timestamp)) / 1000;

function numberOf(row: Row | undefined, name: string): number | null {
  const value = row?.[name];
  return typeof value === 'number' ? value : null;
}

async function rowsOf(query: NonNullable<Parameters<typeof get<'history'>>[1]>['query']) {
  const reply = await perform(get('history', { ...(query && { query }) }));
  // the other shape is that of `format=columns`
  return { ...reply, rows: ('samples' in reply ? reply.samples : []) as readonly Row[] };
}

async function readHistory(device: number, seconds: number | null, extra: string | null): Promise<Kept> {
  const { capacity, metrics: known } = await rowsOf({ device, limit: 1 });
  const hasExtra = extra !== null && known.includes(extra);
  const names = hasExtra ? [...metrics, extra] : [...metrics];
  const { rows } = await rowsOf({ device, metrics: names, limit: capacity, ...(seconds !== null && { seconds }) });
  return {
    times: rows.map(timeOf),
    columns: new Map(names.map((name) => [name, rows.map((row) => numberOf(row, name))])),
    capacity,
    hasExtra,
  };
}

/** Fills the further metric of samples that came by the stream, which does not carry it. */
async function fillExtra(device: number, kept: Kept, extra: string): Promise<boolean> {
  const column = kept.columns.get(extra);
  if (!kept.hasExtra || column === undefined) return false;
  const known = column.findLastIndex((value) => value !== null);
  const from = kept.times[known + 1];
  if (from === undefined) return false;
  const { rows } = await rowsOf({ device, metrics: [extra], since: new Date(from * 1000).toISOString() });
  const values = new Map(rows.map((row) => [timeOf(row), numberOf(row, extra)]));
  // the arrays may have been cut meanwhile
  kept.times.forEach((time, index) => {
    const value = values.get(time);
    if (value !== undefined) column[index] = value;
  });
  return rows.length > 0;
}

/** Adds a snapshot; false where the clock was set back and the history has to be read anew. */
function append(kept: Kept, { metrics: newest }: Snapshot, seconds: number | null): boolean {
  const at = Date.parse(newest.timestamp) / 1000;
  const last = kept.times.at(-1);
  if (last !== undefined && at < last) return false;
  if (last === at) return true;
  kept.times.push(at);
  for (const [name, column] of kept.columns) column.push(name in newest ? newest[name as Metric] : null);
  const tooOld = seconds === null ? 0 : kept.times.findIndex((time) => time >= at - seconds);
  const surplus = Math.max(tooOld, kept.times.length - kept.capacity);
  // cut in larger pieces, because each cut moves the whole array
  if (surplus > 200) {
    kept.times.splice(0, surplus);
    for (const column of kept.columns.values()) column.splice(0, surplus);
  }
  return true;
}

/** Samples of some devices for one setting of the charts: loads them, then follows the stream until it is ended. */
class Collection {
  readonly #kept = new Map<number, Kept>();
  /** snapshots that came while the history of their device was read */
  readonly #waiting = new Map<number, Snapshot[]>();
  #ended = false;
  readonly #seconds: number | null;
  readonly #extra: string | null;
  readonly #changed: () => void;
  readonly #failed: (problem: Problem | null) => void;
  readonly #endings: (() => void)[] = [];

  constructor(
    devices: readonly number[],
    { seconds, extra }: { readonly seconds: number | null; readonly extra: string | null },
    { changed, failed }: { readonly changed: () => void; readonly failed: (problem: Problem | null) => void },
  ) {
    [this.#seconds, this.#extra, this.#changed, this.#failed] = [seconds, extra, changed, failed];
    for (const device of devices) void this.#load(device);
    this.#endings.push(onSnapshot((snapshot) => this.#take(snapshot)));
    if (extra !== null) {
      const timer = setInterval(() => void this.#fill(extra), 5000);
      this.#endings.push(() => clearInterval(timer));
    }
  }

  get samples(): ReadonlyMap<number, Samples> {
    return new Map([...this.#kept].map(([device, { times, columns }]) => [device, { times, columns }]));
  }

  end(): void {
    this.#ended = true;
    for (const ending of this.#endings) ending();
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (!this.#ended) this.#failed(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!this.#ended) this.#failed(error);
    }
  }

  async #load(device: number): Promise<void> {
    if (this.#waiting.has(device)) return;
    this.#waiting.set(device, []);
    this.#kept.delete(device);
    await this.#guarded(async () => {
      const kept = await readHistory(device, this.#seconds, this.#extra);
      for (const snapshot of this.#waiting.get(device) ?? []) append(kept, snapshot, this.#seconds);
      this.#kept.set(device, kept);
    });
    this.#waiting.delete(device);
    if (!this.#ended) this.#changed();
  }

  #take(snapshot: Snapshot): void {
    const device = snapshot.device_index;
    const waiting = this.#waiting.get(device);
    const kept = this.#kept.get(device);
    if (waiting !== undefined) waiting.push(snapshot);
    else if (kept !== undefined) {
      if (append(kept, snapshot, this.#seconds)) this.#changed();
      else void this.#load(device);
    }
  }

  async #fill(extra: string): Promise<void> {
    await this.#guarded(async () => {
      for (const [device, kept] of this.#kept) if (await fillExtra(device, kept, extra)) this.#changed();
    });
  }
}

/**
 * Samples of up to eight devices, following the stream.
 * @param seconds simulated time that is shown; null: all that the daemon keeps
 * @param extra a metric of the history that the stream does not carry; it follows every 5 s
 * @param paused what is returned stays as it is, while samples go on being collected
 */
export function useSamples(devices: readonly number[], seconds: number | null, extra: string | null, paused: boolean) {
  const [shown, setShown] = useState<ReadonlyMap<number, Samples>>(new Map());
  const [problem, setProblem] = useState<Problem | null>(null);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  const key = `${devices.join()} ${seconds} ${extra}`;
  useEffect(() => {
    let frame: number | undefined;
    const draw = () => {
      if (frame !== undefined || isPaused.current) return;
      frame = requestAnimationFrame(() => {
        frame = undefined;
        setShown(collection.samples);
      });
    };
    const collection = new Collection(devices, { seconds, extra }, { changed: draw, failed: setProblem });
    return () => {
      collection.end();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
    // a daemon that comes back has a history of its own
  }, [key, opened.value]);
  const held = useRef<ReadonlyMap<number, Samples> | null>(null);
  // samples go on being added to the arrays that are shown
  if (!paused) held.current = null;
  else held.current ??= new Map([...shown].map(([device, one]) => [device, copyOf(one)]));
  return { samples: held.current ?? shown, problem };
}

function copyOf({ times, columns }: Samples): Samples {
  return { times: [...times], columns: new Map([...columns].map(([name, column]) => [name, [...column]])) };
}

/** The samples of the last `seconds` before the newest one. */
export function newest({ times, columns }: Samples, seconds: number | null): Samples {
  const last = times.at(-1);
  if (seconds === null || last === undefined) return { times, columns };
  const from = times.findIndex((time) => time >= last - seconds);
  if (from <= 0) return { times, columns };
  return {
    times: times.slice(from),
    columns: new Map([...columns].map(([name, column]) => [name, column.slice(from)])),
  };
}
