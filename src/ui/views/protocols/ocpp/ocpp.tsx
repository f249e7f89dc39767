import type { ComponentType } from 'preact';
import { get, del } from '../../../api/call';
import { Refused, Action } from '../../../kit/action';
import { Parts } from '../../../kit/choices';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, words, wallTime } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { Configuration, Lists } from './configuration';
import { ConnectCentralSystem } from './connect';
import { Connection, connectionTone } from './connection';
import type { PartProps } from './connection';
import { Schedules } from './schedules';
import { Trace } from './trace';

/** Violations of the specification by the central system. */
function Findings({ status }: PartProps) {
  const params = { id: status.id };
  const { data } = useLive(get('ocpp/{id}/findings', { params }), 2000);
  return (
    <Panel
      title="Findings about the central system"
      flush
      wide
      tools={<Action call={del('ocpp/{id}/findings', { params })}>Forget findings</Action>}
    >
      <Table
        name="Findings"
        rows={data?.findings ?? []}
        keyOf={({ id }) => id}
        empty="The central system has not violated the specification so far."
        columns={[
          { title: 'Time', cell: (each) => wallTime(each.timestamp), value: (each) => each.timestamp },
          { title: 'Kind', value: ({ kind }) => kind },
          { title: 'Action', value: ({ action }) => action },
          { title: 'Clause', value: ({ clause }) => clause },
          { title: 'Finding', value: ({ text }) => text },
          {
            title: 'Message id',
            cell: (each) => <code>{each.message_id ?? dash}</code>,
            value: (each) => each.message_id,
          },
        ]}
      />
    </Panel>
  );
}

const parts: readonly {
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType<PartProps>;
}[] = [
  { name: 'connection', title: 'Connection', component: Connection },
  { name: 'trace', title: 'Trace', component: Trace },
  { name: 'findings', title: 'Findings', component: Findings },
  { name: 'configuration', title: 'Configuration', component: Configuration },
  { name: 'schedules', title: 'Charging profiles', component: Schedules },
  { name: 'lists', title: 'Transactions and lists', component: Lists },
  { name: 'connect', title: 'Central system', component: ConnectCentralSystem },
];

/** Charge points, and the chosen one with connection, messages, configuration and schedules. */
export function OcppView() {
  const { data, problem } = useLive(get('ocpp'), 1000);
  const all = data?.charge_points.filter((each) => each !== null) ?? [];
  const status = all.find(({ id }) => id === param('station')) ?? all[0];
  const part = parts.find(({ name }) => name === param('ocpp-part')) ?? parts[0];
  const Part = part?.component;
  const isOff = data?.enabled === false;
  return (
    <>
      <Refused problem={problem} />
      {isOff && <Empty>OCPP is off.</Empty>}
      {data && !isOff && all.length === 0 && <ConnectCentralSystem />}
      {all.length > 0 && (
        <Panel title="Charge points" flush wide>
          <Table
            name="Charge points"
            rows={all}
            keyOf={({ id }) => id}
            selected={status?.id ?? null}
            onSelect={({ id }) => setParam('station', id)}
            columns={[
              {
                title: 'Identity',
                cell: ({ id }) => (
                  <button type="button" class="quiet" onClick={() => setParam('station', id)}>
                    {id}
                  </button>
                ),
                value: ({ id }) => id,
              },
              { title: 'Device', numeric: true, value: (each) => each.device_index },
              {
                title: 'Connection',
                cell: (each) => <Chip tone={connectionTone(each.connection_state)}>{each.connection_state}</Chip>,
                value: (each) => each.connection_state,
              },
              { title: 'Boot', cell: (each) => words(each.boot_status), value: (each) => each.boot_status },
              { title: 'Version', cell: (each) => each.subprotocol ?? each.version, value: (each) => each.version },
              { title: 'Central system', value: ({ url }) => url },
            ]}
          />
        </Panel>
      )}
      {status && (
        <>
          <Parts label="Parts of the charge point" name="ocpp-part" parts={parts} chosen={part?.name} />
          {Part && <Part key={`${status.id} ${part.name}`} status={status} />}
        </>
      )}
    </>
  );
}
