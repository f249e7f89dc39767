/** The captures of disturbances: all of them, or the one that the address names. */
import { useRef } from 'preact/hooks';
import { post } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { Chip, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { Table } from '../../../kit/table';
import { duration, timeOrDate, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';
import { route } from '../../../store/route';
import { captureHref, captureNowCall, capturesCall } from './announce';
import { CapturePage, makerText, scopeText } from './capture';
import type { CaptureHead } from './capture';
import { CaptureFilters, filteredCall, filterNames, filterOfAddress, hasText, NoHit } from './filters';

/** Time between two readings of the list, ms: captures begin by themselves. */
const listPaceMs = 2000;

const sagCall = post('controls/grid/event', {
  body: { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 0.5 } },
});

const tones: Readonly<Record<CaptureHead['state'], Tone>> = { recording: 'warn', complete: 'good', cut: 'off' };

function Make({ primary = false }: { readonly primary?: boolean }) {
  return (
    <>
      <Action call={captureNowCall} title="Records the sub-steps of all devices from now on (c)">
        Capture now
      </Action>
      <Action call={sagCall} primary={primary} title="50 % for 0.5 s, for all devices">
        Start a sag
      </Action>
    </>
  );
}

function NoCapture({ isOff }: { readonly isOff: boolean }) {
  if (isOff) return <p>Captures are off: the setting captures is 0.</p>;
  return (
    <div class="stack">
      <p>
        No capture yet. Each grid event, outage and trip makes one by itself, in sub-steps, with a verdict on every
        device.
      </p>
      <div class="row">
        <Make primary />
      </div>
    </div>
  );
}

interface ListProps {
  readonly heads: readonly CaptureHead[];
  readonly isOff: boolean;
  readonly now: string;
}

function CaptureList({ heads, isOff, now }: ListProps) {
  const filter = filterOfAddress();
  const isFiltered = filterNames.some((name) => filter[name] !== null);
  const hits = heads.filter((head) => hasText(head, filter.find));
  const noun = hits.length === 1 ? 'capture' : 'captures';
  return (
    <Panel
      title={hits.length === 0 ? 'Captures' : `${hits.length} ${isFiltered ? `matching ${noun}` : noun}`}
      flush
      tools={
        (heads.length > 0 || isFiltered) && (
          <>
            <CaptureFilters />
            <Make />
          </>
        )
      }
    >
      <Table<CaptureHead>
        name="Captures"
        rows={hits}
        keyOf={({ id }) => id}
        empty={isFiltered ? <NoHit /> : <NoCapture isOff={isOff} />}
        columns={[
          { title: 'No.', numeric: true, width: '56px', value: ({ id }) => id },
          {
            title: 'Time',
            cell: ({ started_at, started_wall_at }) => (
              <span title={wallDate(started_wall_at)}>{timeOrDate(started_at, now)}</span>
            ),
            value: ({ started_at }) => started_at,
          },
          {
            title: 'Disturbance',
            cell: ({ id, title }) => <a href={captureHref(id)}>{title}</a>,
            value: ({ title }) => title,
          },
          { title: 'What the devices did', value: ({ summary }) => summary },
          { title: 'Devices', cell: scopeText, value: ({ devices }) => devices },
          { title: 'By', cell: makerText, value: makerText },
          {
            title: 'Length',
            numeric: true,
            cell: ({ end_s }) => duration(Math.round(end_s)),
            value: ({ end_s }) => end_s,
          },
          {
            title: 'State',
            cell: ({ state, pinned }) => (
              <span class="row">
                <Chip tone={tones[state]}>{state}</Chip>
                {pinned && <span class="muted">pinned</span>}
              </span>
            ),
            value: ({ state }) => state,
          },
        ]}
      />
    </Panel>
  );
}

export function CapturesView() {
  const [, , id] = route.value.path;
  const { data, problem } = useLive(id === undefined ? filteredCall(filterOfAddress()) : capturesCall, listPaceMs);
  const last = useRef(data);
  // the rows before stand until those of another filter are there
  last.current = data ?? last.current;
  if (last.current === undefined) return problem === null ? <Loading heights={[300]} /> : <Refused problem={problem} />;
  const { captures: heads, capacity, sim_time: now } = last.current;
  if (id === undefined) return <CaptureList heads={heads} isOff={capacity === 0} now={now} />;
  return <CapturePage key={id} id={Number(id)} heads={heads} />;
}
