import { useState } from 'preact/hooks';
import { anyCall, get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, useDo, Refused } from '../../kit/action';
import { Dialog, Facts, Panel, Chip } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { FormFrame, submitting } from '../../kit/form';
import { objectOf, SchemaFields } from '../../kit/schema-form';
import { Table } from '../../kit/table';
import { fixed, show, timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import { say } from '../../kit/notice';
import { href } from '../../store/route';
import { useOverview, useDevice } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { useDeviceSchema, withoutPin } from '../devices/change';
import { DeviceAmong, Writer } from './scope';

/** The devices, with forms to add and remove them at run time. */
export function DevicesPanel() {
  const devices = useOverview()?.devices ?? [];
  const [adding, setAdding] = useState(false);
  return (
    <Panel
      title="Devices"
      flush
      tools={
        <button type="button" onClick={() => setAdding(true)}>
          Add a device
        </button>
      }
    >
      <Table<DeviceEntry>
        name="Devices"
        rows={devices}
        keyOf={({ device_index }) => device_index}
        height={300}
        empty="There is no device: add one above, or start with --device_type."
        columns={[
          { title: 'No.', value: ({ device_index: index }) => index, numeric: true },
          {
            title: 'Name',
            cell: ({ device_index, name }) => <a href={href('devices', { device: device_index })}>{name}</a>,
            value: ({ name }) => name,
          },
          { title: 'Type', value: ({ device_type }) => device_type },
          {
            title: 'Remove',
            cell: ({ device_index, name }) => (
              <Action
                call={post('devices/{index}/remove', { params: { index: device_index } })}
                confirm={`Remove device ${device_index} ${name}? Its connections end, and its index is not used again.`}
              >
                Remove {device_index}
              </Action>
            ),
          },
        ]}
      />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Panel>
  );
}

/** Additional members as an object. null: invalid. */
function furtherOf(text: string): object | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const isStation = typed['/device_type'] === 'EVSE' || Boolean(typed['/evse_profile']);
  const { schema, problem: readProblem } = useDeviceSchema(isStation, (_pointer, member) => member);
  const [more, setMore] = useState('');
  const { busy, problem, run } = useDo();
  const further = furtherOf(more);
  const callWith = (texts: typeof typed) =>
    anyCall('POST', 'devices', {}, { ...(schema && objectOf(schema, texts)), ...further });
  const send = async () => {
    const answer = await run(callWith(typed));
    if (answer === undefined) return;
    const { device_index, name } = answer as { readonly device_index: number; readonly name: string };
    say(`Device ${device_index} ${name} was added`);
    onClose();
  };
  return (
    <Dialog title="Add a device" onClose={onClose}>
      <FormFrame
        onSubmit={submitting(send)}
        submit="Add"
        call={callWith(withoutPin(typed))}
        busy={busy}
        problem={problem ?? readProblem}
        disabled={further === null || !schema}
      >
        {schema && (
          <SchemaFields
            schema={schema}
            typed={typed}
            onTyped={(pointer, text) => setTyped((before) => ({ ...before, [pointer]: text }))}
            issueOf={(pointer) => problem?.about(pointer) ?? null}
          />
        )}
        <label class="field">
          <span>Further members, as JSON</span>
          <textarea
            rows={4}
            name="further"
            placeholder={'{ "ocpp": { "auto_authorize": false } }'}
            aria-invalid={further === null}
            value={more}
            onInput={(event) => setMore(event.currentTarget.value)}
          />
          {further === null && <small class="issue">This is not a JSON object.</small>}
        </label>
        <p class="muted">
          All members: schema AddedDevice in the <a href="/redoc">API reference</a>.
        </p>
      </FormFrame>
    </Dialog>
  );
}

/** Facts of the running simulator, and the button that stops it. */
export function SimulatorPanel() {
  const { data } = useLive(get('server-info'), 5000);
  const [delay, setDelay] = useState('0');
  return (
    <Panel title="Simulator">
      <div class="stack">
        {data && (
          <Facts
            rows={[
              ['Version', data.version],
              ['Devices', data.device_count],
              ['Process', data.pid],
              ['Runs for', `${fixed(data.uptime_s / 60, 1)} min`],
              ['Tick', show(data.tick_interval_s, 'seconds')],
            ]}
          />
        )}
        <div class="row">
          <label class="row">
            <span class="muted">Delay, s</span>
            <input
              type="number"
              min={0}
              max={60}
              value={delay}
              onInput={(event) => setDelay(event.currentTarget.value)}
            />
          </label>
          <Action
            call={post('stop', { body: { reason: 'stopped in the dashboard', delay_s: Number(delay) } })}
            confirm="Stop the simulator? All connections end, and this page loses its daemon."
          >
            Stop the simulator
          </Action>
        </div>
      </div>
    </Panel>
  );
}

type Command = ReplyOf<'commands'>['commands'][number];

const tones: Readonly<Record<Command['state'], Tone>> = {
  queued: 'muted',
  running: 'warn',
  completed: 'good',
  failed: 'bad',
  canceled: 'off',
};

const anyDevice = () => true;

/** The local/remote switch of the device. */
export function LocalPanel() {
  const device = useDevice()?.device_index;
  const query = device === undefined ? {} : { device };
  const { data, problem } = useLive(device === undefined ? null : get('controls/local', { query }));
  const isLocal = data?.local ?? false;
  return (
    <Panel title="Local/remote switch" tools={<DeviceAmong accept={anyDevice} />}>
      <div class="stack">
        <Facts
          rows={[
            ['Position', <Chip tone={isLocal ? 'warn' : 'good'}>{isLocal ? 'local' : 'remote'}</Chip>],
            ['Set by', <Writer by={data?.changed_by} />],
          ]}
        />
        <p class="muted">In position local the device refuses remote writes and commands.</p>
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
          <DeviceAmong accept={anyDevice} />
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
            cell: ({ source, source_detail }) => `${words(source)} ${source_detail ?? ''}`,
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
