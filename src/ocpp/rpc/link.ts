/**
 * The connection of one station: opened, opened again after each end, and closed on request. New credentials are tried
 * first and given up when they fail.
 */
import type { AdapterError } from '../../core/adapter.ts';
import type { OcppConnectionState, OcppSubprotocol } from '../../contract/ocpp.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { BackOff, ocppBackOff } from '../../core/net/back-off.ts';
import type { Jitter, OcppBackOffOptions } from '../../core/net/back-off.ts';
import type { NameSources } from '../../core/net/outbound.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { Negotiated } from '../../core/tls/client-context.ts';
import { CredentialsTrial, passwordOf } from './credentials.ts';
import type { ContextMaker, Credentials, CredentialsChange } from './credentials.ts';
import type { Frame } from './frames.ts';
import type { FrameDisturber, LineClosed, LineOpened } from './model.ts';
import { Pings } from './pings.ts';
import { openSocket } from './socket.ts';
import type { ConnectFailure, Socket, SocketEnd, SocketOpened } from './socket.ts';

/** Where the central system is. */
interface LinkTarget {
  /** without the identity; credentials in it are not used */
  readonly url: string;
  /** offered in this order at each attempt */
  readonly subprotocols: readonly OcppSubprotocol[];
  /** set over REST: outbound rules apply */
  readonly guarded: boolean;
  /** true: a certificate of the central system may name its host by a wildcard; default true */
  readonly wildcards?: boolean;
}

interface LinkEvents {
  opened(event: LineOpened): void;
  frame(frame: Frame, text: string): void;
  closed(event: LineClosed): void;
  /** The central system has sent a pong. */
  ponged?(): void;
  /** It has answered no ping until the next one. @param pingedMs time of the ping, monotonic ms */
  unponged?(pingedMs: number): void;
  /**
   * An attempt has failed.
   * @param isReverted credentials on trial have failed with it: the former ones are tried at once
   */
  failed?(failure: ConnectFailure, isReverted: boolean): void;
  /** Changed credentials have opened a connection (`proven`: to be kept), or have failed and are forgotten. */
  credentials?(outcome: 'proven' | 'reverted', inForce: Credentials): void;
}

export interface LinkOptions {
  readonly identity: string;
  readonly deviceIndex: number;
  readonly target: LinkTarget;
  readonly credentials: Credentials;
  readonly contexts: ContextMaker;
  readonly clock: WallClock;
  readonly later: Later;
  readonly random: Jitter;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  readonly disturber: FrameDisturber;
  readonly backOff?: OcppBackOffOptions;
  readonly openTimeoutMs?: number;
  /** s; 0: none */
  readonly pingIntervalS?: number;
  readonly names?: NameSources;
  /** false: the station has no power, and an attempt waits for it */
  readonly mayOpen?: () => boolean;
  /** false: the central system has not accepted the station, so that its connection is of no use; default: true */
  readonly isAccepted?: () => boolean;
  /** Begins nothing new on the connection. @param drained called once the station awaits no answer; default: at once */
  readonly drain?: (drained: () => void) => void;
}

/** The first wait is 1 to 2 s, the last one, after eight doublings, 256 to 767 s. */
const defaultBackOff: OcppBackOffOptions = { waitMinimumMs: 1000, randomRangeMs: 1000, repeatTimes: 8 };
const defaultOpenTimeoutMs = 30_000;
const defaultPingS = 30;
/** A connection that has lasted so long, or has brought a frame, makes the next wait a first one if it was of use. */
const steadyMs = 30_000;
/**
 * Maximum wait for an answer before the station closes a connection that it opens again. A central system that handles
 * one frame after the other fails to answer on a connection that is closing, and may lose the frames behind its request.
 */
