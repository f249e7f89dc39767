import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { peerOf } from '../../../core/net/listen.ts';
import type { RoleFinding } from '../access/certificate-role.ts';
import type { ModbusContext } from '../server/context.ts';
import type { Role } from '../access/roles.ts';
import type { Swept } from '../server/sweeper.ts';
import type { HandshakeEnd, TlsGate } from './tls-gate.ts';

/** What a handshake needs of the listener that accepted it. */
export interface HandshakeOwner {
  readonly context: ModbusContext;
  /** the device that lines of the log are about */
  readonly deviceIndex: number | undefined;
  secured(handshake: Handshake, socket: TLSSocket, role: Role | null): void;
  failed(handshake: Handshake): void;
}

/** A connection that is not one of Modbus yet, and has limited time to show its certificate. */
export class Handshake implements Swept, HandshakeEnd {
  readonly #owner: HandshakeOwner;
  readonly #socket: Socket;
  readonly #peer: string;
  readonly #sinceMs: number;
  /** why we gave it up; null: it is no failure */
  #givenUp: string | null | undefined;

  constructor(owner: HandshakeOwner, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.#peer = peerOf(socket);
    this.#sinceMs = owner.context.clock.monotonicMs();
    owner.context.sweeper.add(this);
  }

  /** One of `secured` and `failed` of the owner follows. */
  begin(gate: TlsGate): void {
    gate.admit(this.#socket, this);
  }

  /** Ends without being a failure: the listener closes, or a fault wants its place. */
  abandon(): void {
    this.#end(null);
  }

  /** A later one needs its place. */
  giveWay(): void {
    this.#end('too many others were begun and not finished');
  }

  sweep(): void {
    const { clock, limits } = this.#owner.context;
    if (clock.monotonicMs() - this.#sinceMs >= limits.handshakeTimeoutMs) this.#end('it was not finished in time');
  }

  secured(socket: TLSSocket, finding: RoleFinding): void {
    const {
      context: { log, sweeper },
      deviceIndex,
    } = this.#owner;
    sweeper.delete(this);
    if (finding.role === null)
      log.info(`${this.#peer} may find the models and nothing else: ${finding.reason}`, deviceIndex);
    this.#owner.secured(this, socket, finding.role);
  }

  failed(reason: string): void {
    const {
      context: { counters, log, sweeper },
      deviceIndex,
    } = this.#owner;
    sweeper.delete(this);
    if (this.#givenUp !== null) {
      counters.handshakeFailures += 1;
      log.info(`${this.#peer}: no TLS session: ${this.#givenUp ?? reason}`, deviceIndex);
    }
    this.#owner.failed(this);
  }

  #end(reason: string | null): void {
    if (this.#givenUp === undefined) this.#givenUp = reason;
    this.#socket.destroy();
  }
}
