/** Masters of Modbus: interfaces, messages, and refused requests with reasons. */
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { useFollowed } from '../../../kit/follow';
import { Messages } from '../../../kit/messages';
import { Empty, Facts, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, dateAndTime, fixed, timeOfDay, wallDate, words } from '../../../look/format';
import { refresh, useLive } from '../../../store/live';
import { deviceHref, href, param, setParam } from '../../../store/route';
import { useOverview } from '../../../store/site';
import type { Page } from '../page';
import { settingsPart } from '../switch';
import { ConnectModbusMaster } from './connect';
import { InterfacePanel } from './listeners';
import { Transactions } from './transactions';

type Wire = ReplyOf<'modbus/messages'>['messages'][number];
type LogEntry = ReplyOf<'logs'>['logs'][number];

/** A message with its request, and the reason of an exception or of an ignored write. */
interface Message extends Wire {
  readonly request?: Wire;
  readonly reason?: string;
}

/** Maximum delay between an answer and its log line, ms. */
const maxLogDelayMs = 500;

const refusalPhrase = 'refused with exception';

function refusalsOf(entries: readonly LogEntry[]): readonly LogEntry[] {
  return entries.filter(({ message }) => message.includes(refusalPhrase));
}

/** The reason after the name of the exception. */
function reasonOf(line: string): string {
  return /refused with exception \d+ \([^)]*\): (.*)$/s.exec(line)?.[1] ?? line;
}

function refusalReason(message: Wire, refusals: readonly LogEntry[]): string | undefined {
  const start = `${message.peer}, unit ${message.unit_id}: function ${message.function} `;
  const at = Date.parse(message.wall_time);
  const distance = ({ timestamp }: LogEntry) => Math.abs(Date.parse(timestamp) - at);
  const [nearest] = refusals
    .filter((entry) => entry.message.startsWith(start) && distance(entry) < maxLogDelayMs)
    .sort((a, b) => distance(a) - distance(b));
  return nearest && reasonOf(nearest.message);
}

function ignoredText(request: Wire): string {
  return `acknowledged, but not changed: ${(request.ignored ?? []).join(', ')}`;
}

/** Adds the request and the reason to each message. */
function withReasons(messages: readonly Wire[], log: readonly LogEntry[]): readonly Message[] {
  const requests = new Map(messages.filter(({ kind }) => kind === 'request').map((wire) => [wire.exchange_id, wire]));
  const refusals = refusalsOf(log);
  return messages.map((wire): Message => {
    const request = wire.kind === 'request' ? undefined : requests.get(wire.exchange_id);
    if (wire.kind === 'request') return (wire.ignored?.length ?? 0) > 0 ? { ...wire, reason: ignoredText(wire) } : wire;
    const reason = wire.exception_code === null ? undefined : refusalReason(wire, refusals);
    return { ...wire, ...(request && { request }), ...(reason !== undefined && { reason }) };
  });
}

/** True for exceptions, and for writes that were partly ignored. */
function isRefusal({ exception_code: code, ignored }: Message): boolean {
  return code !== null || (ignored?.length ?? 0) > 0;
}

const recordCall = (enabled: boolean) => post('modbus/messages', { body: { enabled } });

type Logs = ReplyOf<'logs'>;

/** Reads the warnings of Modbus, among them the refused writes. */
const readLog = (afterId: number | undefined) =>
  get('logs', {
    query: {
      modules: ['Modbus'],
      levels: ['warning'],
      limit: 1000,
      ...(afterId !== undefined && { after_id: afterId }),
    },
  });
const pieceOf = ({ logs }: Logs) => ({ rows: logs });

/** Interfaces with their masters, and faults in force. */
function State() {
  const { data } = useLive(get('modbus'), 2000);
  if (data && !data.enabled) return <Empty>No interface of Modbus is on.</Empty>;
  return (
    <div class="grid">
      {(data?.interfaces ?? []).map((face) => (
        <InterfacePanel key={face.comm} face={face} />
      ))}
      {data && data.faults.length > 0 && (
        <Panel title="Faults in force">
          <ul>
            {data.faults.map(({ id, kind }) => (
              <li key={id}>
                {id}: {words(kind)}
              </li>
            ))}
          </ul>
          <a href={href('inputs/faults')}>All faults</a>
        </Panel>
      )}
    </div>
  );
}

