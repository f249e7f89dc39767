/** Passwords and keys of charge points are shown nowhere, in no form, whatever is asked of them. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogBook } from '../../src/core/log/log.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { headEndPki } from '../support/head-end.ts';
import type { HeadEndPki } from '../support/head-end.ts';
import { issue } from '../support/pki.ts';
import { formsOf, hex } from './secret-forms.ts';
import type { Json } from '../support/http.ts';
import { pathsToSearch } from '../support/secret-search.ts';
import { id, Site } from './whole/site.ts';

const marker = 'S3CR3T-marker';
/** of the flag file, of `connect` over REST, of the central system, of the local change over REST */
const passwords = ['-flag', '-rest', '-csms', '-here'].map((more) => `${marker}${more}`);
const [ofFlag = '', ofRest = '', ofCentral = '', ofKey = ''] = passwords.map((text) => text.padEnd(18, '0'));

const forms = formsOf(marker);
/** of the private keys that the station has had: the middle of their text */
const keyTexts: string[] = [];

function expectNone(text: string): void {
  for (const form of [...forms, ...keyTexts]) {
    const at = text.indexOf(form);
    expect(at, at < 0 ? '' : text.slice(Math.max(0, at - 300), at + 60)).to.equal(-1);
  }
  expect(text.includes('PRIVATE KEY'), 'a private key').to.equal(false);
}

