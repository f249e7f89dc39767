/**
 * The scenarios with peers, headless, by their command line. Each master is a program of other people that reacts to what
 * it reads over its own protocol; the scenario waits for it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { errorText } from '../../src/core/errors.ts';
import { packageFile } from '../../src/core/package-files.ts';
import type { Json } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { programCommand } from '../support/process.ts';
import { sampled } from './support/ocpp-central.ts';
import type { Received } from './support/ocpp-central.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';
import { UtilityServer } from './support/utility-server.ts';

const execute = promisify(execFile);
const [program, ...words] = programCommand;

interface Result {
  readonly code: number;
  readonly state: string;
  readonly failures: readonly string[];
  readonly steps: readonly { readonly state: string; readonly place: string; readonly message: string | null }[];
}

/** Runs scenarios of `config/scenarios/with-peers`. */
class Bench {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), 'scenarios-peers-')));
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }

  /** @param faults that the device has from the start; with them the first failure ends the run */
  async run(name: string, flags: readonly string[], faults: readonly Json[] = []): Promise<Result> {
    const bundled = packageFile(`config/scenarios/with-peers/${name}.yaml`);
    const file = join(this.#folder, `${name}.yaml`);
    const text = await readFile(bundled, 'utf8');
    const lies = `on_failure: stop\nconfig:\n  faults: ${JSON.stringify(faults)}\n`;
    await writeFile(file, text.replace(/^config:\n/m, lies));
    const json = join(this.#folder, `${name}.json`);
    const path = faults.length === 0 ? bundled : file;
    const running = execute(program, [...words, 'run', path, '--quiet', '--json', json, ...flags]);
    // the option `timeout` would close the pipes, and the program ends without results when it cannot print
    const limit = setTimeout(() => running.child.kill('SIGINT'), 45_000);
    const code = await running
      .then(
        () => 0,
        (error: unknown) => {
          const { code: exit, stderr } = error as { readonly code?: number; readonly stderr?: string };
          if (exit !== 4) throw new Error(stderr, { cause: error });
          return exit;
        },
      )
      .finally(() => clearTimeout(limit));
    return { code, ...(JSON.parse(await readFile(json, 'utf8')) as Omit<Result, 'code'>) };
  }
}

/** What a peer has found, asked for again and again over its own protocol. */
async function seen<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
  }
}

const latchOn = 3;
const latchOff = 4;

/** Why masters have ended before their last step. */
const complaints: string[] = [];

/** Starts a master. What a scenario that has failed does not bring it waits for in vain, until the peer ends. */
function master(work: () => Promise<unknown>): void {
  work().catch((error: unknown) => complaints.push(errorText(error)));
}

function expectPassed({ code, state, failures, steps }: Result): void {
  const skipped = steps.find((step) => step.state === 'skipped');
  const waited = skipped === undefined ? [] : [`${skipped.place}: ${skipped.message}`];
  expect([code, state], [...failures, ...waited, ...complaints].join('\n')).to.deep.equal([0, 'passed']);
}

describeWith(['gridappsd', 'openssl'], 'a utility server', function () {
  this.timeout(60_000);
  let bench: Bench;
  let utility: UtilityServer;

  beforeEach(async () => {
    bench = await Bench.open();
    utility = await UtilityServer.open();
    master(() => operate(utility.peer));
  });
  afterEach(async () => {
    await utility.close();
    await bench.close();
  });

  const events = ['C0FFEE000000000000000000000000B1', 'C0FFEE000000000000000000000000B2'];

  /** Publishes the first event for a device that has told its capability, the second one after response 3. */
  async function operate(server: LinePeer): Promise<void> {
    const publish = (mrid: string | undefined) =>
      server.ask('control', { mrid, start: Math.floor(Date.now() / 1000) + 300, duration: 600, limit: 4000 });
    const known = (what: string) =>
      seen(async () => ((await server.ask('known', { what })) === true ? true : undefined));
    await known('capability');
    await publish(events[0]);
    await known('completed');
    await publish(events[1]);
  }

  it('csip-curtailment passes', async () => {
    expectPassed(await bench.run('csip-curtailment', utility.flags));
    const { responses } = await utility.peer.ask('stored');
    const told = responses.map(({ subject, status }: Json) => [subject, status]);
    expect(told).to.deep.equal(events.flatMap((mrid) => [1, 2, 3].map((status) => [mrid, status])));
  });

  it('csip-curtailment fails where the device drops the limit within the event', async () => {
    const lie = { protocol: 'device', kind: 'silent_revert', after_s: 400 };
    const { code, failures } = await bench.run('csip-curtailment', utility.flags, [lie]);
    expect(code).to.equal(4);
    expect(failures.join('\n')).to.match(
      /the power follows, and stays to the end: 701\.W of device 0 must be equal to 4000 .*: broken .* it was 6000 W/,
    );
  });
});

