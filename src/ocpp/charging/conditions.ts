/** Periods of 2.1 that follow frequency, signal or state of charge; and profiles without the central system. */
import type { ChargingProfile, ChargingSchedule, Conditions, SchedulePeriod, WattCurve } from './model.ts';

/** Power of a curve, linear between its points and level outside of them. */
export function wattsAt(curve: WattCurve, at: number): number {
  let before: WattCurve[number] | undefined;
  for (const point of curve) {
    if (at <= point[0]) {
      if (before === undefined) return point[1];
      return before[1] + ((at - before[0]) / (point[0] - before[0])) * (point[1] - before[1]);
    }
    before = point;
  }
  return before?.[1] ?? 0;
}

/** W, whole: a finer set-point would be a new one at each reading of a frequency. */
function frequencySetpoint(
  { baselineW, curve, signalCurve }: NonNullable<SchedulePeriod['frequencyWatt']>,
  frequencyHz: number,
  signal: number | null,
): number {
  const ofSignal = signal === null || signalCurve === null ? 0 : wattsAt(signalCurve, signal);
  return Math.round(baselineW + wattsAt(curve, frequencyHz) + ofSignal);
}

/** A period as it acts under the conditions at its connector. */
export function underConditions(
  period: SchedulePeriod,
  { limitAtSoc }: ChargingSchedule,
  conditions: Conditions | undefined,
): SchedulePeriod {
  if (conditions === undefined) return period;
  const { frequencyHz, signal, socPct, mayDischarge } = conditions;
  let { limit, setpoint, dischargeLimit } = period;
  if (period.frequencyWatt !== undefined && frequencyHz !== null)
    setpoint = frequencySetpoint(period.frequencyWatt, frequencyHz, signal);
  if (limitAtSoc !== undefined && socPct !== null && socPct >= limitAtSoc.socPct) {
    limit = Math.min(limit ?? Infinity, limitAtSoc.limit);
    if (setpoint !== undefined) setpoint = Math.min(setpoint, limitAtSoc.limit);
  }
  if (!mayDischarge) {
    if (setpoint !== undefined) setpoint = Math.max(0, setpoint);
    if (dischargeLimit !== undefined) dischargeLimit = 0;
  }
  return {
    ...period,
    limit,
    ...(setpoint !== undefined && { setpoint }),
    ...(dischargeLimit !== undefined && { dischargeLimit }),
  };
}

/** A profile while the central system cannot be reached. @param offlineSinceMs null: it can */
export function whileOffline(profile: ChargingProfile, offlineSinceMs: number | null): ChargingProfile {
  if (offlineSinceMs === null || profile.maxOfflineS === undefined) return profile;
  const endMs = offlineSinceMs + profile.maxOfflineS * 1000;
  return { ...profile, validToMs: Math.min(profile.validToMs ?? Infinity, endMs) };
}
