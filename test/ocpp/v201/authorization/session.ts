/** Sessions of a 2.x station on a real device: its central system, its queue and its store are doubles that a test moves. */
import { expect } from 'chai';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseConnectorDetail } from '../../../../src/contract/kinds/evse.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import type { Store } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { Payload, QueuedMessage, TransactionQueue } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { createInsistence } from '../../../../src/ocpp/station/insistence.ts';
import type { StationPort } from '../../../../src/ocpp/station/port.ts';
import { createAuthorization } from '../../../../src/ocpp/v201/authorization/authorization.ts';
import { createTokens } from '../../../../src/ocpp/v201/authorization/tokens.ts';
import type { IdToken, IdTokenInfo } from '../../../../src/ocpp/v201/messages.ts';
import type { Action, Part, Replies, Requests, StationParts } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createRemote } from '../../../../src/ocpp/v201/remote-control.ts';
import { createReservations } from '../../../../src/ocpp/v201/reservation.ts';
import { createTransactions } from '../../../../src/ocpp/v201/transactions/transactions.ts';
import { KindRig, operator } from '../../../der/kinds/support.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { fakeVariables } from '../rig.ts';
import type { FakeVariables } from '../rig.ts';

type TransactionEvent = Requests['TransactionEvent'];

/** The central system: what it says, and what it has heard. */
export class FakeCentral {
  online = true;
  /** that it has accepted */
  boots = 1;
  /** by text of the token */
  readonly infos = new Map<string, IdTokenInfo>();
  /** more of the answer to Authorize */
  more: Partial<Replies['Authorize']> = {};
  readonly asked: IdToken[] = [];
  readonly events: TransactionEvent[] = [];
  readonly updates: Requests['ReservationStatusUpdate'][] = [];
  /** actions that it answers with CALLERROR */
  readonly refuses = new Set<string>();

  get texts(): readonly string[] {
    return this.asked.map(({ idToken }) => idToken);
  }

  of(eventType: TransactionEvent['eventType']): readonly TransactionEvent[] {
    return this.events.filter((event) => event.eventType === eventType);
  }

  answer(action: string, payload: Payload): Payload {
    switch (action) {
      case 'Authorize': {
        const { idToken } = payload as Requests['Authorize'];
        this.asked.push(idToken);
        return { idTokenInfo: this.infos.get(idToken.idToken) ?? { status: 'Accepted' }, ...this.more };
      }
      case 'TransactionEvent': {
        const event = payload as TransactionEvent;
        this.events.push(event);
        const { idToken } = event;
        if (idToken === undefined || idToken.idToken === '') return {};
        return { idTokenInfo: this.infos.get(idToken.idToken) ?? { status: 'Accepted' } };
      }
      case 'ReservationStatusUpdate':
        this.updates.push(payload as Requests['ReservationStatusUpdate']);
        return {};
      default:
        return {};
    }
  }
}

export interface SessionRigOptions {
  readonly version?: Version2;
  readonly profile?: string;
  readonly store?: Store;
  readonly central?: FakeCentral;
  /** `Component.Variable`, or `Component.Variable@evse` of a connector */
  readonly variables?: Readonly<Record<string, string>>;
  readonly autoAuthorize?: boolean;
  readonly connectionTimeoutS?: number;
  /** commands before the station is heard */
  readonly before?: (kind: KindRig) => void;
}

