/** Composition root: builds the parts of a simulator, starts them in order and stops them in order. */
import { readFileSync } from 'node:fs';
import type { AdapterContext } from './adapters/context.ts';
import { apiVersion } from '../api/http/context.ts';
import type { CheckRequest, Perform } from '../api/http/perform.ts';
import type { Api } from '../api/http/server.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { createChargePointIds } from '../contract/charge-point-ids.ts';
import type { Adapter } from '../core/adapter.ts';
import { CommAlarms } from '../core/comm-alarms.ts';
import { errorText } from '../core/errors.ts';
import { EventLoopWatch } from '../core/event-loop.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import { isLoopback } from '../core/http/http-guard.ts';
import { createLogBook } from '../core/log/log.ts';
import type { LogBook, Logger } from '../core/log/log.ts';
import { createMemoryStore } from '../core/store.ts';
import type { Store } from '../core/store.ts';
import { systemClock } from '../core/time/clock.ts';
import type { WallClock } from '../core/time/clock.ts';
import { Ticker } from '../core/time/ticker.ts';
import { packageFile, packageVersion, runsFromBuild } from '../core/package-files.ts';
import { callLater } from '../core/time/timers.ts';
import type { Later } from '../core/time/timers.ts';
import { createModbusMessages } from '../core/wire/modbus-tap.ts';
import { WireLog } from '../core/wire/wire-log.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import { ClockHold, createScenarioHost } from './scenarios/host.ts';
import type { HostParts } from './scenarios/host.ts';
import type { ReportOrigin } from '../scenario/report/document.ts';
import { ScenarioShelf } from './scenarios/kept.ts';
import type { ScenarioHost } from '../scenario/run/host.ts';
import { DeviceChanges, isDeviceServer } from './devices/changes.ts';
import { deviceSeriesReader } from './devices/series.ts';
import { typesWith } from './devices/shapes.ts';
import { createFaultRegistry, followPlant, injectConfigured, joiningFaults } from './faults.ts';
import { createHttp } from './http.ts';
import type { Http } from './http.ts';
import { createClock, createConfiguredPlant, createRemoteClocks } from './devices/plant.ts';
import { composeCsip, csipClientOf } from './adapters/csip.ts';
import type { CsipClient } from '../contract/csip-client.ts';
import type { Dnp3Outstations } from '../contract/dnp3.ts';
import type { OcppStations } from '../contract/ocpp.ts';
import { composeDnp3, dnp3OutstationsOf } from './adapters/dnp3.ts';
import { composeOcpp, ocppStationsOf } from './adapters/ocpp.ts';
import type { Recorder } from '../contract/recorder.ts';
import { createConfiguredRecorder } from './recorder.ts';
import type { RecorderSetup } from './recorder.ts';
import { createSunSpecClient } from '../sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../sunspec/client/client.ts';
import { composeModbus } from './adapters/modbus.ts';

export interface AppOptions {
  readonly wall?: WallClock;
  /** timers of `wall`, for what waits for a remote system */
  readonly later?: Later;
  readonly logBook?: LogBook;
  /** default: one in memory, which ends with the simulator */
  readonly store?: Store;
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
  /** of all messages */
  readonly recorder: Recorder;
  readonly version: string;
  readonly buildId: string;
  /** The simulator as a scenario of this name sees it. */
  scenarioHost(name: string): ScenarioHost;
  /** Binds every listener, then begins to tick. @throws SimError LISTEN_FAILED with nothing left open */
  start(): Promise<Endpoints>;
  /** Stops everything in order and in bounded time; idempotent. */
  stop(): Promise<void>;
}

export interface Endpoints {
  readonly http: { readonly host: string; readonly port: number };
  /** one line per listener, for people */
  readonly lines: readonly string[];
}

export const version = packageVersion();

/** The commit the build was made from, if it was known then and a build runs. */
function readBuildId(): string {
  try {
    if (runsFromBuild) return readFileSync(packageFile('dist/build-id.txt'), 'utf8').trim();
  } catch {
    // sources without git were built
  }
  return `npm-${version}`;
}
const buildId = readBuildId();

/**
 * Builds a simulator; nothing is bound yet.
 * @throws SimError CONFIG_INVALID for profiles, series, a proxy map or certificates that do not fit, and for faults
 * that fit no device
 */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  return new Simulator(config, build(config, options));
}

