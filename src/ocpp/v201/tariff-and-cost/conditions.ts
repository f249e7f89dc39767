/** Conditions of price elements as functions of an instant of a transaction (2.1, I07 to I12). */
import type { DayOfWeekEnum, EvseKindEnum, TariffConditions, TariffConditionsFixed } from '../messages.ts';

/** A transaction at one instant, as conditions look at it. */
export interface PriceInstant {
  /** time on the clock of the place, ms as of a UTC calendar */
  readonly localMs: number;
  readonly evseKind: EvseKindEnum;
  /** since the start; below 0 where more was discharged than charged */
  readonly energyWh: number;
  /** + into the vehicle */
  readonly powerW: number;
  /** sum of the phases, + into the vehicle */
  readonly currentA: number;
  readonly chargingS: number;
  readonly idleS: number;
}

/** The start of a transaction, as conditions of fixed fees look at it. */
interface FixedInstant {
  readonly localMs: number;
  readonly evseKind: EvseKindEnum;
  /** of the token; null: it tells none */
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

/** From the start, inclusive, to the end, exclusive; over midnight where the end is before the start. */
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

/** `min` is the end of the range nearer to zero and belongs to it, `max` the other and does not. */
function isInRange(value: number, min: number | undefined, max: number | undefined): boolean {
  if (min !== undefined && (min < 0 ? value > min : value < min)) return false;
  return max === undefined || (max < 0 ? value > max : value < max);
}

/** True if every condition of an energy or time price holds; absent conditions do. */
export function holds(conditions: TariffConditions | undefined, at: PriceInstant): boolean {
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

/** True if every condition of a fixed fee holds at the start of a transaction; absent conditions do. */
export function holdsAtStart(conditions: TariffConditionsFixed | undefined, at: FixedInstant): boolean {
  if (conditions === undefined) return true;
  const { paymentBrand, paymentRecognition } = conditions;
  if (paymentBrand !== undefined && paymentBrand !== at.paymentBrand) return false;
  if (paymentRecognition !== undefined && paymentRecognition !== at.paymentRecognition) return false;
  return isOnDay(conditions, at.localMs, at.evseKind);
}

/** Ms from a local instant to the next one at which the answer of a condition on day or hour may change; at least 1. */
export function msToBoundary(conditions: readonly TariffConditions[], localMs: number): number {
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
  // below a microsecond it has been reached, but for the rounding of numbers
  return s > 1e-6 ? s : Infinity;
};

/** Seconds until the first threshold of energy or duration is reached; Infinity: none will be. */
export function sToThreshold(conditions: readonly TariffConditions[], at: Slopes): number {
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
