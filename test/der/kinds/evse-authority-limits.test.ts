/** Faults, limits, reservations and restarts under a central authority. Simulated seconds, Wh, W. */
import { expect } from 'chai';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { CentralAuthority } from '../../support/evse-authority.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { on, stationOf } from './support-authority.ts';
import { operator } from './support.ts';

describe('EVSE under a central authority: faults, limits, reservations', () => {
  it('a fault suspends the session, which continues after it', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(365);
    central.take();
    rig.command({ kind: 'evse.fault', ...on, errorCode: 'GroundFailure' });
    rig.command({ kind: 'evse.fault', ...on, errorCode: 'HighTemperature' });
    await rig.run(35);
    rig.write(({ m715 }) => {
      m715.AlarmReset = 1;
    });
    expect(central.take()).to.deep.equal([
      'Status 1 faulted/faulted',
      'T1#2 Updated AbnormalCondition charging 365s 1097Wh 0W',
      'T1#3 Updated AbnormalCondition charging 365s 1097Wh 0W',
      'Status 1 charging/occupied',
      'T1#4 Updated AbnormalCondition charging 400s 1097Wh 0W',
    ]);
    expect(central.told.at(-1)).to.include({ event: 'clear_fault', cause: 'reset' });
    expect(central.told.at(-1)?.by.source).to.equal('modbus');
  });

  it('a limit of 0 A suspends, and each change of the limit is told with its writer', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(365);
    central.take();
    const setA = (limitA: number | null) => {
      central.command({ kind: 'evse.profile_limit', ...on, limitW: null, limitA });
    };
    setA(10);
    await rig.run(30);
    setA(0);
    await rig.run(30);
    setA(null);
    await rig.run(30);
    const heard = central.told.flatMap((t) =>
      'connector' in t && ['limit', 'evse_hold', 'evse_release'].includes(t.event)
        ? [`${t.event} ${t.cause} ${t.by.source} ${t.connector.limitSource} ${Math.round(t.connector.limitW)}`]
        : [],
    );
    expect(heard).to.deep.equal([
      'limit limit ocpp charging_profile 6859',
      'limit limit ocpp charging_profile 0',
      'evse_hold limit ocpp charging_profile 0',
      'evse_release limit ocpp ev 11000',
      'limit limit ocpp ev 11000',
    ]);
    expect(central.take().filter((line) => line.startsWith('Status'))).to.deep.equal([
      'Status 1 suspended_evse/occupied',
      'Status 1 charging/occupied',
    ]);
  });

  it('limits from outside: the grid side and the site, once per change, and their end', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(20);
    central.take();
    const notices = async () => {
      await rig.run(20);
      return central.take().filter((line) => line.includes('Limit'));
    };
    rig.plant.setSite({ load: 6000 }, operator);
    expect(await notices()).to.deep.equal(['NotifyChargingLimit EMS 6000']);
    expect(rig.connector()).to.include({ limitSource: 'site', limitW: 5997 });
    rig.demand(-5000);
    expect(await notices()).to.deep.equal(['NotifyChargingLimit SO 5000']);
    expect(rig.connector()).to.include({ limitSource: 'der', limitW: 4997 });
    expect(rig.detail('evse').externalLimit).to.deep.include({ limitW: 5000, decidedBy: 'active_power' });
    rig.demand(null);
    expect(await notices()).to.deep.equal(['NotifyChargingLimit EMS 6000']);
    rig.plant.setSite({ load: null }, operator);
    expect(await notices()).to.deep.equal(['ClearedChargingLimit']);
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 9000;
    });
    expect(await notices()).to.deep.equal(['NotifyChargingLimit SO 9000']);
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 22_000;
    });
    expect(await notices()).to.deep.equal(['ClearedChargingLimit']);
  });

  it('the enter-service ramp pauses a vehicle below its minimum once, without flapping', async () => {
    const { rig, central } = stationOf();
    rig.command({ kind: 'evse.plug', ...on });
    central.requestStart(1, 'APP', 5);
    await rig.run(20);
    rig.write(({ m703 }) => {
      m703.ES = 'DISABLED';
    });
    await rig.run(30);
    rig.write(({ m703 }) => {
      m703.ES = 'ENABLED';
    });
    await rig.run(1200);
    const holds = central.told.map(({ event }) => event).filter((event) => event.startsWith('evse_'));
    expect(holds).to.deep.equal(['evse_hold', 'evse_release']);
    expect(rig.connector().powerW).to.equal(11_000);
  });

  it('a reservation expires, is cancelled, goes with the availability, or is used up by its session', async () => {
    const { rig, central } = stationOf();
    const reserve = (reservationId: number, expiresInS: number | null) => {
      central.command({ kind: 'evse.reserve', ...on, reservation: { reservationId, idToken: 'MINE', expiresInS } });
    };
    reserve(1, 30.5);
    await rig.run(60);
    expect(central.take()).to.deep.equal([
      'Status 1 reserved/reserved',
      'Status 1 available/available',
      'ReservationStatusUpdate Expired',
    ]);
    expect(central.told.at(-1)).to.deep.include({
      event: 'reserve_end',
      atS: 30.5,
      reservation: { reservationId: 1, idToken: 'MINE', expiresAtS: 30.5 },
    });
    reserve(2, null);
    central.command({ kind: 'evse.reserve', ...on, reservation: null });
    expect(central.told.at(-1)).to.include({ event: 'reserve_end', cause: 'central' });
    reserve(3, null);
    central.take();
    rig.command({ kind: 'evse.availability', ...on, operative: false });
    expect(central.take()).to.deep.equal(['Status 1 unavailable/unavailable', 'ReservationStatusUpdate Removed']);
    rig.command({ kind: 'evse.availability', ...on, operative: true });
    reserve(4, 600);
    rig.command({ kind: 'evse.plug', ...on });
    rig.command({ kind: 'evse.authorize', ...on, idToken: 'MINE' });
    expect(central.take().at(-1)).to.equal('T1#0 Started Authorized ev_connected 60s 0Wh 0W MINE reservation 4');
    expect(rig.connector().session).to.include({ reservationId: 4 });
  });
});

