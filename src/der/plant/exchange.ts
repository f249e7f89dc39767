/** The exchange of values between devices and a grid outside of the simulator, which a power-flow program solves. */
import { randomUUID } from 'node:crypto';
import type {
  AttachedDevice,
  Column,
  ExchangeEvent,
  ExchangeNow,
  ExchangeState,
  ExchangeTrial,
  GridExchange,
  OutsideColumns,
  StepEnd,
} from '../../contract/exchange.ts';
import { noneAttached } from '../../contract/exchange.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import type { TickEvent } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { inParts } from '../../core/turns.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { SimDevice } from '../device/device.ts';
import type { Environment } from '../surroundings/environment.ts';
import { outsideGrid } from '../surroundings/grid/outside.ts';
import type { OutsideValues } from '../surroundings/grid/outside-ramp.ts';
import { deadGrid } from '../surroundings/grid/layers.ts';
import type { MeasuredQuantity } from '../surroundings/grid/layers.ts';

/** The plant as the exchange uses it. */
interface ExchangedPlant {
  readonly environment: Environment;
  /** a feeder of the simulator before each device, whose impedance a solver has too */
  readonly hasFeeder: boolean;
  readonly now: () => SimTime;
  /** end of the last tick */
  readonly latestEnd: () => SimTime;
  readonly isPaused: () => boolean;
  /** a request of ticks has not ended */
  readonly isStepping: () => boolean;
  readonly writer: (by: Origin) => Provenance;
  readonly device: (index: number) => SimDevice;
  readonly tickTo: (begin: (now: SimTime) => SimTime, by: Origin) => Promise<TickEvent>;
  readonly betweenTicks: <T>(work: () => Promise<T>) => Promise<T>;
  /** @param listener its parts are worked off one by one, as a large fleet takes some ms */
  readonly onTickInParts: (work: (event: TickEvent) => Iterable<undefined>) => void;
  readonly onDevices: (listener: (change: { readonly removed: { readonly index: number } | null }) => void) => void;
}

/** Events of one step that are kept. */
const maxEvents = 1000;
/** Instants within one tick at which values change: each device ends a sub-step there, and keeps the values before. */
const maxInstants = 100;
const secondsPerHour = 3600;

interface EventList {
  readonly events: readonly ExchangeEvent[];
  /** further ones, which were not kept */
  readonly lost: number;
}

const noEvents: EventList = { events: [], lost: 0 };

type DeviceState = Omit<ExchangeState, 'meanW' | 'meanVar'>;

interface Attached {
  /** null: removed */
  device: SimDevice | null;
  readonly facts: AttachedDevice;
  /** at the end of the tick up to which means were collected */
  energyWh: number;
  energyVarh: number;
  meanW: number;
  meanVar: number;
  /** changes of service that events have had, or that were lost */
  changesTaken: number;
  /** null: no charging station */
  readonly vehicles: VehicleEvents | null;
}

/** Vehicles that have come and gone at a charging station since they were last taken. */
class VehicleEvents {
  readonly #stop: () => void;
  #events: { readonly at: SimTime; readonly event: string }[] = [];
  #lost = 0;

