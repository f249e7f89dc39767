/** Commands that peers were told are done, and whether the device has them. */
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Chip, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, timeOfDay, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { useDevice } from '../../store/site';
import { messageHref } from './messages';
import { protocolNames } from './quantity';

type Answers = ReplyOf<'answers'>;
type Command = Answers['answers'][number];

/** Polling interval of the commands, ms. */
const paceMs = 2000;
/** Commands of the short list. */
const shortCount = 6;

const tones: Readonly<Record<Command['cause'], Tone>> = {
  done: 'good',
  rounding: 'good',
  superseded: 'off',
  expired: 'off',
  not_done: 'bad',
  unknown: 'muted',
};

const verdicts: Readonly<Record<Command['cause'], string>> = {
  done: 'done',
  rounding: 'done, rounded',
  superseded: 'superseded',
  expired: 'expired',
  not_done: 'not done',
  unknown: 'cannot be seen',
};

/** Commands that are not done come first, then the newest. */
function ordered(answers: readonly Command[]): readonly Command[] {
  const isLater = ({ cause }: Command) => Number(cause !== 'not_done');
  return [...answers].sort((a, b) => isLater(a) - isLater(b) || b.wall_time.localeCompare(a.wall_time));
}

const units: Readonly<Record<string, string>> = { Pct: '%', Secs: 's' };

function valueOf(value: unknown, unit: string | null = null): string {
  if (value === null || value === undefined) return dash;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return unit === null || unit === '' ? text : `${text}\u00a0${units[unit] ?? unit}`;
}

/** @param station identity of the device as charge point */
const columnsOf = (station: string | null): readonly Column<Command>[] => [
  {
    title: 'Command and peer',
    cell: ({ protocol, peer, command, answer, told, message_id: id }) => (
      <>
        {id === null ? (
          <strong>{told.name}</strong>
        ) : (
          <a href={messageHref({ protocol, key: station ?? '', id, device: null })}>
            <strong>{told.name}</strong>
          </a>
        )}
        <small>
          {command}, answered with {answer}
        </small>
        <small class="of-peer">
          {protocolNames[protocol]} {peer}
        </small>
      </>
    ),
    value: ({ told }) => told.name,
  },
  {
    title: 'Time',
    cell: ({ sim_time: time, wall_time: wall }) => <span title={wallTime(wall)}>{timeOfDay(time)}</span>,
    value: ({ wall_time }) => wall_time,
  },
  {
    title: 'Told',
    numeric: true,
    cell: ({ told: { value, unit } }) => valueOf(value, unit),
    value: ({ told }) => valueOf(told.value),
  },
  {
    title: 'Found',
    numeric: true,
    cell: ({ found, told }) => <span title={found?.place}>{valueOf(found?.value, told.unit)}</span>,
    value: ({ found }) => valueOf(found?.value),
  },
  {
    title: 'Verdict',
    cell: ({ cause, explanation, faults }) => (
      <div class="reason">
        <Chip tone={tones[cause]}>{verdicts[cause]}</Chip>
        {explanation !== null && cause === 'not_done' && <small>{explanation}</small>}
        {faults.length > 0 && (
          <small>
            <a href={href('inputs/faults')}>Show the fault {faults.map(({ kind }) => `“${words(kind)}”`).join(', ')}</a>
          </small>
        )}
      </div>
    ),
    value: ({ cause }) => verdicts[cause],
  },
];

/** All commands. */
export const Answered = () => <Commands isShort={false} />;

/** The first of the commands. */
export const ShortAnswered = () => <Commands isShort />;

function Commands({ isShort }: { readonly isShort: boolean }) {
  const chosen = useDevice();
  const device = chosen?.device_index;
  const { data, problem } = useLive(device === undefined ? null : get('answers', { query: { device } }), paceMs);
  const all = ordered(data?.answers ?? []);
  const notDone = data?.causes.not_done ?? 0;
  return (
    <Panel
      title="Answered and done"
      flush
      tools={
        <>
          {data && data.count > 0 && (
            <Chip tone={notDone > 0 ? 'bad' : 'good'}>
              {notDone > 0 ? `${notDone} of ${data.count} not done` : `none of ${data.count} is left undone`}
            </Chip>
          )}
          {isShort && all.length > shortCount && <a href={href('compare/answered')}>All commands</a>}
        </>
      }
    >
      <Refused problem={problem} />
      {data === undefined && problem === null && <Loading heights={[140]} />}
      {data && (
        <>
          <Table
            name="Answered and done"
            columns={columnsOf(chosen?.charge_point_id ?? null)}
            rows={isShort ? all.slice(0, shortCount) : all}
            keyOf={({ protocol, answer_id: id, told }) => `${protocol} ${id} ${told.name}`}
            empty="No command to this device was answered positively while its messages were recorded."
          />
          <Unrecorded data={data} />
        </>
      )}
    </Panel>
  );
}

/** Messages that can be recorded; those of OCPP always are. */
const recordings = {
  modbus: post('modbus/messages', { body: { enabled: true } }),
  csip: post('csip/messages', { body: { enabled: true } }),
  dnp3: post('dnp3/messages', { body: { enabled: true } }),
} as const;

/** Words of the daemon for what a recording would mend. */
const lacksRecording = 'are not recorded';

/** Protocols whose commands are not listed: a button where a recording is missing, else the reason. */
function Unrecorded({ data }: { readonly data: Answers }) {
  const missing = data.protocols.filter(({ recorded }) => !recorded);
  if (missing.length === 0) return null;
  return (
    <ul class="unrecorded">
      {missing.map(({ protocol, reason }) => (
        <li key={protocol}>
          {protocol !== 'ocpp' && reason?.includes(lacksRecording) ? (
            <Action call={recordings[protocol]}>Record {protocolNames[protocol]}</Action>
          ) : (
            <span class="muted">
              {protocolNames[protocol]}: {reason ?? 'nothing is recorded'}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
