/** Monitors of variables and their events (N02 to N08): messages of the central system, and notices of other parts. */
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import type { After } from '../../rpc/model.ts';
import type {
  ClearMonitoringResult,
  ComponentVariable,
  EventTriggerEnum,
  MonitorEnum,
  MonitoringCriterionEnum,
  MonitoringData,
  SetMonitoringData,
  SetMonitoringResult,
  SetMonitoringStatusEnum,
  VariableMonitoring,
} from '../messages.ts';
import { stamp } from '../parts.ts';
import type { Action, Handler, Handlers, Part, Requests, StationParts, Transactions } from '../parts.ts';
import { clauseOf } from '../provisioning/registration.ts';
import type { PlacedVariable, Place, VariableStore } from '../variables/model.ts';
import type { Version2 } from '../../station/stack.ts';
import { createEventReports, hasTarget, provideMeasured } from './events.ts';
import {
  createMonitors,
  duplicateOf,
  isNumeric,
  isSame,
  isWriteOnly,
  maxCustomMonitors,
  namesOf,
  periodicTypes,
} from './monitors.ts';
import type { Monitor, Monitors, Named } from './monitors.ts';
import type { Streams } from './streams.ts';
import { createWatch } from './watch.ts';
import type { Watch } from './watch.ts';

// Rules for monitors that the central system sets (N04, N11).

interface RuleDeps {
  readonly variables: Pick<VariableStore, 'lookUp' | 'accepted' | 'has' | 'integer'>;
  readonly monitors: Pick<Monitors, 'all' | 'byId' | 'customCount'>;
}

/** A monitor that passes all rules; `id`: the monitor that it replaces. */
type NewMonitor = Omit<Monitor, 'id' | 'kind'> & { readonly id?: number };

interface Refusal {
  readonly status: Exclude<SetMonitoringStatusEnum, 'Accepted'>;
  readonly statusInfo?: NonNullable<SetMonitoringResult['statusInfo']>;
}

/** minimum interval of a periodic monitor, s */
const minIntervalS = 1;
/** maximum interval of a periodic monitor, s: a year */
const maxIntervalS = 31_536_000;

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

function unsupportedType({ type }: SetMonitoringData, target: PlacedVariable): string | null {
  if (target.entry.row.monitored !== true) return 'the variable cannot be monitored';
  if (type === 'Delta' || periodicTypes.has(type)) return null;
  if (!isNumeric(target) || isWriteOnly(target)) return 'the value of the variable is not a readable number';
  const needsTarget = type === 'TargetDelta' || type === 'TargetDeltaRelative';
  return needsTarget && !hasTarget(target) ? 'the variable has no target' : null;
}

/** True if a threshold is within the range of the variable (N04.FR.06). */
function isInRange({ value }: SetMonitoringData, target: PlacedVariable, variables: RuleDeps['variables']): boolean {
  const wholes = target.entry.row.type === 'integer' ? [Math.floor(value), Math.ceil(value)] : [value];
  return wholes.every((each) => variables.accepted(target, each.toFixed(6).replace(/\.?0+$/, '')) !== null);
}

function valueIssue(data: SetMonitoringData, target: PlacedVariable, variables: RuleDeps['variables']): Refusal | null {
  const { type, value } = data;
  if (periodicTypes.has(type)) {
    if (value < minIntervalS) return rejected('ValueTooLow', `the shortest interval is ${minIntervalS} s`);
    return value > maxIntervalS ? rejected('ValueTooHigh', `the longest interval is ${maxIntervalS} s`) : null;
  }
  if (type === 'UpperThreshold' || type === 'LowerThreshold')
    return isInRange(data, target, variables)
      ? null
      : rejected('ValueOutOfRange', 'the threshold is outside of the range of the variable');
  return value < 0 ? rejected('ValuePositiveOnly', 'a difference must not be negative') : null;
}

/** Refusal of an id whose monitor is missing or cannot be replaced; null: allowed (N04.FR.12 to FR.18). */
function idIssue({ id }: SetMonitoringData, target: PlacedVariable, { monitors }: RuleDeps): Refusal | null {
  if (id === undefined)
    return monitors.customCount < maxCustomMonitors
      ? null
      : rejected('TooManyElements', `the station keeps at most ${maxCustomMonitors} monitors`);
  const monitor = monitors.byId(id);
  if (monitor === undefined) return rejected('NotFound', `there is no monitor ${id}`);
  if (monitor.kind === 'HardWiredMonitor') return rejected('ReadOnly', `monitor ${id} is hard-wired`);
  return isSame(monitor.placedVariable, target)
    ? null
    : rejected('InvalidValue', `monitor ${id} monitors another variable`);
}