  constructor(device: SimDevice) {
    this.#stop = device.onEvse(({ event, at }) => {
      const word = vehicleEvents[event];
      if (word === undefined) return;
      if (this.#events.length < maxEvents) this.#events.push({ at, event: word });
      else this.#lost += 1;
    });
  }

  take(place: number): EventList {
    if (this.#events.length === 0) return noEvents;
    const taken = { events: this.#events.map((each) => ({ place, ...each })), lost: this.#lost };
    this.#events = [];
    this.#lost = 0;
    return taken;
  }

  stop(): void {
    this.#stop();
  }
}

/** Events of a connector in which a vehicle comes or goes. */
const vehicleEvents: Readonly<Record<string, 'plugged' | 'unplugged'>> = {
  plugged: 'plugged',
  unplugged: 'unplugged',
  // its cable stays in the station
  ev_unplugged: 'unplugged',
};

/** All devices at the end of the last tick, and what has happened up to it: some may have done a part of the next one. */
interface Reached {
  readonly at: SimTime;
  /** by place; null: removed */
  readonly states: readonly (DeviceState | null)[];
  /** since the last collection */
  readonly happened: EventList;
}

interface Session extends Omit<ExchangeNow, 'devices' | 'steps'> {
  readonly attached: readonly Attached[];
  readonly by: Origin;
  steps: number;
  reached: Reached;
  /** end of the tick up to which means were collected */
  collectedUntil: SimTime;
  /** the last change of values, and the number of their instants since the tick that ended at `reached` */
  changes: { readonly reached: SimTime; readonly at: SimTime; readonly count: number };
}

const valueOf = <T>(column: Column<T> | undefined, place: number, present: T): T =>
  column === undefined ? present : Array.isArray(column) ? ((column as readonly T[])[place] ?? present) : (column as T);

export class PlantExchange implements GridExchange {
  readonly #plant: ExchangedPlant;
  #session: Session | null = null;
  #shown: StepEnd | null = null;
  #events: EventList = noEvents;

  constructor(plant: ExchangedPlant) {
    this.#plant = plant;
    plant.onTickInParts((event) => this.#tickEnded(event));
    plant.onDevices(({ removed }) => {
      if (removed !== null) this.#remove(removed.index);
    });
  }

  betweenTicks<T>(work: () => T): Promise<T> {
    return this.#plant.betweenTicks(() => Promise.resolve().then(work));
  }

  get now(): ExchangeNow | null {
    return this.#session && described(this.#session);
  }

  attach(indexes: readonly number[], owner: string, by: Origin): ExchangeNow {
    const { environment, hasFeeder, now, isPaused, isStepping, device, latestEnd, writer } = this.#plant;
    if (this.#session !== null)
      throw new SimError('COMMAND_CONFLICT', `${JSON.stringify(this.#session.owner)} has an exchange under way`);
    if (hasFeeder)
      throw new SimError('COMMAND_CONFLICT', 'the setting grid.feeder has an impedance that the grid outside has too');
    if (isStepping())
      throw new SimError('COMMAND_CONFLICT', 'a step of the clock is under way, and passes time until it ends');
    if (indexes.length === 0) throw new SimError('COMMAND_CONFLICT', 'there are no devices to attach');
    const devices = indexes.map(device);
    const since = now();
    for (const { index } of devices) environment.outside.attach(index, owner, since);
    environment.outside.writer = writer(by);
    this.#session = {
      session: randomUUID(),
      owner,
      since,
      pace: isPaused() ? 'stepped' : 'running',
      attached: devices.map(attachedDevice),
      by,
      steps: 0,
      reached: { at: latestEnd(), states: devices.map(stateOf), happened: noEvents },
      collectedUntil: latestEnd(),
      changes: { reached: latestEnd(), at: since, count: 0 },
    };
    return described(this.#session);
  }

  put(values: OutsideColumns, rampS = 0): void {
    const { environment, now, latestEnd, writer } = this.#plant;
    const session = this.#present;
    const { attached, by } = session;
    session.changes = nextChange(session.changes, now(), latestEnd());
    const approach = { from: session.changes.at, rampS, quantities: quantitiesOf(values) };
    // one writer of all devices: a record of each would cost as much as its values
    environment.outside.writer = writer(by);
    for (const [place, { device }] of attached.entries()) {
      const outside = device && environment.outside.gridOf(device.index);
      outside?.set(valuesAt(values, place, outside.values), approach);
    }
  }

  async step(endOf: (now: SimTime) => SimTime, values: OutsideColumns): Promise<TickEvent> {
    const session = this.#present;
    const event = await this.#plant.tickTo((begin) => {
      if (session !== this.#session) throw new SimError('COMMAND_CONFLICT', 'the exchange has ended meanwhile');
      const end = endOf(begin);
      if (!(secondsBetween(begin, end) > 0))
        throw new SimError('COMMAND_BAD_VALUE', 'a step must end after the present instant');
      this.put(values);
      return end;
    }, session.by);
    session.steps += 1;
    this.collect();
    return event;
  }

  trial(values: OutsideColumns, dtS: number | null): readonly (ExchangeTrial | null)[] {
    const { environment, now } = this.#plant;
    const instant = now();
    return this.#present.attached.map(({ device }, place) => {
      const outside = device && environment.outside.gridOf(device.index);
      if (!outside) return null;
      const asked = outsideGrid(valuesAt(values, place, outside.values));
      // a step would go along the ramp, which an outage hides
      const isSteady = asked === deadGrid || !outside.isMoving(instant);
      return device.trial(asked, dtS, isSteady);
    });
  }

  get shown(): StepEnd | null {
    return this.#shown;
  }

  states(): readonly (ExchangeState | null)[] {
    const { attached, reached } = this.#present;
    return attached.map(({ device, meanW, meanVar }, place) => {
      const state = reached.states[place];
      return device && state ? { ...state, meanW, meanVar } : null;
    });
  }

  get events(): GridExchange['events'] {
    return this.#events;
  }

  collect(): void {
    const session = this.#present;
    const { at, states, happened } = session.reached;
    this.#events = happened;
    session.reached = { at, states, happened: noEvents };
    const hours = secondsBetween(session.collectedUntil, at) / secondsPerHour;
    if (hours > 0)
      for (const [place, attached] of session.attached.entries()) recordMeans(attached, hours, states[place]);
    session.collectedUntil = at;
  }

  /** Takes the states of all devices part by part, and shows them at once: an answer has one instant. */
  *#tickEnded({ tick, sim: at }: TickEvent): Generator<undefined, void> {
    const session = this.#session;
    const states: (DeviceState | null)[] = [];
    const changes: EventList[] = [];
    yield* inParts(session?.attached ?? [], (attached, place) => {
      const { device } = attached;
      states.push(device && stateOf(device));
      const taken = takeChanges(attached, place);
      if (taken !== noEvents) changes.push(taken);
      const vehicles = attached.vehicles?.take(place) ?? noEvents;
      if (vehicles !== noEvents) changes.push(vehicles);
    });
    this.#shown = { tick, sim: at };
    if (session === null) return;
    const { happened } = session.reached;
    session.reached = { at, states, happened: changes.length === 0 ? happened : joined([happened, ...changes]) };
  }

  end(): void {
    const session = this.#present;
    for (const { device, vehicles } of session.attached) {
      vehicles?.stop();
      if (device) this.#detach(device.index);
    }
    this.#session = null;
    this.#events = noEvents;
  }

  /** @throws SimError COMMAND_CONFLICT without an exchange */
  get #present(): Session {
    if (this.#session === null) throw new SimError('COMMAND_CONFLICT', noneAttached);
    return this.#session;
  }

  #remove(index: number): void {
    const session = this.#session;
    const place = session?.attached.findIndex(({ device }) => device?.index === index) ?? -1;
    const attached = session?.attached[place];
    if (session === null || attached === undefined) return;
    const removal = { events: [{ place, at: this.#plant.now(), event: 'removed' }], lost: 0 };
    const { happened, ...reached } = session.reached;
    session.reached = { ...reached, happened: joined([happened, removal]) };
    attached.device = null;
    attached.vehicles?.stop();
    this.#detach(index);
  }

  #detach(index: number): void {
    const { environment, now, latestEnd } = this.#plant;
    environment.outside.detach(index, now(), latestEnd());
  }
}

