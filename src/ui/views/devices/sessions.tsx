import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import { Empty, Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, fixed, timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import type { PageProps } from './page';

/** Sessions of a charging station, and the generator of arrivals. */
export function SessionsTab({ device }: PageProps) {
  const id = device.charge_point_id;
  if (id === null) return null;
  return (
    <div class="grid">
      <Sessions id={id} />
      <Generator id={id} />
    </div>
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
          { kind: 'number', name: 'rate_per_hour', label: 'Arrivals per hour', value: generator?.rate_per_hour ?? 6 },
          { kind: 'number', name: 'seed', label: 'Seed', step: 1, value: generator?.seed ?? null },
          { kind: 'text', name: 'id_token', label: 'Token', value: generator?.id_token ?? '' },
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
