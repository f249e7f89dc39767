/** Child processes: servers and load generators. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const executeFile = promisify(execFile);

/** Path of a file of the checkout, given from its root. */
export function inCheckout(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export const mainPath = inCheckout('dist/main.js');

export interface Server {
  readonly pid: number;
  /** rejects when the process ends before it is stopped */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => { for (const child of running) child.kill('SIGKILL'); });

const graceMs = 6000;

/** Starts a server process. It ends by `stop`, or with this process. */
export function startServer(command: string, args: readonly string[]): Server {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let complaint = '';
  let stopping = false;
  child.stderr.on('data', (chunk: Buffer) => { complaint = (complaint + chunk.toString()).slice(-2000); });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => { running.delete(child); resolve(); });
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('close', (code) => { if (!stopping) reject(new Error(`${command} ended with code ${code ?? 'none'}: ${complaint.trim()}`)); });
  });
  failed.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    failed,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      const cutOff = setTimeout(() => { child.kill('SIGKILL'); }, graceMs);
      await ended;
      clearTimeout(cutOff);
    },
  };
}

/** Runs a process to its end and parses its standard output. @throws Error with what it printed when it fails */
export async function runJson<T>(command: string, args: readonly string[]): Promise<T> {
  const { stdout } = await executeFile(command, args, { maxBuffer: 1 << 20 });
  return JSON.parse(stdout) as T;
}

/** Whether a process runs and ends with code 0. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  try {
    await executeFile(command, args);
    return true;
  } catch {
    return false;
  }
}

// USER_HZ: fixed in the interface of the kernel on all common platforms
const ticksPerSecond = 100;

/** Processor seconds that a process has used, or null where there is no /proc. */
export async function cpuSeconds(pid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the command name in parentheses may hold blanks; fields 14 and 15 are user and system time
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return null;
  }
}

/** Resident bytes of a process, or null where there is no /proc. */
export async function residentBytes(pid: number): Promise<number | null> {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}
