/** The connections of the listener for notifications: their maximum and their times. */
import type { Socket } from 'node:net';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';

export interface ConnectionLimits {
  readonly connections: number;
  readonly handshakeMs: number;
  readonly requestMs: number;
}

interface Known {
  readonly socket: Socket;
  readonly key: string;
  stage: 'handshake' | 'waiting' | 'request';
  /** monotonic ms */
  sinceMs: number;
  endWait: () => void;
}

/** A connection, and the TLS session on it, by its other end. */
const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

export class ListenerConnections {
  readonly #limits: ConnectionLimits;
  readonly #clock: WallClock;
  readonly #later: Later;
  readonly #open = new Map<string, Known>();

  constructor(limits: ConnectionLimits, clock: WallClock, later: Later) {
    this.#limits = limits;
    this.#clock = clock;
    this.#later = later;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A new connection, which has limited time for its handshake. @returns false: there is no place, and it is closed */
  admit(socket: Socket): boolean {
    socket.on('error', () => socket.destroy());
    if (this.#open.size >= this.#limits.connections && !this.#makeRoom()) {
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const endWait = this.#later(this.#limits.handshakeMs, () => socket.destroy());
    const known: Known = { socket, key, stage: 'handshake', sinceMs: this.#clock.monotonicMs(), endWait };
    this.#open.set(key, known);
    socket.once('close', () => {
      known.endWait();
      if (this.#open.get(key) === known) this.#open.delete(key);
    });
    return true;
  }

  /** A request is to come whole within its time. @param socket also the TLS session on a connection */
  waits(socket: Socket): void {
    const known = this.#open.get(keyOf(socket));
    if (known === undefined) return;
    known.endWait();
    known.stage = 'waiting';
    known.sinceMs = this.#clock.monotonicMs();
    known.endWait = this.#later(this.#limits.requestMs, () => known.socket.destroy());
  }

  /** The headers of a request are there. */
  works(socket: Socket): void {
    const known = this.#open.get(keyOf(socket));
    if (known !== undefined) known.stage = 'request';
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** One without a certificate gives way first, then the one that has waited for longest; a request is not broken off. */
  #makeRoom(): boolean {
    const [idle] = [...this.#open.values()]
      .filter(({ stage }) => stage !== 'request')
      .sort((a, b) => Number(b.stage === 'handshake') - Number(a.stage === 'handshake') || a.sinceMs - b.sinceMs);
    if (idle === undefined) return false;
    this.#open.delete(idle.key);
    idle.socket.destroy();
    return true;
  }
}
