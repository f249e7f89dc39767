import { expect } from 'chai';
import type { Plant } from '../../../src/contract/plant.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { byModbus, createTestBank } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';
import { Rest } from '../../support/rest.ts';
import type { Json } from '../../support/http.ts';

describe('grid support: a value in a unit selects the mode of that unit', () => {
  let rest: Rest;
  let test: TestBank;

  beforeEach(async () => {
    test = createTestBank();
    const device = { index: 0, bank: test.bank } as unknown as Device;
    const plant: Partial<Plant> = { devices: [device], firstIndex: 0, device: () => device, dateMs: (at) => at / 1000 };
    rest = await Rest.open(plant as SimPlant);
  });
  afterEach(() => rest.api.stop());

  const refusals = async (path: string, body: Json) =>
    (await rest.refused(`/grid-support${path}`, 422, 'validation', body)).errors.map(
      ({ name, detail }: Json) => `${name}: ${detail}`,
    );

  it('a set-point in kW counts, whatever the mode was; one in percent too', async () => {
    expect(await rest.post('/grid-support/active-power', { enabled: true, setpoint_kw: 4 })).to.include({
      mode: 'watts',
      setpoint_kw: 4,
    });
    expect([test.value('704.WSetMod'), test.value('704.WSet')]).to.deep.equal(['WATTS', 4000]);
    expect(await rest.post('/grid-support/active-power', { setpoint_pct: 25 })).to.include({
      mode: 'w_max_pct',
      setpoint_pct: 25,
      setpoint_kw: 4,
    });
    expect(test.value('704.WSetMod')).to.equal('W_MAX_PCT');
  });

  it('kvar count, and percent in the percentage that is in force', async () => {
    const kvar = await rest.post('/grid-support/constant-var', { enabled: true, var_kvar: -3 });
    expect(kvar).to.include({ mode: 'vars', var_kvar: -3 });
    expect(await rest.post('/grid-support/constant-var', { var_pct: 10 })).to.include({ mode: 'var_max_pct' });
    await rest.post('/grid-support/constant-var', { mode: 'w_max_pct' });
    expect(await rest.post('/grid-support/constant-var', { var_pct: 11 })).to.include({ mode: 'w_max_pct' });
  });

  it('a timed control and all functions together do the same', async () => {
    const reply = await rest.post('/grid-support', {
      active_power: { enabled: true, setpoint_kw: 4 },
      constant_var: { var_kvar: 1 },
    });
    expect([reply.active_power.mode, reply.constant_var.mode]).to.deep.equal(['watts', 'vars']);
  });

  it('two units without a mode, or a value of the other unit than the mode alone, contradict', async () => {
    const before = test.dump();
    expect(await refusals('/active-power', { setpoint_kw: 4, setpoint_pct: 50 })).to.deep.equal([
      '/setpoint_kw: contradicts setpoint_pct: without mode only one unit can count',
    ]);
    expect(await refusals('/active-power', { setpoint_kw: 4, reversion_setpoint_pct: 0 })).to.deep.equal([
      '/reversion_setpoint_pct: contradicts setpoint_kw: without mode only one unit can count',
    ]);
    expect(await refusals('/active-power', { mode: 'w_max_pct', setpoint_kw: 4 })).to.deep.equal([
      '/setpoint_kw: contradicts mode w_max_pct, in which setpoint_pct counts',
    ]);
    expect(await refusals('', { constant_var: { mode: 'vars', var_kvar: 1, reversion_var_pct: 2 } })).to.deep.equal([
      '/constant_var/reversion_var_pct: contradicts mode vars, in which reversion_var_kvar counts',
    ]);
    expect(test.dump().equals(before)).to.equal(true);
    // what a reply shows can be sent back
    const both = { mode: 'watts', setpoint_kw: 4, setpoint_pct: 50 };
    expect(await rest.post('/grid-support/active-power', both)).to.include(both);
  });

  it('a value after reversion alone changes nothing that is in force', async () => {
    const kw = { reversion_setpoint_kw: 2 };
    expect(await rest.post('/grid-support/active-power', kw)).to.include({ enabled: false, mode: 'watts' });
    await rest.post('/grid-support/active-power', { enabled: true, setpoint_pct: 50 });
    expect(await refusals('/active-power', kw)).to.deep.equal([
      '/reversion_setpoint_kw: counts in mode watts only, and the function is on in mode w_max_pct; give setpoint_kw or mode too',
    ]);
    expect(await rest.post('/grid-support/active-power', { reversion_setpoint_pct: 5 })).to.include({
      mode: 'w_max_pct',
      reversion_setpoint_pct: 5,
    });
  });

  it('a refusal is in the unit that was sent', async () => {
    expect(await refusals('/constant-var', { var_kvar: -50 })).to.deep.equal([
      '/var_kvar: -50 kvar is outside -48..44 kvar',
    ]);
    expect(await refusals('/active-power', { setpoint_kw: 100.001 })).to.deep.equal([
      '/setpoint_kw: 100.001 kW is outside -80..100 kW',
    ]);
    expect(await refusals('/constant-var', { mode: 'vars', var_kvar: 1e300 })).to.deep.equal([
      '/var_kvar: 1e+300 kvar is outside -48..44 kvar',
    ]);
    // one step beyond what the register holds: the range is still that of the setting
    for (const [sent, given] of [
      [2147483.648, '2147483.648'],
      [1e9, '1000000000'],
    ] as const)
      expect(await refusals('/active-power', { mode: 'watts', setpoint_kw: sent })).to.deep.equal([
        `/setpoint_kw: ${given} kW is outside -80..100 kW`,
      ]);
    const { errors } = await rest.refused('/registers/704', 422, 'validation', { points: { WSet: 1e300 } });
    expect(errors[0].detail).to.equal('1e+300 is outside -80000..100000');
    // bounds that are calculated are shown without the last bits of a double
    test.set({ '702.WMax': 60_000, '702.WChaRteMax': 20_000 });
    expect(await refusals('/active-power', { setpoint_pct: -50 })).to.deep.equal([
      '/setpoint_pct: -50 is outside -33.3333333..100',
    ]);
  });

  it('a value between two steps of its register becomes the nearest one, 0 too', async () => {
    for (const [sent, held] of [
      [0.0001, 0],
      [0.0005, 0.001],
      [-0.0005, -0.001],
      [100.0004, 100],
    ] as const)
      expect(await rest.post('/grid-support/active-power', { setpoint_kw: sent })).to.include({ setpoint_kw: held });
    expect(await refusals('/active-power', { setpoint_kw: 100.0005 })).to.have.lengthOf(1);
  });

  it('705.Crv.VRef: 0 is stored as written, and no other value below 80 is', async () => {
    expect(await rest.post('/grid-support/volt-var', { v_ref_pct: 0 })).to.include({ v_ref_pct: 0 });
    expect(test.value('705.Crv[0].VRef')).to.equal(0);
    // a master stages it and adopts
    await rest.post('/grid-support/volt-var', { v_ref_pct: 100 });
    test.set({ '705.Crv[1].VRef': 0, '705.AdptCrvReq': 2 }, byModbus);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].VRef')]).to.deep.equal(['COMPLETED', 0]);
    expect(await refusals('/volt-var', { v_ref_pct: 79 })).to.deep.equal([
      '/v_ref_pct: 79 is neither in 80..120 nor 0',
    ]);
  });
});
