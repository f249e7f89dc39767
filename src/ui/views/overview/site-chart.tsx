/** Net power, possible power and voltage of the site in the last hour, with the entries of the timeline as letters. */
import { useRef } from 'preact/hooks';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { useBox } from '../../kit/box';
import { Panel } from '../../kit/panel';
import { fixed, timeOfDay } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { lettersOf } from './entries';
import type { Entry } from './entries';
import { axisOf, flagPlaces, labelPlaces, pathOf, timeTicks } from './strip';
import type { Axis, Point } from './strip';

type Past = ReplyOf<'site/history'>;

const spanMs = 3_600_000;
const paceMs = 5000;
/** Window height from which the chart also has the voltage, px. */
const tallPx = 1000;
const room = { left: 62, right: 104, top: 26, bottom: 22, between: 22 } as const;
const slimPx = 560;
/** Half of the width of a time below the chart. */
const halfLabelPx = 16;

interface Line {
  readonly points: readonly Point[];
  /** beside the end of the line */
  readonly label: string;
  /** classes of the line */
  readonly look: string;
}

interface Lane {
  readonly name: string;
  readonly unit: string;
  readonly axis: Axis;
  readonly lines: readonly Line[];
}

const pointsOf = ({ timestamp }: Past, values: readonly (number | null)[]): readonly Point[] =>
  timestamp.flatMap((at, index) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [[Date.parse(at), value] as const];
  });

function powerLane(past: Past): Lane {
  const [net, possible] = [pointsOf(past, past.net_power_kw), pointsOf(past, past.possible_kw)];
  const largest = Math.max(0, ...past.net_power_kw.map(Math.abs), ...past.possible_kw.map(Math.abs));
  const isMega = largest >= 10_000;
  const scaled = (points: readonly Point[]): readonly Point[] =>
    isMega ? points.map(([at, kw]) => [at, kw / 1000]) : points;
  const limits = [
    { points: pointsOf(past, past.export_limit_kw), label: 'export limit', look: 'limit export' },
    {
      points: pointsOf(
        past,
        past.import_limit_kw.map((kw) => (kw === null ? null : 0 - kw)),
      ),
      label: 'import limit',
      look: 'limit import',
    },
  ].flatMap((line) => (line.points.length === 0 ? [] : [{ ...line, points: scaled(line.points) }]));
  const lines: readonly Line[] = [
    { points: scaled(possible), label: 'could give', look: 'possible' },
    { points: scaled(net), label: 'to the grid', look: 'power' },
    // dashes in front: a limit that is reached lies on the power
    ...limits,
  ];
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  return { name: 'P', unit: isMega ? 'MW' : 'kW', axis: axisOf([0, ...values], 3), lines };
}

function voltageLane(past: Past): Lane {
  const points = pointsOf(past, past.voltage_pct);
  return {
    name: 'V',
    unit: '%',
    axis: axisOf([98, 102, ...points.map(([, value]) => value)], 3),
    lines: [{ points, label: 'first device', look: 'voltage' }],
  };
}

const endMsOf = ({ lines }: Lane) => Math.max(...lines.map(({ points }) => points.at(-1)?.[0] ?? 0));

/** Lines with a label: those of limits that have ended have none. */
const labelledOf = (lane: Lane): readonly Line[] =>
  lane.lines.filter(({ points }) => points.at(-1)?.[0] === endMsOf(lane));

/** The names of the lines below a chart that is too narrow for them beside its lines. */
function LineKeys({ lanes }: { readonly lanes: readonly Lane[] }) {
  return (
    <p class="line-keys">
      {lanes.flatMap(labelledOf).map(({ label, look }) => (
        <span key={look}>
          <svg width={20} height={8} aria-hidden="true">
            <line class={`line ${look}`} x1={0} x2={20} y1={4} y2={4} />
          </svg>{' '}
          {label}
        </span>
      ))}
    </p>
  );
}

interface Mark {
  readonly letter: string;
  readonly atMs: number;
  readonly title: string;
}

function LaneView({
  lane,
  x,
  topPx,
  heightPx,
  rightPx,
  isSlim,
}: {
  readonly lane: Lane;
  readonly x: (atMs: number) => number;
  readonly topPx: number;
  readonly heightPx: number;
  readonly rightPx: number;
  readonly isSlim: boolean;
}) {
  const { min, max, ticks, decimals } = lane.axis;
  const y = (value: number) => topPx + heightPx - ((value - min) / (max - min || 1)) * heightPx;
  const labelled = labelledOf(lane);
  const places = labelPlaces(labelled.map(({ points }) => y(points.at(-1)?.[1] ?? 0)));
  return (
    <g>
      <text class="title" x={0} y={topPx + 4}>
        {lane.name}
      </text>
      <text x={0} y={topPx + 19}>
        {lane.unit}
      </text>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid-line" x1={room.left} x2={rightPx} y1={y(tick)} y2={y(tick)} />
          <text x={room.left - 8} y={y(tick) + 4} text-anchor="end">
            {fixed(tick, decimals)}
          </text>
        </g>
      ))}
      {lane.lines.map(({ points, look }) => (
        <path key={look} class={`line ${look}`} d={pathOf(points, x, y)} />
      ))}
      {!isSlim &&
        labelled.map(({ label, look }, at) => {
          const place = places[at] ?? 0;
          return (
            <g key={look}>
              <line class={`line ${look}`} x1={rightPx + 8} x2={rightPx + 20} y1={place} y2={place} />
              <text class="label" x={rightPx + 25} y={place + 4}>
                {label}
              </text>
            </g>
          );
        })}
    </g>
  );
}

