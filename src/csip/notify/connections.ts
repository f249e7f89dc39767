/** The connections of the listener for notifications: their maximum and their timeouts. */
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

/** Key of a connection and of the TLS session on it: address and port of the peer. */
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

  /** Adds a connection and starts the timeout of its handshake. @returns false: no room, the connection is closed */
  admit(socket: Socket): boolean {
    socket.on('error', () => socket.destroy());
    if (this.#open.size >= this.#limits.connections && !this.#makeRoom()) {
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const endWait = this.#later(this.#limits.handshakeMs, () => socket.destroy());
    const connection: Known = { socket, key, stage: 'handshake', sinceMs: this.#clock.monotonicMs(), endWait };
    this.#open.set(key, connection);
    socket.once('close', () => {
      connection.endWait();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    return true;
  }

  /** Starts the timeout of the next request. @param socket connection, or TLS session on it */
  waits(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return;
    connection.endWait();
    connection.stage = 'waiting';
    connection.sinceMs = this.#clock.monotonicMs();
    connection.endWait = this.#later(this.#limits.requestMs, () => connection.socket.destroy());
  }

  /** Marks a connection whose request headers have arrived. */
  works(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection !== undefined) connection.stage = 'request';
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Closes the oldest connection in its TLS handshake, else the one idle for longest; none with a request under way. */
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
