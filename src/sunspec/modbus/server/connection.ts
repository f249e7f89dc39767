import { errorText } from '../../../core/errors.ts';
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { peerOf } from '../../../core/net/listen.ts';
import type { Deafness } from './disturbance.ts';
import { sendLate, serve, serveWatched } from './exchange.ts';
import type { LateAnswer, Service } from './exchange.ts';
import { maxAdu } from '../framing/framing.ts';
import type { Framing, FramingResult } from '../framing/framing.ts';
import type { Asker } from './pdu.ts';
import { tapAnswer } from './tapping.ts';
import { SilenceWatch } from '../framing/silence.ts';
import type { Role } from '../access/roles.ts';
import type { Swept } from '../../../core/net/sweeper.ts';

/** The listener that accepted a connection, as the connection uses it. */
export interface ConnectionOwner extends Service {
  /** by which faults find the listener; undefined: it serves several devices */
  readonly faultIndex: number | undefined;
  closed(connection: Connection): void;
}

/** Answers are put together in this buffer and copied once; a batch never exceeds it. */
const scratchSize = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(scratchSize + maxAdu);
/** Requests of one peer that are served before other peers get their turn. */
const requestsPerTurn = 500;
/**
 * The same in time, since a request may cost far more than others: a write, or a read behind many faults. A tenth of
 * what all peers together have in a turn of the event loop.
 */
const msPerTurn = 0.5;
/** Requests that take less on average are not worth a look at the clock each: every fourth gets one. */
const cheapMs = 0.02;

/** One master: cuts its stream into requests and answers them in order. */
export class Connection implements Asker, Swept {
  readonly peer: string;
  readonly role?: Role | null;
  readonly connectedAtMs: number;
  /** monotonic time of the last octets received */
  lastMs: number;
  requests = 0;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #framing: Framing;
  /** counted from the beginning of the connection */
  readonly #deaf: Deafness | null;
  readonly #deafUntilMs: number;
  /** until it is the turn of this peer again, or it has taken its answers */
  #paused = false;
  /** an answer that fault injection holds back: nothing behind it is answered before */
  #late: LateAnswer | undefined;
  /** cancels the rest of it */
  #dropLate: (() => void) | undefined;
  #silence: SilenceWatch | undefined;
  /** the peer has ended its side */
  #ended = false;
  #closing = false;
  #closingSinceMs = 0;
  // what the last sweep saw, and which sweep saw it first
  #requestsSeen = -1;
  #frameSinceMs = 0;
  #takenSeen = -1;
  #takenSinceMs = 0;

