import '../../look/devices.css';
import type { ComponentType } from 'preact';
import { DevicePicker } from '../../kit/device-picker';
import { Empty } from '../../kit/panel';
import { useDevice } from '../../store/site';
import { BatteryPage } from './battery';
import { DeviceHeader } from './header';
import { EvsePage } from './evse';
import { FuelCellPage } from './fuel-cell';
import { HybridPage } from './hybrid';
import { NameplatePanel } from './nameplate';
import type { PageProps } from './page';
import { PvPage } from './pv';
import { WindPage } from './wind';

const pages: Readonly<Record<string, ComponentType<PageProps>>> = {
  pv: PvPage,
  battery: BatteryPage,
  wind: WindPage,
  fuelcell: FuelCellPage,
  'hybrid-dc': HybridPage,
  evse: EvsePage,
};

/** The page of the chosen device, by its kind. */
export function DevicesView() {
  const device = useDevice();
  if (device === undefined)
    return (
      <Empty>
        No device to show: choose one that exists, start derbench with --device_type, or add one with POST devices.
      </Empty>
    );
  const Page = pages[device.asset_type];
  return (
    <>
      <div class="title">
        <h1>{device.name}</h1>
        <DevicePicker />
      </div>
      <div class="grid" key={device.device_index}>
        <DeviceHeader device={device} />
        {Page && <Page device={device} />}
        <NameplatePanel device={device} />
      </div>
    </>
  );
}
