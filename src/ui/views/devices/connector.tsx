/** One connector of a charging station: its operations, with the reason why its state refuses one, and its facts. */
import type { ComponentChildren } from 'preact';
import { Facts, Panel } from '../../kit/panel';
import { dash, fixed, show, words } from '../../look/format';
import { setBy } from './page';
import type { PageProps } from './page';
import { anyCall, get } from '../../api/call';
import type { ReplyOf, Call } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field } from '../../kit/form';
import { RequestForm } from '../../kit/schema-form';
import { useLive } from '../../store/live';
import { param } from '../../store/route';
import { useSchema } from '../../store/schemas';

type Operation =
  | 'plug'
  | 'unplug'
  | 'authorize'
  | 'start'
  | 'stop'
  | 'suspend'
  | 'resume'
  | 'lock'
  | 'unlock'
  | 'clear-fault'
  | 'reserve'
  | 'cancel-reservation'
  | 'discharge'
  | 'ev';

/** The open session; the last one stays in the answer until the vehicle leaves. */
export function openSession({ session }: Connector): Connector['session'] {
  return session?.ended_at === null ? session : null;
}

function whyNotServed({ error_code: code, operative }: Connector): string | null {
  if (code !== 'NoError') return `${code} must be cleared first`;
  return operative ? null : 'The connector is out of operation';
}

function whyNotAuthorized(connector: Connector, central: boolean): string | null {
  // a central system accepts a token in any state, since tokens also end sessions
  if (central) return null;
  if (openSession(connector) !== null) return 'A session is running';
  return connector.authorized ? 'A token is authorised already' : whyNotServed(connector);
}

function whyNotStarted(connector: Connector): string | null {
  if (openSession(connector) !== null) return 'A session is running';
  const { ev_plugged: ev, evse_plugged: evse } = connector.cable;
  return ev && evse ? whyNotServed(connector) : 'No vehicle is plugged in';
}

function whyNotUnplugged(connector: Connector): string | null {
  const { status, cable } = connector;
  // an attached cable is always connected to the station
  if (!cable.ev_plugged && (!cable.evse_plugged || status === 'available')) return 'Nothing is plugged in';
  return cable.locked && openSession(connector) === null ? 'The cable is locked: unlock it first' : null;
}

/** True if energy flows or is suspended. */
function isPowered(connector: Connector): boolean {
  const state = openSession(connector)?.charging_state;
  return state === 'charging' || state === 'suspended_ev' || state === 'suspended_evse';
}

const noEnergy = 'No session is charging or suspended';

function whyNotLocked(connector: Connector): string | null {
  const { ev_plugged: ev, evse_plugged: evse, locked } = connector.cable;
  if (!ev || !evse) return 'No cable to lock';
  return locked ? 'The cable is locked already' : null;
}

function whyNotDischarged(connector: Connector): string | null {
  if (!connector.bidirectional) return 'The connector is not bidirectional';
  return openSession(connector) === null ? 'No session is running' : null;
}

/** The reason why the present state refuses an operation. null: the answers of the daemon show no reason. */
export function whyNot(operation: Operation, connector: Connector, central: boolean): string | null {
  const { cable, ev, status, authorized, reservation, error_code: code } = connector;
  switch (operation) {
    case 'plug':
      return cable.ev_plugged && cable.evse_plugged ? 'A vehicle is plugged in already' : null;
    case 'unplug':
      return whyNotUnplugged(connector);
    case 'authorize':
      return whyNotAuthorized(connector, central);
    case 'start':
      return whyNotStarted(connector);
    case 'stop':
      return openSession(connector) === null && !authorized ? 'No session is running' : null;
    case 'suspend':
      return isPowered(connector) ? null : noEnergy;
    case 'resume':
      if (!isPowered(connector)) return noEnergy;
      return status === 'charging' ? 'Nothing is suspended' : null;
    case 'lock':
      return whyNotLocked(connector);
    case 'unlock':
      return cable.locked ? null : 'The cable is not locked';
    case 'clear-fault':
      return code === 'NoError' ? 'No fault to clear' : null;
    case 'reserve':
      return status === 'available' || status === 'reserved' ? null : 'Only an available connector can be reserved';
    case 'cancel-reservation':
      return reservation === null ? 'No reservation to cancel' : null;
    case 'discharge':
      return whyNotDischarged(connector);
    case 'ev':
      return ev === null ? 'No vehicle is plugged in' : null;
  }
}

const token: Field = { kind: 'text', name: 'id_token', label: 'Token' };
const power = { kind: 'number', name: 'power_kw', label: 'Power', unit: 'kW', min: 0 } as const satisfies Field;

/** Makes an operation of a connector. @param id charge point */
export function connectorCall(id: string, cid: number, operation: string, body: unknown = {}): Call {
  return anyCall('POST', `evse/${encodeURIComponent(id)}/connectors/${cid}/${operation}`, {}, body);
}

