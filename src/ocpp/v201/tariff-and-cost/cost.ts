/**
 * The cost of a transaction by a tariff (2.1, I12): a value that each step of the meter changes, and the conditions of
 * price elements as functions of an instant. Amounts are in the currency of the tariff. All functions are pure.
 */
import { z } from 'zod';
import { amount, instant, record } from '../../../core/slot-values.ts';
import type {
  EvseKindEnum,
  Price,
  Tariff,
  TariffConditions,
  TaxRate,
  DayOfWeekEnum,
  TariffConditionsFixed,
} from '../messages.ts';

/** Values of a transaction at an instant, for the conditions of energy and time prices. */
interface PriceInstant {
  /** local time, ms since the epoch as if it were UTC */
  readonly localMs: number;
  readonly evseKind: EvseKindEnum;
  /** since the start; negative if more was discharged than charged */
  readonly energyWh: number;
  /** + into the vehicle */
  readonly powerW: number;
  /** sum of the phases, + into the vehicle */
  readonly currentA: number;
  readonly chargingS: number;
  readonly idleS: number;
}

/** Values at the start of a transaction, for the conditions of fixed fees. */
interface FixedInstant {
  readonly localMs: number;
  readonly evseKind: EvseKindEnum;
  /** of the token; null: it has none */
  readonly paymentBrand: string | null;
  readonly paymentRecognition: string | null;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** by `getUTCDay` */
const days: readonly DayOfWeekEnum[] = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const timeOfDay = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Minutes since midnight; null: not `hh:mm`. */
export function minuteOfDay(text: string): number | null {
  const parts = timeOfDay.exec(text);
  return parts === null ? null : Number(parts[1]) * 60 + Number(parts[2]);
}

type DayConditions = Pick<
  TariffConditions,
  'startTimeOfDay' | 'endTimeOfDay' | 'dayOfWeek' | 'validFromDate' | 'validToDate' | 'evseKind'
>;

/** True from the start, inclusive, to the end, exclusive; over midnight where the end is before the start. */
function isInHours({ startTimeOfDay, endTimeOfDay }: DayConditions, localMs: number): boolean {
  if (startTimeOfDay === undefined && endTimeOfDay === undefined) return true;
  const startMs = (minuteOfDay(startTimeOfDay ?? '00:00') ?? 0) * minuteMs;
  const endMs = (minuteOfDay(endTimeOfDay ?? '00:00') ?? 0) * minuteMs;
  const ofDay = ((localMs % dayMs) + dayMs) % dayMs;
  if (startMs === endMs) return true;
  return startMs < endMs ? ofDay >= startMs && ofDay < endMs : ofDay >= startMs || ofDay < endMs;
}

function isOnDay(conditions: DayConditions, localMs: number, evseKind: EvseKindEnum): boolean {
  const { dayOfWeek, validFromDate, validToDate } = conditions;
  const at = new Date(localMs);
  const date = at.toISOString().slice(0, 10);
  if (conditions.evseKind !== undefined && conditions.evseKind !== evseKind) return false;
  if (dayOfWeek !== undefined && !dayOfWeek.some((day) => day === days[at.getUTCDay()])) return false;
  if (validFromDate !== undefined && date < validFromDate) return false;
  if (validToDate !== undefined && date >= validToDate) return false;
  return isInHours(conditions, localMs);
}

/** True within a range: `min` is the end nearer to zero, inclusive, and `max` the other end, exclusive. */
function isInRange(value: number, min: number | undefined, max: number | undefined): boolean {
  if (min !== undefined && (min < 0 ? value > min : value < min)) return false;
  return max === undefined || (max < 0 ? value > max : value < max);
}

/** True if every condition of an energy or time price holds; absent conditions hold. */
function holds(conditions: TariffConditions | undefined, at: PriceInstant): boolean {
  if (conditions === undefined) return true;
  const c = conditions;
  return (
    isOnDay(c, at.localMs, at.evseKind) &&
    isInRange(at.energyWh, c.minEnergy, c.maxEnergy) &&
    isInRange(at.powerW, c.minPower, c.maxPower) &&
    isInRange(at.currentA, c.minCurrent, c.maxCurrent) &&
    isInRange(at.chargingS + at.idleS, c.minTime, c.maxTime) &&
    isInRange(at.chargingS, c.minChargingTime, c.maxChargingTime) &&
    isInRange(at.idleS, c.minIdleTime, c.maxIdleTime)
  );
}

/** True if every condition of a fixed fee holds at the start of a transaction; absent conditions hold. */
function holdsAtStart(conditions: TariffConditionsFixed | undefined, at: FixedInstant): boolean {
  if (conditions === undefined) return true;
  const { paymentBrand, paymentRecognition } = conditions;
  if (paymentBrand !== undefined && paymentBrand !== at.paymentBrand) return false;
  if (paymentRecognition !== undefined && paymentRecognition !== at.paymentRecognition) return false;
  return isOnDay(conditions, at.localMs, at.evseKind);
}

/** Ms from a local instant to the next instant at which a condition on day or hour may change; above 0. */
function msToBoundary(conditions: readonly TariffConditions[], localMs: number): number {
  const ofDay = ((localMs % dayMs) + dayMs) % dayMs;
  const edges = conditions.flatMap(({ startTimeOfDay, endTimeOfDay }) =>
    [startTimeOfDay, endTimeOfDay].flatMap((text) => (text === undefined ? [] : [(minuteOfDay(text) ?? 0) * minuteMs])),
  );
  return Math.min(dayMs - ofDay, ...edges.filter((edge) => edge > ofDay).map((edge) => edge - ofDay));
}

/** Quantities that change during a step, each with its value at the beginning and its change per second. */
interface Slopes {
  readonly energyWh: number;
  readonly energyWhPerS: number;
  readonly chargingS: number;
  readonly idleS: number;
  readonly charging: boolean;
}

const sToReach = (value: number, perS: number, threshold: number | undefined): number => {
  if (threshold === undefined || perS === 0) return Infinity;
  const s = (threshold - value) / perS;
  // a threshold less than a microsecond ahead counts as reached, because of rounding
  return s > 1e-6 ? s : Infinity;
};

/** Seconds until the first threshold of energy or duration is reached; Infinity: none. */
function sToThreshold(conditions: readonly TariffConditions[], at: Slopes): number {
  const charging = at.charging ? 1 : 0;
  return conditions.reduce(
    (first, c) =>
      Math.min(
        first,
        sToReach(at.energyWh, at.energyWhPerS, c.minEnergy),
        sToReach(at.energyWh, at.energyWhPerS, c.maxEnergy),
        sToReach(at.chargingS + at.idleS, 1, c.minTime),
        sToReach(at.chargingS + at.idleS, 1, c.maxTime),
        sToReach(at.chargingS, charging, c.minChargingTime),
        sToReach(at.chargingS, charging, c.maxChargingTime),
        sToReach(at.idleS, 1 - charging, c.minIdleTime),
        sToReach(at.idleS, 1 - charging, c.maxIdleTime),
      ),
    Infinity,
  );
}

export const dimensions = [
  'fixed',
  'energy',
  'chargingTime',
  'idleTime',
  'reservationTime',
  'reservationFixed',
] as const;
export type Dimension = (typeof dimensions)[number];

export interface Amount {
  readonly exclTax: number;
  readonly inclTax: number;
}

/** A part of a transaction in which the same price elements applied. */
export interface CostPeriod {
  readonly tariffId: string;
  /** ms since the epoch */
  readonly startMs: number;
  readonly energyWh: number;
  readonly chargingS: number;
  readonly idleS: number;
  readonly minPowerW: number;
  readonly maxPowerW: number;
  readonly minCurrentA: number;
  readonly maxCurrentA: number;
}

export interface CostState {
  readonly amounts: Readonly<Record<Dimension, Amount>>;
  readonly energyWh: number;
  readonly chargingS: number;
  readonly idleS: number;
  /** null: no reservation was used */
  readonly reservationS: number | null;
  /** at least one, the oldest first */
  readonly periods: readonly CostPeriod[];
  /** indexes of the price elements of the last period: energy, charging, idle time; null: no step yet by this tariff */
  readonly used: string | null;
  /** the maximum cost was reached: amounts no longer change */
  readonly capped: boolean;
}

const price = record<Amount>({ exclTax: amount, inclTax: amount });

/** A stored cost. */
export const costState = record<CostState>({
  amounts: z.object(Object.fromEntries(dimensions.map((dimension) => [dimension, price]))),
  energyWh: amount,
  chargingS: amount,
  idleS: amount,
  reservationS: amount.nullable(),
  periods: z
    .array(
      record<CostPeriod>({
        tariffId: z.string(),
        startMs: instant,
        energyWh: amount,
        chargingS: amount,
        idleS: amount,
        minPowerW: amount,
        maxPowerW: amount,
        minCurrentA: amount,
        maxCurrentA: amount,
      }),
    )
    .min(1),
  used: z.string().nullable(),
  capped: z.boolean(),
});

/** Constant during a transaction. */
export interface CostFacts {
  readonly evseKind: EvseKindEnum;
  /** local time minus UTC, ms */
  readonly localOffsetMs: number;
  /** of the token; null: it has none */
  readonly paymentBrand: string | null;
  readonly paymentRecognition: string | null;
}

/** Change of the meter between two readings; energy flows evenly in between. */
export interface CostStep {
  /** ms since the epoch */
  readonly fromMs: number;
  /** not before `fromMs` */
  readonly toMs: number;
  /** + into the vehicle */
  readonly energyWh: number;
  /** mean, + into the vehicle */
  readonly powerW: number;
  /** mean of the sum of the phases, + into the vehicle */
  readonly currentA: number;
  /** energy flows; else the time is idle */
  readonly charging: boolean;
}

/** maximum of reported periods; later use adds to the last one */
const maxPeriods = 100;
/** maximum of pieces of a step: a step over years, after a jump of the clock, is not split at each midnight */
const maxPieces = 1000;

const nothing: Amount = { exclTax: 0, inclTax: 0 };
const plus = (a: Amount, b: Amount): Amount => ({ exclTax: a.exclTax + b.exclTax, inclTax: a.inclTax + b.inclTax });
const times = (a: Amount, factor: number): Amount => ({ exclTax: a.exclTax * factor, inclTax: a.inclTax * factor });

/** The factor from a price without taxes to one with taxes; a level taxes the result of lower ones (I12.FR.13). */
function taxFactor(rates: readonly TaxRate[] = []): number {
  const levels = [...new Set(rates.map(({ stack = 0 }) => stack))];
  const percentOf = (level: number) =>
    rates.filter(({ stack = 0 }) => stack === level).reduce((sum, { tax }) => sum + tax, 0);
  return levels.reduce((factor, level) => factor * (1 + percentOf(level) / 100), 1);
}

const taxed = (exclTax: number, rates: readonly TaxRate[] | undefined): Amount => ({
  exclTax,
  inclTax: exclTax * taxFactor(rates),
});

export function totalOf(amounts: CostState['amounts']): Amount {
  return dimensions.reduce((sum, dimension) => plus(sum, amounts[dimension]), nothing);
}

/** True if a total has reached a bound, either without or with taxes. */
export function reaches(total: Amount, { exclTax, inclTax }: Price): boolean {
  return (exclTax !== undefined && total.exclTax >= exclTax) || (inclTax !== undefined && total.inclTax >= inclTax);
}

const newPeriod = (tariffId: string, startMs: number): CostPeriod => ({
  tariffId,
  startMs,
  energyWh: 0,
  chargingS: 0,
  idleS: 0,
  minPowerW: 0,
  maxPowerW: 0,
  minCurrentA: 0,
  maxCurrentA: 0,
});

/**
 * The cost of a transaction that begins: its fixed fees.
 * @param reservationS duration of the reservation that it uses; null: none
 * @param fees false: neither fixed fees nor reservation, since the tariff comes into force after the start
 */
export function startCost(
  tariff: Tariff,
  facts: CostFacts,
  atMs: number,
  { reservationS = null, fees = true }: { readonly reservationS?: number | null; readonly fees?: boolean } = {},
): CostState {
  const { fixedFee, reservationFixed, reservationTime } = tariff;
  const instant = { ...facts, localMs: atMs + facts.localOffsetMs };
  const fee = (of: Tariff['fixedFee']) =>
    taxed(of?.prices.find(({ conditions }) => holdsAtStart(conditions, instant))?.priceFixed ?? 0, of?.taxRates);
  const reserved = reservationS !== null;
  // conditions of a transaction cannot hold before it: the first price without conditions applies
  const perMinute = reservationTime?.prices.find(({ conditions }) => conditions === undefined)?.priceMinute ?? 0;
  const amounts = {
    fixed: fees ? fee(fixedFee) : nothing,
    energy: nothing,
    chargingTime: nothing,
    idleTime: nothing,
    reservationTime: reserved && fees ? taxed((perMinute * reservationS) / 60, reservationTime?.taxRates) : nothing,
    reservationFixed: reserved && fees ? fee(reservationFixed) : nothing,
  };
  return {
    amounts,
    energyWh: 0,
    chargingS: 0,
    idleS: 0,
    reservationS,
    periods: [newPeriod(tariff.tariffId, atMs)],
    used: null,
    capped: tariff.maxCost !== undefined && reaches(totalOf(amounts), tariff.maxCost),
  };
}

/** Prices further use by another tariff; earlier use keeps its cost (I11.FR.08). */
export function withTariff(state: CostState, tariff: Tariff, atMs: number): CostState {
  const capped = tariff.maxCost !== undefined && reaches(totalOf(state.amounts), tariff.maxCost);
  return { ...withNewPeriod(state, tariff.tariffId, atMs), used: null, capped };
}

/** Replaces an empty last period; adds none beyond `maxPeriods`. */
function withNewPeriod(state: CostState, tariffId: string, atMs: number): CostState {
  const { periods } = state;
  const last = periods.at(-1);
  const isEmpty = last !== undefined && last.chargingS + last.idleS === 0 && last.energyWh === 0;
  if (isEmpty) return { ...state, periods: [...periods.slice(0, -1), newPeriod(tariffId, atMs)] };
  return periods.length >= maxPeriods ? state : { ...state, periods: [...periods, newPeriod(tariffId, atMs)] };
}

const conditionsOf = ({ energy, chargingTime, idleTime }: Tariff): readonly TariffConditions[] =>
  [energy, chargingTime, idleTime].flatMap((dimension) =>
    (dimension?.prices ?? []).flatMap(({ conditions }) => (conditions === undefined ? [] : [conditions])),
  );

function withPiece(period: CostPeriod, { energyWh, powerW, currentA, charging }: CostStep, s: number): CostPeriod {
  const isFirst = period.chargingS + period.idleS === 0;
  return {
    ...period,
    energyWh: period.energyWh + energyWh,
    chargingS: period.chargingS + (charging ? s : 0),
    idleS: period.idleS + (charging ? 0 : s),
    minPowerW: isFirst ? powerW : Math.min(period.minPowerW, powerW),
    maxPowerW: isFirst ? powerW : Math.max(period.maxPowerW, powerW),
    minCurrentA: isFirst ? currentA : Math.min(period.minCurrentA, currentA),
    maxCurrentA: isFirst ? currentA : Math.max(period.maxCurrentA, currentA),
  };
}

/** The part of an increase that fits under the maximum cost, 0 to 1. */
function fractionUnder(max: Price | undefined, before: Amount, added: Amount): number {
  if (max === undefined || !reaches(plus(before, added), max)) return 1;
  const part = (bound: number | undefined, have: number, more: number) =>
    bound === undefined || have + more < bound ? 1 : Math.max(0, (bound - have) / more);
  return Math.min(part(max.exclTax, before.exclTax, added.exclTax), part(max.inclTax, before.inclTax, added.inclTax));
}

/** The middle of a piece, where rounding at the ends cannot matter. */
function middleOf(state: CostState, facts: CostFacts, piece: CostStep): PriceInstant {
  const halfS = (piece.toMs - piece.fromMs) / 2000;
  return {
    evseKind: facts.evseKind,
    localMs: (piece.fromMs + piece.toMs) / 2 + facts.localOffsetMs,
    powerW: piece.powerW,
    currentA: piece.currentA,
    energyWh: state.energyWh + piece.energyWh / 2,
    chargingS: state.chargingS + (piece.charging ? halfS : 0),
    idleS: state.idleS + (piece.charging ? 0 : halfS),
  };
}

/** Indexes of the prices whose conditions hold; -1: none. */
interface PricesAt {
  readonly energy: number;
  readonly charging: number;
  readonly idle: number;
}

/** The price of the energy and of the time of a piece. */
function addedBy({ energy, chargingTime, idleTime }: Tariff, at: PricesAt, piece: CostStep) {
  const s = (piece.toMs - piece.fromMs) / 1000;
  const timed = piece.charging ? chargingTime : idleTime;
  const perKwh = energy?.prices[at.energy]?.priceKwh ?? 0;
  const perMinute = timed?.prices[piece.charging ? at.charging : at.idle]?.priceMinute ?? 0;
  return {
    forEnergy: taxed((perKwh * piece.energyWh) / 1000, energy?.taxRates),
    forTime: taxed((perMinute * s) / 60, timed?.taxRates),
  };
}

/** The cost after a piece of a step in which no condition changes. */
function afterPiece(state: CostState, tariff: Tariff, facts: CostFacts, piece: CostStep): CostState {
  const s = (piece.toMs - piece.fromMs) / 1000;
  const { charging } = piece;
  const instant = middleOf(state, facts, piece);
  const find = (prices: readonly { readonly conditions?: TariffConditions }[] = []) =>
    prices.findIndex(({ conditions }) => holds(conditions, instant));
  const at = {
    energy: find(tariff.energy?.prices),
    charging: find(tariff.chargingTime?.prices),
    idle: find(tariff.idleTime?.prices),
  };
  const used = `${at.energy},${at.charging},${at.idle}`;
  const priced =
    state.used === null || state.used === used ? state : withNewPeriod(state, tariff.tariffId, piece.fromMs);

  const { forEnergy, forTime } = addedBy(tariff, at, piece);
  const added = plus(forEnergy, forTime);
  const share = state.capped ? 0 : fractionUnder(tariff.maxCost, totalOf(state.amounts), added);
  const amounts = { ...state.amounts };
  const time = charging ? 'chargingTime' : 'idleTime';
  amounts.energy = plus(amounts.energy, times(forEnergy, share));
  amounts[time] = plus(amounts[time], times(forTime, share));
  const last = priced.periods.at(-1) ?? newPeriod(tariff.tariffId, piece.fromMs);
  return {
    ...priced,
    amounts,
    used,
    energyWh: state.energyWh + piece.energyWh,
    chargingS: state.chargingS + (charging ? s : 0),
    idleS: state.idleS + (charging ? 0 : s),
    periods: [...priced.periods.slice(0, -1), withPiece(last, piece, s)],
    capped: state.capped || share < 1 || (tariff.maxCost !== undefined && reaches(totalOf(amounts), tariff.maxCost)),
  };
}

/** The cost after a step, which is split wherever a condition of the tariff may change. */
export function advanceCost(state: CostState, tariff: Tariff, facts: CostFacts, step: CostStep): CostState {
  const wholeMs = step.toMs - step.fromMs;
  if (wholeMs <= 0)
    return step.energyWh === 0 ? state : afterPiece(state, tariff, facts, { ...step, toMs: step.fromMs });
  const conditions = conditionsOf(tariff);
  let current = state;
  let atMs = step.fromMs;
  let leftWh = step.energyWh;
  for (let pieces = 1; atMs < step.toMs; pieces++) {
    const energyWhPerS = (leftWh / (step.toMs - atMs)) * 1000;
    const slopes = { ...current, energyWhPerS, charging: step.charging };
    const stepMs = Math.min(
      msToBoundary(conditions, atMs + facts.localOffsetMs),
      sToThreshold(conditions, slopes) * 1000,
    );
    const endMs = pieces >= maxPieces || atMs + stepMs >= step.toMs ? step.toMs : atMs + stepMs;
    const energyWh = endMs === step.toMs ? leftWh : (energyWhPerS * (endMs - atMs)) / 1000;
    current = afterPiece(current, tariff, facts, { ...step, fromMs: atMs, toMs: endMs, energyWh });
    leftWh -= energyWh;
    atMs = endMs;
  }
  return current;
}
