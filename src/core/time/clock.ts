declare const simTimeBrand: unique symbol;

/**
 * Simulated date-time in integer microseconds since the Unix epoch; branded so that wall time cannot be passed by
 * mistake.
 */
export type SimTime = number & { readonly [simTimeBrand]: true };

export const microsPerSecond = 1e6;

/** Milliseconds since the epoch, as simulated time. */
export function simTimeFromMs(ms: number): SimTime {
  return Math.round(ms * 1000) as SimTime;
}

/** `t` moved by `seconds`, rounded to the microsecond. */
export function addSeconds(t: SimTime, seconds: number): SimTime {
  return (t + Math.round(seconds * microsPerSecond)) as SimTime;
}

/** Seconds from `from` to `to`. */
export function secondsBetween(from: SimTime, to: SimTime): number {
  return (to - from) / microsPerSecond;
}

/** The machine's clocks; tests inject their own. */
export interface WallClock {
  /** ms since the epoch */
  nowMs(): number;
  /** ms from an arbitrary start, never going back */
  monotonicMs(): number;
}

export const systemClock: WallClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

export const clockModes = ['wall_clock', 'accelerated', 'paused'] as const;
export type ClockMode = (typeof clockModes)[number];

export interface ClockSettings {
  readonly mode: ClockMode;
  /** simulated seconds per real second, kept while paused */
  readonly rate: number;
  /** IANA name */
  readonly timezone: string;
}

export interface ClockPatch {
  readonly mode?: ClockMode;
  readonly rate?: number;
  /** `HH:MM:SS` in the clock's time zone */
  readonly clockTime?: string;
  readonly timezone?: string;
  /** shift of the dates against the instants, in place of `clockTime`: that of a fleet */
  readonly shiftMs?: number;
}
