/** The device model of 2.x (B05 to B07): rows of its tables, interfaces to read and set variables, checks of values. */
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import type { ConnectorRating, StationNameplate } from '../../station/port.ts';
import type { Component, Variable } from '../messages.ts';
import type { Version2 } from '../../station/stack.ts';

export type DataType =
  | 'string'
  | 'decimal'
  | 'integer'
  | 'dateTime'
  | 'boolean'
  | 'OptionList'
  | 'SequenceList'
  | 'MemberList';

export type Mutability = 'ReadOnly' | 'WriteOnly' | 'ReadWrite';

/** Place of a component; `{}`: the charging station. EVSE k is connector k of the device, with connector 1 in it. */
export interface Place {
  readonly evseId?: number;
  readonly connectorId?: number;
}

/** Facts of the station on which rows may depend. */
export interface VariableFacts {
  readonly version: Version2;
  readonly nameplate: StationNameplate;
  readonly evseIds: readonly number[];
  /** by EVSE, in the order of `evseIds` */
  readonly ratings: readonly ConnectorRating[];
  readonly stationRating: ConnectorRating;
  readonly securityProfile: OcppSecurityProfile;
}

/** One variable of one component, at the station, or at each EVSE or connector. */
export interface VariableRow {
  /** with its instance in brackets where it has one: `Name[instance]` */
  readonly component: string;
  /** default: the station */
  readonly tier?: 'station' | 'evse' | 'connector';
  /** with its instance in brackets where it has one: `MessageTimeout[Default]` */
  readonly variable: string;
  readonly type: DataType;
  readonly mutability: Mutability;
  /** true: read-only at this place, whatever `mutability` says */
  readonly readOnlyIf?: (facts: VariableFacts, place: Place) => boolean;
  /** null: this place has no such variable */
  readonly initial: string | ((facts: VariableFacts, place: Place) => string | null);
  readonly unit?: string;
  /** minimum of a number, or of the length of a text or list */
  readonly min?: number;
  /** maximum of a number, or of the length of a text or list */
  readonly max?: number | ((facts: VariableFacts, place: Place) => number);
  /** of an OptionList, SequenceList or MemberList: the allowed values */
  readonly values?: readonly string[] | ((facts: VariableFacts, place: Place) => readonly string[]);
  /** a change takes effect at the next restart (SetVariables answers RebootRequired) */
  readonly reboot?: true;
  /** absent: both versions have the variable */
  readonly since?: 'ocpp2.1';
  readonly monitored?: true;
  /** its value is a secret: never shown, logged or recorded */
  readonly secret?: true;
  /** its value is the same in every version of 2.x, since it is about network profiles, which versions share */
  readonly shared?: true;
}

type Initial = VariableRow['initial'] | number | boolean;

interface RowOptions extends Omit<VariableRow, 'component' | 'variable' | 'type' | 'mutability' | 'initial'> {
  /** places that have the variable; default every one of the tier */
  readonly where?: (facts: VariableFacts, place: Place) => boolean;
}

type MakeRow = (variable: string, type: DataType, initial: Initial, options?: RowOptions) => VariableRow;

function initialOf(initial: Initial, where: RowOptions['where']): VariableRow['initial'] {
  if (where === undefined) return typeof initial === 'function' ? initial : String(initial);
  return (facts, place) => {
    if (!where(facts, place)) return null;
    return typeof initial === 'function' ? initial(facts, place) : String(initial);
  };
}

/** Makes rows of one component. @param common options of all its rows */
export function rowsOf(component: string, common: RowOptions = {}) {
  const maker =
    (mutability: Mutability): MakeRow =>
    (variable, type, initial, options = {}) => {
      const { where, ...columns } = { ...common, ...options };
      return { component, variable, type, mutability, initial: initialOf(initial, where), ...columns };
    };
  return { readOnly: maker('ReadOnly'), readWrite: maker('ReadWrite'), writeOnly: maker('WriteOnly') };
}

/** Names as in `VariableRow`. Unknown ones throw SimError UNKNOWN_RESOURCE, except in `has` and `onChange`. */
export interface Variables {
  /** the value in force */
  text(component: string, variable: string, place?: Place): string;
  boolean(component: string, variable: string, place?: Place): boolean;
  integer(component: string, variable: string, place?: Place): number;
  decimal(component: string, variable: string, place?: Place): number;
  /** members of a comma-separated list */
  list(component: string, variable: string, place?: Place): readonly string[];
  /** true: there is such a variable */
  has(component: string, variable: string, place?: Place): boolean;
  /** Sets a value at once, also of a read-only variable, whose value does not survive the process. */
  set(component: string, variable: string, value: string, place?: Place): void;
  /** Calls back after each change in force, whoever made it; the returned function unsubscribes. */
  onChange(component: string, variable: string, listener: (value: string, place: Place) => void): () => void;
  /** Makes `read` the source of the value of a variable. @param place absent: at each of its places */
  provide(component: string, variable: string, read: (place: Place) => string, place?: Place): void;
}

export type Tier = NonNullable<VariableRow['tier']>;

