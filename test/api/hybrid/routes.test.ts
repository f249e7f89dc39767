import { expect } from 'chai';
import { byModbus } from '../../support/map.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('interface 6.5: hybrid DC', () => {
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['HybridDC-3Phase', 'Batt-3Phase'] }));
    await rest.plant.step(4);
  });
  afterEach(() => rest.api.stop());

  const get = () => rest.get('/hybrid-dc');
  const dispatch = (policy: string) => rest.post('/hybrid-dc/dispatch', { policy });
  const manual = (body: Json) => rest.post('/hybrid-dc/manual', body);
  const point = async (name: string): Promise<Json> => {
    const { points } = await rest.get('/registers/704');
    const { symbol, value, source } = points.find((each: Json) => each.name === name);
    return [symbol ?? value, source];
  };

  function balanced({ pv, battery, inverter, losses_kw: lossesKw }: Json): void {
    expect(Number(pv.power_kw) + Number(battery.power_kw)).to.be.closeTo(inverter.dc_power_kw, 1e-3);
    expect(lossesKw).to.be.closeTo(inverter.dc_power_kw - inverter.ac_power_kw, 2e-6);
  }

  it('shows the flows of self consumption at rest', async () => {
    const reply = await get();
    expect(reply).to.include({
      policy: 'self_consumption',
      bus_voltage_v: 800,
      manual_target_kw: null,
      manual_battery_kw: null,
    });
    expect(reply.inverter).to.deep.equal({
      dc_power_kw: 0,
      ac_power_kw: 0,
      reactive_power_kvar: 0,
      efficiency_pct: null,
      rated_kva: 15,
      target_kw: null,
      limited: false,
    });
    expect(reply.battery).to.include({ mode: 'charge', soc_min_pct: 10, soc_max_pct: 95, max_charge_kw: 10 });
    expect(reply.battery.power_kw).to.equal(-reply.pv.power_kw);
    expect(reply.pv.curtailed_kw).to.equal(0);
    balanced(reply);
  });

  it('swaps the policy under way', async () => {
    expect((await dispatch('pv_priority')).policy).to.equal('pv_priority');
    await rest.plant.step(10);
    const reply = await get();
    expect(reply.battery.power_kw).to.equal(0);
    expect(reply.inverter.efficiency_pct).to.be.within(90, 99);
    expect(reply.inverter.ac_power_kw).to.equal((await rest.get('/overview')).metrics.power_kw);
    expect(reply.losses_kw).to.be.greaterThan(0);
    balanced(reply);
  });

  it('entering manual keeps the present output as target', async () => {
    await dispatch('pv_priority');
    await rest.plant.step(10);
    const before = (await get()).inverter.ac_power_kw;
    expect(before).to.be.greaterThan(5);
    const entered = await dispatch('manual');
    expect(entered).to.include({ policy: 'manual', manual_target_kw: before });
    expect([await point('WSetMod'), await point('WSet'), await point('WSetEna')]).to.deep.equal([
      ['WATTS', 'rest'],
      [Math.round(before * 1000), 'rest'],
      ['ENABLED', 'rest'],
    ]);
    await rest.plant.step(10);
    expect((await get()).inverter.ac_power_kw).to.be.closeTo(before, 2e-3);
    await manual({ target_kw: 3 });
    // entering what is in force already does not touch the target
    expect(await dispatch('manual')).to.include({ manual_target_kw: 3 });
  });

  it('follows a manual target either way', async () => {
    await dispatch('manual');
    expect(await manual({ target_kw: 6 })).to.include({ manual_target_kw: 6 });
    await rest.plant.step(20);
    const giving = await get();
    expect(giving.inverter).to.include({ ac_power_kw: 6, target_kw: 6 });
    balanced(giving);
    await manual({ target_kw: -1.5 });
    await rest.plant.step(20);
    const taking = await get();
    balanced(taking);
    expect(taking.inverter).to.include({ ac_power_kw: -1.5, target_kw: -1.5 });
    // into the bus arrives less than is taken from the grid
    expect(taking.inverter.efficiency_pct)
      .to.be.closeTo((100 * taking.inverter.dc_power_kw) / -1.5, 1e-3)
      .and.within(85, 99);
    expect(taking.battery.mode).to.equal('charge');
  });

  it('keeps a manual target beyond a reversion time that somebody else left', async () => {
    await dispatch('manual');
    await rest.post('/grid-support/active-power', { reversion_time_s: 30 });
    expect(await manual({ target_kw: 2 })).to.include({ manual_target_kw: 2 });
    await rest.plant.step(60);
    expect(await get()).to.include({ manual_target_kw: 2 });
    expect((await point('WSetRvrtTms'))[0]).to.equal(0);
  });

  it('pins the battery until that is ended or manual is left', async () => {
    await dispatch('manual');
    expect(await manual({ target_kw: 6, battery_kw: -2 })).to.include({ manual_target_kw: 6, manual_battery_kw: -2 });
    await rest.plant.step(20);
    expect((await get()).battery.power_kw).to.be.closeTo(-2, 1e-3);
    expect(await manual({ target_kw: 5 })).to.include({ manual_battery_kw: -2 });
    expect(await manual({ target_kw: 5, battery_kw: null })).to.include({ manual_battery_kw: null });
    await manual({ target_kw: 5, battery_kw: 1 });
    expect(await dispatch('pv_priority')).to.include({ manual_battery_kw: null, manual_target_kw: null });
  });

  it('leaving manual switches off the set-point that was ours', async () => {
    await dispatch('manual');
    await dispatch('self_consumption');
    expect(await point('WSetEna')).to.deep.equal(['DISABLED', 'rest']);
    expect((await get()).inverter.target_kw).to.equal(null);
  });

  it('leaving manual leaves the set-point of another interface', async () => {
    await dispatch('manual');
    rest.plant.device(0).bank.transact(byModbus, (tx) => {
      tx.m704.WSet = 2000;
      tx.m704.WSetEna = 'ENABLED';
    });
    expect(await get()).to.include({ manual_target_kw: 2 });
    const left = await dispatch('self_consumption');
    expect(left).to.include({ policy: 'self_consumption', manual_target_kw: null });
    expect(left.inverter.target_kw).to.equal(2);
    expect(await point('WSetEna')).to.deep.equal(['ENABLED', 'modbus']);
  });

  it('takes a manual target in policy manual only', async () => {
    await rest.refused('/hybrid-dc/manual', 409, 'conflict', { target_kw: 3 });
    expect((await get()).inverter.target_kw).to.equal(null);
  });

  it('refuses a request whole', async () => {
    await dispatch('manual');
    await manual({ target_kw: 2, battery_kw: 1 });
    const cases: readonly [Json, string][] = [
      [{ target_kw: 15.001 }, '/target_kw'],
      [{ target_kw: -15.001 }, '/target_kw'],
      [{ target_kw: 3, battery_kw: 10.1 }, '/battery_kw'],
      [{ target_kw: 1e308 }, '/target_kw'],
      [{ battery_kw: 1 }, '/target_kw'],
      [{ target_kw: null }, '/target_kw'],
      [{ target_kw: 3, soc_pct: 1 }, '/soc_pct'],
    ];
    for (const [body, pointer] of cases) {
      const { errors } = await rest.refused('/hybrid-dc/manual', 422, 'validation', body);
      expect(
        errors.map((each: Json) => each.name),
        JSON.stringify(body),
      ).to.deep.equal([pointer]);
      expect(await get()).to.include({ manual_target_kw: 2, manual_battery_kw: 1 });
    }
    await rest.post('/registers/702', { points: { WMax: 9000 } });
    const { errors } = await rest.refused('/hybrid-dc/manual', 422, 'validation', { target_kw: 10, battery_kw: 3 });
    expect(errors[0].detail).to.contain('-15 to 9 kW');
    expect(await get()).to.include({ manual_target_kw: 2, manual_battery_kw: 1 });
    await rest.refused('/hybrid-dc/dispatch', 422, 'validation', { policy: 'grid_first' });
    await rest.refused('/hybrid-dc/dispatch', 422, 'validation', {});
  });

  it('is for hybrids alone', async () => {
    await rest.refused('/hybrid-dc?device=1', 404, 'not-applicable');
    await rest.refused('/hybrid-dc/dispatch?device=1', 404, 'not-applicable', { policy: 'manual' });
    await rest.refused('/hybrid-dc/manual?device=1', 404, 'not-applicable', { target_kw: 1 });
    expect(
      (await rest.get('/registers/704?device=1')).points.find((each: Json) => each.name === 'WSetEna').symbol,
    ).to.equal('DISABLED');
  });
});
