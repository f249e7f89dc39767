import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Form } from '../../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, duration, fixed, remaining, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';

type CsipStatus = ReplyOf<'csip/status'>;
export type CsipControl = ReplyOf<'csip/controls'>['controls'][number];

/** Properties of each part of the view. */
export interface PartProps {
  readonly device: number;
  readonly status: CsipStatus;
}

/** Colour of a state of the client. */
export function stateTone(state: CsipStatus['state']): Tone {
  if (state === 'running') return 'good';
  if (state === 'retrying') return 'bad';
  return state === 'disabled' || state === 'stopped' ? 'off' : 'warn';
}

/** Members as `name value`, for modes and settings. */
export function membersOf(members: Readonly<Record<string, unknown>> | null): string {
  const all = Object.entries(members ?? {});
  if (all.length === 0) return dash;
  // null: a member that the server omitted
  const textOf = (value: unknown) =>
    value === null ? dash : JSON.stringify(value, (_, inner: unknown) => (inner === null ? dash : inner));
  return all.map(([name, value]) => `${name} ${typeof value === 'string' ? value : textOf(value)}`).join(', ');
}

interface DeviceProps {
  readonly device: number;
}

/** Connection, clock, EndDevice, programs, curves and diagnostics. */
export function State({ device, status }: PartProps) {
  return (
    <div class="grid">
      <Connection device={device} status={status} />
      <Communication device={device} status={status} />
      <ServerTime device={device} />
      <EndDevices device={device} status={status} />
      <Diagnostics device={device} />
      <Programs device={device} />
      <Curves device={device} />
    </div>
  );
}

function Connection({ device, status }: PartProps) {
  const { server, connection } = status;
  const query = { device };
  return (
    <Panel title="Connection">
      <div class="stack">
        <Facts
          rows={[
            [
              'Server',
              server === null ? dash : `${server.tls ? 'https' : 'http'}://${server.host}:${server.port}${server.dcap}`,
            ],
            ['TLS', server?.tls_protocol == null ? dash : `${server.tls_protocol} ${server.cipher ?? ''}`],
            ['Identity', status.identity],
            ['LFDI', <code>{status.lfdi ?? dash}</code>],
            ['SFDI', status.sfdi ?? dash],
            ['Devices', status.device_indices.join(', ')],
            ['Last contact', wallDate(connection.last_contact)],
            ['Attempts', `${connection.attempts}, consecutive failures ${connection.consecutive_failures}`],
            ['Next attempt', connection.retry_in_s === null ? dash : `in ${remaining(connection.retry_in_s)}`],
            ['Last error', connection.last_error ?? dash],
            ['Poll rates, s', membersOf(status.poll_rates_s)],
          ]}
        />
        <div class="row">
          <Action call={post('csip/connect', { query })}>Connect</Action>
          <Action call={post('csip/disconnect', { query })}>Disconnect</Action>
          <Action call={post('csip/reconnect', { query })} title="Does not wait for the end of the back-off">
            Reconnect
          </Action>
          <Action call={post('csip/rediscover', { query })}>Rediscover</Action>
          <Action call={post('csip/poll', { query })}>Poll</Action>
        </div>
      </div>
    </Panel>
  );
}

function ServerTime({ device }: DeviceProps) {
  const { data: time, problem } = useLive(get('csip/time', { query: { device } }), 2000);
  return (
    <Panel title="Clock of the server">
      {time == null ? (
        <Empty>{problem?.message ?? 'No Time resource has been read yet: connect, or poll.'}</Empty>
      ) : (
        <Facts
          rows={[
            ['Server time', <span data-test="server-time">{wallDate(time.server_time)}</span>],
            ['Offset', `${fixed(time.offset_s, 1)} s to this machine`],
            ['Quality', time.quality ?? dash],
            ['Time zone', time.tz_offset_s === null ? dash : duration(time.tz_offset_s)],
            ['Daylight saving', time.dst_offset_s === null ? dash : duration(time.dst_offset_s)],
            ['Read', `${duration(Math.round(time.age_s))} ago`],
            ['Address', <code>{time.href ?? dash}</code>],
          ]}
        />
      )}
    </Panel>
  );
}

function Communication({ device, status }: PartProps) {
  const lost = status.connection.communication_lost;
  const query = { device };
  return (
    <Panel title="Loss of communication">
      <div class="stack">
        {lost === null ? (
          <Chip tone="good">not lost by the simulator</Chip>
        ) : (
          <Chip tone="bad">
            lost since {wallDate(lost.since)}
            {lost.until === null ? '' : ` until ${wallDate(lost.until)}`}
          </Chip>
        )}
        <Form
          fields={[
            {
              kind: 'number',
              name: 'duration_s',
              label: 'Duration',
              unit: 's',
              hint: 'Empty: until communication is restored',
            },
          ]}
          submit="Lose communication"
          call={(values) => post('csip/communication', { query, body: { lost: true, ...values } })}
        >
          <Action call={post('csip/communication', { query, body: { lost: false } })}>Restore communication</Action>
        </Form>
      </div>
    </Panel>
  );
}

