import { setParam } from '../store/route';
import { useDevice, useOverview } from '../store/site';
import type { DeviceEntry } from '../store/site';

/** `3 Roof PV` */
export function deviceLabel({ device_index, name }: DeviceEntry): string {
  return `${device_index} ${name}`;
}

/** Chooses the device of the view; the address keeps the choice. @param accept selects suitable devices */
export function DevicePicker({ accept = () => true }: { readonly accept?: (device: DeviceEntry) => boolean }) {
  const devices = useOverview()?.devices.filter(accept) ?? [];
  const chosen = useDevice();
  if (devices.length < 2) return devices[0] ? <strong>{deviceLabel(devices[0])}</strong> : null;
  return (
    <label class="row">
      <span class="muted">Device</span>
      <select
        value={String(chosen?.device_index ?? '')}
        onChange={(event) => setParam('device', event.currentTarget.value)}
      >
        {chosen === undefined && <option value="">not there</option>}
        {devices.map((device) => (
          <option key={device.device_index} value={String(device.device_index)}>
            {deviceLabel(device)}
          </option>
        ))}
      </select>
    </label>
  );
}
