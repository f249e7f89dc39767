/** A site with a device of each kind, made from the examples of one. */
import type { Asked, Daemon } from './daemon.ts';
import type { Json } from './description.ts';

export const kinds = ['pv', 'battery', 'wind', 'fuelcell', 'hybrid-dc', 'evse'] as const;

/** `GET overview` in the variant of the daemon: lists of the site may be empty, but its devices are there. */
function overviewOf(daemon: Daemon): Json {
  const overview = daemon.replyOf('GET', 'overview');
  const device = overview.devices[0] ?? daemon.exampleOf('GET', 'overview').devices[0];
  const devices = kinds.map((kind, index) => ({
    ...device,
    device_index: index,
    name: `Device ${kind}`,
    asset_type: kind,
    charge_point_id: kind === 'evse' ? 'CP-5' : null,
  }));
  return { ...overview, devices };
}

/** `GET history` in columns, the form that the page asks for; the example of the description has samples. */
function historyOf(daemon: Daemon, { query }: Asked): Json {
  const { samples, ...reply } = daemon.exampleOf('GET', 'history');
  const [sample] = samples;
  const metrics = query['metrics']?.split(',') ?? [
    'power_kw',
    'reactive_power_kvar',
    'voltage_ln_v',
    'frequency_hz',
    'limit_kw',
    'possible_kw',
  ];
  const count = daemon.variant === 'empty' ? 0 : 2;
  const column = (valueOf: (index: number) => Json) => Array.from({ length: count }, (_none, index) => valueOf(index));
  const valueOf = (name: string) => (daemon.variant === 'nulls' ? null : (sample[name] ?? 1));
  const columns = {
    timestamp: column((index) => `2026-06-21T12:00:0${index}.000Z`),
    tick: column((index) => index + 1),
    ...Object.fromEntries(metrics.map((name) => [name, column(() => valueOf(name))])),
  };
  return { ...reply, metrics, count, columns };
}

/** Lets the daemon answer for the site. */
export function answerForSite(daemon: Daemon): void {
  daemon.on('GET overview', () => overviewOf(daemon)).on('GET history', (asked) => historyOf(daemon, asked));
}

/** Telemetry of each device of the site. */
export function telemetryOf(daemon: Daemon, tick = 1): readonly Json[] {
  const [snapshot] = daemon.exampleOf('GET', 'devices').devices;
  return kinds.map((kind, index) => ({ ...snapshot, tick, device_index: index, asset_type: kind }));
}
