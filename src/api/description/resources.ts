/** Tags by resource, finer than the first tag of each operation: the documentation pages group operations by them. */
import type { tags } from '../http/route.ts';

type Group = (typeof tags)[number];

export interface Resource {
  readonly group: Group;
  readonly name: string;
  readonly description: string;
  /** beginnings of paths below the prefix, of whole segments */
  readonly paths: readonly string[];
}

const resource = (group: Group, name: string, description: string, ...paths: readonly string[]): Resource => ({
  group,
  name,
  description,
  paths,
});

/** An operation belongs to the first resource that matches. */
export const resources: readonly Resource[] = [
  resource(
    'Core',
    'Simulator',
    'Version, health, overview and metrics of the process.',
    '/server-info',
    '/health',
    '/overview',
    '/metrics',
  ),
  resource('Core', 'Devices', 'Telemetry of the devices; adding and removing them.', '/devices'),
  resource('Core', 'Timeline and attention', 'What changed, and what needs attention now.', '/timeline', '/attention'),
  resource('Core', 'History and logs', 'Samples of past ticks, and lines of the log.', '/history', '/logs'),
  resource('Core', 'Scenarios', 'Test runs: steps, assertions and their results.', '/scenarios', '/scenario-runs'),
  resource(
    'Core',
    'Consistency',
    'Values of a device in each protocol side by side, and whether the device did what an answer confirmed.',
    '/consistency',
    '/answers',
    '/evidence',
  ),
  resource(
    'Core',
    'Findings',
    'What the other side of each protocol did wrong, what it did right, and what never came up.',
    '/findings',
  ),
  resource('Core', 'Commands', 'Operator commands: start, stop, reset.', '/commands'),
  resource('Core', 'Registers', 'The SunSpec register map of a device, decoded and raw.', '/registers'),
  resource('Core', 'Modbus', 'Connections and messages of Modbus.', '/modbus'),
  resource('Core', 'Recorder', 'All wire traffic of the process, and its download.', '/recorder'),
  resource(
    'Core',
    'Settings',
    'Settings of the process, changes while it runs, and the lab as a configuration.',
    '/settings',
    '/config',
  ),
  resource('Core', 'State', 'The state folder, and named snapshots of the whole simulator.', '/state'),
  resource('Core', 'Energy', 'Energies of the site and of devices, today and since the start.', '/energy'),
  resource('Core', 'Certificates', 'Certificates by name, and test hierarchies.', '/certificates'),
  resource('Core', 'Telemetry stream', 'Clients of the WebSocket stream.', '/ws', '/stream', '/websocket'),
  resource('Core', 'Fleet', 'Shards of a fleet, at its gateway.', '/fleet'),
  resource('Controls', 'Shutdown', 'Ends the process, or a shard of a fleet.', '/stop', '/fleet'),
  resource('Controls', 'Clock', 'The simulated clock: mode, rate, time of day, steps.', '/controls/time'),
  resource(
    'Controls',
    'Grid',
    'Voltage and frequency of the grid, and named events.',
    '/controls/grid',
    '/grid-events',
  ),
  resource(
    'Controls',
    'Environment',
    'Irradiance, temperatures, load and shading.',
    '/controls/environment',
    '/controls/shading',
  ),
  resource('Controls', 'Connection point', 'Powers, limits and the meter of the site.', '/site'),
  resource('Controls', 'Holds', 'Timed controls: points that are set for a time.', '/controls/holds'),
  resource('Controls', 'Faults', 'Faults that are injected on purpose, and their kinds.', '/faults', '/modbus/fault'),
  resource('Controls', 'Nameplate', 'Identity, ratings and settings of a device.', '/nameplate'),
  resource('Controls', 'Device controls', 'Modes, slopes and the local switch of a device.', '/controls'),
  resource(
    'Grid Support',
    'Curves',
    'Functions with curves: volt-var, volt-watt, watt-var.',
    '/grid-support/volt-var',
    '/grid-support/volt-watt',
    '/grid-support/watt-var',
  ),
  resource(
    'Grid Support',
    'Power set-points',
    'Power factor, reactive power, limit and set-point of active power, frequency droop, ramps.',
    '/grid-support/freq-droop',
    '/grid-support/pf',
    '/grid-support/constant-var',
    '/grid-support/max-power',
    '/grid-support/active-power',
    '/grid-support/ramp',
  ),
  resource(
    'Grid Support',
    'Trip and ride-through',
    'Trip curves, ride-through regions, entering service, anti-islanding.',
    '/grid-support/enter-service',
    '/grid-support/lv-trip',
    '/grid-support/hv-trip',
    '/grid-support/lf-trip',
    '/grid-support/hf-trip',
    '/grid-support/anti-islanding',
    '/grid-support/regions',
  ),
  resource('Grid Support', 'Captures', 'Disturbances in sub-steps, and what each device did.', '/captures'),
  resource(
    'Grid Support',
    'All functions',
    'All grid-support functions together, stored sets, and why the power is what it is.',
    '/grid-support',
  ),
  resource(
    'EVSE / OCPP',
    'Connectors',
    'Plugs, sessions, limits and vehicles of a connector.',
    '/evse/{id}/connectors',
  ),
  resource('EVSE / OCPP', 'Charging stations', 'Stations, their sessions and grid support.', '/evse'),
  resource('EVSE / OCPP', 'OCPP', 'Charge points as clients of a central system.', '/ocpp'),
  resource(
    'CSIP Client',
    'CSIP connection',
    'Connection, settings, certificates and clock of the client of IEEE 2030.5.',
    '/csip-client',
    '/csip/status',
    '/csip/config',
    '/csip/connect',
    '/csip/disconnect',
    '/csip/enable',
    '/csip/disable',
    '/csip/reconnect',
    '/csip/rediscover',
    '/csip/poll',
    '/csip/communication',
    '/csip/certificates',
    '/csip/http-probe',
    '/csip/discover',
    '/csip/diagnostics',
    '/csip/time',
  ),
  resource(
    'CSIP Client',
    'CSIP programs and events',
    'EndDevices, programs, events, curves and responses.',
    '/csip/end-devices',
    '/csip/programs',
    '/csip/controls',
    '/csip/curves',
    '/csip/responses',
  ),
  resource(
    'CSIP Client',
    'CSIP reports and messages',
    'Reports that the client sends by itself, subscriptions, and messages on the wire.',
    '/csip',
  ),
];

/** The resource of an operation; undefined where its first tag is fine enough. */
export function resourceOf({ tag, path }: { readonly tag: string; readonly path: string }): Resource | undefined {
  return resources.find(
    ({ group, paths }) => group === tag && paths.some((start) => path === start || path.startsWith(`${start}/`)),
  );
}
