import { expect } from 'chai';
import type { Origin } from '../../../src/core/origin.ts';
import { createRandom } from '../../../src/core/random.ts';
import type { RandomStream } from '../../../src/core/random.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { BatteryPort } from '../../../src/der/source/battery/battery-port.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { pick } from '../../support/depth.ts';
import { expectWithin } from '../../support/expect.ts';
import { idealPlant, baseTickS } from '../../support/ideal-plant.ts';
import { casesOf } from '../../support/random.ts';
import { evenSpec } from '../source/battery/rig.ts';
import { chemicalWh, counters, master, profileOf, StorageRig } from './support-storage.ts';

const operator: Origin = { source: 'rest', peer: 'test' };
const secondsPerHour = 3600;

/** A command to a battery device, drawn at random. */
function actAtRandom(random: RandomStream, device: SimDevice, plant: SimPlant): void {
  const watts = Math.round(20_000 * random.next() - 10_000);
  const { bank } = device;
  switch (Math.floor(8 * random.next())) {
    case 0:
      bank.transact(master, ({ m704 }) => {
        m704.WSetEna = 'DISABLED';
      });
      break;
    case 1:
      device.command(
        { kind: 'battery.control', mode: watts > 0 ? 'discharge' : 'charge', powerW: Math.abs(watts), durationS: 150 },
        operator,
      );
      break;
    case 2:
      plant.setGrid({ frequencyHz: 60 + watts / 10_000, durationS: 100 });
      break;
    case 3:
      plant.setGrid({ voltagePu: 0.6, durationS: watts > 0 ? 0.5 : 60 });
      break;
    default:
      bank.transact(master, ({ m704 }) => {
        Object.assign(m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
      });
  }
}

describe('battery device: conservation', () => {
  it('DC = AC + losses, and DC = change of the content + losses, over hours of random commands', async () => {
    const profile = profileOf('Batt-3Phase');
    if (profile.source.kind !== 'battery') throw new Error('the profile of a battery has no battery');
    const port = new BatteryPort(profile.source.battery, createRandom(1, 'battery'), { spec: evenSpec });
    const { plant, device } = idealPlant({
      profile,
      source: port,
      name: 'Battery',
      deviceType: 'Batt-3Phase',
      efficiencyNominal: 0.97,
    });
    const { map } = device.bank;
    device.bank.transact(master, ({ m703 }) => {
      Object.assign(m703, { ESDlyTms: 20, ESRmpTms: 20 });
    });
    const random = casesOf('commands');
    const [tickS, ticks] = [2, pick({ quick: 4800, ci: 21_600 })];
    const beforeWh = chemicalWh(port);
    let [conversionWh, last] = [0, counters({ map })];
    plant.setTime({ rate: tickS / baseTickS });
    for (let tick = 0; tick < ticks; tick += 1) {
      if (tick % 150 === 0) actAtRandom(random, device, plant);
      await plant.step(1);
      conversionWh += (((map.m714.DCW ?? NaN) - (map.m701.W ?? NaN)) * tickS) / secondsPerHour;
      const now = counters({ map });
      now.forEach((value, i) => {
        expectWithin(value, last[i] ?? NaN, Infinity, () => `counter ${i} at ${tick}`);
      });
      last = now;
    }
    const [acInWh = NaN, acOutWh = NaN, dcInWh = NaN, dcOutWh = NaN] = last;
    const throughputWh = dcInWh + dcOutWh;
    expect(throughputWh).to.be.greaterThan(ticks / 2);
    expect(dcInWh - dcOutWh - (acInWh - acOutWh), 'AC').to.be.closeTo(conversionWh, 0.001 * throughputWh);
    expect(conversionWh).to.be.within(0.02 * throughputWh, 0.06 * throughputWh);
    expect(dcOutWh - dcInWh, 'content').to.be.closeTo(chemicalWh(port) - beforeWh + port.lossWh, 0.001 * throughputWh);
    expect(port.lossWh).to.be.within(0.01 * throughputWh, 0.2 * throughputWh);
    const { energyChargedWh, energyDischargedWh } = port.detail();
    expect(energyChargedWh).to.be.closeTo(dcOutWh, 0.001 * throughputWh);
    expect(energyDischargedWh).to.be.closeTo(dcInWh, 0.001 * throughputWh);
  });

  it('the round trip at the AC terminals loses 8 to 14 %', async () => {
    const rig = StorageRig.battery();
    rig.fill(20);
    rig.demand(-5000);
    while ((rig.map.m713.SoC ?? NaN) < 80) await rig.run(10);
    rig.demand(5000);
    while ((rig.map.m713.SoC ?? NaN) > 20) await rig.run(10);
    const [outWh = NaN, inWh = NaN] = counters(rig);
    expect(outWh / inWh).to.be.within(0.86, 0.92);
  });
});

describe('battery device: independence of the tick', () => {
  /** A tick of each rate ends with a stretch. */
  const { tickS, stretchS, rates } = pick({
    quick: { tickS: 0.5, stretchS: 1500, rates: [5, 60, 1000] },
    ci: { tickS: 1.5, stretchS: 9000, rates: [1, 60, 1000] },
  });
  const share = stretchS / 9000;

  /** Twelve hours and a half, or a share of them, in five stretches. */
  async function cycled(
    rate: number,
  ): Promise<{ counters: readonly number[]; trueSocPct: number; cycles: number; temperatureC: number }> {
    const rig = StorageRig.battery({ tickIntervalS: tickS, rate, seed: 3 });
    const demands = [6000, -4000, 9000, -9500, null] as const;
    for (let i = 0; i < demands.length; i += 1) {
      rig.demand(demands[i] ?? null);
      if (i === 2) rig.plant.setGrid({ frequencyHz: 59.7, durationS: 4000 * share });
      if (i === 3) rig.command({ kind: 'battery.control', mode: 'discharge', powerW: 3000, durationS: 1000 * share });
      await rig.plant.step(Math.round(stretchS / (tickS * rate)));
    }
    const { trueSocPct, cycleCount, temperatureC } = rig.battery;
    return { counters: counters(rig), trueSocPct, cycles: cycleCount, temperatureC };
  }

  it('hours of cycling end the same at every rate', async () => {
    const [fineRate, ...coarseRates] = rates;
    const fine = await cycled(fineRate!);
    expect(fine.counters[0]).to.be.greaterThan(5000 * share);
    expect(fine.counters[1]).to.be.greaterThan(8000 * share);
    for (const rate of coarseRates) {
      const coarse = await cycled(rate);
      coarse.counters.forEach((wh, i) => {
        const wanted = fine.counters[i] ?? NaN;
        expect(wh, `counter ${i} at rate ${rate}`).to.be.closeTo(wanted, 0.005 * wanted);
      });
      expect(coarse.trueSocPct, `rate ${rate}`).to.be.closeTo(fine.trueSocPct, 0.005 * fine.trueSocPct);
      expect(coarse.cycles, `rate ${rate}`).to.be.closeTo(fine.cycles, 0.005 * fine.cycles);
      expect(coarse.temperatureC, `rate ${rate}`).to.be.closeTo(fine.temperatureC, 0.1);
    }
  });
});
