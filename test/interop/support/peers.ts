import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../support/http.ts';

const localPython = fileURLToPath(new URL('../../../.venv/bin/python', import.meta.url));
/** The interpreter with the Python peers. */
export const python =
  [process.env['PYTHON'], localPython].find((path) => path !== undefined && existsSync(path)) ?? 'python3';

/** dertwin and the pymodbus that it needs, an older one than that of the other peers. */
const dertwinPackages = fileURLToPath(new URL('../../../.venv/dertwin', import.meta.url));
/** The environment of a process that runs dertwin. */
export const dertwinEnvironment: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: dertwinPackages };

/** gridappsd-2030-5 and what it needs. */
const gridappsdPackages = fileURLToPath(new URL('../../../.venv/gridappsd', import.meta.url));
const gridappsdEnvironment: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: gridappsdPackages };

/** A Python 3.10 with opendnp3, the only version that it has wheels for. */
export const pythonOfOpendnp3 =
  [process.env['PYTHON_OPENDNP3'], fileURLToPath(new URL('../../../.venv/opendnp3/bin/python', import.meta.url))].find(
    (path) => path !== undefined && existsSync(path),
  ) ?? 'python3.10';

const succeeds = (program: string, args: readonly string[], env = process.env) =>
  spawnSync(program, args, { stdio: 'ignore', timeout: 30_000, env }).status === 0;

/** Go from 1.23 on. */
function goIsPresent(): boolean {
  const { status, stdout } = spawnSync('go', ['version'], { encoding: 'utf8', timeout: 30_000 });
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(status === 0 ? stdout : '') ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 23);
}

/** Rust from 1.76 on, the version that the crates ask for. */
function rustIsPresent(): boolean {
  if (!succeeds('cargo', ['--version'])) return false;
  const { status, stdout } = spawnSync('rustc', ['--version'], { encoding: 'utf8', timeout: 30_000 });
  const [, major, minor] = /rustc (\d+)\.(\d+)/.exec(status === 0 ? stdout : '') ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 76);
}

/** Folder of the model definitions in pysunspec2. @throws Error without it */
export function pysunspec2Models(): string {
  const { status, stdout } = spawnSync(
    python,
    ['-c', 'import os, sunspec2; print(os.path.dirname(sunspec2.__file__))'],
    { encoding: 'utf8', timeout: 30_000 },
  );
  if (status !== 0) throw new Error('pysunspec2 cannot be asked where it is');
  return join(stdout.trim(), 'models', 'json');
}

