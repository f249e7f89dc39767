import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Chip, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, digits, wallTime } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import type { PartProps } from './types';

type Message = ReplyOf<'ocpp/{id}/messages'>['messages'][number];

interface Exchange {
  readonly call: Message;
  readonly answer: Message | null;
}

/** A call with its answer, by message id and opposite direction; other messages stand alone. */
function exchangesOf(messages: readonly Message[]): readonly Exchange[] {
  const answers = new Map<string, Message>();
  const isAnswer = ({ type }: Message) => type === 'result' || type === 'error';
  const key = (direction: string, id: string | null) => `${direction} ${id ?? ''}`;
  for (const each of messages) if (isAnswer(each)) answers.set(key(each.direction, each.message_id), each);
  const paired = new Set<Message>();
  const calls = messages.map((call): Exchange => {
    if (call.type !== 'call') return { call, answer: null };
    const answer = answers.get(key(call.direction === 'in' ? 'out' : 'in', call.message_id)) ?? null;
    if (answer) paired.add(answer);
    return { call, answer };
  });
  return calls.filter(({ call }) => !paired.has(call)).reverse();
}

/** A call and its answer side by side, as they went over the wire. */
function Detail({ exchange: { call, answer } }: { readonly exchange: Exchange }) {
  return (
    <Panel title={`${call.action ?? call.type} ${call.message_id ?? ''}`} wide>
      <div class="split">
        {[call, answer].map((message, side) => (
          <div key={side} class="stack">
            <h3>{message ? `${message.type}, ${message.direction}, ${message.timestamp}` : 'no answer'}</h3>
            <pre class="payload" tabIndex={0} aria-label={side === 0 ? 'Payload of the call' : 'Payload of the answer'}>
              {message &&
                (typeof message.payload === 'string' ? message.payload : JSON.stringify(message.payload, null, 2))}
            </pre>
          </div>
        ))}
      </div>
    </Panel>
  );
}

/** The columns of the trace. @param choose shows an exchange */
function columnsOf(choose: (exchange: Exchange) => void): readonly Column<Exchange>[] {
  return [
    { title: 'Time', cell: ({ call }) => wallTime(call.timestamp), value: ({ call }) => call.timestamp },
    { title: 'Direction', cell: ({ call }) => call.direction, value: ({ call }) => call.direction },
    {
      title: 'Action',
      cell: (each) => (
        <button
          type="button"
          class="quiet"
          onClick={(event) => {
            event.stopPropagation();
            choose(each);
          }}
        >
          {each.call.action ?? each.call.type}
        </button>
      ),
      value: ({ call }) => call.action ?? call.type,
    },
    {
      title: 'Message id',
      cell: ({ call }) => <code>{call.message_id ?? dash}</code>,
      value: ({ call }) => call.message_id,
    },
    {
      title: 'Answer',
      cell: ({ call, answer }) =>
        answer ? (
          <Chip tone={answer.type === 'result' ? 'good' : 'bad'}>{answer.type}</Chip>
        ) : call.type === 'call' ? (
          'none yet'
        ) : (
          call.type
        ),
      value: ({ answer }) => answer?.type,
    },
    {
      title: 'ms',
      numeric: true,
      cell: ({ answer }) => digits(answer?.duration_ms, 0),
      value: ({ answer }) => answer?.duration_ms,
    },
  ];
}

/** Messages of the charge point: each call beside its answer. */
export function Trace({ status }: PartProps) {
  const { data } = useLive(get('ocpp/{id}/messages', { params: { id: status.id }, query: { limit: 1000 } }), 1000);
  const action = param('action') ?? '';
  const direction = param('direction') ?? '';
  const all = exchangesOf(data?.messages ?? []);
  const shown = all.filter(
    ({ call }) => (action === '' || call.action === action) && (direction === '' || call.direction === direction),
  );
  const open = all.find(({ call }) => String(call.id) === param('message'));
  const actions = [...new Set(all.map(({ call }) => call.action).filter((each) => each !== null))].sort();
  const choose = ({ call }: Exchange) => setParam('message', call.id === open?.call.id ? null : call.id);
  return (
    <>
      <Panel
        title="Trace"
        flush
        wide
        tools={
          <>
            <select
              aria-label="Action"
              value={action}
              onChange={(event) => setParam('action', event.currentTarget.value)}
            >
              <option value="">all actions</option>
              {actions.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <select
              aria-label="Direction"
              value={direction}
              onChange={(event) => setParam('direction', event.currentTarget.value)}
            >
              <option value="">both directions</option>
              <option value="out">from the charge point</option>
              <option value="in">from the central system</option>
            </select>
          </>
        }
      >
        <Table
          name="Trace"
          rows={shown}
          keyOf={({ call }) => call.id}
          height={340}
          selected={open?.call.id ?? null}
          onSelect={choose}
          empty="No message yet: connect, or choose other filters."
          columns={columnsOf(choose)}
        />
      </Panel>
      {open && <Detail exchange={open} />}
    </>
  );
}
