/** DER control (block R): SetDERControl, GetDERControl, ClearDERControl, and the reports of the station. */
import { z } from 'zod';
import type { OcppDerControlEntry } from '../../../contract/ocpp.ts';
import { readOne, record, recordOf } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import type { DerPort } from '../../station/port.ts';
import { createSaver } from '../../station/stack.ts';
import { createOutbox } from '../../files/outbox.ts';
import type { Outbox } from '../../files/outbox.ts';
import { stamp } from '../parts.ts';
import type { Handlers, Part, Replies, Requests, StationParts } from '../parts.ts';
import { requestOf } from '../stored.ts';
import { followAlarms } from './alarms.ts';
import type { DerAlarm } from './alarms.ts';
import { advance, clear, inForce, nextChangeMs, set } from './controls.ts';
import type { BookChange, DerBook } from './controls.ts';
import { createDeviceControls } from './device.ts';
import type { DeviceControls, ControlOutcome } from './device.ts';
import { isRefusal, notSupported, rejected, maxListed, reportsOf, controlOf, storedControl } from './model.ts';
import type { DERControlEnum, DerControl, DerNotice, DerRefusal } from './model.ts';
import { supportedTypes, translate } from './translate.ts';
import { provideVariables } from './variables.ts';

export interface DerControls {
  /** Controls for REST, in the order in which they were set. */
  entries(): readonly OcppDerControlEntry[];
}

/** Controls of a station, superseded ones included. */
export const maxDerControls = 200;
/** Notices and alarms that wait for the central system. */
const maxReports = 200;
/** Wait before a notice without an answer is sent again. */
const repeatMs = 60_000;
/** Schema: length of additionalInfo. */
const maxInfoLength = 1024;

/** A message of block R to the central system. */
type DerReport =
  | { readonly action: 'NotifyDERStartStop'; readonly request: Requests['NotifyDERStartStop'] }
  | { readonly action: 'NotifyDERAlarm'; readonly request: Requests['NotifyDERAlarm'] };

interface DerState {
  readonly book: DerBook;
  /** the alarm that has begun and not ended */
  readonly alarm: DerAlarm | null;
  /** reports not delivered yet */
  readonly reports: readonly DerReport[];
}

const emptyState: DerState = { book: [], alarm: null, reports: [] };

const stored = (state: DerState): readonly JsonValue[] => [state as unknown as JsonValue];

const report = z.union([
  z.object({ action: z.literal('NotifyDERStartStop'), request: requestOf('ocpp2.1', 'NotifyDERStartStop') }),
  z.object({ action: z.literal('NotifyDERAlarm'), request: requestOf('ocpp2.1', 'NotifyDERAlarm') }),
]);

/** The state written by `stored`. */
const stateForm = recordOf<DerState>({
  book: z.array(storedControl),
  alarm: record<DerAlarm>({ controlType: z.string(), fault: z.string().nullable() }).nullable(),
  reports: z.array(report),
});

/** A control for REST. @param state outcome on the device; null: not in force */
function entryOf(control: DerControl, state: ControlOutcome | null, overwritten: boolean): OcppDerControlEntry {
  const { id, type, isDefault, superseded, started, priority, startMs, endMs, body } = control;
  return {
    controlId: id,
    controlType: type,
    isDefault,
    isSuperseded: superseded,
    startMs: isDefault ? null : startMs,
    durationS: endMs === null ? null : (endMs - startMs) / 1000,
    priority,
    active: state === 'applied',
    state: state ?? (superseded ? 'superseded' : isDefault || started ? 'standby' : 'scheduled'),
    overwritten,
    values: body.value,
  };
}

/** State shared by the functions of this file. */
interface ControlContext {
  readonly parts: StationParts;
  readonly port: DerPort;
  readonly supported: ReadonlySet<DERControlEnum>;
  readonly controls: DeviceControls;
  readonly outbox: Outbox<DerReport>;
  readonly save: () => void;
  book: DerBook;
  alarm: DerAlarm | null;
  lastOrder: number;
  endWait: (() => void) | null;
}

function info({ reasonCode, detail }: DerRefusal) {
  return { reasonCode, additionalInfo: detail.slice(0, maxInfoLength) };
}

const refusal = (why: DerRefusal) => ({ status: why.status, statusInfo: info(why) });
const notFound = { status: 'NotFound' } as const;
const accepted = { status: 'Accepted' } as const;

