import { expect } from 'chai';
import { evsePlant, pvBeside } from '../../support/evse-plant.ts';
import { examples } from '../../support/examples.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const path = '/evse/der-controls';

describe('evse/der-controls', () => {
  afterEach(() => rest.api.stop());

  it('are those of grid-support, of the first station or the one named', async () => {
    rest = await Rest.open(evsePlant([pvBeside, 'EVSE-AC-22kW-1port', 'EVSE-V2G-DC-50kW-bidir']));
    for (const [query, device] of [
      ['', 1],
      ['?device=2', 2],
    ] as const) {
      const { limit_max_discharge_pct: limit, control_ids: ids, ...functions } = await rest.get(`${path}${query}`);
      expect(functions).to.deep.equal(await rest.get(`/grid-support?device=${device}`));
      expect([limit, ids]).to.deep.equal([null, {}]);
    }
    await rest.refused(`${path}?device=0`, 404, 'not-applicable');
    await rest.refused(`${path}?device=0`, 404, 'not-applicable', { anti_islanding: { enabled: false } });
    await rest.refused(`${path}?device=3`, 404, 'unknown-device');
  });

  it('are not there without a station', async () => {
    rest = await Rest.open(evsePlant([pvBeside]));
    await rest.refused(path, 404, 'not-applicable');
    await rest.refused(path, 404, 'not-applicable', {});
  });

  it('the examples are real answers', async () => {
    rest = await Rest.open(evsePlant());
    expect(examples('get_evse_der_controls').reply).to.deep.equal(await rest.get(path));
    const { body, reply } = examples('set_evse_der_controls');
    expect(reply).to.deep.equal(await rest.post(path, body));
  });

  it('sets functions together with the limit, or nothing', async () => {
    rest = await Rest.open(evsePlant());
    const set = await rest.post(path, { volt_watt: { enabled: true }, limit_max_discharge_pct: 30 });
    expect(set.volt_watt).to.include({ enabled: true, source: 'rest' });
    expect(set.max_power).to.include({ enabled: true, limit_pct: 30 });
    expect(set.limit_max_discharge_pct).to.equal(30);
    expect(await rest.post(path, { limit_max_discharge_pct: null })).to.deep.include({
      limit_max_discharge_pct: null,
      max_power: { ...set.max_power, enabled: false },
    });
    const clash = await rest.refused(path, 422, 'validation', {
      max_power: { limit_pct: 50, enabled: false },
      limit_max_discharge_pct: 20,
    });
    expect(clash.errors).to.deep.equal([
      {
        in: 'body',
        name: '/limit_max_discharge_pct',
        detail: 'contradicts /max_power/enabled: both are 704.WMaxLimPctEna',
      },
      {
        in: 'body',
        name: '/limit_max_discharge_pct',
        detail: 'contradicts /max_power/limit_pct: both are 704.WMaxLimPct',
      },
    ]);
    await rest.refused(path, 422, 'validation', {
      volt_watt: { enabled: false, points: [] },
      limit_max_discharge_pct: 10,
    });
    for (const body of [
      { limit_max_discharge_pct: 101 },
      { limit_max_discharge_pct: -1 },
      { limit_max_discharge_pct: '5' },
      { limit: 5 },
    ]) {
      await rest.refused(path, 422, 'validation', body);
    }
    const after = await rest.get(path);
    expect(after.volt_watt).to.deep.equal(set.volt_watt);
    expect(after.max_power).to.include({ enabled: false, limit_pct: 30 });
  });

  it('the limit holds back what a vehicle gives, not what it takes', async () => {
    rest = await Rest.open(evsePlant(['EVSE-V2G-DC-50kW-bidir']));
    const at = '/evse/SIM-CP-1/connectors/1';
    await rest.post(path, { limit_max_discharge_pct: 20, freq_droop: { enabled: false } });
    await rest.post(`${at}/plug`, {});
    await rest.plant.step(40);
    expect((await rest.get(at)).power_kw).to.be.greaterThan(40);
    await rest.post(`${at}/discharge`, { power_kw: 30 });
    await rest.plant.step(60);
    const giving = await rest.get(at);
    expect(giving.power_kw).to.be.closeTo(-10, 0.05);
    expect(giving).to.include({ limit_source: 'der', discharge_kw: 30 });
    expect((await rest.get('/overview')).metrics.power_kw).to.be.closeTo(10, 0.05);
  });

  it('shows what limits the consumption from outside, and its last writer', async () => {
    rest = await Rest.open(evsePlant());
    expect(await rest.get('/evse/SIM-CP-1')).to.include({ authority: 'local', external_limit: null });
    const { bank } = rest.plant.devices[0]!;
    bank.transact({ source: 'modbus', peer: '192.0.2.1:1' }, ({ m704 }) => {
      Object.assign(m704, { WSetMod: 'WATTS', WSet: -6000, WSetEna: 'ENABLED' });
    });
    await rest.plant.step(1);
    expect((await rest.get('/evse/SIM-CP-1')).external_limit).to.deep.equal({
      limit_kw: 6,
      decided_by: 'active_power',
      changed_by: { source: 'modbus', source_detail: '192.0.2.1:1', changed_at: '2026-06-21T12:00:00.000Z' },
    });
    rest.plant.setSite({ load: 4000 });
    await rest.plant.step(2);
    expect((await rest.get('/evse/SIM-CP-1')).external_limit).to.deep.equal({
      limit_kw: 4,
      decided_by: 'site',
      changed_by: null,
    });
  });

  it('a one-way station takes no positive set-point, whichever way it comes', async () => {
    rest = await Rest.open(evsePlant(['EVSE-AC-22kW-1port', 'EVSE-V2G-DC-50kW-bidir']));
    const setPath = '/grid-support/active-power';
    const started = await rest.get(setPath);
    expect(started).to.include({ setpoint_pct: -100, setpoint_kw: -22 });
    const over = { name: '/setpoint_kw', detail: '4 kW is outside -22..0 kW' };
    const body = { enabled: true, setpoint_kw: 4 };
    const direct = await rest.refused(setPath, 422, 'validation', body);
    expect(direct.errors[0]).to.include(over);
    const controls = await rest.refused(path, 422, 'validation', { active_power: body });
    expect(controls.errors[0]).to.include({ ...over, name: '/active_power/setpoint_kw' });
    const pct = await rest.refused(setPath, 422, 'validation', {
      setpoint_pct: 0,
      reversion_setpoint_pct: 1,
      mode: 'w_max_pct',
    });
    expect(pct.errors[0].detail).to.equal('1 is outside -100..0');
    const hold = { id: 'a', duration_s: 60, functions: { active_power: body } };
    const held = await rest.refused('/controls/holds', 422, 'validation', hold);
    expect(held.errors[0].detail).to.equal(over.detail);
    const point = await rest.refused('/registers/704', 422, 'validation', { points: { WSet: 1 } });
    expect(point.errors[0].detail).to.equal('1 is outside -22000..0');
    expect(await rest.get(setPath)).to.deep.equal(started);
    await rest.post(setPath, { enabled: true, setpoint_kw: 0 });
    expect(await rest.post(`${setPath}?device=1`, body)).to.include({ setpoint_kw: 4 });
  });

  it('names the OCPP controls that set a function', async () => {
    rest = await Rest.open(evsePlant());
    const { bank } = rest.plant.devices[0]!;
    const slot = bank.layout.slot(704, 'WMaxLimPctEna')!;
    bank.assign({ source: 'ocpp', peer: 'limit-7' }, [{ slot, value: 'ENABLED' }]);
    expect((await rest.get(path)).control_ids).to.deep.equal({ max_power: 'limit-7' });
    expect((await rest.post(path, { max_power: { enabled: false } })).control_ids).to.deep.equal({});
  });
});
