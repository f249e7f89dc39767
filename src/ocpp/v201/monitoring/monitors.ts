/** The monitors of a station, the monitoring base and the monitoring level (N03 to N06). They survive a restart. */
import { readBy, readHeaded } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { StationPort } from '../../station/port.ts';
import { createSaver } from '../../station/stack.ts';
import type {
  Component,
  EventNotificationEnum,
  MonitorEnum,
  MonitoringBaseEnum,
  PeriodicEventStreamParams,
  Variable,
} from '../messages.ts';
import type { Part, StationParts } from '../parts.ts';
import type { PlacedVariable, Place, VariableStore } from '../variables/model.ts';

// Monitors of variables (N02 to N08).

/** `CustomMonitor`: set by the central system. The others belong to the station; a hard-wired one cannot be removed. */
type MonitorKind = Exclude<EventNotificationEnum, 'HardWiredNotification'>;

export interface Monitor {
  readonly id: number;
  readonly kind: MonitorKind;
  readonly placedVariable: PlacedVariable;
  readonly type: MonitorEnum;
  /** a threshold or a difference in the unit of the variable, or an interval in s */
  readonly value: number;
  /** 0, the most severe, to 9 */
  readonly severity: number;
  /** true: active only while a transaction runs at its EVSE; without an EVSE, at any EVSE */
  readonly transaction: boolean;
  /** 2.1: parameters of the stream of its values; null: the values are sent as events */
  readonly stream: PeriodicEventStreamParams | null;
}

/** Names of a variable and its component in messages. */
export interface Named {
  readonly component: Component;
  readonly variable: Variable;
}

export function namesOf({ entry, place: { evseId, connectorId } }: PlacedVariable): Named {
  return {
    component: {
      ...entry.component,
      ...(evseId !== undefined && { evse: { id: evseId, ...(connectorId !== undefined && { connectorId }) } }),
    },
    variable: entry.variable,
  };
}

/** True if both are the same variable at the same place. */
export function isSame(a: PlacedVariable, b: PlacedVariable): boolean {
  return a.entry === b.entry && a.place.evseId === b.place.evseId && a.place.connectorId === b.place.connectorId;
}

export function isNumeric({ entry: { row } }: PlacedVariable): boolean {
  return row.type === 'decimal' || row.type === 'integer';
}

/** True if the value of a variable is never reported (N07.FR.10). */
export function isWriteOnly({ entry: { row } }: PlacedVariable): boolean {
  return row.mutability === 'WriteOnly' || row.secret === true;
}

export const periodicTypes: ReadonlySet<MonitorEnum> = new Set(['Periodic', 'PeriodicClockAligned']);

// Stored form of monitors. Entries that do not fit are dropped: the firmware may have lost a variable (N04).

type JsonObject = { readonly [name: string]: JsonValue };

/** Stored beside the monitors of the central system. */
interface SavedHead {
  readonly base: MonitoringBaseEnum;
  readonly level: number;
  readonly nextId: number;
  readonly off: readonly number[];
  readonly exceeded: readonly number[];
}

const types: ReadonlySet<string> = new Set<MonitorEnum>([
  'UpperThreshold',
  'LowerThreshold',
  'Delta',
  'Periodic',
  'PeriodicClockAligned',
  'TargetDelta',
  'TargetDeltaRelative',
]);
const isType = (value: JsonValue | undefined): value is MonitorEnum => typeof value === 'string' && types.has(value);

const bases: ReadonlySet<string> = new Set<MonitoringBaseEnum>(['All', 'FactoryDefault', 'HardWiredOnly']);
const isBase = (value: JsonValue | undefined): value is MonitoringBaseEnum =>
  typeof value === 'string' && bases.has(value);

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numbersOf(value: JsonValue | undefined): readonly number[] {
  return Array.isArray(value) ? value.filter((each): each is number => typeof each === 'number') : [];
}

/** null: nothing valid is stored */
function restoredHead(value: JsonValue | undefined): SavedHead | null {
  if (!isObject(value)) return null;
  const { base, level, nextId, off, exceeded } = value;
  if (!isBase(base) || typeof level !== 'number' || !Number.isSafeInteger(nextId)) return null;
  return { base, level, nextId: Number(nextId), off: numbersOf(off), exceeded: numbersOf(exceeded) };
}

function savedMonitor(monitor: Monitor): JsonValue {
  const { id, placedVariable, type, value, severity, transaction, stream } = monitor;
  return {
    id,
    component: placedVariable.entry.row.component,
    variable: placedVariable.entry.row.variable,
    place: { ...placedVariable.place },
    type,
    value,
    severity,
    transaction,
    stream: stream === null ? null : { ...stream },
  };
}

function placeOf(value: JsonValue | undefined): Place {
  if (!isObject(value)) return {};
  const { evseId, connectorId } = value;
  return {
    ...(typeof evseId === 'number' && { evseId }),
    ...(typeof connectorId === 'number' && { connectorId }),
  };
}

