/** Puts the charge points together; loaded when a process with OCPP starts. */
import { readFileSync } from 'node:fs';
import type { ChargePointIdOf } from '../contract/charge-point-ids.ts';
import type { Plant } from '../contract/plant.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import type { LogBook, LogEntry, Logger } from '../core/log/log.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClockFactory } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import type { Store } from '../core/store.ts';
import type { OcppSettings } from '../contract/ocpp-settings.ts';
import { createRandom } from '../core/random.ts';
import { slotName } from '../core/store.ts';
import { createStationPort } from './bridge.ts';
import { contextMaker } from './rpc/credentials.ts';
import type { Credentials } from './rpc/credentials.ts';
import { createFrameDisturber } from './faults/fault-bridge.ts';
import { payloadChecks } from './rpc/schemas/checks.ts';
import { Runtime } from './runtime.ts';
import { ChargePoint } from './station/charge-point.ts';
import { versions } from './versions.ts';

export interface AssemblyOptions {
  readonly settings: OcppSettings;
  readonly seed: number;
  readonly plant: Plant;
  readonly clock: WallClock;
  readonly later: Later;
  readonly faults: FaultRegistry;
  readonly commAlarms: CommAlarmSwitch;
  readonly remoteClock: RemoteClockFactory;
  readonly store: Store;
  readonly wireLog: WireLog;
  readonly logBook: Pick<LogBook, 'logger' | 'entries'>;
  readonly chargePointId: ChargePointIdOf;
}

/** @throws Error for a file that cannot be read any more */
function credentialsOf({ securityProfile, password, pem }: OcppSettings): Credentials {
  const text = (path: string) => readFileSync(path, 'utf8');
  return {
    securityProfile,
    password,
    rootCert: pem === null ? null : text(pem.rootCert),
    own: pem?.own == null ? null : { cert: text(pem.own.cert), key: text(pem.own.key) },
  };
}

/** What GetDiagnostics and GetLog deliver: the lines of every module about a device, and those of OCPP about none. */
function logLines(logBook: Pick<LogBook, 'entries'>, deviceIndex: number) {
  const isWanted = (line: LogEntry) =>
    line.deviceIndex === deviceIndex || (line.deviceIndex === null && line.module === 'OCPP');
  return logBook
    .entries()
    .filter(isWanted)
    .map(({ timeMs, level, module, message }) => ({
      atMs: timeMs,
      text: `${level.toUpperCase()} [${module}] ${message}`,
    }));
}

/** Lines of a station name its device, also where what is common to stations does not know it. */
function stationLog(log: Logger, own: number): Logger {
  return {
    get keepsDebug() {
      return log.keepsDebug ?? false;
    },
    debug: (message, device = own, at) => {
      log.debug(message, device, at);
    },
    info: (message, device = own, at) => {
      log.info(message, device, at);
    },
    warning: (message, device = own, at) => {
      log.warning(message, device, at);
    },
    error: (message, device = own, printedOnly) => {
      log.error(message, device, printedOnly);
    },
  };
}

export function assemble(options: AssemblyOptions): Runtime {
  const { settings, seed, plant, clock, later, commAlarms, remoteClock, store, wireLog, logBook, chargePointId } =
    options;
  const log = logBook.logger('OCPP');
  const credentials = credentialsOf(settings);
  const contexts = contextMaker();
  const disturber = createFrameDisturber({ registry: options.faults, devices: () => plant.devices });
  return new Runtime({
    later,
    make(device) {
      const id = chargePointId(device);
      if (id === null) return null;
      const own = device.ocpp ?? {};
      const version = own.version ?? settings.version;
      const stack = versions[version];
      payloadChecks.prepare(stack.subprotocol);
      return new ChargePoint({
        id,
        device: createStationPort(device, plant, id),
        version,
        stack,
        url: own.url ?? settings.url,
        guarded: own.guarded ?? false,
        credentials,
        autoAuthorize: settings.autoAuthorize,
        contexts,
        schemas: payloadChecks,
        clock: remoteClock(log),
        wall: clock,
        later,
        random: (purpose) => createRandom(seed, 'ocpp', id, purpose),
        // no version can use what another one has kept
        store: (name) => store.slot(slotName('ocpp', id, stack.subprotocol, name)),
        wireLog,
        disturber,
        commAlarms,
        log: stationLog(log, device.index),
        readLog: () => logLines(logBook, device.index),
      });
    },
  });
}
