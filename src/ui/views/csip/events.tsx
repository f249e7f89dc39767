import { get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, wallTime } from '../../look/format';
import { param, setParam } from '../../store/route';
import { useLive } from '../../store/live';
import { membersOf } from './state';
import { Timeline } from './timeline';
import type { CsipControl, PartProps } from './types';
import { prettyXml } from './xml';

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

/** DERControls as a time line and a table, and the chosen one with responses and XML. */
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
          empty="The server has shown no DERControl yet: make one at the head-end, then poll."
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
            { title: 'Description', cell: ({ description }) => description ?? dash, value: (each) => each.description },
            { title: 'Primacy', numeric: true, cell: ({ primacy }) => primacy, value: ({ primacy }) => primacy },
            { title: 'Start', cell: (each) => wallTime(each.effective_start), value: (each) => each.effective_start },
            {
              title: 'Duration, s',
              numeric: true,
              cell: (each) => each.effective_duration_s,
              value: (each) => each.effective_duration_s,
            },
            { title: 'Modes', cell: ({ modes }) => membersOf(modes), value: ({ modes }) => membersOf(modes) },
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
            ['Made', control.creation_time],
            ['Start', `${control.start}, in effect ${control.effective_start}`],
            ['Duration', `${control.duration_s} s, in effect ${control.effective_duration_s} s`],
            ['Randomized', `start ${control.randomize_start_s} s, duration ${control.randomize_duration_s} s`],
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
        empty="No response to an event yet: the event asks for them with responseRequired."
        columns={[
          { title: 'Made', cell: (each) => wallTime(each.created_at), value: (each) => each.created_at },
          { title: 'Event', cell: ({ mrid }) => <code>{mrid}</code>, value: ({ mrid }) => mrid },
          { title: 'Status', cell: (each) => `${each.status} ${each.status_text}`, value: ({ status }) => status },
          {
            title: 'Result',
            cell: ({ result }) => (
              <Chip tone={result === 'sent' ? 'good' : result === 'queued' ? 'muted' : 'bad'}>{result}</Chip>
            ),
            value: ({ result }) => result,
          },
          { title: 'HTTP', numeric: true, cell: (each) => each.http_status ?? dash, value: (each) => each.http_status },
          { title: 'Attempts', numeric: true, cell: ({ attempts }) => attempts, value: ({ attempts }) => attempts },
          { title: 'Error', cell: (each) => each.last_error ?? dash, value: (each) => each.last_error },
        ]}
      />
    </Panel>
  );
}
