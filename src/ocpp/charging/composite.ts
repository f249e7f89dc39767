/**
 * Composite schedules: the limit of all profiles together over a time to come, in one unit.
 *
 * Watts and amperes are converted with the nominal voltage, so that a schedule reads back as it was set: W = A x phases x
 * voltage on AC, where the phases are `numberPhases`, at most those of the connector (2 counts as 1 and shows as 1); W = A x
 * voltage on DC.
 *
 * A connector shows the lower one of its own limit and of that of the station. Connector 0 is the grid connection: it
 * shows the lower one of the limit of the station and of the sum of the connectors, where a connector without a limit
 * counts with its rated power and the sum with at most that of the station. An idle connector counts too, since a vehicle
 * may arrive: the result is a maximum. Amperes of connector 0 are those of the phase with the highest sum, since a limit of
 * the station in amperes holds on each phase; those of an AC connector count as they were set.
 */
import { combined, limitAt, nextChange, openLimit } from './limits.ts';
import type { ChargingState, Limit, Nominal, OperationMode, RateUnit } from './model.ts';

/** A connector, as far as schedules need it. */
interface CompositeRating extends Nominal {
  readonly connectorId: number;
  readonly maxPowerW: number;
  readonly maxCurrentA: number;
  /** phases of the supply that it may load: 1 to 3 = L1 to L3; DC loads all of them */
  readonly supplyPhases: readonly number[];
}

/** The grid connection and what is behind it. */
interface GridRating {
  readonly station: Nominal & Pick<CompositeRating, 'maxPowerW'>;
  readonly connectors: readonly CompositeRating[];
}

type StationRating = GridRating['station'];

export interface CompositeQuery extends GridRating {
  /** 0: the grid connection */
  readonly connectorId: number;
  readonly startMs: number;
  /** above 0 */
  readonly durationS: number;
  readonly unit: RateUnit;
  /** The schedule ends before the period that would be one too many. */
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
  /** as asked, unless `maxPeriods` or the bound of the work shortens it */
  readonly durationS: number;
  readonly unit: RateUnit;
  /** never empty; neighbours differ */
  readonly periods: readonly CompositePeriod[];
}

/** Instants looked at, times profiles looked at for each: bounds the work for a duration of years. */
const maxLooks = 100_000;
/** A limit above this is shown as this, W or A. */
const maxShown = 1e9;

/** Watts of one ampere per phase. */
export function wattsPerAmpere({ type, phases, nominalVoltageV }: Nominal, numberPhases: number | null): number {
  return type === 'dc' ? nominalVoltageV : nominalVoltageV * Math.min(phases, numberPhases ?? phases);
}

/** Rid of the last bits of conversions, which would split periods that are equal. */
const clean = (value: number) => Math.round(value * 1e6) / 1e6;

/** A limit in one unit; null: none. */
export function inUnit({ limitW, limitA, numberPhases }: Limit, unit: RateUnit, nominal: Nominal): number | null {
  const perA = wattsPerAmpere(nominal, numberPhases);
  const [first, other] =
    unit === 'W' ? [limitW, limitA === null ? null : limitA * perA] : [limitA, limitW === null ? null : limitW / perA];
  const lowest = Math.min(first ?? Infinity, other ?? Infinity);
  return first === null && other === null ? null : clean(Math.min(lowest, maxShown));
}

/** The limit of the station as a connector sees it: amperes of its grid connection are none of a DC connector. */
function ofStation(limit: Limit, connector: Nominal, station: Nominal): Limit {
  if (connector.type === station.type) return limit;
  return { ...limit, limitW: inUnit(limit, 'W', station), limitA: null };
}

type UnitLimit = Omit<CompositePeriod, 'startS'>;

function limitInUnit(limit: Limit, unit: RateUnit, nominal: Nominal): UnitLimit {
  const inOne = inUnit(limit, unit, nominal);
  const setpoint = signedInUnit(limit.setpointW, limit.setpointA, limit, unit, nominal);
  const dischargeLimit = signedInUnit(limit.dischargeLimitW, limit.dischargeLimitA, limit, unit, nominal);
  return {
    limit: inOne,
    numberPhases: nominal.type === 'dc' ? null : limit.numberPhases,
    ...(setpoint !== null && { setpoint }),
    ...(dischargeLimit !== null && { dischargeLimit }),
    ...(limit.mode != null && { mode: limit.mode }),
  };
}

/** A set-point or discharge limit in one unit: where both are given the one nearer to 0. */
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
  const whole = ofStation(limitAt(state, 0, atMs), rating, query.station);
  return limitInUnit(combined(limitAt(state, rating.connectorId, atMs), whole), query.unit, rating);
}

/** Current that a connector may take from each phase of the supply that it loads. */
interface PhaseLoad {
  readonly currentA: number;
  /** of one ampere on all of its phases */
  readonly wattsPerA: number;
  readonly phases: readonly number[];
}

const allPhases: readonly number[] = [1, 2, 3];

/** @param limit with the phases that the station permits */
function phaseLoad(limit: Limit, rating: CompositeRating, station: StationRating): PhaseLoad {
  if (rating.type === station.type) {
    const currentA = Math.min(rating.maxCurrentA, inUnit(limit, 'A', rating) ?? Infinity);
    const phases = limit.numberPhases === 1 ? rating.supplyPhases.slice(0, 1) : rating.supplyPhases;
    return { currentA, wattsPerA: wattsPerAmpere(rating, limit.numberPhases), phases };
  }
  // a converter is between the connector and the supply
  const powerW = Math.min(rating.maxPowerW, inUnit(limit, 'W', rating) ?? Infinity);
  const wattsPerA = wattsPerAmpere(station, null);
  return { currentA: powerW / wattsPerA, wattsPerA, phases: allPhases };
}

