/**
 * Checks the values of monitors: at transitions of the device, when a variable changes, and once a second for values
 * that change without either. A timer runs only for active monitors of such values and for periodic monitors.
 */
import type { EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EventTriggerEnum, MonitorEnum } from '../messages.ts';
import type { StationParts, Transaction, Transactions } from '../parts.ts';
import type { VariableChange, VariableStore } from '../variables/model.ts';
import type { EventNotice, EventReports } from './events.ts';
import { atEndOfTurn, createAlarm, nextDue, targetOf } from './events.ts';
import { isNumeric, isSame, isWriteOnly, namesOf, periodicTypes, troubleOf } from './monitors.ts';
import type { Monitor, Monitors } from './monitors.ts';

// Triggers of monitors (N07): pure functions of the monitor, its last report and the present value.

/** Memory of a monitor between two checks of its value. */
export interface MonitorState {
  /** true: the value has passed the threshold and has not cleared since */
  readonly exceeded: boolean;
  /** last reported value, or distance to the target; before a report the first value, or 0; null: not checked yet */
  readonly reference: string | null;
}

export const freshState: MonitorState = { exceeded: false, reference: null };

interface Reading {
  readonly value: string;
  /** target of the value; null: no target */
  readonly target: number | null;
}

interface Judgement {
  readonly state: MonitorState;
  /** null: no event */
  readonly event: { readonly trigger: EventTriggerEnum; readonly cleared?: true } | null;
}

export interface JudgedMonitor {
  readonly type: MonitorEnum;
  readonly value: number;
  /** false: any change of the variable counts (N07.FR.19) */
  readonly numeric: boolean;
}

