/**
 * One connection identity: its exchange, its walk and its EndDevices. A client of one device or of a site has one
 * EndDevice, an aggregator one for each device.
 */
import { errorText, SimError } from '../core/errors.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { CsipState } from '../contract/csip-client.ts';
import type { Logger } from '../core/log/log.ts';
import { BackOff, fullJitter } from '../core/net/back-off.ts';
import type { Jitter } from '../core/net/back-off.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { LoopShare } from '../core/turns.ts';
import type { EndDevice } from './end-device.ts';
import type { ServerJudge } from './findings/judge.ts';
import type { SubscriptionFollower } from './notifications.ts';
import type { Submissions } from './submissions.ts';
import type { CertificateFacts, SepExchange, SepAnswer, SepRequest } from './transport/exchange.ts';
import { retryWaits } from './transport/exchange.ts';
import type { RegistrationBook, WalkConduct, WalkListener, WalkTarget } from './walk/model.ts';
import { Walk } from './walk/walk.ts';

/** A requested loss of communication; wall time, ms since the epoch. */
interface RequestedLoss {
  readonly sinceMs: number;
  /** null: until it is ended */
  readonly untilMs: number | null;
}

interface LineOptions {
  readonly clock: WallClock;
  readonly later: Later;
  /** the loss has ended, by request or by time */
  readonly restored: () => void;
}

/** The exchange of one client, with counts, the last contact and a requested loss of communication. */
class Line implements SepExchange {
  readonly #options: LineOptions;
  #exchange: SepExchange | null = null;
  #loss: RequestedLoss | null = null;
  #endLoss: (() => void) | null = null;
  /** requests */
  sent = 0;
  /** answers */
  received = 0;
  /** requests without an answer */
  failed = 0;
  /** wall time, ms; null: never */
  lastContactMs: number | null = null;
  lastError: string | null = null;
  lastErrorMs: number | null = null;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#exchange?.origin ?? '';
  }

  get negotiated(): SepExchange['negotiated'] {
    return this.#exchange?.negotiated ?? null;
  }

  get loss(): RequestedLoss | null {
    return this.#loss;
  }

  /** Replaces the present exchange, which is closed. */
  use(exchange: SepExchange | null): Promise<void> {
    const old = this.#exchange;
    this.#exchange = exchange;
    return old?.close() ?? Promise.resolve();
  }

  /** Makes the server unreachable. @param durationS null: until `restore` */
  lose(durationS: number | null): void {
    const { clock, later } = this.#options;
    this.#endLoss?.();
    const sinceMs = this.#loss?.sinceMs ?? clock.nowMs();
    this.#loss = { sinceMs, untilMs: durationS === null ? null : clock.nowMs() + durationS * 1000 };
    this.#endLoss = durationS === null ? null : later(durationS * 1000, () => this.restore());
  }

  restore(): void {
    this.#endLoss?.();
    this.#endLoss = null;
    if (this.#loss === null) return;
    this.#loss = null;
    this.#options.restored();
  }

  async request(request: SepRequest): Promise<SepAnswer> {
    const exchange = this.#exchange;
    if (exchange === null) throw new SimError('NOT_CONNECTED', 'the client is disconnected');
    this.sent += 1;
    try {
      this.#checkLoss();
      const answer = await exchange.request(request);
      // an answer that was on its way is lost too
      this.#checkLoss();
      this.received += 1;
      this.lastContactMs = this.#options.clock.nowMs();
      return answer;
    } catch (error) {
      this.failed += 1;
      this.fail(errorText(error));
      throw error;
    }
  }

  /** Records the last error. */
  fail(reason: string): void {
    this.lastError = reason;
    this.lastErrorMs = this.#options.clock.nowMs();
  }

  #checkLoss(): void {
    if (this.#loss !== null) throw new SimError('PEER_ERROR', 'communication is interrupted on request');
  }

  async close(): Promise<void> {
    this.#endLoss?.();
    this.#endLoss = null;
    this.#loss = null;
    await this.use(null);
  }
}