function streamIssue(data: SetMonitoringData, { monitors, variables }: RuleDeps): Refusal | null {
  if (data.periodicEventStream === undefined) return null;
  if (!periodicTypes.has(data.type)) return rejected('UnsupportedParam', 'only a periodic monitor has a stream');
  if (!variables.has('MonitoringCtrlr', 'MaxPeriodicEventStreams'))
    return rejected('UnsupportedParam', 'the station has no streams');
  const max = variables.integer('MonitoringCtrlr', 'MaxPeriodicEventStreams');
  const others = monitors.all.filter(({ id, stream }) => stream !== null && id !== data.id).length;
  return others < max ? null : rejected('TooManyElements', `the station opens at most ${max} streams`);
}

function streamOf({ periodicEventStream }: SetMonitoringData): Monitor['stream'] {
  if (periodicEventStream === undefined) return null;
  const { interval, values } = periodicEventStream;
  return { ...(interval !== undefined && { interval }), ...(values !== undefined && { values }) };
}

/** Checks an element of SetVariableMonitoring. @returns the new monitor, or its refusal */
function newMonitorOf(data: SetMonitoringData, deps: RuleDeps): NewMonitor | Refusal {
  const { type, value, severity, id, transaction = false } = data;
  const target = deps.variables.lookUp(data);
  if (typeof target === 'string') return { status: target };
  const unsupported = unsupportedType(data, target);
  if (unsupported !== null)
    return {
      status: 'UnsupportedMonitorType',
      statusInfo: { reasonCode: 'UnsupportedParam', additionalInfo: unsupported },
    };
  if (severity > 9) return rejected('ValueTooHigh', 'the severity must be at most 9');
  const issue = valueIssue(data, target, deps.variables) ?? idIssue(data, target, deps) ?? streamIssue(data, deps);
  if (issue !== null) return issue;
  const monitor: NewMonitor = {
    placedVariable: target,
    type,
    value,
    severity,
    transaction,
    stream: streamOf(data),
    ...(id !== undefined && { id }),
  };
  const duplicate = duplicateOf(deps.monitors, monitor);
  return duplicate === undefined
    ? monitor
    : {
        status: 'Duplicate',
        statusInfo: {
          reasonCode: 'InvalidValue',
          additionalInfo: `monitor ${duplicate.id} of the variable has the same type and severity`,
        },
      };
}

// The messages of the central system that set and clear monitors (N03 to N06).

type Limited = Extract<Action, 'SetVariableMonitoring' | 'ClearVariableMonitoring'>;

/** @throws CallError for a message above the limits of the station (N04.FR.09, N06.FR.06 and FR.07) */
function checkSize(
  { version, variables, finding }: Pick<StationParts, 'version' | 'variables' | 'finding'>,
  action: Limited,
  payload: unknown,
  items: number,
): void {
  const clause = clauseOf(version, action === 'SetVariableMonitoring' ? 'N04.FR.09' : 'N06.FR.04');
  const maxItems = variables.integer('MonitoringCtrlr', `ItemsPerMessage[${action}]`);
  if (items > maxItems) {
    finding(
      clause,
      `${action} has ${items} elements; the station accepts at most ${maxItems}`,
      action,
      'config_limits',
    );
    throw new CallError(errorCode(version, 'occurrence'), `at most ${maxItems} elements`);
  }
  const maxBytes = variables.integer('MonitoringCtrlr', `BytesPerMessage[${action}]`);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= maxBytes) return;
  finding(clause, `${action} has ${bytes} bytes; the station accepts at most ${maxBytes}`, action, 'config_limits');
  throw new CallError(errorCode(version, 'structure'), `at most ${maxBytes} bytes`);
}

interface SettingDeps {
  readonly variables: VariableStore;
  readonly streams: Pick<Streams, 'follow' | 'end'>;
  readonly monitors: Monitors;
  readonly watch: Watch;
}

function setOne(
  data: SetMonitoringData,
  { variables, monitors }: SettingDeps,
): { readonly result: SetMonitoringResult; readonly id: number | null } {
  const { component, variable, type, severity } = data;
  const named = { component, variable, type, severity };
  const outcome = newMonitorOf(data, { variables, monitors });
  if ('status' in outcome)
    return { result: { ...named, ...outcome, ...(data.id !== undefined && { id: data.id }) }, id: null };
  const { id } = monitors.put(outcome);
  return { result: { ...named, status: 'Accepted', id }, id };
}

function clearOne(id: number, monitors: Monitors): ClearMonitoringResult {
  const monitor = monitors.byId(id);
  if (monitor === undefined) return { id, status: 'NotFound' };
  if (monitor.kind === 'HardWiredMonitor')
    return {
      id,
      status: 'Rejected',
      statusInfo: { reasonCode: 'ReadOnly', additionalInfo: 'the monitor is hard-wired' },
    };
  monitors.remove(id);
  return { id, status: 'Accepted' };
}