/** Requests and refusals, one row for each message. */
function MessagesAndRefusals() {
  const log = useWarnings();
  const refusedOnly = param('refused') === 'only';
  return (
    <>
      <MessageList log={log} refusedOnly={refusedOnly} />
      {refusedOnly && <Refusals log={log} />}
    </>
  );
}

const useWarnings = () => useFollowed<LogEntry, Logs>({ read: readLog, pieceOf, paused: false, maxKept: 1000 }).rows;

/** Modbus masters of the simulator: their connections, requests and refusals. */
export const modbusPage: Page = {
  path: 'modbus',
  title: 'Modbus',
  whenOff: 'settings',
  parts: [
    { path: 'state', title: 'State', component: State },
    { path: 'messages', title: 'Messages', component: MessagesAndRefusals },
    { path: 'transactions', title: 'Transactions', component: Transactions },
    settingsPart('modbus'),
    { path: 'connect', title: 'Connect', component: ConnectModbusMaster },
  ],
};

function pointsOf(message: Message): string {
  const { points } = message.request ?? message;
  return (points ?? []).join(', ');
}

function valuesText(values: Message['values'] | undefined): string {
  return Object.entries(values ?? {})
    .map(([point, value]) => `${point} = ${value ?? dash}`)
    .join(', ');
}

function contentText(message: Message): string {
  if (message.exception_code !== null) {
    const values = valuesText(message.request?.values);
    const name = `exception ${message.exception_code} (${message.exception_name ?? 'unknown'})`;
    return `${name}${message.reason === undefined ? '' : `: ${message.reason}`}${values === '' ? '' : ` [requested: ${values}]`}`;
  }
  if (message.no_answer !== null) return `no answer: ${words(message.no_answer)}`;
  const text = valuesText(message.values) || pointsOf(message);
  return message.reason === undefined ? text : `${text}: ${message.reason}`;
}

const columns: readonly Column<Message>[] = [
  { title: 'Time', cell: ({ sim_time }) => timeOfDay(sim_time), value: ({ sim_time }) => sim_time },
  {
    title: 'Direction',
    cell: ({ direction }) => (direction === 'in' ? '→ in' : '← out'),
    value: ({ direction }) => direction,
  },
  { title: 'Peer', value: ({ peer }) => peer },
  { title: 'Unit', numeric: true, value: ({ unit_id }) => unit_id },
  {
    title: 'Function',
    cell: ({ function: code, function_name }) => `${code ?? dash} ${function_name ?? ''}`,
    value: ({ function: code }) => code,
  },
  { title: 'Address', numeric: true, value: ({ address }) => address },
  {
    title: 'Content',
    cell: (message) => <span class={isRefusal(message) ? 'bad' : undefined}>{contentText(message)}</span>,
    value: contentText,
  },
];

interface MessageListProps {
  readonly log: readonly LogEntry[];
  readonly refusedOnly: boolean;
}

function MessageList({ log, refusedOnly }: MessageListProps) {
  const state = useLive(get('modbus/messages', { query: { limit: 1 } }), 5000).data;
  const [device, code, peer] = [param('modbus-device'), param('function'), param('peer')];
  const filters = {
    ...(device !== null && { device: Number(device) }),
    ...(code !== null && { function: Number(code) }),
    ...(peer !== null && { peer }),
  };
  return (
    <Messages<Message>
      title="Modbus messages"
      name="modbus"
      read={(after_id) =>
        get('modbus/messages', { query: { limit: 1000, ...filters, ...(after_id !== undefined && { after_id }) } })
      }
      recording={{ enabled: state?.enabled, on: recordCall(true), off: recordCall(false) }}
      columns={columns}
      textOf={(message) => `${message.peer} ${message.function_name} ${message.address} ${contentText(message)}`}
      arrange={(all) => {
        const messages = withReasons(all, log);
        return refusedOnly ? messages.filter(isRefusal) : messages;
      }}
      detail={(message) => <Detail message={message} />}
      tools={() => <Filters refusedOnly={refusedOnly} />}
      note={
        refusedOnly &&
        state?.enabled === false && (
          <p class="row above-list">
            <span>
              Messages are not being recorded. The log below always lists refused writes; a recording also lists refused
              reads, and the octets of each message.
            </span>
            <Action call={recordCall(true)}>Record messages</Action>
          </p>
        )
      }
      empty={
        state?.enabled
          ? refusedOnly
            ? 'Nothing was refused since the recording began.'
            : 'No message yet. The recording is on.'
          : refusedOnly
            ? 'No refused message is kept.'
            : 'Messages are kept only while they are recorded: press Record.'
      }
    />
  );
}

