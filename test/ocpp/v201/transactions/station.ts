/** A real device with the transactions and meter values of a 2.x station; central system, queue and store are doubles. */
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseTransition } from '../../../../src/contract/kinds/evse-transitions.ts';
import type { EvPatch, EvseConnectorDetail } from '../../../../src/contract/kinds/evse.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import type { Store } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import type { RemoteClock } from '../../../../src/core/time/remote-clock.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { MeterDistortion, Payload, QueuedMessage, TransactionQueue } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import type { StationPort } from '../../../../src/ocpp/station/port.ts';
import { createMeterValues } from '../../../../src/ocpp/v201/meter-values.ts';
import type { MeterValuesPart } from '../../../../src/ocpp/v201/meter-values.ts';
import type { IdToken, IdTokenInfo, MeterValue } from '../../../../src/ocpp/v201/messages.ts';
import type { Costs, Replies, Requests, StationParts } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createTransactions } from '../../../../src/ocpp/v201/transactions/transactions.ts';
import type { TransactionBook } from '../../../../src/ocpp/v201/transactions/transactions.ts';
import { KindRig, operator } from '../../../der/kinds/support.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { fakeVariables } from '../rig.ts';
import type { FakeVariables } from '../rig.ts';

export type TxEvent = Requests['TransactionEvent'];
export type Sampled = MeterValue['sampledValue'][number];

/** What outlives a process. */
export interface Disk {
  readonly store: Store;
  readonly queued: QueuedMessage[];
}

export const newDisk = (): Disk => ({ store: createMemoryStore(), queued: [] });

/** The central system: what has reached it, and what it answers. */
export class Central {
  online = true;
  readonly events: TxEvent[] = [];
  readonly values: Requests['MeterValues'][] = [];
  /** by event type and token */
  reply: (event: TxEvent) => Replies['TransactionEvent'] = () => ({});
  /** the connection breaks once this many events have gone out; null: never */
  cutAfter: number | null = null;

  /** `Started Authorized`, `Updated ChargingStateChanged Charging`, ... */
  get story(): readonly string[] {
    return this.events.map(({ eventType, triggerReason, transactionInfo: { chargingState, stoppedReason } }) =>
      [eventType, triggerReason, stoppedReason ?? chargingState ?? ''].join(' ').trim(),
    );
  }

  get last(): TxEvent {
    const last = this.events.at(-1);
    if (last === undefined) throw new Error('no event has come');
    return last;
  }
}

const check = (version: Version2, action: string, side: 'request' | 'reply', payload: unknown): void => {
  const issue = payloadChecks.check(version, action, side, payload);
  if (issue !== null) throw new Error(`${action} ${side}: ${issue.description} ${JSON.stringify(payload)}`);
};

interface FakeQueue extends TransactionQueue {
  pump(): void;
}

/** First in, first out, kept on the disk; an event reaches the central system a few promises later. */
function fakeQueue(version: Version2, disk: Disk, central: Central, book: () => TransactionBook): FakeQueue {
  const { queued } = disk;
  let running = false;
  let busy = false;
  const pump = async (): Promise<void> => {
    if (busy || !running) return;
    busy = true;
    for (;;) {
      await Promise.resolve();
      if (central.cutAfter === 0) central.online = false;
      const [head] = queued;
      if (!central.online || head === undefined) break;
      queued.shift();
      if (central.cutAfter !== null) central.cutAfter -= 1;
      const event = head.payload as unknown as TxEvent;
      central.events.push(event);
      const reply = central.reply(event);
      check(version, 'TransactionEvent', 'reply', reply);
      book().queueEvents.answered(head, reply);
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
      check(version, message.action, 'request', message.payload);
      queued.push(JSON.parse(JSON.stringify(message)) as QueuedMessage);
      void pump();
    },
    resume: () => {
      running = true;
      void pump();
    },
    pause: () => {
      running = false;
    },
    settled: () => Promise.resolve(),
    pump: () => void pump(),
  };
}

