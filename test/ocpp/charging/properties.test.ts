import { expect } from 'chai';
import fc from 'fast-check';
import { compositeSchedule } from '../../../src/ocpp/charging/composite.ts';
import { limitAt, nextChange, whileOffline } from '../../../src/ocpp/charging/limits.ts';
import { chargingState, noonMs, windowS } from './arbitrary.ts';
import { holds } from '../../support/property.ts';
import { naiveLimit, naivePowers, naiveWatts } from './naive.ts';

const seconds = Array.from({ length: windowS }, (_, s) => s);
const three = {
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 22_000,
  maxCurrentA: 32,
  supplyPhases: [1, 2, 3],
} as const;
const connectors = [1, 2].map((connectorId) => ({ ...three, connectorId }));
const query = { startMs: noonMs, connectors, station: { ...three, connectorId: 0 }, maxPeriods: 10_000 } as const;
const least = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b));

describe('Charging profiles against an evaluation of each second', () => {
  it('a limit that is taken over at each planned instant is right in every second (1.6, 3.13)', () => {
    holds(
      'a limit in every second',
      chargingState,
      (state) => {
        for (const connectorId of [0, 1, 2]) {
          let limit = limitAt(state, connectorId, noonMs);
          let next = nextChange(state, connectorId, noonMs);
          for (const s of seconds) {
            const t = noonMs + s * 1000;
            // as a driver does: nothing but the planned instants
            while (next <= t) {
              limit = limitAt(state, connectorId, next);
              next = nextChange(state, connectorId, next);
            }
            const wanted = naiveLimit(state, connectorId, t);
            // an assertion of chai in each second would take most of the time
            const { watts, amperes } = naivePowers(state, connectorId, t);
            const same =
              limit.limitW === wanted.limitW &&
              limit.limitA === wanted.limitA &&
              limit.numberPhases === wanted.numberPhases &&
              (limit.setpointW ?? null) === watts.setpoint &&
              (limit.setpointA ?? null) === amperes.setpoint &&
              (limit.dischargeLimitW ?? null) === watts.dischargeLimit &&
              (limit.dischargeLimitA ?? null) === amperes.dischargeLimit;
            if (!same) expect({ limit, connectorId, s }).to.deep.equal({ ...wanted, watts, amperes });
          }
        }
      },
      { runs: 250 },
    );
  });

  it('without the central system each profile is in force for its maxOfflineDuration alone (2.1, K01)', () => {
    holds(
      'maxOfflineDuration alone',
      [chargingState, fc.integer({ min: -40, max: windowS })],
      (state, offlineS) => {
        const offlineSinceMs = noonMs + offlineS * 1000;
        const offline = { ...state, profiles: state.profiles.map((each) => whileOffline(each, offlineSinceMs)) };
        for (const connectorId of [0, 1, 2])
          for (const s of seconds) {
            const left = state.profiles.filter(({ maxOfflineS = Infinity }) => s < offlineS + maxOfflineS);
            const wanted = naiveLimit({ ...state, profiles: left }, connectorId, noonMs + s * 1000);
            const { limitW, limitA } = limitAt(offline, connectorId, noonMs + s * 1000);
            if (limitW !== wanted.limitW || limitA !== wanted.limitA)
              expect({ limitW, limitA, connectorId, s }).to.include(wanted);
          }
      },
      { runs: 150 },
    );
  });

  it('a composite schedule holds the lowest limit of each second, in the unit asked for (1.6, 3.13.3)', () => {
    holds(
      'the lowest limit of each second',
      [chargingState, fc.constantFrom('W' as const, 'A' as const)],
      (state, unit) => {
        for (const connectorId of [1, 2]) {
          const schedule = compositeSchedule(state, { ...query, connectorId, durationS: windowS, unit });
          if (schedule === null) throw new Error('no schedule');
          let row = 0;
          for (const s of seconds) {
            while ((schedule.periods[row + 1]?.startS ?? Infinity) <= s) row += 1;
            const t = noonMs + s * 1000;
            const own = naiveLimit(state, connectorId, t);
            const whole = naiveLimit(state, 0, t);
            const both = {
              limitW: least(own.limitW, whole.limitW),
              limitA: least(own.limitA, whole.limitA),
              numberPhases: least(own.numberPhases, whole.numberPhases) as typeof own.numberPhases,
            };
            const watts = naiveWatts(both);
            const wanted = watts === null || unit === 'W' ? watts : watts / (230 * (both.numberPhases ?? 3));
            const given = schedule.periods[row];
            const limit = given?.limit ?? null;
            const same = wanted === null ? limit === null : limit !== null && Math.abs(limit - wanted) < 1e-5;
            if (!same || given?.numberPhases !== both.numberPhases)
              expect(given, `connector ${connectorId} after ${s} s`).to.deep.include({ ...both, limit: wanted });
          }
          expect(schedule.periods[0]?.startS).to.equal(0);
          for (const [i, period] of schedule.periods.entries())
            if (i > 0) expect({ ...period, startS: 0 }).to.not.deep.equal({ ...schedule.periods[i - 1], startS: 0 });
        }
      },
      { runs: 250 },
    );
  });

  it('the grid connection shows the lower one of its own limit and of the sum of the connectors', () => {
    holds(
      'the lower one at the grid connection',
      chargingState,
      (state) => {
        const schedule = compositeSchedule(state, { ...query, connectorId: 0, durationS: windowS, unit: 'W' });
        let row = 0;
        for (const s of seconds) {
          while ((schedule?.periods[row + 1]?.startS ?? Infinity) <= s) row += 1;
          const [whole, ...each] = [0, 1, 2].map((id) => naiveWatts(naiveLimit(state, id, noonMs + s * 1000)));
          const sum = each.every((w) => w === null)
            ? null
            : Math.min(
                22_000,
                each.reduce<number>((total, w) => total + Math.min(22_000, w ?? 22_000), 0),
              );
          const wanted = least(whole ?? null, sum);
          const limit = schedule?.periods[row]?.limit ?? null;
          const same = wanted === null ? limit === null : limit !== null && Math.abs(limit - wanted) < 1e-5;
          if (!same) expect(schedule?.periods[row], `${s} s`).to.include({ limit: wanted });
        }
      },
      { runs: 200 },
    );
  });
});
