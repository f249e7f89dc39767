import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { charge, event, injectedW, metered, report, requestId, set } from './support/ocpp-2-station.ts';
import { PythonCentral } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;

for (const version of ['2.0.1', '2.1'] as const)
  describeWith(['ocpp'], `OCPP ${version} at the package ocpp`, () => {
    let central: PythonCentral;
    let station: StationAtCentral;

    before(async function () {
      this.timeout(openLimitMs);
      central = await PythonCentral.open('CS-1', { options: { version } });
      ({ station } = central);
    });
    after(() => central.close());

    it('boots, and tells the state of its connector', async () => {
      const { payload } = await station.next('BootNotification');
      expect(payload).to.deep.include({ reason: 'PowerUp' });
      await station.next('StatusNotification', { connectorStatus: 'Available', evseId: 1, connectorId: 1 });
      expect(await station.get('ocpp/CS-1')).to.include({ boot_status: 'accepted', subprotocol: `ocpp${version}` });
    });

    it('GetBaseReport: the device model in parts, with the variables that the standard requires', async () => {
      await station.expectStatus('Accepted', 'GetBaseReport', { requestId, reportBase: 'FullInventory' });
      const parts = await report(station, 'NotifyReport');
      const names = parts
        .flatMap(({ reportData }): readonly Json[] => reportData)
        .map(({ component, variable }) => `${component.name as string}.${variable.name as string}`);
      expect(names).to.include.members([
        ...['OCPPCommCtrlr.HeartbeatInterval', 'TxCtrlr.TxStartPoint', 'AuthCtrlr.AuthorizeRemoteStart'],
        ...['SampledDataCtrlr.TxUpdatedInterval', 'EVSE.Power', 'Connector.ConnectorType', 'ClockCtrlr.DateTime'],
      ]);
      expect(names.length).to.be.greaterThan(100);
    });

    it('a session: events without a gap, the energy of the meter, the token of the driver', async () => {
      const transactionId = await charge(station);
      await station.connector('authorize', { id_token: 'TAG-1' });
      const { payload } = await event(station, 'Ended');
      expect(payload.transactionInfo).to.include({ transactionId, stoppedReason: 'Local' });
      await station.connector('unplug');
      const [book]: readonly Json[] = (await central.peer.ask('books')) as readonly Json[];
      expect(book.transactionId).to.equal(transactionId);
      expect(book.events.map(({ seq_no: seqNo }: Json) => seqNo as number)).to.deep.equal(
        book.events.map((_: Json, i: number) => i),
      );
      expect(book.events.filter(({ event_type: type }: Json) => type === 'Started')).to.have.length(1);
    });

    it('RequestStartTransaction and RequestStopTransaction', async () => {
      const idToken = { idToken: 'REMOTE', type: 'Central' };
      await station.expectStatus('Accepted', 'RequestStartTransaction', { idToken, remoteStartId: 5, evseId: 1 });
      await station.connector('plug', { ev: { soc_pct: 20 } });
      const { payload } = await event(station, 'Started');
      expect(payload.transactionInfo.remoteStartId).to.equal(5);
      const { transactionId } = payload.transactionInfo;
      await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId });
      expect((await event(station, 'Ended')).payload).to.deep.include({ triggerReason: 'RemoteStop' });
      await station.connector('unplug');
    });

    it('a charging profile lowers the power in meter values and in 701.W', async () => {
      await set(
        station,
        'SampledDataCtrlr',
        'TxUpdatedMeasurands',
        'Power.Active.Import,Energy.Active.Import.Register',
      );
      await charge(station);
      const fullW = await station.until('full power', async () => {
        const w = await metered(station, 'Power.Active.Import');
        return w > 9000 ? w : undefined;
      });
      await station.expectStatus('Accepted', 'SetChargingProfile', {
        evseId: 1,
        chargingProfile: {
          id: 1,
          stackLevel: 0,
          chargingProfilePurpose: 'TxDefaultProfile',
          chargingProfileKind: 'Relative',
          chargingSchedule: [
            { id: 1, chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 5000 }] },
          ],
        },
      });
      const limitedW = await station.until('the limit', async () => {
        const w = await metered(station, 'Power.Active.Import');
        return w < 5001 ? w : undefined;
      });
      expect(limitedW).to.be.within(4900, 5001);
      expect(limitedW).to.be.below(fullW);
      expect(await injectedW(station)).to.be.within(-5200, -4900);
      const { schedule } = await station.call('GetCompositeSchedule', { evseId: 1, duration: 60 });
      expect(schedule.chargingSchedulePeriod[0].limit).to.equal(5000);
      await station.expectStatus('Accepted', 'GetChargingProfiles', { requestId, chargingProfile: {}, evseId: 1 });
      const reported = await station.next('ReportChargingProfiles', { requestId });
      expect(reported.payload.chargingProfile.map(({ id }: Json) => id as number)).to.include(1);
      await station.expectStatus('Accepted', 'ClearChargingProfile', { chargingProfileId: 1 });
      await station.connector('unplug');
      await event(station, 'Ended');
    });

    it('Reset ends the session and boots with its reason', async () => {
      await charge(station);
      await station.expectStatus('Accepted', 'Reset', { type: 'Immediate' });
      expect((await event(station, 'Ended')).payload.transactionInfo.stoppedReason).to.equal('ImmediateReset');
      expect((await station.next('BootNotification')).payload.reason).to.equal('RemoteReset');
      await station.connector('unplug');
    });
  });

