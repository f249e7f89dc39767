/** The charge points of a process as an adapter: stations that join and leave, its state, lines at the start, and the table of versions. */
import type { AdapterParts } from '../contract/adapter-parts.ts';
import { keepsNothing } from '../contract/keeping.ts';
import type { Keeping } from '../contract/keeping.ts';
import type { Device } from '../contract/device.ts';
import { noOcppCounters, sumOfOcppCounters } from '../contract/ocpp-disabled.ts';
import type { OcppCounters, OcppStation, OcppStations, OcppStatus } from '../contract/ocpp.ts';
import type { OcppSettings } from '../contract/ocpp-settings.ts';
import { startLine } from '../core/adapter.ts';
import type { AdapterStatus, CommState } from '../core/adapter.ts';
import { connectGapMs } from '../core/device-adapter.ts';
import type { LoadedAdapter } from '../core/device-adapter.ts';
import { SimError } from '../core/errors.ts';
import { deviceLogger } from '../core/log/log.ts';
import type { LogBook, LogEntry } from '../core/log/log.ts';
import { createRandom } from '../core/random.ts';
import { slotName } from '../core/store.ts';
import { maxPemBytes } from '../core/tls/material.ts';
import type { TlsIo } from '../core/tls/watch.ts';
import type { Later } from '../core/time/timers.ts';
import { ocppRules } from '../finding-rules/ocpp.ts';
import { createStationPort } from './bridge.ts';
import { createOcppDisturber } from './faults/disturber.ts';
import { contextMaker } from './rpc/credentials.ts';
import type { Credentials } from './rpc/credentials.ts';
import { payloadChecks } from './rpc/schemas.ts';
import { ChargePoint } from './station/charge-point.ts';
import type { VersionTable } from './station/spoken.ts';
import { createStack16 } from './v16/stack.ts';
import { createStack2 } from './v201/stack.ts';

/** The versions that stations speak, one row each. */
export const versionTable: VersionTable = {
  'ocpp1.6j': { subprotocol: 'ocpp1.6', makeStack: createStack16 },
  'ocpp2.0.1j': { subprotocol: 'ocpp2.0.1', makeStack: (options) => createStack2('ocpp2.0.1', options) },
  'ocpp2.1': { subprotocol: 'ocpp2.1', makeStack: (options) => createStack2('ocpp2.1', options) },
};

export interface OcppAdapterOptions {
  /** URL of the central system at the start, for people */
  readonly endpoint: string;
  /** null: the device is no charging station */
  readonly make: (device: Device) => ChargePoint | null;
  readonly later: Later;
  /** of an adapter that is released: true if another one takes its place */
  readonly isReplaced: () => boolean;
}

export class OcppAdapter implements LoadedAdapter<Device, OcppStations>, OcppStations {
  readonly enabled = true;
  readonly view = this;
  readonly #options: OcppAdapterOptions;
  readonly #stations = new Map<number, ChargePoint>();
  /** by device: the ends of joins under way, also of failing ones; these stations are not visible yet */
  readonly #joining = new Map<number, Promise<void>>();
  readonly #waiting = new Map<ChargePoint, () => void>();
  readonly #leaving = new Set<ChargePoint>();
  #unconnected: ChargePoint[] = [];
  #isClosed = false;
  /** of stations that have left */
  #departed = noOcppCounters;

  constructor(options: OcppAdapterOptions) {
    this.#options = options;
  }

