import { useState } from 'preact/hooks';
import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { useFollowed } from '../../../kit/follow';
import { Refused } from '../../../kit/action';
import { Chip, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, dateAndTime, timeOrDate, wallTime } from '../../../look/format';
import { param, setParam } from '../../../store/route';
import { useClock, useOverview } from '../../../store/site';
import { Choice } from '../choice';

type Entry = ReplyOf<'logs'>['logs'][number];

const maxKept = 5000;
const modules = ['AC', 'DC', 'CSIP', 'Modbus', 'OCPP', 'DNP3', 'WS', 'Lab', 'Findings'] as const;
const levels = ['error', 'warning', 'info', 'debug'] as const;
const tones: Readonly<Record<Entry['level'], Tone>> = { error: 'bad', warning: 'warn', info: 'muted', debug: 'off' };

/** Matching lines of the log. */
function useLog(paused: boolean) {
  const module = modules.find((name) => name === param('module'));
  const level = levels.find((name) => name === param('level'));
  const device = param('log-device');
  const query = {
    ...(module && { modules: [module] }),
    ...(level && { levels: levels.slice(0, levels.indexOf(level) + 1) }),
    ...(device !== null && { device: Number(device) }),
    limit: 1000,
  };
  return useFollowed({
    read: (afterId) => get('logs', { query: { ...query, ...(afterId !== undefined && { after_id: afterId }) } }),
    pieceOf: ({ logs }) => ({ rows: logs }),
    paused,
    maxKept,
  });
}

/** @param simTime now: entries of another day have their date */
const columnsAt = (simTime: string | undefined): readonly Column<Entry>[] => [
  {
    title: 'Simulated time',
    cell: ({ sim_time }) => (
      <span title={dateAndTime(sim_time)}>{sim_time === null ? dash : timeOrDate(sim_time, simTime ?? sim_time)}</span>
    ),
    value: ({ sim_time }) => sim_time,
  },
  {
    title: 'Wall time',
    width: '100px',
    cell: ({ timestamp }) => wallTime(timestamp),
    value: (row) => row.timestamp,
  },
  { title: 'Level', cell: ({ level }) => <Chip tone={tones[level]}>{level}</Chip>, value: ({ level }) => level },
  { title: 'Module', value: ({ module }) => module },
  { title: 'Device', numeric: true, value: ({ device_index }) => device_index },
  { title: 'Message', cell: ({ message }) => <span title={message}>{message}</span>, value: ({ message }) => message },
];

/** The log of the simulator. */
export function LogsView() {
  const [isPaused, setPaused] = useState(false);
  const [follow, setFollow] = useState(true);
  const { rows: entries, problem } = useLog(isPaused);
  const devices = useOverview()?.devices ?? [];
  const simTime = useClock()?.sim_time;
  const text = (param('log-find') ?? '').toLowerCase();
  const open = entries.find(({ id }) => String(id) === param('line'));
  const matching = text === '' ? entries : entries.filter(({ message }) => message.toLowerCase().includes(text));
  return (
    <>
      <Panel
        title="Log"
        flush
        tools={
          <>
            <Choice name="module" label="Module" all="all modules" options={modules.map((name) => [name, name])} />
            <Choice
              name="level"
              label="Level"
              all="all levels"
              options={levels.map((name) => [name, name === 'error' ? 'errors' : `${name} and above`])}
            />
            <Choice
              name="log-device"
              label="Device of the lines"
              all="all devices"
              options={devices.map(({ device_index, name }) => [String(device_index), `${device_index} ${name}`])}
            />
            <input
              type="search"
              aria-label="Find in the log"
              placeholder="Find"
              value={param('log-find') ?? ''}
              onInput={(event) => setParam('log-find', event.currentTarget.value)}
            />
            <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
              Follow
            </button>
            <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
              Pause list
            </button>
          </>
        }
      >
        <Refused problem={problem} />
        <Table
          name="Log"
          columns={columnsAt(simTime)}
          rows={matching}
          keyOf={({ id }) => id}
          height={600}
          follow={follow && open === undefined}
          selected={open?.id ?? null}
          onSelect={({ id }) => setParam('line', id === open?.id ? null : id)}
          empty="No line matches. Lines of the level debug exist only with --log_level debug."
        />
      </Panel>
      {open && (
        <Panel title={`Line ${open.id}`}>
          <pre>{open.message}</pre>
        </Panel>
      )}
    </>
  );
}