describe('secrets of charge points of OCPP 1.6', () => {
  let directory: string;
  let site: Site;
  let lines = '';
  let uploads: Server;
  let uploaded = '';
  let searches = 0;
  let pki: HeadEndPki;
  let rawKey: string;
  /** what basic authentication has sent, connection by connection */
  const presented: string[] = [];

  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-secrets-'));
    pki = await headEndPki();
    const own = await issue(pki.intermediate, 'station', { purpose: 'client' });
    rawKey = own.key;
    keyTexts.push(own.key.split('\n')[2] ?? '');
    uploads = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => (uploaded += chunk.toString()));
      request.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => {
      uploads.listen(0, '127.0.0.1', resolve);
    });
    const { cert, key } = pki.server;
    site = await Site.open({
      flags: [
        ...['--ocpp_security_profile', '2', '--ocpp_password_file', file('password', `${ofFlag}\n`)],
        ...['--ocpp_root_cert', file('root.pem', pki.root.cert), '--ocpp_cert', file('own.pem', own.cert)],
        // text around the block is no part of a key, and no part of it may be repeated
        ...['--ocpp_key', file('own.key', `${marker}\n${own.key}${marker}\n`)],
      ],
      central: {
        tls: { cert, key },
        admit: (_, password) => {
          presented.push(password?.toString() ?? '');
          return null;
        },
      },
      app: { logBook: createLogBook({ level: 'debug', write: (line) => (lines += line) }) },
    });
    await site.until('it is connected', () => site.peers === 1);
  });
  after(async () => {
    await site.close();
    await new Promise((resolve) => uploads.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });

  /** Everything that can be read now. */
  async function everything(): Promise<string> {
    const texts: string[] = [lines, uploaded];
    for (const path of pathsToSearch(/^\/(ocpp|logs|commands)/, (searches += 1))) {
      const filled = path.replace('{id}', id).replace('{cid}', '1').replaceAll('{model_id}', '701');
      texts.push(`${path} ${(await site.rest(filled.slice(1).replaceAll(/\{\w+\}/g, '0'))).text}`);
    }
    for (const level of ['debug', 'info', 'warning', 'error'])
      texts.push((await site.rest(`logs?levels=${level}&limit=1000`)).text);
    texts.push((await site.rest(`ocpp/${id}/messages?limit=1000`)).text);
    texts.push((await site.rest('findings?limit=1000')).text, (await site.rest('findings?state=held')).text);
    return texts.join('\n');
  }

  it('were really used: the password of the file is what the central system has got', () => {
    expect(presented).to.deep.equal([ofFlag]);
  });

  it('are in no answer, line of the log or message while the station runs', async () => {
    const text = await everything();
    expect(text).to.contain('"chargePointVendor"');
    expectNone(text);
  });

  it('are hidden when the central system sets a password, and wherever it repeats it', async () => {
    const { station } = site;
    const setting = { key: 'AuthorizationKey', value: hex(ofCentral) };
    expect((await site.call('ChangeConfiguration', setting)).status).to.equal('Accepted');
    await site.until('it has come back', () => presented.length === 2 && site.peers === 1);
    expect(presented[1]).to.equal(ofCentral);
    expect((await site.call('GetConfiguration', { key: ['AuthorizationKey'] })).configurationKey ?? []).to.satisfy(
      (keys: Json[]) => keys.every(({ value }) => value === undefined || value === ''),
    );
    for (const data of [ofCentral, hex(ofCentral).toUpperCase(), Buffer.from(`${id}:${ofCentral}`).toString('base64')])
      await site.call('DataTransfer', { vendorId: 'org.example', data });
    await site.call('DataTransfer', { vendorId: 'org.example', data: rawKey });
    station.judged = false;
    await station.call('ChangeConfiguration', { key: 'AuthorizationKey', value: { bad: hex(ofCentral) } });
    await station.call('ChangeConfiguration', { key: 'authorizationkey', value: `${hex(ofCentral)}zz` });
    station.sendText(`[2,"x","ChangeConfiguration",{"key":"AuthorizationKey","value":"${hex(ofCentral)}"`);
    station.sendText(`{"password":"${ofCentral}"}`);
    for (const text of [ofCentral, hex(ofCentral)]) {
      station.sendText(JSON.stringify([2, text, 'Bogus', {}]));
      station.sendText(JSON.stringify([2, 'y', text, {}]));
      station.sendText(JSON.stringify([2, 'z', 'Reset', { [text]: text }]));
      station.sendText(JSON.stringify([3, text, {}]));
      station.sendText(JSON.stringify([4, 'unknown', text, text, {}]));
    }
    await site.settle();
    station.judged = true;
    expectNone(await everything());
  });

  it('are hidden when REST sets them, in refusals too', async () => {
    const texts: string[] = [];
    const post = async (path: string, body: object, expected: number) => {
      const { status, text } = await site.rest(`ocpp/${id}/${path}`, body);
      expect(status, text).to.equal(expected);
      texts.push(text);
    };
    await post('connect', { password: ofRest }, 202);
    await site.until('it is connected with it', () => presented.at(-1) === ofRest && site.peers === 1);
    await post('configuration', { key: 'AuthorizationKey', value: hex(ofKey) }, 200);
    await site.until('it is connected with the new one', () => presented.at(-1) === ofKey && site.peers === 1);
    await post('configuration', { key: 'AuthorizationKey', value: `${ofKey} no hex` }, 422);
    await post('connect', { password: marker }, 422);
    await post('connect', { password: `${ofRest}\n\n` }, 422);
    await post('connect', { password: [ofRest] }, 422);
    await post('connect', { password: ofRest.padEnd(100, 'x') }, 422);
    await post('connect', { url: `ws://user:${ofRest}@127.0.0.1/ocpp` }, 422);
    await post('connect', { url: `wss://127.0.0.1/ocpp?password=${ofRest}` }, 422);
    const payload = { vendorId: 'org.example', data: `{"password":"${ofKey}"}` };
    await post('call', { action: 'DataTransfer', payload }, 200);
    await post('call', { action: 'DataTransfer', payload: { vendorId: [ofKey] } }, 422);
    await post('call', { action: 'DataTransfer', payload: { vendorId: ofKey }, validate: false }, 200);
    site.station.judged = false;
    await post('call', { action: 'DataTransfer', payload: { [ofKey]: 1 }, validate: false }, 200);
    site.station.judged = true;
    expectNone(texts.join('\n') + (await everything()));
  });

  it('are in no log that is uploaded, though its location has a password', async () => {
    const { port } = uploads.address() as AddressInfo;
    const location = `http://user:${ofKey}@127.0.0.1:${port}/logs/`;
    expect((await site.call('GetDiagnostics', { location })).fileName).to.match(/^diagnostics-CP-1/);
    await site.until('it is delivered', () =>
      site.station.callsOf('DiagnosticsStatusNotification').some(({ payload }) => payload.status === 'Uploaded'),
    );
    expect(uploaded).to.match(/connected to the central system/);
    const log = { remoteLocation: location };
    expect((await site.call('GetLog', { logType: 'SecurityLog', requestId: 1, log })).status).to.equal('Accepted');
    await site.until('the security log is delivered', () =>
      site.station.callsOf('LogStatusNotification').some(({ payload }) => payload.status === 'Uploaded'),
    );
    expectNone(await everything());
  });

  it('are in no message of a configuration that is refused', () => {
    const bad = [
      ['--ocpp_password_file', file('short', marker)],
      ['--ocpp_password', marker],
      ['--ocpp_password', `${ofFlag}\n`],
      ['--ocpp_csms_url', `ws://user:${ofFlag}@127.0.0.1/`],
      ['--ocpp_key', file('broken.key', `-----BEGIN PRIVATE KEY-----\n${marker}\n-----END PRIVATE KEY-----\n`)],
    ];
    for (const flags of bad) {
      let text = '';
      try {
        const url = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://127.0.0.1:1/', '--ocpp_security_profile', '1'];
        loadConfig(['-d', 'EVSE', ...url, ...flags], {});
      } catch (error) {
        text = String(error) + JSON.stringify(error);
      }
      expect(text, flags.join(' ')).to.not.equal('');
      for (const form of forms) expect(text).to.not.contain(form);
    }
  });
});
