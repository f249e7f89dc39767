/** Rules for tariffs of a station (I07, I08, I11), and costs in messages (I12). */
import type {
  CostDetails,
  CostDimension,
  Price,
  StatusInfo,
  Tariff,
  TariffConditions,
  TariffConditionsFixed,
  TaxRate,
  TotalCost,
} from '../messages.ts';
import { stamp } from '../parts.ts';
import { minuteOfDay, dimensions, reaches, totalOf } from './cost.ts';
import type { Amount, CostPeriod, CostState, Dimension } from './cost.ts';

// The cost of a transaction in messages (I12).

/** Rounded to a millionth, to remove errors of binary numbers. */
const rounded = (value: number) => Math.round(value * 1e6) / 1e6 || 0;

const ratesOf = (tariff: Tariff, dimension: Dimension): readonly TaxRate[] | undefined =>
  (dimension === 'fixed' ? tariff.fixedFee : tariff[dimension])?.taxRates;

function price({ exclTax, inclTax }: Amount, taxRates: readonly TaxRate[] | undefined): Price {
  return { exclTax: rounded(exclTax), inclTax: rounded(inclTax), ...(taxRates !== undefined && { taxRates }) };
}

/** A total in which the amounts of a bound of the tariff replace those of the total. */
const bounded = (total: Amount, { exclTax, inclTax }: Price): Amount => ({
  exclTax: exclTax ?? total.exclTax,
  inclTax: inclTax ?? total.inclTax,
});

/** Cost of the transaction now, within the minimum and the maximum of the tariff (I12.FR.38 to FR.41). */
export function totalCost(state: CostState, tariff: Tariff): TotalCost {
  const { currency, minCost, maxCost } = tariff;
  const total = totalOf(state.amounts);
  if (minCost !== undefined && !reaches(total, minCost)) {
    const raised = bounded(total, minCost);
    const fixed = price(raised, minCost.taxRates);
    return { currency, typeOfCost: 'MinCost', fixed, total: price(raised, undefined) };
  }
  const prices = dimensions
    .filter((dimension) => state.amounts[dimension].exclTax !== 0)
    .map((dimension) => [dimension, price(state.amounts[dimension], ratesOf(tariff, dimension))]);
  const capped = state.capped && maxCost !== undefined;
  const cap = capped ? { exclTax: maxCost.exclTax ?? Infinity, inclTax: maxCost.inclTax ?? Infinity } : null;
  const exclTax = Math.min(total.exclTax, cap?.exclTax ?? Infinity);
  const inclTax = Math.min(total.inclTax, cap?.inclTax ?? Infinity);
  return {
    currency,
    typeOfCost: capped ? 'MaxCost' : 'NormalCost',
    ...(Object.fromEntries(prices) as Partial<Record<Dimension, Price>>),
    total: price({ exclTax, inclTax }, undefined),
  };
}

function chargingPeriod(period: CostPeriod) {
  const { tariffId, startMs, energyWh, chargingS, idleS } = period;
  const volumes: readonly CostDimension[] = [
    { type: 'Energy', volume: rounded(energyWh) },
    { type: 'ChargingTime', volume: Math.round(chargingS) },
    { type: 'IdleTIme', volume: Math.round(idleS) },
    { type: 'MinPower', volume: rounded(period.minPowerW) },
    { type: 'MaxPower', volume: rounded(period.maxPowerW) },
    { type: 'MinCurrent', volume: rounded(period.minCurrentA) },
    { type: 'MaxCurrent', volume: rounded(period.maxCurrentA) },
  ];
  return { tariffId, startPeriod: stamp(startMs), dimensions: volumes };
}

/** @param withPeriods false for events with the running cost (I12.FR.02) */
export function costDetails(
  state: CostState,
  tariff: Tariff,
  { withPeriods }: { readonly withPeriods: boolean },
): CostDetails {
  const { energyWh, chargingS, idleS, reservationS } = state;
  return {
    ...(withPeriods && { chargingPeriods: state.periods.map(chargingPeriod) }),
    totalCost: totalCost(state, tariff),
    totalUsage: {
      energy: rounded(energyWh),
      chargingTime: Math.round(chargingS),
      idleTime: Math.round(idleS),
      ...(reservationS !== null && { reservationTime: Math.round(reservationS) }),
    },
  };
}

interface TariffFacts {
  /** maximum number of price elements of a dimension */
  readonly maxElements: number;
  readonly conditionsSupported: boolean;
}

export interface TariffIssue {
  readonly status: 'Rejected' | 'TooManyElements' | 'ConditionNotSupported';
  readonly statusInfo: StatusInfo;
}

