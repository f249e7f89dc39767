import { get, post } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Form } from '../../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, wallDate, wallTime } from '../../../look/format';
import { useLive } from '../../../store/live';
import type { PartProps } from './state';

const documents = ['capability', 'settings', 'status', 'availability'] as const;

/** Messages from and to the server: DER documents, readings, LogEvents, and notifications. */
export function Reports({ device }: PartProps) {
  return (
    <div class="grid">
      <Documents device={device} />
      <Readings device={device} />
      <LogEvents device={device} />
      <Subscriptions device={device} />
      <Notifications device={device} />
    </div>
  );
}

interface DeviceProps {
  readonly device: number;
}

function Documents({ device }: DeviceProps) {
  const query = { device };
  const { data } = useLive(get('csip/der', { query }), 2000);
  return (
    <Panel
      title="DER documents"
      wide
      tools={<Action call={post('csip/der', { query, body: { post: [...documents] } })}>Send DER documents</Action>}
    >
      <div class="grid">
        {documents.map((name) => {
          const sent = data?.[name] ?? null;
          return (
            <div key={name} class="stack">
              <div class="row">
                <h3>{name}</h3>
                <Action call={post('csip/der', { query, body: { post: [name] } })}>Send {name}</Action>
              </div>
              {sent === null ? (
                <Empty>Not sent yet.</Empty>
              ) : (
                <>
                  <Facts
                    rows={[
                      ['Sent', wallDate(sent.sent_at)],
                      [
                        'Result',
                        <Chip tone={sent.result === 'accepted' ? 'good' : 'bad'}>
                          {sent.result} {sent.http_status ?? ''}
                        </Chip>,
                      ],
                      ['Address', <code>{sent.href}</code>],
                    ]}
                  />
                  <pre class="scroller raw" tabIndex={0} aria-label={`Body of ${name}`}>
                    {JSON.stringify(sent.body, null, 2)}
                  </pre>
                </>
              )}
            </div>
          );
        })}
      </div>
    </Panel>
  );
}

function Readings({ device }: DeviceProps) {
  const query = { device };
  const { data } = useLive(get('csip/readings', { query }), 2000);
  return (
    <Panel
      title="Readings"
      flush
      wide
      tools={
        <>
          <span class="muted">
            {data?.mup_href ?? 'no mirror yet'}
            {data?.post_rate_s == null ? '' : `, every ${data.post_rate_s} s`}
          </span>
          <Action call={post('csip/readings', { query })}>Send readings</Action>
        </>
      }
    >
      <Table
        name="Readings"
        rows={data?.sets ?? []}
        keyOf={({ mrid }) => mrid}
        empty="No reading was sent yet."
        columns={[
          { title: 'Device', numeric: true, value: (each) => each.device_index },
          { title: 'Description', value: (each) => each.description },
          { title: 'Unit (uom)', numeric: true, value: ({ uom }) => uom },
          { title: 'Phase', numeric: true, value: ({ phase }) => phase },
          { title: 'Last post', cell: (each) => wallTime(each.last_post), value: (each) => each.last_post },
          { title: 'Newest value', numeric: true, value: ({ values }) => values.at(-1)?.value },
          { title: 'Multiplier', numeric: true, value: (each) => each.multiplier },
        ]}
      />
    </Panel>
  );
}

function LogEvents({ device }: DeviceProps) {
  const query = { device };
  const { data } = useLive(get('csip/log-events', { query }), 2000);
  const isOn = data?.enabled ?? false;
  return (
    <Panel
      title="LogEvents"
      tools={
        <Action call={post('csip/log-events', { query, body: { enabled: !isOn } })} pressed={isOn}>
          {isOn ? 'Switch off' : 'Switch on'}
        </Action>
      }
    >
      <div class="stack">
        <Table
          name="LogEvents"
          rows={data?.events ?? []}
          keyOf={(each) => `${each.event_id} ${each.created_at}`}
          empty="No LogEvent yet: alarms of the device and the form below create LogEvents."
          columns={[
            { title: 'Created', cell: (each) => wallTime(each.created_at), value: (each) => each.created_at },
            { title: 'Code', numeric: true, value: ({ code }) => code },
            { title: 'Function set', numeric: true, value: (each) => each.function_set },
            { title: 'Details', value: ({ details }) => details },
            { title: 'Result', value: ({ result }) => result },
          ]}
        />
        <Form
          fields={[
            { kind: 'number', name: 'code', label: 'Code', step: 1 },
            { kind: 'number', name: 'function_set', label: 'Function set', step: 1 },
            { kind: 'text', name: 'details', label: 'Details' },
          ]}
          submit="Send LogEvent"
          call={(values) => post('csip/log-events', { query, body: values })}
        />
      </div>
    </Panel>
  );
}

function Subscriptions({ device }: DeviceProps) {
  const query = { device };
  const { data } = useLive(get('csip/subscriptions', { query }), 2000);
  return (
    <Panel title="Subscriptions">
      <div class="stack">
        <Facts rows={[['Notification URI', data?.notification_uri ?? dash]]} />
        <Table
          name="Subscriptions"
          rows={data?.subscriptions ?? []}
          keyOf={({ resource }) => resource}
          empty="No subscription: csip_subscribe under Settings subscribes to lists, and so does the form below."
          columns={[
            { title: 'Resource', cell: ({ resource }) => <code>{resource}</code>, value: ({ resource }) => resource },
            { title: 'State', value: ({ state }) => state },
            { title: 'Notifications', numeric: true, value: (each) => each.notifications },
            { title: 'Error', value: (each) => each.last_error },
            {
              title: 'End',
              cell: ({ resource }) => (
                <Action call={post('csip/subscriptions', { query, body: { resource, enabled: false } })}>End</Action>
              ),
            },
          ]}
        />
        <Form
          fields={[{ kind: 'text', name: 'resource', label: 'Resource', placeholder: '/edev/0/fsa' }]}
          submit="Subscribe"
          call={({ resource }) =>
            post('csip/subscriptions', { query, body: { resource: String(resource ?? ''), enabled: true } })
          }
        />
      </div>
    </Panel>
  );
}

function Notifications({ device }: DeviceProps) {
  const { data } = useLive(get('csip/notifications', { query: { device, limit: 100 } }), 2000);
  return (
    <Panel title="Notifications" flush>
      <Table
        name="Notifications"
        rows={data?.notifications ?? []}
        keyOf={(each) => `${each.received_at} ${each.resource ?? ''} ${each.peer}`}
        empty="The server has sent no notification yet."
        columns={[
          { title: 'Time', cell: (each) => wallTime(each.received_at), value: (each) => each.received_at },
          { title: 'Resource', value: ({ resource }) => resource },
          { title: 'Content', value: ({ content }) => content },
          { title: 'HTTP', numeric: true, value: (each) => each.http_status },
          { title: 'Peer', value: ({ peer }) => peer },
        ]}
      />
    </Panel>
  );
}
