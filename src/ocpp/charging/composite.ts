/**
 * Composite schedules: the limit of all profiles together over a future time, in one unit.
 *
 * Watts and amperes are converted with the nominal voltage, so that a schedule reads back as it was set: W = A x phases
 * x voltage on AC, where the phases are `numberPhases`, at most those of the connector (2 counts as 1 and shows as 1);
 * W = A x voltage on DC.
 *
 * A connector shows the lower one of its own limit and of that of the station. Connector 0 is the grid connection: it
 * shows the lower one of the limit of the station and of the sum of the connectors, where a connector without a limit
 * counts with its rated power and the sum with at most that of the station. An idle connector counts too, since a
 * vehicle may arrive: the result is a maximum. Amperes of connector 0 are those of the phase with the highest sum,
 * since a limit of the station in amperes holds on each phase; those of an AC connector count as they were set. Watts,
 * of a connector, of the station or its rating, become the amperes of a single-phase vehicle, which draws all of them
 * from one phase whatever `numberPhases` permits: L1 of a three-phase connector. Its other phases carry a third each,
 * the current of a three-phase vehicle; so do those of a DC connector. No connector counts with more than its rated
 * current, nor with power factors.
 */
import { combined, limitAt, nextChange, openLimit } from './limits.ts';
import type { ChargingState, Limit, Nominal, OperationMode, RateUnit } from './model.ts';

/** Ratings of a connector for schedules. */
interface CompositeRating extends Nominal {
  readonly connectorId: number;
  readonly maxPowerW: number;
  readonly maxCurrentA: number;
  /** phases of the supply that it may load: 1 to 3 = L1 to L3; empty for DC, whose converter loads all of them */
  readonly supplyPhases: readonly number[];
}

/** Ratings of the grid connection and its connectors. */
interface GridRating {
  readonly station: Nominal & Pick<CompositeRating, 'maxPowerW'>;
  readonly connectors: readonly CompositeRating[];
}

export interface CompositeQuery extends GridRating {
  /** 0: the grid connection */
  readonly connectorId: number;
  readonly startMs: number;
  /** above 0 */
  readonly durationS: number;
  readonly unit: RateUnit;
  /** The schedule ends before any further period. */
  readonly maxPeriods: number;
}

export interface CompositePeriod {
  /** seconds from the start of the schedule; the first is 0 */
  readonly startS: number;
  /** null: no profile limits */
  readonly limit: number | null;
  readonly numberPhases: 1 | 3 | null;
  /** 2.1: of a connector, signed, + into the vehicle */
  readonly setpoint?: number;
  /** 2.1: never positive */
  readonly dischargeLimit?: number;
  /** 2.1: of a connector */
  readonly mode?: OperationMode;
}

export interface CompositeSchedule {
  readonly startMs: number;
  /** as requested, unless `maxPeriods` or `maxEvaluations` shortens it */
  readonly durationS: number;
  readonly unit: RateUnit;
  /** never empty; neighbours differ */
  readonly periods: readonly CompositePeriod[];
}

/** Maximum of instants times connectors times profiles: bounds the work for a duration of years. */
const maxEvaluations = 100_000;
/** Maximum of a shown limit, W or A. */
const maxShown = 1e9;

/** Watts of one ampere per phase. */
export function wattsPerAmpere({ type, phases, nominalVoltageV }: Nominal, numberPhases: number | null): number {
  return type === 'dc' ? nominalVoltageV : nominalVoltageV * Math.min(phases, numberPhases ?? phases);
}

/** Rounds off the errors of conversions, which would split equal periods. */
const clean = (value: number) => Math.round(value * 1e6) / 1e6;

/** A limit in one unit; null: none. */
export function inUnit({ limitW, limitA, numberPhases }: Limit, unit: RateUnit, nominal: Nominal): number | null {
  const perA = wattsPerAmpere(nominal, numberPhases);
  const [direct, converted] =
    unit === 'W' ? [limitW, limitA === null ? null : limitA * perA] : [limitA, limitW === null ? null : limitW / perA];
  const lowest = Math.min(direct ?? Infinity, converted ?? Infinity);
  return direct === null && converted === null ? null : clean(Math.min(lowest, maxShown));
}

/** The limit of the station for a connector; in watts for DC, since AC amperes are not those of a DC connector. */
function ofStation(limit: Limit, connector: Nominal, station: Nominal): Limit {
  if (connector.type === station.type) return limit;
  return { ...limit, limitW: inUnit(limit, 'W', station), limitA: null };
}

type UnitLimit = Omit<CompositePeriod, 'startS'>;