function Filters({ refusedOnly }: { readonly refusedOnly: boolean }) {
  const devices = useOverview()?.devices ?? [];
  const filter = (name: string, value: string) => setParam(name, value);
  return (
    <>
      <button
        type="button"
        aria-pressed={refusedOnly}
        title="Exceptions, and writes of which a point was ignored"
        onClick={() => {
          setParam('refused', refusedOnly ? null : 'only');
          refresh();
        }}
      >
        Refused only
      </button>
      <select
        aria-label="Device of the messages"
        value={param('modbus-device') ?? ''}
        onChange={(event) => filter('modbus-device', event.currentTarget.value)}
      >
        <option value="">all devices</option>
        {devices.map(({ device_index, name }) => (
          <option key={device_index} value={String(device_index)}>
            {device_index} {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Function of the messages"
        value={param('function') ?? ''}
        onChange={(event) => filter('function', event.currentTarget.value)}
      >
        <option value="">all functions</option>
        <option value="3">3 read</option>
        <option value="4">4 read input</option>
        <option value="6">6 write one</option>
        <option value="16">16 write several</option>
      </select>
      <input
        type="text"
        aria-label="Peer of the messages"
        placeholder="Peer"
        value={param('peer') ?? ''}
        onChange={(event) => filter('peer', event.currentTarget.value)}
      />
    </>
  );
}

function Detail({ message }: { readonly message: Message }) {
  const points = (message.request ?? message).points ?? [];
  return (
    <div class="stack">
      <Facts
        rows={[
          ['Simulated time', dateAndTime(message.sim_time)],
          ['Wall time', wallDate(message.wall_time)],
          ['Kind', words(message.kind)],
          ['Device', message.device_index ?? dash],
          [
            'Points',
            points.length === 0
              ? dash
              : points.map((point) => (
                  <a
                    key={point}
                    class="nowrap"
                    href={deviceHref(message.device_index ?? 'site', 'registers', {
                      model: point.slice(0, point.indexOf('.')),
                      point: point.slice(point.indexOf('.') + 1),
                    })}
                  >
                    {point}{' '}
                  </a>
                )),
          ],
          ['Values', valuesText(message.values) || dash],
          message.request?.values ? ['Values of the request', valuesText(message.request.values) || dash] : null,
          message.exception_code === null
            ? null
            : ['Exception', `${message.exception_code} ${message.exception_name ?? ''}`],
          message.reason === undefined ? null : ['Reason', message.reason],
          message.duration_ms === null ? null : ['Duration', `${fixed(message.duration_ms, 1)} ms`],
        ]}
      />
      <pre aria-label="Octets">{message.raw.replace(/(..)(?=.)/g, '$1 ')}</pre>
    </div>
  );
}

/** Refusals in the log, which do not depend on recording. */
function Refusals({ log }: { readonly log: readonly LogEntry[] }) {
  return (
    <Panel title="Refusals in the log" flush>
      <Table
        name="Refusals in the log"
        columns={[
          { title: 'Time', cell: ({ sim_time }) => timeOfDay(sim_time), value: ({ sim_time }) => sim_time },
          { title: 'Device', numeric: true, value: ({ device_index }) => device_index },
          {
            title: 'Reason',
            cell: ({ message }) => <strong>{reasonOf(message)}</strong>,
            value: ({ message }) => reasonOf(message),
          },
          {
            title: 'Request',
            cell: ({ message }) => message.slice(0, message.length - reasonOf(message).length),
            value: ({ message }) => message,
          },
        ]}
        rows={refusalsOf(log)}
        keyOf={({ id }) => id}
        empty="No request was refused."
        height={280}
      />
    </Panel>
  );
}
