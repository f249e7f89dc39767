import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { DevicePicker } from '../../../kit/choices';
import { Chip, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { sourceName, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { useDevice, useOverview } from '../../../store/site';

type Command = ReplyOf<'commands'>['commands'][number];

const tones: Readonly<Record<Command['state'], Tone>> = {
  queued: 'muted',
  running: 'warn',
  completed: 'good',
  failed: 'bad',
  canceled: 'off',
};

/** Start, stop and reset by the operator, with results. */
export function Commands() {
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
          <DevicePicker />
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
            confirm="Reset the device? Overrides end; registers, counters and state of charge return to their start values."
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
        empty="No command since the start."
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
            cell: ({ source, source_detail }) => `${sourceName(source)} ${source_detail ?? ''}`,
            value: ({ source }) => source,
          },
          { title: 'Queued', cell: ({ queued_at }) => timeOfDay(queued_at), value: ({ queued_at }) => queued_at },
          {
            title: 'Finished',
            cell: ({ finished_at }) => timeOfDay(finished_at),
            value: ({ finished_at }) => finished_at,
          },
          { title: 'Message', value: ({ message }) => message },
        ]}
      />
    </Panel>
  );
}