function EndDevices({ device, status }: PartProps) {
  const { data } = useLive(get('csip/end-devices', { query: { device } }), 5000);
  const all = (data?.end_devices ?? [status.end_device]).filter((each) => each !== null);
  return (
    <Panel title="EndDevice">
      {all.length === 0 && <Empty>The server has shown no EndDevice of this client yet.</Empty>}
      {all.map((each) => (
        <Facts
          key={each.href}
          rows={[
            ['Address', <code>{each.href}</code>],
            ['LFDI', <code>{each.lfdi ?? dash}</code>],
            ['Enabled', each.enabled === null ? dash : each.enabled ? 'yes' : 'no'],
            ['Category', each.device_category ?? dash],
            ['Changed', each.changed_time ?? dash],
            ['Post rate', each.post_rate_s === null ? dash : `${each.post_rate_s} s`],
            [
              'PIN',
              each.registration?.pin_matches == null ? dash : each.registration.pin_matches ? 'matches' : 'differs',
            ],
            ['Registered', each.registration?.registered_at ?? dash],
            ['Links', membersOf(each.links)],
          ]}
        />
      ))}
    </Panel>
  );
}

function Diagnostics({ device }: DeviceProps) {
  return (
    <Panel title="Diagnostics" flush>
      <DiagnosticsTable device={device} />
    </Panel>
  );
}

/** Errors, warnings and remarks about the client. */
export function DiagnosticsTable({ device }: DeviceProps) {
  const { data } = useLive(get('csip/diagnostics', { query: { device } }), 5000);
  const all = data
    ? (['errors', 'warnings', 'info'] as const).flatMap((kind) => data[kind].map((each) => ({ kind, ...each })))
    : [];
  const tones = { errors: 'bad', warnings: 'warn', info: 'muted' } as const;
  const names = { errors: 'error', warnings: 'warning', info: 'info' } as const;
  return (
    <Table
      name="Diagnostics"
      rows={all}
      keyOf={({ code, message }) => `${code} ${message}`}
      empty="Nothing is wrong or unusual."
      columns={[
        {
          title: 'Severity',
          cell: ({ kind }) => <Chip tone={tones[kind]}>{names[kind]}</Chip>,
          value: ({ kind }) => kind,
        },
        { title: 'Code', cell: ({ code }) => <code>{code}</code>, value: ({ code }) => code },
        { title: 'Message', value: ({ message }) => message },
      ]}
    />
  );
}

function Programs({ device }: DeviceProps) {
  const { data } = useLive(get('csip/programs', { query: { device } }), 2000);
  return (
    <Panel title="Programs" flush wide>
      <Table
        name="Programs"
        rows={data?.programs ?? []}
        keyOf={({ href }) => href}
        empty="The server has shown no DERProgram for this client yet."
        columns={[
          { title: 'Program', cell: ({ href }) => <code>{href}</code>, value: ({ href }) => href },
          { title: 'Description', value: ({ description }) => description },
          { title: 'Primacy', numeric: true, value: ({ primacy }) => primacy },
          { title: 'Events', numeric: true, value: (each) => each.control_count },
          { title: 'Curves', numeric: true, value: ({ curves }) => curves.length },
          {
            title: 'Default control',
            cell: ({ default_control: control }) =>
              control === null ? dash : membersOf({ ...control.modes, ...control.settings }),
            value: ({ default_control: control }) => membersOf(control?.modes ?? null),
          },
          {
            title: 'In force',
            cell: ({ default_control: control }) => control?.modes_in_force.join(', ') || dash,
            value: ({ default_control: control }) => control?.modes_in_force.join(' '),
          },
          {
            title: 'Left out',
            cell: ({ default_control: control }) =>
              control?.left_out.map(({ mode, detail }) => `${mode}: ${detail}`).join('; ') || dash,
          },
        ]}
      />
    </Panel>
  );
}

/** `92, 44; 98, 0` */
function pointsText(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points.map(({ x, y }) => `${x}, ${y}`).join('; ');
}

/** DERCurves of all programs, as received. */
export function Curves({ device }: { readonly device: number }) {
  const { data } = useLive(get('csip/curves', { query: { device } }), 5000);
  return (
    <Panel title="Curves" flush wide>
      <Table
        name="Curves"
        rows={data?.curves ?? []}
        keyOf={({ href, mrid, curve_type: type }) => `${href} ${mrid} ${type}`}
        empty="The server has shown no DERCurve yet: add curves to a program at the head-end, then poll."
        columns={[
          { title: 'Curve', cell: (each) => <code>{each.href ?? each.mrid ?? dash}</code>, value: (each) => each.href },
          { title: 'Description', value: (each) => each.description },
          { title: 'Type', numeric: true, value: (each) => each.curve_type },
          { title: 'Points (x, y)', value: ({ points }) => pointsText(points) },
          { title: 'Reference of y', numeric: true, value: (each) => each.y_ref_type },
          { title: 'Open loop, s', numeric: true, value: (each) => each.open_loop_s },
          { title: 'Ramp PT1, s', numeric: true, value: (each) => each.ramp_pt1_s },
          { title: 'VRef, %', numeric: true, value: (each) => each.v_ref_pct },
        ]}
      />
    </Panel>
  );
}
