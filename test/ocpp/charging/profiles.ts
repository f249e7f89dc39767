/** Charging profiles and states of tests, each a change of a plain one: 10 kW of the station from noon on. */
import type { ChargingProfile, ChargingState, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';

export type Change = Partial<Omit<ChargingProfile, 'schedule'>> & {
  readonly schedule?: Partial<ChargingProfile['schedule']>;
};

export function profile({ schedule, ...rest }: Change = {}): ChargingProfile {
  return {
    profileId: 1,
    connectorId: 0,
    stackLevel: 0,
    purpose: 'station_max',
    kind: 'absolute',
    validFromMs: null,
    validToMs: null,
    transactionId: null,
    receivedMs: noonMs,
    ...rest,
    schedule: {
      unit: 'W',
      durationS: null,
      startMs: null,
      minChargingRate: null,
      periods: [{ startS: 0, limit: 10_000, numberPhases: null }],
      ...schedule,
    },
  };
}

/** One period from the start on. */
export const one = (period: Partial<SchedulePeriod>) => [{ startS: 0, limit: null, numberPhases: null, ...period }];

/** Periods from pairs of start and limit. */
export const periods = (...rows: readonly (readonly [startS: number, limit: number])[]): readonly SchedulePeriod[] =>
  rows.map(([startS, limit]) => ({ startS, limit, numberPhases: null }));

export const station = { connectorId: 0, type: 'ac', phases: 3, nominalVoltageV: 230, maxPowerW: 44_000 } as const;

export function stateOf(profiles: readonly Change[], change: Partial<ChargingState> = {}): ChargingState {
  return { profiles: profiles.map(profile), transactions: [], precedence: 'stack_level', station, ...change };
}