describe('EVSE under a central authority: restarts', () => {
  it('a reset of the device ends the sessions with their last meter, then begins anew; the authority stays', async () => {
    const { rig, central } = stationOf({ autoAuthorize: true });
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(365);
    central.take();
    rig.device.command({ kind: 'reset', scope: 'device' }, operator);
    expect(central.take()).to.deep.equal([
      'Status 1 finishing/occupied',
      'T1#2 Ended StopAuthorized Reboot 365s 1097Wh 0W',
      'station restart',
    ]);
    expect(central.told.slice(-2).map(({ cause, by }) => [cause, by.source])).to.deep.equal([
      ['reset', 'rest'],
      ['reset', 'rest'],
    ]);
    expect(rig.connector()).to.include({ phase: 'free', energyWh: 0 });
    rig.command({ kind: 'evse.plug', ...on });
    expect(central.take().slice(1)).to.deep.equal([
      'Authorize AUTO accepted',
      'T2#0 Started Authorized ev_connected 365s 0Wh 0W AUTO',
    ]);
    expect(rig.detail('evse').authority).to.equal('central');
  });

  it('a loss of power holds the session, is told with its end, and the station ends what ran', async () => {
    const rig = new FaultyRig({ types: ['EVSE'] });
    const central = new CentralAuthority(rig.device);
    rig.device.command({ kind: 'evse.plug', ...on }, operator);
    await rig.run(360);
    central.take();
    rig.inject(rebootFault, { off_s: 40 });
    const lost = central.told.slice(-2).map(({ event, cause, connectorId }) => [event, cause, connectorId]);
    expect(lost).to.deep.equal([
      ['evse_hold', 'fault', 1],
      ['power_down', 'fault', 0],
    ]);
    await rig.run(39);
    const before = central.told.length;
    await rig.run(3);
    const back = central.told.slice(before).map(({ event, cause }) => [event, cause]);
    expect(back).to.deep.equal([
      ['power_up', 'fault'],
      ['stop', 'central'],
    ]);
    expect(central.take().at(-1)).to.match(/^T1#4 Ended AbnormalCondition PowerLoss 400s \d+Wh 0W$/);
  });
});
