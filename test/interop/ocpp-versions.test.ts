import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { PythonCentral } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;
const id = 'CP-1';

describeWith(['ocpp'], 'a station that offers 2.1 and 1.6 to the packages ocpp and websockets', () => {
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    central = await PythonCentral.open(id, {
      options: { version: '2.1', and: '1.6' },
      rules: { choose: ['1.6', '2.1'] },
    });
    ({ station } = central);
    await station.registered();
  });
  after(() => central.close());

  const status = (): Promise<Json> => station.get(`ocpp/${id}`);
  /** The central system chooses otherwise from the next connection on, and ends this one. */
  async function choose(...versions: readonly string[]): Promise<void> {
    await central.rule({ choose: versions });
    await central.peer.ask('cut', { station: id });
  }

  it('speaks the second one where the server prefers it, each message checked by the package of that version', async () => {
    const { payload } = await station.next('(offered)');
    expect(payload.subprotocols).to.deep.equal(['ocpp2.1', 'ocpp1.6']);
    expect((await station.next('BootNotification')).payload).to.include.keys('chargePointModel');
    expect(await status()).to.deep.include({
      version: 'ocpp1.6j',
      versions: ['ocpp2.1', 'ocpp1.6j'],
      subprotocol: 'ocpp1.6',
    });
    await station.expectStatus('Accepted', 'ChangeConfiguration', { key: 'HeartbeatInterval', value: '60' });
  });

  it('a server without a version in common gets no connection, and the reason stands in last_error', async () => {
    await choose();
    await station.until('the reason', async () => {
      const { last_error: error } = await status();
      return error === 'the central system has chosen no version of OCPP, offered: ocpp2.1, ocpp1.6' || undefined;
    });
    expect((await status()).subprotocol).to.equal(null);
  });

  it('offers both again, and speaks the other one where that is chosen then', async () => {
    await central.rule({ choose: ['2.1'] });
    const { payload } = await station.next('BootNotification', { reason: 'PowerUp' });
    expect(payload).to.include.keys('chargingStation');
    await station.registered();
    expect(await status()).to.deep.include({ version: 'ocpp2.1', subprotocol: 'ocpp2.1' });
    await station.expectStatus('Accepted', 'GetBaseReport', { requestId: 1, reportBase: 'ConfigurationInventory' });
  });
});
