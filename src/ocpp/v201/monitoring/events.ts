/**
 * NotifyEvent: what monitors and parts tell. Events of one instant leave in one report. Offline those that are severe enough
 * wait, also over a restart (N07.FR.04, N08.FR.03).
 */
import type { JsonValue } from '../../../core/store.ts';
import { createSaver } from '../../station/stack.ts';
import type { EventData, EventNotificationEnum, EventTriggerEnum } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { Part, StationParts } from '../parts.ts';
import type { Named } from './monitors.ts';
import { atEndOfTurn } from './measured.ts';

export interface EventNotice extends Named {
  readonly kind: EventNotificationEnum;
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly trigger: EventTriggerEnum;
  /** empty: the variable is write-only */
  readonly actualValue: string;
  readonly severity: number;
  /** the situation is over */
  readonly cleared?: boolean;
  readonly monitorId?: number;
  /** id of the event that has brought it */
  readonly cause?: number;
  readonly techCode?: string;
  readonly techInfo?: string;
  readonly transactionId?: string;
}

export interface EventReports extends Required<Pick<Part, 'load' | 'stop'>> {
  /** events that the central system has not confirmed */
  readonly waiting: number;
  /** The severity number up to which events are told now, or kept for later. */
  maxSeverity(): number;
  /** Reports an event with all others of this turn. @returns its id; null: it is not told */
  report(notice: EventNotice): number | null;
}

interface Entry {
  readonly event: EventData;
  readonly severity: number;
}

/** events that wait at most: beyond it the oldest of the least severe are lost */
const capacity = 500;
const perMessage = 20;
/** ms after which a report without an answer is sent again, and how often it is sent at all */
const repeatMs = 60_000;
const maxAttempts = 3;
/** numbers of events that a restart passes over, so that none comes twice */
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

function kept(entries: readonly Entry[]): readonly Entry[] {
  const lost = entries.length - capacity;
  if (lost <= 0) return entries;
  const least = entries.reduce((worst, { severity }) => Math.max(worst, severity), 0);
  const first = new Set(entries.filter(({ severity }) => severity === least).slice(0, lost));
  return entries.filter((entry) => !first.has(entry)).slice(-capacity);
}

function restoredEntry(value: JsonValue): readonly Entry[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { event, severity } = value as { readonly [name: string]: JsonValue };
  const isKnown = typeof event === 'object' && event !== null && typeof severity === 'number';
  // the event was one when it was kept
  return isKnown ? [{ event: event as unknown as EventData, severity }] : [];
}

type Waiting = ReturnType<typeof createWaiting>;

/** Events that are not confirmed, and the number of the next one, as the store keeps them. */
function createWaiting({ store, log, device }: Pick<StationParts, 'store' | 'log' | 'device'>) {
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
      entries = kept(all);
      if (entries.length < all.length)
        log.warning(`${all.length - entries.length} events are lost: too many wait`, device.deviceIndex);
      return id;
    },
    remove(gone: readonly Entry[]) {
      const drop = new Set(gone);
      entries = entries.filter((entry) => !drop.has(entry));
      if (!isStored) return;
      isStored = entries.length > 0;
      saver.save();
    },
    /** They wait for longer than a moment. */
    keep() {
      if (entries.length === 0) return;
      isStored = true;
      saver.save();
    },
    async load() {
      const [reserved, ...rest] = await slot.read();
      if (typeof reserved !== 'number') return;
      nextId = reserved;
      reservedId = reserved + idStep;
      const restored = rest.flatMap(restoredEntry);
      isStored = restored.length > 0;
      entries = [...restored, ...entries];
      saver.save();
    },
  };
}

type Delivery = 'done' | 'repeat' | 'offline';

/** Sends what waits in parts of one report, one after another. */
function createSender({ calls, clock, registration }: Pick<StationParts, 'calls' | 'clock' | 'registration'>) {
  const attempts = new WeakMap<Entry, number>();
  const isGivenUp = (part: readonly Entry[]): boolean => {
    for (const entry of part) attempts.set(entry, (attempts.get(entry) ?? 0) + 1);
    return part.some((entry) => (attempts.get(entry) ?? 0) >= maxAttempts);
  };
  const part = async (entries: readonly Entry[], seqNo: number, tbc: boolean): Promise<Delivery> => {
    const { kind } = await calls.send('NotifyEvent', {
      generatedAt: stamp(clock.nowMs()),
      seqNo,
      ...(tbc && { tbc }),
      eventData: entries.map(({ event }) => event),
    });
    if (kind === 'result' || kind === 'error') return 'done';
    if (kind === 'lost' || !registration.accepted) return 'offline';
    return isGivenUp(entries) ? 'done' : 'repeat';
  };
  return async (waiting: Waiting): Promise<Delivery> => {
    const { entries } = waiting;
    for (let from = 0; from < entries.length; from += perMessage) {
      const next = entries.slice(from, from + perMessage);
      const delivery = await part(next, from / perMessage, from + perMessage < entries.length);
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

/** Sends what waits at the end of the turn, and after each connection. */
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
      // events that come meanwhile are another report
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
    if (!registration.accepted) waiting.keep();
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
    registration.accepted ? 9 : variables.integer('MonitoringCtrlr', 'OfflineQueuingSeverity');
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
