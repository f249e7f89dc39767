import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Client, DerbenchError } from '../../src/index.ts';
import type { Fetch } from '../../src/index.ts';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';

const failure = async (promise: Promise<unknown>): Promise<DerbenchError> => {
  try {
    await promise;
  } catch (error) {
    expect(error).to.be.instanceOf(DerbenchError);
    return error as DerbenchError;
  }
  throw new Error('expected a failure');
};

describe('The client for scripts', () => {
  let rest: Rest;
  let client: Client;

  beforeEach(async () => {
    rest = await Rest.open(testPlant());
    client = new Client(`http://127.0.0.1:${rest.port}/`);
    await client.pause();
  });
  afterEach(() => rest.api.stop());

  it('writes, waits and reads by the names of points', async () => {
    await client.environment({ irradiance_w_m2: 1000, cell_temperature_c: 25 });
    await client.write(704, { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' });
    expect(await client.until('701.W', (watts) => watts <= 5000)).to.equal(5000);
    expect(await client.until('701.InvSt', 'THROTTLED')).to.equal('THROTTLED');
    expect(await client.point('metrics.power_kw')).to.equal(5);
    expect(await client.text('1.Mn')).to.be.a('string');
    const changes = (await client.changes()).map(({ point, changed_by: by }) => [point, by?.source]);
    expect(changes).to.deep.equal([
      ['704.WMaxLimPctEna', 'rest'],
      ['704.WMaxLimPct', 'rest'],
    ]);
    expect(await client.alarms()).to.deep.equal([]);
    expect((await client.device(0)).metrics.power_kw).to.equal(5);
  });

  it('steps by ticks, seconds and to an instant, over more ticks than one request has', async () => {
    const after = async (step: Promise<{ time: { sim_time: string; tick: number } }>) => (await step).time;
    const { sim_time: start, tick, tick_interval_s: intervalS } = await client.time();
    const at = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString();
    expect(await after(client.step())).to.include({ tick: tick + 1 });
    expect(await after(client.step({ ticks: 1001 }))).to.include({ tick: tick + 1002 });
    const seconds = 1002 * intervalS;
    expect(await after(client.step({ seconds: 2.25 }))).to.include({ sim_time: at(seconds + 2.25) });
    expect(await after(client.stepTo(at(seconds + 3000)))).to.include({ sim_time: at(seconds + 3000) });
    expect(await failure(client.step({ ticks: 1, seconds: 1 }))).to.include({ code: 'validation', status: null });
    const { tick: reached } = await client.time();
    expect(await after(client.step(5))).to.include({ tick: reached + 5 });
    expect(await failure(client.step(0))).to.include({ code: 'validation', status: 422 });
    await client.rate(1);
    expect(await failure(client.step())).to.include({ code: 'conflict', status: 409 });
  });

  it('changes the surroundings and reads them', async () => {
    expect((await client.grid({ voltage_pu: 1.02 })).voltage_a_pu).to.equal(1.02);
    expect((await client.grid()).voltage_b_pu).to.equal(1.02);
    expect((await client.gridEvent('sag', { residual_pu: 0.6 })).event).to.include({ name: 'sag' });
    expect((await client.gridEvent(null)).event).to.equal(null);
    expect(await client.environment({ load_kw: 2 }, { device: 0 })).to.include({ load_kw: 2, device_index: 0 });
    expect(await client.get('history', { query: { format: 'csv', limit: 1 } })).to.match(/^timestamp,/);
  });

  it('injects faults and ends them', async () => {
    const fault = await client.fault('late_effect', { protocol: 'device', delay_s: 5 });
    expect(fault).to.include({ kind: 'late_effect', protocol: 'device', strikes: 0 });
    expect((await client.clearFaults()).map(({ id, end }) => [id, end])).to.deep.equal([[fault.id, 'cleared']]);
  });

  it('throws problems with every refused member, and says what a name may be', async () => {
    const refused = await failure(client.write(704, { WMaxLimPct: 5000, Foo: 1 }));
    expect(refused).to.include({ status: 422, code: 'validation', name: 'DerbenchError' });
    expect(refused.issues.map(({ in: part, name }) => [part, name])).to.deep.include(['body', '/points/Foo']);
    expect(refused.message).to.equal(refused.detail);
    expect(await failure(client.device(7))).to.include({ status: 404, code: 'unknown-device' });
    expect(await failure(client.point('metrics.power_mw'))).to.include({ code: 'validation', status: null });
    expect(await failure(client.point('701.InvSt.x'))).to.include({ code: 'validation', status: 422 });
    expect((await failure(client.point('1.Mn'))).message).to.match(/^1\.Mn is no number: it is "/);
    expect((await failure(client.point('metrics.state_of_charge_pct'))).message).to.match(
      /the device does not have it$/,
    );
    expect((await failure(client.text('701.W'))).code).to.equal('not-a-text');
    expect(await failure(client.get('nothing'))).to.include({ status: 404, code: 'not-found' });
  });

  it('refuses addresses without a scheme, and says which one is meant', () => {
    const message = (url: unknown) => {
      try {
        new Client(url as string);
      } catch (error) {
        expect(error).to.be.instanceOf(DerbenchError).and.include({ code: 'validation', status: null });
        return (error as DerbenchError).message;
      }
      throw new Error(`expected a refusal of ${String(url)}`);
    };
    expect(message('localhost:8111')).to.equal(
      'given "localhost:8111"; allowed: an address as http://localhost:8111; did you mean http://localhost:8111?',
    );
    for (const url of ['ftp://localhost', 'http://', 'http://localhost:99999', 'http://localhost?x', null, 8111])
      expect(message(url), String(url)).to.match(/allowed: an address as http:\/\/localhost:8111$/);
    expect(() => new Client('http://localhost', { timeout: 1 } as object)).to.throw(DerbenchError, 'headers, fetch');
  });

  it('refuses arguments that mean nothing before it sends anything', async () => {
    const sent: string[] = [];
    const fetch: Fetch = (url) => Promise.reject(new Error(String(sent.push(url))));
    const untyped = new Client('http://sim.test', { fetch }) as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    const wrong: [string, ...unknown[]][] = [
      ['step', '5'],
      ['step', { tick: 3 }],
      ['step', null],
      ['step', 1.5],
      ['step', { ticks: NaN }],
      ['step', { seconds: NaN }],
      ['step', { seconds: Infinity }],
      ['stepTo', '12:00', { devise: 1 }],
      ['until', '701.W', 5, { timeout_s: 10 }],
      ['until', '701.W', null],
      ['until', '701.W', undefined],
      ['until', '701.W', NaN],
      ['until', '701.W', 5, { timeoutS: NaN }],
      ['until', '701.W', 5, { timeoutS: Infinity }],
      ['ready', { timeoutS: NaN }],
      ['ready', 5],
      ['point', '701.W', { devise: 1 }],
      ['overview', 1],
      ['get', 'registers/701', { points: ['W'] }],
      ['get', 'registers/701', { query: null }],
      ['get', 5],
      ['rate', NaN],
      ['post', 'controls/grid', { body: { voltage_pu: 1n } }],
      ['post', 'controls/grid', { body: () => 1 }],
      ['plug', {}, { chargePoint: '\ud800' }],
    ];
    for (const [method, ...args] of wrong) {
      const label = `${method} ${args.map(String).join()}`;
      const error = await failure(untyped[method]!.apply(untyped, args));
      expect([error.code, error.status], label).to.deep.equal(['validation', null]);
      expect(error.message, label).to.match(/^given .*; allowed: /);
    }
    expect(sent).to.deep.equal([]);
  });

  it('gives an async test of a value its time', async () => {
    const { tick } = await client.time();
    let looks = 0;
    await client.until('701.W', () => Promise.resolve((looks += 1) > 2));
    expect((await client.time()).tick).to.equal(tick + 2);
    expect(await failure(client.until('701.W', () => Promise.resolve(false), { timeoutS: 3 }))).to.include({
      code: 'timeout',
    });
  });

  it('sends paths with any characters', async () => {
    for (const path of ['a b', 'ü', 'health#x'])
      expect(await failure(client.get(path)), path).to.include({ status: 404, code: 'not-found' });
  });

  it('keeps the time of ready before a listener that never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sockets = new Set<{ destroy(): void }>();
    silent.on('connection', (socket) => sockets.add(socket));
    const { port } = silent.address() as AddressInfo;
    const error = await failure(new Client(`http://127.0.0.1:${port}`).ready({ timeoutS: 0.2 }));
    expect(error).to.include({ code: 'timeout' });
    expect(error.message).to.match(/gives no answer: .*\(for 0\.2 s\)$/);
    expect(sockets.size).to.be.above(0);
    for (const socket of sockets) socket.destroy();
    silent.close();
    const deaf = new Client('http://sim.test', { fetch: () => new Promise(() => undefined) });
    expect((await failure(deaf.ready({ timeoutS: 0 }))).code).to.equal('timeout');
  });

  it('sends the body of a PATCH', async () => {
    const asked: string[] = [];
    const fetch: Fetch = (url, { method, body }) => {
      asked.push(`${method} ${url} ${body}`);
      const headers = new Headers({ 'Content-Type': 'application/json' });
      return Promise.resolve({ status: 200, headers, text: () => Promise.resolve('{"restarts":[]}') });
    };
    const other = new Client('http://sim.test', { fetch });
    expect(await other.patch('settings', { body: { log_level: 'debug' } })).to.deep.equal({ restarts: [] });
    expect(asked).to.deep.equal(['PATCH http://sim.test/api/sim/settings {"log_level":"debug"}']);
  });

  it('throws for a simulator that does not answer, and for an answer of some other server', async () => {
    const away = new Client('http://127.0.0.1:1');
    expect((await failure(away.time())).message).to.match(/^http:\/\/127\.0\.0\.1:1 gives no answer: /);
    expect(await failure(away.ready({ timeoutS: 0 }))).to.include({ code: 'timeout' });
    await client.ready();
    const asked: string[] = [];
    const fetch: Fetch = (url, { method, headers }) => {
      asked.push(`${method} ${url} ${headers['X-Test']}`);
      return Promise.resolve({ status: 502, headers: new Headers(), text: () => Promise.resolve('<p>Bad gateway') });
    };
    const other = new Client('http://sim.test/lab', { fetch, headers: { 'X-Test': 'yes' } });
    const query = { points: ['W', 'Hz'], device: undefined, raw: true };
    const error = await failure(other.get('/api/sim/registers/701', { query }));
    expect(error).to.include({ status: 502, code: 'unknown', detail: '<p>Bad gateway' });
    expect(asked).to.deep.equal(['GET http://sim.test/lab/api/sim/registers/701?points=W%2CHz&raw=true yes']);
  });
});
