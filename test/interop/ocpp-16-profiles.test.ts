import { expect } from 'chai';
import { inSeconds, PythonCentral, sampled } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { expectExchanged } from './support/ocpp-rows.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;
const listed = [
  { idTag: 'LISTED', idTagInfo: { status: 'Accepted' } },
  { idTag: 'BLOCKED', idTagInfo: { status: 'Blocked' } },
];

/** A charging profile of one schedule. */
function profile(
  id: number,
  purpose: 'ChargePointMaxProfile' | 'TxDefaultProfile' | 'TxProfile',
  periods: readonly (readonly [startPeriod: number, limit: number])[],
  { unit = 'W', stackLevel = 0 }: { readonly unit?: 'W' | 'A'; readonly stackLevel?: number } = {},
) {
  return {
    chargingProfileId: id,
    stackLevel,
    chargingProfilePurpose: purpose,
    chargingProfileKind: 'Absolute',
    chargingSchedule: {
      startSchedule: inSeconds(0),
      chargingRateUnit: unit,
      chargingSchedulePeriod: periods.map(([startPeriod, limit]) => ({ startPeriod, limit })),
    },
  };
}

describeWith(['ocpp'], 'lists, reservations and charging profiles of OCPP 1.6 at the package ocpp', () => {
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    central = await PythonCentral.open('CP-1');
    ({ station } = central);
    await station.status('Available');
    await station.registered();
    await station.configure('MeterValueSampleInterval', '1');
  });
  after(() =>
    central.close([
      'ocpp.profile_rule: SetChargingProfile: profile 6: a ChargePointMaxProfile can only be set at connector 0',
      'ocpp.request_rule: SetChargingProfile: profile 6: the first startPeriod must be 0, not 5',
    ]),
  );

  const stop = async (idTag: string) => {
    await station.connector('authorize', { id_token: idTag });
    await station.next('StopTransaction', { idTag });
    await station.connector('unplug');
    await station.status('Available');
  };
  const authorized = async (idTag: string) =>
    (await station.connector('authorize', { id_token: idTag })).status as string;
  /** What became of a tag at the connector when another one has it. */
  const refused = async (idTag: string) =>
    String(await station.connector('authorize', { id_token: idTag }).catch((error: unknown) => error));

  describe('local list', () => {
    const version = async () => (await station.call('GetLocalListVersion')).listVersion as number;

    it('SendLocalList: full, differential, and a version that does not fit', async () => {
      expect(await version()).to.equal(0);
      const gone = { idTag: 'GONE', idTagInfo: { status: 'Accepted' } };
      await station.expectStatus('Accepted', 'SendLocalList', {
        listVersion: 3,
        updateType: 'Full',
        localAuthorizationList: [listed[0], gone],
      });
      expect(await version()).to.equal(3);
      await station.expectStatus('VersionMismatch', 'SendLocalList', {
        listVersion: 3,
        updateType: 'Differential',
        localAuthorizationList: [],
      });
      await station.expectStatus('Accepted', 'SendLocalList', {
        listVersion: 5,
        updateType: 'Differential',
        localAuthorizationList: [listed[1], { idTag: 'GONE' }],
      });
      expect(await version()).to.equal(5);
      const { entries } = await station.get('ocpp/CP-1/local-list');
      expect(entries.map((one: { id_token: string }) => one.id_token)).to.have.members(['LISTED', 'BLOCKED']);
    });

    it('offline the list decides', async () => {
      await central.cut();
      await station.connector('plug', { ev: { soc_pct: 20 } });
      expect(await authorized('BLOCKED')).to.equal('Blocked');
      expect(await authorized('UNKNOWN')).to.equal('Invalid');
      expect(await authorized('LISTED')).to.equal('Accepted');
      await station.until('an offline transaction', async () => {
        const [{ ended_at: ended, transaction_id: id }] = (await station.get('ocpp/CP-1/transactions')).transactions;
        return ended === null && id === null ? true : undefined;
      });
      await central.reopen();
      await station.next('StartTransaction', { idTag: 'LISTED' });
      expect(await central.requests('Authorize')).to.deep.equal([]);
      await stop('LISTED');
    });
  });

  describe('reservations', () => {
    const reserve = (status: string, reservationId: number, more: object = {}) =>
      station.expectStatus(status, 'ReserveNow', {
        connectorId: 1,
        expiryDate: inSeconds(3600),
        idTag: 'MINE',
        reservationId,
        ...more,
      });

    it('only the right tag charges, and StartTransaction tells the reservation', async () => {
      await reserve('Accepted', 43);
      await station.status('Reserved');
      await station.connector('plug', { ev: { soc_pct: 20 } });
      expect(await refused('OTHER')).to.include('reserved for another token');
      await station.expectStatus('Rejected', 'RemoteStartTransaction', { idTag: 'OTHER', connectorId: 1 });
      expect(await authorized('MINE')).to.equal('Accepted');
      const started = await station.next('StartTransaction', { idTag: 'MINE' });
      expect(started.payload.reservationId).to.equal(43);
      await station.status('Charging');
      await reserve('Occupied', 44);
      await stop('MINE');
      // it was used up
      await station.expectStatus('Rejected', 'CancelReservation', { reservationId: 43 });
    });

    it('a tag of the same group may use it', async () => {
      await central.rule({ tags: { FRIEND: { status: 'Accepted', parentIdTag: 'GROUP' } } });
      await reserve('Accepted', 45, { parentIdTag: 'GROUP' });
      await station.status('Reserved');
      expect((await station.start('FRIEND')).payload.reservationId).to.equal(45);
      await stop('FRIEND');
    });

    it('the same id replaces, and CancelReservation ends it', async () => {
      await reserve('Accepted', 46);
      await reserve('Accepted', 46, { idTag: 'OTHER' });
      const { reservations } = await station.get('ocpp/CP-1/reservations');
      expect(reservations).to.have.lengthOf(1);
      expect(reservations[0]).to.include({ reservation_id: 46, id_token: 'OTHER' });
      await station.expectStatus('Accepted', 'CancelReservation', { reservationId: 46 });
      await station.status('Available');
    });

    it('ends at its expiryDate', async () => {
      const expiryDate = inSeconds(2);
      await reserve('Accepted', 47, { expiryDate });
      await station.status('Reserved');
      const { at } = await station.status('Available');
      expect(at * 1000).to.be.at.least(Date.parse(expiryDate) - 1000);
    });

    it('none while the connector is faulted or unavailable', async () => {
      await station.connector('fault', { error_code: 'GroundFailure' });
      await station.status('Faulted');
      await reserve('Faulted', 48);
      await station.connector('clear-fault');
      await station.status('Available');
      await station.expectStatus('Accepted', 'ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
      await reserve('Unavailable', 48);
      await station.expectStatus('Accepted', 'ChangeAvailability', { connectorId: 1, type: 'Operative' });
    });
  });

  describe('smart charging', () => {
    const install = (status: string, connectorId: number, csChargingProfiles: object) =>
      station.expectStatus(status, 'SetChargingProfile', { connectorId, csChargingProfiles });
    const settlesBetween = (minW: number, maxW: number) =>
      station.until(`${minW} to ${maxW} W in MeterValues`, async () => {
        const powerW = sampled(await station.next('MeterValues'), 'Power.Active.Import');
        return powerW !== undefined && powerW >= minW && powerW <= maxW ? powerW : undefined;
      });

    before(() => station.start('TAG-1'));

    it('the lowest of station, default and transaction holds', async () => {
      await install('Accepted', 0, profile(1, 'TxDefaultProfile', [[0, 9000]]));
      await settlesBetween(8500, 9000);
      await install('Accepted', 0, profile(2, 'ChargePointMaxProfile', [[0, 8000]]));
      await settlesBetween(7500, 8000);
      await install('Accepted', 1, profile(3, 'TxProfile', [[0, 7000]]));
      await settlesBetween(6500, 7000);
      // a higher level takes precedence, though it permits more
      await install('Accepted', 1, profile(4, 'TxProfile', [[0, 7600]], { stackLevel: 1 }));
      await settlesBetween(7100, 7600);
      await station.expectStatus('Accepted', 'ClearChargingProfile', { chargingProfilePurpose: 'TxProfile' });
      await settlesBetween(7500, 8000);
      await station.expectStatus('Unknown', 'ClearChargingProfile', { id: 4 });
      await station.expectStatus('Accepted', 'ClearChargingProfile', {});
      await settlesBetween(10_500, 11_100);
    });

    it('the power follows the periods of a schedule, as GetCompositeSchedule says', async () => {
      await install(
        'Accepted',
        1,
        profile(5, 'TxProfile', [
          [0, 8000],
          [5, 6000],
        ]),
      );
      const { chargingSchedule, scheduleStart } = await station.call('GetCompositeSchedule', {
        connectorId: 1,
        duration: 600,
        chargingRateUnit: 'W',
      });
      const [first, second] = chargingSchedule.chargingSchedulePeriod;
      expect([first.limit, second.limit]).to.deep.equal([8000, 6000]);
      await settlesBetween(5500, 6000);
      const [drop] = (await central.requests('MeterValues')).slice(-1);
      const changeMs = Date.parse(scheduleStart) + second.startPeriod * 1000;
      expect(Date.parse(drop?.payload.meterValue[0].timestamp)).to.be.at.least(changeMs - 1000);
      await station.expectStatus('Accepted', 'ClearChargingProfile', { id: 5 });
    });

    it('profiles that cannot be are Rejected', async () => {
      await install('Rejected', 7, profile(6, 'TxDefaultProfile', [[0, 6000]]));
      await install('Rejected', 1, profile(6, 'ChargePointMaxProfile', [[0, 6000]]));
      await install('Rejected', 0, profile(6, 'TxProfile', [[0, 6000]]));
      await install('Rejected', 1, profile(6, 'TxProfile', [[5, 6000]]));
      expect((await station.get('ocpp/CP-1/charging-profiles')).charging_profiles).to.deep.equal([]);
      await stop('TAG-1');
      await install('Rejected', 1, profile(6, 'TxProfile', [[0, 6000]]));
    });

    it('a remote start brings its TxProfile, which ends with the transaction', async () => {
      const answer = {
        idTag: 'TAG-2',
        connectorId: 1,
        chargingProfile: profile(7, 'TxProfile', [[0, 10]], { unit: 'A' }),
      };
      await station.expectStatus('Accepted', 'RemoteStartTransaction', answer);
      await station.connector('plug', { ev: { soc_pct: 20 } });
      await station.next('StartTransaction', { idTag: 'TAG-2' });
      // 10 A on three phases of 230 V
      await settlesBetween(6600, 7000);
      await stop('TAG-2');
      expect((await station.get('ocpp/CP-1/charging-profiles')).charging_profiles).to.deep.equal([]);
    });

    it('exchanges the messages of the three profiles', () => expectExchanged(central, 'profiles'));
  });
});
