import { expect } from 'chai';
import { disabledStatus } from '../../src/core/adapter.ts';
import type { Adapter, AdapterStatus } from '../../src/core/adapter.ts';
import { createApi } from '../../src/api/server.ts';
import type { Api } from '../../src/api/server.ts';
import type { SimPlant } from '../../src/der/plant.ts';
import { apiContext } from '../support/api-context.ts';
import type { ContextOptions } from '../support/api-context.ts';
import { ask } from '../support/http.ts';
import type { Ask, Json, JsonAnswer } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';

const prefix = '/api/sim';
let plant: SimPlant;
let api: Api;
let port: number;

async function serve(types: readonly string[], options: Partial<ContextOptions> = {}): Promise<void> {
  plant = testPlant({ types });
  api = createApi(apiContext({ plant, ...options }), { checkReplies: true });
  ({ port } = await api.start());
}

const call = (path: string, options: Ask = {}): Promise<JsonAnswer> => ask(port, `${prefix}${path}`, options);

async function get(path: string): Promise<Json> {
  const answer = await call(path);
  expect(answer.status, answer.text).to.equal(200);
  return answer.json;
}

async function post(path: string, body: unknown, status = 200): Promise<Json> {
  const answer = await call(path, { method: 'POST', body });
  expect(answer.status, answer.text).to.equal(status);
  return answer.json;
}

async function refused(path: string, status: number, code: string, body?: unknown): Promise<Json> {
  const answer = await call(path, { ...(body !== undefined && { method: 'POST', body }) });
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/problem+json');
  expect(answer.json.code).to.equal(code);
  return answer.json;
}

function adapter(comm: Adapter['comm'], status: Partial<AdapterStatus>): Adapter {
  return {
    module: 'Modbus', comm, start: () => Promise.resolve(), stop: () => Promise.resolve(),
    status: () => ({ ...disabledStatus, ...status }),
    endpointOf: (index) => (comm === 'modbus_tcp' ? { host: '127.0.0.1', port: 8502 + index, unitId: 1, tls: false } : null),
  };
}

const close = () => api.stop();

