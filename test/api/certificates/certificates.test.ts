import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isPrivateConnection } from '../../../src/core/http/http-guard.ts';
import { recordedPki } from '../../pki/support.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';

const path = '/api/sim/certificates';
const root = recordedPki('csip').get('root') ?? '';

describe('GET, POST, DELETE certificates', () => {
  let running: RunningApp;
  /** address that the server sees; null: the true one */
  let address: string | null = null;
  before(async () => {
    running = await startApp();
    running.app.api.server.on('connection', (socket) => {
      if (address !== null) Object.defineProperty(socket, 'remoteAddress', { value: address });
    });
  });
  after(() => running.app.stop());
  afterEach(() => {
    address = null;
  });

  async function call(
    method: string,
    below = '',
    body?: object,
  ): Promise<{ status: number; json: Json; text: string }> {
    const { status, json, text, headers } = await ask(running.port, path + below, { method, body });
    return { status, json, text: text + JSON.stringify(headers) };
  }
  const codeOf = ({ status, json }: { status: number; json: Json }) => [status, json.code];

  it('generates, lists and shows certificates, and never a key', async () => {
    const { status, json, text } = await call('POST', '/generate', {
      devices: 2,
      hosts: ['utility.example'],
      prefix: 'g-',
    });
    expect(status, text).to.equal(200);
    expect(json.created).to.have.lengthOf(15);
    const list = await call('GET');
    expect(list.json.certificates.map(({ name }: Json) => name)).to.include('g-device1');
    const device = await call('GET', '/g-device1');
    expect(device.json).to.include({ kind: 'device', has_key: true, has_ca: true, chain_length: 3 });
    expect(device.json.lfdi).to.match(/^[0-9A-F]{40}$/);
    expect(device.json.sfdi).to.match(/^\d+$/);
    for (const shown of [text, list.text, device.text]) expect(shown).to.not.contain('PRIVATE KEY');
    expect(device.json.cert_pem.match(/BEGIN CERTIFICATE/g)).to.have.lengthOf(3);
  });

  it('adds and deletes one; its key comes back in no answer and no line of the log', async () => {
    const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
    const wrong = await call('POST', '', { name: 'root', cert_pem: root, key_pem: key });
    expect(codeOf(wrong)).to.deep.equal([422, 'validation']);
    expect(wrong.json.errors.map(({ name }: Json) => name)).to.deep.equal(['/key_pem']);
    expect(wrong.text).to.not.contain('c2VjcmV0');
    const added = await call('POST', '', { name: 'root', cert_pem: root });
    expect(added.status).to.equal(201);
    expect(added.text).to.contain(`${path}/root`);
    expect(codeOf(await call('POST', '', { name: 'root', cert_pem: root }))).to.deep.equal([409, 'conflict']);
    expect((await call('DELETE', '/root')).json.name).to.equal('root');
    expect(codeOf(await call('GET', '/root'))).to.deep.equal([404, 'unknown-resource']);
    const { text } = await ask(running.port, '/api/sim/logs?limit=200');
    expect(text).to.not.contain('c2VjcmV0');
  });

  it('names are no paths, and not the word of the operation', async () => {
    for (const name of ['../root', 'a/b', '.hidden', '', 'generate', 'x'.repeat(65)])
      expect(codeOf(await call('POST', '', { name, cert_pem: root })), name).to.deep.equal([422, 'validation']);
    for (const body of [{ hosts: ['a b'] }, { hosts: ['1.2.3'] }, { devices: 65 }, { prefix: '/' }])
      expect(codeOf(await call('POST', '/generate', body)), JSON.stringify(body)).to.deep.equal([422, 'validation']);
  });

  it('clients of other machines may read, and neither add nor delete', async () => {
    address = '192.0.2.7';
    for (const [method, below, body] of [
      ['POST', '', { name: 'far', cert_pem: root }],
      ['POST', '/generate', {}],
      ['DELETE', '/far', undefined],
    ] as const)
      expect(codeOf(await call(method, below, body)), method + below).to.deep.equal([403, 'not-private']);
    expect((await call('GET')).status).to.equal(200);
    expect((await call('GET')).json.certificates.map(({ name }: Json) => name)).to.not.include('far');
  });

  it('a scenario may not add one', async () => {
    const by = { source: 'scenario', peer: 'x' } as const;
    const request = { method: 'POST', path: '/certificates', body: { name: 'far', cert_pem: root }, by };
    expect((await running.app.api.perform(request)).status).to.equal(403);
  });

  it('the next simulator with the same state folder has them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-certificates-'));
    const start = () => startApp(['PV-3Phase'], ['--state_dir', folder]);
    try {
      const first = await start();
      const body = { name: 'root', cert_pem: root };
      expect((await ask(first.port, path, { method: 'POST', body })).status).to.equal(201);
      await first.app.stop();
      const second = await start();
      const { json } = await ask(second.port, path);
      await second.app.stop();
      expect(json.certificates.map(({ name }: Json) => name)).to.deep.equal(['root']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('connections of this machine, and over TLS', () => {
    for (const remoteAddress of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      expect(isPrivateConnection({ remoteAddress }), remoteAddress).to.equal(true);
    for (const remoteAddress of ['192.0.2.7', '::ffff:192.0.2.7', 'fe80::1', '', undefined])
      expect(isPrivateConnection({ remoteAddress }), remoteAddress).to.equal(false);
    expect(isPrivateConnection({ remoteAddress: '192.0.2.7', encrypted: true })).to.equal(true);
  });
});