function streamOf(value: JsonValue | undefined): PeriodicEventStreamParams | null {
  if (!isObject(value)) return null;
  const { interval, values } = value;
  return {
    ...(typeof interval === 'number' && { interval }),
    ...(typeof values === 'number' && { values }),
  };
}

/** null: not valid, or the variable can no longer be monitored */
function restoredMonitor(value: JsonValue, variables: Pick<VariableStore, 'find'>): Monitor | null {
  if (!isObject(value)) return null;
  const { id, component, variable, place, type, value: limit, severity, transaction, stream } = value;
  if (typeof id !== 'number' || typeof limit !== 'number' || typeof severity !== 'number') return null;
  if (typeof component !== 'string' || typeof variable !== 'string' || !isType(type)) return null;
  const target = variables.find(component, variable, placeOf(place));
  if (target?.entry.row.monitored !== true) return null;
  return {
    id,
    kind: 'CustomMonitor',
    placedVariable: target,
    type,
    value: limit,
    severity,
    transaction: transaction === true,
    stream: streamOf(stream),
  };
}

// Monitors that belong to the station, and the problems of its components.

interface Candidate {
  readonly kind: MonitorKind;
  readonly component: string;
  readonly places: readonly Place[];
  readonly severity: number;
}

/** Lower ids are those of monitors that belong to the station, or that replace such. */
const firstCustomId = 100_000;

/**
 * Connectors first: if all connectors have a problem, so has the station, and its event names the event of a connector
 * as its cause.
 */
function factoryMonitors(
  variables: Pick<VariableStore, 'find'>,
  { connectorIds }: Pick<StationPort, 'connectorIds'>,
): readonly Monitor[] {
  const connectors = connectorIds.map((evseId) => ({ evseId, connectorId: 1 }));
  const candidates: readonly Candidate[] = [
    { kind: 'PreconfiguredMonitor', component: 'Connector', places: connectors, severity: 3 },
    { kind: 'HardWiredMonitor', component: 'ChargingStation', places: [{}], severity: 2 },
  ];
  return candidates
    .flatMap(({ kind, component, places, severity }) =>
      places.flatMap((place) => {
        const target = variables.find(component, 'Problem', place);
        return target === undefined ? [] : [{ kind, placedVariable: target, severity }];
      }),
    )
    .map((each, i) => ({ ...each, id: i + 1, type: 'Delta', value: 1, transaction: false, stream: null }));
}

interface Trouble {
  readonly techCode?: string;
  readonly techInfo?: string;
}

/** True if a component has a problem; the station has one if no connector works, or a grid fault stops the charging. */
export function hasProblem(device: Pick<StationPort, 'detail' | 'connector'>, { evseId }: Place): boolean {
  if (evseId !== undefined) return device.connector(evseId).errorCode !== 'NoError';
  const { connectors, externalLimit } = device.detail;
  const noneWorks = connectors.length > 0 && connectors.every(({ status }) => status === 'faulted');
  return noneWorks || externalLimit?.decidedBy === 'cessation';
}

/** Code and text of the device for the problem of a component; empty: none. */
export function troubleOf(device: Pick<StationPort, 'detail' | 'connector'>, { evseId }: Place): Trouble {
  if (evseId === undefined)
    return device.detail.externalLimit?.decidedBy === 'cessation'
      ? { techInfo: 'the grid is outside of its limits' }
      : {};
  const { errorCode, errorInfo, vendorErrorCode } = device.connector(evseId);
  if (errorCode === 'NoError') return {};
  const isFilled = (text: string | null): text is string => text !== null && text !== '';
  return {
    techCode: (isFilled(vendorErrorCode) ? vendorErrorCode : errorCode).slice(0, 50),
    ...(isFilled(errorInfo) && { techInfo: errorInfo.slice(0, 500) }),
  };
}

/** Maximum number of monitors that the central system may set. */
export const maxCustomMonitors = 200;

export interface Monitors extends Required<Pick<Part, 'load'>> {
  /** monitors in force, in the order of their checks */
  readonly all: readonly Monitor[];
  readonly customCount: number;
  /** events of monitors with a greater severity number are not sent */
  readonly level: number;
  byId(id: number): Monitor | undefined;
  /** Adds a monitor of the central system under a new id, or replaces the monitor with its id. */
  put(monitor: Omit<Monitor, 'id' | 'kind'> & { readonly id?: number }): Monitor;
  /** Removes a monitor that is not hard-wired; `setBase` may restore a monitor of the factory. */
  remove(id: number): void;
  setBase(base: MonitoringBaseEnum): void;
  setLevel(level: number): void;
  /** ids of monitors whose threshold is exceeded; kept over a restart (N07.FR.14) */
  readonly exceeded: ReadonlySet<number>;
  setExceeded(id: number, exceeded: boolean): void;
}

interface State {
  readonly base: MonitoringBaseEnum;
  readonly level: number;
  readonly nextId: number;
  readonly custom: ReadonlyMap<number, Monitor>;
  /** monitors of the factory that are not in force: cleared, disabled, or replaced by the central system */
  readonly off: ReadonlySet<number>;
}

