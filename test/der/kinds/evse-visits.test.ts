/** Vehicles that come and go by a table: arrival and departure at their own instants, whatever the tick. */
import { expect } from 'chai';
import { secondsBetween } from '../../../src/core/time/clock.ts';
import { parseVisits } from '../../../src/der/surroundings/visits.ts';
import { SimError } from '../../../src/core/errors.ts';
import { pick } from '../../support/depth.ts';
import { KindRig } from './support.ts';
import type { KindPlantOptions } from './support.ts';

const header = 'time_s,connector,stay_s,soc_pct,target_soc_pct,battery_capacity_kwh,max_charge_kw,phases';
const noonS = 43_200;

/** @param rows of the table, times from local midnight */
function station(rows: readonly string[], end: 'hold' | 'loop' = 'hold', options: KindPlantOptions = {}): KindRig {
  return new KindRig(
    {
      args: ['-d', 'EVSE'],
      vehicles: [header, ...rows].join('\n'),
      vehiclesEnd: end,
      evse: { startDelayMinS: 5, startDelayMaxS: 5 },
    },
    options,
  );
}

function faultsOf(text: string): readonly string[] {
  try {
    parseVisits(text, 'cars.csv', 'hold');
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    expect(error.code).to.equal('CONFIG_INVALID');
    expect(error.message).to.include('cars.csv');
    return error.issues.map(({ detail }) => detail);
  }
  return [];
}

describe('vehicle table: reading', () => {
  it('takes whole numbers, kilowatts and empty rows of comments', () => {
    const plan = parseVisits(
      `# cars\n${header}\n100,1,50,20,80,60,11,3\n\n200,2,10,50,90,40,7.4,1\n`,
      'cars.csv',
      'hold',
    );
    expect(plan.periodS).to.equal(null);
    expect(plan.visits.map(({ arrivesS, leavesS, connectorId }) => [arrivesS, leavesS, connectorId])).to.deep.equal([
      [100, 150, 1],
      [200, 210, 2],
    ]);
    expect(plan.visits[0]?.ev).to.include({
      socPct: 20,
      targetSocPct: 80,
      batteryCapacityWh: 60_000,
      maxChargeW: 11_000,
      phases: 3,
    });
    expect(plan.visits[1]?.ev).to.include({
      socPct: 50,
      targetSocPct: 90,
      batteryCapacityWh: 40_000,
      maxChargeW: 7400,
      phases: 1,
    });
  });

  it('requires only connector and stay', () => {
    const [visit] = parseVisits('time_s,connector,stay_s\n0,1,10\n', 'cars.csv', 'hold').visits;
    expect(visit?.ev.socPct).to.equal(undefined);
    expect(visit?.ev.phases).to.equal(undefined);
  });

  it('a loop takes the whole days that the last stay needs', () => {
    const period = (row: string) => parseVisits(`time_s,connector,stay_s\n${row}\n`, 'cars.csv', 'loop').periodS;
    expect([period('100,1,50'), period('86000,1,400'), period('86000,1,401')]).to.deep.equal([86_400, 86_400, 172_800]);
  });

  for (const [what, text, ...expected] of [
    ['a missing column', 'time_s,connector\n0,1\n', 'line 1: column stay_s is missing'],
    ['an unknown column', 'time_s,connector,stay_s,colour\n0,1,10,3\n', 'line 1: there is no column "colour"'],
    [
      'half a connector',
      'time_s,connector,stay_s\n0,1,10\n20,1.5,10\n',
      'line 3: connector is 1.5, not a whole number',
    ],
    ['two phases', 'time_s,connector,stay_s,phases\n# by hand\n0,1,10,2\n', 'line 3: phases is 2, not one of 1, 3'],
    ['a stay of nothing', 'time_s,connector,stay_s\n0,1,0\n', 'line 2: stay_s is 0, outside 1 to 10000000'],
    ['a time that falls', 'time_s,connector,stay_s\n10,1,5\n5,1,5\n', 'line 3: time_s is 5 after 10, it must rise'],
    ['words', 'time_s,connector,stay_s\n0,one,5\n', 'line 2: connector is "one", not a number'],
    ['nothing', 'time_s,connector,stay_s\n', 'line 1: there is no row of values'],
    [
      'several faults',
      'time_s,connector,stay_s,soc_pct\n0,0,5,120\n',
      'line 2: connector is 0, outside 1 to 99',
      'line 2: soc_pct is 120, outside 0 to 100',
    ],
  ] as const) {
    it(`refuses ${what} with its line`, () => {
      expect(faultsOf(text)).to.deep.equal(expected);
    });
  }
});

