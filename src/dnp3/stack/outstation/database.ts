/** The present values of an outstation, and the events that their changes make. IEEE 1815 11.3 */
import type { Buffer } from 'node:buffer';
import { quality } from '../points.ts';
import type { PointClass, PointKind, PointSpec, PointState, PointValue, Stamp } from '../points.ts';
import { placeOf, PointTable } from './point-table.ts';
import type { TablePart } from './point-table.ts';
import type { Database, DatabasePoint, PointEvent, PointList } from './types.ts';

function isSame(a: PointValue, b: PointValue): boolean {
  return typeof a === 'number' || typeof b === 'number' ? Object.is(a, b) : a.equals(b);
}

/** True if a change exceeds the deadband; with a deadband of 0 every change does. */
function exceeds(a: PointValue, b: PointValue, deadband: number): boolean {
  if (isSame(a, b)) return false;
  if (deadband === 0 || typeof a !== 'number' || typeof b !== 'number') return true;
  // a comparison with NaN is false: a change from or to NaN counts
  return !(Math.abs(a - b) <= deadband);
}

/**
 * The state of all points of a table, by place in the table. An object for each point would take most of the memory of an
 * outstation.
 */
class LiveStates {
  readonly flags: Uint8Array;
  readonly classes: Uint8Array;
  /** value and flags of the last event, or of the first update or class assignment if later */
  readonly reportedFlags: Uint8Array;
  readonly #numbers: Float64Array;
  readonly #reported: Float64Array;
  /** values of octet strings; null: the table has none */
  readonly #octets: Map<number, Buffer> | null;
  /** deadbands that masters have written */
  #deadbands: Map<number, number> | null = null;

  constructor({ size, hasOctets }: PointTable) {
    this.flags = new Uint8Array(size).fill(quality.restart);
    this.reportedFlags = new Uint8Array(size).fill(quality.restart);
    this.classes = new Uint8Array(size);
    this.#numbers = new Float64Array(size);
    this.#reported = new Float64Array(size);
    this.#octets = hasOctets ? new Map() : null;
  }

  value(place: number): PointValue {
    return this.#octets?.get(place) ?? this.#numbers[place] ?? 0;
  }

  setValue(place: number, value: PointValue): void {
    if (typeof value !== 'number') this.#octets?.set(place, value);
    else {
      this.#numbers[place] = value;
      this.#octets?.delete(place);
    }
  }

  /** The value of the last event; NaN: an octet string, whose changes are all events. */
  reported(place: number): number {
    return this.#reported[place] ?? 0;
  }

  setReported(place: number, value: PointValue, flags: number): void {
    // an octet string differs from every number
    this.#reported[place] = typeof value === 'number' ? value : NaN;
    this.reportedFlags[place] = flags;
  }

  deadband(place: number): number | undefined {
    return this.#deadbands?.get(place);
  }

  setDeadband(place: number, deadband: number): void {
    (this.#deadbands ??= new Map()).set(place, deadband);
  }

  forgetDeadbands(): void {
    this.#deadbands = null;
  }
}

/** Points of one kind. */
class LivePoints implements PointList {
  readonly specs: readonly PointSpec[];
  readonly #states: LiveStates;
  readonly #start: number;

  constructor(states: LiveStates, { start, specs }: TablePart) {
    this.specs = specs;
    this.#states = states;
    this.#start = start;
  }

  value(at: number): PointValue {
    return this.#states.value(this.#start + at);
  }

  flags(at: number): number {
    return this.#states.flags[this.#start + at] ?? 0;
  }
}

/** Some points of a list. */
export class SelectedPoints implements PointList {
  readonly specs: readonly PointSpec[];
  readonly #points: PointList;
  readonly #places: readonly number[];

  constructor(points: PointList, places: readonly number[]) {
    this.specs = places.flatMap((place) => points.specs[place] ?? []);
    this.#points = points;
    this.#places = places;
  }

  value(at: number): PointValue {
    return this.#points.value(this.#places[at] ?? 0);
  }

  flags(at: number): number {
    return this.#points.flags(this.#places[at] ?? 0);
  }
}

/** One point for those who look at single points. */
class PointView implements DatabasePoint {
  readonly spec: PointSpec;
  readonly #states: LiveStates;
  readonly #place: number;

  constructor(states: LiveStates, place: number, spec: PointSpec) {
    this.spec = spec;
    this.#states = states;
    this.#place = place;
  }

