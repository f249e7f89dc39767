/** Axes of the drawing of a capture: round ticks, ranges with a least span, labels that do not touch. */
import { fixed } from '../../../look/format';
import type { Scale, Span } from './steps';

/** Distance of round ticks. @param least distance that leaves room for the labels */
export function tickStep(least: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((each) => each * magnitude >= least * (1 - 1e-9)) ?? 10;
  return factor * magnitude;
}

/** Decimals that tell ticks of this distance apart. */
export const tickDecimals = (step: number): number => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

export function ticksOf(min: number, max: number, step: number): readonly number[] {
  const first = Math.ceil(min / step - 1e-9);
  const count = Math.floor(max / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_none, n) => (first + n) * step + 0);
}

/** A range around values, at least as wide as `least`. */
export function rangeAround(low: number, high: number, least: number): Span {
  const lack = Math.max(0, least - (high - low)) / 2;
  const margin = 0.06 * Math.max(high - low, least);
  return { from: low - lack - margin, to: high + lack + margin };
}

/** Seconds from the begin, for the axis. */
export function secondsText(seconds: number, step: number): string {
  return `${fixed(seconds, tickDecimals(step))} s`;
}

/** `+0.160 s` */
export const instantText = (seconds: number): string =>
  `${seconds >= 0 ? '+' : ''}${fixed(seconds, Math.abs(seconds) < 100 ? 3 : 1)} s`;

export const scaleOf =
  ({ from, to }: Span, fromPx: number, toPx: number): Scale =>
  (value) =>
    fromPx + ((value - from) / (to - from)) * (toPx - fromPx);

/** Moves labels apart so that they do not touch. @param wanted places in any order @returns places in the same order */
export function spread(wanted: readonly number[], gap: number, top: number, bottom: number): readonly number[] {
  const order = wanted.map((_y, n) => n).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const places: number[] = [];
  let last = top - gap;
  for (const n of order) places[n] = last = Math.max(last + gap, wanted[n] ?? 0);
  let next = bottom + gap;
  for (const n of order.toReversed()) places[n] = next = Math.min(next - gap, places[n] ?? 0);
  return places;
}
