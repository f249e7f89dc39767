/** One folder of files, as the journal and the snapshots use it. Tests replace it by one that loses what was not synchronised. */
import { constants, mkdirSync, readFileSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  /** names of the folders in it, sorted */
  folders(): Promise<string[]>;
  /** a text that changes with each write of a file; null: no such file */
  stamp(name: string): string | null;
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

async function namesIn(path: string, isWanted: (entry: Dirent) => boolean): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter(isWanted)
    .map(({ name }) => name)
    .sort();
}

/** Makes the folder if there is none. @throws an error of the file system */
export function openFolder(path: string): Folder {
  mkdirSync(path, { recursive: true, mode: folderMode });
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
