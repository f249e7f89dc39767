/** Every operation with its example, over HTTP and without, on two equal simulators. */
import { expect } from 'chai';
import { checkRequest } from '../../../src/app/scenarios/checks.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { apiPrefix, hasBody } from '../../../src/api/http/route.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { examples } from '../../support/examples.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { HandWall } from '../../support/wall.ts';
import { index, site } from '../provenance-support.ts';
import { examplesOf } from '../../../src/api/description/openapi.ts';

const peer = '127.0.0.1:50123';

/** The device that has a path, where the first one, a PV device, does not. */
const deviceOf: readonly (readonly [prefix: string, device: number])[] = [
  ['/battery', index.battery],
  ['/controls/battery', index.battery],
  ['/wind', index.wind],
  ['/fuelcell', index.fuelCell],
  ['/hybrid-dc', index.hybrid],
  ['/evse/der-controls', index.evse],
];

/** Parameters of paths, by the whole path, with its method where it matters, or by their names. */
const parameters: Readonly<Record<string, string>> = {
  '/devices/{index}/remove': String(site.length),
  'delete /devices/{index}': String(site.length + 1),
  '/devices/{index}': String(site.length),
  '/commands/{id}': '1',
  // of the example before
  '/controls/holds/{id}/end': 'peak-1',
  '/findings/rules/{id}': 'modbus.write_read_only',
  '/findings/waivers/{id}': '1',
  '{id}': 'SIM-CP-1',
  '{cid}': '1',
  ...Object.fromEntries(['', '/start', '/stop', '/report'].map((end) => [`/scenarios/{id}${end}`, '1'])),
  '{run}': '1',
  ...Object.fromEntries(['', '/rows'].map((end) => [`/captures/{id}${end}`, '1'])),
  '/certificates/{name}': 'utility-root',
  '/site/registers/{model_id}': '203',
  '{model_id}': '704',
  '{mrid}': 'A1',
};

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Queries of operations that need one. */
const queries: Readonly<Record<string, string>> = { get_scenario_text: '?bundled=freq-droop' };

function requestOf(route: Route): Asked {
  const { method, path } = route;
  const filled = path.replaceAll(
    /\{\w+\}/g,
    (name) => parameters[`${method} ${path}`] ?? parameters[path] ?? parameters[name] ?? name,
  );
  const device = deviceOf.find(([prefix]) => path.startsWith(prefix))?.[1];
  return {
    method: method.toUpperCase(),
    path: device === undefined ? filled + (queries[route.operationId] ?? '') : `${filled}?device=${device}`,
    body: hasBody({ method }) ? (examplesOf(route).body ?? {}) : undefined,
  };
}

const connector = '/evse/SIM-CP-1/connectors/1';
const step = ['/controls/time/step', { ticks: 2 }] as const;
const plug = [`${connector}/plug`, { ev_side: true, evse_side: true }] as const;

/** Requests that bring a device into a state in which the example is carried out. */
const earlierRequests: Readonly<Record<string, readonly (readonly [path: string, body: object])[]>> = {
  get_overview: [step],
  delete_device: [['/devices', examples('add_device').body]],
  // the example of the operation before lets the clock run, and a tick last an hour
  step_time: [['/controls/time', { mode: 'paused', rate: 1 }]],
  start_session: [plug, [`${connector}/stop`, {}]],
  suspend_session: [[`${connector}/unplug`, {}], plug, step],
  lock_cable: [[`${connector}/unlock`, {}]],
  set_vehicle: [[`${connector}/availability`, { operative: true }]],
  reserve_connector: [[`${connector}/unplug`, {}]],
  // the examples of faults slow the answers of the device, and that of local control lets nobody write
  connect_sunspec_client: [
    ['/faults', { clear: true }],
    ['/controls/local', { local: false }],
  ],
};

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

/** They end what other operations need; polling begins when the client has no device, so that no round is counted. */
const switches = ['modbus', 'csip', 'ocpp', 'dnp3'].flatMap((name) => [`enable_${name}`, `disable_${name}`]);
const lastOnes = ['disconnect_sunspec_client', 'set_client_poll', ...switches, 'stop_simulator'];
const place = ({ operationId }: Route) => lastOnes.indexOf(operationId);

/**
 * No connector of this station gives power back, nothing speaks IEEE 2030.5, and no state is kept; all other examples are
 * carried out.
 */
const refusals: Readonly<Record<string, number>> = {
  set_discharge: 409,
  // no gateway of a fleet
  ...Object.fromEntries(
    ['get_fleet', 'get_fleet_map', 'list_shards', 'get_shard', 'stop_shard'].map((id) => [id, 409]),
  ),
  // the clock is paused
  exercise_findings: 409,
  // no peer has sent a request
  get_finding_report: 404,
  get_finding_document: 404,
  get_csip_time: 409,
  get_csip_control: 404,
  get_composite_schedule: 409,
  // without certificates
  enable_csip: 422,
  list_state_snapshots: 409,
  take_state_snapshot: 409,
  restore_state: 409,
  delete_state_snapshot: 409,
};
const statusOf = ({ method, path, operationId, status }: Route) =>
  refusals[operationId] ??
  (!switches.includes(operationId) && method !== 'get' && /^\/(csip|ocpp|dnp3)\//.test(path) ? 409 : status);

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

  /** The client reads a device of its own simulator: both are alike. They share no port. */
  function bodyFor({ app }: RunningApp, { path, body }: Asked): unknown {
    if (path === '/sunspec-client/connect') return { ...(body as object), port: modbusEndpoint(app, 0).port };
    if (path.startsWith('/exchange/')) return { ...(body as object), session: app.plant.exchange.now?.session };
    return path === '/dnp3/enable' ? { ...(body as object), dnp3_port: 0 } : body;
  }

  async function overHttp(asked: Asked) {
    const { method, path } = asked;
    const { status, json, text } = await ask(http.port, apiPrefix + path, { method, body: bodyFor(http, asked) });
    return { status, body: json === undefined ? text : json };
  }
  function inProcess(asked: Asked) {
    const { method, path } = asked;
    return direct.app.api.perform({ method, path, body: bodyFor(direct, asked), by: { source: 'rest', peer } });
  }

  for (const route of [...allRoutes].sort((a, b) => place(a) - place(b))) {
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
