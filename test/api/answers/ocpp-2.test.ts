import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { Site } from '../../ocpp/whole/site.ts';

const id = 'CP-1-1';
const device = 1;

const variable = (component: string, name: string, attributeValue: string): Json => ({
  component: { name: component },
  variable: { name },
  attributeValue,
});
const profile = (profileId: number, limit: number): Json => ({
  id: profileId,
  stackLevel: 1,
  chargingProfilePurpose: 'TxDefaultProfile',
  chargingProfileKind: 'Absolute',
  chargingSchedule: [
    {
      id: 1,
      chargingRateUnit: 'W',
      startSchedule: '2020-01-01T00:00:00Z',
      chargingSchedulePeriod: [{ startPeriod: 0, limit }],
    },
  ],
});
const idToken = { idToken: 'T', type: 'Central' };

describe('GET answers of OCPP 2.1', () => {
  let site: Site;

  beforeEach(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    const isThere = () => site.central.station(id).callsOf('StatusNotification').length > 0;
    await site.until('the station is available', isThere);
  });
  afterEach(() => site.close());

  async function accepted(action: string, payload: Json): Promise<void> {
    expect(await site.call(action, payload, site.central.station(id)), action).to.deep.include({ status: 'Accepted' });
  }
  async function rows(): Promise<readonly Json[]> {
    return (await site.get(`answers?device=${device}`)).answers as Json[];
  }
  const verdicts = async () =>
    (await rows()).map(({ told, found, done, cause }) => [told.name, told.value, found?.value, done, cause]);

  it('finds variables, availability, limits and reservations, each result of a call by itself', async () => {
    const setVariableData = [
      variable('SampledDataCtrlr', 'TxUpdatedInterval', '7'),
      variable('AuthCtrlr', 'NoSuchVariable', '1'),
      variable('AuthCtrlr', 'OfflineTxForUnknownIdEnabled', 'true'),
    ];
    await site.call('SetVariables', { setVariableData }, site.central.station(id));
    await accepted('ChangeAvailability', { operationalStatus: 'Inoperative', evse: { id: 1 } });
    await accepted('ChangeAvailability', { operationalStatus: 'Operative', evse: { id: 1 } });
    await accepted('SetChargingProfile', { evseId: 1, chargingProfile: profile(7, 9000) });
    await accepted('ReserveNow', { id: 4, expiryDateTime: '2099-01-01T00:00:00Z', idToken, evseId: 1 });
    expect(await verdicts()).to.deep.equal([
      ['SampledDataCtrlr.TxUpdatedInterval', '7', '7', true, 'done'],
      ['AuthCtrlr.OfflineTxForUnknownIdEnabled', 'true', 'true', true, 'done'],
      ['availability of connector 1', 'Inoperative', 'Operative', null, 'superseded'],
      ['availability of connector 1', 'Operative', 'Operative', true, 'done'],
      ['charging profile 7', true, true, true, 'done'],
      ['limit of connector 1', 9000, 9000, true, 'done'],
      ['reservation 4', true, true, true, 'done'],
    ]);
    await accepted('CancelReservation', { reservationId: 4 });
    await accepted('ClearChargingProfile', { chargingProfileId: 7 });
    expect((await verdicts()).slice(4)).to.deep.equal([
      ['charging profile 7', true, false, null, 'superseded'],
      ['reservation 4', true, false, null, 'superseded'],
      ['reservation 4', false, false, true, 'done'],
      ['charging profile 7', false, false, true, 'done'],
    ]);
  });

  it('follows a transaction that is started and stopped from afar', async () => {
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 40 } }, device);
    await accepted('RequestStartTransaction', { idToken, remoteStartId: 9, evseId: 1 });
    await site.advance(5);
    const { transactions } = await site.get(`ocpp/${id}/transactions`);
    const transactionId = transactions[0].transaction_id as string;
    await accepted('RequestStopTransaction', { transactionId });
    await site.advance(5);
    expect(await verdicts()).to.deep.equal([
      ['session of T (remoteStartId 9)', true, true, true, 'done'],
      [`transaction ${transactionId}`, 'ended', 'ended', true, 'done'],
    ]);
  });

  it('judges DER controls by their state, their time, and whether the device acts by their registers', async () => {
    const control = (controlId: string, inS: number, pctMaxDischargePower: number): Json => ({
      isDefault: false,
      controlId,
      controlType: 'LimitMaxDischarge',
      limitMaxDischarge: {
        priority: 1,
        pctMaxDischargePower,
        duration: 60,
        startTime: new Date(site.nowMs() + 1000 * inS).toISOString(),
      },
    });
    await accepted('SetDERControl', control('L1', 20, 40));
    expect((await verdicts()).at(-1)).to.deep.equal(['LimitMaxDischarge L1', 'applied', undefined, null, 'unknown']);
    await site.advance(25);
    expect((await verdicts()).at(-1)).to.deep.equal(['LimitMaxDischarge L1', 'applied', 'applied', true, 'done']);
    await site.advance(60);
    expect((await verdicts()).at(-1)).to.deep.equal(['LimitMaxDischarge L1', 'applied', null, null, 'expired']);
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'ignore_effect', points: ['704'], device }] });
    await accepted('SetDERControl', control('L2', 2, 30));
    await site.advance(5);
    const broken = (await rows()).at(-1);
    expect([broken?.done, broken?.cause]).to.deep.equal([false, 'not_done']);
    expect(broken?.explanation).to.match(
      /set the DER control LimitMaxDischarge L2 at .*; the register has \S+, but the device acts by \S+: fault 'ignore_effect' \(\d+\) is on\.$/,
    );
    await accepted('ClearDERControl', { isDefault: false, controlId: 'L2' });
    expect((await verdicts()).slice(-2)).to.deep.equal([
      ['LimitMaxDischarge L2', 'applied', null, null, 'superseded'],
      ['DER control L2', false, false, true, 'done'],
    ]);
  });
});
