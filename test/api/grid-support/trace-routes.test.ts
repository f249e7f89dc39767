import { expect } from 'chai';
import { csvField, maxTraceRowsOfAll, traceRow } from '../../../src/api/grid-support/trace.ts';
import { tracedFunctions, tripFunctions } from '../../../src/sunspec/map/grid-support/functions.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const path = '/grid-support/trace';
const off = { input: null, target: null, output: null };

/** Lines of fields by column name; the values have no quotes. */
function parseCsv(text: string): { names: string[]; lines: Record<string, string>[] } {
  expect(text.endsWith('\r\n')).to.equal(true);
  const [names = [], ...rows] = text
    .slice(0, -2)
    .split('\r\n')
    .map((line) => line.split(','));
  for (const row of rows) expect(row).to.have.length(names.length);
  return { names, lines: rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? '']))) };
}

/** A row of JSON under the column names of the CSV. */
function flattened({ functions, time_to_trip_s: timers, ...plain }: Json): Record<string, unknown> {
  const steps = Object.entries<Json>(functions).flatMap(([name, step]) =>
    Object.entries(step).map(([part, value]) => [`${name}_${part}`, value]),
  );
  const trips = Object.entries(timers).map(([name, value]) => [`${name}_time_to_trip_s`, value]);
  return { ...plain, ...Object.fromEntries(steps), ...Object.fromEntries(trips) };
}

const withoutUnit = (name: string) => name.replace(/_(input|target|output)_(pct|hz|kw|kvar)$/, '_$1');