describeWith(['ocpp', 'pysunspec2', 'opendnp3'], 'three masters', function () {
  this.timeout(60_000);
  let bench: Bench;
  let central: PythonPeer;
  let scada: PythonPeer;
  let manager: PythonPeer;
  let flags: readonly string[];
  /** limits that a master has read of another one, percent */
  let read: Record<string, number>;

  beforeEach(async () => {
    bench = await Bench.open();
    const [ocppPort, dnp3Port, modbusPort] = [await freePorts(1), await freePorts(1), await freePorts(1)];
    central = new PythonPeer('central_system', ocppPort, JSON.stringify({ version: '2.1' }));
    await central.ask('ready');
    scada = new PythonPeer('dnp3_opendnp3', dnp3Port, '1', '4', 'no');
    manager = new PythonPeer('sunspec_master', modbusPort);
    flags = [
      ...['--ocpp_csms_url', `ws://127.0.0.1:${ocppPort}`, '--dnp3_port', String(dnp3Port), '-p', String(modbusPort)],
    ];
    read = {};
    master(operateCentral);
    master(operateScada);
    master(operateManager);
  });
  afterEach(async () => {
    await Promise.all([central.stop(), scada.stop(), manager.stop()]);
    await bench.close();
  });

  const station = 'CS-1';

  /** The central system hears of the frequency in TransactionEvent. */
  async function operateCentral(): Promise<void> {
    let after = 0;
    const heard = (holds: (hz: number) => boolean) =>
      seen(async () => {
        // a short wait: a peer ends when its last answer has been given
        const asked = { station, action: 'TransactionEvent', after, timeout: 2 };
        const found = (await central.ask('wait', asked).catch(() => null)) as Received | null;
        if (found === null) return undefined;
        const { payload } = found;
        after = found.number;
        const hz = payload.meterValue === undefined ? undefined : sampled({ payload }, 'Frequency');
        return hz !== undefined && holds(hz) ? true : undefined;
      });
    const call = (action: string, payload: Json) => central.ask('call', { station, action, payload });
    await heard((hz) => hz >= 60.025);
    const limit = { priority: 1, pctMaxDischargePower: 80 };
    await call('SetDERControl', {
      isDefault: true,
      controlId: 'lim',
      controlType: 'LimitMaxDischarge',
      limitMaxDischarge: limit,
    });
    await heard((hz) => hz <= 59.985);
    await call('ClearDERControl', { isDefault: true, controlId: 'lim' });
  }

  /** The SCADA reads the frequency in AI536, 0.001 Hz, and the limit in AI149, 0.1 %. */
  async function operateScada(): Promise<void> {
    const input = async (index: number): Promise<number> => {
      await scada.ask('range', { group: 30, variation: 1, start: index, stop: index });
      const values = await scada.ask('values', { points: [`AI${index}`] });
      return values[`AI${index}`][0] as number;
    };
    const measured = (holds: (hz: number) => boolean) =>
      seen(async () => (holds((await input(536)) / 1000) ? true : undefined));
    const limit = (pct: number, code: number) =>
      scada.ask('operate', {
        commands: [
          ['AO', 88, pct * 10, 'Int32'],
          ['BO', 17, code],
        ],
      });
    await scada.ask('begun');
    await measured((hz) => hz >= 60.005);
    await limit(60, latchOn);
    await measured((hz) => hz <= 59.995);
    read['ocpp'] = (await input(149)) / 10;
    await limit(50, latchOn);
    await measured((hz) => hz <= 59.985);
    await limit(100, latchOff);
  }

  /** The energy manager reads 701.Hz. */
  async function operateManager(): Promise<void> {
    const point = async (model: number, path: string) => (await manager.ask('read_point', { model, path })) as number;
    const measured = (holds: (hz: number) => boolean) =>
      seen(async () => (holds(await point(701, 'Hz')) ? true : undefined));
    const limit = (WMaxLimPct: number, WMaxLimPctEna: number) =>
      manager.ask('write_model', { model: 704, values: { WMaxLimPct, WMaxLimPctEna } });
    // the station is there when the SCADA has it
    await scada.ask('begun');
    await manager.ask('scan');
    await measured((hz) => hz >= 60.015);
    read['dnp3'] = await point(704, 'WMaxLimPct');
    await limit(30, 1);
    await measured((hz) => hz <= 59.985);
    read['dnp3 again'] = await point(704, 'WMaxLimPct');
    await limit(100, 0);
  }

  it('three-masters passes', async () => {
    expectPassed(await bench.run('three-masters', flags));
    expect(read).to.include({ dnp3: 60, ocpp: 80 });
    expect(await central.ask('refused')).to.deep.equal([]);
  });

  it('three-masters fails where Modbus shows another power', async () => {
    const lie = { kind: 'scale', factor: 0.5, points: ['701.W'] };
    const { code, failures } = await bench.run('three-masters', flags, [lie]);
    expect(code).to.equal(4);
    expect(failures.join('\n')).to.match(
      /the limit stays, and no protocol shows another value: .*Modbus shows \d+ W and the register has \d+ W.*fault 'scale'/,
    );
  });
});

