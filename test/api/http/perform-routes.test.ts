/** Every operation with its example, over HTTP and without, on two equal simulators. */
import { expect } from 'chai';
import { checkRequest } from '../../../src/app/scenarios/checks.ts';
import { apiPrefix } from '../../../src/api/http/route.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { HandWall } from '../../support/wall.ts';
import { bodyFor, earlierRequests, requestOf, routesInOrder, statusOf } from '../example-requests.ts';
import type { Asked } from '../example-requests.ts';
import { site } from '../provenance-support.ts';

const peer = '127.0.0.1:50123';

/** A reply without what differs between two processes: ports, ids of requests, and what measures this machine. */
function comparable({ operationId }: Route, body: unknown): Json {
  // requests over HTTP and the process are counted
  if (operationId === 'get_metrics')
    return String(body)
      .split('\n')
      .filter((line) => line.startsWith('derbench_') && !/_http_|_seconds|_process/.test(line))
      .map((line) => line.split(' ')[0]);
  const text = JSON.stringify(body)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\d+ to \d+/g, 'PORTS')
    .replaceAll(/(\\?"port\\?":)\d+/g, (_match, name: string) => `${name}0`)
    // certificates of new keys
    .replaceAll(/"(serial|lfdi|sfdi)":"[0-9A-F]+"/g, '"$1":""')
    .replaceAll(/"(\w*(?:latency|duration|p99|p50|uptime)\w*)":[\d.]+/g, '"$1":0');
  if (operationId !== 'get_logs') return JSON.parse(text);
  // over HTTP a request is logged when its answer has left, which may be after the next request; how many lines are left out
  // depends on real time
  const { logs, ...others } = JSON.parse(text) as { readonly logs: readonly Json[] };
  const lines = logs.filter(({ message }) => !/more lines? about/.test(message));
  return { ...others, count: null, logs: lines.map((line) => ({ ...line, id: null, timestamp: null })) };
}

// some examples step two simulators of six devices through minutes
describe('every operation, with its example', function () {
  this.timeout(60_000);
  let http: RunningApp;
  let direct: RunningApp;
  before(async () => {
    // no tick comes by itself while an example lets the clock run
    const start = () => startApp(site, ['--tick', '60', '--meter_unit', '240'], { wall: new HandWall() });
    [http, direct] = [await start(), await start()];
  });
  after(async () => {
    await http.app.stop();
    await direct.app.stop();
  });

  async function overHttp(asked: Asked) {
    const { method, path } = asked;
    const { status, json, text } = await ask(http.port, apiPrefix + path, { method, body: bodyFor(http, asked) });
    return { status, body: json === undefined ? text : json };
  }
  function inProcess(asked: Asked) {
    const { method, path } = asked;
    return direct.app.api.perform({ method, path, body: bodyFor(direct, asked), by: { source: 'rest', peer } });
  }

  for (const route of routesInOrder) {
    it(`${route.operationId} answers the same as over HTTP`, async () => {
      for (const [path, body] of earlierRequests[route.operationId] ?? []) {
        const earlier = { method: 'POST', path, body };
        const statuses = [await overHttp(earlier), await inProcess(earlier)].map(({ status }) => status);
        for (const status of statuses) expect(status, path).to.be.within(200, 201);
      }
      const asked = requestOf(route);
      expect(checkRequest(asked)).to.equal(null);
      const [there, here] = [await overHttp(asked), await inProcess(asked)];
      const status = statusOf(route);
      expect([there.status, here.status], JSON.stringify(here.body)).to.deep.equal([status, status]);
      expect(comparable(route, here.body)).to.deep.equal(comparable(route, there.body));
    });
  }
});
