/** A central system of OCPP beside the simulator that is measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inCheckout } from './processes.ts';

/** Requests of `bench/workers/ocpp-central.mjs`. */
interface CentralRequest {
  readonly what: string;
  readonly [name: string]: unknown;
}

/** The central system in its own process. */
export class CentralProcess {
  readonly #child = spawn(process.execPath, [inCheckout('bench/workers/ocpp-central.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  readonly #lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  #port: number | undefined;

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async #line<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the central system has ended');
    return JSON.parse(value) as T;
  }

  protected ask<T>(request: CentralRequest): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return this.#line();
  }

  /** Where charge points connect: `ours` and `bare` are counted apart. */
  async url(side: 'ours' | 'bare'): Promise<string> {
    this.#port ??= (await this.#line<{ readonly port: number }>()).port;
    return `ws://127.0.0.1:${this.#port}/${side}`;
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