/** Monitors take effect, and streams open and end, after the answer. */
function createSetting(parts: StationParts, deps: SettingDeps): Handlers {
  const { streams, monitors, watch } = deps;
  const begin = (id: number): void => {
    const monitor = monitors.byId(id);
    if (monitor === undefined) return;
    watch.changed(id);
    streams.follow(monitor);
  };
  const end = (id: number): void => {
    watch.changed(id);
    streams.end(id);
  };
  const restrict = (change: () => void, after: After): void => {
    const before = monitors.all;
    change();
    const active = new Set(monitors.all);
    after(() => {
      for (const monitor of before) if (!active.has(monitor)) end(monitor.id);
      watch.refresh();
    });
  };
  return {
    SetVariableMonitoring: (request, after) => {
      checkSize(parts, 'SetVariableMonitoring', request, request.setMonitoringData.length);
      const outcomes = request.setMonitoringData.map((data) => setOne(data, deps));
      after(() => {
        for (const { id } of outcomes) if (id !== null) begin(id);
      });
      return { setMonitoringResult: outcomes.map(({ result }) => result) };
    },
    ClearVariableMonitoring: (request, after) => {
      checkSize(parts, 'ClearVariableMonitoring', request, request.id.length);
      const results = request.id.map((id) => clearOne(id, monitors));
      after(() => {
        for (const { id, status } of results) if (status === 'Accepted') end(id);
      });
      return { clearMonitoringResult: results };
    },
    SetMonitoringBase: ({ monitoringBase }, after) => {
      restrict(() => monitors.setBase(monitoringBase), after);
      return { status: 'Accepted' };
    },
    SetMonitoringLevel: ({ severity }, after) => {
      if (severity > 9) {
        const clause = clauseOf(parts.version, 'N05.FR.02');
        const text = `a monitoring level of ${severity}; the maximum is 9`;
        parts.finding(clause, text, 'SetMonitoringLevel', 'request_rule');
        return { status: 'Rejected', statusInfo: { reasonCode: 'ValueOutOfRange' } };
      }
      restrict(() => monitors.setLevel(severity), after);
      return { status: 'Accepted' };
    },
  };
}

// GetMonitoringReport and NotifyMonitoringReport (N02).

type Filter = Pick<Requests['GetMonitoringReport'], 'monitoringCriteria' | 'componentVariable'>;

/** maximum number of variables in a message */
const perMessage = 20;

/** N02.FR.12 to FR.14; 2.1 adds the differences from a target. */
const criterionOf: Readonly<Record<MonitorEnum, MonitoringCriterionEnum>> = {
  UpperThreshold: 'ThresholdMonitoring',
  LowerThreshold: 'ThresholdMonitoring',
  Delta: 'DeltaMonitoring',
  TargetDelta: 'DeltaMonitoring',
  TargetDeltaRelative: 'DeltaMonitoring',
  Periodic: 'PeriodicMonitoring',
  PeriodicClockAligned: 'PeriodicMonitoring',
};

/** True if the names are equal regardless of case, or none is requested (N02.FR.15 to FR.17). */
function fits(requested: string | undefined, name: string | undefined): boolean {
  return requested === undefined || requested.toLowerCase() === name?.toLowerCase();
}

function isNamed({ component, variable }: ComponentVariable, names: Named): boolean {
  const { evse } = component;
  const of = names.component;
  return (
    fits(component.name, of.name) &&
    fits(component.instance, of.instance) &&
    (evse === undefined || evse.id === (of.evse?.id ?? 0)) &&
    (evse?.connectorId === undefined || evse.connectorId === of.evse?.connectorId) &&
    fits(variable?.name, names.variable.name) &&
    fits(variable?.instance, names.variable.instance)
  );
}

/** Monitors that a request selects. */
function selected(monitors: readonly Monitor[], { monitoringCriteria, componentVariable }: Filter): readonly Monitor[] {
  return monitors.filter(
    ({ type, placedVariable }) =>
      (monitoringCriteria === undefined || monitoringCriteria.includes(criterionOf[type])) &&
      (componentVariable === undefined || componentVariable.some((each) => isNamed(each, namesOf(placedVariable)))),
  );
}

function monitoringOf(
  { id, transaction, value, type, severity, kind }: Monitor,
  version: Version2,
): VariableMonitoring {
  const common = { id, transaction, value, type, severity };
  // 2.1 requires the kind, which 2.0.1 lacks
  return (version === 'ocpp2.1' ? { ...common, eventNotificationType: kind } : common) as VariableMonitoring;
}

