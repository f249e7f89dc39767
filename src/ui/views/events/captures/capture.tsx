/** One capture: drawing, verdicts, rows, and actions. */
import { useMemo, useState } from 'preact/hooks';
import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Empty, Panel } from '../../../kit/panel';
import { Mark, Row, Rows } from '../../../kit/rows';
import { Loading } from '../../../kit/states';
import { ViewHead } from '../../../kit/tabs';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { duration, fixed, timeWithMs, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { href, param, setParam } from '../../../store/route';
import { writerText } from '../timeline/entries';
import { CaptureActions } from './actions';
import { captureHref } from './announce';
import { Drawing } from './drawing';
import { disturbanceOf, lanesOf, subStepsOf, wholeOf } from './lanes';
import type { DeviceRows, Rows as RowsOfDevices } from './lanes';
import type { Capture } from './verdict-words';
import { VerdictChips } from './verdict-words';
import { Verdicts } from './verdicts';

export type CaptureHead = ReplyOf<'captures'>['captures'][number];

/** Time between two readings while a capture records, ms. */
const recordingPaceMs = 2000;

/** The scenario that made the disturbance, or the writer of the request. */
export function makerText({ scenario, triggers }: Pick<CaptureHead, 'scenario' | 'triggers'>): string {
  if (scenario !== null) return `scenario ${scenario}`;
  const [first] = triggers;
  if (!first || first.source === null) return 'the device itself';
  return writerText({ by: { source: first.source, source_detail: first.source_detail } });
}

export function scopeText({ device_index, devices }: Pick<CaptureHead, 'device_index' | 'devices'>): string {
  if (device_index !== null) return `device ${device_index}`;
  return devices === 1 ? '1 device' : `${devices} devices`;
}

const stateNotes: Readonly<Record<CaptureHead['state'], string | null>> = {
  recording: 'Still recording: the figures are not final.',
  complete: null,
  cut: 'Cut: not every device was back when the longest time was over.',
};

interface DataRow {
  readonly n: number;
  readonly device: DeviceRows;
}

type ColumnName = Exclude<keyof DeviceRows, 'device_index' | 'rows'>;

const number = (title: string, name: ColumnName, decimals: number): Column<DataRow> => ({
  title,
  numeric: true,
  cell: ({ device, n }) => fixed(device[name][n], decimals),
  value: ({ device, n }) => device[name][n],
});

function columnsOf(states: RowsOfDevices['states']): readonly Column<DataRow>[] {
  const state = ({ device, n }: DataRow) => words(states[device.state[n] ?? -1]);
  return [
    number('t, s', 't_s', 3),
    number('Grid, %', 'grid_v_pct', 1),
    number('Lowest, %', 'v_low_pct', 1),
    number('Highest, %', 'v_high_pct', 1),
    number('f, Hz', 'f_hz', 3),
    number('P, kW', 'p_kw', 2),
    number('Q, kvar', 'q_kvar', 2),
    number('Possible, kW', 'possible_kw', 2),
    { title: 'State', cell: state, value: state },
    {
      title: 'Step',
      cell: ({ device, n }) => (device.from_tick[n] === 1 ? 'tick' : device.ramp[n] === 1 ? 'slope' : ''),
    },
  ];
}

/** The rows of one device as a table. */
function Data({ capture, rows }: { readonly capture: Capture; readonly rows: RowsOfDevices }) {
  const [index, setIndex] = useState<number | null>(null);
  const device = rows.devices.find(({ device_index }) => device_index === index) ?? rows.devices[0];
  if (device === undefined) return null;
  const nameOf = (of: number) => capture.verdicts.find(({ device_index }) => device_index === of)?.name ?? '';
  return (
    <details class="card data">
      <summary>Data</summary>
      <div class="stack">
        <label class="row">
          <span class="muted">Device</span>
          <select
            name="data-device"
            value={String(device.device_index)}
            onChange={(event) => setIndex(Number(event.currentTarget.value))}
          >
            {rows.devices.map(({ device_index }) => (
              <option key={device_index} value={String(device_index)}>
                {device_index} {nameOf(device_index)}
              </option>
            ))}
          </select>
        </label>
        <Table<DataRow>
          name="Rows"
          columns={columnsOf(rows.states)}
          rows={device.t_s.map((_at, n) => ({ n, device }))}
          keyOf={({ n }) => n}
          height={360}
        />
      </div>
    </details>
  );
}

interface PickProps {
  readonly others: readonly CaptureHead[];
}

/** The capture that is drawn dashed; the address keeps it. */
function CompareWith({ others }: PickProps) {
  if (others.length === 0) return null;
  return (
    <select
      name="with"
      aria-label="Compare with"
      value={param('with') ?? ''}
      onChange={(event) => setParam('with', event.currentTarget.value)}
    >
      <option value="">Compare with…</option>
      {others.map(({ id, title }) => (
        <option key={id} value={String(id)}>
          {id} {title}
        </option>
      ))}
    </select>
  );
}

interface LanesPanelProps {
  readonly capture: Capture;
  readonly rows: RowsOfDevices;
  readonly others: readonly CaptureHead[];
}

/** Heights of the drawing, px: of a wide screen, and of others. */
const heights = { wide: 740, usual: 520 };

function LanesPanel({ capture, rows, others }: LanesPanelProps) {
  const withId = Number(param('with') ?? 0);
  const other = useLive(withId > 0 ? get('captures/{id}/rows', { params: { id: withId } }) : null, 'once').data;
  const { devices } = rows;
  const lanes = useMemo(() => lanesOf(capture, devices, other?.devices ?? null), [capture, devices, other]);
  const instants = useMemo(() => [...new Set(devices.flatMap(({ t_s }) => t_s))].sort((a, b) => a - b), [devices]);
  const whole = useMemo(() => wholeOf(devices), [devices]);
  const views = useMemo(() => {
    const subSteps = subStepsOf(devices);
    return [
      { title: 'Disturbance', to: disturbanceOf(capture, subSteps) },
      { title: 'Sub-steps', to: subSteps },
      { title: 'Whole', to: whole },
    ].filter(({ to }, n, all) => !all.slice(0, n).some((each) => each.to.to === to.to));
  }, [devices]);
  const left = capture.devices_left_out;
  return (
    <Panel
      title={`${timeWithMs(capture.started_at)}, ${scopeText(capture)}, by ${makerText(capture)}`}
      tools={<CompareWith others={others} />}
    >
      {devices.length === 0 ? (
        <Empty>No rows yet.</Empty>
      ) : (
        <Drawing
          key={capture.id}
          capture={capture}
          lanes={lanes}
          instants={instants}
          whole={whole}
          views={views}
          height={innerWidth >= 1600 ? heights.wide : heights.usual}
        />
      )}
      <p class="note muted">
        {capture.rows} rows of {capture.devices} {capture.devices === 1 ? 'device' : 'devices'}, up to{' '}
        {duration(Math.round(capture.end_s * 100) / 100)}
        {left > 0 && `; ${left} more devices were too many to record`}. The second before, and what follows the
        sub-steps, comes from ticks.
        {other && ` Dotted: capture ${withId}, from its own begin.`}
      </p>
    </Panel>
  );
}

/** Links to the captures before and after. */
function Neighbours({ id, heads }: { readonly id: number; readonly heads: readonly CaptureHead[] }) {
  const ids = heads.map((head) => head.id).sort((a, b) => a - b);
  const before = ids.findLast((each) => each < id);
  const after = ids.find((each) => each > id);
  return (
    <>
      {before !== undefined && (
        <a class="button" rel="prev" href={captureHref(before)}>
          ‹ {before}
        </a>
      )}
      {after !== undefined && (
        <a class="button" rel="next" href={captureHref(after)}>
          {after} ›
        </a>
      )}
    </>
  );
}

function Others({ id, heads }: { readonly id: number; readonly heads: readonly CaptureHead[] }) {
  const others = heads.filter((head) => head.id !== id).slice(0, 5);
  if (others.length === 0) return null;
  return (
    <Panel title="Other captures" tools={<a href={href('events/captures')}>All {heads.length}</a>}>
      <Rows label="Other captures">
        {others.map((head) => (
          <Row
            key={head.id}
            start={<Mark level="off" />}
            title={
              <a href={captureHref(head.id)}>
                {head.id} {head.title}
              </a>
            }
            end={timeWithMs(head.started_at).slice(0, 8)}
          >
            {head.summary} By {makerText(head)}.
          </Row>
        ))}
      </Rows>
    </Panel>
  );
}

interface CapturePageProps {
  readonly id: number;
  readonly heads: readonly CaptureHead[];
}

export function CapturePage({ id, heads }: CapturePageProps) {
  const params = { id };
  const isRecording = heads.find((head) => head.id === id)?.state === 'recording';
  const pace = isRecording ? recordingPaceMs : 'once';
  const { data: capture, problem } = useLive(get('captures/{id}', { params }), pace);
  const { data: rows } = useLive(get('captures/{id}/rows', { params }), pace);
  if (problem !== null)
    return (
      <Empty>
        {problem.message} <a href={href('events/captures')}>All captures</a>
      </Empty>
    );
  if (capture === undefined || rows === undefined) return <Loading heights={[40, 560]} />;
  return (
    <>
      <ViewHead title={`Capture ${capture.id}: ${capture.title}`}>
        <VerdictChips verdicts={capture.verdicts} />
        <span class="row capture-actions">
          <a class="button" href={href('events/captures')} title="All captures">
            All
          </a>
          <Neighbours id={id} heads={heads} />
          <CaptureActions capture={capture} />
        </span>
      </ViewHead>
      <div class="capture-page">
        <div class="stack">
          <LanesPanel capture={capture} rows={rows} others={heads.filter((head) => head.id !== id)} />
          <Data capture={capture} rows={rows} />
        </div>
        <div class="stack">
          <Verdicts capture={capture} note={stateNotes[capture.state]} />
          <Others id={id} heads={heads} />
        </div>
      </div>
    </>
  );
}