  get list(): readonly OcppStation[] {
    return [...this.#stations.entries()].sort(([a], [b]) => a - b).map(([, station]) => station);
  }

  get totals(): OcppCounters {
    const present = [...this.#stations.values(), ...this.#leaving];
    return present.reduce((sum, { counters }) => sumOfOcppCounters(sum, counters), this.#departed);
  }

  station(id: string): OcppStation {
    const station = [...this.#stations.values()].find((each) => each.id === id);
    if (station) return station;
    throw new SimError('UNKNOWN_RESOURCE', `there is no charge point ${JSON.stringify(id)}`);
  }

  ofDevice(deviceIndex: number): OcppStation | null {
    return this.#stations.get(deviceIndex) ?? null;
  }

  async open(devices: readonly Device[]): Promise<void> {
    for (const device of devices) await this.add(device);
    this.connect();
  }

  async join(device: Device): Promise<void> {
    await this.add(device);
    this.connect();
  }

  /** Makes the charge point of a device and restores its state; it does not connect yet. */
  async add(device: Device): Promise<void> {
    const station = this.#options.make(device);
    if (station === null) return;
    const { index } = device;
    const joined = this.#load(index, station);
    const ended = joined.catch(() => undefined);
    this.#joining.set(index, ended);
    try {
      await joined;
    } finally {
      if (this.#joining.get(index) === ended) this.#joining.delete(index);
    }
  }

  async #load(index: number, station: ChargePoint): Promise<void> {
    try {
      await station.load();
    } catch (error) {
      // ends the work begun before the failure
      await station.stop();
      throw error;
    }
    this.#stations.set(index, station);
    this.#unconnected.push(station);
  }

  /** Connects the stations that have joined, spread over some time. */
  connect(): void {
    if (this.#isClosed) return;
    const fresh = this.#unconnected;
    this.#unconnected = [];
    const gapMs = connectGapMs(fresh.length);
    fresh.forEach((station, at) => {
      if (at === 0) station.begin();
      else
        this.#waiting.set(
          station,
          this.#options.later(at * gapMs, () => {
            this.#waiting.delete(station);
            station.begin();
          }),
        );
    });
  }

  /** Ends the sessions of a device that has left the plant, notifies the central system, and closes. */
  async leave(index: number): Promise<void> {
    // its state is restored to the end first: it may have transactions to end
    await this.#joining.get(index);
    const station = this.#stations.get(index);
    if (station === undefined) return;
    this.#stations.delete(index);
    this.#unconnected = this.#unconnected.filter((each) => each !== station);
    this.#endWait(station);
    this.#leaving.add(station);
    try {
      await station.leave();
    } finally {
      this.#leaving.delete(station);
      this.#departed = sumOfOcppCounters(this.#departed, station.counters);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#joining.values());
    await Promise.all(
      [...this.#stations.values(), ...this.#leaving].map((station) => {
        this.#endWait(station);
        return station.stop();
      }),
    );
  }

  async release(): Promise<void> {
    this.#isClosed = true;
    const isReplaced = this.#options.isReplaced();
    await Promise.all(this.#joining.values());
    await Promise.all(
      [...this.#stations.values()].map((station) => {
        this.#endWait(station);
        return station.release(isReplaced);
      }),
    );
    await this.close();
  }

  startLines(): readonly string[] {
    const { length: count } = this.list;
    return [startLine('OCPP', `${count} charge point${count === 1 ? '' : 's'} of ${this.#options.endpoint}`)];
  }

  status(): Partial<AdapterStatus> {
    const states = this.list.map(({ status }) => status);
    const connected = states.filter(({ connectionState }) => connectionState === 'connected').length;
    const { messages, lastContactMs, drops, callErrors, lastError } = this.totals;
    const frames = (direction: 'in' | 'out') =>
      messages.reduce((sum, each) => sum + (each.direction === direction ? each.count : 0), 0);
    return {
      enabled: true,
      state: stateOf(states, this.#waiting.size + this.#unconnected.length),
      detail: detailOf(states, connected),
      endpoint: this.#options.endpoint,
      peers: connected,
      lastActivityMs: lastContactMs,
      rxCount: frames('in'),
      txCount: frames('out'),
      errorCount: drops + callErrors,
      lastError,
    };
  }

  #endWait(station: ChargePoint): void {
    this.#waiting.get(station)?.();
    this.#waiting.delete(station);
  }
}

/**
 * `connected` when every enabled station is connected.
 * @param starting stations that have not begun to connect yet
 */
function stateOf(states: readonly OcppStatus[], starting: number): CommState {
  const enabled = states.filter(
    ({ connectionState, reconnectInS }) => connectionState !== 'disconnected' || reconnectInS !== null,
  );
  if (enabled.length + starting === 0) return 'stopped';
  if (starting === 0 && enabled.every(({ connectionState }) => connectionState === 'connected')) return 'connected';
  return enabled.some(({ lastError }) => lastError !== null) ? 'retrying' : 'connecting';
}

function detailOf(states: readonly OcppStatus[], connected: number): string | null {
  if (connected === states.length) return null;
  const why = states.find(({ connectionState }) => connectionState !== 'connected')?.lastError ?? null;
  return states.length === 1 ? why : `${connected} of ${states.length}${why === null ? '' : `: ${why}`}`;
}

/** @throws Error for a file that cannot be read any more */
function credentialsOf({ securityProfile, password, pem }: OcppSettings, { readText }: TlsIo): Credentials {
  const client = pem?.own ?? null;
  return {
    securityProfile,
    password,
    rootCert: pem && readText(pem.rootCert, maxPemBytes, 'rootCert'),
    own: client && {
      cert: readText(client.cert, maxPemBytes, 'cert'),
      key: readText(client.key, maxPemBytes, 'key'),
    },
  };
}

/** The log of GetDiagnostics and GetLog: lines of every module about a device, and lines of OCPP about none. */
function logLines(logBook: Pick<LogBook, 'entries'>, deviceIndex: number) {
  const isIncluded = (line: LogEntry) =>
    line.deviceIndex === deviceIndex || (line.deviceIndex === null && line.module === 'OCPP');
  return logBook
    .entries()
    .filter(isIncluded)
    .map(({ timeMs, level, module, message }) => ({
      atMs: timeMs,
      text: `${level.toUpperCase()} [${module}] ${message}`,
    }));
}

/** A frame that waits for changes of the station also waits for its device, so that both are kept of one instant. */
function durableWith(keeping: Keeping, changes: Promise<void> | null, deviceIndex: number): Promise<void> | null {
  return changes && Promise.all([changes, keeping.commit(deviceIndex)]).then(() => undefined);
}

/** Loaded when a process with OCPP starts. */
export function createOcpp(
  settings: OcppSettings,
  parts: AdapterParts,
  { isReplaced }: Pick<OcppAdapterOptions, 'isReplaced'>,
): OcppAdapter {
  const { seed, plant, clock, later, commAlarms, remoteClock, store, wireLog, logBook, chargePointId } = parts;
  const { keepPart, keeping = keepsNothing, findings } = parts;
  const rules = findings.rules('ocpp', ocppRules);
  const log = logBook.logger('OCPP');
  const credentials = credentialsOf(settings, parts.pem);
  const contexts = contextMaker();
  const disturber = createOcppDisturber(parts.faults);
  return new OcppAdapter({
    endpoint: settings.url,
    later,
    isReplaced,
    make(device) {
      const id = chargePointId(device);
      if (id === null) return null;
      const {
        versions = settings.versions,
        url,
        autoAuthorize = settings.autoAuthorize,
        guarded = false,
      } = device.ocpp ?? {};
      for (const version of versions) payloadChecks.prepare(versionTable[version].subprotocol);
      return new ChargePoint({
        id,
        device: createStationPort(
          device,
          plant,
          id,
          keepPart && ((part) => keepPart(slotName('ocpp', id, 'der'), part, [device.index])),
        ),
        versions,
        versionTable,
        url: url ?? settings.url,
        guarded: url === undefined ? settings.guarded : guarded,
        credentials,
        autoAuthorize,
        contexts,
        schemas: payloadChecks,
        clock: remoteClock(log),
        wall: clock,
        later,
        random: (purpose) => createRandom(seed, 'ocpp', id, purpose),
        store: (subprotocol, name) => store.slot(slotName('ocpp', id, subprotocol ?? 'station', name)),
        durable: () => durableWith(keeping, store.durable(), device.index),
        wireLog,
        disturber,
        commAlarms,
        findings,
        rules,
        log: deviceLogger(log, device.index),
        readLog: () => logLines(logBook, device.index),
      });
    },
  });
}
