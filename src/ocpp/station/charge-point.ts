/** One charge point: its connection, the version at work on it, and what REST sees of both. */
import { randomUUID } from 'node:crypto';
import type {
  OcppBootStatus,
  OcppCallResult,
  OcppConnectOptions,
  OcppCounters,
  OcppFunctions,
  OcppMessageFilter,
  OcppRawCall,
  OcppStation,
  OcppStatus,
  OcppSubprotocol,
} from '../../contract/ocpp.ts';
import { urlOfProfile } from '../../contract/ocpp-settings.ts';
import type { OcppVersions } from '../../contract/ocpp-settings.ts';
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Findings } from '../../core/findings/rule.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { SentLimits } from '../charging/sent-limits.ts';
import type { ContextMaker, Credentials } from '../rpc/credentials.ts';
import type { FrameDisturber, LineOpened, PayloadChecks } from '../rpc/model.ts';
import { createFindings } from '../rpc/messages.ts';
import { OcppJudge } from '../findings/judge.ts';
import { acRatingOf } from '../findings/contents.ts';
import type { OcppRules } from '../findings/context.ts';
import { createTransport } from '../rpc/transport.ts';
import type { BrokenRule, Transport } from '../rpc/transport.ts';
import { callResult } from './version.ts';
import { ConnectRequests, subprotocolsOf } from './connect-request.ts';
import { ConnectionAlarm } from './connection-alarm.ts';
import { connectionOf, isReady, networkOf, resetNetwork } from './connection.ts';
import { createInsistence } from './insistence.ts';
import type { Insistence } from './insistence.ts';
import { KeptOffset } from './kept-offset.ts';
import { LineState } from './line.ts';
import type { StationPort } from './port.ts';
import { SpokenVersion } from './spoken.ts';
import type { VersionTable } from './spoken.ts';
import { stationSlots } from './stack.ts';
import type { LeaveReason, LogLine, VersionStack } from './stack.ts';

