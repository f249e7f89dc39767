/** Tokens, lists, reservations and remote starts of a 2.x station in the whole simulator, over the wire and REST. */
import { expect } from 'chai';
import { id, Site } from '../../whole/site.ts';

const card = (idToken: string) => ({ idToken, type: 'ISO14443' });
const a = 'A1B2C3D4';
const b = '0A0B0C0D';
const accepted = { status: 'Accepted' };

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`${version} in the whole simulator: who may charge (C, D, F, H)`, () => {
    let site: Site;
    const at = `evse/${id}/connectors/1`;
    const calls = (action: string) => site.station.callsOf(action).map(({ payload }) => payload);
    const lastStatus = () => calls('StatusNotification').at(-1)?.connectorStatus as string;
    const inMs = (seconds: number) => new Date(site.nowMs() + seconds * 1000).toISOString();

    beforeEach(async () => {
      site = await Site.open({
        flags: ['--ocpp_version', version === 'ocpp2.1' ? 'ocpp2.1' : 'ocpp2.0.1j'],
        central: { subprotocols: [version] },
      });
      await site.until('the station is available', () => calls('StatusNotification').length > 0);
    });

    afterEach(async () => {
      await site.close();
    });

    it('a token over REST, with its type, charges and stops', async () => {
      await site.post(`${at}/plug`, { ev: { soc_pct: 20 } });
      const { status } = await site.post(`${at}/authorize`, { id_token: 'abc-1', type: 'MacAddress' });
      expect(status).to.equal('Accepted');
      expect(calls('Authorize')).to.deep.equal([{ idToken: { idToken: 'abc-1', type: 'MacAddress' } }]);
      await site.until('it charges', () => site.connector().powerW > 1000);
      const wrong = await site.rest(`${at}/authorize`, { id_token: 'abc-1', type: 'Whatever' });
      expect(wrong.status).to.equal(422);
      await site.post(`${at}/authorize`, { id_token: 'ABC-1', type: 'MacAddress' });
      await site.settle();
      expect(site.connector().powerW).to.equal(0);
      expect(calls('TransactionEvent').some(({ triggerReason }) => triggerReason === 'StopAuthorized')).to.equal(true);
    });

    it('a vehicle waits for its token longer than EVConnectionTimeOut', async () => {
      await site.post(`${at}/plug`, { ev: { soc_pct: 20 } });
      await site.advance(180, 10);
      expect(site.connector()).to.include({ phase: 'connected', powerW: 0 });
      await site.post(`${at}/authorize`, { id_token: a });
      await site.until('it charges', () => site.connector().powerW > 1000);
    });

    it('a token that the central system refuses gets no energy', async () => {
      site.station.answers['Authorize'] = () => ({ idTokenInfo: { status: 'NoCredit' } });
      await site.post(`${at}/plug`, {});
      const reply = await site.post(`${at}/authorize`, { id_token: a });
      expect(reply).to.deep.equal({ status: 'NoCredit', id_token_info: { status: 'NoCredit' } });
      await site.advance(20, 5);
      expect(site.connector()).to.deep.include({ phase: 'connected', powerW: 0 });
    });

    it('the local list is taken, shown and used', async () => {
      const localAuthorizationList = [{ idToken: card(a), idTokenInfo: { status: 'Accepted' } }];
      const list = { versionNumber: 3, updateType: 'Full', localAuthorizationList };
      expect(await site.call('SendLocalList', list)).to.deep.equal(accepted);
      expect(await site.call('GetLocalListVersion')).to.deep.equal({ versionNumber: 3 });
      const shown = await site.get(`ocpp/${id}/local-list`);
      expect(shown.version).to.equal(3);
      expect(shown.entries[0]).to.include({ id_token: a, status: 'Accepted' });
      const data = [
        { component: { name: 'AuthCtrlr' }, variable: { name: 'LocalPreAuthorize' }, attributeValue: 'true' },
      ];
      const { setVariableResult } = await site.call('SetVariables', { setVariableData: data });
      expect(setVariableResult[0].attributeStatus).to.equal('Accepted');
      await site.post(`${at}/plug`, {});
      await site.post(`${at}/authorize`, { id_token: a.toLowerCase() });
      await site.until('it charges', () => site.connector().powerW > 1000);
      expect(calls('Authorize')).to.deep.equal([]);
      const names = { component: { name: 'LocalAuthListCtrlr' }, variable: { name: 'Entries' } };
      const { getVariableResult } = await site.call('GetVariables', { getVariableData: [names] });
      expect(getVariableResult[0].attributeValue).to.equal('1');
    });

    it('a reservation shows, keeps others out, and ends', async () => {
      const request = { id: 9, evseId: 1, idToken: card(a), expiryDateTime: inMs(60) };
      expect(await site.call('ReserveNow', request)).to.deep.equal(accepted);
      await site.settle();
      expect(lastStatus()).to.equal('Reserved');
      const { reservations } = await site.get(`ocpp/${id}/reservations`);
      expect(reservations[0]).to.include({ reservation_id: 9, connector_id: 1, id_token: a });
      expect((await site.rest(`${at}/authorize`, { id_token: b })).status).to.equal(409);
      const start = await site.call('RequestStartTransaction', { idToken: card(b), remoteStartId: 1, evseId: 1 });
      expect(start.status).to.equal('Rejected');
      await site.advance(61, 5);
      expect(calls('ReservationStatusUpdate')).to.deep.equal([
        { reservationId: 9, reservationUpdateStatus: 'Expired' },
      ]);
      expect(lastStatus()).to.equal('Available');
      expect((await site.call('CancelReservation', { reservationId: 9 })).status).to.equal('Rejected');
    });

    it('a remote start gives energy, unlocking is refused meanwhile, and a remote stop takes it', async () => {
      await site.post(`${at}/plug`, {});
      await site.settle();
      const start = await site.call('RequestStartTransaction', { idToken: card(a), remoteStartId: 77, evseId: 1 });
      expect(start.status).to.equal('Accepted');
      await site.until('it charges', () => site.connector().powerW > 1000);
      const events = () => calls('TransactionEvent');
      const { transactionId } = events().at(-1).transactionInfo;
      expect(events().some(({ transactionInfo }) => transactionInfo.remoteStartId === 77)).to.equal(true);
      const unlock = await site.call('UnlockConnector', { evseId: 1, connectorId: 1 });
      expect(unlock.status).to.equal('OngoingAuthorizedTransaction');
      expect(await site.call('RequestStopTransaction', { transactionId })).to.deep.equal(accepted);
      await site.settle();
      expect(site.connector().powerW).to.equal(0);
      expect(events().some(({ triggerReason }) => triggerReason === 'RemoteStop')).to.equal(true);
    });
  });
