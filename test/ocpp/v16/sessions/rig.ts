/** Sessions of a 1.6 station on a real device: its central system, its queue and its store are doubles that a test moves. */
import { expect } from 'chai';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseTransition } from '../../../../src/contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../../src/contract/kinds/evse.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import type { Store } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import type { RemoteClock } from '../../../../src/core/time/remote-clock.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { Payload, QueuedMessage, TransactionQueue } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { createInsistence } from '../../../../src/ocpp/station/insistence.ts';
import type { StationPort } from '../../../../src/ocpp/station/port.ts';
import { createAuthorization } from '../../../../src/ocpp/v16/authorization/authorization.ts';
import type { IdTagInfo } from '../../../../src/ocpp/v16/authorization/tokens.ts';
import { createTokens } from '../../../../src/ocpp/v16/authorization/tokens.ts';
import { createKeys } from '../../../../src/ocpp/v16/keys/keys.ts';
import type { KeySet } from '../../../../src/ocpp/v16/keys/keys.ts';
import type { Action, Part, Replies, Requests, StationParts } from '../../../../src/ocpp/v16/parts.ts';
import { createRemote } from '../../../../src/ocpp/v16/remote-control.ts';
import { createReservations } from '../../../../src/ocpp/v16/reservation.ts';
import { createTransactions } from '../../../../src/ocpp/v16/transactions/transactions.ts';
import { KindRig, operator } from '../../../der/kinds/support.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';

const version = 'ocpp1.6';

export function expectFits(action: string, side: 'request' | 'reply', payload: unknown): void {
  expect(payloadChecks.check(version, action, side, payload), `${action} ${side}`).to.equal(null);
}

/** What outlives a process. */
export interface Disk {
  readonly store: Store;
  readonly queued: QueuedMessage[];
}

export const newDisk = (): Disk => ({ store: createMemoryStore(), queued: [] });

/** The central system: its books, and what it says. */
export class FakeCentral {
  online = true;
  readonly infos = new Map<string, IdTagInfo>();
  /** idTagInfo of StartTransaction, where it differs from that of Authorize */
  readonly startInfos = new Map<string, IdTagInfo>();
  readonly asked: string[] = [];
  readonly starts: (Requests['StartTransaction'] & { readonly id: number })[] = [];
  readonly stops: Requests['StopTransaction'][] = [];
  readonly values: Requests['MeterValues'][] = [];
  readonly notices: Requests['StatusNotification'][] = [];
  /** actions that it answers with CALLERROR */
  readonly refuses = new Set<string>();
  /** the connection breaks once this many messages of a transaction have gone out; null: never */
  cutAfter: number | null = null;
  /** of each transaction; null: they count */
  fixedId: number | null = null;
  #nextId = 1000;

  info(idTag: string): IdTagInfo {
    return this.infos.get(idTag) ?? { status: 'Accepted' };
  }

  answer(action: string, payload: Payload): Payload {
    switch (action) {
      case 'Authorize':
        this.asked.push(payload['idTag'] as string);
        return { idTagInfo: this.info(payload['idTag'] as string) };
      case 'StartTransaction': {
        const start = payload as Requests['StartTransaction'];
        const id = this.fixedId ?? this.#nextId++;
        this.starts.push({ ...start, id });
        return { transactionId: id, idTagInfo: this.startInfos.get(start.idTag) ?? this.info(start.idTag) };
      }
      case 'StopTransaction':
        this.stops.push(payload as Requests['StopTransaction']);
        return {};
      case 'MeterValues':
        this.values.push(payload as Requests['MeterValues']);
        return {};
      default:
        this.notices.push(payload as Requests['StatusNotification']);
        return {};
    }
  }
}

interface FakeQueue extends TransactionQueue {
  pump(): void;
}

type Events = ReturnType<typeof createTransactions>['queueEvents'];

/** First in, first out; one failure drops a message. */
function fakeQueue(disk: Disk, central: FakeCentral, events: () => Events): FakeQueue {
  const { queued } = disk;
  let busy = false;
  const send = (message: QueuedMessage): void => {
    const payload = events().fill(message);
    if (payload === null) return;
    expectFits(message.action, 'request', payload);
    if (central.refuses.has(message.action)) return;
    const reply = central.answer(message.action, payload);
    expectFits(message.action, 'reply', reply);
    events().answered(message, reply);
  };
  const pump = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (;;) {
      await Promise.resolve();
      if (central.cutAfter === 0) central.online = false;
      if (!central.online) break;
      const head = queued.shift();
      if (head === undefined) break;
      if (central.cutAfter !== null) central.cutAfter -= 1;
      send(head);
    }
    busy = false;
  };
  return {
    get length() {
      return queued.length;
    },
    lengthOf: (transaction) => queued.filter((message) => message.transaction === transaction).length,
    droppedMiddles: 0,
    push(message) {
      queued.push(JSON.parse(JSON.stringify(message)) as QueuedMessage);
      void pump();
    },
    resume: () => void pump(),
    pause: () => undefined,
    settled: () => Promise.resolve(),
    pump: () => void pump(),
  };
}

