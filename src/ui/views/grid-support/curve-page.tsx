import { useEffect, useRef } from 'preact/hooks';
import { anyCall } from '../../api/call';
import type { Call } from '../../api/call';
import { Facts, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Mark, Point } from '../../kit/plot';
import { digits } from '../../look/format';
import { useLive } from '../../store/live';
import type { FunctionEntry, Settings } from './functions';
import { Points, useDraft } from './points';
import type { ApiPoint } from './points';
import type { Trace } from './sentence';
import { SetsPanel } from './sets';
import type { Sets } from './sets';
import { ValuesForm } from './values-form';

export interface PageProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly settings: Settings;
  readonly now: Trace['now'] | undefined;
}

interface Ratings {
  readonly points: readonly { readonly name: string; readonly value: number | null }[];
}

export function useSets(device: number, name: string): Sets | undefined {
  const call = anyCall('GET', 'grid-support/sets', { device, function: name }) as Call<Record<string, Sets>>;
  return useLive(call).data?.[name];
}

/** What 100 % of a curve is, kW or kvar; null where the reference is not a rating. */
function useReference(device: number): (reference: unknown, negative: boolean) => number | null {
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

/** Where the device is in the plane of the curve: input against what the function puts out, else against its power. */
function useOperatingPoint({ device, entry, settings, now }: PageProps): { at: Point | null; target: Point | null } {
  const referenceOf = useReference(device);
  if (!now) return { at: null, target: null };
  const step = now.functions[entry.name as 'volt_var'];
  const isVar = entry.name !== 'volt_watt';
  const percent = (value: number | null) => {
    if (value === null) return null;
    const full =
      settings['dept_ref'] === 'w_aval_pct' ? now.available_kw : referenceOf(settings['dept_ref'], value < 0);
    return full === null || full === 0 ? null : (value / full) * 100;
  };
  const rated = referenceOf('w_max_pct', false);
  const shift =
    entry.name === 'volt_var'
      ? ((settings['v_ref_auto_enabled'] === true
          ? Number(settings['v_ref_auto_pct'])
          : Number(settings['v_ref_pct'])) || 100) - 100
      : 0;
  const x =
    entry.name === 'watt_var'
      ? rated === null || now.active_power_kw === null
        ? null
        : (now.active_power_kw / rated) * 100
      : now.voltage_pct === null
        ? null
        : now.voltage_pct - shift;
  const y = percent(step.output ?? (isVar ? now.reactive_power_kvar : now.active_power_kw));
  const target = percent(step.target);
  return { at: x === null || y === null ? null : [x, y], target: x === null || target === null ? null : [x, target] };
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

/** Makes an axis wide enough for some values. */
export function widened<A extends { readonly min: number; readonly max: number }>(
  axis: A,
  values: readonly number[],
): A {
  return { ...axis, min: Math.min(axis.min, ...values), max: Math.max(axis.max, ...values) };
}

/** Left and right of its points a curve goes on flat. */
function extended(points: readonly Point[], min: number, max: number): readonly Point[] {
  const [first, last] = [points[0], points.at(-1)];
  return first && last ? [[Math.min(min, first[0]), first[1]], ...points, [Math.max(max, last[0]), last[1]]] : [];
}

/** The curve of volt-var, volt-watt or watt-var with its live point, and its editor. */
export function CurvePage(props: PageProps) {
  const { device, entry, now } = props;
  const spec = entry.curve;
  const { at, target } = useOperatingPoint(props);
  const trail = useTrail(at, now?.t_s);
  const sets = useSets(device, entry.name);
  if (!spec) return null;
  return <CurveEditor {...props} spec={spec} at={at} target={target} trail={trail} sets={sets} />;
}

type EditorProps = PageProps & {
  readonly spec: NonNullable<FunctionEntry['curve']>;
  readonly at: Point | null;
  readonly target: Point | null;
  readonly trail: readonly Point[];
  readonly sets: Sets | undefined;
};

function CurveEditor({ device, entry, settings, now, spec, at, target, trail, sets }: EditorProps) {
  const draft = useDraft(device, entry.name, spec, settings['points'] as readonly ApiPoint[]);
  const stored = sets?.sets.filter(({ in_force: inForce }) => !inForce) ?? [];
  const x = widened(spec.xAxis, [...draft.points.map((point) => point[0]), ...(at ? [at[0]] : [])]);
  const y = widened(spec.yAxis, [...draft.points.map((point) => point[1]), ...(at ? [at[1]] : [])]);
  const colour = entry.name === 'volt_watt' ? 'var(--p)' : 'var(--q)';
  const step = now?.functions[entry.name as 'volt_var'];
  const marks: readonly Mark[] = [
    ...stored.map(
      ({ number, points = [] }): Mark => ({
        kind: 'line',
        points: extended(
          points.map((point): Point => [point[spec.x] ?? 0, point[spec.y] ?? 0]),
          x.min,
          x.max,
        ),
        colour: 'var(--off)',
        dashed: true,
        width: 1.5,
        title: `Stored set ${number}`,
      }),
    ),
    {
      kind: 'line',
      points: extended(draft.points, x.min, x.max),
      colour,
      title: draft.isChanged ? 'Curve, not applied yet' : 'Curve in force',
    },
    { kind: 'line', points: trail, colour: 'var(--accent)', width: 1, title: 'Last minute' },
    ...(target ? [{ kind: 'dot', at: target, colour: 'var(--muted)', radius: 3, title: 'Target' } as const] : []),
    ...(at
      ? [
          {
            kind: 'dot',
            at,
            colour: 'var(--accent)',
            radius: 10,
            title: `Now: ${digits(at[0], 2)} ${x.unit}, ${digits(at[1], 2)} ${y.unit}`,
          } as const,
        ]
      : []),
  ];
  const unit = entry.name === 'volt_watt' ? 'kW' : 'kvar';
  return (
    <>
      <Panel title={`${entry.title} curve`}>
        <div class="curve">
          <Plot
            label={`${entry.title} curve`}
            x={x}
            y={y}
            marks={marks}
            handles={draft.handles}
            onMove={draft.move}
            step={[0.1, 1]}
          >
            Solid: {draft.isChanged ? 'points not applied yet' : 'in force'}. Dashed: stored sets. Filled dot: now, with
            the last minute.
          </Plot>
          <Points draft={draft} spec={spec} maxPoints={Number(settings['max_points'])} />
        </div>
        <Facts
          rows={[
            ['Input', `${digits(step?.input, 2)} ${entry.name === 'watt_var' ? 'kW' : '%'}`],
            ['Target', `${digits(step?.target, 2)} ${unit}`],
            ['Output', `${digits(step?.output, 2)} ${unit}`],
          ]}
        />
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} points={draft.points} />
      <Panel title="Values">
        <ValuesForm device={device} name={entry.name} settings={settings} />
      </Panel>
    </>
  );
}
