import { deviceLabel } from '../../kit/device-picker';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';

/** The target of faults, as in the API: a device index, `all`, or the meter. */
export type FaultTarget = number | 'all' | 'meter';

/** The target of the view; default the device of the address. */
export function useFaultTarget(): FaultTarget {
  // the daemon reports a removed device
  const device = useDevice()?.device_index ?? Number(param('device') ?? 0);
  const on = param('fault-on');
  return on === 'all' || on === 'meter' ? on : device;
}

/** Chooses the target of the whole view. */
export function FaultTargetPicker() {
  const devices = useOverview()?.devices ?? [];
  const isMissing = useDevice() === undefined;
  const target = useFaultTarget();
  const choose = (value: string) => {
    const isDevice = /^\d+$/.test(value);
    setParam('fault-on', isDevice ? null : value);
    if (isDevice) setParam('device', value);
  };
  return (
    <label class="row">
      <span class="muted">Faults act on</span>
      <select
        name="fault-on"
        value={isMissing && typeof target === 'number' ? '' : String(target)}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {isMissing && <option value="">not there</option>}
        {devices.map((entry) => (
          <option key={entry.device_index} value={String(entry.device_index)}>
            {deviceLabel(entry)}
          </option>
        ))}
        <option value="all">all devices</option>
        <option value="meter">meter of the connection point (Modbus only)</option>
      </select>
    </label>
  );
}
