/** What the outbox needs of a WebSocket. */
export interface OutboxSocket {
  /** bytes given to `send` that the kernel has not taken */
  readonly bufferedAmount: number;
  send(data: Buffer, options: { binary: false }, done: (error?: Error) => void): void;
}

interface OutboxOptions {
  /** messages that may wait; beyond it the oldest goes */
  readonly capacity: number;
  /** bytes in the socket above which nothing more is handed over; default 64 KiB */
  readonly highWaterBytes?: number;
  /** monotonic ms */
  readonly nowMs: () => number;
}

/** Bounded queue of one slow or fast client; what it has given to the socket cannot be dropped any more. */
export interface Outbox {
  push(message: Buffer): void;
  /** messages waiting here */
  readonly waiting: number;
  readonly sent: number;
  readonly dropped: number;
  /** ms for which the client has taken nothing although something is under way; 0 when nothing is */
  stalledMs(): number;
  /** Forgets what waits; nothing more is handed over. */
  close(): void;
}

const defaultHighWaterBytes = 64 * 1024;

export function createOutbox(socket: OutboxSocket, options: OutboxOptions): Outbox {
  const { capacity, highWaterBytes = defaultHighWaterBytes, nowMs } = options;
  const ring = new Array<Buffer | undefined>(capacity);
  let first = 0;
  let waiting = 0;
  let underWay = 0;
  let sent = 0;
  let dropped = 0;
  let closed = false;
  let lastTakenMs = nowMs();

  function shift(): Buffer | undefined {
    const message = ring[first];
    ring[first] = undefined;
    first = (first + 1) % capacity;
    waiting -= 1;
    return message;
  }

  function taken(error?: Error): void {
    underWay -= 1;
    if (error) return;
    lastTakenMs = nowMs();
    flush();
  }

  function flush(): void {
    while (!closed && waiting > 0 && socket.bufferedAmount < highWaterBytes) {
      const message = shift();
      if (!message) continue;
      if (underWay === 0) lastTakenMs = nowMs();
      underWay += 1;
      sent += 1;
      socket.send(message, { binary: false }, taken);
    }
  }

  return {
    push(message) {
      if (closed) return;
      if (waiting === capacity) {
        shift();
        dropped += 1;
      }
      ring[(first + waiting) % capacity] = message;
      waiting += 1;
      flush();
    },
    get waiting() { return waiting; },
    get sent() { return sent; },
    get dropped() { return dropped; },
    stalledMs: () => (underWay === 0 ? 0 : nowMs() - lastTakenMs),
    close() {
      closed = true;
      ring.fill(undefined);
      waiting = 0;
    },
  };
}