export interface ChargePointOptions {
  readonly id: string;
  readonly device: StationPort;
  /** offered, in the order of preference */
  readonly versions: OcppVersions;
  readonly versionTable: VersionTable;
  readonly url: string;
  /** the URL came over REST: outbound rules apply */
  readonly guarded: boolean;
  readonly credentials: Credentials;
  readonly autoAuthorize: boolean;
  readonly contexts: ContextMaker;
  readonly schemas: PayloadChecks;
  readonly clock: RemoteClock;
  readonly wall: WallClock;
  readonly later: Later;
  readonly random: (purpose: string) => RandomStream;
  /** A slot of a version; null: of the station. */
  readonly store: (subprotocol: OcppSubprotocol | null, name: string) => Slot;
  /** Resolves when what is in the slots survives the process; null: it does. */
  readonly durable: () => Promise<void> | null;
  readonly wireLog: WireLog;
  readonly disturber: FrameDisturber;
  readonly commAlarms: CommAlarmSwitch;
  readonly findings: Findings;
  /** of all stations, at `findings` */
  readonly rules: OcppRules;
  readonly log: Logger;
  /** lines about the station, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
}

/** True if calls of the central system are carried out; 1.6 does so before the answer to BootNotification too. */
const isServed = (subprotocol: OcppSubprotocol | null, status: OcppBootStatus) =>
  status === 'accepted' || status === 'pending' || (status === 'none' && subprotocol === 'ocpp1.6');

/** Time in which a station that leaves delivers its last messages. */
const leaveMs = 3000;

export class ChargePoint implements OcppStation {
  readonly id: string;
  readonly deviceIndex: number;
  readonly #options: ChargePointOptions;
  readonly #transport: Transport;
  readonly #line: LineState;
  readonly #offset: KeptOffset;
  readonly #limits: SentLimits;
  readonly #releases: Insistence;
  /** ends listening to the device */
  readonly #endListening: () => void;
  readonly #spoken: SpokenVersion;
  readonly #requests: ConnectRequests;
  readonly #alarm: ConnectionAlarm;
  readonly #findings: ReturnType<typeof createFindings>;
  readonly #judge: OcppJudge;
  #lastContactMs: number | null = null;
  /** ends the wait for the last messages */
  #endLeaving: (() => void) | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: ChargePointOptions) {
    this.#options = options;
    this.id = options.id;
    this.deviceIndex = options.device.deviceIndex;
    this.#findings = createFindings(
      () => options.wall.nowMs(),
      (text) => this.#transport.hideSecrets(text),
    );
    this.#judge = this.#makeJudge();
    this.#transport = this.#makeTransport();
    const { link } = this.#transport;
    this.#alarm = new ConnectionAlarm({ ...options, deviceIndex: this.deviceIndex, link });
    this.#line = this.#makeLineState();
    this.#offset = new KeptOffset({
      ...options,
      slot: options.store(null, 'clock'),
      failed: (error) => {
        this.#unsaved('the offset of its clock', error);
      },
    });
    this.#releases = createInsistence(options.later, options.log, this.deviceIndex);
    this.#limits = new SentLimits({ ...options, releases: this.#releases, slot: options.store(null, 'limits') });
    // also while no version follows the device
    this.#endListening = options.device.onTransition(({ event }) => {
      if (event === 'restart') this.#limits.forget();
    });
    this.#spoken = this.#makeSpoken();
    this.#requests = new ConnectRequests({
      ...options,
      link,
      line: this.#line,
      retargeted: () => {
        this.#spoken.inform((stack) => {
          stack.retargeted();
        });
      },
    });
  }

  #unsaved(what: string, error: unknown): void {
    this.#options.log.error(`${this.id}: ${what} is not kept: ${errorText(error)}`, this.deviceIndex);
  }

  #makeLineState(): LineState {
    const { credentials, store, log } = this.#options;
    return new LineState({
      link: this.#transport.link,
      slot: store(null, 'line'),
      log,
      settings: credentials,
      restoreOwn: (certificate) => {
        this.#spoken.inform((stack) => {
          stack.restoreOwn(certificate);
        });
      },
      failed: (error) => {
        this.#unsaved('what it has learnt for its connection', error);
      },
    });
  }

  #makeSpoken(): SpokenVersion {
    const options = this.#options;
    const { link, line } = this.#transport;
    const common = {
      ...options,
      // one stream for all versions: what a version draws after another one is new
      random: options.random('station'),
      line,
      connection: connectionOf(link, this.#line),
      network: networkOf(this.#transport, this.#line),
      clockSet: this.#offset.save,
      limits: this.#limits,
      releases: this.#releases,
      certificates: { rootCert: options.credentials.rootCert, ownCert: options.credentials.own?.cert ?? null },
      finding: (clause: string, text: string, action: string, rule: OcppRule | null) => {
        this.#broken({ clause, text, action, messageId: this.#transport.idOf(action), rule });
      },
      ready: (profile: 1 | 2 | 3) => isReady(link.credentials, profile),
    };
    return new SpokenVersion({
      table: options.versionTable,
      offered: options.versions,
      slot: options.store(null, 'version'),
      log: options.log,
      make: ({ makeStack, subprotocol }) =>
        makeStack({ ...common, store: (name) => options.store(stationSlots.has(name) ? null : subprotocol, name) }),
      changing: () => {
        resetNetwork(this.#transport);
      },
      changed: (from, to) => {
        options.log.info(`${this.id}: ${to} is spoken in place of ${from}`, this.deviceIndex);
      },
      failed: (version, error) => {
        options.log.error(`${this.id}: ${version} could not be begun: ${errorText(error)}`, this.deviceIndex);
        link.drop('the station has failed', 1011);
      },
      unsaved: (error) => {
        this.#unsaved('the version that it speaks', error);
      },
    });
  }

  #makeJudge(): OcppJudge {
    const { findings, rules, wall, clock, device, disturber } = this.#options;
    return new OcppJudge({
      findings,
      rules,
      wall,
      station: this.id,
      deviceIndex: this.deviceIndex,
      rating: acRatingOf(device),
      // the clock of the machine alone has no simulated instants
      isWallTime: clock.simOf(0) === null,
      isDisturbed: () => disturber.active,
      hasBacklog: () => this.#stack.transactionMessages > 0,
      isServed: () => isServed(this.#transport.link.subprotocol, this.#stack.bootStatus),
      redact: (text) => this.#transport.redact(text),
      hideSecrets: (text) => this.#transport.hideSecrets(text),
    });
  }

  #broken({ rule, clause, text, action, messageId }: BrokenRule): void {
    this.#findings.add({ kind: 'rule', action, messageId, clause, text });
    if (rule !== null) this.#judge.foundByStation({ rule, clause, text, action, messageId });
  }

  get #url(): string {
    const { target, credentials } = this.#transport.link;
    return urlOfProfile(target.url, credentials.securityProfile);
  }

  #judged({ subprotocol }: LineOpened): void {
    const { server, credentials } = this.#transport.link;
    const { securityProfile } = credentials;
    this.#judge.opened({ subprotocol, url: this.#url, securityProfile, server });
  }

  #makeTransport(): Transport {
    const { id, deviceIndex } = this;
    const { versions, versionTable, url, guarded, credentials, wall, random, log } = this.#options;
    return createTransport({
      ...this.#options,
      identity: id,
      deviceIndex,
      target: { url, subprotocols: subprotocolsOf(versionTable, versions), guarded },
      credentials,
      clock: wall,
      random: random('back-off'),
      mayOpen: () => !this.#options.device.dark,
      isAccepted: () => this.#stack.bootStatus === 'accepted',
      handle: (action, payload, after) => this.#spoken.handle(action, payload, after),
      isMute: () => this.#spoken.isMute,
      watch: this.#judge,
      events: {
        opened: (event) => {
          this.#lastContactMs = wall.nowMs();
          this.#alarm.end();
          this.#judged(event);
          // before another version takes over: the one at work knows the certificates
          this.#line.opened();
          this.#spoken.opened(event);
        },
        closed: (event) => {
          this.#judge.closed();
          this.#alarm.closed(event.reason);
          this.#spoken.closed(event);
        },
        failed: (failure, isReverted) => {
          if (!isReverted) this.#alarm.failed(failure.text);
          if (failure.chosen !== undefined) this.#judge.chose(this.#url, failure.chosen);
          this.#spoken.inform((stack) => {
            stack.failed(failure, isReverted);
          });
        },
        credentials: (outcome, inForce) => {
          this.#line.tried(outcome, inForce);
        },
        violated: (violation, action, messageId) => {
          const { code, description } = violation;
          this.#judge.violated(violation, action, messageId);
          this.#findings.add({
            kind: 'schema',
            action,
            messageId,
            clause: `schema of ${this.#spoken.version}`,
            text: `${code}: ${description}`,
          });
        },
        broken: (about) => {
          this.#broken(about);
        },
        resultRefused: (messageId, code) => {
          log.warning(`${id}: the central system could not use the answer ${messageId}: ${code}`, deviceIndex);
        },
        activity: (direction) => {
          if (direction === 'in') this.#lastContactMs = wall.nowMs();
          else this.#stack.sent();
        },
      },
    });
  }

  get #stack(): VersionStack {
    return this.#spoken.stack;
  }

  /** Restores its state, before the first connection. @throws what the store throws */
  async load(): Promise<void> {
    await this.#offset.load();
    await this.#line.load();
    await this.#limits.load();
    await this.#spoken.load();
    this.#line.raise();
  }

  /** Connects for the first time. */
  begin(): void {
    this.#transport.link.connect();
  }

  /** The device leaves while the process goes on: its sessions end, and the central system is notified if possible. */
  async leave(): Promise<void> {
    await this.#endSessions('Other');
    await this.stop();
  }

  /**
   * As `leave`, where the device lives on: it gives up what the station holds there; where it refuses that now, later.
   * @param isReplaced true: a station of the next adapter takes over
   */
  async release(isReplaced: boolean): Promise<void> {
    await this.#endSessions(isReplaced ? 'Reboot' : 'Other');
    this.#stopping ??= this.#end(this.#spoken.release(isReplaced));
    await this.#stopping;
    if (isReplaced) this.#limits.yield();
  }

  async #endSessions(reason: LeaveReason): Promise<void> {
    const { later, log } = this.#options;
    const late = new Promise<void>((resolve) => {
      const cancel = later(leaveMs, resolve);
      this.#endLeaving = () => {
        cancel();
        resolve();
      };
    });
    try {
      await Promise.race([this.#spoken.leave(reason), late]);
    } catch (error) {
      log.error(`its last messages could not be delivered: ${errorText(error)}`, this.deviceIndex);
    }
  }

  /** The process ends: transactions are kept for its next start, and a station that leaves waits no longer. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.#end(this.#spoken.stop());
    this.#releases.stop();
  }

  async #end(version: Promise<void>): Promise<void> {
    this.#endLeaving?.();
    await Promise.all([version, this.#transport.stop()]);
    this.#endListening();
    this.#options.clock.clear();
    this.#alarm.end();
  }

  get functions(): OcppFunctions {
    return this.#spoken.functions;
  }

  get status(): OcppStatus {
    const { link, line } = this.#transport;
    const stack = this.#stack;
    return {
      id: this.id,
      deviceIndex: this.deviceIndex,
      enabled: true,
      version: this.#spoken.version,
      versions: this.#requests.versions,
      subprotocol: link.subprotocol,
      url: this.#url,
      connectionState: link.state,
      bootStatus: stack.bootStatus,
      securityProfile: link.credentials.securityProfile,
      heartbeatIntervalS: stack.heartbeatIntervalS,
      lastHeartbeatMs: stack.lastHeartbeatMs,
      connectedSinceMs: link.connectedSinceMs,
      reconnectInS: link.reconnectInS,
      queue: { calls: line.waiting, transactionMessages: stack.transactionMessages },
      lastError: link.lastError,
      clockOffsetS: this.#options.clock.offsetS,
      tls: link.tls,
    };
  }

  get counters(): OcppCounters {
    const { messages, connects, drops, callErrors, lastError, timeouts } = this.#transport.counters;
    return {
      messages,
      connects,
      drops,
      callErrors,
      lastError,
      timeouts,
      findings: this.#findings.counts,
      droppedMeterValues: this.#stack.droppedMeterValues,
      lastContactMs: this.#lastContactMs,
    };
  }

  connect(request: OcppConnectOptions): void {
    this.#requests.connect(request);
  }

  disconnect(code: number): void {
    this.#transport.link.disconnect(code);
    this.#alarm.end();
  }

  async call({ action, payload, validate, timeoutS }: OcppRawCall): Promise<OcppCallResult> {
    const { line, link } = this.#transport;
    const { subprotocol } = link;
    if (subprotocol === null) throw new SimError('NOT_CONNECTED', 'there is no connection to the central system');
    const wrong = validate ? this.#options.schemas.check(subprotocol, action, 'request', payload) : null;
    if (wrong !== null) throw new SimError('COMMAND_BAD_VALUE', `payload: ${wrong.description}`);
    const messageId = randomUUID();
    const options = { timeoutMs: timeoutS * 1000, validate, messageId, isJudged: false };
    return callResult(action, await line.call(action, payload as Record<string, unknown>, options), messageId);
  }

  messages(filter: OcppMessageFilter) {
    return this.#transport.messages.list(filter);
  }

  findings() {
    return this.#findings.list;
  }

  clearFindings(): void {
    this.#findings.clear();
  }
}
