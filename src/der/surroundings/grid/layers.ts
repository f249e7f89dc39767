/**
 * Values of grid or weather in layers: a base and timed overlays, each with trajectories for some quantities. A
 * quantity comes from the topmost active overlay that has it, else from the base. A stack is immutable; a command
 * creates a new one.
 */
import type { SimTime } from '../../../core/time/clock.ts';
import { SimError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json-object.ts';
import { breaks, motionAt, plainTrajectory, restsFrom, trajectoryOf, valueAt } from './trajectory.ts';
import type { Motion, PlainTrajectory, Recording, Trajectory } from './trajectory.ts';

/** null: the quantity is not set */
type Track = Trajectory | null;
/** The quantities that a layer or a command sets; absent ones come from the layers below. */
export type Tracks<Q extends string> = { readonly [K in Q]?: Track };

/** The named event that an overlay belongs to. */
interface EventTag {
  readonly name: string;
}

interface Overlay<Q extends string> {
  readonly start: SimTime;
  readonly end: SimTime;
  readonly tracks: Tracks<Q>;
  /** null: a change with a duration */
  readonly event: EventTag | null;
}

type PlainTracks<Q extends string> = { readonly [K in Q]?: PlainTrajectory | null };

/** The layers of a stack as JSON, for a restart. */
export interface PlainLayers<Q extends string> {
  readonly base: PlainTracks<Q>;
  readonly overlays: readonly (Omit<Overlay<Q>, 'tracks'> & { readonly tracks: PlainTracks<Q> })[];
}

/** A span of time in which the same trajectories are in force and none of them has a break. */
export interface Segment<Q extends string> {
  readonly from: number;
  readonly until: number;
  readonly tracks: Readonly<Record<Q, Track>>;
  readonly motion: Motion;
  /** true: a series is among the trajectories */
  readonly recorded: boolean;
}

/** Maximum number of pending changes with a duration. */
const maxPending = 32;
/** Number of segments in the cache, for devices that run through the same tick one after another. */
const maxSegments = 16;

function entriesOf<Q extends string>(tracks: Tracks<Q>): [Q, Track][] {
  return Object.entries(tracks) as [Q, Track][];
}

/** The tracks of the quantities in `named`; with `among` false, of all other quantities. */
function pick<Q extends string>(tracks: Tracks<Q>, named: Tracks<Q>, among: boolean): Tracks<Q> {
  return Object.fromEntries(entriesOf(tracks).filter(([name]) => (named[name] !== undefined) === among)) as Tracks<Q>;
}

function isEmpty<Q extends string>(tracks: Tracks<Q>): boolean {
  return Object.keys(tracks).length === 0;
}

function plainTracks<Q extends string>(tracks: Tracks<Q>): PlainTracks<Q> {
  return Object.fromEntries(
    entriesOf(tracks).map(([name, track]) => [name, track && plainTrajectory(track)]),
  ) as PlainTracks<Q>;
}

const moves: readonly Motion[] = ['still', 'slow', 'fast'];
function faster(a: Motion, b: Motion): Motion {
  return moves.indexOf(b) > moves.indexOf(a) ? b : a;
}

export class LayerStack<Q extends string> {
  readonly #base: Readonly<Record<Q, Track>>;
  /** the topmost last */
  readonly #overlays: readonly Overlay<Q>[];
  readonly #segments: Segment<Q>[] = [];
  #current: Segment<Q> | null = null;

  constructor(base: Readonly<Record<Q, Track>>, overlays: readonly Overlay<Q>[] = []) {
    this.#base = base;
    this.#overlays = overlays;
  }

  /** @param recordingOf the series of a quantity; null: none */
  static of<Q extends string>(
    { base, overlays }: PlainLayers<Q>,
    recordingOf: (name: Q) => Recording | null,
  ): LayerStack<Q> {
    const tracksOf = (tracks: PlainTracks<Q>) => {
      if (!isJsonObject(tracks)) throw new SimError('INTERNAL', 'kept layers of grid or weather have no courses');
      return Object.fromEntries(
        (Object.entries(tracks) as [Q, PlainTrajectory | null][]).map(([name, track]) => [
          name,
          track && trajectoryOf(track, () => recordingOf(name)),
        ]),
      ) as Record<Q, Track>;
    };
    return new LayerStack(
      tracksOf(base),
      overlays.map((overlay) => ({ ...overlay, tracks: tracksOf(overlay.tracks) })),
    );
  }

  get plain(): PlainLayers<Q> {
    return {
      base: plainTracks<Q>(this.#base),
      overlays: this.#overlays.map((overlay) => ({ ...overlay, tracks: plainTracks(overlay.tracks) })),
    };
  }

  /** The segment at `t`; the same object for all of its span while it is cached. */
  segmentAt(t: SimTime): Segment<Q> {
    const current = this.#current;
    if (current && t >= current.from && t < current.until) return current;
    const cachedSegment = this.#segments.find((segment) => t >= segment.from && t < segment.until);
    const segment = cachedSegment ?? this.#resolve(t);
    if (!cachedSegment) {
      if (this.#segments.length === maxSegments) this.#segments.shift();
      this.#segments.push(segment);
    }
    this.#current = segment;
    return segment;
  }

  /** The topmost change with a duration that decides a quantity at `t`. */
  timedAt(t: SimTime): Overlay<Q> | null {
    return this.#topmost(t, (overlay) => overlay.event === null);
  }

  /** The running event at `t`, even if other layers cover it. */
  eventAt(t: SimTime): Overlay<Q> | null {
    return this.#overlays.findLast((overlay) => overlay.event !== null && inForce(overlay, t)) ?? null;
  }

  /** Latest end of the ramps in force at `t`, without events; `t`: no ramp. */
  rampEnd(t: SimTime): SimTime {
    let end = t;
    for (const name of this.#names()) {
      const owner = this.#owner(name, t);
      const track = owner ? owner.tracks[name] : this.#base[name];
      if (track?.kind !== 'path' || owner?.event) continue;
      const rest = restsFrom(track);
      if (rest > end) end = rest;
    }
    return end;
  }

  /** A permanent change: the last command wins, so that all overlays lose these quantities. */
  withBase(changes: Tracks<Q>, instant: SimTime): LayerStack<Q> {
    return new LayerStack(
      { ...this.#base, ...changes },
      this.#living(instant).flatMap((overlay) => reduced(overlay, changes, instant)),
    );
  }

  /**
   * A change until `end`, on top.
   * @throws SimError COMMAND_CONFLICT when too many changes with a duration wait for their end
   */
  withOverlay(tracks: Tracks<Q>, instant: SimTime, end: SimTime, event: EventTag | null = null): LayerStack<Q> {
    if (isEmpty(tracks)) return this;
    // a change that ends below a longer one never shows again: repeated requests must not accumulate
    const below = this.#living(instant).flatMap((overlay) =>
      overlay.event === null && event === null && overlay.end <= end ? reduced(overlay, tracks, instant) : [overlay],
    );
    if (
      event === null &&
      below.filter((overlay) => overlay.event === null && overlay.end > instant).length >= maxPending
    ) {
      throw new SimError('COMMAND_CONFLICT', `${maxPending} changes with a duration are already waiting for their end`);
    }
    return new LayerStack(this.#base, [...below, { start: instant, end, tracks, event }]);
  }

  /** Without the running event; the same stack if no event runs. */
  withoutEvent(instant: SimTime): LayerStack<Q> {
    if (!this.eventAt(instant)) return this;
    return new LayerStack(
      this.#base,
      this.#living(instant).flatMap((overlay) =>
        overlay.event ? reduced(overlay, overlay.tracks, instant) : [overlay],
      ),
    );
  }

  /** Replaces every trajectory, in the base and in all overlays. */
  mapped(change: (track: Trajectory, name: Q) => Trajectory): LayerStack<Q> {
    const all = <T extends Tracks<Q>>(tracks: T): T =>
      Object.fromEntries(entriesOf<Q>(tracks).map(([name, track]) => [name, track && change(track, name)])) as T;
    return new LayerStack(
      all(this.#base),
      this.#overlays.map((overlay) => ({ ...overlay, tracks: all(overlay.tracks) })),
    );
  }

  #names(): readonly Q[] {
    return Object.keys(this.#base) as Q[];
  }

  #living(instant: SimTime): readonly Overlay<Q>[] {
    return this.#overlays.filter((overlay) => overlay.end > instant);
  }

  #topmost(t: SimTime, fits: (overlay: Overlay<Q>) => boolean): Overlay<Q> | null {
    const owners = new Set(this.#names().map((name) => this.#owner(name, t)));
    return this.#overlays.findLast((overlay) => fits(overlay) && owners.has(overlay)) ?? null;
  }

  /** The overlay that decides a quantity; undefined: the base does. */
  #owner(name: Q, t: SimTime): Overlay<Q> | undefined {
    return this.#overlays.findLast((overlay) => inForce(overlay, t) && overlay.tracks[name] !== undefined);
  }

  #resolve(t: SimTime): Segment<Q> {
    let [from, until, motion]: [number, number, Motion] = [-Infinity, Infinity, 'still'];
    const split = (at: number) => {
      if (at <= t) from = Math.max(from, at);
      else until = Math.min(until, at);
    };
    const tracks = Object.fromEntries(
      this.#names().map((name) => {
        const owner = this.#owner(name, t);
        const track = (owner ? owner.tracks[name] : this.#base[name]) ?? null;
        if (owner) split(owner.end);
        if (track) {
          breaks(track).forEach(split);
          motion = faster(motion, motionAt(track, t));
        }
        return [name, track];
      }),
    ) as Record<Q, Track>;
    for (const { start, end } of this.#overlays) {
      split(start);
      // a covered overlay ends without an effect, but its end still separates two segments
      if (end <= t) split(end);
    }
    const recorded = this.#names().some((name) => tracks[name]?.kind === 'recorded');
    return { from, until, tracks, motion, recorded };
  }
}

