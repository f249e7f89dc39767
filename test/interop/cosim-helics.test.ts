/** The federate of HELICS in a federation with a grid and a real broker, each in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, python } from './support/peers.ts';

const deviceCount = 3;
const grants = 100;
const endless = 1_000_000;
/** after these the devices are at rest again */
const settleTicks = 300;
const coreFlags = '--tick=1s --timeout=3s';
const gridScript = fileURLToPath(new URL('python/helics_grid.py', import.meta.url));
const env = { ...process.env, PYTHONPATH: packageFile('clients/python'), PYTHONDONTWRITEBYTECODE: '1' };

/** A process with what it has printed. */
class Program {
  readonly child: ChildProcess;
  /** exit code; null: ended by a signal */
  readonly ended: Promise<number | null>;
  output = '';

  constructor(program: string, args: readonly string[]) {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    this.child = child;
    this.ended = once(child, 'close').then(() => child.exitCode);
  }

  async printed(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      const isOver = await Promise.race([
        once(this.child.stdout ?? this.child, 'data').then(() => false),
        this.ended.then(() => true),
      ]);
      if (isOver) throw new Error(`ended without printing ${text}:\n${this.output}`);
    }
  }

  /** The line of JSON that a program prints as its last one. */
  async result(): Promise<Json> {
    const code = await this.ended;
    if (code !== 0) throw new Error(`ended with ${String(code)}:\n${this.output}`);
    return JSON.parse(this.output.trim().split('\n').at(-1) ?? '');
  }
}

interface Row {
  readonly v: readonly number[];
  readonly p: readonly number[];
  readonly q: readonly number[];
}

interface Run {
  readonly rounds: number;
  readonly rows: readonly Row[];
  /** of the federate */
  readonly output: string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Addresses on which a process of Linux listens, as hexadecimal words of /proc. */
async function listeners(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
  );
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/ +/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && links.includes(`socket:[${inode ?? ''}]`))
    .map(([, address]) => address ?? '');
}