function noticeOf({ id, started, atMs, supersededIds }: DerNotice): DerReport {
  const ids = supersededIds.slice(0, maxListed);
  return {
    action: 'NotifyDERStartStop',
    request: { controlId: id, started, timestamp: stamp(atMs), ...(ids.length > 0 && { supersededIds: ids }) },
  };
}

/** Puts a changed book into force: stores and applies it, and plans the next change. */
function applyBook(context: ControlContext, { book }: BookChange): void {
  context.book = book;
  context.save();
  context.controls.follow([...inForce(book).values()]);
  plan(context);
}

function sendNotices(context: ControlContext, notices: readonly DerNotice[]): void {
  for (const notice of notices) context.outbox.push(noticeOf(notice));
}

function plan(context: ControlContext): void {
  const { clock } = context.parts;
  context.endWait?.();
  const next = nextChangeMs(context.book);
  // the clock may call a moment early
  context.endWait = next === null ? null : clock.at(next, () => carryOutDue(context, next));
}

/** Carries out the starts and ends that are due. @param dueMs the instant reached */
function carryOutDue(context: ControlContext, dueMs = -Infinity): void {
  const change = advance(context.book, Math.max(dueMs, context.parts.clock.nowMs()));
  if (change.book !== context.book) applyBook(context, change);
  else plan(context);
  sendNotices(context, change.notices);
}

/** The refusal of a control that the station cannot carry out or keep; null: it accepts the control. */
function unfit({ port, book }: ControlContext, control: DerControl): DerRefusal | null {
  const settings = translate(control.type, control.body, port);
  if (isRefusal(settings)) return settings;
  const result = port.check(settings);
  if (typeof result === 'object')
    return result.refused === 'unsupported' ? notSupported(result.detail) : rejected(result.detail);
  if (book.length < maxDerControls || book.some(({ id }) => id === control.id)) return null;
  return rejected(`the station has ${maxDerControls} controls already`, 'TooManyElements');
}

function unsupportedType(type: DERControlEnum): DerRefusal {
  return { status: 'NotSupported', reasonCode: 'UnsupportedRequest', detail: `the station does not support ${type}` };
}

type After = Parameters<NonNullable<Handlers['SetDERControl']>>[1];

function setControl(
  context: ControlContext,
  request: Requests['SetDERControl'],
  after: After,
): Replies['SetDERControl'] {
  const { supported, parts } = context;
  if (!supported.has(request.controlType)) return refusal(unsupportedType(request.controlType));
  carryOutDue(context);
  const nowMs = parts.clock.nowMs();
  const control = controlOf(request, nowMs, context.lastOrder + 1);
  if (isRefusal(control)) {
    if (control.clause !== undefined)
      parts.finding(control.clause, `${request.controlType}: ${control.detail}`, 'SetDERControl', 'der_rule');
    return refusal(control);
  }
  const why = unfit(context, control);
  if (why !== null) return refusal(why);
  context.lastOrder = control.order;
  const change = set(context.book, control, nowMs);
  applyBook(context, change);
  after(() => {
    sendNotices(context, change.notices);
  });
  const supersededIds = change.supersededIds.slice(0, maxListed);
  return { ...accepted, ...(supersededIds.length > 0 && { supersededIds }) };
}

function getControls(
  context: ControlContext,
  request: Requests['GetDERControl'],
  after: After,
): Replies['GetDERControl'] {
  const { requestId, isDefault, controlType, controlId } = request;
  const { supported, parts } = context;
  if (controlType !== undefined && !supported.has(controlType)) return refusal(unsupportedType(controlType));
  carryOutDue(context);
  const controls = context.book.filter(
    (each) =>
      (isDefault === undefined || each.isDefault === isDefault) &&
      (controlType === undefined || each.type === controlType) &&
      (controlId === undefined || each.id === controlId),
  );
  if (controls.length === 0) return notFound;
  after(() => {
    for (const report of reportsOf(controls, requestId))
      void parts.calls.send('ReportDERControl', report, { triggered: true });
  });
  return accepted;
}