/** Schemas of the API description by operation. */
const schemaNames = { plug: 'PlugRequest', ev: 'ElectricVehiclePatch', fault: 'ConnectorFaultRequest' } as const;

/** Operations at a connector by person or vehicle; those the present state refuses are disabled with a reason. */
export function Operations({ id, connector, central }: ConnectorProps) {
  const { connector_id: cid } = connector;
  const call = (operation: string, body: unknown = {}) => connectorCall(id, cid, operation, body);
  const why = (operation: Operation) => whyNot(operation, connector, central);
  const schemaForm = (operation: keyof typeof schemaNames, submit: string, unable: string | null) => (
    <SchemaForm name={schemaNames[operation]} call={(body) => call(operation, body)} submit={submit} unable={unable} />
  );
  return (
    <div class="operations" role="group" aria-label={`Operations of connector ${cid}`}>
      <Buttons connector={connector} central={central} call={call} />
      <Part title="Plug a vehicle" open={connector.ev === null}>
        {schemaForm('plug', 'Plug', why('plug'))}
      </Part>
      <Part title="Authorise">
        <Form
          fields={[token]}
          call={(values) => call('authorize', values)}
          submit="Authorise"
          unable={why('authorize')}
        />
      </Part>
      <Part title="Start">
        <Form
          fields={[token, { kind: 'check', name: 'authorize', label: 'Authorise first', value: true }]}
          call={(values) => call('start', values)}
          submit="Start session"
          unable={why('start')}
        />
      </Part>
      <Part title="Stop">
        <Form
          fields={[{ kind: 'text', name: 'reason', label: 'Reason' }, token]}
          call={(values) => call('stop', values)}
          submit="Stop session"
          unable={why('stop')}
        />
      </Part>
      <Part title="Limit">
        <Form
          fields={[{ ...power, value: connector.local_limit_kw }]}
          call={(values) => call('limit', values)}
          submit="Set limit"
        >
          <Action call={call('limit', { power_kw: null })}>End limit</Action>
        </Form>
      </Part>
      <Part title="Discharge">
        <Form
          fields={[{ ...power, value: connector.discharge_kw }]}
          call={(values) => call('discharge', values)}
          submit="Set discharge"
          unable={why('discharge')}
        >
          <Action call={call('discharge', { power_kw: null })} unable={why('discharge')}>
            End discharge
          </Action>
        </Form>
      </Part>
      <Part title="Change the vehicle">{schemaForm('ev', 'Change vehicle', why('ev'))}</Part>
      <Part title="Fault">{schemaForm('fault', 'Inject fault', null)}</Part>
      <Part title="Meter">
        <Form
          fields={[
            { kind: 'number', name: 'energy_wh', label: 'Meter', unit: 'Wh', value: Math.round(connector.energy_wh) },
            { kind: 'check', name: 'send', label: 'Send the values to the central system' },
          ]}
          call={(values) => call('meter', values)}
          submit="Set meter"
        />
      </Part>
      <Part title="Reserve">
        <Form
          fields={[
            { kind: 'number', name: 'reservation_id', label: 'Reservation ID', value: 1, step: 1 },
            token,
            { kind: 'number', name: 'expires_in_s', label: 'Expires in', unit: 's' },
          ]}
          call={(values) => call('reserve', values)}
          submit="Reserve"
          unable={why('reserve')}
        />
      </Part>
    </div>
  );
}

interface ButtonsProps extends Omit<ConnectorProps, 'id'> {
  readonly call: (operation: string, body?: unknown) => Call;
}

/** Operations without parameters. */
function Buttons({ connector, central, call }: ButtonsProps) {
  const button = (title: string, operation: Operation, body?: object) => (
    <Action call={call(operation, body)} unable={whyNot(operation, connector, central)}>
      {title}
    </Action>
  );
  return (
    <div class="row">
      {button('Unplug', 'unplug')}
      {button('Suspend', 'suspend', { by: 'evse' })}
      {button('Resume', 'resume', { by: 'evse' })}
      {button('Vehicle suspends', 'suspend', { by: 'ev' })}
      {button('Vehicle resumes', 'resume', { by: 'ev' })}
      {button('Lock', 'lock')}
      {button('Unlock', 'unlock')}
      <Action call={call('availability', { operative: !connector.operative })}>
        {connector.operative ? 'Take out of service' : 'Take into service'}
      </Action>
      {button('Clear fault', 'clear-fault')}
      {button('Cancel reservation', 'cancel-reservation')}
    </div>
  );
}

