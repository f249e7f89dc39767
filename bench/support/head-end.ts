/** A head-end of IEEE 2030.5 beside the simulator that is measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inCheckout } from './processes.ts';

/** What a head-end has seen. */
export interface Counts {
  readonly clients: number;
  readonly requests: number;
  readonly refused: number;
  readonly responses: number;
  readonly readings: number;
}

/** The head-end in its own process, with a certificate for each client. */
export class HeadEndProcess {
  readonly directory = mkdtempSync(join(tmpdir(), 'derbench-bench-csip-'));
  readonly #child;
  readonly #lines;

  constructor(clients: number) {
    this.#child = spawn(
      process.execPath,
      ['--import=tsx', inCheckout('bench/workers/csip-head-end.ts'), this.directory, String(clients)],
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: inCheckout('.') },
    );
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  async #line<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the head-end has ended');
    return JSON.parse(value) as T;
  }

  async port(): Promise<number> {
    return (await this.#line<{ readonly port: number }>()).port;
  }

  counts(): Promise<Counts> {
    this.#child.kill('SIGUSR2');
    return this.#line();
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
