/** Choices that the address keeps: the device, and the part of a view. */
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

interface PartsProps {
  readonly label: string;
  /** name of the setting in the address; each view with parts has its own */
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly title: string }[];
  readonly chosen: string | undefined;
}

/** Buttons for the parts of a view; the address keeps the choice. */
export function Parts({ label, name: setting, parts, chosen }: PartsProps) {
  return (
    <div class="row" role="group" aria-label={label}>
      {parts.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => setParam(setting, name)}>
          {title}
        </button>
      ))}
    </div>
  );
}
