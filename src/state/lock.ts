/**
 * Keeps a second process out of a state folder. The lock names the process and the instant of its start, so that the
 * lock of a killed process is taken over at once, also where numbers of processes repeat as in containers.
 */
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { readFile, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorText, SimError } from '../core/errors.ts';
import type { Every } from '../core/time/timers.ts';
import { isMissing, makeFolder } from './files.ts';

const lockFile = 'lock';
/** time between two signs of life, for processes on other machines that share the folder */
const aliveEveryMs = 5000;
/** a lock of another machine without sign of life for so long is taken over */
const deadAfterMs = 20_000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** instant of the start of the process as the kernel counts it; null: this system does not give it */
  readonly started: string | null;
}

export interface LockCheck {
  /** the process that has the lock now, in words; null: this one */
  readonly holder: string | null;
  /** true: others had removed or damaged the lock, and it was placed again */
  readonly wasRemoved: boolean;
}

export interface Lock {
  /** Looks whether this process still has the lock. @throws an error of the file system, or for a lock that is unclear */
  check(): Promise<LockCheck>;
  release(): void;
}

/** The start of a process, with the identity of the boot; null: no such process, or a system without /proc. */
function startOf(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // the name of the program, which may have spaces, is in brackets
    const [, fields = ''] = /\)\s+(.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return `${boot}/${fields.split(' ')[19] ?? ''}`;
  } catch {
    return null;
  }
}

const thisProcess = (): Holder => ({ pid: process.pid, host: hostname(), started: startOf(process.pid) });

function isRunning({ pid, started }: Holder): boolean {
  if (started !== null) return startOf(pid) === started;
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // a process of another user
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** null: no lock of this form */
function holderIn(text: string): Holder | null {
  try {
    const { pid, host, started = null } = (JSON.parse(text) as Partial<Holder> | null) ?? {};
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host, started } : null;
  } catch {
    return null;
  }
}

/** null: no lock, or none of this form */
function readHolder(path: string): Holder | null {
  try {
    return holderIn(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** null: no lock @throws an error of the file system */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** @param nowMs of the clock by which the file system dates files */
function isHeld(path: string, holder: Holder | null, nowMs: number): boolean {
  if (holder?.host === hostname()) return isRunning(holder);
  const { mtimeMs = -Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Math.abs(nowMs - mtimeMs) < deadAfterMs;
}

const holderWords = (holder: Holder | null) => (holder ? `process ${holder.pid} of ${holder.host}` : 'another process');

const heldError = (folder: string, holder: Holder | null) =>
  new SimError(
    'CONFIG_INVALID',
    `state_dir: ${folder} is in use by ${holderWords(holder)}; one process has a folder at a time`,
  );

/** The process that has the lock of a folder, in words; null: none. */
export function lockHolder(folder: string, nowMs: number): string | null {
  const path = join(folder, lockFile);
  const holder = readHolder(path);
  return isHeld(path, holder, nowMs) ? holderWords(holder) : null;
}

/** Removes a file if there is one. The errors of `rmSync` have neither code nor words. @throws an error of the file system */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Puts a lock into place if there is none. @returns false: there is one */
function place(path: string): boolean {
  try {
    writeFileSync(path, JSON.stringify(thisProcess()), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    try {
      // of a full disk: an empty lock would keep the next process out
      removeFile(path);
    } catch {
      // the first error says why
    }
    throw error;
  }
}

/** Removes the lock of a holder that does not run any more. @throws an error of the file system */
function removeDead(path: string, holder: Holder | null): void {
  const moved = `${path}.${process.pid}`;
  try {
    renameSync(path, moved);
  } catch (error) {
    // another process was faster
    if (isMissing(error)) return;
    throw error;
  }
  // a third process may have replaced the dead lock meanwhile
  if (isDeepStrictEqual(readHolder(moved), holder)) removeFile(moved);
  else renameSync(moved, path);
}

/**
 * Takes the lock of a folder.
 * @param every timer of the signs of life
 * @throws SimError CONFIG_INVALID if another process has it; an error of the file system
 */
export function takeLock(folder: string, every: Every, nowMs: () => number): Lock {
  const path = join(folder, lockFile);
  for (let attempt = 0; !place(path); attempt += 1) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new SimError('CONFIG_INVALID', `state_dir: ${path} is no file, so that it can be no lock`);
    const holder = readHolder(path);
    if (attempt > 2 || isHeld(path, holder, nowMs())) throw heldError(folder, holder);
    removeDead(path, holder);
  }
  const self = thisProcess();
  // others may have removed the lock, and another process may have taken it, as after a suspension
  const isOfThisProcess = (text: string) => isDeepStrictEqual(holderIn(text), self);
  const stop = every(aliveEveryMs, () => {
    const touchedAt = new Date();
    void readFile(path, 'utf8')
      .then((text) => (isOfThisProcess(text) ? utimes(path, touchedAt, touchedAt) : undefined))
      .catch(() => undefined);
  });
  return {
    async check() {
      const text = await textOf(path).catch((error: unknown) => {
        throw new Error(`${path} cannot be read: ${errorText(error)}`, { cause: error });
      });
      if (text !== null) {
        if (isOfThisProcess(text)) return { holder: null, wasRemoved: false };
        const holder = holderIn(text);
        if (holder !== null) return { holder: holderWords(holder), wasRemoved: false };
        if (isHeld(path, null, nowMs()))
          throw new Error(`the lock in ${folder} cannot be read: another process may be writing it`);
        removeDead(path, null);
      }
      makeFolder(resolve(folder));
      return place(path)
        ? { holder: null, wasRemoved: true }
        : { holder: holderWords(readHolder(path)), wasRemoved: false };
    },
    release() {
      stop();
      if (isDeepStrictEqual(readHolder(path), self)) removeFile(path);
    },
  };
}
