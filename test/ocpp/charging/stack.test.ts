import { expect } from 'chai';
import { combined, deciding, followsConditions, limitAt, nextChange } from '../../../src/ocpp/charging/limits.ts';
import type { ChargingState, Limit, ProfilePurpose, RunningTransaction } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';
import { one, periods, stateOf } from './profiles.ts';
import type { Change } from './profiles.ts';

const open: Limit = { limitW: null, limitA: null, numberPhases: null };
const running: RunningTransaction = { connectorId: 1, transactionId: 'T', startedMs: noonMs };
const watts = (limit: number | null) => ({ periods: one({ limit }) });

describe('Charging profiles: two limits together', () => {
  it('watts, amperes and phases have a minimum each', () => {
    const a = { limitW: 5000, limitA: null, numberPhases: 3 } as const;
    const b = { limitW: 4000, limitA: 16, numberPhases: 1 } as const;
    expect(combined(a, b)).to.deep.equal({ limitW: 4000, limitA: 16, numberPhases: 1 });
    expect(combined(b, a)).to.deep.equal({ limitW: 4000, limitA: 16, numberPhases: 1 });
    for (const each of [a, b]) {
      expect(combined(each, open)).to.deep.equal(each);
      expect(combined(open, each)).to.deep.equal(each);
    }
    expect(combined(open, open)).to.deep.equal(open);
  });

  it('a limit of 0 is one', () => {
    const none = { limitW: 0, limitA: 0, numberPhases: null };
    const some = { limitW: 1, limitA: 1, numberPhases: null };
    expect(combined(none, some)).to.deep.equal(none);
    expect(combined(some, none)).to.deep.equal(none);
  });

  it('a set-point of the first replaces that of the second, in whichever unit', () => {
    const inW = { ...open, setpointW: -5 };
    const inA = { ...open, setpointA: 7 };
    expect(combined(inW, inA)).to.deep.equal(inW);
    expect(combined(inA, inW)).to.deep.equal(inA);
    expect(combined(open, inW)).to.deep.equal(inW);
    expect(combined(open, inA)).to.deep.equal(inA);
    expect(combined(inW, { ...open, setpointW: 0 })).to.deep.equal(inW);
    expect(combined({ ...open, setpointW: 0 }, inW)).to.deep.equal({ ...open, setpointW: 0 });
  });

  it('of discharge limits the one nearer to 0 holds, and one alone holds', () => {
    const of = (dischargeLimitW: number, dischargeLimitA: number) => ({ ...open, dischargeLimitW, dischargeLimitA });
    expect(combined(of(-3, -8), of(-4, -7))).to.deep.equal(of(-3, -7));
    expect(combined(of(-3, -8), open)).to.deep.equal(of(-3, -8));
    expect(combined(open, of(-3, -8))).to.deep.equal(of(-3, -8));
    expect(combined({ ...open, dischargeLimitW: -3 }, { ...open, dischargeLimitA: -8 })).to.deep.equal(of(-3, -8));
  });

  it('the mode is that of the first that has one', () => {
    const [idle, central] = [
      { ...open, mode: 'Idle' },
      { ...open, mode: 'CentralSetpoint' },
    ] as const;
    expect(combined(idle, central).mode).to.equal('Idle');
    expect(combined(open, central).mode).to.equal('CentralSetpoint');
    expect(combined(open, open)).to.not.have.property('mode');
  });
});

