/** Samples of the process under test: memory and descriptors from /proc, ticks and event loop from its metrics. */
import { readdir } from 'node:fs/promises';
import { residentBytes } from '../bench/support/processes.ts';
import { median } from '../bench/support/stats.ts';
import { ask } from '../test/support/http.ts';

export interface Sample {
  /** monotonic, s */
  readonly atS: number;
  readonly residentMb: number;
  readonly descriptors: number;
}

/** Counters of the process since its start, and its event loop. */
export interface Metrics {
  readonly ticks: number;
  readonly skipped: number;
  readonly stalls: number;
  readonly p99Ms: number;
}

async function descriptorsOf(pid: number): Promise<number> {
  try {
    return (await readdir(`/proc/${pid}/fd`)).length;
  } catch {
    return NaN;
  }
}

/** One sample; NaN where there is no /proc. */
export async function sampleOf(pid: number): Promise<Sample> {
  const [resident, descriptors] = await Promise.all([residentBytes(pid), descriptorsOf(pid)]);
  return { atS: performance.now() / 1000, residentMb: (resident ?? NaN) / 1e6, descriptors };
}

const families = {
  ticks: 'derbench_ticks_total',
  skipped: 'derbench_ticks_skipped_total',
  stalls: 'derbench_event_loop_stalls_total',
  p99Ms: 'nodejs_eventloop_lag_p99_seconds',
} as const;

export async function metricsOf(httpPort: number): Promise<Metrics> {
  const { text } = await ask(httpPort, '/api/sim/metrics');
  const value = (family: string) => Number(new RegExp(`^${family} (\\S+)$`, 'm').exec(text)?.[1]);
  const { ticks, skipped, stalls, p99Ms } = families;
  return { ticks: value(ticks), skipped: value(skipped), stalls: value(stalls), p99Ms: 1000 * value(p99Ms) };
}

/** windows of a run whose medians make the slope */
const windows = 12;

/**
 * Slope of the resident memory, MB/s: the median of the slopes between the medians of twelve equal windows (Theil and
 * Sen). Medians hide the saw teeth of the garbage collector, and a single jump moves it little. NaN for too few samples.
 */
export function slopeOf(samples: readonly Sample[]): number {
  const first = samples[0]?.atS ?? 0;
  const widthS = ((samples.at(-1)?.atS ?? 0) - first) / windows;
  if (samples.length < 2 * windows || widthS <= 0) return NaN;
  const points = Array.from({ length: windows }, (_, i) => {
    const within = samples.filter(({ atS }) => Math.min(windows - 1, Math.floor((atS - first) / widthS)) === i);
    return within.length === 0 ? NaN : median(within.map(({ residentMb }) => residentMb));
  });
  const slopes = points.flatMap((later, i) =>
    points.slice(0, i).map((earlier, j) => (later - earlier) / ((i - j) * widthS)),
  );
  return median(slopes.filter((slope) => !Number.isNaN(slope)));
}

/** Descriptors at the end minus those at the beginning, each the median of a tenth of the samples. */
export function descriptorChange(samples: readonly Sample[]): number {
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  const at = (part: readonly Sample[]) => median(part.map(({ descriptors }) => descriptors));
  return at(samples.slice(-tenth)) - at(samples.slice(0, tenth));
}
