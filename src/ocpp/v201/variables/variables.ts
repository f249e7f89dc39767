/** The variables of one station. It keeps only values that differ from the table, so that many stations share the table. */
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { createSaver } from '../../station/saver.ts';
import { createSignal } from '../../station/signal.ts';
import type { Signal } from '../../station/signal.ts';
import { createCells, createValues } from './cells.ts';
import type { Cells } from './cells.ts';
import { createFinder, tiers } from './finder.ts';
import type { Finder } from './finder.ts';
import type { Found, Place, Tier, VariableChange, VariableFacts, VariableRow, VariableStore } from './model.ts';
import { members } from './values.ts';

export interface VariablesOptions {
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
