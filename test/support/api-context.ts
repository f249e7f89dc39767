import { disabledOcpp } from '../../src/contract/ocpp-disabled.ts';
import type { OcppStations } from '../../src/contract/ocpp.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import type { Later } from '../../src/core/time/timers.ts';
import type { EventLoopState } from '../../src/core/event-loop.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { LogBook } from '../../src/core/log/log.ts';
import type { Adapter } from '../../src/core/adapter.ts';
import { apiVersion, defaultApiLimits } from '../../src/api/http/context.ts';
import { createHistory, createRemoteHistory } from '../../src/api/history/history.ts';
import type { History } from '../../src/api/history/history.ts';
import type { ApiConfig, ApiContext, ApiLimits } from '../../src/api/http/context.ts';
import { Timeline } from '../../src/core/timeline/timeline.ts';
import type { Watched } from '../../src/contract/attention.ts';
import type { FaultRegistry } from '../../src/core/faults/registry.ts';
import type { FindingRegistry } from '../../src/core/findings/registry.ts';
import type { FaultProfile } from '../../src/fault-kinds/request.ts';
import { createFaultRegistry } from '../../src/app/faults.ts';
import type { CsipClient } from '../../src/contract/csip-client.ts';
import { disabledCsipClient } from '../../src/contract/csip-disabled.ts';
import type { SunSpecClient } from '../../src/contract/sunspec-client.ts';
import { createSunSpecClient } from '../../src/sunspec/client/client.ts';
import type { CaptureBook } from '../../src/contract/captures.ts';
import type { Recorder } from '../../src/contract/recorder.ts';
import { createConfiguredRecorder } from '../../src/app/recorder.ts';
import type { Plant } from '../../src/contract/plant.ts';
import type { ClockOwner } from '../../src/contract/scenarios.ts';
import type { StateControl } from '../../src/contract/state.ts';
import type { ModbusMessages } from '../../src/core/wire/modbus.ts';
import { createModbusMessages } from '../../src/core/wire/modbus.ts';
import { FindingsRig } from './findings.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';

export interface ContextOptions {
  readonly plant: Plant;
  /** default: of the plant, from now on */
  readonly history?: History;
  /** default: of the plant, without any fault */
  readonly faults?: FaultRegistry;
  /** default: without a peer */
  readonly findings?: FindingRegistry;
  readonly faultProfiles?: readonly FaultProfile[];
  readonly adapters?: readonly Adapter[];
  readonly logBook?: LogBook;
  /** default: an empty one */
  readonly timeline?: Timeline;
  readonly watched?: () => Watched;
  readonly eventLoop?: Partial<EventLoopState>;
  readonly config?: Partial<Omit<ApiConfig, 'limits'>>;
  readonly limits?: Partial<ApiLimits>;
  /** default: one without a device */
  readonly sunspecClient?: SunSpecClient;
  /** default: disabled */
  readonly csipClient?: CsipClient;
  /** default: disabled */
  readonly ocpp?: OcppStations;
  /** default: without a channel */
  readonly recorder?: Recorder;
  /** default: none are kept */
  readonly captures?: CaptureBook;
  /** default: without a message */
  readonly modbusMessages?: ModbusMessages;
  /** default: no scenario runs */
  readonly clockOwner?: ClockOwner;
  /** default: no state folder */
  readonly state?: StateControl;
  readonly requestStop?: (reason: string, delayS: number) => void;
  /** default: timers of the machine */
  readonly later?: Later;
  readonly addDevice?: ApiContext['addDevice'];
  readonly changeDevice?: ApiContext['changeDevice'];
  readonly removeDevice?: ApiContext['removeDevice'];
}

/** The plant of some tests is only a list of devices, possibly empty: it has no history. */
function historyOf(plant: Plant): History {
  if (plant.devices.length > 0 && 'latest' in plant) return createHistory(plant, { samplesPerDevice: 10_000 });
  const none = () => {
    throw new Error('this plant has no history');
  };
  return {
    depth: 10_000,
    siteDepth: 10_000,
    site: { last: none },
    groups: [],
    of: none,
    ofScope: none,
    restoring: none,
  };
}

function faultsOf(plant: Plant): FaultRegistry {
  return createFaultRegistry({
    wall: systemClock,
    sim: () => plant.time.sim,
    seed: 1,
    log: createLogBook({ write: () => undefined }).logger('Lab'),
    plant: () => plant,
  });
}

/** The messages of Modbus of a plant: none, and nobody listens. */
export function modbusMessagesOf(plant: Pick<Plant, 'time'>): ModbusMessages {
  const log = createLogBook({ write: () => undefined }).logger('Lab');
  return createModbusMessages(new WireLog({ clock: systemClock, sim: () => plant.time.sim, log }));
}

/** A recorder without a channel. */
function recorderOf(plant: Plant): Recorder {
  const log = createLogBook({ write: () => undefined }).logger('Lab');
  const sim = () => plant.time.sim;
  const info = { version: '0.1.0', buildId: 'test', startedAtMs: systemClock.nowMs() };
  const wireLog = new WireLog({ clock: systemClock, sim, log });
  return createConfiguredRecorder({
    wireLog,
    findings: new FindingsRig().registry,
    plant,
    wall: systemClock,
    info,
    adapters: [],
  });
}

/** A context on a free loopback port whose log goes nowhere. */
export function apiContext(options: ContextOptions): ApiContext {
  const sunspecClient = options.sunspecClient ?? createSunSpecClient();
  return {
    plant: options.plant,
    history: options.history ?? historyOf(options.plant),
    faults: options.faults ?? faultsOf(options.plant),
    findings: options.findings ?? new FindingsRig().registry,
    ...(options.faultProfiles && { faultProfiles: () => options.faultProfiles ?? [] }),
    adapters: options.adapters ?? [],
    sunspecClient,
    csipClient: options.csipClient ?? disabledCsipClient,
    ocpp: options.ocpp ?? disabledOcpp,
    modbusMessages: options.modbusMessages ?? modbusMessagesOf(options.plant),
    recorder: options.recorder ?? recorderOf(options.plant),
    remoteHistory: createRemoteHistory(sunspecClient, 10_000),
    timeline: options.timeline ?? new Timeline({ wall: systemClock, sim: () => options.plant.now }),
    ...(options.watched && { watched: options.watched }),
    ...(options.later && { later: options.later }),
    logBook: options.logBook ?? createLogBook({ write: () => undefined }),
    eventLoop: { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0, ...options.eventLoop },
    info: { version: '0.1.0', apiVersion, buildId: 'test', startedAtMs: systemClock.nowMs() },
    config: {
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      corsOrigins: [],
      ...options.config,
      limits: { ...defaultApiLimits, ...options.limits },
    },
    clock: systemClock,
    ...(options.captures && { captures: options.captures }),
    ...(options.clockOwner && { clockOwner: options.clockOwner }),
    ...(options.state && { state: options.state }),
    requestStop: options.requestStop ?? (() => undefined),
    addDevice: options.addDevice ?? (() => Promise.reject(new Error('no device joins'))),
    changeDevice: options.changeDevice ?? (() => Promise.reject(new Error('no device changes'))),
    removeDevice: options.removeDevice ?? (() => Promise.reject(new Error('no device leaves'))),
  };
}
