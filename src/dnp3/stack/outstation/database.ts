/** The present values of an outstation, and the events that their changes make. IEEE 1815 11.3 */
import type { ObjectRange } from '../application/types.ts';
import { groupsOf, pointKinds, quality } from '../points.ts';
import type { PointClass, PointKind, PointSpec, PointState, PointValue, Stamp } from '../points.ts';
import type { Database, DatabasePoint, PointEvent } from './types.ts';

/** One point with its present value; changed in place. */
class LivePoint implements DatabasePoint {
  readonly spec: PointSpec;
  class: PointClass;
  deadband: number;
  value: PointValue = 0;
  flags: number;
  /** the value of the last event, or of the first update or class assignment if later */
  reported: PointValue = 0;
  reportedFlags: number;

  constructor(spec: PointSpec) {
    this.spec = spec;
    this.class = spec.class;
    this.deadband = spec.deadband;
    this.flags = quality.restart;
    this.reportedFlags = this.flags;
  }

  get state(): PointState {
    return this;
  }
}

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

/** Points in order of their indexes, which are found by halving: a map for each outstation would take more memory. */
interface PointsOfKind {
  readonly points: LivePoint[];
  readonly ofClass0: LivePoint[];
}
type ByKind = Readonly<Record<PointKind, PointsOfKind>>;

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
  readonly #kinds: ByKind;
  readonly #listeners = new Set<(event: PointEvent) => void>();
  readonly #settingsListeners = new Set<() => void>();

  constructor({ specs, refresh = () => undefined, clearsCounters = false }: DatabaseOptions) {
    this.refresh = refresh;
    this.#clearsCounters = clearsCounters;
    const kinds = Object.fromEntries(pointKinds.map((kind) => [kind, { points: [], ofClass0: [] }]));
    this.#kinds = kinds as unknown as ByKind;
    for (const spec of specs.toSorted((a, b) => a.index - b.index)) {
      // a frozen counter has its RESTART flag until the first freeze
      this.#add(new LivePoint(spec));
    }
  }

  points(kind: PointKind): readonly DatabasePoint[] {
    return this.#kinds[kind].points;
  }

  pointsOfClass0(kind: PointKind): readonly DatabasePoint[] {
    return this.#kinds[kind].ofClass0;
  }

  point(kind: PointKind, index: number): DatabasePoint | undefined {
    return this.#point(kind, index);
  }

  #point(kind: PointKind, index: number): LivePoint | undefined {
    const { points } = this.#kinds[kind];
    const point = points[firstFrom(points, index)];
    return point?.spec.index === index ? point : undefined;
  }

  update(kind: PointKind, index: number, { value, flags }: PointState, stamp: Stamp): void {
    this.set(kind, index, value, flags, stamp);
  }

  /** `update` without an object for each call. */
  set(kind: PointKind, index: number, value: PointValue, flags: number, stamp: Stamp): void {
    const point = this.#point(kind, index);
    if (point === undefined || (isSame(point.value, value) && point.flags === flags)) return;
    point.value = value;
    point.flags = flags;
    if (point.class === 0) return;
    if (point.reportedFlags === flags && !exceeds(value, point.reported, point.deadband)) return;
    // the first value initialises the point and creates no event
    const isFirst = point.reportedFlags === quality.restart;
    point.reported = value;
    point.reportedFlags = flags;
    if (!isFirst) this.#emit(point, stamp);
  }

  assignClass(kind: PointKind, index: number, to: PointClass): boolean {
    const point = this.#point(kind, index);
    if (point === undefined || (to !== 0 && !point.spec.mayHaveEvents)) return false;
    point.class = to;
    point.reported = point.value;
    point.reportedFlags = point.flags;
    this.#settingsChanged();
    return true;
  }

  setDeadband(index: number, deadband: number): boolean {
    const point = this.#point('analogInput', index);
    if (point === undefined || !Number.isFinite(deadband) || deadband < 0) return false;
    point.deadband = deadband;
    this.#settingsChanged();
    return true;
  }

  freeze(indexes: readonly number[] | 'all', clear: boolean, stamp: Stamp): boolean {
    const counters =
      indexes === 'all' ? this.#kinds.counter.points : indexes.map((index) => this.#point('counter', index));
    for (const point of counters) {
      if (point === undefined) continue;
      this.#freezeOne(point, stamp);
      if (clear && this.#clearsCounters)
        this.update('counter', point.spec.index, { value: 0, flags: point.flags }, stamp);
    }
    this.#settingsChanged();
    return !counters.includes(undefined);
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
    const frozen = this.#point('frozenCounter', index);
    if (frozen === undefined) return;
    frozen.value = value;
    frozen.flags = flags;
  }

  restart(): void {
    for (const { points } of Object.values(this.#kinds))
      for (const point of points) {
        point.class = point.spec.class;
        point.deadband = point.spec.deadband;
      }
    this.#settingsChanged();
  }

  #settingsChanged(): void {
    for (const listener of this.#settingsListeners) listener();
  }

  #freezeOne({ spec: { index }, value, flags }: LivePoint, stamp: Stamp): void {
    const frozen = this.#point('frozenCounter', index);
    if (frozen === undefined) return;
    frozen.value = value;
    frozen.flags = flags;
    // every freeze is an event, changed value or not
    if (frozen.class !== 0) this.#emit(frozen, stamp);
  }

  #add(point: LivePoint): void {
    const { points, ofClass0 } = this.#kinds[point.spec.kind];
    points.push(point);
    if (point.spec.inClass0) ofClass0.push(point);
  }

  #emit({ spec, class: of, value, flags }: LivePoint, stamp: Stamp): void {
    if (of === 0 || this.#listeners.size === 0) return;
    const event: PointEvent = { spec, class: of, state: { value, flags }, stamp };
    for (const listener of this.#listeners) listener(event);
  }
}

/** Place of the first point whose index is not below `index`. */
export function firstFrom(points: readonly DatabasePoint[], index: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.spec.index ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The existing points that a header names; null: a count, which names none.
 * @returns `missing`: true if others are named too, or all of no points
 */
export function pointsNamed(
  points: readonly DatabasePoint[],
  range: ObjectRange,
): { readonly existing: readonly DatabasePoint[]; readonly missing: boolean } | null {
  switch (range.kind) {
    case 'all':
      return { existing: points, missing: points.length === 0 };
    case 'span': {
      const spanPoints = points.slice(firstFrom(points, range.start), firstFrom(points, range.stop + 1));
      return { existing: spanPoints, missing: spanPoints.length <= range.stop - range.start };
    }
    case 'indexes': {
      const indexedPoints = range.indexes.flatMap((index) => {
        const point = points[firstFrom(points, index)];
        return point?.spec.index === index ? [point] : [];
      });
      return { existing: indexedPoints, missing: indexedPoints.length < range.indexes.length };
    }
    default:
      return null;
  }
}

/** The kind whose static values are in a group; undefined: none. */
export function kindOfStaticGroup(group: number): PointKind | undefined {
  return pointKinds.find((kind) => groupsOf[kind].static === group);
}
