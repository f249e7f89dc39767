/// <reference lib="esnext.disposable" preserve="true" />
/** The package for scripts: a client of REST, and a simulator inside the process of the script. */
import { jsonOf } from './library/checks.ts';
import { Client } from './library/client.ts';
import { DerbenchError } from './library/error.ts';
import type { Address, Dnp3Address, ModbusAddress, SimulatorOptions } from './library/options.ts';

export { Client } from './library/client.ts';
export { DerbenchError } from './library/error.ts';
export type { Issue } from './library/error.ts';
export type * from './library/options.ts';
export type * from './library/replies.ts';

/** A running simulator. It keeps the process alive until it is stopped. */
export interface Simulator {
  readonly client: Client;
  /** of the HTTP interface, such as `http://127.0.0.1:39957` */
  readonly url: string;
  readonly http: Address;
  /** of the devices at the start, in order; empty with `mb_enable` false */
  readonly modbus: readonly ModbusAddress[];
  readonly dnp3: readonly Dnp3Address[];
  /** one readable line per listener */
  readonly lines: readonly string[];
  /** Stops in order, like `POST stop`. Further calls wait for the same end. */
  stop(): Promise<void>;
  /** `await using` stops it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a simulator in this process. It installs no signal handlers, and never ends the process.
 * @throws DerbenchError `config-invalid` with every issue; `listen-failed` if a given port is in use
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  checkOptions(options);
  // loaded on demand, so that scripts that only use the client do not load the program
  const { startSimulator } = await import('./app/library.ts');
  const { endpoints, stop, ...addresses } = await startSimulator(options);
  const { host, port } = endpoints.http;
  const url = `http://${reachable(host)}:${port}`;
  return {
    client: new Client(url),
    url,
    http: { host, port },
    ...addresses,
    lines: endpoints.lines,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function checkOptions(options: unknown): void {
  const wrong = (detail: string) =>
    new DerbenchError({ code: 'config-invalid', detail, issues: [{ name: 'options', detail }] });
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw wrong('the options of createSimulator must be an object, such as { tick: 1 }');
  const { log } = options as SimulatorOptions;
  if (log !== undefined && typeof log !== 'boolean' && typeof log !== 'function')
    throw wrong('the option log must be true, false, or a function that gets the lines');
  try {
    jsonOf({ ...options, log: undefined });
  } catch (cause) {
    throw cause instanceof DerbenchError ? wrong(`the options cannot be read: ${cause.detail}`) : cause;
  }
}

/** A host by which this machine reaches a listener on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
