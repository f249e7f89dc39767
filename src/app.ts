/** Composition root: the only file that knows every layer. */
import { errorText } from './core/errors.ts';
import { readFileSync } from 'node:fs';
import { createApi } from './api/http/server.ts';
import type { Api } from './api/http/server.ts';
import { createHistory } from './api/history/history.ts';
import { createRemoteHistory } from './api/history/remote.ts';
import { apiVersion, defaultApiLimits } from './api/http/context.ts';
import type { AppConfig } from './config/settings/app-config.ts';
import { readEvseProfiles } from './config/profile/evse-profiles.ts';
import { readFaultProfiles } from './config/settings/fault-profiles.ts';
import type { Adapter } from './core/adapter.ts';
import { simTimeFromMs, systemClock } from './core/time/clock.ts';
import type { WallClock } from './core/time/clock.ts';
import { EventLoopWatch } from './core/event-loop.ts';
import type { FaultRegistry } from './core/faults/registry.ts';
import { isLoopback } from './core/http/http-guard.ts';
import { hostAndPort } from './core/net/listen.ts';
import { createLogBook } from './core/log/log.ts';
import type { LogBook } from './core/log/log.ts';
import { SimClock, localDateMs } from './core/time/sim-clock.ts';
import { Ticker } from './core/time/ticker.ts';
import { createPlant } from './der/plant/create-plant.ts';
import { parseGridProfile } from './der/surroundings/grid/profile.ts';
import type { SimPlant } from './der/plant/plant.ts';
import { DeviceChanges } from './device-changes.ts';
import { deviceSeriesReader } from './device-series.ts';
import { typesWith } from './device-shapes.ts';
import { createFaultRegistry, createFaultyMaps, followPlant, injectConfigured } from './fault-setup.ts';
import type { SeriesOf } from './device-series.ts';
import { createSunSpecClient } from './sunspec/client/client.ts';
import { createModbusAdapter } from './sunspec/modbus/bridge.ts';
import { createBankDisturber } from './sunspec/modbus/faults/bridge.ts';
import { createSilencer } from './sunspec/modbus/faults/disturber.ts';
import type { ModbusAdapter, ModbusAdapterOptions } from './sunspec/modbus/bridge.ts';
import { createModbusRtuAdapter } from './sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter } from './sunspec/modbus/rtu-bridge.ts';
import { TlsFiles } from './sunspec/modbus/tls/tls-files.ts';
import { createProxyAdapter } from './sunspec/modbus/proxy/bridge.ts';
import type { ProxyAdapter } from './sunspec/modbus/proxy/bridge.ts';
import { createTelemetry } from './ws/telemetry.ts';

export interface AppOptions {
  readonly wall?: WallClock;
  readonly logBook?: LogBook;
  readonly checkReplies?: boolean;
  /** called when `POST stop` asks for the end of the process */
  readonly onStopRequest?: (reason: string) => void;
}

/** A running simulator. */
export interface App {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly api: Api;
  readonly adapters: readonly Adapter[];
  readonly logBook: LogBook;
  /** Binds every listener, then begins to tick. @throws SimError LISTEN_FAILED with nothing left open */
  start(): Promise<Endpoints>;
  /** Ends in order and in bounded time; idempotent. */
  stop(): Promise<void>;
}

export interface Endpoints {
  readonly http: { readonly host: string; readonly port: number };
  /** one line per listener, for people */
  readonly lines: readonly string[];
}

const packageInfo = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
export const version = packageInfo.version;

/** The commit the build was made from, if it was known then. */
function readBuildId(): string {
  try {
    return readFileSync(new URL('./build-id.txt', import.meta.url), 'utf8').trim();
  } catch {
    return `npm-${version}`;
  }
}
const buildId = readBuildId();

function createClock(config: AppConfig, wall: WallClock): SimClock {
  const { followsWall, startsPaused, timezone, startDate, startTime, rate } = config.clock;
  const startMs = followsWall ? wall.nowMs() : localDateMs(startDate, startTime, timezone);
  const mode = followsWall ? 'wall_clock' : startsPaused ? 'paused' : 'accelerated';
  return new SimClock(wall, { mode, rate, timezone }, simTimeFromMs(startMs));
}

