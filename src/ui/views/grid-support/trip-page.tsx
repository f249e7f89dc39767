import { get } from '../../api/call';
import { Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Mark, Point } from '../../kit/plot';
import { show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import type { CurveSpec } from './functions';
import { useSets, widened } from './curve-page';
import type { PageProps } from './curve-page';
import { Points, useDraft } from './points';
import type { ApiPoint } from './points';
import { SetsPanel } from './sets';

const parts = [
  ['must_trip', 'Must trip', 'MustTrip.', 'var(--bad)'],
  ['may_trip', 'May trip', 'MayTrip.', 'var(--warn)'],
  ['momentary_cessation', 'Momentary cessation', 'MomCess.', 'var(--p)'],
] as const;

const shades: Readonly<Record<string, string>> = {
  continuous_operation: 'var(--good)',
  mandatory_operation: 'var(--v)',
  permissive_operation: 'var(--soc)',
  momentary_cessation: 'var(--p)',
  cease_to_energize: 'var(--f)',
  may_ride_through_or_trip: 'var(--warn)',
  shall_trip: 'var(--bad)',
};

interface Area {
  readonly region: string;
  readonly clause: string;
  readonly corners: readonly (Readonly<Record<string, number | null>> & { readonly time_s: number | null })[];
}

function areaOf({ region, clause, corners }: Area, spec: CurveSpec): Mark {
  return {
    kind: 'area',
    points: corners.map((corner): Point => [corner[spec.x] ?? 0, corner.time_s ?? spec.yAxis.max]),
    colour: shades[region] ?? 'var(--off)',
    opacity: 0.16,
    title: `${words(region)} (${clause})`,
  };
}

/** Each threshold holds from its value outward, to the next one: the curve goes in steps. */
function steps(points: readonly Point[], outerX: number, top: number): readonly Point[] {
  const corners = points.flatMap(([x, y], index): Point[] => [
    [points[index - 1]?.[0] ?? outerX, y],
    [x, y],
  ]);
  const last = points.at(-1);
  return last ? [...corners, [last[0], top]] : [];
}

/** Trip curves as time over voltage or frequency, over the ride-through regions of the standard. */
export function TripPage(props: PageProps) {
  const chosen = parts.find(([name]) => name === param('curve')) ?? parts[0];
  const { entry, device } = props;
  return entry.curve ? (
    <TripEditor {...props} spec={entry.curve} chosen={chosen} key={`${device} ${entry.name} ${chosen[0]}`} />
  ) : null;
}

function TripEditor({
  device,
  entry,
  settings,
  now,
  spec,
  chosen,
}: PageProps & { readonly spec: CurveSpec; readonly chosen: (typeof parts)[number] }) {
  const curveOf = (part: string) => (settings[part] as { points?: readonly ApiPoint[] } | undefined)?.points ?? [];
  const draft = useDraft(device, entry.name, spec, curveOf(chosen[0]), chosen[0]);
  const regions = useLive(get('grid-support/regions', { query: { device } }), 'once').data;
  const sets = useSets(device, entry.name);
  const areas = ((spec.x === 'v_pct' ? regions?.voltage : regions?.frequency) ?? []) as readonly Area[];
  const x = widened(
    spec.xAxis,
    draft.points.map((point) => point[0]),
  );
  const seen =
    spec.x === 'hz' ? now?.frequency_hz : entry.name === 'lv_trip' ? now?.lowest_voltage_pct : now?.highest_voltage_pct;
  const marks: readonly Mark[] = [
    ...areas.map((area) => areaOf(area, spec)),
    ...parts.map(
      ([name, title, , colour]): Mark => ({
        kind: 'line',
        points: steps(
          name === chosen[0]
            ? draft.points
            : curveOf(name).map((point): Point => [point[spec.x] ?? 0, point[spec.y] ?? 0]),
          entry.name.startsWith('l') ? x.min : x.max,
          spec.yAxis.max,
        ),
        colour,
        dashed: name !== chosen[0],
        title,
      }),
    ),
    ...(seen == null ? [] : [{ kind: 'rule', x: seen, colour: 'var(--accent)', title: 'Now' } as const]),
  ];
  const toTrip = now?.time_to_trip_s[entry.name as 'lv_trip'];
  return (
    <>
      <Panel
        title={`${entry.title} curves`}
        tools={parts.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={name === chosen[0]} onClick={() => setParam('curve', name)}>
            {title}
          </button>
        ))}
      >
        <div class="curve">
          <Plot
            label={`${entry.title} curves`}
            x={x}
            y={{ ...spec.yAxis, log: true }}
            marks={marks}
            handles={draft.handles}
            onMove={draft.move}
            step={[0.1, 0.1]}
          >
            {toTrip == null ? 'The timer does not run.' : `Trips in ${show(toTrip, 'seconds')}.`} Times of 0 s stand at
            the lower edge. Vertical line: now.
          </Plot>
          <Points draft={draft} spec={spec} maxPoints={Number(settings['max_points'])} />
        </div>
        <ul class="regions" aria-label="Ride-through regions">
          {areas.map((area, index) => (
            <li key={index}>
              <span class="swatch" style={{ background: shades[area.region] ?? 'var(--off)' }} /> {words(area.region)}{' '}
              <span class="muted">{area.clause}</span>
            </li>
          ))}
        </ul>
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} points={draft.points} part={chosen[2]} />
    </>
  );
}