describe('life-cycle endpoints', () => {
  afterEach(close);

  it('server-info', async () => {
    await serve(['PV-3Phase', 'PV-1Phase']);
    const info = await get('/server-info');
    expect(info).to.include({ name: 'derbench', version: '0.1.0', build_id: 'test', device_count: 2, tick_interval_s: 1.5, pid: process.pid });
    expect(info.api_version).to.equal(api.document.info.version);
    expect(info.license.spdx_id).to.equal('Apache-2.0');
    expect(info.limits).to.deep.equal({ history_samples_per_device: 10000, log_entries: 5000, ws_queue: 64, max_body_bytes: 262144 });
  });

  it('overview is the shared snapshot and three members more', async () => {
    await serve(['PV-3Phase', 'PV-1Phase'], {
      adapters: [
        adapter('modbus_tcp', { enabled: true, state: 'listening', endpoint: 'tcp://127.0.0.1:8502', peers: 2, rxCount: 5, lastActivityMs: 1000 }),
        adapter('modbus_tcp', { enabled: true, state: 'error', detail: 'in use', peers: 1, rxCount: 2, lastActivityMs: 2000 }),
      ],
    });
    await plant.step(2);
    const { devices, comm_status: comm, alarms, ...snapshot } = await get('/overview?device=1');
    expect(snapshot).to.deep.equal(JSON.parse(plant.latest.published[1]!.json.toString()));
    expect(snapshot).to.include({ tick: 2, device_index: 1, asset_type: 'pv', dc_mode: 'pv', device_type: 'PV-1Phase' });
    expect(devices.map((each: Json) => each.device_index)).to.deep.equal([0, 1]);
    expect(devices[1].modbus).to.deep.equal({ host: '127.0.0.1', port: 8503, unit_id: 1, tls: false });
    expect(devices[1].power_kw).to.equal(snapshot.metrics.power_kw);
    expect(comm.modbus_tcp).to.deep.equal({
      enabled: true, state: 'error', detail: 'in use', endpoint: null, peers: 3, last_activity: '1970-01-01T00:00:02.000Z',
      rx_count: 7, tx_count: 0, error_count: 0,
    });
    expect(comm.ocpp).to.include({ enabled: false, state: 'disabled', endpoint: null });
    expect(alarms).to.deep.equal({ active_count: 0, highest_severity: null, active: [], latched_count: 0 });
  });

  it('devices lists all, or the one asked for', async () => {
    await serve(['PV-3Phase', 'PV-1Phase']);
    const { devices } = await get('/devices');
    expect(devices.map((each: Json) => each.device_index)).to.deep.equal([0, 1]);
    expect(devices[0]).to.include({ name: plant.devices[0]!.name, modbus: null, charge_point_id: null });
    expect((await get('/devices?device=1')).devices.map((each: Json) => each.device_index)).to.deep.equal([1]);
  });

  it('alarms show in overview and entry until they are reset', async () => {
    await serve(['PV-3Phase', 'PV-3Phase']);
    await post('/controls/grid?device=1', { voltage_pu: 0.2 });
    await plant.step(40);
    const { alarms, devices } = await get('/overview');
    expect(alarms.active_count).to.be.greaterThan(0);
    expect(alarms.active[0]).to.include({ device_index: 1 });
    expect(devices[1].alarm_count).to.equal(alarms.active_count);
    const [first, second] = (await get('/devices')).devices;
    expect(first.alarms.active_count).to.equal(0);
    expect(second.alarms).to.deep.equal(alarms);
  });

  it('health follows tick and protocols', async () => {
    await serve(['PV-3Phase'], { adapters: [adapter('modbus_rtu', { state: 'error' })] });
    expect((await get('/health')).status).to.equal('degraded');
    await api.stop();
    let stalledMs = 0;
    plant = testPlant({ mode: 'accelerated', wall: { nowMs: () => stalledMs, monotonicMs: () => stalledMs } });
    api = createApi(apiContext({ plant }), { checkReplies: true });
    ({ port } = await api.start());
    expect(await get('/health')).to.deep.equal({ status: 'ok', tick: 0, tick_age_s: 0 });
    stalledMs = 7600;
    const answer = await call('/health');
    expect([answer.status, answer.json]).to.deep.equal([503, { status: 'degraded', tick: 0, tick_age_s: 7.6 }]);
    plant.setTime({ mode: 'paused' });
    stalledMs = 20_000;
    expect((await get('/health')).status).to.equal('ok');
  });

  it('stop answers first, asks once, and leaves stop and health reachable', async () => {
    const stops: unknown[] = [];
    await serve(['PV-3Phase'], { requestStop: (...asked) => stops.push(asked) });
    expect(await post('/stop', { reason: 'done', delay_s: 2 }, 202)).to.deep.equal({ state: 'stopping', delay_s: 2 });
    expect(await post('/stop', {}, 202)).to.deep.equal({ state: 'stopping', delay_s: 2 });
    expect(stops).to.deep.equal([['done', 2]]);
    expect((await call('/health')).json.status).to.equal('stopping');
    await refused('/overview', 503, 'stopping');
    await refused('/stop', 422, 'validation', { delay_s: 61 });
  });
});

describe('device parameter (1.2)', () => {
  afterEach(close);

  it('is checked alike everywhere', async () => {
    await serve(['PV-3Phase']);
    const gets = [
      '/overview', '/devices', '/commands', '/controls', '/nameplate', '/nameplate/configured-settings', '/dc-iv', '/controls/grid',
      '/controls/environment', '/registers', '/registers/701',
    ];
    for (const path of gets) {
      await refused(`${path}?device=1`, 404, 'unknown-device');
      const problem = await refused(`${path}?device=x`, 422, 'validation');
      expect(problem.errors).to.deep.equal([{ in: 'query', name: 'device', detail: 'must be an integer' }]);
    }
    for (const value of ['-1', '1.5', '1e3', '', '0x0', ' 0', '99999999999999999999', 'null']) {
      await refused(`/overview?device=${encodeURIComponent(value)}`, 422, 'validation');
    }
    await refused('/overview?device=0&device=0', 422, 'validation');
    await refused('/commands?device=9', 404, 'unknown-device', { command: 'stop' });
    await refused('/controls/grid?device=9', 404, 'unknown-device', { voltage_pu: 1 });
    await refused('/controls/environment?device=9', 404, 'unknown-device', { load_kw: 1 });
    await refused('/registers/704?device=9', 404, 'unknown-device', { points: { WMaxLimPct: 1 } });
    await refused('/controls/time?device=0', 422, 'validation');
  });

  it('defaults to the first device of a later part of a fleet', async () => {
    await serve([]);
    await api.stop();
    plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], firstIndex: 5 });
    api = createApi(apiContext({ plant }), { checkReplies: true });
    ({ port } = await api.start());
    expect((await get('/overview')).device_index).to.equal(5);
    expect((await get('/overview?device=6')).device_index).to.equal(6);
    await refused('/overview?device=0', 404, 'unknown-device');
  });
});

