/** One TCP port with its outstation, or with all outstations. */
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SimError } from '../../core/errors.ts';
import type { KeptPort } from '../../core/net/kept-ports.ts';
import { listen } from '../../core/net/listen.ts';
import { Handshake } from '../../core/tls/gate.ts';
import type { HandshakeOwner } from '../../core/tls/gate.ts';
import { callLater } from '../../core/time/timers.ts';
import { Connection } from './connection.ts';
import type { ConnectionOwner } from './connection.ts';
import { allows } from './context.ts';
import type { PeerIdentity, Routes, ServedOutstation, ServerContext } from './context.ts';

/** Time for unsent answers when a listener closes, ms; then connections are destroyed. */
const closeGraceMs = 500;

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly routes: Routes;
  readonly context: ServerContext;
  /** the device that lines of the log are about; absent: several */
  readonly deviceIndex?: number;
}

export class Dnp3Listener implements ConnectionOwner {
  readonly routes: Routes;
  readonly deviceIndex: number | undefined;
  readonly context: ServerContext;
  readonly #handshakeOwner: HandshakeOwner<PeerIdentity>;
  readonly #options: ListenerOptions;
  readonly #connections = new Set<Connection>();
  readonly #handshakes = new Set<Handshake<PeerIdentity>>();
  #server: Server | undefined;
  #kept: KeptPort | undefined;
  #closing: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;
  port = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.routes = options.routes;
    this.context = options.context;
    this.deviceIndex = options.deviceIndex;
    const { clock, log, sweeper, limits, counters } = options.context;
    // lines of all handshakes share one limit: an attacker has a new port for each handshake
    const limited = { info: (line: string, device?: number) => log.info('TLS', () => line, device) };
    this.#handshakeOwner = {
      context: { clock, log: limited, sweeper, limits, counters },
      deviceIndex: this.deviceIndex,
      secured: (handshake, socket, identity) => {
        this.#secured(handshake, socket, identity);
      },
      failed: (handshake) => {
        this.#handshakes.delete(handshake);
        this.#resolveIfAllClosed();
      },
    };
  }

  get connections(): readonly Connection[] {
    return [...this.#connections];
  }

  /** Binds and resolves with the port in use. @throws SimError LISTEN_FAILED, STOPPING after `close` */
  async listen(): Promise<number> {
    if (this.#closing !== undefined) throw new SimError('STOPPING', 'the listener is closed');
    const server = createServer({ noDelay: true }, (socket) => {
      this.#accept(socket);
    });
    this.#server = server;
    const { host, port } = this.#options;
    const owner = this.deviceIndex === undefined ? 'DNP3' : `DNP3 of device ${this.deviceIndex}`;
    ({ port: this.port } = await listen(server, host, port, owner));
    const { deviceIndex } = this;
    const place = { host, port: this.port, deviceIndex, isShared: deviceIndex === undefined };
    this.#kept = this.context.ports.keep(server, place);
    return this.port;
  }

  /** Stops accepting, ends every connection and resolves when all are closed, at the latest after half a second. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** Ends the sessions of an outstation that is removed from this shared port. */
  forget(outstation: ServedOutstation): void {
    for (const connection of this.#connections) connection.forget(outstation);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#resolveIfAllClosed();
  }

  #secured(handshake: Handshake<PeerIdentity>, socket: TLSSocket, identity: PeerIdentity): void {
    this.#handshakes.delete(handshake);
    const { tls, counters, log } = this.context;
    if (allows(tls?.allowed ?? null, identity)) this.#serve(socket, identity);
    else {
      counters.refusedConnections += 1;
      const { subject, fingerprint } = identity;
      log.info(
        handshake.peer,
        () => `${handshake.peer} refused: the certificate ${subject} with sha256:${fingerprint} is not allowed`,
        this.deviceIndex,
      );
      socket.destroy();
    }
    this.#resolveIfAllClosed();
  }

  #resolveIfAllClosed(): void {
    if (this.#connections.size + this.#handshakes.size === 0) this.#allClosed?.();
  }

  #accept(socket: Socket): void {
    const { tls, limits } = this.context;
    if (this.#closing !== undefined) {
      drop(socket);
      return;
    }
    if (tls === null) {
      this.#serve(socket, null);
      return;
    }
    if (this.#handshakes.size >= limits.handshakes) {
      const crowding = oldestOfCrowd(this.#handshakes);
      if (crowding) this.#handshakes.delete(crowding);
      crowding?.giveWay();
    }
    const handshake = new Handshake(this.#handshakeOwner, socket);
    this.#handshakes.add(handshake);
    handshake.begin(tls.gate);
  }

  #serve(socket: Socket, identity: PeerIdentity | null): void {
    const { counters, limits } = this.context;
    if (this.#closing !== undefined || (this.#connections.size >= limits.connections && !this.#makeRoom())) {
      this.#refuse(socket);
      return;
    }
    counters.connections += 1;
    const connection = new Connection(this, socket, identity);
    this.#connections.add(connection);
    connection.greet();
  }

  /** Ends a connection on which no master has spoken yet. @returns false: there is none */
  #makeRoom(): boolean {
    const crowding = oldestOfCrowd(this.connections.filter(({ hasMaster }) => !hasMaster));
    if (crowding === undefined) return false;
    this.#connections.delete(crowding);
    crowding.giveWay();
    return true;
  }

  #refuse(socket: Socket): void {
    const { counters, limits, log } = this.context;
    counters.refusedConnections += 1;
    const { remoteAddress = 'unknown' } = socket;
    drop(socket);
    log.info(
      remoteAddress,
      () => `a connection from ${remoteAddress} was refused: all ${limits.connections} are taken`,
      this.deviceIndex,
    );
  }

  async #shutDown(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await this.#kept?.release();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    await Promise.all([closed, this.#endConnections()]);
    this.port = 0;
  }

  async #endConnections(): Promise<void> {
    if (this.#connections.size + this.#handshakes.size === 0) return;
    const allClosed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    for (const connection of this.#connections) connection.end();
    for (const handshake of this.#handshakes) handshake.abandon();
    const endGrace = callLater(closeGraceMs, () => {
      for (const connection of this.#connections) connection.destroy();
    });
    await allClosed;
    endGrace();
  }
}

/** The oldest one of the address with the largest number: a peer that opens many is the first to give way. */
function oldestOfCrowd<T extends { readonly address: string }>(oldestFirst: Iterable<T>): T | undefined {
  const byAddress = new Map<string, { readonly oldest: T; count: number }>();
  let crowd: { readonly oldest: T; readonly count: number } | undefined;
  for (const each of oldestFirst) {
    const ofAddress = byAddress.get(each.address) ?? { oldest: each, count: 0 };
    ofAddress.count += 1;
    byAddress.set(each.address, ofAddress);
    if (crowd === undefined || ofAddress.count > crowd.count) crowd = ofAddress;
  }
  return crowd?.oldest;
}

function drop(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
}
