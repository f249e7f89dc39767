/** Puts the outstations together; loaded when a process with DNP3 starts. */
import type { Dnp3Settings } from '../contract/dnp3-settings.ts';
import { dnp3TlsPolicy } from '../contract/dnp3-settings.ts';
import type { Plant } from '../contract/plant.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import type { LogBook, Logger } from '../core/log/log.ts';
import { PeerLimitedLog } from '../core/log/peer-limited-log.ts';
import { Sweeper } from '../core/net/sweeper.ts';
import { LoopQueue } from '../core/turns.ts';
import { createRandom } from '../core/random.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClockFactory } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import { TlsFiles } from '../core/tls/files.ts';
import { DeviceOutstation } from './device-outstation.ts';
import { createDisturbers } from './faults/fault-bridge.ts';
import { Dnp3Messages } from './messages/log.ts';
import { deviceProfileXml } from './profile/device-profile.ts';
import { defaultLimits } from './stack/outstation/types.ts';
import { builtInRows } from './profile/binding.ts';
import type { ControlReport } from './profile/hub.ts';
import { readPointRows } from './profile/points-file.ts';
import { Dnp3Runtime } from './runtime.ts';
import type { PeerIdentity, ServerContext, ServerCounters } from './server/context.ts';
import { serverLimits } from './server/context.ts';
import { identityOf } from './server/identity.ts';

export interface Assembly {
  readonly runtime: Dnp3Runtime;
  /** reads certificates again */
  reload(): void;
  /** wall time of the last frame of a master, ms */
  lastFrameMs(): number | null;
}

export interface AssemblyOptions {
  readonly settings: Dnp3Settings;
  readonly seed: number;
  readonly plant: Plant;
  readonly clock: WallClock;
  readonly later: Later;
  readonly faults: FaultRegistry;
  readonly commAlarms: CommAlarmSwitch;
  readonly remoteClock: RemoteClockFactory;
  readonly wireLog: WireLog;
  readonly logBook: Pick<LogBook, 'logger'>;
}

function tlsFilesOf({ settings: { tls }, clock }: AssemblyOptions, logger: Logger): TlsFiles<PeerIdentity> | null {
  if (tls === null) return null;
  return new TlsFiles({
    protocol: 'DNP3',
    settings: { ...dnp3TlsPolicy, files: { cert: tls.cert, key: tls.key, rootCert: tls.rootCert } },
    names: { cert: 'dnp3_cert', key: 'dnp3_key', rootCert: 'dnp3_root_cert' },
    identify: identityOf,
    clock,
    logger,
  });
}

const freshCounters = (): ServerCounters => ({
  connections: 0,
  refusedConnections: 0,
  handshakeFailures: 0,
  framesIn: 0,
  framesOut: 0,
  badFrames: 0,
  lastFrameMs: null,
});

/** Lines of an outstation name its device. */
function deviceLog(logger: Logger, index: number) {
  return {
    info: (message: string) => logger.info(message, index),
    warning: (message: string) => logger.warning(message, index),
    debug: (message: string) => logger.debug(message, index),
  };
}

function controlLine({ name, value, status, isSelect, from }: ControlReport): string {
  const what = isSelect ? 'select' : 'operate';
  return `${what} ${name} = ${String(value)} by master ${from.peer}: ${status === 0 ? 'done' : `refused with status ${status}`}`;
}

function timeLine(master: number, offsetS: number): string {
  const by = `${Math.abs(offsetS).toFixed(3)} s ${offsetS < 0 ? 'behind' : 'ahead of'}`;
  return `master ${master} has written the time: ${by} the clock here`;
}

function profileOf({ settings, clock }: AssemblyOptions, outstation: DeviceOutstation, port: number): string {
  const views = outstation.points.views({ coverage: 'served' });
  const limits = new Map(views.map(({ type, index, min, max }) => [`${type}${index}`, { min, max }]));
  const text = (variation: number, otherwise: string) =>
    String(outstation.attributes.find((each) => each.variation === variation)?.value ?? otherwise);
  return deviceProfileXml({
    vendor: text(252, 'derbench'),
    product: text(250, outstation.device.name),
    softwareVersion: text(242, 'unknown'),
    date: new Date(clock.nowMs()).toISOString().slice(0, 10),
    host: settings.host,
    port,
    address: outstation.address,
    masterAddresses: settings.masterAddresses,
    unsolicited: settings.unsolicited,
    isTls: settings.tls !== null,
    limits: defaultLimits,
    points: outstation.points.bindings
      .filter(({ bound }) => bound !== null)
      .map(({ row }) => {
        const { min, max } = limits.get(`${row.type}${row.index}`) ?? { min: null, max: null };
        return { ...row, ...(min !== null && { min }), ...(max !== null && { max }) };
      }),
  });
}

/** @throws SimError CONFIG_INVALID for certificates or a point map that do not fit */
export function assemble(options: AssemblyOptions): Assembly {
  const { settings, seed, plant, clock, later, commAlarms, remoteClock, wireLog, logBook } = options;
  const logger = logBook.logger('DNP3');
  const log = new PeerLimitedLog(logger, clock, 'controls and connections', later);
  const messages = new Dnp3Messages(wireLog);
  const tlsFiles = tlsFilesOf(options, logger);
  const context: ServerContext = {
    clock,
    logger,
    log,
    sweeper: new Sweeper(),
    turns: new LoopQueue(),
    counters: freshCounters(),
    limits: serverLimits,
    tls: tlsFiles === null ? null : { gate: tlsFiles.gate, allowed: settings.tls?.allowedPeers ?? null },
    wantsFragments: () => messages.active,
    onFragment: (report) => {
      messages.push(report);
    },
  };
  const disturberOf = createDisturbers({ registry: options.faults, devices: () => plant.devices });
  const { pointsFile, profile } = settings;
  const rows = pointsFile === null ? builtInRows(profile) : readPointRows(pointsFile);
  const runtime: Dnp3Runtime = new Dnp3Runtime({
    settings,
    plant,
    context,
    messages,
    commAlarms,
    make: (device, address) =>
      new DeviceOutstation({
        device,
        plant,
        settings,
        address,
        rows,
        later,
        wall: clock,
        disturber: disturberOf(device.index),
        remoteClock: () => remoteClock(logger),
        random: (purpose) => createRandom(seed, 'dnp3', device.index, purpose),
        log: deviceLog(logger, device.index),
        onControl(report) {
          if (report.status === 0) runtime.controls.done += report.isSelect ? 0 : 1;
          else runtime.controls.refused += 1;
          log.info(report.from.peer, () => controlLine(report), device.index);
        },
        onTime(master, offsetS) {
          log.info(`master ${master}`, () => timeLine(master, offsetS), device.index);
        },
      }),
    profileOf: (outstation, port) => profileOf(options, outstation, port),
    close: () => {
      messages.close();
      tlsFiles?.unwatch();
    },
  });
  tlsFiles?.watch();
  return {
    runtime,
    reload: () => tlsFiles?.reload(),
    lastFrameMs: () => context.counters.lastFrameMs,
  };
}