function limitInUnit(limit: Limit, unit: RateUnit, nominal: Nominal): UnitLimit {
  const value = inUnit(limit, unit, nominal);
  const setpoint = signedInUnit(limit.setpointW, limit.setpointA, limit, unit, nominal);
  const dischargeLimit = signedInUnit(limit.dischargeLimitW, limit.dischargeLimitA, limit, unit, nominal);
  return {
    limit: value,
    numberPhases: nominal.type === 'dc' ? null : limit.numberPhases,
    ...(setpoint !== null && { setpoint }),
    ...(dischargeLimit !== null && { dischargeLimit }),
    ...(limit.mode != null && { mode: limit.mode }),
  };
}

/** A set-point or discharge limit in one unit; of two values the one nearer to 0. */
function signedInUnit(
  watts: number | null | undefined,
  amperes: number | null | undefined,
  { numberPhases }: Limit,
  unit: RateUnit,
  nominal: Nominal,
): number | null {
  const perA = wattsPerAmpere(nominal, numberPhases);
  const values = [
    ...(watts == null ? [] : [unit === 'W' ? watts : watts / perA]),
    ...(amperes == null ? [] : [unit === 'W' ? amperes * perA : amperes]),
  ].sort((a, b) => Math.abs(a) - Math.abs(b));
  return values[0] === undefined ? null : clean(Math.max(-maxShown, Math.min(maxShown, values[0])));
}

function isSame(a: UnitLimit, b: UnitLimit): boolean {
  return (
    a.limit === b.limit &&
    a.numberPhases === b.numberPhases &&
    a.setpoint === b.setpoint &&
    a.dischargeLimit === b.dischargeLimit &&
    a.mode === b.mode
  );
}

function atConnector(state: ChargingState, rating: CompositeRating, query: CompositeQuery, atMs: number): UnitLimit {
  const stationLimit = ofStation(limitAt(state, 0, atMs), rating, query.station);
  return limitInUnit(combined(limitAt(state, rating.connectorId, atMs), stationLimit), query.unit, rating);
}

/** The current with which a connector loads a phase of the supply. */
interface PhaseLoad {
  readonly maxA: number;
  /** minimum power of the connector for an ampere on this phase, W */
  readonly wattsPerA: number;
}

const allPhases: readonly number[] = [1, 2, 3];

/** @returns null: it does not load this phase. @param isTogether true: the current of all phases counts on one */
function loadOn(phase: number, limit: Limit, rating: CompositeRating, isTogether: boolean): PhaseLoad | null {
  const isFirst = isTogether || phase === rating.supplyPhases[0];
  if (!isFirst && (limit.numberPhases === 1 || !rating.supplyPhases.includes(phase))) return null;
  // a single-phase vehicle draws all watts from the first phase, whatever the limit permits
  const wattsPerA = wattsPerAmpere(rating, isFirst ? 1 : null);
  const limitA = Math.min(limit.limitA ?? Infinity, (limit.limitW ?? Infinity) / wattsPerA);
  return { maxA: Math.min(rating.maxCurrentA, limitA), wattsPerA };
}

/** Load of a phase by a connector with a converter, which loads all phases evenly. */
function converterLoad(limit: Limit, rating: CompositeRating, wattsPerA: number): PhaseLoad {
  const powerW = Math.min(rating.maxPowerW, inUnit(limit, 'W', rating) ?? Infinity);
  return { maxA: powerW / wattsPerA, wattsPerA };
}

/** Maximum current of all loads on a phase within a power: the loads with the fewest watts per ampere count first. */
function currentWithinA(loads: readonly PhaseLoad[], powerW: number): number {
  let leftW = powerW;
  let sumA = 0;
  for (const { maxA, wattsPerA } of [...loads].sort((a, b) => a.wattsPerA - b.wattsPerA)) {
    const currentA = Math.min(maxA, leftW / wattsPerA);
    sumA += currentA;
    leftW = Math.max(0, leftW - currentA * wattsPerA);
  }
  return sumA;
}

/**
 * Maximum current on a phase of the grid connection. The limit of the station applies with its watts and phases, not
 * with its amperes.
 * @param limits limits of the connectors, in their order; default: no limits
 */
export function maxPhaseCurrentA(
  { connectors, station }: GridRating,
  limits: readonly Limit[] = [],
  { limitW, numberPhases }: Pick<Limit, 'limitW' | 'numberPhases'> = openLimit,
): number {
  // a station that may use one of three phases counts the current of all phases together
  const isTogether = station.phases === 1 || numberPhases === 1;
  const permitted = { ...openLimit, numberPhases };
  const currentOn = (phase: number) => {
    const loads = connectors.flatMap((rating, i) => {
      const limit = combined(limits[i] ?? openLimit, permitted);
      return rating.type === station.type
        ? (loadOn(phase, limit, rating, isTogether) ?? [])
        : converterLoad(limit, rating, wattsPerAmpere(station, numberPhases));
    });
    return currentWithinA(loads, Math.min(station.maxPowerW, limitW ?? Infinity));
  };
  return clean(Math.max(...allPhases.map(currentOn)));
}

