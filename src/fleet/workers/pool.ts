/** The worker processes of a gateway: each is a shard, and starts again when it dies. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { readyMessage } from './life.ts';
import { Restarts } from './restarts.ts';

const endLimitMs = 3000;

export interface WorkerCommand {
  /** name of the shard */
  readonly name: string;
  readonly words: readonly string[];
}

export interface PoolOptions {
  readonly commands: readonly WorkerCommand[];
  /** file of the program */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** a line of the log of a worker */
  readonly onLine: (worker: string, line: string) => void;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
}

/** A worker that ended before all were ready. @property exitCode null: by a signal */
export class WorkerError extends Error {
  readonly exitCode: number | null;
  constructor(name: string, exitCode: number | null) {
    super(
      `the worker "${name}" has ended at its start (${exitCode === null ? 'by a signal' : `exit code ${exitCode}`})`,
    );
    this.name = 'WorkerError';
    this.exitCode = exitCode;
  }
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #children = new Map<string, ChildProcess>();
  readonly #restarts = new Map<string, Restarts>();
  readonly #waits = new Map<string, () => void>();
  #isRunning = false;
  #isEnding = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws WorkerError when one ends before it is ready; the others then still run */
  async start(): Promise<void> {
    await Promise.all(this.#options.commands.map((command) => this.#started(command)));
    this.#isRunning = true;
  }

  get pids(): readonly number[] {
    return [...this.#children.values()].flatMap(({ pid }) => pid ?? []);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    for (const cancel of this.#waits.values()) cancel();
    await Promise.all(
      [...this.#children.values()].map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        const cancel = this.#options.later(endLimitMs, () => child.kill('SIGKILL'));
        await exited;
        cancel();
      }),
    );
  }

  #started(command: WorkerCommand): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = this.#fork(command);
      child.once('message', (message) => {
        if (message === readyMessage) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => {
        reject(new WorkerError(command.name, code));
      });
    });
  }

  #fork(command: WorkerCommand): ChildProcess {
    const { name, words } = command;
    const { program, env, onLine } = this.#options;
    // a process group of its own: an interrupt of the terminal ends the gateway, which ends its workers
    const child = fork(program, words, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], detached: true });
    this.#children.set(name, child);
    if (child.stderr)
      createInterface(child.stderr).on('line', (line) => {
        onLine(name, line);
      });
    child.once('exit', (code, signal) => {
      this.#children.delete(name);
      if (this.#isRunning) this.#ended(command, signal ?? `exit code ${code ?? ''}`);
    });
    return child;
  }

  #ended(command: WorkerCommand, how: string): void {
    if (this.#isEnding) return;
    const { log, clock, later } = this.#options;
    const { name } = command;
    const restarts = this.#restarts.get(name) ?? new Restarts();
    this.#restarts.set(name, restarts);
    const waitMs = restarts.waitMs(clock.monotonicMs());
    if (waitMs === null) {
      log.error(`the worker "${name}" has ended too often (${how}) and is not started again`);
      return;
    }
    log.warning(`the worker "${name}" has ended (${how}) and starts again in ${waitMs / 1000} s`);
    this.#waits.set(
      name,
      later(waitMs, () => {
        this.#fork(command);
      }),
    );
  }
}
