import { expect } from 'chai';
import { createHistory } from '../../../src/api/history/history.ts';
import { FurtherColumns, furtherColumns } from '../../../src/api/history/site-history.ts';
import type { TickEvent } from '../../../src/contract/plant.ts';
import { testPlant } from '../../support/plant.ts';

/** 50 arrays of 10 kW and one battery at rest, beside a load. */
async function sunnyFleet() {
  const plant = testPlant({ types: [...Array<string>(50).fill('PV-3Phase'), 'Batt-3Phase'] });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25, loadKw: 1 });
  await plant.step(2);
  return plant;
}

const names = furtherColumns.map(({ name }) => name);
const named = (values: Float64Array) => Object.fromEntries(names.map((name, i) => [name, values[i]]));
const written = (columns: FurtherColumns, simMs: number) => {
  const values = new Float64Array(names.length);
  columns.put(values, 0, simMs);
  return named(values);
};

describe('further columns of the whole site', () => {
  it('are summed up in the parts of a tick, before those of the devices', async () => {
    const plant = await sunnyFleet();
    const works: ((event: TickEvent) => Iterable<undefined>)[] = [];
    plant.onTickInParts = (work) => {
      works.push(work);
      return () => undefined;
    };
    createHistory(plant, { samplesPerDevice: 10 });
    const partsOfTick = () => works.flatMap((work) => [...work(plant.latest)]).length;
    await plant.step(4);
    expect(partsOfTick()).to.equal(4);
    await plant.step(1);
    expect(partsOfTick(), 'none of the sums').to.equal(2);
  });

  it('are summed up in parts of 20 devices', async () => {
    const parts = new FurtherColumns(await sunnyFleet()).prepare(0);
    expect(Array.from(parts)).to.have.lengthOf(2);
  });

  it('are those of all devices, also where a reader is before the last part', async () => {
    const plant = await sunnyFleet();
    const whole = written(new FurtherColumns(plant), 0);
    expect(whole['possible_w']).to.be.closeTo(500_000 - 51_000, 1);
    expect(whole['pv_w']).to.be.closeTo(500_000, 1);
    expect(whole['battery_w']).to.be.closeTo(0, 1);
    expect(whole['evse_w']).to.equal(0);
    expect(whole['voltage_pct']).to.be.closeTo(100, 1);
    const columns = new FurtherColumns(plant);
    const parts = columns.prepare(0);
    parts.next();
    expect(written(columns, 0)).to.deep.equal(whole);
    expect(parts.next().done).to.equal(true);
  });

  it('are null but in one sample in 5 s, in which they are of its own tick', async () => {
    const plant = await sunnyFleet();
    const columns = new FurtherColumns(plant);
    expect(written(columns, 10_000)['pv_w']).to.be.above(0);
    expect(Array.from(columns.prepare(14_999))).to.deep.equal([]);
    expect(Object.values(written(columns, 14_999)).every(Number.isNaN)).to.equal(true);
    plant.setSurroundings({ irradianceWm2: 500, cellTemperatureC: 25, loadKw: 1 });
    await plant.step(1);
    Array.from(columns.prepare(15_000));
    expect(written(columns, 15_000)['pv_w']).to.be.within(200_000, 400_000);
    // a clock that is set back
    expect(written(columns, 1000)['pv_w']).to.be.above(0);
  });
});
