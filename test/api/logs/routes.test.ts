import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { moduleNames } from '../../../src/core/adapter.ts';
import { createLogBook, logLevels } from '../../../src/core/log/log.ts';
import type { LogBook } from '../../../src/core/log/log.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { startApp } from '../../support/running-app.ts';
import { HandWall } from '../../support/wall.ts';

const start = Date.UTC(2030, 5, 1, 12);

describe('GET logs', () => {
  let rest: Rest;
  let book: LogBook;
  let wall: HandWall;

  beforeEach(async () => {
    wall = new HandWall(start);
    book = createLogBook({ level: 'debug', write: () => undefined, clock: wall });
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }), { logBook: book });
  });
  afterEach(() => rest.api.stop());

  /** One line per module and level, a second apart; those of the even modules about device 1. */
  function fill(): void {
    for (const [i, module] of moduleNames.entries()) {
      for (const level of logLevels) {
        book.logger(module)[level](`${module} ${level}`, ...(i % 2 === 0 ? [1] : []));
        wall.advance(1000);
      }
    }
  }

  const messages = async (query: string): Promise<string[]> =>
    (await rest.get(`/logs${query}`)).logs.map(({ message }: Json) => message);
  const all = moduleNames.flatMap((module) => logLevels.map((level) => `${module} ${level}`));
  const of = (...modules: string[]) => all.filter((text) => modules.includes(text.split(' ')[0] ?? ''));

  it('answers the lines oldest first', async () => {
    book.logger('Modbus').warning('slow master', 1);
    wall.advance(1500);
    book.logger('Lab').info('started');
    expect(await rest.get('/logs')).to.deep.equal({
      logs: [
        {
          id: 1,
          timestamp: '2030-06-01T12:00:00.000Z',
          sim_time: null,
          level: 'warning',
          module: 'Modbus',
          device_index: 1,
          message: 'slow master',
        },
        {
          id: 2,
          timestamp: '2030-06-01T12:00:01.500Z',
          sim_time: null,
          level: 'info',
          module: 'Lab',
          device_index: null,
          message: 'started',
        },
      ],
      count: 2,
      modules: ['Modbus', 'Lab'],
      dropped: 0,
    });
  });

  it('answers nothing of a book without lines', async () => {
    expect(await rest.get('/logs')).to.deep.equal({ logs: [], count: 0, modules: [], dropped: 0 });
  });

  it('takes modules as a comma list or repeated, in any case', async () => {
    fill();
    expect(await messages('')).to.deep.equal(all);
    expect(await messages('?modules=Modbus')).to.deep.equal(of('Modbus'));
    for (const query of [
      '?modules=AC,WS,Lab',
      '?modules=ac,ws,LAB',
      '?modules=Lab&modules=AC&modules=ws',
      '?modules=lab,AC&modules=Ws',
      '?modules=AC,%20WS,lab,ac',
    ]) {
      expect(await messages(query), query).to.deep.equal(of('AC', 'WS', 'Lab'));
    }
  });

  it('takes levels', async () => {
    fill();
    expect(await messages('?levels=error,Warning')).to.deep.equal(all.filter((text) => /error|warning/.test(text)));
    expect(await messages('?levels=debug&levels=info')).to.deep.equal(all.filter((text) => /debug|info/.test(text)));
  });

  it('takes a device: only lines about it', async () => {
    fill();
    expect(await messages('?device=1')).to.deep.equal(of(...moduleNames.filter((_, i) => i % 2 === 0)));
    expect(await messages('?device=0')).to.deep.equal([]);
  });

  it('takes after_id, for those who follow', async () => {
    fill();
    const { logs } = await rest.get('/logs');
    expect(await messages(`?after_id=${logs[29].id}`)).to.deep.equal(all.slice(30));
    expect(await messages(`?after_id=${logs.at(-1).id}`)).to.deep.equal([]);
    expect(await messages('?after_id=0')).to.deep.equal(all);
    book.logger('AC').info('new');
    expect(await messages(`?after_id=${logs.at(-1).id}`)).to.deep.equal(['new']);
  });

  it('takes since, inclusive', async () => {
    fill();
    expect(await messages('?since=2030-06-01T12:00:30Z')).to.deep.equal(all.slice(30));
    expect(await messages('?since=2030-06-01T14:00:30.001%2B02:00')).to.deep.equal(all.slice(31));
  });

  it('holds all filters together', async () => {
    fill();
    expect(
      await messages(
        '?modules=ac,modbus,ocpp&levels=info,error&device=1&after_id=2&since=2030-06-01T12:00:03Z&limit=2',
      ),
    ).to.deep.equal(['OCPP info', 'OCPP error']);
  });

  it('answers the newest 500, or as many as limit says, at most 5000', async () => {
    for (let i = 1; i <= 6000; i += 1) book.logger('WS').info(`line ${i}`);
    const first = async (query: string) => {
      const { logs, count } = await rest.get(`/logs${query}`);
      expect(logs).to.have.lengthOf(count);
      expect(logs.at(-1).message).to.equal('line 6000');
      return [count, logs[0].message];
    };
    expect(await first('')).to.deep.equal([500, 'line 5501']);
    expect(await first('?limit=1')).to.deep.equal([1, 'line 6000']);
    for (const limit of ['5000', '5001', '999999999', `1${'0'.repeat(60)}`]) {
      expect(await first(`?limit=${limit}`), limit).to.deep.equal([5000, 'line 1001']);
    }
    expect((await rest.get('/logs?limit=1')).dropped).to.equal(1000);
    expect((await rest.get('/server-info')).limits.log_entries).to.equal(5000);
  });

  it('keeps text from outside data', async () => {
    const text = '<script>alert(1)</script>\r\n{"level":"error"} \u202e%s';
    book.logger('OCPP').info(text);
    expect(await messages('')).to.deep.equal(['<script>alert(1)</script>\\x0d\\x0a{"level":"error"} \\u202e%s']);
  });

  it('says what is allowed for every unknown module and level', async () => {
    const problem = await rest.refused('/logs?modules=AC,foo,&levels=fatal', 422, 'validation');
    expect(problem.errors).to.deep.equal([
      {
        in: 'query',
        name: 'modules',
        detail: `"foo" is not one of ${moduleNames.join(', ')}`,
        allowed: [...moduleNames],
      },
      { in: 'query', name: 'modules', detail: `"" is not one of ${moduleNames.join(', ')}`, allowed: [...moduleNames] },
      {
        in: 'query',
        name: 'levels',
        detail: '"fatal" is not one of debug, info, warning, error',
        allowed: [...logLevels],
      },
    ]);
  });

  for (const [query, name] of [
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=many', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['after_id=-1', 'after_id'],
    ['after_id=1000000000000000', 'after_id'],
    ['after_id=x', 'after_id'],
    ['after_id=1e3', 'after_id'],
    ['after_id=1&after_id=2', 'after_id'],
    ['since=yesterday', 'since'],
    ['since=2030-06-01', 'since'],
    ['since=2030-06-01T12:00:00', 'since'],
    ['since=', 'since'],
    ['device=one', 'device'],
    ['device=all', 'device'],
    ['device=-1', 'device'],
    ['modules=', 'modules'],
    ['levels=', 'levels'],
    ['module=AC', 'module'],
    ['format=csv', 'format'],
  ] as const) {
    it(`refuses ${query}`, async () => {
      const { errors } = await rest.refused(`/logs?${query}`, 422, 'validation');
      expect(errors).to.have.lengthOf(1);
      expect(errors[0]).to.include({ in: 'query', name });
    });
  }

  it('says the range of ids', async () => {
    const { errors } = await rest.refused('/logs?after_id=1000000000000000', 422, 'validation');
    expect(errors[0].detail).to.contain('must be an integer from 0 to 999999999999999');
    expect(await messages('?after_id=999999999999999')).to.deep.equal([]);
  });

  it('does not know a device that there is not', async () => {
    await rest.refused('/logs?device=2', 404, 'unknown-device');
  });

  it('has the lines that the plant itself writes', async () => {
    const plant = testPlant({ log: book.logger('AC') });
    plant.setGrid({ frequencyHz: 50 });
    await plant.step(2);
    const { logs, modules } = await rest.get('/logs?modules=AC&levels=warning&device=0');
    expect(logs.map(({ message }: Json) => message)).to.include('tripped on under-frequency');
    expect(modules).to.deep.equal(['AC']);
  });
});

