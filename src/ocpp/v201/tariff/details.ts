/** The cost of a transaction as messages tell it (I12). */
import { stamp } from '../parts.ts';
import type { CostDetails, CostDimension, Price, Tariff, TaxRate, TotalCost } from '../messages.ts';
import { dimensions, reaches, totalOf } from './cost.ts';
import type { Amount, CostPeriod, CostState, Dimension } from './cost.ts';

/** To a millionth: what binary numbers add beyond it is no money. */
const rounded = (value: number) => Math.round(value * 1e6) / 1e6 || 0;

const ratesOf = (tariff: Tariff, dimension: Dimension): readonly TaxRate[] | undefined =>
  (dimension === 'fixed' ? tariff.fixedFee : tariff[dimension])?.taxRates;

function price({ exclTax, inclTax }: Amount, taxRates: readonly TaxRate[] | undefined): Price {
  return { exclTax: rounded(exclTax), inclTax: rounded(inclTax), ...(taxRates !== undefined && { taxRates }) };
}

/** A total that a bound of the tariff replaces, as far as the bound tells it. */
const bounded = (total: Amount, { exclTax, inclTax }: Price): Amount => ({
  exclTax: exclTax ?? total.exclTax,
  inclTax: inclTax ?? total.inclTax,
});

/** What the transaction costs now, with the least and the most that the tariff asks for (I12.FR.38 to FR.41). */
export function totalCost(state: CostState, tariff: Tariff): TotalCost {
  const { currency, minCost, maxCost } = tariff;
  const total = totalOf(state.amounts);
  if (minCost !== undefined && !reaches(total, minCost)) {
    const least = bounded(total, minCost);
    const fixed = price(least, minCost.taxRates);
    return { currency, typeOfCost: 'MinCost', fixed, total: price(least, undefined) };
  }
  const told = dimensions
    .filter((dimension) => state.amounts[dimension].exclTax !== 0)
    .map((dimension) => [dimension, price(state.amounts[dimension], ratesOf(tariff, dimension))]);
  const capped = state.capped && maxCost !== undefined;
  const most = capped ? { exclTax: maxCost.exclTax ?? Infinity, inclTax: maxCost.inclTax ?? Infinity } : null;
  const exclTax = Math.min(total.exclTax, most?.exclTax ?? Infinity);
  const inclTax = Math.min(total.inclTax, most?.inclTax ?? Infinity);
  return {
    currency,
    typeOfCost: capped ? 'MaxCost' : 'NormalCost',
    ...(Object.fromEntries(told) as Partial<Record<Dimension, Price>>),
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

/** @param periods with them at the end of a transaction, without for a running cost (I12.FR.02) */
export function costDetails(state: CostState, tariff: Tariff, { periods }: { readonly periods: boolean }): CostDetails {
  const { energyWh, chargingS, idleS, reservationS } = state;
  return {
    ...(periods && { chargingPeriods: state.periods.map(chargingPeriod) }),
    totalCost: totalCost(state, tariff),
    totalUsage: {
      energy: rounded(energyWh),
      chargingTime: Math.round(chargingS),
      idleTime: Math.round(idleS),
      ...(reservationS !== null && { reservationTime: Math.round(reservationS) }),
    },
  };
}
