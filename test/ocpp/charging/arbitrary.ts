/** Random charging profiles whose instants lie near each other, so that they meet. */
import fc from 'fast-check';
import type { ChargingProfile, ChargingState, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';

export const noonMs = Date.UTC(2026, 5, 21, 12);
/** What is looked at begins at noon and lasts this long. */
export const windowS = 120;

const instant = fc.integer({ min: -windowS, max: windowS + 20 }).map((s) => noonMs + s * 1000);
/** also days and weeks before, for what recurs */
const longAgo = fc.tuple(instant, fc.constantFrom(0, 1, 6, 7, 14)).map(([ms, days]) => ms - days * 86_400_000);
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 2 });

const periods: fc.Arbitrary<readonly SchedulePeriod[]> = fc
  .array(
    fc.record({
      gapS: fc.integer({ min: 1, max: 60 }),
      limit: fc.integer({ min: 0, max: 40 }),
      numberPhases: fc.constantFrom(null, null, 1 as const, 2 as const, 3 as const),
      // of 2.1: power in both directions
      powers: fc.option(
        fc.record({ setpoint: fc.integer({ min: -40, max: 40 }), dischargeLimit: fc.integer({ min: -40, max: 0 }) }),
        { freq: 2 },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((rows) => {
    let startS = 0;
    return rows.map(({ gapS, limit, numberPhases, powers }, i) => {
      startS += i === 0 ? 0 : gapS;
      return { startS, limit, numberPhases, ...powers };
    });
  });

const inWatts = ({ limit, setpoint, dischargeLimit, ...row }: SchedulePeriod): SchedulePeriod => ({
  ...row,
  limit: (limit ?? 0) * 500,
  ...(setpoint !== undefined && { setpoint: setpoint * 500 }),
  ...(dischargeLimit !== undefined && { dischargeLimit: dischargeLimit * 500 }),
});

const ofStation: readonly ChargingProfile['purpose'][] = ['station_max', 'local_generation'];

const profile: fc.Arbitrary<ChargingProfile> = fc
  .record({
    profileId: fc.nat(1000),
    place: fc.integer({ min: 0, max: 2 }),
    // few levels, so that profiles meet on one
    stackLevel: fc.integer({ min: 0, max: 2 }),
    // most of those whose profiles of the station and of a connector meet
    purpose: fc.oneof(
      { arbitrary: fc.constantFrom('tx_default' as const, 'priority' as const), weight: 1 },
      {
        arbitrary: fc.constantFrom(
          'station_max' as const,
          'tx' as const,
          'external' as const,
          'local_generation' as const,
        ),
        weight: 1,
      },
    ),
    kind: fc.constantFrom(
      'absolute' as const,
      'recurring_daily' as const,
      'recurring_weekly' as const,
      'relative' as const,
      'dynamic' as const,
    ),
    validFromMs: fc.option(instant, { nil: null, freq: 3 }),
    validForS: orNull(fc.integer({ min: 0, max: 100 })),
    transactionId: fc.constantFrom(null, '1', '2', '3'),
    unit: fc.constantFrom('W' as const, 'A' as const),
    durationS: orNull(fc.oneof(fc.integer({ min: 1, max: 110 }), fc.constantFrom(86_400, 200_000, 700_000))),
    startMs: orNull(longAgo),
    periods,
    receivedMs: instant,
    maxOfflineS: fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined, freq: 2 }),
  })
  .map(({ maxOfflineS, place, validForS, unit, durationS, startMs, periods: rows, ...rest }) => ({
    ...rest,
    ...(maxOfflineS !== undefined && { maxOfflineS }),
    connectorId: ofStation.includes(rest.purpose) ? 0 : rest.purpose === 'tx' ? Math.max(1, place) : place,
    validToMs: validForS === null ? null : (rest.validFromMs ?? noonMs) + validForS * 1000,
    schedule: {
      unit,
      durationS,
      startMs,
      minChargingRate: null,
      periods: unit === 'W' ? rows.map(inWatts) : rows,
    },
  }));

const station = { type: 'ac', phases: 3, nominalVoltageV: 230 } as const;

/** Two connectors; a transaction may run at each. */
export const chargingState: fc.Arbitrary<ChargingState> = fc.record({
  profiles: fc.array(profile, { minLength: 1, maxLength: 9, size: 'max' }),
  transactions: fc
    .tuple(
      ...[1, 2].map((connectorId) =>
        fc.option(
          fc.record({
            connectorId: fc.constant(connectorId),
            transactionId: fc.constantFrom('1', '2', null),
            startedMs: instant,
            priority: fc.boolean(),
          }),
        ),
      ),
    )
    .map((each) => each.filter((transaction) => transaction !== null)),
  precedence: fc.constantFrom('connector_first' as const, 'stack_level' as const),
  station: fc.constant(station),
});
