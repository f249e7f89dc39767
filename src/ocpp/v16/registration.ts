/** BootNotification, Heartbeat, the clock, and what may be sent before the central system has accepted the station. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import type { StationNameplate } from '../station/port.ts';
import type { Line } from '../rpc/model.ts';
import { afterBoot, bootTable, ownWaitS } from './registration-table.ts';
import { checkBootInterval, currentTimeMs } from './rules.ts';
import type { Action, Calls, Keys, Registration, ReplyOutcome, Requests, StationParts } from './parts.ts';

export interface BootOptions {
  readonly triggered?: boolean;
  /** default a new one */
  readonly messageId?: string;
}

export interface RegistrationPart extends Registration {
  /** that were accepted; another number at `onAccepted` means that the station has booted, and not only reconnected */
  readonly boots: number;
  readonly lastHeartbeatMs: number | null;
  /** a BootNotification has not been answered yet */
  readonly booting: boolean;
  /** Calls back when an accepted station is not accepted any more, or starts anew. */
  onEnded(listener: () => void): () => void;
  boot(options?: BootOptions): Promise<ReplyOutcome<'BootNotification'>>;
  heartbeat(options?: BootOptions): Promise<ReplyOutcome<'Heartbeat'>>;
  opened(): void;
  closed(): void;
  /** The station starts anew: the next connection begins with a BootNotification. */
  restarted(): void;
  /** A frame has gone out: the heartbeat waits again. */
  traffic(): void;
  stop(): void;
}

export interface RegistrationOptions extends Pick<StationParts, 'clock' | 'wall' | 'later' | 'log' | 'finding'> {
  readonly nameplate: () => StationNameplate;
  readonly keys: Keys;
  readonly line: Line;
  /** An answer has moved the clock. @param byS forward, s */
  readonly clockMoved?: (byS: number) => void;
}

/** Members of BootNotification have at most 20, 25 or 50 characters (6.3). */
export function bootRequest(plate: StationNameplate): Requests['BootNotification'] {
  return {
    chargePointVendor: plate.vendor.slice(0, 20),
    chargePointModel: plate.model.slice(0, 20),
    ...(plate.serialNumber !== null && { chargePointSerialNumber: plate.serialNumber.slice(0, 25) }),
    ...(plate.firmwareVersion !== '' && { firmwareVersion: plate.firmwareVersion.slice(0, 50) }),
  };
}

/** Calls as the registration permits them (4.2): only what was triggered while Pending, nothing before. */
export function createCalls(line: Line, status: () => OcppBootStatus): Calls {
  return {
    send: async <Name extends Action>(
      action: Name,
      request: Requests[Name],
      { triggered = false, ...options }: Parameters<Calls['send']>[2] = {},
    ) => {
      const boot = action === 'BootNotification';
      const { sends } = bootTable[status()];
      if (!boot && sends !== 'all' && !(triggered && sends === 'triggered'))
        return { kind: 'unsent', why: 'the central system has not accepted the station' };
      const outcome = await line.call(action, request, boot ? { ...options, urgent: true } : options);
      return outcome as ReplyOutcome<Name>;
    },
  };
}

/** Wait for a heartbeat where the central system leaves it to the station, s. */
const ownHeartbeatS = 300;
/** The clock is set at least this often, whatever else is sent (4.6), s. */
const maxHeartbeatS = 86_400;

interface Heartbeats {
  readonly lastMs: number | null;
  send(options: BootOptions): Promise<ReplyOutcome<'Heartbeat'>>;
  /** Waits anew for the next one, by the interval as it is now. */
  arm(): void;
  /** There was other traffic: the next one waits. */
  traffic(): void;
  disarm(): void;
}

function sync(
  { clock, wall, log, finding, clockMoved }: RegistrationOptions,
  action: 'BootNotification' | 'Heartbeat',
  currentTime: string,
  durationMs: number,
): void {
  const remoteMs = currentTimeMs(currentTime, action, finding);
  if (remoteMs === null) {
    log.warning(`the time of the central system cannot be used: ${currentTime.slice(0, 40)}`);
    return;
  }
  const beforeMs = clock.nowMs();
  // read by the central system somewhere within the request
  clock.sync(remoteMs, wall.monotonicMs() - durationMs / 2);
  clockMoved?.((clock.nowMs() - beforeMs) / 1000);
}

