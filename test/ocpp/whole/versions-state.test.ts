/** State of a station that outlives a change of its version and a restart, over the whole simulator. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { id, Site } from './site.ts';
import type { SiteOptions } from './site.ts';

const [ofFlag, first, second] = ['flag', 'first', 'second'].map((text) => text.padEnd(16, '0')) as [
  string,
  string,
  string,
];

describe('what belongs to a station that offers 2.0.1 and 1.6, and to no version', () => {
  let directory: string;
  let site: Site;
  const open = async (chosen: string, flags: readonly string[] = [], central: SiteOptions['central'] = {}) => {
    site = await Site.open({
      flags: ['--ocpp_version', 'ocpp2.0.1j,ocpp1.6j', ...flags],
      central: { ...central, subprotocols: [chosen] },
    });
    await site.until('it is accepted', () => speaks(chosen));
  };
  const status = () => site.get(`ocpp/${id}`);
  const speaks = async (chosen: string) => {
    const { subprotocol, boot_status: bootStatus } = await status();
    return subprotocol === chosen && bootStatus === 'accepted';
  };
  /** The central system ends the connection and chooses a version for the next one. */
  const choose = async (chosen: string) => {
    site.central.subprotocols = [chosen];
    site.station.cut();
    await site.settle();
    await site.until('it is accepted again', () => speaks(chosen), 200);
  };
  const restart = async (chosen: string) => {
    await site.stop();
    site.central.subprotocols = [chosen];
    await site.start();
    await site.until('it is accepted after the restart', () => speaks(chosen), 200);
  };
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-versions-'));
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  afterEach(() => site.close());

  describe('the password', () => {
    /** passwords of the station, connection by connection */
    let shown: string[];
    let admitted: string;
    const openWithPassword = async (chosen: string) => {
      const file = join(directory, 'password');
      writeFileSync(file, ofFlag, { mode: 0o600 });
      shown = [];
      admitted = ofFlag;
      await open(chosen, ['--ocpp_security_profile', '1', '--ocpp_password_file', file], {
        admit: (_, password) => {
          shown.push(password?.toString() ?? '');
          return shown.at(-1) === admitted ? null : 401;
        },
      });
    };
    /** The central system sets a password, with which the station comes back. */
    const set16 = async (text: string) => {
      admitted = text;
      const value = Buffer.from(text).toString('hex');
      expect((await site.call('ChangeConfiguration', { key: 'AuthorizationKey', value })).status).to.equal('Accepted');
      await site.advance(1);
      await site.until('it is back', () => speaks('ocpp1.6'), 200);
    };
    const set2 = async (attributeValue: string) => {
      admitted = attributeValue;
      const data = { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' }, attributeValue };
      const { setVariableResult } = await site.call('SetVariables', { setVariableData: [data] });
      expect(setVariableResult[0].attributeStatus).to.equal('Accepted');
      await site.advance(1);
      await site.until('it is back', () => speaks('ocpp2.0.1'), 200);
    };

    it('that one version has learnt opens the first connection after a restart, whatever is spoken', async () => {
      await openWithPassword('ocpp1.6');
      await set16(first);
      await choose('ocpp2.0.1');
      expect(shown).to.deep.equal([ofFlag, first, first]);
      for (const chosen of ['ocpp2.0.1', 'ocpp1.6']) {
        shown = [];
        await restart(chosen);
        expect(shown).to.deep.equal([first]);
      }
    });

    it('that was learnt last is the one of every version: none returns to its own', async () => {
      await openWithPassword('ocpp1.6');
      await set16(first);
      await choose('ocpp2.0.1');
      await set2(second);
      shown = [];
      await choose('ocpp1.6');
      await choose('ocpp1.6');
      expect(shown).to.deep.equal([second, second]);
      // the one of before can be set again
      await set16(first);
      expect(shown).to.deep.equal([second, second, first]);
      shown = [];
      await restart('ocpp2.0.1');
      expect(shown).to.deep.equal([first]);
    });

    it('that is refused is forgotten, though the next connection speaks another version', async () => {
      await openWithPassword('ocpp1.6');
      site.central.subprotocols = ['ocpp2.0.1'];
      const value = Buffer.from(first).toString('hex');
      await site.call('ChangeConfiguration', { key: 'AuthorizationKey', value });
      await site.advance(1);
      await site.until('it is back', () => speaks('ocpp2.0.1'), 200);
      expect(shown).to.deep.equal([ofFlag, first, ofFlag]);
      shown = [];
      await restart('ocpp2.0.1');
      expect(shown).to.deep.equal([ofFlag]);
    });
  });

  it('the address of the flags is reached under 1.6 too, from a network profile that 2.0.1 has left in use', async () => {
    await open('ocpp2.0.1');
    const other = `${site.central.url}/other`;
    const connectionData = {
      ocppVersion: 'OCPP20',
      ocppInterface: 'Wired0',
      ocppTransport: 'JSON',
      messageTimeout: 20,
      ocppCsmsUrl: other,
      securityProfile: 0,
    };
    await site.call('SetNetworkProfile', { configurationSlot: 1, connectionData });
    const priority = { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'NetworkConfigurationPriority' } };
    await site.call('SetVariables', { setVariableData: [{ ...priority, attributeValue: '1' }] });
    await site.call('Reset', { type: 'Immediate' });
    await site.until('it is there', async () => (await status()).url === other && (await speaks('ocpp2.0.1')), 200);
    await choose('ocpp1.6');
    await restart('ocpp1.6');
    expect((await status()).url).to.equal(other);
    const boots = () => site.station.callsOf('BootNotification').length;
    const before = boots();
    site.central.admit = (_, __, { url }) => (url?.includes('/other') === true ? 404 : null);
    site.station.cut();
    await site.until('it is back', async () => (await status()).url === site.central.url, 200);
    await site.until('it is accepted', () => speaks('ocpp1.6'), 200);
    expect(boots()).to.equal(before + 1);
  });

  it('what the last version has set operative stays so under every version', async () => {
    await open('ocpp1.6');
    await site.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
    await choose('ocpp2.0.1');
    expect(site.connector().operative).to.equal(false);
    await site.call('ChangeAvailability', { operationalStatus: 'Operative' });
    await choose('ocpp1.6');
    expect(site.connector().operative).to.equal(true);
    await site.call('ChangeAvailability', { connectorId: 0, type: 'Inoperative' });
    await choose('ocpp2.0.1');
    const getVariableData = [{ component: { name: 'ChargingStation' }, variable: { name: 'Enabled' } }];
    const { getVariableResult } = await site.call('GetVariables', { getVariableData });
    expect(getVariableResult[0].attributeValue).to.equal('false');
    await restart('ocpp2.0.1');
    expect(site.connector().operative).to.equal(false);
  });
});
