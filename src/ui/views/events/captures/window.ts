/** The span of time that the drawing of a capture shows, and its cursor. */
import type { Span } from './steps';

/** Shortest span in view, s. */
const leastS = 0.02;
const factor = 1.4;

/** A span within the whole one; a span that is too long becomes the whole one. */
function within({ from, to }: Span, whole: Span): Span {
  const length = Math.max(leastS, to - from);
  if (length >= whole.to - whole.from) return whole;
  const start = Math.min(Math.max(from, whole.from), whole.to - length);
  return { from: start, to: start + length };
}

/** Zooms around an instant, which stays where it is. */
export function zoomed({ from, to }: Span, at: number, isIn: boolean, whole: Span): Span {
  const by = isIn ? 1 / factor : factor;
  return within({ from: at - (at - from) * by, to: at + (to - at) * by }, whole);
}

/** Moves a span so that an instant is in it. */
export function showing(span: Span, at: number, whole: Span): Span {
  if (at >= span.from && at <= span.to) return span;
  const half = (span.to - span.from) / 2;
  return within({ from: at - half, to: at + half }, whole);
}

/** The instant so many rows away, which a key moves the cursor to. @param instants ascending */
export function rowAway(instants: readonly number[], at: number | null, rows: number): number | null {
  if (instants.length === 0) return null;
  const next = instants.findIndex((each) => each >= (at ?? 0) - 1e-9);
  const present = next === -1 ? instants.length - 1 : next;
  // between two rows the one before is the first step back
  const isBetween = at !== null && Math.abs((instants[present] ?? 0) - at) > 1e-9;
  const start = isBetween && rows > 0 ? present - 1 : present;
  return instants[Math.min(Math.max(start + rows, 0), instants.length - 1)] ?? null;
}