function Flags({
  marks,
  x,
  bottomPx,
}: {
  readonly marks: readonly Mark[];
  readonly x: (atMs: number) => number;
  readonly bottomPx: number;
}) {
  const places = flagPlaces(marks.map(({ atMs }) => x(atMs)));
  return (
    <>
      {marks.map(({ letter, atMs, title }, at) => {
        const flagPx = places[at] ?? 0;
        return (
          <g key={letter}>
            <title>{title}</title>
            <path class="mark-line" d={`M${flagPx} 18L${x(atMs)} 24V${bottomPx}`} />
            <rect class="flag" x={flagPx - 8} y={2} width={16} height={16} rx={3} />
            <text class="flag-text" x={flagPx} y={14} text-anchor="middle">
              {letter}
            </text>
          </g>
        );
      })}
    </>
  );
}

function Strips({
  lanes,
  marks,
  widthPx,
  heightPx,
  endMs,
}: {
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  readonly widthPx: number;
  readonly heightPx: number;
  readonly endMs: number;
}) {
  const isSlim = widthPx < slimPx;
  const rightPx = widthPx - (isSlim ? 8 : room.right);
  const fromMs = endMs - spanMs;
  const x = (atMs: number) => room.left + ((atMs - fromMs) / spanMs) * (rightPx - room.left);
  const bottomPx = heightPx - room.bottom;
  const innerPx = bottomPx - room.top - (lanes.length - 1) * room.between;
  const firstPx = lanes.length === 1 ? innerPx : Math.round(innerPx * 0.66);
  return (
    <svg
      width={widthPx}
      height={heightPx}
      viewBox={`0 0 ${widthPx} ${heightPx}`}
      role="img"
      aria-label="Net power of the site in the last hour"
    >
      {lanes.map((lane, at) => (
        <LaneView
          key={lane.name}
          {...{ lane, x, rightPx, isSlim }}
          topPx={at === 0 ? room.top : room.top + firstPx + room.between}
          heightPx={at === 0 ? firstPx : innerPx - firstPx}
        />
      ))}
      <Flags marks={marks} x={x} bottomPx={bottomPx} />
      {timeTicks(fromMs, endMs, rightPx - room.left).map((atMs) => (
        <text key={atMs} x={Math.min(x(atMs), widthPx - halfLabelPx)} y={heightPx - 5} text-anchor="middle">
          {timeOfDay(new Date(atMs).toISOString()).slice(0, 5)}
        </text>
      ))}
    </svg>
  );
}

const marksOf = (entries: readonly Entry[], fromMs: number): readonly Mark[] => {
  const letters = lettersOf(entries);
  return entries
    .map(({ id, sim_time: at, title }) => ({ letter: letters.get(id) ?? '', atMs: Date.parse(at), title }))
    .filter(({ atMs }) => atMs >= fromMs)
    .toSorted((a, b) => a.atMs - b.atMs || a.letter.localeCompare(b.letter));
};

const maxKeys = 3;

export function SiteChart({ entries }: { readonly entries: readonly Entry[] }) {
  const past = useLive(get('site/history'), paceMs).data;
  const ref = useRef<HTMLDivElement>(null);
  const { widthPx, heightPx } = useBox(ref);
  const endMs = Date.parse(past?.sim_time ?? '') || 0;
  const marks = marksOf(entries, endMs - spanMs);
  const isEmpty = past?.timestamp.length === 0;
  const lanes =
    past === undefined || isEmpty || widthPx === 0
      ? []
      : innerHeight >= tallPx && heightPx > 320
        ? [powerLane(past), voltageLane(past)]
        : [powerLane(past)];
  return (
    <Panel
      title="Site, last hour"
      tools={
        <>
          <span class="mark-keys">
            {marks.slice(-maxKeys).map(({ letter, atMs, title }) => (
              <span key={letter}>
                <b>{letter}</b> {title} {timeOfDay(new Date(atMs).toISOString()).slice(0, 5)}
              </span>
            ))}
          </span>
          <a href={href('charts')}>Charts</a>
        </>
      }
    >
      <div class="site-chart" ref={ref}>
        {isEmpty && <p class="muted">The first sample comes with the next tick.</p>}
        {lanes.length > 0 && <Strips {...{ lanes, marks, widthPx, endMs }} heightPx={Math.max(heightPx, 120)} />}
      </div>
      {lanes.length > 0 && widthPx < slimPx && <LineKeys lanes={lanes} />}
    </Panel>
  );
}
