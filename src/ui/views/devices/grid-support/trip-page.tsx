import { get } from '../../../api/call';
import { Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import type { Mark, Point } from '../../../kit/plot';
import { remaining, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { PageProps } from './curve-page';
import type { CurveSpec, Settings } from './functions';
import { widened } from './live-point';
import { Points, pointsOf, useDraft } from './points';
import { PresetMenu } from './preset-menu';
import type { ApiPoint, Draft } from './points';
import { MissingSet, SetsPanel, storedSet, useSets } from './sets';
import type { Sets } from './sets';

const parts = [
  { name: 'must_trip', title: 'Must trip', register: 'MustTrip.', colour: 'var(--bad)' },
  { name: 'may_trip', title: 'May trip', register: 'MayTrip.', colour: 'var(--warn)' },
  { name: 'momentary_cessation', title: 'Momentary cessation', register: 'MomCess.', colour: 'var(--p)' },
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

/** A stepped curve: each threshold applies from its value outward, up to the threshold before it. */
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
  const chosen = parts.find(({ name }) => name === param('curve')) ?? parts[0];
  const { entry, device } = props;
  const { sets, lack } = useSets(device, entry.name);
  if (lack !== null) return <MissingSet device={device} entry={entry} sets={sets} lack={lack} />;
  const number = storedSet(sets)?.number ?? 1;
  return entry.curve ? (
    <TripEditor {...props} spec={entry.curve} chosen={chosen} sets={sets} key={`${chosen.name} ${number}`} />
  ) : null;
}

type EditorProps = PageProps & {
  readonly spec: CurveSpec;
  readonly chosen: (typeof parts)[number];
  readonly sets: Sets | undefined;
};

function curveOf(settings: Settings, part: string, spec: CurveSpec): readonly Point[] {
  return pointsOf((settings[part] as { points?: readonly ApiPoint[] } | undefined)?.points, spec);
}

/** The three curves of the set being edited, over the chosen curve of the other sets. */
function curveMarks({ settings, spec, chosen, sets }: EditorProps, draft: Draft, outerX: number): Mark[] {
  const edited: Settings = draft.set ?? settings;
  const others = sets?.sets.filter(({ number }) => number !== (draft.set?.number ?? 1)) ?? [];
  const line = (points: readonly Point[], title: string, more: Partial<Extract<Mark, { kind: 'line' }>>): Mark => ({
    kind: 'line',
    points: steps(points, outerX, spec.yAxis.max),
    colour: 'var(--off)',
    width: 1.5,
    title,
    ...more,
  });
  return [
    ...others.map((set) =>
      line(
        set.in_force ? curveOf(settings, chosen.name, spec) : curveOf(set, chosen.name, spec),
        `${chosen.title}, set ${set.number}`,
        { dashed: !set.in_force },
      ),
    ),
    ...(draft.isChanged
      ? [
          line(draft.present, `${chosen.title}, set ${draft.set?.number ?? 1} without the draft`, {
            dashed: draft.set !== null,
          }),
        ]
      : []),
    ...parts.map(({ name, title, colour }) => {
      const isChosen = name === chosen.name;
      return line(isChosen ? draft.points : curveOf(edited, name, spec), title, {
        colour,
        dashed: draft.set !== null,
        width: isChosen ? 3 : 1.5,
      });
    }),
  ].filter((mark) => mark.kind !== 'line' || mark.points.length > 0);
}

function TripEditor(props: EditorProps) {
  const { device, entry, settings, now, spec, chosen, sets } = props;
  const set = storedSet(sets);
  const inForce = curveOf(settings, chosen.name, spec);
  const live = set === null ? inForce : curveOf(set, chosen.name, spec);
  const draft = useDraft(device, entry, spec, live, set, chosen);
  const regions = useLive(get('grid-support/regions', { query: { device } }), 'once').data;
  const areas = ((spec.x === 'v_pct' ? regions?.voltage : regions?.frequency) ?? []) as readonly Area[];
  const x = widened(
    spec.xAxis,
    draft.points.map((point) => point[0]),
  );
  const present =
    spec.x === 'hz' ? now?.frequency_hz : entry.name === 'lv_trip' ? now?.lowest_voltage_pct : now?.highest_voltage_pct;
  const marks: readonly Mark[] = [
    ...areas.map((area) => areaOf(area, spec)),
    ...curveMarks(props, draft, entry.name.startsWith('l') ? x.min : x.max),
    ...(present == null ? [] : [{ kind: 'rule', x: present, colour: 'var(--accent)', title: 'Now' } as const]),
  ];
  const toTrip = now?.time_to_trip_s[entry.name as 'lv_trip'];
  return (
    <>
      <Panel
        title={`${entry.title} curves${set === null ? '' : `, set ${set.number}`}`}
        tools={parts.map(({ name, title }) => (
          <button key={name} type="button" aria-pressed={name === chosen.name} onClick={() => setParam('curve', name)}>
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
            step={spec.step}
          >
            {toTrip == null ? 'The trip timer does not run.' : `Trips in ${remaining(toTrip)}.`} Times of 0 s are drawn
            at the lower edge. Vertical line: now. Solid: set 1, in force. Dashed: stored sets. In colour: the set that
            is edited.
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
        <ul class="regions" aria-label="Ride-through regions">
          {areas.map((area, index) => (
            <li key={index}>
              <span class="swatch" style={{ background: shades[area.region] ?? 'var(--off)' }} /> {words(area.region)}{' '}
              <span class="muted">{area.clause}</span>
            </li>
          ))}
        </ul>
      </Panel>
      <SetsPanel device={device} entry={entry} sets={sets} />
    </>
  );
}
