import { expect } from 'chai';
import { gridFunctionNames, gridFunctions } from '../../../src/api/grid-support/functions.ts';
import type { GridFunctionName } from '../../../src/api/grid-support/functions.ts';
import type { GridFunction } from '../../../src/api/grid-support/members.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { Json } from '../../support/http.ts';
import { byModbus, createTestBank } from '../../support/map.ts';
import type { MapOptions, TestBank } from '../../support/map.ts';
import { Rest } from '../../support/rest.ts';
import { cases } from './cases.ts';

/** The interface over register banks alone: nothing here needs physics. */
async function open(...banks: readonly TestBank[]): Promise<Rest> {
  const devices = banks.map(({ bank }, index) => ({ index, bank }) as unknown as Device);
  const plant: Partial<Plant> = {
    devices,
    firstIndex: 0,
    device: (index) => devices[index]!,
    dateMs: (at) => at / 1000,
  };
  return Rest.open(plant as SimPlant);
}

const sources = { source: 'rest', changed_at: '2030-06-01T12:00:00.000Z' };
const oneWay: MapOptions = {
  omit: [
    '704.PFWAbsEna',
    '704.PFWAbsEnaRvrt',
    '704.PFWAbsRvrtTms',
    '704.PFWAbsRvrtRem',
    '704.PFWAbs.PF',
    '704.PFWAbs.Ext',
    '704.PFWAbsRvrt.PF',
    '704.PFWAbsRvrt.Ext',
  ],
};

