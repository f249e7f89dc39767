import { expect } from 'chai';
import { gridEventNames } from '../../../src/contract/environment.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const path = '/controls/grid/event';

describe('grid events (13)', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
  });
  afterEach(() => rest.api.stop());

  it('the library lists every event with its parameters', async () => {
    const { events } = await rest.get('/grid-events');
    expect(events.map(({ name }: Json) => name)).to.deep.equal([...gridEventNames]);
    const sag = events.find(({ name }: Json) => name === 'sag');
    expect(sag.parameters).to.deep.include({
      name: 'residual_pu',
      unit: 'pu',
      default: 0.5,
      minimum: 0,
      maximum: 1,
      allowed: null,
    });
    for (const { name, parameters } of events) {
      const preset = Object.fromEntries(parameters.map((parameter: Json) => [parameter.name, parameter.default]));
      await rest.post(path, { event: name, parameters: preset });
    }
  });

  it('the examples are answers', async () => {
    expect((await rest.get('/grid-events')).events).to.deep.include(examples('list_grid_events').reply.events[0]);
    const { body, reply } = examples('set_grid_event');
    const live = await rest.post(path, body);
    const { source_detail: peer } = live.changed_by;
    expect(live).to.deep.equal({ ...reply, changed_by: { ...reply.changed_by, source_detail: peer } });
  });

  it('starts one, shows it while it runs, and ends with the values before', async () => {
    await rest.post(path, { event: 'voltage_step', parameters: { to_pu: 0.95, duration_s: 4 } });
    await rest.plant.step(2);
    expect(await rest.get('/controls/grid')).to.deep.include({
      voltage_a_pu: 0.95,
      duration_remaining_s: null,
      event: { name: 'voltage_step', elapsed_s: 3, remaining_s: 1 },
    });
    expect((await rest.get('/controls')).grid.event.name).to.equal('voltage_step');
    await rest.plant.step(1);
    expect(await rest.get('/controls/grid')).to.deep.include({ voltage_a_pu: 1, event: null });
  });

  it('null stops it', async () => {
    await rest.post(path, { event: 'island', parameters: { duration_s: 60 } });
    expect(await rest.get('/controls/grid')).to.include({ island: true, outage: false });
    expect(await rest.post(path, { event: null })).to.deep.include({ island: false, event: null });
    await rest.post(path, { event: null });
  });

  it('concerns one device, or all', async () => {
    expect(await rest.post(`${path}?device=1`, { event: 'sag', parameters: { duration_s: 60 } })).to.include({
      device_index: 1,
      voltage_a_pu: 0.5,
    });
    expect(await rest.get('/controls/grid?device=0')).to.deep.include({ voltage_a_pu: 1, event: null });
    expect(await rest.post(path, { event: null })).to.deep.include({ device_index: null, event: null });
    expect(await rest.get('/controls/grid?device=1')).to.include({ voltage_a_pu: 1 });
    await rest.refused(`${path}?device=9`, 404, 'unknown-device', { event: 'sag' });
    await rest.refused(`${path}?device=9`, 404, 'unknown-device', { event: null });
  });

  it('refuses unknown names and parameters, naming what is allowed', async () => {
    const name = await rest.refused(path, 422, 'validation', { event: 'brownout' });
    expect(name.errors[0]).to.deep.include({ in: 'body', name: '/event', allowed: [...gridEventNames] });
    const parameter = await rest.refused(path, 422, 'validation', { event: 'outage', parameters: { depth: 1 } });
    expect(parameter.errors).to.deep.equal([
      {
        in: 'body',
        name: '/parameters/depth',
        detail: 'is not a parameter of outage; it has duration_s, phases',
        allowed: ['duration_s', 'phases'],
      },
    ]);
    const value = await rest.refused(path, 422, 'validation', {
      event: 'sag',
      parameters: { residual_pu: 2, phases: 'X' },
    });
    expect(value.errors.map((fault: Json) => fault.name)).to.deep.equal([
      '/parameters/residual_pu',
      '/parameters/phases',
    ]);
    for (const body of [
      {},
      { event: 1 },
      { event: 'sag', duration_s: 1 },
      { event: 'sag', parameters: { phases: null } },
      { event: 'sag', parameters: [] },
    ]) {
      await rest.refused(path, 422, 'validation', body);
    }
    const idle = await rest.refused(path, 422, 'validation', { event: null, parameters: {} });
    expect(idle.errors[0]).to.include({ name: '/parameters' });
    expect((await rest.get('/controls/grid')).event).to.equal(null);
  });

  it('island is a value of the grid like outage', async () => {
    expect(await rest.post('/controls/grid', { island: true, duration_s: 5 })).to.include({
      island: true,
      voltage_a_pu: 1,
      duration_remaining_s: 5,
    });
    await rest.refused('/controls/grid', 422, 'validation', { island: 1 });
  });
});