describe('commands', () => {
  afterEach(close);

  it('queues, runs at the next tick, and tells', async () => {
    await serve(['PV-3Phase']);
    const answer = await call('/commands', { body: { command: 'stop' }, headers: { 'X-Derbench-Client': 'dashboard' } });
    expect(answer.status).to.equal(202);
    expect(answer.headers['location']).to.equal(`${prefix}/commands/${answer.json.id}`);
    expect(answer.json).to.include({ command: 'stop', device_index: 0, scope: null, state: 'queued', source: 'dashboard', started_at: null });
    await plant.step(200);
    const record = await get(`/commands/${answer.json.id}`);
    expect(record.state).to.equal('completed');
    expect((await get('/overview')).status).to.include({ inverter_state: 'off', message: 'stopped by operator' });
  });

  it('takes device from body, then query; all; reset scopes', async () => {
    await serve(['PV-3Phase', 'PV-3Phase']);
    expect((await post('/commands?device=1', { command: 'stop', device: null }, 202)).device_index).to.equal(1);
    expect((await post('/commands?device=1', { command: 'start', device: 0 }, 202)).device_index).to.equal(0);
    const all = await post('/commands', { command: 'reset', device: 'all' }, 202);
    expect(all.commands.map((record: Json) => [record.device_index, record.scope])).to.deep.equal([[0, 'alarms'], [1, 'alarms']]);
    expect((await post('/commands', { command: 'reset', scope: 'device' }, 202)).scope).to.equal('device');
    const list = await get('/commands');
    expect(list.count).to.equal(5);
    expect(list.commands.map((record: Json) => Number(record.id))).to.deep.equal([5, 4, 3, 2, 1]);
    expect((await get('/commands?device=1')).count).to.equal(2);
    expect((await get('/commands?state=completed')).count).to.equal(0);
    expect((await get('/commands?limit=2')).commands).to.have.length(2);
  });

  it('refuses what is not a command', async () => {
    await serve(['PV-3Phase']);
    await refused('/commands', 422, 'validation', {});
    const problem = await refused('/commands', 422, 'validation', { command: 'explode' });
    expect(problem.errors[0]).to.deep.include({ name: '/command', allowed: ['start', 'stop', 'reset'] });
    await refused('/commands', 422, 'validation', { command: 'start', scope: 'device' });
    await refused('/commands', 422, 'validation', { command: 'start', device: '0' });
    await refused('/commands', 404, 'unknown-device', { command: 'start', device: 4 });
    await refused('/commands?limit=0', 422, 'validation');
    await refused('/commands?state=gone', 422, 'validation');
    await refused('/commands/77', 404, 'unknown-resource');
  });

  it('answers 429 when 64 wait, and queues for all devices or for none', async () => {
    await serve(['PV-3Phase', 'PV-3Phase']);
    for (let i = 0; i < 64; i += 1) await post('/commands', { command: 'reset', device: 1 }, 202);
    await refused('/commands', 429, 'too-many-requests', { command: 'stop', device: 1 });
    await refused('/commands', 429, 'too-many-requests', { command: 'stop', device: 'all' });
    expect((await get('/commands?device=0')).count).to.equal(0);
  });
});