describe('Charging profiles: where each purpose has a say', () => {
  const places: readonly (readonly [purpose: ProfilePurpose, at: number, concerned: readonly number[]])[] = [
    ['station_max', 0, [0]],
    ['station_max', 1, [0]],
    ['local_generation', 0, [0]],
    ['local_generation', 1, [0]],
    ['external', 0, [0]],
    ['external', 1, [1]],
    ['tx_default', 0, [1, 2]],
    ['tx_default', 1, [1]],
    ['tx', 1, [1]],
    ['tx', 2, []],
    ['priority', 0, [1]],
    ['priority', 1, [1]],
    ['priority', 2, []],
  ];
  const transactions = [{ ...running, priority: true }];

  it('a profile changes the limits of no other place', () => {
    for (const [purpose, connectorId, concerned] of places) {
      const schedule = { startMs: noonMs, periods: periods([0, 5000], [10, 4000]) };
      const state = stateOf([{ purpose, connectorId, schedule }], { transactions });
      const changed = [0, 1, 2].filter((id) => nextChange(state, id, noonMs) === noonMs + 10_000);
      expect(changed, `${purpose} at ${connectorId}`).to.deep.equal(concerned);
      const others = [0, 1, 2].filter((id) => nextChange(state, id, noonMs) === Infinity);
      expect(others.length, `${purpose} at ${connectorId}`).to.equal(3 - concerned.length);
      const decides = [0, 1, 2].filter((id) => deciding(state, id, noonMs).length > 0);
      expect(decides, `${purpose} at ${connectorId}`).to.deep.equal(concerned);
    }
  });

  it('a profile of a transaction needs it, that of priority its priority', () => {
    const limit = (change: Change, ...all: readonly RunningTransaction[]) =>
      limitAt(stateOf([{ connectorId: 1, schedule: watts(5000), ...change }], { transactions: all }), 1, noonMs).limitW;
    const tx = { purpose: 'tx' } as const;
    expect(limit(tx)).to.equal(null);
    expect(limit(tx, running)).to.equal(5000);
    expect(limit({ ...tx, transactionId: 'T' })).to.equal(null);
    expect(limit({ ...tx, transactionId: 'T' }, running)).to.equal(5000);
    expect(limit({ ...tx, transactionId: 'U' }, running)).to.equal(null);
    expect(limit({ ...tx, transactionId: 'T' }, { ...running, transactionId: null })).to.equal(null);
    expect(limit(tx, { ...running, connectorId: 2 })).to.equal(null);
    const priority = { purpose: 'priority' } as const;
    expect(limit(priority)).to.equal(null);
    expect(limit(priority, running)).to.equal(null);
    expect(limit(priority, { ...running, priority: true })).to.equal(5000);
  });

  it('priority comes before the transaction, and that before the default; an outside limit holds beside them', () => {
    const purposes = ['tx_default', 'tx', 'priority', 'external'] as const;
    const all = purposes.map((purpose, profileId): Change => ({ purpose, profileId, connectorId: 1 }));
    const decide = (state: ChargingState) => deciding(state, 1, noonMs).map(({ purpose }) => purpose);
    expect(decide(stateOf(all, { transactions }))).to.deep.equal(['priority', 'external']);
    expect(decide(stateOf(all, { transactions: [running] }))).to.deep.equal(['tx', 'external']);
    expect(decide(stateOf(all))).to.deep.equal(['tx_default', 'external']);
    expect(decide(stateOf([]))).to.deep.equal([]);
    const ofStation = (['local_generation', 'external', 'station_max'] as const).map(
      (purpose): Change => ({ purpose }),
    );
    expect(deciding(stateOf(ofStation), 0, noonMs).map(({ purpose }) => purpose)).to.deep.equal([
      'station_max',
      'external',
      'local_generation',
    ]);
  });

  it('of equal profiles that came at one instant the first one decides', () => {
    for (const precedence of ['stack_level', 'connector_first'] as const) {
      const state = stateOf([{ schedule: watts(1) }, { schedule: watts(2) }, { schedule: watts(3) }], { precedence });
      expect(limitAt(state, 0, noonMs).limitW, precedence).to.equal(1);
    }
  });

  it('one that is not in force leaves the decision to the next', () => {
    const state = stateOf([
      { stackLevel: 1, schedule: watts(1) },
      { stackLevel: 2, schedule: watts(2), validToMs: noonMs },
      { stackLevel: 3, schedule: watts(3), validFromMs: noonMs + 1 },
    ]);
    expect(limitAt(state, 0, noonMs).limitW).to.equal(1);
    expect(limitAt(state, 0, noonMs - 1).limitW).to.equal(null);
    expect(limitAt(state, 0, noonMs + 1).limitW).to.equal(3);
  });
});

