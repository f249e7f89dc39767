import { expect } from 'chai';
import {
  evseChargingStates,
  evsePhases,
  evseConnectorStates,
  evseOccupancies,
} from '../../../../src/contract/kinds/evse.ts';
import type { EvsePhase, EvseConnectorState } from '../../../../src/contract/kinds/evse.ts';
import {
  connectorState,
  occupancyOf,
  phaseEvents,
  phaseTable,
  phaseTraits,
} from '../../../../src/der/source/evse/phases.ts';
import type { ConnectorFlags } from '../../../../src/der/source/evse/phases.ts';

const both = [false, true];
const everyFlags: ConnectorFlags[] = both.flatMap((faulted) =>
  both.flatMap((operative) =>
    both.flatMap((reserved) => both.map((cableIn) => ({ faulted, operative, reserved, cableIn }))),
  ),
);
const plain = { faulted: false, operative: true, reserved: false };

/** Transitions between statuses that OCPP 1.6 section 4.9 allows, without those of faults and availability. */
const allowed: Partial<Record<EvseConnectorState, readonly EvseConnectorState[]>> = {
  available: ['preparing', 'charging', 'suspended_ev', 'suspended_evse'],
  preparing: ['available', 'charging', 'suspended_ev', 'suspended_evse', 'finishing'],
  charging: ['available', 'suspended_ev', 'suspended_evse', 'finishing'],
  suspended_ev: ['available', 'charging', 'suspended_evse', 'finishing'],
  suspended_evse: ['available', 'charging', 'suspended_ev', 'finishing'],
  finishing: ['available', 'preparing'],
};

describe('EVSE: phases', () => {
  it('every phase can be reached and left', () => {
    const reached = new Set<EvsePhase>(['free']);
    for (const phase of reached)
      for (const event of phaseEvents) {
        const next = phaseTable[phase][event];
        if (next !== undefined) reached.add(next);
      }
    expect([...reached].sort()).to.deep.equal([...evsePhases].sort());
    for (const phase of evsePhases) expect(Object.keys(phaseTable[phase]).length).to.be.above(0);
  });

  it('every reachable state has a status in both versions, and every status a state', () => {
    const seen16 = new Set<string>();
    const seen201 = new Set<string>();
    for (const phase of evsePhases)
      for (const flags of everyFlags) {
        const status = connectorState(phase, flags);
        const other = occupancyOf(phase, flags);
        expect(evseConnectorStates).to.include(status);
        expect(evseOccupancies).to.include(other);
        expect(status === 'faulted').to.equal(flags.faulted);
        expect(other === 'faulted').to.equal(flags.faulted);
        if (!flags.faulted && !flags.operative && !phaseTraits[phase].session)
          expect([status, other]).to.deep.equal(['unavailable', 'unavailable']);
        seen16.add(status);
        seen201.add(other);
      }
    expect([...seen16].sort()).to.deep.equal([...evseConnectorStates].sort());
    expect([...seen201].sort()).to.deep.equal([...evseOccupancies].sort());
  });

  it('a reserved connector stays Reserved in OCPP 2.x when a vehicle is plugged in (G01.FR.09)', () => {
    const cable = { ...plain, cableIn: true };
    expect(occupancyOf('connected', cable)).to.equal('occupied');
    expect(occupancyOf('connected', { ...cable, reserved: true })).to.equal('reserved');
    expect(occupancyOf('free', { ...cable, reserved: true })).to.equal('reserved');
    expect(occupancyOf('authorised', { ...plain, cableIn: false })).to.equal('available');
  });

  it('moves between statuses as OCPP 1.6 allows', () => {
    for (const phase of evsePhases)
      for (const event of phaseEvents) {
        const next = phaseTable[phase][event];
        if (next === undefined) continue;
        const cableIn = (p: EvsePhase) => p !== 'free' && p !== 'authorised';
        const from = connectorState(phase, { ...plain, cableIn: cableIn(phase) });
        const to = connectorState(next, { ...plain, cableIn: cableIn(next) });
        if (from !== to) expect(allowed[from], `${phase} ${event} ${next}`).to.include(to);
      }
  });

  it('traits agree with each other', () => {
    for (const phase of evsePhases) {
      const { session, powered, contactorClosed, evHolds, evseHolds, chargingState, authorised } = phaseTraits[phase];
      expect(evseChargingStates).to.include(chargingState);
      if (powered) expect([session, authorised]).to.deep.equal([true, true]);
      if (contactorClosed || evHolds || evseHolds) expect(powered).to.equal(true);
      if (evseHolds) expect([contactorClosed, chargingState]).to.deep.equal([false, 'suspended_evse']);
      expect(Object.hasOwn(phaseTable[phase], 'stop')).to.equal(session);
    }
  });
});
