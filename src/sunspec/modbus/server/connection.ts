import { errorText } from '../../../core/errors.ts';
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { addressOf, peerOf } from '../../../core/net/listen.ts';
import type { ConnectionJudge, Deafness, MasterIdentity } from './context.ts';
import { sendLate, serve, serveWatched, tapAnswer } from './exchange.ts';
import type { LateAnswer, Service } from './exchange.ts';
import { maxAdu } from '../framing/framing.ts';
import type { Framing, FramingResult } from '../framing/framing.ts';
import type { Asker } from './pdu.ts';
import { SilenceWatch } from '../framing/silence.ts';
import type { Role } from '../access/certificate-role.ts';
import type { Swept } from '../../../core/net/sweeper.ts';

/** The part of a listener that its connections use. */
export interface ConnectionOwner extends Service {
  /** index of the listener for faults; undefined: several devices */
  readonly faultIndex: number | undefined;
  closed(connection: Connection): void;
}

/** Buffer for answers, copied once per batch; a batch never exceeds it. */
const scratchSize = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(scratchSize + maxAdu);
/** Requests of one peer served before the other peers get their turn. */
const requestsPerTurn = 500;
/**
 * Time limit of a turn (ms), since some requests cost far more: a write, or a read under many faults. A tenth of the
 * time of all peers in a turn of the event loop.
 */
const msPerTurn = 0.5;
/** Below this mean time per request (ms) the clock is read at every fourth request only. */
const cheapMs = 0.02;

/** One master: cuts its stream into requests and answers them in order. */
export class Connection implements Asker, Swept {
  readonly peer: string;
  readonly role?: Role | null;
  readonly judge: ConnectionJudge | null;
  readonly connectedAtMs: number;
  /** monotonic time of the last octets received */
  lastMs: number;
  requests = 0;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #framing: Framing;
  /** from the begin of the connection */
  readonly #deaf: Deafness | null;
  readonly #deafUntilMs: number;
  /** true until the next turn of this peer, or until it has read its answers */
  #paused = false;
  /** an answer delayed by fault injection; later requests wait */
  #late: LateAnswer | undefined;
  /** cancels the rest of the late answer */
  #dropLate: (() => void) | undefined;
  #silence: SilenceWatch | undefined;
  /** the peer has ended its side */
  #ended = false;
  #closing = false;
  #closingSinceMs = 0;
  // state at the last sweep, and the time of the sweep that first saw it
  #requestsSeen = -1;
  #frameSinceMs = 0;
  #takenSeen = -1;
  #takenSinceMs = 0;