/** The parts of a simulator. */
interface Parts {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly http: Http;
  /** in the order in which they start; the stream is among them */
  readonly adapters: readonly Adapter[];
  readonly changes: DeviceChanges;
  readonly ticker: Ticker;
  readonly eventLoop: EventLoopWatch;
  readonly logBook: LogBook;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly scenarios: ScenarioShelf;
  readonly scenarioHost: (name: string) => ScenarioHost;
}

function build(config: AppConfig, options: AppOptions): Parts {
  const { wall = systemClock, later = callLater, checkReplies = false } = options;
  const clock = createClock(config, wall);
  const logBook = options.logBook ?? createLogBook({ ...config.log, clock: wall });
  logBook.follow(clock);
  const log = logBook.logger('Lab');
  const { seed, deviceOf } = config;
  const eventLoop = new EventLoopWatch({ log });
  const seriesOf = deviceSeriesReader(config);
  const faults = createFaultRegistry({ wall, sim: () => clock.sim(), seed, log, plant: () => plant });
  const commAlarms = new CommAlarms(() => wall.nowMs());
  const setup = { clock, wall, faults, commAlarms, seriesOf, logBook, version };
  const plant = createConfiguredPlant(config, setup);
  followPlant(faults, plant);
  const wireLog = new WireLog({ clock: wall, sim: () => clock.sim(), log });
  const modbusMessages = createModbusMessages(wireLog);
  const chargePointId = createChargePointIds(plant, config.chargePointId);
  const shared = { plant, faults, clock: wall, later, logBook, chargePointId, modbusMessages };
  const remoteClock = createRemoteClocks(config, { clock, plant, wall, later, log });
  const context: AdapterContext = {
    ...shared,
    config,
    commAlarms,
    remoteClock,
    wireLog,
    store: options.store ?? createMemoryStore(),
    typesWith: (passes) => typesWith(config, passes),
  };
  const { protocols, ...clients } = composeProtocols(context);
  injectConfigured(faults, config, { plant, adapters: protocols }, log);
  const joining = { servers: protocols.filter(isDeviceServer), faults: joiningFaults(faults, wall) };
  const changes = new DeviceChanges({ plant, ...joining, deviceOf, seriesOf, chargePointId, log });
  const { hostOf, ...scenarios } = composeScenarios(
    { plant, wall, later, wireLog, csip: clients.csipClient },
    { version, buildId, seed },
    () => http,
  );
  const recording = withRecorder({ wireLog, plant, wall, adapters: protocols });
  const http: Http = createHttp(
    config,
    {
      ...shared,
      ...recording,
      eventLoop,
      ...scenarios,
      ...clients,
      addDevice: (entry, by) => changes.add(entry, by),
      removeDevice: (index, by) => changes.remove(index, by),
      requestStop(reason, delayS) {
        log.info(`stopping in ${delayS} s: ${reason}`);
        callLater(delayS * 1000, () => options.onStopRequest?.(reason));
      },
    },
    checkReplies,
  );
  return {
    plant,
    faults,
    http,
    changes,
    eventLoop,
    logBook,
    log,
    adapters: http.adapters,
    ticker: tickerOf(config, plant, wall),
    recorder: recording.recorder,
    scenarios: scenarios.scenarios,
    scenarioHost: hostOf,
  };
}

/** @param http of this process, once it is there */
function composeScenarios(
  parts: Pick<HostParts, 'plant' | 'wall' | 'later' | 'wireLog' | 'csip'>,
  origin: ReportOrigin,
  http: () => Http,
) {
  const clockOwner = new ClockHold();
  const perform: Perform = (request) => http().api.perform(request);
  const hostOf = createScenarioHost({ ...parts, clockHold: clockOwner, perform });
  const checkRequest: CheckRequest = (request) => http().api.checkRequest(request);
  return { hostOf, clockOwner, scenarios: new ScenarioShelf({ ...parts, hostOf, origin, checkRequest }) };
}

/** The recorder, and what it shares with the interface. */
function withRecorder(parts: Omit<RecorderSetup, 'info'>) {
  const info = { version, apiVersion, buildId, startedAtMs: parts.wall.nowMs() };
  return { adapters: parts.adapters, info, recorder: createConfiguredRecorder({ ...parts, info }) };
}

interface Protocols {
  readonly protocols: readonly Adapter[];
  /** also among them */
  readonly sunspecClient: SunSpecClientAdapter;
  readonly csipClient: CsipClient;
  readonly ocpp: OcppStations;
  readonly dnp3: Dnp3Outstations;
}

