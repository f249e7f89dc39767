import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../../core/time/clock.ts';
import { errorText, SimError } from '../../../core/errors.ts';
import { KeptPorts } from '../../../core/net/kept-ports.ts';
import type { KeptPlace, KeptPort, PortAlarm } from '../../../core/net/kept-ports.ts';
import { addressOf, listen } from '../../../core/net/listen.ts';
import { LimitedLog } from '../../../core/log/limited-log.ts';
import { silentLogger } from '../../../core/log/log.ts';
import type { Logger } from '../../../core/log/log.ts';
import { callLater } from '../../../core/time/timers.ts';
import type { ModbusClient } from '../../../contract/modbus-report.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './connection.ts';
import { defaultLimits, ModbusCounters } from './context.ts';
import type { ForeignUnitPolicy, ModbusContext, ModbusLimits, Reception } from './context.ts';
import type { Framing, FramingName } from '../framing/framing.ts';
import { Handshake } from '../../../core/tls/gate.ts';
import type { HandshakeOwner, TlsGate } from '../../../core/tls/gate.ts';
import { MbapFraming } from '../framing/framing.ts';
import type { Role, RoleFinding } from '../access/certificate-role.ts';
import { RtuFraming, streamTiming } from '../framing/rtu.ts';
import { Sweeper } from '../../../core/net/sweeper.ts';
import type { Swept } from '../../../core/net/sweeper.ts';
import { LoopQueue } from '../../../core/turns.ts';
import { RequestReport } from './report.ts';
import type { ModbusUnit } from './unit.ts';

/** Options shared by the listeners of one group. Defaults: no TLS, no faults, no observer, `foreignUnit` silent. */
export interface ModbusContextOptions
  extends Partial<Pick<ModbusContext, 'clock' | 'sweeper' | 'tls' | 'disturber' | 'tap' | 'judge' | 'later'>> {
  /** a function is called at each use */
  readonly foreignUnit?: ForeignUnitPolicy | (() => ForeignUnitPolicy);
  /** read at each use; a member may be a getter */
  readonly limits?: Partial<ModbusLimits>;
  readonly logger?: Logger;
  /** alarm of devices whose port is lost; default: no alarm */
  readonly portAlarm?: PortAlarm;
}

/** The limits, and the defaults of those that are absent. Getters stay getters, which a spread would call once. */
function withDefaults(limits: Partial<ModbusLimits> = {}): ModbusLimits {
  const descriptors = {
    ...Object.getOwnPropertyDescriptors(defaultLimits),
    ...Object.getOwnPropertyDescriptors(limits),
  };
  return Object.defineProperties({}, descriptors) as ModbusLimits;
}

/** A context with the defaults filled in, shared by all listeners of a group. */
export function createModbusContext(options: ModbusContextOptions = {}): ModbusContext {
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const later = options.later ?? callLater;
  const log = new LimitedLog(logger, clock, 'connections');
  const { portAlarm: alarm, foreignUnit = 'silent' } = options;
  return {
    limits: withDefaults(options.limits),
    get foreignUnit() {
      return typeof foreignUnit === 'function' ? foreignUnit() : foreignUnit;
    },
    clock,
    log,
    report: new RequestReport(logger, clock, later),
    counters: new ModbusCounters(),
    sweeper: options.sweeper ?? new Sweeper((error) => log.error(`a check of time limits failed: ${errorText(error)}`)),
    ports: new KeptPorts({ log, clock, later, ...(alarm !== undefined && { alarm }) }),
    turns: new LoopQueue({ nowMs: () => clock.monotonicMs() }),
    later,
    ...(options.tls !== undefined && { tls: options.tls }),
    ...(options.disturber !== undefined && { disturber: options.disturber }),
    ...(options.tap !== undefined && { tap: options.tap }),
    ...(options.judge !== undefined && { judge: options.judge }),
  };
}

export interface ModbusTcpServerOptions {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  /** the unit of a unit id; undefined: not served */
  readonly units: (unitId: number) => ModbusUnit | undefined;
  readonly context: ModbusContext;
  /** the device in log lines */
  readonly deviceIndex?: number;
  /** index of the listener for faults; default `deviceIndex` */
  readonly faultIndex?: number;
  /** the unit of a device, for a unit id added by fault injection; default: none */
  readonly unitOf?: (deviceIndex: number) => ModbusUnit | undefined;
  /** default `mbap` */
  readonly framing?: FramingName;
}