  /**
   * @param deaf octets received within this time are lost (fault injection)
   * @param role of a TLS session, as in `Requester`
   */
  constructor(
    owner: ConnectionOwner,
    socket: Socket,
    framing: Framing,
    deaf: Deafness | null = null,
    role?: Role | null,
  ) {
    // first of all: an `error` without a listener would end the process; `close` follows each error
    socket.on('error', ignore);
    this.#owner = owner;
    this.#socket = socket;
    this.#framing = framing;
    this.peer = peerOf(socket);
    if (role !== undefined) this.role = role;
    const { clock, sweeper, log, judge } = owner.context;
    this.judge = judge?.connected(identityOf(socket, role)) ?? null;
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
    // a half-closed peer still gets the waiting answers
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

  /** Octets of answers not yet sent to the peer. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Octets held for this peer: answers and unanswered requests. */
  get heldBytes(): number {
    return this.unsentBytes + this.#framing.heldLength + this.#socket.readableLength;
  }

  /** True while the requests of the peer are not read, because the peer does not read the answers. */
  get paused(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Ends the connection when all output is sent, within a second. */
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
    const { counters, log, report } = this.#owner.context;
    const text = `a request of ${this.peer} failed and was answered with exception 4: ${errorText(error)}`;
    counters.internalErrors += 1;
    report.failed(text);
    log.error(text, this.#owner.deviceIndex);
  }

  /** Applies the time limits. */
  sweep(): void {
    const { clock, limits, disturber } = this.#owner.context;
    const nowMs = clock.monotonicMs();
    if (this.#closing) {
      if (nowMs - this.#closingSinceMs >= closingMs) this.destroy();
    } else if (disturber?.active === true && disturber.cuts(this.#owner.faultIndex)) {
      this.destroy();
    } else if (this.#late !== undefined) {
      // while an answer is delayed the peer is not late: its time limits start anew
      this.#frameSinceMs = this.#takenSinceMs = nowMs;
    } else if (this.#stalledMs(nowMs) >= limits.stalledMs) {
      this.#timeOut('it does not read its answers');
    } else if (this.#unfinishedMs(nowMs) >= limits.frameTimeoutMs) {
      this.judge?.unfinished();
      this.#timeOut('a frame was begun and not finished');
    } else if (limits.idleTimeoutMs > 0 && nowMs - this.lastMs >= limits.idleTimeoutMs) {
      this.#timeOut('it was idle');
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#closing) return;
    const { clock, counters } = this.#owner.context;
    const nowMs = clock.monotonicMs();
    this.lastMs = counters.lastActivityMs = nowMs;
    if (nowMs < this.#deafUntilMs && this.#deaf?.isTakenBack() === false) return;
    this.judge?.received(nowMs);
    this.#framing.push(chunk, nowMs);
    if (this.#owner.context.turns.isUsedUp) this.#waitTurn();
    else this.#pump(nowMs);
  }

  /**
   * Answers received requests: one write per chunk, unless the answers exceed the unsent limit.
   * @returns false: requests may remain, or the connection ends
   */
  #pump(startMs = this.#owner.context.clock.monotonicMs()): boolean {
    const socket = this.#socket;
    const framing = this.#framing;
    const { clock, limits, turns } = this.#owner.context;
    let served = 0;
    let elapsedMs = 0;
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
        if (served % 4 === 1 || elapsedMs > served * cheapMs) elapsedMs = clock.monotonicMs() - startMs;
        isOver = served >= requestsPerTurn || elapsedMs >= msPerTurn;
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
        turns.spent(elapsedMs);
        // without room in the socket `drain` follows
        if (taken) this.#waitTurn();
        else this.#pause();
        return false;
      }
    } while (result === 'frame');
    turns.spent(elapsedMs);
    if (framing.awaitedSilenceMs > 0) this.#watchSilence();
    else if (this.#ended) socket.end();
    return true;
  }

  /** Writes the scratch buffer up to `end`; false: wait for the peer to read. */
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

  /** Stops reading until a late answer is sent. */
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
   * Waits for a turn after the other sockets: a chunk holds thousands of requests, and Node reads up to 32 chunks of
   * one socket before the next socket.
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

  /** Answers the remaining requests, then reads on, once the peer has read everything. */
  #resume(): void {
    if (!this.#paused || this.#closing || this.#socket.writableNeedDrain) return;
    this.#paused = false;
    if (this.#pump()) this.#socket.resume();
  }

  /** Serves frames that silence completes, or that remain when the peer has ended its side. */
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

  /** Time since the peer last read any waiting octets, ms. */
  #stalledMs(nowMs: number): number {
    const unsent = this.#socket.writableLength;
    const taken = unsent === 0 ? -1 : this.#socket.bytesWritten - unsent;
    if (taken === -1 || taken !== this.#takenSeen) {
      this.#takenSeen = taken;
      this.#takenSinceMs = nowMs;
    }
    return nowMs - this.#takenSinceMs;
  }

  /** Time since the begin of an unfinished frame, ms, restarted by each finished one. */
  #unfinishedMs(nowMs: number): number {
    const requests = this.#framing.keptLength === 0 ? -1 : this.requests;
    if (requests === -1 || requests !== this.#requestsSeen) {
      this.#requestsSeen = requests;
      this.#frameSinceMs = nowMs;
    }
    return nowMs - this.#frameSinceMs;
  }

  #violation(): void {
    const { counters, log, report } = this.#owner.context;
    const text = `${this.peer} closed: its stream is not Modbus TCP (protocol id or length)`;
    counters.violations += 1;
    report.failed(text);
    this.judge?.broken();
    log.info(text, this.#owner.deviceIndex);
    this.end();
  }

  #timeOut(reason: string): void {
    const { counters, log, report } = this.#owner.context;
    const text = `${this.peer} closed: ${reason}`;
    counters.timeouts += 1;
    report.failed(text);
    log.info(text, this.#owner.deviceIndex);
    this.destroy();
  }

  #closed(): void {
    const { sweeper, log } = this.#owner.context;
    this.judge?.closed(!this.#closing);
    this.#closing = true;
    this.#dropLate?.();
    sweeper.delete(this);
    this.#owner.closed(this);
    if (log.keepsDebug) {
      log.debug(`${this.peer} disconnected after ${this.requests} requests`, this.#owner.deviceIndex);
    }
  }
}

/** A second at most, together with the interval of the sweeps. */
const closingMs = 500;

/** The master by its address, and by its certificate in a TLS session. */
function identityOf(socket: Socket, role: Role | null | undefined): MasterIdentity {
  const address = addressOf(socket);
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  const listener = socket.localPort ?? 0;
  if (certificate === undefined) return { address, transport: 'tcp', listener };
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  return { address, transport: 'tls', listener, certificate: fingerprint, ...(role !== undefined && { role }) };
}

function ignore(): void {
  /* `close` follows and cleans up */
}