function buildPlant(
  config: AppConfig,
  clock: SimClock,
  faults: FaultRegistry,
  seriesOf: SeriesOf,
  wall: WallClock,
  logBook: LogBook,
): SimPlant {
  const { profilePath: gridProfile } = config.grid;
  return createPlant({
    devices: config.devices.map((device) => ({ ...device, series: seriesOf(device) })),
    firstIndex: config.firstDevice,
    clock,
    tickIntervalS: config.tickS,
    nominalHz: config.grid.nominalFrequencyHz,
    seed: config.seed,
    version,
    log: logBook.logger('AC'),
    weatherSource: config.irradianceSource,
    clouds: config.clouds,
    gridProfile: gridProfile === null ? null : parseGridProfile(readFileSync(gridProfile, 'utf8'), gridProfile),
    feeder: config.grid.feeder,
    simModels: config.simModels,
    ...(hasLine(config) && { unitAddressOf: startAddressOf(config) }),
    monotonicMs: () => wall.monotonicMs(),
    faults,
  });
}

/** Whether devices are known by their address, which is a register of theirs then (1.DA). */
function hasLine({ modbus, rtu }: AppConfig): boolean {
  return rtu !== null || (modbus.enabled && modbus.framing === 'rtu_over_tcp');
}

/** On a line or a port in common each device has an address of its own. */
function startAddressOf({ modbus, rtu }: AppConfig): (index: number) => number {
  return rtu !== null || modbus.sharedPort ? (index) => 1 + index : () => 1;
}

/** What stands between devices and their masters. */
type Between = Pick<ModbusAdapterOptions, 'disturber' | 'faultyMaps'>;

function buildRtu(
  { rtu }: AppConfig,
  plant: SimPlant,
  between: Between,
  wall: WallClock,
  logBook: LogBook,
): ModbusRtuAdapter[] {
  if (rtu === null) return [];
  const { port: path, baud: baudRate, parity, stopBits } = rtu;
  return [
    createModbusRtuAdapter({
      devices: plant.devices,
      line: { path, baudRate, parity, stopBits },
      ...between,
      clock: wall,
      logger: logBook.logger('Modbus'),
    }),
  ];
}

function buildModbus(
  config: AppConfig,
  plant: SimPlant,
  between: Between,
  wall: WallClock,
  logBook: LogBook,
): ModbusAdapter[] {
  const { modbus } = config;
  if (!modbus.enabled) return [];
  return [
    createModbusAdapter({
      devices: plant.devices,
      host: modbus.host,
      port: modbus.port,
      sharedPort: modbus.sharedPort,
      ...between,
      clock: wall,
      logger: logBook.logger('Modbus'),
      framing: modbus.framing === 'rtu_over_tcp' ? 'rtu' : 'mbap',
      ...(modbus.foreignUnit !== null && { foreignUnit: modbus.foreignUnit }),
      ...(modbus.tls !== null && {
        tlsFiles: new TlsFiles({ settings: modbus.tls, clock: wall, logger: logBook.logger('Modbus') }),
      }),
      limits: {
        maxConnections: modbus.maxConnections,
        idleTimeoutMs: modbus.idleTimeoutS * 1000,
        frameTimeoutMs: modbus.frameTimeoutS * 1000,
      },
    }),
  ];
}

function buildProxy(config: AppConfig, plant: SimPlant, wall: WallClock, logBook: LogBook): ProxyAdapter[] {
  const { proxy, modbus } = config;
  if (proxy === null) return [];
  return [
    createProxyAdapter({
      ...proxy,
      devices: plant.devices,
      disturber: createSilencer(plant.silentDevices),
      clock: wall,
      logger: logBook.logger('Modbus'),
      typesWith: (passes) => typesWith(config, passes),
      limits: {
        maxConnections: modbus.maxConnections,
        idleTimeoutMs: modbus.idleTimeoutS * 1000,
        frameTimeoutMs: modbus.frameTimeoutS * 1000,
      },
    }),
  ];
}

