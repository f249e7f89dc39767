import { expect } from 'chai';
import { createNotices, isSignificant } from '../../../../src/ocpp/v201/charging/external.ts';
import type { NoticeDeps } from '../../../../src/ocpp/v201/charging/external.ts';
import { setpointWAt } from '../../../../src/ocpp/v201/charging/convert.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { one, stateOf } from '../../charging/profiles.ts';
import type { Change } from '../../charging/profiles.ts';

const rating = {
  connectorId: 1,
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 22_000,
  maxCurrentA: 32,
  bidirectional: true,
  supplyPhases: [1, 2, 3],
  attachedCable: false,
} as const;

describe('OCPP 2.x LimitChangeSignificance', () => {
  it('is a percentage of the value before, in either direction and of either sign', () => {
    const at = (before: number | null, now: number, percent = 10) =>
      isSignificant(before, now, { decimal: () => percent });
    expect([1099, 1100, 901, 900].map((now) => at(1000, now))).to.deep.equal([false, true, false, true]);
    expect([-1099, -1100, -901, -900].map((now) => at(-1000, now))).to.deep.equal([false, true, false, true]);
    expect([at(null, 5), at(null, 0), at(0, 0.1), at(0, -0.1)]).to.deep.equal([true, true, true, true]);
    expect([at(5, 5, 0), at(0, 0, 0)]).to.deep.equal([false, false]);
  });
});

describe('OCPP 2.1 set-points that meters show', () => {
  const at = (period: Parameters<typeof one>[0], unit: 'W' | 'A' = 'W', evseId = 1) =>
    setpointWAt(
      { ratings: [rating] },
      {
        nowMs: noonMs,
        state: stateOf([{ connectorId: evseId, purpose: 'external', schedule: { unit, periods: one(period) } }]),
      },
      evseId,
    );

  it('are watts, on the phases in use; none is none', () => {
    expect(at({ setpoint: -5 })).to.equal(-5);
    expect(at({ setpoint: 0 })).to.equal(0);
    expect(at({ setpoint: 10 }, 'A')).to.equal(6900);
    expect(at({ setpoint: 10, numberPhases: 1 }, 'A')).to.equal(2300);
    expect(at({ limit: 5 })).to.equal(null);
    expect(at({ setpoint: 5 }, 'W', 2)).to.equal(null);
  });
});

