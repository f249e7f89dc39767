/** Pings of a client of a stream, and the reasons to cut it off: a flood of control frames, no answer, nothing read. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { controlCounter, maxControlFrames } from '../core/net/control-frames.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { Outbox } from './outbox.ts';

/** Unread bytes at which a client that pings is cut off: it would get ever more answers that it does not read. */
const maxUnsentBytes = 1024 * 1024;
const policyCode = 1008;

export interface LivenessLimits {
  readonly pingIntervalMs: number;
  /** time without a pong after which a client is closed */
  readonly pongTimeoutMs: number;
  /** time without progress after which a client is closed */
  readonly stallTimeoutMs: number;
  /** maximum time for the closing handshake */
  readonly closeTimeoutMs: number;
}

export const livenessLimits: LivenessLimits = {
  pingIntervalMs: 30_000,
  pongTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  closeTimeoutMs: 500,
};

interface LivenessOptions {
  readonly socket: WebSocket;
  readonly tcp: Socket;
  readonly outbox: Outbox;
  readonly clock: WallClock;
  readonly limits: LivenessLimits;
  /** @param reason that completes "client ..." */
  readonly warn: (reason: string) => void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  /** time of the last pong, or of the connection */
  #lastPongMs: number;
  #hasPonged = false;

  constructor(options: LivenessOptions) {
    const { socket, tcp, clock } = options;
    this.#options = options;
    this.#lastPongMs = clock.monotonicMs();
    const countControl = controlCounter(clock);
    /** Counts a ping or pong. @returns false: there were too many, and it is ignored */
    const countAccepted = () => {
      const count = countControl();
      if (count === maxControlFrames + 1) this.#closeFlooding();
      return count <= maxControlFrames;
    };
    socket.on('ping', (data: Buffer) => {
      if (!countAccepted() || socket.readyState !== socket.OPEN) return;
      if (tcp.writableLength > maxUnsentBytes) socket.terminate();
      else socket.pong(data);
    });
    socket.on('pong', () => {
      if (!countAccepted()) return;
      this.#lastPongMs = clock.monotonicMs();
      this.#hasPonged = true;
    });
  }

  /** Time since the last pong; null: there was none. */
  get pongAgeMs(): number | null {
    return this.#hasPonged ? this.#silentMs : null;
  }

  get #silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#lastPongMs;
  }

  /** Applies the time limits, otherwise sends the next ping. */
  check(): void {
    const { socket, outbox, limits, warn } = this.#options;
    if (outbox.stalledMs() >= limits.stallTimeoutMs) {
      warn('reads nothing and is closed');
      socket.close(policyCode, 'nothing read');
      // the close frame would wait behind data that the client does not read
      socket.terminate();
    } else if (this.#silentMs >= limits.pongTimeoutMs) {
      warn('does not answer pings and is closed');
      socket.terminate();
    } else {
      socket.ping();
    }
  }

  /** Closes with 1008 and stops reading, because the answer of the client would follow the rest of its flood. */
  #closeFlooding(): void {
    const { socket, outbox, limits, warn } = this.#options;
    warn('sends too many pings and is closed');
    if (socket.readyState !== socket.OPEN) {
      socket.terminate();
      return;
    }
    outbox.close();
    socket.close(policyCode, 'too many pings');
    socket.pause();
    const cutOff = setTimeout(() => socket.terminate(), limits.closeTimeoutMs);
    socket.once('close', () => clearTimeout(cutOff));
  }
}
