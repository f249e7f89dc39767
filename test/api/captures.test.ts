import { expect } from 'chai';
import { Captures } from '../../src/capture/book.ts';
import { ask } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { prefix, Rest } from '../support/rest.ts';

describe('captures over REST', () => {
  const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], tickIntervalS: 0.5 });
  const captures = new Captures({ plant, nowMs: () => 0, run: () => null });
  let rest: Rest;

  before(async () => {
    captures.capacity = 3;
    rest = await Rest.open(plant, { captures });
    await plant.step(1);
    await rest.post('/controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } });
    await plant.step(20);
  });

  after(() => rest.api.stop());

  it('lists them, newest first, and shows one with marks, thresholds and verdicts', async () => {
    const list = await rest.get('/captures');
    expect(list).to.include({ tick: 21, capacity: 3 });
    expect(list.captures).to.have.length(1);
    const capture = await rest.get('/captures/1');
    expect(capture).to.include({
      title: 'Sag to 42 % for 1.20 s',
      state: 'complete',
      devices: 2,
      summary: 'All rode through.',
    });
    expect(capture.triggers[0]).to.include({ source: 'rest', device_index: null });
    expect(capture.triggers[0].repeat.path).to.equal('/controls/grid/event');
    expect(capture.verdicts[0]).to.include({ verdict: 'rode_through', margin_s: 0.8, during_kw: 0 });
  });

  it('gives rows as columns, and as one table of CSV', async () => {
    const { states, devices } = await rest.get('/captures/1/rows');
    const [first] = devices;
    expect(first.t_s.slice(0, 2)).to.deep.equal([-1, 0]);
    expect(first.from_tick.slice(0, 3)).to.deep.equal([1, 1, 0]);
    for (const column of ['grid_v_pct', 'v_low_pct', 'v_high_pct', 'f_hz', 'p_kw', 'q_kvar', 'possible_kw', 'ramp'])
      expect(first[column]).to.have.length(first.rows);
    expect(states[first.state[4]]).to.equal('momentary_cessation');
    const csv = await rest.call('/captures/1/rows?format=csv');
    const lines = csv.text.trim().split('\r\n');
    expect(lines[0]).to.equal(
      'device,t_s,grid_v_pct,v_low_pct,v_high_pct,f_hz,p_kw,q_kvar,possible_kw,state,ramp,from_tick',
    );
    expect(lines).to.have.length(1 + Number(devices[0].rows) + Number(devices[1].rows));
    expect(lines[5]).to.match(/^0,0\.\d+,42,42,42,60,0,.*,momentary_cessation,0,0$/);
    expect((await rest.get('/captures/1/rows?device=1')).devices).to.deep.equal([devices[1]]);
  });

  it('lists those of a device, with a kind of disturbance, or with a verdict', async () => {
    const idsOf = async (query: string) =>
      (await rest.get(`/captures?${query}`)).captures.map(({ id }: { readonly id: number }) => id);
    const [first, second] = captures.get(1).report().verdicts;
    if (!first || !second) throw new Error('the capture has no verdicts');
    const report = { ...captures.get(1).report(), verdicts: [first, { ...second, verdict: 'tripped' as const }] };
    captures.get(1).reporting = function* () {
      return report;
    };
    const cases: readonly (readonly [query: string, count: number])[] = [
      ['kind=grid_event', 1],
      ['kind=trip', 0],
      ['device=1', 1],
      ['verdict=rode_through', 1],
      ['verdict=still_out', 0],
      ['device=0&verdict=rode_through&kind=grid_event', 1],
      ['device=0&verdict=tripped', 0],
      ['device=1&verdict=tripped', 1],
      ['device=1&verdict=tripped&kind=alarm', 0],
    ];
    for (const [query, count] of cases) expect(await idsOf(query), query).to.have.length(count);
    await rest.refused('/captures?verdict=fine', 422, 'validation');
  });

  it('captures now, pins and drops; refuses what there is not', async () => {
    const now = await rest.call('/captures?device=1', { method: 'POST' });
    expect(now.status, now.text).to.equal(201);
    expect(now.headers.location).to.equal(`${prefix}/captures/2`);
    expect(now.json).to.deep.include({ id: 2, state: 'recording', devices: 1, device_index: 1, scenario: null });
    expect(await rest.post('/captures/1', { pinned: true })).to.include({ id: 1, pinned: true });
    await rest.post('/captures/2', { pinned: true });
    await plant.step(20);
    await rest.call('/captures', { method: 'POST' });
    await rest.refused('/captures/3', 409, 'conflict', { pinned: true });
    await rest.refused('/captures/3', 422, 'validation', {});
    await rest.refused('/captures/3', 422, 'validation', { pinned: 1 });
    const dropped = await ask(rest.port, `${prefix}/captures/3`, { method: 'DELETE' });
    expect(dropped.json).to.include({ id: 3, state: 'cut' });
    await rest.refused('/captures/3', 404, 'unknown-resource');
    await rest.refused('/captures/x', 422, 'validation');
    await rest.refused('/captures/2/rows?device=0', 404, 'unknown-resource');
    await rest.refused('/captures/1/rows?format=xml', 422, 'validation');
    expect((await rest.call('/captures?device=9', { method: 'POST' })).status).to.equal(404);
    captures.capacity = 0;
    expect((await rest.call('/captures', { method: 'POST' })).status).to.equal(409);
    expect((await rest.get('/captures')).captures).to.deep.equal([]);
  });
});
