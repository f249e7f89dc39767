/** The adapter of DNP3: opens and closes the outstations of devices, and reports status, counters and start lines. */
import type { AdapterParts } from '../contract/adapter-parts.ts';
import type { Device } from '../contract/device.ts';
import type {
  Dnp3Counters,
  Dnp3Message,
  Dnp3MessageFilter,
  Dnp3OutstationStatus,
  Dnp3Outstations,
  Dnp3PointFilter,
  Dnp3PointView,
} from '../contract/dnp3.ts';
import { noDnp3Counters } from '../contract/dnp3.ts';
import { dnp3AddressOf, dnp3PortOf } from '../contract/device-protocols.ts';
import { dnp3Profiles, dnp3TlsPolicy, maxDnp3Address } from '../contract/dnp3-settings.ts';
import type { Dnp3Profile, Dnp3Settings } from '../contract/dnp3-settings.ts';
import type { Plant } from '../contract/plant.ts';
import { startLine } from '../core/adapter.ts';
import type { AdapterStatus, Dnp3Endpoint } from '../core/adapter.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { LoadedAdapter } from '../core/device-adapter.ts';
import { errorText, SimError } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import { deviceLogger } from '../core/log/log.ts';
import type { Logger } from '../core/log/log.ts';
import { PeerLimitedLog } from '../core/log/limited-log.ts';
import { KeptPorts } from '../core/net/kept-ports.ts';
import { hostAndPort, shownHost, withRemedy } from '../core/net/listen.ts';
import { Sweeper } from '../core/net/sweeper.ts';
import type { Swept } from '../core/net/sweeper.ts';
import type { Origin } from '../core/origin.ts';
import { createRandom } from '../core/random.ts';
import { TlsFiles } from '../core/tls/watch.ts';
import { inParts, LoopQueue } from '../core/turns.ts';
import { DeviceOutstation } from './device-outstation.ts';
import { Dnp3Judges } from './findings/judges.ts';
import { dnp3Disturbers } from './faults/disturber.ts';
import { OutstationMemory } from './memory/memory.ts';
import { Dnp3Messages } from './message-log.ts';
import { builtInRows } from './profile/binding.ts';
import type { ControlReport } from './profile/outstation-points.ts';
import type { OutstationEnd } from './profile/types.ts';
import { readPointRows } from './profile/table/rows.ts';
import { serverLimits, identityOf } from './server/context.ts';
import { controlStatus } from './stack/outstation/types.ts';
import type { ControlStatus } from './stack/outstation/types.ts';
import type { PeerIdentity, Routes, ServerContext, ServerCounters } from './server/context.ts';
import { Dnp3Listener } from './server/listener.ts';

/** Time without a connection after which a master that made a request before counts as lost. */
const lostAfterMs = 60_000;

export interface Dnp3AdapterOptions {
  readonly settings: Dnp3Settings;
  readonly plant: Pick<Plant, 'onTickInParts' | 'onPower'>;
  readonly context: ServerContext;
  readonly messages: Dnp3Messages;
  readonly commAlarms: CommAlarmSwitch;
  readonly make: (device: Device, address: number) => DeviceOutstation;
  readonly tlsFiles: TlsFiles<PeerIdentity> | null;
}

interface Entry {
  readonly outstation: DeviceOutstation;
  /** the listener of this outstation; on a shared port that of all outstations */
  readonly listener: Dnp3Listener;
  /** by master: monotonic ms since which it has no connection; null: it has one; absent: it never had one */
  readonly lostMs: Map<number, number | null>;
}

type CounterName = keyof Dnp3Counters;
const counterNames = Object.keys(noDnp3Counters) as readonly CounterName[];

function sumOf(a: Dnp3Counters, b: Partial<Dnp3Counters>): Dnp3Counters {
  const sum = Object.fromEntries(counterNames.map((name) => [name, a[name] + (b[name] ?? 0)]));
  return { ...a, ...sum };
}