  /**
   * @param deaf what arrives within this time is lost (fault injection)
   * @param role of a TLS session, as `Requester` has it
   */
  constructor(
    owner: ConnectionOwner,
    socket: Socket,
    framing: Framing,
    deaf: Deafness | null = null,
    role?: Role | null,
  ) {
    // before anything else: an `error` without a listener would end the process. `close` follows it
    socket.on('error', ignore);
    this.#owner = owner;
    this.#socket = socket;
    this.#framing = framing;
    this.peer = peerOf(socket);
    if (role !== undefined) this.role = role;
    const { clock, sweeper, log } = owner.context;
    this.connectedAtMs = clock.nowMs();
    this.lastMs = clock.monotonicMs();
    this.#deaf = deaf;
    this.#deafUntilMs = deaf === null ? 0 : this.lastMs + deaf.ms;
    socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
    socket.on('drain', () => {
      this.#resumeLater();
    });
    // a peer that has ended its side still gets the answers that wait for their turn
    socket.allowHalfOpen = true;
    socket.on('end', () => {
      this.#ended = true;
      if (this.#late === undefined) this.#goOn();
      else this.end();
    });
    socket.on('close', () => {
      this.#closed();
    });
    sweeper.add(this);
    if (log.keepsDebug) log.debug(`${this.peer} connected`, owner.deviceIndex);
  }

  /** Octets of answers that wait for the peer. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Octets held for this peer: answers, and requests not yet answered. */
  get heldBytes(): number {
    return this.unsentBytes + this.#framing.heldLength + this.#socket.readableLength;
  }

  /** Whether its requests are not read at present, because it does not take the answers. */
  get paused(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Ends the connection when what is written has been taken, and at the latest in a second. */
  end(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#dropLate?.();
    this.#closingSinceMs = this.#owner.context.clock.monotonicMs();
    this.#socket.pause();
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#closing = true;
    this.#dropLate?.();
    this.#socket.destroy();
  }

  internalError(error: unknown): void {
    const { counters, log } = this.#owner.context;
    counters.internalErrors += 1;
    const reason = errorText(error);
    log.error(`a request of ${this.peer} failed and was answered with exception 4: ${reason}`, this.#owner.deviceIndex);
  }

  /** Applies the time limits. */
  sweep(): void {
    const { clock, limits, disturber } = this.#owner.context;
    const now = clock.monotonicMs();
    if (this.#closing) {
      if (now - this.#closingSinceMs >= closingMs) this.destroy();
    } else if (disturber?.active === true && disturber.cuts(this.#owner.faultIndex)) {
      this.destroy();
    } else if (this.#late !== undefined) {
      // the simulator keeps the peer waiting, not the other way round
      this.#frameSinceMs = this.#takenSinceMs = now;
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
    const now = clock.monotonicMs();
    this.lastMs = counters.lastActivityMs = now;
    if (now < this.#deafUntilMs && this.#deaf?.isTakenBack() === false) return;
    this.#framing.push(chunk, now);
    if (this.#owner.context.turns.isUsedUp) this.#waitTurn();
    else this.#pump(now);
  }

  /**
   * Answers what has come in: one write per chunk, unless the answers exceed what
   * may wait unsent. False when the rest has to wait, or there is none.
   */
  #pump(begunMs = this.#owner.context.clock.monotonicMs()): boolean {
    const socket = this.#socket;
    const framing = this.#framing;
    const { clock, limits, turns } = this.#owner.context;
    let served = 0;
    let tookMs = 0;
    let isOver = false;
    let result: FramingResult;
    do {
      const room = Math.min(scratchSize, limits.maxUnsentBytes - socket.writableLength);
      let at = 0;
      do {
        result = framing.next();
        if (result !== 'frame') break;
        at = this.#exchange(at);
        served += 1;
        if (served % 4 === 1 || tookMs > served * cheapMs) tookMs = clock.monotonicMs() - begunMs;
        isOver = served >= requestsPerTurn || tookMs >= msPerTurn;
      } while (at < room && !isOver && this.#late === undefined);
      const taken = at === 0 || this.#write(at);
      if (this.#late !== undefined) {
        this.#hold(this.#late);
        return false;
      }
      if (result === 'broken') {
        this.#violation();
        return false;
      }
      if (!taken || isOver) {
        turns.spent(tookMs);
        // otherwise `drain` follows
        if (taken) this.#waitTurn();
        else this.#pause();
        return false;
      }
    } while (result === 'frame');
    turns.spent(tookMs);
    if (framing.awaitedSilenceMs > 0) this.#watchSilence();
    else if (this.#ended) socket.end();
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
    this.requests += 1;
    const { disturber, tap } = this.#owner.context;
    if (disturber?.active === true || tap?.active === true) return this.#watchedExchange(at);
    return serve(this.#framing, this.#owner, this, scratch, at);
  }

  #watchedExchange(at: number): number {
    const { end, late, tapped } = serveWatched(this.#framing, this.#owner, this, scratch, at);
    if (late === null) {
      if (tapped !== null) tapAnswer(tapped, scratch, at, end);
      return end;
    }
    this.#late = late;
    return at;
  }

  /** Reads no further until a late answer has left. */
  #hold(late: LateAnswer): void {
    this.#socket.pause();
    this.#dropLate = sendLate(
      late,
      this.#owner.context.later,
      (chunk) => {
        this.#socket.write(chunk);
      },
      () => {
        this.#late = this.#dropLate = undefined;
        if (late.close) {
          this.end();
        } else {
          this.#paused = true;
          this.#resume();
        }
      },
    );
  }

  /**
   * Behind the other sockets: a chunk holds thousands of requests, and Node reads up to 32 chunks of one socket before
   * it looks at the next.
   */
  #waitTurn(): void {
    this.#pause();
    this.#resumeLater();
  }

  #pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  #resumeLater(): void {
    this.#owner.context.turns.wait(() => {
      this.#resume();
    });
  }

  /** Answers what was left over, then reads on; not before the peer has taken everything. */
  #resume(): void {
    if (!this.#paused || this.#closing || this.#socket.writableNeedDrain) return;
    this.#paused = false;
    if (this.#pump()) this.#socket.resume();
  }

  /** Serves frames that the framing found although no octets came in. */
  #goOn(): void {
    if (!this.#closing && !this.#paused && this.#late === undefined) this.#pump();
  }

  #watchSilence(): void {
    this.#silence ??= new SilenceWatch(
      this.#framing,
      this.#owner.context,
      () => this.lastMs,
      () => {
        this.#goOn();
      },
    );
    this.#silence.watch();
  }

  /** Time for which the peer has taken none of the waiting octets, ms. */
  #stalledMs(now: number): number {
    const unsent = this.#socket.writableLength;
    const taken = unsent === 0 ? -1 : this.#socket.bytesWritten - unsent;
    if (taken === -1 || taken !== this.#takenSeen) {
      this.#takenSeen = taken;
      this.#takenSinceMs = now;
    }
    return now - this.#takenSinceMs;
  }

  /** Time since a frame began without any frame ending since, ms. */
  #unfinishedMs(now: number): number {
    const requests = this.#framing.keptLength === 0 ? -1 : this.requests;
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
    this.#dropLate?.();
    sweeper.delete(this);
    this.#owner.closed(this);
    if (log.keepsDebug) {
      log.debug(`${this.peer} disconnected after ${this.requests} requests`, this.#owner.deviceIndex);
    }
  }
}

/** Seen by the sweep behind it: with its interval no more than a second. */
const closingMs = 500;

function ignore(): void {
  /* `close` follows and cleans up */
}
