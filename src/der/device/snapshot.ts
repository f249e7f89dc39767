/** Snapshots: one object and JSON text per device and tick, shared by REST, history and stream. */
import type { SimClock } from '../../core/time/sim-clock.ts';
import type { Device, DeviceDetail } from '../../contract/device.ts';
import type { Published, Snapshot } from '../../contract/snapshot.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DcSource } from '../source/source.ts';

/** The constant part of a device's snapshots. */
type SnapshotIdentity = Pick<Device, 'index' | 'assetType' | 'deviceType' | 'profileName' | 'dcMode'>;

/** The part common to all devices in a tick. */
export interface TickStamp {
  readonly tick: number;
  /** ISO date of the simulated clock */
  readonly timestamp: string;
  /** ISO wall time */
  readonly wallTime: string;
  /** HH:MM:SS */
  readonly clockTime: string;
}

/** @param dateMs simulated date, ms since the epoch */
export function tickStamp(clock: Pick<SimClock, 'wallMs' | 'timeOfDate'>, tick: number, dateMs: number): TickStamp {
  return {
    tick,
    timestamp: new Date(dateMs).toISOString(),
    wallTime: new Date(clock.wallMs()).toISOString(),
    clockTime: clock.timeOfDate(dateMs),
  };
}

type Status = Snapshot['status'];

/** Words of the snapshot by symbols of 701. */
const statusWords = {
  OFF: 'off',
  ON: 'on',
  SLEEPING: 'sleeping',
  STARTING: 'starting',
  RUNNING: 'running',
  THROTTLED: 'throttled',
  SHUTTING_DOWN: 'shutting_down',
  FAULT: 'fault',
  STANDBY: 'standby',
  CONNECTED: 'connected',
  DISCONNECTED: 'disconnected',
} as const;

function status(map: MapView, message: string | null): Status {
  const m = map.m701;
  const base = {
    service_state: statusWords[m.St ?? 'OFF'],
    inverter_state: statusWords[m.InvSt ?? 'OFF'],
    connection_state: statusWords[m.ConnSt ?? 'DISCONNECTED'],
  };
  return message === null ? base : { ...base, message };
}

const kilo = (value: number | null) => (value ?? 0) / 1000;
const degreesPerRadian = 180 / Math.PI;

/** Values with a SunSpec point are decoded registers, so that all interfaces show equal numbers. */
export function buildSnapshot(
  map: MapView,
  identity: SnapshotIdentity,
  stamp: TickStamp,
  message: string | null,
): Snapshot {
  const m = map.m701;
  const dc = map.m714;
  const { m802 } = map;
  const ports = dc.NPrt ?? 0;
  const hasDc = ports > 0;
  const w = kilo(m.W);
  const q = kilo(m.Var);
  const s = kilo(m.VA);
  return {
    metrics: {
      power_kw: w,
      reactive_power_kvar: q,
      apparent_power_kva: s,
      voltage_ll_v: m.LLV,
      voltage_ln_v: m.LNV ?? 0,
      current_a: m.A ?? 0,
      frequency_hz: m.Hz ?? 0,
      power_factor: m.PF ?? 1,
      dc_power_kw: hasDc ? kilo(dc.DCW) : null,
      dc_voltage_v: hasDc ? (dc.Prt[0]?.DCV ?? null) : null,
      dc_current_a: hasDc ? dc.DCA : null,
      // 713.SoC must be 0 without storage; here it is null
      state_of_charge_pct: m802 ? map.m713.SoC : null,
      soc_reserve_min_pct: m802?.SoCRsvMin ?? null,
      soc_reserve_max_pct: m802?.SocRsvMax ?? null,
      soc_min_pct: m802?.SoCMin ?? null,
      soc_max_pct: m802?.SoCMax ?? null,
      timestamp: stamp.timestamp,
    },
    pq: {
      active_kw: w,
      reactive_kvar: q,
      apparent_kva: s,
      angle_deg: s === 0 ? 0 : Math.round(Math.atan2(q, w) * degreesPerRadian * 1000) / 1000,
    },
    status: status(map, message),
    clock_time: stamp.clockTime,
    dc_mode: identity.dcMode,
    dc_port_count: ports,
    device_type: identity.deviceType,
    device_profile_name: identity.profileName,
    asset_type: identity.assetType,
    device_index: identity.index,
    tick: stamp.tick,
    wall_time: stamp.wallTime,
  };
}

/** The snapshot with its JSON text, serialised once. */
export function publishSnapshot(snapshot: Snapshot, detail: DeviceDetail): Published {
  return new PublishedTick(snapshot, detail);
}

/** Serialises lazily: most snapshots of a fleet are never read as text. */
class PublishedTick implements Published {
  readonly snapshot: Snapshot;
  readonly detail: DeviceDetail;
  #json: Buffer | null = null;

  constructor(snapshot: Snapshot, detail: DeviceDetail) {
    this.snapshot = snapshot;
    this.detail = detail;
  }

  get json(): Buffer {
    this.#json ??= Buffer.from(JSON.stringify(this.snapshot));
    return this.#json;
  }
}

/** The last computed detail of a device, with its instant. */
export class DetailCache {
  readonly #source: Pick<DcSource, 'detail'>;
  #at: SimTime;
  #detail: DeviceDetail;

  constructor(source: Pick<DcSource, 'detail'>, instant: SimTime) {
    this.#source = source;
    this.#at = instant;
    this.#detail = source.detail();
  }

  get at(): SimTime {
    return this.#at;
  }

  get last(): DeviceDetail {
    return this.#detail;
  }

  /** The detail at an instant, computed only if the instant is new. */
  of(instant: SimTime): DeviceDetail {
    return this.#at === instant ? this.#detail : this.renew(instant);
  }

  /** Shows an earlier detail in place of the last one. */
  revertTo(detail: DeviceDetail): DeviceDetail {
    this.#detail = detail;
    return detail;
  }

  renew(instant: SimTime): DeviceDetail {
    this.#at = instant;
    this.#detail = this.#source.detail();
    return this.#detail;
  }
}
