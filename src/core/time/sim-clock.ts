import { addSeconds, microsPerSecond, simTimeFromMs } from './clock.ts';
import type { ClockPatch, ClockSettings, SimTime, WallClock } from './clock.ts';
import { SimError } from '../errors.ts';
import { keptRecord } from '../kept.ts';
import { isDateMs, isInstant } from '../kept-dates.ts';
import type { Kept } from '../kept.ts';
import { zoneOffsetMs } from './zone.ts';

const minRate = 0.01;
const maxRate = 3600;
const msPerDay = 86_400_000;
/** Zones change their offsets at bounds of quarters of an hour. */
const msPerQuarter = 900_000;
const endless = (): number => Infinity;

const modes: readonly string[] = ['paused', 'accelerated', 'wall_clock'];
interface KeptClock extends ClockSettings {
  readonly now: SimTime;
  readonly shiftMs: number;
  readonly anchor: SimTime;
  readonly elapsedMs: number;
  readonly horizon: SimTime;
  readonly shownTime: SimTime;
  readonly intervalS: number;
  readonly changed: boolean;
  readonly rateSince: SimTime;
  readonly rateBefore: number;
}

/** @throws SimError INTERNAL for settings and instants that no clock has; RangeError for an unknown zone */
function checkKept(kept: KeptClock): void {
  const { mode, rate, timezone, now, shiftMs, elapsedMs, intervalS, rateBefore } = kept;
  const haveInstants = [now, kept.anchor, kept.horizon, kept.shownTime, kept.rateSince].every(isInstant);
  const haveTimes = [shiftMs, elapsedMs, intervalS].every(isDateMs);
  const isRate = (value: number) => value >= minRate && value <= maxRate;
  if (!modes.includes(mode) || !isRate(rate) || !isRate(rateBefore) || !haveInstants || !haveTimes)
    throw new SimError('INTERNAL', `no clock has the mode ${mode}, the rate ${rate} and the instant ${now}`);
  zoneOffsetMs(timezone, 0);
}

/** Local time since the last midnight, ms; also before 1970. @param localMs ms since the epoch on local clocks */
function sinceMidnight(localMs: number): number {
  return localMs - Math.floor(localMs / msPerDay) * msPerDay;
}

/** The instant (ms since the epoch) of a local date and time of day. */
export function localDateMs(date: string, time: string, timezone: string): number {
  const asUtc = Date.parse(`${date}T${time}Z`);
  // the offset at the guess may differ from the offset at the answer across a change of summer time
  const guess = asUtc - zoneOffsetMs(timezone, asUtc);
  return asUtc - zoneOffsetMs(timezone, guess);
}

/**
 * The simulator's clock. `SimTime` is the device's own monotonic time, which only ticks advance; the date shown
 * is that time plus a shift, so that setting the clock moves no timer.
 */
export class SimClock {
  readonly #wall: WallClock;
  #settings: ClockSettings;
  /** end of the last tick, which is the time of the devices */
  #now: SimTime;
  #shiftMs = 0;
  /** instant from which the time runs on between ticks, since `#anchorMs` of the monotonic clock */
  #anchor: SimTime;
  #anchorMs: number;
  #horizon: SimTime;
  #shownTime: SimTime;
  /** expected real seconds between ticks; 0 before the first tick */
  #intervalS = 0;
  /** rate or pause has changed since the last tick */
  #changed = false;
  /** instant of the last change of rate */
  #rateSince: SimTime;
  /** rate before that change */
  #rateBefore = 1;
  /** end of the tick of real time under way, or of the last tick */
  #tickEnd: SimTime;
  /** the instant of the act that runs inside a tick; null: none */
  #actingAt: SimTime | null = null;
  /** the time shown does not run on with real time */
  #stands = false;
  /** the instant that the time shown does not pass before a tick has reached it; Infinity: none */
  #nextEnd: () => number = endless;

  /** @param shiftMs shift of the dates against the instants, where a fleet that runs already has one */
  constructor(wall: WallClock, settings: ClockSettings, start: SimTime, shiftMs = 0) {
    this.#wall = wall;
    this.#shiftMs = shiftMs;
    this.#settings = settings;
    this.#now = start;
    this.#tickEnd = start;
    this.#anchor = start;
    this.#horizon = start;
    this.#shownTime = start;
    this.#rateSince = start;
    this.#anchorMs = wall.monotonicMs();
    if (settings.mode === 'wall_clock') this.#followWall();
  }

