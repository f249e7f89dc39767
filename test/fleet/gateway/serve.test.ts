import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import { createGatewayApp } from '../../../src/fleet/gateway/serve.ts';
import type { RoutedRequest } from '../../../src/fleet/gateway/router.ts';
import { ShardRouter } from '../../../src/fleet/gateway/router.ts';
import { FleetLog } from '../../../src/fleet/gateway/logs.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import { ask } from '../../support/http.ts';
import { MemoryServer } from '../support/memory-link.ts';

describe('fleet/gateway: requests over HTTP', () => {
  let server: Server;
  let port: number;
  const ends: number[] = [];
  const passed: Pick<RoutedRequest, 'method' | 'path' | 'bytes'>[] = [];
  const shard = { name: 'a', first: 0, room: 2, count: 2, epoch: 1, isLost: false, lastSeen: '' };

  before(async () => {
    const view = new FleetView({
      link: new MemoryServer().link(),
      prefix: 'derbench',
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      later: () => () => undefined,
      log: { info: () => undefined, warning: () => undefined },
    });
    const forwarder: ConstructorParameters<typeof ShardRouter>[0] = {
      forward(_shard, { method, path, body }) {
        passed.push({ method, path, bytes: body });
        const headers = { 'X-Own': 'yes' };
        return Promise.resolve({ status: 200, type: 'application/json', headers, bytes: Buffer.from('{"of":"a"}') });
      },
    };
    const app = createGatewayApp({
      view,
      router: new ShardRouter(
        forwarder,
        () => [shard],
        () => 0,
        () => Promise.reject(new Error('there is no leader')),
      ),
      eventLoop: { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0 },
      info: { version: '1.2.3', apiVersion: '1.0.0', buildId: 'build', startedAtMs: 0 },
      guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] },
      limits: defaultApiLimits,
      nowMs: () => 5000,
      isStopping: () => false,
      logs: new FleetLog(),
      metrics: { text: () => Promise.resolve('# EOF\n') },
      stream: () => null,
      beginStop: (delayS) => ({
        delayS,
        afterwards() {
          ends.push(delayS);
        },
      }),
      log: { error: () => undefined },
      isPlain: false,
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close());
  beforeEach(() => {
    passed.length = 0;
  });

  const answer = async (path: string, options: Parameters<typeof ask>[2] = {}) => {
    const { status, json } = await ask(port, path, options);
    return [status, json.code] as const;
  };

  it('of other hosts and origins are refused as by a simulator', async () => {
    const path = '/api/sim/controls/max';
    expect(await answer('/api/sim/fleet', { headers: { Host: 'evil.example' } })).to.deep.equal([
      421,
      'misdirected-host',
    ]);
    const headers = { Origin: 'http://evil.example' };
    expect(await answer(path, { headers, body: {} })).to.deep.equal([403, 'cross-origin']);
    expect(passed).to.have.length(0);
  });

  it('go to the shard as they came, and its answer comes back as it is', async () => {
    const body = '{"limit_pct": 50.0}';
    const reply = await ask(port, '/api/sim/grid-support/max-power?device=1', { body });
    expect([reply.status, reply.json, reply.headers['x-own']]).to.deep.equal([200, { of: 'a' }, 'yes']);
    const [request] = passed;
    expect(request).to.include({ method: 'POST', path: '/api/sim/grid-support/max-power?device=1' });
    expect(Buffer.from(request?.bytes ?? []).toString()).to.equal(body);
  });

  it('of a wrong form reach no shard', async () => {
    const body = { limit_pct: 'all' };
    expect(await answer('/api/sim/grid-support/max-power', { body })).to.deep.equal([422, 'validation']);
    expect(await answer('/api/sim/controls?device=many')).to.deep.equal([422, 'validation']);
    expect(passed).to.have.length(0);
  });

  it('that a gateway does not serve get 501, and unknown ones 404 and 405', async () => {
    for (const path of ['/exchange', '/scenarios/draft'])
      expect(await answer(`/api/sim${path}`), path).to.deep.equal([501, 'fleet-unsupported']);
    expect(await answer('/api/sim/nothing')).to.deep.equal([404, 'not-found']);
    const refused = await ask(port, '/api/sim/fleet', { body: {} });
    expect([refused.status, refused.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
    expect(await answer('/api/sim/fleet/shards/c')).to.deep.equal([404, 'unknown-resource']);
  });

  it('to stop end the gateway once they are answered, and with the scope fleet the shards before', async () => {
    const alone = await ask(port, '/api/sim/stop', { body: { delay_s: 2 } });
    expect([alone.status, alone.json, passed.length]).to.deep.equal([202, { state: 'stopping', delay_s: 2 }, 0]);
    await ask(port, '/api/sim/stop', { body: { scope: 'fleet' } });
    expect(passed.map(({ method, path }) => [method, path])).to.deep.equal([['POST', '/api/sim/stop']]);
    await ask(port, '/api/sim/fleet/shards/a/stop', { body: { reason: 'test' } });
    expect(passed.at(-1)).to.include({ method: 'POST', path: '/api/sim/stop' });
    expect(await answer('/api/sim/fleet/shards/c/stop', { body: {} })).to.deep.equal([404, 'unknown-resource']);
    while (ends.length < 2) await yieldToLoop();
    expect(ends).to.deep.equal([2, 0]);
  });

  it('about the process have its own answers', async () => {
    expect((await ask(port, '/api/sim/server-info')).json).to.include({
      role: 'gateway',
      uptime_s: 5,
      version: '1.2.3',
    });
    expect((await ask(port, '/')).headers['content-type']).to.contain('text/html');
  });
});
