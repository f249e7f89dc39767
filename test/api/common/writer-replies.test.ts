import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('dates of writes', () => {
  it('follow a setting of the clock: how long ago stays', async () => {
    const rest = await Rest.open(testPlant({ types: ['PV-3Phase'] }));
    async function ages(): Promise<number[]> {
      const { sim_time: now } = await rest.get('/controls/time');
      const { points } = await rest.get('/registers/704');
      const { modes, overrides } = await rest.get('/controls');
      const dates = [
        points.find(({ name }: Json) => name === 'WMaxLimPctEna').changed_at,
        modes.max_power.changed_at,
        overrides[0].changed_at,
        (await rest.get('/site')).export_limit_by.changed_at,
      ];
      return dates.map((at) => Date.parse(now) - Date.parse(at));
    }
    await rest.post('/registers/704', { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } });
    await rest.post('/site', { export_limit_kw: 9 });
    await rest.post('/controls/shading', { shaded_share: 0.2, irradiance_share: 0.5 });
    await rest.plant.step(2);
    const before = await ages();
    expect(before).to.deep.equal([3000, 3000, 3000, 3000]);
    const { sim_time: was } = await rest.get('/controls/time');
    const { sim_time: is } = await rest.post('/controls/time', { clock_time: '20:00:00' });
    const after = await ages();
    await rest.api.stop();
    expect(Math.abs(Date.parse(is) - Date.parse(was))).to.be.above(60_000);
    expect(after).to.deep.equal(before);
  });
});
