/** One folder of files, as the journal and the snapshots use it. Tests replace it by one that loses what was not synchronised. */
import { constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** A file that grows at its end. */
export interface AppendFile {
  write(data: Buffer): Promise<void>;
  /** Resolves when everything written so far would survive a loss of power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Folder {
  /** for messages */
  readonly path: string;
  /** names of the files, sorted */
  names(): Promise<string[]>;
  /** At once: what a process kept is read before its parts are built. null: no such file */
  read(name: string): Buffer | null;
  /** Opens a file for writing at its end; creates it. @param keepBytes cuts the file to this length before */
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

/** Writes of a file at its end, whole. */
async function openAppend(path: string, keepBytes: number | undefined): Promise<AppendFile> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, fileMode);
  if (keepBytes !== undefined) await file.truncate(keepBytes);
  return {
    // `writeFile` of a handle goes on until all octets are written
    write: (data) => file.writeFile(data),
    sync: () => file.datasync(),
    close: () => file.close(),
  };
}

/**
 * Makes a folder, and those above it where they are missing. The recursion of Node itself never ends below `/proc`, which
 * denies a new folder as if the one above were missing.
 * @param path absolute @throws an error of the file system
 */
function makeFolder(path: string): void {
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

/** Makes the folder if there is none. @throws an error of the file system */
export function openFolder(path: string): Folder {
  makeFolder(resolve(path));
  return {
    path,
    async names() {
      const entries = await readdir(path, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .sort();
    },
    read(name) {
      try {
        return readFileSync(join(path, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    append: (name, keepBytes) => openAppend(join(path, name), keepBytes),
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
