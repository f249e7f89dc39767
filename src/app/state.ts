/** The state of a simulator that survives its process: the folder, its lock and the store in it. */
import { resolve } from 'node:path';
import { SimError, errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { createMemoryStore } from '../core/store.ts';
import type { JsonValue, ListStore, Store } from '../core/store.ts';
import type { WallClock } from '../core/time/clock.ts';
import { callEvery } from '../core/time/timers.ts';
import type { Every, Later } from '../core/time/timers.ts';
import { copyOf, replaceContents } from '../state/contents.ts';
import type { Contents } from '../state/contents.ts';
import { readState, withLockedFolder } from '../state/folder-work.ts';
import { createFileStore } from '../state/file-store.ts';
import type { FileStore } from '../state/file-store.ts';
import { folderAt, makeFolder } from '../state/files.ts';
import type { Folder } from '../state/files.ts';
import { takeLock } from '../state/lock.ts';

/** The folder of a state, and the store in it. */
export interface StateFiles {
  readonly path: string;
  readonly store: FileStore;
  /** Opens a folder in it, on the same disk; its first file makes it. */
  readonly openFolder: (path: string) => Folder;
}

export interface State {
  readonly store: Store;
  /** null: the state ends with the process */
  readonly files: StateFiles | null;
  /** The values of a slot at once, for parts that are built within one call. */
  values(slot: string): readonly JsonValue[];
  /** A copy of all slots. */
  contents(): Contents;
  /**
   * Replaces the values of a slot by one, without a wait.
   * @param text its JSON @throws SimError STORE_FULL
   */
  write(slot: string, text: string): void;
  /** Empties slots that belong to what is gone. */
  forget(isGone: (slot: string) => boolean): void;
  /** Calls `listener` when the folder takes no more writes (with the reason), and when it takes them again (null). */
  onFailure(listener: (reason: string | null) => void): void;
  /** for the line at the start */
  readonly words: string;
  /** @throws SimError CONFIG_INVALID if the folder cannot be written */
  open(): Promise<void>;
  /** Makes the last changes durable, and lets another process have the folder. */
  close(): Promise<void>;
}

/** Changes of the files by others show after so many milliseconds in an idle simulator. */
const checkEveryMs = 5000;

interface StateOptions {
  readonly log: Logger;
  readonly wall: WallClock;
  readonly later: Later;
  readonly every?: Every;
  /** default: a folder of the disk */
  readonly openFolder?: (path: string) => Folder;
}

/** State that ends with the process. */
export function memoryState(store: ListStore = createMemoryStore()): State {
  return {
    store,
    files: null,
    values: (slot) => store.values(slot),
    contents: () => copyOf(store.contents()),
    write: () => undefined,
    forget(isGone) {
      store.forget(isGone);
    },
    onFailure: () => undefined,
    words: 'nothing is kept over a restart',
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function unusable(path: string, error: unknown): unknown {
  if (error instanceof SimError) return error;
  return new SimError('CONFIG_INVALID', `state_dir: ${path} cannot be used: ${errorText(error)}`);
}

/**
 * The state in a folder, with what an earlier process has left there.
 * @throws SimError CONFIG_INVALID if the folder cannot be used, another process has it, or a newer version wrote it
 */
export function folderState(path: string, options: StateOptions): State {
  const { log, wall, later, every = callEvery, openFolder = folderAt } = options;
  try {
    makeFolder(resolve(path));
    const folder = openFolder(path);
    const lock = takeLock(path, every, () => wall.nowMs());
    try {
      let stopChecks: () => void = () => undefined;
      let listener: (reason: string | null) => void = () => undefined;
      const store = createFileStore({
        folder,
        log,
        later,
        nowMs: () => wall.nowMs(),
        onFailure: (reason) => {
          listener(reason);
        },
        async otherHolder() {
          const { holder, wasRemoved } = await lock.check();
          if (wasRemoved)
            log.warning(`the lock of ${path} was removed or damaged, not by this process; it is placed again`);
          return holder;
        },
      });
      return {
        store,
        files: { path, store, openFolder },
        values: (slot) => store.values(slot),
        contents: () => copyOf(store.contents()),
        write(slot, text) {
          store.write(slot, text);
        },
        forget(isGone) {
          store.forget(isGone);
        },
        onFailure(next) {
          listener = next;
        },
        words: `state in ${path}`,
        async open() {
          try {
            await store.open();
          } catch (error) {
            throw unusable(path, error);
          }
          stopChecks = every(checkEveryMs, () => {
            store.check();
          });
        },
        async close() {
          stopChecks();
          try {
            await store.close();
          } finally {
            lock.release();
          }
        },
      };
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw unusable(path, error);
  }
}

/**
 * The values that the state in a folder has, also while a simulator has it; the folder need not be there.
 * @throws SimError CONFIG_INVALID if it cannot be read, or a newer version wrote it
 */
export function stateToRead(path: string): Pick<State, 'values'> {
  try {
    const { contents } = readState(folderAt(path));
    return { values: (slot) => (contents.get(slot) ?? []).map((text) => JSON.parse(text) as JsonValue) };
  } catch (error) {
    throw unusable(path, error);
  }
}

/**
 * Puts contents in the place of the state in a folder that no simulator has: whole, or not at all.
 * @throws SimError CONFIG_INVALID if the folder cannot be written, or another process has it
 */
export async function replaceState(path: string, contents: Contents): Promise<void> {
  try {
    await withLockedFolder(path, (folder) => replaceContents(folder, contents));
  } catch (error) {
    throw unusable(path, error);
  }
}
