/** Every operation of the description with its example, through a gateway to two simulators. */
import { expect } from 'chai';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { partlySchema, partlyStatus } from '../../../src/api/description/partly.ts';
import { problemSchema } from '../../../src/api/common/schemas.ts';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import { apiPrefix } from '../../../src/api/http/route.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { createLogBook, silentLogger } from '../../../src/core/log/log.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import { clockKey, encodedRecord } from '../../../src/fleet/clock/record.ts';
import { Forwarder } from '../../../src/fleet/gateway/forward.ts';
import { FleetLead } from '../../../src/fleet/gateway/lead.ts';
import { FleetLog } from '../../../src/fleet/gateway/logs.ts';
import { ShardRouter } from '../../../src/fleet/gateway/router.ts';
import { ruleOf } from '../../../src/fleet/gateway/rules.ts';
import { createGatewayApp } from '../../../src/fleet/gateway/serve.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import { FleetMember } from '../../../src/fleet/shard/member.ts';
import { bodyFor, earlierRequests, requestOf, routesInOrder, statusOf } from '../../api/example-requests.ts';
import type { Asked } from '../../api/example-requests.ts';
import { site } from '../../api/provenance-support.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { clockRecord, handTime, quietLog } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { scenariosOf } from '../support/scenarios.ts';
import { shardSettings } from '../support/shard.ts';

const prefix = 'lab';
const atShard = (path: string) => `${path}${path.includes('?') ? '&' : '?'}shard=a`;

/** A request as a client of a gateway makes it: messages and records are those of one shard. */
function atGateway(route: Route, asked: Asked): Asked {
  const { path } = asked;
  switch (ruleOf(route.operationId)?.name) {
    case 'chosen':
      return { ...asked, path: atShard(path) };
    case 'record':
      return { ...asked, path: path.replace(/1$/, 'a%3A1') };
    case 'index':
      // devices that no other example needs
      return { ...asked, path: path.replace(/\d+/, route.operationId === 'delete_device' ? '11' : '10') };
    case 'shard':
    case 'own':
      return { ...asked, path: path.replace('{name}', 'b') };
    default:
      // the clock of the fleet stays paused: no test waits for its slots
      if (route.operationId === 'start_scenario') return { ...asked, body: { pace: 'fast' } };
      return route.operationId === 'set_time' ? { ...asked, body: { mode: 'paused', rate: 60 } } : asked;
  }
}

/** After them no request reaches all shards. */
const lastOnes = ['stop_shard', 'stop_simulator'];

/** Operations whose examples need what only a simulator has: a run beside, or scenarios that it keeps itself. */
const otherStatus: Readonly<Record<string, readonly number[]>> = {
  get_scenario_run: [404],
  stop_scenario_run: [404],
  get_scenario_run_report: [404],
  remove_scenario_run: [404],
  // the run may have ended by itself
  stop_scenario: [200, 409],
};

/** The gateway has answers of its own where a simulator has none. */
function statusAtGateway(route: Route): readonly number[] {
  const rule = ruleOf(route.operationId)?.name;
  if (rule === 'unsupported') return [501];
  return otherStatus[route.operationId] ?? [rule === 'own' || rule === 'shard' ? route.status : statusOf(route)];
}

