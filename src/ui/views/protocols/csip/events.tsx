import { useRef } from 'preact/hooks';
import { get, post } from '../../../api/call';
import { Action } from '../../../kit/action';
import { useBox } from '../../../kit/box';
import { Chip, Facts, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, duration, wallDate, wallTime } from '../../../look/format';
import { param, setParam } from '../../../store/route';
import { useLive } from '../../../store/live';
import { membersOf } from './state';
import type { CsipControl, PartProps } from './state';
import { prettyXml } from './messages';

const colours: Readonly<Record<CsipControl['state'], string>> = {
  scheduled: 'var(--p)',
  active: 'var(--good)',
  completed: 'var(--off)',
  cancelled: 'var(--warn)',
  superseded: 'var(--q)',
  rejected: 'var(--bad)',
};

const [left, rowPx, endPx] = [150, 26, 90];
/** Width before the page is laid out, and the least one, below which the drawing scrolls. */
const [startPx, minPx] = [900, 420];
/** Maximum number of events in the drawing; older ones are left out. */
const maxRows = 40;

interface TimelineProps {
  readonly controls: readonly CsipControl[];
  /** time of the server; null: unknown */
  readonly nowMs: number | null;
  readonly onChoose: (mrid: string) => void;
}

/** Events as bars with their state, responses as circles, and the time of the server as a line. */
function Timeline({ controls, nowMs, onChoose }: TimelineProps) {
  const figure = useRef<HTMLElement>(null);
  const width = Math.max(minPx, useBox(figure).widthPx || startPx);
  const newest = [...controls].sort((a, b) => a.effective_start.localeCompare(b.effective_start)).slice(-maxRows);
  const startOf = (each: CsipControl) => Date.parse(each.effective_start);
  const endOf = (each: CsipControl) => startOf(each) + each.effective_duration_s * 1000;
  const responseTimes = newest.flatMap(({ responses }) => responses.map(({ created_at: at }) => Date.parse(at)));
  const from = Math.min(...newest.map(startOf), ...responseTimes, nowMs ?? Infinity);
  const to = Math.max(...newest.map(endOf), ...responseTimes, nowMs ?? -Infinity, from + 1000);
  const x = (ms: number) => left + ((ms - from) / (to - from)) * (width - left - endPx);
  const height = newest.length * rowPx + 24;
  return (
    <figure class="plot timeline" ref={figure}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Events over time">
        {newest.map((each, row) => {
          const y = row * rowPx + 4;
          const span = `${wallDate(each.effective_start)}, ${duration(each.effective_duration_s)}`;
          const name = `${each.description ?? each.mrid}: ${each.state}, ${span}`;
          return (
            <g
              key={`${each.mrid} ${each.end_device_lfdi}`}
              role="button"
              tabIndex={0}
              aria-label={name}
              data-state={each.state}
              onClick={() => onChoose(each.mrid)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                onChoose(each.mrid);
              }}
            >
              <title>{name}</title>
              <text class="note" x={0} y={y + 13}>
                {(each.description ?? each.mrid).slice(0, 22)}
              </text>
              <rect
                x={x(startOf(each))}
                y={y}
                width={Math.max(2, x(endOf(each)) - x(startOf(each)))}
                height={16}
                rx={3}
                fill={colours[each.state]}
                fill-opacity={each.state === 'active' ? 1 : 0.55}
              />
              <text class="note" x={x(endOf(each)) + 6} y={y + 13}>
                {each.state}
              </text>
              {each.responses.map((response) => (
                <circle
                  key={`${response.status} ${response.created_at}`}
                  cx={x(Date.parse(response.created_at))}
                  cy={y + 8}
                  r={4}
                  fill="var(--surface)"
                  stroke="var(--text)"
                >
                  <title>
                    {`response ${response.status} ${response.status_text}, ${response.result}, `}
                    {wallDate(response.created_at)}
                  </title>
                </circle>
              ))}
            </g>
          );
        })}
        {nowMs !== null && (
          <line x1={x(nowMs)} x2={x(nowMs)} y1={0} y2={height - 18} stroke="var(--accent)" stroke-dasharray="4 3" />
        )}
        <text x={left} y={height - 4}>
          {wallTime(new Date(from).toISOString())}
        </text>
        <text x={width - endPx} y={height - 4} text-anchor="end">
          {wallTime(new Date(to).toISOString())}
        </text>
      </svg>
      <figcaption>
        Circles: responses. Dashed line:{' '}
        {nowMs === null ? 'no time of the server yet' : `server time ${wallTime(new Date(nowMs).toISOString())}`}.
      </figcaption>
    </figure>
  );
}

const tones: Readonly<Record<CsipControl['state'], Tone>> = {
  scheduled: 'muted',
  active: 'good',
  completed: 'off',
  cancelled: 'warn',
  superseded: 'warn',
  rejected: 'bad',
};

function notesOf({ left_out, overwritten, waiting, opted_out, potentially_superseded }: CsipControl): string {
  const notes = left_out.map(({ mode, reason, detail }) => `${mode} ${reason}: ${detail}`);
  if (overwritten) notes.push('overwritten by another writer');
  if (waiting) notes.push('waiting for the device');
  if (opted_out) notes.push('opted out');
  if (potentially_superseded) notes.push('may be superseded');
  return notes.join('; ');
}

