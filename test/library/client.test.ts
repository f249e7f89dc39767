import { expect } from 'chai';
import { Client, DerbenchError } from '../../src/library/index.ts';
import type { Fetch } from '../../src/library/index.ts';
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
