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

  it('has the whole depth of the whole site beside many devices, also of earlier processes', async () => {
    const plant = await sunnyPlant(pv, pv);
    const columns = createHistory(plant, { samplesPerDevice: 1 }).of(plant.device(0)).metrics.length;
    const bytes = 10 * 2 * sampleBytes(columns);
    await plant.step(40);
    const history = createHistory(plant, { samplesPerDevice: 60, bytes });
    expect([history.depth, history.siteDepth]).to.deep.equal([10, 60]);
    const restoring = history.restoring();
    const kept = restoring.of('site');
    kept?.begin(['net_power_kw'], 0);
    for (let tick = 0; tick < 30; tick += 1) kept?.add(Float64Array.of(tick, tick, tick, 1));
    restoring.end({ add: () => undefined });
    await plant.step(20);
    expect(history.ofScope(null).count).to.equal(30 + 21);
    expect(history.of(plant.device(0)).count).to.equal(10);
    // the memory is divided again
    plant.setSite({ export: 4000 }, undefined, { devices: [0, 1] });
    await plant.step(1);
    expect(history.ofScope(null).count).to.equal(30 + 22);
  });

  it('takes memory from the devices while it has samples', async () => {
    const plant = await sunnyPlant(pv, pv);
    const columns = createHistory(plant, { samplesPerDevice: 1 }).of(plant.device(0)).metrics.length;
    const history = createHistory(plant, { samplesPerDevice: 60, bytes: 10 * 2 * sampleBytes(columns) });
    plant.setSite({ export: 4000 }, undefined, { devices: [0, 1] });
    await plant.step(1);
    expect(history.depth).to.be.below(10);
    plant.setSite({ export: null }, undefined, { devices: [0, 1] });
    await plant.step(12);
    expect(history.groups).to.deep.equal([]);
    expect(history.depth).to.equal(10);
  });

  it('has the sample of the tick before its turn', async () => {
    const plant = await sunnyPlant(pv, pv);
    const seen: (readonly [number, number | undefined])[] = [];
    let newest = (): number | undefined => undefined;
    plant.onTick(({ tick }) => seen.push([tick, newest()]));
    const history = createHistory(plant, { samplesPerDevice: 9 });
    newest = () => column(history, null, 'net_power_kw').at(-1)?.[0];
    await plant.step(2);
    expect(seen).to.deep.equal([
      [3, 3],
      [4, 4],
    ]);
    expect(column(history, null, 'net_power_kw').map(([tick]) => tick)).to.deep.equal([2, 3, 4]);
  });

  it('counts how long a group of an earlier process has had no limit', async () => {
    const plant = await sunnyPlant(pv, pv);
    const restored = (limitKw: number) => {
      const history = createHistory(plant, { samplesPerDevice: 5 });
      const restoring = history.restoring();
      const group = restoring.of('group:0,1');
      group?.begin(['net_power_kw', 'export_limit_kw'], 0);
      for (const [tick, kw] of [limitKw, NaN].entries()) group?.add(Float64Array.of(tick, tick, tick, 1, kw));
      expect(restoring.of('group:0,9'), 'a removed device').to.equal(null);
      restoring.end({ add: () => undefined });
      return history;
    };
    // three samples without a limit, one of them of this process; or two behind one with a limit
    const [never, ended] = [restored(NaN), restored(4)];
    await plant.step(2);
    expect([never.groups, ended.groups]).to.deep.equal([[[0, 1]], [[0, 1]]]);
    await plant.step(1);
    expect([never.groups, ended.groups]).to.deep.equal([[], [[0, 1]]]);
    await plant.step(1);
    expect(ended.groups).to.deep.equal([]);
  });

  it('of one sample has a group whose limit came after the tick', async () => {
    const plant = await sunnyPlant(pv, pv);
    const history = createHistory(plant, { samplesPerDevice: 1 });
    plant.onTick(({ tick }) => {
      if (tick === 3) plant.setSite({ export: 4000 }, undefined, { devices: [0, 1] });
    });
    await plant.step(3);
    expect(history.groups).to.deep.equal([[0, 1]]);
    expect(column(history, [0, 1], 'export_limit_kw')).to.deep.equal([[5, 4]]);
  });

  it('tells of groups that have ended', () => {
    const { site, latest } = testPlant();
    const devices = [0, 1, 2, 3].map((index) => ({ index })) as unknown as Plant['devices'];
    const [first, second] = [
      [0, 1],
      [2, 3],
    ];
    const plant = { devices, latest, site, siteOf: () => site, sitePowerW: () => 0, siteGroups: [first, second] };
    const scopes = new ScopeRecordings(plant);
    scopes.follow(10);
    plant.siteGroups = [second];
    expect(scopes.follow(10)).to.equal(false);
    plant.siteGroups = [];
    expect([scopes.follow(0), scopes.groups], 'as the limits of another group end').to.deep.equal([true, [second]]);
    expect([scopes.follow(0), scopes.groups], 'later').to.deep.equal([true, []]);
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
      if (tick !== 4) return;
      plant.setSite({ export: 3500 }, undefined, { devices });
      plant.setSite({ export: 3000, import: 1000 }, undefined, { devices });
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
