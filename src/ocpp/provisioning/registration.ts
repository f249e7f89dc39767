/** BootNotification, Heartbeat, the clock, and the calls that are allowed before the registration is accepted. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import type { CallOptions, CallOutcome, Line, Payload } from '../rpc/model.ts';
import { createSignal, instantOf } from '../station/stack.ts';
import type { Find, Signal, StackOptions } from '../station/stack.ts';

// Registration (1.6 4.2, 2.x B01 to B03): permissions of the station in each state, and effects of an answer. These
// functions read no clock.

/** The answer to BootNotification in all versions. */
type BootReply = {
  readonly status: 'Accepted' | 'Pending' | 'Rejected';
  readonly currentTime: string;
  /** s */
  readonly interval: number;
};

/** Treatment of a call of the central system: `refused` with SecurityError, `ignored` without an answer. */
type Incoming = 'answered' | 'refused' | 'ignored';

interface BootState {
  /** calls of the station besides BootNotification */
  readonly sends: 'all' | 'triggered' | 'nothing';
  readonly incoming: Incoming;
  /** true: remote starts and stops take effect */
  readonly remote: boolean;
}

export type BootTable = Readonly<Record<OcppBootStatus, BootState>>;

/** 1.6 4.2: before the answer to BootNotification only the station must be silent. */
export const bootTable16: BootTable = {
  none: { sends: 'nothing', incoming: 'answered', remote: false },
  pending: { sends: 'triggered', incoming: 'answered', remote: false },
  accepted: { sends: 'all', incoming: 'answered', remote: true },
  rejected: { sends: 'nothing', incoming: 'ignored', remote: false },
};

/** B02.FR.01, B02.FR.05, B03.FR.08 */
export const bootTable2: BootTable = {
  ...bootTable16,
  none: { sends: 'nothing', incoming: 'refused', remote: false },
  rejected: { sends: 'nothing', incoming: 'refused', remote: false },
};

const bootStatusOf = {
  Accepted: 'accepted',
  Pending: 'pending',
  Rejected: 'rejected',
} as const satisfies Record<BootReply['status'], OcppBootStatus>;

/** Maximum of HeartbeatInterval, s: a week. */
export const maxHeartbeatIntervalS = 604_800;

/** First wait of the station's back-off, s; doubled after each attempt that brings no interval. */
const firstWaitS = 10;
/** Maximum wait of the station's back-off, s. */
const maxWaitS = 300;

/** Wait of the station's back-off, s. @param attempts number of attempts that brought no interval */
export function backOffS(attempts: number): number {
  return Math.min(firstWaitS * 2 ** Math.min(attempts, 10), maxWaitS);
}

interface AfterBoot {
  readonly status: OcppBootStatus;
  /** wait for the next BootNotification, s; null: none follows */
  readonly againInS: number | null;
  /** new value of HeartbeatInterval, s; null: it stays */
  readonly heartbeatS: number | null;
}

/**
 * Effect of an answer to BootNotification.
 * @param attempts number of earlier attempts that brought no interval
 */
export function afterBoot({ status, interval }: BootReply, attempts: number): AfterBoot {
  const next = bootStatusOf[status];
  const heartbeatS = interval > 0 ? Math.min(interval, maxHeartbeatIntervalS) : null;
  if (next === 'accepted') return { status: next, againInS: null, heartbeatS };
  return { status: next, againInS: interval > 0 ? interval : backOffS(attempts), heartbeatS: null };
}

interface BootOptions {
  readonly triggered?: boolean;
  /** default: a new id */
  readonly messageId?: string;
  /** 2.x: reason in BootNotification; default: that of the last restart */
  readonly reason?: string;
}

/** Outcome of a message whose answer fits its schema. */
type Outcome<Reply> =
  | { readonly kind: 'result'; readonly payload: Reply; readonly durationMs: number }
  | Exclude<CallOutcome, { readonly kind: 'result' }>;

type HeartbeatReply = Pick<BootReply, 'currentTime'>;