function inForce({ start, end }: { readonly start: SimTime; readonly end: SimTime }, t: SimTime): boolean {
  return t >= start && t < end;
}

/** An overlay without some quantities from `instant` on; devices behind that instant still see these quantities. */
function reduced<Q extends string>(overlay: Overlay<Q>, removed: Tracks<Q>, instant: SimTime): Overlay<Q>[] {
  const [lost, kept] = [pick(overlay.tracks, removed, true), pick(overlay.tracks, removed, false)];
  return [
    ...(isEmpty(lost) || overlay.start >= instant ? [] : [{ ...overlay, tracks: lost, end: instant }]),
    ...(isEmpty(kept) ? [] : [{ ...overlay, tracks: kept }]),
  ];
}

/** Phase voltages in per unit, frequency and phase angle, before the feeder of a device or at its terminals. */
export interface GridValues {
  readonly aPu: number;
  readonly bPu: number;
  readonly cPu: number;
  readonly hz: number;
  readonly angleDeg: number;
  /** the mains are disconnected, and local load keeps voltage and frequency */
  readonly island: boolean;
}

const voltageQuantities = ['aPu', 'bPu', 'cPu'] as const;
export const measuredQuantities = [...voltageQuantities, 'hz', 'angleDeg'] as const;
/** A quantity that has a value in physical units. */
export type MeasuredQuantity = (typeof measuredQuantities)[number];
/** `outage` and `island` are 1 while they hold, else 0. */
export type GridQuantity = MeasuredQuantity | 'outage' | 'island';

/** The grid during an outage. */
export const deadGrid: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0, island: false };

/** Set value of one quantity, regardless of an outage. */
export function quantityAt({ tracks }: Segment<GridQuantity>, name: GridQuantity, t: SimTime): number {
  const track = tracks[name];
  return track ? valueAt(track, t) : 0;
}

export function isOut(segment: Segment<GridQuantity>, t: SimTime): boolean {
  return quantityAt(segment, 'outage', t) === 1;
}

/** Values before the feeder at `t`: all zero during an outage. */
export function gridValuesAt(segment: Segment<GridQuantity>, t: SimTime): GridValues {
  if (isOut(segment, t)) return deadGrid;
  const value = (name: GridQuantity) => quantityAt(segment, name, t);
  return {
    aPu: value('aPu'),
    bPu: value('bPu'),
    cPu: value('cPu'),
    hz: value('hz'),
    angleDeg: value('angleDeg'),
    island: value('island') === 1,
  };
}

export function sameGrid(a: GridValues, b: GridValues): boolean {
  return (
    a.aPu === b.aPu &&
    a.bPu === b.bPu &&
    a.cPu === b.cPu &&
    a.hz === b.hz &&
    a.angleDeg === b.angleDeg &&
    a.island === b.island
  );
}
