/** Adapters that settings switch on, restart and switch off while the simulator runs. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import type { App } from '../../src/app/start-stop.ts';
import { ask } from '../support/http.ts';
import type { Json, JsonAnswer } from '../support/http.ts';
import { settingsOf } from '../support/left-behind.ts';
import { freePorts, occupied } from '../support/ports.ts';
import { modbusEndpoint, startApp } from '../support/running-app.ts';

interface Lab {
  readonly app: App;
  readonly port: number;
}

const patch = ({ port }: Lab, body: unknown): Promise<JsonAnswer> =>
  ask(port, '/api/sim/settings', { method: 'PATCH', body });
const post = ({ port }: Lab, path: string, body?: unknown): Promise<JsonAnswer> =>
  ask(port, `/api/sim/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
const comm = async ({ port }: Lab, name: string): Promise<Json> =>
  (await ask(port, '/api/sim/overview')).json.comm_status[name];
const valueOf = async ({ port }: Lab, key: string): Promise<Json> =>
  (await ask(port, '/api/sim/settings')).json.settings.find((each: Json) => each.key === key).value;

/** Reads the marker of the map over a fresh connection. */
async function markerAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from([0, 1, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 2]));
  const [octets] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return octets.subarray(9, 13).toString('latin1');
}

/** Connects, and resolves with the reason why not. */
async function refusalAt(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return error.code;
}

