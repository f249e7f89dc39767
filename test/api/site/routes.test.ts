import { expect } from 'chai';
import { siteLimitNames } from '../../../src/contract/site.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const noLimits = Object.fromEntries(
  siteLimitNames.flatMap((name) => [
    [`${name}_limit_kw`, null],
    [`${name}_limit_owner`, null],
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

  it('has no register map without a meter', async () => {
    for (const path of ['/site/registers', '/site/registers/203']) {
      const { detail } = await rest.refused(path, 404, 'unknown-resource');
      expect(detail).to.match(/no meter.*meter_unit/);
    }
  });

  it('powers of the last tick, and no limit at first', async () => {
    const { sim_time: at, ...answer } = await rest.get('/site');
    expect(at).to.equal(new Date(rest.plant.dateMs(rest.plant.now)).toISOString());
    expect(answer).to.deep.equal({
      tick: 30,
      devices: null,
      net_power_kw: 17,
      generation_kw: 20,
      consumption_kw: 0,
      load_kw: 3,
      ...noLimits,
      binding: [],
      exceeded: [],
      owners: [],
      by_kind: { pv: { delivered_kw: 20, absorbed_kw: 0 } },
    });
    const { devices } = await rest.get('/overview');
    expect(devices.reduce((sum: number, { power_kw }: Json) => sum + Number(power_kw), 0)).to.equal(20);
  });

  it('the past in samples at least 5 s apart, with the power without limits and the voltage', async () => {
    rest.plant.setSite({ export: 5000, import: 2000 }, { source: 'rest', peer: 'test' });
    await rest.plant.step(60);
    const past = await rest.get('/site/history?seconds=20');
    const seconds = past.timestamp.map((at: string) => Date.parse(at) / 1000);
    expect(seconds.length).to.be.within(4, 5);
    for (const [index, at] of seconds.slice(1).entries()) expect(at - seconds[index]).to.be.at.least(5);
    expect(past.net_power_kw.at(-1)).to.equal(5);
    expect(past.possible_kw.at(-1)).to.equal(17);
    expect([past.export_limit_kw.at(-1), past.import_limit_kw.at(-1)]).to.deep.equal([5, 2]);
    expect(past.voltage_pct.at(-1)).to.be.closeTo(100, 1);
    expect(
      past.kinds.map(({ asset_type: kind, net_power_kw: kw }: Json) => [kind, kw.length, kw.at(-1)]),
    ).to.deep.equal([['pv', seconds.length, 8]]);
    // a clock that is set back begins anew
    await rest.post('/controls/time', { clock_time: '06:00:00' });
    await rest.plant.step(3);
    expect((await rest.get('/site/history')).timestamp).to.have.lengthOf(1);
  });

  it('the past of a group beside its limits, tick by tick, in the formats of the history', async () => {
    await rest.post('/site', { devices: [1, 0], generation_limit_kw: 6 });
    await rest.plant.step(2);
    await rest.post('/site', { devices: [0, 1], generation_limit_kw: null });
    await rest.plant.step(1);
    expect((await rest.get('/site/scopes')).recorded_groups).to.deep.equal([[0, 1]]);
    const path = '/site/scopes/history?devices=1,0,1&metrics=net_power_kw,generation_limit_kw';
    const { columns, ...head } = await rest.get(`${path}&format=columns`);
    expect(head).to.deep.include({ devices: [0, 1], count: 3, metrics: ['net_power_kw', 'generation_limit_kw'] });
    expect([columns.tick, columns.net_power_kw, columns.generation_limit_kw]).to.deep.equal([
      [31, 32, 33],
      [3, 3, 9],
      [6, 6, null],
    ]);
    const csv = await rest.call(`${path}&format=csv&limit=2`);
    expect(csv.headers['content-disposition']).to.contain('history-devices-0-1.csv');
    expect(csv.text.split('\r\n').map((line) => line.split(',').slice(2).join())).to.deep.equal([
      'tick,net_power_kw,generation_limit_kw',
      '32,3,6',
      '33,9,',
      '',
    ]);
    const whole = await rest.get('/site/scopes/history');
    expect(whole).to.deep.include({ devices: null, count: 34 });
    const { errors } = await rest.refused('/site/scopes/history?devices=1,1', 422, 'validation');
    expect(errors[0].detail).to.equal('is one device: its samples are those of history?device=1');
    await rest.refused('/site/scopes/history?devices=0,7', 404, 'unknown-device');
    await rest.refused('/site/scopes/history?devices=0,x', 422, 'validation');
    expect((await rest.get('/site/history')).export_limit_kw.at(-1)).to.equal(null);
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
      expect(controls.decided_by).to.deep.equal({
        active: 'site',
        reactive: 'none',
        site_limit: { devices: null, limit: 'export', limit_kw: 5, owner: 'rest' },
      });
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
    const both = await rest.refused('/site?device=0', 422, 'validation', { export_limit_kw: 3, devices: [1] });
    expect(both.errors.map(({ name }: Json) => name)).to.deep.equal(['/devices']);
    await rest.refused('/site', 422, 'validation', { export_limit_kw: 3, devices: [] });
    await rest.refused('/site', 422, 'validation', { export_limit_kw: 3, devices: [-1] });
    await rest.refused('/site', 422, 'validation', { export_limit_kw: 3, owner: 'two words' });
    await rest.refused('/site', 422, 'validation', { owner: 'feeder', devices: [0] });
    await rest.refused('/site', 404, 'unknown-device', { export_limit_kw: 3, devices: [0, 2] });
    await rest.refused('/site?device=2', 404, 'unknown-device', { export_limit_kw: 3 });
    await rest.refused('/site?device=2', 404, 'unknown-device');
    expect(await rest.get('/site')).to.deep.include(noLimits);
  });

  it('a device and a group have limits of their own, and `controls` name the one that holds', async () => {
    const answer = await rest.post('/site?device=1', { export_limit_kw: 2 });
    expect(answer).to.deep.include({ devices: [1], net_power_kw: 8.5, load_kw: 1.5, exceeded: ['export'] });
    await rest.post('/site', { generation_limit_kw: 6, devices: [1, 0] });
    await rest.plant.step(1);
    expect(await rest.get('/site?device=1')).to.deep.include({
      net_power_kw: 1.5,
      generation_kw: 3,
      export_limit_kw: 2,
      export_limit_owner: 'rest',
      binding: [],
      exceeded: [],
    });
    const { scopes } = await rest.get('/site/scopes');
    expect(scopes.map(({ devices, binding }: Json) => [devices, binding])).to.deep.equal([
      [null, []],
      [[1], []],
      [[0, 1], ['generation']],
    ]);
    expect((await rest.get('/controls?device=1')).decided_by.site_limit).to.deep.equal({
      devices: [0, 1],
      limit: 'generation',
      limit_kw: 6,
      owner: 'rest',
    });
    expect(await rest.get('/site')).to.deep.include({ ...noLimits, owners: [] });
  });

  it('owners: the tightest holds, null ends the own limit alone, and the dashboard is REST', async () => {
    await rest.post('/site', { export_limit_kw: 5 });
    const both = await rest.post('/site', { export_limit_kw: 4, owner: 'feeder' });
    expect(both).to.deep.include({ export_limit_kw: 4, export_limit_owner: 'rest:feeder' });
    expect(both.owners.map(({ owner, export_limit_kw }: Json) => [owner, export_limit_kw])).to.deep.equal([
      ['rest', 5],
      ['rest:feeder', 4],
    ]);
    expect(both.owners[0].changed_by.source).to.equal('rest');
    const { json } = await rest.call('/site', {
      method: 'POST',
      body: { export_limit_kw: null },
      headers: { 'X-Derbench-Client': 'dashboard' },
    });
    expect(json).to.deep.include({ export_limit_kw: 4, export_limit_owner: 'rest:feeder' });
    const none = await rest.post('/site', { export_limit_kw: null, owner: 'feeder' });
    expect([none.export_limit_kw, none.owners]).to.deep.equal([null, []]);
  });

  it('no request changes what another protocol has set', async () => {
    rest.plant.setSite({ export: 3000 }, { source: 'csip', peer: 'A1' }, { owner: 'csip:a' });
    const answer = await rest.post('/site', { export_limit_kw: null, owner: 'csip:a' });
    expect(answer).to.deep.include({ export_limit_kw: 3, export_limit_owner: 'csip:a' });
    expect(answer.export_limit_by).to.deep.include({ source: 'csip', source_detail: 'A1' });
  });

  it('groups that cross are refused by name', async () => {
    rest = await rest.api.stop().then(() => Rest.open(testPlant({ types: Array<string>(3).fill('PV-3Phase') })));
    await rest.post('/site', { load_limit_kw: 1, devices: [0, 1] });
    const { detail } = await rest.refused('/site', 409, 'conflict', { load_limit_kw: 1, devices: [1, 2] });
    expect(detail).to.include('devices 1, 2 cross the group 0, 1');
    expect((await rest.get('/site/scopes')).scopes).to.have.lengthOf(2);
  });

  it('the examples are answers, but for who asked', async () => {
    const without = (reply: Json): Json =>
      JSON.parse(JSON.stringify(reply, (name, value: Json) => (name.endsWith('_by') ? value !== null : value)));
    await rest.post('/site', { export_limit_kw: 5 });
    await rest.plant.step(1);
    expect(without(await rest.get('/site'))).to.deep.equal(without(examples('get_site').reply));
    await rest.post('/site?device=0', { export_limit_kw: 1, owner: 'feeder' });
    await rest.plant.step(1);
    const { scopes } = examples('get_site_scopes').reply;
    expect(without((await rest.get('/site/scopes')).scopes)).to.deep.equal(without(scopes));
    const { body, reply } = examples('set_site');
    expect(without(await rest.post('/site', body))).to.deep.equal(without(reply));
  });
});
