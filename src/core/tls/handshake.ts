import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../log/log.ts';
import { peerOf } from '../net/listen.ts';
import type { Swept, Sweeper } from '../net/sweeper.ts';
import type { WallClock } from '../time/clock.ts';
import type { HandshakeEnd, TlsGate } from './gate.ts';

/** Clock, log and sweeper that the listeners of a group share for their handshakes. */
export interface HandshakeContext {
  readonly clock: WallClock;
  readonly log: Pick<Logger, 'info'>;
  readonly sweeper: Pick<Sweeper, 'add' | 'delete'>;
  readonly limits: { readonly handshakeTimeoutMs: number };
  readonly counters: { handshakeFailures: number };
}

/** The part of a listener that its handshakes use. */
export interface HandshakeOwner<Identity> {
  readonly context: HandshakeContext;
  /** the device that lines of the log are about */
  readonly deviceIndex: number | undefined;
  secured(handshake: Handshake<Identity>, socket: TLSSocket, identity: Identity): void;
  failed(handshake: Handshake<Identity>): void;
}

/** A connection before its session: it has limited time to show its certificate. */
export class Handshake<Identity> implements Swept, HandshakeEnd<Identity> {
  readonly peer: string;
  readonly #owner: HandshakeOwner<Identity>;
  readonly #socket: Socket;
  readonly #sinceMs: number;
  /** reason for giving it up; null: given up without being a failure; undefined: not given up */
  #givenUp: string | null | undefined;

  constructor(owner: HandshakeOwner<Identity>, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.peer = peerOf(socket);
    this.#sinceMs = owner.context.clock.monotonicMs();
    owner.context.sweeper.add(this);
  }

  /** One of `secured` and `failed` of the owner follows. */
  begin(gate: TlsGate<Identity>): void {
    gate.admit(this.#socket, this);
  }

  /** Ends the handshake without a failure: the listener closes, or a fault needs its place. */
  abandon(): void {
    this.#end(null);
  }

  /** A later handshake needs its place. */
  giveWay(): void {
    this.#end('too many others were begun and not finished');
  }

  sweep(): void {
    const { clock, limits } = this.#owner.context;
    if (clock.monotonicMs() - this.#sinceMs >= limits.handshakeTimeoutMs) this.#end('it was not finished in time');
  }

  secured(socket: TLSSocket, identity: Identity): void {
    this.#owner.context.sweeper.delete(this);
    this.#owner.secured(this, socket, identity);
  }

  failed(reason: string): void {
    const {
      context: { counters, log, sweeper },
      deviceIndex,
    } = this.#owner;
    sweeper.delete(this);
    if (this.#givenUp !== null) {
      counters.handshakeFailures += 1;
      log.info(`${this.peer}: no TLS session: ${this.#givenUp ?? reason}`, deviceIndex);
    }
    this.#owner.failed(this);
  }

  #end(reason: string | null): void {
    if (this.#givenUp === undefined) this.#givenUp = reason;
    this.#socket.destroy();
  }
}
