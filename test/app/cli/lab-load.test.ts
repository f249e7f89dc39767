/** Labs that requests load in place of the running one. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Running } from '../../../src/app/cli/running.ts';
import { limitedIo, systemIo } from '../../../src/config/layers/files.ts';
import { noCertificates } from '../../../src/contract/certificates.ts';
import { startSimulator } from '../../../src/app/library.ts';
import { configOf } from '../../support/configured.ts';
import { ask } from '../../support/http.ts';
import { closed, freePorts } from '../../support/ports.ts';
import type { Json, JsonAnswer } from '../../support/http.ts';

const path = '/api/sim/config';

/** A process whose simulators follow each other. */
class Process {
  readonly #running: Running;
  /** HTTP ports of the simulators, in their order */
  readonly #ports: number[] = [];
  #started: () => void = () => undefined;
  #failed: (error: unknown) => void = () => undefined;
  #end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(...flags: readonly string[]) {
    const fail = (error: unknown) => {
      this.#failed(error);
      return undefined as never;
    };
    this.#running = new Running(
      configOf('-wp', '0', '-p', '0', '--start_paused', 'yes', '--log_level', 'error', ...flags),
      {
        print: ([line = '']) => {
          this.#ports.push(Number(/:(\d+)\//.exec(line)?.[1]));
          this.#started();
        },
        warn: fail,
        exit: () => {
          this.#end();
          return undefined as never;
        },
        fail,
        failRestart: fail,
      },
    );
  }

  start(): Promise<void> {
    return this.#running.start();
  }

  async stop(): Promise<void> {
    this.#running.end();
    await this.#ended;
  }

  get count(): number {
    return this.#ports.length;
  }

  get port(): number {
    return this.#ports.at(-1) ?? 0;
  }

  ask(place: string, body?: unknown): Promise<JsonAnswer> {
    return ask(this.#ports.at(-1) ?? 0, `/api/sim/${place}`, body === undefined ? {} : { method: 'POST', body });
  }

  patch(place: string, body: unknown): Promise<JsonAnswer> {
    return ask(this.#ports.at(-1) ?? 0, `/api/sim/${place}`, { method: 'PATCH', body });
  }

  /** Loads a lab, and waits for the simulator that starts then. */
  async load(body: unknown): Promise<Json> {
    const next = new Promise<void>((resolve, reject) => {
      this.#started = resolve;
      this.#failed = reject;
    });
    next.catch(() => undefined);
    const { status, json } = await this.ask('config', body);
    expect([status, json.restarting], JSON.stringify(json)).to.deep.equal([200, true]);
    await next;
    return json;
  }

  async names(): Promise<readonly string[]> {
    return (await this.ask('devices')).json.devices.map(({ name }: Json) => name);
  }
}

const lab = {
  tick: 0.5,
  mb_port: 0,
  start_paused: true,
  log_level: 'error',
  devices: [
    { device_type: 'Batt-3Phase', name: 'Store', count: 2 },
    { device_type: 'PV-1Phase', name: 'Roof' },
  ],
};

describe('POST config', () => {
  let folder = '';
  let process: Process | null = null;
  const start = async (...flags: readonly string[]): Promise<Process> => {
    process = new Process(...flags);
    await process.start();
    return process;
  };
  const end = async () => {
    await process?.stop();
    process = null;
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-lab-'));
  });
  afterEach(end);
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('checks alone with dry_run', async () => {
    const running = await start();
    const { status, json } = await running.ask('config', { config: { ...lab, clouds: 'broken' }, dry_run: true });
    expect([status, json.dry_run, json.restarting, json.devices]).to.deep.equal([200, true, false, 3]);
    expect(json.changes).to.deep.equal(['clouds', 'tick']);
    expect(json.notices).to.include.members([
      'clouds is broken and has no effect until irradiance_source, now csv, is clear_sky',
    ]);
    expect([running.count, await running.names()]).to.deep.equal([1, ['PV-3Phase 0']]);
    await ask(running.port, '/api/sim/settings', { method: 'PATCH', body: { mb_idle_timeout_s: 60 } });
    const changed = { ...lab, mb_idle_timeout_s: 60 };
    expect((await running.ask('config', { config: changed, dry_run: true })).json.changes).to.deep.equal(['tick']);
    expect((await running.ask('config', { config: lab, dry_run: true })).json.changes).to.deep.equal([
      'tick',
      'mb_idle_timeout_s',
    ]);
  });

  it('loads a lab on the same port, another one in YAML, and returns to that of the start', async () => {
    const running = await start();
    await running.load({ config: lab });
    expect(await running.names()).to.deep.equal(['Store 1', 'Store 2', 'Roof']);
    await running.load({
      yaml: 'start_paused: true\nlog_level: error\nmb_port: 0\ndevices:\n  - {device_type: Wind-T3-3Phase, name: Mill}\n',
    });
    expect(await running.names()).to.deep.equal(['Mill']);
    await running.load({ config: null });
    expect(await running.names()).to.deep.equal(['PV-3Phase 0']);
  });

  it('the file of GET config loads the same lab', async () => {
    const running = await start();
    await running.load({ config: lab });
    const { json: file } = await running.ask('config');
    const { json } = await running.ask('config', { config: file, dry_run: true });
    expect([json.devices, json.changes]).to.deep.equal([3, []]);
  });

  it('names each issue by a pointer into the file, and changes nothing', async () => {
    const running = await start();
    const refused = async (config: object) => {
      const { status, json } = await running.ask('config', { config });
      return [status, ...json.errors.map(({ name, detail }: Json) => `${name}: ${detail}`)];
    };
    expect(await refused({ ...lab, tick: 0, devices: [{ device_type: 'PV' }, { profile: 3 }] })).to.satisfy(
      ([status, ...issues]: string[]) =>
        String(status) === '422' &&
        issues.some((issue) => issue.startsWith('/tick: given 0; ')) &&
        issues.some((issue) => issue.startsWith('/devices/1/profile: ')),
    );
    expect(await refused({ ...lab, website_port: 1, allowed_host: ['evil.example'] })).to.deep.equal([
      422,
      '/website_port: is not changed by a request. Requests come through this listener, also the one that would change it.',
      '/allowed_host: is not changed by a request. It limits who may use this interface, so that no request may widen it.',
    ]);
    expect(
      await refused({ ...lab, mb_shared_port: true, mb_port: 8000, dnp3_enable: true, dnp3_port: 8000 }),
    ).to.have.length(2);
    expect((await running.ask('config', { yaml: 'devices: [' })).json.errors[0].name).to.equal('/yaml');
    expect((await running.ask('config', {})).status).to.equal(422);
    expect(running.count).to.equal(1);
  });

  it('connects to no address that the outbound rules refuse', async () => {
    const running = await start();
    const station = (url: string) => ({ ...lab, devices: [{ device_type: 'EVSE', ocpp: { url } }] });
    const { status, json } = await running.ask('config', { config: station('ws://169.254.169.254/x'), dry_run: true });
    expect([status, json.errors[0].name]).to.deep.equal([422, '/devices/0/ocpp/url']);
    const { settings } = configOf();
    expect(settings.lab(station('ws://central.example/x')).devices[0]?.ocpp?.guarded).to.equal(true);
    const labs = settings.lab({ ocpp_enable: true, ocpp_csms_url: 'ws://central.example/x' });
    expect(labs.ocpp?.guarded).to.equal(true);
    expect(labs.settings.with(new Map([['log_level', 'debug']]), noCertificates).ocpp?.guarded).to.equal(true);
  });

  it('names no file that the process was not started with', async () => {
    const [profile, foreignProfile, foreign] = ['own.yaml', 'foreign.yaml', 'foreign.csv'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(foreignProfile, 'nominal_frequency_hz: 50\n');
    writeFileSync(profile, 'nominal_frequency_hz: 50\n');
    writeFileSync(foreign, 'secret\n');
    const running = await start('-f', profile);
    for (const config of [
      { ...lab, dc_profile: foreign },
      { ...lab, devices: [{ device_type: 'PV', dc_profile: foreign }] },
      { ...lab, devices: [{ device_type: 'PV', profile: foreignProfile }] },
      { ...lab, faults: [foreignProfile] },
      { f: foreignProfile },
      { ...lab, grid: { profile: foreign } },
      { ...lab, mb_enc: true, mb_cert: foreign, mb_key: foreign, mb_root_cert: foreign },
    ]) {
      const { status, text } = await running.ask('config', { config, dry_run: true });
      expect(status, text).to.equal(422);
      expect(text).to.not.include('secret');
    }
    const io = limitedIo(systemIo, new Set([profile]));
    expect(() => io.readFile(foreignProfile, 100)).to.throw('names no file of this machine');
    const { json } = await running.ask('config', { config: { f: profile }, dry_run: true });
    expect(json.devices).to.equal(1);
  });

  it('a lab that cannot start: the former one starts again, with what requests have changed', async () => {
    const running = await start();
    expect((await running.ask('devices', { device_type: 'Batt-1Phase', name: 'Store' })).status).to.equal(201);
    expect((await running.patch('settings', { mb_idle_timeout_s: 61 })).status).to.equal(200);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await running.load({ config: { ...lab, mb_port: port, mb_shared_port: true } });
    } finally {
      server.close();
    }
    expect(await running.names()).to.deep.equal(['PV-3Phase 0', 'Store']);
    const { settings } = (await running.ask('settings')).json;
    expect(settings.find(({ key }: Json) => key === 'mb_idle_timeout_s')).to.include({ value: 61, origin: 'rest' });
    await running.load({ config: null });
    expect(await running.names()).to.deep.equal(['PV-3Phase 0']);
  });

  it('with a state folder it survives the process, with what requests have changed in it', async () => {
    const flags = ['--state_dir', join(folder, 'state')];
    const running = await start(...flags);
    await running.ask('certificates/generate', { devices: 1 });
    await running.load({ config: lab });
    await running.ask('devices', { device_type: 'Wind-T3-3Phase', name: 'Mill' });
    await end();
    const next = await start(...flags);
    expect(await next.names()).to.deep.equal(['Store 1', 'Store 2', 'Roof', 'Mill']);
    expect((await next.ask('certificates')).json.certificates).to.not.have.length(0);
    await next.load({ config: null });
    expect(await next.names()).to.deep.equal(['PV-3Phase 0']);
    expect((await next.ask('certificates')).json.certificates).to.not.have.length(0);
  });

  it('a start whose adapters do not open with settings of requests has those of the configuration, and keeps them', async () => {
    const flags = ['--state_dir', join(folder, 'requests')];
    const port = await freePorts(1);
    const portOf = async (running: Process) =>
      (await running.ask('settings')).json.settings.find(({ key }: Json) => key === 'mb_port').value;
    const running = await start(...flags);
    expect((await running.patch('settings', { mb_port: port, mb_shared_port: true })).status).to.equal(200);
    await end();
    const other = createServer();
    other.listen(port, '127.0.0.1');
    await once(other, 'listening');
    expect(await portOf(await start(...flags))).to.equal(0);
    await end();
    other.close();
    expect(await portOf(await start(...flags))).to.equal(port);
  });

  it('of a lab in the state folder, listeners whose ports are in use at a start are off until a request changes settings', async () => {
    const flags = ['--state_dir', join(folder, 'taken')];
    const port = await freePorts(2);
    const client = {
      csip_client_enable: true,
      csip_enc: false,
      csip_identity: 'aggregator',
      csip_cert: 'certificate:device0',
    };
    const ports = { csip_website_port: port + 1, mb_port: port, mb_shared_port: true };
    const running = await start(...flags);
    await running.ask('certificates/generate', { devices: 1 });
    await running.load({ config: { ...lab, ...client, ...ports } });
    await end();
    const others = [port, port + 1].map((each) => createServer().listen(each, '127.0.0.1'));
    const statusOf = async (next: Process) => {
      const { state, detail } = (await next.ask('overview')).json.comm_status.modbus_tcp;
      return [state, String(detail).split(';')[0], (await next.ask('health')).json.status];
    };
    let next: Process;
    try {
      await Promise.all(others.map((other) => once(other, 'listening')));
      next = await start(...flags);
      expect(await next.names()).to.deep.equal(['Store 1', 'Store 2', 'Roof']);
      const reason = `Modbus: cannot listen on 127.0.0.1:${port}: the port is in use`;
      expect(await statusOf(next)).to.deep.equal(['error', reason, 'degraded']);
    } finally {
      await Promise.all(others.map(closed));
    }
    const { json } = await next.patch('settings', { log_level: 'error' });
    expect(json.adapters).to.deep.equal(
      ['modbus', 'csip-website'].map((adapter) => ({ adapter, effect: 'switched_on' })),
    );
    expect(await statusOf(next)).to.deep.equal(['listening', 'null', 'ok']);
    expect((await ask(port + 1, '/api/sim/health')).status).to.equal(200);
  });

  it('is refused with --settings_locked, and in the simulator of a script', async () => {
    const locked = await start('--settings_locked', 'yes');
    expect((await locked.ask('config', { config: lab, dry_run: true })).json.code).to.equal('settings-locked');
    const { endpoints, stop } = await startSimulator({});
    const { status } = await ask(endpoints.http.port, path, { method: 'POST', body: { config: lab } });
    await stop();
    expect(status).to.equal(409);
  });
});
