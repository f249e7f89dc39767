/** Samples of devices: their history, read once, then the telemetry stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, perform, Problem } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { shown } from '../../store/shown';
import { onSnapshot, opened } from '../../store/stream';
import type { Snapshot } from '../../store/stream';

/** Samples of one device: simulated times in seconds since the epoch, and a column per metric. */
export interface Samples {
  readonly times: readonly number[];
  /** names of the numeric metrics of the device */
  readonly metrics: readonly string[];
  /** values at `times`; undefined: no such metric */
  readonly column: (metric: string) => readonly (number | null)[] | undefined;
  /** number of samples dropped because the clock was set back after them */
  readonly leftOut: number;
  /** oldest sample of the daemon, where the window reaches further back, seconds since the epoch; null: it does not */
  readonly keptSince: number | null;
  /** maximum number of samples per device in the daemon */
  readonly capacity: number;
}

type Column = (number | null)[];
type InColumnsReply = Extract<ReplyOf<'history'>, { columns: unknown }>;
type InColumns = InColumnsReply['columns'];

const maxSamples = 100_000;
/** Polling interval of metrics that the stream lacks, ms. */
const restMs = 2000;
/** Least time between two drawings, ms: ticks may be shorter. */
const gapMs = 1000;

const secondsOf = (iso: string) => Date.parse(iso) / 1000;

async function read(device: number, query: object): Promise<InColumnsReply> {
  const reply = await perform(get('history', { query: { device, format: 'columns', limit: maxSamples, ...query } }));
  if (!('columns' in reply)) throw new Problem(0, 'unreadable', 'The daemon sent the history in another format.');
  return reply;
}

/** True if all values are numbers; states in the history are words. */
function isNumeric(column: readonly unknown[]): column is Column {
  return column.every((value) => value === null || typeof value === 'number');
}

/** Samples of one device, ascending in time. */
class SampleStore {
  #ticks: number[];
  #times: number[];
  readonly #columns: Map<string, Column>;
  /** metrics of the history that snapshots lack */
  #rest: readonly string[] = [];
  #leftOut = 0;
  readonly #capacity: number;
  /** true if the daemon has dropped samples in the window before the first one here */
  #isCut: boolean;

