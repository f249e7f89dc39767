/** State common to all views: start and build of the simulator, devices with names, protocols, alarms, clock. */
import { computed, signal, effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, perform, Problem } from '../api/call';
import type { ReplyOf } from '../api/call';
import { param } from './route';
import { useShared } from './live';
import { keepOnly, link, manyDevices } from './stream';

export type Overview = ReplyOf<'overview'>;
/** A device in the overview. */
export type DeviceEntry = Overview['devices'][number];

const overviewCall = get('overview');
const clockCall = get('controls/time');
const scenariosCall = get('scenarios');
/** Polling interval of the clock's owner, ms: scripts start scenarios too. */
const ownerPaceMs = 2000;

let deviceCount = 0;

/** Device in the requests for the overview; undefined: the default of the daemon, until that device is removed. */
const firstDevice = signal<number | undefined>(undefined);

/** Indexes of the devices that are left while the overview is refused; null: not read. */
const remaining = signal<ReadonlySet<number> | null>(null);

/** Requests the overview for the first device that exists, if any. */
async function selectFirstDevice(): Promise<void> {
  try {
    const { devices } = await perform(get('devices'));
    remaining.value = new Set(devices.map(({ device_index }) => device_index));
    firstDevice.value = devices[0]?.device_index;
  } catch (error) {
    // the next 404 of the overview retries
    if (!(error instanceof Problem)) throw error;
  }
}

export function useOverview(): Overview | undefined {
  const call =
    firstDevice.value === undefined ? overviewCall : get('overview', { query: { device: firstDevice.value } });
  const { data: overview, problem } = useShared(call, deviceCount > manyDevices ? 'change' : 'state');
  const last = useRef(overview);
  last.current = overview ?? last.current;
  const isGone = problem?.status === 404;
  useEffect(() => {
    if (isGone) void selectFirstDevice();
    else remaining.value = null;
  }, [problem]);
  const left = remaining.value;
  // the view of another device stays, with what is typed into it
  const data =
    isGone && left !== null && last.current !== undefined
      ? { ...last.current, devices: last.current.devices.filter(({ device_index }) => left.has(device_index)) }
      : last.current;
  useEffect(() => {
    if (!data) return;
    deviceCount = data.devices.length;
    // figures of devices behind those of the list come by streams of their own
    if (data.devices_truncated !== true) keepOnly(new Set(data.devices.map(({ device_index }) => device_index)));
  }, [data]);
  return data;
}

export function useClock(): ReplyOf<'controls/time'> | undefined {
  return useShared(clockCall, 'tick').data;
}

/** True at a gateway, whose shards have a clock each. */
export function useIsWithoutClock(): boolean {
  return useShared(clockCall, 'tick').problem?.code === 'fleet-unsupported';
}

/** Share of the rate that may be missing before the rate reached is shown. */
const reachedShare = 0.95;

/** True if the clock does not reach its rate. */
export const isLate = ({ mode, rate, rate_effective: reached }: ReplyOf<'controls/time'>): boolean =>
  mode === 'accelerated' && reached < rate * reachedShare;

/** Id of the scenario that runs. null: none. */
export function useRunningScenario(): string | null {
  const scenarios = useShared(scenariosCall, ownerPaceMs).data?.scenarios ?? [];
  return scenarios.find(({ run }) => run?.state === 'running')?.id ?? null;
}

/** Name of the scenario that has the clock. null: none. */
export function useClockOwner(): string | null {
  return useShared(scenariosCall, ownerPaceMs).data?.clock_owner ?? null;
}

const chosen = computed(() => param('device'));

/** The devices around the one of the address: all of them, or where the overview is cut before it, its neighbours. */
export function useDevicesAround(): readonly DeviceEntry[] | undefined {
  const overview = useOverview();
  const index = /^\d{1,9}$/.test(chosen.value ?? '') ? Number(chosen.value) : null;
  const last = overview?.devices.at(-1)?.device_index ?? 0;
  const isBehind = overview?.devices_truncated === true && index !== null && index > last;
  const call = isBehind ? get('overview', { query: { after: Math.max(0, index - 2), limit: 3 } }) : null;
  const page = useShared(call, 'state').data;
  return isBehind ? page?.devices : overview?.devices;
}

/** The device of the address, otherwise the first one. Undefined: not loaded yet, or no such device. */
export function useDevice(): DeviceEntry | undefined {
  const devices = useDevicesAround();
  const deviceParam = chosen.value;
  if (deviceParam === null) return devices?.[0];
  // no fallback to another device: a command meant for this one would reach it
  return devices?.find(({ device_index }) => String(device_index) === deviceParam);
}

/** Start time and build of the daemon; null: not read yet. */
export const daemon = signal<string | null>(null);

/** Build of the daemon that this page came from; null: not read yet. */
let firstBuild: string | null = null;

/** True when the daemon runs another build than that of this page. */
export const isOutdatedPage = signal(false);

async function readDaemon(): Promise<void> {
  try {
    const { started_at, build_id } = await perform(get('server-info'));
    daemon.value = `${started_at} ${build_id}`;
    firstBuild ??= build_id;
    isOutdatedPage.value = build_id !== firstBuild;
  } catch (error) {
    // the next opening of the stream retries
    if (!(error instanceof Problem)) throw error;
  }
}

/** Reads `daemon` at each opening of the stream. */
export function followDaemon(): void {
  effect(() => {
    if (link.value.state === 'open') void readDaemon();
  });
}