/** `20000`, or `20000 to 20005` */
function spanOf(numbers: readonly number[]): string {
  const [min, max] = [Math.min(...numbers), Math.max(...numbers)];
  return min === max ? `${min}` : `${min} to ${max}`;
}

export class Dnp3Adapter implements LoadedAdapter<Device, Dnp3Outstations>, Dnp3Outstations, Swept {
  readonly enabled = true;
  readonly view = this;
  /** controls by outcome */
  readonly controls = { done: 0, refused: 0 };
  readonly #options: Dnp3AdapterOptions;
  readonly #entries = new Map<number, Entry>();
  /** by link address on the shared port */
  readonly #byAddress = new Map<number, DeviceOutstation>();
  readonly #ends: (() => void)[] = [];
  #shared: Dnp3Listener | null = null;
  /** closed, with their memory */
  #released: readonly DeviceOutstation[] = [];
  /** sum of the counters of removed outstations */
  #departed = noDnp3Counters;

  constructor(options: Dnp3AdapterOptions) {
    this.#options = options;
    const { plant, context } = options;
    this.#ends.push(
      plant.onTickInParts(() =>
        inParts(this.#entries.values(), ({ outstation }) => {
          outstation.points.tick();
        }),
      ),
      plant.onPower(({ index, down }) => {
        const { outstation } = this.#entries.get(index) ?? {};
        if (down || outstation === undefined) return;
        outstation.stack.restart();
        context.logger.info('the outstation has restarted: the device has power again', index);
      }),
    );
    context.sweeper.add(this);
    options.tlsFiles?.watch();
  }

  get recording(): boolean {
    return this.#options.messages.channel.recording;
  }

  record(on: boolean, by: Origin): void {
    this.#options.messages.channel.record(on, by);
  }

  messages(filter?: Dnp3MessageFilter): readonly Dnp3Message[] {
    return this.#options.messages.list(filter);
  }

  get totals(): Dnp3Counters {
    const { counters } = this.#options.context;
    const ofStacks = [...this.#entries.values()].reduce(
      (sum, { outstation }) => sumOf(sum, outstation.stack.counters),
      this.#departed,
    );
    const { done: controlsDone, refused: controlsRefused } = this.controls;
    return sumOf(ofStacks, { ...counters, controlsDone, controlsRefused });
  }

  outstation(deviceIndex: number): Dnp3OutstationStatus | null {
    const entry = this.#entries.get(deviceIndex);
    return entry?.outstation.status(entry.listener, this.#url(deviceIndex)) ?? null;
  }

  points(deviceIndex: number, filter?: Dnp3PointFilter): readonly Dnp3PointView[] {
    return this.#entries.get(deviceIndex)?.outstation.points.views(filter) ?? [];
  }

  deviceProfile(deviceIndex: number): string | null {
    const entry = this.#entries.get(deviceIndex);
    return entry?.outstation.deviceProfile(entry.listener.port) ?? null;
  }

  /** `tcp://127.0.0.1:20000` */
  #url(deviceIndex: number): string {
    const { settings } = this.#options;
    const { listener } = this.#entries.get(deviceIndex) ?? {};
    return `${settings.tls === null ? 'tcp' : 'tls'}://${hostAndPort(settings.host, listener?.port ?? 0)}`;
  }

  endpointOf(deviceIndex: number): Dnp3Endpoint | null {
    const entry = this.#entries.get(deviceIndex);
    if (entry === undefined) return null;
    const { host: bound, advertisedHost, tls } = this.#options.settings;
    const { listener, outstation } = entry;
    const host = shownHost(bound, advertisedHost);
    return { protocol: 'dnp3', host, port: listener.port, outstation: outstation.address, tls: tls !== null };
  }

  startLines(): readonly string[] {
    const { settings } = this.#options;
    const endpoints = this.devices.flatMap((index) => this.endpointOf(index) ?? []);
    if (endpoints.length === 0) return [];
    const ports = spanOf(endpoints.map(({ port }) => port));
    const addresses = spanOf(endpoints.map(({ outstation }) => outstation));
    const masters = settings.masterAddresses.join(', ');
    const where = hostAndPort(settings.host, 0).replace(/:0$/, `:${ports}`);
    const tls = settings.tls === null ? '' : ', TLS';
    return [startLine('DNP3', `${where} (outstation ${addresses}, master ${masters}${tls})`)];
  }

  status(): Partial<AdapterStatus> {
    const { framesIn, framesOut, badFrames } = this.totals;
    const { lastError, lastFrameMs } = this.#options.context.counters;
    const [firstIndex] = this.devices;
    const associations = [...this.#entries.values()].flatMap(({ outstation }) => outstation.stack.associations);
    return {
      endpoint: firstIndex === undefined ? null : this.#url(firstIndex),
      peers: associations.filter(({ session }) => session !== null).length,
      lastActivityMs: lastFrameMs,
      rxCount: framesIn,
      txCount: framesOut,
      errorCount: badFrames,
      lastError,
      ...this.#options.context.ports.trouble,
    };
  }

  get devices(): readonly number[] {
    return [...this.#entries.keys()].sort((a, b) => a - b);
  }

  reload(): void {
    this.#options.tlsFiles?.reload();
  }

  async open(devices: readonly Device[]): Promise<void> {
    try {
      for (const device of devices) await this.#serve(device, 'replaced');
    } catch (error) {
      await this.#endAll();
      throw withRemedy(error, '--dnp3_port');
    }
  }

  /** Opens the outstation of a device. @throws SimError LISTEN_FAILED, COMMAND_CONFLICT; then nothing stays open */
  join(device: Device): Promise<void> {
    return this.#serve(device, 'gone');
  }

  /** @param failed end of an outstation that does not open */
  async #serve(device: Device, failed: OutstationEnd): Promise<void> {
    const { settings, make } = this.#options;
    const { index } = device;
    const address = dnp3AddressOf(settings, device);
    if (address > maxDnp3Address || settings.masterAddresses.includes(address))
      throw new SimError(
        'COMMAND_CONFLICT',
        `device ${index} would have the link address ${address}, which is above ${maxDnp3Address} or that of a master`,
      );
    const other = this.#byAddress.get(address);
    if (other !== undefined)
      throw new SimError(
        'COMMAND_CONFLICT',
        `device ${index} would have the link address ${address} of device ${other.deviceIndex}`,
      );
    const outstation = make(device, address);
    try {
      await outstation.restore();
      const listener = settings.sharedPort
        ? await this.#sharedListener()
        : await this.#openListener(outstation, device);
      this.#entries.set(index, { outstation, listener, lostMs: new Map() });
      if (settings.sharedPort) this.#byAddress.set(address, outstation);
      this.#options.context.ports.joined(index);
    } catch (error) {
      outstation.close(failed);
      throw error;
    }
  }

  leave(index: number): Promise<void> {
    return this.#end(index, 'gone');
  }

  async #end(index: number, end: OutstationEnd): Promise<void> {
    const entry = this.#entries.get(index);
    if (entry === undefined) return;
    this.#entries.delete(index);
    this.#byAddress.delete(entry.outstation.address);
    this.#departed = sumOf(this.#departed, entry.outstation.stack.counters);
    if (entry.listener === this.#shared) entry.listener.forget(entry.outstation);
    else await entry.listener.close();
    entry.outstation.close(end);
    for (const code of ['dnp3_master_lost', 'dnp3_port_lost'] as const) this.#options.commAlarms.end(index, code);
  }

  /** Closes all outstations; those of the next adapter continue their state. */
  async #endAll(): Promise<void> {
    await Promise.all(this.devices.map((index) => this.#end(index, 'replaced')));
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    this.#options.context.sweeper.delete(this);
    const listeners = new Set([...this.#entries.values()].map(({ listener }) => listener));
    if (this.#shared !== null) listeners.add(this.#shared);
    await Promise.all([...listeners].map((listener) => listener.close()));
    for (const { outstation } of this.#entries.values()) outstation.close('kept');
    this.#options.context.log.flush();
    this.#options.tlsFiles?.unwatch();
  }

  async release(): Promise<void> {
    this.#released = [...this.#entries.values()].map(({ outstation }) => outstation);
    await this.#endAll();
    await this.close();
  }

  forget(): void {
    for (const outstation of this.#released) outstation.close('gone');
    this.#released = [];
  }

  /** Raises the alarm of devices with lost masters, and ends it when all their masters are back. */
  sweep(): void {
    const { context, commAlarms } = this.#options;
    const nowMs = context.clock.monotonicMs();
    for (const [index, { outstation, lostMs }] of this.#entries) {
      const lostMasters: number[] = [];
      for (const { masterAddress, session, lastRequestMs } of outstation.stack.associations) {
        if (session !== null) lostMs.set(masterAddress, null);
        // includes a connection that began and ended between two sweeps
        else if (lastRequestMs !== null && (lostMs.get(masterAddress) ?? null) === null)
          lostMs.set(masterAddress, nowMs);
        const since = lostMs.get(masterAddress) ?? null;
        if (since !== null && nowMs - since >= lostAfterMs) lostMasters.push(masterAddress);
      }
      if (lostMasters.length > 0)
        commAlarms.raise(index, 'dnp3_master_lost', `no connection of master ${lostMasters.join(', ')} of DNP3`);
      else commAlarms.end(index, 'dnp3_master_lost');
    }
  }

  async #openListener(outstation: DeviceOutstation, device: Device): Promise<Dnp3Listener> {
    const { settings, context } = this.#options;
    const listener = new Dnp3Listener({
      host: settings.host,
      context,
      deviceIndex: device.index,
      port: dnp3PortOf(settings, device),
      routes: {
        outstation: (address) => (address === outstation.address ? outstation : undefined),
        all: () => [outstation],
      },
    });
    await listener.listen();
    return listener;
  }

  async #sharedListener(): Promise<Dnp3Listener> {
    if (this.#shared !== null) return this.#shared;
    const { settings, context } = this.#options;
    const entries = this.#entries;
    const routes: Routes = {
      outstation: (address) => this.#byAddress.get(address),
      all: () => [...entries.values()].map(({ outstation }) => outstation),
    };
    const listener = new Dnp3Listener({ host: settings.host, port: settings.port, context, routes });
    await listener.listen();
    this.#shared = listener;
    return listener;
  }
}

function tlsFilesOf({ tls }: Dnp3Settings, parts: Pick<AdapterParts, 'clock' | 'pem'>, logger: Logger) {
  if (tls === null) return null;
  return new TlsFiles({
    protocol: 'DNP3',
    settings: { ...dnp3TlsPolicy, files: { cert: tls.cert, key: tls.key, rootCert: tls.rootCert } },
    names: { cert: 'dnp3_cert', key: 'dnp3_key', rootCert: 'dnp3_root_cert' },
    identify: identityOf,
    io: parts.pem,
    clock: parts.clock,
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
  lastError: null,
  lastFrameMs: null,
});

/** Words for the status of a refused control. */
const statusWords: Readonly<Partial<Record<ControlStatus, string>>> = {
  [controlStatus.timeout]: 'OPERATE came too late after its SELECT',
  [controlStatus.noSelect]: 'no SELECT of these objects comes before it',
  [controlStatus.formatError]: 'the status octet in the request is not 0',
  [controlStatus.notSupported]: 'there is no such output, or it does not accept this value',
  [controlStatus.hardwareError]: 'the device cannot do it now',
  [controlStatus.local]: 'local control',
  [controlStatus.tooManyObjects]: 'too many controls in one request',
  [controlStatus.automationInhibit]: 'it is in use by an enabled mode or a ready schedule',
  [controlStatus.outOfRange]: 'out of range',
  [controlStatus.blocked]: 'no permission, lockout, or a schedule that is not valid or has no run left',
  [controlStatus.blockedOtherMaster]: 'another master has selected it, or has the window',
};

function controlLine({ name, value, status, isSelect, from, reason }: ControlReport): string {
  const what = isSelect ? 'select' : 'operate';
  const words = [statusWords[status], reason].filter((each) => each !== null && each !== undefined).join(': ');
  const result = status === 0 ? 'done' : `refused with status ${status}${words === '' ? '' : ` (${words})`}`;
  return `${what} ${name} = ${String(value)} by master ${from.peer}: ${result}`;
}

function timeLine(master: number, offsetS: number): string {
  const by = `${Math.abs(offsetS).toFixed(3)} s ${offsetS < 0 ? 'behind' : 'ahead of'}`;
  return `master ${master} has written the time: ${by} the local clock`;
}

/** The memory of an outstation. Another profile has other points, and so another memory. */
function memoryOf(
  { index, name }: Device,
  profile: Dnp3Profile,
  { store, keeping }: AdapterParts,
  logger: Logger,
): OutstationMemory {
  return new OutstationMemory({
    store,
    name: `${index} ${name} ${profile}`,
    commit: () => keeping?.commit(index) ?? null,
    log: deviceLogger(logger, index),
  });
}

/**
 * Creates the adapter of a process with DNP3.
 * @param isKept true: the store survives the process
 * @throws SimError CONFIG_INVALID for unusable certificates or an invalid point map
 */
export function createDnp3(settings: Dnp3Settings, parts: AdapterParts, isKept: boolean): Dnp3Adapter {
  const { seed, plant, clock, later, commAlarms, remoteClock, wireLog, logBook, keeping } = parts;
  const logger = logBook.logger('DNP3');
  const log = new PeerLimitedLog(logger, clock, 'controls and connections', later);
  const messages = new Dnp3Messages(wireLog);
  const judges = new Dnp3Judges({
    findings: parts.findings,
    clock,
    message: () => (messages.active ? { channel: 'dnp3', id: messages.channel.lastId } : null),
  });
  const tlsFiles = tlsFilesOf(settings, parts, logger);
  const context: ServerContext = {
    clock,
    logger,
    log,
    sweeper: new Sweeper((error) => {
      logger.error(`a check of time limits failed: ${errorText(error)}`);
    }),
    ports: new KeptPorts({
      log: logger,
      clock,
      later,
      alarm: { alarms: commAlarms, code: 'dnp3_port_lost', devices: () => adapter.devices },
    }),
    turns: new LoopQueue(),
    counters: freshCounters(),
    limits: serverLimits,
    tls: tlsFiles === null ? null : { gate: tlsFiles.gate, allowed: settings.tls?.allowedPeers ?? null },
    judges,
    wantsFragments: () => messages.active,
    onFragment: (report) => {
      messages.push(report);
    },
  };
  const disturberOf = dnp3Disturbers(parts.faults);
  const { pointsFile } = settings;
  const fileRows = pointsFile === null ? null : readPointRows(pointsFile);
  const rowsOf = new Map(dnp3Profiles.map((profile) => [profile, memo(() => fileRows ?? builtInRows(profile))]));
  const adapter: Dnp3Adapter = new Dnp3Adapter({
    settings,
    plant,
    context,
    messages,
    commAlarms,
    make: (device, address) => {
      const profile = device.dnp3?.profile ?? settings.profile;
      return new DeviceOutstation({
        memory: isKept ? memoryOf(device, profile, parts, logger) : null,
        ...(keeping && { keeping }),
        device,
        plant,
        settings: { ...settings, profile },
        address,
        rows: rowsOf.get(profile)?.() ?? [],
        later,
        wall: clock,
        disturber: disturberOf(device.index),
        remoteClock: () => remoteClock(logger),
        random: (purpose) => createRandom(seed, 'dnp3', device.index, purpose),
        log: deviceLogger(logger, device.index),
        observerOf: (facts) => judges.masterOf(facts),
        onControl(report) {
          if (report.status === 0) adapter.controls.done += report.isSelect ? 0 : 1;
          else adapter.controls.refused += 1;
          log.info(report.from.peer, () => controlLine(report), device.index);
        },
        onTime(master, offsetS) {
          log.info(`master ${master}`, () => timeLine(master, offsetS), device.index);
        },
      });
    },
    tlsFiles,
  });
  return adapter;
}