export interface RegistrationPart {
  readonly status: OcppBootStatus;
  /** true: the registration is accepted and the line is open, so that calls are sent */
  readonly isReady: boolean;
  /**
   * Number of accepted BootNotifications; if it differs at `onAccepted`, the station has booted, and not only
   * reconnected.
   */
  readonly boots: number;
  /** wall time of the last answer to Heartbeat, ms; null: none */
  readonly lastHeartbeatMs: number | null;
  /** true: a BootNotification has no answer yet */
  readonly booting: boolean;
  /** instant at which the connection was lost, monotonic ms; null: connected */
  readonly offlineSinceMs: number | null;
  /** Calls back each time the station becomes accepted, also again after a new connection. */
  onAccepted(listener: () => void): () => void;
  /**
   * Calls back when calls may no longer be sent: the connection is lost, the answer to BootNotification is not
   * Accepted, or the station restarts. May repeat.
   */
  onEnded(listener: () => void): () => void;
  boot(options?: BootOptions): Promise<Outcome<BootReply>>;
  heartbeat(options?: BootOptions): Promise<Outcome<HeartbeatReply>>;
  opened(): void;
  closed(): void;
  /**
   * After a restart of the station: the next connection begins with a BootNotification.
   * @param reason its reason, in 2.x
   */
  restarted(reason?: string): void;
  /** Call it after each frame that is sent: the wait for the next heartbeat restarts. */
  traffic(): void;
  stop(): void;
}

/** HeartbeatInterval, s. */
interface HeartbeatSetting {
  intervalS(): number;
  /** Sets the interval from an answer to BootNotification. */
  set(seconds: number): void;
  onChange(listener: () => void): () => void;
}

export interface RegistrationOptions extends Pick<StackOptions, 'clock' | 'clockSet' | 'wall' | 'later' | 'log'> {
  readonly line: Line;
  readonly table: BootTable;
  /** Payload of BootNotification. @param reason null: without a reason, to compare contents */
  readonly bootRequest: (reason: string | null) => Payload;
  readonly heartbeat: HeartbeatSetting;
  readonly finding: Find;
  /** clauses of findings */
  readonly clauses: { readonly currentTime: string; readonly interval: string };
  /** Called after an answer has moved the clock. @param byS seconds forward */
  readonly clockMoved?: (byS: number) => void;
}

/** Sends a call to the central system; `triggered`: TriggerMessage requested it. */
export type SendCall = (
  action: string,
  payload: Payload,
  options?: CallOptions & { readonly triggered?: boolean },
) => Promise<CallOutcome>;

/**
 * Sends calls that the registration permits: while Pending only triggered ones, before and when Rejected only
 * BootNotification.
 */
export function createCalls(line: Line, table: BootTable, status: () => OcppBootStatus): SendCall {
  return async (action, payload, { triggered = false, ...options } = {}) => {
    const isBoot = action === 'BootNotification';
    const { sends } = table[status()];
    if (!isBoot && sends !== 'all' && !(triggered && sends === 'triggered'))
      return { kind: 'unsent', why: 'the central system has not accepted the station' };
    return await line.call(action, payload, isBoot ? { ...options, urgent: true } : options);
  };
}

/** A `currentTime` outside of these years is refused. */
const sensibleYears = { from: 2010, to: 2100 };

/** The instant of a `currentTime`, ms since the epoch; null: not usable. */
function currentTimeMs(text: string): number | null {
  const ms = instantOf(text);
  const year = new Date(ms).getUTCFullYear();
  return year >= sensibleYears.from && year <= sensibleYears.to ? ms : null;
}

/** Heartbeat interval if HeartbeatInterval is 0, s. */
const defaultHeartbeatS = 300;
/** Maximum time between heartbeats, s: they set the clock, which other traffic does not (4.6). */
const maxHeartbeatS = 86_400;

interface Heartbeats {
  readonly lastMs: number | null;
  send(options: BootOptions): Promise<Outcome<HeartbeatReply>>;
  /** Restarts the wait for the next heartbeat with the present interval. */
  arm(): void;
  /** Postpones the next heartbeat after other traffic. */
  traffic(): void;
  disarm(): void;
}

/** True if a time without a fraction names the second that the clock shows: the clock is then right already. */
function showsSecond(text: string, remoteMs: number, shownMs: number): boolean {
  return !text.includes('.') && shownMs >= remoteMs && shownMs < remoteMs + 1000;
}

