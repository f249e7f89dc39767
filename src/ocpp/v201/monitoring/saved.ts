/** Monitors as the store keeps them. What does not fit is left out: the firmware may have lost a variable (N04). */
import type { JsonValue } from '../../../core/store.ts';
import type { MonitorEnum, MonitoringBaseEnum, PeriodicEventStreamParams } from '../messages.ts';
import type { Place, VariableStore } from '../variables/model.ts';
import type { Monitor } from './model.ts';

type JsonObject = { readonly [name: string]: JsonValue };

/** What is kept beside the monitors of the central system. */
export interface SavedHead {
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

/** Null: nothing was kept. */
export function restoredHead(value: JsonValue | undefined): SavedHead | null {
  if (!isObject(value)) return null;
  const { base, level, nextId, off, exceeded } = value;
  if (!isBase(base) || typeof level !== 'number' || typeof nextId !== 'number') return null;
  return { base, level, nextId, off: numbersOf(off), exceeded: numbersOf(exceeded) };
}

export function savedMonitor(monitor: Monitor): JsonValue {
  const { id, found, type, value, severity, transaction, stream } = monitor;
  return {
    id,
    component: found.entry.row.component,
    variable: found.entry.row.variable,
    place: { ...found.place },
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

/** Null: it is no monitor of this station any more. */
export function restoredMonitor(value: JsonValue, variables: Pick<VariableStore, 'find'>): Monitor | null {
  if (!isObject(value)) return null;
  const { id, component, variable, place, type, value: limit, severity, transaction, stream } = value;
  if (typeof id !== 'number' || typeof limit !== 'number' || typeof severity !== 'number') return null;
  if (typeof component !== 'string' || typeof variable !== 'string' || !isType(type)) return null;
  const found = variables.find(component, variable, placeOf(place));
  if (found?.entry.row.monitored !== true) return null;
  return {
    id,
    kind: 'CustomMonitor',
    found,
    type,
    value: limit,
    severity,
    transaction: transaction === true,
    stream: streamOf(stream),
  };
}
