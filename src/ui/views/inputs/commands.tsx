import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import { useDevice, useOverview } from '../../store/site';
import { DeviceAmong, Writer } from './scope';

type Command = ReplyOf<'commands'>['commands'][number];

const tones: Readonly<Record<Command['state'], Tone>> = {
  queued: 'muted',
  running: 'warn',
  completed: 'good',
  failed: 'bad',
  canceled: 'off',
};

const all = () => true;

/** The local switch of the device, which refuses remote writes and commands. */
export function LocalPanel() {
  const device = useDevice()?.device_index;
  const query = device === undefined ? {} : { device };
  const { data, problem } = useLive(device === undefined ? null : get('controls/local', { query }));
  const isLocal = data?.local ?? false;
  return (
    <Panel title="Local/remote switch" tools={<DeviceAmong accept={all} />}>
      <div class="stack">
        <Facts
          rows={[
            ['Position', <Chip tone={isLocal ? 'warn' : 'good'}>{isLocal ? 'local' : 'remote'}</Chip>],
            ['Set by', <Writer by={data?.changed_by} />],
          ]}
        />
        <p class="muted">In local the device refuses remote writes and commands.</p>
        <Action call={post('controls/local', { query, body: { local: !isLocal } })} disabled={!data}>
          {isLocal ? 'Switch to remote' : 'Switch to local'}
        </Action>
        <Refused problem={problem} />
      </div>
    </Panel>
  );
}

/** Start, stop and reset by the operator, with results. */
export function CommandsPanel() {
  const [toAll, setToAll] = useState(false);
  const chosen = useDevice();
  const devices = useOverview()?.devices ?? [];
  const { data } = useLive(get('commands', { query: { limit: 100 } }));
  const device = toAll ? ('all' as const) : (chosen?.device_index ?? 0);
  const nameOf = (index: number) => devices.find(({ device_index }) => device_index === index)?.name ?? '';
  return (
    <Panel
      title="Operator commands"
      wide
      flush
      tools={
        <>
          <DeviceAmong accept={all} />
          <label class="row">
            <input type="checkbox" checked={toAll} onChange={(event) => setToAll(event.currentTarget.checked)} />
            all devices
          </label>
          {chosen && !toAll && (
            <span class="muted">
              {words(chosen.status.service_state)}, {words(chosen.status.inverter_state)}
            </span>
          )}
          <Action call={post('commands', { body: { command: 'start', device } })}>Start</Action>
          <Action call={post('commands', { body: { command: 'stop', device } })}>Stop</Action>
          <Action call={post('commands', { body: { command: 'reset', device, scope: 'alarms' } })}>Reset alarms</Action>
          <Action
            call={post('commands', { body: { command: 'reset', device, scope: 'device' } })}
            confirm="Reset the whole device: overrides end, registers, counters and state of charge return to their start values?"
          >
            Reset device
          </Action>
        </>
      }
    >
      <Table<Command>
        name="Commands"
        rows={data?.commands ?? []}
        keyOf={({ id }) => id}
        empty="No command was given since the start."
        height={260}
        columns={[
          { title: 'No.', cell: ({ id }) => id, value: ({ id }) => Number(id), numeric: true },
          {
            title: 'Command',
            cell: ({ command, scope }) => (scope === null ? command : `${command} ${scope}`),
            value: ({ command }) => command,
          },
          {
            title: 'Device',
            cell: ({ device_index }) => `${device_index} ${nameOf(device_index)}`,
            value: ({ device_index }) => device_index,
          },
          {
            title: 'State',
            cell: ({ state }) => <Chip tone={tones[state]}>{state}</Chip>,
            value: ({ state }) => state,
          },
          {
            title: 'By',
            cell: ({ source, source_detail }) => `${words(source)} ${source_detail ?? ''}`,
            value: ({ source }) => source,
          },
          { title: 'Queued', cell: ({ queued_at }) => timeOfDay(queued_at), value: ({ queued_at }) => queued_at },
          {
            title: 'Finished',
            cell: ({ finished_at }) => timeOfDay(finished_at),
            value: ({ finished_at }) => finished_at,
          },
          { title: 'Message', cell: ({ message }) => message ?? dash, value: ({ message }) => message },
        ]}
      />
    </Panel>
  );
}
