import { Facts, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import type { Mark, Point } from '../../../kit/plot';
import { fixed } from '../../../look/format';
import type { CurveSpec, FunctionEntry, Settings } from './functions';
import { liveMarks, useReference, useTrail, widened } from './live-point';
import { Points, pointsOf, useDraft } from './points';
import { PresetMenu } from './preset-menu';
import type { ApiPoint } from './points';
import type { Trace } from './why';
import { MissingSet, SetsPanel, storedSet, useSets } from './sets';
import type { Sets } from './sets';
import { SetValues } from './values-form';

export interface PageProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly settings: Settings;
  readonly now: Trace['now'] | undefined;
}

/** The operating point of the device: the curve's input, and the function's output or else the power. */
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

/** Extends a curve horizontally to the limits of its axis. */
function extended(points: readonly Point[], min: number, max: number): readonly Point[] {
  const [first, last] = [points[0], points.at(-1)];
  return first && last ? [[Math.min(min, first[0]), first[1]], ...points, [Math.max(max, last[0]), last[1]]] : [];
}

/** The curve of volt-var, volt-watt or watt-var with its operating point and editor. */
export function CurvePage(props: PageProps) {
  const { device, entry, now } = props;
  const spec = entry.curve;
  const { at, target } = useOperatingPoint(props);
  const trail = useTrail(at, now?.t_s);
  const { sets, lack } = useSets(device, entry.name);
  if (!spec) return null;
  if (lack !== null) return <MissingSet device={device} entry={entry} sets={sets} lack={lack} />;
  const number = storedSet(sets)?.number ?? 1;
  return <CurveEditor key={number} {...props} spec={spec} at={at} target={target} trail={trail} sets={sets} />;
}

type EditorProps = PageProps & {
  readonly spec: CurveSpec;
  readonly at: Point | null;
  readonly target: Point | null;
  readonly trail: readonly Point[];
  readonly sets: Sets | undefined;
};

function curveOf(settings: Settings, spec: CurveSpec): readonly Point[] {
  return pointsOf(settings['points'] as readonly ApiPoint[] | undefined, spec);
}

function CurveEditor({ device, entry, settings, now, spec, at, target, trail, sets }: EditorProps) {
  const set = storedSet(sets);
  const inForce = curveOf(settings, spec);
  const draft = useDraft(device, entry, spec, set === null ? inForce : curveOf(set, spec), set);
  const x = widened(spec.xAxis, [...draft.points.map((point) => point[0]), ...(at ? [at[0]] : [])]);
  const y = widened(spec.yAxis, [...draft.points.map((point) => point[1]), ...(at ? [at[1]] : [])]);
  const step = now?.functions[entry.name as 'volt_var'];
  const others = sets?.sets.filter(({ number }) => number !== (set?.number ?? 1)) ?? [];
  const line = (points: readonly Point[], title: string, more: Partial<Extract<Mark, { kind: 'line' }>>): Mark => ({
    kind: 'line',
    points: extended(points, x.min, x.max),
    colour: 'var(--off)',
    width: 1.5,
    title,
    ...more,
  });
  const marks: readonly Mark[] = [
    ...others.map((other) =>
      line(other.in_force ? inForce : curveOf(other, spec), `Set ${other.number}`, { dashed: !other.in_force }),
    ),
    ...(draft.isChanged
      ? [line(draft.present, `Set ${set?.number ?? 1} without the draft`, { dashed: set !== null })]
      : []),
    line(draft.points, `Set ${set?.number ?? 1}${draft.isChanged ? ', not applied yet' : ''}`, {
      colour: entry.name === 'volt_watt' ? 'var(--p)' : 'var(--q)',
      dashed: set !== null,
      width: 2,
    }),
    ...(target ? [{ kind: 'dot', at: target, colour: 'var(--muted)', radius: 3, title: 'Target' } as const] : []),
    ...liveMarks(at, trail, x, y),
  ];
  const unit = entry.name === 'volt_watt' ? 'kW' : 'kvar';
  return (
    <>
      <Panel title={`${entry.title} curve${set === null ? '' : `, set ${set.number}`}`}>
        <div class="curve">
          <Plot
            label={`${entry.title} curve`}
            x={x}
            y={y}
            marks={marks}
            handles={draft.handles}
            onMove={draft.move}
            step={spec.step}
          >
            Solid: set 1, in force. Dashed: stored sets. In colour: the set that is edited. Filled dot: now, with the
            last minute.
          </Plot>
          <Points
            draft={draft}
            spec={spec}
            maxPoints={Number(settings['max_points'])}
            inForce={inForce}
            device={device}
          >
            <PresetMenu device={device} entry={entry} draft={draft} settings={set ?? settings} />
          </Points>
        </div>
        <Facts
          rows={[
            ['Input', `${fixed(step?.input, 2)} ${entry.name === 'watt_var' ? 'kW' : '%'}`],
            ['Target', `${fixed(step?.target, 2)} ${unit}`],
            ['Output', `${fixed(step?.output, 2)} ${unit}`],
          ]}
        />
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} />
      <SetValues device={device} entry={entry} settings={settings} set={set} />
    </>
  );
}
