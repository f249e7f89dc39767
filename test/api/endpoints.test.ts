import { expect } from 'chai';
import { disabledStatus } from '../../src/core/adapter.ts';
import type { Adapter, AdapterStatus } from '../../src/core/adapter.ts';
import type { Json } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { prefix, Rest } from '../support/rest.ts';

let rest: Rest;
const close = () => rest.api.stop();

function adapter(comm: Adapter['comm'], status: Partial<AdapterStatus>): Adapter {
  return {
    module: 'Modbus',
    comm,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    status: () => ({ ...disabledStatus, ...status }),
    endpointOf: (index) =>
      comm === 'modbus_tcp'
        ? { protocol: 'modbus_tcp', host: '127.0.0.1', port: 8502 + index, unitId: 1, tls: false }
        : null,
  };
}

describe('life-cycle endpoints', () => {
  afterEach(close);

  it('server-info', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }));
    const info = await rest.get('/server-info');
    expect(info).to.include({
      name: 'derbench',
      version: '0.1.0',
      build_id: 'test',
      device_count: 2,
      tick_interval_s: 1.5,
      pid: process.pid,
    });
    expect(info.api_version).to.equal((await (await rest.api.operations()).document()).info.version);
    expect(info.instance_id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}$/);
    expect(info.license.spdx_id).to.equal('Apache-2.0');
    expect(info.limits).to.deep.equal({
      history_samples_per_device: 10000,
      log_entries: 5000,
      ws_queue: 64,
      max_body_bytes: 262144,
    });
  });

  it('overview is the shared snapshot and three members more', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }), {
      adapters: [
        adapter('modbus_tcp', {
          enabled: true,
          state: 'listening',
          endpoint: 'tcp://127.0.0.1:8502',
          peers: 2,
          rxCount: 5,
          lastActivityMs: 1000,
        }),
        adapter('modbus_tcp', {
          enabled: true,
          state: 'error',
          detail: 'in use',
          peers: 1,
          rxCount: 2,
          lastActivityMs: 2000,
        }),
      ],
    });
    await rest.plant.step(2);
    const { devices, comm_status: comm, alarms, ...snapshot } = await rest.get('/overview?device=1');
    expect(snapshot).to.deep.equal(JSON.parse(rest.plant.latest.published[1]!.json.toString()));
    expect(snapshot).to.include({
      tick: 2,
      device_index: 1,
      asset_type: 'pv',
      dc_mode: 'pv',
      device_type: 'PV-1Phase',
    });
    expect(devices.map((each: Json) => each.device_index)).to.deep.equal([0, 1]);
    expect(devices[1].modbus).to.deep.equal({ host: '127.0.0.1', port: 8503, unit_id: 1, tls: false });
    expect(devices[1].power_kw).to.equal(snapshot.metrics.power_kw);
    expect(comm.modbus_tcp).to.deep.equal({
      enabled: true,
      state: 'error',
      detail: 'in use',
      endpoint: null,
      peers: 3,
      last_activity: '1970-01-01T00:00:02.000Z',
      rx_count: 7,
      tx_count: 0,
      error_count: 0,
      last_error: null,
      last_error_at: null,
    });
    expect(comm.ocpp).to.include({ enabled: false, state: 'disabled', endpoint: null });
    expect(alarms).to.deep.equal({ active_count: 0, highest_severity: null, active: [], latched_count: 0 });
  });

  it('devices lists all, or the one asked for', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }));
    const { devices } = await rest.get('/devices');
    expect(devices.map((each: Json) => each.device_index)).to.deep.equal([0, 1]);
    expect(devices[0]).to.include({ name: rest.plant.devices[0]!.name, modbus: null, charge_point_id: null });
    expect((await rest.get('/devices?device=1')).devices.map((each: Json) => each.device_index)).to.deep.equal([1]);
  });

  it('alarms show in overview and entry until they are reset', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
    await rest.post('/controls/grid?device=1', { voltage_pu: 0.2 });
    await rest.plant.step(40);
    const { alarms, devices } = await rest.get('/overview');
    expect(alarms.active_count).to.be.greaterThan(0);
    expect(alarms.active[0]).to.include({ device_index: 1 });
    expect(devices[1].alarm_count).to.equal(alarms.active_count);
    const [first, second] = (await rest.get('/devices')).devices;
    expect(first.alarms.active_count).to.equal(0);
    expect(second.alarms).to.deep.equal(alarms);
  });

  /** what the watch on the event loop says while it is not started */
  const calmLoop = { skipped_ticks: 0, event_loop_p99_ms: 0, slow_periods: 0, stalls: 0 };

  it('health follows tick and protocols', async () => {
    for (const state of ['error', 'retrying'] as const) {
      rest = await Rest.open(testPlant({ types: ['PV-3Phase'] }), { adapters: [adapter('modbus_rtu', { state })] });
      expect((await rest.get('/health')).status).to.equal('degraded');
      await close();
      rest = await Rest.open(testPlant({ types: ['PV-3Phase'] }), {
        adapters: [{ ...adapter('csip', { state }), outbound: true }],
      });
      expect((await rest.get('/health')).status).to.equal('ok');
      await close();
    }
    let stalledMs = 0;
    rest = await Rest.open(
      testPlant({ mode: 'accelerated', wall: { nowMs: () => stalledMs, monotonicMs: () => stalledMs } }),
    );
    expect(await rest.get('/health')).to.deep.equal({ status: 'ok', tick: 0, tick_age_s: 0, ...calmLoop });
    stalledMs = 7600;
    const answer = await rest.call('/health');
    expect([answer.status, answer.json]).to.deep.equal([
      503,
      { status: 'degraded', tick: 0, tick_age_s: 7.6, ...calmLoop },
    ]);
    rest.plant.setTime({ mode: 'paused' });
    stalledMs = 20_000;
    expect((await rest.get('/health')).status).to.equal('ok');
  });

  it('health is degraded, and still 200, while the rate is not held', async () => {
    const plant = testPlant();
    rest = await Rest.open(plant);
    const health = { tick: 3, tickAgeS: 0.2, skippedTicks: 0, paused: false, rateHeld: false };
    Object.defineProperty(plant, 'health', { value: health });
    expect(await rest.get('/health')).to.deep.equal({ status: 'degraded', tick: 3, tick_age_s: 0.2, ...calmLoop });
  });

  it('stop answers first, asks once, and leaves stop and health reachable', async () => {
    const stops: unknown[] = [];
    rest = await Rest.open(testPlant({ types: ['PV-3Phase'] }), { requestStop: (...asked) => stops.push(asked) });
    expect(await rest.post('/stop', { reason: 'done', delay_s: 2 }, 202)).to.deep.equal({
      state: 'stopping',
      delay_s: 2,
    });
    expect(await rest.post('/stop', {}, 202)).to.deep.equal({ state: 'stopping', delay_s: 2 });
    // a body that a client declares as JSON and leaves empty
    expect(await rest.post('/stop', '', 202)).to.deep.equal({ state: 'stopping', delay_s: 2 });
    expect(stops).to.deep.equal([['done', 2]]);
    expect((await rest.call('/health')).json.status).to.equal('stopping');
    await rest.refused('/overview', 503, 'stopping');
    await rest.refused('/stop', 422, 'validation', { delay_s: 61 });
  });
});

