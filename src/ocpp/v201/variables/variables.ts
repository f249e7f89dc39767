/** The variables of one station. It keeps only values that differ from the table, so that many stations share the table. */
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { createSaver, createSignal } from '../../station/stack.ts';
import type { Signal } from '../../station/stack.ts';
import { createFinder, initialOf, tiers } from './handlers.ts';
import type { Finder } from './handlers.ts';
import { members, normalValue } from './model.ts';
import type {
  Found,
  Mutability,
  Place,
  TableEntry,
  Tier,
  VariableChange,
  VariableFacts,
  VariableRow,
  VariableStore,
} from './model.ts';

// Values of one station that differ from the initial ones of the table.

/** State of one variable beside its row. */
interface Cell {
  /** in force; null: the initial value of the row */
  value: string | null;
  /** after the next restart; null: as now */
  next: string | null;
  /** of a provided variable */
  read: ((place: Place) => string) | null;
}

/** numbers of EVSEs are below it */
const maxEvses = 65_536;

const cellKey = ({ index }: TableEntry, { evseId = 0 }: Place): number => index * maxEvses + evseId;

/** A saved value: `[component, variable, evseId, value]`; EVSE 0 is the station. */
function savedValue(found: Found, value: string): JsonValue {
  const { row } = found.entry;
  return [row.component, row.variable, found.place.evseId ?? 0, value];
}

interface Cells {
  of(found: Found): Cell | undefined;
  /** makes it where there is none */
  own(found: Found): Cell;
  /** cells that the row says are kept */
  saved(): JsonValue[];
  each(): readonly (readonly [Found, Cell])[];
}

function createCells(): Cells {
  const cells = new Map<number, { readonly found: Found; readonly cell: Cell }>();
  return {
    of: ({ entry, place }) => cells.get(cellKey(entry, place))?.cell,
    own: (found) => {
      const key = cellKey(found.entry, found.place);
      const cell = cells.get(key)?.cell ?? { value: null, next: null, read: null };
      cells.set(key, { found, cell });
      return cell;
    },
    saved: () =>
      [...cells.values()].flatMap(({ found, cell }) => {
        const value = cell.next ?? cell.value;
        // a provided one is kept by the part that provides it
        if (value === null || cell.read !== null || found.entry.mutability === 'ReadOnly') return [];
        return [savedValue(found, value)];
      }),
    each: () => [...cells.values()].map(({ found, cell }) => [found, cell] as const),
  };
}

/** Reads and changes values; `changed` hears of each change in force. */
function createValues(facts: VariableFacts, cells: Cells, changed: (found: Found, value: string) => void) {
  const valueOf = (found: Found): string => {
    const cell = cells.of(found);
    return cell?.read?.(found.place) ?? cell?.value ?? initialOf(found.entry, facts, found.place) ?? '';
  };
  const put = (found: Found, value: string): void => {
    const before = valueOf(found);
    const cell = cells.own(found);
    cell.next = null;
    cell.value = value;
    if (before !== value) changed(found, value);
  };
  const valuesOf = ({ entry, place }: Found): readonly string[] | undefined => {
    const { values } = entry.row;
    return typeof values === 'function' ? values(facts, place) : values;
  };
  const limitsOf = ({ entry: { row }, place }: Found): { readonly min?: number; readonly max?: number } => {
    const max = typeof row.max === 'function' ? row.max(facts, place) : row.max;
    return { ...(row.min !== undefined && { min: row.min }), ...(max !== undefined && { max }) };
  };
  return {
    valueOf,
    valuesOf,
    put,
    plan: (found: Found, value: string): void => {
      cells.own(found).next = valueOf(found) === value ? null : value;
    },
    shown: (found: Found): string => cells.of(found)?.next ?? valueOf(found),
    limitsOf,
    mutabilityOf: ({ entry: { row }, place }: Found): Mutability =>
      row.readOnlyIf?.(facts, place) === true ? 'ReadOnly' : row.mutability,
    accepted: (found: Found, value: string): string | null => {
      const values = valuesOf(found);
      const rule = { type: found.entry.row.type, ...limitsOf(found), ...(values !== undefined && { values }) };
      return normalValue(rule, value);
    },
  };
}

interface VariablesOptions {
  readonly facts: VariableFacts;
  readonly rows: readonly VariableRow[];
  readonly slot: Slot;
  readonly log: Pick<Logger, 'error'>;
}