function clearControls(
  context: ControlContext,
  request: Requests['ClearDERControl'],
  after: After,
): Replies['ClearDERControl'] {
  const { isDefault, controlType, controlId } = request;
  const { supported, parts } = context;
  if (controlId === undefined && controlType !== undefined && !supported.has(controlType))
    return refusal(unsupportedType(controlType));
  carryOutDue(context);
  const matches = (each: DerControl) =>
    each.isDefault === isDefault &&
    (controlType === undefined || each.type === controlType) &&
    (controlId === undefined || each.id === controlId);
  const change = clear(context.book, matches, parts.clock.nowMs());
  if (change.book.length === context.book.length) return notFound;
  applyBook(context, change);
  after(() => {
    sendNotices(context, change.notices);
  });
  return accepted;
}

/** Queues alarms that began or ended since the last call. */
function watch(context: ControlContext, since: SimTime): SimTime {
  const { port, controls, parts, outbox } = context;
  if (parts.device.dark) return since;
  const condition = port.condition(since);
  const { present, events } = followAlarms(context.alarm, condition, controls);
  context.alarm = present;
  for (const { controlType, fault, at, ended } of events) {
    const timestamp = stamp(parts.clock.ofSim(at));
    const request = {
      controlType,
      timestamp,
      ...(fault !== null && { gridEventFault: fault }),
      ...(ended && { alarmEnded: true }),
    };
    outbox.push({ action: 'NotifyDERAlarm', request });
  }
  return condition.at;
}

/** Restores the stored state. */
function restore(context: ControlContext, { book, alarm, reports }: DerState): void {
  context.alarm = alarm;
  context.outbox.restore(reports);
  context.lastOrder = Math.max(0, ...book.map(({ order }) => order));
  const change = advance(book, context.parts.clock.nowMs());
  applyBook(context, change);
  // a control that began and ended while the station was off has never been in force
  const startedIds = new Set(change.notices.flatMap(({ id, started }) => (started ? [id] : [])));
  const endedIds = new Set(change.notices.flatMap(({ id, started }) => (!started && startedIds.has(id) ? [id] : [])));
  sendNotices(
    context,
    change.notices.filter(({ id }) => !endedIds.has(id)),
  );
}

function createContext(parts: StationParts, port: DerPort, slot: ReturnType<StationParts['store']>): ControlContext {
  const saver = createSaver(
    slot,
    () => stored({ book: context.book, alarm: context.alarm, reports: outbox.waiting }),
    parts.log,
  );
  const outbox = createOutbox<DerReport>({
    parts,
    send: (report) =>
      report.action === 'NotifyDERAlarm'
        ? parts.calls.send(report.action, report.request)
        : parts.calls.send(report.action, report.request),
    capacity: maxReports,
    repeatMs,
    changed: () => saver.save(),
  });
  const context: ControlContext = {
    parts,
    port,
    outbox,
    supported: new Set(supportedTypes(port)),
    controls: createDeviceControls({ parts, port }),
    save: () => saver.save(),
    book: [],
    alarm: null,
    lastOrder: 0,
    endWait: null,
  };
  return context;
}

/** The part of a station without DER control: all calls are refused. */
function withoutControls(): Part & DerControls {
  const refuse = () => refusal(notSupported('the station has no DER controls'));
  return {
    handlers: { SetDERControl: refuse, GetDERControl: refuse, ClearDERControl: refuse },
    entries: () => [],
  };
}

export function createDerControl(parts: StationParts): Part & DerControls {
  const port = parts.version === 'ocpp2.1' ? parts.device.openDer() : null;
  if (port === null) return withoutControls();
  const slot = parts.store('der');
  const context = createContext(parts, port, slot);
  let endTicks: () => void = () => undefined;
  let isStopped = false;
  const release = () => {
    context.controls.release();
  };
  provideVariables(parts, port, [...context.supported]);
  return {
    handlers: {
      SetDERControl: (request, after) => setControl(context, request, after),
      GetDERControl: (request, after) => getControls(context, request, after),
      ClearDERControl: (request, after) => clearControls(context, request, after),
    },
    entries: () =>
      context.book.map((each) => entryOf(each, context.controls.stateOf(each.id), port.isOverwritten(each.id))),
    async load() {
      const state = (await readOne(slot, stateForm, parts.log)) ?? emptyState;
      // the station was stopped during the read
      if (isStopped) return;
      restore(context, state);
      let since = parts.device.now;
      endTicks = port.onTick(() => {
        since = watch(context, since);
      });
    },
    stop() {
      isStopped = true;
      endTicks();
      context.endWait?.();
      context.controls.stop();
      context.outbox.stop();
    },
    close() {
      context.controls.close();
    },
    release,
    // the next owner of the holds cannot continue them
    handOver: release,
  };
}
