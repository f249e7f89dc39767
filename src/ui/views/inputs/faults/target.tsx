/** The target of injected faults: a device, all devices, or the meter. */
import { DeviceSelect, NoSuchDevice } from '../../../kit/choices';
import { param, setParam } from '../../../store/route';
import { useDevice, useOverview } from '../../../store/site';

/** The target of faults, as in the API: a device index, `all`, or the meter. */
type FaultTarget = number | 'all' | 'meter';

/** The target of the view; default the device of the address. */
export function useFaultTarget(): FaultTarget {
  // a removed device remains the target: the daemon refuses the fault
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
    <DeviceSelect
      label="New faults act on"
      name="fault-on"
      devices={devices}
      value={isMissing && typeof target === 'number' ? '' : String(target)}
      onChoice={choose}
      before={isMissing && <NoSuchDevice />}
      after={
        <>
          <option value="all">all devices</option>
          <option value="meter">meter of the connection point (Modbus only)</option>
        </>
      }
    />
  );
}
