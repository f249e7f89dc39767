/** A class of the soak in a process of its own: calls go over IPC, one after the other. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sourceFlags } from '../test/support/process.ts';
import { textOf } from './tally.ts';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}
interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Serves the methods to the parent process until that ends. */
export function serve(methods: Methods): void {
  process.on('disconnect', () => {
    process.exit(0);
  });
  process.on('message', ({ id, method, args }: Request) => {
    void (async () => {
      let reply: Reply;
      try {
        const work = methods[method] as ((...args: readonly unknown[]) => unknown) | undefined;
        if (work === undefined) throw new Error(`there is no method ${method}`);
        reply = { id, value: await work(...args) };
      } catch (error) {
        reply = { id, error: textOf(error) };
      }
      process.send?.(reply);
    })();
  });
}

/** The parent's end. */
export class Remote {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #nextId = 0;

  /** @param file from the root of the checkout */
  constructor(file: string) {
    this.#child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), [], {
      execArgv: [...sourceFlags],
      serialization: 'json',
    });
    this.#child.on('message', ({ id, value, error }: Reply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
    this.#child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} has ended with code ${String(code)}`));
      this.#waiting.clear();
    });
  }

  call<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    const id = (this.#nextId += 1);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      if (this.#child.connected) this.#child.send({ id, method, args });
      else reject(new Error('the process has ended'));
    });
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}
