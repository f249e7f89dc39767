import { useState } from 'preact/hooks';
import { anyCall, get, post } from '../../api/call';
import { Action, useDo } from '../../kit/action';
import { Dialog, Facts, Panel } from '../../kit/panel';
import { FormFrame, submitting } from '../../kit/form';
import { objectOf, SchemaFields } from '../../kit/schema-form';
import { Table } from '../../kit/table';
import { duration, show } from '../../look/format';
import { useLive } from '../../store/live';
import { say } from '../../kit/notice';
import { deviceHref } from '../../store/route';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { useDeviceSchema, withoutPin } from '../devices/change';
import { ViewHead } from '../../kit/tabs';
import { StreamClients } from './stream-clients';

/** The devices, with forms to add and remove them at run time. */
function DevicesPanel() {
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
            cell: ({ device_index, name }) => <a href={deviceHref(device_index, 'picture')}>{name}</a>,
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
function SimulatorPanel() {
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
              ['Runs for', duration(data.uptime_s)],
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

/** The simulator as a whole: its process, and the devices that join and leave it. */
export default function Simulator() {
  return (
    <>
      <ViewHead title="Simulator" />
      <SimulatorPanel />
      <DevicesPanel />
      <StreamClients />
    </>
  );
}