const initial: State = {
  base: 'FactoryDefault',
  level: 9,
  nextId: firstCustomId,
  custom: new Map(),
  off: new Set(),
};

/** A monitor that replaces one of the factory keeps its id (N04.FR.15). */
function withMonitor(state: State, monitor: Monitor): State {
  const { custom, off, nextId } = state;
  return {
    ...state,
    custom: new Map(custom).set(monitor.id, monitor),
    off: monitor.id < firstCustomId ? new Set([...off, monitor.id]) : off,
    nextId: Math.max(nextId, monitor.id + 1),
  };
}

function withoutMonitor(state: State, id: number): State {
  const custom = new Map(state.custom);
  custom.delete(id);
  return { ...state, custom, off: id < firstCustomId ? new Set([...state.off, id]) : state.off };
}

/** N03.FR.03 to FR.05. With `All` the monitors of the central system stay, also in place of those of the factory. */
function onBase(state: State, base: MonitoringBaseEnum, preconfigured: readonly number[]): State {
  const custom = base === 'All' ? state.custom : new Map<number, Monitor>();
  const off = base === 'HardWiredOnly' ? preconfigured : [...custom.keys()].filter((id) => id < firstCustomId);
  return { ...state, base, custom, off: new Set(off) };
}

function saved({ base, level, nextId, off, custom }: State, exceeded: ReadonlySet<number>): readonly JsonValue[] {
  return [{ base, level, nextId, off: [...off], exceeded: [...exceeded] }, ...[...custom.values()].map(savedMonitor)];
}

function restored(
  head: SavedHead,
  rest: readonly Monitor[],
  preconfigured: readonly number[],
): { readonly state: State; readonly exceeded: readonly number[] } {
  const monitors = rest.slice(0, maxCustomMonitors);
  const { base, level, exceeded } = head;
  const off = new Set(head.off.filter((id) => preconfigured.includes(id)));
  const nextId = Math.max(head.nextId, firstCustomId);
  return { state: monitors.reduce(withMonitor, { base, level, nextId, custom: new Map(), off }), exceeded };
}

export function createMonitors(
  { device, store, log }: Pick<StationParts, 'device' | 'store' | 'log'>,
  { variables }: { readonly variables: VariableStore },
): Monitors {
  const slot = store('monitors');
  const factory = factoryMonitors(variables, device);
  const preconfigured = factory.filter(({ kind }) => kind === 'PreconfiguredMonitor').map(({ id }) => id);
  const exceeded = new Set<number>();
  let state = initial;
  let all: readonly Monitor[] = factory;

  const saver = createSaver(slot, () => saved(state, exceeded), log);
  const adopt = (next: State): void => {
    state = next;
    all = [...state.custom.values(), ...factory.filter(({ id }) => !state.off.has(id))];
    const ids = new Set(all.map(({ id }) => id));
    for (const id of exceeded) if (!ids.has(id)) exceeded.delete(id);
    variables.set('MonitoringCtrlr', 'ActiveMonitoringBase', state.base);
    variables.set('MonitoringCtrlr', 'ActiveMonitoringLevel', String(state.level));
  };
  const change = (next: State): void => {
    adopt(next);
    saver.save();
  };

  return {
    get all() {
      return all;
    },
    get customCount() {
      return state.custom.size;
    },
    get level() {
      return state.level;
    },
    exceeded,
    byId: (id) => all.find((each) => each.id === id),
    put(fields) {
      const monitor: Monitor = { ...fields, id: fields.id ?? state.nextId, kind: 'CustomMonitor' };
      if (all.find(({ id }) => id === monitor.id)?.type !== monitor.type) exceeded.delete(monitor.id);
      change(withMonitor(state, monitor));
      return monitor;
    },
    remove: (id) => change(withoutMonitor(state, id)),
    setBase: (base) => change(onBase(state, base, preconfigured)),
    setLevel: (level) => change({ ...state, level }),
    setExceeded(id, isExceeded) {
      if (exceeded.has(id) === isExceeded) return;
      if (isExceeded) exceeded.add(id);
      else exceeded.delete(id);
      saver.save();
    },
    async load() {
      const monitorForm = readBy((value) => restoredMonitor(value, variables), 'monitor of a variable');
      const stored = await readHeaded(slot, [readBy(restoredHead, 'head of monitors'), monitorForm], log);
      const restoredMonitors = stored && restored(stored.head, stored.rest, preconfigured);
      for (const id of restoredMonitors?.exceeded ?? []) exceeded.add(id);
      adopt(restoredMonitors?.state ?? state);
    },
  };
}

/** A monitor of the same variable, type and severity under another id (N04.FR.10). */
export function duplicateOf(
  monitors: Pick<Monitors, 'all'>,
  fields: Pick<Monitor, 'placedVariable' | 'type' | 'severity'> & { readonly id?: number },
): Monitor | undefined {
  return monitors.all.find(
    ({ id, type, severity, placedVariable }) =>
      id !== fields.id &&
      type === fields.type &&
      severity === fields.severity &&
      isSame(placedVariable, fields.placedVariable),
  );
}
