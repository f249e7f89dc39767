/** The set-point of charging profiles as meters show it (J, Q04). */
import { expect } from 'chai';
import type { ChargingProfile, ChargingState, SchedulePeriod } from '../../../../src/ocpp/charging/model.ts';
import type { ConnectorRating } from '../../../../src/ocpp/station/port.ts';
import { setpointWAt } from '../../../../src/ocpp/v201/charging/convert.ts';

const rating = { connectorId: 1, type: 'ac', phases: 3, nominalVoltageV: 230 } as ConnectorRating;
const nowMs = Date.UTC(2026, 5, 21, 8);

function stateWith(unit: 'W' | 'A', period: Partial<SchedulePeriod>): ChargingState {
  const profile: ChargingProfile = {
    profileId: 1,
    connectorId: 1,
    stackLevel: 0,
    purpose: 'tx_default',
    kind: 'absolute',
    validFromMs: null,
    validToMs: null,
    transactionId: null,
    receivedMs: nowMs,
    schedule: {
      unit,
      durationS: null,
      startMs: nowMs,
      minChargingRate: null,
      periods: [{ startS: 0, limit: null, numberPhases: null, mode: 'CentralSetpoint', ...period }],
    },
  };
  return {
    profiles: [profile],
    transactions: [{ connectorId: 1, transactionId: 'T', startedMs: nowMs }],
    precedence: 'stack_level',
    station: rating,
  };
}

describe('OCPP 2.1 set-point for the meters', () => {
  const at = (state: ChargingState, evseId = 1) => setpointWAt({ ratings: [rating] }, { state, nowMs }, evseId);

  it('is in watts, signed, at nominal voltage where the profile is in amperes', () => {
    expect(at(stateWith('W', { setpoint: 5000 }))).to.equal(5000);
    expect(at(stateWith('W', { setpoint: -3000 }))).to.equal(-3000);
    expect(at(stateWith('A', { setpoint: 10 }))).to.equal(6900);
  });

  it('is none without one, and none at an EVSE that there is not', () => {
    expect(at(stateWith('W', { limit: 5000 }))).to.equal(null);
    expect(at(stateWith('W', { setpoint: 5000 }), 9)).to.equal(null);
  });
});