describe('GET logs of the whole program', () => {
  it('has what the supervisor and the protocols say, and text from outside as data', async () => {
    const { app, port } = await startApp(['PV-3Phase', 'EVSE']);
    const stream = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    await once(stream, 'message');
    stream.close(4000, 'bye');
    await once(stream, 'close');
    const { json } = await ask(port, '/api/sim/logs');
    await app.stop();
    const said = (module: string) =>
      json.logs.filter((each: Json) => each.module === module).map(({ message }: Json) => message);
    expect(said('Lab')[0]).to.match(/^derbench \d+\.\d+\.\d+ runs with 2 devices$/);
    expect(said('Modbus')[0]).to.match(/^Modbus TCP on 127\.0\.0\.1:\d+ .*2 devices$/);
    expect(said('WS').at(-1)).to.match(/^client 127\.0\.0\.1:\d+ disconnected with code 4000/);
    expect(json.modules).to.include.members(['Modbus', 'WS', 'Lab']);
    expect(app.logBook.entries({ modules: ['Lab'] }).at(-1)?.message).to.equal('stopped');
  });
});

describe('GET health: the event loop', () => {
  it('shows percentile, slow periods and stalls', async () => {
    const rest = await Rest.open(testPlant(), { eventLoop: { p99Ms: 12.345, slowPeriods: 3, stalls: 2 } });
    const health = await rest.get('/health');
    await rest.api.stop();
    expect(health).to.include({ status: 'ok', event_loop_p99_ms: 12.345, slow_periods: 3, stalls: 2 });
  });
});
