import { Empty } from '../../kit/panel';
import { ViewHead } from '../../kit/tabs';
import { deviceHref, route } from '../../store/route';
import { useOverview } from '../../store/site';
import { manyDevices } from '../../store/stream';
import { DeviceList } from './device-list';
import { DevicePages } from './device-pages';
import { DevicePage } from './device-page';
import { DeviceMap } from './map/device-map';
import { Registers } from './registers/lazy-registers';

/** The list of devices, the page of one, or the registers of the site meter, by the path. */
export default function Devices() {
  const [, of] = route.value.path;
  if (of === undefined) return <List />;
  if (of !== 'site') return <DevicePage />;
  return (
    <>
      <ViewHead title="Site meter">
        <span class="muted">The meter of the connection point, as Modbus masters read it</span>
      </ViewHead>
      <Registers />
    </>
  );
}

function List() {
  const overview = useOverview();
  const devices = overview?.devices;
  if (devices === undefined) return <Empty>Waiting for the daemon.</Empty>;
  if (overview?.devices_truncated === true) return <DevicePages />;
  return (
    <>
      <ViewHead title="Devices">
        <a href={deviceHref('site', 'registers')}>Site meter</a>
      </ViewHead>
      {devices.length > manyDevices ? <DeviceMap devices={devices} /> : <DeviceList devices={devices} />}
    </>
  );
}
