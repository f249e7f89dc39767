/** Powers of the site and of groups beside their limits, through a real plant. */
import { expect } from 'chai';
import { createHistory } from '../../../src/api/history/history.ts';
import type { History } from '../../../src/api/history/history.ts';
import { scopeColumns, ScopeRecordings, scopesInParts } from '../../../src/api/history/scopes.ts';
import { firstMetric, sampleBytes, tickColumn } from '../../../src/api/history/ring.ts';
import { Series } from '../../../src/api/history/series.ts';
import { maxSiteGroups } from '../../../src/contract/site.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { testPlant } from '../../support/plant.ts';

type Scope = readonly number[] | null;

/** Samples of one column, as `tick: value`. */
function column(history: History, scope: Scope, name: string): [tick: number, value: number][] {
  const at = firstMetric + scopeColumns.findIndex((metric) => metric.name === name);
  const { runs, width } = history.ofScope(scope).cut();
  return runs.flatMap(({ values, from, to }) =>
    Array.from({ length: to - from }, (_, i): [number, number] => [
      values[(from + i) * width + tickColumn]!,
      values[(from + i) * width + at]!,
    ]),
  );
}

async function sunnyPlant(...types: string[]) {
  const plant = testPlant({ types });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  await plant.step(2);
  return plant;
}

const pv = 'PV-3Phase';