function composeProtocols(context: AdapterContext): Protocols {
  const { config, clock, later, logBook, modbusMessages: messages } = context;
  const logger = logBook.logger('Modbus');
  const sunspecClient = createSunSpecClient({
    clock,
    later,
    logger,
    seed: config.seed,
    messages,
    ptys: config.clientPty,
  });
  // one more protocol is one more line
  const csip = composeCsip(context);
  const ocpp = composeOcpp(context);
  const dnp3 = composeDnp3(context);
  const own = [csip, ocpp, dnp3].filter((each) => each !== null);
  const protocols = [...composeModbus(context), sunspecClient, ...own];
  return {
    protocols,
    sunspecClient,
    csipClient: csipClientOf(csip),
    ocpp: ocppStationsOf(ocpp),
    dnp3: dnp3OutstationsOf(dnp3),
  };
}

function tickerOf({ tickS }: AppConfig, plant: SimPlant, wall: WallClock): Ticker {
  const ticker = new Ticker({
    intervalMs: tickS * 1000,
    wall,
    tick: async (slots) => {
      try {
        await plant.tick(slots);
      } finally {
        plant.skippedTicks = ticker.skipped;
      }
    },
  });
  return ticker;
}

class Simulator implements App {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly api: Api;
  readonly adapters: readonly Adapter[];
  readonly logBook: LogBook;
  readonly recorder: Recorder;
  readonly version = version;
  readonly buildId = buildId;
  readonly #config: AppConfig;
  readonly #parts: Parts;
  #stopping: Promise<void> | undefined;

  constructor(config: AppConfig, parts: Parts) {
    this.#config = config;
    this.#parts = parts;
    this.plant = parts.plant;
    this.faults = parts.faults;
    this.api = parts.http.api;
    this.adapters = parts.adapters;
    this.logBook = parts.logBook;
    this.recorder = parts.recorder;
  }

  scenarioHost(name: string): ScenarioHost {
    return this.#parts.scenarioHost(name);
  }

  async start(): Promise<Endpoints> {
    const { log, ticker, eventLoop, http } = this.#parts;
    for (const warning of [...this.#exposureWarnings(), ...this.#config.unused, ...this.#config.notices])
      log.warning(warning);
    try {
      for (const adapter of this.adapters) await adapter.start();
      const address = await this.api.start();
      ticker.start();
      eventLoop.start();
      log.info(`derbench ${version} runs with ${devicesInWords(this.plant)}`);
      const listeners = [...http.startLines(address), ...this.adapters.flatMap((each) => each.startLines?.() ?? [])];
      return { http: address, lines: [...listeners, this.#summaryLine()] };
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { log, ticker, changes, eventLoop, scenarios } = this.#parts;
    await this.#ended('a scenario', scenarios.close());
    this.plant.end();
    // from here on no new request is served; answers under way may finish
    const http = this.api.stop();
    // HTTP requests may be waiting for work of these adapters
    await this.#stopAdapters(({ outbound = false }) => outbound);
    await this.#ended('the tick', ticker.stop());
    await this.#ended('a change of the devices', changes.settled());
    this.plant.commands.cancelAll();
    await this.#stopAdapters(({ outbound = false }) => !outbound);
    await this.#ended('HTTP', http);
    this.faults.close();
    eventLoop.stop();
    log.info('stopped');
    this.logBook.flush();
  }

  async #stopAdapters(which: (adapter: Adapter) => boolean): Promise<void> {
    await Promise.all(this.adapters.filter(which).map((adapter) => this.#ended(adapter.comm, adapter.stop())));
  }

  /** Waits for one part; a failure is logged and does not prevent the others from closing. */
  async #ended(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#parts.log.error(`${what} did not stop cleanly: ${errorText(error)}`);
    }
  }

  #exposureWarnings(): string[] {
    return [...this.#parts.http.exposures, ...this.adapters.flatMap(({ exposure }) => exposure ?? [])]
      .filter(({ host }) => !isLoopback(host))
      .map(
        ({ what, host }) =>
          `${what} listens on ${host} without authentication: anybody who can reach this address controls the simulator`,
      );
  }

  #summaryLine(): string {
    const { clock, tickS } = this.#config;
    const paused = clock.startsPaused ? 'the clock is paused; ' : '';
    return `${devicesInWords(this.plant)}, tick ${tickS} s; ${paused}nothing is kept over a restart`;
  }
}

function devicesInWords({ devices: { length } }: SimPlant): string {
  return `${length} device${length === 1 ? '' : 's'}`;
}