/** What a station has of each part of the outside. */
function outside(kind: KindRig, port: StationPort, version: Version2, store: Store, central: FakeCentral) {
  const fits = (action: string, side: 'request' | 'reply', payload: unknown) => {
    expect(payloadChecks.check(version, action, side, payload), `${action} ${side}`).to.equal(null);
  };
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const { plant } = kind;
  const clock = remoteClocks({
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
  const accepting = new Set<() => void>();
  const findings: string[] = [];
  const variables = fakeVariables({
    version,
    nameplate: port.nameplate,
    evseIds: port.connectorIds,
    ratings: port.ratings,
    stationRating: port.stationRating,
    securityProfile: 0,
  });
  const parts = {
    id: 'CS-1',
    version,
    device: port,
    clock,
    wall,
    later: timers.later,
    log: silentLogger,
    store: (name: string) => store.slot(name),
    variables,
    calls: {
      send: (action: string, payload: Payload) => {
        fits(action, 'request', payload);
        if (!central.online) return Promise.resolve({ kind: 'unsent', why: 'no connection' });
        if (central.refuses.has(action))
          return Promise.resolve({ kind: 'error', code: 'InternalError', description: '', details: {}, durationMs: 1 });
        const reply = central.answer(action, payload);
        fits(action, 'reply', reply);
        return Promise.resolve({ kind: 'result', payload: reply, durationMs: 1 });
      },
    },
    registration: {
      get isReady() {
        return central.online;
      },
      get boots() {
        return central.boots;
      },
      get offlineSinceMs() {
        return central.online ? null : 0;
      },
      onAccepted: (listener: () => void) => {
        accepting.add(listener);
        return () => accepting.delete(listener);
      },
    },
    releases: createInsistence(timers.later, silentLogger, port.deviceIndex),
    finding: (clause: string, text: string) => findings.push(`${clause}: ${text}`),
  } as unknown as StationParts;
  return { parts, variables, accepting, findings, fits };
}

type Events = ReturnType<typeof createTransactions>['queueEvents'];

/** First in, first out, while the central system is online. */
function fakeQueue(
  central: FakeCentral,
  fits: (action: string, side: 'request' | 'reply', payload: unknown) => void,
  events: () => Events,
): TransactionQueue {
  const waiting: QueuedMessage[] = [];
  const pump = async (): Promise<void> => {
    await Promise.resolve();
    while (central.online) {
      const head = waiting.shift();
      if (head === undefined) return;
      fits(head.action, 'request', head.payload);
      events().answered(head, central.answer(head.action, head.payload));
    }
  };
  return {
    get length() {
      return waiting.length;
    },
    lengthOf: (transaction) => waiting.filter((each) => each.transaction === transaction).length,
    droppedMiddles: 0,
    push: (message) => {
      waiting.push(message);
      void pump();
    },
    resume: () => void pump(),
    pause: () => undefined,
    settled: () => Promise.resolve(),
  };
}

export class SessionRig {
  readonly kind: KindRig;
  readonly port: StationPort;
  readonly central: FakeCentral;
  readonly store: Store;
  readonly variables: FakeVariables;
  readonly findings: readonly string[];
  readonly parts: StationParts;
  readonly tokens: ReturnType<typeof createTokens>;
  readonly reservations: ReturnType<typeof createReservations>;
  readonly transactions: ReturnType<typeof createTransactions>;
  readonly authorization: ReturnType<typeof createAuthorization>;
  readonly remote: Part;
  /** calls of smart charging */
  readonly profiles: string[] = [];
  readonly #accepting: ReadonlySet<() => void>;
  readonly #fits: (action: string, side: 'request' | 'reply', payload: unknown) => void;

  private constructor(kind: KindRig, options: SessionRigOptions) {
    const { version = 'ocpp2.0.1', store = createMemoryStore(), central = new FakeCentral() } = options;
    payloadChecks.prepare(version);
    this.kind = kind;
    this.store = store;
    this.central = central;
    this.port = createStationPort(kind.device, kind.plant, 'CS-1');
    const { parts, variables, accepting, findings, fits } = outside(kind, this.port, version, store, central);
    this.variables = variables;
    this.findings = findings;
    this.#accepting = accepting;
    this.#fits = fits;
    for (const [name, value] of Object.entries(options.variables ?? {})) {
      const [component = '', variable = '', evseId] = name.split(/[.@]/);
      const place = evseId === undefined ? {} : { evseId: Number(evseId), connectorId: 1 };
      variables.override(component, variable, value, place);
    }
    this.parts = { ...parts, queue: fakeQueue(central, fits, () => this.transactions.queueEvents) };
    this.transactions = createTransactions(this.parts, { sample: () => [] });
    const { transactions } = this;
    this.tokens = createTokens(this.parts, { transactions });
    this.reservations = createReservations(this.parts, { transactions });
    const { tokens, reservations } = this;
    const { autoAuthorize = false } = options;
    this.authorization = createAuthorization(this.parts, { tokens, reservations, transactions, autoAuthorize });
    const { authorization } = this;
    const smartCharging = {
      install: (evseId: number, { stackLevel }: { readonly stackLevel: number }) => {
        this.profiles.push(`install ${evseId}`);
        return stackLevel < 90 ? null : 'InvalidStackLevel';
      },
      forget: (evseId: number, profileId?: number) =>
        this.profiles.push(`forget ${evseId}${profileId === undefined ? '' : ` with profile ${profileId}`}`),
    };
    this.remote = createRemote(this.parts, { tokens, reservations, transactions, authorization, smartCharging });
  }

  static async open(options: SessionRigOptions = {}): Promise<SessionRig> {
    const { profile = 'EVSE-AC-7.4kW-2port', autoAuthorize = false, connectionTimeoutS = 60 } = options;
    const kind = new KindRig({ args: ['--evse_profile', profile], evse: { startDelayMinS: 2, startDelayMaxS: 2 } });
    options.before?.(kind);
    const rig = new SessionRig(kind, options);
    rig.port.command({ kind: 'evse.authority', central: true });
    // in the order of the assembly
    for (const part of rig.#all) await part.load?.();
    rig.port.command({ kind: 'evse.behaviour', autoAuthorize, connectionTimeoutS });
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

  async settle(): Promise<void> {
    for (let i = 0; i < 60; i++) await Promise.resolve();
  }

  async run(seconds: number): Promise<void> {
    await this.kind.run(seconds);
    await this.settle();
  }

  connector(evseId = 1): EvseConnectorDetail {
    return this.port.connector(evseId);
  }

  get statuses(): readonly string[] {
    return this.port.detail.connectors.map(({ status }) => status);
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
  async present(idToken: string, evseId = 1, type?: string): Promise<string> {
    const said = await this.authorization
      .present(evseId, idToken, type)
      .then(({ status }) => status)
      .catch((error: unknown) => (error as { code: string }).code);
    await this.settle();
    return said;
  }

  async connect(online: boolean): Promise<void> {
    this.central.online = online;
    if (online) {
      for (const listener of this.#accepting) listener();
      this.parts.queue.resume();
    }
    await this.settle();
  }

  /** A call of the central system. */
  async ask<Name extends Action>(action: Name, request: Requests[Name]): Promise<Replies[Name]> {
    this.#fits(action, 'request', request);
    const handler = this.#all.map(({ handlers }) => handlers?.[action]).find((found) => found !== undefined);
    if (handler === undefined) throw new Error(`no handler for ${action}`);
    const later: (() => void)[] = [];
    const reply = await handler(request, (act) => later.push(act));
    this.#fits(action, 'reply', reply);
    for (const act of later) act();
    await this.settle();
    return reply;
  }

  inMs(seconds: number): string {
    return new Date(this.parts.clock.nowMs() + seconds * 1000).toISOString();
  }
}

/** A token as a list or a request gives it. */
export const card = (idToken: string): IdToken => ({ idToken, type: 'ISO14443' });
