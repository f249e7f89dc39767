import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Empty, Facts, Panel, Chip } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, fixed, show, timeOfDay, words, dateAndTime } from '../../look/format';
import { useLive } from '../../store/live';
import { ConnectorCard } from './connector';
import type { PageProps } from './page';
import { RequestForm, labelOf } from '../../kit/schema-form';
import { deviceHref, param, setParam } from '../../store/route';
import { useSchema } from '../../store/schemas';
import { labelled } from './grid-support/functions';

type Controls = ReplyOf<'evse/der-controls'>;

interface Row {
  readonly name: string;
  /** always a boolean: the text comes from the type of `control_ids`, a record of texts */
  readonly enabled: boolean | string;
  readonly source: string;
  readonly changedAt: string | null;
  /** OCPP control that last wrote the function */
  readonly controlId: string | null;
}

function rowsOf(controls: Controls): readonly Row[] {
  return Object.entries(controls).flatMap(([name, member]) => {
    if (typeof member !== 'object' || member === null || !('supported' in member) || !member.supported) return [];
    const { enabled, source, changed_at: changedAt } = member;
    return [{ name, enabled, source, changedAt, controlId: controls.control_ids[name] ?? null }];
  });
}

function stateOf(enabled: boolean | string): string {
  if (typeof enabled === 'string') return words(enabled);
  return enabled ? 'on' : 'off';
}

/** Grid-support functions of a station with the OCPP controls that set them, and the discharge limit. */
function DerControlsPanel({ device }: { readonly device: number }) {
  const query = { device };
  const { data, problem } = useLive(get('evse/der-controls', { query }));
  const rows = data ? rowsOf(data) : [];
  return (
    <Panel title="DER controls" wide tools={<a href={deviceHref(device, 'grid-support')}>Curves and values</a>}>
      <div class="stack">
        <Refused problem={problem} />
        <Facts
          rows={[
            [
              'Max power out of vehicles',
              <span class="row">
                <span data-test="discharge-limit">{show(data?.limit_max_discharge_pct, 'percent')}</span>
                <Action
                  call={post('evse/der-controls', { query, body: { limit_max_discharge_pct: null } })}
                  unable={data?.limit_max_discharge_pct == null ? 'There is no limit' : null}
                >
                  End this limit
                </Action>
              </span>,
            ],
          ]}
        />
        <Table<Row>
          name="DER controls"
          rows={rows}
          keyOf={({ name }) => name}
          height={240}
          selected={param('der-control')}
          onSelect={({ name }) => setParam('der-control', name)}
          columns={[
            { title: 'Function', cell: ({ name }) => words(name), value: ({ name }) => name },
            {
              title: 'State',
              cell: ({ enabled }) => <Chip tone={enabled === false ? 'off' : 'good'}>{stateOf(enabled)}</Chip>,
              value: ({ enabled }) => enabled,
            },
            { title: 'Set by', cell: ({ source }) => words(source), value: ({ source }) => source },
            { title: 'At', cell: ({ changedAt }) => dateAndTime(changedAt), value: ({ changedAt }) => changedAt },
            {
              title: 'OCPP control',
              cell: ({ controlId }) => (controlId === null ? dash : <code>{controlId}</code>),
              value: ({ controlId }) => controlId,
            },
          ]}
        />
        <Change device={device} />
      </div>
    </Panel>
  );
}

/** A form for one function, with the members of the API description. */
function Change({ device }: { readonly device: number }) {
  const { schema, problem } = useSchema('EvseDerControlsRequest');
  const { properties = {} } = schema ? labelled(schema, () => true) : {};
  const control = param('der-control') ?? 'limit_max_discharge_pct';
  const member = properties[control];
  return (
    <>
      <Refused problem={problem} />
      {schema && (
        <label class="row">
          <span class="muted">Change</span>
          <select
            name="der-function"
            value={control}
            onChange={(event) => setParam('der-control', event.currentTarget.value)}
          >
            {Object.keys(properties).map((name) => (
              <option key={name} value={name}>
                {labelOf(name, properties[name] ?? {})}
              </option>
            ))}
          </select>
        </label>
      )}
      {member && (
        <RequestForm
          key={control}
          schema={{ type: 'object', properties: { [control]: member } }}
          call={(body) => post('evse/der-controls', { query: { device }, body })}
          submit="Set control"
        />
      )}
    </>
  );
}