describe('Charging profiles: what a period gives', () => {
  it('its members in the unit of the schedule, two phases as one', () => {
    const period = { limit: 8, setpoint: -6, dischargeLimit: -7, numberPhases: 2, mode: 'CentralSetpoint' } as const;
    const of = (unit: 'W' | 'A') => limitAt(stateOf([{ schedule: { unit, periods: one(period) } }]), 0, noonMs);
    const both = { numberPhases: 1, mode: 'CentralSetpoint' } as const;
    expect(of('W')).to.deep.equal({ ...both, limitW: 8, limitA: null, setpointW: -6, dischargeLimitW: -7 });
    expect(of('A')).to.deep.equal({ ...both, limitW: null, limitA: 8, setpointA: -6, dischargeLimitA: -7 });
    const three = stateOf([{ schedule: { periods: one({ limit: 1, numberPhases: 3 }) } }]);
    expect(limitAt(three, 0, noonMs)).to.deep.equal({ limitW: 1, limitA: null, numberPhases: 3 });
  });

  it('conditions of a connector are those of no other', () => {
    const period = { setpoint: -5 } as const;
    const conditions = new Map([[1, { frequencyHz: null, signal: null, socPct: null, mayDischarge: false }]]);
    const state = stateOf([{ purpose: 'tx_default', schedule: { periods: one(period) } }], { conditions });
    expect([1, 2].map((id) => limitAt(state, id, noonMs).setpointW)).to.deep.equal([0, -5]);
  });

  it('a state of charge or a frequency is followed by the profile that decides alone', () => {
    const frequencyWatt = { baselineW: 0, curve: [], signalCurve: null };
    const soc = { limitAtSoc: { socPct: 80, limit: 5 } };
    const follows = (...changes: readonly Change[]) => followsConditions(stateOf(changes), 0, noonMs);
    expect(follows({})).to.equal(false);
    expect(follows({ schedule: soc })).to.equal(true);
    expect(follows({ schedule: { periods: one({ frequencyWatt }) } })).to.equal(true);
    expect(follows({ schedule: soc }, { stackLevel: 1 })).to.equal(false);
    expect(follows({}, { purpose: 'external', schedule: soc })).to.equal(true);
    expect(follows({ validToMs: noonMs, schedule: soc })).to.equal(false);
    expect(
      follows({
        schedule: { periods: [...one({ limit: 5 }), { startS: 10, limit: null, numberPhases: null, frequencyWatt }] },
      }),
    ).to.equal(false);
  });
});

describe('Charging profiles: local generation (2.1)', () => {
  const generation = (schedule: Change['schedule']): Change => ({
    purpose: 'local_generation',
    ...(schedule && { schedule }),
  });
  const amperes = (limit: number) => ({ unit: 'A', periods: one({ limit }) }) as const;
  const dc = { type: 'dc', phases: 3, nominalVoltageV: 500 } as const;
  const both = [{ schedule: watts(1000) }, { purpose: 'external', schedule: amperes(10) }] as const;

  it('adds to watts and to amperes, on every phase of the station', () => {
    const at = (...changes: readonly Change[]) => limitAt(stateOf(changes), 0, noonMs);
    expect(at(...both, generation(watts(690)))).to.deep.equal({ limitW: 1690, limitA: 11, numberPhases: null });
    expect(at(...both, generation(amperes(2)))).to.deep.equal({ limitW: 2380, limitA: 12, numberPhases: null });
    expect(at(...both, generation(watts(null)))).to.deep.equal({ limitW: 1000, limitA: 10, numberPhases: null });
    expect(at(...both, generation(watts(0)))).to.deep.equal({ limitW: 1000, limitA: 10, numberPhases: null });
  });

  it('counts the one voltage of a DC supply, and the one phase of a single-phase supply', () => {
    const at = (station: ChargingState['station'], schedule: Change['schedule']) =>
      limitAt(stateOf([...both, generation(schedule)], { station }), 0, noonMs);
    expect(at(dc, watts(500))).to.include({ limitW: 1500, limitA: 11 });
    expect(at(dc, amperes(2))).to.include({ limitW: 2000, limitA: 12 });
    expect(at({ type: 'ac', phases: 1, nominalVoltageV: 230 }, amperes(1))).to.include({ limitW: 1230 });
  });

  it('keeps what else the limit has', () => {
    const schedule = { periods: one({ limit: 5, dischargeLimit: -5, numberPhases: 1 }) };
    expect(limitAt(stateOf([{ schedule }, generation(watts(1))]), 0, noonMs)).to.deep.equal({
      limitW: 6,
      limitA: null,
      numberPhases: 1,
      dischargeLimitW: -5,
    });
  });
});
