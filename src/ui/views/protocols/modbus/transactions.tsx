/** One row for each request with its answer, and the registers that masters have read of late. */
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { DevicePicker } from '../../../kit/choices';
import { Messages } from '../../../kit/messages';
import { Chip, Facts, Panel } from '../../../kit/panel';
import type { Column } from '../../../kit/table';
import { useFollowed } from '../../../kit/follow';
import { dash, fixed, timeOfDay, wallTime, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { deviceHref, href } from '../../../store/route';
import { useDevice } from '../../../store/site';
import { useTimeline } from '../../../store/timeline-entries';
import type { TimelineEntry } from '../../../store/timeline';
import { useBroken } from '../sequence/broken';

type Wire = ReplyOf<'modbus/messages'>['messages'][number];
type Model = ReplyOf<'registers'>['models'][number];

/** A request with its answer. */
interface Transaction extends Wire {
  readonly answer?: Wire;
}

export function transactionsOf(messages: readonly Wire[]): readonly Transaction[] {
  const answers = new Map(messages.filter(({ kind }) => kind !== 'request').map((each) => [each.exchange_id, each]));
  return messages
    .filter(({ kind }) => kind === 'request')
    .map((request) => {
      const answer = answers.get(request.exchange_id);
      return answer === undefined ? request : { ...request, answer };
    });
}

const shownKinds = ['peer', 'refusal'] as const;
/** Entries of the timeline that are kept for the list. */
const maxEntries = 1000;

/** Entries of the timeline by the id of the request that made them. */
export function entriesByRequest(entries: readonly TimelineEntry[]): ReadonlyMap<number, TimelineEntry> {
  return new Map(
    entries.flatMap((entry) => {
      const [, id] = /^modbus\/(\d+)$/.exec(entry.message ?? '') ?? [];
      return id === undefined ? [] : [[Number(id), entry] as const];
    }),
  );
}

/** Words of the rules that a request or its answer broke; null: none. */
const brokenText = ({ id, answer }: Transaction, broken: ReadonlyMap<number, string>): string | null =>
  broken.get(id) ?? (answer && broken.get(answer.id)) ?? null;

/** `40310..40311` */
function rangeText({ address, count }: Wire): string {
  if (address === null) return dash;
  return count === null || count < 2 ? String(address) : `${address}..${address + count - 1}`;
}

function outcomeText({ answer, ignored }: Transaction): string {
  if (answer === undefined) return 'none yet';
  if (answer.no_answer !== null) return `none: ${words(answer.no_answer)}`;
  if (answer.exception_code !== null)
    return `exception ${answer.exception_code} (${answer.exception_name ?? 'unknown'})`;
  return (ignored?.length ?? 0) > 0 ? `acknowledged, not changed: ${(ignored ?? []).join(', ')}` : 'answered';
}

const isGood = ({ answer, ignored }: Transaction) =>
  answer !== undefined && answer.exception_code === null && answer.no_answer === null && (ignored?.length ?? 0) === 0;

const pointsText = ({ points }: Wire): string => (points ?? []).join(', ');

/** Points of a row that are named each. */
const maxPoints = 3;

/** `701.ID … 701.Hz, 14 points` */
function shortPoints({ points }: Wire): string {
  const all = points ?? [];
  return all.length > maxPoints ? `${all[0]} … ${all.at(-1)}, ${all.length} points` : all.join(', ');
}

function valuesText({ values }: Wire): string {
  return Object.entries(values ?? {})
    .map(([point, value]) => `${point} = ${value ?? dash}`)
    .join(', ');
}

/** Changes by request, and broken rules by message. */
type Context = readonly [changes: ReadonlyMap<number, TimelineEntry>, broken: ReadonlyMap<number, string>];

const columnsWith = ([changes, broken]: Context): readonly Column<Transaction>[] => [
  {
    title: 'Time',
    cell: ({ sim_time: time, wall_time: wall }) => <span title={wallTime(wall)}>{timeOfDay(time)}</span>,
    value: ({ sim_time }) => sim_time,
  },
  { title: 'Peer', value: ({ peer }) => peer },
  { title: 'Unit', numeric: true, value: ({ unit_id }) => unit_id },
  {
    title: 'Function',
    cell: ({ function: code, function_name: name }) => `${code ?? dash} ${name ?? ''}`,
    value: ({ function: code }) => code,
  },
  { title: 'Range', numeric: true, cell: rangeText, value: ({ address }) => address },
  {
    title: 'Answer',
    cell: (each) => (
      <Chip tone={isGood(each) ? 'good' : each.answer === undefined ? 'off' : 'bad'}>{outcomeText(each)}</Chip>
    ),
    value: outcomeText,
  },
  {
    title: 'ms',
    numeric: true,
    cell: ({ answer }) => fixed(answer?.duration_ms, 1),
    value: ({ answer }) => answer?.duration_ms,
  },
  {
    title: 'Points',
    cell: (each) => <span title={pointsText(each)}>{valuesText(each) || shortPoints(each) || dash}</span>,
    value: pointsText,
  },
  {
    title: 'Changed',
    cell: (each) => {
      const finding = brokenText(each, broken);
      return (
        <>
          {changes.get(each.id)?.text ?? dash}
          {finding !== null && <Chip tone="bad">{finding}</Chip>}
        </>
      );
    },
    value: (each) => [changes.get(each.id)?.text, brokenText(each, broken)].filter(Boolean).join(' '),
  },
];

const readOf = (device: number | undefined) => (after_id: number | undefined) =>
  get('modbus/messages', {
    query: { limit: 1000, ...(device !== undefined && { device }), ...(after_id !== undefined && { after_id }) },
  });

export function Transactions() {
  const device = useDevice()?.device_index;
  const enabled = useLive(get('modbus/messages', { query: { limit: 1 } }), 5000).data?.enabled;
  const { entries = [] } = useTimeline({ limit: maxEntries, kinds: shownKinds });
  const context = [entriesByRequest(entries), useBroken('modbus')] as const;
  return (
    <>
      <div class="title">
        <DevicePicker />
      </div>
      {device !== undefined && <ReadRegisters key={device} device={device} />}
      <Messages<Transaction>
        title="Modbus transactions"
        name="modbus"
        read={readOf(device)}
        recording={{
          enabled,
          on: post('modbus/messages', { body: { enabled: true } }),
          off: post('modbus/messages', { body: { enabled: false } }),
        }}
        columns={columnsWith(context)}
        textOf={(each) => `${each.peer} ${each.function_name} ${pointsText(each)} ${outcomeText(each)}`}
        arrange={transactionsOf}
        holds={({ id, answer }, chosen) => [id, answer?.id].some((each) => String(each) === chosen)}
        detail={(each) => <Detail transaction={each} context={context} />}
        empty={
          enabled === true
            ? 'No request to this device yet. The recording is on.'
            : 'Messages are kept only while they are recorded: press Record.'
        }
      />
    </>
  );
}

const octets = (raw: string) => raw.replace(/(..)(?=.)/g, '$1 ');

function Detail({ transaction, context }: { readonly transaction: Transaction; readonly context: Context }) {
  const { answer } = transaction;
  const [changes, broken] = context;
  const entry = changes.get(transaction.id);
  const finding = brokenText(transaction, broken);
  return (
    <div class="stack">
      <Facts
        rows={[
          [
            'Request',
            `function ${transaction.function ?? dash}, ${rangeText(transaction)}, unit ${transaction.unit_id}`,
          ],
          ['Points', pointsText(transaction) || dash],
          ['Written', valuesText(transaction) || dash],
          ['Answer', outcomeText(transaction)],
          entry === undefined
            ? null
            : [
                entry.kind === 'refusal' ? 'Refused' : 'Changed',
                <a key="entry" href={href('events/timeline', { entry: String(entry.id) })}>
                  {entry.text}
                </a>,
              ],
          finding === null
            ? null
            : [
                'Broken rule',
                <a key="finding" class="bad" href={href('compare/report-cards')}>
                  {finding}
                </a>,
              ],
          answer === undefined || valuesText(answer) === '' ? null : ['Read', valuesText(answer)],
        ]}
      />
      <pre aria-label="Octets of the request">{octets(transaction.raw)}</pre>
      {answer && <pre aria-label="Octets of the answer">{octets(answer.raw)}</pre>}
    </div>
  );
}

/** Time over which reads count, ms. */
const readSpanMs = 60_000;
const readFunctions = [3, 4];

/** Addresses read in the last minute of traffic. */
export function readAddresses(messages: readonly Wire[]): ReadonlySet<number> {
  const lastMs = Math.max(...messages.map(({ wall_time }) => Date.parse(wall_time)));
  const recent = messages.filter(
    ({ kind, function: code, wall_time: time }) =>
      kind === 'request' && readFunctions.includes(code ?? 0) && lastMs - Date.parse(time) <= readSpanMs,
  );
  const addresses = recent.flatMap(({ address, count }) =>
    Array.from({ length: address === null ? 0 : (count ?? 1) }, (_none, offset) => (address ?? 0) + offset),
  );
  return new Set(addresses);
}

/** Header of a model: its id and its length. */
const headerLength = 2;

/** A strip for each model: filled where a master reads, empty where none does. */
function ReadRegisters({ device }: { readonly device: number }) {
  const models = useLive(get('registers', { query: { device } }), 'once').data?.models ?? [];
  const { rows } = useFollowed({
    read: readOf(device),
    pieceOf: ({ messages, last_id: lastId }: ReplyOf<'modbus/messages'>) => ({ rows: messages, lastId }),
    paused: false,
    maxKept: 1000,
  });
  const addresses = readAddresses(rows);
  return (
    <Panel title="Registers read in the last minute of traffic">
      <ul class="read-strip">
        {models.map((model) => (
          <ModelStrip key={`${model.id} ${model.address}`} model={model} addresses={addresses} device={device} />
        ))}
      </ul>
    </Panel>
  );
}

interface ModelStripProps {
  readonly model: Model;
  readonly addresses: ReadonlySet<number>;
  readonly device: number;
}

function ModelStrip({ model, addresses, device }: ModelStripProps) {
  const { id, name, address, length } = model;
  const count = length + headerLength;
  const isRead = Array.from({ length: count }, (_none, offset) => addresses.has(address + offset));
  const readCount = isRead.filter(Boolean).length;
  const path = isRead.map((each, offset) => (each ? `M${offset} 0h1v8h-1z` : '')).join('');
  return (
    <li class={readCount === 0 ? 'unread' : undefined}>
      <a href={deviceHref(device, 'registers', { model: id })}>
        {id} {name}
      </a>
      <svg viewBox={`0 0 ${count} 8`} preserveAspectRatio="none" aria-hidden="true">
        <path d={path} />
      </svg>
      <small>{readCount === 0 ? 'not read' : `${readCount} of ${count}`}</small>
    </li>
  );
}