/** An open connection with its EndDevices. */
export interface OpenedIdentity {
  readonly exchange: SepExchange;
  readonly certificate: CertificateFacts | null;
  readonly members: readonly Member[];
  /** of this server */
  readonly registrations: RegistrationBook;
  /** null: nothing listens for notifications */
  readonly subscriptions: Pick<SubscriptionFollower, 'follow' | 'reachable' | 'close'> | null;
  /** absent: nobody judges the server */
  readonly judge?: ServerJudge;
}

/** An EndDevice and its parts. */
export interface Member {
  readonly target: WalkTarget;
  readonly endDevice: EndDevice;
  readonly submissions: Pick<Submissions, 'follow' | 'reachable' | 'close'>;
}

export interface ClientConduct extends WalkConduct {
  /** s without an answer after which communication counts as lost */
  readonly lostAfterS: number;
  /** s of lost communication after which default controls alone act; null: never */
  readonly lostExpiryS: number | null;
}

interface ClientOptions {
  /** its present devices */
  readonly deviceIndices: () => readonly number[];
  readonly conduct: ClientConduct;
  /** Opens the connection with its certificates. @throws SimError with a message for the user */
  readonly open: (line: SepExchange) => Promise<OpenedIdentity>;
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  readonly remoteClock: RemoteClock;
  readonly commAlarms: CommAlarmSwitch;
  readonly log: Logger;
  /** of the turns of the event loop; default: one of its own */
  readonly share?: LoopShare;
}

/** Minimum time between two walks for missing resources, ms. */
const minRediscoverMs = 60_000;

