/** The part of a plant that the telemetry stream uses: a fleet of several processes has it, too. */
import type { Plant } from '../contract/plant.ts';
import type { Snapshot } from '../contract/snapshot.ts';

/** A snapshot and its JSON text; members of the snapshot other than the index may be made at their first use. */
export interface StreamPublished {
  readonly snapshot: Pick<Snapshot, 'device_index' | 'metrics'>;
  readonly json: Buffer;
}

export interface StreamTick {
  /** ascends: a client gets each number once */
  readonly tick: number;
  /** in index order */
  readonly published: readonly StreamPublished[];
}

interface StreamDevice {
  readonly index: number;
}

/** As `DeviceChange` of the plant. */
export interface StreamDeviceChange {
  readonly added: StreamDevice | null;
  readonly removed: StreamDevice | null;
}

/** Devices and their ticks. `Plant` is one. */
export interface StreamSource {
  /** in index order; replaced as a whole when one joins or leaves */
  readonly devices: readonly StreamDevice[];
  /** newest snapshot of every device, which a new client gets first */
  readonly latest: StreamTick;
  /** As `Plant.onTickInParts`; a tick may have the snapshots of some devices only. */
  onTickInParts(work: (event: StreamTick) => Iterable<undefined>): () => void;
  onDevices(listener: (change: StreamDeviceChange) => void): () => void;
}

/** Devices with their states: the message of all devices in columns shows more than their snapshots. */
export type ColumnSource = Pick<Plant, 'devices' | 'dateMs' | 'latest'>;
