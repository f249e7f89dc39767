import { expect } from 'chai';
import { createHistory } from '../../../src/api/history/history.ts';
import type { Snapshot } from '../../../src/contract/snapshot.ts';
import { evsePlant } from '../../support/evse-plant.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandWall } from '../../support/wall.ts';

let rest: Rest;
const close = () => rest.api.stop();

const get = (query = '') => rest.get(`/history${query}`);
const ticksOf = ({ samples }: Json): number[] => samples.map(({ tick }: Json) => tick);
const row = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The faults of a request that must be refused. */
async function faults(query: string): Promise<Json> {
  return (await rest.refused(`/history${query}`, 422, 'validation')).errors;
}

describe('interface 4.1: history', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-1Phase'] }));
    await rest.plant.step(40);
  });
  afterEach(close);

  it('has one sample per tick since the start, oldest first', async () => {
    const reply = await get();
    expect(reply).to.include({
      device_index: 0,
      asset_type: 'pv',
      interval_s: 1.5,
      capacity: 10_000,
      count: 41,
      truncated: false,
    });
    expect(ticksOf(reply)).to.deep.equal(row(0, 40));
    expect(Object.keys(reply.samples[0])).to.deep.equal(['timestamp', 'wall_time', 'tick', ...reply.metrics]);
    expect((await get('?device=1')).asset_type).to.equal('battery');
  });

  it('shows the numbers and states of every snapshot to the last digit, null where there is none', async () => {
    const seen = new Map<number, Snapshot>();
    rest.plant.onTick(({ published }) => {
      seen.set(published[1]!.snapshot.tick, published[1]!.snapshot);
    });
    await rest.post('/controls/battery?device=1', { mode: 'discharge', power_kw: 1.234 });
    await rest.plant.step(10);
    await rest.post('/controls/grid', { voltage_pu: 0.3, duration_s: 5 });
    await rest.plant.step(30);
    const { samples } = await get('?device=1&seconds=57');
    expect(samples).to.have.length(39);
    for (const sample of samples) {
      const { metrics, status, tick, wall_time: wallTime } = seen.get(sample.tick)!;
      const { service_state: service, inverter_state: inverter, connection_state: connection } = status;
      expect(sample).to.deep.include({
        ...metrics,
        service_state: service,
        inverter_state: inverter,
        connection_state: connection,
        tick,
        wall_time: wallTime,
      });
    }
    expect(new Set(samples.map((sample: Json) => sample.inverter_state)).size).to.be.greaterThan(1);
    expect(samples[0]).to.include({ voltage_ll_v: null });
  });

  it('limit keeps the newest', async () => {
    const reply = await get('?limit=3');
    expect(ticksOf(reply)).to.deep.equal([38, 39, 40]);
    expect(reply).to.include({ count: 3, truncated: true });
    expect(await get('?limit=41')).to.include({ count: 41, truncated: false });
  });

  it('seconds reach back from the present of the simulated clock, both ends included', async () => {
    expect(ticksOf(await get('?seconds=4.5'))).to.deep.equal([37, 38, 39, 40]);
    expect(ticksOf(await get('?seconds=4.499'))).to.deep.equal([38, 39, 40]);
    expect(ticksOf(await get('?seconds=0.001'))).to.deep.equal([40]);
    expect(ticksOf(await get('?seconds=1e-3'))).to.deep.equal([40]);
    expect((await get('?seconds=999999999')).count).to.equal(41);
  });

  it('since is inclusive, until exclusive, in any offset', async () => {
    const { samples } = await get();
    const [from, to] = [samples[10].timestamp, samples[20].timestamp];
    expect(ticksOf(await get(`?since=${from}&until=${to}`))).to.deep.equal(row(10, 19));
    expect(ticksOf(await get(`?since=${from}`))).to.deep.equal(row(10, 40));
    expect(ticksOf(await get(`?until=${to}&limit=2`))).to.deep.equal([18, 19]);
    const local = encodeURIComponent(new Date(Date.parse(from) + 7_200_000).toISOString().replace('Z', '+02:00'));
    expect(ticksOf(await get(`?since=${local}&until=${to}`))).to.deep.equal(row(10, 19));
    expect(await get('?since=2030-01-01T00:00:00Z')).to.deep.include({ count: 0, truncated: false, samples: [] });
  });

  it('columns are the same data', async () => {
    const { samples, ...head } = await get('?limit=5');
    const { columns, ...columnsHead } = await get('?limit=5&format=columns');
    expect(columnsHead).to.deep.equal(head);
    expect(Object.keys(columns)).to.deep.equal(Object.keys(samples[0]));
    for (const [name, values] of Object.entries(columns))
      expect(values, name).to.deep.equal(samples.map((sample: Json) => sample[name]));
  });

  it('csv is the same data', async () => {
    const answer = await rest.call('/history?device=1&limit=5&format=csv');
    expect(answer.headers).to.include({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="history-device-1.csv"',
    });
    const [header, ...lines] = answer.text.split('\r\n');
    expect(lines.pop()).to.equal('');
    const { samples } = await get('?device=1&limit=5');
    expect(header!.split(',')).to.deep.equal(Object.keys(samples[0]));
    expect(lines.map((line) => line.split(','))).to.deep.equal(
      samples.map((sample: Json) => Object.values<string | number | null>(sample).map((value) => String(value ?? ''))),
    );
  });

  it('metrics are a comma list, repeated, or both; in the order asked for, each once', async () => {
    const wanted = ['soc_max_pct', 'inverter_state', 'power_kw'];
    for (const query of [
      'metrics=soc_max_pct,inverter_state,power_kw,inverter_state',
      'metrics=soc_max_pct&metrics=inverter_state,power_kw',
    ]) {
      const { metrics, samples } = await get(`?${query}&limit=1`);
      expect(metrics).to.deep.equal(wanted);
      expect(Object.keys(samples[0])).to.deep.equal(['timestamp', 'wall_time', 'tick', ...wanted]);
    }
    expect((await rest.call('/history?metrics=power_kw&format=csv&limit=1')).text).to.match(
      /^timestamp,wall_time,tick,power_kw\r\n.+\r\n$/,
    );
  });

  it('answers HEAD with the headers of GET, without a body', async () => {
    for (const format of ['json', 'columns', 'csv']) {
      const { status, text, headers } = await rest.call(`/history?format=${format}`, { method: 'HEAD' });
      expect([status, text]).to.deep.equal([200, '']);
      const { headers: ofGet } = await rest.call(`/history?format=${format}`);
      for (const name of ['content-type', 'content-disposition', 'cache-control'])
        expect(headers[name], name).to.equal(ofGet[name]);
    }
  });

  it('names the metrics of the kind when one is unknown', async () => {
    const { metrics } = await get();
    expect(await faults('?metrics=power_kw,pitch_deg,,x')).to.deep.equal([
      {
        in: 'query',
        name: 'metrics',
        detail: 'a device of kind pv has no metric "pitch_deg", "x"',
        allowed: metrics,
      },
      {
        in: 'query',
        name: 'metrics',
        detail: 'has an empty name: it is empty, or has a comma without a name beside it',
      },
    ]);
    const many = await faults(
      `?metrics=${row(1, 500)
        .map((n) => `m${n}`)
        .join(',')}`,
    );
    expect(many).to.have.length(1);
    expect(many[0].detail).to.equal('a device of kind pv has no metric "m1", "m2", "m3", "m4", "m5", ...');
    expect((await faults('?device=1&metrics=irradiance_w_m2'))[0].allowed)
      .to.include('battery_temperature_c')
      .and.not.include('irradiance_w_m2');
  });

  it('refuses each faulty parameter by name', async () => {
    const cases: readonly [query: string, name: string, detail: RegExp][] = [
      ['limit=0', 'limit', /from 1 to 100000/],
      ['limit=100001', 'limit', /from 1 to 100000/],
      ['limit=many', 'limit', /an integer/],
      ['seconds=0', 'seconds', /more than 0/],
      ['seconds=-1', 'seconds', /more than 0/],
      ['seconds=1e9', 'seconds', /a number of seconds/],
      ['seconds=', 'seconds', /a number of seconds/],
      ['seconds=1&seconds=2', 'seconds', /given more than once/],
      ['since=yesterday', 'since', /ISO 8601/],
      ['since=2026-06-21', 'since', /ISO 8601/],
      ['since=2026-06-21T12:00:00', 'since', /offset/],
      ['since=2026-06-21T12:00:00+02:00', 'since', /%2B/],
      ['until=2026-02-30T00:00:00Z', 'until', /ISO 8601/],
      ['until=', 'until', /ISO 8601/],
      ['since=2026-06-21T12:00:00Z&until=2026-06-21T12:00:00Z', 'until', /later than since/],
      ['since=2026-06-21T12:00:01Z&until=2026-06-21T12:00:00Z', 'until', /later than since/],
      ['seconds=5&since=2026-06-21T12:00:00Z', 'since', /together with seconds/],
      ['seconds=5&until=2026-06-21T12:00:00Z', 'until', /together with seconds/],
      ['format=xml', 'format', /json, columns, csv/],
      ['device=x', 'device', /an integer/],
      ['window=5', 'window', /not a parameter/],
    ];
    for (const [query, name, detail] of cases) {
      const [fault, ...more] = await faults(`?${query}`);
      expect(fault, query).to.include({ in: 'query', name });
      expect(fault.detail, query).to.match(detail);
      expect(more, query).to.deep.equal([]);
    }
    expect(
      (await faults('?seconds=5&since=2026-06-21T12:00:00Z&until=2026-06-22T12:00:00Z')).map(({ name }: Json) => name),
    ).to.deep.equal(['since', 'until']);
    expect((await faults('?format=xml'))[0].allowed).to.deep.equal(['json', 'columns', 'csv']);
    expect((await faults('?window=5'))[0].allowed).to.include.members(['seconds', 'metrics']);
    await rest.refused('/history?device=2', 404, 'unknown-device');
  });
});

