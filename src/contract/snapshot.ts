import type { AssetType, DcMode, DeviceDetail } from './device.ts';

export const serviceStates = ['off', 'on'] as const;
export const inverterStates = [
  'off',
  'sleeping',
  'starting',
  'running',
  'throttled',
  'shutting_down',
  'fault',
  'standby',
] as const;
export const connectionStates = ['disconnected', 'connected'] as const;

/** The snapshot of one device and tick, in the names and units of the interface document. */
export interface Snapshot {
  readonly metrics: {
    readonly power_kw: number;
    readonly reactive_power_kvar: number;
    readonly apparent_power_kva: number;
    readonly voltage_ll_v: number | null;
    readonly voltage_ln_v: number;
    readonly current_a: number;
    readonly frequency_hz: number;
    readonly power_factor: number;
    readonly dc_power_kw: number | null;
    readonly dc_voltage_v: number | null;
    readonly dc_current_a: number | null;
    readonly state_of_charge_pct: number | null;
    readonly soc_reserve_min_pct: number | null;
    readonly soc_reserve_max_pct: number | null;
    readonly soc_min_pct: number | null;
    readonly soc_max_pct: number | null;
    readonly timestamp: string;
  };
  readonly pq: {
    readonly active_kw: number;
    readonly reactive_kvar: number;
    readonly apparent_kva: number;
    readonly angle_deg: number;
  };
  readonly status: {
    readonly service_state: (typeof serviceStates)[number];
    readonly inverter_state: (typeof inverterStates)[number];
    readonly connection_state: (typeof connectionStates)[number];
    readonly message?: string;
  };
  readonly clock_time: string;
  readonly dc_mode: DcMode;
  readonly dc_port_count: number;
  readonly device_type: string;
  readonly device_profile_name: string | null;
  readonly asset_type: AssetType;
  readonly device_index: number;
  readonly tick: number;
  readonly wall_time: string;
}

/** One snapshot, its JSON text and the detail of the same tick, shared by REST, history and stream. */
export interface Published {
  readonly snapshot: Snapshot;
  readonly detail: DeviceDetail;
  readonly json: Buffer;
}

/**
 * Position of a device in the snapshots of a tick, -1 when the tick did not include it.
 * @param published snapshots in index order; indexes may have gaps
 */
export function positionOf(
  published: readonly { readonly snapshot: Pick<Snapshot, 'device_index'> }[],
  deviceIndex: number,
): number {
  const position = firstPosition(published, deviceIndex);
  return published[position]?.snapshot.device_index === deviceIndex ? position : -1;
}

/** Position of the first device with this index or a higher one; the number of devices if there is none. */
export function firstPosition(
  published: readonly { readonly snapshot: Pick<Snapshot, 'device_index'> }[],
  deviceIndex: number,
): number {
  let low = 0;
  let high = published.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((published[middle]?.snapshot.device_index ?? Infinity) < deviceIndex) low = middle + 1;
    else high = middle;
  }
  return low;
}
