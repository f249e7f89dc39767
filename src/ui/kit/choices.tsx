/** Choices that the address keeps: the device, and the part of a view. */
import type { ComponentChildren } from 'preact';
import { setParam } from '../store/route';
import { useDevice, useOverview } from '../store/site';
import type { DeviceEntry } from '../store/site';

/** `3 Roof PV` */
export function deviceLabel({ device_index, name }: DeviceEntry): string {
  return `${device_index} ${name}`;
}

interface DeviceSelectProps {
  readonly label: string;
  readonly name?: string;
  readonly devices: readonly DeviceEntry[];
  readonly value: string;
  readonly onChoice: (value: string) => void;
  /** options above those of the devices */
  readonly before?: ComponentChildren;
  readonly after?: ComponentChildren;
}

/** Devices as options, by index. */
export function DeviceSelect({ label, name, devices, value, onChoice, before, after }: DeviceSelectProps) {
  return (
    <label class="row">
      <span class="muted">{label}</span>
      <select name={name} value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {before}
        {devices.map((device) => (
          <option key={device.device_index} value={String(device.device_index)}>
            {deviceLabel(device)}
          </option>
        ))}
        {after}
      </select>
    </label>
  );
}

/** Option for a device of the address that does not exist. */
export const NoSuchDevice = () => <option value="">no such device</option>;

/** Chooses the device of the view; the address keeps the choice. @param accept selects suitable devices */
export function DevicePicker({ accept = () => true }: { readonly accept?: (device: DeviceEntry) => boolean }) {
  const devices = useOverview()?.devices.filter(accept) ?? [];
  const chosen = useDevice();
  if (devices.length < 2) return devices[0] ? <strong>{deviceLabel(devices[0])}</strong> : null;
  return (
    <DeviceSelect
      label="Device"
      devices={devices}
      value={String(chosen?.device_index ?? '')}
      onChoice={(value) => setParam('device', value)}
      before={chosen === undefined && <NoSuchDevice />}
    />
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