describe('interface 4.1: history and the clock', () => {
  afterEach(close);

  it('chooses by simulated time, in the order of ticks, when the clock was set back', async () => {
    rest = await Rest.open();
    await rest.plant.step(4);
    await rest.post('/controls/time', { clock_time: '12:00:00' });
    await rest.plant.step(4);
    const { samples } = await get('?since=2026-06-21T12:00:03Z&until=2026-06-21T12:00:06Z');
    expect(samples.map(({ tick, timestamp }: Json) => [tick, timestamp.slice(17, 23)])).to.deep.equal([
      [2, '03.000'],
      [3, '04.500'],
      [6, '03.000'],
      [7, '04.500'],
    ]);
    expect(ticksOf(await get('?seconds=3')), 'both courses up to the present').to.deep.equal([2, 3, 4, 6, 7, 8]);
    await rest.post('/controls/time', { clock_time: '11:00:00' });
    expect(await get('?seconds=60'), 'what lies ahead of the clock is not of its past').to.include({ count: 0 });
  });

  it('says the length of a tick at the present rate', async () => {
    rest = await Rest.open();
    await rest.plant.step(1);
    await rest.post('/controls/time', { mode: 'paused', rate: 60 });
    await rest.plant.step(1);
    const { interval_s: interval, samples } = await get();
    expect(interval).to.equal(90);
    expect(samples.map(({ timestamp }: Json) => timestamp.slice(14, 23))).to.deep.equal([
      '00:00.000',
      '00:01.500',
      '01:31.500',
    ]);
  });

  it('between ticks counts seconds from the clock, not from the last sample', async () => {
    const wall = new HandWall();
    rest = await Rest.open(testPlant({ mode: 'accelerated', wall }));
    wall.advance(1500);
    await rest.plant.tick();
    wall.advance(1000);
    expect(ticksOf(await get('?seconds=0.999'))).to.deep.equal([]);
    expect(ticksOf(await get('?seconds=1'))).to.deep.equal([1]);
  });
});

