/** The state folder as REST shows it: its size, its failures, and the named snapshots of the whole simulator. */
import { SimError } from '../core/errors.ts';

/** Maximum number of snapshots in a folder. */
export const maxSnapshots = 100;
/** Octets of all snapshots of a folder. */
export const maxSnapshotBytes = 256 * 1024 * 1024;
/** Letters, digits, `-`, `_` and `.`, the first one no dot and no dash. */
export const snapshotNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** A named copy of the state of the whole simulator. */
export interface SnapshotInfo {
  readonly name: string;
  /** wall clock, ms since the epoch; null: the file cannot be read */
  readonly takenAtMs: number | null;
  readonly octets: number;
  /** version of the simulator that took it; null: the file cannot be read */
  readonly version: string | null;
  /** reason for which it cannot be restored; null: it can */
  readonly damage: string | null;
}

export interface StateReport {
  /** null: everything ends with the process */
  readonly folder: string | null;
  /** `state in /var/lib/derbench` */
  readonly words: string;
  /** version of the form of the files; null: no folder */
  readonly format: number | null;
  /** octets of the journal; null: no folder */
  readonly octets: number | null;
  /** records of the journal; null: no folder */
  readonly records: number | null;
  /** wall clock of the last write, ms since the epoch; null: none */
  readonly lastSaveMs: number | null;
  /** see `StateControl.failure` */
  readonly failure: string | null;
  /** true: a snapshot can be put in the place of the state */
  readonly canRestore: boolean;
}

/** A snapshot that was read and checked, ready to take the place of the state. */
export interface PreparedRestore {
  readonly name: string;
  /** Stops the simulator and builds it anew from the snapshot. */
  begin(reason: string): void;
}

/**
 * The state of the process. Without a folder every method rejects with SimError MAP_NOT_SUPPORTED; a name of another
 * form is refused with COMMAND_BAD_VALUE, a snapshot that there is not with UNKNOWN_RESOURCE.
 */
export interface StateControl {
  readonly report: StateReport;
  /** reason for which changes, or parts of the state, are not on disk; null: they are, or there is no folder */
  readonly failure: string | null;
  /**
   * Resolves when every change so far is on disk, or cannot be put there; null: nothing to wait for. An answer that
   * shows what a restart must keep waits for it.
   */
  durable(): Promise<void> | null;
  /** by name */
  snapshots(): Promise<readonly SnapshotInfo[]>;
  /**
   * Takes a snapshot of this instant; resolves when it is on disk.
   * @throws SimError COMMAND_CONFLICT for a name in use without `overwrite`, too many snapshots or octets, or a disk
   *   that refuses it
   */
  take(name: string, overwrite: boolean): Promise<SnapshotInfo>;
  /** @throws SimError COMMAND_CONFLICT for a damaged file */
  remove(name: string): Promise<SnapshotInfo>;
  /**
   * Reads and checks a snapshot; nothing changes yet.
   * @throws SimError COMMAND_CONFLICT for a damaged file, and where this simulator cannot be built anew
   */
  prepare(name: string): Promise<PreparedRestore>;
}

const withoutFolder = () =>
  Promise.reject(new SimError('MAP_NOT_SUPPORTED', 'The simulator has no state folder; --state_dir DIR gives it one.'));

/** The state of a simulator that keeps nothing. */
export const noState: StateControl = {
  report: {
    folder: null,
    words: 'nothing is kept over a restart',
    format: null,
    octets: null,
    records: null,
    lastSaveMs: null,
    failure: null,
    canRestore: false,
  },
  failure: null,
  durable: () => null,
  snapshots: withoutFolder,
  take: withoutFolder,
  remove: withoutFolder,
  prepare: withoutFolder,
};