/** A charging station: its connectors, sessions and arrivals. */
export function EvsePage({ device }: PageProps) {
  const id = device.charge_point_id;
  const { data, problem } = useLive(id === null ? null : get('evse/{id}', { params: { id } }));
  const profiles = useLive(get('evse/profiles'), 'once').data?.profiles;
  if (data === undefined || id === null) return <Refused problem={problem} />;
  return (
    <>
      {data.connectors.map((connector) => (
        <ConnectorCard key={connector.connector_id} id={id} connector={connector} central={data.ocpp !== null} />
      ))}
      <Panel title="Station">
        <Facts
          rows={[
            ['Power into vehicles', <span data-test="evse-power">{show(data.power_kw, 'activePower')}</span>],
            ['Rated', show(data.max_power_kw, 'activePower')],
            [
              'External limit',
              data.external_limit === null
                ? dash
                : `${show(data.external_limit.limit_kw, 'activePower')}, ${words(data.external_limit.decided_by)}`,
            ],
            ['Authority', words(data.authority)],
            [
              'Meter',
              `${show(data.energy_wh / 1000, 'energy')} imported, ` +
                `${show(data.energy_export_wh / 1000, 'energy')} exported`,
            ],
            ['Central system', data.ocpp === null ? 'none: OCPP is switched off' : words(data.ocpp.connection_state)],
            [
              'Profile',
              `${data.profile ?? dash} ${profiles?.find(({ name }) => name === data.profile)?.description ?? ''}`,
            ],
            ['Manufacturer', `${data.vendor} ${data.model}, firmware ${data.firmware_version}`],
            data.battery && [
              'Battery',
              `${show(data.battery.soc_pct, 'soc')} of ${show(data.battery.capacity_kwh, 'energy')}`,
            ],
          ]}
        />
      </Panel>
      <DerControlsPanel device={device.device_index} />
      <Generator id={id} />
      <Sessions id={id} />
    </>
  );
}

function Generator({ id }: { readonly id: string }) {
  const { data } = useLive(get('evse/session-generator'));
  const generator = data?.generators.find(({ charge_point_id: point }) => point === id);
  return (
    <Panel title="Session generator">
      <Facts
        rows={[
          ['State', <span data-test="generator">{generator?.running ? 'running' : 'stopped'}</span>],
          [
            'Arrivals',
            `${generator?.arrivals ?? dash}, turned away ${generator?.turned_away ?? dash}, ` +
              `present ${generator?.present ?? dash}`,
          ],
          ['Next arrival', timeOfDay(generator?.next_arrival_at)],
        ]}
      />
      <Form
        fields={[
          { kind: 'number', name: 'rate_per_hour', label: 'Arrivals per hour', value: 6 },
          { kind: 'number', name: 'seed', label: 'Seed', step: 1 },
          { kind: 'text', name: 'id_token', label: 'Token' },
        ]}
        call={(values) =>
          post('evse/session-generator', {
            body: { charge_point_id: id, ...values },
          })
        }
        submit="Start generator"
      >
        <Action call={post('evse/session-generator', { body: { charge_point_id: id, stop: true } })}>
          Stop generator
        </Action>
      </Form>
    </Panel>
  );
}

type Session = NonNullable<ReplyOf<'evse/sessions'>['sessions'][number]>;

function Sessions({ id }: { readonly id: string }) {
  const { data } = useLive(get('evse/sessions', { query: { limit: 200 } }));
  const rows = data?.sessions.filter((session): session is Session => session?.charge_point_id === id) ?? [];
  return (
    <Panel title="Sessions" flush wide>
      <Table<Session>
        name="Sessions"
        rows={rows}
        height={260}
        keyOf={({ session_id: key }) => key}
        empty={<Empty>No session yet: plug in a vehicle, authorise a token and start.</Empty>}
        columns={[
          { title: 'Connector', value: (row) => row.connector_id, numeric: true },
          { title: 'Transaction', value: (row) => row.transaction_id },
          { title: 'State', cell: (row) => words(row.state), value: (row) => row.state },
          { title: 'Token', value: (row) => row.id_token },
          { title: 'Start', cell: (row) => timeOfDay(row.started_at), value: (row) => row.started_at },
          { title: 'End', cell: (row) => timeOfDay(row.ended_at), value: (row) => row.ended_at },
          {
            title: 'Charged, kWh',
            cell: (row) => fixed(row.energy_wh / 1000, 2),
            value: (row) => row.energy_wh,
            numeric: true,
          },
          {
            title: 'Discharged, kWh',
            cell: (row) => fixed(row.energy_discharged_wh / 1000, 2),
            value: (row) => row.energy_discharged_wh,
            numeric: true,
          },
          { title: 'Reason', value: (row) => row.stop_reason },
        ]}
      />
    </Panel>
  );
}
