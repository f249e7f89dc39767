import { expect } from 'chai';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { addFlow, noEnergy } from '../../../src/der/site/meter-registers.ts';
import { kindPlant, kindSpec } from '../kinds/support.ts';
import type { KindPlantOptions, KindSpec } from '../kinds/support.ts';
import { by, demand, evse, pv } from './support.ts';

const splitPv: KindSpec = { args: ['-d', 'PV-2Phase'] };
const singlePv: KindSpec = { args: ['-d', 'PV-1Phase'], pv: { nightPowerW: 0 } };

function metered(specs: readonly KindSpec[], options: KindPlantOptions = {}): SimPlant {
  const plant = kindPlant(specs, { tickIntervalS: 1.5, meter: { float: false }, ...options });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  return plant;
}

/** Value of a point of the meter's model; a counter that has not counted is null. */
function reader({ meter }: SimPlant): (name: string) => number | null {
  const bank = meter!.bank;
  const { id } = bank.layout.models[1]!.def;
  return (name) => bank.value(bank.layout.slot(id, name)!) as number | null;
}

const modelsOf = ({ meter }: SimPlant) => meter!.bank.layout.models.map(({ def }) => def.id);
const phasesOf = (read: ReturnType<typeof reader>, name: string) =>
  ['A', 'B', 'C'].map((phase) => read(`${name}${phase}`) ?? 0);
const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);

describe('Meter of the connection point', () => {
  it('is absent unless it is asked for', () => {
    expect(kindPlant([pv]).meter).to.equal(null);
  });

  it('has the model of the wiring, with the points that the definition demands', () => {
    for (const [specs, float, model] of [
      [[pv, singlePv], false, 203],
      [[pv], true, 213],
      [[singlePv, splitPv], false, 202],
      [[splitPv], true, 212],
      [[singlePv], false, 201],
      [[singlePv], true, 211],
    ] as const) {
      const plant = metered(specs, { meter: { float } });
      expect(modelsOf(plant)).to.deep.equal([1, model]);
      const { slots } = plant.meter!.bank.layout.models[1]!;
      for (const { def, implemented, writable } of slots) {
        expect(writable, def.name).to.equal(false);
        if (def.mandatory === true) expect(implemented, `${model}.${def.name}`).to.equal(true);
      }
    }
  });

  it('shows what the site draws, which its phases add up to', async () => {
    const plant = metered([pv, singlePv, evse]);
    plant.device(2).command({ kind: 'evse.plug', connectorId: 1 }, by);
    plant.setSurroundings({ loadKw: 0.3 });
    await plant.step(30);
    const read = reader(plant);
    const { netW } = plant.site;
    // 37 kVA of devices: 16 bits count 10 W
    expect(read('W')).to.be.closeTo(-netW, 5);
    expect(sum(phasesOf(read, 'Wph'))).to.be.closeTo(-netW, 15);
    const [a, b] = phasesOf(read, 'Wph') as [number, number];
    expect(a - b, 'the single-phase device and its load').to.be.closeTo(300 - plant.device(1).siteShare.powerW, 10);
    expect(read('VA')).to.be.closeTo(sum(phasesOf(read, 'VAph')), 20);
    expect(read('A')).to.be.closeTo(sum(phasesOf(read, 'Aph')), 0.1);
    expect(read('Hz')).to.equal(60);
    expect(read('PhVphAB')).to.be.closeTo(read('PhVphA')! * Math.sqrt(3), 0.2);
    expect(read('PF')).to.be.closeTo((100 * read('W')!) / read('VA')!, 0.1);
  });

  it('counts what devices and loads have exchanged with the grid', async () => {
    const plant = metered([pv, kindSpec('battery')]);
    plant.setSurroundings({ loadKw: 1 });
    demand(plant, 1, -3000);
    const counters = () =>
      sum(plant.devices.map(({ bank: { map } }) => (map.m701.TotWhInj ?? 0) - (map.m701.TotWhAbs ?? 0)));
    await plant.step(40);
    const [read, before] = [reader(plant), counters()];
    const given = () => (read('TotWhExp') ?? 0) - (read('TotWhImp') ?? 0);
    const givenBefore = given();
    // 240 ticks of 1.5 s; two loads of 1 kW take 200 Wh
    await plant.step(240);
    expect(given() - givenBefore).to.be.closeTo(counters() - before - 200, 4);
    const phases = (name: string) => sum(['A', 'B', 'C'].map((phase) => read(`${name}Ph${phase}`) ?? 0));
    expect(phases('TotWhExp') - phases('TotWhImp')).to.be.closeTo(given(), 4);
  });

  it('counts both directions where the power turns, whatever the length of ticks', async () => {
    async function run(tickIntervalS: number): Promise<Buffer> {
      const plant = metered([pv], { tickIntervalS });
      await plant.step(90 / tickIntervalS);
      plant.setSurroundings({ loadKw: 30 });
      await plant.step(90 / tickIntervalS);
      const { now } = plant.meter!;
      expect(now.importedWh).to.be.closeTo(500, 60);
      expect(now.exportedWh).to.be.greaterThan(100);
      const { bank } = plant.meter!;
      return Buffer.from(bank.read(bank.layout.base, bank.layout.size));
    }
    const [once, again, long] = [await run(1.5), await run(1.5), await run(30)];
    expect(again.equals(once)).to.equal(true);
    expect(long.equals(once)).to.equal(true);
  });

  it('follows devices that leave, and goes on counting after the reset of one', async () => {
    const plant = metered([pv, pv]);
    await plant.step(100);
    const before = plant.meter!.now.exportedWh;
    plant.commands.submit({ command: 'reset', deviceIndex: 1, scope: 'device' }, by);
    await plant.step(2);
    expect(plant.meter!.now.exportedWh).to.be.within(before, before + 100);
    await plant.remove(0);
    expect(reader(plant)('W')).to.be.closeTo(-plant.site.netW, 1);
  });

  it('takes quadrants from both directions', () => {
    const energy = noEnergy();
    addFlow(energy, 3, 4, 5);
    addFlow(energy, -6, 1, 7);
    addFlow(energy, -1, -2, 3);
    addFlow(energy, 2, -5, 6);
    expect(energy).to.deep.equal({
      importedWh: 5,
      exportedWh: 7,
      importedVAh: 11,
      exportedVAh: 10,
      varh: [4, 1, 2, 5],
    });
  });
});
