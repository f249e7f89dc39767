import { expect } from 'chai';
import { operator } from '../../der/kinds/support.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

describe('controls/available and the switch', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-3Phase'] }));
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rest.plant.step(20);
  });
  afterEach(() => rest.api.stop());

  it('shows kW and kvar of a device, whatever limits it', async () => {
    await rest.post('/grid-support', { max_power: { enabled: true, limit_pct: 50 } });
    await rest.plant.step(20);
    expect((await rest.get('/overview')).metrics.power_kw).to.equal(5);
    expect(await rest.get('/controls/available')).to.deep.equal({
      device_index: 0,
      inject_kw: 10,
      absorb_kw: 0,
      inject_kvar: 4.4,
      absorb_kvar: 4.4,
    });
    expect(await rest.get('/controls/available?device=1')).to.include({
      device_index: 1,
      inject_kw: 10,
      absorb_kw: 10,
    });
    await rest.refused('/controls/available?device=9', 404, 'unknown-device');
  });

  it('is nothing behind an open switch, whose position controls shows', async () => {
    expect((await rest.get('/controls')).service.switch_closed).to.equal(true);
    rest.plant.device(0).command({ kind: 'switch', closed: false }, operator);
    expect((await rest.get('/controls')).service.switch_closed).to.equal(false);
    await rest.plant.step(20);
    expect(await rest.get('/controls/available')).to.deep.equal({
      device_index: 0,
      inject_kw: 0,
      absorb_kw: 0,
      inject_kvar: 0,
      absorb_kvar: 0,
    });
  });

  it('a trip leaves the switch closed', async () => {
    await rest.post('/controls/grid', { outage: true });
    await rest.plant.step(20);
    const { status } = await rest.get('/overview');
    expect(status.connection_state).to.equal('disconnected');
    expect((await rest.get('/controls')).service.switch_closed).to.equal(true);
  });
});
