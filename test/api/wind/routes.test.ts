import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('interface 6.3: wind', () => {
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['Wind-T3-3Phase', 'Wind-T4-3Phase', 'PV-3Phase'] }));
  });
  afterEach(() => rest.api.stop());

  it('shows turbine and data', async () => {
    await rest.plant.step(4);
    const third = await rest.get('/wind');
    expect(third).to.include({
      turbine: 'T3',
      rated_power_kw: 5000,
      hub_height_m: 90,
      rotor_diameter_m: 126,
      source: 'dataset',
      override_wind_speed_m_s: null,
      lvrt_state: 'normal',
      reactive_power_kvar: 0,
    });
    expect(third.dataset).to.include({ name: 'wind-week', time_scale: 1 });
    expect(third.generator_rpm / third.rotor_rpm).to.be.closeTo(97, 0.01);
    expect(await rest.get('/wind?device=1')).to.include({
      turbine: 'T4',
      rated_power_kw: 15_000,
      hub_height_m: 150,
      rotor_diameter_m: 240,
    });
  });

  it('has a power curve that the power on the rotor meets in steady wind', async () => {
    const curve = await rest.get('/wind/power-curve');
    expect(curve).to.include({ cut_in_m_s: 3, cut_out_m_s: 25 });
    expect(curve.points.map((point: { wind_speed_m_s: number }) => point.wind_speed_m_s)).to.include.members([
      0, 9, 30,
    ]);
    const at = (speed: number): number =>
      curve.points.find((point: { wind_speed_m_s: number }) => point.wind_speed_m_s === speed).mechanical_power_kw;
    expect([at(2.5), at(25.5)]).to.deep.equal([0, 0]);
    await rest.post('/wind/override', { wind_speed_m_s: 9 });
    await rest.plant.step(200);
    expect((await rest.get('/wind')).mechanical_power_kw).to.be.closeTo(at(9), 0.01 * at(9));
    await rest.post('/wind/override', { wind_speed_m_s: null });
  });

  it('runs on in its data', async () => {
    const { position } = (await rest.get('/wind')).dataset;
    await rest.plant.step(10);
    expect((await rest.get('/wind')).dataset.position - position).to.be.closeTo(15, 1e-6);
  });

  it('takes an override at hub height until it is ended', async () => {
    const reply = await rest.post('/wind/override', { wind_speed_m_s: 9 });
    expect(reply).to.include({ source: 'override', override_wind_speed_m_s: 9 });
    await rest.plant.step(200);
    const steady = await rest.get('/wind');
    expect(steady).to.include({ wind_speed_m_s: 9, region: '2', state: 'run_mppt', pitch_deg: 0 });
    expect(steady.cp).to.be.within(0.45, 0.49);
    const { dc_power_kw: dcKw, power_kw: acKw } = (await rest.get('/overview')).metrics;
    expect(steady.dc_power_kw).to.be.closeTo(dcKw, 1);
    expect(steady.electrical_power_kw).to.be.closeTo(acKw, 1);
    expect(steady.electrical_power_kw).to.be.below(0.98 * dcKw);
    expect((await rest.get('/wind?device=1')).source).to.equal('dataset');
    expect(await rest.post('/wind/override', { wind_speed_m_s: null })).to.include({
      source: 'dataset',
      override_wind_speed_m_s: null,
    });
  });

  it('takes one at the anemometer, which blows harder at the hub', async () => {
    await rest.post('/wind/override', { wind_speed_m_s: 6, height: 'anemometer' });
    await rest.plant.step(2);
    const reply = await rest.get('/wind');
    expect(reply.wind_speed_measured_m_s).to.equal(6);
    expect(reply.wind_speed_m_s).to.be.within(7, 10);
  });

  it('takes any number: a negative one is no wind, too much of it stops the rotor', async () => {
    await rest.post('/wind/override', { wind_speed_m_s: -5 });
    await rest.plant.step(2);
    expect(await rest.get('/wind')).to.include({ wind_speed_m_s: 0, override_wind_speed_m_s: -5 });
    for (const speed of [300, 1e308]) {
      await rest.post('/wind/override', { wind_speed_m_s: speed });
      await rest.plant.step(100);
      expect(await rest.get('/wind')).to.include({
        wind_speed_m_s: 60,
        region: 'cut_out',
        state: 'high_wind_stop',
        electrical_power_kw: 0,
        override_wind_speed_m_s: speed,
      });
    }
    expect((await rest.get('/overview')).status.inverter_state).to.not.equal('fault');
  });

  it('refuses what is no wind, and other kinds of devices', async () => {
    for (const body of [
      {},
      { wind_speed_m_s: '9' },
      { wind_speed_m_s: 9, height: 'tip' },
      { wind_speed_m_s: 9, duration_s: 3 },
    ]) {
      await rest.refused('/wind/override', 422, 'validation', body);
    }
    expect(await rest.get('/wind')).to.include({ source: 'dataset' });
    await rest.refused('/wind?device=2', 404, 'not-applicable');
    await rest.refused('/wind/override?device=2', 404, 'not-applicable', { wind_speed_m_s: 9 });
    await rest.refused('/wind?device=3', 404, 'unknown-device');
  });
});
