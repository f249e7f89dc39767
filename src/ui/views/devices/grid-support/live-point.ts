/** The operating point of a device in the plane of a curve, now and during the last minute. */
import { useEffect, useRef } from 'preact/hooks';
import { anyCall } from '../../../api/call';
import type { Call } from '../../../api/call';
import type { Axis, Mark, Point } from '../../../kit/plot';
import { fixed } from '../../../look/format';
import { useLive } from '../../../store/live';

interface Ratings {
  readonly points: readonly { readonly name: string; readonly value: number | null }[];
}

/** The value of 100 % on a curve, kW or kvar. null: the reference is not a rating, or not read yet. */
export function useReference(device: number): (reference: unknown, negative: boolean) => number | null {
  const points = 'WMax,VAMax,VarMaxInj,VarMaxAbs';
  const data = useLive(anyCall('GET', 'registers/702', { device, points }) as Call<Ratings>, 5000).data;
  return (reference, negative) => {
    const names: Readonly<Record<string, string>> = {
      w_max_pct: 'WMax',
      va_max_pct: 'VAMax',
      var_max_pct: negative ? 'VarMaxAbs' : 'VarMaxInj',
    };
    const name = names[String(reference)];
    const value = data?.points.find((point) => point.name === name)?.value ?? null;
    return value === null ? null : value / 1000;
  };
}

const trailS = 60;

/** Operating points of the last simulated minute. */
export function useTrail(at: Point | null, timeS: number | undefined): readonly Point[] {
  const trail = useRef<{ timeS: number; at: Point }[]>([]);
  useEffect(() => {
    if (at === null || timeS === undefined) return;
    trail.current = [
      ...trail.current.filter((item) => item.timeS < timeS && item.timeS >= timeS - trailS),
      { timeS, at },
    ];
  }, [timeS]);
  return trail.current.map((item) => item.at);
}

/** The operating point with its trail. @param more text after the values */
export function liveMarks(at: Point | null, trail: readonly Point[], x: Axis, y: Axis, more = ''): readonly Mark[] {
  const line: Mark = { kind: 'line', points: trail, colour: 'var(--accent)', width: 1, title: 'Last minute' };
  if (at === null) return [line];
  const title = `Now: ${fixed(at[0], 2)} ${x.unit}, ${fixed(at[1], 2)} ${y.unit}${more}`;
  return [line, { kind: 'dot', at, colour: 'var(--accent)', radius: 6, title }];
}

/** Widens an axis to include some values. */
export function widened<A extends { readonly min: number; readonly max: number }>(
  axis: A,
  values: readonly number[],
): A {
  return { ...axis, min: Math.min(axis.min, ...values), max: Math.max(axis.max, ...values) };
}
