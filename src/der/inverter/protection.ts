/**
 * Protection: trip timers, relays, momentary cessation and the enter-service window. All of them use the extremes over
 * the phases.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { InverterParameters, ControlFunction } from '../../contract/device.ts';
import type { RideThroughMode } from '../../contract/grid-trace.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { extremePu } from './ac.ts';
import type { Wiring } from './ac.ts';
import type { Ratings } from './ratings.ts';
import { measurablePct } from '../../contract/abnormal-conditions.ts';
import { Cessation, rideThroughMode, exceededKey, tripKinds, TripTimers } from './trip.ts';
import type { Settings } from './settings.ts';
import type { TripInput, TripKind } from './trip.ts';

/**
 * Protection besides voltage and frequency limits: anti-islanding (704.AntiIslEna, IEEE 1547-2018 8.1), and two
 * optional relays outside the standard: rate of change of frequency, and vector shift.
 */
const relayKinds = ['island', 'rocof', 'vectorShift'] as const;
type RelayKind = (typeof relayKinds)[number];

export interface RelayInput {
  readonly hz: number;
  readonly angleDeg: number;
  readonly island: boolean;
  /** true: the device feeds the grid and can measure it */
  readonly watching: boolean;
  readonly antiIslanding: boolean;
}

/** Time constant of the measured rate of change, s. */
const rocofWindowS = 0.1;
const negligibleHz = 1e-4;

export class Relays {
  readonly #parameters: InverterParameters;
  #islandDue: SimTime | null = null;
  /** frequency after the low-pass filter */
  #meanHz: number | null = null;
  /** frequency at the last update */
  #lastHz: number | null = null;
  /** instant of the last update */
  #at: SimTime | null = null;
  #angleDeg: number | null = null;
  /** true while a rate of change is measured */
  moving = false;

  constructor(parameters: InverterParameters) {
    this.#parameters = parameters;
  }

  /** Instant at which the present island is detected; null: no island. */
  get islandDue(): SimTime | null {
    return this.#islandDue;
  }

  nextDue(t: SimTime): number {
    return this.#islandDue !== null && this.#islandDue > t ? this.#islandDue : Infinity;
  }

  /** Sets the angle before the first update. */
  begin(angleDeg: number): void {
    this.#angleDeg = angleDeg;
  }

  clear(): void {
    this.#islandDue = null;
    this.#meanHz = null;
    this.#lastHz = null;
    this.#angleDeg = null;
    this.moving = false;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        islandDue: this.#islandDue,
        meanHz: this.#meanHz,
        lastHz: this.#lastHz,
        at: this.#at,
        angleDeg: this.#angleDeg,
        moving: this.moving,
      }),
      (saved) => {
        ({
          islandDue: this.#islandDue,
          meanHz: this.#meanHz,
          lastHz: this.#lastHz,
          at: this.#at,
          angleDeg: this.#angleDeg,
          moving: this.moving,
        } = saved);
      },
    );
  }

  /** Updates all relays at `t`. @returns the relay that trips now, or null */
  update(t: SimTime, input: RelayInput): RelayKind | null {
    if (!input.watching) {
      this.clear();
      return null;
    }
    if (!input.island || !input.antiIslanding) this.#islandDue = null;
    else this.#islandDue ??= addSeconds(t, this.#parameters.antiIslandingS);
    const rate = this.#rocofHzS(t, input.hz);
    const shift = this.#angleShiftDeg(input.angleDeg);
    const { rocofRelayHzS, vectorShiftRelayDeg } = this.#parameters;
    if (this.#islandDue !== null && this.#islandDue <= t) return 'island';
    if (rocofRelayHzS !== null && rate > rocofRelayHzS) return 'rocof';
    return vectorShiftRelayDeg !== null && shift >= vectorShiftRelayDeg ? 'vectorShift' : null;
  }

  /** Rate of change of frequency over a short window; updates the low-pass and `moving`. */
  #rocofHzS(t: SimTime, hz: number): number {
    if (this.#parameters.rocofRelayHzS === null) return 0;
    const passedS = this.#at === null ? 0 : Math.max(0, secondsBetween(this.#at, t));
    // the last frequency was held until now: a change after a long pause is a step, not a slow ramp
    const heldHz = this.#lastHz ?? hz;
    this.#meanHz = heldHz + ((this.#meanHz ?? hz) - heldHz) * Math.exp(-passedS / rocofWindowS);
    this.#at = t;
    this.#lastHz = hz;
    const gap = Math.abs(hz - this.#meanHz);
    this.moving = gap > negligibleHz;
    // sampling a ramp in steps adds a lag of half a step
    return gap / (rocofWindowS + Math.min(passedS, rocofWindowS) / 2);
  }

  /** Change of the phase angle since the last update. */
  #angleShiftDeg(angleDeg: number): number {
    const before = this.#angleDeg ?? angleDeg;
    this.#angleDeg = angleDeg;
    const turn = Math.abs(angleDeg - before) % 360;
    return Math.min(turn, 360 - turn);
  }
}