/** One connected master. */
export interface ModbusClientInfo extends ModbusClient {
  /** local port of the connection */
  readonly port: number;
  readonly role?: Role | null;
}

/** A Modbus TCP listener (Modbus Messaging on TCP/IP 1.0b) on one address. */
export function createModbusTcpServer(options: ModbusTcpServerOptions): ModbusTcpServer {
  return new ModbusTcpServer(options);
}

/** At the limit, a connection that has sent nothing for this long (ms) is replaced by a new one. */
const replaceableMs = 60_000;
/**
 * Minimum limit of unfinished handshakes; a higher limit of connections applies to handshakes too. Unfinished
 * handshakes never use up connections.
 */
const minHandshakes = 256;
/** Time (ms) after which a closing listener discards unsent answers. */
const closeGraceMs = 500;

// a class, since a process may have thousands of listeners that share its methods
export class ModbusTcpServer implements ConnectionOwner, HandshakeOwner<RoleFinding>, Swept {
  readonly context: ModbusContext;
  readonly deviceIndex: number | undefined;
  readonly faultIndex: number | undefined;
  readonly units: (unitId: number) => ModbusUnit | undefined;
  readonly unitOf: (deviceIndex: number) => ModbusUnit | undefined;
  /** the bound port, also while a fault keeps it closed; 0 before and after listening */
  port = 0;
  readonly #framing: FramingName;
  readonly #host: string;
  readonly #wantedPort: number;
  readonly #connections = new Set<Connection>();
  /** oldest first, with the reception of the connection that follows */
  readonly #handshakes = new Map<Handshake<RoleFinding>, Welcome>();
  /** undefined: a fault keeps the port closed */
  #server: Server | undefined;
  /** binds the port of `#server` again when it fails */
  #kept: KeptPort | undefined;
  /** true while a port that a fault has closed opens again */
  #reopening = false;
  #lastCloseMs = -Infinity;
  #forgetFaults: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #listening: Promise<number> | undefined;
  #closing: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  constructor(options: ModbusTcpServerOptions) {
    this.context = options.context;
    this.deviceIndex = options.deviceIndex;
    this.faultIndex = options.faultIndex ?? options.deviceIndex;
    this.units = options.units;
    this.unitOf = options.unitOf ?? noUnit;
    this.#framing = options.framing ?? 'mbap';
    this.#host = options.host;
    this.#wantedPort = options.port;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Binds and resolves with the port. @throws SimError LISTEN_FAILED, STOPPING after `close` */
  listen(): Promise<number> {
    this.#listening ??=
      this.#closing === undefined ? this.#bind() : Promise.reject(new SimError('STOPPING', 'the listener is closed'));
    return this.#listening;
  }

  /** Stops accepting, ends every connection and resolves when all are closed, after half a second at most. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  clients(): readonly ModbusClientInfo[] {
    const nowMs = this.context.clock.monotonicMs();
    return Array.from(this.#connections, (connection) => ({
      peer: connection.peer,
      port: this.port,
      connectedAtMs: connection.connectedAtMs,
      idleMs: nowMs - connection.lastMs,
      requests: connection.requests,
      unsentBytes: connection.unsentBytes,
      heldBytes: connection.heldBytes,
      paused: connection.paused,
      ...(connection.role !== undefined && { role: connection.role }),
    }));
  }

  /** True if the port is bound and accepts connections: neither a fault nor a device that is off keeps it closed. */
  get isAccepting(): boolean {
    return this.#closing === undefined && this.#server?.listening === true;
  }

  sweep(): void {
    this.#followFaults();
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#lastCloseMs = this.context.clock.monotonicMs();
    this.#resolveIfAllClosed();
    this.#followFaults();
  }