export interface SessionRigOptions {
  readonly profile?: string;
  readonly disk?: Disk;
  readonly central?: FakeCentral;
  readonly keys?: Readonly<Record<string, string>>;
  readonly autoAuthorize?: boolean;
  readonly connectionTimeoutS?: number;
  readonly startDelayS?: number;
  /** commands before the station is heard */
  readonly before?: (kind: KindRig) => void;
}

function partsOf(kind: KindRig, port: StationPort, keys: KeySet, disk: Disk, central: FakeCentral) {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const { plant } = kind;
  const clock: RemoteClock = remoteClocks({
    mode: 'simulated',
    wall,
    later: timers.later,
    log: silentLogger,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => plant.time.mode === 'paused',
      at: (t, act) => plant.at(t, act),
    },
  })(silentLogger);
  const findings: string[] = [];
  const brokenRules: (string | null)[] = [];
  const accepting = new Set<() => void>();
  const parts = {
    id: 'SIM-CP-1',
    device: port,
    clock,
    wall,
    later: timers.later,
    log: silentLogger,
    store: (name: string) => disk.store.slot(name),
    keys,
    calls: {
      send: (action: string, payload: Payload) => {
        if (!central.online) return Promise.resolve({ kind: 'unsent', why: 'no connection' });
        expectFits(action, 'request', payload);
        if (central.refuses.has(action))
          return Promise.resolve({ kind: 'error', code: 'InternalError', description: '', details: {}, durationMs: 1 });
        return Promise.resolve({ kind: 'result', payload: central.answer(action, payload), durationMs: 1 });
      },
    },
    registration: {
      get isReady() {
        return central.online;
      },
      onAccepted: (listener: () => void) => {
        accepting.add(listener);
        return () => accepting.delete(listener);
      },
    },
    releases: createInsistence(timers.later, silentLogger, port.deviceIndex),
    finding: (clause: string, text: string, _action: string, rule: string | null) => {
      findings.push(`${clause}: ${text}`);
      brokenRules.push(rule);
    },
  } as unknown as StationParts;
  return { parts, timers, findings, brokenRules, accepting };
}

export class SessionRig {
  readonly kind: KindRig;
  readonly port: StationPort;
  readonly central: FakeCentral;
  readonly keys: KeySet;
  readonly disk: Disk;
  readonly timers: HandTimers;
  readonly findings: readonly string[];
  /** rules of the catalogue, for each finding */
  readonly brokenRules: readonly (string | null)[];
  readonly parts: StationParts;
  readonly tokens: ReturnType<typeof createTokens>;
  readonly reservations: ReturnType<typeof createReservations>;
  readonly transactions: ReturnType<typeof createTransactions>;
  readonly authorization: ReturnType<typeof createAuthorization>;
  readonly remote: Part;
  /** calls of smart charging */
  readonly profiles: string[] = [];
  readonly #queue: FakeQueue;
  readonly #accepting: ReadonlySet<() => void>;
  readonly #listeners = new Set<(transition: EvseTransition) => void>();