function phaseLoads(
  { connectors, station }: GridRating,
  limits: readonly Limit[],
  numberPhases: Limit['numberPhases'],
): readonly PhaseLoad[] {
  const permitted = { ...openLimit, numberPhases };
  return connectors.map((rating, i) => phaseLoad(combined(limits[i] ?? openLimit, permitted), rating, station));
}

/**
 * Maximum current on a phase of the grid connection.
 * @param limits of the connectors, in their order; default: they have none
 * @param numberPhases that the station permits
 */
export function maxPhaseCurrentA(
  grid: GridRating,
  limits: readonly Limit[] = [],
  numberPhases: Limit['numberPhases'] = null,
): number {
  const { station } = grid;
  const loads = phaseLoads(grid, limits, numberPhases);
  // a station that may use one of three phases counts the current of all phases together
  const isTogether = station.phases === 1 || numberPhases === 1;
  const sumsA = allPhases.map((phase) =>
    loads.reduce((sumA, { currentA, phases }) => sumA + (isTogether || phases.includes(phase) ? currentA : 0), 0),
  );
  // a vehicle may use one phase alone, which then carries all of the power
  const ratedA = station.maxPowerW / station.nominalVoltageV;
  return clean(Math.min(ratedA, Math.max(...sumsA)));
}

/** The limit of the station in amperes: its watts as one connector can draw them, on the fewest phases. */
function ownCurrentA(limit: Limit, query: CompositeQuery): number | null {
  if (limit.limitW === null) return inUnit(limit, 'A', query.station);
  const wattsPerA = phaseLoads(query, [], limit.numberPhases).map((load) => load.wattsPerA);
  const currentA = limit.limitW / Math.min(...wattsPerA);
  return inUnit({ ...limit, limitW: null, limitA: Math.min(currentA, limit.limitA ?? Infinity) }, 'A', query.station);
}

function connectorsInUnit(limits: readonly Limit[], ofStation: Limit, query: CompositeQuery): number {
  const { connectors, station, unit } = query;
  if (unit === 'A') return maxPhaseCurrentA(query, limits, ofStation.numberPhases);
  const limitsW = connectors.map((rating, i) => inUnit(limits[i] ?? openLimit, 'W', rating));
  const sumW = connectors.reduce((sum, { maxPowerW }, i) => sum + Math.min(maxPowerW, limitsW[i] ?? maxPowerW), 0);
  return clean(Math.min(sumW, station.maxPowerW));
}

function atGrid(state: ChargingState, query: CompositeQuery, atMs: number): UnitLimit {
  const { connectors, station, unit } = query;
  const limits = connectors.map((rating) => limitAt(state, rating.connectorId, atMs));
  const ofStation = limitAt(state, 0, atMs);
  const ofOwn = {
    ...limitInUnit(ofStation, unit, station),
    ...(unit === 'A' && { limit: ownCurrentA(ofStation, query) }),
  };
  if (limits.every(({ limitW, limitA }) => limitW === null && limitA === null)) return ofOwn;
  const ofSum = connectorsInUnit(limits, ofStation, query);
  return ofOwn.limit !== null && ofOwn.limit <= ofSum ? ofOwn : { limit: ofSum, numberPhases: ofStation.numberPhases };
}

/** @returns null for a connector that there is not */
export function compositeSchedule(state: ChargingState, query: CompositeQuery): CompositeSchedule | null {
  const { connectorId, connectors, startMs, unit, maxPeriods } = query;
  const rating = connectors.find((each) => each.connectorId === connectorId);
  if (connectorId !== 0 && rating === undefined) return null;
  const at = (ms: number) => (rating === undefined ? atGrid(state, query, ms) : atConnector(state, rating, query, ms));
  const watched = rating === undefined ? [0, ...connectors.map((each) => each.connectorId)] : [0, connectorId];
  const endMs = startMs + query.durationS * 1000;
  const maxInstants = maxLooks / Math.max(1, watched.length * state.profiles.length);
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

/** To a tenth, towards 0: the resolution that the standard gives limits. The tolerance is that of conversions. */
export const tenths = (value: number) => (Math.sign(value) * Math.floor(Math.abs(value) * 10 + 1e-4)) / 10 + 0;

/** The periods of an answer in whole seconds, equal ones in one. @param rowOf a period in the words of a version */
export function compositeRows<Row extends object>(
  { durationS, periods }: Pick<CompositeSchedule, 'durationS' | 'periods'>,
  rowOf: (period: CompositePeriod) => Row,
): { readonly duration: number; readonly rows: (Row & { readonly startPeriod: number })[] } {
  const duration = Math.max(1, Math.round(durationS));
  const rows: (Row & { readonly startPeriod: number })[] = [];
  for (const period of periods) {
    const startPeriod = Math.round(period.startS);
    if (startPeriod >= duration) break;
    // of two changes within a second the later one
    if (rows.at(-1)?.startPeriod === startPeriod) rows.pop();
    const row = rowOf(period);
    const isSameAsLast =
      JSON.stringify({ ...rows.at(-1), startPeriod: 0 }) === JSON.stringify({ startPeriod: 0, ...row });
    if (!isSameAsLast) rows.push({ startPeriod, ...row });
  }
  return { duration, rows };
}
