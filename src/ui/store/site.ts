/** What all views know: the devices with their names, the protocols, alarms, the clock. */
import { computed } from '@preact/signals';
import { get } from '../api/call';
import type { ReplyOf } from '../api/call';
import { param } from './route';
import { useLive } from './live';
import { useEffect } from 'preact/hooks';
import { keepOnly } from './stream';

export type Overview = ReplyOf<'overview'>;
/** A device as the overview lists it. */
export type DeviceEntry = Overview['devices'][number];

const overviewCall = get('overview');
const clockCall = get('controls/time');

/** Above this number of devices the list is read every 5 s instead of each tick; telemetry comes from the stream anyway. */
const manyDevices = 200;
let deviceCount = 0;

export function useOverview(): Overview | undefined {
  const { data: known, problem } = useLive(overviewCall, deviceCount > manyDevices ? 5000 : 'tick');
  // refused because no device is there: the last answer is about devices that are gone
  const data = problem?.status === 404 && known !== undefined ? { ...known, devices: [] } : known;
  useEffect(() => {
    if (!data) return;
    deviceCount = data.devices.length;
    keepOnly(new Set(data.devices.map(({ device_index }) => device_index)));
  }, [data]);
  return data;
}

export function useClock(): ReplyOf<'controls/time'> | undefined {
  return useLive(clockCall, 'tick').data;
}

const chosen = computed(() => param('device'));

/** The device that the view is about: that of the address, else the first one. Undefined while nothing is known, or without devices. */
export function useDevice(): DeviceEntry | undefined {
  const devices = useOverview()?.devices;
  const wanted = chosen.value;
  if (wanted === null) return devices?.[0];
  // another one in its place would get what was meant for the device of the address
  return devices?.find(({ device_index }) => String(device_index) === wanted);
}
