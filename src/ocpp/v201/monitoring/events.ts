/**
 * Sends the events of monitors and parts with NotifyEvent, those of one instant in one report. While the station is
 * offline, sufficiently severe events wait, also over a restart (N07.FR.04, N08.FR.03).
 */
import { z } from 'zod';
import { formOf, readHeaded, recordOf, serial } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import { createSaver } from '../../station/stack.ts';
import type { EventData, EventNotificationEnum, EventTriggerEnum } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { Part, StationParts } from '../parts.ts';
import { eventDataIn } from '../stored.ts';
import { hasProblem } from './monitors.ts';
import type { Named, Monitor } from './monitors.ts';
import type { RemoteClock } from '../../../core/time/remote-clock.ts';
import type { MeterSample } from '../../station/port.ts';
import type { PlacedVariable, Place } from '../variables/model.ts';

// When periodic monitors are due (N08), on the clock of the central system.

const dayMs = 86_400_000;

/** The first instant after `nowMs` that is a multiple of the interval from midnight, or is midnight (N08.FR.07). */
function nextAligned(nowMs: number, intervalS: number): number {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  const passed = Math.floor((nowMs - midnightMs) / (intervalS * 1000) + 1e-9);
  return Math.min(midnightMs + (passed + 1) * intervalS * 1000, midnightMs + dayMs);
}

/** The next instant of a periodic monitor. @param sinceMs instant at which it was set, or its last due instant */
export function nextDue({ type, value }: Pick<Monitor, 'type' | 'value'>, sinceMs: number, nowMs: number): number {
  if (type === 'PeriodicClockAligned') return nextAligned(nowMs, value);
  const intervalMs = value * 1000;
  // the clock has been set back
  if (sinceMs > nowMs) return nowMs + intervalMs;
  const passed = Math.floor((nowMs - sinceMs) / intervalMs + 1e-9);
  return sinceMs + (passed + 1) * intervalMs;
}

interface Alarm {
  /** Plans the next instant again. */
  plan(): void;
  stop(): void;
}

/**
 * Calls `act` at the earliest of many instants.
 * @param next the earliest instant; Infinity: none
 * @param act has to plan the next instant
 */
export function createAlarm(clock: Pick<RemoteClock, 'at'>, next: () => number, act: (dueMs: number) => void): Alarm {
  let cancel: (() => void) | null = null;
  let plannedMs = Infinity;
  const stop = (): void => {
    cancel?.();
    cancel = null;
    plannedMs = Infinity;
  };
  return {
    plan() {
      const dueMs = next();
      if (dueMs === plannedMs && cancel !== null) return;
      stop();
      if (dueMs === Infinity) return;
      plannedMs = dueMs;
      cancel = clock.at(dueMs, () => {
        cancel = null;
        act(dueMs);
      });
    },
    stop,
  };
}

/** A function that schedules one call of `act` at the end of the turn, even if it is called several times. */
export function atEndOfTurn(act: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      act();
    });
  };
}

type Read = (sample: MeterSample) => number;