describe('controls', () => {
  afterEach(close);

  it('shows modes with their last writer, reversion and throttle', async () => {
    await serve(['PV-3Phase']);
    await post('/registers/704', { points: { WMaxLimPct: 20, WMaxLimPctRvrtTms: 60 } });
    await post('/registers/704', { points: { WMaxLimPctEna: 'ENABLED' } });
    await plant.step(10);
    const controls = await get('/controls');
    expect(controls.modes.max_power).to.deep.include({ supported: true, enabled: true, active: true, source: 'rest', reversion_remaining_s: 45 });
    expect(controls.modes.max_power.source_detail).to.match(/^127\.0\.0\.1:\d+$/);
    expect(controls.modes.max_power.changed_at).to.equal('2026-06-21T12:00:00.000Z');
    expect(controls.throttle.active).to.equal(true);
    expect(controls.throttle.sources).to.include('max_w');
    expect(controls.service).to.deep.equal({ es_enabled: true, es_delay_remaining_s: 0, trip_active: [], es_state: 'in_service' });
    expect(controls.modes.volt_var).to.include({ source_detail: null, reversion_remaining_s: null });
    expect(controls.grid).to.include({ device_index: 0, frequency_hz: 60, voltage_ll_v: 480 });
    expect(controls.time).to.include({ mode: 'paused', tick: 10 });
    const { metrics } = await get('/overview');
    expect(metrics.power_kw).to.be.closeTo(2, 0.05);
  });

  it('common grid and local deviation', async () => {
    await serve(['PV-3Phase', 'PV-3Phase']);
    const local = await post('/controls/grid?device=1', { voltage_pu: 0.95, frequency_hz: 59.9 });
    expect(local).to.include({ device_index: 1, voltage_a_pu: 0.95, frequency_hz: 59.9, source: 'const', outage: false });
    expect(await get('/controls/grid')).to.include({ device_index: null, voltage_a_pu: 1, frequency_hz: 60 });
    const common = await post('/controls/grid', { voltage_ln_v: 270, ramp_s: 10, duration_s: 60 });
    expect(common).to.include({ device_index: null, ramp_remaining_s: 10, duration_remaining_s: 60, voltage_ln_v: 277.128 });
    await plant.step(10);
    const now = await get('/controls/grid?device=1');
    expect(now.voltage_ln_v).to.be.closeTo(270, 0.001);
    expect(now.voltage_ll_v).to.be.closeTo(270 * Math.sqrt(3), 0.001);
    expect(now).to.include({ ramp_remaining_s: 0, duration_remaining_s: 45 });
    const { metrics } = await get('/overview?device=1');
    expect(metrics.voltage_ln_v).to.be.closeTo(270, 0.5);
  });

  it('grid refuses empty, mixed and impossible values', async () => {
    await serve(['PV-3Phase', 'PV-1Phase']);
    await refused('/controls/grid', 422, 'validation', {});
    await refused('/controls/grid?device=0', 422, 'validation', { voltage_ln_v: 270, voltage_a_pu: 1 });
    await refused('/controls/grid?device=0', 422, 'validation', { voltage_ln_v: 600 });
    const problem = await refused('/controls/grid', 422, 'validation', { voltage_ln_v: 240 });
    expect(problem.detail).to.include('differ in nominal');
    expect(await get('/controls/grid')).to.include({ voltage_ln_v: null, voltage_ll_v: null });
    expect(await post('/controls/grid?device=1', { voltage_ln_v: 216 })).to.include({ voltage_a_pu: 0.9, voltage_ll_v: null });
    for (const body of [{ frequency_hz: 39 }, { frequency_hz: 71 }, { voltage_pu: -1 }, { voltage_pu: '1' }, { duration_s: 0 }, { ramp_s: 3601 }, { outage: 1 }]) {
      await refused('/controls/grid', 422, 'validation', body);
    }
    await refused('/controls/grid', 409, 'conflict', { source: 'csv' });
  });

  it('environment', async () => {
    await serve(['PV-3Phase']);
    const set = await post('/controls/environment', { irradiance_w_m2: 300, ambient_temperature_c: 10, cell_temperature_c: 40, load_kw: 2 });
    expect(set).to.deep.equal({
      device_index: null, irradiance_w_m2: 300, ambient_temperature_c: 10, cell_temperature_c: 40, load_kw: 2, source: 'const',
      ramp_remaining_s: 0, duration_remaining_s: null,
    });
    expect((await get('/dc-iv')).irradiance_w_m2).to.be.a('number');
    expect(await post('/controls/environment', { irradiance_w_m2: null, cell_temperature_c: null })).to.include({ source: 'csv', cell_temperature_c: null });
    expect(await get('/controls/environment?device=0')).to.include({ device_index: 0, ambient_temperature_c: 10 });
    await refused('/controls/environment', 422, 'validation', {});
    await refused('/controls/environment', 422, 'validation', { irradiance_w_m2: 1501 });
  });

  it('time: mode, rate, time of day, zone, steps', async () => {
    await serve(['PV-3Phase']);
    expect(await get('/controls/time')).to.include({ mode: 'paused', rate: 1, clock_time: '12:00:00', timezone: 'UTC', tick: 0, sim_time: '2026-06-21T12:00:00.000Z' });
    expect(await post('/controls/time', { rate: 10, clock_time: '08:30:00' })).to.include({ rate: 10, clock_time: '08:30:00' });
    const { time, snapshot } = await post('/controls/time/step', { ticks: 4 });
    expect(time).to.include({ tick: 4, clock_time: '08:31:00', sim_time: '2026-06-21T08:31:00.000Z' });
    expect(snapshot).to.deep.include({ tick: 4, clock_time: '08:31:00', device_index: 0 });
    expect((await post('/controls/time/step', {})).time.tick).to.equal(5);
    expect(await post('/controls/time', { timezone: 'Europe/Berlin' })).to.include({ timezone: 'Europe/Berlin' });
    expect(await post('/controls/time', {})).to.include({ timezone: 'Europe/Berlin' });
    for (const body of [
      { mode: 'fast' }, { rate: 0 }, { rate: 3601 }, { clock_time: '24:00:00' }, { clock_time: '8:00' }, { timezone: 'Mars/Olympus' },
      { timezone: '' }, { mode: 'wall_clock', rate: 2 }, { mode: 'wall_clock', clock_time: '10:00:00' },
    ]) await refused('/controls/time', 422, 'validation', body);
    await refused('/controls/time/step', 422, 'validation', { ticks: 0 });
    await refused('/controls/time/step', 422, 'validation', { ticks: 1.5 });
    await post('/controls/time', { mode: 'accelerated' });
    await refused('/controls/time/step', 409, 'conflict', { ticks: 1 });
  });
});