const maxDrainMs = 5000;
/** Time between two checks whether a station without power has it again. */
const powerlessMs = 1000;
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #backOff: BackOff;
  #target: LinkTarget;
  readonly #trial: CredentialsTrial;
  #socket: Socket | null = null;
  #opened: SocketOpened | null = null;
  #openedMs = 0;
  #connectedSinceMs: number | null = null;
  #steady = false;
  #isWanted = false;
  /** of `stop` */
  #stopped: { readonly done: Promise<void>; readonly resolve: () => void } | null = null;
  /** the present connection or attempt ends because this station has closed it */
  #isGivenUp = false;
  /** the present connection has been made useless: neither its frames nor its time make the next wait a first one */
  #isUseless = false;
  /** wait after the present connection or attempt, ms; null: that of the back-off */
  #waitMs: number | null = null;
  #nextAtMs: number | null = null;
  #endWait: (() => void) | null = null;
  /** of the wait for an answer before the connection is closed; null: no such wait */
  #endDrain: (() => void) | null = null;
  readonly #pings: Pings;
  /** flapping of the present connection, also when its time has passed */
  #flapping: { readonly afterMs: number; readonly end: () => void } | null = null;
  #pingS: number;
  #lastError: string | null = null;
  #lastFailure: AdapterError | null = null;
  readonly #forgetFaults: () => void;
  connects = 0;
  drops = 0;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#target = options.target;
    this.#trial = new CredentialsTrial(options.credentials);
    this.#pings = new Pings({
      later: options.later,
      ping: () => this.#socket?.ping(),
      nowMs: () => options.clock.monotonicMs(),
      lost: (pingedMs) => {
        options.log.warning(`${options.identity}: no pong in time`, options.deviceIndex);
        this.#events.unponged?.(pingedMs);
        this.terminate();
      },
    });
    this.#pingS = options.pingIntervalS ?? defaultPingS;
    this.#backOff = new BackOff(ocppBackOff(options.backOff ?? defaultBackOff, options.random));
    this.#forgetFaults = options.disturber.onChange(() => this.#flap());
  }

  /** false: `connect` has not been called, or `disconnect` after it */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  get state(): Exclude<OcppConnectionState, 'disabled'> {
    if (this.#opened !== null) return 'connected';
    return this.#socket !== null || this.#nextAtMs !== null ? 'connecting' : 'disconnected';
  }

  get subprotocol(): OcppSubprotocol | null {
    return this.#opened?.subprotocol ?? null;
  }

  get tls(): Negotiated | null {
    return this.#opened?.tls ?? null;
  }

  /** software of the central system, as its handshake names it; null: it does not, or there is no connection */
  get server(): string | null {
    return this.#opened?.server ?? null;
  }

  /** ms since the epoch */
  get connectedSinceMs(): number | null {
    return this.#connectedSinceMs;
  }

  /** until the next attempt; null: none is planned */
  get reconnectInS(): number | null {
    return this.#nextAtMs === null ? null : Math.max(0, (this.#nextAtMs - this.#options.clock.monotonicMs()) / 1000);
  }

  /** null while it is connected */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** The last failure, also of an earlier connection; null: none yet. */
  get lastFailure(): AdapterError | null {
    return this.#lastFailure;
  }

  /** Keeps the last failure. */
  failed(text: string): void {
    this.#lastFailure = { text: `${this.#options.identity}: ${text}`, atMs: this.#options.clock.nowMs() };
  }

  get target(): LinkTarget {
    return this.#target;
  }

  /** of the next attempt */
  get credentials(): Credentials {
    return this.#trial.next;
  }

  /** without those on trial */
  get provenCredentials(): Credentials {
    return this.#trial.proven;
  }

  /** true: the credentials of the next attempt are on trial */
  get isTrial(): boolean {
    return this.#trial.isRunning;
  }

  /** Opens the connection, at once where it waits for its next attempt. Without an effect while there is one. */
  connect(): void {
    if (this.#stopped !== null) return;
    this.#isWanted = true;
    if (this.#socket === null) this.#planIn(0);
    // the former connection is still closing
    else if (this.#isGivenUp) this.#waitMs ??= 0;
  }

  /** Closes the connection and opens none until `connect`. @param code close code */
  disconnect(code = 1000, reason = ''): void {
    this.#isWanted = false;
    this.#waitMs = null;
    this.#cancelWait();
    this.#close(code, reason);
  }

  /** Closes, after the answer that the station awaits, and opens again at once; ends a wait, and an attempt that is under way. */
  reconnect(reason: string, code = 1000): void {
    this.#again(reason, code, 0);
  }

  /** As `reconnect`, but opens again after a time. */
  restart(reason: string, afterMs: number): void {
    this.#again(reason, 1001, afterMs);
  }

  /** Closes a connection that is of no use; it counts as a drop, and the wait is that of the back-off, which goes on growing. */
  drop(reason: string, code: number): void {
    if (this.#socket === null) return;
    this.#isUseless = true;
    this.#socket.close(code, reason);
  }

  /** From the next attempt on; waits begin anew with the first one. */
  setTarget(target: LinkTarget): void {
    this.retarget(target);
    this.#backOff.reset();
  }

  /** From the next attempt on; waits go on growing, so that targets tried in turn are not tried without a pause. */
  retarget(target: LinkTarget): void {
    this.#target = target;
  }

  /** From the next wait on; waits go on growing. @param options absent: those of 1.6, and of 2.x by default */
  setBackOff(options: OcppBackOffOptions = this.#options.backOff ?? defaultBackOff): void {
    this.#backOff.change(ocppBackOff(options, this.#options.random));
  }

  /** From the next attempt on, until it shows that they do not work. */
  setCredentials(change: CredentialsChange): void {
    this.#trial.begin(change);
  }

  /**
   * From the next attempt on, for good: the former ones do not return when it fails. What is on trial and not in the
   * change stays on trial.
   */
  adoptCredentials(change: CredentialsChange): void {
    this.#trial.adopt(change);
  }

  /** s; 0: none */
  setPingInterval(seconds: number): void {
    this.#pingS = seconds;
    if (this.#opened !== null) this.#pings.start(seconds);
  }

  /** @returns false: there is no connection, or it is closing */
  send(text: string): boolean {
    return this.#socket?.send(text) ?? false;
  }

  /** Ends the connection without a close frame. */
  terminate(): void {
    this.#socket?.terminate();
  }

  /** Closes for good; resolves when the connection has ended, within seconds. */
  stop(code = 1001): Promise<void> {
    if (this.#stopped !== null) return this.#stopped.done;
    this.#forgetFaults();
    let resolve: () => void = () => undefined;
    const done = new Promise<void>((ended) => {
      resolve = ended;
    });
    this.#stopped = { done, resolve };
    this.disconnect(code);
    if (this.#socket === null) resolve();
    return done;
  }

  #close(code: number, reason: string): void {
    if (this.#socket === null) return;
    this.#isGivenUp = true;
    this.#socket.close(code, reason);
  }

  #again(reason: string, code: number, waitMs: number): void {
    if (this.#stopped !== null || !this.#isWanted) return;
    this.#backOff.reset();
    if (this.#socket === null) {
      this.#planIn(waitMs);
      return;
    }
    this.#waitMs = waitMs;
    this.#drain(() => {
      this.#close(code, reason);
    });
  }

  /** Acts once no answer is awaited; at once without a connection or without power. */
  #drain(act: () => void): void {
    const { drain, later, mayOpen } = this.#options;
    if (drain === undefined || this.#opened === null || mayOpen?.() === false) act();
    else if (this.#endDrain === null) {
      this.#endDrain = later(maxDrainMs, act);
      drain(act);
    }
  }

  #cancelWait(): void {
    this.#endWait?.();
    this.#endWait = this.#nextAtMs = null;
  }

  #planIn(ms: number): void {
    this.#cancelWait();
    this.#nextAtMs = this.#options.clock.monotonicMs() + ms;
    if (ms === 0) this.#attempt();
    else this.#endWait = this.#options.later(ms, () => this.#attempt());
  }

  #attempt(): void {
    if (this.#options.mayOpen?.() === false) {
      this.#planIn(powerlessMs);
      return;
    }
    this.#cancelWait();
    const { identity, later, disturber, deviceIndex, names } = this.#options;
    const { credentials } = this;
    const { url, subprotocols, guarded, wildcards = true } = this.#target;
    this.#waitMs = null;
    this.#isGivenUp = this.#isUseless = false;
    try {
      const address = new URL(url);
      const secure = credentials.securityProfile >= 2 || address.protocol === 'wss:';
      address.protocol = secure ? 'wss:' : 'ws:';
      const context = secure ? this.#options.contexts(credentials) : null;
      this.#socket = openSocket(
        {
          url: address,
          identity,
          subprotocols,
          password: passwordOf(credentials),
          context,
          guarded,
          wildcards,
          later,
          clock: this.#options.clock,
          openTimeoutMs: this.#options.openTimeoutMs ?? defaultOpenTimeoutMs,
          pongs: () => !disturber.active || !disturber.noPong(deviceIndex),
          ...(names !== undefined && { names }),
        },
        {
          opened: (facts) => this.#onOpened(facts),
          frame: (frame, text) => {
            this.#steady = true;
            this.#events.frame(frame, text);
          },
          pong: () => {
            this.#pings.pong();
            this.#events.ponged?.();
          },
          flooded: () => {
            this.#options.log.warning(`${identity}: too many pings of the central system`, deviceIndex);
            this.drop('too many pings', 1008);
          },
          ended: (end) => this.#onEnded(end),
        },
      );
    } catch (error) {
      const text = `no connection can be made: ${errorText(error)}`;
      this.#onEnded({ code: null, reason: text, failure: { kind: 'material', status: null, text } });
    }
  }

  #onOpened(facts: SocketOpened): void {
    const { clock, deviceIndex, log, identity } = this.#options;
    this.#opened = facts;
    this.#openedMs = clock.monotonicMs();
    this.#connectedSinceMs = clock.nowMs();
    this.#lastError = null;
    this.#steady = false;
    this.connects += 1;
    log.info(`${identity}: connected to the central system, ${facts.subprotocol}`, deviceIndex);
    if (this.#trial.opened()) this.#events.credentials?.('proven', this.credentials);
    this.#pings.start(this.#pingS);
    this.#flap();
    this.#events.opened({ subprotocol: facts.subprotocol });
  }

  #onEnded({ code, reason, failure }: SocketEnd): void {
    const { log, identity, deviceIndex } = this.#options;
    const wasOpen = this.#opened !== null;
    this.#pings.stop();
    this.#endDrain?.();
    this.#endDrain = null;
    this.#flapping?.end();
    this.#flapping = this.#socket = this.#opened = this.#connectedSinceMs = null;
    if (wasOpen) {
      if (this.#wasUseful()) this.#backOff.reset();
      const words = `the connection ended${code === null ? '' : ` with code ${code}`}${reason === '' ? '' : `: ${reason}`}`;
      if (!this.#isGivenUp) {
        this.drops += 1;
        this.#lastError = words;
        this.failed(words);
      }
      log.info(`${identity}: ${words}`, deviceIndex);
      this.#events.closed({ code, reason });
    } else if (failure !== null && !this.#isGivenUp) {
      this.#lastError = failure.text;
      this.failed(failure.text);
      log.warning(`${identity}: ${failure.text}`, deviceIndex);
      // before listeners change the credentials or the target
      const isReverted = this.#trial.failed(failure, this.connects > 0);
      this.#events.failed?.(failure, isReverted);
      if (isReverted) this.#revert();
    }
    if (this.#stopped !== null) this.#stopped.resolve();
    else if (this.#isWanted && this.#isIdle()) this.#planIn(this.#waitMs ?? this.#backOff.nextMs());
  }

  /** True for a connection whose end begins the waits anew; to be called before the listeners hear of its end. */
  #wasUseful(): boolean {
    const { clock, isAccepted } = this.#options;
    const isSteady = this.#steady || clock.monotonicMs() - this.#openedMs >= steadyMs;
    return isSteady && !this.#isUseless && isAccepted?.() !== false;
  }

  /** Neither an attempt nor a wait is under way; listeners may have begun one. */
  #isIdle(): boolean {
    return this.#socket === null && this.#nextAtMs === null;
  }

  /** New credentials have failed for good. */
  #revert(): void {
    this.#waitMs = 0;
    this.#options.log.warning(
      `${this.#options.identity}: the new credentials failed, the former ones are used again`,
      this.#options.deviceIndex,
    );
    this.#events.credentials?.('reverted', this.credentials);
  }

  /** Fault flapping: the connection ends a while after its opening. Changes of other faults leave this time alone. */
  #flap(): void {
    const { disturber, deviceIndex, later } = this.#options;
    const afterMs = disturber.active && this.#opened !== null ? disturber.dropsAfterMs(deviceIndex) : null;
    if (afterMs === (this.#flapping?.afterMs ?? null)) return;
    this.#flapping?.end();
    this.#flapping = null;
    if (afterMs === null) return;
    const end = later(afterMs, () => {
      if (disturber.drops(deviceIndex)) this.terminate();
    });
    this.#flapping = { afterMs, end };
  }
}
