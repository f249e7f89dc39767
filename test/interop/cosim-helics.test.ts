/** The federate of HELICS in a federation with a grid and a real broker, each in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';
import type { Json } from '../support/http.ts';
import { differenceOf, runExample } from './support/cosim.ts';
import { CosimRig, maxDifference, powersOf } from './support/cosim-rig.ts';
import type { Row } from './support/cosim-rig.ts';
import { freePorts } from '../support/ports.ts';
import { describeWith, python } from './support/peers.ts';
import { within } from './support/within.ts';

const deviceCount = 3;
const grants = 100;
/** a second run is as long as is needed to tell it from the first */
const repeated = 20;
const endless = 1_000_000;
/** W or var: 1e-6 of voltage, at which iteration ends, on the slope of the curve */
const trialTolerance = 0.2;
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

interface Run {
  readonly rounds: number;
  readonly rows: readonly Row[];
  /** of the federate */
  readonly output: string;
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
  let rig: CosimRig;
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
    rig = await CosimRig.open(deviceCount);
  });
  beforeEach(() => rig.settle());
  afterEach(async () => {
    for (const { child } of programs) child.kill('SIGKILL');
    await Promise.all(programs.splice(0).map(({ ended }) => ended));
  });
  after(async () => {
    await rig.simulator.stop();
    await rm(folder, { recursive: true });
  });

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
    const address = `127.0.0.1:${await freePorts(1)}`;
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
    // one that joins after an error of another may wait for ever in HELICS
    await grid.printed('joined');
    const federate = started(python, [
      ...['-m', 'cosim.helics_federate', '--url', rig.url, '--core_type', 'zmqss'],
      ...['--broker', address, '--core_init', coreFlags, ...flags],
    ]);
    return { root, grid, federate };
  }

  /** A federation that comes to its end. */
  async function run(
    isIterated: boolean,
    until = grants,
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<Run> {
    const iterate = isIterated ? 'yes' : 'no';
    const flags = ['--until_s', String(until), '--iterate', iterate, '--targets', targets];
    const { root, grid, federate } = await federation(flags, { until, iterate: isIterated, ...options });
    const result = await grid.result();
    expect(await federate.ended, federate.output).to.equal(0);
    expect(await root.ended, root.output).to.equal(0);
    expect(result.time).to.equal(until);
    return { rounds: result.rounds, rows: result.rows, output: federate.output };
  }

  it('gives voltages to the devices and powers to the grid, at each of 100 grants and twice the same', async () => {
    const { rows, output } = await run(false);
    expect(output).to.include(`${grants} grants, 0 trials`).and.include('0 invalid values');
    expect(new Set(rows.map(({ q }) => q[0])).size).to.be.greaterThan(grants / 2);
    // a voltage acts until the next grant, whose powers the grid has at the one behind it
    const replayed = await rig.replay(rows.map(({ v }) => v));
    expect(rows.slice(2).map(powersOf)).to.deep.equal(replayed.slice(0, -2));
    await rig.settle();
    expect((await run(false, repeated)).rows).to.deep.equal(rows.slice(0, repeated));
  });

  it('finds voltages and powers of the same instant by iteration, twice the same', async () => {
    const { rounds, rows, output } = await run(true);
    expect(rounds).to.be.greaterThan(2 * grants);
    expect(output).to.match(/100 grants, \d+ trials \(0 inexact\)/);
    // a voltage acts from the instant before on
    const replayed = await rig.replay(rows.slice(1).map(({ v }) => v));
    expect(maxDifference(rows.slice(1), replayed)).to.be.lessThan(trialTolerance);
    await rig.settle();
    expect((await run(true, repeated)).rows).to.deep.equal(rows.slice(0, repeated));
  });

  it('finds them also where the loop is steeper than 1, and would swing', async () => {
    const flags = ['--targets', targets, '--until_s', '100', '--iterate', 'yes', '--period_s', '5'];
    const { grid, federate } = await federation(flags, { until: 100, iterate: true, period: 5, x_per_var: 3e-5 });
    const { rows } = (await grid.result()) as { readonly rows: readonly Row[] };
    expect(await federate.ended, federate.output).to.equal(0);
    expect(federate.output).not.to.include('no agreement');
    const replayed = await rig.replay(
      rows.slice(1).map(({ v }) => v),
      5,
    );
    expect(maxDifference(rows.slice(1), replayed)).to.be.lessThan(trialTolerance);
  });

  it('goes on where iterations are used up, and says so', async () => {
    const flags = ['--targets', targets, '--until_s', '5', '--iterate', 'yes', '--max_iterations', '1'];
    const { grid, federate } = await federation(flags, { until: 5, iterate: true });
    expect((await grid.result()).time).to.equal(5);
    expect(await federate.ended, federate.output).to.equal(0);
    expect(federate.output)
      .to.match(/\d s: no agreement after 1 iterations/)
      .and.include('5 grants');
  });

  it('keeps the last voltage where one is no number', async () => {
    const { rows, output } = await run(false, 15, { nan_at: 10 });
    expect(output).to.include('1 invalid values').and.include('voltage_a of place 0 is no number (nan)');
    const voltages = rows.map(({ v: [first, ...others] }, at) => [
      (at === 10 ? rows[9]?.v[0] : first) ?? NaN,
      ...others,
    ]);
    const replayed = await rig.replay(voltages);
    expect(rows.slice(2).map(powersOf)).to.deep.equal(replayed.slice(0, -2));
  });

  it('lets values act at their own instants, between two periods too', async () => {
    const flags = ['--targets', targets, '--uninterruptible', 'no', '--until_s', '20'];
    const { grid, federate } = await federation(flags, { until: 20, period: 0.5 });
    const { rows } = (await grid.result()) as { readonly rows: readonly Row[] };
    expect(await federate.ended, federate.output).to.equal(0);
    const replayed = await rig.replay(
      rows.map(({ v }) => v),
      0.5,
    );
    // powers of whole seconds, which the grid has half a second later
    const seconds = Array.from({ length: 19 }, (_, second) => 2 * second);
    expect(seconds.map((at) => rows[at + 3]).map((row) => row && powersOf(row))).to.deep.equal(
      seconds.map((at) => replayed[at + 1]),
    );
  });

  it('takes values of an instant that leaves less than a step to the end of a period, or of the run', async () => {
    const flags = ['--targets', targets, '--uninterruptible', 'no', '--until_s', '4.0004'];
    const { grid, federate } = await federation(flags, { until: 4, period: 0.9995 });
    const { rows } = (await grid.result()) as { readonly rows: readonly Row[] };
    expect(await federate.ended, federate.output).to.equal(0);
    const absorbed = rows.map(({ q }) => q[0] ?? 0);
    expect(absorbed.at(-1), 'the volt-var curve has seen the voltages').to.be.lessThan(-100);
  });

  it('has complex values of each device, and powers as loads have them', async () => {
    const { devices, session } = await rig.post('exchange', {});
    await rig.post('exchange/end', { session });
    const flags = ['--per_device', '--as_loads', '--until_s', '30'];
    const { grid, federate } = await federation(flags, { until: 30, volts_per_device: devices[0].v_nom_ln_v });
    const { rows } = (await grid.result()) as { readonly rows: readonly Row[] };
    expect(await federate.ended, federate.output).to.equal(0);
    expect(rows[10]?.q[0]).to.be.lessThan(-1000);
    const replayed = await rig.replay(rows.map(({ v }) => v));
    expect(maxDifference(rows.slice(2), replayed.slice(0, -2))).to.be.lessThan(0.01);
  });

  it('ends with the federation when the grid is killed, and the broker listens on the loopback alone', async () => {
    const { root, grid, federate } = await federation(['--targets', targets], { until: endless });
    await grid.printed('executing');
    expect(await rig.isAttached()).to.equal(true);
    // 127.0.0.1 with its octets in the order of the machine
    if (process.platform === 'linux')
      for (const address of await listeners(root.child.pid ?? 0)) expect(address).to.match(/^0100007F:/);
    grid.child.kill('SIGKILL');
    expect(await federate.ended, federate.output).to.equal(1);
    expect(federate.output).to.include('lost comms');
    await root.ended;
    expect(await rig.isAttached()).to.equal(false);
  });

  it('that is killed gives the devices back after its idle time', async () => {
    const flags = ['--targets', targets, '--idle_timeout_s', '1'];
    const { root, grid, federate } = await federation(flags, { until: endless });
    await grid.printed('executing');
    expect(await rig.isAttached()).to.equal(true);
    federate.child.kill('SIGKILL');
    await within('devices without exchange', 10_000, async () => !(await rig.isAttached()));
    await Promise.all([grid.ended, root.ended]);
  });

  it('leaves at a SIGINT, and gives the devices back', async () => {
    const { grid, federate } = await federation(['--targets', targets], { until: endless });
    await grid.printed('executing');
    federate.child.kill('SIGINT');
    expect(await federate.ended, federate.output).to.equal(0);
    expect(await rig.isAttached()).to.equal(false);
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
    const { session } = await rig.post('exchange', { owner: 'another' });
    const { grid, federate } = await federation(['--targets', targets], { until: endless });
    expect(await federate.ended).to.equal(1);
    expect(await grid.ended).to.equal(1);
    expect(grid.output).to.match(/derbench: .*another/);
    await rig.post('exchange/end', { session });
  });
});

describeWith(['helics', 'opendssdirect.py'], 'the example of a federation', () => {
  it('has the voltages of the curve, with and without iteration', async () => {
    const table = await runExample('helics_pair');
    expect(differenceOf(table, 'voltage of each phase')).to.be.below(1e-6);
    expect(differenceOf(table, 'reactive power')).to.be.below(1);
  });
});
