/** Issues of the ports of listeners: two listeners on one port, and rows of ports that end beyond the highest one. */
import { defaultProxyPort } from '../../contract/modbus-report.ts';
import type { Issue } from '../../core/errors.ts';
import { addressesMeet } from '../../core/net/listen.ts';
import { dnp3PortOf, modbusPortOf } from '../../contract/device-protocols.ts';
import type { DevicePlace } from './place-issues.ts';
import { isGiven, issueNameOf } from '../layers/gather.ts';
import { countsFromOf } from '../layers/places.ts';
import type { Gathered } from '../layers/gather.ts';
import type { AppConfig } from '../settings/app-config.ts';
import { isOpened, listeners } from '../settings/listeners.ts';
import type { Listener } from '../settings/listeners.ts';

const maxPort = 65535;

/** The fixed ports of a listener. */
interface Ports {
  readonly listener: Listener;
  readonly first: number;
  readonly last: number;
}

/** The run that the issues are about. */
interface Run {
  readonly gathered: Gathered;
  readonly devices: readonly DevicePlace[];
  /** null: no proxy, or its map cannot be read */
  readonly proxy: AppConfig['proxy'];
}

/** Port of a proxy without `proxy_port`. */
function mapPort(proxy: AppConfig['proxy']): number {
  const { port } = (proxy?.map ?? {}) as { readonly port?: unknown };
  return typeof port === 'number' ? port : defaultProxyPort;
}

/** The fixed ports of a listener, in runs. */
function portsOf({ gathered: { values }, devices, proxy }: Run, listener: Listener): Ports[] {
  if (!isOpened(listener, (key) => values[key]) || (listener.port === 'proxy_port' && proxy === null)) return [];
  const base = values[listener.port] ?? mapPort(proxy);
  if (listener.row === undefined || values[listener.row.shared])
    return base === 0 ? [] : [{ listener, first: base, last: base }];
  const { port } = listener;
  const countsFrom = countsFromOf(values);
  const portOf = (device: DevicePlace) =>
    port === 'dnp3_port'
      ? dnp3PortOf({ port: base, countsFrom }, device)
      : modbusPortOf({ port: base, countsFrom }, device);
  const ports = devices.map(portOf).filter((each) => each !== 0);
  const runs: { listener: Listener; first: number; last: number }[] = [];
  for (const each of ports.sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && each <= run.last + 1) run.last = each;
    else runs.push({ listener, first: each, last: each });
  }
  return runs;
}

function overlapIssue({ gathered }: Run, named: Ports, other: Ports): Issue {
  const { values, originOf } = gathered;
  const { port } = named.listener;
  const value = values[port];
  const origin =
    value === null
      ? `${named.first} of the proxy map`
      : isGiven(gathered, port)
        ? `given ${value}`
        : `${value} by default`;
  const [from, to] = [Math.max(named.first, other.first), Math.min(named.last, other.last)];
  const user = values[other.listener.port] === null ? 'the proxy map' : originOf(other.listener.port);
  const use =
    named.first === named.last
      ? `which ${user} uses`
      : `for ports ${named.first} to ${named.last}, of which ${user} uses ${from === to ? from : `${from} to ${to}`}`;
  return { name: issueNameOf(gathered, port), detail: `${origin}, ${use}; allowed: another port` };
}

/** The issue of two listeners; null: they can be open side by side. */
function pairIssue(run: Run, earlier: Ports, later: Ports): Issue | null {
  const { gathered } = run;
  const { values } = gathered;
  if (earlier.listener === later.listener) return null;
  if (earlier.first > later.last || later.first > earlier.last) return null;
  if (!addressesMeet(values[earlier.listener.host], values[later.listener.host])) return null;
  // a default is no mistake of the user
  const isOther = isGiven(gathered, earlier.listener.port) && !isGiven(gathered, later.listener.port);
  return isOther ? overlapIssue(run, earlier, later) : overlapIssue(run, later, earlier);
}

/** A further way out for a process whose devices begin far behind index 0. */
const countsFromShard = ({ values }: Gathered) =>
  values.first_device > 0 && countsFromOf(values) === 0 ? ', or port_base shard' : '';

/** The issue of a row that ends beyond the highest port. */
function rowIssues({ gathered }: Run, { listener, last }: Ports): Issue[] {
  if (listener.row === undefined || last <= maxPort) return [];
  const { owner, shared } = listener.row;
  const detail =
    `given ${gathered.values[listener.port]}, so that the last ${owner} would be on port ${last}; ` +
    `allowed: a last port up to ${maxPort}, 0, or ${shared}${countsFromShard(gathered)}`;
  return [{ name: issueNameOf(gathered, listener.port), detail }];
}

/**
 * Issues of all listeners, in the order of the table: each pair with a port in common on addresses that meet.
 * @param devices of an invalid one its place by default @param proxy null: no proxy, or its map cannot be read
 */
export function portIssues(gathered: Gathered, devices: readonly DevicePlace[], proxy: AppConfig['proxy']): Issue[] {
  const run = { gathered, devices, proxy };
  const all = listeners.flatMap((listener) => portsOf(run, listener));
  return all.flatMap((later, at) => [
    ...rowIssues(run, later),
    ...all.slice(0, at).flatMap((earlier) => pairIssue(run, earlier, later) ?? []),
  ]);
}
