import { expect } from 'chai';
import { allRoutes } from '../../../src/api/routes.ts';
import { siteLimitNames } from '../../../src/contract/site.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const noLimits = Object.fromEntries(
  siteLimitNames.flatMap((name) => [
    [`${name}_limit_kw`, null],
    [`${name}_limit_by`, null],
  ]),
);

describe('site (13)', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
    rest.plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25, loadKw: 1.5 });
    await rest.plant.step(30);
  });
  afterEach(() => rest.api.stop());

  it('powers of the last tick, and no limit at first', async () => {
    expect(await rest.get('/site')).to.deep.equal({
      net_power_kw: 17,
      generation_kw: 20,
      consumption_kw: 0,
      load_kw: 3,
      ...noLimits,
      binding: [],
      exceeded: [],
    });
    const { devices } = await rest.get('/overview');
    expect(devices.reduce((sum: number, { power_kw }: Json) => sum + Number(power_kw), 0)).to.equal(20);
  });

  it('a limit acts from the next tick on, and shows who set it', async () => {
    const answer = await rest.post('/site', { export_limit_kw: 5 });
    expect(answer).to.deep.include({ net_power_kw: 17, export_limit_kw: 5, exceeded: ['export'] });
    expect(answer.export_limit_by.source).to.equal('rest');
    expect(answer.export_limit_by.source_detail).to.match(/^127\.0\.0\.1:\d+$/);
    expect(answer.export_limit_by.changed_at).to.equal((await rest.get('/controls/time')).sim_time);
    await rest.plant.step(1);
    expect(await rest.get('/site')).to.deep.include({
      net_power_kw: 5,
      generation_kw: 8,
      load_kw: 3,
      export_limit_kw: 5,
      import_limit_kw: null,
      binding: ['export'],
      exceeded: [],
    });
    for (const device of [0, 1]) {
      const controls = await rest.get(`/controls?device=${device}`);
      expect(controls.decided_by.active).to.equal('site');
      expect(controls.throttle).to.deep.equal({ active: true, pct: 40, sources: ['derated'] });
      expect(controls.modes.max_power).to.include({ enabled: false, active: false });
    }
  });

  it('null ends one, absent leaves the others', async () => {
    await rest.post('/site', { export_limit_kw: 5, load_limit_kw: 0, generation_limit_kw: 1e6 });
    const answer = await rest.post('/site', { export_limit_kw: null });
    expect(answer).to.include({
      export_limit_kw: null,
      load_limit_kw: 0,
      generation_limit_kw: 1e6,
      import_limit_kw: null,
    });
    expect([answer.export_limit_by.source, answer.import_limit_by]).to.deep.equal(['rest', null]);
    await rest.plant.step(10);
    expect(await rest.get('/site')).to.deep.include({ net_power_kw: 17, binding: [] });
  });

  it('refuses what is no limit, naming each, and changes nothing', async () => {
    const bad = await rest.refused('/site', 422, 'validation', {
      export_limit_kw: 3,
      import_limit_kw: -1,
      load_limit_kw: 1_000_001,
      generation_limit_kw: '5',
    });
    expect(bad.errors.map(({ name }: Json) => name)).to.have.members([
      '/import_limit_kw',
      '/load_limit_kw',
      '/generation_limit_kw',
    ]);
    await rest.refused('/site', 422, 'validation', {});
    await rest.refused('/site', 422, 'validation', { net_power_kw: 3, export_limit_kw: 3 });
    await rest.refused('/site?device=0', 422, 'validation');
    await rest.refused('/site?device=0', 422, 'validation', { export_limit_kw: 3 });
    expect(await rest.get('/site')).to.deep.include(noLimits);
  });

  it('the examples are answers, but for who asked', async () => {
    const example = (operationId: string): Json =>
      JSON.parse(JSON.stringify(allRoutes.find((each) => each.operationId === operationId)!.examples));
    const without = (reply: Json): Json =>
      Object.fromEntries(
        Object.entries<Json>(reply).map(([name, value]) => [name, name.endsWith('_by') ? value !== null : value]),
      );
    await rest.post('/site', { export_limit_kw: 5 });
    await rest.plant.step(1);
    expect(without(await rest.get('/site'))).to.deep.equal(without(example('get_site').reply));
    const { body, reply } = example('set_site');
    expect(without(await rest.post('/site', body))).to.deep.equal(without(reply));
  });
});