  secured(handshake: Handshake<RoleFinding>, socket: TLSSocket, finding: RoleFinding): void {
    if (finding.role === null) {
      const { log } = this.context;
      log.info(`${handshake.peer} may find the models and nothing else: ${finding.reason}`, this.deviceIndex);
    }
    const welcome = this.#handshakes.get(handshake) ?? usual;
    this.#handshakes.delete(handshake);
    // other handshakes may have ended meanwhile
    if (this.#hasRoom()) this.#serve(socket, welcome, finding.role);
    else this.#refuse(socket);
    this.#resolveIfAllClosed();
  }

  failed(handshake: Handshake<RoleFinding>, reason: string, isRefused: boolean): void {
    this.context.report.failed(`${handshake.peer}: the TLS handshake failed: ${reason}`);
    this.context.judge?.handshakeFailed(addressOf({ remoteAddress: handshake.address }), reason, isRefused);
    this.#handshakes.delete(handshake);
    this.#resolveIfAllClosed();
    this.#followFaults();
  }

  get #openCount(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  #resolveIfAllClosed(): void {
    if (this.#openCount === 0) this.#allClosed?.();
  }

  async #bind(): Promise<number> {
    const server = this.#newServer();
    this.#server = server;
    const { port } = await listen(server, this.#host, this.#wantedPort);
    this.port = port;
    this.#kept = this.context.ports.keep(server, this.#place);
    const { disturber, sweeper } = this.context;
    if (disturber !== undefined) {
      sweeper.add(this);
      this.#forgetFaults = disturber.onChange(() => {
        this.#followFaults();
      });
      this.#followFaults();
    }
    return port;
  }

  #newServer(): Server {
    const { keepAliveMs, maxUnsentBytes } = this.context.limits;
    return createServer(
      {
        noDelay: true,
        keepAlive: keepAliveMs > 0,
        keepAliveInitialDelay: keepAliveMs,
        // a write reports back-pressure from this size on
        highWaterMark: maxUnsentBytes,
      },
      (socket) => {
        this.#accept(socket);
      },
    );
  }

  get #place(): KeptPlace {
    // the meter has an index for faults and no device
    const isShared = this.deviceIndex === undefined && this.faultIndex === undefined;
    return { host: this.#host, port: this.port, deviceIndex: this.deviceIndex, isShared };
  }

  /** Closes or opens the port as faults and the state of the device require. Open connections stay. */
  #followFaults(): void {
    const { disturber, clock, later } = this.context;
    if (disturber === undefined || this.port === 0 || this.#closing !== undefined) return;
    this.#endPause?.();
    this.#endPause = undefined;
    const sinceCloseMs = clock.monotonicMs() - this.#lastCloseMs;
    const shutMs = disturber.active ? disturber.shutForMs(this.faultIndex, sinceCloseMs) : 0;
    if (shutMs <= 0) {
      if (this.#server === undefined && !this.#reopening) void this.#reopen();
      return;
    }
    this.#closePort();
    if (shutMs !== Infinity)
      this.#endPause = later(shutMs, () => {
        this.#followFaults();
      });
  }

  #closePort(): void {
    void this.#kept?.release();
    this.#kept = undefined;
    this.#server?.close();
    this.#server = undefined;
  }

  /** Opens a port again that a fault has closed. */
  async #reopen(): Promise<void> {
    this.#reopening = true;
    const server = this.#newServer();
    let failure: unknown = null;
    try {
      await listen(server, this.#host, this.port);
    } catch (error) {
      failure = error;
    }
    this.#reopening = false;
    if (this.#closing !== undefined) {
      server.close();
      return;
    }
    const { ports } = this.context;
    this.#server = server;
    this.#kept = failure === null ? ports.keep(server, this.#place) : ports.recover(server, this.#place, failure);
    this.#followFaults();
  }

  #accept(socket: Socket): void {
    const { counters, disturber, tls } = this.context;
    if (!this.#hasRoom()) {
      this.#refuse(socket);
      return;
    }
    const reception = disturber?.active === true ? disturber.onConnect(this.faultIndex, this.#openCount) : usual;
    // a connection accepted before the port closed is reset too
    if (reception.kind === 'refuse' || this.#server === undefined) {
      reset(socket);
      return;
    }
    if (reception.left !== undefined) this.#dropOldest(reception.left);
    counters.acceptedConnections += 1;
    if (tls === undefined) this.#serve(socket, reception);
    else this.#beginHandshake(tls, socket, reception);
    this.#followFaults();
  }

  /** Begins a handshake; an idle connection is replaced only when the session is established. */
  #beginHandshake(tls: TlsGate<RoleFinding>, socket: Socket, welcome: Welcome): void {
    const [oldest] = this.#handshakes.keys();
    if (oldest !== undefined && this.#handshakes.size >= Math.max(minHandshakes, this.context.limits.maxConnections)) {
      this.#handshakes.delete(oldest);
      oldest.giveWay();
    }
    const handshake = new Handshake(this, socket);
    this.#handshakes.set(handshake, welcome);
    handshake.begin(tls);
  }

  #serve(socket: Socket, { deaf, greeting }: Welcome, role?: Role | null): void {
    this.#makeRoom();
    this.#connections.add(new Connection(this, socket, this.#newFraming(), deaf ?? null, role));
    if (greeting !== undefined) socket.write(greeting);
  }

  #newFraming(): Framing {
    if (this.#framing === 'mbap') return new MbapFraming();
    const { counters, report } = this.context;
    return new RtuFraming({
      ...streamTiming,
      isOwn: (address) => this.units(address) !== undefined,
      onUnreadable: () => {
        counters.unreadable += 1;
        report.failed('octets of a master are no frame: noise, a wrong CRC or a part of one');
      },
    });
  }

  /** Closes the oldest connections until `left` remain (fault injection). */
  #dropOldest(left: number): void {
    let excess = this.#openCount - left;
    for (const connection of this.#connections) {
      if (excess <= 0) return;
      excess -= 1;
      this.#connections.delete(connection);
      connection.destroy();
    }
    for (const handshake of this.#handshakes.keys()) {
      if (excess <= 0) return;
      excess -= 1;
      this.#handshakes.delete(handshake);
      handshake.abandon();
    }
  }

  /** True if there is room for one more connection, or a connection can be replaced. */
  #hasRoom(): boolean {
    if (this.#closing !== undefined) return false;
    return this.#connections.size < this.context.limits.maxConnections || this.#replaceable() !== undefined;
  }

  /** The connection idle for longest, if it is replaceable. */
  #replaceable(): Connection | undefined {
    let oldest: Connection | undefined;
    for (const connection of this.#connections) {
      if (oldest === undefined || connection.lastMs < oldest.lastMs) oldest = connection;
    }
    return oldest !== undefined && this.context.clock.monotonicMs() - oldest.lastMs > replaceableMs
      ? oldest
      : undefined;
  }

  /** At the limit, closes the replaceable connection. */
  #makeRoom(): void {
    const { counters, limits, log } = this.context;
    if (this.#connections.size < limits.maxConnections) return;
    const oldest = this.#replaceable();
    if (oldest === undefined) return;
    counters.refusedConnections += 1;
    log.info(
      `${oldest.peer} closed: it was idle and all ${limits.maxConnections} connections are taken`,
      this.deviceIndex,
    );
    this.#connections.delete(oldest);
    oldest.destroy();
  }

  #refuse(socket: Socket): void {
    const { counters, limits, log } = this.context;
    counters.refusedConnections += 1;
    drop(socket);
    if (this.#closing === undefined) {
      log.info(`a connection was refused: all ${limits.maxConnections} are taken and in use`, this.deviceIndex);
    }
  }

  async #shutDown(): Promise<void> {
    // a listener that never listened has nothing to close
    if (!(await settled(this.#listening))) return;
    this.context.sweeper.delete(this);
    this.#forgetFaults?.();
    this.#endPause?.();
    await this.#kept?.release();
    const closed = new Promise<void>((resolve) => {
      if (this.#server === undefined) resolve();
      else
        this.#server.close(() => {
          resolve();
        });
    });
    await Promise.all([closed, this.#endConnections()]);
    this.port = 0;
    this.context.log.flush();
    this.context.report.flush();
  }

  async #endConnections(): Promise<void> {
    if (this.#openCount === 0) return;
    const allClosed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    for (const connection of this.#connections) connection.end();
    for (const handshake of this.#handshakes.keys()) handshake.abandon();
    const leftovers = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, closeGraceMs);
    await allClosed;
    clearTimeout(leftovers);
  }
}

function noUnit(): undefined {
  return undefined;
}

/** Reception of a connection that is served. */
type Welcome = Extract<Reception, { kind: 'serve' }>;
const usual: Welcome = { kind: 'serve' };

function drop(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
}

/** Answers a connection as a closed port does. */
function reset(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.resetAndDestroy();
}

async function settled(listening: Promise<number> | undefined): Promise<boolean> {
  if (listening === undefined) return false;
  try {
    await listening;
    return true;
  } catch {
    return false;
  }
}
