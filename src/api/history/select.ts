/** Selects the samples of an answer. */
import { simColumn } from './ring.ts';
import type { Cut, Run } from './ring.ts';

/** Simulated time, ms since the epoch; null: no bound. */
export interface Window {
  /** inclusive */
  readonly sinceMs: number | null;
  /** exclusive */
  readonly untilMs: number | null;
}

export interface Selection {
  readonly width: number;
  /** oldest first, none of them empty */
  readonly runs: readonly Run[];
  readonly count: number;
  /** samples of the window are missing: dropped, or left out by the limit */
  readonly truncated: boolean;
}

/** The parts of a run that are within the window, row by row. */
function partsWithin({ values, from, to }: Run, width: number, sinceMs: number, untilMs: number): Run[] {
  const within: Run[] = [];
  let begin = -1;
  for (let row = from; row < to; row += 1) {
    const simMs = values[row * width + simColumn] ?? NaN;
    const inside = simMs >= sinceMs && simMs < untilMs;
    if (inside && begin < 0) begin = row;
    if (inside || begin < 0) continue;
    within.push({ values, from: begin, to: row });
    begin = -1;
  }
  if (begin >= 0) within.push({ values, from: begin, to });
  return within;
}

function runsWithin({ width, runs }: Cut, sinceMs: number, untilMs: number): Run[] {
  return runs.flatMap((run) => {
    if (run.toMs < sinceMs || run.fromMs >= untilMs) return [];
    // all rows of a block inside the window are inside
    return run.fromMs >= sinceMs && run.toMs < untilMs ? [run] : partsWithin(run, width, sinceMs, untilMs);
  });
}

/** The last `limit` rows. */
function newest(runs: readonly Run[], surplus: number): Run[] {
  let left = surplus;
  return runs.flatMap((run) => {
    const dropped = Math.min(left, run.to - run.from);
    left -= dropped;
    return run.from + dropped < run.to ? [{ ...run, from: run.from + dropped }] : [];
  });
}

/**
 * The newest samples of a window, in the order of recording. After a setting of the clock simulated times repeat or
 * jump: each sample is selected by its own time, whatever its position.
 */
export function select(cut: Cut, { sinceMs, untilMs }: Window, limit: number): Selection {
  const [since, until] = [sinceMs ?? -Infinity, untilMs ?? Infinity];
  const within = runsWithin(cut, since, until);
  const found = within.reduce((sum, { from, to }) => sum + to - from, 0);
  const goneInside = cut.gone !== null && cut.gone.toMs >= since && cut.gone.fromMs < until;
  return {
    width: cut.width,
    runs: found > limit ? newest(within, found - limit) : within,
    count: Math.min(found, limit),
    truncated: found > limit || goneInside,
  };
}
