import type { ComponentChildren, ComponentType } from 'preact';
import { get, del } from '../../../api/call';
import { Refused, Action } from '../../../kit/action';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Tab } from '../../../kit/tabs';
import { dash, words, wallTime } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { Page } from '../page';
import { settingsPart } from '../switch';
import { Configuration, Lists } from './configuration';
import { ConnectCentralSystem } from './connect';
import { Connection, connectionTone } from './connection';
import type { ChargePoint, PartProps } from './connection';
import { Schedules } from './schedules';
import { StationSequence, Trace } from './trace';

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

type Part = ComponentType<PartProps>;

/** A part about the chosen charge point. */
function ofStation(path: string, title: string, Content: Part): Tab {
  const OfStation = () => <Station>{(status) => <Content key={status.id} status={status} />}</Station>;
  return { path, title, component: OfStation };
}

/** Charge points, and the chosen one with connection, messages, configuration and schedules. */
export const ocppPage: Page = {
  path: 'ocpp',
  title: 'OCPP',
  whenOff: 'connect',
  parts: [
    { path: 'state', title: 'State', component: State },
    ofStation('messages', 'Messages', Trace),
    ofStation('sequence', 'Sequence', StationSequence),
    ofStation('findings', 'Findings', Findings),
    ofStation('schedules', 'Charging profiles', Schedules),
    ofStation('lists', 'Transactions and lists', Lists),
    ofStation('configuration', 'Configuration', Configuration),
    settingsPart('ocpp'),
    { path: 'connect', title: 'Connect', component: ConnectCentralSystem, switchesOn: true },
  ],
};

function useStations() {
  const { data, problem } = useLive(get('ocpp'), 1000);
  const all = data?.charge_points.filter((each) => each !== null) ?? [];
  const status = all.find(({ id }) => id === param('station')) ?? all[0];
  return { data, problem, all, status, isOff: data?.enabled === false };
}

/** The chosen charge point, which the head of the part names. */
function Station({ children }: { readonly children: (status: ChargePoint) => ComponentChildren }) {
  const { data, problem, all, status, isOff } = useStations();
  return (
    <>
      <Refused problem={problem} />
      {isOff && <Empty>OCPP is off.</Empty>}
      {data && !isOff && status === undefined && <Empty>This simulator has no charging station yet.</Empty>}
      {status && (
        <div class="title">
          {all.length > 1 ? (
            <label class="row">
              <span class="muted">Charge point</span>
              <select value={status.id} onChange={(event) => setParam('station', event.currentTarget.value)}>
                {all.map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            </label>
          ) : (
            <strong>{status.id}</strong>
          )}
          <Chip tone={connectionTone(status.connection_state)}>{status.connection_state}</Chip>
          <span class="muted">boot {words(status.boot_status)}</span>
        </div>
      )}
      {status && children(status)}
    </>
  );
}

function State() {
  const { data, problem, all, status, isOff } = useStations();
  return (
    <>
      <Refused problem={problem} />
      {isOff && <Empty>OCPP is off.</Empty>}
      {data && !isOff && all.length === 0 && <ConnectCentralSystem />}
      {all.length > 0 && <Stations all={all} status={status} />}
      {status && <Connection key={status.id} status={status} />}
    </>
  );
}

interface StationsProps {
  readonly all: readonly ChargePoint[];
  readonly status: ChargePoint | undefined;
}

function Stations({ all, status }: StationsProps) {
  return (
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
  );
}