  get settings(): ClockSettings {
    return this.#settings;
  }

  /**
   * State that a restart keeps. The time between two processes does not count for the devices, whose timers and models
   * stand still meanwhile; a clock that follows the wall shows the present date again.
   */
  kept(): Kept {
    return keptRecord<KeptClock>(
      () => ({
        mode: this.#settings.mode,
        rate: this.#settings.rate,
        timezone: this.#settings.timezone,
        now: this.#now,
        shiftMs: this.#shiftMs,
        anchor: this.#anchor,
        elapsedMs: this.paused ? 0 : this.#wall.monotonicMs() - this.#anchorMs,
        horizon: this.#horizon,
        shownTime: this.#shownTime,
        intervalS: this.#intervalS,
        changed: this.#changed,
        rateSince: this.#rateSince,
        rateBefore: this.#rateBefore,
      }),
      (kept) => {
        checkKept(kept);
        const { mode, rate, timezone, elapsedMs, ...saved } = kept;
        this.#settings = { mode, rate, timezone };
        this.#offset = null;
        this.#now = saved.now;
        this.#tickEnd = saved.now;
        this.#shiftMs = saved.shiftMs;
        this.#anchor = saved.anchor;
        this.#anchorMs = this.#wall.monotonicMs() - elapsedMs;
        this.#horizon = saved.horizon;
        this.#shownTime = saved.shownTime;
        this.#intervalS = saved.intervalS;
        this.#changed = saved.changed;
        this.#rateSince = saved.rateSince;
        this.#rateBefore = saved.rateBefore;
        if (mode === 'wall_clock') this.#resumeOnWall();
      },
    );
  }

  get paused(): boolean {
    return this.#settings.mode === 'paused';
  }

  /** Simulated seconds per real second at present; 1 in `wall_clock`. */
  get rate(): number {
    return this.#settings.mode === 'wall_clock' ? 1 : this.#settings.rate;
  }

  wallMs(): number {
    return this.#wall.nowMs();
  }

  /** End of the last tick. */
  get tickTime(): SimTime {
    return this.#now;
  }

  /**
   * The present instant, never going back. Between two ticks it runs on with real time, so that a timer started by
   * a request in mid-tick gets its full length; it does not pass the expected end of the next tick. Only inside `actAt`
   * it is the instant of the act, which may be earlier than the time shown before.
   */
  sim(): SimTime {
    return this.#actingAt ?? this.#present();
  }