function createHeartbeats(options: RegistrationOptions, calls: Calls, allowed: () => boolean): Heartbeats {
  const { keys, wall, later } = options;
  let lastMs: number | null = null;
  let lastMonotonicMs = wall.monotonicMs();
  let trafficMs = lastMonotonicMs;
  let cancel: (() => void) | null = null;
  const disarm = (): void => {
    cancel?.();
    cancel = null;
  };
  const dueInMs = (): number => {
    const intervalS = keys.integer('HeartbeatInterval') || ownHeartbeatS;
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
  /** Each frame calls this: the timer that runs finds out when it is over. */
  const traffic = (): void => {
    trafficMs = wall.monotonicMs();
  };
  const send = async (sending: BootOptions): Promise<ReplyOutcome<'Heartbeat'>> => {
    lastMonotonicMs = wall.monotonicMs();
    const outcome = await calls.send('Heartbeat', {}, sending);
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

class Registered implements RegistrationPart {
  readonly #options: RegistrationOptions;
  readonly #calls: Calls;
  readonly #heartbeats: Heartbeats;
  readonly #listeners = new Set<() => void>();
  readonly #endListeners = new Set<() => void>();
  readonly #endKey: () => void;
  #status: OcppBootStatus = 'none';
  /** what the central system has accepted; null: nothing since the start */
  #told: string | null = null;
  #boots = 0;
  /** attempts whose answer left the wait to the station */
  #attempts = 0;
  #cancelBoot: (() => void) | null = null;
  /** of the newest BootNotification; the answer to an earlier one has no effect */
  #sequence = 0;
  #booting = false;
  #stopped = false;

  constructor(options: RegistrationOptions, calls: Calls) {
    this.#options = options;
    this.#calls = calls;
    this.#heartbeats = createHeartbeats(options, calls, () => this.accepted && !this.#stopped);
    this.#endKey = options.keys.onChange('HeartbeatInterval', () => {
      this.#heartbeats.arm();
    });
  }

  get status(): OcppBootStatus {
    return this.#status;
  }

  get accepted(): boolean {
    return this.#status === 'accepted' && this.#options.line.open;
  }

  get boots(): number {
    return this.#boots;
  }

  get booting(): boolean {
    return this.#booting;
  }

  get lastHeartbeatMs(): number | null {
    return this.#heartbeats.lastMs;
  }

  onAccepted(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEnded(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  opened(): void {
    // a wait that the central system asked for goes on over a new connection
    if (this.#stopped || this.#cancelBoot !== null) return;
    const known = this.#status === 'accepted' && this.#told === this.#content();
    if (known) this.#accept();
    else void this.boot();
  }

  closed(): void {
    this.#end();
  }

  restarted(): void {
    this.#sequence += 1;
    this.#status = 'none';
    this.#told = null;
    this.#attempts = 0;
    this.#cancelBoot?.();
    this.#cancelBoot = null;
    this.#end();
  }

  traffic(): void {
    this.#heartbeats.traffic();
  }

  heartbeat(options: BootOptions = {}): Promise<ReplyOutcome<'Heartbeat'>> {
    return this.#heartbeats.send(options);
  }

  async boot(options: BootOptions = {}): Promise<ReplyOutcome<'BootNotification'>> {
    const sequence = ++this.#sequence;
    this.#cancelBoot?.();
    this.#cancelBoot = null;
    const content = this.#content();
    this.#booting = true;
    const outcome = await this.#calls.send('BootNotification', bootRequest(this.#options.nameplate()), options);
    if (sequence === this.#sequence) this.#booting = false;
    if (this.#stopped || sequence !== this.#sequence) return outcome;
    if (outcome.kind === 'result') this.#answered(content, outcome);
    // an accepted station stays so: only an answer changes its registration
    else if (this.#options.line.open && this.#status !== 'accepted') this.#again(ownWaitS(this.#attempts++));
    return outcome;
  }

  stop(): void {
    this.#stopped = true;
    this.#endKey();
    this.#cancelBoot?.();
    this.#heartbeats.disarm();
    this.#listeners.clear();
    this.#endListeners.clear();
  }

  #content(): string {
    return JSON.stringify(bootRequest(this.#options.nameplate()));
  }

  #answered(
    content: string,
    { payload, durationMs }: Extract<ReplyOutcome<'BootNotification'>, { readonly kind: 'result' }>,
  ): void {
    const { finding, keys, log } = this.#options;
    checkBootInterval(payload.interval, finding);
    const { status, againInS, heartbeatS } = afterBoot(payload, this.#attempts);
    this.#attempts = payload.interval > 0 || status === 'accepted' ? 0 : this.#attempts + 1;
    if (status !== this.#status) log.info(`the central system answers BootNotification with ${payload.status}`);
    this.#status = status;
    if (status !== 'rejected') sync(this.#options, 'BootNotification', payload.currentTime, durationMs);
    if (againInS !== null) {
      this.#end();
      this.#again(againInS);
      return;
    }
    this.#told = content;
    this.#boots += 1;
    if (heartbeatS !== null) keys.set('HeartbeatInterval', String(heartbeatS));
    this.#accept();
  }

  #accept(): void {
    this.#heartbeats.arm();
    for (const listener of [...this.#listeners]) listener();
  }

  #end(): void {
    this.#heartbeats.disarm();
    for (const listener of [...this.#endListeners]) listener();
  }

  #again(waitS: number): void {
    this.#cancelBoot?.();
    this.#cancelBoot = this.#options.later(waitS * 1000, () => {
      this.#cancelBoot = null;
      if (this.#options.line.open) void this.boot();
    });
  }
}

/** @param options `line` is asked whether it is open, `calls` sends */
export function createRegistration(options: RegistrationOptions): {
  readonly registration: RegistrationPart;
  readonly calls: Calls;
} {
  const calls = createCalls(options.line, () => registration.status);
  const registration: RegistrationPart = new Registered(options, calls);
  return { registration, calls };
}