/** A name with its instance, as messages spell it. */
export interface InstanceName {
  readonly name: string;
  readonly instance?: string;
}

/** One row with its names split into name and instance. */
export interface TableEntry {
  readonly row: VariableRow;
  /** its place in the table */
  readonly index: number;
  readonly tier: Tier;
  readonly mutability: Mutability;
  readonly component: InstanceName;
  readonly variable: InstanceName;
}

/** One variable at one place of a station. */
export interface PlacedVariable {
  readonly entry: TableEntry;
  readonly place: Place;
}

/** A change in force. */
export interface VariableChange {
  readonly placedVariable: PlacedVariable;
  readonly value: string;
}

/** The device model for its messages and for the monitors. */
export interface VariableStore extends Variables {
  /** Names as in `VariableRow`. */
  find(component: string, variable: string, place?: Place): PlacedVariable | undefined;
  /** A variable by its names in messages, or the status of a failed look-up. */
  lookUp(named: {
    readonly component: Pick<Component, 'name' | 'instance' | 'evse'>;
    readonly variable: Pick<Variable, 'name' | 'instance'>;
  }): PlacedVariable | 'UnknownComponent' | 'UnknownVariable';
  /** Every variable at every place, in the order of the table. */
  each(): Iterable<PlacedVariable>;
  /** value in force */
  valueOf(placedVariable: PlacedVariable): string;
  /** value as in GetVariables: the one from the next restart on, if a change waits for the restart */
  shown(placedVariable: PlacedVariable): string;
  /** allowed values; undefined: any */
  valuesOf(placedVariable: PlacedVariable): readonly string[] | undefined;
  limitsOf(placedVariable: PlacedVariable): { readonly min?: number; readonly max?: number };
  mutabilityOf(placedVariable: PlacedVariable): Mutability;
  isProvided(placedVariable: PlacedVariable): boolean;
  /** The value in normal form; null: its row does not allow the value. */
  accepted(placedVariable: PlacedVariable, value: string): string | null;
  /** Sets an accepted value at once, or at the next restart where the row says so; survives the process. */
  change(placedVariable: PlacedVariable, value: string): void;
  /** Calls back after every change in force; not for provided values. The returned function unsubscribes. */
  onAnyChange(listener: (change: VariableChange) => void): () => void;
  /** Puts the values that waited for a restart into force. */
  restarted(): void;
  /** Restores changed values; listeners are not called. */
  load(): Promise<void>;
}

// Values of variables as texts: how a text of the central system is checked and written.

/** Limits of a value. */
interface ValueRule {
  readonly type: DataType;
  /** minimum of a number, or of the length of a text or list */
  readonly min?: number;
  /** maximum of a number, or of the length of a text or list */
  readonly max?: number;
  /** allowed values of an OptionList, and members of a SequenceList or MemberList; absent: any */
  readonly values?: readonly string[];
}

const maxInteger = 2 ** 31 - 1;
const instant = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** The members of a comma-separated list. */
export function members(value: string): readonly string[] {
  if (value === '') return [];
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function inRange(number: number, { min = -Infinity, max = Infinity }: ValueRule): boolean {
  return Number.isFinite(number) && number >= min && number <= max;
}

function normalNumber(value: string, rule: ValueRule, pattern: RegExp): string | null {
  if (!pattern.test(value)) return null;
  const number = Number(value);
  // + 0: there is no negative zero
  return inRange(number, rule) ? String(number + 0) : null;
}

function normalList(value: string, { values }: ValueRule): string | null {
  if (value !== '' && value.split(',').some((each) => each.trim() === '')) return null;
  const list = members(value);
  const isAllowed = (member: string): boolean => values === undefined || values.includes(member);
  return new Set(list).size === list.length && list.every(isAllowed) ? list.join(',') : null;
}

function fits(value: string, { min = 0, max = Infinity }: ValueRule): boolean {
  return value.length >= min && value.length <= max;
}

/** A value in normal form: `TRUE` as `true`, lists without spaces. Null: the rule does not allow the value. */
export function normalValue(rule: ValueRule, text: string): string | null {
  const value = text.trim();
  switch (rule.type) {
    case 'boolean': {
      const lower = value.toLowerCase();
      return lower === 'true' || lower === 'false' ? lower : null;
    }
    case 'integer': {
      const { min = -maxInteger - 1, max = maxInteger } = rule;
      return normalNumber(value, { ...rule, min, max }, /^[+-]?\d{1,10}$/);
    }
    case 'decimal':
      return normalNumber(value, rule, /^[+-]?\d{1,15}(\.\d{1,15})?$/);
    case 'dateTime':
      return instant.test(value) && Number.isFinite(Date.parse(value)) ? value : null;
    case 'string':
      return fits(text, rule) ? text : null;
    case 'OptionList':
      return rule.values === undefined || rule.values.includes(value) ? value : null;
    case 'SequenceList':
    case 'MemberList': {
      const list = normalList(value, rule);
      return list !== null && fits(list, rule) ? list : null;
    }
  }
}