interface Room {
  readonly cells: Cells;
  readonly finder: Finder;
  readonly values: ReturnType<typeof createValues>;
}

function placeOf(tier: Tier, evseId: number): Place {
  if (tier === 'station') return {};
  return tier === 'evse' ? { evseId } : { evseId, connectorId: 1 };
}

/** Values that an earlier process has saved, as far as the rows still allow them. */
function restore(saved: JsonValue, { cells, finder, values }: Room): void {
  const [component, variable, evseId, value] = Array.isArray(saved) ? (saved as readonly JsonValue[]) : [];
  if (typeof component !== 'string' || typeof variable !== 'string') return;
  if (typeof evseId !== 'number' || typeof value !== 'string') return;
  for (const tier of tiers) {
    const found = finder.find(component, variable, placeOf(tier, evseId));
    if (found === undefined || (tier === 'station') !== (evseId === 0)) continue;
    if (values.accepted(found, value) !== null) cells.own(found).value = value;
  }
}

/** The reads of `Variables`. */
function readers({ finder, values }: Room) {
  const text = (component: string, variable: string, place?: Place): string =>
    values.valueOf(finder.need(component, variable, place));
  const number = (component: string, variable: string, place?: Place): number => {
    const value = Number(text(component, variable, place));
    return Number.isFinite(value) ? value : 0;
  };
  return {
    text,
    boolean: (component: string, variable: string, place?: Place) => text(component, variable, place) === 'true',
    integer: number,
    decimal: number,
    list: (component: string, variable: string, place?: Place) => members(text(component, variable, place)),
    has: (component: string, variable: string, place?: Place) => finder.find(component, variable, place) !== undefined,
  };
}

/** Listeners to all changes, and to those of one variable at any place. */
function createListeners(log: Pick<Logger, 'error'>) {
  const all = createSignal<VariableChange>(log);
  const named = new Map<string, Signal<VariableChange>>();
  const keyOf = (component: string, variable: string): string => `${component}/${variable}`.toLowerCase();
  return {
    all,
    on: (component: string, variable: string, listener: (value: string, place: Place) => void) => {
      const key = keyOf(component, variable);
      const signal = named.get(key) ?? createSignal<VariableChange>(log);
      named.set(key, signal);
      return signal.on(({ found, value }) => {
        listener(value, found.place);
      });
    },
    emit: (change: VariableChange) => {
      const { row } = change.found.entry;
      if (named.size > 0) named.get(keyOf(row.component, row.variable))?.emit(change);
      all.emit(change);
    },
  };
}

export function createVariables(options: VariablesOptions): VariableStore {
  const { slot, log } = options;
  const cells = createCells();
  const finder = createFinder(options);
  const listeners = createListeners(log);
  const values = createValues(options.facts, cells, (found, value) => {
    listeners.emit({ found, value });
  });
  const room = { cells, finder, values };
  const saver = createSaver(slot, () => cells.saved(), log);
  const put = (found: Found, value: string): void => {
    values.put(found, value);
    if (found.entry.mutability !== 'ReadOnly') saver.save();
  };
  return {
    ...readers(room),
    set: (component, variable, value, place) => {
      put(finder.need(component, variable, place), value);
    },
    onChange: listeners.on,
    onAnyChange: (listener) => listeners.all.on(listener),
    provide: (component, variable, read, place) => {
      const all =
        place === undefined ? finder.everywhere(component, variable) : [finder.need(component, variable, place)];
      for (const found of all) cells.own(found).read = read;
    },
    find: finder.find,
    lookUp: finder.lookUp,
    each: () => finder.each(),
    valueOf: values.valueOf,
    shown: values.shown,
    valuesOf: values.valuesOf,
    limitsOf: values.limitsOf,
    mutabilityOf: values.mutabilityOf,
    isProvided: (found) => cells.of(found)?.read != null,
    accepted: values.accepted,
    change: (found, value) => {
      if (found.entry.row.reboot === undefined) {
        put(found, value);
        return;
      }
      values.plan(found, value);
      saver.save();
    },
    restarted: () => {
      for (const [found, cell] of cells.each()) if (cell.next !== null) put(found, cell.next);
    },
    load: async () => {
      for (const saved of await slot.read()) restore(saved, room);
    },
  };
}
