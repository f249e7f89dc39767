/** One charge point: its connection, the version at work on it, and what REST sees of both. */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  OcppCallResult,
  OcppConnectOptions,
  OcppCounters,
  OcppMessageFilter,
  OcppRawCall,
  OcppStation,
  OcppStatus,
  OcppSubprotocol,
} from '../../contract/ocpp.ts';
import {
  isOcppUrl,
  isUrlOfProfile,
  needsPassword,
  ocppPasswordOctets,
  ocppPasswordText,
  ocppSupportedVersions,
  ocppUrlOf,
  ocppUrlText,
} from '../../contract/ocpp-settings.ts';
import type { OcppVersion } from '../../contract/ocpp-settings.ts';
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import { SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { ContextMaker, Credentials } from '../rpc/credentials.ts';
import type { FrameDisturber } from '../rpc/disturber.ts';
import { createFindings } from '../rpc/findings.ts';
import type { PayloadChecks } from '../rpc/model.ts';
import { createTransport } from '../rpc/transport.ts';
import type { Transport } from '../rpc/transport.ts';
import type { Connection } from '../v16/parts.ts';
import { callResult, createStack16 } from '../v16/stack.ts';
import type { LogLine } from '../v16/upkeep/logs.ts';
import type { StationPort } from './port.ts';
import type { VersionView } from './stack.ts';

export interface ChargePointOptions {
  readonly id: string;
  readonly device: StationPort;
  readonly version: OcppVersion;
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
  readonly store: (name: string) => Slot;
  readonly wireLog: WireLog;
  readonly disturber: FrameDisturber;
  readonly commAlarms: CommAlarmSwitch;
  readonly log: Logger;
  /** lines about the station, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
}

const subprotocols: Readonly<Record<OcppVersion, OcppSubprotocol>> = {
  'ocpp1.6j': 'ocpp1.6',
  'ocpp2.0.1j': 'ocpp2.0.1',
  'ocpp2.1': 'ocpp2.1',
};

/** Time for which a station that restarts has no connection. */
const restartMs = 2000;

const badValue = (detail: string) => new SimError('COMMAND_BAD_VALUE', detail);

/** The connection as the parts of a version change it. @param restarted the station begins anew */
function connectionOf(transport: () => Transport, restarted: () => void): Connection {
  const link = () => transport().link;
  return {
    reconnect: (reason) => link().reconnect(reason),
    restart(reason) {
      restarted();
      link().restart(reason, restartMs);
    },
    setPassword: (password) => link().setCredentials({ password }),
    setSecurityProfile: (securityProfile) => link().setCredentials({ securityProfile }),
    setCertificates({ rootCert, own }) {
      if (rootCert !== undefined) link().adoptCredentials({ rootCert });
      if (own === undefined) return;
      // another profile does not show it, so that a failed connection tells nothing about it
      if (link().credentials.securityProfile === 3) link().setCredentials({ own });
      else link().adoptCredentials({ own });
    },
    setPingInterval: (seconds) => link().setPingInterval(seconds),
    get securityProfile() {
      return link().credentials.securityProfile;
    },
  };
}

/** Whether credentials have what a profile needs (white paper, A05.FR.02 to FR.04). */
function isReady({ password, rootCert, own }: Credentials, profile: 1 | 2 | 3): boolean {
  if (profile === 1) return password !== null;
  return rootCert !== null && (profile === 3 ? own : password) !== null;
}

export class ChargePoint implements OcppStation {
  readonly id: string;
  readonly deviceIndex: number;
  readonly #options: ChargePointOptions;
  readonly #transport: Transport;
  readonly #stack: ReturnType<typeof createStack16>;
  readonly #findings: ReturnType<typeof createFindings>;
  #lastContactMs: number | null = null;

  constructor(options: ChargePointOptions) {
    this.#options = options;
    this.id = options.id;
    this.deviceIndex = options.device.deviceIndex;
    this.#findings = createFindings(() => options.wall.nowMs());
    this.#transport = this.#makeTransport();
    const connection = connectionOf(
      () => this.#transport,
      () => this.#stack.restarted(),
    );
    this.#stack = createStack16({
      ...options,
      random: options.random('station'),
      line: this.#transport.line,
      connection,
      certificates: { rootCert: options.credentials.rootCert, ownCert: options.credentials.own?.cert ?? null },
      finding: (clause, text, action) => {
        this.#findings.add({ kind: 'rule', action: action ?? null, messageId: null, clause, text });
      },
      ready: (profile) => isReady(this.#transport.link.credentials, profile),
    });
  }

  #makeTransport(): Transport {
    const { id, deviceIndex } = this;
    const { version, url, guarded, credentials, wall, random, commAlarms } = this.#options;
    const lost = (why: string) => {
      if (this.#transport.link.wanted) commAlarms.raise(deviceIndex, 'ocpp_connection_lost', `${id}: ${why}`);
    };
    return createTransport({
      ...this.#options,
      identity: id,
      deviceIndex,
      target: { url, subprotocols: [subprotocols[version]], guarded },
      credentials,
      clock: wall,
      random: random('back-off'),
      mayOpen: () => !this.#options.device.dark,
      handle: (action, payload, after) => this.#stack.handle(action, payload, after),
      events: {
        opened: (event) => {
          this.#lastContactMs = wall.nowMs();
          commAlarms.end(deviceIndex, 'ocpp_connection_lost');
          this.#stack.opened(event);
        },
        closed: (event) => {
          lost(event.reason === '' ? 'the connection has ended' : event.reason);
          this.#stack.closed(event);
        },
        failed: (failure) => {
          lost(failure.text);
          this.#stack.failed(failure);
        },
        violated: ({ code, description }, action, messageId) => {
          this.#findings.add({
            kind: 'schema',
            action,
            messageId,
            clause: `schema of ${version}`,
            text: `${code}: ${description}`,
          });
        },
        broken: (clause, text, action, messageId) => {
          this.#findings.add({ kind: 'rule', action, messageId, clause, text });
        },
        activity: (direction) => {
          if (direction === 'in') this.#lastContactMs = wall.nowMs();
          else this.#stack.sent();
        },
      },
    });
  }

  load(): Promise<void> {
    return this.#stack.load();
  }

  /** Connects for the first time. */
  begin(): void {
    this.#transport.link.connect();
  }

  async stop(): Promise<void> {
    this.#stack.stop();
    await this.#transport.stop();
    this.#options.clock.clear();
    this.#options.commAlarms.end(this.deviceIndex, 'ocpp_connection_lost');
  }

  get view(): VersionView {
    return this.#stack.view;
  }

  get status(): OcppStatus {
    const { link, line } = this.#transport;
    const stack = this.#stack;
    return {
      id: this.id,
      deviceIndex: this.deviceIndex,
      enabled: true,
      version: this.#options.version,
      subprotocol: link.subprotocol,
      url: link.target.url,
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
    const { messages, connects, drops, callErrors, timeouts } = this.#transport.counters;
    return {
      messages,
      connects,
      drops,
      callErrors,
      timeouts,
      findings: this.#findings.counts,
      droppedMeterValues: this.#stack.droppedMeterValues,
      lastContactMs: this.#lastContactMs,
    };
  }

  connect({ url: given, version, securityProfile, password }: OcppConnectOptions): void {
    const { link } = this.#transport;
    const inForce = link.credentials;
    const url = given === undefined ? link.target.url : ocppUrlOf(given);
    const profile = securityProfile ?? inForce.securityProfile;
    const octets = password === undefined ? inForce.password : ocppPasswordOctets(password, this.#options.version);
    if (version !== undefined && version !== this.#options.version)
      throw badValue(
        ocppSupportedVersions.includes(version)
          ? 'version: a station keeps the version that it was started with'
          : `version: given ${version}; supported: ${ocppSupportedVersions.join(', ')}`,
      );
    if (!isOcppUrl(url)) throw badValue(`url: allowed: ${ocppUrlText}`);
    if (!isUrlOfProfile(url, profile))
      throw badValue(`url: security profile ${profile} needs ${profile >= 2 ? 'wss' : 'ws'}`);
    if (password !== undefined && octets === null) throw badValue(`password: allowed: ${ocppPasswordText}`);
    if (needsPassword(profile) && octets === null) throw badValue(`password: security profile ${profile} needs one`);
    if (profile === 3 && inForce.own === null)
      throw badValue('security_profile: profile 3 needs a client certificate (--ocpp_cert, --ocpp_key)');
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    if (given !== undefined && isIP(host) !== 0 && isRefusedTarget(host))
      throw badValue(`url: ${host} ${refusedTargetText}`);
    link.setTarget({ ...link.target, url, guarded: given === undefined ? link.target.guarded : true });
    link.replaceCredentials({ securityProfile: profile, password: octets });
    if (link.state === 'connected') link.reconnect('another central system');
    else link.connect();
  }

  disconnect(code: number): void {
    this.#transport.link.disconnect(code);
    this.#options.commAlarms.end(this.deviceIndex, 'ocpp_connection_lost');
  }

  boot(): Promise<OcppCallResult> {
    return this.view.boot(null);
  }

  heartbeat(): Promise<OcppCallResult> {
    return this.view.heartbeat();
  }

  async call({ action, payload, validate, timeoutS }: OcppRawCall): Promise<OcppCallResult> {
    const { line, link } = this.#transport;
    const { subprotocol } = link;
    if (subprotocol === null) throw new SimError('NOT_CONNECTED', 'there is no connection to the central system');
    const wrong = validate ? this.#options.schemas.check(subprotocol, action, 'request', payload) : null;
    if (wrong !== null) throw badValue(`payload: ${wrong.description}`);
    const messageId = randomUUID();
    const options = { timeoutMs: timeoutS * 1000, validate, messageId };
    return callResult(action, await line.call(action, payload as Record<string, unknown>, options), messageId);
  }

  messages(filter: OcppMessageFilter) {
    return this.#transport.messages.list(filter);
  }

  configuration: OcppStation['configuration'] = (key) => this.view.configuration(key);
  setConfiguration: OcppStation['setConfiguration'] = (change, by) => this.view.setConfiguration(change, by);
  chargingProfiles: OcppStation['chargingProfiles'] = (connectorId) => this.view.chargingProfiles(connectorId);
  compositeSchedule: OcppStation['compositeSchedule'] = (...about) => this.view.compositeSchedule(...about);
  reservations: OcppStation['reservations'] = () => this.view.reservations();
  localList: OcppStation['localList'] = () => this.view.localList();
  certificates: OcppStation['certificates'] = () => this.view.certificates();
  transactions: OcppStation['transactions'] = () => this.view.transactions();
  authorize: OcppStation['authorize'] = (...about) => this.view.authorize(...about);
  sendMeterValues: OcppStation['sendMeterValues'] = (connectorId) => this.view.sendMeterValues(connectorId);

  findings() {
    return this.#findings.list;
  }

  clearFindings(): void {
    this.#findings.clear();
  }
}
