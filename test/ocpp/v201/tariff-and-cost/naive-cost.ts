/** The cost of a transaction as a sum over seconds, written without looking at `cost.ts`. */
import type { Tariff, TariffConditions, TaxRate } from '../../../../src/ocpp/v201/messages.ts';

/** What the meter sees in each second of a step; every value holds for all of it. */
export interface NaiveStep {
  readonly seconds: number;
  readonly whPerS: number;
  readonly powerW: number;
  readonly currentA: number;
  readonly charging: boolean;
}

export interface NaiveCost {
  readonly energy: number;
  readonly chargingTime: number;
  readonly idleTime: number;
  readonly fixed: number;
  readonly net: number;
  readonly gross: number;
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function gross(net: number, rates: readonly TaxRate[] = []): number {
  let sum = net;
  for (let level = 0; level <= 9; level++) {
    const percent = rates.filter((rate) => (rate.stack ?? 0) === level).reduce((all, { tax }) => all + tax, 0);
    sum += (sum * percent) / 100;
  }
  return sum;
}

interface Second {
  readonly localMs: number;
  readonly energyWh: number;
  readonly powerW: number;
  readonly currentA: number;
  readonly charged: number;
  readonly idle: number;
  readonly kind: string;
}

function fits(c: TariffConditions | undefined, s: Second): boolean {
  if (c === undefined) return true;
  const at = new Date(s.localMs);
  const clock = at.toISOString().slice(11, 16);
  const from = c.startTimeOfDay ?? '00:00';
  const to = c.endTimeOfDay ?? '00:00';
  if (from < to && (clock < from || clock >= to)) return false;
  if (from > to && clock < from && clock >= to) return false;
  if (c.dayOfWeek?.some((day) => day === weekdays[at.getUTCDay()]) === false) return false;
  const date = at.toISOString().slice(0, 10);
  if (date < (c.validFromDate ?? date) || (c.validToDate !== undefined && date >= c.validToDate)) return false;
  if (c.evseKind !== undefined && c.evseKind !== s.kind) return false;
  const inside = (value: number, least = -Infinity, most = Infinity) => value >= least && value < most;
  return (
    inside(s.energyWh, c.minEnergy, c.maxEnergy) &&
    inside(s.powerW, c.minPower, c.maxPower) &&
    inside(s.currentA, c.minCurrent, c.maxCurrent) &&
    inside(s.charged + s.idle, c.minTime, c.maxTime) &&
    inside(s.charged, c.minChargingTime, c.maxChargingTime) &&
    inside(s.idle, c.minIdleTime, c.maxIdleTime)
  );
}

export function naiveCost(tariff: Tariff, startMs: number, steps: readonly NaiveStep[], kind: string): NaiveCost {
  const sums = { energy: 0, chargingTime: 0, idleTime: 0 };
  let ms = startMs;
  let wh = 0;
  let charged = 0;
  let idle = 0;
  for (const { seconds, whPerS, powerW, currentA, charging } of steps)
    for (let i = 0; i < seconds; i++) {
      // energies at whole seconds are whole, so that the middle of one tells on which side of a threshold it is
      const second = { localMs: ms, energyWh: wh + whPerS / 2, powerW, currentA, charged, idle, kind };
      const energy = tariff.energy?.prices.find((each) => fits(each.conditions, second));
      sums.energy += ((energy?.priceKwh ?? 0) * whPerS) / 1000;
      const time = charging ? 'chargingTime' : 'idleTime';
      const perMinute = tariff[time]?.prices.find((each) => fits(each.conditions, second));
      sums[time] += (perMinute?.priceMinute ?? 0) / 60;
      ms += 1000;
      wh += whPerS;
      if (charging) charged += 1;
      else idle += 1;
    }
  const begin = { localMs: startMs, energyWh: 0, powerW: 0, currentA: 0, charged: 0, idle: 0, kind };
  const fixed = tariff.fixedFee?.prices.find((each) => fits(each.conditions, begin))?.priceFixed ?? 0;
  const net = fixed + sums.energy + sums.chargingTime + sums.idleTime;
  return {
    ...sums,
    fixed,
    net,
    gross:
      gross(fixed, tariff.fixedFee?.taxRates) +
      gross(sums.energy, tariff.energy?.taxRates) +
      gross(sums.chargingTime, tariff.chargingTime?.taxRates) +
      gross(sums.idleTime, tariff.idleTime?.taxRates),
  };
}