export interface StationOptions {
  readonly version?: Version2;
  readonly profile?: string;
  readonly disk?: Disk;
  readonly central?: Central;
  /** `TxCtrlr/TxStartPoint`: value; intervals are 0 otherwise */
  readonly variables?: Readonly<Record<string, string>>;
  /** the device, in place of one with the profile */
  readonly kind?: StationKind;
  /** the clock of the machine, ms since the epoch; default: it stands still */
  readonly wallMs?: () => number;
  /** commands before the station is heard */
  readonly before?: (kind: StationKind) => void;
  readonly setpointW?: (evseId: number) => number | null;
  readonly costs?: Costs;
}

/** A device and its plant, as a test moves them. */
export type StationKind = Pick<KindRig, 'device' | 'plant' | 'run'>;

const quiet = {
  'SampledDataCtrlr/TxUpdatedInterval': '0',
  'SampledDataCtrlr/TxEndedInterval': '0',
  'AlignedDataCtrlr/Interval': '0',
  'AlignedDataCtrlr/TxEndedInterval': '0',
};

function clockOf({ plant }: StationKind): RemoteClock {
  const wall = new HandWall();
  return remoteClocks({
    mode: 'simulated',
    wall,
    later: new HandTimers(wall).later,
    log: silentLogger,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => plant.time.mode === 'paused',
      at: (t, act) => plant.at(t, act),
    },
  })(silentLogger);
}

function variablesOf(port: StationPort, version: Version2, given: Readonly<Record<string, string>>): FakeVariables {
  const variables = fakeVariables({
    version,
    nameplate: port.nameplate,
    evseIds: port.connectorIds,
    ratings: port.ratings,
    stationRating: port.stationRating,
    securityProfile: 0,
  });
  for (const [name, value] of Object.entries({ ...quiet, ...given })) {
    const [component = '', variable = ''] = name.split('/');
    variables.override(component, variable, value);
  }
  return variables;
}

export class Station {
  readonly kind: StationKind;
  readonly port: StationPort;
  readonly central: Central;
  readonly disk: Disk;
  readonly variables: FakeVariables;
  readonly transactions: TransactionBook;
  readonly meterValues: MeterValuesPart;
  readonly parts: StationParts;
  /** what the meters show in place of the truth; null: the truth */
  distort: (() => MeterDistortion) | null = null;
  readonly #queue: FakeQueue;
  readonly #listeners = new Set<(transition: EvseTransition) => void>();
  readonly #accepting = new Set<() => void>();

  private constructor(kind: StationKind, options: StationOptions) {
    const { version = 'ocpp2.1', disk = newDisk(), central = new Central(), setpointW, costs } = options;
    payloadChecks.prepare(version);
    this.kind = kind;
    this.disk = disk;
    this.central = central;
    const port = createStationPort(kind.device, kind.plant, 'CS-1');
    this.port = Object.assign(Object.create(port) as StationPort, {
      onTransition: (listener: (transition: EvseTransition) => void) => {
        this.#listeners.add(listener);
        const end = port.onTransition(listener);
        return () => {
          this.#listeners.delete(listener);
          end();
        };
      },
    });
    this.variables = variablesOf(this.port, version, options.variables ?? {});
    this.#queue = fakeQueue(version, disk, central, () => this.transactions);
    this.parts = this.#partsOf(version, options.wallMs ?? (() => 0));
    this.transactions = createTransactions(this.parts, {
      sample: (...about) => this.meterValues.sample(...about),
      ...(costs === undefined ? {} : { costs }),
    });
    this.meterValues = createMeterValues(this.parts, {
      transactions: this.transactions,
      ...(setpointW === undefined ? {} : { setpointW }),
    });
  }