export const peers = {
  python: {
    present: () => succeeds(python, ['-c', 'import sys; assert sys.version_info >= (3, 9)']),
    get: 'Python 3.9 or later',
  },
  pysunspec2: {
    present: () => succeeds(python, ['-c', 'import sunspec2, serial']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  pysunspec: {
    present: () => succeeds(python, ['-c', 'import sunspec.core.client']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  pymodbus: {
    present: () => succeeds(python, ['-c', 'import pymodbus']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  pandapower: {
    present: () => succeeds(python, ['-c', 'import pandapower']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  py20305: {
    present: () => succeeds(python, ['-c', 'import py20305.connectors.sunspec, sunspec2']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  envoy_schema: {
    present: () => succeeds(python, ['-c', 'import envoy_schema, lxml']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  dertwin: {
    present: () => succeeds(python, ['-c', 'import dertwin.main'], dertwinEnvironment),
    get: 'python3 -m pip install --target .venv/dertwin -r test/interop/requirements-dertwin.txt',
  },
  gridappsd: {
    present: () =>
      succeeds(python, ['-c', 'import ieee_2030_5.adapters, ieee_2030_5.flask_server'], {
        ...gridappsdEnvironment,
        HOME: tmpdir(),
      }),
    get: 'python3 -m pip install --no-deps --target .venv/gridappsd -r test/interop/requirements-gridappsd.txt',
  },
  pvlib: {
    present: () => succeeds(python, ['-c', 'import pvlib']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  prometheus_client: {
    present: () => succeeds(python, ['-c', 'import prometheus_client']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  schemathesis: {
    present: () => succeeds(python, ['-c', 'import schemathesis']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  ocpp: {
    present: () => succeeds(python, ['-c', 'import ocpp.v16, websockets.asyncio.server']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  py1815: {
    present: () => succeeds(python, ['-c', 'import py1815.master.evaluate']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  dnp3py: {
    present: () => succeeds(python, ['-c', 'import dnp3.master.tcp_runner']),
    get: 'python3 -m venv .venv && .venv/bin/pip install -r test/interop/requirements.txt',
  },
  opendnp3: {
    present: () => succeeds(pythonOfOpendnp3, ['-c', 'import pydnp3']),
    get: 'python3.10 -m venv .venv/opendnp3 && .venv/opendnp3/bin/pip install -r test/interop/requirements-opendnp3.txt',
  },
  go: { present: goIsPresent, get: 'Go 1.23 or later' },
  rust: { present: rustIsPresent, get: 'Rust 1.76 or later' },
  mbpoll: { present: () => succeeds('mbpoll', ['-V']), get: 'apt-get install mbpoll' },
  socat: { present: () => succeeds('socat', ['-V']), get: 'apt-get install socat' },
  openssl: { present: () => succeeds('openssl', ['version']), get: 'apt-get install openssl' },
  tshark: { present: () => succeeds('tshark', ['--version']), get: 'apt-get install tshark' },
} as const;

/** Skips the tests of a hook's suite with a notice of the reason. */
export function skip(context: Mocha.Context, reason: string): never {
  process.stderr.write(`    skipped: ${reason}\n`);
  context.skip();
}

/** A suite that needs peers; on a machine without one of them its hooks do not run and its tests are skipped with a notice. */
export function describeWith(
  names: readonly (keyof typeof peers)[],
  title: string,
  body: (this: Mocha.Suite) => void,
): void {
  describe(names.join(', '), () => {
    before(function () {
      for (const name of names) {
        const { present, get } = peers[name];
        if (!present()) skip(this, `${name} is missing (${get})`);
      }
    });
    describe(title, body);
  });
}

/** A peer's request failed. */
export class PeerError extends Error {
  /** code of the Modbus exception that the device answered with; null for any other failure */
  readonly exception: number | null;

  constructor(message: string, exception: number | null) {
    super(message);
    this.exception = exception;
  }
}

interface Waiting {
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
}

/** A program in its own process, asked by lines of JSON. */
export class LinePeer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: Waiting[] = [];
  readonly #exited: Promise<unknown>;
  #complaints = '';

  /** @param name for messages */
  constructor(name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn(program, args, { env });
    this.#exited = once(this.#child, 'close');
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#complaints += chunk.toString();
    });
    this.#child.stdin.on('error', () => undefined);
    createInterface(this.#child.stdout).on('line', (line) => {
      this.#answered(line);
    });
    this.#exited.then(
      () => {
        for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${name} has ended: ${this.#complaints}`));
      },
      () => undefined,
    );
  }

  /**
   * The answer to one request.
   * @throws PeerError what the library or the device refused
   */
  ask(op: string, args: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ op, ...args })}\n`);
    });
  }

  /** The code of the Modbus exception that answers a request; 0 when it is not refused. */
  async exceptionOf(op: string, args: Readonly<Record<string, unknown>> = {}): Promise<number> {
    try {
      await this.ask(op, args);
      return 0;
    } catch (error) {
      if (error instanceof PeerError && error.exception !== null) return error.exception;
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#child.stdin.end();
    await this.#exited;
  }

  #answered(line: string): void {
    const { value, error } = JSON.parse(line) as {
      value?: Json;
      error?: { message: string; exception: number | null };
    };
    const waiting = this.#waiting.shift();
    if (error) waiting?.reject(new PeerError(error.message, error.exception));
    else waiting?.resolve(value);
  }
}

/** A program of test/interop/python. */
export class PythonPeer extends LinePeer {
  /**
   * @param target a port of this machine, or the path of a serial line or of a file; null: none
   * @param more arguments of the script behind the target
   */
  constructor(
    script:
      | 'sunspec_master'
      | 'sunspec_v1_master'
      | 'modbus_master'
      | 'metrics_reader'
      | 'sunspec_device'
      | 'der_connector'
      | 'power_flow'
      | 'schema_judge'
      | 'utility_server'
      | 'central_system'
      | 'pv_day'
      | 'dnp3_dnp3py'
      | 'dnp3_opendnp3',
    target: number | string | null,
    ...more: readonly string[]
  ) {
    const path = fileURLToPath(new URL(`../python/${script}.py`, import.meta.url));
    const targets = typeof target === 'number' ? ['127.0.0.1', String(target)] : target === null ? [] : [target];
    super(
      script,
      script === 'dnp3_opendnp3' ? pythonOfOpendnp3 : python,
      ['-B', path, ...targets, ...more],
      script === 'utility_server' ? gridappsdEnvironment : process.env,
    );
  }
}
