import { expect } from 'chai';
import { deviceSeriesReader } from '../../../src/app/devices/plant.ts';
import { spreadSource } from '../../../src/der/plant/spread.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { configOf, configuredDevices } from '../../support/configured.ts';
import { testPlant } from '../../support/plant.ts';
import { fleetDevices, serialNumberIn, shardsOf, shownBy } from '../../support/shards.ts';

/** Irradiance in the morning: no inverter is at its rating, so that every array shows. */
const morning = { time: '08:30:00', spreadPct: 1 } as const;
const fleet = (count: number, options: Parameters<typeof testPlant>[0] = {}) =>
  testPlant({ types: Array.from({ length: count }, () => 'PV-3Phase'), ...morning, ...options });
const powers = (plant: SimPlant) => plant.latest.published.map(({ snapshot }) => snapshot.metrics.power_kw);
const ratings = ['WMaxRtg', 'VAMaxRtg', 'VarMaxInjRtg', 'WChaRteMaxRtg', 'VNomRtg', 'AMaxRtg', 'WMax'] as const;
const registers = (plant: SimPlant, index: number) => {
  const { bank } = plant.device(index);
  return Buffer.from(bank.read(bank.layout.base, bank.layout.size)).toString('hex');
};

describe('devices of one profile', () => {
  it('differ by up to the spread and by the seed; the first is as its profile says', async () => {
    const [spread, equal, again, other] = [
      fleet(12),
      fleet(2, { spreadPct: 0 }),
      fleet(12),
      fleet(12, { seed: 2 }),
    ] as const;
    for (const plant of [spread, equal, again, other]) await plant.step(3);
    const [nominal] = powers(equal) as [number, number];
    expect(powers(equal)).to.deep.equal([nominal, nominal]);
    expect(powers(spread)[0]).to.equal(nominal);
    expect(new Set(powers(spread))).to.have.length.above(10);
    // module power and efficiency, 1 % each
    for (const power of powers(spread)) expect(power / nominal).to.be.within(0.979, 1.021);
    expect(powers(other).slice(1)).not.to.deep.equal(powers(spread).slice(1));
    expect(powers(other)[0]).to.equal(nominal);
    for (let index = 0; index < 12; index += 1) expect(registers(again, index)).to.equal(registers(spread, index));
  });

  it('are the same in parts of a fleet that know its first device of each profile', async () => {
    const devices = fleetDevices(['PV-3Phase', 'Batt-3Phase', 'EVSE', 'PV-3Phase', 'EVSE', 'PV-3Phase']);
    const [whole, parts] = [[6], [3, 3]].map((sizes) => shardsOf(devices, sizes, morning));
    if (!whole || !parts) throw new Error('no plants');
    for (const plant of [...whole, ...parts]) await plant.step(10);
    expect(shownBy(parts)).to.deep.equal(shownBy(whole));
    const numbers = parts.flatMap((plant) => plant.devices.map(({ index }) => serialNumberIn(plant, index)));
    expect(numbers).to.deep.equal([
      'PV-3Phase-7',
      'Batt-3Phase-7',
      'EVSE-7',
      'PV-3Phase-7-000003',
      'EVSE-7-000004',
      'PV-3Phase-7-000005',
    ]);
    expect(powers(parts[1]!)[0], 'not as the profile says').not.to.equal(powers(parts[0]!)[0]);
  });

  it('that come in place of the first one, or of a profile that the fleet has nowhere, are as in one plant', async () => {
    const devices = fleetDevices(['PV-3Phase', 'PV-3Phase', 'PV-3Phase']);
    const [other] = fleetDevices(['Batt-3Phase']);
    const [whole, part] = [shardsOf(devices, [3], morning)[0]!, shardsOf(devices, [1, 2], morning)[1]!];
    for (const plant of [whole, part]) {
      await plant.replace(devices[0]!, 1, () => Promise.resolve());
      await plant.add(other!);
      expect(serialNumberIn(plant, 1)).to.equal('PV-3Phase-7-000001');
      expect(serialNumberIn(plant, 3)).to.equal('Batt-3Phase-7');
    }
    await whole.replace(devices[0]!, 0, () => Promise.resolve());
    expect(serialNumberIn(whole, 0), 'a later one of its profile').to.equal('PV-3Phase-7-000000');
    await Promise.all([whole.step(2), part.step(2)]);
    expect(shownBy([part])).to.deep.equal(shownBy([whole]).slice(1));
  });

  it('are the same however the fleet is split, but for the first of each process', async () => {
    const [whole, rest, equal] = [fleet(4), fleet(2, { firstIndex: 2 }), fleet(1, { spreadPct: 0 })] as const;
    for (const plant of [whole, rest, equal]) await plant.step(3);
    expect(powers(rest)).to.deep.equal([powers(equal)[0], powers(whole)[3]]);
    expect(powers(whole)[2]).not.to.equal(powers(rest)[0]);
  });

  it('have the ratings of the profile on the nameplate', () => {
    for (const type of ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE']) {
      const plant = testPlant({ types: [type, type], spreadPct: 5 });
      const [first, second] = plant.devices.map(({ bank: { map } }) => [
        ...ratings.map((name) => map.m702[name]),
        map.m713.WHRtg,
        map.m802?.WHRtg,
        map.m802?.WDisChaRteMax,
      ]);
      expect(second, type).to.deep.equal(first);
    }
  });

  it('that join later are those that would have been there from the start', async () => {
    const config = configOf();
    const seriesOf = deviceSeriesReader(config);
    const device = config.deviceOf({ device_type: 'PV-3Phase' }, 99);
    const spec = { ...device, series: seriesOf(device) };
    const join = async (seed: number) => {
      const plant = fleet(1, { seed });
      await plant.add(spec);
      const second = await plant.add(spec);
      await plant.step(1);
      return registers(plant, second.index);
    };
    expect(await join(1)).to.equal(await join(1));
    expect(await join(1)).not.to.equal(await join(2));
  });

  it('scatter the losses of their inverters about those of the profile', () => {
    const [device] = configuredDevices('--device_type', 'PV-3Phase');
    const nominal = device!.profile.source;
    if (nominal.kind !== 'pv') throw new Error(nominal.kind);
    const shares = Array.from({ length: 400 }, (_, index) => {
      const source = spreadSource(nominal, 10, 7, index) as typeof nominal;
      return (1 - source.pv.efficiencyNominal) / (1 - nominal.pv.efficiencyNominal);
    });
    expect(new Set(shares)).to.have.lengthOf(400);
    for (const share of shares) expect(share).to.be.within(0.9, 1.1);
    expect(shares.filter((share) => share < 1).length).to.be.within(160, 240);
    expect(shares.reduce((sum, share) => sum + share, 0) / 400).to.be.closeTo(1, 0.015);
  });

  it('keep every bound of their parameters, whatever the spread', () => {
    for (const type of ['Batt-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE', 'Wind-T3-3Phase']) {
      const [device] = configuredDevices('--device_type', type);
      if (!device) throw new Error(type);
      const densities = new Set<number>();
      for (let index = 0; index < 200; index += 1) {
        const source = spreadSource(device.profile.source, 10, 7, index);
        expect(source).not.to.deep.equal(device.profile.source);
        expect(source.kind).to.equal(device.profile.source.kind);
        if ('battery' in source) {
          const { socPct, sohPct, socMinPct, socMaxPct, efficiencyNominal } = source.battery;
          expect(socPct).to.be.within(socMinPct, socMaxPct);
          expect(sohPct).to.be.within(90, 100);
          expect(efficiencyNominal).to.be.within(0.8, 1);
        }
        if (source.kind === 'evse') expect(source.evse.ev.socPct).to.be.within(20, 40);
        if (source.kind === 'fuelcell') expect(source.fuelCell.tankLevelPct).to.be.within(0, 100);
        if (source.kind === 'wind') {
          expect(source.wind.rotorDiameterM).to.equal(126);
          densities.add(source.wind.airDensityKgM3);
        }
      }
      // each is a machine to be solved
      expect(densities.size).to.equal(type.startsWith('Wind') ? 8 : 0);
    }
  });
});