describe('device parameter (1.2)', () => {
  afterEach(close);

  it('is checked alike everywhere', async () => {
    rest = await Rest.open();
    const gets = [
      '/overview',
      '/devices',
      '/commands',
      '/controls',
      '/nameplate',
      '/nameplate/configured-settings',
      '/dc-iv',
      '/controls/grid',
      '/controls/environment',
      '/registers',
      '/registers/701',
    ];
    for (const path of gets) {
      await rest.refused(`${path}?device=1`, 404, 'unknown-device');
      const problem = await rest.refused(`${path}?device=x`, 422, 'validation');
      const detail = 'must be an integer from 0 to 999999999; given "x"';
      expect(problem.errors).to.deep.equal([{ in: 'query', name: 'device', detail }]);
    }
    for (const value of ['-1', '1.5', '1e3', '', '0x0', ' 0', '99999999999999999999', 'null']) {
      await rest.refused(`/overview?device=${encodeURIComponent(value)}`, 422, 'validation');
    }
    for (const [query, name] of [
      ['device=0&device=1', 'device'],
      ['state=queued&state=failed', 'state'],
    ]) {
      const problem = await rest.refused(`/commands?${query}`, 422, 'validation');
      expect(problem.errors).to.deep.equal([{ in: 'query', name, detail: 'is given more than once' }]);
    }
    for (const device of [0, 'all', null])
      await rest.refused('/commands?device=9', 404, 'unknown-device', { command: 'stop', device });
    await rest.refused('/commands?device=9', 404, 'unknown-device', { command: 'stop' });
    await rest.refused('/controls/grid?device=9', 404, 'unknown-device', { voltage_pu: 1 });
    await rest.refused('/controls/environment?device=9', 404, 'unknown-device', { load_kw: 1 });
    await rest.refused('/registers/704?device=9', 404, 'unknown-device', { points: { WMaxLimPct: 1 } });
    await rest.refused('/controls/time?device=0', 422, 'validation');
  });

  it('defaults to the first device of a later part of a fleet', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'], firstIndex: 5 }));
    expect((await rest.get('/overview')).device_index).to.equal(5);
    expect((await rest.get('/overview?device=6')).device_index).to.equal(6);
    await rest.refused('/overview?device=0', 404, 'unknown-device');
  });
});