function exposureWarnings(config: AppConfig): string[] {
  const hosts = [
    { what: 'the HTTP interface', host: config.web.host },
    ...(config.modbus.enabled && config.modbus.tls === null ? [{ what: 'Modbus', host: config.modbus.host }] : []),
    ...(config.proxy === null ? [] : [{ what: 'the Modbus proxy', host: config.proxy.host }]),
  ];
  return hosts
    .filter(({ host }) => !isLoopback(host))
    .map(
      ({ what, host }) =>
        `${what} listens on ${host} without authentication: anybody who can reach this address controls the simulator`,
    );
}

/**
 * Builds a simulator; nothing is bound yet.
 * @throws SimError CONFIG_INVALID for profiles, series, a proxy map or certificates that do not fit, and for faults that fit no device
 */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  const wall = options.wall ?? systemClock;
  const logBook = options.logBook ?? createLogBook({ level: config.log.level, format: config.log.format, clock: wall });
  const log = logBook.logger('Lab');
  const eventLoop = new EventLoopWatch({ log });
  const seriesOf = deviceSeriesReader(config);
  const clock = createClock(config, wall);
  const faults = createFaultRegistry({ wall, sim: () => clock.sim(), seed: config.seed, log, plant: () => plant });
  const plant = buildPlant(config, clock, faults, seriesOf, wall, logBook);
  followPlant(faults, plant);
  const proxy = buildProxy(config, plant, wall, logBook);
  const faultyMaps = createFaultyMaps(faults, plant, wall, logBook.logger('Modbus'));
  const between = {
    disturber: createBankDisturber({
      registry: faults,
      maps: faultyMaps,
      silent: plant.silentDevices,
      devices: () => plant.devices,
    }),
    faultyMaps,
  };
  const modbus = [
    ...buildModbus(config, plant, between, wall, logBook),
    ...buildRtu(config, plant, between, wall, logBook),
    ...proxy,
  ];
  injectConfigured(faults, config, plant, log);
  const changes = new DeviceChanges({ plant, servers: modbus, deviceOf: config.deviceOf, seriesOf, log });
  const guard = { host: config.web.host, allowedHosts: config.web.allowedHosts, corsOrigins: config.web.corsOrigins };
  const sunspecClient = createSunSpecClient({ clock: wall, logger: logBook.logger('Modbus'), seed: config.seed });
  const adapters: Adapter[] = [...modbus, sunspecClient];
  const api = createApi(
    {
      plant,
      faults,
      history: createHistory(plant, { samplesPerDevice: config.historySamples }),
      adapters,
      logBook,
      eventLoop,
      clock: wall,
      evseProfiles: readEvseProfiles(),
      faultProfiles: readFaultProfiles(),
      sunspecClient,
      remoteHistory: createRemoteHistory(sunspecClient, config.historySamples),
      info: { version, apiVersion, buildId, startedAtMs: wall.nowMs() },
      config: {
        ...guard,
        port: config.web.port,
        limits: { ...defaultApiLimits, maxConnections: config.web.maxConnections + config.web.maxStreamClients },
      },
      addDevice: (entry, by) => changes.add(entry, by),
      removeDevice: (index, by) => changes.remove(index, by),
      requestStop(reason, delayS) {
        log.info(`stopping in ${delayS} s: ${reason}`);
        setTimeout(() => options.onStopRequest?.(reason), delayS * 1000).unref();
      },
    },
    { checkReplies: options.checkReplies ?? false },
  );
  const telemetry = createTelemetry({
    plant,
    server: api.server,
    guard,
    clock: wall,
    logger: logBook.logger('WS'),
    stopping: () => api.stopping,
    options: { maxClients: config.web.maxStreamClients },
  });
  adapters.push(telemetry);
  const ticker = new Ticker({
    intervalMs: config.tickS * 1000,
    wall,
    tick: async (slots) => {
      try {
        await plant.tick(slots);
      } finally {
        plant.skippedTicks = ticker.skipped;
      }
    },
  });
  let stopping: Promise<void> | null = null;

  /** Part by part: one that fails must not keep the others open. */
  async function ended(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      log.error(`${what} did not end in order: ${errorText(error)}`);
    }
  }

  async function stop(): Promise<void> {
    plant.end();
    // from here on nobody new is served; answers under way may finish
    const http = api.stop();
    // its answers are ones that HTTP waits for
    await ended('the SunSpec client', sunspecClient.stop());
    await ended('the tick', ticker.stop());
    await ended('a change of the devices', changes.settled());
    plant.commands.cancelAll();
    await ended('the stream', telemetry.stop());
    await Promise.all(modbus.map((adapter) => ended(adapter.module, adapter.stop())));
    await ended('HTTP', http);
    faults.close();
    eventLoop.stop();
    log.info('stopped');
    logBook.flush();
  }

  return {
    plant,
    faults,
    api,
    adapters,
    logBook,
    async start() {
      for (const warning of [...exposureWarnings(config), ...config.unused]) log.warning(warning);
      try {
        for (const adapter of modbus) await adapter.start();
        await telemetry.start();
        const http = await api.start();
        ticker.start();
        eventLoop.start();
        log.info(
          `derbench ${version} runs with ${plant.devices.length} device${plant.devices.length === 1 ? '' : 's'}`,
        );
        return { http, lines: describe(http, config, adapters, plant) };
      } catch (error) {
        await this.stop();
        throw error;
      }
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** What follows the first port: nothing, `..last` for a row of neighbours, or a list. */
function portList(ports: readonly number[]): string {
  const [first = 0] = ports;
  const last = ports.at(-1) ?? first;
  if (ports.every((port) => port === first)) return '';
  if (ports.every((port, i) => port === first + i)) return `..${last}`;
  const shown = ports.slice(1, 20).join(', ');
  return `, ${shown}${ports.length > 20 ? `, ... (${ports.length} ports, see GET /api/sim/devices)` : ''}`;
}

function describe(
  http: { host: string; port: number },
  config: AppConfig,
  adapters: readonly Adapter[],
  plant: SimPlant,
): string[] {
  const web = hostAndPort(http.host, http.port);
  const first = plant.devices[0];
  const last = plant.devices.at(-1);
  const lines = [
    `HTTP      http://${web}/          (API browser http://${web}/docs)`,
    `Telemetry ws://${web}/api/sim/ws/telemetry`,
  ];
  for (const adapter of adapters) {
    const from = first && adapter.endpointOf?.(first.index);
    const to = last && adapter.endpointOf?.(last.index);
    if (adapter.comm === 'modbus_proxy') {
      const { endpoint, detail } = adapter.status();
      lines.push(`Proxy     ${endpoint?.replace('tcp://', '') ?? ''} (${detail ?? ''})`);
    }
    if (!from || !to) continue;
    const units = from.unitId === to.unitId ? `unit ${from.unitId}` : `units ${from.unitId}..${to.unitId}`;
    if (adapter.comm === 'modbus_rtu') {
      lines.push(`RTU       ${from.host} (${adapter.status().detail ?? ''}, ${units}, SunSpec base 40000)`);
      continue;
    }
    const ports = portList(plant.devices.map((device) => adapter.endpointOf?.(device.index)?.port ?? 0));
    lines.push(
      `${adapter.module.padEnd(9)} ${hostAndPort(from.host, from.port)}${ports} (${from.tls ? 'TLS, ' : ''}${units}, SunSpec base 40000)`,
    );
  }
  const paused = config.clock.startsPaused ? 'the clock is paused; ' : '';
  lines.push(
    `${plant.devices.length} device${plant.devices.length === 1 ? '' : 's'}, tick ${config.tickS} s; ${paused}nothing is kept over a restart`,
  );
  return lines;
}
