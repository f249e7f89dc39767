import { expect } from 'chai';
import { byModbus } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

const asStarted = {
  device_index: 0,
  w_pct_per_s: 20,
  w_source: 'register',
  var_pct_per_s: 20,
  var_source: 'register',
  changed_by: null,
};

describe('controls/gradient', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-3Phase'] }));
  });
  afterEach(() => rest.api.stop());

  it('shows the slopes of the registers as long as nobody sets one', async () => {
    expect(await rest.get('/controls/gradient')).to.deep.equal(asStarted);
    expect(await rest.get('/controls/gradient?device=1')).to.deep.equal({ ...asStarted, device_index: 1 });
  });

  it('sets each slope by itself, for one device, and shows who did', async () => {
    const set = await rest.post('/controls/gradient?device=1', { w_pct_per_s: 0.27 });
    expect(set).to.deep.include({ device_index: 1, w_pct_per_s: 0.27, w_source: 'gradient', var_source: 'register' });
    expect(set.changed_by).to.include({ source: 'rest' });
    expect(await rest.post('/controls/gradient?device=1', { var_pct_per_s: 3.5 })).to.include({
      w_pct_per_s: 0.27,
      var_pct_per_s: 3.5,
      var_source: 'gradient',
    });
    expect(await rest.get('/controls/gradient')).to.deep.equal(asStarted);
    expect(await rest.post('/controls/gradient?device=1', { w_pct_per_s: null })).to.include({
      w_pct_per_s: 20,
      w_source: 'register',
      var_pct_per_s: 3.5,
    });
  });

  it('moves the power, and controls shows it', async () => {
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rest.plant.step(20);
    await rest.post('/controls/gradient', { w_pct_per_s: 0.5 });
    await rest.post('/grid-support', { max_power: { enabled: true, limit_pct: 50 } });
    await rest.plant.step(10);
    expect((await rest.get('/overview')).metrics.power_kw).to.equal(9.25);
    const { gradient, overrides, modes } = await rest.get('/controls');
    expect(gradient).to.include({ w_pct_per_s: 0.5, w_source: 'gradient', var_pct_per_s: 20 });
    expect(gradient.changed_by).to.include({ source: 'rest' });
    expect(overrides.map(({ name }: { name: string }) => name)).to.deep.equal(['gradient']);
    expect(modes.ramp.source).to.equal('default');
  });

  it('a master that writes 704.WRmp afterwards ends it', async () => {
    await rest.post('/controls/gradient', { w_pct_per_s: 0.5, var_pct_per_s: 0.5 });
    rest.plant.device(0).bank.transact(byModbus, (tx) => {
      tx.m704.WRmp = 5;
    });
    const { gradient, modes } = await rest.get('/controls');
    expect(gradient).to.include({ w_pct_per_s: 5, w_source: 'register', var_pct_per_s: 0.5, var_source: 'gradient' });
    expect(gradient.changed_by).to.include({ source: 'rest' });
    expect(modes.ramp.source).to.equal('modbus');
    await rest.post('/grid-support', { ramp: { var_ramp_pct_s: 7 } });
    expect(await rest.get('/controls/gradient')).to.include({ var_pct_per_s: 7, var_source: 'register' });
  });

  it('refuses what is no slope, and an empty request; nothing changes', async () => {
    for (const body of [
      {},
      { w_pct_per_s: 0 },
      { w_pct_per_s: -1 },
      { w_pct_per_s: 0.00009 },
      { w_pct_per_s: 1001 },
      { w_pct_per_s: '1' },
      { w_pct_per_s: 5, var_pct_per_s: 0 },
      { w_pct_per_s: 5, ramp: 1 },
    ]) {
      await rest.refused('/controls/gradient', 422, 'validation', body);
    }
    await rest.refused('/controls/gradient?device=9', 404, 'unknown-device', { w_pct_per_s: 1 });
    expect(await rest.get('/controls/gradient')).to.deep.equal(asStarted);
  });
});