describe('interface 5.4: grid support', () => {
  let rest: Rest;
  let test: TestBank;

  beforeEach(async () => {
    test = createTestBank();
    rest = await open(test);
  });
  afterEach(() => rest.api.stop());

  const path = (name: string) => `/grid-support/${name.replaceAll('_', '-')}`;
  const expectPoints = (points: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(points)) expect(test.value(name), name).to.equal(value);
  };
  /** The reply says what the request said. */
  const expectEcho = (reply: Json, body: Json): void => {
    for (const [key, value] of Object.entries<Json>(body)) {
      if (Array.isArray(value) || typeof value !== 'object') expect(reply[key], key).to.deep.equal(value);
      else expectEcho(reply[key], value);
    }
  };

  it('covers every function', () => {
    expect(Object.keys(cases)).to.deep.equal(gridFunctionNames);
  });

  for (const [name, { body, points }] of Object.entries(cases)) {
    it(`${name}: all of its members there and back, and in the registers`, async () => {
      const reply = await rest.post(path(name), body);
      expectEcho(reply, body);
      expectPoints(points);
      expect(await rest.get(path(name))).to.deep.equal(reply);
      expect((await rest.get('/grid-support'))[name]).to.deep.equal(reply);
      if ('enabled' in body || name === 'ramp') expect(reply).to.include(sources);
      expect(test.changes, 'one commit').to.have.lengthOf(1);
    });

    it(`${name}: each member by itself leaves the others alone`, async () => {
      let before = await rest.get(path(name));
      const spec: GridFunction = gridFunctions[name as GridFunctionName];
      // a value in the other unit selects another mode
      const other = spec.units?.units.find(({ modes }) => !modes.includes(body.mode));
      const counting = Object.entries<Json>(body).filter(
        ([key]) => key !== other?.now && key !== other?.afterReversion,
      );
      for (const [key, value] of counting) {
        const reply = await rest.post(path(name), { [key]: value });
        expectEcho(reply, { [key]: value });
        for (const other of Object.keys(body))
          if (other !== key) expect(reply[other], `${key} changes ${other}`).to.deep.equal(before[other]);
        before = reply;
      }
      if (other === undefined) expectPoints(points);
    });

    it(`${name}: an empty request changes nothing, an unknown member is refused`, async () => {
      expect(await rest.post(path(name), {})).to.deep.equal(await rest.get(path(name)));
      const problem = await rest.refused(path(name), 422, 'validation', { ...body, nope: 1, supported: true });
      expect(problem.errors.map((each: Json) => each.name)).to.include.members(['/nope', '/supported']);
      expect(test.changes).to.have.lengthOf(0);
    });
  }

  it('sets all functions in one transaction', async () => {
    const all = Object.fromEntries(Object.entries(cases).map(([name, { body }]) => [name, body]));
    const reply = await rest.post('/grid-support', all);
    expectEcho(reply, all);
    for (const { points } of Object.values(cases)) expectPoints(points);
    expect(test.changes).to.have.lengthOf(1);
    expect(reply.device_index).to.equal(0);
    expect(Object.keys(reply)).to.deep.equal(['device_index', ...gridFunctionNames]);
  });

  it('one fault anywhere leaves everything as it was', async () => {
    const before = test.dump();
    const problem = await rest.refused('/grid-support', 422, 'validation', {
      max_power: { limit_pct: 10 },
      volt_var: cases['volt_var']!.body,
      active_power: { setpoint_kw: 100.001 },
    });
    expect(problem.errors).to.deep.equal([
      { in: 'body', name: '/active_power/setpoint_kw', detail: '100.001 kW is outside -80..100 kW' },
    ]);
    expect(test.dump().equals(before)).to.equal(true);
    expect(test.changes).to.have.lengthOf(0);
  });

  const curveFaults: [string, string, Json, string, RegExp][] = [
    [
      'falling x',
      'volt_var',
      {
        points: [
          { v_pct: 100, var_pct: 0 },
          { v_pct: 99, var_pct: 0 },
        ],
      },
      '/points/1/v_pct',
      /is below the value of the previous point/,
    ],
    [
      'falling power',
      'watt_var',
      {
        points: [
          { w_pct: 10, var_pct: 0 },
          { w_pct: 9.9, var_pct: 0 },
        ],
      },
      '/points/1/w_pct',
      /is below the value of the previous point/,
    ],
    ['no points', 'volt_watt', { points: [] }, '/points', /at least 1/],
    ['a part of a second', 'max_power', { reversion_time_s: 0.4 }, '/reversion_time_s', /whole number/],
    ['a part of a set', 'volt_var', { reversion_curve: 0.5 }, '/reversion_curve', /whole number/],
    [
      'a time that would be none',
      'lv_trip',
      { must_trip: { points: [{ v_pct: 50, time_s: 0.0004 }] } },
      '/must_trip/points/0/time_s',
      /too small/,
    ],
    ['no must-trip points', 'lv_trip', { must_trip: { points: [] } }, '/must_trip/points', /at least 1/],
    [
      'too many points',
      'volt_var',
      { points: Array.from({ length: 11 }, () => ({ v_pct: 100, var_pct: 0 })) },
      '/points',
      /at most 10/,
    ],
    ['a point with one coordinate', 'volt_var', { points: [{ v_pct: 100 }] }, '/points/0/var_pct', /required/],
    [
      'an x out of range',
      'volt_watt',
      { points: [{ v_pct: 201, w_pct: 0 }] },
      '/points/0/v_pct',
      /from 0 to 200; given 201/,
    ],
    [
      'a frequency that no grid has',
      'lf_trip',
      { must_trip: { points: [{ hz: 39, time_s: 1 }] } },
      '/must_trip/points/0/hz',
      /from 40 to 70; given 39/,
    ],
    ['a droop of 0', 'freq_droop', { k_of: 0 }, '/k_of', /from 0.001 to 1; given 0/],
    ['a set that is not there', 'volt_var', { reversion_curve: 4 }, '/reversion_curve', /outside 0..3/],
    ['a power factor below the rating', 'pf', { inject: { pf: 0.79 } }, '/inject/pf', /outside 0.8..1/],
    ['an unknown symbol', 'constant_var', { mode: 'amps' }, '/mode', /must be one of w_max_pct/],
    ['null', 'max_power', { limit_pct: null }, '/limit_pct', /must be a number/],
    ['a number beyond its register', 'constant_var', { var_kvar: 1e300 }, '/var_kvar', /1e\+300 kvar is outside -/],
  ];
  for (const [what, name, body, pointer, detail] of curveFaults) {
    it(`${what} is refused with pointer and reason`, async () => {
      const before = test.dump();
      const { errors } = await rest.refused(path(name), 422, 'validation', {
        ...body,
        ...(name !== 'pf' && { enabled: true }),
      });
      expect(errors[0]).to.include({ in: 'body', name: pointer });
      expect(errors[0].detail).to.match(detail);
      expect(test.dump().equals(before)).to.equal(true);
      const all = await rest.refused('/grid-support', 422, 'validation', { [name]: body });
      expect(all.errors[0].name).to.equal(`/${name}${pointer}`);
    });
  }

  it('what set 1 already holds is checked with it', async () => {
    test.bank.publish(test.slot(705, 'Crv[0].VRef'), 70);
    const { errors } = await rest.refused('/grid-support', 422, 'validation', { volt_var: { response_time_s: 2 } });
    expect(errors).to.deep.equal([
      { in: 'body', name: '/volt_var', detail: '705.Crv[0].VRef: 70 is neither in 80..120 nor 0' },
    ]);
  });

  it('a set that a master is staging is not touched', async () => {
    test.set({ '705.Crv[1].ActPt': 1, '705.Crv[1].Pt[0].V': 91, '705.Crv[2].RspTms': 7 }, byModbus);
    const staged = (name: string) =>
      [2, 3].flatMap((set) =>
        test.layout.slots
          .filter((slot) => slot.modelId === 705 && slot.path.startsWith(`${name}[${set - 1}]`))
          .map((slot) => test.bank.value(slot)),
      );
    const before = staged('Crv');
    await rest.post('/grid-support/volt-var', cases['volt_var']!.body);
    expect(staged('Crv')).to.deep.equal(before);
    expect(test.bank.provenance(test.slot(705, 'Crv[1].ActPt'))).to.include(byModbus);
    // and its adoption shows here
    test.set({ '705.AdptCrvReq': 2 }, byModbus);
    expect(await rest.get('/grid-support/volt-var')).to.deep.include({
      points: [{ v_pct: 91, var_pct: 44 }],
      curve_index: 2,
      adopt_result: 'completed',
    });
    test.set({ '705.Crv[1].ActPt': 0, '705.AdptCrvReq': 2 }, byModbus);
    expect(await rest.get('/grid-support/volt-var')).to.include({ adopt_result: 'failed' });
  });

  it('an adoption of a master that takes time shows as in progress, and ends when a request comes', async () => {
    const slow = createTestBank({ adoptionS: 5 });
    const other = await open(slow);
    slow.set({ '705.Crv[1].RspTms': 8, '705.AdptCrvReq': 2 }, byModbus);
    expect(await other.get('/grid-support/volt-var')).to.include({
      adopt_result: 'in_progress',
      response_time_s: 5,
      curve_index: 2,
    });
    expect(await other.post('/grid-support/volt-var', { response_time_s: 6 })).to.include({
      adopt_result: 'completed',
      response_time_s: 6,
      curve_index: 1,
    });
    slow.pass(5);
    expect(await other.get('/grid-support/volt-var')).to.include({ response_time_s: 6 });
    await other.api.stop();
  });

  it('reactive functions may all be enabled: the registers keep what was written', async () => {
    await rest.post('/grid-support/volt-var', { enabled: true });
    await rest.post('/grid-support/constant-var', { enabled: true, var_pct: 10 });
    expectPoints({ '705.Ena': 'ENABLED', '704.VarSetEna': 'ENABLED' });
  });

  it('the short members of pf are those of inject', async () => {
    const reply = await rest.post('/grid-support/pf', {
      enabled: true,
      pf: 0.9,
      excitation: 'under_excited',
      reversion_time_s: 8,
    });
    expect(reply.inject).to.include({
      enabled: true,
      pf: 0.9,
      excitation: 'under_excited',
      reversion_time_s: 8,
      reversion_remaining_s: 8,
    });
    expect(reply.absorb).to.include({ supported: true, enabled: false, pf: 1 });
    await rest.post('/grid-support/pf', { pf: 0.91, inject: { pf: 0.91 } });
    const { errors } = await rest.refused('/grid-support/pf', 422, 'validation', { pf: 0.92, inject: { pf: 0.93 } });
    expect(errors).to.deep.equal([
      { in: 'body', name: '/inject/pf', detail: 'contradicts /pf: both are 704.PFWInj.PF' },
    ]);
    expect(test.value('704.PFWInj.PF')).to.equal(0.91);
  });

  it('reversion runs beside requests to other functions and shows who wrote', async () => {
    await rest.post('/grid-support', {
      max_power: {
        enabled: true,
        limit_pct: 40,
        reversion_time_s: 10,
        reversion_limit_pct: 80,
        reversion_enabled: true,
      },
      volt_var: { enabled: true, response_time_s: 9, reversion_time_s: 20, reversion_curve: 2 },
    });
    test.pass(4);
    expect(await rest.get('/grid-support/max-power')).to.include({ limit_pct: 40, reversion_remaining_s: 6 });
    await rest.post('/grid-support/volt-watt', { enabled: true });
    await rest.post('/grid-support/volt-var', { response_time_s: 8 });
    test.pass(6);
    expect(await rest.get('/grid-support/max-power')).to.include({
      limit_pct: 80,
      enabled: true,
      reversion_time_s: 10,
      reversion_remaining_s: 0,
      source: 'reversion',
    });
    expect(await rest.get('/grid-support/volt-var')).to.include({ response_time_s: 8, reversion_remaining_s: 14 });
    test.pass(14);
    expect(await rest.get('/grid-support/volt-var')).to.include({
      response_time_s: 5,
      reversion_remaining_s: 0,
      curve_index: 2,
    });
  });

  it('values are those that the registers hold, without -0', async () => {
    const reply = await rest.post('/grid-support', {
      max_power: { limit_pct: 33.333 },
      constant_var: { mode: 'vars', var_kvar: -0.0001, var_pct: -0.01 },
    });
    expect(reply.max_power.limit_pct).to.equal(33.3);
    expect(Object.is(reply.constant_var.var_kvar, 0)).to.equal(true);
    expect(Object.is(reply.constant_var.var_pct, 0)).to.equal(true);
  });

  it('says who wrote over REST', async () => {
    await rest.call('/grid-support/max-power', {
      method: 'POST',
      body: { enabled: true },
      headers: { 'X-Derbench-Client': 'dashboard' },
    });
    expect(await rest.get('/grid-support/max-power')).to.include({ source: 'dashboard' });
    await rest.post('/grid-support/freq-droop', { enabled: true, k_of: 0.04 });
    for (const point of ['Ena', 'Ctl[0].KOf', 'AdptCtlReq', 'AdptCtlRslt'])
      expect(test.bank.provenance(test.slot(711, point))?.source, point).to.equal('rest');
    expect(test.bank.provenance(test.slot(711, 'Ctl[0].KUf'))).to.equal(undefined);
  });

  describe('functions that a device does not have', () => {
    it('a part without its points', async () => {
      const other = await open(test, createTestBank(oneWay));
      const reply = await other.get('/grid-support/pf?device=1');
      expect(reply.absorb).to.deep.equal({ supported: false });
      expect(reply.inject).to.include({ supported: true, pf: 1 });
      const problem = await other.refused('/grid-support/pf?device=1', 409, 'disabled', {
        pf: 0.9,
        absorb: { pf: 0.9 },
      });
      expect(problem.detail).to.equal('The device does not have the function pf.absorb.');
      expect((await other.get('/grid-support/pf?device=1')).pf).to.equal(1);
      await other.api.stop();
    });

    it('a bit of 702.CtrlModes', async () => {
      const bare = createTestBank({
        start: (map) => {
          map.m702.CtrlModes = 0;
        },
      });
      const other = await open(bare);
      const reply = await other.get('/grid-support');
      for (const name of gridFunctionNames) {
        const alwaysThere = ['enter_service', 'ramp', 'anti_islanding'].includes(name);
        expect(reply[name].supported, name).to.equal(alwaysThere);
        if (alwaysThere) continue;
        expect(reply[name]).to.deep.equal({ supported: false });
        await other.refused(path(name), 409, 'disabled', {});
      }
      await other.refused('/grid-support', 409, 'disabled', {
        ramp: { w_ramp_pct_s: 3 },
        volt_var: { enabled: false },
      });
      expect(bare.changes).to.have.lengthOf(0);
      await other.api.stop();
    });

    it('a setting that the device lacks is null, and refused by name', async () => {
      const other = await open(createTestBank({ omit: ['704.VarSet', '705.Crv.Pri'] }));
      expect((await other.get('/grid-support/constant-var')).var_kvar).to.equal(null);
      expect((await other.get('/grid-support/volt-var')).priority).to.equal(null);
      const { errors } = await other.refused('/grid-support', 422, 'validation', {
        constant_var: { var_kvar: 1 },
        volt_var: { priority: 'active' },
      });
      expect(errors.map((each: Json) => each.name)).to.deep.equal(['/volt_var/priority', '/constant_var/var_kvar']);
      await other.api.stop();
    });
  });
});
