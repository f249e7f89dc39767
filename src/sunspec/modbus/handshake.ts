import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { peerOf } from '../../core/listen.ts';
import type { RoleFinding } from './certificate-role.ts';
import type { ModbusContext } from './context.ts';
import type { Role } from './roles.ts';
import type { Swept } from './sweeper.ts';
import type { HandshakeEnd, TlsGate } from './tls-gate.ts';

/** What a handshake needs of the listener that accepted it. */
export interface HandshakeOwner {
  readonly context: ModbusContext;
  /** the device that lines of the log are about */
  readonly deviceIndex: number | undefined;
  secured(handshake: Handshake, socket: TLSSocket, role: Role | null): void;
  failed(handshake: Handshake): void;
}

/** A connection that is not one of Modbus yet: it counts as one, and has limited time to show its certificate. */
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

  /** The listener closes, or has no place for it any more. */
  abandon(): void {
    this.#givenUp ??= null;
    this.#socket.destroy();
  }

  sweep(): void {
    const { clock, limits } = this.#owner.context;
    if (this.#givenUp !== undefined || clock.monotonicMs() - this.#sinceMs < limits.handshakeTimeoutMs) return;
    this.#givenUp = 'it was not finished in time';
    this.#socket.destroy();
  }

  secured(socket: TLSSocket, finding: RoleFinding): void {
    const { context: { log, sweeper }, deviceIndex } = this.#owner;
    sweeper.delete(this);
    if (finding.role === null) log.info(`${this.#peer} may find the models and nothing else: ${finding.reason}`, deviceIndex);
    this.#owner.secured(this, socket, finding.role);
  }

  failed(reason: string): void {
    const { context: { counters, log, sweeper }, deviceIndex } = this.#owner;
    sweeper.delete(this);
    if (this.#givenUp !== null) {
      counters.handshakeFailures += 1;
      log.info(`${this.#peer}: no TLS session: ${this.#givenUp ?? reason}`, deviceIndex);
    }
    this.#owner.failed(this);
  }
}
