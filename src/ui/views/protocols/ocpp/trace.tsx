import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Messages } from '../../../kit/messages';
import { Chip } from '../../../kit/panel';
import type { Column } from '../../../kit/table';
import { fixed, wallDate, wallTime } from '../../../look/format';
import { param, setParam } from '../../../store/route';
import { ocppDrawing, ocppSummary } from '../sequence/arrows';
import type { Broken } from '../sequence/arrows';
import { useBroken } from '../sequence/broken';
import type { ChargePoint, PartProps } from './connection';

type Message = ReplyOf<'ocpp/{id}/messages'>['messages'][number];

/** A call with its answer, or a single message. */
interface Exchange extends Message {
  readonly answer?: Message;
}

const isAnswer = ({ type }: Message) => type === 'result' || type === 'error';

/** Calls with their answers, by message id and opposite direction; other messages stay as they are. */
function withAnswers(messages: readonly Message[]): readonly Exchange[] {
  const key = (direction: string, id: string | null) => `${direction} ${id ?? ''}`;
  const answers = new Map<string, Message>();
  for (const each of messages) if (isAnswer(each)) answers.set(key(each.direction, each.message_id), each);
  return messages.map((call): Exchange => {
    const answer = answers.get(key(call.direction === 'in' ? 'out' : 'in', call.message_id));
    return call.type === 'call' && answer !== undefined ? { ...call, answer } : call;
  });
}

/** Pairs of calls and answers; messages without the other one stay single. */
function exchangesOf(messages: readonly Message[]): readonly Exchange[] {
  const all = withAnswers(messages);
  const paired = new Set(all.flatMap(({ answer }) => answer?.id ?? []));
  return all.filter(({ id }) => !paired.has(id));
}

function payloadText(message: Message | undefined): string {
  if (!message) return '';
  const { payload } = message;
  return typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
}

interface DetailProps {
  readonly exchange: Exchange;
  readonly broken: Broken;
}

/** A call and its answer side by side, with the rule that they broke. */
function Detail({ exchange, broken }: DetailProps) {
  const { action, type, message_id: id, answer } = exchange;
  const rule = broken.get(exchange.id) ?? (answer && broken.get(answer.id));
  return (
    <div class="stack">
      <p>
        <strong>{action ?? type}</strong> <code>{id ?? ''}</code>
      </p>
      {rule !== undefined && <p class="problem">Broken rule: {rule}</p>}
      <div class="split">
        {(isAnswer(exchange) ? [exchange] : [exchange, answer]).map((message, side) => (
          <div key={side} class="stack">
            <h3>{message ? `${message.type}, ${message.direction}, ${wallDate(message.timestamp)}` : 'no answer'}</h3>
            <pre class="payload" tabIndex={0} aria-label={side === 0 ? 'Payload of the call' : 'Payload of the answer'}>
              {payloadText(message)}
              {message?.truncated && ' …'}
            </pre>
          </div>
        ))}
      </div>
    </div>
  );
}

function Answer({ exchange: { type, answer } }: { readonly exchange: Exchange }) {
  if (answer) return <Chip tone={answer.type === 'result' ? 'good' : 'bad'}>{answer.type}</Chip>;
  return <>{type === 'call' ? 'none yet' : type}</>;
}

/** The telling members of a call, and behind an arrow those of its answer. */
function summaryText(call: Message['payload'], answer: Message['payload'] | undefined): string | null {
  const asks = ocppSummary(call);
  const answered = answer === undefined ? '' : ocppSummary(answer);
  return [asks, answered === '' ? '' : `→ ${answered}`].filter((part) => part !== '').join(' ') || null;
}

const columns: readonly Column<Exchange>[] = [
  { title: 'Time', cell: ({ timestamp }) => wallTime(timestamp), value: ({ timestamp }) => timestamp },
  {
    title: 'Direction',
    cell: ({ direction }) => (direction === 'in' ? '→ in' : '← out'),
    value: ({ direction }) => direction,
  },
  { title: 'Action', value: ({ action, type }) => action ?? type },
  { title: 'Answer', cell: (exchange) => <Answer exchange={exchange} />, value: ({ answer }) => answer?.type },
  {
    title: 'ms',
    numeric: true,
    cell: ({ answer }) => fixed(answer?.duration_ms, 0),
    value: ({ answer }) => answer?.duration_ms,
  },
  { title: 'Summary', value: ({ payload, answer }) => summaryText(payload, answer?.payload) },
];

function Filters({ messages }: { readonly messages: readonly Message[] }) {
  const action = param('action') ?? '';
  const names = messages.map((each) => each.action).filter((each) => each !== null);
  // the chosen action stays an option after the list is cleared
  const actions = [...new Set(action === '' ? names : [...names, action])].sort();
  return (
    <>
      <select aria-label="Action" value={action} onChange={(event) => setParam('action', event.currentTarget.value)}>
        <option value="">all actions</option>
        {actions.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <select
        aria-label="Direction"
        value={param('direction') ?? ''}
        onChange={(event) => setParam('direction', event.currentTarget.value)}
      >
        <option value="">both directions</option>
        <option value="out">from the charge point</option>
        <option value="in">from the central system</option>
      </select>
    </>
  );
}

const readOf =
  ({ id }: ChargePoint) =>
  (after_id: number | undefined) =>
    get('ocpp/{id}/messages', {
      params: { id },
      query: { limit: 1000, ...(after_id !== undefined && { after_id }) },
    });

/** True for messages that the filters let through. */
function useFilter(): (message: Message) => boolean {
  const [action, direction] = [param('action'), param('direction')];
  return (each) => (action === null || each.action === action) && (direction === null || each.direction === direction);
}

/** Messages of the charge point: each call beside its answer. */
export function Trace({ status }: PartProps) {
  const isShown = useFilter();
  const broken = useBroken('ocpp', status.id);
  return (
    <Messages<Exchange>
      title="OCPP messages"
      name="ocpp"
      read={readOf(status)}
      recording={null}
      columns={columns}
      textOf={(each) =>
        `${each.action} ${each.message_id} ${each.type} ${payloadText(each)} ${payloadText(each.answer)}`
      }
      arrange={(all) => exchangesOf(all).filter(isShown)}
      holds={({ id, answer }, chosen) => [id, answer?.id].some((each) => String(each) === chosen)}
      tools={(messages) => <Filters messages={messages} />}
      detail={(exchange) => <Detail exchange={exchange} broken={broken} />}
      empty="No message yet: connect, or choose other filters."
    />
  );
}

/** The same messages as arrows between the charge point and its central system. */
export function StationSequence({ status }: PartProps) {
  const isShown = useFilter();
  const broken = useBroken('ocpp', status.id);
  return (
    <Messages<Exchange>
      title="OCPP messages"
      name="ocpp"
      read={readOf(status)}
      recording={null}
      columns={columns}
      textOf={(each) => `${each.action} ${each.message_id} ${each.type} ${payloadText(each)}`}
      arrange={(all) => withAnswers(all).filter(isShown)}
      tools={(messages) => <Filters messages={messages} />}
      drawing={(messages) => ocppDrawing(messages, status.id, status.url ?? 'Central system', broken)}
      detail={(message) => <Detail exchange={message} broken={broken} />}
      empty="No message yet: connect, or choose other filters."
    />
  );
}
