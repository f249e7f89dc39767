import { expect } from 'chai';
import { kindStates } from '../../src/contract/condition.ts';
import { limitKeys } from '../../src/contract/limit-chain.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createTelemetry } from '../../src/ws/telemetry.ts';
import { rawExchange } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';
import { openStream, StreamClient } from '../support/stream.ts';
import type { StreamFixture } from '../support/stream.ts';

const path = '/api/sim/ws/telemetry';
let stream: StreamFixture;
const close = () => stream.close();

async function client(query: string): Promise<StreamClient> {
  const opened = new StreamClient(`ws://127.0.0.1:${stream.port}${path}${query}`);
  await opened.received(1);
  return opened;
}

async function refusal(query: string): Promise<Json> {
  const lines = [
    `GET ${path}${query} HTTP/1.1`,
    `Host: 127.0.0.1:${stream.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const answer = await rawExchange(stream.port, `${lines.join('\r\n')}\r\n\r\n`);
  return JSON.parse(answer.text);
}

const ticksOf = ({ messages }: StreamClient) => messages.map(({ tick }) => tick);

describe('telemetry stream: all devices in columns', () => {
  afterEach(close);

  it('sends one message per tick, and names the codes in the first alone', async () => {
    stream = await openStream(3);
    const fleet = await client('?form=fleet');
    stream.plant.tick();
    await fleet.received(2);
    const columns = {
      index: [0, 1, 2],
      p_kw: [0, 1, 2],
      q_kvar: [0, 0, 0],
      v_pct: [100, 100, 100],
      soc_pct: [null, null, null],
      state: Array.from({ length: 3 }, () => kindStates.indexOf('producing')),
      limited_by: [null, null, null],
    };
    const codes = { state: kindStates, limited_by: limitKeys };
    expect(fleet.messages).to.deep.equal([
      { tick: 0, sim_time: 'T0', ...columns, codes },
      { tick: 1, sim_time: 'T1', ...columns },
    ]);
  });

  it('is made once for all clients, and not at all without one', async () => {
    stream = await openStream(3);
    const snapshots = await client('');
    stream.plant.tick();
    await snapshots.received(6);
    expect(stream.plant.inspected).to.equal(0);
    const fleets = [await client('?form=fleet'), await client('?form=fleet')];
    const before = stream.plant.inspected;
    const { serialized } = stream.plant;
    snapshots.socket.terminate();
    while (stream.telemetry.clients > 2) await new Promise((resolve) => setImmediate(resolve));
    stream.plant.tick();
    await Promise.all(fleets.map((each) => each.received(2)));
    // service and voltage of each device
    expect(stream.plant.inspected - before).to.equal(6);
    expect(stream.plant.serialized).to.equal(serialized);
  });

  it('has the devices that are there', async () => {
    stream = await openStream(3);
    const fleet = await client('?form=fleet');
    stream.plant.remove(1);
    stream.plant.add();
    stream.plant.tick();
    await fleet.received(2);
    expect(fleet.messages[1]?.index).to.deep.equal([0, 2, 3]);
    expect(fleet.messages[1]).to.deep.include({ p_kw: [0, 2, 3] });
  });

  it('refuses forms and rates that do not exist, and one device', async () => {
    stream = await openStream(2);
    const refused = [
      ['form=rows', 'form'],
      ['form=fleet&form=fleet', 'form'],
      ['form=fleet&device=1', 'device'],
      ['max_rate=0', 'max_rate'],
      ['max_rate=1001', 'max_rate'],
      ['max_rate=-1', 'max_rate'],
      ['max_rate=1e2', 'max_rate'],
      ['max_rate=', 'max_rate'],
      ['rate=1', 'rate'],
    ] as const;
    for (const [query, name] of refused) {
      const problem = await refusal(`?${query}`);
      expect(problem, query).to.include({ status: 422, code: 'validation' });
      expect(problem.errors[0], query).to.include({ in: 'query', name });
    }
  });
});

describe('telemetry stream: columns of the six kinds', () => {
  it('show what REST shows at the same tick', async () => {
    const types = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
    const rest = await Rest.open(testPlant({ types, tickIntervalS: 1 }));
    const telemetry = createTelemetry({
      source: rest.plant,
      columns: rest.plant,
      server: rest.api.server,
      clock: systemClock,
      logger: silentLogger,
      guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] },
    });
    await telemetry.start();
    const fleet = new StreamClient(`ws://127.0.0.1:${rest.port}${path}?form=fleet`);
    await fleet.received(1);
    await rest.post('/grid-support/max-power?device=0', { enabled: true, limit_pct: 40 });
    await rest.post('/controls/grid?device=2', { voltage_pu: 0 });
    await rest.plant.step(5);
    await fleet.received(6);
    const overview: Json = await rest.get('/overview');
    const column = (read: (device: Json) => unknown) => overview.devices.map(read);
    expect(fleet.messages.at(-1)).to.deep.equal({
      tick: 5,
      sim_time: overview.metrics.timestamp,
      index: [0, 1, 2, 3, 4, 5],
      p_kw: column(({ power_kw }) => power_kw),
      q_kvar: column(({ reactive_power_kvar }) => reactive_power_kvar),
      v_pct: [100, 100, 0, 100, 100, 100],
      soc_pct: column(({ state_of_charge_pct }) => state_of_charge_pct),
      state: column(({ kind_state }) => kindStates.indexOf(kind_state)),
      limited_by: column(({ limited_by }) => (limited_by === null ? null : limitKeys.indexOf(limited_by))),
    });
    expect(overview.devices[0]).to.include({ kind_state: 'limited', limited_by: 'max_power' });
    expect(overview.devices[2].kind_state).to.equal('tripped');
    await telemetry.stop();
    await rest.api.stop();
  });
});

describe('telemetry stream: rate of a client', () => {
  afterEach(close);

  for (const form of ['snapshots', 'fleet']) {
    it(`sends the newest tick of each interval, in the form ${form}`, async () => {
      stream = await openStream(1);
      const slow = await client(`?form=${form}&max_rate=4`);
      for (let i = 0; i < 10; i += 1) stream.plant.tick();
      stream.pass(249);
      stream.plant.tick();
      stream.pass(1);
      await slow.received(2);
      expect(ticksOf(slow)).to.deep.equal([0, 11]);
      stream.pass(1000);
      // the interval is over: the next tick need not wait
      stream.plant.tick();
      stream.plant.tick();
      await slow.received(3);
      stream.pass(250);
      await slow.received(4);
      expect(ticksOf(slow)).to.deep.equal([0, 11, 12, 13]);
    });
  }

  it('makes nothing for the ticks that are left out, and leaves other clients alone', async () => {
    stream = await openStream(2);
    const all = await client('?max_rate=1');
    const every = await client('?device=0');
    await all.received(2);
    const { serialized } = stream.plant;
    for (let i = 0; i < 5; i += 1) stream.plant.tick();
    await every.received(6);
    expect(stream.plant.serialized - serialized).to.equal(5);
    stream.pass(1000);
    await all.received(4);
    expect(all.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [0, 0],
      [1, 0],
      [0, 5],
      [1, 5],
    ]);
  });

  it('ends with its client', async () => {
    stream = await openStream(1);
    const slow = await client('?form=fleet&max_rate=1');
    stream.plant.tick();
    slow.socket.terminate();
    while (stream.telemetry.clients > 0) await new Promise((resolve) => setImmediate(resolve));
    const { inspected } = stream.plant;
    stream.pass(1000);
    expect(stream.plant.inspected).to.equal(inspected);
  });
});
