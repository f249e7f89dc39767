/** Child processes: servers and load generators. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
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
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const graceMs = 6000;

/** Starts a server process. It ends by `stop`, or with this process. */
export function startServer(command: string, args: readonly string[]): Server {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let complaint = '';
  let stopping = false;
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      running.delete(child);
      resolve();
    });
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (!stopping) reject(new Error(`${command} ended with code ${code ?? 'none'}: ${complaint.trim()}`));
    });
  });
  failed.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    failed,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      const cutOff = setTimeout(() => {
        child.kill('SIGKILL');
      }, graceMs);
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

/** Runs a process to its end. @throws Error with what it printed when it fails or takes longer */
export async function runToEnd(command: string, args: readonly string[], limitS: number): Promise<void> {
  await executeFile(command, args, { maxBuffer: 1 << 24, timeout: limitS * 1000 });
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

/** Processor seconds that the threads of a process have run so far, or null where there is no /proc. */
export async function cpuSeconds(pid: number): Promise<number | null> {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    // schedstat counts nanoseconds; the fields of `stat` count samples of 10 ms
    const spent = await Promise.all(
      threads.map((id) => readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8').catch(() => '0')),
    );
    return spent.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9;
  } catch {
    return null;
  }
}

/** The last processor that this process may use, or null where processes cannot be pinned to one. */
export async function pinnableProcessor(): Promise<number | null> {
  if (!(await succeeds('taskset', ['--version']))) return null;
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const last = /^Cpus_allowed_list:.*?(\d+)$/m.exec(status)?.[1];
  return last === undefined ? null : Number(last);
}

/** Moves the main thread of a process to one processor for good. */
export async function pin(pid: number, processor: number): Promise<void> {
  await executeFile('taskset', ['-p', '-c', String(processor), String(pid)]);
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
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
