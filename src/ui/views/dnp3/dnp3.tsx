import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { DevicePicker } from '../../kit/device-picker';
import { Messages } from '../../kit/messages';
import { Chip, Empty, Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, digits, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { useDevice } from '../../store/site';
import { Points } from './points';

type Status = ReplyOf<'dnp3'>;
type Message = ReplyOf<'dnp3/messages'>['messages'][number];

const recordCall = (enabled: boolean) => post('dnp3/messages', { body: { enabled } });

/** The outstation of a device: masters, events, points and messages. */
export function Dnp3View() {
  const device = useDevice()?.device_index;
  const { data, problem } = useLive(device === undefined ? null : get('dnp3', { query: { device } }), 2000);
  if (device === undefined) return <Empty>No device yet.</Empty>;
  if (data && !data.enabled) return <Empty>DNP3 is switched off: start with --dnp3_enable yes.</Empty>;
  return (
    <>
      <div class="title">
        <DevicePicker />
      </div>
      <Refused problem={problem} />
      {data && (
        <div class="grid">
          <Outstation status={data} device={device} />
          <Coverage status={data} />
          <Masters status={data} />
        </div>
      )}
      <Points device={device} />
      <MessageList device={device} />
    </>
  );
}

function Outstation({ status, device }: { readonly status: Status; readonly device: number }) {
  const { link, profile, event_capacity: capacity } = status;
  return (
    <Panel
      title="Outstation"
      tools={<Chip tone={link.listening ? 'good' : 'bad'}>{link.listening ? 'listening' : 'does not listen'}</Chip>}
    >
      <Facts
        rows={[
          ['Endpoint', link.endpoint ?? dash],
          ['Link address', link.outstation ?? dash],
          ['Connections', link.connections],
          ['Point map', profile ?? dash],
          ['Event capacity', `${capacity} of each kind and class`],
          [
            'Device profile',
            <a key="profile" href={get('dnp3/device-profile', { query: { device } }).address}>
              XML
            </a>,
          ],
          [
            'Faults',
            <a key="faults" href={href('faults')}>
              inject or end
            </a>,
          ],
        ]}
      />
    </Panel>
  );
}

const kinds: Readonly<Record<string, string>> = {
  BI: 'Binary inputs',
  BO: 'Binary outputs',
  AI: 'Analog inputs',
  AO: 'Analog outputs',
  CTR: 'Counters',
};

function Coverage({ status }: { readonly status: Status }) {
  return (
    <Panel title="Coverage of the profile" flush>
      <Table
        name="Coverage"
        columns={[
          { title: 'Points', cell: ([type]) => `${type} ${kinds[type] ?? ''}`, value: ([type]) => type },
          { title: 'Served', numeric: true, cell: ([, { served }]) => served, value: ([, { served }]) => served },
          { title: 'Absent', numeric: true, cell: ([, { absent }]) => absent, value: ([, { absent }]) => absent },
        ]}
        rows={Object.entries(status.points)}
        keyOf={([type]) => type}
      />
    </Panel>
  );
}

function Masters({ status }: { readonly status: Status }) {
  return (
    <Panel title="Masters" flush wide>
      <Table
        name="Masters"
        columns={[
          { title: 'Address', numeric: true, cell: ({ address }) => address, value: ({ address }) => address },
          {
            title: 'State',
            cell: ({ connected }) => (
              <Chip tone={connected ? 'good' : 'off'}>{connected ? 'connected' : 'not connected'}</Chip>
            ),
            value: ({ connected }) => connected,
          },
          { title: 'Peer', cell: ({ peer }) => peer ?? dash, value: ({ peer }) => peer },
          {
            title: 'Last request',
            cell: ({ last_request_at }) => wallTime(last_request_at),
            value: ({ last_request_at }) => last_request_at,
          },
          {
            title: 'Indications (IIN)',
            cell: ({ iin }) => iin.map(words).join(', ') || dash,
            value: ({ iin }) => iin.join(' '),
          },
          {
            title: 'Events 1 · 2 · 3',
            cell: ({ events }) => `${events.class_1} · ${events.class_2} · ${events.class_3}`,
            value: ({ events }) => events.class_1 + events.class_2 + events.class_3,
          },
          {
            title: 'Overflow',
            cell: ({ overflow }) => (overflow ? <Chip tone="bad">events lost</Chip> : 'no'),
            value: ({ overflow }) => overflow,
          },
          {
            title: 'Unsolicited classes',
            cell: ({ unsolicited }) => unsolicited.classes.join(', ') || (unsolicited.configured ? 'none' : 'off'),
            value: ({ unsolicited }) => unsolicited.classes.join(' '),
          },
          {
            title: 'Clock offset, s',
            numeric: true,
            cell: ({ clock_offset_s }) => digits(clock_offset_s, 3),
            value: ({ clock_offset_s }) => clock_offset_s,
          },
        ]}
        rows={status.masters}
        keyOf={({ address }) => address}
        empty="No master is admitted: name their link addresses with --dnp3_remote_addr."
      />
    </Panel>
  );
}

function MessageList({ device }: { readonly device: number }) {
  const enabled = useLive(get('dnp3/messages', { query: { limit: 1 } }), 5000).data?.enabled ?? false;
  return (
    <Messages<Message>
      title="DNP3 messages"
      name="dnp3"
      read={(after_id) =>
        get('dnp3/messages', { query: { device, limit: 500, ...(after_id !== undefined && { after_id }) } })
      }
      recording={{ enabled, on: recordCall(true), off: recordCall(false) }}
      columns={[
        { title: 'Wall time', cell: ({ timestamp }) => wallTime(timestamp), value: ({ timestamp }) => timestamp },
        {
          title: 'Direction',
          cell: ({ direction }) => (direction === 'in' ? '→ in' : '← out'),
          value: ({ direction }) => direction,
        },
        { title: 'Peer', cell: ({ peer }) => peer, value: ({ peer }) => peer },
        { title: 'Function', cell: (message) => words(message.function), value: (message) => message.function },
        {
          title: 'Sequence',
          numeric: true,
          cell: ({ sequence }) => sequence ?? dash,
          value: ({ sequence }) => sequence,
        },
        {
          title: 'Indications',
          cell: ({ iin }) => iin?.map(words).join(', ') ?? dash,
          value: ({ iin }) => iin?.join(' '),
        },
        {
          title: 'Objects',
          cell: ({ objects }) => objects.join(', ') || dash,
          value: ({ objects }) => objects.join(' '),
        },
      ]}
      textOf={(message) => [message.peer, message.function, ...message.objects, ...(message.iin ?? [])].join(' ')}
      detail={({ objects, hex, truncated, device_index }) => (
        <div class="stack">
          <Facts
            rows={[
              ['Device', device_index ?? dash],
              ['Objects', objects.length === 0 ? dash : <pre>{objects.join('\n')}</pre>],
            ]}
          />
          <pre aria-label="Octets">
            {hex.replace(/(..)(?=.)/g, '$1 ')}
            {truncated ? ' …' : ''}
          </pre>
        </div>
      )}
      empty={
        enabled
          ? 'No message yet: it records, and waits for a master.'
          : 'Messages are kept only while they are recorded: press Record.'
      }
    />
  );
}
