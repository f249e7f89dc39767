/** The recorder of all wire traffic as REST sees it. Instants of the wall in ms since the epoch. */
import type { Origin, Provenance } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';

/** Protocols whose messages are recorded, and the findings about their peers. */
export const recordedProtocols = ['modbus', 'csip', 'ocpp', 'dnp3', 'findings'] as const;
export type RecordedProtocol = (typeof recordedProtocols)[number];

/** Protocols whose messages can be written as packets: those that are octets over TCP. */
export const packetProtocols = ['modbus', 'dnp3'] as const satisfies readonly RecordedProtocol[];

/** Memory of a recording in MiB. */
export const recorderLimitMb = { min: 1, max: 512, byDefault: 64 } as const;

/** Counts of entries since the last `clear`. */
export interface RecordedCounts {
  /** kept now */
  readonly entries: number;
  /** approximate memory of the entries */
  readonly bytes: number;
  /** dropped to make room for newer ones */
  readonly dropped: number;
}

export interface RecorderState extends RecordedCounts {
  readonly enabled: boolean;
  readonly limitMb: number;
  /** protocols that are recorded; null: all */
  readonly protocols: readonly RecordedProtocol[] | null;
  /** last time at which recording was switched on, or cleared while on; null: never on */
  readonly since: { readonly wallMs: number; readonly sim: SimTime } | null;
  /** id of the last entry; 0: there was none */
  readonly lastId: number;
  /** counts by protocol; a protocol without messages is absent */
  readonly byProtocol: ReadonlyMap<string, RecordedCounts>;
  /** null: as started */
  readonly changedBy: Provenance | null;
}

export interface RecorderPatch {
  readonly enabled: boolean;
  /** absent: as before */
  readonly limitMb?: number;
  /** null: all; absent: as before */
  readonly protocols?: readonly RecordedProtocol[] | null;
  /** true: drops the entries first */
  readonly clear?: boolean;
}

/** Selects entries; every member narrows the choice. */
export interface RecordingFilter {
  readonly protocols?: readonly string[];
  /** first wall time, ms since the epoch */
  readonly sinceMs?: number;
  /** wall time before which entries count, ms since the epoch */
  readonly untilMs?: number;
}

/** While recording is off, the recorder listens to no channel and costs nothing. */
export interface Recorder {
  readonly state: RecorderState;
  set(patch: RecorderPatch, by: Origin): void;
  /**
   * The recording as lines of JSON, each with its end: a header, then the entries that existed at the call, oldest
   * first. Entries replaced by newer ones meanwhile are left out; entries cleared meanwhile are included.
   */
  lines(filter?: RecordingFilter): Promise<Iterable<string>>;
  /** The recording as a file of packets: the messages of `packetProtocols` sent over TCP. */
  packets(filter?: RecordingFilter): Promise<Iterable<Buffer>>;
}
