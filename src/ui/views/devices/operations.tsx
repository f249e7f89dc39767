import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { anyCall } from '../../api/call';
import type { Call } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field } from '../../kit/form';
import { RequestForm } from '../../kit/request-form';
import { useSchema } from '../../store/schemas';
import type { ConnectorProps } from './connector-props';
import { openSession, whyNot } from './possible';
import type { Operation } from './possible';

const token: Field = { kind: 'text', name: 'id_token', label: 'Token' };
const power: Field = { kind: 'number', name: 'power_kw', label: 'Power', unit: 'kW', min: 0 };

/** Schemas whose members are those of the API description. */
const schemaNames = { plug: 'PlugRequest', ev: 'ElectricVehiclePatch', fault: 'ConnectorFaultRequest' } as const;

/** Operations at a connector by person or vehicle; those the present state refuses are disabled with a reason. */
export function Operations({ id, connector, central }: ConnectorProps) {
  const { connector_id: cid } = connector;
  // true after a plug by this page, until its next operation
  const [isPlugged, setPlugged] = useState(false);
  const forget = () => setPlugged(false);
  const call = (operation: string, body: unknown = {}): Call =>
    anyCall('POST', `evse/${encodeURIComponent(id)}/connectors/${cid}/${operation}`, {}, body);
  const why = (operation: Operation) => whyNot(operation, connector, central);
  const schemaForm = (
    operation: keyof typeof schemaNames,
    submit: string,
    unable: string | null,
    onDone: () => void,
  ) => (
    <SchemaForm
      name={schemaNames[operation]}
      call={(body) => call(operation, body)}
      submit={submit}
      unable={unable}
      onDone={onDone}
    />
  );
  return (
    <div class="operations" role="group" aria-label={`Operations of connector ${cid}`}>
      <Buttons connector={connector} central={central} call={call} onDone={forget} />
      {isPlugged && <AfterPlug connector={connector} />}
      <Part title="Plug a vehicle" open={connector.ev === null}>
        {schemaForm('plug', 'Plug', why('plug'), () => setPlugged(true))}
      </Part>
      <Part title="Authorise">
        <Form
          fields={[token]}
          call={(values) => call('authorize', values)}
          submit="Authorise"
          unable={why('authorize')}
          onDone={forget}
        />
      </Part>
      <Part title="Start">
        <Form
          fields={[token, { kind: 'check', name: 'authorize', label: 'Authorise first', value: true }]}
          call={(values) => call('start', values)}
          submit="Start session"
          unable={why('start')}
          onDone={forget}
        />
      </Part>
      <Part title="Stop">
        <Form
          fields={[{ kind: 'text', name: 'reason', label: 'Reason' }, token]}
          call={(values) => call('stop', values)}
          submit="Stop session"
          unable={why('stop')}
          onDone={forget}
        />
      </Part>
      <Part title="Limit">
        <Form fields={[power]} call={(values) => call('limit', values)} submit="Set limit">
          <Action call={call('limit', { power_kw: null })}>End limit</Action>
        </Form>
      </Part>
      <Part title="Discharge">
        <Form
          fields={[power]}
          call={(values) => call('discharge', values)}
          submit="Set discharge"
          unable={why('discharge')}
        >
          <Action call={call('discharge', { power_kw: null })} unable={why('discharge')}>
            End discharge
          </Action>
        </Form>
      </Part>
      <Part title="Change the vehicle">{schemaForm('ev', 'Change vehicle', why('ev'), () => undefined)}</Part>
      <Part title="Fault">{schemaForm('fault', 'Inject fault', null, forget)}</Part>
      <Part title="Meter">
        <Form
          fields={[
            { kind: 'number', name: 'energy_wh', label: 'Meter', unit: 'Wh' },
            { kind: 'check', name: 'send', label: 'Send the value' },
          ]}
          call={(values) => call('meter', values)}
          submit="Set meter"
        />
      </Part>
      <Part title="Reserve">
        <Form
          fields={[
            { kind: 'number', name: 'reservation_id', label: 'Number', value: 1, step: 1 },
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
  readonly onDone: () => void;
}

/** Operations without parameters. */
function Buttons({ connector, central, call, onDone }: ButtonsProps) {
  const button = (title: string, operation: Operation, body?: object) => (
    <Action call={call(operation, body)} unable={whyNot(operation, connector, central)} onDone={onDone}>
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
      <Action call={call('availability', { operative: !connector.operative })} onDone={onDone}>
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

/** Consequences of plugging in: a session may start by itself. */
function AfterPlug({ connector }: Pick<ConnectorProps, 'connector'>) {
  const session = openSession(connector);
  const text =
    session === null
      ? connector.cable.ev_plugged && connector.cable.evse_plugged
        ? 'Plugged in. No session yet: it waits for a token (Authorise or Start, or the central system).'
        : 'Plugged in at one end only: the cable hangs loose.'
      : session.id_token === 'AUTO'
        ? 'A session has started by itself, because this station authorises by plugging in: transaction ' +
          `${session.transaction_id}, token AUTO.`
        : `A session has started without another click: transaction ${session.transaction_id}, token ${session.id_token ?? 'none'}.`;
  return (
    <p role="status" data-test={`after-plug-${connector.connector_id}`}>
      {text}
    </p>
  );
}