export class Client {
  readonly line: Line;
  readonly #options: ClientOptions;
  readonly #backOff: BackOff;
  #state: CsipState = 'stopped';
  #opened: OpenedIdentity | null = null;
  #walk: Walk | null = null;
  #attempts = 0;
  #failures = 0;
  #rediscoveredMs = -Infinity;
  /** counts openings: late results of an earlier one are ignored */
  #session = 0;
  #cancelRetry: (() => void) | null = null;
  #retryAtMs: number | null = null;
  #cancelLost: (() => void)[] = [];
  #closing: Promise<void> = Promise.resolve();
  readonly #refused = new Set<WalkTarget>();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
    const { clock, later } = options;
    this.line = new Line({ clock, later, restored: () => void this.rediscover() });
  }

  get state(): CsipState {
    return this.#state;
  }

  get deviceIndices(): readonly number[] {
    return this.#options.deviceIndices();
  }

  get conduct(): ClientConduct {
    return this.#options.conduct;
  }

  get remoteClock(): RemoteClock {
    return this.#options.remoteClock;
  }

  /** null: disconnected, or its certificates cannot be used */
  get certificate(): CertificateFacts | null {
    return this.#opened?.certificate ?? null;
  }

  get members(): readonly Member[] {
    return this.#opened?.members ?? [];
  }

  get opened(): OpenedIdentity | null {
    return this.#opened;
  }

  get walk(): Walk | null {
    return this.#walk;
  }

  /** true if the PIN of one of its EndDevices is wrong or cannot be compared */
  get ceased(): boolean {
    return this.#refused.size > 0;
  }

  get attempts(): number {
    return this.#attempts;
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  get retryInMs(): number | null {
    if (this.#state !== 'retrying') return null;
    if (this.#retryAtMs !== null) return Math.max(0, this.#retryAtMs - this.#options.clock.monotonicMs());
    return this.#walk?.retryInMs ?? null;
  }

  /** Starts to connect if the client is stopped. @param delayMs spreads the start of many clients */
  connect(delayMs = 0): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'connecting';
    this.#refused.clear();
    this.#watchLoss();
    this.#retryLater(delayMs);
  }

  /**
   * Disconnects and ends the controls.
   * @param forget true: forgets known events
   * @param leave true: leaves the values of controls in the devices, for the next process
   */
  async disconnect(forget = true, leave = false): Promise<void> {
    this.#state = 'stopped';
    this.#end();
    if (forget) this.#endAlarms();
    this.#closing = Promise.all([this.#closing, this.#closeSession(forget, leave)]).then(() => undefined);
    await this.#closing;
  }

  /** Retries at once instead of after the wait. @returns false: it waits for no retry */
  reconnect(): boolean {
    if (this.#state !== 'retrying') return false;
    if (this.#walk === null) this.#retryLater(0);
    else void this.#walk.rediscover();
    return true;
  }

  async rediscover(): Promise<void> {
    await this.#walk?.rediscover();
  }

  /** Rediscovers after a resource is missing on the server, at most once a minute. */
  rediscoverMissing(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#rediscoveredMs < minRediscoverMs) return;
    this.#rediscoveredMs = nowMs;
    void this.rediscover();
  }

  async poll(): Promise<void> {
    await this.#walk?.poll();
  }

  #end(): void {
    this.#session += 1;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#retryAtMs = null;
    this.#stopWatching();
    this.#walk?.stop();
    this.#walk = null;
  }

  async #closeSession(forget: boolean, leave = false): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened !== null) await this.#closeParts(opened, forget, leave);
    this.#options.remoteClock.clear();
    await this.line.close();
  }

  async #closeParts({ members, subscriptions, judge }: OpenedIdentity, forget: boolean, leave = false): Promise<void> {
    judge?.close();
    for (const { endDevice } of members) endDevice.ceaseReading();
    // once the PIN of every EndDevice is wrong or cannot be compared, nothing is sent any more
    await subscriptions?.close(this.#refused.size < members.length);
    await Promise.all(members.map(({ submissions }) => submissions.close()));
    await Promise.all(members.map(({ endDevice }) => endDevice.close(forget, leave)));
  }

  #retryLater(ms: number): void {
    const { later, clock } = this.#options;
    this.#cancelRetry?.();
    this.#retryAtMs = clock.monotonicMs() + ms;
    this.#cancelRetry = later(ms, () => {
      this.#retryAtMs = null;
      void this.#open();
    });
  }

  async #open(): Promise<void> {
    const session = (this.#session += 1);
    this.#attempts += 1;
    await this.#closing;
    let opened: OpenedIdentity;
    try {
      opened = await this.#options.open(this.line);
      if (session !== this.#session) {
        await this.#closeParts(opened, false);
        await opened.exchange.close();
        return;
      }
      this.#opened = opened;
      await this.line.use(opened.exchange);
      await Promise.all(opened.members.map(({ endDevice }) => endDevice.open()));
    } catch (error) {
      if (session === this.#session && this.#opened !== null) await this.#closeSession(false);
      if (session !== this.#session) return;
      this.line.fail(errorText(error));
      this.#lostContact(errorText(error));
      this.#retryLater(this.#backOff.nextMs());
      return;
    }
    if (session !== this.#session) return;
    this.#backOff.reset();
    this.#walk = this.#makeWalk(opened);
    await this.#walk.start();
  }

  #makeWalk({ members, registrations, certificate, judge }: OpenedIdentity): Walk {
    const { conduct, clock, later, jitter, remoteClock, log, share } = this.#options;
    return new Walk({
      ...(share && { share }),
      exchange: this.line,
      ownLfdi: certificate?.lfdi,
      targets: members.map(({ target }) => target),
      conduct,
      registrations,
      clock,
      later,
      jitter,
      remoteClock,
      log,
      listener: this.#listener(members, judge),
      witness: judge,
    });
  }

  /** Time of the server, s; null: it is not known. */
  get #serverNowS(): number | null {
    const { remoteClock, conduct } = this.#options;
    return conduct.useServerTime && remoteClock.offsetS !== null ? remoteClock.nowMs() / 1000 : null;
  }

  #listener(members: readonly Member[], judge: ServerJudge | undefined): WalkListener {
    const memberOf = (target: WalkTarget) => members.find((member) => member.target === target);
    return {
      contact: () => this.#inContact(),
      noContact: (reason) => this.#lostContact(reason),
      stage: (stage) => {
        if (this.#failures === 0 && this.#state !== 'stopped') this.#state = stage;
      },
      endDevice: (target, facts) => {
        const member = memberOf(target);
        if (member === undefined) return;
        if (facts !== null) judge?.endDevice(target, facts);
        member.endDevice.facts = facts;
        if (facts === null) member.endDevice.follow([]);
        member.submissions.follow(facts, this.#walk?.server ?? null);
        this.#subscribe();
      },
      programs: (target, programs) => {
        const endDevice = memberOf(target)?.endDevice;
        if (endDevice !== undefined)
          judge?.programs(target, {
            programs: programs.map(({ listed }) => listed),
            events: endDevice.events,
            deviceIndex: target.deviceIndex,
            nowS: this.#serverNowS,
          });
        endDevice?.follow(programs);
        this.#subscribe();
      },
      refused: (target, reason) => this.#cease(target, memberOf(target), reason),
    };
  }

  #subscribe(): void {
    if (this.#walk !== null) this.#opened?.subscriptions?.follow(this.#walk);
  }

  /** Ends all controls and messages of one EndDevice whose PIN is wrong or cannot be compared. */
  #cease(target: WalkTarget, member: Member | undefined, reason: string): void {
    const { log } = this.#options;
    const device = target.deviceIndex ?? undefined;
    log.error(`the client ${target.lfdi} ceases to communicate: ${reason}`, device);
    this.line.fail(reason);
    this.#refused.add(target);
    if (member !== undefined) void Promise.all([member.submissions.close(), member.endDevice.cease()]);
    if (this.#refused.size === this.members.length) void this.disconnect(false);
  }

  #inContact(): void {
    const { log } = this.#options;
    if (this.#failures > 0) log.info(`the server ${this.line.origin} answers again`);
    this.#failures = 0;
    this.#stopWatching();
    this.#endAlarms();
    for (const { endDevice, submissions } of this.members) {
      endDevice.expire(false);
      submissions.reachable(true);
    }
    this.#opened?.subscriptions?.reachable(true);
    this.#opened?.judge?.reachable(true);
    this.#state = this.#walk?.stage ?? 'connecting';
  }

  #lostContact(reason: string): void {
    if (this.#state === 'stopped') return;
    this.#failures += 1;
    this.#attempts += this.#walk === null ? 0 : 1;
    this.#state = 'retrying';
    if (this.#failures === 1) this.#options.log.warning(`the server cannot be reached: ${reason}`);
    for (const { submissions } of this.members) submissions.reachable(false);
    this.#opened?.subscriptions?.reachable(false);
    this.#opened?.judge?.reachable(false);
    this.#watchLoss();
  }

  /** Starts the timers of a lost connection unless they run; they end with the next answer. */
  #watchLoss(): void {
    const { later, conduct, commAlarms } = this.#options;
    if (this.#cancelLost.length > 0) return;
    const raise = () => {
      for (const index of this.deviceIndices)
        commAlarms.raise(index, 'csip_connection_lost', `the 2030.5 server cannot be reached: ${this.line.lastError}`);
    };
    this.#cancelLost = [later(conduct.lostAfterS * 1000, raise)];
    if (conduct.lostExpiryS === null) return;
    const expire = () => {
      for (const { endDevice } of this.members) endDevice.expire(true);
    };
    this.#cancelLost.push(later((conduct.lostAfterS + conduct.lostExpiryS) * 1000, expire));
  }

  #endAlarms(): void {
    for (const index of this.deviceIndices) this.#options.commAlarms.end(index, 'csip_connection_lost');
  }

  #stopWatching(): void {
    for (const cancel of this.#cancelLost) cancel();
    this.#cancelLost = [];
  }
}
