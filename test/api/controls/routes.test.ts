import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

const close = () => rest.api.stop();

describe('controls', () => {
  afterEach(close);

  it('shows modes with their last writer, reversion and throttle', async () => {
    rest = await Rest.open();
    await rest.post('/registers/704', { points: { WMaxLimPct: 20, WMaxLimPctRvrtTms: 60 } });
    await rest.post('/registers/704', { points: { WMaxLimPctEna: 'ENABLED' } });
    await rest.plant.step(10);
    const controls = await rest.get('/controls');
    expect(controls.modes.max_power).to.deep.include({
      supported: true,
      enabled: true,
      active: true,
      source: 'rest',
      reversion_remaining_s: 45,
    });
    expect(controls.modes.max_power.source_detail).to.match(/^127\.0\.0\.1:\d+$/);
    expect(controls.modes.max_power.changed_at).to.equal('2026-06-21T12:00:00.000Z');
    expect(controls.throttle.active).to.equal(true);
    expect(controls.throttle.sources).to.include('max_w');
    expect(controls.service).to.deep.equal({
      es_enabled: true,
      es_delay_remaining_s: 0,
      trip_active: [],
      es_state: 'in_service',
      switch_closed: true,
    });
    expect(controls.modes.volt_var).to.include({ source_detail: null, reversion_remaining_s: null });
    expect(controls.grid).to.include({ device_index: 0, frequency_hz: 60, voltage_ll_v: 480 });
    expect(controls.time).to.include({ mode: 'paused', tick: 10 });
    const { metrics } = await rest.get('/overview');
    expect(metrics.power_kw).to.be.closeTo(2, 0.05);
  });

  it('service follows a trip and the way back', async () => {
    rest = await Rest.open();
    const service = async (): Promise<Json> => (await rest.get('/controls')).service;
    await rest.post('/controls/grid', { voltage_pu: 0.6 });
    await rest.plant.step(1);
    expect(await service()).to.deep.include({ trip_active: [], es_state: 'in_service' });
    await rest.plant.step(20);
    expect(await service()).to.deep.include({ es_enabled: true, trip_active: ['lv_trip'], es_state: 'waiting' });
    await rest.post('/controls/grid', { voltage_pu: 1 });
    await rest.plant.step(20);
    const waiting = await service();
    expect(waiting).to.deep.include({ trip_active: [], es_state: 'waiting' });
    expect(waiting.es_delay_remaining_s).to.be.within(1, 300);
    await rest.post('/registers/703', { points: { ES: 'DISABLED' } });
    await rest.plant.step(1);
    expect(await service()).to.deep.include({ es_enabled: false, es_state: 'out_of_service' });
  });

  it('common grid and local deviation', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
    const local = await rest.post('/controls/grid?device=1', { voltage_pu: 0.95, frequency_hz: 59.9 });
    expect(local).to.include({
      device_index: 1,
      voltage_a_pu: 0.95,
      frequency_hz: 59.9,
      source: 'const',
      profile_loaded: false,
      outage: false,
    });
    expect(local.deviating_devices).to.deep.equal([1]);
    const before = await rest.get('/controls/grid');
    expect(before).to.deep.include({ device_index: null, voltage_a_pu: 1, frequency_hz: 60, deviating_devices: [1] });
    expect((await rest.get('/controls/grid?device=0')).deviating_devices).to.deep.equal([]);
    const common = await rest.post('/controls/grid', { voltage_ln_v: 270, ramp_s: 10, duration_s: 60 });
    expect(common).to.include({
      device_index: null,
      ramp_remaining_s: 10,
      duration_remaining_s: 60,
      voltage_ln_v: 277.128,
    });
    await rest.plant.step(10);
    const now = await rest.get('/controls/grid?device=1');
    expect(now.voltage_ln_v).to.be.closeTo(270, 0.001);
    expect(now.voltage_ll_v).to.be.closeTo(270 * Math.sqrt(3), 0.001);
    expect(now).to.include({ ramp_remaining_s: 0, duration_remaining_s: 45 });
    const { metrics } = await rest.get('/overview?device=1');
    expect(metrics.voltage_ln_v).to.be.closeTo(270, 0.5);
  });

  it('grid refuses empty, mixed and impossible values', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }));
    await rest.refused('/controls/grid', 422, 'validation', {});
    await rest.refused('/controls/grid?device=0', 422, 'validation', { voltage_ln_v: 270, voltage_a_pu: 1 });
    await rest.refused('/controls/grid?device=0', 422, 'validation', { voltage_ln_v: 600 });
    const problem = await rest.refused('/controls/grid', 422, 'validation', { voltage_ln_v: 240 });
    expect(problem.detail).to.include('different nominal');
    expect(await rest.get('/controls/grid')).to.include({ voltage_ln_v: null, voltage_ll_v: null });
    expect(await rest.post('/controls/grid?device=1', { voltage_ln_v: 216 })).to.include({
      voltage_a_pu: 0.9,
      voltage_ll_v: null,
    });
    for (const body of [
      { frequency_hz: 39 },
      { frequency_hz: 71 },
      { voltage_pu: -1 },
      { voltage_pu: '1' },
      { duration_s: 0 },
      { ramp_s: 3601 },
      { outage: 1 },
    ]) {
      await rest.refused('/controls/grid', 422, 'validation', body);
    }
    await rest.refused('/controls/grid', 409, 'conflict', { source: 'csv' });
  });

  it('ramp and duration alone are refused, naming the values that they could be of', async () => {
    rest = await Rest.open();
    for (const [path, values] of [
      [
        '/controls/grid',
        'voltage_pu, voltage_a_pu, voltage_b_pu, voltage_c_pu, voltage_ln_v, frequency_hz, phase_angle_deg, source, outage, island',
      ],
      ['/controls/environment', 'irradiance_w_m2, ambient_temperature_c, cell_temperature_c, load_kw, source'],
    ] as const) {
      for (const body of [{}, { ramp_s: 2 }, { duration_s: 5 }, { duration_s: null }, { ramp_s: 0, duration_s: 5 }]) {
        const problem = await rest.refused(path, 422, 'validation', body);
        expect(problem.errors).to.deep.equal([
          { in: 'body', name: '', detail: `at least one of ${values} is required` },
        ]);
      }
    }
    expect(await rest.post('/controls/grid', { outage: true, duration_s: 5 })).to.include({
      outage: true,
      duration_remaining_s: 5,
    });
  });

  it('a duration has an end that can be told', async () => {
    rest = await Rest.open();
    for (const [path, value] of [
      ['/controls/grid', { voltage_pu: 0.9 }],
      ['/controls/environment', { irradiance_w_m2: 100 }],
    ] as const) {
      for (const beyond of [100_000_001, 1e303, Number.MAX_VALUE]) {
        const problem = await rest.refused(path, 422, 'validation', { ...value, duration_s: beyond });
        expect(problem.errors).to.deep.equal([
          { in: 'body', name: '/duration_s', detail: `must be more than 0 and at most 100000000; given ${beyond}` },
        ]);
      }
      expect(await rest.post(path, { ...value, duration_s: 1e8 })).to.include({ duration_remaining_s: 1e8 });
    }
  });

  it('volts and per unit exclude each other by name', async () => {
    rest = await Rest.open();
    const problem = await rest.refused('/controls/grid', 422, 'validation', { voltage_ln_v: 270, voltage_pu: 1 });
    expect(problem.errors[0]).to.include({ name: '/voltage_ln_v' });
  });

  it('source csv ends the deviation of a device and goes with no other value', async () => {
    rest = await Rest.open(
      testPlant({
        types: ['PV-3Phase', 'PV-3Phase'],
        gridProfile: 'time_s,voltage_pu,frequency_hz\n0,0.97,60\n86400,0.97,60\n',
      }),
    );
    await rest.post('/controls/grid?device=1', { voltage_pu: 0.9 });
    await rest.post('/controls/environment?device=1', { irradiance_w_m2: 100 });
    await rest.refused('/controls/grid?device=1', 422, 'validation', { source: 'csv', voltage_pu: 1 });
    await rest.refused('/controls/environment?device=1', 422, 'validation', { source: 'csv', load_kw: 1 });
    expect(await rest.get('/controls/grid?device=1')).to.include({ voltage_a_pu: 0.9, profile_loaded: true });
    expect(await rest.post('/controls/grid?device=1', { source: 'csv' })).to.include({
      source: 'csv',
      voltage_a_pu: 0.97,
    });
    expect(await rest.post('/controls/environment?device=1', { source: 'csv' })).to.include({ source: 'csv' });
  });

  it('environment', async () => {
    rest = await Rest.open();
    const set = await rest.post('/controls/environment', {
      irradiance_w_m2: 300,
      ambient_temperature_c: 10,
      cell_temperature_c: 40,
      load_kw: 2,
    });
    expect(set).to.deep.equal({
      device_index: null,
      irradiance_w_m2: 300,
      ambient_temperature_c: 10,
      cell_temperature_c: 40,
      load_kw: 2,
      source: 'const',
      ramp_remaining_s: 0,
      duration_remaining_s: null,
      overridden: ['irradiance_w_m2', 'ambient_temperature_c', 'cell_temperature_c', 'load_kw'],
      deviating_devices: [],
      changed_by: set.changed_by,
    });
    expect((await rest.get('/dc-iv')).irradiance_w_m2).to.be.a('number');
    const released = await rest.post('/controls/environment', { irradiance_w_m2: null, cell_temperature_c: null });
    expect(released).to.deep.include({
      source: 'csv',
      cell_temperature_c: null,
      overridden: ['ambient_temperature_c', 'load_kw'],
    });
    await rest.post('/controls/environment?device=0', { load_kw: 3 });
    expect((await rest.get('/controls/environment')).deviating_devices).to.deep.equal([0]);
    expect(await rest.get('/controls/environment?device=0')).to.include({ device_index: 0, ambient_temperature_c: 10 });
    await rest.refused('/controls/environment', 422, 'validation', {});
    await rest.refused('/controls/environment', 422, 'validation', { irradiance_w_m2: 1501 });
  });

  it('time: mode, rate, time of day, zone, steps', async () => {
    rest = await Rest.open();
    expect(await rest.get('/controls/time')).to.include({
      mode: 'paused',
      rate: 1,
      clock_time: '12:00:00',
      timezone: 'UTC',
      tick: 0,
      sim_time: '2026-06-21T12:00:00.000Z',
    });
    expect(await rest.post('/controls/time', { rate: 10, clock_time: '08:30:00' })).to.include({
      rate: 10,
      clock_time: '08:30:00',
    });
    const { time, snapshot } = await rest.post('/controls/time/step', { ticks: 4 });
    expect(time).to.include({ tick: 4, clock_time: '08:31:00', sim_time: '2026-06-21T08:31:00.000Z' });
    expect(snapshot).to.deep.include({ tick: 4, clock_time: '08:31:00', device_index: 0 });
    expect((await rest.post('/controls/time/step', {})).time.tick).to.equal(5);
    expect(await rest.post('/controls/time', { timezone: 'Europe/Berlin' })).to.include({ timezone: 'Europe/Berlin' });
    const {
      errors: [fault],
    } = await rest.refused('/controls/time', 422, 'validation', {});
    expect(fault).to.deep.equal({
      in: 'body',
      name: '',
      detail: 'at least one of mode, rate, clock_time, timezone is required',
    });
    expect(await rest.get('/controls/time')).to.include({ timezone: 'Europe/Berlin' });
    for (const body of [
      { mode: 'fast' },
      { rate: 0 },
      { rate: 3601 },
      { clock_time: '24:00:00' },
      { clock_time: '8:00' },
      { timezone: 'Mars/Olympus' },
      { timezone: '' },
      { timezone: '+01:00' },
      { timezone: '-05' },
      { mode: 'wall_clock', rate: 2 },
      { mode: 'wall_clock', clock_time: '10:00:00' },
    ])
      await rest.refused('/controls/time', 422, 'validation', body);
    await rest.refused('/controls/time/step', 422, 'validation', { ticks: 0 });
    await rest.refused('/controls/time/step', 422, 'validation', { ticks: 1.5 });
    await rest.post('/controls/time', { mode: 'accelerated' });
    await rest.refused('/controls/time/step', 409, 'conflict', { ticks: 1 });
  });

  it('time: ticks until a simulated time, exact to 1 ms, in any zone and after the clock was set', async () => {
    rest = await Rest.open();
    const step = (until: unknown) => rest.post('/controls/time/step', { until });
    const { time, snapshot } = await step('2026-06-21T12:00:04.001Z');
    expect(time).to.deep.include({ sim_time: '2026-06-21T12:00:04.001Z', tick: 3 });
    expect(time.stepped_by).to.deep.include({ source: 'rest' });
    expect(snapshot).to.deep.include({ tick: 3 });
    expect(snapshot.metrics.timestamp).to.equal('2026-06-21T12:00:04.001Z');
    expect((await step('2026-06-21T14:00:05+02:00')).time).to.include({
      sim_time: '2026-06-21T12:00:05.000Z',
      tick: 4,
    });
    expect((await step('2026-06-21T12:00:05Z')).time, 'the present one').to.include({ tick: 4 });
    await rest.post('/controls/time', { clock_time: '08:30:00', timezone: 'Europe/Berlin' });
    expect((await step('2026-06-21T08:30:10+02:00')).time).to.include({ clock_time: '08:30:10' });
  });

  it('time: the present simulated time is no past, though it is shown without its microseconds', async () => {
    rest = await Rest.open(testPlant({ tickIntervalS: 0.0015 }));
    const { time } = await rest.post('/controls/time/step', { ticks: 3 });
    expect(time.sim_time).to.equal('2026-06-21T12:00:00.004Z');
    const again = await rest.post('/controls/time/step', { until: time.sim_time });
    expect(again.time).to.include({ tick: 3, sim_time: time.sim_time });
  });

  it('time: refuses a simulated time that is past, too far, none, or given with ticks', async () => {
    rest = await Rest.open();
    for (const [body, detail] of [
      [{ until: '2026-06-21T11:59:59.9Z' }, 'the instant lies 0.1 s in the past'],
      [{ until: '2026-06-22T12:00:00Z', ticks: 1 }, 'cannot be given together with ticks'],
      [{ until: '9999-12-31T23:59:59Z' }, 'allowed: up to 100000 ticks'],
      [{ until: '2026-06-21T12:00:10' }, 'must be an ISO 8601 time with offset'],
      [{ until: '2026-02-30T12:00:10Z' }, 'must be an ISO 8601 time with offset'],
      [{ until: 1782043210 }, ''],
    ] as const) {
      const {
        errors: [issue],
      } = await rest.refused('/controls/time/step', 422, 'validation', body);
      expect([issue.in, issue.name]).to.deep.equal(['body', '/until']);
      expect(issue.detail).to.contain(detail);
    }
    expect((await rest.get('/controls/time')).tick).to.equal(0);
    await rest.post('/controls/time', { mode: 'accelerated' });
    await rest.refused('/controls/time/step', 409, 'conflict', { until: '2026-06-21T13:00:00Z' });
  });
});