/** DERControls as a time line and a table, the chosen one with its XML, and the responses to all. */
export function Events({ device, status }: PartProps) {
  const { data } = useLive(get('csip/controls', { query: { device } }), 1000);
  const controls = data?.controls ?? [];
  const chosen = controls.find(({ mrid }) => mrid === param('event'));
  const choose = (mrid: string) => setParam('event', mrid === chosen?.mrid ? null : mrid);
  return (
    <>
      {controls.length > 0 && (
        <Panel title="Time line" wide>
          <Timeline
            controls={controls}
            nowMs={status.time === null ? null : Date.parse(status.time.server_time)}
            onChoose={choose}
          />
        </Panel>
      )}
      <Panel title="Events" flush wide>
        <Table
          name="Events"
          rows={controls}
          keyOf={({ mrid, end_device_lfdi }) => `${mrid} ${end_device_lfdi}`}
          selected={chosen ? `${chosen.mrid} ${chosen.end_device_lfdi}` : null}
          onSelect={({ mrid }) => choose(mrid)}
          empty="The server has shown no DERControl yet: create one at the head-end, then poll."
          columns={[
            {
              title: 'State',
              cell: ({ state }) => <Chip tone={tones[state]}>{state}</Chip>,
              value: ({ state }) => state,
            },
            {
              title: 'mRID',
              cell: ({ mrid }) => (
                <button
                  type="button"
                  class="quiet"
                  onClick={(event) => {
                    event.stopPropagation();
                    choose(mrid);
                  }}
                >
                  <code>{mrid}</code>
                </button>
              ),
              value: ({ mrid }) => mrid,
            },
            { title: 'Description', value: (each) => each.description },
            { title: 'Primacy', numeric: true, value: ({ primacy }) => primacy },
            { title: 'Start', cell: (each) => wallTime(each.effective_start), value: (each) => each.effective_start },
            { title: 'Duration, s', numeric: true, value: (each) => each.effective_duration_s },
            { title: 'Modes', value: ({ modes }) => membersOf(modes) },
            {
              title: 'In force',
              cell: ({ modes_in_force: modes }) => modes.join(', ') || dash,
              value: ({ modes_in_force: modes }) => modes.join(' '),
            },
            { title: 'Left out or overwritten', cell: (each) => notesOf(each) || dash, value: notesOf },
          ]}
        />
      </Panel>
      {chosen && <Chosen device={device} control={chosen} />}
      <Responses device={device} />
    </>
  );
}

function Chosen({ device, control }: { readonly device: number; readonly control: CsipControl }) {
  const params = { mrid: control.mrid };
  const { data } = useLive(get('csip/controls/{mrid}', { params, query: { device } }), 2000);
  return (
    <Panel
      title={`Event ${control.mrid}`}
      wide
      tools={
        <>
          <Action call={post('csip/controls/{mrid}/opt', { params, query: { device }, body: { in: false } })}>
            Opt out
          </Action>
          <Action call={post('csip/controls/{mrid}/opt', { params, query: { device }, body: { in: true } })}>
            Opt in
          </Action>
        </>
      }
    >
      <div class="stack">
        <Facts
          rows={[
            ['Program', <code>{control.program_href}</code>],
            ['Created', wallDate(control.creation_time)],
            ['Start', `${wallDate(control.start)}, in effect ${wallDate(control.effective_start)}`],
            ['Duration', `${duration(control.duration_s)}, in effect ${duration(control.effective_duration_s)}`],
            [
              'Randomized',
              `start ${duration(control.randomize_start_s)}, duration ${duration(control.randomize_duration_s)}`,
            ],
            ['Devices', control.device_indices.join(', ')],
          ]}
        />
        <pre class="scroller raw" tabIndex={0} aria-label="XML of the event">
          {data?.xml == null ? 'The XML is not kept.' : prettyXml(data.xml)}
        </pre>
      </div>
    </Panel>
  );
}

function Responses({ device }: { readonly device: number }) {
  const { data } = useLive(get('csip/responses', { query: { device } }), 1000);
  return (
    <Panel title="Responses" flush wide>
      <Table
        name="Responses"
        rows={data?.responses ?? []}
        keyOf={(each) => `${each.mrid} ${each.end_device_lfdi} ${each.status} ${each.created_at}`}
        empty="No response yet: an event requests responses with responseRequired."
        columns={[
          { title: 'Created', cell: (each) => wallTime(each.created_at), value: (each) => each.created_at },
          { title: 'Event', cell: ({ mrid }) => <code>{mrid}</code>, value: ({ mrid }) => mrid },
          { title: 'Status', cell: (each) => `${each.status} ${each.status_text}`, value: ({ status }) => status },
          {
            title: 'Result',
            cell: ({ result }) => (
              <Chip tone={result === 'sent' ? 'good' : result === 'queued' ? 'muted' : 'bad'}>{result}</Chip>
            ),
            value: ({ result }) => result,
          },
          { title: 'HTTP', numeric: true, value: (each) => each.http_status },
          { title: 'Attempts', numeric: true, value: ({ attempts }) => attempts },
          { title: 'Error', value: (each) => each.last_error },
        ]}
      />
    </Panel>
  );
}