describe('fleet/gateway: every operation, with its example', function () {
  this.timeout(60_000);
  const { wall, timers } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const link = server.link();
  const view = new FleetView({ link, prefix, clock: wall, later: timers.later, log: quietLog });
  const clocks = { wall, later: timers.later };
  const { perform, scenarios, through } = scenariosOf(clocks);
  const lead = new FleetLead({
    view,
    ...clocks,
    log: silentLogger,
    http: () => '',
    pace: 'hold',
    perform,
    scenarios,
    siteRules: fleetSiteRules,
  });
  const shards: { readonly running: RunningApp; readonly member: FleetMember }[] = [];
  let http: Server;
  let port: number;

  async function join(shard: string, types: readonly string[], first: number): Promise<void> {
    const flags = ['--tick', '60', '--meter_unit', '240', '--first_device', String(first)];
    const running = await startApp(types, flags, { wall, later: timers.later });
    const { app } = running;
    const record = clockRecord({ mode: 'paused', tickS: 60, sim0Us: app.plant.now, startUs: app.plant.now });
    if (shards.length === 0) await server.link().shared.create(clockKey, encodedRecord(record));
    const member = new FleetMember({
      settings: { ...shardSettings, shard },
      plant: app.plant,
      joined: { record, anchors: new Map() },
      logBook: app.logBook,
      log: app.logBook.logger('Lab'),
      clock: wall,
      later: timers.later,
      performBytes: (request) => app.api.performBytes(request),
      traits: { version: '1.0.0', apiVersion: '1.0.0', settings: {} },
      http: () => null,
      ports: () => ({}),
      lost: () => undefined,
      connect: () => Promise.resolve(server.link()),
    });
    await member.open();
    member.startTicks();
    shards.push({ running, member });
  }

  before(async () => {
    wall.advance(10_000);
    await join('a', site, 0);
    await join('b', ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'], 10);
    view.start();
    await lead.start();
    const router = new ShardRouter(
      new Forwarder(link, prefix),
      () => view.places(),
      () => wall.monotonicMs(),
      (request) => lead.answer(request),
    );
    through(router);
    const app = createGatewayApp({
      view,
      router,
      eventLoop: { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0 },
      info: { version: '1.2.3', apiVersion: '1.0.0', buildId: 'build', startedAtMs: 0 },
      guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] },
      limits: defaultApiLimits,
      nowMs: () => wall.nowMs(),
      isStopping: () => false,
      logs: new FleetLog(),
      metrics: { text: () => Promise.resolve('# EOF\n') },
      stream: () => null,
      beginStop: (delayS) => ({ delayS, afterwards: () => undefined }),
      log: createLogBook({ write: () => undefined }).logger('Lab'),
      isPlain: false,
    });
    http = createServer(app).listen(0, '127.0.0.1');
    await once(http, 'listening');
    port = (http.address() as AddressInfo).port;
    while (view.shards.size < 2 || view.source.devices.length < 9) await yieldToLoop();
  });
  after(async () => {
    http.close();
    await lead.stop();
    view.stop();
    for (const { running, member } of shards) {
      await member.close();
      await running.app.stop();
    }
  });

  async function send(asked: Asked) {
    const [first] = shards;
    if (first === undefined) throw new Error('no shard');
    return ask(port, apiPrefix + asked.path, { method: asked.method, body: bodyFor(first.running, asked) });
  }

  for (const route of [...routesInOrder].sort(
    (a, b) => lastOnes.indexOf(a.operationId) - lastOnes.indexOf(b.operationId),
  )) {
    it(`${route.operationId} has an answer that fits the description`, async () => {
      for (const [path, body] of earlierRequests[route.operationId] ?? [])
        await send({ method: 'POST', path: path === '/faults' ? atShard(path) : path, body });
      const reply = await send(atGateway(route, requestOf(route)));
      expect(statusAtGateway(route), reply.text).to.include(reply.status);
      const type = reply.headers['content-type'] ?? '';
      if (type === 'application/problem+json') problemSchema().parse(reply.json);
      else if (type === 'application/json') route.reply.parse(reply.json);
      else expect([route.media, ...(route.otherMedia ?? [])]).to.include(type.split(';')[0]);
    });
  }

  it('set_grid has status 207, as described, once a shard is stopping', async () => {
    const route = routesInOrder.find(({ operationId }) => operationId === 'set_grid');
    if (route === undefined) throw new Error('no such operation');
    const { status, json, text } = await send(requestOf(route));
    expect(status, text).to.equal(partlyStatus);
    partlySchema(route.reply).parse(json);
    expect([json.applied, json.failed.map(({ shard }: Json) => shard)]).to.deep.equal([['a'], ['b']]);
  });
});