  #partsOf(version: Version2, wallMs: () => number): StationParts {
    const { central, kind, disk } = this;
    const distort = () => this.distort;
    return {
      id: 'CS-1',
      version,
      device: this.port,
      clock: clockOf(kind),
      wall: { nowMs: wallMs },
      log: silentLogger,
      store: (name: string) => disk.store.slot(name),
      variables: this.variables,
      queue: this.#queue,
      disturber: {
        get active() {
          return distort() !== null;
        },
        readings: () => distort()?.() ?? null,
      },
      calls: {
        send: (action: string, payload: Payload) => {
          check(version, action, 'request', payload);
          if (!central.online) return Promise.resolve({ kind: 'unsent', why: 'no connection' });
          central.values.push(payload as unknown as Requests['MeterValues']);
          return Promise.resolve({ kind: 'result', payload: {}, durationMs: 1 });
        },
      },
      registration: {
        get isReady() {
          return central.online;
        },
        get offlineSinceMs() {
          return central.online ? null : 1;
        },
        onAccepted: (listener: () => void) => {
          this.#accepting.add(listener);
          return () => this.#accepting.delete(listener);
        },
      },
    } as unknown as StationParts;
  }

  static async open(options: StationOptions = {}): Promise<Station> {
    const { profile = 'EVSE-AC-7.4kW-2port' } = options;
    const evse = { startDelayMinS: 2, startDelayMaxS: 2 };
    const kind = options.kind ?? new KindRig({ args: ['--evse_profile', profile], evse });
    options.before?.(kind);
    const station = new Station(kind, options);
    const { port, variables } = station;
    port.command({ kind: 'evse.authority', central: true });
    port.command({
      kind: 'evse.behaviour',
      connectionTimeoutS: variables.integer('TxCtrlr', 'EVConnectionTimeOut'),
      endOnEvDisconnect: variables.boolean('TxCtrlr', 'StopTxOnEVSideDisconnect'),
      autoAuthorize: false,
    });
    await station.transactions.part.load?.();
    await station.meterValues.part.load?.();
    station.#queue.resume();
    await station.settle();
    return station;
  }

  /** The process ends: nothing is told to the central system. */
  kill(): void {
    this.#queue.pause();
    this.transactions.part.stop?.();
    this.meterValues.part.stop?.();
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

  connector(evseId = 1): EvseConnectorDetail {
    return this.port.connector(evseId);
  }

  async do(command: EvseCommand): Promise<void> {
    this.kind.device.command(command, operator);
    await this.settle();
  }

  plug(evseId = 1, ev: EvPatch = { socPct: 30, batteryCapacityWh: 100_000 }): Promise<void> {
    return this.do({ kind: 'evse.plug', connectorId: evseId, ev });
  }

  unplug(evseId = 1): Promise<void> {
    return this.do({ kind: 'evse.unplug', connectorId: evseId });
  }

  /** The authorisation accepts a token. */
  async authorize(
    text: string,
    more: { readonly evseId?: number; readonly remoteStartId?: number; readonly info?: Partial<IdTokenInfo> } = {},
  ): Promise<void> {
    const { evseId = 1, remoteStartId, info } = more;
    const idToken: IdToken = { idToken: text, type: 'ISO14443' };
    const remote = remoteStartId === undefined ? {} : { remoteStartId };
    this.transactions.authorized(evseId, { idToken, info: { status: 'Accepted', ...info }, ...remote });
    this.port.command({ kind: 'evse.authorize', connectorId: evseId, idToken: text, ...remote });
    await this.settle();
  }

  async connect(online: boolean): Promise<void> {
    this.central.online = online;
    this.central.cutAfter = null;
    if (online) {
      for (const listener of this.#accepting) listener();
      this.#queue.pump();
    }
    await this.settle();
  }
}

/** Variables with these start and stop points. */
export const points = (start: string, stop: string) => ({
  'TxCtrlr/TxStartPoint': start,
  'TxCtrlr/TxStopPoint': stop,
});

/** The value of a measurand in a list; it must be there once. */
export function valueOf(values: readonly Sampled[] | undefined, measurand: string, phase?: string): number {
  const found = (values ?? []).filter((each) => each.measurand === measurand && each.phase === phase);
  if (found.length !== 1) throw new Error(`${found.length} values of ${measurand} ${phase ?? ''}`);
  return found[0]?.value ?? NaN;
}