describe('OCPP 2.x notices of the limits of transactions (E02, Q)', () => {
  function noticeRig(version: 'ocpp2.0.1' | 'ocpp2.1' = 'ocpp2.1') {
    const updates: unknown[] = [];
    const state = { profiles: [] as readonly Change[], outsideW: null as number | null, percent: 10, evseId: 1 };
    const running = [{ transactionId: 'T', evseId: 1 }];
    const deps = {
      parts: {
        version,
        variables: { decimal: () => state.percent },
        device: { ratings: [rating], stationRating: { ...rating, connectorId: 0, maxPowerW: 44_000 } },
      },
      control: {
        nowMs: noonMs,
        get state() {
          return stateOf(state.profiles);
        },
      },
      external: { limitAt: () => state.outsideW },
      transactions: {
        running,
        update: (evseId: number, trigger: string, extras: object) => updates.push([evseId, trigger, extras]),
      },
    };
    const notices = createNotices(deps as unknown as NoticeDeps);
    return {
      state,
      running,
      notices,
      /** What is told of these profiles at EVSE 1, or of the station. */
      told: (...profiles: readonly Change[]) => {
        state.profiles = profiles;
        notices.reportChanges();
        return updates.splice(0);
      },
    };
  }
  const at1 = (period: Parameters<typeof one>[0], unit: 'W' | 'A' = 'W'): Change => ({
    connectorId: 1,
    purpose: 'external',
    schedule: { unit, periods: one(period) },
  });
  const rate = (operationMode: string) => [1, 'ChargingRateChanged', { operationMode }];
  const mode = (operationMode: string) => [1, 'OperationModeChanged', { operationMode }];

  it('the first look tells nothing, a later change as much as is significant', () => {
    const { told } = noticeRig();
    expect(told(at1({ limit: 10_000 }))).to.deep.equal([]);
    expect(told(at1({ limit: 9001 }))).to.deep.equal([]);
    expect(told(at1({ limit: 9000 }))).to.deep.equal([rate('ChargingOnly')]);
    expect(told(at1({ limit: 9000 }))).to.deep.equal([]);
    expect(told(at1({ limit: 9000 }, 'A'))).to.deep.equal([rate('ChargingOnly')]);
    expect(told()).to.deep.equal([]);
  });

  it('small changes add up', () => {
    const { told } = noticeRig();
    const changes = [10_000, 9600, 9200, 8900].map((limit) => told(at1({ limit })).length);
    expect(changes).to.deep.equal([0, 0, 0, 1]);
  });

  it('the lowest of EVSE, station, outside and rating counts', () => {
    const { told, state } = noticeRig();
    told();
    const ofStation = (limit: number): Change => ({ schedule: { periods: one({ limit }) } });
    expect(told(ofStation(22_000))).to.deep.equal([]);
    expect(told(ofStation(15_000))).to.deep.equal([rate('ChargingOnly')]);
    expect(told(ofStation(15_000), at1({ limit: 16_000 }))).to.deep.equal([]);
    expect(told(ofStation(15_000), at1({ limit: 10_000 }))).to.deep.equal([rate('ChargingOnly')]);
    state.outsideW = 12_000;
    expect(told(ofStation(15_000), at1({ limit: 10_000 }))).to.deep.equal([]);
    state.outsideW = 0;
    expect(told(ofStation(15_000), at1({ limit: 10_000 }))).to.deep.equal([rate('ChargingOnly')]);
  });

  it('a set-point is the rate, as far as the ceiling permits, in watts or amperes', () => {
    const { told } = noticeRig();
    told(at1({ limit: 5000, setpoint: 4000 }));
    expect(told(at1({ limit: 9000, setpoint: 4000 }))).to.deep.equal([]);
    expect(told(at1({ limit: 3000, setpoint: 4000 }))).to.deep.equal([rate('ChargingOnly')]);
    expect(told(at1({ limit: 3000, setpoint: -3000 }))).to.deep.equal([rate('ChargingOnly')]);
    expect(told(at1({ setpoint: -6 }, 'A'))).to.deep.equal([rate('ChargingOnly')]);
    expect(told(at1({ setpoint: -4140 }))).to.deep.equal([]);
    expect(told(at1({ setpoint: -18, numberPhases: 1 }, 'A'))).to.deep.equal([]);
  });

  it('2.1 tells the mode, which LocalFrequency has without a rate', () => {
    const { told } = noticeRig();
    const frequencyWatt = { baselineW: 0, curve: [], signalCurve: null };
    expect(told(at1({ mode: 'CentralSetpoint', setpoint: 5000 }))).to.deep.equal([mode('CentralSetpoint')]);
    expect(told(at1({ mode: 'CentralSetpoint', setpoint: 9000 }))).to.deep.equal([rate('CentralSetpoint')]);
    const local = (setpoint: number) => at1({ mode: 'LocalFrequency', frequencyWatt, setpoint });
    expect(told(local(100))).to.deep.equal([mode('LocalFrequency')]);
    expect(told(local(9000))).to.deep.equal([]);
    expect(told(at1({ limit: 9000 }))).to.deep.equal([mode('ChargingOnly')]);
  });

  it('2.0.1 tells rates alone', () => {
    const { told } = noticeRig('ocpp2.0.1');
    told(at1({ limit: 5000 }));
    expect(told(at1({ mode: 'CentralSetpoint', setpoint: 5000 }))).to.deep.equal([]);
    expect(told(at1({ mode: 'CentralSetpoint', setpoint: 9000 }))).to.deep.equal([[1, 'ChargingRateChanged', {}]]);
    expect(told(at1({ mode: 'LocalFrequency' }))).to.deep.equal([]);
  });

  it('a transaction that has ended, or of an EVSE that there is not, is told of nothing', () => {
    const { told, notices, running } = noticeRig();
    told(at1({ limit: 5000 }));
    notices.forget('T');
    expect(told(at1({ limit: 9000 }))).to.deep.equal([]);
    running[0] = { transactionId: 'T', evseId: 2 };
    expect(told(at1({ limit: 3000 }))).to.deep.equal([]);
    running.length = 0;
    expect(told(at1({ limit: 1000 }))).to.deep.equal([]);
  });
});
