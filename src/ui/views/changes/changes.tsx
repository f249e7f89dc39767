/** Differences of the running lab from the start of the simulator. */
import { get } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { deviceLabel } from '../../kit/choices';
import { Panel } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { Table } from '../../kit/table';
import { ViewHead } from '../../kit/tabs';
import { useLocalDevices } from '../../store/attention';
import { useLive } from '../../store/live';
import { useOverview } from '../../store/site';
import {
  deviceRows,
  faultRows,
  gridRows,
  holdRows,
  localRows,
  scenarioRows,
  settingRows,
  siteRows,
  weatherRows,
} from './rows';
import type { Difference } from './rows';

/** Rows of all parts; undefined: an answer is missing. */
function useDifferences() {
  const devices = useOverview()?.devices;
  const local = useLocalDevices();
  const settings = useLive(get('settings'), 'state');
  const grid = useLive(get('controls/grid'), 'state');
  const environment = useLive(get('controls/environment'), 'state');
  const scopes = useLive(get('site/scopes'), 'state');
  const holds = useLive(get('controls/holds'), 'state');
  const faults = useLive(get('faults'), 'state');
  const scenarios = useLive(get('scenarios'), 'state');
  const answers = [settings, grid, environment, scopes, holds, faults, scenarios];
  const nameOf = (index: number) => {
    const device = devices?.find(({ device_index }) => device_index === index);
    return device === undefined ? `Device ${index}` : deviceLabel(device);
  };
  const rows = [
    ...(settings.data ? settingRows(settings.data) : []),
    ...(grid.data ? gridRows(grid.data, nameOf) : []),
    ...(environment.data ? weatherRows(environment.data, nameOf) : []),
    ...(scopes.data ? siteRows(scopes.data) : []),
    ...(holds.data ? holdRows(holds.data, nameOf) : []),
    ...(faults.data ? faultRows(faults.data, nameOf) : []),
    ...localRows(local, nameOf),
    ...deviceRows(devices ?? []),
    ...(scenarios.data ? scenarioRows(scenarios.data) : []),
  ];
  const problem = answers.find((answer) => answer.problem !== null)?.problem ?? null;
  return { rows, problem, isRead: devices !== undefined && answers.every(({ data }) => data !== undefined) };
}

function Differences() {
  const { rows, problem, isRead } = useDifferences();
  if (!isRead && problem === null) return <Loading heights={[300]} />;
  return (
    <Panel title={rows.length === 1 ? '1 difference' : `${rows.length} differences`} flush>
      <Refused problem={problem} />
      <Table<Difference>
        name="Changes since the start"
        rows={rows}
        keyOf={({ part, what, now }) => `${part} ${what} ${now}`}
        empty="Nothing differs from the start: settings, grid, weather, limits, holds, faults, devices and scenarios are as they were."
        columns={[
          { title: 'Part', value: ({ part }) => part },
          { title: 'What', cell: ({ what, to }) => <a href={to}>{what}</a>, value: ({ what }) => what },
          { title: 'Now', value: ({ now }) => now },
          { title: 'By', value: ({ by }) => by },
          { title: 'Way back', cell: (row) => <WayBack row={row} /> },
        ]}
      />
    </Panel>
  );
}

function WayBack({ row: { back, to, what } }: { readonly row: Difference }) {
  if (back === null)
    return (
      <a href={to}>
        Open <span class="visually-hidden">{what}</span>
      </a>
    );
  return (
    <Action call={back.call} unable={back.unable}>
      {back.title} <span class="visually-hidden">{what}</span>
    </Action>
  );
}

export default function Changes() {
  return (
    <>
      <ViewHead title="Changes since the start">
        <span class="muted">What differs from the start, where it stands, and the way back</span>
      </ViewHead>
      <Differences />
    </>
  );
}
