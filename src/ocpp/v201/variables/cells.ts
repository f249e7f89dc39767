/** Values of one station that differ from the initial ones of the table. */
import type { JsonValue } from '../../../core/store.ts';
import { initialOf } from './finder.ts';
import type { Found, Mutability, Place, TableEntry, VariableFacts } from './model.ts';
import { normalValue } from './values.ts';

/** What a station knows of one variable beside its row. */
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

export interface Cells {
  of(found: Found): Cell | undefined;
  /** makes it where there is none */
  own(found: Found): Cell;
  /** cells that the row says are kept */
  saved(): JsonValue[];
  each(): readonly (readonly [Found, Cell])[];
}

export function createCells(): Cells {
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

/** What reads and changes values; `changed` hears of each change in force. */
export function createValues(facts: VariableFacts, cells: Cells, changed: (found: Found, value: string) => void) {
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
