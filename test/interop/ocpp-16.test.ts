import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { buildGoCentral } from './support/ocpp-go.ts';
import type { GoCentral } from './support/ocpp-go.ts';
import { StationAtCentral } from './support/ocpp-central.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';

const tag = 'TAG-1';
const rated = 11_000;

/** The sampled value of a measurand in MeterValues, summed over the phases where it has them. */
function sampled({ payload }: { readonly payload: Json }, measurand: string): number | undefined {
  const values: readonly Json[] = payload.meterValue.flatMap((one: Json) => one.sampledValue);
  const own = values.filter((one) => (one.measurand ?? 'Energy.Active.Import.Register') === measurand);
  if (own.length === 0) return undefined;
  const total = own.filter(({ phase }) => phase === undefined);
  return (total.length > 0 ? total : own).reduce<number>((sum, { value }) => sum + Number(value), 0);
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The life of a station at a central system of other people. @param open starts the system */
function lifeOf(open: (port: number) => LinePeer): void {
  let central: LinePeer;
  let station: StationAtCentral;
  let transactionId: number;

  before(async function () {
    this.timeout(120_000);
    const port = await freePorts(1);
    central = open(port);
    await central.ask('ready');
    station = await StationAtCentral.open('CP-1', central, `ws://127.0.0.1:${port}`);
  });
  after(async () => {
    expect(await station.close()).to.equal(0);
    await central.stop();
  });

  /** MeterValues whose power is in a range, and 701.W with them. */
  async function settlesBetween(minW: number, maxW: number): Promise<void> {
    await station.until(`${minW} to ${maxW} W in MeterValues`, async () => {
      const powerW = sampled(await station.next('MeterValues'), 'Power.Active.Import');
      return powerW !== undefined && powerW >= minW && powerW <= maxW ? true : undefined;
    });
    const ownW = -(await station.powerW());
    // 701.W includes the consumption of the station itself
    expect(ownW).to.be.within(minW - 100, maxW + 200);
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
      expect(await station.call('ChangeConfiguration', { key, value })).to.include({ status: 'Accepted' });
    expect(await station.call('ChangeConfiguration', { key: 'NumberOfConnectors', value: '7' })).to.include({
      status: 'Rejected',
    });
    expect(await station.call('ChangeConfiguration', { key: 'NoSuchKey', value: '7' })).to.include({
      status: 'NotSupported',
    });
    const { configurationKey, unknownKey } = await station.call('GetConfiguration', {
      key: ['MeterValueSampleInterval', 'NoSuchKey'],
    });
    expect(configurationKey[0]).to.include({ key: 'MeterValueSampleInterval', value: '1' });
    expect(unknownKey).to.deep.equal(['NoSuchKey']);
  });

  it('ReserveNow and CancelReservation', async () => {
    const reservation = { connectorId: 1, expiryDate: iso(Date.now() + 3_600_000), idTag: tag, reservationId: 42 };
    expect(await station.call('ReserveNow', reservation)).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Reserved' });
    expect(await station.call('CancelReservation', { reservationId: 42 })).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Available' });
    expect(await station.call('CancelReservation', { reservationId: 42 })).to.include({ status: 'Rejected' });
  });

  it('a presented tag is authorised by the central system, and power flows', async () => {
    await station.connector('plug', { ev: { soc_pct: 20 } });
    await station.next('StatusNotification', { connectorId: 1, status: 'Preparing' });
    const { status } = await station.connector('authorize', { id_token: tag });
    expect(status).to.equal('Accepted');
    await station.next('Authorize', { idTag: tag });
    const started = await station.next('StartTransaction', { idTag: tag, connectorId: 1 });
    expect(started.payload.meterStart).to.be.a('number');
    await station.next('StatusNotification', { connectorId: 1, status: 'Charging' });
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
    expect(await station.call('SetChargingProfile', set)).to.include({ status: 'Accepted' });
    await settlesBetween(5700, 6000);
    const composite = await station.call('GetCompositeSchedule', {
      connectorId: 1,
      duration: 600,
      chargingRateUnit: 'W',
    });
    expect(composite).to.include({ status: 'Accepted', connectorId: 1 });
    expect(composite.chargingSchedule.chargingSchedulePeriod[0]).to.include({ startPeriod: 0, limit: 6000 });
    expect(await station.call('ClearChargingProfile', { id: 1 })).to.include({ status: 'Accepted' });
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
          startSchedule: iso(Date.now() - 60_000),
          chargingRateUnit: 'A',
          chargingSchedulePeriod: [{ startPeriod: 0, limit }],
        },
      },
    });
    expect(await station.call('SetChargingProfile', profile(6))).to.include({ status: 'Accepted' });
    await settlesBetween(3900, 4300);
    expect(await station.call('SetChargingProfile', profile(0))).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'SuspendedEVSE' });
    expect(await station.call('ClearChargingProfile', {})).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Charging' });
  });

  it('TriggerMessage', async () => {
    for (const requestedMessage of ['StatusNotification', 'MeterValues', 'Heartbeat', 'BootNotification']) {
      const answer = await station.call('TriggerMessage', { requestedMessage, connectorId: 1 });
      expect(answer, requestedMessage).to.include({ status: 'Accepted' });
      await station.next(requestedMessage);
    }
  });

  it('RemoteStopTransaction ends with Remote, and the energy is that of the meter', async () => {
    expect(await station.call('RemoteStopTransaction', { transactionId })).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Finishing' });
    const stopped = await station.next('StopTransaction', { transactionId });
    expect(stopped.payload.reason).to.equal('Remote');
    const { energy_wh: energyWh } = await station.get('evse/CP-1/connectors/1');
    expect(stopped.payload.meterStop).to.be.closeTo(energyWh, 1);
    await station.connector('unplug');
    await station.next('StatusNotification', { connectorId: 1, status: 'Available' });
  });

  it('RemoteStartTransaction waits for the cable', async () => {
    const answer = await station.call('RemoteStartTransaction', { idTag: 'TAG-2', connectorId: 1 });
    expect(answer).to.include({ status: 'Accepted' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Preparing' });
    await station.connector('plug', { ev: { soc_pct: 30 } });
    await station.next('StartTransaction', { idTag: 'TAG-2' });
    await station.next('StatusNotification', { connectorId: 1, status: 'Charging' });
  });

  it('Reset ends the transaction with SoftReset and boots again', async () => {
    expect(await station.call('Reset', { type: 'Soft' })).to.include({ status: 'Accepted' });
    const stopped = await station.next('StopTransaction');
    expect(stopped.payload.reason).to.equal('SoftReset');
    await station.next('BootNotification');
    await station.next('StatusNotification', { connectorId: 1 });
  });
}

describeWith(['ocpp'], 'a charge point of OCPP 1.6 at the central system of the package ocpp', () => {
  lifeOf((port) => new PythonPeer('central_system', port));
});

describeWith(['go'], 'a charge point of OCPP 1.6 at the central system of ocpp-go', () => {
  let program: GoCentral;

  before(function () {
    this.timeout(180_000);
    program = buildGoCentral();
  });
  after(() => {
    program.remove();
  });

  lifeOf((port) => program.start(port));
});