describeWith(['ocpp'], 'DER control of OCPP 2.1 at the package ocpp', () => {
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    central = await PythonCentral.open('CS-1', { options: { version: '2.1' }, profile: 'EVSE-V2G-DC-50kW-bidir' });
    ({ station } = central);
    await station.next('StatusNotification');
  });
  after(() => central.close());

  const control = (controlType: string, controlId: string, facts: Json, isDefault = true) =>
    station.call('SetDERControl', { isDefault, controlId, controlType, ...facts });

  it('VoltVar: reactive power follows the curve at nine voltages', async () => {
    const curve = {
      priority: 1,
      yUnit: 'PctMaxVar',
      responseTime: 0.1,
      curveData: [
        { x: 92, y: 40 },
        { x: 97, y: 0 },
        { x: 103, y: 0 },
        { x: 108, y: -40 },
      ],
    };
    expect(await control('VoltVar', 'vv', { curve })).to.deep.include({ status: 'Accepted' });
    const { points } = await station.get('registers/702?device=0&points=VarMaxInj,VarMaxAbs');
    const [injVar, absVar] = points.map(({ value }: Json) => Number(value)) as [number, number];
    for (const pct of [90, 92, 94, 96, 100, 104, 106, 108, 110]) {
      await station.post('controls/grid', { voltage_pu: pct / 100 });
      const y = pct <= 97 ? Math.min(40, (97 - pct) * 8) : pct < 103 ? 0 : Math.max(-40, (103 - pct) * 8);
      const expectedVar = (y / 100) * (y >= 0 ? injVar : absVar);
      await station.until(`${expectedVar} var at ${pct} %`, async () => {
        const m701 = await station.get('registers/701?device=0&points=Var');
        return Math.abs(Number(m701.points[0].value) - expectedVar) <= 0.02 * injVar || undefined;
      });
    }
    await station.post('controls/grid', { voltage_pu: 1 });
  });

  it('GetDERControl reports it, ClearDERControl ends it', async () => {
    await station.expectStatus('Accepted', 'GetDERControl', { requestId, controlType: 'VoltVar' });
    const { payload } = await station.next('ReportDERControl', { requestId });
    expect(payload.curve.map(({ id }: Json) => id as string)).to.deep.equal(['vv']);
    await station.expectStatus('Accepted', 'ClearDERControl', { isDefault: true, controlId: 'vv' });
    await station.expectStatus('NotFound', 'ClearDERControl', { isDefault: true, controlId: 'vv' });
    expect((await station.get('ocpp/CS-1/der-controls')).controls).to.deep.equal([]);
    await station.until('the registers are as before', async () => {
      const { changes } = await station.get('registers/changes?device=0');
      return changes.length === 0 || undefined;
    });
  });

  it('refuses functions without physics', async () => {
    const curve = {
      priority: 1,
      yUnit: 'PctMaxW',
      curveData: [
        { x: 50, y: 100 },
        { x: 51, y: 0 },
      ],
    };
    expect((await control('FreqWatt', 'fw', { curve })).status).to.equal('NotSupported');
  });

  it('LimitMaxDischarge: a vehicle that discharges gives no more', async () => {
    await charge(station, { soc_pct: 80, max_discharge_kw: 50 });
    await station.connector('discharge', { power_kw: 30 });
    await station.until('the vehicle discharges', async () => ((await injectedW(station)) > 25_000 ? true : undefined));
    expect(
      (await control('LimitMaxDischarge', 'lim', { limitMaxDischarge: { priority: 1, pctMaxDischargePower: 20 } }))
        .status,
    ).to.equal('Accepted');
    const limitW = await station.until('the limit', async () => {
      const w = await injectedW(station);
      return w < 10_500 ? w : undefined;
    });
    expect(limitW).to.be.within(8_000, 10_500);
    const alarm = await station.next('NotifyDERAlarm', { controlType: 'LimitMaxDischarge' });
    expect(alarm.payload.alarmEnded ?? false).to.equal(false);
    await station.expectStatus('Accepted', 'ClearDERControl', { isDefault: true });
    await station.until('the discharge returns', async () => ((await injectedW(station)) > 25_000 ? true : undefined));
  });

  it('tells of alarms during a named grid event', async () => {
    // back in service soon
    const enterService = {
      priority: 1,
      highVoltage: 110,
      lowVoltage: 88,
      highFreq: 61,
      lowFreq: 49,
      delay: 5,
      randomDelay: 0,
      rampRate: 5,
    };
    expect((await control('EnterService', 'es', { enterService })).status).to.equal('Accepted');
    await station.post('controls/grid/event', { event: 'swell', parameters: { level_pu: 1.3, duration_s: 5 } });
    const begun = await station.next('NotifyDERAlarm', { controlType: 'HVMustTrip', gridEventFault: 'OverVoltage' });
    expect(begun.payload.alarmEnded ?? false).to.equal(false);
    // the way back into service follows EnterService, which takes the alarm over (R05.FR.04)
    const ended = await station.next('NotifyDERAlarm', { controlType: 'EnterService', alarmEnded: true });
    expect(Date.parse(ended.payload.timestamp)).to.be.above(Date.parse(begun.payload.timestamp));
    await station.expectStatus('Accepted', 'ClearDERControl', { isDefault: true });
  });
});
