import type { ComponentType } from 'preact';
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Refused } from '../../../kit/action';
import { DevicePicker } from '../../../kit/choices';
import { Messages } from '../../../kit/messages';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import type { Tab } from '../../../kit/tabs';
import { dash, fixed, wallTime, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { deviceHref, href, param, setParam } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { addressText, Connected, CopyFacts } from '../connect-values';
import type { Page } from '../page';
import { dnp3Drawing } from '../sequence/arrows';
import { useBroken } from '../sequence/broken';
import { settingsPart } from '../switch';

type Point = ReplyOf<'dnp3/points'>['points'][number];

const types = ['BI', 'BO', 'AI', 'AO', 'CTR'] as const;

function Bound({ to }: { readonly to: string | null }) {
  const device = useDevice()?.device_index;
  if (to === null) return <>{dash}</>;
  const [, model, point] = /^(\d+)\.(.+)$/.exec(to) ?? [];
  return model === undefined || point === undefined ? (
    <>{to}</>
  ) : (
    <a href={deviceHref(device, 'registers', { model, point })}>{to}</a>
  );
}

const columns: readonly Column<Point>[] = [
  { title: 'Type', value: ({ type }) => type },
  { title: 'Index', numeric: true, value: ({ index }) => index },
  { title: 'Name', cell: ({ name }) => <span title={name}>{name}</span>, value: ({ name }) => name },
  {
    title: 'Value',
    numeric: true,
    cell: ({ engineering_value: value, unit }) => (value === null ? dash : `${value} ${unit ?? ''}`.trim()),
    value: ({ engineering_value }) => engineering_value,
  },
  { title: 'On the wire', numeric: true, value: ({ value }) => value },
  {
    title: 'Flags',
    cell: ({ flags, online }) =>
      flags === null ? dash : `0x${flags.toString(16).padStart(2, '0')} ${online ? 'online' : 'offline'}`,
    value: ({ flags }) => flags,
  },
  { title: 'Class', numeric: true, value: (point) => point.class },
  { title: 'Bound to', cell: ({ bound_to }) => <Bound to={bound_to} />, value: ({ bound_to }) => bound_to },
  { title: 'Mirror', value: ({ read_back }) => read_back },
];

/** The points of the profile with values, optionally with absent ones. */
function Points({ device }: { readonly device: number }) {
  const type = types.find((name) => name === (param('type') ?? 'AI'));
  const showsAbsent = param('absent') === 'show';
  const text = (param('point') ?? '').toLowerCase();
  const query = {
    device,
    ...(type && { type }),
    ...(!showsAbsent && { coverage: 'served' as const }),
  };
  const { data } = useLive(get('dnp3/points', { query: query }), 2000);
  const matching = (data?.points ?? []).filter(({ index, name, bound_to, iec61850, ...point }) =>
    `${point.type}${index} ${name} ${bound_to ?? ''} ${iec61850 ?? ''}`.toLowerCase().includes(text),
  );
  return (
    <Panel
      title="Points"
      flush
      tools={
        <>
          <select
            aria-label="Type of the points"
            value={type ?? 'all'}
            onChange={(event) => setParam('type', event.currentTarget.value)}
          >
            <option value="all">all types</option>
            {types.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <button
            type="button"
            aria-pressed={showsAbsent}
            onClick={() => setParam('absent', showsAbsent ? null : 'show')}
          >
            Show absent points
          </button>
          <input
            type="search"
            aria-label="Find points"
            placeholder="Name, AI12, or 704.WMaxLimPct"
            value={param('point') ?? ''}
            onInput={(event) => setParam('point', event.currentTarget.value)}
          />
        </>
      }
    >
      <Table
        name="Points"
        columns={columns}
        rows={matching}
        keyOf={(point) => `${point.type}${point.index}`}
        height={360}
        empty={data === undefined ? 'The points are not read yet.' : 'No point of this device matches.'}
      />
    </Panel>
  );
}

type Status = ReplyOf<'dnp3'>;
type Message = ReplyOf<'dnp3/messages'>['messages'][number];

const recordCall = (enabled: boolean) => post('dnp3/messages', { body: { enabled } });

interface PartProps {
  readonly status: Status;
  readonly device: number;
}

/** A part about the outstation of the chosen device. */
function ofOutstation(path: string, title: string, Part: ComponentType<PartProps>): Tab {
  function OfOutstation() {
    const device = useDevice()?.device_index;
    const { data, problem } = useLive(device === undefined ? null : get('dnp3', { query: { device } }), 2000);
    if (device === undefined) return <Empty>No device to show.</Empty>;
    if (data && !data.enabled) return <Empty>DNP3 is off.</Empty>;
    return (
      <>
        <div class="title">
          <DevicePicker />
        </div>
        <Refused problem={problem} />
        {data && <Part key={device} status={data} device={device} />}
      </>
    );
  }
  return { path, title, component: OfOutstation };
}

const State = ({ status, device }: PartProps) => (
  <div class="grid">
    <Outstation status={status} device={device} />
    <Coverage status={status} />
    <Masters status={status} />
  </div>
);

/** The outstations: masters, points and messages. */
export const dnp3Page: Page = {
  path: 'dnp3',
  title: 'DNP3',
  whenOff: 'settings',
  parts: [
    ofOutstation('state', 'State', State),
    ofOutstation('points', 'Points', ({ device }) => <Points device={device} />),
    ofOutstation('messages', 'Messages', ({ device }) => <MessageList device={device} isDrawn={false} />),
    ofOutstation('sequence', 'Sequence', ({ device }) => <MessageList device={device} isDrawn />),
    settingsPart('dnp3'),
    { path: 'connect', title: 'Connect', component: ConnectDnp3Master },
  ],
};

/** `4 at 127.0.0.1:50123` */
export const masterText = (address: number, peer: string | null): string =>
  peer === null ? String(address) : `${address} at ${peer}`;

/** The values that a master needs, to copy. */
function ConnectDnp3Master() {
  const device = useDevice()?.device_index;
  const { data } = useLive(device === undefined ? null : get('dnp3', { query: { device } }), 2000);
  if (data?.enabled !== true) return <Empty>DNP3 is off: switch it on first.</Empty>;
  const { link, masters } = data;
  return (
    <Panel title="Connect my master" wide tools={<DevicePicker />}>
      <ol class="steps">
        <li>
          <h3>Outstation</h3>
          <CopyFacts
            rows={[
              ['Address', addressText(link.endpoint)],
              ['Link address of the outstation', link.outstation === null ? null : String(link.outstation)],
            ]}
          />
        </li>
        <li>
          <h3>Master</h3>
          <p>Give it one of these link addresses; requests of others are not answered.</p>
          <CopyFacts rows={masters.map(({ address }) => ['Link address of a master', String(address)] as const)} />
          <p class="muted">
            Other addresses, TLS and unsolicited responses are in the{' '}
            <a href={href('protocols/dnp3/settings')}>settings</a>.
          </p>
        </li>
        <li>
          <h3>Connection</h3>
          <Connected
            names={masters.filter(({ connected }) => connected).map(({ peer, address }) => masterText(address, peer))}
          />
        </li>
      </ol>
    </Panel>
  );
}

function Outstation({ status, device }: { readonly status: Status; readonly device: number }) {
  const { link, profile, event_capacity: capacity } = status;
  return (
    <Panel
      title="Outstation"
      tools={<Chip tone={link.listening ? 'good' : 'bad'}>{link.listening ? 'listening' : 'not listening'}</Chip>}
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
            <a key="faults" href={href('inputs/faults')}>
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
          { title: 'Served', numeric: true, value: ([, { served }]) => served },
          { title: 'Absent', numeric: true, value: ([, { absent }]) => absent },
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
          { title: 'Address', numeric: true, value: ({ address }) => address },
          {
            title: 'State',
            cell: ({ connected }) => (
              <Chip tone={connected ? 'good' : 'off'}>{connected ? 'connected' : 'not connected'}</Chip>
            ),
            value: ({ connected }) => connected,
          },
          { title: 'Peer', value: ({ peer }) => peer },
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
            title: 'Events, class 1 · 2 · 3',
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
            cell: ({ clock_offset_s }) => fixed(clock_offset_s, 3),
            value: ({ clock_offset_s }) => clock_offset_s,
          },
        ]}
        rows={status.masters}
        keyOf={({ address }) => address}
        empty="No master is admitted: set the link addresses of masters with --dnp3_remote_addr."
      />
    </Panel>
  );
}

interface MessageListProps {
  readonly device: number;
  /** as a sequence */
  readonly isDrawn: boolean;
}

function MessageList({ device, isDrawn }: MessageListProps) {
  const enabled = useLive(get('dnp3/messages', { query: { limit: 1 } }), 5000).data?.enabled;
  const broken = useBroken('dnp3');
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
        { title: 'Peer', value: ({ peer }) => peer },
        { title: 'Function', cell: (message) => words(message.function), value: (message) => message.function },
        { title: 'Sequence', numeric: true, value: ({ sequence }) => sequence },
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
      {...(isDrawn && { drawing: (messages) => dnp3Drawing(messages, broken) })}
      detail={({ id, objects, hex, truncated, device_index }) => (
        <div class="stack">
          <Facts
            rows={[
              ['Device', device_index ?? dash],
              ['Objects', objects.length === 0 ? dash : <pre>{objects.join('\n')}</pre>],
              broken.has(id) ? ['Broken rule', <span class="issue">{broken.get(id)}</span>] : null,
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
          ? 'No message yet. The recording is on.'
          : 'Messages are kept only while they are recorded: press Record.'
      }
    />
  );
}
