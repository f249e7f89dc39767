/** The grid of a device that is attached to a grid outside of the simulator: from value to value, without layers. */
import type { GridSource } from '../../../contract/environment.ts';
import { secondsBetween } from '../../../core/time/clock.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import { deadGrid, sameGrid } from './layers.ts';
import type { GridValues } from './layers.ts';
import type { GridCourse } from './grid-scope.ts';
import { rampTo } from './outside-ramp.ts';
import type { Approach, OutsideRamp, OutsideValues } from './outside-ramp.ts';
import type { Motion } from './trajectory.ts';

/** True if the device has no grid, also where no phase has a voltage. */
const isOut = ({ outage, aPu, bPu, cPu }: OutsideValues) => outage || (aPu === 0 && bPu === 0 && cPu === 0);

/** The grid under set values. */
export const outsideGrid = (values: OutsideValues): GridValues => (isOut(values) ? deadGrid : values);

/** Values from an instant on. */
interface Span {
  readonly since: SimTime;
  /** at the end of the ramp, if there is one */
  readonly values: GridValues;
  /** null: the values stand still */
  readonly ramp: OutsideRamp | null;
  /** the values before `since`; null: all devices have passed them, or the device was not attached then */
  earlier: Span | null;
}

export class OutsideGrid implements GridCourse {
  /** the grid before the attachment */
  readonly #before: GridCourse;
  #set: OutsideValues;
  #latest: Span;

  constructor(values: OutsideValues, t: SimTime, before: GridCourse) {
    this.#before = before;
    this.#set = values;
    this.#latest = { since: t, values: outsideGrid(values), ramp: null, earlier: null };
  }

  get values(): OutsideValues {
    return this.#set;
  }

  /**
   * Changes the values. The object stays the same one when nothing changes, which settled devices need.
   * @param values at the end of the ramp
   */
  set(values: OutsideValues, approach: Approach): void {
    const { from } = approach;
    const former = this.#rampAt(from);
    const ramp = rampTo(values, approach, former?.at(from) ?? this.#set, former);
    this.#set = values;
    const present = outsideGrid(values);
    const { since, values: latest } = this.#latest;
    if (from >= since && ramp === null && former === null && sameGrid(present, latest)) return;
    this.#latest = { since: from, values: present, ramp, earlier: this.#spanAt((from - 1) as SimTime) };
  }

  at(t: SimTime): GridValues {
    const span = this.#spanAt(t);
    if (span === null) return this.#before.at(t);
    return span.ramp === null || t >= span.ramp.end ? span.values : outsideGrid(span.ramp.at(t));
  }

  motion(t: SimTime): Motion {
    if (this.#spanAt(t) === null) return this.#before.motion(t);
    return this.#rampAt(t)?.isHidden === false ? 'fast' : 'still';
  }

  /** True on a ramp, also of values that an outage hides. */
  isMoving(t: SimTime): boolean {
    return this.#rampAt(t) !== null;
  }

  source(t: SimTime): GridSource {
    return this.#spanAt(t) === null ? this.#before.source(t) : 'const';
  }

  nextBreak(t: SimTime): number {
    let next = Infinity;
    for (let span: Span | null = this.#latest; span !== null; span = span.earlier) {
      if (span.since <= t) return Math.min(next, span.ramp?.nextBreak(t) ?? Infinity);
      next = span.since;
    }
    return Math.min(next, this.#before.nextBreak(t));
  }

  /** The ramp under way; null: the values stand still. */
  #rampAt(t: SimTime): OutsideRamp | null {
    const ramp = this.#spanAt(t)?.ramp ?? null;
    return ramp !== null && t < ramp.end ? ramp : null;
  }

  /** null: before the attachment */
  #spanAt(t: SimTime): Span | null {
    let span: Span | null = this.#latest;
    while (span !== null && t < span.since) span = span.earlier;
    return span;
  }

  /** Frees the values before those in force at `t`, which the device has reached. */
  forgetBefore(t: SimTime): void {
    for (let span: Span | null = this.#latest; span !== null; span = span.earlier)
      if (span.since <= t) span.earlier = null;
  }

  now(t: SimTime): ReturnType<GridCourse['now']> {
    const ramp = this.#rampAt(t);
    const values = ramp?.at(t) ?? this.#set;
    const { aPu, bPu, cPu, hz, angleDeg, island } = values;
    const outage = isOut(values);
    const [voltageAPu, voltageBPu, voltageCPu] = outage ? [0, 0, 0] : [aPu, bPu, cPu];
    return {
      voltageAPu,
      voltageBPu,
      voltageCPu,
      frequencyHz: outage ? 0 : hz,
      phaseAngleDeg: outage ? 0 : angleDeg,
      outage,
      island: !outage && island,
      source: 'const',
      profileLoaded: false,
      rampRemainingS: ramp === null ? 0 : secondsBetween(t, ramp.end),
      durationRemainingS: null,
      event: null,
    };
  }
}

/** The grid of a device that is detached in the middle of a tick, which it has not reached. */
export class EndedOutsideGrid implements GridCourse {
  readonly until: SimTime;
  readonly #outside: OutsideGrid;
  /** the grid after the detachment, as it is then */
  readonly #inside: () => GridCourse;

  constructor(outside: OutsideGrid, until: SimTime, inside: () => GridCourse) {
    this.#outside = outside;
    this.until = until;
    this.#inside = inside;
  }

  at(t: SimTime): GridValues {
    return this.#courseAt(t).at(t);
  }

  motion(t: SimTime): Motion {
    return this.#courseAt(t).motion(t);
  }

  source(t: SimTime): GridSource {
    return this.#courseAt(t).source(t);
  }

  nextBreak(t: SimTime): number {
    const next = this.#courseAt(t).nextBreak(t);
    return t < this.until ? Math.min(next, this.until) : next;
  }

  now(t: SimTime): ReturnType<GridCourse['now']> {
    return this.#courseAt(t).now(t);
  }

  #courseAt(t: SimTime): GridCourse {
    return t < this.until ? this.#outside : this.#inside();
  }
}