describe('interface 4.1: depth of the history', () => {
  afterEach(close);

  it('drops the oldest, says so, and shows the depth in force', async () => {
    const plant = testPlant();
    rest = await Rest.open(plant, { history: createHistory(plant, { samplesPerDevice: 100 }) });
    await plant.step(99);
    expect(await get()).to.include({ capacity: 100, count: 100, truncated: false });
    await plant.step(50);
    const reply = await get();
    expect(reply).to.include({ capacity: 100, count: 100, truncated: true });
    expect(ticksOf(reply)).to.deep.equal(row(50, 149));
    expect(await get(`?since=${reply.samples[0].timestamp}`)).to.include({ count: 100, truncated: false });
    expect((await rest.get('/server-info')).limits.history_samples_per_device).to.equal(100);
  });

  it('is smaller where many devices share the memory', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'] });
    rest = await Rest.open(plant, { history: createHistory(plant, { samplesPerDevice: 10_000, bytes: 50_000 }) });
    const { capacity } = await get();
    expect(capacity).to.be.within(50, 150);
    expect(await rest.get('/site/scopes/history')).to.include({ capacity: 10_000 });
    expect(await rest.get('/site/scopes/history?devices=0,1')).to.include({ capacity });
    expect((await rest.get('/server-info')).limits.history_samples_per_device).to.equal(capacity);
  });
});

