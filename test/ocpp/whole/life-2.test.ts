/** The whole simulator with a station of 2.0.1 or 2.1 at a central system: a day of it, a broken line, a restart. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { id, Site } from './site.ts';

/** of the vehicle that arrives where no other is named */
const ratedW = 11_000;
const central = (idToken: string) => ({ idToken, type: 'Central' });

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`the whole simulator with a charging station of ${version} at a central system`, () => {
    let site: Site;
    before(async () => {
      const flag = version === 'ocpp2.1' ? version : 'ocpp2.0.1j';
      site = await Site.open({ flags: ['--ocpp_version', flag], central: { subprotocols: [version] } });
    });
    after(() => site.close());

    const post = (operation: string, body: Json = {}) => site.post(`evse/${id}/connectors/1/${operation}`, body);
    const events = (): Json[] => site.station.callsOf('TransactionEvent').map(({ payload }) => payload);
    const last = (): Json => events().at(-1);
    const statuses = () => site.station.callsOf('StatusNotification').map(({ payload }) => payload.connectorStatus);
    const powerW = () => -Number(site.app.plant.devices[0]?.bank.map.m701.W);
    const set = async (component: string, variable: string, attributeValue: string) => {
      const data = { component: { name: component }, variable: { name: variable }, attributeValue };
      const { setVariableResult } = await site.call('SetVariables', { setVariableData: [data] });
      expect(setVariableResult[0].attributeStatus, variable).to.equal('Accepted');
    };
    const got = async (component: string, variable: string): Promise<string> => {
      const data = { component: { name: component }, variable: { name: variable } };
      return (await site.call('GetVariables', { getVariableData: [data] })).getVariableResult[0].attributeValue;
    };
    const profile = (limit: number, more: Json = {}): Json => ({
      id: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Absolute',
      chargingSchedule: [
        {
          id: 1,
          startSchedule: '2026-01-01T00:00:00Z',
          chargingRateUnit: 'W',
          chargingSchedulePeriod: [{ startPeriod: 0, limit }],
        },
      ],
      ...more,
    });
    const end = async () => {
      await post('stop', { reason: 'Local' });
      await post('unplug');
      await site.settle();
    };

    it('boots, and reports its connector (B01, G01)', async () => {
      await site.until('it is available', () => statuses().length > 0);
      expect(site.station.calls.map(({ action }) => action).slice(0, 2)).to.deep.equal([
        'BootNotification',
        'StatusNotification',
      ]);
      const boot = site.station.calls[0]?.payload;
      expect(boot.reason).to.equal('PowerUp');
      expect(boot.chargingStation.vendorName).to.equal('derbench');
      expect(statuses()).to.deep.equal(['Available']);
    });

    it('charges after Authorize, with power in TransactionEvents and in 701.W (C01, E02, J02)', async () => {
      await set('SampledDataCtrlr', 'TxUpdatedInterval', '5');
      await post('plug', { ev: { soc_pct: 20 } });
      await post('authorize', { id_token: 'TAG-1', type: 'ISO14443' });
      await site.settle();
      expect(statuses().at(-1)).to.equal('Occupied');
      expect(site.station.callsOf('Authorize').map(({ payload }) => payload.idToken)).to.deep.equal([
        { idToken: 'TAG-1', type: 'ISO14443' },
      ]);
      expect(events()[0]).to.deep.include({ eventType: 'Started', seqNo: 0, evse: { id: 1, connectorId: 1 } });
      expect(events()[0]?.idToken).to.deep.equal({ idToken: 'TAG-1', type: 'ISO14443' });
      await site.advance(60, 5);
      expect(last()).to.include({ triggerReason: 'MeterValuePeriodic' });
      const told = last().meterValue[0].sampledValue.find((each: Json) => each.measurand === 'Power.Active.Import');
      expect(told.value).to.be.closeTo(ratedW, 200);
      expect(powerW()).to.be.closeTo(ratedW, 200);
    });

    it('a charging profile lowers the power, and returns it when it is cleared (K01, K08, K10)', async () => {
      expect((await site.call('SetChargingProfile', { evseId: 1, chargingProfile: profile(6000) })).status).to.equal(
        'Accepted',
      );
      await site.advance(30, 10);
      expect(powerW()).to.be.within(5900, 6200);
      const composite = await site.call('GetCompositeSchedule', { evseId: 1, duration: 60, chargingRateUnit: 'W' });
      expect(composite.schedule.chargingSchedulePeriod[0]).to.include({ startPeriod: 0, limit: 6000 });
      expect((await site.call('ClearChargingProfile', { chargingProfileId: 1 })).status).to.equal('Accepted');
      await site.advance(30, 10);
      expect(powerW()).to.be.closeTo(ratedW, 200);
    });

    it('a cut line loses neither the end of a transaction nor its energy, nor what else happened (E04, A04, G01)', async () => {
      // a retry that is far away
      site.central.admit = () => 503;
      site.station.cut();
      await site.advance(60, 10);
      await post('stop', { reason: 'Local' });
      const energyWh = Math.round((await post('unplug')).energy_wh);
      await post('fault', { error_code: 'GroundFailure' });
      await site.advance(1);
      await post('clear-fault');
      await post('availability', { operative: false });
      await site.advance(1);
      site.central.admit = () => null;
      await site.until('it is back', () => site.peers === 1, 300);
      const ended = last();
      expect(ended).to.include({ eventType: 'Ended', offline: true });
      expect(ended.transactionInfo.stoppedReason).to.equal('Local');
      expect(Math.round(ended.meterValue.at(-1).sampledValue[0].value)).to.equal(energyWh);
      expect(site.station.books.transactions.map((each) => each.ended)).to.deep.equal([true]);
      expect(site.station.callsOf('BootNotification')).to.have.length(1);
      expect(statuses().at(-1)).to.equal('Unavailable');
      await post('availability', { operative: true });
      await site.settle();
      expect(statuses().at(-1)).to.equal('Available');
    });

    it('reserves, starts remotely, stops remotely and resets (H01, F01, F03, B11)', async () => {
      const expiryDateTime = new Date(site.nowMs() + 3_600_000).toISOString();
      const reservation = { id: 7, evseId: 1, expiryDateTime, idToken: central('TAG-2') };
      expect((await site.call('ReserveNow', reservation)).status).to.equal('Accepted');
      await site.settle();
      expect(statuses().at(-1)).to.equal('Reserved');
      const start = (idToken: string, remoteStartId: number) =>
        site.call('RequestStartTransaction', { evseId: 1, idToken: central(idToken), remoteStartId });
      expect((await start('TAG-3', 1)).status).to.equal('Rejected');
      expect((await start('TAG-2', 2)).status).to.equal('Accepted');
      await site.advance(1);
      await post('plug', { ev: { soc_pct: 30 } });
      await site.advance(20, 5);
      const started = events().findLast(({ eventType }) => eventType === 'Started');
      expect(started).to.deep.include({ reservationId: 7, idToken: central('TAG-2') });
      expect(started?.transactionInfo.remoteStartId).to.equal(2);
      const { transactionId } = started?.transactionInfo;
      expect((await site.call('RequestStopTransaction', { transactionId })).status).to.equal('Accepted');
      await site.settle();
      expect(last().transactionInfo).to.include({ transactionId, stoppedReason: 'Remote' });
      await post('unplug');
      await post('plug');
      await post('authorize', { id_token: 'TAG-4' });
      await site.advance(20, 5);
      expect((await site.call('Reset', { type: 'OnIdle' })).status).to.equal('Scheduled');
      await end();
      await site.until('it boots', () => site.station.callsOf('BootNotification').length === 2, 100);
      expect(site.station.callsOf('BootNotification').at(-1)?.payload.reason).to.equal('ScheduledReset');
    });

    it('keeps over a restart what the central system has set, and tells no event twice', async () => {
      await site.until('it is accepted', () => site.peers === 1);
      await set('TxCtrlr', 'EVConnectionTimeOut', '77');
      await site.call('SetChargingProfile', { evseId: 1, chargingProfile: profile(5000, { id: 9 }) });
      const list = [{ idToken: central('LOCAL'), idTokenInfo: { status: 'Accepted' } }];
      await site.call('SendLocalList', { versionNumber: 3, updateType: 'Full', localAuthorizationList: list });
      const expiryDateTime = new Date(site.nowMs() + 3_600_000_000).toISOString();
      const asked = { id: 8, evseId: 1, expiryDateTime, idToken: central('TAG-5') };
      expect((await site.call('ReserveNow', asked)).status).to.equal('Accepted');
      expect(
        (
          await site.call('SetDisplayMessage', {
            message: { id: 4, priority: 'AlwaysFront', message: { format: 'UTF8', content: 'kept' } },
          })
        ).status,
      ).to.equal('Accepted');
      const told = events().length;
      await site.stop();
      await site.start();
      await site.until('it is back', () => site.peers === 1);
      await site.settle();
      expect(events().length).to.equal(told);
      expect(site.station.callsOf('BootNotification').at(-1)?.payload.reason).to.equal('PowerUp');
      expect(await got('TxCtrlr', 'EVConnectionTimeOut')).to.equal('77');
      expect(await site.call('GetLocalListVersion')).to.deep.equal({ versionNumber: 3 });
      expect((await site.get(`ocpp/${id}/reservations`)).reservations).to.have.length(1);
      expect(statuses().at(-1)).to.equal('Reserved');
      expect((await site.get(`ocpp/${id}/charging-profiles`)).charging_profiles[0].profile_id).to.equal(9);
      expect(await site.call('GetDisplayMessages', { requestId: 1, id: [4] })).to.deep.equal({ status: 'Accepted' });
      expect((await site.call('CancelReservation', { reservationId: 8 })).status).to.equal('Accepted');
      await post('plug');
      await post('authorize', { id_token: 'LOCAL' });
      await site.advance(60, 10);
      expect(powerW()).to.be.within(4900, 5100);
      await end();
      const begun = site.station.books.transactions.map(({ transactionId }) => transactionId);
      expect(new Set(begun).size).to.equal(begun.length);
    });

    it('answers what it does not know, and what breaks its schema, with the codes of 2.x', async () => {
      expect(await site.station.brokenCall('NoSuchAction')).to.include({ kind: 'error', code: 'NotImplemented' });
      expect(await site.station.brokenCall('StartTransaction', {})).to.include({ code: 'NotImplemented' });
      expect(await site.station.brokenCall('Reset', {})).to.include({ code: 'OccurrenceConstraintViolation' });
      expect(await site.station.brokenCall('Reset', { type: 1 })).to.include({ code: 'TypeConstraintViolation' });
      expect(await site.station.brokenCall('Reset', { type: 'Soft' })).to.include({
        code: 'PropertyConstraintViolation',
      });
      expect(await site.station.brokenCall('PublishFirmware', {})).to.have.property('kind', 'error');
    });
  });