/** Monitoring data by variable, in the order of the monitors. */
function dataOf(monitors: readonly Monitor[], version: Version2): readonly MonitoringData[] {
  const byVariable = new Map<string, { readonly names: Named; readonly of: VariableMonitoring[] }>();
  for (const monitor of monitors) {
    const names = namesOf(monitor.placedVariable);
    const key = JSON.stringify(names);
    const group = byVariable.get(key) ?? { names, of: [] };
    group.of.push(monitoringOf(monitor, version));
    byVariable.set(key, group);
  }
  return [...byVariable.values()].map(({ names, of }) => ({ ...names, variableMonitoring: of }));
}

function createMonitoringReport(
  { calls, clock, version, log, device }: Pick<StationParts, 'calls' | 'clock' | 'version' | 'log' | 'device'>,
  monitors: Pick<Monitors, 'all'>,
): Handler<'GetMonitoringReport'> {
  const send = async (requestId: number, data: readonly MonitoringData[]): Promise<void> => {
    const generatedAt = stamp(clock.nowMs());
    for (let from = 0; from < data.length; from += perMessage) {
      const tbc = from + perMessage < data.length;
      const { kind } = await calls.send(
        'NotifyMonitoringReport',
        {
          requestId,
          seqNo: from / perMessage,
          generatedAt,
          ...(tbc && { tbc }),
          monitor: data.slice(from, from + perMessage),
        },
        { triggered: true },
      );
      if (kind === 'lost' || kind === 'unsent') {
        log.info(`the monitoring report ${requestId} is incomplete: the connection was lost`, device.deviceIndex);
        return;
      }
    }
  };
  return ({ requestId, ...filter }, after) => {
    const data = dataOf(selected(monitors.all, filter), version);
    if (data.length === 0) return { status: 'EmptyResultSet' };
    after(() => void send(requestId, data));
    return { status: 'Accepted' };
  };
}

interface MonitoringDeps {
  /** the device model of this station, which is also `parts.variables` */
  readonly variables: VariableStore;
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onEnded'>;
  readonly streams: Pick<Streams, 'follow' | 'end' | 'record' | 'onAdjusted'>;
}

/** Events without a monitor. */
interface HardWiredNotice {
  /** names as in `VariableRow` */
  readonly component: string;
  readonly variable: string;
  readonly place?: Place;
  /** `Alerting`: a problem; `Delta`: a value has changed */
  readonly trigger: EventTriggerEnum;
  readonly actualValue: string;
  /** 0 to 9; default 8, informational. Decides whether the event waits while the station is offline */
  readonly severity?: number;
  /** time of the central system, ms since the epoch; default now */
  readonly atMs?: number;
  readonly cleared?: boolean;
  /** id of the event that caused it */
  readonly cause?: number;
  readonly techCode?: string;
  readonly techInfo?: string;
  readonly transactionId?: string;
}

/** Informational: a regular event of the operation. */
const noticeSeverity = 8;

export interface Monitoring extends Required<Pick<Part, 'handlers' | 'load' | 'stop'>> {
  /**
   * Sends a hard-wired notification, together with the other events of this turn.
   * @returns the id of its event, for `cause`; null: the station is offline, and the event is not severe enough to wait
   * @throws SimError UNKNOWN_RESOURCE for a variable that the station does not have
   */
  notify(notice: HardWiredNotice): number | null;
  /** events that the central system has not confirmed */
  readonly waiting: number;
}

/** Provides the measured variables, so create it before the first report of the device model. */
export function createMonitoring(parts: StationParts, deps: MonitoringDeps): Monitoring {
  const { clock } = parts;
  const { variables, streams } = deps;
  provideMeasured({ device: parts.device, variables });
  const monitors = createMonitors(parts, { variables });
  const reports = createEventReports(parts);
  const watch = createWatch(parts, {
    ...deps,
    monitors,
    reports,
    record: (monitor, value, atMs) => streams.record(monitor, { value, atMs }),
  });
  const endAdjusted = streams.onAdjusted(({ monitorId, params }) => {
    const monitor = monitors.byId(monitorId);
    if (monitor !== undefined) monitors.put({ ...monitor, stream: params });
  });
  return {
    handlers: {
      ...createSetting(parts, { variables, streams, monitors, watch }),
      GetMonitoringReport: createMonitoringReport(parts, monitors),
    },
    notify({ component, variable, place = {}, severity = noticeSeverity, atMs = clock.nowMs(), ...notice }) {
      // throws if the variable does not exist
      variables.text(component, variable, place);
      const target = variables.find(component, variable, place);
      if (target === undefined) return null;
      return reports.report({ ...notice, ...namesOf(target), kind: 'HardWiredNotification', severity, atMs });
    },
    get waiting() {
      return reports.waiting;
    },
    async load() {
      await Promise.all([monitors.load(), reports.load()]);
      watch.refresh();
      for (const monitor of monitors.all) streams.follow(monitor);
    },
    stop() {
      endAdjusted();
      watch.stop();
      reports.stop();
    },
  };
}