async function masterOf({ app }: Lab): Promise<Socket> {
  const socket = connect(modbusEndpoint(app, 0).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('Protocols that are switched while the simulator runs', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await startApp(['PV-3Phase', 'EVSE']);
  });
  afterEach(() => lab.app.stop());

  it('Modbus moves to another port: connections close, the new one serves the same map', async () => {
    const former = modbusEndpoint(lab.app, 0).port;
    const master = await masterOf(lab);
    const closed = once(master, 'close');
    const next = await freePorts(1);
    const { status, json } = await patch(lab, { mb_port: next, mb_shared_port: true, log_level: 'warning' });
    await closed;
    expect([status, json.restarts]).to.deep.equal([200, ['modbus']]);
    expect(modbusEndpoint(lab.app, 1)).to.deep.include({ port: next, unitId: 2 });
    expect(await markerAt(next)).to.equal('SunS');
    expect(await refusalAt(former)).to.equal('ECONNREFUSED');
    const { json: devices } = await ask(lab.port, '/api/sim/devices');
    expect(devices.devices.map((each: Json) => each.modbus.unit_id)).to.deep.equal([1, 2]);
  });

  it('a port in use: 409 with the port, and everything is as before', async () => {
    const { server, port } = await occupied();
    const former = modbusEndpoint(lab.app, 0).port;
    const master = await masterOf(lab);
    // 704.WMaxLimPctEna
    const { bank } = lab.app.plant.device(0);
    const address = bank.layout.slot(704, 'WMaxLimPctEna')?.address ?? 0;
    master.write(Buffer.from([0, 1, 0, 0, 0, 6, 1, 6, address >> 8, address & 0xff, 0, 1]));
    await once(master, 'data');
    const before = settingsOf(lab.app, 0);
    const { status, json } = await patch(lab, { mb_port: port, mb_shared_port: true, log_level: 'debug' });
    expect(bank.map.m704.WMaxLimPctEna).to.equal('ENABLED');
    expect(settingsOf(lab.app, 0)).to.deep.equal(before);
    server.close();
    expect([status, json.code]).to.deep.equal([409, 'conflict']);
    expect(json.detail)
      .to.match(/^the former settings are in force again: /)
      .and.to.include(`${port}`);
    expect(await valueOf(lab, 'mb_shared_port')).to.equal(false);
    expect(lab.app.logBook.logger('AC').keepsDebug).to.equal(false);
    // a port of 0 is any free one
    expect(await markerAt(modbusEndpoint(lab.app, 0).port)).to.equal('SunS');
    expect(modbusEndpoint(lab.app, 1).port).to.not.equal(former);
  });

  it('Modbus is switched off and on again', async () => {
    const former = modbusEndpoint(lab.app, 0).port;
    const { json } = await post(lab, 'modbus/disable');
    expect([json.restarts, json.adapters]).to.deep.equal([['modbus'], [{ adapter: 'modbus', effect: 'switched_off' }]]);
    expect(await refusalAt(former)).to.equal('ECONNREFUSED');
    expect((await comm(lab, 'modbus_tcp')).enabled).to.equal(false);
    expect((await ask(lab.port, '/api/sim/modbus')).json).to.include({ enabled: false });
    expect((await post(lab, 'devices', { device_type: 'PV-1Phase' })).status).to.equal(201);
    expect((await post(lab, 'modbus/enable', { mb_shared_port: true })).status).to.equal(200);
    // the device that has joined meanwhile is served
    expect(modbusEndpoint(lab.app, 2).unitId).to.equal(3);
  });

  it('DNP3 is switched on with its settings, moves, and is switched off', async () => {
    const first = await freePorts(2);
    const second = first + 1;
    const on = await post(lab, 'dnp3/enable', { dnp3_port: first, dnp3_shared_port: true, dnp3_outstation_addr: 20 });
    expect([on.status, on.json.adapters]).to.deep.equal([200, [{ adapter: 'dnp3', effect: 'switched_on' }]]);
    expect((await ask(lab.port, '/api/sim/dnp3?device=1')).json.link.outstation).to.equal(21);
    await patch(lab, { dnp3_port: second });
    expect(await refusalAt(first)).to.equal('ECONNREFUSED');
    expect((await comm(lab, 'dnp3')).endpoint).to.equal(`tcp://127.0.0.1:${second}`);
    expect((await post(lab, 'dnp3/disable')).status).to.equal(200);
    expect(await refusalAt(second)).to.equal('ECONNREFUSED');
    expect((await ask(lab.port, '/api/sim/dnp3')).json.enabled).to.equal(false);
    expect(await valueOf(lab, 'dnp3_outstation_addr')).to.equal(20);
  });

  it('two adapters exchange their ports', async () => {
    const a = await freePorts(2);
    const b = a + 1;
    await patch(lab, { mb_port: a, mb_shared_port: true, dnp3_enable: true, dnp3_port: b, dnp3_shared_port: true });
    const { status, json } = await patch(lab, { mb_port: b, dnp3_port: a });
    const both = ['modbus', 'dnp3'].map((adapter) => ({ adapter, effect: 'restarted' }));
    expect([status, json.restarts, json.adapters]).to.deep.equal([200, ['modbus', 'dnp3'], both]);
    expect(await markerAt(b)).to.equal('SunS');
    expect((await comm(lab, 'dnp3')).endpoint).to.equal(`tcp://127.0.0.1:${a}`);
  });

  it('OCPP is switched on for a central system that is not there, and off', async () => {
    const url = `ws://127.0.0.1:${await freePorts(1)}/ocpp`;
    expect((await post(lab, 'ocpp/enable')).json.errors[0].name).to.equal('/ocpp_csms_url');
    expect((await post(lab, 'ocpp/enable', { ocpp_csms_url: url })).status).to.equal(200);
    expect((await ask(lab.port, '/api/sim/ocpp')).json.charge_points).to.have.length(1);
    expect((await post(lab, 'ocpp/disable')).status).to.equal(200);
    expect((await ask(lab.port, '/api/sim/ocpp')).json).to.include({ enabled: false });
  });

  it('OCPP connects again with another password', async () => {
    const central = createHttpServer();
    const passwords: string[] = [];
    let arrived: () => void = () => undefined;
    central.on('upgrade', ({ headers }, socket) => {
      const [, credentials = ''] = (headers.authorization ?? '').split(' ');
      passwords.push(
        Buffer.from(credentials, 'base64')
          .toString()
          .replace(/^[^:]*:/, ''),
      );
      socket.destroy();
      arrived();
    });
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    central.listen(0, '127.0.0.1');
    await once(central, 'listening');
    const url = `ws://127.0.0.1:${(central.address() as AddressInfo).port}/ocpp`;
    await post(lab, 'ocpp/enable', {
      ocpp_csms_url: url,
      ocpp_security_profile: 1,
      ocpp_password: 'passwordOfTheStation',
    });
    await first;
    const next = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { status, text } = await patch(lab, { ocpp_password: 'anotherPassword0' });
    await next;
    await post(lab, 'ocpp/disable');
    central.close();
    expect([status, passwords[0], passwords.at(-1)]).to.deep.equal([200, 'passwordOfTheStation', 'anotherPassword0']);
    expect(text).to.not.include('anotherPassword0');
  });

  it('an address of a peer that a request sets follows the rules for outbound connections', async () => {
    const issueOf = async (body: unknown) => {
      const { status, json } = await patch(lab, body);
      return [status, json.errors?.[0]?.name, /to which no connection is made/.test(json.errors?.[0]?.detail)];
    };
    expect(await issueOf({ csip_server_ip: '169.254.169.254' })).to.deep.equal([422, '/csip_server_ip', true]);
    expect(await issueOf({ ocpp_csms_url: 'ws://[fe80::1]:80/ocpp' })).to.deep.equal([422, '/ocpp_csms_url', true]);
    expect((await patch(lab, { ocpp_csms_url: 'ws://192.168.1.1/ocpp' })).status).to.equal(200);
    expect((await patch(lab, { csip_server_ip: '10.0.0.1' })).status).to.equal(200);
  });

  it('an issue of a file names its setting, and no folder of this machine', async () => {
    const issues = async (path: string, body: unknown) => {
      const { status, json } = await post(lab, path, body);
      expect(status).to.equal(422);
      expect(JSON.stringify(json)).to.not.include(process.cwd());
      return json.errors.map(({ name, detail }: Json) => `${name}: ${detail}`);
    };
    const files = [
      '/csip_cert: given "cert.pem"; allowed: the path of a file that exists',
      '/csip_key: given "key.pem"; allowed: the path of a file that exists',
      '/csip_root_cert: given "root.pem"; allowed: the path of a file that exists',
    ];
    expect(await issues('csip/enable', {})).to.deep.equal(files);
    const content = { csip_client_enable: true, devices: [{ device_type: 'PV' }] };
    expect(await issues('config', { config: content, dry_run: true })).to.deep.equal(files);
  });

  it('a protocol that is switched on has the lines of a start: warnings, notices and listeners', async () => {
    await lab.app.stop();
    lab = await startApp(['PV-3Phase'], ['--dnp3_host', '0.0.0.0', '--dnp3_port', '0', '--dnp3_shared_port', 'yes']);
    const lines = () => lab.app.logBook.entries().map(({ level, message }) => `${level}: ${message}`);
    const { length } = lines();
    await post(lab, 'dnp3/enable');
    await post(lab, 'ocpp/enable', { ocpp_csms_url: `ws://127.0.0.1:${await freePorts(1)}/ocpp` });
    await post(lab, 'ocpp/disable');
    const text = lines().slice(length).join('\n');
    expect(text).to.match(/^warning: DNP3 listens on 0\.0\.0\.0 without authentication: anybody who can reach/m);
    expect(text).to.match(/^info: DNP3 0\.0\.0\.0:\d+ \(outstation 1, master 4\)$/m);
    expect(text).to.match(/^warning: ocpp_enable is yes, but no EVSE is simulated/m);
    expect(text).to.not.include('has no effect');
  });

  it('settings of other protocols and paths of files are refused', async () => {
    const foreign = await post(lab, 'dnp3/enable', { mb_port: 1, dnp3_port: 0 });
    expect([foreign.status, foreign.json.errors.map((each: Json) => each.name)]).to.deep.equal([422, ['/mb_port']]);
    const file = await patch(lab, { dnp3_cert: '/etc/passwd' });
    expect([file.status, file.json.errors]).to.deep.equal([
      422,
      [{ in: 'body', name: '/dnp3_cert', detail: 'a path; a request names no file of this machine' }],
    ]);
    expect((await comm(lab, 'dnp3')).enabled).to.equal(false);
  });

  it('100 requests at once for one port: each is whole or refused, and the last one that was not is in force', async () => {
    const first = await freePorts(3);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => patch(lab, { mb_port: first + (n % 3), mb_shared_port: true })),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).to.be.greaterThan(0);
    expect(answers.every(({ status }) => status === 200 || status === 409)).to.equal(true);
    const { port } = modbusEndpoint(lab.app, 0);
    expect(port).to.equal(await valueOf(lab, 'mb_port'));
    expect(await markerAt(port)).to.equal('SunS');
  });

  it('a stop in the middle of a change leaves nothing open', async () => {
    const port = await freePorts(1);
    const closed = once(await masterOf(lab), 'close');
    const change = patch(lab, { mb_port: port, mb_shared_port: true }).catch(() => null);
    await closed;
    await lab.app.stop();
    await change;
    expect(await refusalAt(port)).to.equal('ECONNREFUSED');
  });
});