/** The limit of the station in amperes; its watts become the current that the connectors can draw from one phase. */
function stationInAmperes(limit: Limit, query: CompositeQuery): UnitLimit {
  const { limitW, dischargeLimitW, numberPhases } = limit;
  const currentOf = (powerW: number) => maxPhaseCurrentA(query, [], { limitW: powerW, numberPhases });
  const ofWatts: Limit = {
    ...openLimit,
    limitA: limitW === null ? null : currentOf(limitW),
    dischargeLimitA: dischargeLimitW == null ? null : 0 - currentOf(-dischargeLimitW),
  };
  return limitInUnit(combined({ ...limit, limitW: null, dischargeLimitW: null }, ofWatts), 'A', query.station);
}

function connectorsInUnit(limits: readonly Limit[], ofStation: Limit, query: CompositeQuery): number {
  const { connectors, station, unit } = query;
  if (unit === 'A') return maxPhaseCurrentA(query, limits, { limitW: null, numberPhases: ofStation.numberPhases });
  const limitsW = connectors.map((rating, i) => inUnit(limits[i] ?? openLimit, 'W', rating));
  const sumW = connectors.reduce((sum, { maxPowerW }, i) => sum + Math.min(maxPowerW, limitsW[i] ?? maxPowerW), 0);
  return clean(Math.min(sumW, station.maxPowerW));
}

function atGrid(state: ChargingState, query: CompositeQuery, atMs: number): UnitLimit {
  const { connectors, station, unit } = query;
  const limits = connectors.map((rating) => limitAt(state, rating.connectorId, atMs));
  const ofStation = limitAt(state, 0, atMs);
  const ofProfiles = unit === 'A' ? stationInAmperes(ofStation, query) : limitInUnit(ofStation, unit, station);
  if (limits.every(({ limitW, limitA }) => limitW === null && limitA === null)) return ofProfiles;
  const sumLimit = connectorsInUnit(limits, ofStation, query);
  return ofProfiles.limit !== null && ofProfiles.limit <= sumLimit
    ? ofProfiles
    : { limit: sumLimit, numberPhases: ofStation.numberPhases };
}

/** @returns null: there is no such connector */
export function compositeSchedule(state: ChargingState, query: CompositeQuery): CompositeSchedule | null {
  const { connectorId, connectors, startMs, unit, maxPeriods } = query;
  const rating = connectors.find((each) => each.connectorId === connectorId);
  if (connectorId !== 0 && rating === undefined) return null;
  const at = (ms: number) => (rating === undefined ? atGrid(state, query, ms) : atConnector(state, rating, query, ms));
  const watched = rating === undefined ? [0, ...connectors.map((each) => each.connectorId)] : [0, connectorId];
  const endMs = startMs + query.durationS * 1000;
  const maxInstants = maxEvaluations / Math.max(1, watched.length * state.profiles.length);
  let last = at(startMs);
  const periods: CompositePeriod[] = [{ startS: 0, ...last }];
  let ms = startMs;
  for (let i = 0; ; i += 1) {
    ms = Math.min(...watched.map((id) => nextChange(state, id, ms)));
    if (ms >= endMs) break;
    const next = at(ms);
    const differs = !isSame(last, next);
    if ((differs && periods.length >= maxPeriods) || i >= maxInstants)
      return { startMs, durationS: (ms - startMs) / 1000, unit, periods };
    if (differs) periods.push({ startS: (ms - startMs) / 1000, ...next });
    last = next;
  }
  return { startMs, durationS: query.durationS, unit, periods };
}

/**
 * Rounds to a tenth towards 0, the resolution of limits in the standard, with a tolerance for errors of conversions.
 */
export const tenths = (value: number) => (Math.sign(value) * Math.floor(Math.abs(value) * 10 + 1e-4)) / 10 + 0;

/**
 * The periods of an answer in whole seconds, equal neighbours merged.
 * @param rowOf converts a period for a version
 */
export function compositeRows<Row extends object>(
  { durationS, periods }: Pick<CompositeSchedule, 'durationS' | 'periods'>,
  rowOf: (period: CompositePeriod) => Row,
): { readonly duration: number; readonly rows: (Row & { readonly startPeriod: number })[] } {
  const duration = Math.max(1, Math.round(durationS));
  const rows: (Row & { readonly startPeriod: number })[] = [];
  for (const period of periods) {
    const startPeriod = Math.round(period.startS);
    if (startPeriod >= duration) break;
    // of two changes within a second the later one counts
    if (rows.at(-1)?.startPeriod === startPeriod) rows.pop();
    const row = rowOf(period);
    const isSameAsLast =
      JSON.stringify({ ...rows.at(-1), startPeriod: 0 }) === JSON.stringify({ startPeriod: 0, ...row });
    if (!isSameAsLast) rows.push({ startPeriod, ...row });
  }
  return { duration, rows };
}
