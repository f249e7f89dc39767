import { expect } from 'chai';
import { LoopShare } from '../../../src/core/turns.ts';
import { z } from '../../../src/api/description/zod.ts';
import { route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { parseExposition } from '../../support/exposition.ts';
import { testPlant } from '../../support/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import { open, wire } from '../../support/hostile.ts';
import { ask } from '../../support/http.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.looseObject({}) } as const;

describe('requests of many clients', () => {
  let api: Api;
  let port: number;
  let carriedOut = 0;
  /** the turns that the share has asked for, ended by hand */
  const turns: (() => void)[] = [];
  const share = new LoopShare({ budgetMs: 0, nowMs: () => 0, nextTurn: (run) => turns.push(run) });
  const counted = () => ({ carriedOut: (carriedOut += 1) });
  const routes = [
    route({ ...base, method: 'get', path: '/thing', operationId: 'get_thing', handle: counted }),
    route({
      ...base,
      method: 'post',
      path: '/thing',
      operationId: 'set_thing',
      body: z.looseObject({}),
      handle: counted,
    }),
  ];

  beforeEach(async () => {
    carriedOut = 0;
    api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }), { routes, share });
    ({ port } = await api.start());
  });
  afterEach(() => api.stop());

  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate);
  };
  const endTurn = () => {
    for (const run of turns.splice(0)) run();
  };

  it('are carried out and checked one per turn of the loop where each uses up the share', async () => {
    const answers = Array.from({ length: 10 }, (_, i) =>
      ask(port, '/api/sim/thing', i % 2 === 0 ? { body: { list: [{}] } } : {}),
    );
    answers.push(ask(port, '/api/sim/thing', { method: 'POST', body: '{"twice":1,"twice":2}' }));
    await until(() => share.waiting === 10);
    const seen = [carriedOut];
    for (let turn = 0; turn < 10; turn += 1) {
      endTurn();
      seen.push(carriedOut);
    }
    // the wrong body is one of them
    expect(seen.every((count, i) => count - (seen[i - 1] ?? 0) <= 1)).to.equal(true);
    expect(carriedOut).to.equal(10);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.slice(0, 10)).to.deep.equal(Array.from({ length: 10 }, () => 200));
    expect(statuses[10]).to.equal(422);
    endTurn();
  });

  it('that read are not carried out for clients that have gone while they waited', async () => {
    expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
    const gone = new Promise((resolve) => api.server.once('connection', (socket) => socket.once('close', resolve)));
    const socket = await open(port);
    socket.write(wire('/api/sim/thing'));
    await until(() => share.waiting === 1);
    socket.destroy();
    await gone;
    const last = ask(port, '/api/sim/thing');
    await until(() => share.waiting === 2);
    endTurn();
    endTurn();
    expect((await last).json.carriedOut).to.equal(2);
    endTurn();
  });

  it('for metrics are answered from one scrape where they wait for it, which reads and writes in turns of its own', async () => {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const { perform } = createApi(apiContext({ plant }), { share });
    const ticks = async () => {
      const { body } = await perform({ method: 'GET', path: '/metrics', by: { source: 'rest', peer: 'a' } });
      return parseExposition(String(body)).value('derbench_ticks_total');
    };
    const first = Array.from({ length: 5 }, ticks);
    await until(() => share.waiting === 1);
    await plant.step(3);
    const second = ticks();
    endTurn();
    expect(await Promise.all(first)).to.deep.equal([0, 0, 0, 0, 0]);
    await until(() => share.waiting === 1);
    endTurn();
    await until(() => share.waiting === 1);
    endTurn();
    expect(await second).to.equal(3);
    endTurn();
  });

  it('take the share again for what a handler leaves to do later', async () => {
    const late = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }), {
      share,
      routes: [
        route({ ...base, method: 'get', path: '/late', operationId: 'get_late', handle: () => Promise.resolve({}) }),
      ],
    });
    const other = await late.start();
    const answer = ask(other.port, '/api/sim/late');
    await until(() => share.waiting === 1);
    endTurn();
    expect((await answer).status).to.equal(200);
    endTurn();
    await late.stop();
  });
});