/** The change at an instant; with too many in one tick its values count from the instant of the last one. */
function nextChange({ reached, at, count }: Session['changes'], t: SimTime, tickEnd: SimTime): Session['changes'] {
  if (tickEnd !== reached) return { reached: tickEnd, at: t, count: 1 };
  if (t <= at || count < maxInstants) return { reached, at: t, count: t === at ? count : count + 1 };
  return { reached, at, count };
}

function described({ attached, session, owner, since, pace, steps }: Session): ExchangeNow {
  return { session, owner, since, pace, steps, devices: attached.map(({ facts }) => facts) };
}

function attachedDevice(device: SimDevice): Attached {
  const { index, name, assetType: kind, nominal, terminalRatings, flow } = device;
  const { energyWh, energyVarh, powerW, reactivePowerVar } = flow;
  return {
    device,
    facts: { index, name, kind, nominalLnV: nominal.lnV, ...terminalRatings },
    energyWh,
    energyVarh,
    meanW: powerW,
    meanVar: reactivePowerVar,
    changesTaken: device.trace.transitionCount,
    vehicles: kind === 'evse' ? new VehicleEvents(device) : null,
  };
}

/** Changes of service since they were last taken, of which a trace keeps the newest. */
function takeChanges(attached: Attached, place: number): EventList {
  if (attached.device === null) return noEvents;
  const { transitions, transitionCount } = attached.device.trace;
  const count = transitionCount - attached.changesTaken;
  if (count === 0) return noEvents;
  attached.changesTaken = transitionCount;
  const events = transitions.slice(-count).map(({ at, to }) => ({ place, at, event: to }));
  return { events, lost: count - events.length };
}

/** The first events in order of time. */
function joined(lists: readonly EventList[]): EventList {
  const events = lists.flatMap((list) => list.events).sort((a, b) => a.at - b.at || a.place - b.place);
  const lost = lists.reduce((sum, list) => sum + list.lost, 0);
  return { events: events.slice(0, maxEvents), lost: lost + Math.max(0, events.length - maxEvents) };
}

function recordMeans(attached: Attached, hours: number, state: DeviceState | null | undefined): void {
  if (attached.device === null || !state) return;
  const { energyWh, energyVarh } = state;
  attached.meanW = (energyWh - attached.energyWh) / hours;
  attached.meanVar = (energyVarh - attached.energyVarh) / hours;
  attached.energyWh = energyWh;
  attached.energyVarh = energyVarh;
}

const quantityByColumn = {
  aPu: 'aPu',
  bPu: 'bPu',
  cPu: 'cPu',
  frequencyHz: 'hz',
  angleDeg: 'angleDeg',
} as const satisfies { readonly [K in keyof OutsideColumns]: MeasuredQuantity };

const quantitiesOf = (values: OutsideColumns): readonly MeasuredQuantity[] =>
  Object.entries(quantityByColumn).flatMap(([column, quantity]) => (column in values ? [quantity] : []));

function valuesAt(values: OutsideColumns, place: number, present: OutsideValues): OutsideValues {
  return {
    aPu: valueOf(values.aPu, place, present.aPu),
    bPu: valueOf(values.bPu, place, present.bPu),
    cPu: valueOf(values.cPu, place, present.cPu),
    hz: valueOf(values.frequencyHz, place, present.hz),
    angleDeg: valueOf(values.angleDeg, place, present.angleDeg),
    outage: valueOf(values.outage, place, present.outage),
    island: valueOf(values.island, place, present.island),
  };
}

function stateOf(device: SimDevice): DeviceState {
  const { flow, isDown, available, trace } = device;
  const socPct = storageIn(device.detail)?.socPct ?? null;
  return { ...flow, isDown, available, service: trace.service, socPct };
}