describeWith(['helics'], 'a federation of HELICS', () => {
  let simulator: RunningSimulator;
  let broker = '';
  let folder = '';
  let targets = '';
  const programs: Program[] = [];
  before(async () => {
    const asked = spawnSync(python, ['-c', 'import helics, os; print(os.path.dirname(helics.__file__))'], {
      encoding: 'utf8',
    });
    broker = `${asked.stdout.trim()}/install/bin/helics_broker`;
    folder = await mkdtemp(join(tmpdir(), 'derbench-helics-'));
    targets = await targetsOf({ voltage_a: 'grid/voltage' });
    simulator = await startSimulator(['-N', String(deviceCount), '--start_paused', 'yes']);
    await post('controls/environment', { irradiance_w_m2: 1300 });
    for (let device = 0; device < deviceCount; device += 1)
      await post(`registers/705?device=${device}`, { points: { Ena: 'ENABLED' } });
  });
  beforeEach(() => post('controls/time/step', { ticks: settleTicks }));
  afterEach(async () => {
    for (const { child } of programs) child.kill('SIGKILL');
    await Promise.all(programs.splice(0).map(({ ended }) => ended));
  });
  after(async () => {
    await simulator.stop();
    await rm(folder, { recursive: true });
  });

  async function post(path: string, body: Json): Promise<Json> {
    const { status, text, json } = await ask(simulator.httpPort, `/api/sim/${path}`, { body });
    expect(status, text).to.be.within(200, 201);
    return json;
  }

  function started(program: string, args: readonly string[]): Program {
    const running = new Program(program, args);
    programs.push(running);
    return running;
  }

  async function targetsOf(keys: Readonly<Record<string, string>>): Promise<string> {
    const file = join(folder, `${Object.keys(keys).join('-')}.json`);
    await writeFile(file, JSON.stringify(keys));
    return file;
  }

  /** A broker, a grid and the federate. */
  async function federation(flags: readonly string[], options: Readonly<Record<string, unknown>>) {
    const address = `127.0.0.1:${await freePort()}`;
    const [, port] = address.split(':');
    const root = started(broker, [
      '-f',
      '2',
      '--coretype=zmqss',
      `--port=${port ?? ''}`,
      '--loglevel=error',
      ...coreFlags.split(' '),
    ]);
    const grid = started(python, [gridScript, JSON.stringify({ broker: address, count: deviceCount, ...options })]);
    const federate = started(python, [
      ...['-m', 'cosim.helics_federate', '--url', `http://127.0.0.1:${simulator.httpPort}`, '--core_type', 'zmqss'],
      ...['--broker', address, '--core_init', coreFlags, ...flags],
    ]);
    return { root, grid, federate };
  }

  /** A federation that comes to its end. */
  async function run(isIterated: boolean, options: Readonly<Record<string, unknown>> = {}): Promise<Run> {
    const iterate = isIterated ? 'yes' : 'no';
    const flags = ['--until_s', String(grants), '--iterate', iterate, '--targets', targets];
    const { root, grid, federate } = await federation(flags, { until: grants, iterate: isIterated, ...options });
    const result = await grid.result();
    expect(await federate.ended, federate.output).to.equal(0);
    expect(await root.ended, root.output).to.equal(0);
    expect(result.time).to.equal(grants);
    return { rounds: result.rounds, rows: result.rows, output: federate.output };
  }

  /** Powers at the end of steps of 1 s with voltages, without HELICS. */
  async function replay(voltages: readonly (readonly number[])[]): Promise<Pick<Row, 'p' | 'q'>[]> {
    const { session } = await post('exchange', { owner: 'replay' });
    await post('exchange/values', { session, va_pu: 1 });
    const powers: Pick<Row, 'p' | 'q'>[] = [];
    for (const va_pu of voltages) {
      const { p_w: p, q_var: q } = await post('exchange/step', { session, dt_s: 1, va_pu });
      powers.push({ p, q });
    }
    await post('exchange/end', { session });
    return powers;
  }

  it('gives voltages to the devices and powers to the grid, at each of 100 grants and twice the same', async () => {
    const { rows, output } = await run(false);
    expect(output).to.include(`${grants} grants, 0 trials`).and.include('0 invalid values');
    expect(new Set(rows.map(({ q }) => q[0])).size).to.be.greaterThan(grants / 2);
    // a voltage acts until the next grant, whose powers the grid has at the one behind it
    await post('controls/time/step', { ticks: settleTicks });
    const replayed = await replay(rows.map(({ v }) => v));
    expect(rows.slice(2).map(({ p, q }) => ({ p, q }))).to.deep.equal(replayed.slice(0, -2));
    await post('controls/time/step', { ticks: settleTicks });
    expect((await run(false)).rows).to.deep.equal(rows);
  });

  it('keeps the last voltage where one is no number', async () => {
    const { rows, output } = await run(false, { nan_at: 40 });
    expect(output).to.include('1 invalid values').and.include('voltage_a of place 0 is no number (nan)');
    await post('controls/time/step', { ticks: settleTicks });
    const voltages = rows.map(({ v: [first, ...others] }, at) => [
      (at === 40 ? rows[39]?.v[0] : first) ?? NaN,
      ...others,
    ]);
    const replayed = await replay(voltages);
    expect(rows.slice(2).map(({ p, q }) => ({ p, q }))).to.deep.equal(replayed.slice(0, -2));
  });

  const isAttached = async () => (await ask(simulator.httpPort, '/api/sim/exchange')).json.attached;

  it('ends with the federation when the grid is killed, and the broker listens on the loopback alone', async () => {
    const { root, grid, federate } = await federation(['--targets', targets], { until: endless });
    await grid.printed('executing');
    expect(await isAttached()).to.equal(true);
    // 127.0.0.1 with its octets in the order of the machine
    if (process.platform === 'linux')
      for (const address of await listeners(root.child.pid ?? 0)) expect(address).to.match(/^0100007F:/);
    grid.child.kill('SIGKILL');
    expect(await federate.ended, federate.output).to.equal(1);
    expect(federate.output).to.include('lost comms');
    await root.ended;
    expect(await isAttached()).to.equal(false);
  });

  it('leaves at a SIGINT, and gives the devices back', async () => {
    const { grid, federate } = await federation(['--targets', targets], { until: endless });
    await grid.printed('executing');
    federate.child.kill('SIGINT');
    expect(await federate.ended, federate.output).to.equal(0);
    expect(await isAttached()).to.equal(false);
  });

  interface Refusal {
    readonly title: string;
    readonly flags?: readonly string[];
    readonly options?: Readonly<Record<string, unknown>>;
    /** the input that reads the voltages of the grid */
    readonly input?: string;
    readonly text: string;
  }
  const refusals: readonly Refusal[] = [
    {
      title: 'a unit that HELICS does not convert',
      input: 'frequency',
      options: { unit: 'kHz' },
      text: 'derbench/frequency has the unit Hz; its publication has kHz',
    },
    {
      title: 'another number of values',
      options: { count: 2 },
      text: 'voltage_a has 2 values; 3 devices are attached',
    },
    { title: 'a target of no input', flags: ['--per_device'], text: 'targets names no input: voltage_a' },
  ];
  for (const { title, flags = [], options = {}, input = 'voltage_a', text } of refusals)
    it(`ends the federation for ${title}`, async () => {
      const file = await targetsOf({ [input]: 'grid/voltage' });
      const { root, grid, federate } = await federation(['--targets', file, ...flags], { until: endless, ...options });
      expect(await federate.ended).to.equal(1);
      expect(federate.output).to.include(text);
      expect(await grid.ended).to.equal(1);
      expect(grid.output).to.include(text);
      await root.ended;
    });

  it('ends the federation when the simulator refuses', async () => {
    const { session } = await post('exchange', { owner: 'another' });
    const { grid, federate } = await federation(['--targets', targets], { until: endless });
    expect(await federate.ended).to.equal(1);
    expect(await grid.ended).to.equal(1);
    expect(grid.output).to.match(/derbench: .*another/);
    await post('exchange/end', { session });
  });
});
