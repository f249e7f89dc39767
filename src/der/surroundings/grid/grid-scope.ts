/** The grid of a group of devices: all of them, or one with a local deviation. */
import { addSeconds, secondsBetween } from '../../../core/time/clock.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import type { GridEventArguments, GridNow, GridPatch, GridSource } from '../../../contract/environment.ts';
import { SimError } from '../../../core/errors.ts';
import type { Series } from '../series.ts';
import { planEvent } from './events.ts';
import { LayerStack, gridValuesAt, isOut, measuredQuantities, quantityAt, sameGrid } from './layers.ts';
import type { Segment, PlainLayers, Tracks, GridQuantity, GridValues, MeasuredQuantity } from './layers.ts';
import { profileRecording } from './profile.ts';
import { constant, ramp, recorded, valueAt } from './trajectory.ts';
import type { Motion, Recording } from './trajectory.ts';

export interface GridScopeOptions {
  readonly nominalHz: number;
  /** null: no grid profile */
  readonly gridProfile: Series | null;
  /** seconds in the time base of series */
  readonly seriesTime: (t: SimTime) => number;
}

type Values = { readonly [K in MeasuredQuantity]?: number };

/** The values that a patch names, by quantity. */
function namedValues(patch: GridPatch): Values {
  const all = patch.voltagePu;
  const values = {
    aPu: patch.voltageAPu ?? all,
    bPu: patch.voltageBPu ?? all,
    cPu: patch.voltageCPu ?? all,
    hz: patch.frequencyHz,
    angleDeg: patch.phaseAngleDeg,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The grid of a device as a function of time. */
export interface GridCourse {
  /** Grid values at `t`; the same object as long as nothing changes. */
  at(t: SimTime): GridValues;
  motion(t: SimTime): Motion;
  source(t: SimTime): GridSource;
  /** The next instant after `t` at which a value bends or jumps, or a layer ends; Infinity without one. */
  nextBreak(t: SimTime): number;
  /** Values in force, without volts and writers, which the callers add. */
  now(t: SimTime): Omit<GridNow, 'voltageLnV' | 'voltageLlV' | 'changedBy' | 'deviatingDevices'>;
}

/** Immutable except for its cache; a command creates a new one. */
export class GridScope implements GridCourse {
  readonly #site: GridScopeOptions;
  readonly #stack: LayerStack<GridQuantity>;
  /** last values of each segment, so that equal values are one object */
  readonly #valuesBySegment = new WeakMap<Segment<GridQuantity>, { values: GridValues; readonly still: boolean }>();
  #last: GridValues | null = null;

  private constructor(site: GridScopeOptions, stack: LayerStack<GridQuantity>) {
    this.#site = site;
    this.#stack = stack;
  }

  /** Nominal values, or those of the grid profile where there is one. */
  static initial(site: GridScopeOptions, start: SimTime): GridScope {
    const normal = { aPu: 1, bPu: 1, cPu: 1, hz: site.nominalHz, angleDeg: 0, outage: 0, island: 0 };
    const base = Object.fromEntries(Object.entries(normal).map(([name, value]) => [name, constant(value)]));
    const scope = new GridScope(site, new LayerStack(base as Record<GridQuantity, ReturnType<typeof constant>>));
    return site.gridProfile ? scope.patched({ source: 'csv' }, start) : scope;
  }

  /** A scope of an earlier process. */
  static of(site: GridScopeOptions, plain: PlainLayers<GridQuantity>): GridScope {
    const { gridProfile, seriesTime } = site;
    const recordingOf = (name: GridQuantity) => {
      const quantity = measuredQuantities.find((each) => each === name);
      return gridProfile && quantity ? profileRecording(gridProfile, quantity, seriesTime) : null;
    };
    return new GridScope(site, LayerStack.of(plain, recordingOf));
  }

  /** The layers as JSON, for a restart. */
  get plain(): PlainLayers<GridQuantity> {
    return this.#stack.plain;
  }

  at(t: SimTime): GridValues {
    const segment = this.#stack.segmentAt(t);
    const cached = this.#valuesBySegment.get(segment);
    if (cached?.still) return cached.values;
    const fresh = gridValuesAt(segment, t);
    const before = cached?.values ?? this.#last;
    const values = before && sameGrid(before, fresh) ? before : fresh;
    if (cached) cached.values = values;
    else this.#valuesBySegment.set(segment, { values, still: segment.motion === 'still' || isOut(segment, t) });
    this.#last = values;
    return values;
  }

  source(t: SimTime): GridSource {
    return this.#stack.segmentAt(t).recorded ? 'csv' : 'const';
  }

  motion(t: SimTime): Motion {
    const segment = this.#stack.segmentAt(t);
    return segment.motion !== 'still' && isOut(segment, t) ? 'still' : segment.motion;
  }

  nextBreak(t: SimTime): number {
    const segment = this.#stack.segmentAt(t);
    if (!segment.recorded) return segment.until;
    return measuredQuantities.reduce((next, name) => {
      const track = segment.tracks[name];
      return track?.kind === 'recorded' ? Math.min(next, track.recording.nextBreak(t)) : next;
    }, segment.until);
  }

  now(t: SimTime): ReturnType<GridCourse['now']> {
    const segment = this.#stack.segmentAt(t);
    const values = this.at(t);
    const timed = this.#stack.timedAt(t);
    const event = this.#stack.eventAt(t);
    return {
      voltageAPu: values.aPu,
      voltageBPu: values.bPu,
      voltageCPu: values.cPu,
      frequencyHz: values.hz,
      phaseAngleDeg: values.angleDeg,
      outage: isOut(segment, t),
      island: quantityAt(segment, 'island', t) === 1,
      source: this.source(t),
      profileLoaded: this.#site.gridProfile !== null,
      rampRemainingS: secondsBetween(t, this.#stack.rampEnd(t)),
      durationRemainingS: timed ? secondsBetween(t, timed.end) : null,
      event: event?.event
        ? { name: event.event.name, elapsedS: secondsBetween(event.start, t), remainingS: secondsBetween(t, event.end) }
        : null,
    };
  }

  /** @throws SimError COMMAND_CONFLICT for `csv` without a profile, or when too many changes are pending */
  patched(patch: GridPatch, instant: SimTime): GridScope {
    const values = namedValues(patch);
    const lasting = patch.durationS == null;
    // a permanent value ends the profile for all quantities: a partly followed recording would mislead
    const holds = patch.source === 'const' || (patch.source === undefined && lasting && Object.keys(values).length > 0);
    const stack =
      holds && lasting
        ? this.#stack.mapped((track) => (track.kind === 'recorded' ? constant(valueAt(track, instant)) : track))
        : this.#stack;
    const segment = stack.segmentAt(instant);
    const moved = (name: GridQuantity, to: number, rampS = 0) =>
      ramp(quantityAt(segment, name, instant), to, instant, rampS);
    const tracks: Tracks<GridQuantity> = {
      ...(patch.source === 'csv' && this.#followed(segment, instant)),
      ...(holds && !lasting && this.#held(segment, instant)),
      ...Object.fromEntries(
        Object.entries(values).map(([name, to]) => [name, moved(name as MeasuredQuantity, to, patch.rampS)]),
      ),
      ...(patch.outage !== undefined && { outage: moved('outage', Number(patch.outage)) }),
      ...(patch.island !== undefined && { island: moved('island', Number(patch.island)) }),
    };
    return new GridScope(
      this.#site,
      patch.durationS == null
        ? stack.withBase(tracks, instant)
        : stack.withOverlay(tracks, instant, addSeconds(instant, patch.durationS)),
    );
  }

  /**
   * A scope with a named event that starts at `instant` and replaces a running one.
   * @throws SimError COMMAND_BAD_VALUE that names the allowed values
   */
  withEvent(name: string, args: GridEventArguments, instant: SimTime): GridScope {
    const stack = this.#stack.withoutEvent(instant);
    const segment = stack.segmentAt(instant);
    const value = (quantity: MeasuredQuantity) => quantityAt(segment, quantity, instant);
    const plan = planEvent(name, args, { now: instant, nominalHz: this.#site.nominalHz, value });
    return new GridScope(
      this.#site,
      plan.durationS === null
        ? stack.withBase(plan.tracks, instant)
        : stack.withOverlay(plan.tracks, instant, addSeconds(instant, plan.durationS), { name }),
    );
  }

  /** Without the running event; the same scope if no event runs. */
  withoutEvent(instant: SimTime): GridScope {
    const stack = this.#stack.withoutEvent(instant);
    return stack === this.#stack ? this : new GridScope(this.#site, stack);
  }

  /** All quantities, along the profile; quantities without a column return to normal. */
  #followed(segment: Segment<GridQuantity>, instant: SimTime): Tracks<GridQuantity> {
    const { gridProfile, seriesTime, nominalHz } = this.#site;
    if (!gridProfile)
      throw new SimError('COMMAND_CONFLICT', 'there is no grid profile; start with --grid_profile FILE');
    const recordings = new Map<MeasuredQuantity, Recording | null>(
      measuredQuantities.map((name) => [name, profileRecording(gridProfile, name, seriesTime)]),
    );
    const normal = (name: MeasuredQuantity) => (name === 'hz' ? nominalHz : name === 'angleDeg' ? 0 : 1);
    return Object.fromEntries(
      measuredQuantities.map((name) => {
        const recording = recordings.get(name);
        const before = quantityAt(segment, name, instant);
        return [name, recording ? recorded(recording, before, instant) : ramp(before, normal(name), instant, 0)];
      }),
    );
  }

  /** The quantities that follow the profile, at their present values. */
  #held(segment: Segment<GridQuantity>, instant: SimTime): Tracks<GridQuantity> {
    return Object.fromEntries(
      measuredQuantities
        .filter((name) => segment.tracks[name]?.kind === 'recorded')
        .map((name) => [name, constant(quantityAt(segment, name, instant))]),
    );
  }
}
