import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('interface 5.5, 5.7: storage, ports and curves of every kind', () => {
  const types = ['Batt-3Phase', 'HybridDC-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'PV-3Phase'] as const;
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types }));
    await rest.plant.step(4);
  });
  afterEach(() => rest.api.stop());

  const plate = (type: (typeof types)[number]): Promise<Json> => rest.get(`/nameplate?device=${types.indexOf(type)}`);
  const curve = (type: (typeof types)[number], query = ''): Promise<Json> =>
    rest.get(`/dc-iv?device=${types.indexOf(type)}&points=32${query}`);

  it('storage is that of the registers, and null without one', async () => {
    expect((await plate('Batt-3Phase')).storage).to.deep.equal({
      wh_rating_wh: 15_000,
      soc_min_pct: 10,
      soc_max_pct: 90,
    });
    expect((await plate('HybridDC-3Phase')).storage).to.deep.equal({
      wh_rating_wh: 15_000,
      soc_min_pct: 10,
      soc_max_pct: 95,
    });
    for (const type of ['Wind-T4-3Phase', 'Fuelcell-3Phase', 'PV-3Phase'] as const)
      expect((await plate(type)).storage, type).to.equal(null);
  });

  it('a port for each source behind the inverter', async () => {
    const ports = async (type: (typeof types)[number]) =>
      (await plate(type)).dc_ports.map((port: Json) => [port.index, port.type]);
    expect(await ports('Batt-3Phase')).to.deep.equal([[0, 'ess']]);
    expect(await ports('HybridDC-3Phase')).to.deep.equal([
      [0, 'pv'],
      [1, 'ess'],
    ]);
    expect(await ports('Wind-T4-3Phase')).to.deep.equal([[0, 'inj']]);
    expect(await ports('Fuelcell-3Phase')).to.deep.equal([[0, 'inj']]);
  });

  it('charging belongs to the ratings of those that can', async () => {
    expect((await plate('Batt-3Phase')).ratings.w_cha_rte_max_w).to.equal(10_000);
    expect((await plate('Wind-T4-3Phase')).ratings.w_cha_rte_max_w).to.equal(null);
  });

  it('the curve of a battery spans discharge to charge over rising voltage', async () => {
    for (const reply of [await curve('Batt-3Phase'), await curve('HybridDC-3Phase', '&port=1')]) {
      expect(reply).to.include({ kind: 'battery', irradiance_w_m2: null, mpp: null, i_sc_a: null });
      const first = reply.curve[0],
        last = reply.curve.at(-1);
      expect(reply.curve).to.have.length(32);
      expect(first.i).to.be.greaterThan(0);
      expect(last.i).to.be.lessThan(0);
      reply.curve.slice(1).forEach((point: Json, i: number) => expect(point.v).to.be.greaterThan(reply.curve[i].v));
      expect(reply.v_oc_v).to.be.within(first.v, last.v);
    }
  });

  it('has six decimals, as every other answer', async () => {
    for (const type of ['Batt-3Phase', 'HybridDC-3Phase', 'Fuelcell-3Phase', 'PV-3Phase'] as const) {
      const digits = JSON.stringify(await curve(type)).match(/\.\d+/g) ?? [];
      expect(digits.length, type).to.be.greaterThan(32);
      expect(Math.max(...digits.map((each) => each.length - 1)), type).to.be.at.most(6);
    }
  });

  it('a fuel cell gives its polarisation curve, a hybrid that of its array first, a turbine none', async () => {
    const fuelCell = await curve('Fuelcell-3Phase');
    expect(fuelCell).to.include({ kind: 'fuelcell', irradiance_w_m2: null, port: 0 });
    expect(fuelCell.curve).to.deep.include(fuelCell.mpp);
    expect(await curve('HybridDC-3Phase')).to.include({ kind: 'pv', port: 0 });
    await rest.refused('/dc-iv?device=2', 404, 'not-applicable');
    await rest.refused('/dc-iv?device=2&port=9', 404, 'not-applicable');
    for (const [device, port] of [
      [0, 1],
      [1, 2],
      [3, 1],
      [4, 1],
    ])
      await rest.refused(`/dc-iv?device=${device}&port=${port}`, 404, 'unknown-resource');
  });
});
