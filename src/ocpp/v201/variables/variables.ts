/** The variables of one station: only values that differ from the table are kept, so that stations share the table. */
import { z } from 'zod';
import type { Logger } from '../../../core/log/log.ts';
import { formOf, Misfit, place, readEach } from '../../../core/slot-values.ts';
import type { SlotForm } from '../../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { createSaver, createSignal } from '../../station/stack.ts';
import type { Signal } from '../../station/stack.ts';
import { createFinder, initialOf, tiers } from './handlers.ts';
import type { Finder } from './handlers.ts';
import { members, normalValue } from './model.ts';
import type {
  PlacedVariable,
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
  /** of a provided variable; null: not provided */
  read: ((place: Place) => string) | null;
}

/** EVSE ids are below this number */
const maxEvses = 65_536;

const cellKey = ({ index }: TableEntry, { evseId = 0 }: Place): number => index * maxEvses + evseId;

/** A saved value: `[component, variable, evseId, value]`; EVSE 0 is the station. */
function savedValue(target: PlacedVariable, value: string): JsonValue {
  const { row } = target.entry;
  return [row.component, row.variable, target.place.evseId ?? 0, value];
}

interface Cells {
  of(placedVariable: PlacedVariable): Cell | undefined;
  /** Creates the cell if there is none. */
  ensure(placedVariable: PlacedVariable): Cell;
  /** Values that survive the process. @param shared of the rows that versions share, or of all others */
  saved(shared: boolean): JsonValue[];
  each(): readonly (readonly [PlacedVariable, Cell])[];
}

function createCells(): Cells {
  const cells = new Map<number, { readonly placedVariable: PlacedVariable; readonly cell: Cell }>();
  return {
    of: ({ entry, place }) => cells.get(cellKey(entry, place))?.cell,
    ensure: (target) => {
      const key = cellKey(target.entry, target.place);
      const cell = cells.get(key)?.cell ?? { value: null, next: null, read: null };
      cells.set(key, { placedVariable: target, cell });
      return cell;
    },
    saved: (shared) =>
      [...cells.values()].flatMap(({ placedVariable, cell }) => {
        const value = cell.next ?? cell.value;
        if ((placedVariable.entry.row.shared ?? false) !== shared) return [];
        // a provided value is saved by the part that provides it
        if (value === null || cell.read !== null || placedVariable.entry.mutability === 'ReadOnly') return [];
        return [savedValue(placedVariable, value)];
      }),
    each: () => [...cells.values()].map(({ placedVariable, cell }) => [placedVariable, cell] as const),
  };
}

/** Reads and changes values; `changed` is called with each change in force. */
function createValues(
  facts: VariableFacts,
  cells: Cells,
  changed: (placedVariable: PlacedVariable, value: string) => void,
) {
  const valueOf = (target: PlacedVariable): string => {
    const cell = cells.of(target);
    return cell?.read?.(target.place) ?? cell?.value ?? initialOf(target.entry, facts, target.place) ?? '';
  };
  const put = (target: PlacedVariable, value: string): void => {
    const before = valueOf(target);
    const cell = cells.ensure(target);
    cell.next = null;
    cell.value = value;
    if (before !== value) changed(target, value);
  };
  const valuesOf = ({ entry, place }: PlacedVariable): readonly string[] | undefined => {
    const { values } = entry.row;
    return typeof values === 'function' ? values(facts, place) : values;
  };
  const limitsOf = ({ entry: { row }, place }: PlacedVariable): { readonly min?: number; readonly max?: number } => {
    const max = typeof row.max === 'function' ? row.max(facts, place) : row.max;
    return { ...(row.min !== undefined && { min: row.min }), ...(max !== undefined && { max }) };
  };
  return {
    valueOf,
    valuesOf,
    put,
    plan: (target: PlacedVariable, value: string): void => {
      cells.ensure(target).next = valueOf(target) === value ? null : value;
    },
    shown: (target: PlacedVariable): string => cells.of(target)?.next ?? valueOf(target),
    limitsOf,
    mutabilityOf: ({ entry: { row }, place }: PlacedVariable): Mutability =>
      row.readOnlyIf?.(facts, place) === true ? 'ReadOnly' : row.mutability,
    accepted: (target: PlacedVariable, value: string): string | null => {
      const values = valuesOf(target);
      const rule = { type: target.entry.row.type, ...limitsOf(target), ...(values !== undefined && { values }) };
      return normalValue(rule, value);
    },
  };
}