export type TripCause = TripKind | RelayKind;

export interface ProtectionRatings {
  readonly wiring: Wiring;
  readonly nominalHz: number;
  readonly vNomRtgV: number;
  readonly abnormal: Ratings['abnormal'];
  readonly parameters: InverterParameters;
}

interface ProtectionState {
  readonly trip: TripCause | null;
  readonly inWindow: boolean;
  /** the cause of the last trip is still present */
  readonly causePersists: boolean;
  /** cessation has begun or ended */
  readonly cessationChanged: boolean;
}

export class Protection {
  readonly cessation = new Cessation();
  readonly #ratings: ProtectionRatings;
  readonly #trips = new TripTimers((kind, t) => {
    this.onThreshold?.(kind, t);
  });
  readonly #relays: Relays;
  #deadband: Deadband = emptyDeadband;
  #deadbandSettings: Settings | null = null;
  /** called when the first trip threshold of a kind is exceeded; null: by none */
  onThreshold: ((kind: TripKind, t: SimTime) => void) | null = null;

  constructor(ratings: ProtectionRatings) {
    this.#ratings = ratings;
    this.#relays = new Relays(ratings.parameters);
  }

  /** Kinds of trip curve with an exceeded threshold. */
  get pendingTrips(): readonly TripKind[] {
    return this.#trips.pending();
  }

  /** Causes that keep a device from service at `t`. @param lastTrip cause of the trip that lasts; null: none lasts */
  standingTrips(t: SimTime, lastTrip: TripCause | null): readonly TripCause[] {
    const standing: TripCause[] = this.#trips.elapsed(t);
    // a trip stays while any threshold of its kind is exceeded, one of a longer time included
    return lastTrip === null || standing.includes(lastTrip) ? standing : [...standing, lastTrip];
  }

  /** True while a relay measures, which needs short sub-steps. */
  get measuring(): boolean {
    return this.#relays.moving;
  }

  /** True if no timer runs and nothing acts: no decision can change until the grid does. */
  get noTimers(): boolean {
    return !this.#trips.counting && !this.cessation.pending && !this.#relays.moving && this.#relays.islandDue === null;
  }

  /** Instant of the trip if nothing changes; null: no timer runs. */
  tripDue(kind: TripKind | 'island'): SimTime | null {
    return kind === 'island' ? this.#relays.islandDue : this.#trips.due(kind);
  }

  /** True if no trip or cessation threshold is exceeded under this grid and no relay can act. */
  insideDeadband(grid: GridValues, settings: Settings): boolean {
    return !grid.island && !this.#hasRelay && this.#insideLimits(grid, settings);
  }

  /** True if protection without timers has nothing to do under this grid. @param present the grid now */
  rests(grid: GridValues, present: GridValues | null, settings: Settings): boolean {
    // both relays act on a change
    const isRelayed = this.#hasRelay && !(grid.hz === present?.hz && grid.angleDeg === present.angleDeg);
    return (
      !grid.island &&
      !isRelayed &&
      this.#insideLimits(grid, settings) &&
      this.rideThrough(grid, settings.vNomV) === 'continuous_operation'
    );
  }

  /** True if the grid is inside the window of enter service. */
  mayEnter(grid: GridValues, settings: Settings): boolean {
    return inWindow(settings, this.measured(grid, settings.vNomV));
  }

  get #hasRelay(): boolean {
    const { rocofRelayHzS, vectorShiftRelayDeg } = this.#ratings.parameters;
    return rocofRelayHzS !== null || vectorShiftRelayDeg !== null;
  }

  #insideLimits(grid: GridValues, settings: Settings): boolean {
    const { wiring, vNomRtgV } = this.#ratings;
    if (this.#deadbandSettings !== settings) {
      this.#deadbandSettings = settings;
      this.#deadband = deadbandOf(settings, settings.vNomV / vNomRtgV / 100);
    }
    const { lowPu, highPu, lowHz, highHz } = this.#deadband;
    return grid.hz > lowHz && grid.hz < highHz && phasesWithin(wiring, grid, lowPu, highPu);
  }

  /** The next instant after `t` at which a timer ends. */
  nextDue(t: SimTime): number {
    return Math.min(
      this.#trips.nextDue(t),
      this.#relays.nextDue(t),
      this.cessation.nextDue(t, this.#ratings.parameters),
    );
  }

  /** Sets the grid at the start of the device. */
  begin(grid: GridValues): void {
    this.#relays.begin(grid.angleDeg);
  }

  clear(): void {
    this.#trips.clear();
    this.#relays.clear();
    this.cessation.clear();
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      trips: this.#trips.kept(),
      relays: this.#relays.kept(),
      cessation: this.cessation.kept(),
    });
  }

  /** Lowest and highest phase voltage in percent of 702.VNom, the reference of every voltage threshold; frequency. */
  measured(grid: GridValues, vNomV: number): TripInput {
    const [low, high] = extremePu(this.#ratings.wiring, grid);
    const factor = (100 * this.#ratings.vNomRtgV) / vNomV;
    // 1.1 x 100 is above 110 in doubles: a voltage on a threshold must not exceed it
    return {
      lowestVoltagePct: Math.round(low * factor * 1e9) / 1e9,
      highestVoltagePct: Math.round(high * factor * 1e9) / 1e9,
      hz: grid.hz,
    };
  }

  /** A text that names the exceeded thresholds: while it stays the same no timer starts or ends. */
  thresholdState(grid: GridValues, settings: Settings): string {
    const measured = this.measured(grid, settings.vNomV);
    const window = inWindow(settings, measured) ? 'in' : 'out';
    if (this.insideDeadband(grid, settings)) return window;
    return `${window} ${exceededKey(measured, settings.trips)} ${exceededKey(measured, settings.cessations)}`;
  }

  /** Ride-through region by category; momentary cessation follows the curves in the registers. */
  rideThrough(grid: GridValues, vNomV: number): RideThroughMode {
    if (this.cessation.kind !== null) return 'momentary_cessation';
    return rideThroughMode(this.#ratings.abnormal, this.measured(grid, vNomV), this.#ratings.nominalHz);
  }

  /** Updates timers, relays and cessation at `t`. @param energized true: the device may exchange power */
  update(
    t: SimTime,
    grid: GridValues,
    settings: Settings,
    energized: boolean,
    lastTrip: TripCause | null,
  ): ProtectionState {
    const measured = this.measured(grid, settings.vNomV);
    const limit = this.#trips.update(t, measured, settings.trips);
    const relay = this.#relays.update(t, {
      hz: grid.hz,
      angleDeg: grid.angleDeg,
      island: grid.island,
      antiIslanding: settings.antiIslanding,
      watching: energized && measured.highestVoltagePct > measurablePct,
    });
    if (!energized) this.cessation.clear();
    return {
      trip: limit ?? relay,
      inWindow: inWindow(settings, measured),
      causePersists: this.#causePersists(lastTrip, grid),
      cessationChanged: energized && this.cessation.update(t, measured, settings.cessations, this.#ratings.parameters),
    };
  }

  #causePersists(cause: TripCause | null, grid: GridValues): boolean {
    if (cause === null) return false;
    const relay = relayKinds.find((kind) => kind === cause);
    // of the relays only anti-islanding has a lasting cause
    if (relay) return relay === 'island' && grid.island;
    return tripKinds.some((kind) => kind === cause && this.#trips.pending().includes(kind));
  }
}

function inWindow({ enterService: e }: Settings, { lowestVoltagePct, highestVoltagePct, hz }: TripInput): boolean {
  return lowestVoltagePct >= e.vLowPct && highestVoltagePct <= e.vHighPct && hz >= e.hzLow && hz <= e.hzHigh;
}

/** Range of voltage and frequency without any trip or cessation threshold. */
interface Deadband {
  readonly lowPu: number;
  readonly highPu: number;
  readonly lowHz: number;
  readonly highHz: number;
}

const emptyDeadband: Deadband = { lowPu: Infinity, highPu: -Infinity, lowHz: Infinity, highHz: -Infinity };

function deadbandOf({ trips, cessations }: Settings, puPerPct: number): Deadband {
  const limits = (kind: TripKind) =>
    [trips[kind], cessations[kind]].flatMap(({ enabled, points }) => (enabled ? points.map(({ limit }) => limit) : []));
  return {
    lowPu: Math.max(0, ...limits('lowVoltage')) * puPerPct,
    highPu: Math.min(Infinity, ...limits('highVoltage')) * puPerPct,
    lowHz: Math.max(0, ...limits('lowFrequency')),
    highHz: Math.min(Infinity, ...limits('highFrequency')),
  };
}

function phasesWithin(wiring: Wiring, { aPu, bPu, cPu }: GridValues, lowPu: number, highPu: number): boolean {
  if (!(aPu > lowPu && aPu < highPu)) return false;
  if (wiring === 'single') return true;
  if (!(bPu > lowPu && bPu < highPu)) return false;
  return wiring === 'split' || (cPu > lowPu && cPu < highPu);
}

/** The function behind a trip or a cessation; the optional relays have none. */
export const causeFunctions: Partial<Readonly<Record<TripCause, ControlFunction>>> = {
  lowVoltage: 'lv_trip',
  highVoltage: 'hv_trip',
  lowFrequency: 'lf_trip',
  highFrequency: 'hf_trip',
  island: 'anti_islanding',
};
