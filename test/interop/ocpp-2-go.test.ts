import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { charge, event, injectedW, metered, report, requestId, set } from './support/ocpp-2-station.ts';
import { inSeconds, sampled } from './support/ocpp-central.ts';
import type { CentralOptions, StationAtCentral } from './support/ocpp-central.ts';
import { FileServer } from './support/ocpp-files.ts';
import { startGoCentral } from './support/ocpp-go.ts';
import { goFlags, goOptions, GoStation } from './support/ocpp-go-station.ts';
import { profilesOf } from './support/ocpp-security.ts';
import { describeWith } from './support/peers.ts';

const hexadecimal = '00ff3a80c3289f7b0a0d22275c00fe01';
const register = 'Energy.Active.Import.Register';
const activePower = 'Power.Active.Import';

describeWith(['go'], 'a charging station of OCPP 2.0.1 at the CSMS of ocpp-go', () => {
  const files = new FileServer();
  let both: GoStation;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(120_000);
    await files.open();
    both = await GoStation.open('CS-1');
    ({ station } = both);
  });
  after(async () => {
    await both.close();
    await files.close();
  });

  const status = (connectorStatus: string) =>
    station.next('StatusNotification', { connectorStatus, evseId: 1, connectorId: 1 });
  /** An answer as it came: the types of ocpp-go drop members that they do not know. */
  const answerOf = async (action: string, payload: Json) => {
    await station.expectStatus('Accepted', action, payload);
    return (await station.next('(answer)', { status: 'Accepted' })).payload;
  };
  /** Power in meter values on request, and 701.W with it, once it is in a range. */
  async function settlesBetween(minW: number, maxW: number): Promise<void> {
    await station.until(`${minW} to ${maxW} W`, async () => {
      const powerW = await metered(station, activePower);
      return (powerW >= minW && powerW <= maxW) || undefined;
    });
    // 701.W includes the consumption of the station itself
    expect(-(await injectedW(station)), '701.W').to.be.within(minW - 100, maxW + 200);
  }
  async function unplug(): Promise<void> {
    await station.connector('unplug');
    await status('Available');
  }

  it('boots, and tells the state of its connector', async () => {
    const { payload } = await station.next('BootNotification');
    expect(payload.reason).to.equal('PowerUp');
    expect(payload.chargingStation).to.include.keys('model', 'vendorName', 'firmwareVersion');
    await status('Available');
    expect(await station.get('ocpp/CS-1')).to.include({ boot_status: 'accepted', subprotocol: 'ocpp2.0.1' });
  });

  it('GetBaseReport: the device model in parts', async () => {
    await station.expectStatus('Accepted', 'GetBaseReport', { requestId, reportBase: 'FullInventory' });
    const parts = await report(station, 'NotifyReport');
    expect(parts.length).to.be.greaterThan(1);
    const names = parts
      .flatMap(({ reportData }): readonly Json[] => reportData)
      .map(({ component, variable }) => `${component.name as string}.${variable.name as string}`);
    expect(names).to.include.members([
      ...['OCPPCommCtrlr.HeartbeatInterval', 'TxCtrlr.TxStartPoint', 'AuthCtrlr.AuthorizeRemoteStart'],
      ...['SampledDataCtrlr.TxUpdatedInterval', 'EVSE.Power', 'Connector.ConnectorType', 'ClockCtrlr.DateTime'],
    ]);
  });

  it('SetVariables and GetVariables', async () => {
    const interval = { component: { name: 'SampledDataCtrlr' }, variable: { name: 'TxUpdatedInterval' } };
    const capacity = {
      component: { name: 'DeviceDataCtrlr' },
      variable: { name: 'BytesPerMessage', instance: 'GetReport' },
    };
    const unknown = { component: { name: 'SampledDataCtrlr' }, variable: { name: 'NoSuchVariable' } };
    const foreign = { component: { name: 'NoSuchCtrlr' }, variable: { name: 'TxUpdatedInterval' } };
    const { setVariableResult } = await station.call('SetVariables', {
      setVariableData: [interval, capacity, unknown, foreign].map((one) => ({ ...one, attributeValue: '2' })),
    });
    expect(setVariableResult.map(({ attributeStatus }: Json) => attributeStatus as string)).to.deep.equal([
      ...['Accepted', 'Rejected', 'UnknownVariable', 'UnknownComponent'],
    ]);
    const { getVariableResult } = await station.call('GetVariables', { getVariableData: [interval, unknown, foreign] });
    expect(getVariableResult[0]).to.deep.include({ ...interval, attributeStatus: 'Accepted', attributeValue: '2' });
    expect(getVariableResult.map(({ attributeStatus }: Json) => attributeStatus as string)).to.deep.equal([
      ...['Accepted', 'UnknownVariable', 'UnknownComponent'],
    ]);
    await set(station, 'SampledDataCtrlr', 'TxUpdatedInterval', '0');
    for (const phase of ['TxStarted', 'TxUpdated', 'TxEnded'])
      await set(station, 'SampledDataCtrlr', `${phase}Measurands`, `${register},${activePower}`);
  });

  it('a session: the token is authorised, events without a gap, the energy of the meter', async () => {
    await station.connector('plug', { ev: { soc_pct: 20 } });
    await station.connector('authorize', { id_token: 'TAG-1' });
    const authorized = await station.next('Authorize');
    expect(authorized.payload.idToken.idToken).to.equal('TAG-1');
    const started = await event(station, 'Started');
    const { transactionId } = started.payload.transactionInfo;
    expect(started.payload.seqNo).to.equal(0);
    const events = [started];
    const energies = [sampled(started, register)];
    /** The next event follows the last one. */
    const follow = async () => {
      const next = await station.next('TransactionEvent');
      expect(next.payload.seqNo).to.equal(events.length);
      expect(next.payload.transactionInfo.transactionId).to.equal(transactionId);
      events.push(next);
      if (next.payload.meterValue !== undefined) energies.push(sampled(next, register));
      return next.payload;
    };
    await station.until('it charges', async () =>
      (await follow()).transactionInfo.chargingState === 'Charging' ? true : undefined,
    );
    for (let more = 0; more < 3; more++) {
      const trigger = { requestedMessage: 'TransactionEvent', evse: { id: 1 } };
      await station.expectStatus('Accepted', 'TriggerMessage', trigger);
      await station.until('the event asked for', async () =>
        (await follow()).triggerReason === 'Trigger' ? true : undefined,
      );
    }
    await station.connector('authorize', { id_token: 'TAG-1' });
    await station.until('the end', async () => ((await follow()).eventType === 'Ended' ? true : undefined));
    expect(events.at(-1)?.payload.transactionInfo.stoppedReason).to.equal('Local');
    expect(events.some(({ payload }) => payload.idToken?.idToken === 'TAG-1')).to.equal(true);
    expect(energies.length).to.be.at.least(4);
    energies.forEach((energy, i) => {
      expect(energy).to.be.at.least(energies[i - 1] ?? 0);
    });
    const { energy_wh: energyWh } = await station.get('evse/CS-1/connectors/1');
    expect(energies.at(-1)).to.be.greaterThan(energies[0] ?? NaN);
    expect((energies.at(-1) ?? NaN) - (energies[0] ?? NaN), 'energy of the session').to.be.closeTo(energyWh, 2);
    await unplug();
  });

  it('RequestStartTransaction and RequestStopTransaction', async () => {
    const idToken = { idToken: 'REMOTE', type: 'Central' };
    await station.expectStatus('Accepted', 'RequestStartTransaction', { idToken, remoteStartId: 5, evseId: 1 });
    await station.connector('plug', { ev: { soc_pct: 20 } });
    const { payload } = await event(station, 'Started');
    expect(payload.transactionInfo.remoteStartId).to.equal(5);
    const { transactionId } = payload.transactionInfo;
    await station.expectStatus('Rejected', 'RequestStopTransaction', { transactionId: 'no-such-transaction' });
    await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId });
    const ended = await event(station, 'Ended', { triggerReason: 'RemoteStop' });
    expect(ended.payload.transactionInfo).to.include({ transactionId, stoppedReason: 'Remote' });
    await unplug();
  });

  it('a charging profile lowers the power in meter values and in 701.W; without it the power returns', async () => {
    const transactionId = await charge(station);
    await settlesBetween(9000, 11_000);
    const chargingProfile = {
      id: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxProfile',
      chargingProfileKind: 'Relative',
      transactionId,
      chargingSchedule: [{ id: 1, chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 5000 }] }],
    };
    await station.expectStatus('Rejected', 'SetChargingProfile', {
      evseId: 1,
      chargingProfile: { ...chargingProfile, transactionId: 'no-such-transaction' },
    });
    await station.expectStatus('Accepted', 'SetChargingProfile', { evseId: 1, chargingProfile });
    await settlesBetween(4900, 5001);
    const { schedule } = await answerOf('GetCompositeSchedule', { evseId: 1, duration: 60, chargingRateUnit: 'W' });
    expect(schedule).to.include({ evseId: 1, duration: 60, chargingRateUnit: 'W' });
    expect(schedule.chargingSchedulePeriod[0]).to.include({ startPeriod: 0, limit: 5000 });
    await station.expectStatus('Accepted', 'GetChargingProfiles', { requestId, chargingProfile: {}, evseId: 1 });
    const reported = await station.next('ReportChargingProfiles', { requestId, chargingLimitSource: 'CSO' });
    expect(reported.payload.chargingProfile[0]).to.deep.include({ id: 1, transactionId });
    await station.expectStatus('Accepted', 'ClearChargingProfile', { chargingProfileId: 1 });
    await settlesBetween(9000, 11_000);
    await unplug();
  });

  it('ReserveNow keeps the connector for a token, which uses it', async () => {
    const idToken = { idToken: 'TAG-1', type: 'KeyCode' };
    const reservation = { id: 42, expiryDateTime: inSeconds(3600), idToken, evseId: 1 };
    await station.expectStatus('Accepted', 'ReserveNow', { ...reservation, id: 41 });
    await status('Reserved');
    await station.expectStatus('Accepted', 'CancelReservation', { reservationId: 41 });
    await status('Available');
    await station.expectStatus('Rejected', 'CancelReservation', { reservationId: 41 });
    await station.expectStatus('Accepted', 'ReserveNow', reservation);
    await status('Reserved');
    const transactionId = await charge(station);
    const used = await station.ever('TransactionEvent', { reservationId: 42 });
    expect(used.payload.transactionInfo.transactionId).to.equal(transactionId);
    await station.expectStatus('Rejected', 'CancelReservation', { reservationId: 42 });
    await unplug();
  });

  it('TriggerMessage', async () => {
    for (const requestedMessage of [
      'MeterValues',
      'Heartbeat',
      'LogStatusNotification',
      'FirmwareStatusNotification',
    ]) {
      await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage });
      await station.next(requestedMessage);
    }
    const requestedMessage = 'StatusNotification';
    await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage, evse: { id: 1, connectorId: 1 } });
    await status('Available');
    // it is accepted already (F06.FR.17)
    await station.expectStatus('Rejected', 'TriggerMessage', { requestedMessage: 'BootNotification' });
    await station.expectStatus('NotImplemented', 'TriggerMessage', { requestedMessage: 'SignV2GCertificate' });
  });

  it('SetVariableMonitoring: NotifyEvent when a threshold is passed, and when it is no more', async () => {
    const place = { component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' } };
    await set(station, 'MonitoringCtrlr', 'Enabled', 'true');
    const { setMonitoringResult } = await station.call('SetVariableMonitoring', {
      setMonitoringData: [{ ...place, value: 3000, type: 'UpperThreshold', severity: 5 }],
    });
    expect(setMonitoringResult[0]).to.deep.include({ ...place, status: 'Accepted', type: 'UpperThreshold' });
    const variableMonitoringId: number = setMonitoringResult[0].id;
    await charge(station);
    const told = async (): Promise<Json> => {
      const { payload } = await station.next('NotifyEvent');
      return payload.eventData.find((one: Json) => one.variableMonitoringId === variableMonitoringId);
    };
    const passed = await station.until('the threshold is passed', told);
    expect(passed).to.deep.include({ ...place, trigger: 'Alerting', eventNotificationType: 'CustomMonitor' });
    expect(Number(passed.actualValue)).to.be.greaterThan(3000);
    await station.connector('unplug');
    const cleared = await station.until('it is passed no more', told);
    expect(cleared).to.deep.include({ ...place, cleared: true });
    await station.expectStatus('Accepted', 'GetMonitoringReport', { requestId });
    const parts = await report(station, 'NotifyMonitoringReport');
    expect(JSON.stringify(parts)).to.include(`"id":${variableMonitoringId}`);
    const { clearMonitoringResult } = await station.call('ClearVariableMonitoring', { id: [variableMonitoringId] });
    expect(clearMonitoringResult).to.deep.equal([{ id: variableMonitoringId, status: 'Accepted' }]);
  });

  it('GetLog delivers a file', async () => {
    for (const logType of ['DiagnosticsLog', 'SecurityLog']) {
      const { filename } = await station.expectStatus('Accepted', 'GetLog', {
        logType,
        requestId,
        retries: 0,
        log: { remoteLocation: files.url() },
      });
      for (const one of ['Uploading', 'Uploaded'])
        expect((await station.next('LogStatusNotification', { requestId })).payload.status).to.equal(one);
      const text = files.uploads.get(filename);
      expect(text).to.include(logType === 'SecurityLog' ? 'StartupOfTheDevice' : 'BootNotification');
    }
  });

  it('Reset waits for the end of the session, or ends it; then it boots with its reason', async () => {
    const first = await charge(station);
    await station.expectStatus('Scheduled', 'Reset', { type: 'OnIdle' });
    await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId: first });
    await event(station, 'Ended');
    await station.connector('unplug');
    expect((await station.next('BootNotification')).payload.reason).to.equal('ScheduledReset');
    await status('Available');
    await charge(station);
    await station.expectStatus('Accepted', 'Reset', { type: 'Immediate' });
    expect((await event(station, 'Ended')).payload.transactionInfo.stoppedReason).to.equal('ImmediateReset');
    expect((await station.next('BootNotification')).payload.reason).to.equal('RemoteReset');
    await station.connector('unplug');
  });
});

describeWith(['go', 'openssl'], 'security profiles of OCPP 2.0.1 at ocpp-go', () => {
  profilesOf({
    open: (port: number, options: CentralOptions) => startGoCentral(port, { ...options, ...goOptions }),
    flags: goFlags,
    // all of it is text, also hexadecimal digits
    password: hexadecimal,
    octets: Buffer.from(hexadecimal),
    atWork: async (station, profile) => {
      const { getVariableResult } = await station.call('GetVariables', {
        getVariableData: [{ component: { name: 'SecurityCtrlr' }, variable: { name: 'SecurityProfile' } }],
      });
      expect(getVariableResult[0].attributeValue).to.equal(String(profile));
      const transactionId = await charge(station);
      await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId });
      await event(station, 'Ended');
      await station.connector('unplug');
      await station.next('StatusNotification', { connectorStatus: 'Available' });
    },
  });
});