describe('history of the scopes of the site', () => {
  it('has the whole site from the start, and a group from its first limit on', async () => {
    const plant = await sunnyPlant(pv, pv, pv);
    const history = createHistory(plant, { samplesPerDevice: 100 });
    await plant.step(1);
    plant.setSite({ export: 4000 }, undefined, { devices: [2, 0] });
    expect(history.groups).to.deep.equal([]);
    await plant.step(2);
    expect(column(history, null, 'net_power_kw')).to.deep.equal([
      [2, 30],
      [3, 30],
      [4, 14],
      [5, 14],
    ]);
    expect(history.groups).to.deep.equal([[0, 2]]);
    expect(column(history, [0, 2], 'net_power_kw')).to.deep.equal([
      [4, 4],
      [5, 4],
    ]);
    expect(column(history, [0, 2], 'export_limit_kw')).to.deep.equal([
      [4, 4],
      [5, 4],
    ]);
    expect(column(history, [0, 2], 'import_limit_kw').map(([, kw]) => kw)).to.deep.equal([NaN, NaN]);
    expect(history.ofScope([0, 1])).to.include({ count: 0 });
  });

  it('goes on when the limits of a group end, and ends with a device of it', async () => {
    const plant = await sunnyPlant(pv, pv, pv);
    plant.setSite({ import: 1000, load: 500 }, undefined, { devices: [0, 1] });
    await plant.step(1);
    const history = createHistory(plant, { samplesPerDevice: 100 });
    plant.setSite({ import: null, load: null }, undefined, { devices: [0, 1] });
    await plant.step(1);
    expect(column(history, [0, 1], 'import_limit_kw')).to.deep.equal([
      [3, 1],
      [4, NaN],
    ]);
    expect(column(history, [0, 1], 'load_limit_kw')[0]).to.deep.equal([3, 0.5]);
    expect(column(history, [0, 1], 'net_power_kw').at(-1)).to.deep.equal([4, 20]);
    await plant.remove(1);
    expect(history.groups).to.deep.equal([]);
    await plant.step(1);
    expect(column(history, null, 'generation_kw').at(-1)).to.deep.equal([5, 20]);
  });

  it('shares the memory with the devices', () => {
    const plant = testPlant({ types: [pv, pv] });
    const ofDevice = sampleBytes(createHistory(plant, { samplesPerDevice: 10 }).of(plant.device(0)).metrics.length);
    const bytes = 100 * ofDevice;
    const depthWith = () => createHistory(plant, { samplesPerDevice: 1000, bytes }).depth;
    const ofScope = sampleBytes(scopeColumns.length);
    expect(depthWith()).to.equal(Math.floor(bytes / (2 * ofDevice)));
    plant.setSite({ export: 1 }, undefined, { devices: [0, 1] });
    expect(depthWith()).to.equal(Math.floor(bytes / (2 * ofDevice + ofScope)));
  });

  it('keeps as many groups as can have limits; the earliest without a limit go first', () => {
    const groups = Array.from({ length: maxSiteGroups + 1 }, (_, i) => [2 * i, 2 * i + 1]);
    const [first = [], second = [], ...others] = groups;
    const { site, latest } = testPlant();
    const plant = {
      devices: groups.flat().map((index) => ({ index })) as unknown as Plant['devices'],
      latest,
      site,
      siteOf: () => site,
      sitePowerW: () => 0,
      siteGroups: [first, second, ...others.slice(1)],
    };
    const scopes = new ScopeRecordings(plant);
    scopes.follow(10);
    expect(scopes.groups).to.have.lengthOf(maxSiteGroups);
    plant.siteGroups = [first, ...others];
    expect(scopes.follow(10)).to.equal(true);
    expect(scopes.groups).to.deep.equal([first, ...others.slice(1), others[0]]);
    expect(scopes.follow(10), 'nothing new').to.equal(false);
  });

  it('of more groups of earlier processes those with the newest samples stay', () => {
    const groups = Array.from({ length: maxSiteGroups + 2 }, (_, i) => [2 * i, 2 * i + 1]);
    const { site, latest } = testPlant();
    const scopes = new ScopeRecordings({
      devices: groups.flat().map((index) => ({ index })) as unknown as Plant['devices'],
      latest,
      site,
      siteOf: () => site,
      sitePowerW: () => 0,
      siteGroups: [],
    });
    for (const devices of groups.slice(0, -1)) scopes.restored(`group:${devices.join()}`);
    expect(scopes.groups).to.deep.equal(groups.slice(1, -1));
    // the next file has the earliest one again
    scopes.restored('group:2,3');
    scopes.restored(`group:${groups.at(-1)?.join()}`);
    expect(scopes.groups).to.deep.equal([...groups.slice(3, -1), [2, 3], groups.at(-1)]);
  });

  it('ends when the group has no sample with a limit any more, and gives its memory back', async () => {
    const plant = await sunnyPlant(pv, pv, pv);
    const history = createHistory(plant, { samplesPerDevice: 5 });
    const devices = [0, 1];
    plant.setSite({ export: 4000 }, undefined, { devices });
    await plant.step(2);
    plant.setSite({ export: null }, undefined, { devices });
    await plant.step(4);
    expect(history.groups, 'a sample is left').to.deep.equal([devices]);
    await plant.step(2);
    expect(history.groups).to.deep.equal([]);
    plant.setSite({ export: 4000 }, undefined, { devices });
    await plant.step(9);
    expect(history.groups, 'it has a limit').to.deep.equal([devices]);
  });

  it('has the limits at the end of the tick, though a request sets others before the sample is taken', async () => {
    const plant = await sunnyPlant(pv, pv);
    const devices = [0, 1];
    plant.setSite({ export: 4000 }, undefined, { devices });
    plant.onTick(({ tick }) => {
      if (tick === 4) plant.setSite({ export: 3000, import: 1000 }, undefined, { devices });
    });
    const history = createHistory(plant, { samplesPerDevice: 9 });
    await plant.step(3);
    expect(column(history, devices, 'export_limit_kw').slice(-3)).to.deep.equal([
      [3, 4],
      [4, 4],
      [5, 3],
    ]);
    expect(column(history, devices, 'import_limit_kw').slice(-2)).to.deep.equal([
      [4, NaN],
      [5, 1],
    ]);
  });

  it('is recorded in parts, large groups one by one', () => {
    const plant = testPlant({ types: Array.from({ length: 24 }, () => pv) });
    for (let from = 0; from < 24; from += 2) plant.setSite({ export: 1 }, undefined, { devices: [from, from + 1] });
    plant.setSite({ export: 1 }, undefined, { devices: plant.devices.map(({ index }) => index) });
    const scopes = new ScopeRecordings(plant);
    scopes.follow(10);
    const done: number[] = [];
    let recorded = 0;
    const parts = scopesInParts([...scopes.all, ...scopes.all], () => (recorded += 1));
    while (parts.next().done !== true) done.push(recorded);
    expect(done).to.deep.equal([14, 28]);
    expect(recorded).to.equal(28);
  });

  it('has rings whose blocks end in different ticks', () => {
    const capacities = Array.from({ length: 40 }, (_, i) => {
      const ring = new Series(`group:${2 * i},${2 * i + 1}`, []).emptyRing();
      for (let tick = 0; tick < 800; tick += 1) ring.append(10_000, tick, tick, tick);
      return ring.cut().runs[0]?.to;
    });
    expect(new Set(capacities).size).to.be.above(30);
  });
});
