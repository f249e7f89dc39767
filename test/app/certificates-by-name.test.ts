/** Settings that choose certificates of the simulator by name, in each protocol with TLS. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import { lfdiOf } from '../../src/contract/csip-identity.ts';
import type { Dnp3Endpoint } from '../../src/core/adapter.ts';
import { SimError } from '../../src/core/errors.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { certificatesSlot } from '../../src/pki/store.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { configOf } from '../support/configured.ts';
import { HeadEnd } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import type { Json, JsonAnswer } from '../support/http.ts';
import { readRequest } from '../support/modbus-client.ts';
import { testPki } from '../support/pki.ts';
import type { Identity } from '../support/pki.ts';
import { modbusEndpoint, startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { connectTls, openTls } from '../support/tls.ts';

interface Kept extends Identity {
  readonly name: string;
}

const marker = /53756e53$/;

class Lab {
  readonly running: RunningApp;
  readonly #keys: readonly Kept[];
  readonly #headEnds: HeadEnd[] = [];

  private constructor(running: RunningApp, keys: readonly Kept[]) {
    this.running = running;
    this.#keys = keys;
  }

  /** A simulator with the test hierarchy that a request has made, whose keys no request gives. */
  static async open(...types: readonly string[]): Promise<Lab> {
    const store = createMemoryStore();
    const running = await startApp(types, [], { store });
    await ask(running.port, '/api/sim/certificates/generate', { method: 'POST', body: { devices: 2 } });
    const keys = (await store.slot(certificatesSlot).read()) as unknown as readonly Kept[];
    return new Lab(running, keys);
  }

  identity(name: string): Identity {
    const { cert = '', key = '' } = this.#keys.find((each) => each.name === name) ?? {};
    return { cert, key };
  }

  lfdi(name: string): string {
    return lfdiOf(new X509Certificate(this.identity(name).cert).raw);
  }

  get root(): string {
    return this.identity('root').cert;
  }

  async headEnd(): Promise<HeadEnd> {
    const headEnd = await HeadEnd.open(this.identity('server'), {
      ca: this.root,
      requestCert: true,
      ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256',
    });
    this.#headEnds.push(headEnd);
    return headEnd;
  }

  async close(): Promise<void> {
    await this.running.app.stop();
    await Promise.all(this.#headEnds.map((headEnd) => headEnd.close()));
  }
}

const call = (port: number, method: string, path: string, body?: unknown): Promise<JsonAnswer> =>
  ask(port, `/api/sim/${path}`, { method, ...(body !== undefined && { body }) });
const patch = ({ port }: RunningApp, body: unknown) => call(port, 'PATCH', 'settings', body);
const used = async ({ port }: RunningApp, name: string): Promise<readonly string[]> =>
  (await call(port, 'GET', `certificates/${name}`)).json.used_by;
const issuesOf = ({ status, json }: JsonAnswer): unknown => [
  status,
  json.errors.map(({ name, detail }: Json) => `${name}: ${detail}`),
];

const modbusBy = (name: string, rootName = name) => ({
  mb_enc: true,
  mb_cert: `certificate:${name}`,
  mb_key: `certificate:${name}`,
  mb_root_cert: `certificate:${rootName}`,
});

/** The marker of the map, over TLS. */
async function readMarker({ app }: RunningApp, ca: string, identity: Identity): Promise<string> {
  const master = await openTls(modbusEndpoint(app, 0).port, { ca: { cert: ca } }, identity);
  const answer = await master.request(readRequest(1, 40_000, 2));
  master.destroy();
  return answer;
}

function dnp3Endpoint({ app }: RunningApp): Dnp3Endpoint {
  for (const adapter of app.adapters) {
    const endpoint = adapter.endpointOf?.(0);
    if (endpoint?.protocol === 'dnp3') return endpoint;
  }
  throw new Error('there is no outstation');
}

function presentedLfdi(session: TLSSocket): string {
  expect(session.authorized).to.equal(true);
  return lfdiOf(session.getPeerX509Certificate()?.raw ?? Buffer.alloc(0));
}

