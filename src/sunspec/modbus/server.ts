import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { systemClock } from '../../core/clock.ts';
import type { WallClock } from '../../core/clock.ts';
import { SimError } from '../../core/errors.ts';
import { listen } from '../../core/listen.ts';
import { LimitedLog } from '../../core/limited-log.ts';
import { silentLogger } from '../../core/log.ts';
import type { Logger } from '../../core/log.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './connection.ts';
import { defaultLimits, ModbusCounters } from './context.ts';
import type { ForeignUnitPolicy, ModbusContext, ModbusLimits } from './context.ts';
import { Sweeper } from './sweeper.ts';
import type { ModbusUnit } from './unit.ts';

/** What listeners of one group share; each member has a default. */
export interface ModbusContextOptions {
  readonly limits?: Partial<ModbusLimits>;
  /** default `silent` */
  readonly foreignUnit?: ForeignUnitPolicy;
  readonly clock?: WallClock;
  readonly logger?: Logger;
  readonly sweeper?: Sweeper;
}

/** A context with the defaults filled in, to be given to every listener of a group. */
export function createModbusContext(options: ModbusContextOptions = {}): ModbusContext {
  const clock = options.clock ?? systemClock;
  return {
    limits: { ...defaultLimits, ...options.limits },
    foreignUnit: options.foreignUnit ?? 'silent',
    clock,
    log: new LimitedLog(options.logger ?? silentLogger, clock, 'connections'),
    counters: new ModbusCounters(),
    sweeper: options.sweeper ?? new Sweeper(),
  };
}

export interface ModbusTcpServerOptions {
  readonly host: string;
  /** 0 = any free port */
  readonly port: number;
  /** the unit behind a unit id, or undefined when it is not served */
  readonly units: (unitId: number) => ModbusUnit | undefined;
  readonly context: ModbusContext;
  /** the device that lines of the log are about */
  readonly deviceIndex?: number;
}

/** One connected master. */
export interface ModbusClientInfo {
  /** `address:port` */
  readonly peer: string;
  /** port of ours that it is connected to */
  readonly port: number;
  /** wall time, ms since the epoch */
  readonly connectedAtMs: number;
  readonly idleMs: number;
  readonly requests: number;
  readonly unsentBytes: number;
  /** octets held for this peer, both ways */
  readonly heldBytes: number;
  /** its requests are not read, because it does not take the answers */
  readonly paused: boolean;
}

export interface ModbusTcpServer {
  /**
   * Binds and resolves with the port in use.
   * @throws SimError LISTEN_FAILED, STOPPING after `close`
   */
  listen(): Promise<number>;
  /** Stops accepting, ends every connection and resolves when all are closed, at the latest after half a second. */
  close(): Promise<void>;
  /** the port in use; 0 while not listening */
  readonly port: number;
  readonly connectionCount: number;
  clients(): readonly ModbusClientInfo[];
}

/** A Modbus TCP listener (Modbus Messaging on TCP/IP 1.0b) on one address. */
export function createModbusTcpServer(options: ModbusTcpServerOptions): ModbusTcpServer {
  return new Listener(options);
}

/** A connection at the cap gives way to a new one when nothing has come from it for so long. */
const replaceableMs = 60_000;
/** Answers that a peer has not taken by then are given up. */
const closeGraceMs = 500;

// a class, since there may be thousands of listeners in a process and their methods are shared
class Listener implements ModbusTcpServer, ConnectionOwner {
  readonly context: ModbusContext;
  readonly deviceIndex: number | undefined;
  readonly units: (unitId: number) => ModbusUnit | undefined;
  port = 0;
  readonly #host: string;
  readonly #wantedPort: number;
  readonly #connections = new Set<Connection>();
  #server: Server | undefined;
  #listening: Promise<number> | undefined;
  #closing: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  constructor(options: ModbusTcpServerOptions) {
    this.context = options.context;
    this.deviceIndex = options.deviceIndex;
    this.units = options.units;
    this.#host = options.host;
    this.#wantedPort = options.port;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  listen(): Promise<number> {
    this.#listening ??= this.#closing === undefined ? this.#bind()
      : Promise.reject(new SimError('STOPPING', 'the listener is closed'));
    return this.#listening;
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  clients(): readonly ModbusClientInfo[] {
    const now = this.context.clock.monotonicMs();
    return Array.from(this.#connections, (connection) => ({
      peer: connection.peer,
      port: this.port,
      connectedAtMs: connection.connectedAtMs,
      idleMs: now - connection.lastMs,
      requests: connection.requests,
      unsentBytes: connection.unsentBytes,
      heldBytes: connection.heldBytes,
      paused: connection.paused,
    }));
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#allClosed?.();
  }

  async #bind(): Promise<number> {
    const { keepAliveMs, maxUnsentBytes } = this.context.limits;
    const server = createServer({
      noDelay: true,
      keepAlive: keepAliveMs > 0,
      keepAliveInitialDelay: keepAliveMs,
      // a write reports back-pressure from here on
      highWaterMark: maxUnsentBytes,
    }, (socket) => { this.#accept(socket); });
    this.#server = server;
    const { port } = await listen(server, this.#host, this.#wantedPort);
    server.on('error', (error) => { this.context.log.error(`cannot accept a connection: ${error.message}`, this.deviceIndex); });
    this.port = port;
    return port;
  }

  #accept(socket: Socket): void {
    const { counters, limits } = this.context;
    if (this.#closing !== undefined || (this.#connections.size >= limits.maxConnections && !this.#makeRoom())) {
      this.#refuse(socket);
      return;
    }
    counters.accepted += 1;
    this.#connections.add(new Connection(this, socket));
  }

  /** Closes the connection that has been idle longest, if it has been so long enough. */
  #makeRoom(): boolean {
    const { clock, counters, log } = this.context;
    let oldest: Connection | undefined;
    for (const connection of this.#connections) {
      if (oldest === undefined || connection.lastMs < oldest.lastMs) oldest = connection;
    }
    if (oldest === undefined || clock.monotonicMs() - oldest.lastMs <= replaceableMs) return false;
    counters.refused += 1;
    log.info(`${oldest.peer} closed: it was idle and all ${this.context.limits.maxConnections} connections are taken`, this.deviceIndex);
    this.#connections.delete(oldest);
    oldest.destroy();
    return true;
  }

  #refuse(socket: Socket): void {
    const { counters, limits, log } = this.context;
    counters.refused += 1;
    socket.on('error', () => undefined);
    socket.destroy();
    if (this.#closing === undefined) {
      log.info(`a connection was refused: all ${limits.maxConnections} are taken and in use`, this.deviceIndex);
    }
  }

  async #shutDown(): Promise<void> {
    // one that never came to listen has nothing to close
    if (!await settled(this.#listening)) return;
    const closed = new Promise<void>((resolve) => { this.#server?.close(() => { resolve(); }); });
    await Promise.all([closed, this.#endConnections()]);
    this.port = 0;
    this.context.log.flush();
  }

  async #endConnections(): Promise<void> {
    if (this.#connections.size === 0) return;
    const allClosed = new Promise<void>((resolve) => { this.#allClosed = resolve; });
    for (const connection of this.#connections) connection.end();
    const leftovers = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, closeGraceMs);
    await allClosed;
    clearTimeout(leftovers);
  }
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
