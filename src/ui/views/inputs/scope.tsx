import type { ComponentChildren } from 'preact';
import { DeviceSelect } from '../../kit/choices';
import { timeOfDay, words } from '../../look/format';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';

/** The device to which grid and weather settings apply. undefined: all. */
export function useScope(): number | undefined {
  const text = param('on');
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The query of a call for this scope. */
export function scopeQuery(device: number | undefined): { query: { device?: number } } {
  return { query: device === undefined ? {} : { device } };
}

/** Chooses all devices or one; the address keeps the choice as `on`. */
export function ScopePicker() {
  const devices = useOverview()?.devices ?? [];
  const scope = useScope();
  return (
    <DeviceSelect
      label="Acts on"
      devices={devices}
      value={scope === undefined ? 'all' : String(scope)}
      onChoice={(value) => setParam('on', value === 'all' ? null : value)}
      before={<option value="all">all devices</option>}
    />
  );
}

/** The chosen device if it is suitable, otherwise the first suitable one. */
export function useDeviceAmong(accept: (device: DeviceEntry) => boolean): DeviceEntry | undefined {
  const chosen = useDevice();
  const devices = useOverview()?.devices.filter(accept) ?? [];
  return devices.find(({ device_index }) => device_index === chosen?.device_index) ?? devices[0];
}

/** Chooses one of the suitable devices for a panel. */
export function DeviceAmong({ accept }: { readonly accept: (device: DeviceEntry) => boolean }) {
  const devices = useOverview()?.devices.filter(accept) ?? [];
  const chosen = useDeviceAmong(accept);
  return (
    <DeviceSelect
      label="Device"
      devices={devices}
      value={String(chosen?.device_index ?? '')}
      onChoice={(value) => setParam('device', value)}
    />
  );
}

interface Change {
  readonly source: string;
  readonly source_detail: string | null;
  readonly changed_at: string | null;
}

/** The writer of a value and the time of the change. */
export function Writer({ by }: { readonly by: Change | null | undefined }) {
  if (!by) return <>not set since the start</>;
  return (
    <>
      {words(by.source)}
      {by.source_detail === null ? '' : ` ${by.source_detail}`} at {timeOfDay(by.changed_at)}
    </>
  );
}

/** Present values beside their form. */
export function Pair({
  present,
  children,
}: {
  readonly present: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="pair">
      <div class="stack">{present}</div>
      <div class="stack">{children}</div>
    </div>
  );
}
