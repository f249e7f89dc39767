import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { inSeconds, sampled, StationAtCentral } from './support/ocpp-central.ts';
import { startGoCentral } from './support/ocpp-go.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';

const tag = 'TAG-1';
const rated = 11_000;
const openLimitMs = 120_000;

/** The life of a station at a central system of other people. @param open starts the system */
function lifeOf(open: (port: number) => LinePeer): void {
  let central: LinePeer;
  let station: StationAtCentral;
  let master: PythonPeer;
  let transactionId: number;

  before(async function () {
    this.timeout(openLimitMs);
    const port = await freePorts(1);
    central = open(port);
    await central.ask('ready');
    station = await StationAtCentral.open('CP-1', central, `ws://127.0.0.1:${port}`);
    master = new PythonPeer('sunspec_master', station.simulator.modbusPort);
    await master.ask('scan');
  });
  after(async () => {
    await master.stop();
    expect(await central.ask('refused')).to.deep.equal([]);
    expect(await station.brokenRules()).to.deep.equal([]);
    expect(await station.close()).to.equal(0);
    await central.stop();
  });

  /** MeterValues whose power is in a range, and 701.W with them. */
  async function settlesBetween(minW: number, maxW: number): Promise<void> {
    await station.until(`${minW} to ${maxW} W in MeterValues`, async () => {
      const powerW = sampled(await station.next('MeterValues'), 'Power.Active.Import');
      return powerW !== undefined && powerW >= minW && powerW <= maxW ? true : undefined;
    });
    const ownW = -(await master.ask('read_point', { model: 701, path: 'W' }));
    // 701.W includes the consumption of the station itself
    expect(ownW, '701.W as pysunspec2 reads it').to.be.within(minW - 100, maxW + 200);
  }

  it('BootNotification is accepted, then StatusNotification of connectors 0 and 1', async () => {
    const boot = await station.next('BootNotification');
    expect(boot.payload).to.include.keys('chargePointVendor', 'chargePointModel');
    const statuses = [await station.next('StatusNotification'), await station.next('StatusNotification')];
    expect(statuses.map(({ payload }) => [payload.connectorId, payload.status])).to.have.deep.members([
      [0, 'Available'],
      [1, 'Available'],
    ]);
    const status = await station.get('ocpp/CP-1');
    expect(status).to.include({ connection_state: 'connected', boot_status: 'accepted', subprotocol: 'ocpp1.6' });
  });

  it('GetConfiguration and ChangeConfiguration', async () => {
    for (const [key, value] of [
      ['MeterValueSampleInterval', '1'],
      ['MeterValuesSampledData', 'Energy.Active.Import.Register,Power.Active.Import,Current.Import,Voltage,SoC'],
    ])
      await station.expectStatus('Accepted', 'ChangeConfiguration', { key, value });
    await station.expectStatus('Rejected', 'ChangeConfiguration', { key: 'NumberOfConnectors', value: '7' });
    await station.expectStatus('NotSupported', 'ChangeConfiguration', { key: 'NoSuchKey', value: '7' });
    const { configurationKey, unknownKey } = await station.call('GetConfiguration', {
      key: ['MeterValueSampleInterval', 'NoSuchKey'],
    });
    expect(configurationKey[0]).to.include({ key: 'MeterValueSampleInterval', value: '1' });
    expect(unknownKey).to.deep.equal(['NoSuchKey']);
  });

  it('ReserveNow and CancelReservation', async () => {
    const reservation = { connectorId: 1, expiryDate: inSeconds(3600), idTag: tag, reservationId: 42 };
    await station.expectStatus('Accepted', 'ReserveNow', reservation);
    await station.status('Reserved');
    await station.expectStatus('Accepted', 'CancelReservation', { reservationId: 42 });
    await station.status('Available');
    await station.expectStatus('Rejected', 'CancelReservation', { reservationId: 42 });
  });

  it('a presented tag is authorised by the central system, and power flows', async () => {
    await station.connector('plug', { ev: { soc_pct: 20 } });
    await station.status('Preparing');
    const { status } = await station.connector('authorize', { id_token: tag });
    expect(status).to.equal('Accepted');
    await station.next('Authorize', { idTag: tag });
    const started = await station.next('StartTransaction', { idTag: tag, connectorId: 1 });
    expect(started.payload.meterStart).to.be.a('number');
    await station.status('Charging');
    const first = await station.next('MeterValues', { connectorId: 1 });
    transactionId = first.payload.transactionId;
    expect(transactionId).to.be.greaterThan(0);
    await settlesBetween(0.8 * rated, rated);
  });

  it('a charging profile lowers the power in MeterValues and in 701.W; without it the power returns', async () => {
    const chargingProfile = {
      chargingProfileId: 1,
      transactionId,
      stackLevel: 1,
      chargingProfilePurpose: 'TxProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 6000 }] },
    };
    const set = { connectorId: 1, csChargingProfiles: chargingProfile };
    await station.expectStatus('Accepted', 'SetChargingProfile', set);
    await settlesBetween(5700, 6000);
    const composite = await station.call('GetCompositeSchedule', {
      connectorId: 1,
      duration: 600,
      chargingRateUnit: 'W',
    });
    expect(composite).to.include({ status: 'Accepted', connectorId: 1 });
    expect(composite.chargingSchedule.chargingSchedulePeriod[0]).to.include({ startPeriod: 0, limit: 6000 });
    await station.expectStatus('Accepted', 'ClearChargingProfile', { id: 1 });
    await settlesBetween(0.8 * rated, rated);
  });

  it('a limit of 6 A on three phases; a limit of 0 suspends the transaction', async () => {
    const profile = (limit: number) => ({
      connectorId: 0,
      csChargingProfiles: {
        chargingProfileId: 2,
        stackLevel: 0,
        chargingProfilePurpose: 'TxDefaultProfile',
        chargingProfileKind: 'Absolute',
        chargingSchedule: {
          startSchedule: inSeconds(-60),
          chargingRateUnit: 'A',
          chargingSchedulePeriod: [{ startPeriod: 0, limit }],
        },
      },
    });
    await station.expectStatus('Accepted', 'SetChargingProfile', profile(6));
    await settlesBetween(3900, 4300);
    await station.expectStatus('Accepted', 'SetChargingProfile', profile(0));
    await station.status('SuspendedEVSE');
    await station.expectStatus('Accepted', 'ClearChargingProfile', {});
    await station.status('Charging');
  });

  it('TriggerMessage', async () => {
    for (const requestedMessage of ['StatusNotification', 'MeterValues', 'Heartbeat', 'BootNotification']) {
      const answer = await station.call('TriggerMessage', { requestedMessage, connectorId: 1 });
      expect(answer, requestedMessage).to.include({ status: 'Accepted' });
      await station.next(requestedMessage);
    }
  });

  it('RemoteStopTransaction ends with Remote, and the energy is that of the meter', async () => {
    await station.expectStatus('Accepted', 'RemoteStopTransaction', { transactionId });
    await station.status('Finishing');
    const stopped = await station.next('StopTransaction', { transactionId });
    expect(stopped.payload.reason).to.equal('Remote');
    const { energy_wh: energyWh } = await station.get('evse/CP-1/connectors/1');
    expect(stopped.payload.meterStop).to.be.closeTo(energyWh, 1);
    await station.connector('unplug');
    await station.status('Available');
  });

  it('RemoteStartTransaction waits for the cable', async () => {
    const answer = await station.call('RemoteStartTransaction', { idTag: 'TAG-2', connectorId: 1 });
    expect(answer).to.include({ status: 'Accepted' });
    await station.status('Preparing');
    await station.connector('plug', { ev: { soc_pct: 30 } });
    await station.next('StartTransaction', { idTag: 'TAG-2' });
    await station.status('Charging');
  });

  it('Reset ends the transaction with SoftReset and boots again', async () => {
    await station.expectStatus('Accepted', 'Reset', { type: 'Soft' });
    const stopped = await station.next('StopTransaction');
    expect(stopped.payload.reason).to.equal('SoftReset');
    await station.next('BootNotification');
    await station.next('StatusNotification', { connectorId: 1 });
  });
}

describeWith(['ocpp', 'pysunspec2'], 'a charge point of OCPP 1.6 at the central system of the package ocpp', () => {
  lifeOf((port) => new PythonPeer('central_system', port));
});

describeWith(['go', 'pysunspec2'], 'a charge point of OCPP 1.6 at the central system of ocpp-go', () => {
  lifeOf((port) => startGoCentral(port));
});
