import type { Piece } from './frames.ts';

/** The part of the TCP socket under a WebSocket that the outbox uses. */
export interface OutboxSocket {
  /** bytes given to `write` that the kernel has not accepted */
  readonly writableLength: number;
  write(data: Buffer): boolean;
  cork(): void;
  uncork(): void;
  /** emitted when all bytes have been accepted, after more than the socket's high-water mark was waiting */
  on(event: 'drain', listener: () => void): unknown;
}

/**
 * Limits of the data waiting for one client. All clients of a kind share one object, which changes with the number of
 * devices.
 */
export interface OutboxBounds {
  messages: number;
  bytes: number;
  /** number of messages that are always kept: the newest of each selected device */
  minMessages: number;
}

/** Counts over all clients. */
export interface Tally {
  sent: number;
  dropped: number;
}

export interface OutboxOptions {
  readonly socket: OutboxSocket;
  /** the WebSocket of the socket; after its first close frame it is not open, and no message may follow */
  readonly channel: { readonly readyState: number };
  readonly bounds: OutboxBounds;
  readonly tally: Tally;
  /** bytes waiting in the socket above which no more data is handed over; default 64 KiB */
  readonly highWaterBytes?: number;
  /** monotonic ms */
  readonly nowMs: () => number;
}

const defaultHighWaterBytes = 64 * 1024;
/** `WebSocket.OPEN` */
const open = 1;
/** emptied places at the front of the queue before it is compacted */
const maxEmptyPlaces = 64;

/**
 * Bounded queue of one client; messages handed to the socket can no longer be dropped.
 *
 * Prepared frames go straight to the socket: the library would build a header, two writes and a callback for each
 * client. Control frames stay with the library; both sides write whole frames, so that they cannot mix.
 */
export class Outbox {
  readonly #socket: OutboxSocket;
  readonly #channel: { readonly readyState: number };
  readonly #bounds: OutboxBounds;
  readonly #tally: Tally;
  readonly #highWaterBytes: number;
  readonly #nowMs: () => number;
  readonly #queue: (Buffer | undefined)[] = [];
  /** place of the oldest waiting message; the places before it are empty */
  #front = 0;
  #waitingBytes = 0;
  /** bytes handed to the socket since the start */
  #handedBytes = 0;
  #sent = 0;
  #dropped = 0;
  #closed = false;
  /** true: the socket holds data, and its progress is noted below */
  #isWatched = false;
  /** bytes that the kernel had accepted at the last progress */
  #acceptedBytes = 0;
  #lastProgressMs = 0;

  constructor({ socket, channel, bounds, tally, highWaterBytes = defaultHighWaterBytes, nowMs }: OutboxOptions) {
    this.#socket = socket;
    this.#channel = channel;
    this.#bounds = bounds;
    this.#tally = tally;
    this.#highWaterBytes = highWaterBytes;
    this.#nowMs = nowMs;
    socket.on('drain', () => {
      this.#flush();
    });
  }

  /** number of waiting messages */
  get waiting(): number {
    return this.#queue.length - this.#front;
  }

  /** bytes of the waiting messages */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** bytes handed to the socket that the kernel has not accepted */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  get sent(): number {
    return this.#sent;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** @param frame a whole WebSocket frame */
  push(frame: Buffer): void {
    if (this.#closed || this.#channel.readyState !== open) return;
    if (this.waiting === 0 && this.#handOver(frame, 1)) return;
    this.#enqueue(frame);
    this.#flush();
  }

  /** Queues a tick of all devices: whole pieces while there is room, then single messages. */
  pushAll(pieces: readonly Piece[]): void {
    if (this.#closed || this.#channel.readyState !== open) return;
    for (const { frames, joined } of pieces) {
      if (this.waiting === 0 && this.#handOver(joined, frames.length)) continue;
      for (const frame of frames) this.#enqueue(frame);
    }
    if (this.waiting > 0) this.#flush();
  }

  /** Ms since the kernel last accepted waiting data; 0: no data waits. */
  stalledMs(): number {
    const unsent = this.#socket.writableLength;
    if (unsent === 0) return 0;
    // `unsent` includes control frames of the library and `#handedBytes` does not: progress can only look too small
    if (!this.#isWatched || this.#handedBytes - unsent > this.#acceptedBytes) this.#noteProgress(unsent);
    return this.#nowMs() - this.#lastProgressMs;
  }

  /** Drops the waiting messages and accepts no more. */
  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    this.#front = 0;
    this.#waitingBytes = 0;
  }

  #noteProgress(unsent: number): void {
    this.#isWatched = true;
    this.#acceptedBytes = this.#handedBytes - unsent;
    this.#lastProgressMs = this.#nowMs();
  }

  /** Hands data to the socket, unless too much waits there. @returns true if the socket has it */
  #handOver(bytes: Buffer, messages: number): boolean {
    const unsent = this.#socket.writableLength;
    if (unsent === 0) this.#isWatched = false;
    else if (!this.#isWatched) this.#noteProgress(unsent);
    if (unsent >= this.#highWaterBytes) return false;
    this.#socket.write(bytes);
    this.#handedBytes += bytes.length;
    this.#sent += messages;
    this.#tally.sent += messages;
    return true;
  }

  #enqueue(frame: Buffer): void {
    const { messages, bytes, minMessages } = this.#bounds;
    this.#queue.push(frame);
    this.#waitingBytes += frame.length;
    while (this.waiting > messages || (this.#waitingBytes > bytes && this.waiting > Math.max(1, minMessages))) {
      this.#shift();
      this.#dropped += 1;
      this.#tally.dropped += 1;
    }
  }

  #shift(): void {
    this.#waitingBytes -= this.#queue[this.#front]?.length ?? 0;
    this.#queue[this.#front] = undefined;
    this.#front += 1;
    if (this.#front > maxEmptyPlaces && 2 * this.#front > this.#queue.length) {
      this.#queue.splice(0, this.#front);
      this.#front = 0;
    }
  }

  #flush(): void {
    if (this.#closed || this.waiting === 0 || this.#channel.readyState !== open) return;
    if (this.#socket.writableLength >= this.#highWaterBytes) return;
    this.#socket.cork();
    for (let next = this.#queue[this.#front]; next && this.#handOver(next, 1); next = this.#queue[this.#front])
      this.#shift();
    this.#socket.uncork();
  }
}
