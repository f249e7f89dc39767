import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { peerOf } from '../../core/listen.ts';
import { modbusException } from './errors.ts';
import { answer, answerException, isException, maxAnswer, MbapSplitter, unitIdOf } from './mbap.ts';
import type { Asker, MbapResult } from './mbap.ts';
import type { ModbusContext } from './context.ts';
import type { Swept } from './sweeper.ts';
import type { ModbusUnit } from './unit.ts';

/** What a connection needs of the listener that accepted it. */
export interface ConnectionOwner {
  readonly context: ModbusContext;
  /** the device that lines of the log are about */
  readonly deviceIndex: number | undefined;
  readonly units: (unitId: number) => ModbusUnit | undefined;
  closed(connection: Connection): void;
}

/** Answers are put together here and copied once; a batch never exceeds it. */
const scratchSize = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(scratchSize + maxAnswer);

/** One master: cuts its stream into requests and answers them in order. */
export class Connection implements Asker, Swept {
  readonly peer: string;
  readonly connectedAtMs: number;
  /** monotonic time of the last octets received */
  lastMs: number;
  requests = 0;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #splitter = new MbapSplitter();
  #paused = false;
  #closing = false;
  #closingSinceMs = 0;
  // what the last sweep saw, and which sweep saw it first
  #requestsSeen = -1;
  #frameSinceMs = 0;
  #takenSeen = -1;
  #takenSinceMs = 0;

  constructor(owner: ConnectionOwner, socket: Socket) {
    // before anything else: an `error` without a listener would end the process. `close` follows it
    socket.on('error', ignore);
    this.#owner = owner;
    this.#socket = socket;
    this.peer = peerOf(socket);
    const { clock, sweeper, log } = owner.context;
    this.connectedAtMs = clock.nowMs();
    this.lastMs = clock.monotonicMs();
    socket.on('data', (chunk: Buffer) => { this.#receive(chunk); });
    // behind the other sockets: `drain` comes on the next tick when the kernel takes everything, and a peer with
    // thousands of requests in one chunk would be served to its end before anybody else
    socket.on('drain', () => { setImmediate(() => { this.#resume(); }); });
    socket.on('close', () => { this.#closed(); });
    sweeper.add(this);
    log.debug(`${this.peer} connected`, owner.deviceIndex);
  }

  /** Octets of answers that wait for the peer. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Octets held for this peer: answers, and requests not yet answered. */
  get heldBytes(): number {
    return this.unsentBytes + this.#splitter.heldLength + this.#socket.readableLength;
  }

  /** Whether its requests are not read at present, because it does not take the answers. */
  get paused(): boolean {
    return this.#paused;
  }

  /** Ends the connection when what is written has been taken, and at the latest in a second. */
  end(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#closingSinceMs = this.#owner.context.clock.monotonicMs();
    this.#socket.pause();
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#closing = true;
    this.#socket.destroy();
  }

  internalError(error: unknown): void {
    const { counters, log } = this.#owner.context;
    counters.internalErrors += 1;
    const reason = error instanceof Error ? error.message : String(error);
    log.error(`a request of ${this.peer} failed and was answered with exception 4: ${reason}`, this.#owner.deviceIndex);
  }

  /** Applies the time limits. */
  sweep(): void {
    const { clock, limits } = this.#owner.context;
    const now = clock.monotonicMs();
    if (this.#closing) {
      if (now - this.#closingSinceMs >= closingMs) this.destroy();
    } else if (this.#stalledMs(now) >= limits.stalledMs) {
      this.#timeOut('it takes no answers');
    } else if (this.#unfinishedMs(now) >= limits.frameTimeoutMs) {
      this.#timeOut('a frame was begun and not finished');
    } else if (limits.idleTimeoutMs > 0 && now - this.lastMs >= limits.idleTimeoutMs) {
      this.#timeOut('it was idle');
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#closing) return;
    const { clock, counters } = this.#owner.context;
    this.lastMs = counters.lastActivityMs = clock.monotonicMs();
    this.#splitter.push(chunk);
    this.#pump();
  }

  /**
   * Answers what has come in: one write per chunk, unless the answers exceed what
   * may wait unsent. False when the rest has to wait, or there is none.
   */
  #pump(): boolean {
    const socket = this.#socket;
    const { maxUnsentBytes } = this.#owner.context.limits;
    let result: MbapResult;
    do {
      const room = Math.min(scratchSize, maxUnsentBytes - socket.writableLength);
      let at = 0;
      do {
        result = this.#splitter.next();
        if (result !== 'frame') break;
        at = this.#exchange(at);
      } while (at < room);
      const taken = at === 0 || this.#write(at);
      if (result === 'broken') {
        this.#violation();
        return false;
      }
      if (!taken) {
        this.#paused = true;
        socket.pause();
        return false;
      }
    } while (result === 'frame');
    return true;
  }

  /** Hands the scratch buffer up to `end` over; false when the peer has to catch up first. */
  #write(end: number): boolean {
    const answers = Buffer.allocUnsafe(end);
    scratch.copy(answers, 0, 0, end);
    return this.#socket.write(answers);
  }

  /** Answers the frame at hand into the scratch buffer from `at`; returns the end of the answer. */
  #exchange(at: number): number {
    const splitter = this.#splitter;
    const { units, context } = this.#owner;
    const { counters, foreignUnit } = context;
    this.requests += 1;
    counters.requests += 1;
    const unit = units(unitIdOf(splitter));
    let end;
    if (unit !== undefined) {
      end = answer(splitter, unit, this, scratch, at);
    } else {
      counters.foreign += 1;
      if (foreignUnit === 'silent') return at;
      end = answerException(splitter, modbusException.gatewayTargetFailed, scratch, at);
    }
    counters.answers += 1;
    if (isException(scratch, at)) counters.exceptions += 1;
    return end;
  }

  /** The peer has taken everything: answer what was left over, then read on. */
  #resume(): void {
    if (!this.#paused || this.#closing) return;
    this.#paused = false;
    if (this.#pump()) this.#socket.resume();
  }

  /** How long the peer has taken nothing of what waits for it. */
  #stalledMs(now: number): number {
    const unsent = this.#socket.writableLength;
    const taken = unsent === 0 ? -1 : this.#socket.bytesWritten - unsent;
    if (taken === -1 || taken !== this.#takenSeen) {
      this.#takenSeen = taken;
      this.#takenSinceMs = now;
    }
    return now - this.#takenSinceMs;
  }

  /** How long a frame has been under way and none has ended. */
  #unfinishedMs(now: number): number {
    const requests = this.#splitter.keptLength === 0 ? -1 : this.requests;
    if (requests === -1 || requests !== this.#requestsSeen) {
      this.#requestsSeen = requests;
      this.#frameSinceMs = now;
    }
    return now - this.#frameSinceMs;
  }

  #violation(): void {
    const { counters, log } = this.#owner.context;
    counters.violations += 1;
    log.info(`${this.peer} closed: its stream is not Modbus TCP (protocol id or length)`, this.#owner.deviceIndex);
    this.end();
  }

  #timeOut(reason: string): void {
    const { counters, log } = this.#owner.context;
    counters.timeouts += 1;
    log.info(`${this.peer} closed: ${reason}`, this.#owner.deviceIndex);
    this.destroy();
  }

  #closed(): void {
    const { sweeper, log } = this.#owner.context;
    this.#closing = true;
    sweeper.delete(this);
    this.#owner.closed(this);
    log.debug(`${this.peer} disconnected after ${this.requests} requests`, this.#owner.deviceIndex);
  }
}

const closingMs = 1000;

function ignore(): void { /* `close` follows and does what is to be done */ }