describe('nameplate and DC curve', () => {
  afterEach(close);

  it('nameplate follows models 1, 702, 713, 714', async () => {
    await serve(['PV-3Phase', 'PV-1Phase']);
    const plate = await get('/nameplate');
    const { bank } = plant.devices[0]!;
    expect(plate).to.include({ device_index: 0, ac_type: 'three_phase', storage: null });
    expect(plate.ratings).to.include({ w_max_w: bank.map.m702.WMaxRtg, v_nom_v: 480, w_cha_rte_max_w: bank.map.m702.WChaRteMaxRtg });
    expect(plate.settings).to.include({ w_max_w: bank.map.m702.WMax, v_nom_v: 480 });
    expect(plate.ctrl_modes).to.include.members(['max_w', 'volt_var']);
    expect(plate.normal_category).to.match(/^cat_[ab]$/);
    expect(plate.dc_ports[0]).to.include({ index: 0, type: 'pv' });
    expect(plate.models.map(({ id }: Json) => id)).to.include.members([1, 701, 702, 714]);
    expect((await get('/nameplate?device=1')).ac_type).to.equal('single_phase');
  });

  it('configured settings are the difference between ratings and settings', async () => {
    await serve(['PV-3Phase']);
    expect((await get('/nameplate/configured-settings')).overrides).to.deep.equal([]);
    const rated = plant.devices[0]!.bank.map.m702.WMaxRtg;
    await post('/registers/702', { points: { WMax: 8000 } });
    expect((await get('/nameplate/configured-settings')).overrides).to.deep.equal([{
      point: '702.WMax', name: 'w_max_w', value: 8000, rated_value: rated, unit: 'W', origin: 'rest', flag: null,
      set_at: '2026-06-21T12:00:00.000Z',
    }]);
  });

  it('DC curve', async () => {
    await serve(['PV-3Phase']);
    await plant.step(60);
    const curve = await get('/dc-iv?points=64');
    expect(curve).to.include({ kind: 'pv', port: 0 });
    expect(curve.curve.length).to.be.within(64, 66);
    const volts = curve.curve.map(({ v }: Json) => v as number);
    expect(volts).to.deep.equal([...volts].sort((a, b) => a - b));
    expect(curve.curve).to.deep.include(curve.mpp);
    await refused('/dc-iv?points=15', 422, 'validation');
    await refused('/dc-iv?port=9', 404, 'not-applicable');
  });
});

