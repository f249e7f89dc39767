import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import { close, expectProblem, serve } from './test-server.ts';

describe('a path or method that is not there', () => {
  afterEach(close);

  it('names the base path and the nearest path', async () => {
    const { port } = await serve();
    const detail = async (path: string) => expectProblem(await ask(port, path), 404, 'not-found')['detail'];
    const rest = 'Operations are below /api/sim, and /docs lists them.';
    expect(await detail('/api/sim/thng')).to.equal(
      `There is nothing at /api/sim/thng. Did you mean /api/sim/thing? ${rest}`,
    );
    for (const path of ['/thing', '/api/thing', '/API/SIM/Thing', '/api/sim/thing//x/..'])
      expect(await detail(path), path).to.contain(path.endsWith('..') ? rest : 'Did you mean /api/sim/thing?');
    expect(await detail('/api/sim/fial/x')).to.contain('Did you mean /api/sim/fail/x?');
    expect(await detail('/api/sim/nope/nope')).to.equal(`There is nothing at /api/sim/nope/nope. ${rest}`);
    for (const path of ['/api', '/api/sim', '/api/sim/'])
      expect(await detail(path)).to.match(/ is the start of paths\. Operations are below/);
    expect(await detail('/openapi.jsn')).to.contain('Did you mean /openapi.json?');
  });

  it('redirects a path with a slash at its end, by a status that keeps method and body', async () => {
    const { port } = await serve();
    for (const [path, location, method] of [
      ['/api/sim/thing/', '/api/sim/thing', 'GET'],
      ['/api/sim/thing//?device=0&a=%20', '/api/sim/thing?device=0&a=%20', 'POST'],
      ['/api/sim/fail/x/', '/api/sim/fail/x', 'PUT'],
      ['/redoc/', '/redoc', 'GET'],
    ] as const) {
      const answer = await ask(port, path, { method, ...(method === 'POST' && { body: { value: 1 } }) });
      expect([answer.status, answer.headers['location']], path).to.deep.equal([308, location]);
    }
  });

  it('answers 405 in plain words', async () => {
    const { port } = await serve();
    const detail = async (path: string, method: string) =>
      expectProblem(await ask(port, path, { method }), 405, 'method-not-allowed')['detail'];
    expect(await detail('/api/sim/thing', 'PUT')).to.equal('This path does not accept PUT; it accepts GET, HEAD and POST.');
    expect(await detail('/api/sim/stop', 'GET')).to.equal('This path does not accept GET; it accepts POST.');
  });
});
