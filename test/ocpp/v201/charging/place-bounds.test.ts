import { expect } from 'chai';
import type { ChargingProfile } from '../../../../src/ocpp/charging/model.ts';
import { duplicateIssue, placeIssue, startIssue } from '../../../../src/ocpp/v201/charging/rules.ts';
import type { Place } from '../../../../src/ocpp/v201/charging/rules.ts';
import { profile as installed } from '../../charging/profiles.ts';
import { profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

const place: Place = { evseId: 1, evseIds: [1, 2], transaction: null, runs: () => false };
type Purpose = SentProfile['chargingProfilePurpose'];

describe('OCPP 2.x rules of the place of a profile', () => {
  const rule = (change: Partial<Place>, transactionId?: string) =>
    placeIssue(
      profile({ chargingProfilePurpose: 'TxProfile', ...(transactionId !== undefined && { transactionId }) }),
      { ...place, ...change },
    )?.rule ?? null;

  it('a TxProfile names the transaction of its EVSE', () => {
    expect(rule({ transaction: { transactionId: 'T' } }, 'T')).to.equal(null);
    expect(rule({ transaction: { transactionId: 'T' } })).to.equal('K01.FR.03');
    expect(rule({ evseId: 0, transaction: { transactionId: 'T' } }, 'T')).to.equal('K01.FR.16');
  });

  it('a transaction that runs nowhere is another rule than one of another EVSE', () => {
    expect(rule({}, 'T')).to.equal('K01.FR.09');
    expect(rule({ runs: (id) => id === 'T' }, 'T')).to.equal('K01.FR.33');
    expect(rule({ transaction: { transactionId: 'U' } }, 'T')).to.equal('K01.FR.33');
    expect(rule({ transaction: { transactionId: 'U' }, runs: () => true }, 'T')).to.equal('K01.FR.33');
  });

  it('the EVSE exists, and 0 is all of them', () => {
    const at = (evseId: number, chargingProfilePurpose: Purpose = 'TxDefaultProfile') =>
      placeIssue(profile({ chargingProfilePurpose }), { ...place, evseId })?.rule ?? null;
    expect([0, 1, 2, 3, -1].map((evseId) => at(evseId))).to.deep.equal([null, null, null, 'K01.FR.28', 'K01.FR.28']);
    for (const purpose of ['ChargingStationMaxProfile', 'LocalGeneration'] as const)
      expect([0, 1].map((evseId) => at(evseId, purpose))).to.deep.equal([null, 'K01']);
    for (const purpose of ['TxDefaultProfile', 'PriorityCharging'] as const)
      expect([0, 1].map((evseId) => at(evseId, purpose))).to.deep.equal([null, null]);
  });

  it('a transaction starts with a TxProfile whose transaction is not known yet (F01)', () => {
    expect(startIssue(profile({ chargingProfilePurpose: 'TxProfile' }))).to.equal(null);
    expect(startIssue(profile({ chargingProfilePurpose: 'TxProfile', transactionId: 'T' }))?.rule).to.equal('F01');
    expect(startIssue(profile())?.rule).to.equal('F01');
  });
});

describe('OCPP 2.x duplicates of a profile', () => {
  const made = installed({ profileId: 1, purpose: 'tx_default', connectorId: 1 });
  const duplicate = (own: Partial<ChargingProfile>, other: Partial<ChargingProfile>) =>
    duplicateIssue({ ...made, ...own }, [{ ...made, profileId: 2, ...other }])?.rule ?? null;

  it('have its purpose, stackLevel and place, and another id', () => {
    expect(duplicate({}, {})).to.equal('K01.FR.53');
    expect(duplicate({}, { profileId: 1 })).to.equal(null);
    expect(duplicate({}, { purpose: 'priority' })).to.equal(null);
    expect(duplicate({}, { stackLevel: 1 })).to.equal(null);
    expect(duplicate({}, { connectorId: 2 })).to.equal(null);
  });

  it('are named by the requirement of their purpose', () => {
    const rules = (['tx', 'tx_default', 'priority', 'station_max', 'local_generation'] as const).map((purpose) =>
      duplicate({ purpose }, { purpose }),
    );
    expect(rules).to.deep.equal(['K01.FR.39', 'K01.FR.53', 'K01.FR.06', 'K01.FR.06', 'K01.FR.06']);
  });

  it('of all EVSEs meet those of one, where the purpose is for both', () => {
    const between = (purpose: ChargingProfile['purpose']) => [
      duplicate({ purpose, connectorId: 0 }, { purpose, connectorId: 1 }),
      duplicate({ purpose, connectorId: 1 }, { purpose, connectorId: 0 }),
      duplicate({ purpose, connectorId: 1 }, { purpose, connectorId: 2 }),
    ];
    expect(between('tx_default')).to.deep.equal(['K01.FR.53', 'K01.FR.53', null]);
    expect(between('priority')).to.deep.equal(['K01.FR.06', 'K01.FR.06', null]);
    expect(between('external')).to.deep.equal([null, null, null]);
  });

  it('are valid at one instant together', () => {
    const during = (validFromMs: number | null, validToMs: number | null) => ({ validFromMs, validToMs });
    const meet = (own: Partial<ChargingProfile>, other: Partial<ChargingProfile>) => duplicate(own, other) !== null;
    expect(meet(during(0, 10), during(10, 20))).to.equal(false);
    expect(meet(during(10, 20), during(0, 10))).to.equal(false);
    expect(meet(during(0, 11), during(10, 20))).to.equal(true);
    expect(meet(during(10, 20), during(0, 11))).to.equal(true);
    expect(meet(during(null, 10), during(10, null))).to.equal(false);
    expect(meet(during(10, null), during(null, 10))).to.equal(false);
    expect(meet(during(null, null), during(5, 6))).to.equal(true);
  });
});
