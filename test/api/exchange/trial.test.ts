import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { byTest } from '../../support/rig.ts';
import { useCurve } from '../../der/inverter/ideal-rig.ts';

describe('exchange/trial', () => {
  let rest: Rest;
  let session: string;
  before(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase', 'PV-3Phase'] }));
    rest.plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
    for (const { bank } of rest.plant.devices)
      bank.transact(byTest, (tx) => {
        useCurve(
          tx,
          705,
          [
            [98, 0],
            [108, -44],
          ],
          { RspTms: 5 },
        );
      });
    session = (await rest.post('/exchange', {}, 201)).session;
    await rest.post('/exchange/step', { session, dt_s: 60, va_pu: 1 });
  });
  after(() => rest.api.stop());

  const trial = (body: object): Promise<Json> => rest.post('/exchange/trial', { session, ...body });
  const issues = async (body: object): Promise<string> =>
    (await rest.refused('/exchange/trial', 422, 'validation', { session, ...body })).errors
      .map(({ name, detail }: Json) => `${name}: ${detail}`)
      .join();

  it('answers in columns, and changes nothing', async () => {
    const before = await rest.get('/exchange/values');
    const reply = await trial({ dt_s: 1, va_pu: [1.02, 1.03, 1.2] });
    expect(Object.keys(reply)).to.deep.equal(['session', 'dt_s', 'sim_time', 'p_w', 'q_var', 'exact']);
    expect(reply).to.deep.include({ session, dt_s: 1, sim_time: before.sim_time, exact: [1, 1, 0] });
    expect(await trial({ dt_s: 1, va_pu: [1.02, 1.03, 1.2] })).to.deep.equal(reply);
    expect(await rest.get('/exchange/values')).to.deep.equal(before);
    expect(rest.plant.grid(0).voltageAPu).to.equal(1);
    const { p_w: p, q_var: q } = await rest.post('/exchange/step', { session, dt_s: 1, va_pu: [1.02, 1.03, 1] });
    for (const place of [0, 1]) {
      expect(reply.p_w[place]).to.be.closeTo(p[place], 5);
      expect(reply.q_var[place]).to.be.closeTo(q[place], 5);
      expect(q[place]).to.be.lessThan(-100);
    }
  });

  it('answers the end of all responses for null, and phases on request', async () => {
    const reply = await trial({ dt_s: null, va_pu: 1.03, phases: true });
    expect(reply.dt_s).to.equal(null);
    expect(reply.q_var[0]).to.be.closeTo(-2200, 0.01);
    for (const name of ['qa_var', 'qb_var', 'qc_var']) expect(reply[name][0]).to.be.closeTo(-2200 / 3, 0.01);
    expect([reply.pb_w[1], reply.ic_a[1]]).to.deep.equal([null, null]);
    expect(reply.ia_a[1]).to.be.greaterThan(0);
    const { devices } = await rest.get('/exchange');
    const inVolts = devices.map(({ v_nom_ln_v: nominal }: Json) => 1.03 * nominal);
    expect((await trial({ dt_s: null, v_v: [inVolts, inVolts, inVolts] })).q_var[0]).to.be.closeTo(-2200, 0.01);
  });

  it('works while the clock runs', async () => {
    await rest.post('/exchange/end', { session });
    await rest.post('/controls/time', { mode: 'accelerated' });
    session = (await rest.post('/exchange', {}, 201)).session;
    expect((await trial({ dt_s: null, va_pu: 1.03 })).q_var[0]).to.be.closeTo(-2200, 0.01);
    await rest.post('/exchange/end', { session });
    await rest.post('/controls/time', { mode: 'paused' });
    session = (await rest.post('/exchange', {}, 201)).session;
  });

  it('refuses what a step refuses, and a missing time', async () => {
    expect(await issues({ va_pu: 1 })).to.contain('/dt_s');
    expect(await issues({ dt_s: 0 })).to.contain('/dt_s');
    expect(await issues({ dt_s: 86_401 })).to.contain('/dt_s');
    expect(await issues({ dt_s: 1, va_pu: [1, 1] })).to.equal('/va_pu: has 2 values; 3 devices are attached');
    expect(await issues({ dt_s: 1, va_pu: 2.5 })).to.contain('/va_pu');
    await rest.refused('/exchange/trial', 409, 'conflict', { session: 'other', dt_s: 1 });
  });

  it('has null for a device that was removed, and needs an exchange', async () => {
    await rest.plant.remove(1);
    const { p_w: p, exact } = await trial({ dt_s: 1 });
    expect([p[1], exact[1]]).to.deep.equal([null, null]);
    await rest.post('/exchange/end', { session });
    expect((await rest.refused('/exchange/trial', 409, 'conflict', { session, dt_s: 1 })).detail).to.contain(
      'no devices are attached',
    );
  });
});