describe('commands', () => {
  afterEach(close);

  it('queues, runs at the next tick, and tells', async () => {
    rest = await Rest.open();
    const answer = await rest.call('/commands', {
      body: { command: 'stop' },
      headers: { 'X-Derbench-Client': 'dashboard' },
    });
    expect(answer.status).to.equal(202);
    expect(answer.headers['location']).to.equal(`${prefix}/commands/${answer.json.id}`);
    expect(answer.json).to.include({
      command: 'stop',
      device_index: 0,
      scope: null,
      state: 'queued',
      source: 'dashboard',
      started_at: null,
    });
    await rest.plant.step(200);
    const record = await rest.get(`/commands/${answer.json.id}`);
    expect(record.state).to.equal('completed');
    expect((await rest.get('/overview')).status).to.include({ inverter_state: 'off', message: 'stopped by operator' });
  });

  it('takes device from body, then query; all; reset scopes', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
    expect((await rest.post('/commands?device=1', { command: 'stop', device: null }, 202)).device_index).to.equal(1);
    expect((await rest.post('/commands?device=1', { command: 'start', device: 0 }, 202)).device_index).to.equal(0);
    const all = await rest.post('/commands', { command: 'reset', device: 'all' }, 202);
    expect(all.commands.map((record: Json) => [record.device_index, record.scope])).to.deep.equal([
      [0, 'alarms'],
      [1, 'alarms'],
    ]);
    expect((await rest.post('/commands', { command: 'reset', scope: 'device' }, 202)).scope).to.equal('device');
    const list = await rest.get('/commands');
    expect(list.count).to.equal(5);
    expect(list.commands.map((record: Json) => Number(record.id))).to.deep.equal([5, 4, 3, 2, 1]);
    expect((await rest.get('/commands?device=1')).count).to.equal(2);
    expect((await rest.get('/commands?state=completed')).count).to.equal(0);
    expect((await rest.get('/commands?limit=2')).commands).to.have.length(2);
  });

  it('refuses what is not a command', async () => {
    rest = await Rest.open();
    await rest.refused('/commands', 422, 'validation', {});
    const problem = await rest.refused('/commands', 422, 'validation', { command: 'explode' });
    expect(problem.errors[0]).to.deep.include({ name: '/command', allowed: ['start', 'stop', 'reset'] });
    await rest.refused('/commands', 422, 'validation', { command: 'start', scope: 'device' });
    await rest.refused('/commands', 422, 'validation', { command: 'start', device: '0' });
    await rest.refused('/commands', 404, 'unknown-device', { command: 'start', device: 4 });
    await rest.refused('/commands?limit=0', 422, 'validation');
    await rest.refused('/commands?state=gone', 422, 'validation');
    await rest.refused('/commands/77', 404, 'unknown-resource');
  });

  it('answers 429 when 64 wait, and queues for all devices or for none', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }));
    for (let i = 0; i < 64; i += 1) await rest.post('/commands', { command: 'reset', device: 1 }, 202);
    await rest.refused('/commands', 429, 'too-many-requests', { command: 'stop', device: 1 });
    await rest.refused('/commands', 429, 'too-many-requests', { command: 'stop', device: 'all' });
    expect((await rest.get('/commands?device=0')).count).to.equal(0);
  });
});