describe('Settings that choose certificates by name', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.open('PV-3Phase', 'EVSE');
  });
  afterEach(() => lab.close());

  it('Modbus: a master with a certificate of the hierarchy reads over TLS', async () => {
    const { running } = lab;
    const { status, json } = await patch(running, modbusBy('server', 'root'));
    expect([status, json.restarts]).to.deep.equal([200, ['modbus']]);
    expect(await readMarker(running, lab.root, lab.identity('device0'))).to.match(marker);
    const { settings } = (await call(running.port, 'GET', 'settings')).json;
    expect(settings.find(({ key }: Json) => key === 'mb_key').value).to.equal('certificate:server');
    // authorities of the certificate itself
    expect((await patch(running, modbusBy('server'))).status).to.equal(200);
    expect(await readMarker(running, lab.root, lab.identity('device1'))).to.match(marker);
    // an authority stands for itself
    await call(running.port, 'POST', 'certificates', { name: 'utility', cert_pem: lab.root });
    expect((await patch(running, { mb_root_cert: 'certificate:utility' })).status).to.equal(200);
    expect(await readMarker(running, lab.root, lab.identity('device0'))).to.match(marker);
    expect(await used(running, 'utility')).to.deep.equal(['mb_root_cert']);
  });

  it('a certificate is kept as long as an adapter uses it', async () => {
    const { running } = lab;
    const remove = async (name: string) => (await call(running.port, 'DELETE', `certificates/${name}`)).status;
    await patch(running, { mb_cert: 'certificate:server' });
    expect(await used(running, 'server')).to.deep.equal([]);
    await patch(running, modbusBy('server', 'root'));
    expect(await used(running, 'server')).to.deep.equal(['mb_cert', 'mb_key']);
    expect(await used(running, 'root')).to.deep.equal(['mb_root_cert']);
    const refused = await call(running.port, 'DELETE', 'certificates/server');
    expect([refused.status, refused.json.code]).to.deep.equal([409, 'conflict']);
    expect(refused.json.detail).to.contain('in use by mb_cert, mb_key');
    await patch(running, modbusBy('aggregator', 'root'));
    expect([await remove('server'), await remove('root')]).to.deep.equal([200, 409]);
    await call(running.port, 'POST', 'modbus/disable');
    expect([await remove('aggregator'), await remove('root')]).to.deep.equal([200, 200]);
  });

  it('a change that is refused or does not start leaves the former certificate in use', async () => {
    const { running } = lab;
    await patch(running, modbusBy('server', 'root'));
    const pair = await patch(running, { mb_key: 'certificate:aggregator', log_level: 'debug' });
    expect(issuesOf(pair)).to.deep.equal([
      422,
      ['/mb_key: certificate:aggregator: the key does not belong to the certificate of /mb_cert'],
    ]);
    const taken = await lab.headEnd();
    const ports = { mb_port: taken.port, mb_shared_port: true };
    expect((await patch(running, { ...modbusBy('aggregator', 'root'), ...ports })).status).to.equal(409);
    expect(await used(running, 'aggregator')).to.deep.equal([]);
    expect(await used(running, 'server')).to.deep.equal(['mb_cert', 'mb_key']);
    expect(await readMarker(running, lab.root, lab.identity('device0'))).to.match(marker);
    expect(running.app.logBook.logger('AC').keepsDebug).to.equal(false);
  });

  it('names that do not exist and certificates without the part are refused', async () => {
    const { running } = lab;
    const { cert } = lab.identity('device0');
    await call(running.port, 'POST', 'certificates', { name: 'bare', cert_pem: cert });
    expect(issuesOf(await patch(running, { mb_cert: 'certificate:servr', dnp3_key: '/etc/passwd' }))).to.deep.equal([
      422,
      [
        '/mb_cert: given "certificate:servr"; allowed: certificate:NAME with a name of GET certificates; did you mean ' +
          'certificate:server?',
        '/dnp3_key: a path; a request names no file of this machine',
      ],
    ]);
    expect(issuesOf(await patch(running, { mb_cert: 'certificate:../server' }))).to.deep.equal([
      422,
      [
        '/mb_cert: given "certificate:../server"; allowed: the path of a PEM file, or certificate:NAME (GET certificates)',
      ],
    ]);
    expect(issuesOf(await patch(running, modbusBy('bare')))).to.deep.equal([
      422,
      [
        '/mb_key: certificate:bare: cannot be read: the certificate "bare" has no key',
        '/mb_root_cert: certificate:bare: cannot be read: the certificate "bare" has no authorities',
      ],
    ]);
  });

  it('CSIP: the head-end sees the certificate, whose LFDI the client has', async () => {
    const { running } = lab;
    const headEnd = await lab.headEnd();
    const csip = {
      csip_client_enable: true,
      csip_identity: 'site',
      csip_server_port: headEnd.port,
      csip_website_port: 0,
      csip_cert: 'certificate:device0',
      csip_key: 'certificate:device0',
      csip_root_cert: 'certificate:device0',
    };
    const on = await patch(running, csip);
    expect(on.status, on.text).to.equal(200);
    const lfdi = lab.lfdi('device0');
    expect(presentedLfdi(await headEnd.session())).to.equal(lfdi);
    const shown = await call(running.port, 'GET', 'csip/certificates');
    expect(shown.json.lfdi, shown.text).to.equal(lfdi);
    expect(await used(running, 'device0')).to.deep.equal(['csip_cert', 'csip_key', 'csip_root_cert']);
    const next = { csip_cert: 'certificate:device1', csip_key: 'certificate:device1' };
    expect((await patch(running, next)).status).to.equal(200);
    expect((await call(running.port, 'GET', 'csip/certificates')).json.lfdi).to.equal(lab.lfdi('device1'));
    expect(await used(running, 'device0')).to.deep.equal(['csip_root_cert']);
    await patch(running, { csip_cert: 'certificate:device0', csip_key: 'certificate:device0' });
    expect(issuesOf(await patch(running, { csip_key: 'certificate:device1' }))).to.deep.equal([
      422,
      ['/csip_key: certificate:device1: does not belong to the certificate'],
    ]);
  });

  it('OCPP: security profile 3', async () => {
    const { running } = lab;
    const central = await lab.headEnd();
    const on = await call(running.port, 'POST', 'ocpp/enable', {
      ocpp_csms_url: `wss://127.0.0.1:${central.port}/ocpp`,
      ocpp_security_profile: 3,
      ocpp_cert: 'certificate:device1',
      ocpp_key: 'certificate:device1',
      ocpp_root_cert: 'certificate:root',
    });
    expect(on.status, on.text).to.equal(200);
    expect(presentedLfdi(await central.session())).to.equal(lab.lfdi('device1'));
    expect(await used(running, 'device1')).to.deep.equal(['ocpp_cert', 'ocpp_key']);
    expect(issuesOf(await patch(running, { ocpp_key: 'certificate:device0' }))).to.deep.equal([
      422,
      ['/ocpp_key: certificate:device0: does not belong to the certificate'],
    ]);
    for (const session of central.sessions.splice(0)) session.destroy();
    const both = { ocpp_cert: 'certificate:device0', ocpp_key: 'certificate:device0' };
    expect((await patch(running, both)).status).to.equal(200);
    expect(presentedLfdi(await central.session())).to.equal(lab.lfdi('device0'));
  });

  it('DNP3: a master over TLS polls', async () => {
    const { running } = lab;
    const on = await call(running.port, 'POST', 'dnp3/enable', {
      dnp3_port: 0,
      dnp3_enc: true,
      dnp3_cert: 'certificate:server',
      dnp3_key: 'certificate:server',
      dnp3_root_cert: 'certificate:root',
    });
    expect(on.status, on.text).to.equal(200);
    const { port, outstation } = dnp3Endpoint(running);
    const socket = await connectTls(port, { ca: { cert: lab.root } }, lab.identity('device0'));
    const master = await TestMaster.connect({ port, socket, outstation, address: 4 });
    const [answer] = await master.request(1, Buffer.from([60, 1, 6]));
    expect(answer?.functionCode).to.equal(0x81);
    await master.close();
    expect(await used(running, 'server')).to.deep.equal(['dnp3_cert', 'dnp3_key']);
  });

  it('GET config names the certificates that it does not have', async () => {
    const { running } = lab;
    await patch(running, modbusBy('server', 'root'));
    const { json, text } = await call(running.port, 'GET', 'config');
    expect(json).to.include({ mb_cert: 'certificate:server', mb_root_cert: 'certificate:root' });
    expect(json.notes).to.deep.equal([
      'mb_cert, mb_key, mb_root_cert: the certificates are in the state folder of the lab, not in this file',
    ]);
    expect(text).to.not.contain('BEGIN');
  });
});