describeWith(['ocpp'], 'a central system', function () {
  this.timeout(60_000);
  let bench: Bench;
  let central: PythonPeer;
  let flags: readonly string[];

  beforeEach(async () => {
    bench = await Bench.open();
    const port = await freePorts(1);
    central = new PythonPeer('central_system', port, '{}');
    await central.ask('ready');
    flags = ['--ocpp_csms_url', `ws://127.0.0.1:${port}`];
    master(operate);
  });
  afterEach(async () => {
    await central.stop();
    await bench.close();
  });

  const station = 'CP-1';

  /** Sends a profile after BootNotification, another one when the vehicle charges, and clears both when it has left. */
  async function operate(): Promise<void> {
    let after = 0;
    const heard = (action: string, where: Json = {}) =>
      seen(async () => {
        // a short wait: a peer ends when its last answer has been given
        const asked = { station, action, where, after, timeout: 2 };
        const found = (await central.ask('wait', asked).catch(() => null)) as Received | null;
        after = found?.number ?? after;
        return found ?? undefined;
      });
    const call = (action: string, payload: Json) => central.ask('call', { station, action, payload });
    const limit = (chargingProfileId: number, purpose: string, watts: number, connectorId: number) => {
      const chargingSchedule = { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: watts }] };
      const csChargingProfiles = {
        chargingProfileId,
        stackLevel: 0,
        chargingProfilePurpose: purpose,
        chargingProfileKind: purpose === 'TxDefaultProfile' ? 'Relative' : 'Absolute',
        chargingSchedule,
      };
      return call('SetChargingProfile', { connectorId, csChargingProfiles });
    };
    await heard('BootNotification');
    // a call before the answer would be refused
    await seen(async () => ((await central.ask('exchanged')).includes('BootNotification') ? true : undefined));
    await limit(1, 'TxDefaultProfile', 9000, 0);
    await heard('BootNotification');
    await limit(1, 'TxDefaultProfile', 9000, 0);
    await heard('StatusNotification', { connectorId: 1, status: 'Charging' });
    await limit(2, 'ChargePointMaxProfile', 6000, 0);
    await heard('StopTransaction');
    await call('ClearChargingProfile', {});
  }

  it('charging-central passes', async () => {
    expectPassed(await bench.run('charging-central', flags));
    expect(await central.ask('refused')).to.deep.equal([]);
    const books: readonly Json[] = await central.ask('books');
    expect(books.map(({ stop }) => stop !== null)).to.deep.equal([true, true]);
  });

  it('charging-central fails where the station accepts its profile and ignores it', async () => {
    const lie = { protocol: 'ocpp', kind: 'ignore_call', action: 'SetChargingProfile', connector: 0 };
    const { code, failures } = await bench.run('charging-central', flags, [lie]);
    expect(code).to.equal(4);
    expect(failures.join('\n')).to.match(
      /the station does what it accepts: .*OCPP central system of CP-1 set charging profile 1.* answered with Accepted; .*fault 'ignore_call'/,
    );
  });
});
