/** What all views know: the devices with their names, the protocols, alarms, the clock. */
import { computed, signal } from '@preact/signals';
import { get } from '../api/call';
import type { ReplyOf } from '../api/call';
import { perform, Problem } from '../api/perform';
import { param } from './route';
import { useShared } from './live';
import { useEffect, useRef } from 'preact/hooks';
import { keepOnly } from './stream';

export type Overview = ReplyOf<'overview'>;
/** A device as the overview lists it. */
export type DeviceEntry = Overview['devices'][number];

const overviewCall = get('overview');
const clockCall = get('controls/time');
const scenariosCall = get('scenarios');
/** Scripts start scenarios too: that one has the clock is asked this often, ms. */
const ownerPaceMs = 2000;

/** Above this number of devices the list is read every 5 s instead of each tick; telemetry comes from the stream anyway. */
const manyDevices = 200;
let deviceCount = 0;

/** Device that the overview is asked for; undefined: the first of the start, until that one is removed. */
const asked = signal<number | undefined>(undefined);

/** Asks for a device that is there; without any, the list is empty. */
async function askAnother(): Promise<void> {
  try {
    asked.value = (await perform(get('devices'))).devices[0]?.device_index;
  } catch (error) {
    // it is tried again with the next refusal
    if (!(error instanceof Problem)) throw error;
  }
}

export function useOverview(): Overview | undefined {
  const call = asked.value === undefined ? overviewCall : get('overview', { query: { device: asked.value } });
  const { data: known, problem } = useShared(call, deviceCount > manyDevices ? 5000 : 'tick');
  const last = useRef(known);
  last.current = known ?? last.current;
  const isGone = problem?.status === 404;
  useEffect(() => {
    if (isGone) void askAnother();
  }, [problem]);
  const data = isGone && last.current !== undefined ? { ...last.current, devices: [] } : last.current;
  useEffect(() => {
    if (!data) return;
    deviceCount = data.devices.length;
    keepOnly(new Set(data.devices.map(({ device_index }) => device_index)));
  }, [data]);
  return data;
}

export function useClock(): ReplyOf<'controls/time'> | undefined {
  return useShared(clockCall, 'tick').data;
}

/** Name of the scenario that has the clock; null: there is none. */
export function useClockOwner(): string | null {
  return useShared(scenariosCall, ownerPaceMs).data?.clock_owner ?? null;
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
