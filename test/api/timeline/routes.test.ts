import { expect } from 'chai';
import { entrySchema } from '../../../src/api/timeline/members.ts';
import { requestHappening } from '../../../src/api/timeline/requests.ts';
import { timelineEntryJson } from '../../../src/contract/timeline.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandWall } from '../../support/wall.ts';

describe('GET timeline', () => {
  let plant: SimPlant;
  let timeline: Timeline;
  let rest: Rest;

  beforeEach(async () => {
    plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], tickIntervalS: 1 });
    timeline = new Timeline({ wall: new HandWall(), sim: () => plant.now });
    rest = await Rest.open(plant, { timeline });
  });
  afterEach(() => rest.api.stop());

  const entries = async (query = ''): Promise<readonly Json[]> => (await rest.get(`/timeline${query}`)).entries;

  it('lists entries oldest first with tick, time and last id', async () => {
    timeline.add({ kind: 'grid', title: 'a', text: 'a.' });
    await plant.step(1);
    timeline.add({ kind: 'service', level: 'bad', title: 'b', text: 'b.', deviceIndex: 1 });
    const reply = await rest.get('/timeline');
    expect(reply).to.include({ tick: 1, last_id: 2, sim_time: new Date(plant.dateMs(plant.now)).toISOString() });
    expect(reply.entries.map(({ id, device_index, devices }: Json) => [id, device_index, devices])).to.deep.equal([
      [1, null, []],
      [2, 1, [1]],
    ]);
  });

  it('filters by id, kinds, device, level, simulated time and limit', async () => {
    timeline.add({ kind: 'grid', title: 'a', text: 'a.' });
    await plant.step(2);
    timeline.add({ kind: 'service', level: 'bad', title: 'b', text: 'b.', deviceIndex: 1 });
    const at = new Date(plant.dateMs(plant.now)).toISOString();
    const ids = async (query: string) => (await entries(query)).map(({ id }) => id);
    expect(await ids('?after_id=1')).to.deep.equal([2]);
    expect(await ids('?kinds=grid,alarm')).to.deep.equal([1]);
    expect(await ids('?device=1')).to.deep.equal([2]);
    expect(await ids('?level=warn')).to.deep.equal([2]);
    expect(await ids(`?since=${at}`)).to.deep.equal([2]);
    expect(await ids(`?until=${at}`)).to.deep.equal([1, 2]);
    expect(await ids('?limit=1')).to.deep.equal([2]);
    await rest.refused('/timeline?kinds=grids', 422, 'validation');
    await rest.refused('/timeline?device=9', 404, 'unknown-device');
  });

  it('has commands and refusals at a charging station with its device', async () => {
    await rest.api.stop();
    plant = testPlant({ types: ['PV-3Phase', 'EVSE', 'EVSE'], tickIntervalS: 1 });
    timeline = new Timeline({ wall: new HandWall(), sim: () => plant.now });
    rest = await Rest.open(plant, { timeline });
    await rest.post('/evse/SIM-CP-1-2/connectors/1/plug', {});
    await rest.refused('/evse/SIM-CP-1/connectors/1/stop', 409, 'conflict', {});
    await rest.call('/evse/SIM-CP-9/connectors/1/unplug', { method: 'POST', body: {} });
    await rest.call('/evse/%E0%A4%A/connectors/1/unplug', { method: 'POST', body: {} });
    expect((await entries()).map(({ kind, device_index: index }) => [kind, index])).to.deep.equal([
      ['command', 2],
      ['refusal', 1],
      ['refusal', null],
      ['refusal', null],
    ]);
  });

  it('has commands with their client, by kind, and refusals, and no reads', async () => {
    await rest.post('/controls/grid?device=1', { voltage_pu: 0.9 });
    await rest.call('/controls/battery?device=1', {
      method: 'POST',
      body: { mode: 'idle' },
      headers: { 'X-Derbench-Client': 'dashboard' },
    });
    await rest.refused('/controls/grid?device=1', 422, 'validation', { voltage_pu: 9 });
    await rest.get('/controls?device=1');
    await rest.refused('/controls?device=77', 404, 'unknown-device');
    expect(
      (await entries()).map(({ kind, level, by, device_index, text }) => [kind, level, by.source, device_index, text]),
    ).to.deep.equal([
      ['grid', 'info', 'rest', 1, 'Sets the grid: voltage 90 %.'],
      ['command', 'info', 'dashboard', 1, 'Sets the battery: mode idle.'],
      ['refusal', 'warn', 'rest', 1, '/voltage_pu: must be from 0 to 2; given 9 (422).'],
    ]);
  });

  it('has a disturbance of the grid in words, as a warning', async () => {
    const event = '/controls/grid/event';
    await rest.post(event, { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2, phases: 'A' } });
    await rest.post(event, { event: null });
    await rest.post('/controls/environment', { irradiance_w_m2: 950 });
    expect((await entries()).map(({ kind, level, title, text }) => [kind, level, title, text])).to.deep.equal([
      ['grid', 'warn', 'Sag to 42 % for 1.2 s, phases A', 'Sag to 42 % for 1.2 s, phases A.'],
      ['grid', 'info', 'Ends the grid event', 'Ends the grid event.'],
      ['weather', 'info', 'Sets the weather and the load', 'Sets the weather and the load: irradiance 950 W/m².'],
    ]);
  });

  it('has a request to several devices once, and no routine ones', async () => {
    for (const index of [0, 1]) await rest.post(`/controls/local?device=${index}`, { local: true });
    await rest.post('/controls/time/step', { ticks: 1 });
    expect((await entries()).map(({ count, devices }) => [count, devices])).to.deep.equal([[2, [0, 1]]]);
  });

  it('tells no request that another source tells, and no secret', () => {
    const route = { method: 'post', path: '/a' };
    const input = { params: {}, query: {}, body: { password: 'pw', url: 'x' }, by: { source: 'rest' } } as const;
    expect(requestHappening({ ...route, operationId: 'set_faults', summary: 's' }, input)).to.equal(null);
    expect(
      requestHappening({ ...route, operationId: 'x', summary: 'Does x', secretMembers: ['password'] }, input)?.text,
    ).to.equal('Does x: password …, url x.');
    const kept = requestHappening({ ...route, operationId: 'x', summary: 's' }, input);
    expect(kept?.calls).to.deep.equal([{ method: 'POST', path: '/a', query: {}, body: input.body }]);
    const secret = { ...route, operationId: 'x', summary: 's', secretMembers: ['password'] };
    expect(requestHappening(secret, input)?.calls).to.equal(undefined);
    expect(requestHappening(secret, { ...input, body: { a: [{ password: 'pw' }] } })?.calls).to.equal(undefined);
    const large = { ...input, body: { text: 'x'.repeat(4000) } };
    expect(requestHappening({ ...route, operationId: 'x', summary: 's' }, large)?.calls).to.equal(undefined);
  });

  it('has the form of its entries in the description', () => {
    const entry = timeline.add({ kind: 'fault', title: 'a', text: 'a.', ref: { type: 'fault', id: '1' } });
    const json = timelineEntryJson(entry, (at) => plant.dateMs(at));
    expect(entrySchema().parse(json)).to.deep.equal(json);
  });
});
