/** What a tariff has to keep to before a station calculates with it (I07, I08, I11). */
import type { Price, StatusInfo, Tariff, TariffConditions, TariffConditionsFixed } from '../messages.ts';
import { minuteOfDay } from './conditions.ts';
import { reaches } from './cost.ts';

export interface TariffFacts {
  /** price elements of one dimension */
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

/** Amounts of the currency and percentages: sums and products of these stay far from infinity, which JSON cannot carry. */
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
    : rejected('ValueOutOfRange', `prices, bounds and taxes: up to ${maxAmount}`);
}

const calendarDay = /^\d{4}-\d{2}-\d{2}$/;

/** A day that there is, as `2026-06-23`. */
function isDay(text: string): boolean {
  const ms = calendarDay.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

function conditionsIssue({ startTimeOfDay, endTimeOfDay, validFromDate, validToDate }: TariffConditions) {
  const hours = [startTimeOfDay, endTimeOfDay].filter((text) => text !== undefined);
  if (hours.some((text) => minuteOfDay(text) === null)) return rejected('InvalidValue', 'a time of day is not hh:mm');
  const dates = [validFromDate, validToDate].filter((text) => text !== undefined);
  return dates.every(isDay) ? null : rejected('InvalidValue', 'a date is no day of the calendar');
}

function boundsIssue({ minCost, maxCost }: Tariff): TariffIssue | null {
  const empty = (price: Price | undefined) =>
    price !== undefined && price.exclTax === undefined && price.inclTax === undefined;
  if (empty(minCost) || empty(maxCost)) return rejected('MissingParam', 'a bound of the cost has no amount');
  if (minCost === undefined || maxCost === undefined) return null;
  const least = { exclTax: minCost.exclTax ?? -Infinity, inclTax: minCost.inclTax ?? -Infinity };
  const above = { exclTax: maxCost.exclTax ?? Infinity, inclTax: maxCost.inclTax ?? Infinity };
  const crossed = least.exclTax > above.exclTax || least.inclTax > above.inclTax;
  return crossed || !reaches(above, maxCost) ? rejected('InvalidValue', 'the minimum cost is above the maximum') : null;
}

/** Null: the station can calculate with it. */
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
  if (!/^[A-Z]{3}$/.test(tariff.currency)) return rejected('InvalidValue', 'the currency is no code of ISO 4217');
  return conditions.map(conditionsIssue).find((issue) => issue !== null) ?? amountsIssue(tariff) ?? boundsIssue(tariff);
}
