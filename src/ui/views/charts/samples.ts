/** Samples of devices: one read of their history, then the telemetry stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../../api/call';
import { perform, Problem } from '../../api/perform';
import { link, onSnapshot } from '../../store/stream';
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
}

const maxSamples = 100_000;

/** Whether a kind of device has this metric. */
async function has(device: number, metric: string): Promise<boolean> {
  return (await perform(get('history', { query: { device, limit: 1 } }))).metrics.includes(metric);
}

async function readHistory(device: number, seconds: number | null, extra: string | null): Promise<Kept> {
  const names = extra !== null && (await has(device, extra)) ? [...metrics, extra] : [...metrics];
  const query = { device, metrics: names, limit: maxSamples, ...(seconds !== null && { seconds }) };
  const reply = await perform(get('history', { query }));
  // the other shape is that of `format=columns`
  const rows = ('samples' in reply ? reply.samples : []) as readonly Record<string, number | string | null>[];
  return {
    times: rows.map(({ timestamp }) => Date.parse(String(timestamp)) / 1000),
    columns: new Map(
      names.map((name) => [
        name,
        rows.map((row) => {
          const value = row[name];
          return typeof value === 'number' ? value : null;
        }),
      ]),
    ),
  };
}

/** Adds a snapshot; false where the clock was set back and the history has to be read anew. */
function append(kept: Kept, { metrics: newest }: Snapshot, seconds: number | null): boolean {
  const at = Date.parse(newest.timestamp) / 1000;
  const last = kept.times.at(-1);
  if (last !== undefined && at < last) return false;
  if (last === at) return true;
  kept.times.push(at);
  for (const [name, column] of kept.columns) column.push(name in newest ? newest[name as Metric] : null);
  const old = seconds === null ? 0 : kept.times.findIndex((time) => time >= at - seconds);
  // cut in larger pieces, because each cut moves the whole array
  if (old > 200) {
    kept.times.splice(0, old);
    for (const column of kept.columns.values()) column.splice(0, old);
  }
  return true;
}

/**
 * Samples of up to eight devices, following the stream.
 * @param seconds simulated time that is shown; null: all that the daemon keeps
 * @param extra a metric of the history that the stream does not carry; it is read again every 10 s
 * @param paused what is returned stays as it is, while samples go on being collected
 */
export function useSamples(devices: readonly number[], seconds: number | null, extra: string | null, paused: boolean) {
  const [shown, setShown] = useState<ReadonlyMap<number, Samples>>(new Map());
  const [problem, setProblem] = useState<Problem | null>(null);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  const key = `${devices.join()} ${seconds} ${extra}`;
  const isOpen = link.value.state === 'open';
  useEffect(() => {
    const kept = new Map<number, Kept>();
    let ended = false;
    let drawing = false;
    const draw = () => {
      if (drawing || isPaused.current) return;
      drawing = true;
      requestAnimationFrame(() => {
        drawing = false;
        if (!ended) setShown(new Map([...kept].map(([device, { times, columns }]) => [device, { times, columns }])));
      });
    };
    const load = async (device: number) => {
      try {
        const read = await readHistory(device, seconds, extra);
        if (ended) return;
        kept.set(device, read);
        setProblem(null);
        draw();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (!ended) setProblem(error);
      }
    };
    const loadAll = () => {
      for (const device of devices) void load(device);
    };
    loadAll();
    const end = onSnapshot((snapshot) => {
      const known = kept.get(snapshot.device_index);
      if (known === undefined) return;
      if (append(known, snapshot, seconds)) draw();
      else {
        kept.delete(snapshot.device_index);
        void load(snapshot.device_index);
      }
    });
    const timer = extra === null ? undefined : setInterval(loadAll, 10_000);
    return () => {
      ended = true;
      end();
      clearInterval(timer);
    };
    // a daemon that comes back has a history of its own
  }, [key, isOpen]);
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
