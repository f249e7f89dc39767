/** Passwords and keys of stations of 2.0.1 and 2.1 are shown nowhere, in no form, whatever is asked of them. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogBook } from '../../src/core/log/log.ts';
import type { Json } from '../support/http.ts';
import { pathsToSearch } from '../support/secret-search.ts';
import { formsOf, hex } from './secret-forms.ts';
import { id, Site } from './whole/site.ts';

const marker = 'S3CR3T-marker';
const [ofFlag, ofCentral, ofProfile, ofRest, ofApn, ofVpn] = ['flag', 'csms', 'slot', 'rest', 'apn', 'vpn'].map(
  (name) => `${marker}-${name}`.padEnd(20, '0'),
) as [string, string, string, string, string, string];
/** a PIN is a number */
const simPin = 73_519_426;
const forms = [...formsOf(marker), String(simPin)];

function expectNone(text: string): void {
  for (const form of forms) {
    const at = text.indexOf(form);
    expect(at, at < 0 ? '' : text.slice(Math.max(0, at - 300), at + 60)).to.equal(-1);
  }
}

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`secrets of stations of ${version}`, () => {
    let directory: string;
    let site: Site;
    let lines = '';
    let uploads: Server;
    let uploaded = '';
    let searches = 0;
    /** what basic authentication has sent, connection by connection */
    const presented: string[] = [];

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-secrets-'));
      const passwordFile = join(directory, 'password');
      writeFileSync(passwordFile, `${ofFlag}\n`, { mode: 0o600 });
      uploads = createServer((request, response) => {
        request.on('data', (chunk: Buffer) => (uploaded += chunk.toString()));
        request.on('end', () => response.end());
      });
      await new Promise<void>((resolve) => {
        uploads.listen(0, '127.0.0.1', resolve);
      });
      site = await Site.open({
        flags: [
          ...['--ocpp_version', version === 'ocpp2.1' ? version : 'ocpp2.0.1j'],
          ...['--ocpp_security_profile', '1', '--ocpp_password_file', passwordFile],
        ],
        central: {
          subprotocols: [version],
          admit: (_, password) => {
            presented.push(password?.toString() ?? '');
            return null;
          },
        },
        app: { logBook: createLogBook({ level: 'debug', write: (line) => (lines += line) }) },
      });
      await site.until('it is available', () => site.station.callsOf('StatusNotification').length > 0);
    });
    after(async () => {
      await site.close();
      await new Promise((resolve) => uploads.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    });

    /** Everything that can be read now, and everything that the station has sent. */
    async function everything(): Promise<string> {
      const texts: string[] = [lines, uploaded];
      for (const path of pathsToSearch(/^\/(ocpp|logs|commands)/, (searches += 1))) {
        const filled = path.replace('{id}', id).replace('{cid}', '1').replaceAll('{model_id}', '701');
        texts.push(`${path} ${(await site.rest(filled.slice(1).replaceAll(/\{\w+\}/g, '0'))).text}`);
      }
      for (const level of ['debug', 'info', 'warning', 'error'])
        texts.push((await site.rest(`logs?levels=${level}&limit=1000`)).text);
      texts.push((await site.rest(`ocpp/${id}/messages?limit=1000`)).text);
      texts.push(...site.station.frames.filter(({ direction }) => direction === 'in').map(({ text }) => text));
      return texts.join('\n');
    }

    const set = async (attributeValue: string, component: Json = { name: 'SecurityCtrlr' }) => {
      const setVariableData = [{ component, variable: { name: 'BasicAuthPassword' }, attributeValue }];
      return (await site.call('SetVariables', { setVariableData })).setVariableResult[0].attributeStatus as string;
    };
    const apn = { apn: 'apn', apnUserName: 'user', apnPassword: ofApn, apnAuthentication: 'PAP', simPin };
    const vpn = { server: 'vpn', user: 'user', password: ofVpn, key: ofVpn, type: 'IKEv2' };
    const profile = (more: Json): Json => ({
      configurationSlot: 2,
      connectionData: {
        ...(version === 'ocpp2.0.1' && { ocppVersion: 'OCPP20' }),
        ocppInterface: 'Wired0',
        ocppTransport: 'JSON',
        messageTimeout: 20,
        ocppCsmsUrl: site.central.url,
        securityProfile: 1,
        ...more,
      },
    });
    const broken = async (action: string, payload: unknown) => {
      site.station.judged = false;
      const reply = await site.station.brokenCall(action, payload);
      site.station.judged = true;
      return reply;
    };

    it('were really used, and are shown nowhere while the station runs', async () => {
      expect(presented).to.deep.equal([ofFlag]);
      const text = await everything();
      expect(text).to.contain('"vendorName"');
      expectNone(text);
    });

    it('are hidden when SetVariables gives a password, and wherever it is repeated', async () => {
      expect(await set(ofCentral)).to.equal('Accepted');
      await site.until('it has come back', () => presented.length === 2 && site.peers === 1);
      expect(presented[1]).to.equal(ofCentral);
      const asked = { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' } };
      const { getVariableResult } = await site.call('GetVariables', { getVariableData: [asked] });
      expect(getVariableResult[0]).to.include({ attributeStatus: 'Rejected' });
      for (const data of [ofCentral, hex(ofCentral), Buffer.from(`${id}:${ofCentral}`).toString('base64')])
        await site.call('DataTransfer', { vendorId: 'org.example', data });
      await site.call('GetBaseReport', { requestId: 1, reportBase: 'FullInventory' });
      await site.until('the report has ended', () =>
        site.station.callsOf('NotifyReport').some(({ payload }) => payload.tbc !== true),
      );
      expect(await set(`${marker}\n`)).to.equal('Rejected');
      expect(await set(ofCentral.padEnd(200, 'x'))).to.equal('Rejected');
      expect(await set(ofCentral, { name: 'basicauth' })).to.equal('UnknownComponent');
      await broken('SetVariables', { setVariableData: [{ ...asked, attributeValue: { bad: ofCentral } }] });
      await broken('SetVariables', { setVariableData: [{ ...asked, attributeValue: ofCentral.padEnd(3000, 'x') }] });
      site.station.sendText(`[2,"x","SetVariables",{"setVariableData":[{"attributeValue":"${ofCentral}"`);
      site.station.sendText(`{"password":"${ofCentral}"}`);
      await site.settle();
      expectNone(await everything());
    });

    it('are hidden in network profiles, with their APN and VPN, taken or refused', async () => {
      const taken = profile({ basicAuthPassword: ofProfile });
      if (version === 'ocpp2.1') expect((await site.call('SetNetworkProfile', taken)).status).to.equal('Accepted');
      for (const more of [{ apn }, { vpn }, { apn, vpn }])
        expect((await site.call('SetNetworkProfile', profile(more))).status).to.equal('Rejected');
      await broken(
        'SetNetworkProfile',
        profile({ basicAuthPassword: { bad: ofProfile }, apn: { ...apn, simPin: `${simPin}` } }),
      );
      await broken('SetNetworkProfile', profile({ apn: { apn: 'a', apnAuthentication: 'NONE', simPin } }));
      await broken('SetNetworkProfile', profile({ apn: { ...apn, apnPassword: ofApn.padEnd(100, 'x') } }));
      await broken('SetNetworkProfile', profile({ vpn: { ...vpn, key: ofVpn.padEnd(300, 'x') } }));
      await broken('SetNetworkProfile', profile({ ocppCsmsUrl: `ws://user:${ofProfile}@127.0.0.1/ocpp` }));
      expect(
        (await site.call('SetNetworkProfile', profile({ ocppCsmsUrl: `ws://u:${ofProfile}@127.0.0.1/` }))).status,
      ).to.equal('Rejected');
      if (version === 'ocpp2.1') {
        const slot = { name: 'NetworkConfiguration', instance: '2' };
        expect(await set(ofProfile, slot)).to.equal('Accepted');
        expect(await set(ofProfile.padEnd(70, 'x'), slot)).to.equal('Rejected');
      }
      expectNone(await everything());
    });

    it('are hidden when REST sets them, in refusals too', async () => {
      const texts: string[] = [];
      const post = async (path: string, body: object, expected: number) => {
        const { status, text } = await site.rest(`ocpp/${id}/${path}`, body);
        expect(status, text).to.equal(expected);
        texts.push(text);
      };
      const variable = { component: 'SecurityCtrlr', variable: 'BasicAuthPassword' };
      await post('configuration', { ...variable, value: ofRest }, 200);
      await site.until('it is connected with it', () => presented.at(-1) === ofRest && site.peers === 1);
      await post('configuration', { ...variable, value: marker }, 422);
      await post('configuration', { ...variable, value: `${ofRest}\n` }, 422);
      await post('configuration', { ...variable, value: [ofRest] }, 422);
      await post('connect', { password: `${ofRest}\n\n` }, 422);
      const payload = { vendorId: 'org.example', data: `{"password":"${ofRest}"}` };
      await post('call', { action: 'DataTransfer', payload }, 200);
      await post('call', { action: 'DataTransfer', payload: { vendorId: [ofRest] } }, 422);
      expectNone(texts.join('\n'));
      // the test itself has sent it
      site.station.frames.splice(0);
      expectNone(await everything());
    });

    it('are in no log that is uploaded, though its location has a password', async () => {
      const { port } = uploads.address() as AddressInfo;
      const remoteLocation = `http://user:${ofRest}@127.0.0.1:${port}/logs/`;
      for (const [requestId, logType] of ['DiagnosticsLog', 'SecurityLog'].entries()) {
        const asked = await site.call('GetLog', { logType, requestId, log: { remoteLocation } });
        expect(asked.status).to.equal('Accepted');
        await site.until('it is delivered', () =>
          site.station
            .callsOf('LogStatusNotification')
            .some(({ payload }) => payload.requestId === requestId && payload.status === 'Uploaded'),
        );
      }
      expect(uploaded).to.match(/connected to the central system/);
      expectNone(await everything());
    });
  });