describe('registers', () => {
  afterEach(close);

  const point = (reply: Json, name: string): Json => reply.points.find((each: Json) => each.name === name);

  it('lists models and decodes points', async () => {
    await serve(['PV-3Phase']);
    const { models } = await get('/registers');
    expect(models[0]).to.include({ id: 1, address: 40002 });
    const reply = await get('/registers/701');
    expect(point(reply, 'InvSt')).to.deep.include({ type: 'enum16', value: 3, symbol: 'RUNNING', access: 'R', scale_factor: null, implemented: true });
    const power = point(reply, 'W');
    expect(power.value / 1000).to.equal((await get('/overview')).metrics.power_kw);
    expect(power).not.to.have.property('raw');
    const raw = point(await get('/registers/701?raw=true'), 'W');
    expect(raw.raw).to.have.length(1);
    expect(raw.value).to.be.closeTo(raw.raw[0] * 10 ** raw.scale_factor, 1e-6);
    expect(point(await get('/registers/1'), 'Mn')).to.deep.include({ type: 'string', unit: null });
  });

  it('writes all or nothing, with provenance', async () => {
    await serve(['PV-3Phase']);
    const reply = await post('/registers/704', { points: { WMaxLimPct: 50, 'PFWInj.PF': 0.95, PFWInjEna: 1, WMaxLimPctEna: 'ENABLED' } });
    expect(point(reply, 'WMaxLimPct')).to.include({ value: 50, source: 'rest', changed_at: '2026-06-21T12:00:00.000Z' });
    expect(point(reply, 'PFWInj.PF').value).to.equal(0.95);
    expect(point(reply, 'PFWInjEna')).to.include({ value: 1, symbol: 'ENABLED' });
    expect(point(reply, 'VarSetEna')).to.include({ source: 'default', changed_at: null });
    const problem = await refused('/registers/704', 422, 'validation', { points: { WMaxLimPct: 10, 'PFWInj.PF': 7 } });
    expect(problem.errors[0]).to.include({ in: 'body', name: '/points/PFWInj.PF' });
    expect(point(await get('/registers/704'), 'WMaxLimPct').value).to.equal(50);
  });

  it('names the point that is at fault', async () => {
    await serve(['PV-3Phase']);
    const cases: [Json, string][] = [
      [{ WMaxLimPct: 101 }, '/points/WMaxLimPct'], [{ WMaxLimPct: 'x' }, '/points/WMaxLimPct'], [{ Nope: 1, WMaxLimPct: 1 }, '/points/Nope'],
      [{ WMaxLimPctEna: 'MAYBE' }, '/points/WMaxLimPctEna'], [{ WMaxLimPctEna: 2 }, '/points/WMaxLimPctEna'], [{ ID: 1 }, '/points/ID'],
      [{ WMaxLimPct: null }, '/points/WMaxLimPct'], [{ WMaxLimPct: 1e300 }, '/points/WMaxLimPct'], [{ 'a/b~c': 1 }, '/points/a~1b~0c'],
    ];
    for (const [points, name] of cases) {
      const problem = await refused('/registers/704', 422, 'validation', { points });
      expect(problem.errors.map((each: Json) => each.name), JSON.stringify(points)).to.include(name);
    }
    await refused('/registers/701', 422, 'validation', { points: { W: 1 } });
    await refused('/registers/704', 422, 'validation', { points: {} });
    await refused('/registers/704', 422, 'validation', {});
  });

  it('answers 404 for models that are not served', async () => {
    await serve(['PV-3Phase']);
    await refused('/registers/103', 404, 'unknown-resource');
    await refused('/registers/103', 404, 'unknown-resource', { points: { A: 1 } });
    await refused('/registers/x', 422, 'validation');
    await refused('/registers/704?raw=maybe', 422, 'validation');
  });
});
