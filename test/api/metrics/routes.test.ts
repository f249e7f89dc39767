import { expect } from 'chai';
import { commNames, commStates, disabledStatus } from '../../../src/core/adapter.ts';
import type { Adapter, AdapterStatus } from '../../../src/core/adapter.ts';
import { assetTypes } from '../../../src/contract/device.ts';
import { inverterStates } from '../../../src/contract/snapshot.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { metricFamilies } from '../../../src/api/metrics/metrics.ts';
import { createApi } from '../../../src/api/http/server.ts';
import { apiContext } from '../../support/api-context.ts';
import { kindTypes, parseExposition } from '../../support/exposition.ts';
import type { Exposition } from '../../support/exposition.ts';
import { ask } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const fakeAdapter = (comm: Adapter['comm'], status: Partial<AdapterStatus>): Adapter => ({
  module: 'Modbus',
  comm,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  status: () => ({ ...disabledStatus, enabled: true, state: 'listening', ...status }),
});

describe('GET metrics', () => {
  let rest: Rest | undefined;
  afterEach(() => rest?.api.stop());

  async function open(...[plant, options]: Parameters<typeof Rest.open>): Promise<Rest> {
    rest = await Rest.open(plant, options);
    return rest;
  }

  async function scrape(from: Rest): Promise<Exposition> {
    const { status, headers, text } = await from.call('/metrics');
    expect(status, text).to.equal(200);
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['cache-control']).to.equal('no-store');
    return parseExposition(text);
  }

  it('is text whose every family has help and type, in base units and finite', async () => {
    const { families, samples } = await scrape(await open(testPlant({ types: kindTypes })));
    expect([...families.keys()]).to.have.members(metricFamilies.map(({ name }) => name));
    for (const { name, type, help } of metricFamilies) {
      expect(families.get(name)).to.deep.equal({ type, help });
      expect(name).to.match(/^(derbench|process|nodejs)_[a-z0-9_]+$/);
      expect(name.endsWith('_total') || /_(bytes)$/.test(name), name).to.equal(
        type === 'counter' || name.endsWith('_bytes'),
      );
      expect(name).not.to.match(/_(kw|kvar|pct|ms|percent)$/);
    }
    for (const { name, value } of samples) expect(Number.isFinite(value), name).to.equal(true);
  });

  it('shows of every device what its snapshot shows, and nothing for what it does not have', async () => {
    const from = await open(testPlant({ types: kindTypes }));
    const { plant } = from;
    await plant.step(3);
    const { value } = await scrape(from);
    for (const {
      snapshot: { metrics, status, device_index },
    } of plant.latest.published) {
      const shown = (name: string, labels = {}) =>
        value(`derbench_device_${name}`, { device: String(device_index), ...labels });
      const scaled = (quantity: number | null, factor: number) =>
        quantity === null ? undefined : Math.round(quantity * factor * 1e6) / 1e6 + 0;
      expect(shown('active_power_watts')).to.equal(scaled(metrics.power_kw, 1000));
      expect(shown('reactive_power_vars')).to.equal(scaled(metrics.reactive_power_kvar, 1000));
      expect(shown('voltage_line_to_line_volts')).to.equal(scaled(metrics.voltage_ll_v, 1));
      expect(shown('voltage_line_to_neutral_volts')).to.equal(metrics.voltage_ln_v);
      expect(shown('frequency_hertz')).to.equal(metrics.frequency_hz);
      expect(shown('dc_power_watts')).to.equal(scaled(metrics.dc_power_kw, 1000));
      expect(shown('dc_voltage_volts')).to.equal(scaled(metrics.dc_voltage_v, 1));
      expect(shown('state_of_charge_ratio')).to.equal(scaled(metrics.state_of_charge_pct, 0.01));
      expect(shown('in_service')).to.equal(status.service_state === 'on' ? 1 : 0);
      expect(shown('connected')).to.equal(status.connection_state === 'connected' ? 1 : 0);
      expect(inverterStates.map((state) => shown('inverter_state', { state }))).to.deep.equal(
        inverterStates.map((state) => (state === status.inverter_state ? 1 : 0)),
      );
    }
    const absent = plant.latest.published.filter(({ snapshot }) => snapshot.metrics.state_of_charge_pct === null);
    expect(absent.length, 'devices without storage').to.be.above(0);
  });

  it('counts alarms by severity, and those of a kind together', async () => {
    const from = await open(testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'Batt-3Phase'] }));
    from.plant.setGrid({ frequencyHz: 50 }, 1);
    await from.plant.step(3);
    const { value } = await scrape(from);
    const errors = from.plant.devices.map(({ alarms }) => alarms.filter(({ severity }) => severity === 'error').length);
    expect(errors[1]).to.be.above(0);
    expect(
      errors.map((_, i) => value('derbench_device_alarms', { device: String(i), severity: 'error' })),
    ).to.deep.equal(errors);
    expect(value('derbench_fleet_alarms', { asset_type: 'pv', severity: 'error' })).to.equal(
      (errors[0] ?? 0) + (errors[1] ?? 0),
    );
    expect(value('derbench_fleet_in_service_devices', { asset_type: 'pv' })).to.equal(1);
    expect(value('derbench_fleet_inverter_state_devices', { asset_type: 'battery', state: 'running' })).to.be.oneOf([
      0, 1,
    ]);
    expect(value('derbench_devices', { asset_type: 'pv' })).to.equal(2);
    expect(value('derbench_devices', { asset_type: 'evse' })).to.equal(0);
    expect(value('derbench_fleet_active_power_watts', { asset_type: 'wind' })).to.equal(undefined);
  });

  it('has series of each device up to 100 devices, and only those of the kinds beyond', async () => {
    const plant = testPlant({ types: Array.from({ length: 101 }, () => 'PV-1Phase') });
    const from = await open(plant);
    const ofDevices = ({ samples }: Exposition) => samples.filter(({ name }) => name.startsWith('derbench_device_'));
    const beyond = await scrape(from);
    expect(ofDevices(beyond)).to.deep.equal([]);
    const total = plant.latest.published.reduce((sum, { snapshot }) => sum + snapshot.metrics.power_kw * 1000, 0);
    expect(total).to.be.above(0);
    expect(beyond.value('derbench_fleet_active_power_watts', { asset_type: 'pv' })).to.be.closeTo(total, 1e-3);
    expect(beyond.value('derbench_devices', { asset_type: 'pv' })).to.equal(101);
    await plant.remove(100);
    const indexes = ofDevices(await scrape(from))
      .filter(({ name }) => name === 'derbench_device_active_power_watts')
      .map(({ labels }) => labels['device']);
    expect(indexes).to.deep.equal(Array.from({ length: 100 }, (_, i) => String(i)));
  });

  it('forgets a device that has gone', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'] });
    const from = await open(plant);
    const named = async () =>
      (await scrape(from)).samples
        .filter(({ name }) => name === 'derbench_device_info')
        .map(({ labels }) => labels['name']);
    expect(await named()).to.deep.equal(plant.devices.map(({ name }) => name));
    await plant.remove(0);
    expect(await named()).to.deep.equal([plant.devices[0]?.name]);
  });

  it('shows ticks and clock', async () => {
    const plant = testPlant({ rate: 60 });
    const from = await open(plant, { eventLoop: { p50Ms: 1.5, p99Ms: 250, stalls: 3, slowPeriods: 4 } });
    await plant.step(7);
    plant.skippedTicks = 2;
    const { value } = await scrape(from);
    const shown = (name: string) => value(`derbench_${name}`);
    expect([shown('ticks_total'), shown('ticks_skipped_total'), shown('tick_interval_seconds')]).to.deep.equal([
      7, 2, 1.5,
    ]);
    expect([shown('clock_rate_ratio'), shown('clock_effective_rate_ratio'), shown('clock_paused')]).to.deep.equal([
      60, 0, 1,
    ]);
    expect(shown('tick_age_seconds')).to.be.within(0, 60);
    expect(shown('simulated_time_seconds')).to.equal(plant.time.dateMs / 1000);
    expect([shown('event_loop_stalls_total'), shown('event_loop_slow_periods_total')]).to.deep.equal([3, 4]);
    expect([value('nodejs_eventloop_lag_p50_seconds'), value('nodejs_eventloop_lag_p99_seconds')]).to.deep.equal([
      0.0015, 0.25,
    ]);
  });

  it('shows the process', async () => {
    const { value } = await scrape(await open());
    const { rss, heapUsed } = process.memoryUsage();
    expect(value('process_resident_memory_bytes')).to.be.within(rss / 2, rss * 2);
    expect(value('nodejs_heap_size_used_bytes')).to.be.within(heapUsed / 4, heapUsed * 4);
    expect(value('process_cpu_seconds_total')).to.be.above(0);
    expect(value('process_start_time_seconds')).to.be.closeTo(Date.now() / 1000, 60);
    expect(
      value('derbench_build_info', { version: '0.1.0', build_id: 'test', runtime: `node ${process.version}` }),
    ).to.equal(1);
  });

  it('shows every protocol, with the sums of several servers', async () => {
    const adapters = [
      fakeAdapter('modbus_tcp', {
        peers: 2,
        rxCount: 10,
        txCount: 9,
        errorCount: 1,
        lastActivityMs: 1_700_000_000_500,
      }),
      fakeAdapter('modbus_tcp', { peers: 1, rxCount: 5, txCount: 5 }),
      fakeAdapter('websocket', { txCount: 100, droppedCount: 7 }),
    ];
    const { value, samples } = await scrape(await open(testPlant(), { adapters }));
    const shown = (name: string, protocol: string) => value(`derbench_protocol_${name}`, { protocol });
    expect(
      ['enabled', 'peers', 'received_total', 'sent_total', 'errors_total', 'last_activity_timestamp_seconds'].map(
        (name) => shown(name, 'modbus_tcp'),
      ),
    ).to.deep.equal([1, 3, 15, 14, 1, 1_700_000_000.5]);
    expect([
      shown('sent_total', 'websocket'),
      shown('dropped_total', 'websocket'),
      shown('dropped_total', 'modbus_tcp'),
    ]).to.deep.equal([100, 7, undefined]);
    expect([shown('enabled', 'csip'), shown('last_activity_timestamp_seconds', 'csip')]).to.deep.equal([0, undefined]);
    for (const protocol of commNames) {
      const states = samples.filter(
        ({ name, labels }) => name === 'derbench_protocol_state' && labels['protocol'] === protocol,
      );
      expect(states.map(({ labels }) => labels['state'])).to.deep.equal([...commStates]);
      expect(
        states.reduce((sum, { value: bit }) => sum + bit, 0),
        protocol,
      ).to.equal(1);
    }
  });

  it('counts answers by template of the path, so that paths cannot make it grow', async () => {
    const from = await open(testPlant({ types: ['PV-3Phase'] }));
    await from.call('/registers/704');
    await from.call('/registers/701');
    await from.call('/registers/999');
    await from.call('/commands', { body: { command: 'start' } });
    await from.call('/commands', { body: {} });
    await from.call('/commands', { method: 'PUT' });
    for (let i = 0; i < 20; i += 1) await from.call(`/nothing/${i}`);
    await from.call('/server-info', { headers: { Host: 'evil.example' } });
    const { value, samples } = await scrape(from);
    const times = (method: string, route: string, code: string) =>
      value('derbench_http_requests_total', { method, route, code });
    expect(times('GET', '/api/sim/registers/{model_id}', '2xx')).to.equal(2);
    expect(times('GET', '/api/sim/registers/{model_id}', '4xx')).to.equal(1);
    expect([times('POST', '/api/sim/commands', '2xx'), times('POST', '/api/sim/commands', '4xx')]).to.deep.equal([
      1, 1,
    ]);
    expect(times('other', '/api/sim/commands', '4xx')).to.equal(1);
    expect(times('GET', 'other', '4xx')).to.equal(21);
    expect(samples.filter(({ name }) => name === 'derbench_http_requests_total')).to.have.lengthOf(6);
  });

  it('escapes what stands in labels', async () => {
    const version = 'a "b" \\ c\nd}';
    const context = apiContext({ plant: testPlant() });
    const api = createApi({ ...context, info: { ...context.info, version } });
    const { port } = await api.start();
    const { text } = await ask(port, '/api/sim/metrics');
    await api.stop();
    expect(text).to.contain('version="a \\"b\\" \\\\ c\\nd}"');
    expect(parseExposition(text).value('derbench_build_info', { version })).to.equal(1);
  });

  it('counts lines that the log has lost', async () => {
    const logBook = createLogBook({ write: () => undefined });
    for (let i = 0; i < 5003; i += 1) logBook.logger('AC').info(`line ${i}`);
    const { value } = await scrape(await open(testPlant(), { logBook }));
    expect(value('derbench_log_entries_dropped_total')).to.equal(3);
  });

  it('answers HEAD, two at once, and refuses parameters', async () => {
    const from = await open(testPlant({ types: kindTypes }));
    const [one, two] = await Promise.all([scrape(from), scrape(from)]);
    const stable = ({ samples }: Exposition) => samples.filter(({ name }) => name.startsWith('derbench_device_'));
    expect(stable(one)).to.deep.equal(stable(two));
    expect(new Set(stable(one).map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)).size).to.equal(
      stable(one).length,
    );
    expect((await from.call('/metrics', { method: 'HEAD' })).text).to.equal('');
    await from.refused('/metrics?device=0', 422, 'validation');
  });

  it('does not mix two simulators of one process', async () => {
    const from = await open(testPlant({ types: ['PV-3Phase'] }));
    const other = await Rest.open(testPlant({ types: ['Batt-3Phase', 'Batt-3Phase'] }));
    const [first, second] = [await scrape(from), await scrape(other)];
    await other.api.stop();
    const devices = ({ value }: Exposition) =>
      assetTypes.map((asset_type) => value('derbench_devices', { asset_type }));
    expect(devices(first)).to.deep.equal(assetTypes.map((type) => (type === 'pv' ? 1 : 0)));
    expect(devices(second)).to.deep.equal(assetTypes.map((type) => (type === 'battery' ? 2 : 0)));
  });
});
