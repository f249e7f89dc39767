import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Empty, Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, digits, show, timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import { ConnectorCard } from './connector';
import { DerControlsPanel } from './der-controls';
import type { PageProps } from './page';

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
              'Limited from outside',
              data.external_limit === null
                ? dash
                : `${show(data.external_limit.limit_kw, 'activePower')}, ${words(data.external_limit.decided_by)}`,
            ],
            ['Authority', words(data.authority)],
            [
              'Meter',
              `${show(data.energy_wh / 1000, 'energy')} taken, ${show(data.energy_export_wh / 1000, 'energy')} given`,
            ],
            [
              'Central system',
              data.ocpp === null
                ? 'none: start with --ocpp_enable yes --ocpp_csms_url'
                : words(data.ocpp.connection_state),
            ],
            [
              'Profile',
              `${data.profile ?? dash} ${profiles?.find(({ name }) => name === data.profile)?.description ?? ''}`,
            ],
            ['Made by', `${data.vendor} ${data.model}, firmware ${data.firmware_version}`],
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
  const mine = data?.generators.find(({ charge_point_id: point }) => point === id);
  return (
    <Panel title="Session generator">
      <Facts
        rows={[
          ['State', <span data-test="generator">{mine?.running ? 'running' : 'stopped'}</span>],
          [
            'Arrivals',
            `${mine?.arrivals ?? dash}, turned away ${mine?.turned_away ?? dash}, present ${mine?.present ?? dash}`,
          ],
          ['Next arrival', timeOfDay(mine?.next_arrival_at)],
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
        empty={<Empty>No session yet: plug a vehicle, authorise it and start.</Empty>}
        columns={[
          { title: 'Connector', cell: (row) => row.connector_id, value: (row) => row.connector_id, numeric: true },
          { title: 'Transaction', cell: (row) => row.transaction_id, value: (row) => row.transaction_id },
          { title: 'State', cell: (row) => words(row.state), value: (row) => row.state },
          { title: 'Token', cell: (row) => row.id_token ?? dash, value: (row) => row.id_token },
          { title: 'Start', cell: (row) => timeOfDay(row.started_at), value: (row) => row.started_at },
          { title: 'End', cell: (row) => timeOfDay(row.ended_at), value: (row) => row.ended_at },
          {
            title: 'Taken, kWh',
            cell: (row) => digits(row.energy_wh / 1000, 2),
            value: (row) => row.energy_wh,
            numeric: true,
          },
          {
            title: 'Given, kWh',
            cell: (row) => digits(row.energy_discharged_wh / 1000, 2),
            value: (row) => row.energy_discharged_wh,
            numeric: true,
          },
          { title: 'Reason', cell: (row) => row.stop_reason ?? dash, value: (row) => row.stop_reason },
        ]}
      />
    </Panel>
  );
}