function sync(
  { clock, clockSet, wall, log, finding, clauses, clockMoved }: RegistrationOptions,
  action: 'BootNotification' | 'Heartbeat',
  currentTime: string,
  durationMs: number,
): void {
  const remoteMs = currentTimeMs(currentTime);
  if (remoteMs === null) {
    const text = `currentTime is not a usable time: ${currentTime.slice(0, 40)}`;
    finding(clauses.currentTime, text, action, 'current_time');
    log.warning(`the time of the central system cannot be used: ${currentTime.slice(0, 40)}`);
    return;
  }
  const beforeMs = clock.nowMs();
  // the central system read its clock during the request: assume the middle
  if (showsSecond(currentTime, remoteMs, beforeMs - durationMs / 2)) clock.sync(beforeMs, wall.monotonicMs());
  else clock.sync(remoteMs, wall.monotonicMs() - durationMs / 2);
  clockSet();
  clockMoved?.((clock.nowMs() - beforeMs) / 1000);
}

function createHeartbeats(options: RegistrationOptions, call: SendCall, allowed: () => boolean): Heartbeats {
  const { heartbeat, wall, later } = options;
  let lastMs: number | null = null;
  let lastMonotonicMs = wall.monotonicMs();
  let trafficMs = lastMonotonicMs;
  let cancel: (() => void) | null = null;
  const disarm = (): void => {
    cancel?.();
    cancel = null;
  };
  const dueInMs = (): number => {
    const intervalS = heartbeat.intervalS() || defaultHeartbeatS;
    const dueMs = Math.min(trafficMs + intervalS * 1000, lastMonotonicMs + maxHeartbeatS * 1000);
    return Math.max(0, dueMs - wall.monotonicMs());
  };
  const plan = (): void => {
    cancel = later(dueInMs(), () => {
      cancel = null;
      if (dueInMs() > 0) plan();
      else void send({});
    });
  };
  const arm = (): void => {
    disarm();
    trafficMs = wall.monotonicMs();
    if (allowed()) plan();
  };
  /**
   * Called for each frame, so it restarts no timer: the running one checks, when it fires, whether a heartbeat is due.
   */
  const traffic = (): void => {
    trafficMs = wall.monotonicMs();
  };
  const send = async ({ triggered = false, messageId }: BootOptions): Promise<Outcome<HeartbeatReply>> => {
    lastMonotonicMs = wall.monotonicMs();
    const sending = { triggered, ...(messageId !== undefined && { messageId }) };
    const outcome = (await call('Heartbeat', {}, sending)) as Outcome<HeartbeatReply>;
    if (outcome.kind === 'result') {
      lastMs = wall.nowMs();
      sync(options, 'Heartbeat', outcome.payload.currentTime, outcome.durationMs);
    }
    arm();
    return outcome;
  };
  return {
    get lastMs() {
      return lastMs;
    },
    send,
    arm,
    traffic,
    disarm,
  };
}

class StationRegistration implements RegistrationPart {
  readonly #options: RegistrationOptions;
  readonly #call: SendCall;
  readonly #heartbeats: Heartbeats;
  readonly #acceptances: Signal<null>;
  readonly #endings: Signal<null>;
  readonly #endListening: () => void;
  #status: OcppBootStatus = 'none';
  /** content of the last accepted BootNotification; null: none since the start */
  #reportedContent: string | null = null;
  #boots = 0;
  #offlineSinceMs: number | null;
  /** reason of the next BootNotification, in 2.x */
  #reason = 'PowerUp';
  /** number of attempts that brought no interval */
  #attempts = 0;
  #cancelBoot: (() => void) | null = null;
  /** number of the newest BootNotification; the answer to an earlier one has no effect */
  #sequence = 0;
  #booting = false;
  #stopped = false;

