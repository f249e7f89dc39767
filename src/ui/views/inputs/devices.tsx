import { useMemo, useState } from 'preact/hooks';
import { anyCall, get, post } from '../../api/call';
import { Action, useDo } from '../../kit/action';
import { Dialog } from '../../kit/dialog';
import { FormFrame, submitting } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { objectOf, SchemaFields } from '../../kit/schema-form';
import type { Schema } from '../../kit/schema-form';
import { Table } from '../../kit/table';
import { digits, show } from '../../look/format';
import { useLive } from '../../store/live';
import { say } from '../../store/notices';
import { href } from '../../store/route';
import { useSchema } from '../../store/schemas';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';

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
          {
            title: 'No.',
            cell: ({ device_index: index }) => index,
            value: ({ device_index: index }) => index,
            numeric: true,
          },
          {
            title: 'Name',
            cell: ({ device_index, name }) => <a href={href('devices', { device: device_index })}>{name}</a>,
            value: ({ name }) => name,
          },
          { title: 'Type', cell: ({ device_type }) => device_type, value: ({ device_type }) => device_type },
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

/** The members with a field of their own; others go into the JSON field. */
function shownOf({ properties = {} }: Schema): Schema {
  const { device_type, name, profile, evse_profile } = properties;
  // a profile may also be an object in the body
  const named = profile?.anyOf?.find((schema) => schema.enum !== undefined);
  const shown = { device_type, name, profile: named, evse_profile };
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(shown).flatMap(([member, schema]) => (schema === undefined ? [] : [[member, schema] as const])),
    ),
  };
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
  const { schema: whole, problem: unread } = useSchema('AddedDevice');
  const schema = useMemo(() => whole && shownOf(whole), [whole]);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [more, setMore] = useState('');
  const { busy, problem, run } = useDo();
  const further = furtherOf(more);
  const call = anyCall('POST', 'devices', {}, { ...(schema && objectOf(schema, typed)), ...further });
  const send = async () => {
    const answer = await run(call);
    if (answer === undefined) return;
    const { device_index, name } = answer as { readonly device_index: number; readonly name: string };
    say(`Device ${device_index} ${name} is added`);
    onClose();
  };
  return (
    <Dialog title="Add a device" onClose={onClose}>
      <FormFrame
        onSubmit={submitting(send)}
        submit="Add"
        call={call}
        busy={busy}
        problem={problem ?? unread}
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
            placeholder={'{ "modbus": { "port": 1502 } }'}
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
              ['Runs for', `${digits(data.uptime_s / 60, 1)} min`],
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
