import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../support/http.ts';
import { skip } from '../../support/skip.ts';

/** What `npm run peers` has installed: versions by peer, null for one that cannot be had, and where they are. */
interface Installed {
  readonly paths: Readonly<Record<string, string | null>>;
  readonly versions: Readonly<Record<string, string | null>>;
}

const installedFile = new URL('../../../.cache/peers.json', import.meta.url);
const installed: Installed = existsSync(installedFile)
  ? (JSON.parse(readFileSync(installedFile, 'utf8')) as Installed)
  : { paths: {}, versions: {} };

/** Where an installed peer is; empty where it is not. */
export function installedPath(
  name:
    | 'python'
    | 'opendnp3'
    | 'dertwin'
    | 'gridappsd'
    | 'goCentral'
    | 'goSunSpec'
    | 'rust'
    | 'cactus'
    | 'hadolint'
    | 'dclint'
    | 'kubernetes_validate'
    | 'mcp'
    | 'prometheus'
    | 'nats'
    | 'nats_new'
    | 'packageJudges'
    | 'pageJudges'
    | 'cyclonedx',
): string {
  return installed.paths[name] ?? '';
}

/** The interpreter with the Python peers. */
export const python = process.env['PYTHON'] ?? (installedPath('python') || 'python3');

/** The environment of a process that runs dertwin, and the pymodbus that it needs, an older one than the other peers. */
export const dertwinEnvironment: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: installedPath('dertwin') };

/** The environment of a process that runs gridappsd-2030-5. */
const gridappsdEnvironment: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: installedPath('gridappsd') };

/** A Python 3.10 with opendnp3, the only version that it has wheels for. */
const pythonOfOpendnp3 = process.env['PYTHON_OPENDNP3'] ?? (installedPath('opendnp3') || 'python3.10');

const succeeds = (program: string, args: readonly string[], env = process.env) =>
  spawnSync(program, args, { stdio: 'ignore', timeout: 30_000, env }).status === 0;

const imports = (modules: string, interpreter = python) => succeeds(interpreter, ['-c', `import ${modules}`]);

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

/** The peers, each with a look at the machine for a checkout in which `npm run peers` has not installed it. */
const probes = {
  python: () => succeeds(python, ['-c', 'import sys; assert sys.version_info >= (3, 9)']),
  pysunspec2: () => imports('sunspec2, serial'),
  pysunspec: () => imports('sunspec.core.client'),
  pymodbus: () => imports('pymodbus'),
  'opendssdirect.py': () => imports('opendssdirect'),
  pandapower: () => imports('pandapower'),
  helics: () => imports('helics'),
  mosaik: () => imports('mosaik'),
  hatchling: () => imports('hatchling, build'),
  twine: () => imports('twine'),
  check_wheel_contents: () => imports('check_wheel_contents'),
  mypy: () => imports('mypy'),
  pyright: () => imports('pyright'),
  pytest: () => imports('pytest'),
  py20305: () => imports('py20305.connectors.sunspec, sunspec2'),
  envoy_schema: () => imports('envoy_schema, lxml'),
  pvlib: () => imports('pvlib'),
  prometheus_client: () => imports('prometheus_client'),
  schemathesis: () => imports('schemathesis'),
  ocpp: () => imports('ocpp.v16, websockets.asyncio.server'),
  py1815: () => imports('py1815.master.evaluate'),
  dnp3py: () => imports('dnp3.master.tcp_runner'),
  opendnp3: () => imports('pydnp3', pythonOfOpendnp3),
  dertwin: () => false,
  gridappsd: () => false,
  go: () => false,
  rust: () => false,
  cactus: () => false,
  hadolint: () => false,
  dclint: () => false,
  kubernetes_validate: () => false,
  publint: () => false,
  attw: () => false,
  vnu: () => false,
  lighthouse: () => false,
  cyclonedx: () => false,
  mcp: () => false,
  prometheus: () => false,
  nats: () => false,
  nats_py: () => imports('nats'),
  nats_new: () => false,
  mbpoll: () => succeeds('mbpoll', ['-V']),
  socat: () => succeeds('socat', ['-V']),
  openssl: () => succeeds('openssl', ['version']),
  tshark: () => succeeds('tshark', ['--version']),
} as const;

export type Peer = keyof typeof probes;

/** All that `describeWith` takes. */
export const peers = Object.keys(probes) as readonly Peer[];

const presence = new Map<Peer, boolean>();

/** Whether a peer can take part; looked up once in a process. */
export function isPresent(peer: Peer): boolean {
  let present = presence.get(peer);
  if (present === undefined) {
    present = (installed.versions[peer] ?? null) !== null || probes[peer]();
    presence.set(peer, present);
  }
  return present;
}

/** A suite that needs peers; on a machine without one of them its hooks do not run and its tests are skipped with a notice. */
export function describeWith(names: readonly Peer[], title: string, body: (this: Mocha.Suite) => void): void {
  describe(names.join(', '), () => {
    before(function () {
      for (const name of names) if (!isPresent(name)) skip(this, `${name} is missing (npm run peers)`);
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
      | 'nats_reader'
      | 'sunspec_device'
      | 'der_connector'
      | 'power_flow'
      | 'schema_judge'
      | 'utility_server'
      | 'central_system'
      | 'wrong_central'
      | 'pv_day'
      | 'svp_peer'
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
