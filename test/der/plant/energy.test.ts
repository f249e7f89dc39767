/** Energies of devices and site: what counts as today, over clock changes and a restart. */
import { expect } from 'chai';
import type { EnergyCount } from '../../../src/contract/energy.ts';
import { SimError } from '../../../src/core/errors.ts';
import { keptList } from '../../../src/core/kept.ts';
import type { JsonValue } from '../../../src/core/store.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { HandWall } from '../../support/wall.ts';
import { operator } from '../kinds/support.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
const members = ['producedWh', 'absorbedWh', 'loadWh'] as const;

/** One PV device that gives 10 kW at any time of day. */
function sunny(options: TestPlantOptions): SimPlant {
  const plant = testPlant({ tickIntervalS: 1, ...options });
  plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
  return plant;
}

const hours = ({ producedWh }: EnergyCount) => producedWh / 10_000;

/** Hours of 10 kW since midnight. */
const today = (plant: SimPlant): number => hours(plant.energyOf(0).today);

function expectSums(plant: SimPlant): void {
  const site = plant.energy;
  for (const span of ['today', 'sinceStart'] as const) {
    const sums = site[span];
    for (const member of members) {
      const ofDevices = plant.devices.reduce((sum, { index }) => sum + plant.energyOf(index)[span][member], 0);
      const ofKinds = Object.values(sums.byKind).reduce((sum, count) => sum + count[member], 0);
      expect(sums[member], `${span} ${member}`).to.be.closeTo(ofDevices, 1e-6);
      expect(ofKinds, `${span} ${member} by kind`).to.be.closeTo(sums[member], 1e-6);
    }
    const netWh = sums.producedWh - sums.absorbedWh - sums.loadWh;
    expect(sums.exportedWh - sums.importedWh, span).to.be.closeTo(netWh, 1e-6);
  }
}

