import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../../core/time/clock.ts';
import { SimError } from '../../../core/errors.ts';
import { listen } from '../../../core/net/listen.ts';
import { LimitedLog } from '../../../core/log/limited-log.ts';
import { silentLogger } from '../../../core/log/log.ts';
import type { Logger } from '../../../core/log/log.ts';
import { callLater } from '../../../core/time/timers.ts';
import type { ModbusClient } from '../../../contract/modbus-report.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './connection.ts';
import { defaultLimits, ModbusCounters } from './context.ts';
import type { ModbusContext, ModbusLimits, Deafness, Reception } from './context.ts';
import type { Framing, FramingName } from '../framing/framing.ts';
import { Handshake } from '../../../core/tls/gate.ts';
import type { HandshakeOwner, TlsGate } from '../../../core/tls/gate.ts';
import { MbapFraming } from '../framing/framing.ts';
import type { Role, RoleFinding } from '../access/certificate-role.ts';
import { RtuFraming, streamTiming } from '../framing/rtu.ts';
import { Sweeper } from '../../../core/net/sweeper.ts';
import { LoopQueue } from '../../../core/turns.ts';
import { RequestReport } from './report.ts';
import type { ModbusUnit } from './unit.ts';

/** Options that the listeners of one group share; each member has a default: without TLS, faults and observer, `silent`. */
export interface ModbusContextOptions
  extends Partial<Pick<ModbusContext, 'foreignUnit' | 'clock' | 'sweeper' | 'tls' | 'disturber' | 'tap' | 'later'>> {
  readonly limits?: Partial<ModbusLimits>;
  readonly logger?: Logger;
}

/** A context with the defaults filled in, shared by all listeners of a group. */
export function createModbusContext(options: ModbusContextOptions = {}): ModbusContext {
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const later = options.later ?? callLater;
  return {
    limits: { ...defaultLimits, ...options.limits },
    foreignUnit: options.foreignUnit ?? 'silent',
    clock,
    log: new LimitedLog(logger, clock, 'connections'),
    report: new RequestReport(logger, clock, later),
    counters: new ModbusCounters(),
    sweeper: options.sweeper ?? new Sweeper(),
    turns: new LoopQueue({ nowMs: () => clock.monotonicMs() }),
    later,
    ...(options.tls !== undefined && { tls: options.tls }),
    ...(options.disturber !== undefined && { disturber: options.disturber }),
    ...(options.tap !== undefined && { tap: options.tap }),
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
/** Answers not sent by then (ms) are discarded. */
const closeGraceMs = 500;

// a class, since a process may have thousands of listeners that share its methods
export class ModbusTcpServer implements ConnectionOwner, HandshakeOwner<RoleFinding> {
  readonly context: ModbusContext;
  readonly deviceIndex: number | undefined;
  readonly faultIndex: number | undefined;
  readonly units: (unitId: number) => ModbusUnit | undefined;
  readonly unitOf: (deviceIndex: number) => ModbusUnit | undefined;
  /** the bound port; 0 while not listening */
  port = 0;
  readonly #framing: FramingName;
  readonly #host: string;
  readonly #wantedPort: number;
  readonly #connections = new Set<Connection>();
  /** oldest first, with the deafness of the later connection */
  readonly #handshakes = new Map<Handshake<RoleFinding>, Deafness | null>();
  #server: Server | undefined;
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

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#oneLess();
  }

  secured(handshake: Handshake<RoleFinding>, socket: TLSSocket, finding: RoleFinding): void {
    if (finding.role === null) {
      const { log } = this.context;
      log.info(`${handshake.peer} may find the models and nothing else: ${finding.reason}`, this.deviceIndex);
    }
    const deaf = this.#handshakes.get(handshake) ?? null;
    this.#handshakes.delete(handshake);
    // other handshakes may have ended meanwhile
    if (this.#hasRoom()) this.#serve(socket, deaf, finding.role);
    else this.#refuse(socket);
    this.#oneLess();
  }

  failed(handshake: Handshake<RoleFinding>): void {
    this.#handshakes.delete(handshake);
    this.#oneLess();
  }

  get #openCount(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  #oneLess(): void {
    if (this.#openCount === 0) this.#allClosed?.();
  }

  async #bind(): Promise<number> {
    const { keepAliveMs, maxUnsentBytes } = this.context.limits;
    const server = createServer(
      {
        noDelay: true,
        keepAlive: keepAliveMs > 0,
        keepAliveInitialDelay: keepAliveMs,
        // a write reports back-pressure from here on
        highWaterMark: maxUnsentBytes,
      },
      (socket) => {
        this.#accept(socket);
      },
    );
    this.#server = server;
    const { port } = await listen(server, this.#host, this.#wantedPort);
    server.on('error', (error) => {
      this.context.log.error(`cannot accept a connection: ${error.message}`, this.deviceIndex);
    });
    this.port = port;
    return port;
  }

  #accept(socket: Socket): void {
    const { counters, disturber, tls } = this.context;
    if (!this.#hasRoom()) {
      this.#refuse(socket);
      return;
    }
    const reception = disturber?.active === true ? disturber.onConnect(this.faultIndex, this.#openCount) : served;
    if (reception.kind === 'refuse') {
      drop(socket);
      return;
    }
    if (reception.kind === 'replace_oldest') this.#dropOldest(reception.left);
    const deaf = 'deaf' in reception ? reception.deaf : null;
    counters.accepted += 1;
    if (tls === undefined) this.#serve(socket, deaf);
    else this.#beginHandshake(tls, socket, deaf);
  }

  /** Begins a handshake; an idle connection is replaced only when the session is established. */
  #beginHandshake(tls: TlsGate<RoleFinding>, socket: Socket, deaf: Deafness | null): void {
    const [oldest] = this.#handshakes.keys();
    if (oldest !== undefined && this.#handshakes.size >= Math.max(minHandshakes, this.context.limits.maxConnections)) {
      this.#handshakes.delete(oldest);
      oldest.giveWay();
    }
    const handshake = new Handshake(this, socket);
    this.#handshakes.set(handshake, deaf);
    handshake.begin(tls);
  }

  #serve(socket: Socket, deaf: Deafness | null, role?: Role | null): void {
    this.#makeRoom();
    this.#connections.add(new Connection(this, socket, this.#newFraming(), deaf, role));
  }

  #newFraming(): Framing {
    if (this.#framing === 'mbap') return new MbapFraming();
    const { counters } = this.context;
    return new RtuFraming({
      ...streamTiming,
      isOwn: (address) => this.units(address) !== undefined,
      onUnreadable: () => {
        counters.unreadable += 1;
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
    counters.refused += 1;
    log.info(
      `${oldest.peer} closed: it was idle and all ${limits.maxConnections} connections are taken`,
      this.deviceIndex,
    );
    this.#connections.delete(oldest);
    oldest.destroy();
  }

  #refuse(socket: Socket): void {
    const { counters, limits, log } = this.context;
    counters.refused += 1;
    drop(socket);
    if (this.#closing === undefined) {
      log.info(`a connection was refused: all ${limits.maxConnections} are taken and in use`, this.deviceIndex);
    }
  }

  async #shutDown(): Promise<void> {
    // a listener that never listened has nothing to close
    if (!(await settled(this.#listening))) return;
    const closed = new Promise<void>((resolve) => {
      this.#server?.close(() => {
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

const served: Reception = { kind: 'serve' };

function drop(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
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
