import type { ComponentType } from 'preact';
import { get } from '../../api/call';
import { KindIcon } from '../../kit/kind-icons';
import { Empty } from '../../kit/panel';
import { PageTabs, tabAt, ViewHead } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { dash, show } from '../../look/format';
import { lazy } from '../../shell/lazy';
import { useLive } from '../../store/live';
import { deviceHref, route } from '../../store/route';
import { useDevice, useDevicesAround } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { useFigures } from '../../store/figures';
import { CellsTab } from './cells';
import { Details } from './details';
import { DeviceMenu } from './device-menu';
import { Picture } from './picture/picture';
import { SessionsTab } from './sessions';
import { KindState } from './state';
import type { PageProps } from './page';
import { Registers } from './registers/lazy-registers';

const GridSupport = lazy(async () => (await import('./grid-support/grid-support')).GridSupportView);
const Charts = lazy(async () => (await import('../charts/charts')).default);
const Faults = lazy(async () => (await import('../inputs/faults/faults')).FaultsView);

/** Gives a tab the device of the address. */
function ofDevice(Part: ComponentType<PageProps>): ComponentType {
  return function DeviceTab() {
    const device = useDevice();
    return device === undefined ? null : <Part device={device} />;
  };
}

const common: readonly Tab[] = [
  { path: 'picture', title: 'Picture', component: ofDevice(Picture) },
  { path: 'grid-support', title: 'Grid support', component: GridSupport },
  { path: 'charts', title: 'Charts', component: Charts },
  { path: 'registers', title: 'Registers', component: Registers },
  { path: 'faults', title: 'Faults', component: Faults },
];
const details: Tab = { path: 'details', title: 'Details', component: ofDevice(Details) };
const cells: Tab = { path: 'cells', title: 'Cells', component: ofDevice(CellsTab) };
const sessions: Tab = { path: 'sessions', title: 'Sessions', component: ofDevice(SessionsTab) };

/** The tabs of a device, with those that only its kind has. */
const tabsByKind: Readonly<Record<DeviceEntry['asset_type'], readonly Tab[]>> = {
  pv: [...common, details],
  battery: [...common, cells, details],
  wind: [...common, details],
  fuelcell: [...common, details],
  'hybrid-dc': [...common, cells, details],
  evse: [...common, sessions, details],
};

/** Links to the devices before and after in the list; the keys `[` and `]` follow them. */
function Neighbours({ device, page }: { readonly device: DeviceEntry; readonly page: string }) {
  const devices = useDevicesAround() ?? [];
  const at = devices.findIndex(({ device_index }) => device_index === device.device_index);
  const [before, after] = [devices[at - 1], devices[at + 1]];
  return (
    <nav class="neighbours" aria-label="Neighbours">
      {before && (
        <a class="button" rel="prev" href={deviceHref(before.device_index, page)}>
          ‹ {before.name}
        </a>
      )}
      {after && (
        <a class="button" rel="next" href={deviceHref(after.device_index, page)}>
          {after.name} ›
        </a>
      )}
    </nav>
  );
}

/** Time between two readings of energies, ms. */
const energyPaceMs = 5000;
/** Energy that is shown as zero, kWh. */
const negligibleKwh = 0.005;

/** Energy of the device since simulated midnight, the usual direction first. */
function EnergyToday({ device: { device_index: device, asset_type: kind } }: PageProps) {
  const { data } = useLive(get('energy', { query: { device } }), energyPaceMs);
  if (data === undefined) return <span class="muted nowrap">{dash}</span>;
  const { produced_kwh: produced, absorbed_kwh: absorbed } = data.today;
  const both = [
    [produced, 'out'],
    [absorbed, 'in'],
  ] as const;
  const [usual, other] = kind === 'evse' ? both.toReversed() : both;
  const shown = [usual, other].filter((each) => each === usual || each[0] >= negligibleKwh);
  const texts = shown.map((each) => `${show(each[0], 'energy')} ${each[1]}`);
  return (
    <span class="muted nowrap" data-test="energy-today">
      Today {texts.join(', ')}
    </span>
  );
}

export function DevicePage() {
  useFigures();
  const device = useDevice();
  if (device === undefined)
    return (
      <Empty>
        No device to show: choose one that exists, start derbench with --device_type, or add one under "Simulator" in
        the menu of the name.
      </Empty>
    );
  const {
    device_index: index,
    name,
    device_type: type,
    device_profile_name: profile,
    charge_point_id: station,
  } = device;
  const tabs = tabsByKind[device.asset_type];
  const tab = tabAt(tabs, route.value.path[2]);
  const Part = tab?.component;
  return (
    <>
      <ViewHead
        title={
          <>
            <KindIcon of={device.asset_type} /> {name}
          </>
        }
      >
        <KindState device={device} />
        <span class="muted">{[type, profile, station].filter((each) => each !== null).join(', ')}</span>
        <EnergyToday key={index} device={device} />
        <Neighbours device={device} page={tab?.path ?? ''} />
        <DeviceMenu key={index} device={device} />
      </ViewHead>
      <PageTabs label="Device" base={`devices/${index}`} tabs={tabs} chosen={tab} />
      <div class="view" key={`${index} ${tab?.path}`}>
        {Part && <Part />}
      </div>
    </>
  );
}
