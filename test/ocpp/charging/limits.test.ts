import { expect } from 'chai';
import { compositeSchedule } from '../../../src/ocpp/charging/composite.ts';
import { limitAt, nextChange } from '../../../src/ocpp/charging/limits.ts';
import type { ChargingProfile, ChargingState } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';

type Change = Partial<Omit<ChargingProfile, 'schedule'>> & { readonly schedule?: Partial<ChargingProfile['schedule']> };

function profile({ schedule, ...rest }: Change): ChargingProfile {
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

const station = {
  connectorId: 0,
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 44_000,
  maxCurrentA: 64,
  supplyPhases: [1, 2, 3],
} as const;
const dc = {
  connectorId: 1,
  type: 'dc',
  phases: 1,
  nominalVoltageV: 1000,
  maxPowerW: 50_000,
  maxCurrentA: 125,
  supplyPhases: [],
} as const;
const stateOf = (...profiles: readonly Change[]): ChargingState => ({
  profiles: profiles.map(profile),
  transactions: [],
  precedence: 'stack_level',
  station,
});
const only = (limit: number) => [{ startS: 0, limit, numberPhases: null }];
const dayS = 86_400;

describe('Charging profiles: limits', () => {
  it('local generation adds to the limit of the station, in its unit, and limits nothing by itself (OCPP 2.1)', () => {
    const generation = { purpose: 'local_generation', schedule: { periods: only(3450) } } as const;
    expect(limitAt(stateOf({}, generation), 0, noonMs).limitW).to.equal(13_450);
    const inA = stateOf({ schedule: { unit: 'A', periods: only(16) } }, generation);
    expect(limitAt(inA, 0, noonMs)).to.include({ limitW: null, limitA: 21 });
    expect(limitAt(stateOf(generation), 0, noonMs)).to.include({ limitW: null, limitA: null });
  });

  it('recurs at the instants of its first day; what exceeds the period is not executed (1.6, 5.16.4)', () => {
    const startMs = noonMs - 3 * dayS * 1000;
    const periods = [
      ...only(10_000),
      { startS: 3600, limit: 5000, numberPhases: null },
      { startS: dayS + 60, limit: 1, numberPhases: null },
    ];
    const daily = stateOf({ kind: 'recurring_daily', schedule: { startMs, durationS: 2 * dayS, periods } });
    const limitW = (s: number) => limitAt(daily, 0, noonMs + s * 1000).limitW;
    expect([-1, 0, 3599, 3600, dayS - 1, dayS, dayS + 60].map(limitW)).to.deep.equal([
      5000, 10_000, 10_000, 5000, 5000, 10_000, 10_000,
    ]);
    expect(nextChange(daily, 0, noonMs)).to.equal(noonMs + 3_600_000);
    expect(nextChange(daily, 0, noonMs + 3_600_000)).to.equal(noonMs + dayS * 1000);
    expect(limitAt(daily, 0, startMs - 1).limitW).to.equal(null);
  });

  it('amperes of the grid connection are none of a DC connector: they reach it as watts', () => {
    const state = stateOf({ schedule: { unit: 'A', periods: only(20) } });
    const query = { connectorId: 1, startMs: noonMs, durationS: 60, connectors: [dc], station, maxPeriods: 9 } as const;
    expect(compositeSchedule(state, { ...query, unit: 'W' })?.periods).to.deep.equal(only(13_800));
    expect(compositeSchedule(state, { ...query, unit: 'A' })?.periods).to.deep.equal(only(13.8));
    expect(compositeSchedule(state, { ...query, connectorId: 0, unit: 'A' })?.periods).to.deep.equal(only(20));
    expect(compositeSchedule(state, { ...query, connectorId: 2, unit: 'A' })).to.equal(null);
  });

  it('two phases count as one, in the limit, in watts and in the schedule shown: contactors switch one phase or all', () => {
    const ac = { ...station, connectorId: 1 };
    const query = { startMs: noonMs, durationS: 60, connectors: [ac], station, maxPeriods: 9 } as const;
    for (const unit of ['A', 'W'] as const) {
      const limit = unit === 'A' ? 10 : 2300;
      const state = stateOf({ schedule: { unit, periods: [{ startS: 0, limit, numberPhases: 2 }] } });
      expect(limitAt(state, 0, noonMs).numberPhases).to.equal(1);
      for (const connectorId of [0, 1]) {
        const shown = (asked: 'A' | 'W') => compositeSchedule(state, { ...query, connectorId, unit: asked })?.periods;
        expect(shown('W')).to.deep.equal([{ startS: 0, limit: 2300, numberPhases: 1 }]);
        expect(shown('A')).to.deep.equal([{ startS: 0, limit: 10, numberPhases: 1 }]);
      }
    }
  });

  it('a composite schedule that would have too many periods ends before', () => {
    const periods = [0, 1, 2, 3].map((startS) => ({ startS, limit: startS, numberPhases: null }));
    const query = { connectorId: 0, startMs: noonMs, durationS: 60, connectors: [dc], station, unit: 'W' } as const;
    const cut = compositeSchedule(stateOf({ schedule: { periods } }), { ...query, maxPeriods: 2 });
    expect(cut).to.deep.include({ durationS: 2, periods: periods.slice(0, 2) });
  });
});

describe('Charging profiles: the one that prevails', () => {
  const amperes = (limit: number) => ({ schedule: { unit: 'A', periods: only(limit) } }) as const;
  const running = { connectorId: 1, transactionId: 'T', startedMs: noonMs } as const;
  /** The limit at connector 1 with these profiles, in either order of receipt. */
  const limitOf = (precedence: ChargingState['precedence'], ...changes: readonly Change[]) => {
    const state = (order: readonly Change[]): ChargingState => ({
      ...stateOf(...order.map((change, profileId) => ({ profileId, ...change }))),
      transactions: [running],
      precedence,
    });
    const limits = [changes, [...changes].reverse()].map((order) => limitAt(state(order), 1, noonMs).limitA);
    expect(limits[0]).to.equal(limits[1]);
    return limits[0];
  };
  const ofStation = { purpose: 'tx_default', connectorId: 0 } as const;
  const ofConnector = { purpose: 'tx_default', connectorId: 1 } as const;

  it('of one purpose is that of the highest stackLevel (1.6, 3.13.2)', () => {
    const levels = [0, 1, 2].map((stackLevel): Change => ({ ...ofConnector, ...amperes(10 + stackLevel), stackLevel }));
    expect(limitOf('stack_level', ...levels)).to.equal(12);
    expect(limitOf('connector_first', ...levels)).to.equal(12);
  });

  it('is that of the connector whatever the stackLevel in 1.6 (3.13.1), and that of the stackLevel in 2.x (K01)', () => {
    const high = { ...ofStation, ...amperes(20), stackLevel: 9 };
    const own = { ...ofConnector, ...amperes(10), stackLevel: 0 };
    expect(limitOf('connector_first', high, own)).to.equal(10);
    expect(limitOf('stack_level', high, own)).to.equal(20);
  });

  it('of equal stackLevels is that of the connector, then the later one', () => {
    for (const precedence of ['connector_first', 'stack_level'] as const) {
      expect(limitOf(precedence, { ...ofStation, ...amperes(20) }, { ...ofConnector, ...amperes(10) })).to.equal(10);
      const later = { ...ofConnector, ...amperes(20), receivedMs: noonMs };
      const earlier = { ...ofConnector, ...amperes(10), receivedMs: noonMs - 1 };
      expect(limitOf(precedence, later, earlier)).to.equal(20);
    }
  });

  it('of the transaction replaces the default, also with a higher limit (1.6, 3.13.1)', () => {
    const ofTransaction = { purpose: 'tx', connectorId: 1, transactionId: 'T' } as const;
    const byDefault = { ...ofConnector, ...amperes(10), stackLevel: 9 };
    expect(limitOf('stack_level', { ...ofTransaction, ...amperes(20) }, byDefault)).to.equal(20);
    expect(limitOf('stack_level', { ...ofTransaction, ...amperes(20), transactionId: 'U' }, byDefault)).to.equal(10);
  });

  it('holds from validFrom on, and ends at validTo and at the end of its duration', () => {
    const limits = (change: Change) => [-1, 0, 999, 1000].map((ms) => limitAt(stateOf(change), 0, noonMs + ms).limitW);
    expect(limits({ receivedMs: noonMs - 10_000, validFromMs: noonMs, validToMs: noonMs + 1000 })).to.deep.equal([
      null,
      10_000,
      10_000,
      null,
    ]);
    expect(limits({ schedule: { startMs: noonMs, durationS: 1 } })).to.deep.equal([null, 10_000, 10_000, null]);
  });
});