/** The value of a variable as a number; null: not a finite number. */
export function numberOf(text: string): number | null {
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** A value that has passed a threshold clears only beyond a band, so that an oscillating value is reported once. */
function threshold(
  { value: limit }: JudgedMonitor,
  above: 1 | -1,
  number: number,
  state: MonitorState,
  hysteresisPct: number,
): Judgement {
  const beyond = (number - limit) * above;
  if (!state.exceeded)
    return beyond > 0
      ? { state: { ...state, exceeded: true }, event: { trigger: 'Alerting' } }
      : { state, event: null };
  return beyond <= (-Math.abs(limit) * hysteresisPct) / 100
    ? { state: { ...state, exceeded: false }, event: { trigger: 'Alerting', cleared: true } }
    : { state, event: null };
}

/** Tolerance for differences of decimals, which binary numbers represent inexactly. */
const roundingError = 1e-9;

function difference(text: string, number: number | null, by: number | null, state: MonitorState): Judgement {
  const judgement: Judgement = { state: { ...state, reference: text }, event: { trigger: 'Delta' } };
  if (state.reference === null) return { ...judgement, event: null };
  if (by === null) return text === state.reference ? { state, event: null } : judgement;
  const reference = numberOf(state.reference);
  if (number === null || reference === null) return { ...judgement, event: null };
  return Math.abs(number - reference) > by + roundingError ? judgement : { state, event: null };
}

/**
 * Compares the distance to the target with the last reported distance, initially 0. `TargetDeltaRelative`: the limit is
 * a fraction of the target.
 */
function targetDifference(monitor: JudgedMonitor, number: number, target: number, state: MonitorState): Judgement {
  const by = monitor.type === 'TargetDelta' ? monitor.value : monitor.value * Math.abs(target);
  const distance = number - target;
  return difference(String(distance), distance, by, { ...state, reference: state.reference ?? '0' });
}

/** @param hysteresisPct width of the band beside a threshold, as a percentage of it */
export function judge(
  monitor: JudgedMonitor,
  { value, target }: Reading,
  state: MonitorState,
  hysteresisPct: number,
): Judgement {
  const number = numberOf(value);
  const nothing: Judgement = { state, event: null };
  switch (monitor.type) {
    case 'UpperThreshold':
      return number === null ? nothing : threshold(monitor, 1, number, state, hysteresisPct);
    case 'LowerThreshold':
      return number === null ? nothing : threshold(monitor, -1, number, state, hysteresisPct);
    case 'Delta':
      if (!monitor.numeric) return difference(value, null, null, state);
      return number === null ? nothing : difference(value, number, monitor.value, state);
    case 'TargetDelta':
    case 'TargetDeltaRelative':
      return number === null || target === null ? nothing : targetDifference(monitor, number, target, state);
    case 'Periodic':
    case 'PeriodicClockAligned':
      return nothing;
  }
}

interface WatchDeps {
  readonly variables: VariableStore;
  readonly monitors: Monitors;
  readonly reports: EventReports;
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onEnded'>;
  /** Adds a periodic value to an open stream. @returns false: no stream is open, so the value is sent as an event */
  readonly record: (monitor: Monitor, value: string, atMs: number) => boolean;
}

export interface Watch {
  /** Call it after a monitor was added, changed or removed. */
  changed(id: number): void;
  /** Call it after a change of the base or the level, which activates or deactivates monitors. */
  refresh(): void;
  stop(): void;
}

/** State of a monitor between its checks. */
interface Running {
  state: MonitorState;
  /** next instant of a periodic monitor; Infinity: not periodic */
  dueMs: number;
}

const tickMs = 1000;
/** A periodic monitor that is overdue by more than this was inactive. */
const lateMs = 5000;
const thresholdTypes: ReadonlySet<MonitorEnum> = new Set(['UpperThreshold', 'LowerThreshold']);
const targetTypes: ReadonlySet<MonitorEnum> = new Set(['TargetDelta', 'TargetDeltaRelative']);
/** Variables whose values change only with transitions: ticks do not check them. */
const byTransition: ReadonlySet<string> = new Set([
  'Problem',
  'AvailabilityState',
  'Available',
  'Enabled',
  'ChargingState',
  'ActiveTransactionId',
  'SupplyPhases',
]);

type WatchParts = Pick<StationParts, 'device' | 'clock' | 'registration'>;

/** Conditions under which monitors are active. */
function createActivity({ device }: WatchParts, { variables, monitors, reports, transactions }: WatchDeps) {
  const inTransaction = ({ placedVariable: { place } }: Monitor): boolean =>
    place.evseId === undefined ? transactions.running.length > 0 : transactions.at(place.evseId) !== null;
  // looked up once, since it is read with each transition
  const enabled = variables.find('MonitoringCtrlr', 'Enabled');
  return {
    /**
     * Greatest severity number of active monitors; -1: no monitor is active. The values of inactive monitors are not
     * checked, so that the end of an excess is reported only if its begin was.
     */
    maxSeverity: (): number => {
      if (device.dark || (enabled !== undefined && variables.valueOf(enabled) !== 'true')) return -1;
      return Math.min(monitors.level, reports.maxSeverity());
    },
    isActive: (monitor: Monitor, maxSeverity: number): boolean =>
      monitor.severity <= maxSeverity && (!monitor.transaction || inTransaction(monitor)),
    /** True if the value changes without a transition or a notified change of a variable. */
    isLive: ({ type, placedVariable }: Monitor): boolean =>
      !periodicTypes.has(type) &&
      variables.isProvided(placedVariable) &&
      !byTransition.has(placedVariable.entry.variable.name),
    /** True if other parts may derive the value from a transition; problems come from the device itself. */
    isDerived: ({ placedVariable }: Monitor): boolean =>
      placedVariable.entry.variable.name !== 'Problem' && variables.isProvided(placedVariable),
  };
}

/** Members of an event that its monitor determines. */
function createNotices({ device }: WatchParts, { transactions }: WatchDeps) {
  /** newest problem of a connector: the cause of a station problem at the same instant; null: none */
  let problem: { readonly atMs: number; readonly id: number } | null = null;
  return {
    of(monitor: Monitor, actualValue: string, atMs: number): Omit<EventNotice, 'trigger'> {
      const { id, kind, severity, placedVariable } = monitor;
      const { evseId } = placedVariable.place;
      const transaction = evseId === undefined ? null : transactions.at(evseId);
      const isProblem = placedVariable.entry.variable.name === 'Problem' && actualValue === 'true';
      const isStationProblem = evseId === undefined && isProblem && problem?.atMs === atMs;
      return {
        ...namesOf(placedVariable),
        kind,
        atMs,
        actualValue,
        severity,
        monitorId: id,
        ...(isProblem && troubleOf(device, placedVariable.place)),
        ...(isStationProblem && { cause: problem?.id ?? 0 }),
        ...(transaction !== null && { transactionId: transaction.transactionId }),
      };
    },
    reported(
      { placedVariable, ...notice }: Pick<Monitor, 'placedVariable'> & { readonly atMs: number },
      id: number,
    ): void {
      const isConnectorProblem =
        placedVariable.entry.component.name === 'Connector' && placedVariable.entry.variable.name === 'Problem';
      if (isConnectorProblem) problem = { atMs: notice.atMs, id };
    },
  };
}

type Memory = ReturnType<typeof createMemory>;

/** The states of monitors. */
function createMemory({ clock }: WatchParts, { monitors }: WatchDeps) {
  const byId = new Map<number, Running>();
  const fresh = (monitor: Monitor): Running => {
    const nowMs = clock.nowMs();
    return {
      state: { ...freshState, exceeded: monitors.exceeded.has(monitor.id) },
      dueMs: periodicTypes.has(monitor.type) ? nextDue(monitor, nowMs, nowMs) : Infinity,
    };
  };
  return {
    of(monitor: Monitor): Running {
      const entry = byId.get(monitor.id) ?? fresh(monitor);
      byId.set(monitor.id, entry);
      return entry;
    },
    /** Next instant of a periodic monitor. Instants missed while inactive or by a change of the clock are skipped. */
    dueOf(monitor: Monitor, nowMs: number): number {
      const running = this.of(monitor);
      if (!periodicTypes.has(monitor.type)) return running.dueMs;
      const isStale = running.dueMs < nowMs - lateMs || running.dueMs > nextDue(monitor, nowMs, nowMs);
      if (isStale) running.dueMs = nextDue(monitor, running.dueMs, nowMs);
      return running.dueMs;
    },
    /** Resets the state of a monitor; a threshold continues from its last report (N07.FR.11). */
    forget(id: number): void {
      byId.delete(id);
    },
    /** Resets a monitor of transactions at a start or end: nothing carries over to the next transaction. */
    restart(id: number): void {
      monitors.setExceeded(id, false);
      byId.delete(id);
    },
  };
}

/** Checks the values of monitors and reports the events. */
function createCheck(parts: WatchParts, deps: WatchDeps, memory: Memory) {
  const { variables, monitors, reports, record } = deps;
  const notices = createNotices(parts, deps);
  const valueOf = ({ placedVariable }: Monitor): string =>
    isWriteOnly(placedVariable) ? '' : variables.valueOf(placedVariable);
  const report = (monitor: Monitor, notice: EventNotice): void => {
    const id = reports.report(notice);
    if (id !== null) notices.reported({ placedVariable: monitor.placedVariable, atMs: notice.atMs }, id);
  };
  return {
    /** @param isChanged true: the variable has changed, even if its value cannot be read */
    value(monitor: Monitor, atMs: number, isChanged: boolean): void {
      const running = memory.of(monitor);
      const { placedVariable, type } = monitor;
      const value = valueOf(monitor);
      if (isWriteOnly(placedVariable)) {
        if (isChanged && type === 'Delta') report(monitor, { ...notices.of(monitor, '', atMs), trigger: 'Delta' });
        return;
      }
      const judged = { type, value: monitor.value, numeric: isNumeric(placedVariable) };
      const hysteresisPct = thresholdTypes.has(type) ? variables.decimal('MonitoringCtrlr', 'Hysteresis') : 0;
      const target = targetTypes.has(type) ? targetOf(parts, placedVariable) : null;
      const { state, event } = judge(judged, { value, target }, running.state, hysteresisPct);
      const wasExceeded = running.state.exceeded;
      running.state = state;
      if (state.exceeded !== wasExceeded) monitors.setExceeded(monitor.id, state.exceeded);
      if (event !== null) report(monitor, { ...notices.of(monitor, value, atMs), ...event });
    },
    periodic(monitor: Monitor, atMs: number): void {
      const value = valueOf(monitor);
      if (monitor.stream !== null && record(monitor, value, atMs)) return;
      report(monitor, { ...notices.of(monitor, value, atMs), trigger: 'Periodic' });
    },
  };
}

/** The checks of values, each with its instant, and the timer of the next check. */
function createRounds(parts: WatchParts, deps: WatchDeps) {
  const { clock } = parts;
  const { monitors } = deps;
  const activity = createActivity(parts, deps);
  const memory = createMemory(parts, deps);
  const check = createCheck(parts, deps, memory);
  let tickDueMs = Infinity;

  const checkValues = (which: (monitor: Monitor) => boolean, atMs: number, isChanged = false): void => {
    const maxSeverity = activity.maxSeverity();
    for (const monitor of monitors.all)
      if (!periodicTypes.has(monitor.type) && which(monitor) && activity.isActive(monitor, maxSeverity))
        check.value(monitor, atMs, isChanged);
  };
  const earliestDueMs = (): number => {
    const maxSeverity = activity.maxSeverity();
    const active = monitors.all.filter((monitor) => activity.isActive(monitor, maxSeverity));
    const nowMs = clock.nowMs();
    if (!active.some(activity.isLive)) tickDueMs = Infinity;
    else if (tickDueMs > nowMs + tickMs) tickDueMs = nowMs + tickMs;
    return active.reduce((earliest, monitor) => Math.min(earliest, memory.dueOf(monitor, nowMs)), tickDueMs);
  };
  const checkPeriodic = (nowMs: number): void => {
    const maxSeverity = activity.maxSeverity();
    for (const monitor of monitors.all) {
      const running = memory.of(monitor);
      const { dueMs } = running;
      if (dueMs > nowMs) continue;
      running.dueMs = nextDue(monitor, dueMs, nowMs);
      if (activity.isActive(monitor, maxSeverity)) check.periodic(monitor, dueMs);
    }
  };
  const alarm = createAlarm(clock, earliestDueMs, (dueMs) => {
    const nowMs = Math.max(dueMs, clock.nowMs());
    try {
      checkPeriodic(nowMs);
      if (tickDueMs > nowMs) return;
      tickDueMs = Infinity;
      checkValues(activity.isLive, nowMs);
    } finally {
      alarm.plan();
    }
  });
  return { checkValues, memory, alarm, isDerived: activity.isDerived };
}

export function createWatch(parts: WatchParts, deps: WatchDeps): Watch {
  const { device, clock, registration } = parts;
  const { variables, monitors, transactions } = deps;
  const { checkValues, memory, alarm, isDerived } = createRounds(parts, deps);
  let stopped = false;
  /** instant of the transition of this turn, also for changes by other parts; null: none */
  let transitionMs: number | null = null;

  const checkSoon = atEndOfTurn(() => {
    if (stopped) return;
    checkValues(() => true, transitionMs ?? clock.nowMs());
    alarm.plan();
  });
  /** Checks derived values at the end of the turn, after other parts have handled a transition. */
  const checkDerivedSoon = atEndOfTurn(() => {
    const atMs = transitionMs ?? clock.nowMs();
    transitionMs = null;
    if (!stopped && monitors.all.some(isDerived)) checkValues(isDerived, atMs);
  });
  const followDevice = ({ connectorId, at }: EvseTransition): void => {
    const isNear = ({ placedVariable: { place } }: Monitor): boolean =>
      connectorId === 0 || place.evseId === undefined || place.evseId === connectorId;
    transitionMs = clock.ofSim(at);
    checkValues(isNear, transitionMs);
    checkDerivedSoon();
    // loss or return of power
    if (connectorId === 0) checkSoon();
  };
  const onVariableChange = ({ placedVariable }: VariableChange): void => {
    if (placedVariable.entry.component.name === 'MonitoringCtrlr') checkSoon();
    const isOf = (monitor: Monitor): boolean => isSame(monitor.placedVariable, placedVariable);
    if (monitors.all.some(isOf)) checkValues(isOf, transitionMs ?? clock.nowMs(), true);
  };
  const onStartOrEnd = ({ evseId }: Transaction): void => {
    for (const monitor of monitors.all)
      if (monitor.transaction && (monitor.placedVariable.place.evseId ?? evseId) === evseId) memory.restart(monitor.id);
    checkSoon();
  };
  const ends = [
    device.onTransition(followDevice),
    variables.onAnyChange(onVariableChange),
    transactions.onStarted(onStartOrEnd),
    transactions.onEnded(onStartOrEnd),
    registration.onAccepted(checkSoon),
    registration.onEnded(checkSoon),
  ];
  return {
    changed(id) {
      memory.forget(id);
      checkValues((monitor) => monitor.id === id, clock.nowMs());
      alarm.plan();
    },
    refresh() {
      checkValues(() => true, clock.nowMs());
      alarm.plan();
    },
    stop() {
      stopped = true;
      for (const end of ends) end();
      alarm.stop();
    },
  };
}
