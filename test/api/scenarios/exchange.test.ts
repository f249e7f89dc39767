import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';

describe('a scenario while devices are attached to a grid outside', () => {
  let running: RunningApp;
  before(async () => (running = await startApp()));
  after(() => running.app.stop());

  const post = async (path: string, body: object, status: number): Promise<Json> => {
    const answer = await ask(running.port, `/api/sim/${path}`, { method: 'POST', body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  };

  it('does not start where the exchange passes the time, and starts after it', async () => {
    const steps = [{ at: '1 s', expect: { point: '701.W', at_least: 0 } }];
    const { id } = await post('scenarios', { scenario: { name: 'later', steps } }, 201);
    const { session } = await post('exchange', { owner: 'solver' }, 201);
    const { detail } = await post(`scenarios/${id}/start`, { pace: 'fast' }, 409);
    expect(detail).to.contain('"solver" passes the time');
    expect((await post('exchange/step', { session, to_s: 1, va_pu: 1 }, 200)).time_s).to.equal(1);
    await post('exchange/end', { session }, 200);
    await post(`scenarios/${id}/start`, { pace: 'fast' }, 200);
  });
});