describe('interface 4.2: metrics of the kinds', () => {
  afterEach(close);

  interface Case {
    readonly type: string;
    readonly path: string;
    readonly before?: () => Promise<unknown>;
    /** metrics from the answer of the kind's own path */
    readonly expected: (reply: Json) => Json;
  }
  const cases: readonly Case[] = [
    {
      type: 'PV-3Phase',
      path: '/dc-iv',
      expected: (r) => ({ irradiance_w_m2: r.irradiance_w_m2, cell_temperature_c: r.cell_temperature_c }),
    },
    {
      type: 'Batt-3Phase',
      path: '/battery',
      before: () => rest.post('/controls/battery', { mode: 'charge', power_kw: 3.21 }),
      expected: (r) => ({
        battery_temperature_c: r.temperature_c,
        cell_voltage_min_v: r.cell_voltage_min_v,
        cell_voltage_max_v: r.cell_voltage_max_v,
      }),
    },
    {
      type: 'Wind-T3-3Phase',
      path: '/wind',
      expected: (r) => ({ wind_speed_m_s: r.wind_speed_m_s, rotor_rpm: r.rotor_rpm, pitch_deg: r.pitch_deg, cp: r.cp }),
    },
    {
      type: 'Fuelcell-3Phase',
      path: '/fuelcell',
      before: () => rest.post('/fuelcell/setpoint', { power_kw: 2 }),
      expected: (r) => ({
        stack_voltage_v: r.stack_voltage_v,
        stack_current_a: r.stack_current_a,
        h2_flow_kg_h: r.h2_flow_kg_h,
        tank_level_pct: r.tank_level_pct,
        stack_temperature_c: r.stack_temperature_c,
      }),
    },
    {
      type: 'HybridDC-3Phase',
      path: '/hybrid-dc',
      expected: (r) => ({
        pv_power_kw: r.pv.power_kw,
        battery_power_kw: r.battery.power_kw,
        bus_voltage_v: r.bus_voltage_v,
      }),
    },
  ];
  for (const { type, path, before, expected } of cases) {
    it(`${type}: as ${path} shows them in the same tick`, async () => {
      rest = await Rest.open(testPlant({ types: [type] }));
      await before?.();
      for (let i = 0; i < 5; i += 1) {
        await rest.plant.step(7);
        const wanted = expected(await rest.get(path));
        const {
          samples: [sample],
        } = await get(`?limit=1&metrics=${Object.keys(wanted).join(',')}`);
        expect(sample).to.deep.equal({
          timestamp: sample.timestamp,
          wall_time: sample.wall_time,
          tick: 7 * (i + 1),
          ...wanted,
        });
      }
    });
  }

  it('EVSE: power and vehicle of each connector, as evse/{id} shows them in the same tick', async () => {
    rest = await Rest.open(evsePlant(['EVSE-AC-7.4kW-2port']));
    await rest.post('/evse/SIM-CP-1/connectors/2/plug', { ev: { soc_pct: 33.3 } });
    await rest.plant.step(40);
    const {
      connectors: [first, second],
    } = await rest.get('/evse/SIM-CP-1');
    const { metrics, samples } = await get();
    const own = metrics.slice(-6, -2);
    expect(own).to.deep.equal([
      'connector_1_power_kw',
      'connector_1_soc_pct',
      'connector_2_power_kw',
      'connector_2_soc_pct',
    ]);
    expect(own.map((name: string) => samples.at(-1)[name])).to.deep.equal([
      first.power_kw,
      null,
      second.power_kw,
      second.ev.soc_pct,
    ]);
    expect(second.power_kw).to.be.greaterThan(0);
    expect((await get('?metrics=connector_2_soc_pct&format=columns')).columns.connector_2_soc_pct[0]).to.equal(null);
  });

  it('are the same for the same seed and the same steps', async () => {
    const course = async () => {
      rest = await Rest.open(testPlant({ types: ['Wind-T4-3Phase', 'HybridDC-3Phase'] }));
      await rest.plant.step(60);
      const replies = [await get(), await get('?device=1')];
      await close();
      return replies.map(({ samples }) => samples.map((sample: Json) => ({ ...sample, wall_time: null })));
    };
    expect(await course()).to.deep.equal(await course());
    rest = await Rest.open();
  });
});
