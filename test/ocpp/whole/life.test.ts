import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { Central } from '../central/central.ts';
import type { CentralStation } from '../central/station.ts';

const id = 'CP-1';
/** of the vehicle that arrives where no other is named */
const ratedW = 11_000;

/** The value of a measurand in MeterValues. */
const sampled = (payload: Json, measurand: string): number =>
  Number(payload.meterValue[0].sampledValue.find((each: Json) => each.measurand === measurand).value);

describe('the whole simulator with a charge point of OCPP 1.6 at a central system', () => {
  let central: Central;
  let station: CentralStation;
  let app: App;
  let port: number;
  const wall = new HandWall();
  const timers = new HandTimers(wall);

  before(async () => {
    central = await Central.open();
    station = central.station(id);
    ({ app, port } = await startApp(
      ['EVSE'],
      [
        ...['--tick', '1', '--remote_clock', 'simulated', '--ocpp_enable', 'yes', '--ocpp_csms_url', central.url],
        ...['--ocpp_csid', id, '--ocpp_auto_authorize', 'no'],
      ],
      { wall, later: timers.later },
    ));
  });
  after(async () => {
    await app.stop();
    await central.close();
  });

  const post = async (operation: string, body: Json = {}) => {
    const { status, json } = await ask(port, `/api/sim/evse/${id}/connectors/1/${operation}`, { method: 'POST', body });
    expect(status, JSON.stringify(json)).to.equal(200);
    return json;
  };
  const peers = () => app.adapters.find(({ comm }) => comm === 'ocpp')?.status().peers;
  const turnsUntil = async (done: () => boolean) => {
    for (let turns = 0; !done() && turns < 10_000; turns += 1) await nextTurn();
    expect(done()).to.equal(true);
  };
  const powerW = () => Number(app.plant.devices[0]?.bank.map.m701.W);
  const run = (seconds: number) => app.plant.step(seconds);
  const call = async (action: string, payload: Json = {}) => {
    const reply = await station.call(action, payload);
    return reply.kind === 'result' ? reply.payload : reply;
  };
  const status = (connectorId: number, word: string) =>
    station.next('StatusNotification', (told) => told.connectorId === connectorId && told.status === word);
  const setting = async (key: string, value: string) =>
    expect((await call('ChangeConfiguration', { key, value })).status, key).to.equal('Accepted');
  const profile = (limit: number, more: Json = {}) => ({
    chargingProfileId: 1,
    stackLevel: 0,
    chargingProfilePurpose: 'TxDefaultProfile',
    chargingProfileKind: 'Relative',
    chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit }] },
    ...more,
  });

  it('boots, and reports both connectors (4.2, 4.9)', async () => {
    expect((await station.next('BootNotification')).payload.chargePointVendor).to.equal('derbench');
    await status(0, 'Available');
    await status(1, 'Available');
    await station.nextConnection();
    expect(app.adapters.find(({ comm }) => comm === 'ocpp')?.status()).to.include({ state: 'connected', peers: 1 });
  });

  it('charges after Authorize, with power in MeterValues and in 701.W (4.8, 4.7)', async () => {
    await setting('MeterValueSampleInterval', '5');
    await setting('MeterValuesSampledData', 'Energy.Active.Import.Register,Power.Active.Import');
    await post('plug', { ev: { soc_pct: 20 } });
    await status(1, 'Preparing');
    await post('authorize', { id_token: 'TAG-1' });
    expect((await station.next('Authorize')).payload).to.deep.equal({ idTag: 'TAG-1' });
    const { payload } = await station.next('StartTransaction');
    expect(payload).to.include({ connectorId: 1, idTag: 'TAG-1', meterStart: 0 });
    await run(60);
    await status(1, 'Charging');
    const values = await station.next('MeterValues', (told) => sampled(told, 'Power.Active.Import') > 0.9 * ratedW);
    expect(values.payload.connectorId).to.equal(1);
    expect(-powerW()).to.be.closeTo(ratedW, 200);
  });

  it('a charging profile lowers the power, and returns it when it is cleared (5.16, 5.4)', async () => {
    expect((await call('SetChargingProfile', { connectorId: 1, csChargingProfiles: profile(6000) })).status).to.equal(
      'Accepted',
    );
    await run(30);
    expect(-powerW()).to.be.within(5900, 6200);
    const composite = await call('GetCompositeSchedule', { connectorId: 1, duration: 60, chargingRateUnit: 'W' });
    expect(composite.chargingSchedule.chargingSchedulePeriod[0]).to.include({ startPeriod: 0, limit: 6000 });
    expect((await call('ClearChargingProfile', { id: 1 })).status).to.equal('Accepted');
    await run(30);
    expect(-powerW()).to.be.closeTo(ratedW, 200);
  });

  it('a cut line loses neither the end of a transaction nor its energy (3.7)', async () => {
    station.cut();
    await turnsUntil(() => peers() === 0);
    await run(60);
    await post('stop', { reason: 'Local' });
    const energyWh = (await post('unplug')).energy_wh as number;
    timers.pass(2_500);
    await station.nextConnection();
    const { payload } = await station.next('StopTransaction');
    expect(payload.transactionId).to.be.greaterThan(0);
    expect(payload.meterStop).to.be.closeTo(energyWh, 1);
    expect(station.callsOf('StartTransaction')).to.have.length(1);
    expect(station.callsOf('StopTransaction')).to.have.length(1);
    expect(station.callsOf('BootNotification')).to.have.length(1);
  });

  it('reserves, starts remotely, stops remotely and resets (5.13, 5.11, 5.12, 5.14)', async () => {
    const expiryDate = new Date(Date.now() + 3_600_000).toISOString();
    const reservation = { connectorId: 1, expiryDate, idTag: 'TAG-2', reservationId: 7 };
    expect((await call('ReserveNow', reservation)).status).to.equal('Accepted');
    await status(1, 'Reserved');
    expect((await call('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG-3' })).status).to.equal('Rejected');
    expect((await call('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG-2' })).status).to.equal('Accepted');
    await run(1);
    await post('plug', { ev: { soc_pct: 30 } });
    const started = await station.next('StartTransaction', ({ idTag }) => idTag === 'TAG-2');
    expect(started.payload.reservationId).to.equal(7);
    await run(10);
    expect((await call('Reset', { type: 'Soft' })).status).to.equal('Accepted');
    expect((await station.next('StopTransaction', ({ reason }) => reason === 'SoftReset')).payload.meterStop).to.be.a(
      'number',
    );
  });

  it('answers what it does not know with NotImplemented, and a broken payload with the code of 1.6 (OCPP-J 4.2.3)', async () => {
    await turnsUntil(() => peers() === 0);
    timers.pass(2_500);
    await station.nextConnection();
    await station.next('BootNotification');
    expect(await station.brokenCall('NoSuchAction')).to.include({ kind: 'error', code: 'NotImplemented' });
    expect(await station.brokenCall('Reset', {})).to.include({ kind: 'error', code: 'OccurenceConstraintViolation' });
    expect(await station.brokenCall('Reset', { type: 1 })).to.include({
      kind: 'error',
      code: 'TypeConstraintViolation',
    });
  });
});
