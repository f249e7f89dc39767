import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'EVSE'];
const [pv, battery, charger] = [0, 1, 2] as const;
let rest: Rest;

const newest = async (device: number): Promise<Json> =>
  (await rest.get(`/history?device=${device}&limit=1&metrics=limit_kw,possible_kw,power_kw`)).samples[0];
const connector = (action: string, body: Json = {}) => rest.post(`/evse/SIM-CP-1/connectors/1/${action}`, body);

describe('limits in the history', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types, tickIntervalS: 1 }));
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rest.plant.step(60);
  });
  afterEach(() => rest.api.stop());

  it('are the tightest one, and the power without it', async () => {
    expect(await newest(pv)).to.include({ limit_kw: 10, possible_kw: 10 });
    await rest.post(`/grid-support/max-power?device=${pv}`, { enabled: true, limit_pct: 40 });
    await rest.plant.step(60);
    expect(await newest(pv)).to.include({ limit_kw: 4, possible_kw: 10, power_kw: 4 });
  });

  it('have the sign of the power, and the possible power of the overview', async () => {
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', power_kw: 4 });
    await rest.plant.step(60);
    const sample = await newest(battery);
    const { chain } = await rest.get(`/controls/why?device=${battery}`);
    const limits = chain.flatMap(({ kw }: Json) => kw ?? []);
    expect(sample.limit_kw).to.equal(-Math.min(...limits));
    const { devices } = await rest.get('/overview');
    expect(sample.possible_kw).to.equal(devices[battery].possible_kw);
  });

  it('of a charging station include those of its connectors with a vehicle', async () => {
    const idle = await newest(charger);
    await connector('plug', { ev: { id: 'EV-7' } });
    await connector('limit', { power_kw: 5 });
    await rest.plant.step(60);
    const { limit_kw: limitKw, power_kw: powerKw } = await newest(charger);
    expect(limitKw).to.be.closeTo(powerKw, 0.01);
    expect(limitKw).to.be.within(-5.2, -5);
    expect(idle.limit_kw).to.be.below(-10);
  });
});
