/** Every operation with the example of its description, in an order in which they can be carried out on `site`. */
import { allRoutes } from '../../src/api/routes.ts';
import { hasBody } from '../../src/api/http/route.ts';
import type { Route } from '../../src/api/http/route.ts';
import { examplesOf } from '../../src/api/description/openapi.ts';
import { examples } from '../support/examples.ts';
import { modbusEndpoint } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { index, site } from './provenance-support.ts';

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

/** A request of an example. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Queries of operations that need one. */
const queries: Readonly<Record<string, string>> = { get_scenario_text: '?bundled=freq-droop' };

/** The example of an operation as a request. */
export function requestOf(route: Route): Asked {
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

/** The client of a simulator reads a device of its own: two simulators are alike then. They share no port. */
export function bodyFor({ app }: RunningApp, { path, body }: Asked): unknown {
  if (path.startsWith('/sunspec-client/connect')) return { ...(body as object), port: modbusEndpoint(app, 0).port };
  if (path.startsWith('/exchange/')) return { ...(body as object), session: app.plant.exchange.now?.session };
  return path === '/dnp3/enable' ? { ...(body as object), dnp3_port: 0 } : body;
}

const connector = '/evse/SIM-CP-1/connectors/1';
const step = ['/controls/time/step', { ticks: 2 }] as const;
const plug = [`${connector}/plug`, { ev_side: true, evse_side: true }] as const;

/** Requests that bring a device into a state in which the example is carried out. */
export const earlierRequests: Readonly<Record<string, readonly (readonly [path: string, body: object])[]>> = {
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

/** They end what other operations need; polling begins when the client has no device, so that no round is counted. */
const switches = ['modbus', 'csip', 'ocpp', 'dnp3'].flatMap((name) => [`enable_${name}`, `disable_${name}`]);
const lastOnes = ['disconnect_sunspec_client', 'set_client_poll', ...switches, 'stop_simulator'];
const place = ({ operationId }: Route) => lastOnes.indexOf(operationId);
export const routesInOrder = [...allRoutes].sort((a, b) => place(a) - place(b));

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
/** Status of the answer of a simulator to the example. */
export const statusOf = ({ method, path, operationId, status }: Route) =>
  refusals[operationId] ??
  (!switches.includes(operationId) && method !== 'get' && /^\/(csip|ocpp|dnp3)\//.test(path) ? 409 : status);
