/** One folder of files, as the journal and the snapshots use it. Tests replace it by one that loses what was not synchronised. */
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** A file that grows at its end. */
export interface AppendFile {
  write(data: Buffer): Promise<void>;
  /** Resolves when everything written so far would survive a loss of power. */
  sync(): Promise<void>;
  /**
   * Looks for what others have done to the file; octets changed in place do not show.
   * @param name its present name @param bytes its length as this process has written it
   * @returns a clause such as `was removed`; null: nothing shows
   */
  difference(name: string, bytes: number): Promise<string | null>;
  close(): Promise<void>;
}

export interface Folder {
  /** for messages */
  readonly path: string;
  /** names of the files, sorted; none of a folder that others have removed */
  names(): Promise<string[]>;
  /** names of the folders in it, sorted */
  folders(): Promise<string[]>;
  /** a text that changes with each write of a file; null: no such file */
  stamp(name: string): string | null;
  /** At once: what a process kept is read before its parts are built. null: no such file */
  read(name: string): Buffer | null;
  /**
   * Opens a file for writing at its end; creates it, and the folder that others have removed.
   * @param keepBytes cuts the file to this length before
   */
  append(name: string, keepBytes?: number): Promise<AppendFile>;
  /** Replaces a file of the new name. Durable after `sync`. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes the names of the files durable. */
  sync(): Promise<void>;
}

/** Files with credentials lie in the folder: nobody else may read it. */
const folderMode = 0o700;
const fileMode = 0o600;

/** True where there is no such file, also below what is no folder. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Wall clock of the last write of a file, ms since the epoch; null: no such file. @throws an error of the file system */
export function writtenAtMs(path: string): number | null {
  try {
    return Math.round(statSync(path).mtimeMs);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** @throws Error for what is no regular file; an error of the file system */
function readRegular(path: string): Buffer {
  // a named pipe would block its opening, and all else with it
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is no regular file`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes a folder, and those above it where they are missing. The recursion of Node itself never ends below `/proc`, which
 * denies a new folder as if the one above were missing.
 * @param path absolute @throws an error of the file system
 */
export function makeFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  const above = dirname(path);
  if (!existsSync(above)) makeFolder(above);
  try {
    mkdirSync(path, { mode: folderMode });
  } catch (error) {
    // another process may have been faster
    if (!isThere()) throw error;
  }
}

/** Writes of a file at its end, whole. */
async function openAppend(folder: string, name: string, keepBytes: number | undefined): Promise<AppendFile> {
  makeFolder(resolve(folder));
  const file = await open(join(folder, name), constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, fileMode);
  if (keepBytes !== undefined) await file.truncate(keepBytes);
  const { dev, ino } = await file.stat({ bigint: true });
  return {
    // `writeFile` of a handle goes on until all octets are written
    write: (data) => file.writeFile(data),
    sync: () => file.datasync(),
    async difference(presentName, bytes) {
      try {
        const there = await stat(join(folder, presentName), { bigint: true });
        if (there.dev !== dev || there.ino !== ino) return 'was replaced';
        return there.size === BigInt(bytes) ? null : `has ${there.size} octets in place of ${bytes}`;
      } catch (error) {
        if (isMissing(error)) return 'was removed';
        throw error;
      }
    },
    close: () => file.close(),
  };
}

async function namesIn(path: string, isWanted: (entry: Dirent) => boolean): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return entries
    .filter(isWanted)
    .map(({ name }) => name)
    .sort();
}

/** Makes the folder if there is none. @throws an error of the file system */
export function openFolder(path: string): Folder {
  makeFolder(resolve(path));
  return folderAt(path);
}

/** The folder of a path, which its first file makes if there is none. */
export function folderAt(path: string): Folder {
  return {
    path,
    names: () => namesIn(path, (entry) => entry.isFile()),
    folders: () => namesIn(path, (entry) => entry.isDirectory()),
    stamp(name) {
      const facts = statSync(join(path, name), { bigint: true, throwIfNoEntry: false });
      return facts === undefined ? null : `${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`;
    },
    read(name) {
      try {
        return readRegular(join(path, name));
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    append: (name, keepBytes) => openAppend(path, name, keepBytes),
    rename: (from, to) => rename(join(path, from), join(path, to)),
    remove: (name) => rm(join(path, name), { force: true }),
    async sync() {
      // Windows has no synchronisation of folders
      if (process.platform === 'win32') return;
      const folder = await open(path, constants.O_RDONLY);
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    },
  };
}