interface PartProps {
  readonly title: string;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

function Part({ title, open = false, children }: PartProps) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

type SchemaFormProps = Omit<Parameters<typeof RequestForm>[0], 'schema'> & { readonly name: string };

/** A form for a body of the API description. */
function SchemaForm({ name, ...props }: SchemaFormProps) {
  const { schema, problem } = useSchema(name);
  if (schema) return <RequestForm {...props} schema={schema} />;
  return <p class="muted">{problem?.message ?? 'Reading the description of the API.'}</p>;
}

/** Texts that the display of a connector shows in turn; there are none without a central system. */
export function Display({ id, connector, central }: ConnectorProps) {
  const { connector_id: cid } = connector;
  const call = central ? get('evse/{id}/connectors/{cid}/display', { params: { id, cid } }) : null;
  const { data, problem } = useLive(call, 2000);
  return (
    <>
      <Refused problem={problem} />
      {data && data.texts.length > 0 && (
        <Facts
          rows={data.texts.map(({ message_id: messageId, text }) => [
            messageId === null ? 'Display' : `Display, message ${messageId}`,
            <span data-test={`display-${cid}`}>{text}</span>,
          ])}
        />
      )}
    </>
  );
}

/** Facts of a connector, for the details of its station. */
export function ConnectorFacts({ connector }: { readonly connector: Connector }) {
  const { connector_id: cid, ev, session, cable, reservation } = connector;
  return (
    <Panel title={`Connector ${cid}`}>
      <Facts
        rows={[
          ['Status', words(connector.status)],
          [
            'Powers',
            `wanted ${show(connector.wanted_kw, 'activePower')}, possible ` +
              `${show(connector.possible_kw, 'activePower')}, allocated ` +
              `${show(connector.allocated_kw, 'activePower')}, actual ${show(connector.power_kw, 'activePower')}`,
          ],
          [
            'Kind',
            `${connector.type.toUpperCase()} ${connector.standard}, ` +
              `${show(connector.min_power_kw, 'activePower')} to ` +
              `${show(connector.max_power_kw, 'activePower')}${connector.bidirectional ? ', bidirectional' : ''}`,
          ],
          [
            'Limit',
            `${show(connector.limit_kw, 'activePower')}, ` +
              (connector.limit_source === 'none' ? 'nothing limits' : `by ${words(connector.limit_source)}`),
          ],
          [
            'Local limit',
            connector.local_limit_kw === null
              ? dash
              : `${show(connector.local_limit_kw, 'activePower')}, ${setBy(connector.local_limit_by)}`,
          ],
          [
            'Discharge',
            connector.discharge_kw === null
              ? dash
              : `${show(connector.discharge_kw, 'activePower')}, ${setBy(connector.discharge_by)}`,
          ],
          [
            'Current',
            `${connector.current_a.map((a) => fixed(a, 1)).join(' / ')} A at ${show(connector.voltage_v, 'voltage')}`,
          ],
          [
            'Meter',
            `${show(connector.energy_wh / 1000, 'energy')} into vehicles, ` +
              `${show(connector.energy_export_wh / 1000, 'energy')} out of vehicles`,
          ],
          [
            'Cable',
            `${cable.ev_plugged ? 'in the vehicle' : 'not in the vehicle'}, ` +
              `${cable.evse_plugged ? 'in the station' : 'not in the station'}, ` +
              (cable.locked ? 'locked' : 'not locked'),
          ],
          ['Authorised', connector.authorized ? 'yes' : 'no'],
          [
            'Vehicle',
            ev === null
              ? dash
              : `${ev.id ?? 'without ID'}: ${show(ev.soc_pct, 'soc')} of ` +
                `${show(ev.battery_capacity_kwh, 'energy')}, target ${show(ev.target_soc_pct, 'soc')}, up to ` +
                show(ev.max_charge_kw, 'activePower'),
          ],
          [
            'Session',
            session === null
              ? dash
              : `${session.transaction_id}: ${words(session.state)}, ${show(session.energy_wh / 1000, 'energy')}, ` +
                `token ${session.id_token ?? dash}`,
          ],
          ['Reservation', reservation === null ? dash : `${reservation.reservation_id} for ${reservation.id_token}`],
          connector.error_code === 'NoError'
            ? null
            : ['Fault', `${connector.error_code} ${connector.error_info ?? ''}`],
        ]}
      />
    </Panel>
  );
}

type Station = ReplyOf<'evse/{id}'>;

export function useStation({ charge_point_id: id }: Pick<PageProps['device'], 'charge_point_id'>): Station | undefined {
  return useLive(id === null ? null : get('evse/{id}', { params: { id } })).data;
}

/** The connector of the address, otherwise the first one with a vehicle, otherwise the first one. */
export function chosenConnector(station: Station | undefined): Connector | undefined {
  const all = station?.connectors ?? [];
  const asked = param('connector');
  return all.find(({ connector_id: cid }) => String(cid) === asked) ?? all.find(({ ev }) => ev !== null) ?? all[0];
}

export type Connector = Station['connectors'][number];

interface ConnectorProps {
  readonly id: string;
  readonly connector: Connector;
  /** true if a central system decides about tokens */
  readonly central: boolean;
}
