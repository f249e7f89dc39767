import { expect } from 'chai';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';

let rest: Rest;

describe('GET energy', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'HybridDC-3Phase'], tickIntervalS: 1, time: '23:59:50' }));
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25, loadKw: 1.8 });
    await rest.plant.step(30);
  });
  afterEach(() => rest.api.stop());

  it('of the site has export, import, load and kinds', async () => {
    const site = await rest.get('/energy');
    expect(site).to.include({ tick: 30, sim_time: '2026-06-22T00:00:20.000Z', device_index: null });
    for (const [span, seconds] of [
      ['today', 20],
      ['since_start', 30],
    ] as const) {
      const { load_kwh, by_kind, produced_kwh, absorbed_kwh, exported_kwh, imported_kwh } = site[span];
      expect(load_kwh, span).to.equal((2 * 1.8 * seconds) / 3600);
      expect(Object.keys(by_kind)).to.deep.equal(['pv', 'hybrid-dc']);
      expect(exported_kwh - imported_kwh).to.be.closeTo(produced_kwh - absorbed_kwh - load_kwh, 3e-6);
    }
    expect(site.today.by_kind.pv.produced_kwh).to.be.closeTo((10 * 20) / 3600, 1e-5);
  });

  it('of a device leaves out what only the site has', async () => {
    const { today, since_start: sinceStart, device_index: index } = await rest.get('/energy?device=0');
    expect(index).to.equal(0);
    expect(today).to.include({
      absorbed_kwh: 0,
      load_kwh: 0.01,
      exported_kwh: null,
      imported_kwh: null,
      by_kind: null,
    });
    expect(today.produced_kwh).to.be.closeTo((10 * 20) / 3600, 1e-5);
    expect(sinceStart.produced_kwh).to.be.above(today.produced_kwh);
    await rest.refused('/energy?device=2', 404, 'unknown-device');
  });
});