describe('grid-support/trace (13)', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'], tickIntervalS: 0.5 }));
  });
  afterEach(() => rest.api.stop());

  describe('the last sub-step', () => {
    it('shows power, what decided it, and functions that are off as null', async () => {
      const { metrics } = await rest.get('/overview');
      const trace = await rest.get(path);
      expect(trace).to.deep.include({
        device_index: 0,
        recording: { capacity: 0, rows: 0 },
        transitions: [],
        rows: [],
      });
      expect(trace.now).to.include({
        sim_time: metrics.timestamp,
        t_s: Date.parse(metrics.timestamp) / 1000,
        service: 'in_service',
        ride_through: 'continuous_operation',
        voltage_pct: 100,
        lowest_voltage_pct: 100,
        highest_voltage_pct: 100,
        frequency_hz: 60,
        active_decided_by: 'source',
        time_to_enter_service_s: null,
      });
      expect(trace.now.active_power_kw).to.be.closeTo(metrics.power_kw, 0.005).and.to.equal(trace.now.available_kw);
      expect(trace.now.functions).to.deep.equal({
        ...Object.fromEntries(tracedFunctions.map((name) => [name, off])),
        freq_droop: { ...off, input: 60 },
      });
      expect(trace.now.time_to_trip_s).to.deep.equal(Object.fromEntries(tripFunctions.map((name) => [name, null])));
    });

    it('shows way from input to output of those that act, in kW and kvar', async () => {
      await rest.post('/grid-support', {
        volt_var: {
          enabled: true,
          points: [
            { v_pct: 90, var_pct: 40 },
            { v_pct: 100, var_pct: 0 },
          ],
          dept_ref: 'w_max_pct',
          response_time_s: 0,
        },
        max_power: { enabled: true, limit_pct: 50 },
      });
      await rest.post('/controls/grid', { voltage_pu: 0.95 });
      await rest.plant.step(20);
      const { now } = await rest.get(path);
      expect(now.functions.volt_var).to.deep.equal({ input: 95, target: 2, output: 2 });
      expect(now.functions.max_power).to.deep.equal({ input: now.available_kw, target: 5, output: 5 });
      expect(now.functions.freq_droop, 'inside its dead band').to.deep.equal({ ...off, input: 60 });
      expect(now).to.include({
        active_power_kw: 5,
        reactive_power_kvar: 2,
        active_decided_by: 'max_power',
        reactive_decided_by: 'volt_var',
      });
      expect((await rest.get(`${path}?device=1`)).now).to.deep.include({
        active_decided_by: 'source',
        voltage_pct: 95,
      });
    });

    it('has frequencies in Hz and the droop in kW', async () => {
      await rest.post('/grid-support/freq-droop', { enabled: true, db_of_hz: 0.036, k_of: 0.05, response_time_s: 0.2 });
      await rest.post('/controls/grid', { frequency_hz: 61 });
      await rest.plant.step(40);
      const { now } = await rest.get(path);
      const { input, target, output } = now.functions.freq_droop;
      expect(input).to.equal(61);
      expect(output).to.be.closeTo(target, 0.001).and.closeTo(now.active_power_kw, 0.001);
      expect(now).to.include({ active_decided_by: 'freq_droop', frequency_hz: 61 });
    });
  });

  it('a trip is seen to come, and its instant is exact', async () => {
    const start: number = (await rest.get(path)).now.t_s;
    await rest.post('/controls/grid?device=0', { voltage_pu: 0.4 });
    const seen: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await rest.plant.step(1);
      const { now } = await rest.get(path);
      expect(now.t_s).to.equal(start + (i + 1) / 2);
      expect(now.lowest_voltage_pct).to.equal(40);
      seen.push(now.time_to_trip_s.lv_trip);
    }
    expect(seen).to.deep.equal([1.5, 1, 0.5, 0]);
    await rest.plant.step(1);
    const { now, transitions } = await rest.get(path);
    expect(now).to.include({ service: 'tripped', active_power_kw: 0, active_decided_by: 'out_of_service' });
    expect(transitions.map(({ from, to, cause }: Json) => [from, to, cause])).to.deep.equal([
      ['in_service', 'momentary_cessation', null],
      ['momentary_cessation', 'tripped', 'lv_trip'],
    ]);
    const [ceased, tripped] = transitions;
    expect(ceased.t_s - start).to.be.closeTo(0.083, 1e-6);
    expect(tripped.t_s).to.equal(start + 2);
    expect(tripped.at).to.equal(new Date(tripped.t_s * 1000).toISOString());
    expect((await rest.get(`${path}?device=1`)).transitions).to.deep.equal([]);
  });

  it('names islanding as the cause of a trip', async () => {
    await rest.post('/controls/grid?device=0', { island: true });
    await rest.plant.step(1);
    expect((await rest.get(path)).now.time_to_trip_s.anti_islanding).to.be.greaterThan(0);
    await rest.plant.step(4);
    expect((await rest.get(path)).transitions.at(-1)).to.include({ to: 'tripped', cause: 'anti_islanding' });
  });

  it('shows the delay before service is entered again', async () => {
    await rest.post('/grid-support/enter-service', { delay_s: 10, random_delay_s: 0 });
    await rest.post('/controls/grid', { outage: true });
    await rest.plant.step(10);
    await rest.post('/controls/grid', { outage: false });
    await rest.plant.step(4);
    const { now } = await rest.get(path);
    expect(now.time_to_enter_service_s).to.equal(8);
    expect(now.time_to_trip_s.lv_trip).to.equal(null);
    await rest.plant.step(16);
    await rest.plant.step(2);
    const { now: later, transitions } = await rest.get(path);
    expect(later.time_to_enter_service_s).to.equal(null);
    expect(transitions.at(-1)).to.include({ from: 'waiting', to: 'ramping' });
    expect(transitions.at(-1).t_s - transitions.at(-2).t_s).to.equal(10);
  });

  describe('recording', () => {
    it('keeps the latest sub-steps, oldest first', async () => {
      expect(await rest.post(path, { rows: 3 })).to.deep.include({
        device_index: 0,
        recording: { capacity: 3, rows: 0 },
      });
      await rest.plant.step(1);
      expect((await rest.get(path)).recording.rows).to.be.within(1, 3);
      await rest.plant.step(9);
      const { recording, rows, now } = await rest.get(path);
      expect(recording).to.deep.equal({ capacity: 3, rows: 3 });
      expect(rows).to.have.length(3);
      expect(rows[2]).to.deep.equal(now);
      expect(rows[0].t_s).to.be.lessThan(rows[1].t_s);
      expect(rows[1].t_s).to.be.lessThan(rows[2].t_s);
      expect((await rest.get(`${path}?device=1`)).recording).to.deep.equal({ capacity: 0, rows: 0 });
    });

    it('begins anew, and ends with 0', async () => {
      await rest.post(path, { rows: 100 });
      await rest.plant.step(5);
      expect((await rest.post(path, { rows: 50 })).recording).to.deep.equal({ capacity: 50, rows: 0 });
      await rest.plant.step(5);
      const answer = await rest.post(path, { rows: 0 });
      expect(answer).to.have.all.keys('device_index', 'recording', 'now', 'transitions');
      await rest.plant.step(1);
      expect(await rest.get(path)).to.deep.include({ recording: { capacity: 0, rows: 0 }, rows: [] });
    });

    it('answers with the latest of them', async () => {
      await rest.post(path, { rows: 100 });
      await rest.plant.step(10);
      const { rows, recording } = await rest.get(path);
      expect(rows.length).to.equal(recording.rows).and.to.be.at.least(10);
      const two = await rest.get(`${path}?limit=2`);
      expect(two.rows).to.deep.equal(rows.slice(-2));
      expect(two.recording).to.deep.equal(recording);
      expect((await rest.get(`${path}?limit=0`)).rows).to.deep.equal([]);
      expect((await rest.get(`${path}?limit=5000`)).rows).to.deep.equal(rows);
      expect((await rest.get(`${path}?after=${rows[2].t_s}&limit=3`)).rows, 'after an instant').to.deep.equal(
        rows.slice(3, 6),
      );
      expect((await rest.get(`${path}?after=${rows.at(-1).t_s}`)).rows).to.deep.equal([]);
    });

    it('defaults to a thousand', async () => {
      await rest.post(path, { rows: 2000 });
      await rest.plant.step(1500);
      const { rows, now } = await rest.get(path);
      expect(rows).to.have.length(1000);
      expect(rows.at(-1)).to.deep.equal(now);
    });

    it('keeps true durations when the clock is set', async () => {
      await rest.post(path, { rows: 100 });
      await rest.plant.step(1);
      const { now: before } = await rest.get(path);
      await rest.post('/controls/time', { clock_time: '06:00:00' });
      await rest.plant.step(1);
      const { now } = await rest.get(path);
      expect(now.sim_time).to.include('T06:00:00');
      expect(now.t_s - before.t_s).to.equal(0.5);
    });
  });

  describe('as CSV', () => {
    it('has the recorded sub-steps under names with units', async () => {
      await rest.post('/grid-support/volt-var', { enabled: true });
      await rest.post(path, { rows: 100 });
      await rest.post('/controls/grid', { voltage_pu: 0.4 });
      await rest.plant.step(6);
      const answer = await rest.call(`${path}?format=csv`);
      expect(answer.status).to.equal(200);
      expect(answer.headers).to.include({
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="grid-trace-device-0.csv"',
        'cache-control': 'no-store',
      });
      const { names, lines } = parseCsv(answer.text);
      expect(names).to.have.length(13 + 3 * tracedFunctions.length + tripFunctions.length + 1);
      expect(new Set(names).size).to.equal(names.length);
      expect(names).to.include.members([
        'sim_time',
        't_s',
        'active_power_kw',
        'volt_var_input_pct',
        'volt_var_target_kvar',
        'volt_watt_output_kw',
        'freq_droop_input_hz',
        'lv_trip_time_to_trip_s',
        'time_to_enter_service_s',
      ]);
      const { rows } = await rest.get(path);
      expect(lines).to.have.length(rows.length);
      for (const [i, line] of lines.entries()) {
        const expected = flattened(rows[i]);
        expect(Object.keys(line).map(withoutUnit)).to.have.members(Object.keys(expected));
        for (const [name, text] of Object.entries(line)) {
          const value = expected[withoutUnit(name)];
          expect(text, name).to.equal(typeof value === 'number' ? String(value) : (value ?? ''));
        }
      }
      expect(lines.at(-1)?.service).to.equal('tripped');
      expect(parseCsv((await rest.call(`${path}?format=csv&limit=2`)).text).lines).to.deep.equal(lines.slice(-2));
    });

    it('has the last sub-step where nothing is recorded', async () => {
      const { text, headers } = await rest.call(`${path}?format=csv&device=1`);
      const { lines } = parseCsv(text);
      const { now } = await rest.get(`${path}?device=1&format=json`);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({
        sim_time: now.sim_time,
        t_s: String(now.t_s),
        active_power_kw: String(now.active_power_kw),
        volt_var_input_pct: '',
      });
      expect(headers['content-disposition']).to.include('grid-trace-device-1.csv');
    });

    it('quotes what RFC 4180 asks to quote', () => {
      expect(csvField('a,b')).to.equal('"a,b"');
      expect(csvField('say "x"')).to.equal('"say ""x"""');
      expect(csvField('two\r\nlines')).to.equal('"two\r\nlines"');
      expect([csvField('plain'), csvField(0.000001), csvField(null)]).to.deep.equal(['plain', '0.000001', '']);
    });

    it('is described beside JSON', async () => {
      const { paths } = await (await rest.api.operations()).document();
      const { content } = paths?.[`/api/sim${path}`]?.get?.responses?.['200'];
      expect(content['text/csv'].schema).to.deep.equal({ type: 'string' });
      expect(parseCsv(content['text/csv'].example).lines[0]).to.include({
        service: 'momentary_cessation',
        lv_trip_time_to_trip_s: '0.5',
      });
    });
  });

  it('HEAD works, other methods are named', async () => {
    const head = await rest.call(`${path}?format=csv`, { method: 'HEAD' });
    expect([head.status, head.text]).to.deep.equal([200, '']);
    const refused = await rest.call(path, { method: 'DELETE' });
    expect([refused.status, refused.headers.allow]).to.deep.equal([405, 'GET, HEAD, POST']);
  });

  it('refuses what is not valid, by name', async () => {
    for (const query of [
      'format=xml',
      'format=',
      'limit=-1',
      'limit=5001',
      'after=-1',
      'after=x',
      'after=1e3',
      'limit=x',
      'limit=1.5',
      'limit=1&limit=2',
      'rows=5',
    ]) {
      const { errors } = await rest.refused(`${path}?${query}`, 422, 'validation');
      expect(errors[0], query).to.include({ in: 'query', name: query.split('=')[0] });
    }
    for (const rows of [-1, 100_001, 1.5, '5', null, true]) {
      expect((await rest.refused(path, 422, 'validation', { rows })).errors[0]).to.include({
        in: 'body',
        name: '/rows',
      });
    }
    expect((await rest.refused(path, 422, 'validation', {})).errors[0]).to.include({
      name: '/rows',
      detail: 'is required',
    });
    expect((await rest.refused(path, 422, 'validation', { rows: 1, device: 1 })).errors[0]).to.include({
      name: '/device',
    });
    await rest.refused(`${path}?format=csv`, 422, 'validation', { rows: 1 });
    await rest.refused(`${path}?device=2`, 404, 'unknown-device');
    await rest.refused(`${path}?device=2`, 404, 'unknown-device', { rows: 1 });
    expect((await rest.get(path)).recording.capacity).to.equal(0);
  });

  it('a quantity that is not finite is null', () => {
    const { now } = rest.plant.devices[0]!.trace;
    const volt_var = { input: NaN, target: Infinity, output: -Infinity };
    const row = traceRow.reply(
      { ...now, activePowerW: NaN, availableW: Infinity, functions: { ...now.functions, volt_var } },
      rest,
    );
    expect(row).to.include({ active_power_kw: null, available_kw: null });
    expect(row.functions.volt_var).to.deep.equal(off);
  });

  it('the examples are answers', async () => {
    const { body, reply } = examples('record_grid_trace');
    expect(await rest.post(path, body)).to.deep.equal(reply);
    await rest.post(path, { rows: 1 });
    await rest.post('/controls/grid', { voltage_pu: 0.4 });
    await rest.plant.step(3);
    const { available_kw } = examples('get_grid_trace').reply.now;
    const { now, rows, ...live } = await rest.get(path);
    expect({ ...live, now: { ...now, available_kw }, rows: [{ ...rows[0], available_kw }] }).to.deep.equal(
      examples('get_grid_trace').reply,
    );
  });
});

