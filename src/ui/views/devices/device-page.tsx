import type { ComponentType } from 'preact';
import { DevicePicker } from '../../kit/choices';
import { KindIcon } from '../../kit/kind-icons';
import { Empty } from '../../kit/panel';
import { PageTabs, tabAt, ViewHead } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { lazy } from '../../shell/lazy';
import { deviceHref, route } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { useFigures } from '../../store/figures';
import { snapshotOf } from '../../store/stream';
import { StateChip } from './device-list';
import { Details } from './details';
import { Picture } from './picture';
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

const tabs: readonly Tab[] = [
  { path: 'picture', title: 'Picture', component: ofDevice(Picture) },
  { path: 'grid-support', title: 'Grid support', component: GridSupport },
  { path: 'charts', title: 'Charts', component: Charts },
  { path: 'registers', title: 'Registers', component: Registers },
  { path: 'faults', title: 'Faults', component: Faults },
  { path: 'details', title: 'Details', component: ofDevice(Details) },
];

/** Links to the devices before and after in the list; the keys `[` and `]` follow them. */
function Neighbours({ device, page }: { readonly device: DeviceEntry; readonly page: string }) {
  const devices = useOverview()?.devices ?? [];
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
  const { device_index: index, name, device_type: type, device_profile_name: profile } = device;
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
        <StateChip status={snapshotOf(index)?.status ?? device.status} />
        <span class="muted">{profile === null ? type : `${type}, ${profile}`}</span>
        <DevicePicker />
        <Neighbours device={device} page={tab?.path ?? ''} />
      </ViewHead>
      <PageTabs label="Device" base={`devices/${index}`} tabs={tabs} chosen={tab} />
      <div class="view" key={`${index} ${tab?.path}`}>
        {Part && <Part />}
      </div>
    </>
  );
}