  constructor(options: RegistrationOptions, call: SendCall) {
    this.#options = options;
    this.#call = call;
    this.#acceptances = createSignal(options.log);
    this.#endings = createSignal(options.log);
    this.#offlineSinceMs = options.wall.monotonicMs();
    this.#heartbeats = createHeartbeats(options, call, () => this.isReady && !this.#stopped);
    this.#endListening = options.heartbeat.onChange(() => {
      this.#heartbeats.arm();
    });
  }

  get status(): OcppBootStatus {
    return this.#status;
  }

  get isReady(): boolean {
    return this.#status === 'accepted' && this.#options.line.open;
  }

  get boots(): number {
    return this.#boots;
  }

  get offlineSinceMs(): number | null {
    return this.#offlineSinceMs;
  }

  get booting(): boolean {
    return this.#booting;
  }

  get lastHeartbeatMs(): number | null {
    return this.#heartbeats.lastMs;
  }

  onAccepted(listener: () => void): () => void {
    return this.#acceptances.on(listener);
  }

  onEnded(listener: () => void): () => void {
    return this.#endings.on(listener);
  }

  opened(): void {
    this.#offlineSinceMs = null;
    // a wait for the next BootNotification continues over a new connection
    if (this.#stopped || this.#cancelBoot !== null) return;
    const isAnswered = this.#status === 'accepted' && this.#reportedContent === this.#content();
    if (isAnswered) this.#accept();
    else void this.boot();
  }

  closed(): void {
    this.#offlineSinceMs ??= this.#options.wall.monotonicMs();
    this.#end();
  }

  restarted(reason = 'Unknown'): void {
    this.#reason = reason;
    this.#sequence += 1;
    this.#status = 'none';
    this.#reportedContent = null;
    this.#attempts = 0;
    this.#cancelBoot?.();
    this.#cancelBoot = null;
    this.#end();
  }

  traffic(): void {
    this.#heartbeats.traffic();
  }

  heartbeat(options: BootOptions = {}): Promise<Outcome<HeartbeatReply>> {
    return this.#heartbeats.send(options);
  }

  async boot({ triggered = false, messageId, reason = this.#reason }: BootOptions = {}): Promise<Outcome<BootReply>> {
    const sequence = ++this.#sequence;
    this.#cancelBoot?.();
    this.#cancelBoot = null;
    const content = this.#content();
    this.#booting = true;
    const sending = { triggered, ...(messageId !== undefined && { messageId }) };
    const outcome = (await this.#call(
      'BootNotification',
      this.#options.bootRequest(reason),
      sending,
    )) as Outcome<BootReply>;
    if (sequence === this.#sequence) this.#booting = false;
    if (this.#stopped || sequence !== this.#sequence) return outcome;
    if (outcome.kind === 'result') this.#answered(content, outcome);
    // an accepted station stays accepted: only an answer changes its registration
    else if (this.#options.line.open && this.#status !== 'accepted') this.#bootLater(backOffS(this.#attempts++));
    return outcome;
  }

  stop(): void {
    this.#stopped = true;
    this.#endListening();
    this.#cancelBoot?.();
    this.#heartbeats.disarm();
  }

  #content(): string {
    return JSON.stringify(this.#options.bootRequest(null));
  }

  #answered(content: string, { payload, durationMs }: Extract<Outcome<BootReply>, { readonly kind: 'result' }>): void {
    const { finding, clauses, heartbeat, log } = this.#options;
    const text = `interval of BootNotification is negative: ${payload.interval}`;
    if (payload.interval < 0) finding(clauses.interval, text, 'BootNotification', 'interval');
    const { status, againInS, heartbeatS } = afterBoot(payload, this.#attempts);
    this.#attempts = payload.interval > 0 || status === 'accepted' ? 0 : this.#attempts + 1;
    if (status !== this.#status) log.info(`the central system answers BootNotification with ${payload.status}`);
    this.#status = status;
    if (status !== 'rejected') sync(this.#options, 'BootNotification', payload.currentTime, durationMs);
    if (againInS !== null) {
      this.#end();
      this.#bootLater(againInS);
      return;
    }
    this.#reportedContent = content;
    this.#boots += 1;
    if (heartbeatS !== null) heartbeat.set(heartbeatS);
    this.#accept();
  }

  #accept(): void {
    this.#heartbeats.arm();
    if (!this.#stopped) this.#acceptances.emit(null);
  }

  #end(): void {
    this.#heartbeats.disarm();
    if (!this.#stopped) this.#endings.emit(null);
  }

  #bootLater(waitS: number): void {
    this.#cancelBoot?.();
    this.#cancelBoot = this.#options.later(waitS * 1000, () => {
      this.#cancelBoot = null;
      if (this.#options.line.open) void this.boot();
    });
  }
}

export function createRegistration(options: RegistrationOptions): {
  readonly registration: RegistrationPart;
  readonly call: SendCall;
} {
  const call = createCalls(options.line, options.table, () => registration.status);
  const registration: RegistrationPart = new StationRegistration(options, call);
  return { registration, call };
}