describe('vehicle table: coming and going', () => {
  it('a vehicle arrives, charges and leaves; the next one is another', async () => {
    const rig = station([`${noonS + 60},1,600,20,90,50,7.2,1`, `${noonS + 1000},1,500,40,80,80,22,3`]);
    await rig.run(59);
    expect(rig.connector().status).to.equal('available');
    await rig.run(31);
    expect(rig.connector().ev).to.include({ batteryCapacityWh: 50_000, phases: 1 });
    expect(rig.w).to.equal(-7203);
    await rig.run(571);
    expect([rig.connector().status, rig.w]).to.deep.equal(['available', -3]);
    await rig.run(380);
    expect(rig.connector().ev).to.include({ batteryCapacityWh: 80_000, phases: 3, targetSocPct: 80 });
    await rig.run(1000);
    expect(rig.device.chargingSessions().map(({ state, stopReason }) => [state, stopReason])).to.deep.equal([
      ['ended', 'EVDisconnected'],
      ['ended', 'EVDisconnected'],
    ]);
  });

  it('sessions and energy are the same in ticks of 0.5 s, 7 s and 100 s', async () => {
    async function course(tickS: number) {
      const rig = station([`${noonS + 33.3},1,444.4,20,90,50,7.2,1`, `${noonS + 600.7},1,300,40,80,80,11,3`]);
      await rig.watch(1400, tickS, () => undefined);
      return rig.device
        .chargingSessions()
        .map(({ startedAtS, endedAtS, energyWh }) => ({ startedAtS, endedAtS, energyWh }));
    }
    const fine = await course(0.5);
    expect(fine.length).to.equal(2);
    expect(fine[1]?.startedAtS).to.be.closeTo(33.3, 1e-4);
    expect(fine[1]?.endedAtS).to.be.closeTo(477.7, 1e-4);
    for (const tickS of [7, 100]) {
      const coarse = await course(tickS);
      expect(coarse.length).to.equal(2);
      coarse.forEach((session, i) => {
        expect(session.startedAtS, `${tickS} s`).to.be.closeTo(fine[i]?.startedAtS ?? NaN, 1e-4);
        expect(session.endedAtS, `${tickS} s`).to.be.closeTo(fine[i]?.endedAtS ?? NaN, 1e-4);
        expect(session.energyWh, `${tickS} s`).to.be.closeTo(fine[i]?.energyWh ?? NaN, 0.001 * session.energyWh);
      });
    }
  });

  it('names the configuration as the last to handle the cable, at its instant', async () => {
    const rig = station([`${noonS + 33},1,100,20,90,50,7.2,1`]);
    const cable = () =>
      rig.device.overrides.map(({ name, connectorId, source, at }) => [
        name,
        connectorId,
        source,
        secondsBetween(rig.device.startedAt, at),
      ]);
    expect(cable()).to.deep.equal([]);
    await rig.run(50);
    expect(cable()).to.deep.equal([['evse_cable', 1, 'profile', 33]]);
    await rig.run(100);
    expect(cable()).to.deep.equal([['evse_cable', 1, 'profile', 133]]);
  });

  it('a reset of the device plugs the present vehicle in again, and names the configuration as the source', async () => {
    const rig = station([`${noonS - 100},1,200,20,90,50,7.2,1`]);
    await rig.run(10);
    rig.device.command({ kind: 'evse.limit', connectorId: 1, powerW: 3000 }, { source: 'rest' });
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(rig.connector().cable.evPlugged).to.equal(true);
    expect(rig.device.overrides.map(({ name, source }) => [name, source])).to.deep.equal([
      ['device_reset', 'rest'],
      ['evse_cable', 'profile'],
    ]);
  });

  it('a stay that begins before the start is in force at once', async () => {
    const rig = station([`${noonS - 100},1,200,20,90,50,7.2,1`]);
    expect(rig.connector().cable.evPlugged).to.equal(true);
    await rig.run(50);
    expect(rig.w).to.equal(-7203);
    await rig.run(60);
    expect(rig.connector().status).to.equal('available');
  });

  it('with hold, a table of the past brings no vehicle; with loop, it repeats each day', async () => {
    const rows = [`${noonS - 1000},1,500,20,90,50,7.2,1`];
    const once = station(rows, 'hold');
    await once.run(90_000);
    expect(once.device.chargingSessions()).to.deep.equal([]);
    const daily = station(rows, 'loop');
    const days = pick({ quick: [1], ci: [2, 1] });
    await daily.run(days.length * 86_400);
    expect(daily.device.chargingSessions().map(({ startedAtS }) => Math.round(startedAtS))).to.deep.equal(
      days.map((day) => day * 86_400 - 1000),
    );
  });

  it('a vehicle that is already there stays: the visit and its end are skipped', async () => {
    const rig = station([`${noonS + 60},1,60,20,90,50,7.2,1`]);
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { batteryCapacityWh: 33_000 } });
    await rig.run(200);
    expect(rig.connector().ev?.batteryCapacityWh).to.equal(33_000);
    expect(rig.connector().status).to.equal('charging');
  });

  it('a vehicle that is unplugged during its stay does not return by itself', async () => {
    const rig = station([`${noonS + 10},1,300,20,90,50,7.2,1`]);
    await rig.run(60);
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    await rig.run(400);
    expect([rig.connector().status, rig.device.chargingSessions().length]).to.deep.equal(['available', 1]);
  });

  it('a reset of the device restarts the table', async () => {
    const rig = station([`${noonS + 10},1,1000,20,90,50,7.2,1`]);
    await rig.run(100);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(30);
    expect([rig.connector().status, rig.device.chargingSessions().length]).to.deep.equal(['charging', 1]);
  });
});
