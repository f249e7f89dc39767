import { expect } from 'chai';
import { PythonCentral, sampled } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { expectExchanged } from './support/ocpp-rows.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;
const bootIntervalS = 2;
/** Enough for an answer that would come, s. */
const noAnswerS = 0.5;

describeWith(['ocpp'], 'sessions of OCPP 1.6 at the package ocpp', () => {
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    central = await PythonCentral.open('CP-1', { rules: { boot: 'Rejected', interval: bootIntervalS } });
    ({ station } = central);
  });
  after(() =>
    central.close([
      'ocpp.call_while_rejected: GetConfiguration after BootNotification was answered with Rejected',
      'ocpp.remote_while_pending: RemoteStartTransaction while the registration is Pending',
    ]),
  );

  async function numberOf(action: string): Promise<number> {
    return (await central.requests(action)).length;
  }
  const bootStatus = (status: string) =>
    station.until(`the station is ${status}`, async () => {
      const { boot_status: now } = await station.get('ocpp/CP-1');
      return now === status || undefined;
    });
  const unplug = async () => {
    await station.connector('unplug');
    await station.status('Available');
  };

  describe('registration', () => {
    it('Rejected: calls get no answer, and BootNotification comes again after the interval', async () => {
      const first = await station.next('BootNotification');
      // The central system reports the message before the station has read the answer.
      await bootStatus('rejected');
      const answer = await station.call('GetConfiguration', {}, noAnswerS).catch((error: unknown) => error);
      expect(String(answer)).to.include('no answer');
      await central.rule({ boot: 'Pending' });
      const second = await station.next('BootNotification');
      expect(second.at - first.at).to.be.at.least(bootIntervalS - 0.1);
      await bootStatus('pending');
    });

    it('Pending: configuration and triggered messages only', async () => {
      const { configurationKey } = await station.call('GetConfiguration', { key: ['NumberOfConnectors'] });
      expect(configurationKey[0].value).to.equal('1');
      await station.configure('AuthorizeRemoteTxRequests', 'true');
      await station.expectStatus('Rejected', 'RemoteStartTransaction', { idTag: 'TAG-1', connectorId: 1 });
      expect(await numberOf('StatusNotification')).to.equal(0);
      await station.expectStatus('Accepted', 'TriggerMessage', {
        requestedMessage: 'StatusNotification',
        connectorId: 1,
      });
      await station.status('Available');
      expect(await numberOf('StatusNotification')).to.equal(1);
    });

    it('Accepted: StatusNotification of all connectors', async () => {
      await central.rule({ boot: 'Accepted', interval: 300 });
      await station.next('BootNotification');
      const statuses = [await station.next('StatusNotification'), await station.next('StatusNotification')];
      expect(statuses.map(({ payload }) => payload.connectorId)).to.have.members([0, 1]);
      expect(await station.get('ocpp/CP-1')).to.include({ boot_status: 'accepted', heartbeat_interval_s: 300 });
    });

    it('HeartbeatInterval', async () => {
      await station.configure('HeartbeatInterval', '1');
      const [one, two] = [await station.next('Heartbeat'), await station.next('Heartbeat')];
      expect(two.at - one.at).to.be.at.least(0.9);
      await station.configure('HeartbeatInterval', '300');
    });
  });

  describe('tokens', () => {
    it('Authorize: a refused tag starts nothing', async () => {
      await central.rule({ tags: { BAD: 'Blocked', OLD: { status: 'Expired', expiryDate: '2020-01-01T00:00:00Z' } } });
      await station.connector('plug', { ev: { soc_pct: 20 } });
      for (const [idTag, status] of [
        ['BAD', 'Blocked'],
        ['OLD', 'Expired'],
      ] as const) {
        expect((await station.connector('authorize', { id_token: idTag })).status).to.equal(status);
        await station.next('Authorize', { idTag });
      }
      expect((await station.get('evse/CP-1/connectors/1')).status).to.equal('preparing');
      expect(await numberOf('StartTransaction')).to.equal(0);
      await unplug();
    });

    it('ClearCache: a cached tag needs no question, after it it does', async () => {
      await station.configure('LocalPreAuthorize', 'true');
      const asked = async () => {
        const before = await numberOf('Authorize');
        await station.start('CACHED');
        await station.connector('authorize', { id_token: 'CACHED' });
        const { payload } = await station.next('StopTransaction');
        expect(payload).to.include({ idTag: 'CACHED', reason: 'Local' });
        await unplug();
        return (await numberOf('Authorize')) - before;
      };
      expect([await asked(), await asked()]).to.deep.equal([1, 0]);
      await station.expectStatus('Accepted', 'ClearCache');
      expect((await station.get('ocpp/CP-1/local-list')).cache).to.deep.equal([]);
      expect(await asked()).to.equal(1);
      await station.configure('LocalPreAuthorize', 'false');
    });

    for (const { stops, title } of [
      { stops: true, title: 'a tag refused by StartTransaction ends the transaction with DeAuthorized' },
      { stops: false, title: 'with StopTransactionOnInvalidId false it suspends the energy' },
    ])
      it(title, async () => {
        await central.rule({ start_tags: { LATE: 'Invalid' } });
        await station.configure('StopTransactionOnInvalidId', String(stops));
        await station.connector('plug', { ev: { soc_pct: 20 } });
        await station.connector('authorize', { id_token: 'LATE' });
        await station.next('StartTransaction', { idTag: 'LATE' });
        if (stops) expect((await station.next('StopTransaction')).payload.reason).to.equal('DeAuthorized');
        else {
          await station.status('SuspendedEVSE');
          const { session, power_kw: powerKw } = await station.get('evse/CP-1/connectors/1');
          expect(session.state).to.equal('suspended');
          expect(powerKw).to.equal(0);
        }
        await station.configure('StopTransactionOnInvalidId', 'true');
        await unplug();
      });
  });

  describe('operations', () => {
    it('ChangeAvailability of a connector in use waits for the end of the transaction', async () => {
      await station.start('TAG-1');
      await station.expectStatus('Scheduled', 'ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
      expect((await station.get('evse/CP-1/connectors/1')).status).to.equal('charging');
      await station.connector('authorize', { id_token: 'TAG-1' });
      await station.status('Unavailable');
      await station.next('StopTransaction');
      await station.connector('unplug');
      await station.expectStatus('Rejected', 'RemoteStartTransaction', { idTag: 'TAG-1', connectorId: 1 });
      await station.expectStatus('Accepted', 'ChangeAvailability', { connectorId: 1, type: 'Operative' });
      await station.status('Available');
    });

    it('ChangeAvailability of the whole station', async () => {
      await station.expectStatus('Accepted', 'ChangeAvailability', { connectorId: 0, type: 'Inoperative' });
      const two = [await station.next('StatusNotification'), await station.next('StatusNotification')];
      expect(two.map(({ payload }) => `${payload.connectorId} ${payload.status}`)).to.have.members([
        '0 Unavailable',
        '1 Unavailable',
      ]);
      await station.expectStatus('Rejected', 'ChangeAvailability', { connectorId: 7, type: 'Operative' });
      await station.expectStatus('Accepted', 'ChangeAvailability', { connectorId: 0, type: 'Operative' });
      await station.status('Available');
    });

    it('DataTransfer both ways', async () => {
      const own = { vendorId: 'derbench', messageId: 'echo', data: 'grüße' };
      expect(await station.call('DataTransfer', own)).to.deep.equal({ status: 'Accepted', data: 'grüße' });
      await station.expectStatus('UnknownMessageId', 'DataTransfer', { ...own, messageId: 'none' });
      await station.expectStatus('UnknownVendorId', 'DataTransfer', { vendorId: 'com.example' });
      const sent = async (vendorId: string) => {
        const payload = { vendorId, messageId: 'm', data: 'to the system' };
        const { result } = await station.post('ocpp/CP-1/call', { action: 'DataTransfer', payload });
        await station.next('DataTransfer', payload);
        return result;
      };
      expect(await sent('org.derbench.test')).to.deep.equal({ status: 'Accepted', data: 'to the system' });
      expect(await sent('com.example')).to.deep.equal({ status: 'UnknownVendorId' });
    });

    it('UnlockConnector ends the transaction before', async () => {
      await station.start('TAG-1');
      expect((await station.get('evse/CP-1/connectors/1')).cable.locked).to.equal(true);
      await station.expectStatus('Unlocked', 'UnlockConnector', { connectorId: 1 });
      expect((await station.next('StopTransaction')).payload.reason).to.equal('UnlockCommand');
      expect((await station.get('evse/CP-1/connectors/1')).cable.locked).to.equal(false);
      await station.expectStatus('NotSupported', 'UnlockConnector', { connectorId: 7 });
      await unplug();
    });

    it('clock-aligned MeterValues without a transaction', async () => {
      await station.configure('ClockAlignedDataInterval', '1');
      const { payload } = await station.next('MeterValues', { connectorId: 1 });
      await station.configure('ClockAlignedDataInterval', '0');
      expect(payload).not.to.have.property('transactionId');
      expect(payload.meterValue[0].sampledValue[0].context).to.equal('Sample.Clock');
      const { energy_wh: energyWh } = await station.get('evse/CP-1/connectors/1');
      expect(sampled({ payload }, 'Energy.Active.Import.Register')).to.be.closeTo(energyWh, 1);
    });

    it('a remote start asks for the tag, since the key says so; a remote stop needs its id', async () => {
      await station.expectStatus('Accepted', 'RemoteStartTransaction', { idTag: 'REMOTE' });
      await station.next('Authorize', { idTag: 'REMOTE' });
      await station.connector('plug', { ev: { soc_pct: 20 } });
      await station.next('StartTransaction', { idTag: 'REMOTE' });
      await station.status('Charging');
      const [{ transaction_id: id }] = (await station.get('ocpp/CP-1/transactions')).transactions;
      await station.expectStatus('Rejected', 'RemoteStopTransaction', { transactionId: Number(id) + 1000 });
      await station.expectStatus('Accepted', 'RemoteStopTransaction', { transactionId: Number(id) });
      expect((await station.next('StopTransaction', { transactionId: Number(id) })).payload.reason).to.equal('Remote');
      await unplug();
    });

    it('Reset Hard: HardReset, and BootNotification', async () => {
      await station.start('TAG-1');
      await station.expectStatus('Accepted', 'Reset', { type: 'Hard' });
      const boots = await numberOf('BootNotification');
      await station.next('(connected)');
      await station.until('the books are complete', async () => {
        const [stops, starts] = [await numberOf('StopTransaction'), await numberOf('StartTransaction')];
        return stops === starts && (await numberOf('BootNotification')) > boots ? true : undefined;
      });
      expect((await central.requests('StopTransaction')).at(-1)?.payload.reason).to.equal('HardReset');
      await station.status('Finishing');
      await unplug();
    });

    it('exchanges the messages of the core profile', () => expectExchanged(central, 'sessions'));
  });
});