interface VariablesOptions {
  readonly facts: VariableFacts;
  readonly rows: readonly VariableRow[];
  readonly slot: Slot;
  /** values of the rows that versions of 2.x share */
  readonly shared: Slot;
  readonly log: Pick<Logger, 'error' | 'warning'>;
}

interface VariableState {
  readonly cells: Cells;
  readonly finder: Finder;
  readonly values: ReturnType<typeof createValues>;
}

function placeOf(tier: Tier, evseId: number): Place {
  if (tier === 'station') return {};
  return tier === 'evse' ? { evseId } : { evseId, connectorId: 1 };
}

type SavedValue = readonly [component: string, variable: string, evseId: number, value: string];

const savedForm = formOf<SavedValue>(z.tuple([z.string(), z.string(), place, z.string()]));

/** The variables that a saved value belongs to; none: this version has lost its row. */
function targetsOf([component, variable, evseId]: SavedValue, finder: Finder): readonly PlacedVariable[] {
  return tiers.flatMap((tier) => {
    const target = finder.find(component, variable, placeOf(tier, evseId));
    return target === undefined || (tier === 'station') !== (evseId === 0) ? [] : [target];
  });
}

/** Restores the values that an earlier process saved, if their rows still allow them. */
async function restore(slot: Slot, { cells, finder, values }: VariableState, log: VariablesOptions['log']) {
  const form: SlotForm<SavedValue> = (json) => {
    const saved = savedForm(json);
    if (saved instanceof Misfit) return saved;
    const isRefused = targetsOf(saved, finder).some((target) => values.accepted(target, saved[3]) === null);
    return isRefused ? new Misfit(`is no value of ${saved[0]}.${saved[1]}`) : saved;
  };
  for (const saved of await readEach(slot, form, log))
    for (const target of targetsOf(saved, finder)) cells.ensure(target).value = saved[3];
}

/** The reads of `Variables`. */
function readers({ finder, values }: VariableState) {
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
      return signal.on(({ placedVariable, value }) => {
        listener(value, placedVariable.place);
      });
    },
    emit: (change: VariableChange) => {
      const { row } = change.placedVariable.entry;
      if (named.size > 0) named.get(keyOf(row.component, row.variable))?.emit(change);
      all.emit(change);
    },
  };
}

export function createVariables(options: VariablesOptions): VariableStore {
  const { slot, shared, log } = options;
  const cells = createCells();
  const finder = createFinder(options);
  const listeners = createListeners(log);
  const values = createValues(options.facts, cells, (target, value) => {
    listeners.emit({ placedVariable: target, value });
  });
  const state = { cells, finder, values };
  const saver = createSaver(slot, () => cells.saved(false), log);
  const sharedSaver = createSaver(shared, () => cells.saved(true), log);
  const save = ({ entry }: PlacedVariable): void => {
    if (entry.row.shared === true) sharedSaver.save();
    else saver.save();
  };
  const put = (target: PlacedVariable, value: string): void => {
    values.put(target, value);
    if (target.entry.mutability !== 'ReadOnly') save(target);
  };
  return {
    ...readers(state),
    set: (component, variable, value, place) => {
      put(finder.need(component, variable, place), value);
    },
    onChange: listeners.on,
    onAnyChange: (listener) => listeners.all.on(listener),
    provide: (component, variable, read, place) => {
      const all =
        place === undefined ? finder.everywhere(component, variable) : [finder.need(component, variable, place)];
      for (const target of all) cells.ensure(target).read = read;
    },
    find: finder.find,
    lookUp: finder.lookUp,
    each: () => finder.each(),
    valueOf: values.valueOf,
    shown: values.shown,
    valuesOf: values.valuesOf,
    limitsOf: values.limitsOf,
    mutabilityOf: values.mutabilityOf,
    isProvided: (target) => cells.of(target)?.read != null,
    accepted: values.accepted,
    change: (target, value) => {
      if (target.entry.row.reboot === undefined) {
        put(target, value);
        return;
      }
      values.plan(target, value);
      save(target);
    },
    restarted: () => {
      for (const [target, cell] of cells.each()) if (cell.next !== null) put(target, cell.next);
    },
    load: async () => {
      for (const each of [slot, shared]) await restore(each, state, log);
    },
  };
}