interface MeterRow {
  readonly variable: string;
  readonly digits: number;
  readonly read: Read;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;

/** The value of a phase; 0: the phase is not wired. */
const ofPhase =
  (values: (sample: MeterSample) => readonly number[], phase: number): Read =>
  (sample) =>
    values(sample)[sample.phases.indexOf(phase)] ?? 0;

function byPhase(variable: string, digits: number, values: (sample: MeterSample) => readonly number[]): MeterRow[] {
  return [
    { variable, digits, read: (sample) => mean(values(sample)) },
    ...[1, 2, 3].map((phase) => ({ variable: `${variable}[L${phase}]`, digits, read: ofPhase(values, phase) })),
  ];
}

const volts = ({ voltageV }: MeterSample) => voltageV;
const amperes = ({ currentA }: MeterSample) => currentA;

const rows: Readonly<Record<string, readonly MeterRow[]>> = {
  ElectricalFeed: [
    { variable: 'Frequency', digits: 3, read: ({ frequencyHz }) => frequencyHz },
    ...byPhase('ACVoltage', 1, volts),
    ...byPhase('ACCurrent', 2, amperes),
  ],
  EVSE: [
    ...byPhase('ACVoltage', 1, volts),
    ...byPhase('ACCurrent', 2, amperes),
    { variable: 'DCVoltage', digits: 1, read: (sample) => mean(volts(sample)) },
    { variable: 'DCCurrent', digits: 2, read: (sample) => mean(amperes(sample)) },
  ],
  FiscalMetering: [
    { variable: 'EnergyImportRegister', digits: 0, read: ({ energyImportWh }) => energyImportWh },
    { variable: 'EnergyExportRegister', digits: 0, read: ({ energyExportWh }) => energyExportWh },
  ],
};

/** A number as a decimal of OCPP 2.x; a value that the device does not have is 0. */
function decimalText(value: number, digits: number): string {
  // + 0 turns -0 into 0
  return Number.isFinite(value) ? String(Number(value.toFixed(digits)) + 0) : '0';
}

/** Provides values of the device's meters and problems for the variables that the station has. */
export function provideMeasured({ device, variables }: Pick<StationParts, 'device' | 'variables'>): void {
  const provide = (component: string, variable: string, place: Place, read: () => string): void => {
    if (variables.has(component, variable, place)) variables.provide(component, variable, read, place);
  };
  const places: readonly Place[] = [{}, ...device.connectorIds.map((evseId) => ({ evseId }))];
  for (const place of places) {
    for (const [component, meters] of Object.entries(rows))
      for (const { variable, digits, read } of meters)
        provide(component, variable, place, () => decimalText(read(device.sample(place.evseId ?? 0)), digits));
    const problem = (): string => String(hasProblem(device, place));
    provide('ChargingStation', 'Problem', place, problem);
    if (place.evseId === undefined) continue;
    provide('EVSE', 'Problem', place, problem);
    provide('Connector', 'Problem', { ...place, connectorId: 1 }, problem);
    const { evseId } = place;
    provide('ConnectedEV', 'Available', place, () => String(device.connector(evseId).ev !== null));
    provide('ConnectedEV', 'StateOfCharge', place, () => {
      const { socPct } = device.sample(evseId);
      return socPct === null ? '' : decimalText(socPct, 1);
    });
  }
}

/** True if a variable has a target value. */
export function hasTarget({ entry }: PlacedVariable): boolean {
  const { component, variable } = entry.row;
  return component === 'EVSE' && (variable === 'Power' || variable === 'DischargePower');
}

/** Target of a variable: the power that the EVSE allocates to its vehicle, W. null: the variable has no target. */
export function targetOf({ device }: Pick<StationParts, 'device'>, target: PlacedVariable): number | null {
  const { evseId } = target.place;
  if (evseId === undefined || !hasTarget(target)) return null;
  const { allocatedW } = device.connector(evseId);
  return Math.max(0, target.entry.row.variable === 'Power' ? allocatedW : -allocatedW);
}

export interface EventNotice extends Named {
  readonly kind: EventNotificationEnum;
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly trigger: EventTriggerEnum;
  /** empty: the variable is write-only, or has no value */
  readonly actualValue: string;
  readonly severity: number;
  /** the situation is over */
  readonly cleared?: boolean;
  readonly monitorId?: number;
  /** id of the event that caused it */
  readonly cause?: number;
  readonly techCode?: string;
  readonly techInfo?: string;
  readonly transactionId?: string;
}

export interface EventReports extends Required<Pick<Part, 'load' | 'stop'>> {
  /** events that the central system has not confirmed */
  readonly waiting: number;
  /** Greatest severity number of events that are sent or stored. */
  maxSeverity(): number;
  /** Reports an event in one message with all events of this turn. @returns its id; null: not sent */
  report(notice: EventNotice): number | null;
}

interface Entry {
  readonly event: EventData;
  readonly severity: number;
}

/** maximum of waiting events; above it the oldest of the least severe are lost */
const capacity = 500;
/** maximum number of events in a message */
const perMessage = 20;
/** ms after which a report without an answer is sent again */
const repeatMs = 60_000;
/** maximum number of times that an event is sent */
const maxAttempts = 3;
/** Number of event ids that are reserved at a time: after a restart the ids continue after the reserved ones. */
const idStep = 1000;

function eventOf(notice: EventNotice, eventId: number, withSeverity: boolean): EventData {
  const { component, variable, kind, atMs, trigger, actualValue, severity, monitorId } = notice;
  const { cleared, cause, techCode, techInfo, transactionId } = notice;
  return {
    eventId,
    timestamp: stamp(atMs),
    trigger,
    actualValue: actualValue.slice(0, 2500),
    component,
    variable,
    eventNotificationType: kind,
    ...(cleared !== undefined && { cleared }),
    ...(cause !== undefined && { cause }),
    ...(monitorId !== undefined && { variableMonitoringId: monitorId }),
    ...(techCode !== undefined && techCode !== '' && { techCode: techCode.slice(0, 50) }),
    ...(techInfo !== undefined && techInfo !== '' && { techInfo: techInfo.slice(0, 500) }),
    ...(transactionId !== undefined && { transactionId }),
    ...(withSeverity && { severity }),
  };
}

function withinCapacity(entries: readonly Entry[]): readonly Entry[] {
  const excess = entries.length - capacity;
  if (excess <= 0) return entries;
  // the least severe events have the greatest number
  const mildest = entries.reduce((greatest, { severity }) => Math.max(greatest, severity), 0);
  const lost = new Set(entries.filter(({ severity }) => severity === mildest).slice(0, excess));
  return entries.filter((entry) => !lost.has(entry)).slice(-capacity);
}

type Waiting = ReturnType<typeof createWaiting>;

/** Unconfirmed events and the id of the next one; the slot has the reserved ids, and events that could not be sent. */
function createWaiting({ store, log, device, version }: Pick<StationParts, 'store' | 'log' | 'device' | 'version'>) {
  const slot = store('events');
  let entries: readonly Entry[] = [];
  let nextId = 1;
  let reservedId = 1;
  let isStored = false;
  const saver = createSaver(
    slot,
    (): readonly JsonValue[] => {
      const stored = isStored ? entries : [];
      // events are JSON
      return [reservedId, ...(stored as unknown as readonly JsonValue[])];
    },
    log,
  );
  return {
    get entries() {
      return entries;
    },
    add(make: (eventId: number) => Entry): number {
      const id = nextId;
      nextId += 1;
      if (nextId > reservedId) {
        reservedId = nextId + idStep;
        saver.save();
      }
      const all = [...entries, make(id)];
      entries = withinCapacity(all);
      if (entries.length < all.length)
        log.warning(`${all.length - entries.length} events are lost: at most ${capacity} can wait`, device.deviceIndex);
      return id;
    },
    remove(gone: readonly Entry[]) {
      const drop = new Set(gone);
      entries = entries.filter((entry) => !drop.has(entry));
      if (!isStored) return;
      isStored = entries.length > 0;
      saver.save();
    },
    /** Stores the entries from now on, since they cannot be sent at once. */
    keep() {
      if (entries.length === 0) return;
      isStored = true;
      saver.save();
    },
    async load() {
      const entryForm = recordOf<Entry>({ event: eventDataIn(version), severity: z.number() });
      const stored = await readHeaded(slot, [formOf<number>(serial), entryForm], log);
      if (stored === null) return;
      const { head, rest: restored } = stored;
      nextId = head;
      reservedId = head + idStep;
      isStored = restored.length > 0;
      entries = [...restored, ...entries];
      saver.save();
    },
  };
}

type Delivery = 'done' | 'repeat' | 'offline';

/** Sends the waiting events in the parts of one report, one after another. */
function createSender({ calls, clock, registration }: Pick<StationParts, 'calls' | 'clock' | 'registration'>) {
  const attempts = new WeakMap<Entry, number>();
  /** Counts an attempt for each entry. @returns true: the last attempt of an entry */
  const countAttempt = (entries: readonly Entry[]): boolean => {
    for (const entry of entries) attempts.set(entry, (attempts.get(entry) ?? 0) + 1);
    return entries.some((entry) => (attempts.get(entry) ?? 0) >= maxAttempts);
  };
  const sendPart = async (entries: readonly Entry[], seqNo: number, tbc: boolean): Promise<Delivery> => {
    const { kind } = await calls.send('NotifyEvent', {
      generatedAt: stamp(clock.nowMs()),
      seqNo,
      ...(tbc && { tbc }),
      eventData: entries.map(({ event }) => event),
    });
    if (kind === 'result' || kind === 'error') return 'done';
    if (kind === 'lost' || !registration.isReady) return 'offline';
    return countAttempt(entries) ? 'done' : 'repeat';
  };
  return async (waiting: Waiting): Promise<Delivery> => {
    const { entries } = waiting;
    for (let from = 0; from < entries.length; from += perMessage) {
      const next = entries.slice(from, from + perMessage);
      const delivery = await sendPart(next, from / perMessage, from + perMessage < entries.length);
      if (delivery !== 'done') return delivery;
      waiting.remove(next);
    }
    return 'done';
  };
}

type EventParts = Pick<
  StationParts,
  'version' | 'variables' | 'calls' | 'clock' | 'later' | 'log' | 'device' | 'registration' | 'store'
>;

/** Sends the waiting events at the end of the turn, and when the station is accepted. */
function createOutflow(parts: EventParts, waiting: Waiting) {
  const { later, registration } = parts;
  const send = createSender(parts);
  let sending = false;
  let stopped = false;
  let endWait: (() => void) | null = null;

  const run = async (): Promise<void> => {
    sending = true;
    let delivery: Delivery = 'done';
    try {
      // events that arrive meanwhile are sent in another report
      while (delivery === 'done' && waiting.entries.length > 0 && !isStopped()) delivery = await send(waiting);
    } finally {
      sending = false;
    }
    if (isStopped()) return;
    if (delivery === 'repeat') endWait = later(repeatMs, flush);
    waiting.keep();
  };
  const isStopped = (): boolean => stopped;
  function flush(): void {
    if (sending || stopped) return;
    endWait?.();
    endWait = null;
    if (!registration.isReady) waiting.keep();
    else if (waiting.entries.length > 0) void run();
  }
  const flushSoon = atEndOfTurn(flush);
  const endAccepted = registration.onAccepted(flushSoon);
  return {
    flushSoon,
    stop: (): void => {
      stopped = true;
      endWait?.();
      endAccepted();
    },
  };
}

export function createEventReports(parts: EventParts): EventReports {
  const { version, variables, registration } = parts;
  const waiting = createWaiting(parts);
  const outflow = createOutflow(parts, waiting);
  const maxSeverity = (): number =>
    registration.isReady ? 9 : variables.integer('MonitoringCtrlr', 'OfflineQueuingSeverity');
  return {
    get waiting() {
      return waiting.entries.length;
    },
    maxSeverity,
    report(notice) {
      const { severity } = notice;
      if (severity > maxSeverity()) return null;
      const id = waiting.add((eventId) => ({ event: eventOf(notice, eventId, version === 'ocpp2.1'), severity }));
      outflow.flushSoon();
      return id;
    },
    load: () => waiting.load(),
    stop: outflow.stop,
  };
}
