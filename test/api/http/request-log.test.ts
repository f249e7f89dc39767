import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { LogBook, LogLevel } from '../../../src/core/log/log.ts';
import { RequestLog } from '../../../src/api/http/request-log.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('Requests in the log', () => {
  let rest: Rest;
  let book: LogBook;

  async function open(level: LogLevel): Promise<void> {
    book = createLogBook({ level, write: () => undefined });
    const plant = testPlant({ types: ['Batt-3Phase', 'PV-3Phase'], log: book.logger('AC'), dcLog: book.logger('DC') });
    const removeDevice = async (index: number) => {
      await plant.remove(index);
    };
    rest = await Rest.open(plant, { logBook: book, removeDevice });
  }
  afterEach(() => rest.api.stop());

  const lines = (module: 'Lab' | 'AC' = 'Lab') =>
    book
      .entries({ modules: [module] })
      .map(({ level, deviceIndex, message }) =>
        `${level} ${deviceIndex} ${message}`.replaceAll(/127\.0\.0\.1:\d+/g, 'PEER').replaceAll(/[0-9a-f-]{36}/g, 'ID'),
      );

  /** Two writes, a step, a refused write, an unknown path, a read. */
  async function session(): Promise<void> {
    await rest.post('/controls/battery?device=0', { mode: 'charge', power_kw: 3 });
    await rest.post('/controls/time/step', { ticks: 1 });
    await rest.refused('/nothing', 404, 'not-found');
    await rest.get('/overview');
    await rest.refused('/controls/grid', 422, 'validation', { voltage_pu: 'high' });
    await rest.post('/registers/704', { points: { WMaxLimPct: 80 } });
  }
  const written = [
    'info 0 rest, PEER: POST /api/sim/controls/battery?device=0 {"mode":"charge","power_kw":3}',
    'info null rest, PEER: POST /api/sim/registers/704 {"points":{"WMaxLimPct":80}}',
  ] as const;

  it('at info: what was written', async () => {
    await open('info');
    await session();
    expect(lines()).to.deep.equal(written);
  });

  it('at debug: also refusals with their reason, and steps', async () => {
    await open('debug');
    await session();
    const [battery, register] = written;
    const said = lines();
    expect(said.slice(0, 2)).to.deep.equal([
      battery,
      'debug null rest, PEER: POST /api/sim/controls/time/step {"ticks":1}',
    ]);
    expect(said[2]).to.match(
      /^debug null rest, PEER: GET \/api\/sim\/nothing answered with 404 not-found: .*\(request ID\)$/,
    );
    expect(said[3]).to.match(
      /^debug null rest, PEER: POST \/api\/sim\/controls\/grid answered with 422 validation: \/voltage_pu/,
    );
    expect(said.slice(4)).to.deep.equal([register]);
  });

  it('without the private key of the SunSpec client, whether it connects or is refused', async () => {
    await open('debug');
    const key = 'MC4CAQAwBQYDK2VwBCIEIA';
    const tls = { tls: { key, cert: key, root_cert: key }, transport: 'tls', host: '127.0.0.1' };
    // refused by its target: after the schemas
    await rest.refused('/sunspec-client/connect', 422, 'validation', { ...tls, transport: 'rtu' });
    for (const wrong of [key, { key: [key] }, { key: { key } }, { key: 7_777_777, cert: key }])
      await rest.refused('/sunspec-client/connect', 422, 'validation', { ...tls, tls: wrong });
    const by = { source: 'rest', peer: 'a' } as const;
    const input = { params: {}, query: {}, body: { list: [tls], ...tls }, by };
    const connect = allRoutes.find(({ path }) => path === '/sunspec-client/connect');
    const wall = { monotonicMs: () => 0, nowMs: () => 0 };
    const timeline = new Timeline({ wall, sim: () => simTimeFromMs(0) });
    const log = new RequestLog('/api/sim', book.logger('Lab'), wall, timeline, () => undefined);
    log.logWrite(connect!, input);
    expect(timeline.list().map(({ text }) => text)).to.eql([
      'Connects to a device and walks its chain of models: list [{"tls":"…","transport":"tls","host":"127.0.0.1"}], ' +
        'tls …, transport tls, host 127.0.0.1.',
    ]);
    const said = lines();
    expect(said).to.have.length(6);
    expect(said.join()).not.to.contain(key.slice(0, 8)).and.not.to.contain('7777777');
    expect(said[5]).to.equal(
      'info null rest, a: POST /api/sim/sunspec-client/connect ' +
        '{"list":[{"tls":"…","transport":"tls","host":"127.0.0.1"}],"tls":"…","transport":"tls","host":"127.0.0.1"}',
    );
  });

  it('a refusal is about the device that the request names', async () => {
    await open('debug');
    await rest.refused('/controls/battery?device=1', 422, 'validation', { mode: 'charge', power_kw: 'much' });
    await rest.post('/devices/1/remove', {});
    await rest.refused('/devices/1/remove', 404, 'unknown-device', {});
    await rest.refused('/overview?device=99999999999999999999', 422, 'validation');
    expect(lines().map((line) => line.split(' ').slice(0, 2).join(' '))).to.deep.equal([
      'debug 1',
      'info 1',
      'debug 1',
      'debug null',
    ]);
  });

  it('those without HTTP too, and operator commands from begin to end', async () => {
    await open('debug');
    const by = { source: 'scenario', peer: 'day 1' } as const;
    await rest.api.perform({ method: 'POST', path: '/commands', body: { command: 'stop', device: 1 }, by });
    await rest.api.perform({ method: 'POST', path: '/commands', body: { command: 'halt' }, by });
    await rest.post('/controls/time/step', { ticks: 20 });
    expect(lines()[0]).to.equal('info null scenario, day 1: POST /api/sim/commands {"command":"stop","device":1}');
    expect(lines()[1]).to.match(
      /^debug null scenario, day 1: POST \/api\/sim\/commands answered with 422 validation: /,
    );
    expect(lines('AC').filter((line) => line.includes('command'))).to.deep.equal([
      'info 1 command 1, stop: begins, asked by scenario, day 1',
      'info 1 command 1, stop: completed',
    ]);
  });
});