const rejected = (reasonCode: string, additionalInfo: string): TariffIssue => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

interface Element {
  readonly priceKwh?: number;
  readonly priceMinute?: number;
  readonly priceFixed?: number;
  readonly conditions?: TariffConditions & TariffConditionsFixed;
}

const dimensionsOf = ({ energy, chargingTime, idleTime, fixedFee, reservationTime, reservationFixed }: Tariff) =>
  [energy, chargingTime, idleTime, fixedFee, reservationTime, reservationFixed].filter((each) => each !== undefined);

const listsOf = (tariff: Tariff): readonly (readonly Element[])[] => dimensionsOf(tariff).map(({ prices }) => prices);

/** Maximum of amounts and percentages: their sums and products stay finite, as JSON requires. */
const maxAmount = 1e12;

function amountsIssue(tariff: Tariff): TariffIssue | null {
  const bounds = [tariff.minCost, tariff.maxCost].filter((each) => each !== undefined);
  const prices = listsOf(tariff).flatMap((list) =>
    list.flatMap(({ priceKwh = 0, priceMinute = 0, priceFixed = 0 }) => [priceKwh, priceMinute, priceFixed]),
  );
  const amounts = [...prices, ...bounds.flatMap(({ exclTax = 0, inclTax = 0 }) => [exclTax, inclTax])];
  const taxes = [...dimensionsOf(tariff), ...bounds].flatMap(({ taxRates = [] }) => taxRates.map(({ tax }) => tax));
  return [...amounts, ...taxes].every((value) => Math.abs(value) <= maxAmount)
    ? null
    : rejected('ValueOutOfRange', `prices, bounds and taxes must be from -${maxAmount} to ${maxAmount}`);
}

const calendarDay = /^\d{4}-\d{2}-\d{2}$/;

/** True for a day that exists, in the form `2026-06-23`. */
function isDay(text: string): boolean {
  const ms = calendarDay.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

function conditionsIssue({ startTimeOfDay, endTimeOfDay, validFromDate, validToDate }: TariffConditions) {
  const hours = [startTimeOfDay, endTimeOfDay].filter((text) => text !== undefined);
  if (hours.some((text) => minuteOfDay(text) === null)) return rejected('InvalidValue', 'a time of day is not hh:mm');
  const dates = [validFromDate, validToDate].filter((text) => text !== undefined);
  return dates.every(isDay) ? null : rejected('InvalidValue', 'a date is not a calendar day yyyy-mm-dd');
}

function boundsIssue({ minCost, maxCost }: Tariff): TariffIssue | null {
  const empty = (price: Price | undefined) =>
    price !== undefined && price.exclTax === undefined && price.inclTax === undefined;
  if (empty(minCost) || empty(maxCost)) return rejected('MissingParam', 'a bound of the cost has no amount');
  if (minCost === undefined || maxCost === undefined) return null;
  const minimum = { exclTax: minCost.exclTax ?? -Infinity, inclTax: minCost.inclTax ?? -Infinity };
  const maximum = { exclTax: maxCost.exclTax ?? Infinity, inclTax: maxCost.inclTax ?? Infinity };
  const crossed = minimum.exclTax > maximum.exclTax || minimum.inclTax > maximum.inclTax;
  return crossed || !reaches(maximum, maxCost)
    ? rejected('InvalidValue', 'the minimum cost is above the maximum')
    : null;
}

/** null: the station can calculate with the tariff */
export function tariffIssue(tariff: Tariff, { maxElements, conditionsSupported }: TariffFacts): TariffIssue | null {
  const lists = listsOf(tariff);
  if (lists.some((prices) => prices.length > maxElements)) {
    const additionalInfo = `a list of prices has more than ${maxElements} elements`;
    return { status: 'TooManyElements', statusInfo: { reasonCode: 'TooManyElements', additionalInfo } };
  }
  const conditions = lists.flat().flatMap((each) => (each.conditions === undefined ? [] : [each.conditions]));
  if (conditions.length > 0 && !conditionsSupported) {
    const statusInfo = { reasonCode: 'UnsupportedParam', additionalInfo: 'conditions are not supported' };
    return { status: 'ConditionNotSupported', statusInfo };
  }
  if (!/^[A-Z]{3}$/.test(tariff.currency))
    return rejected('InvalidValue', 'the currency is not a code of three capital letters (ISO 4217)');
  return conditions.map(conditionsIssue).find((issue) => issue !== null) ?? amountsIssue(tariff) ?? boundsIssue(tariff);
}