  constructor({ columns, capacity, truncated }: InColumnsReply) {
    this.#capacity = capacity;
    this.#isCut = truncated;
    const { timestamp, tick, ...metrics } = columns;
    this.#times = timestamp.map(secondsOf);
    this.#ticks = [...tick];
    this.#columns = new Map(
      Object.entries(metrics)
        .filter((entry): entry is [string, Column] => !entry[0].endsWith('_state') && isNumeric(entry[1]))
        .map(([name, column]) => [name, [...column]]),
    );
    const back = this.#times.findLastIndex((time, index) => time < (this.#times[index - 1] ?? -Infinity));
    if (back > 0) this.#removeFirst(back, true);
  }

  get lastTick(): number {
    return this.#ticks.at(-1) ?? Infinity;
  }

  get rest(): readonly string[] {
    return this.#rest;
  }

  /** Time of the first sample with missing metrics, ISO. null: none. */
  get restSince(): string | null {
    const [name] = this.#rest;
    const column = name === undefined ? undefined : this.#columns.get(name);
    if (column === undefined) return null;
    const lastFilled = column.findLastIndex((value) => value !== null);
    const time = this.#times[lastFilled + 1];
    return time === undefined ? null : new Date(time * 1000).toISOString();
  }

  #removeFirst(count: number, isLeftOut: boolean): void {
    this.#times.splice(0, count);
    this.#ticks.splice(0, count);
    for (const column of this.#columns.values()) column.splice(0, count);
    if (isLeftOut) this.#leftOut += count;
  }

  /** @param seconds age above which samples may be dropped; null: only those beyond the capacity */
  append({ metrics, tick }: Snapshot, seconds: number | null): void {
    const at = secondsOf(metrics.timestamp);
    if (tick <= (this.#ticks.at(-1) ?? -1)) return;
    const last = this.#times.at(-1) ?? -Infinity;
    if (at < last) this.#removeFirst(this.#times.length, true);
    else if (at === last) this.#pop();
    this.#times.push(at);
    this.#ticks.push(tick);
    const values: Readonly<Record<string, unknown>> = metrics;
    for (const [name, column] of this.#columns) {
      const value = values[name];
      column.push(typeof value === 'number' ? value : null);
    }
    if (this.#rest.length === 0) this.#rest = [...this.#columns.keys()].filter((name) => !(name in metrics));
    this.#isCut ||= this.#times.length > this.#capacity;
    const tooOld = seconds === null ? 0 : firstFrom(this.#times, at - seconds);
    const surplus = Math.max(tooOld, this.#times.length - this.#capacity);
    // in larger pieces, because each cut moves the whole array
    if (surplus > 200) this.#removeFirst(surplus, false);
  }

  #pop(): void {
    this.#times.pop();
    this.#ticks.pop();
    for (const column of this.#columns.values()) column.pop();
  }

  /** Adds the metrics that the stream lacks. */
  fill(columns: InColumns): void {
    const more: Readonly<Record<string, unknown>> = { ...columns };
    let at = 0;
    columns.tick.forEach((tick, row) => {
      while (at < this.#ticks.length && (this.#ticks[at] ?? 0) < tick) at += 1;
      if (this.#ticks[at] !== tick) return;
      for (const name of this.#rest) {
        const column = this.#columns.get(name);
        const value = (more[name] as Column | undefined)?.[row];
        if (column !== undefined && value !== undefined) column[at] = value;
      }
    });
  }

  /** The samples of the last `seconds` with some metrics. */
  newest(seconds: number | null, metrics: readonly string[]): Samples {
    const last = this.#times.at(-1) ?? 0;
    const from = seconds === null ? 0 : firstFrom(this.#times, last - seconds);
    const oldest = Math.max(0, this.#times.length - this.#capacity);
    const columns = new Map<string, Column>();
    for (const name of metrics) {
      const column = this.#columns.get(name);
      if (column !== undefined) columns.set(name, column.slice(from));
    }
    return {
      times: this.#times.slice(from),
      metrics: [...this.#columns.keys()],
      column: (metric) => columns.get(metric),
      leftOut: this.#leftOut,
      keptSince: this.#isCut && from <= oldest ? (this.#times[oldest] ?? null) : null,
      capacity: this.#capacity,
    };
  }
}

function firstFrom(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last `seconds` of samples. */
export function lastOf({ times, column, ...more }: Samples, seconds: number): Samples {
  const from = firstFrom(times, (times.at(-1) ?? 0) - seconds);
  return { ...more, times: times.slice(from), column: (metric) => column(metric)?.slice(from) };
}

/** Loads the histories of devices, and adds samples from the stream. @returns function that ends the updates */
function follow(
  devices: readonly number[],
  seconds: number | null,
  hooks: {
    /** @param isNew true: a history was read, which is drawn at once */
    readonly onChange: (stores: ReadonlyMap<number, SampleStore>, isNew: boolean) => void;
    readonly onProblem: (problem: Problem | null) => void;
  },
  metrics: () => readonly string[],
): () => void {
  const stores = new Map<number, SampleStore>();
  const waiting = new Map<number, Snapshot[]>();
  const last = Math.max(...devices);
  let ended = false;
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      if (!ended) hooks.onProblem(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!ended) hooks.onProblem(error);
    }
  };
  const load = async (device: number) => {
    // snapshots that arrive before the answer are appended after it
    waiting.set(device, []);
    const store = new SampleStore(await read(device, seconds === null ? {} : { seconds }));
    for (const snapshot of waiting.get(device) ?? []) store.append(snapshot, seconds);
    waiting.delete(device);
    if (ended) return;
    stores.set(device, store);
    hooks.onChange(stores, true);
  };
  const readRest = async (device: number, store: SampleStore) => {
    const since = store.restSince;
    if (since === null) return;
    store.fill((await read(device, { since, metrics: store.rest })).columns);
    if (!ended) hooks.onChange(stores, false);
  };
  for (const device of devices) void attempt(() => load(device));
  const skipped = new Set<number>();
  const end = onSnapshot(devices, (snapshot) => {
    waiting.get(snapshot.device_index)?.push(snapshot);
    const store = stores.get(snapshot.device_index);
    if (store === undefined) return;
    // of a fast clock the stream has only some ticks
    if (snapshot.tick > store.lastTick + 1) skipped.add(snapshot.device_index);
    store.append(snapshot, seconds);
    // the snapshots of a tick arrive in the order of the devices: one update for all
    if (snapshot.device_index === last) hooks.onChange(stores, false);
  });
  const timer = setInterval(() => {
    if (document.hidden) return;
    for (const device of skipped) void attempt(() => load(device));
    for (const [device, store] of stores)
      if (!skipped.has(device) && store.rest.some((name) => metrics().includes(name)))
        void attempt(() => readRest(device, store));
    skipped.clear();
  }, restMs);
  return () => {
    ended = true;
    end();
    clearInterval(timer);
  };
}

/**
 * Samples of up to eight devices, updated by the stream.
 * @param seconds simulated time to show; null: all samples of the daemon
 * @param metrics names of the metrics to show
 * @param paused true: the result stays the same, while samples are still collected
 */
export function useSamples(
  devices: readonly number[],
  seconds: number | null,
  metrics: readonly string[],
  paused = false,
): Sampled {
  const [live, setLive] = useState<ReadonlyMap<number, Samples>>(new Map());
  const [problem, setProblem] = useState<Problem | null>(null);
  const names = useRef(metrics);
  names.current = metrics;
  const redraw = useRef<() => void>(() => undefined);
  const key = `${devices.join()} ${seconds}`;
  const openings = opened.value;
  useEffect(() => {
    // a reading before the stream is open would have to be repeated
    if (openings === 0) return undefined;
    let drawing = 0;
    let drawnAtMs = -Infinity;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (stores: ReadonlyMap<number, SampleStore>) => {
      clearTimeout(timer);
      timer = undefined;
      if (document.hidden) return;
      drawing ||= requestAnimationFrame(() => {
        drawing = 0;
        drawnAtMs = performance.now();
        setLive(new Map([...stores].map(([device, store]) => [device, store.newest(seconds, names.current)])));
      });
    };
    const onChange = (stores: ReadonlyMap<number, SampleStore>, isNew: boolean) => {
      redraw.current = () => draw(stores);
      const waitMs = drawnAtMs + gapMs - performance.now();
      if (isNew || waitMs <= 0) draw(stores);
      else timer ??= setTimeout(() => draw(stores), waitMs);
    };
    const end = follow(devices, seconds, { onChange, onProblem: setProblem }, () => names.current);
    return () => {
      end();
      clearTimeout(timer);
      cancelAnimationFrame(drawing);
      redraw.current = () => undefined;
    };
    // a restarted daemon has another history
  }, [key, openings]);
  useEffect(() => redraw.current(), [metrics.join(), shown.value]);
  const held = useRef<{ readonly key: string; readonly samples: ReadonlyMap<number, Samples> } | null>(null);
  const heldKey = `${key} ${metrics.join()}`;
  if (!paused || held.current?.key !== heldKey) held.current = null;
  if (paused && live.size > 0) held.current ??= { key: heldKey, samples: live };
  const samples = held.current?.samples ?? live;
  return { samples, waiting: held.current === null ? null : newer(live, samples), problem };
}

/** Number of samples of the first device since the picture was held. */
function newer(all: ReadonlyMap<number, Samples>, held: ReadonlyMap<number, Samples>): number {
  const [first] = all;
  if (first === undefined) return 0;
  const [device, { times }] = first;
  const last = held.get(device)?.times.at(-1);
  return last === undefined ? 0 : times.length - firstFrom(times, last) - (times.includes(last) ? 1 : 0);
}

interface Sampled {
  readonly samples: ReadonlyMap<number, Samples>;
  /** number of samples since the picture was held; null: the picture is live */
  readonly waiting: number | null;
  /** problem of the latest reading */
  readonly problem: Problem | null;
}