describe('Certificates by name after a restart', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-names-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const byFlags = ['-e', 'yes', '-mbc', 'certificate:site', '-mbk', 'certificate:site', '-mbr', 'certificate:site'];

  it('the state folder has them, for settings of requests and for flags', async () => {
    const pki = await testPki();
    const state = ['--state_dir', folder];
    const first = await startApp(['PV-3Phase'], state);
    const site = { name: 'site', cert_pem: pki.server.cert, key_pem: pki.server.key, ca_pem: pki.ca.cert };
    await call(first.port, 'POST', 'certificates', site);
    expect((await patch(first, modbusBy('site'))).status).to.equal(200);
    await first.app.stop();
    for (const flags of [state, [...state, ...byFlags]]) {
      const next = await startApp(['PV-3Phase'], flags);
      expect(await readMarker(next, pki.ca.cert, pki.clients.ReadOnlySunSpec)).to.match(marker);
      expect(await used(next, 'site')).to.deep.equal(['mb_cert', 'mb_key', 'mb_root_cert']);
      if (flags !== state) {
        // the next start needs it before the changes of requests
        await patch(next, { mb_enc: false });
        expect((await call(next.port, 'DELETE', 'certificates/site')).status).to.equal(409);
      }
      await patch(next, { mb_enc: null, mb_cert: null, mb_key: null, mb_root_cert: null });
      await next.app.stop();
    }
  });

  it('a start names each flag whose certificate does not exist', () => {
    let issues: unknown = null;
    try {
      createApp(configOf('-wp', '0', '-p', '0', ...byFlags));
    } catch (error) {
      issues = error instanceof SimError && error.issues.map(({ name, detail }) => `${name}: ${detail}`);
    }
    expect(issues).to.deep.equal(
      ['-mbc', '-mbk', '-mbr'].map(
        (flag) => `${flag}: given "certificate:site"; allowed: certificate:NAME with a name of GET certificates`,
      ),
    );
  });
});