describe('grid-support/trace of a fleet', () => {
  const most = 100_000;

  it('refuses a recording that would exceed the memory of all, until room is made', async () => {
    rest = await Rest.open(testPlant({ types: Array.from({ length: 6 }, () => 'PV-1Phase') }));
    try {
      for (let k = 0; k < maxTraceRowsOfAll / most; k += 1) await rest.post(`${path}?device=${k}`, { rows: most });
      const { detail } = await rest.refused(`${path}?device=5`, 409, 'conflict', { rows: 1 });
      expect(detail).to.include('at most 0 are left');
      await rest.post(`${path}?device=5`, { rows: 0 });
      // its own room counts as free
      await rest.post(`${path}?device=0`, { rows: most });
      await rest.post(`${path}?device=0`, { rows: most - 10 });
      await rest.refused(`${path}?device=5`, 409, 'conflict', { rows: 11 });
      expect((await rest.post(`${path}?device=5`, { rows: 10 })).recording.capacity).to.equal(10);
    } finally {
      await rest.api.stop();
    }
  });
});

describe('controls (5.1) say what decides', () => {
  beforeEach(async () => {
    rest = await Rest.open();
  });
  afterEach(() => rest.api.stop());

  it('active and reactive power, and the region of ride-through', async () => {
    expect(await rest.get('/controls')).to.deep.include({
      decided_by: { active: 'source', reactive: 'none', site_limit: null },
      ride_through: 'continuous_operation',
    });
    await rest.post('/grid-support', {
      max_power: { enabled: true, limit_pct: 30 },
      constant_var: { enabled: true, mode: 'w_max_pct', var_pct: 20 },
    });
    await rest.plant.step(10);
    const limited = await rest.get('/controls');
    expect(limited.decided_by).to.deep.equal({ active: 'max_power', reactive: 'constant_var', site_limit: null });
    expect(limited.modes.max_power.active).to.equal(true);
    await rest.post('/controls/grid', { voltage_pu: 0.8 });
    await rest.plant.step(1);
    expect((await rest.get('/controls')).ride_through).to.equal('mandatory_operation');
    await rest.post('/controls/grid', { outage: true });
    await rest.plant.step(10);
    expect((await rest.get('/controls')).decided_by).to.deep.equal({
      active: 'out_of_service',
      reactive: 'out_of_service',
      site_limit: null,
    });
  });
});