  private constructor(kind: KindRig, options: SessionRigOptions) {
    const { disk = newDisk(), central = new FakeCentral() } = options;
    this.kind = kind;
    this.disk = disk;
    this.central = central;
    const port = createStationPort(kind.device, kind.plant, 'SIM-CP-1');
    this.port = Object.assign(Object.create(port) as StationPort, {
      onTransition: (listener: (transition: EvseTransition) => void) => {
        this.#listeners.add(listener);
        return port.onTransition(listener);
      },
    });
    this.keys = createKeys({
      facts: {
        connectorIds: this.port.connectorIds,
        securityProfile: 0,
        threePhase: true,
        fileTransferProtocols: ['HTTP'],
      },
      log: silentLogger,
      slot: disk.store.slot('keys'),
      failed: (error) => {
        throw error;
      },
    });
    for (const [key, value] of Object.entries(options.keys ?? {})) this.keys.set(key, value);
    const made = partsOf(kind, this.port, this.keys, disk, central);
    this.#queue = fakeQueue(disk, central, () => this.transactions.queueEvents);
    this.parts = { ...made.parts, queue: this.#queue, registration: made.parts.registration };
    this.#accepting = made.accepting;
    this.timers = made.timers;
    this.findings = made.findings;
    this.brokenRules = made.brokenRules;
    this.tokens = createTokens(this.parts, { stationStatus: () => 'Available' });
    this.reservations = createReservations(this.parts);
    this.transactions = createTransactions(this.parts, {
      tokens: this.tokens,
      reservations: this.reservations,
      transactionData: () => undefined,
    });
    const { tokens, reservations, transactions } = this;
    const { autoAuthorize = false } = options;
    this.authorization = createAuthorization(this.parts, { tokens, reservations, transactions, autoAuthorize });
    const smartCharging = {
      install: (connectorId: number, { stackLevel }: { readonly stackLevel: number }) => {
        this.profiles.push(`install ${connectorId}`);
        return stackLevel < 90;
      },
      forget: (connectorId: number) => this.profiles.push(`forget ${connectorId}`),
    };
    const { authorization } = this;
    this.remote = createRemote(this.parts, { tokens, reservations, transactions, authorization, smartCharging });
  }

  static async open(options: SessionRigOptions = {}): Promise<SessionRig> {
    const {
      profile = 'EVSE-AC-7.4kW-2port',
      startDelayS = 2,
      autoAuthorize = false,
      connectionTimeoutS = 60,
    } = options;
    const evse = { startDelayMinS: startDelayS, startDelayMaxS: startDelayS };
    const kind = new KindRig({ args: ['--evse_profile', profile], evse });
    options.before?.(kind);
    const rig = new SessionRig(kind, options);
    rig.port.command({ kind: 'evse.authority', central: true });
    rig.port.command({ kind: 'evse.behaviour', autoAuthorize, connectionTimeoutS });
    for (const part of rig.#all) await part.load?.();
    rig.#queue.resume();
    await rig.settle();
    return rig;
  }

  get #all(): readonly Part[] {
    return [this.tokens, this.reservations, this.transactions.part, this.authorization, this.remote];
  }

  /** The process ends: nothing is told to the central system. */
  kill(): void {
    for (const part of this.#all) part.stop?.();
  }

  /** A transition of the whole station that only a fault of the device brings about. */
  async tell(event: 'power_down' | 'power_up'): Promise<void> {
    const at = this.port.now;
    for (const listener of this.#listeners)
      listener({ event, connectorId: 0, at, by: { source: 'fault' }, cause: 'fault', externalLimit: null });
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 60; i++) await Promise.resolve();
  }

  async run(seconds: number): Promise<void> {
    await this.kind.run(seconds);
    await this.settle();
  }

  connector(connectorId = 1): EvseConnectorDetail {
    return this.port.connector(connectorId);
  }

  async do(command: EvseCommand): Promise<void> {
    this.kind.device.command(command, operator);
    await this.settle();
  }

  plug(connectorId = 1): Promise<void> {
    return this.do({ kind: 'evse.plug', connectorId, ev: { socPct: 30 } });
  }

  unplug(connectorId = 1): Promise<void> {
    return this.do({ kind: 'evse.unplug', connectorId });
  }

  /** A person holds a card to the reader. */
  tap(idToken: string, connectorId = 1): Promise<void> {
    return this.do({ kind: 'evse.authorize', connectorId, idToken });
  }

  /** What `present` says: a status, or the code of its refusal. */
  async present(idTag: string, connectorId = 1): Promise<string> {
    const said = await this.authorization
      .present(connectorId, idTag)
      .then(({ status }) => status)
      .catch((error: unknown) => (error as { code: string }).code);
    await this.settle();
    return said;
  }

  async connect(online: boolean): Promise<void> {
    this.central.online = online;
    this.central.cutAfter = null;
    if (online) {
      for (const listener of this.#accepting) listener();
      this.#queue.resume();
    }
    await this.settle();
  }

  /** A call of the central system. */
  async ask<Name extends Action>(action: Name, request: Requests[Name]): Promise<Replies[Name]> {
    expectFits(action, 'request', request);
    const handler = this.#all.map(({ handlers }) => handlers?.[action]).find((found) => found !== undefined);
    if (handler === undefined) throw new Error(`no handler for ${action}`);
    const later: (() => void)[] = [];
    const reply = await handler(request, (act) => later.push(act));
    expectFits(action, 'reply', reply);
    for (const act of later) act();
    await this.settle();
    return reply;
  }

  inMs(seconds: number): string {
    return new Date(this.parts.clock.nowMs() + seconds * 1000).toISOString();
  }
}