describe('energies of the plant', () => {
  it('of the six kinds add up to those of the site, and to its meter', async () => {
    const plant = testPlant({ types, tickIntervalS: 1.5, time: '23:59:30', meter: { float: true } });
    plant.setSurroundings({ irradianceWm2: 900, loadKw: 3 });
    plant.device(1).command({ kind: 'battery.control', mode: 'charge', powerW: 6000 }, operator);
    plant.device(5).command({ kind: 'evse.plug', connectorId: 1, ev: {} }, operator);
    await plant.step(24);
    plant.setSurroundings({ irradianceWm2: 0, loadKw: 300 });
    plant.device(2).command({ kind: 'stop' }, operator);
    await plant.step(36);
    expectSums(plant);
    const { sinceStart } = plant.energy;
    expect(Object.keys(sinceStart.byKind).length).to.equal(6);
    expect(sinceStart.byKind.battery?.absorbedWh).to.be.above(100);
    expect(sinceStart.byKind.evse?.absorbedWh).to.be.above(100);
    expect(sinceStart.loadWh).to.be.closeTo((6 * (3 * 36 + 300 * 54)) / 3.6, 1e-3);
    const { exportedWh, importedWh } = plant.meter?.now ?? {};
    expect([sinceStart.exportedWh, sinceStart.importedWh].map((wh) => wh.toFixed(6))).to.deep.equal(
      [exportedWh, importedWh].map((wh) => wh?.toFixed(6)),
    );
    expect(Math.min(sinceStart.exportedWh, sinceStart.importedWh)).to.be.above(1000);
  });

  it('of a load that jumps and ramps are those of its course', async () => {
    const plant = testPlant({ tickIntervalS: 7 });
    plant.setSurroundings({ loadKw: 2 });
    await plant.step(2);
    plant.setSurroundings({ loadKw: 10, rampS: 20 });
    await plant.step(4);
    // 14 s of 2 kW, 20 s of 6 kW on average, 8 s of 10 kW
    expect(plant.energy.today.loadWh).to.be.closeTo((2 * 14 + 6 * 20 + 10 * 8) / 3.6, 1e-5);
  });

  it('begin anew at local midnight inside a tick', async () => {
    const plant = sunny({ time: '23:59:00', tickIntervalS: 100 });
    await plant.step(1);
    expect(today(plant)).to.be.closeTo(40 / 3600, 1e-6);
    expect(hours(plant.energyOf(0).sinceStart)).to.be.above(90 / 3600);
    expectSums(plant);
    expect(hours(plant.energy.today)).to.equal(today(plant));
    expect(plant.energy.today.exportedWh).to.be.closeTo(plant.energy.today.producedWh, 1e-6);
  });

  it('begin anew at midnight of the zone after summer time has ended that day', async () => {
    const plant = sunny({ date: '2026-10-25', time: '01:30:00', timezone: 'Europe/Berlin' });
    await plant.step(1);
    plant.setTime({ clockTime: '23:59:30' });
    await plant.step(40);
    expect(today(plant)).to.be.closeTo(10 / 3600, 1e-6);
  });

  it('lose nothing when the clock is set back, and go on to the next midnight', async () => {
    const plant = sunny({});
    await plant.step(60);
    const before = today(plant);
    plant.setTime({ clockTime: '03:00:00' });
    await plant.step(60);
    expect(today(plant)).to.be.closeTo(before + 60 / 3600, 1e-6);
    plant.setTime({ clockTime: '23:59:30' });
    await plant.step(60);
    expect(today(plant)).to.be.closeTo(30 / 3600, 1e-6);
  });

  it('begin anew where a zone shows a later date, not where it shows an earlier one', async () => {
    const plant = sunny({});
    await plant.step(60);
    plant.setTime({ timezone: 'Pacific/Kiritimati' });
    await plant.step(60);
    expect(today(plant)).to.be.closeTo(60 / 3600, 1e-6);
    plant.setTime({ timezone: 'UTC' });
    await plant.step(60);
    expect(today(plant)).to.be.closeTo(120 / 3600, 1e-6);
    plant.setTime({ clockTime: '23:59:59' });
    await plant.step(5);
    expect(today(plant)).to.be.closeTo(4 / 3600, 1e-6);
  });

  it('begin anew after the tick in which a clock that follows the wall has passed midnight', async () => {
    const wall = new HandWall(Date.parse('2026-06-21T12:00:00Z'));
    const plant = sunny({ mode: 'wall_clock', wall });
    wall.advance(1000);
    await plant.tick();
    expect(today(plant)).to.be.above(0);
    // somebody has set the clock of the machine
    wall.advance(1000);
    wall.jump(13 * 3_600_000);
    await plant.tick();
    expect(today(plant)).to.equal(0);
    wall.advance(1000);
    await plant.tick();
    expect(today(plant)).to.be.above(0);
  });

  it('are kept over a restart, also those from before a reset of the device', async () => {
    const options = { time: '23:59:30' };
    const [first, second] = [sunny(options), sunny(options)];
    await first.step(60);
    first.device(0).command({ kind: 'reset', scope: 'device' }, operator);
    await first.step(10);
    const devices = (plant: SimPlant) => keptList(plant.devices.map((device) => device.kept()));
    const saved = JSON.parse(JSON.stringify(first.kept(devices(first)).save()));
    second.kept(devices(second)).restore(saved);
    expect(second.energy).to.deep.equal(first.energy);
    expect(hours(second.energyOf(0).sinceStart)).to.be.above(59 / 3600);
    await Promise.all([first.step(20), second.step(20)]);
    expect(second.energy).to.deep.equal(first.energy);
    // its clock is set after the restart
    second.setTime({ clockTime: '23:59:59' });
    await second.step(2);
    expect(today(second)).to.be.closeTo(1 / 3600, 1e-6);
  });

  it('of a device that starts anew do not fall below 0 today', async () => {
    const options = { time: '23:59:30' };
    const [first, second] = [sunny(options), sunny(options)];
    await first.step(60);
    const saved = JSON.parse(JSON.stringify(first.keptShared().afterDevices['energy']?.save()));
    second.keptShared().afterDevices['energy']?.restore(saved);
    expect(second.energyOf(0).today).to.deep.equal({ producedWh: 0, absorbedWh: 0, loadWh: 0 });
  });

  it('of an earlier process that are no numbers are refused', () => {
    const { energy } = sunny({}).keptShared().afterDevices;
    const saved = energy?.save() as Record<string, JsonValue>;
    for (const odd of [
      { netWh: null },
      { grid: { exportedWh: 1 } },
      { atMidnight: [{ index: 0, producedWh: 1, absorbedWh: 'x', loadWh: 0 }] },
      { departed: [{ kind: 'pv', today: {}, sinceStart: {} }] },
      { day: 0.5 },
    ])
      expect(() => energy?.restore({ ...saved, ...odd }), JSON.stringify(odd)).to.throw(SimError);
    energy?.restore(saved);
  });

  it('of a removed device stay in those of the site, today until midnight', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'Batt-3Phase'], tickIntervalS: 1, time: '23:59:00' });
    plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await plant.step(40);
    const before = plant.energy;
    await plant.remove(1);
    await plant.remove(0);
    expect(plant.energy.today).to.deep.equal(before.today);
    expect(plant.energy.sinceStart).to.deep.equal(before.sinceStart);
    await plant.step(10);
    expect(plant.energy.today.byKind.pv).to.deep.equal(before.today.byKind.pv);
    expect(plant.energy.today.exportedWh).to.be.closeTo(before.today.exportedWh, 1e-6);
    await plant.step(20);
    expect(plant.energy.today.byKind.pv?.producedWh).to.equal(0);
    expect(plant.energy.sinceStart.byKind.pv).to.deep.equal(before.sinceStart.byKind.pv);
  });
});
