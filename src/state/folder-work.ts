/** Work on a state folder that no simulator has. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SimError } from '../core/errors.ts';
import { systemClock } from '../core/time/clock.ts';
import { callEvery } from '../core/time/timers.ts';
import { copyOf } from './contents.ts';
import type { Contents } from './contents.ts';
import { folderAt, openFolder, writtenAtMs } from './files.ts';
import type { Folder } from './files.ts';
import { journalFile } from './journal.ts';
import { takeLock } from './lock.ts';
import type { Lock } from './lock.ts';
import { migrated } from './migrations.ts';
import { formatVersion, replay } from './record.ts';
import type { Replay } from './record.ts';

/**
 * Does some work while no other process can have the folder, which is made if there is none.
 * @throws SimError CONFIG_INVALID if another process has it; an error of the file system
 */
export async function withLockedFolder<T>(path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  const folder = openFolder(path);
  const lock = takeLock(path, callEvery, () => systemClock.nowMs());
  try {
    return await work(folder);
  } finally {
    lock.release();
  }
}

/**
 * Does some work that only reads, while no other process can have the folder; one on a disk that takes no writes is read
 * without a lock.
 * @throws SimError CONFIG_INVALID if another process has it; an error of the file system
 */
export function withFolderToRead<T>(
  path: string,
  work: (folder: Pick<Folder, 'path' | 'read'>) => T,
  take: typeof takeLock = takeLock,
): T {
  const lock = lockToRead(path, take);
  try {
    return work(folderAt(path));
  } finally {
    lock?.release();
  }
}

/** null: nobody can write to the folder */
function lockToRead(path: string, take: typeof takeLock): Lock | null {
  try {
    return take(path, callEvery, () => systemClock.nowMs());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return null;
    throw error;
  }
}

/** The journal of a folder as it can be read. */
export interface FolderState extends Pick<Replay, 'damage'> {
  readonly contents: Contents;
  readonly format: number;
  /** octets of the file */
  readonly octets: number;
  readonly records: number;
  /** wall clock of the last write, ms since the epoch; null: nothing was ever written */
  readonly lastSaveMs: number | null;
}

/** @throws SimError CONFIG_INVALID for a path that is no folder */
export function checkFolder(path: string): void {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) throw new SimError('CONFIG_INVALID', `${path}: there is no such folder`);
  if (!facts.isDirectory()) throw new SimError('CONFIG_INVALID', `${path} is no folder`);
}

/**
 * Reads the journal of a folder, also beside a simulator that writes it.
 * @throws SimError CONFIG_INVALID for a journal of a newer version; an error of the file system
 */
export function readState(folder: Pick<Folder, 'path' | 'read'>): FolderState {
  const data = folder.read(journalFile);
  const { slots, version, last, damage } = replay(data ?? Buffer.alloc(0));
  if (version > formatVersion)
    throw new SimError(
      'CONFIG_INVALID',
      `${folder.path} was written by a newer derbench (form ${version}; this one reads up to ${formatVersion})`,
    );
  return {
    contents: copyOf(migrated(slots, version)),
    format: version,
    octets: data?.length ?? 0,
    records: last + 1,
    lastSaveMs: writtenAtMs(join(folder.path, journalFile)),
    damage,
  };
}

/** Keeps a copy of a journal that is damaged and about to be replaced. @returns the name of the copy */
export async function copyDamaged(folder: Folder, nowMs: number): Promise<string> {
  const name = `${journalFile}.corrupt-${new Date(nowMs).toISOString().replaceAll(':', '-')}`;
  const copy = await folder.append(name, 0);
  try {
    await copy.write(folder.read(journalFile) ?? Buffer.alloc(0));
    await copy.sync();
  } finally {
    await copy.close();
  }
  await folder.sync();
  return name;
}