  #present(): SimTime {
    const nextEnd = this.#nextEnd();
    const flowingTime = Math.min(this.#flowing(), this.#horizon, nextEnd > this.#now ? nextEnd : Infinity) as SimTime;
    if (flowingTime > this.#shownTime) this.#shownTime = flowingTime;
    return this.#shownTime;
  }

  /**
   * Real ms that the simulation has taken from an instant to the present, at its last two rates; 0: a future instant.
   */
  ageMs(t: SimTime): number {
    const present = this.sim();
    const since = present - Math.max(t, this.#rateSince);
    const before = Math.min(present, this.#rateSince) - t;
    return (Math.max(0, since) / this.rate + Math.max(0, before) / this.#rateBefore) / 1000;
  }

  /**
   * The instant at which a request takes effect: the present, or while paused the end of the last tick. A clock paused
   * between two ticks shows a later time, and a request must not wait until steps have passed that time. During a tick
   * of real time it is not before the end of that tick: some devices have done a part of it, and a change counts for
   * all from one instant on. During a step by hand it is the begin of the step, as for what happens within it.
   */
  acting(): SimTime {
    if (this.#actingAt !== null) return this.#actingAt;
    return Math.max(this.paused ? this.#now : this.#present(), this.#tickEnd) as SimTime;
  }

  /** Runs `act` with `t` as the present instant: one inside the tick under way that all devices have reached. */
  actAt(t: SimTime, act: () => void): void {
    this.#actingAt = t;
    try {
      act();
    } finally {
      this.#actingAt = null;
    }
  }

  /**
   * Keeps the time shown from passing the instant of `nextEnd` before a tick has reached it.
   * @param nextEnd null: no limit
   */
  waitFor(nextEnd: (() => number) | null): void {
    this.#nextEnd = nextEnd ?? endless;
  }

  /** Stops the time at the end of the last tick until `goOn`, so that events meanwhile have that very instant. */
  stand(): void {
    this.#stands = true;
  }

  goOn(): void {
    if (!this.#stands) return;
    this.#stands = false;
    this.#anchorMs = this.#wall.monotonicMs();
  }

  /**
   * End of a tick that is due now: `seconds` after the last tick, or, if the rate or the pause has changed since, the
   * time that the clock has reached.
   * @param seconds simulated, of one interval or of several that the tick makes up for
   */
  tickEnd(seconds: number): SimTime {
    if (!this.#changed) return addSeconds(this.#now, seconds);
    // at most `seconds` after the change: a machine that was suspended must not simulate hours in one tick
    return Math.max(Math.min(this.#flowing(), addSeconds(this.#anchor, seconds)), this.#now + 1) as SimTime;
  }

  /** Begins a tick of real time that is to end at `end`; one that is cut short ends earlier. */
  beginTick(end: SimTime): void {
    this.#tickEnd = end;
  }

  /** Ends a tick at `t`. @param nextSeconds expected length of the next one, simulated */
  advanceTo(t: SimTime, nextSeconds: number): void {
    this.#now = t;
    this.#tickEnd = t;
    // after a change of rate the tick may end before the time shown: the clock then waits at that time
    this.#anchor = Math.max(t, this.#shownTime) as SimTime;
    this.#anchorMs = this.#wall.monotonicMs();
    this.#horizon = Math.max(addSeconds(t, nextSeconds), this.#anchor) as SimTime;
    this.#intervalS = nextSeconds / this.rate;
    this.#changed = false;
    if (this.#settings.mode === 'wall_clock') this.#followWall();
  }

  #flowing(): SimTime {
    if (this.paused || this.#stands) return this.#anchor;
    const elapsed = (this.#wall.monotonicMs() - this.#anchorMs) * 1000 * this.rate;
    return (this.#anchor + Math.max(0, Math.round(elapsed))) as SimTime;
  }

  /** Simulated date of an instant, ms since the epoch. */
  dateMs(t: SimTime): number {
    return t / 1000 + this.#shiftMs;
  }

  /** The instant of a simulated date, to the microsecond. @param dateMs ms since the epoch */
  simAt(dateMs: number): SimTime {
    return simTimeFromMs(dateMs - this.#shiftMs);
  }

  /**
   * Date of a tick that ends at `t` now, ms since the epoch. In `wall_clock` it is the wall time: the shift dates from
   * the end of the last tick, and after a late tick `t` is ahead of the wall time by the delay.
   */
  stampMs(t: SimTime): number {
    return this.#settings.mode === 'wall_clock' ? this.#wall.nowMs() : this.dateMs(t);
  }

  /** `HH:MM:SS` of an instant in the clock's time zone. */
  timeOfDay(t: SimTime): string {
    return this.timeOfDate(this.dateMs(t));
  }

  /** `HH:MM:SS` in the clock's time zone. @param dateMs simulated date, ms since the epoch */
  timeOfDate(dateMs: number): string {
    const seconds = Math.floor(sinceMidnight(dateMs + this.#offsetMs(dateMs)) / 1000);
    const two = (n: number) => (n < 10 ? `0${n}` : `${n}`);
    return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  }

  /** Local midnight before an instant, ms since the epoch. */
  midnightMs(t: SimTime): number {
    const dateMs = this.dateMs(t);
    return dateMs - sinceMidnight(dateMs + this.#offsetMs(dateMs));
  }

  /** Number of the local day at an instant; it rises by 1 from day to day. */
  dayAt(t: SimTime): number {
    const dateMs = this.dateMs(t);
    return Math.floor((dateMs + this.#offsetMs(dateMs)) / msPerDay);
  }

  /**
   * The first instant of the local day after that of `t`: midnight, or the end of the gap where summer time begins at
   * midnight.
   */
  nextDayAt(t: SimTime): SimTime {
    const day = this.dayAt(t);
    const date = new Date((day + 1) * msPerDay).toISOString().slice(0, 10);
    const isNext = (ms: number) => this.dayAt(this.simAt(ms)) > day;
    let ms = localDateMs(date, '00:00:00', this.#settings.timezone);
    while (isNext(ms - msPerQuarter)) ms -= msPerQuarter;
    while (this.dayAt((this.simAt(ms) + 1) as SimTime) <= day) ms += msPerQuarter;
    const at = this.simAt(ms);
    // dates of instants are rounded
    return isNext(ms) ? at : ((at + 1) as SimTime);
  }

  /**
   * Changes mode, rate, shown time or zone; whole or not at all.
   * @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT
   */
  set(patch: ClockPatch): void {
    const mode = patch.mode ?? this.#settings.mode;
    const rate = patch.rate ?? this.#settings.rate;
    const timezone = patch.timezone ?? this.#settings.timezone;
    if (!(rate >= minRate && rate <= maxRate))
      throw new SimError('COMMAND_BAD_VALUE', `rate must be ${minRate}..${maxRate}`);
    if (mode === 'wall_clock' && patch.rate !== undefined && patch.rate !== 1) {
      throw new SimError('COMMAND_CONFLICT', 'wall_clock runs at rate 1; use accelerated for another rate');
    }
    if (mode === 'wall_clock' && patch.clockTime !== undefined) {
      throw new SimError('COMMAND_CONFLICT', 'clock_time cannot be set in wall_clock');
    }
    const zoneChanged = timezone !== this.#settings.timezone;
    try {
      // the lookup takes as long as a whole tick
      if (zoneChanged) zoneOffsetMs(timezone, 0);
    } catch {
      throw new SimError('COMMAND_BAD_VALUE', `${timezone} is not a known time zone`);
    }
    const present = this.#present();
    const rateBefore = this.rate;
    this.#settings = { mode, rate: mode === 'wall_clock' ? 1 : rate, timezone };
    if (this.rate !== rateBefore) {
      this.#rateSince = present;
      this.#rateBefore = rateBefore;
    }
    if (zoneChanged) this.#offset = null;
    // the time shown so far is kept: a change of rate or pause makes no jump in either direction
    this.#anchor = present;
    this.#anchorMs = this.#wall.monotonicMs();
    this.#horizon = addSeconds(present, this.rate * this.#intervalS);
    this.#changed = mode !== 'paused';
    if (mode === 'wall_clock') this.#followWall();
    else if (patch.shiftMs !== undefined) {
      this.#shiftMs = patch.shiftMs;
      this.#offset = null;
    }
    if (patch.clockTime !== undefined) this.#showTime(patch.clockTime);
  }

  /** Shift of the dates against the instants. */
  get shiftMs(): number {
    return this.#shiftMs;
  }

  #offset: { untilMs: number; fromMs: number; ms: number } | null = null;

  /** Zone offset, looked up once per quarter of an hour of simulated date: changes fall on such bounds. */
  #offsetMs(dateMs: number): number {
    if (!this.#offset || dateMs < this.#offset.fromMs || dateMs >= this.#offset.untilMs) {
      const fromMs = Math.floor(dateMs / msPerQuarter) * msPerQuarter;
      this.#offset = { fromMs, untilMs: fromMs + msPerQuarter, ms: zoneOffsetMs(this.#settings.timezone, fromMs) };
    }
    return this.#offset.ms;
  }

  /** The present date belongs to the instant that the time has reached. */
  #resumeOnWall(): void {
    this.#anchor = this.#shownTime;
    this.#anchorMs = this.#wall.monotonicMs();
    this.#followWall();
  }

  /** Wall time corresponds to the present instant of the clock, not to the end of the last tick. */
  #followWall(): void {
    this.#shiftMs = this.#wall.nowMs() - this.#anchor / 1000;
  }

  #showTime(time: string): void {
    const dateMs = this.dateMs(this.#now);
    const localDate = new Date(dateMs + this.#offsetMs(dateMs)).toISOString().slice(0, 10);
    this.#shiftMs = localDateMs(localDate, time, this.#settings.timezone) - this.#now / 1000;
    this.#offset = null;
  }
}

/** Simulated seconds of one tick. */
export function tickSeconds(rate: number, intervalS: number): number {
  return Math.round(rate * intervalS * microsPerSecond) / microsPerSecond;
}
