import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Messages } from '../../../kit/messages';
import { Chip } from '../../../kit/panel';
import type { Column } from '../../../kit/table';
import { dash, fixed, wallTime } from '../../../look/format';
import { param, setParam } from '../../../store/route';
import type { PartProps } from './connection';

type Message = ReplyOf<'ocpp/{id}/messages'>['messages'][number];

/** A call with its answer, or a single message. */
interface Exchange extends Message {
  readonly answer?: Message;
}

const isAnswer = ({ type }: Message) => type === 'result' || type === 'error';

/** Pairs calls with answers by message id and opposite direction; other messages stay single. */
function exchangesOf(messages: readonly Message[]): readonly Exchange[] {
  const key = (direction: string, id: string | null) => `${direction} ${id ?? ''}`;
  const answers = new Map<string, Message>();
  for (const each of messages) if (isAnswer(each)) answers.set(key(each.direction, each.message_id), each);
  const paired = new Set<Message>();
  const all = messages.map((call): Exchange => {
    if (call.type !== 'call') return call;
    const answer = answers.get(key(call.direction === 'in' ? 'out' : 'in', call.message_id));
    if (!answer) return call;
    paired.add(answer);
    return { ...call, answer };
  });
  return all.filter((_each, index) => !paired.has(messages[index] as Message));
}

function payloadText(message: Message | undefined): string {
  if (!message) return '';
  const { payload } = message;
  return typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
}

/** A call and its answer side by side. */
function Detail({ exchange }: { readonly exchange: Exchange }) {
  const { action, type, message_id: id, answer } = exchange;
  return (
    <div class="stack">
      <p>
        <strong>{action ?? type}</strong> <code>{id ?? ''}</code>
      </p>
      <div class="split">
        {[exchange, answer].map((message, side) => (
          <div key={side} class="stack">
            <h3>{message ? `${message.type}, ${message.direction}, ${message.timestamp}` : 'no answer'}</h3>
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

const columns: readonly Column<Exchange>[] = [
  { title: 'Time', cell: ({ timestamp }) => wallTime(timestamp), value: ({ timestamp }) => timestamp },
  {
    title: 'Direction',
    cell: ({ direction }) => (direction === 'in' ? '→ in' : '← out'),
    value: ({ direction }) => direction,
  },
  { title: 'Action', value: ({ action, type }) => action ?? type },
  { title: 'Message id', cell: (each) => <code>{each.message_id ?? dash}</code>, value: (each) => each.message_id },
  { title: 'Answer', cell: (exchange) => <Answer exchange={exchange} />, value: ({ answer }) => answer?.type },
  {
    title: 'ms',
    numeric: true,
    cell: ({ answer }) => fixed(answer?.duration_ms, 0),
    value: ({ answer }) => answer?.duration_ms,
  },
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

/** Messages of the charge point: each call beside its answer. */
export function Trace({ status }: PartProps) {
  const params = { id: status.id };
  const [action, direction] = [param('action'), param('direction')];
  return (
    <Messages<Exchange>
      title="Trace"
      name="trace"
      read={(after_id) =>
        get('ocpp/{id}/messages', { params, query: { limit: 1000, ...(after_id !== undefined && { after_id }) } })
      }
      recording={null}
      columns={columns}
      textOf={(each) =>
        `${each.action} ${each.message_id} ${each.type} ${payloadText(each)} ${payloadText(each.answer)}`
      }
      arrange={(all) =>
        exchangesOf(all).filter(
          (each) => (action === null || each.action === action) && (direction === null || each.direction === direction),
        )
      }
      tools={(messages) => <Filters messages={messages} />}
      detail={(exchange) => <Detail exchange={exchange} />}
      empty="No message yet: connect, or choose other filters."
    />
  );
}