  get class(): PointClass {
    return (this.#states.classes[this.#place] ?? 0) as PointClass;
  }

  get deadband(): number {
    return this.#states.deadband(this.#place) ?? this.spec.deadband;
  }

  get state(): PointState {
    return { value: this.#states.value(this.#place), flags: this.#states.flags[this.#place] ?? 0 };
  }
}

export interface DatabaseOptions {
  readonly specs: readonly PointSpec[];
  /** updates values; called before they are read */
  readonly refresh?: () => void;
  /** false: FREEZE_CLEAR freezes but does not reset the counter */
  readonly clearsCounters?: boolean;
}

export class PointDatabase implements Database {
  readonly refresh: () => void;
  readonly #clearsCounters: boolean;
  readonly #table: PointTable;
  readonly #states: LiveStates;
  readonly #listeners = new Set<(event: PointEvent) => void>();
  readonly #settingsListeners = new Set<() => void>();

  constructor({ specs, refresh = () => undefined, clearsCounters = false }: DatabaseOptions) {
    this.refresh = refresh;
    this.#clearsCounters = clearsCounters;
    this.#table = PointTable.of(specs);
    // a frozen counter has its RESTART flag until the first freeze
    this.#states = new LiveStates(this.#table);
    this.#setClasses();
  }

  list(kind: PointKind): PointList {
    return new LivePoints(this.#states, this.#table.parts[kind]);
  }

  listOfClass0(kind: PointKind): PointList {
    const { class0 } = this.#table.parts[kind];
    return class0 === null ? this.list(kind) : new SelectedPoints(this.list(kind), class0);
  }

  points(kind: PointKind): readonly DatabasePoint[] {
    const { start, specs } = this.#table.parts[kind];
    return specs.map((spec, at) => new PointView(this.#states, start + at, spec));
  }

  point(kind: PointKind, index: number): DatabasePoint | undefined {
    const { start, specs } = this.#table.parts[kind];
    const at = placeOf(specs, index);
    const spec = specs[at ?? -1];
    return at === undefined || spec === undefined ? undefined : new PointView(this.#states, start + at, spec);
  }

  update(kind: PointKind, index: number, { value, flags }: PointState, stamp: Stamp): void {
    this.set(kind, index, value, flags, stamp);
  }

  /** `update` without an object for each call. */
  set(kind: PointKind, index: number, value: PointValue, flags: number, stamp: Stamp): void {
    const states = this.#states;
    const { start, specs } = this.#table.parts[kind];
    const at = placeOf(specs, index);
    const spec = specs[at ?? -1];
    if (at === undefined || spec === undefined) return;
    const place = start + at;
    if (isSame(states.value(place), value) && states.flags[place] === flags) return;
    states.setValue(place, value);
    states.flags[place] = flags;
    if (states.classes[place] === 0) return;
    const deadband = states.deadband(place) ?? spec.deadband;
    const reportedFlags = states.reportedFlags[place];
    if (reportedFlags === flags && !exceeds(value, states.reported(place), deadband)) return;
    // the first value initialises the point and creates no event
    const isFirst = reportedFlags === quality.restart;
    states.setReported(place, value, flags);
    if (!isFirst) this.#emit(place, spec, stamp);
  }

  assignClass(kind: PointKind, index: number, to: PointClass): boolean {
    const place = this.#place(kind, index);
    if (place === undefined || (to !== 0 && this.point(kind, index)?.spec.mayHaveEvents !== true)) return false;
    const states = this.#states;
    states.classes[place] = to;
    states.setReported(place, states.value(place), states.flags[place] ?? 0);
    this.#settingsChanged();
    return true;
  }

  setDeadband(index: number, deadband: number): boolean {
    const place = this.#place('analogInput', index);
    if (place === undefined || !Number.isFinite(deadband) || deadband < 0) return false;
    this.#states.setDeadband(place, deadband);
    this.#settingsChanged();
    return true;
  }

  freeze(indexes: readonly number[] | 'all', clear: boolean, stamp: Stamp): boolean {
    const { specs } = this.#table.parts.counter;
    let isComplete = true;
    for (const index of indexes === 'all' ? specs.map((spec) => spec.index) : indexes) {
      const state = this.point('counter', index)?.state;
      if (state === undefined) {
        isComplete = false;
        continue;
      }
      this.#freezeOne(index, state, stamp);
      if (clear && this.#clearsCounters) this.update('counter', index, { value: 0, flags: state.flags }, stamp);
    }
    this.#settingsChanged();
    return isComplete;
  }

  onEvent(listener: (event: PointEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  onSettings(listener: () => void): () => void {
    this.#settingsListeners.add(listener);
    return () => {
      this.#settingsListeners.delete(listener);
    };
  }

  restoreFrozen(index: number, { value, flags }: PointState): void {
    const place = this.#place('frozenCounter', index);
    if (place === undefined) return;
    this.#states.setValue(place, value);
    this.#states.flags[place] = flags;
  }

  restart(): void {
    this.#setClasses();
    this.#states.forgetDeadbands();
    this.#settingsChanged();
  }

  /** Gives all points the classes of the configuration. */
  #setClasses(): void {
    for (const { start, specs } of Object.values(this.#table.parts))
      for (const [at, spec] of specs.entries()) this.#states.classes[start + at] = spec.class;
  }

  /** Place of a point in the table; undefined: there is none. */
  #place(kind: PointKind, index: number): number | undefined {
    const { start, specs } = this.#table.parts[kind];
    const at = placeOf(specs, index);
    return at === undefined ? undefined : start + at;
  }

  #settingsChanged(): void {
    for (const listener of this.#settingsListeners) listener();
  }

  #freezeOne(index: number, state: PointState, stamp: Stamp): void {
    const place = this.#place('frozenCounter', index);
    const spec = this.point('frozenCounter', index)?.spec;
    if (place === undefined || spec === undefined) return;
    this.restoreFrozen(index, state);
    // every freeze is an event, changed value or not
    this.#emit(place, spec, stamp);
  }

  #emit(place: number, spec: PointSpec, stamp: Stamp): void {
    const eventClass = this.#states.classes[place] as PointClass;
    if (eventClass === 0 || this.#listeners.size === 0) return;
    const state = { value: this.#states.value(place), flags: this.#states.flags[place] ?? 0 };
    const event: PointEvent = { spec, class: eventClass, state, stamp };
    for (const listener of this.#listeners) listener(event);
  }
}
