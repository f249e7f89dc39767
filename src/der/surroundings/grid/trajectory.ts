/** The course of one quantity of the surroundings over simulated time. */
import { SimError } from '../../../core/errors.ts';
import { addSeconds, microsPerSecond } from '../../../core/time/clock.ts';
import type { SimTime } from '../../../core/time/clock.ts';

/** A corner of a path; two at the same instant are a step, where the later value counts. */
export interface PathPoint {
  readonly t: SimTime;
  readonly value: number;
}

/** Straight lines from point to point; the first value holds before them, the last one after them. */
interface Path {
  readonly kind: 'path';
  readonly points: readonly [PathPoint, ...PathPoint[]];
}

/** Sinusoid that starts at its centre with a rise; the centre before and after. */
interface Wave {
  readonly kind: 'wave';
  readonly centre: number;
  readonly amplitude: number;
  readonly hz: number;
  readonly start: SimTime;
  readonly end: SimTime;
}

/** A recorded series as part of a trajectory. */
export interface Recording {
  at(t: SimTime): number;
  /** the next instant after `t` at which the values may bend; Infinity without one */
  nextBreak(t: SimTime): number;
}

/** A recorded series from `start` on; a constant before. */
interface Recorded {
  readonly kind: 'recorded';
  readonly recording: Recording;
  readonly before: number;
  readonly start: SimTime;
}

export type Trajectory = Path | Wave | Recorded;
/** A trajectory as JSON: the recording of a series stays outside. */
export type PlainTrajectory = Path | Wave | Omit<Recorded, 'recording'>;
export type Motion = 'still' | 'slow' | 'fast';

export function constant(value: number): Trajectory {
  // before any date, those before 1970 included
  return { kind: 'path', points: [{ t: -Infinity as SimTime, value }] };
}

/** Linear from `from` at `start` to `to`, `rampS` seconds later; 0 s is a step. */
export function ramp(from: number, to: number, start: SimTime, rampS: number): Trajectory {
  return {
    kind: 'path',
    points: [
      { t: start, value: from },
      { t: addSeconds(start, rampS), value: to },
    ],
  };
}

/** A path from offsets in seconds after `start`, in rising order; at least one. */
export function pathFrom(start: SimTime, [first, ...others]: readonly [Corner, ...Corner[]]): Trajectory {
  const point = ([seconds, value]: Corner): PathPoint => ({ t: addSeconds(start, seconds), value });
  return { kind: 'path', points: [point(first), ...others.map(point)] };
}
/** Seconds after the start, and the value there. */
export type Corner = readonly [seconds: number, value: number];

export function wave(centre: number, amplitude: number, hz: number, start: SimTime, durationS: number): Trajectory {
  return { kind: 'wave', centre, amplitude, hz, start, end: addSeconds(start, durationS) };
}

export function recorded(recording: Recording, before: number, start: SimTime): Trajectory {
  return { kind: 'recorded', recording, before, start };
}

export function plainTrajectory(trajectory: Trajectory): PlainTrajectory {
  if (trajectory.kind !== 'recorded') return trajectory;
  const { kind, before, start } = trajectory;
  return { kind, before, start };
}

const areNumbers = (...values: readonly unknown[]) =>
  values.every((value) => typeof value === 'number' && !Number.isNaN(value));

/** Beyond every quantity of grid and weather, in its unit. */
const maxMagnitude = 1e6;
const areValues = (...values: readonly unknown[]) =>
  values.every((value) => typeof value === 'number' && Math.abs(value) <= maxMagnitude);

/** True for a kept trajectory that has a value at each instant. */
function isWhole(plain: PlainTrajectory): boolean {
  if (plain.kind === 'path')
    return plain.points.length > 0 && plain.points.every(({ t, value }) => areNumbers(t) && areValues(value));
  if (plain.kind === 'recorded') return areNumbers(plain.start) && areValues(plain.before);
  return areNumbers(plain.start, plain.end) && areValues(plain.centre, plain.amplitude, plain.hz);
}

/**
 * @param recording the recorded series; null: it is no longer there, and the value before it holds
 * @throws SimError INTERNAL for a trajectory without a value
 */
export function trajectoryOf(plain: PlainTrajectory, recording: () => Recording | null): Trajectory {
  if (!isWhole(plain)) throw new SimError('INTERNAL', 'a kept course of grid or weather has no values');
  if (plain.kind !== 'recorded') return plain;
  const present = recording();
  return present ? recorded(present, plain.before, plain.start) : constant(plain.before);
}

/** Index of the last point at or before `t`; -1 before the first. */
function pointBefore({ points }: Path, t: SimTime): number {
  let at = -1;
  while (at + 1 < points.length && (points[at + 1]?.t ?? Infinity) <= t) at += 1;
  return at;
}

function pathValue(path: Path, t: SimTime): number {
  const at = pointBefore(path, t);
  const from = path.points[Math.max(at, 0)] ?? path.points[0];
  const to = at < 0 ? undefined : path.points[at + 1];
  return to === undefined ? from.value : from.value + (to.value - from.value) * ((t - from.t) / (to.t - from.t));
}

export function valueAt(trajectory: Trajectory, t: SimTime): number {
  switch (trajectory.kind) {
    case 'path':
      return pathValue(trajectory, t);
    case 'wave': {
      const { centre, amplitude, hz, start, end } = trajectory;
      if (t <= start || t >= end) return centre;
      return centre + amplitude * Math.sin(2 * Math.PI * hz * ((t - start) / microsPerSecond));
    }
    case 'recorded':
      return t < trajectory.start ? trajectory.before : trajectory.recording.at(t);
  }
}

/** The instants at which one line, wave or series ends and the next one starts. */
export function breaks(trajectory: Trajectory): readonly SimTime[] {
  switch (trajectory.kind) {
    case 'path':
      return trajectory.points.map((point) => point.t);
    case 'wave':
      return [trajectory.start, trajectory.end];
    case 'recorded':
      return [trajectory.start];
  }
}

/** How the value moves from `t` to the next break. */
export function motionAt(trajectory: Trajectory, t: SimTime): Motion {
  switch (trajectory.kind) {
    case 'path': {
      const at = pointBefore(trajectory, t);
      const [from, to] = [trajectory.points[at], trajectory.points[at + 1]];
      return from !== undefined && to !== undefined && from.value !== to.value ? 'fast' : 'still';
    }
    case 'wave':
      return t >= trajectory.start && t < trajectory.end && trajectory.amplitude !== 0 ? 'fast' : 'still';
    case 'recorded':
      return t >= trajectory.start ? 'slow' : 'still';
  }
}

/** Instant from which the value no longer moves; for a series, which has no end, its start. */
export function restsFrom(trajectory: Trajectory): SimTime {
  switch (trajectory.kind) {
    case 'path':
      return trajectory.points.at(-1)?.t ?? trajectory.points[0].t;
    case 'wave':
      return trajectory.end;
    case 'recorded':
      return trajectory.start;
  }
}
