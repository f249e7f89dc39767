/** OCPP 2.x, block B: the device model and network profiles of a station in the whole simulator. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Central } from '../central/central.ts';
import { id, Site } from './site.ts';

const priority = (attributeValue: string) => ({
  setVariableData: [
    {
      component: { name: 'OCPPCommCtrlr' },
      variable: { name: 'NetworkConfigurationPriority' },
      attributeValue,
    },
  ],
});

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`${version} in the whole simulator: the device model`, () => {
    let site: Site;
    let other: Central;

    beforeEach(async () => {
      const flag = version === 'ocpp2.1' ? version : 'ocpp2.0.1j';
      site = await Site.open({ flags: ['--ocpp_version', flag], central: { subprotocols: [version] } });
      other = await Central.open({ subprotocols: [version], nowMs: () => site.nowMs() });
      await site.until('the station is available', () => site.station.callsOf('StatusNotification').length > 0);
    });

    afterEach(async () => {
      await site.close();
      await other.close();
    });

    const profile = () => ({
      configurationSlot: 1,
      connectionData: {
        ...(version === 'ocpp2.0.1' && { ocppVersion: 'OCPP20' }),
        ocppInterface: 'Wired0',
        ocppTransport: 'JSON',
        messageTimeout: 20,
        ocppCsmsUrl: other.url,
        securityProfile: 0,
      },
    });

    it('is reported as a whole, and every variable of the report can be asked for', async () => {
      expect(await site.call('GetBaseReport', { requestId: 1, reportBase: 'FullInventory' })).to.deep.equal({
        status: 'Accepted',
      });
      await site.until('the report has ended', () =>
        site.station.callsOf('NotifyReport').some(({ payload }) => payload.tbc === false),
      );
      const rows = site.station.callsOf('NotifyReport').flatMap(({ payload }) => payload.reportData);
      expect(rows.length).to.be.at.least(150);
      for (let at = 0; at < rows.length; at += 50) {
        const part = rows.slice(at, at + 50);
        const { getVariableResult } = await site.call('GetVariables', {
          getVariableData: part.map(({ component, variable }) => ({ component, variable })),
        });
        expect(getVariableResult.map((each: { attributeStatus: string }) => each.attributeStatus)).to.deep.equal(
          part.map(({ variableAttribute: [{ mutability }] }) => (mutability === 'WriteOnly' ? 'Rejected' : 'Accepted')),
        );
      }
    });

    it('shows the power of a vehicle that charges, and the state of its connector', async () => {
      site.do({ kind: 'evse.plug', connectorId: 1 });
      site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'A1B2C3D4' });
      await site.until('it charges', () => site.connector().powerW > 1000);
      const evse = { name: 'EVSE', evse: { id: 1 } };
      const { getVariableResult } = await site.call('GetVariables', {
        getVariableData: ['Power', 'AvailabilityState'].map((name) => ({ component: evse, variable: { name } })),
      });
      const [power, state] = getVariableResult.map((each: { attributeValue: string }) => each.attributeValue);
      expect(Number(power)).to.be.closeTo(site.connector().powerW, 1);
      expect(state).to.equal('Occupied');
    });

    it('is shown and changed over REST, without the rights of the central system', async () => {
      const at = `ocpp/${id}/configuration`;
      const { variables } = await site.get(`${at}?key=EVSE.Available`);
      expect(variables[0]).to.deep.include({ component: 'EVSE', variable: 'Available', evse_id: 1, value: 'true' });
      const limit = { component: 'DeviceDataCtrlr', variable: 'ItemsPerMessage', instance: 'GetVariables' };
      const changed = await site.post(at, { ...limit, value: '1' });
      expect(changed.variables[0]).to.deep.include({ mutability: 'ReadOnly', value: '1' });
      const data = { component: { name: 'TxCtrlr' }, variable: { name: 'TxStartPoint' } };
      const refused = await site.call('GetVariables', { getVariableData: [data, data] });
      expect(refused.code).to.equal('OccurrenceConstraintViolation');
      expect((await site.rest(`${at}?key=Nothing`)).status).to.equal(404);
      expect((await site.rest(at, { component: 'EVSE', variable: 'Power', evse_id: 1, value: '7' })).status).to.equal(
        422,
      );
    });

    it('goes to another central system with a restart, and comes back when that one is gone', async () => {
      expect(await site.call('SetNetworkProfile', profile())).to.deep.equal({ status: 'Accepted' });
      const { setVariableResult } = await site.call('SetVariables', priority('1,0'));
      expect(setVariableResult[0].attributeStatus).to.equal('RebootRequired');
      expect(await site.call('Reset', { type: 'Immediate' })).to.deep.equal({ status: 'Accepted' });
      await site.until('the other one has it', () => other.station(id).callsOf('StatusNotification').length > 0, 200);
      expect(other.station(id).callsOf('BootNotification')[0]?.payload.reason).to.equal('RemoteReset');
      expect(site.stations.station(id).status.url).to.equal(other.url);
      const before = site.station.callsOf('BootNotification').length;
      await other.close();
      await site.until('it is back', () => site.peers === 1 && site.station.connected, 400);
      await site.until('it has booted', () => site.station.callsOf('BootNotification').length > before, 50);
      const { getVariableResult } = await site.call('GetVariables', {
        getVariableData: [
          { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'ActiveNetworkProfile' } },
          { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'NetworkConfigurationPriority' } },
        ],
      });
      expect(getVariableResult.map((each: { attributeValue: string }) => each.attributeValue)).to.deep.equal([
        '0',
        '1,0',
      ]);
    });
  });

describe('ocpp2.1 in the whole simulator: BasicAuthPassword (A01)', () => {
  let directory: string;
  let site: Site;
  let admitted: string;
  let shown: string[];
  const [ofFlag, ofCentral] = ['a-password-of-the-flag', 'a-password-of-the-central-system'] as const;
  const set = async (attributeValue: string) => {
    const { setVariableResult } = await site.call('SetVariables', {
      setVariableData: [
        { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' }, attributeValue },
      ],
    });
    return setVariableResult[0].attributeStatus;
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-model-'));
    const file = join(directory, 'password');
    writeFileSync(file, ofFlag, { mode: 0o600 });
    admitted = ofFlag;
    shown = [];
    site = await Site.open({
      flags: ['--ocpp_version', 'ocpp2.1', '--ocpp_security_profile', '1', '--ocpp_password_file', file],
      central: {
        subprotocols: ['ocpp2.1'],
        admit: (_, password) => {
          shown.push(password?.toString() ?? '');
          return password?.toString() === admitted ? null : 401;
        },
      },
    });
    await site.until('it is accepted', () => site.station.callsOf('StatusNotification').length > 0);
  });

  afterEach(async () => {
    await site.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('counts from the next connection on, which follows the answer', async () => {
    expect(await set('short')).to.equal('Rejected');
    admitted = ofCentral;
    expect(await set(ofCentral)).to.equal('Accepted');
    await site.advance(1);
    await site.until('it is back', () => site.peers === 1);
    expect(shown).to.deep.equal([ofFlag, ofCentral]);
  });

  it('gives way to the former one where the central system refuses it', async () => {
    expect(await set(ofCentral)).to.equal('Accepted');
    await site.advance(1);
    await site.until('it is back', () => site.peers === 1, 200);
    expect(shown).to.deep.equal([ofFlag, ofCentral, ofFlag]);
    // as the name of a secret it stands nowhere
    expect(JSON.stringify(await site.get(`ocpp/${id}/configuration`))).not.to.include(ofCentral);
  });
});
