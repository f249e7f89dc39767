import { expect } from 'chai';
import { createInstalled } from '../../../../src/ocpp/v16/charging.ts';
import { fakeControl } from '../../charging/fake-control.ts';
import { chargingRig, periods, profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

const tx = { chargingProfilePurpose: 'TxProfile' } as const;
const max = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
type Change = Parameters<typeof profile>[0];

function rigOf(highest = 9) {
  const control = fakeControl();
  const installed = createInstalled(control, () => highest);
  return {
    control,
    installed,
    /** @returns the clause of the refusal; null: installed */
    put: (connectorId: number, chargingProfileId: number, change: Change = {}, awaited = false) => {
      const sent: SentProfile = profile({ chargingProfileId, ...change });
      return (
        (awaited ? installed.put(connectorId, sent, { awaited }) : installed.put(connectorId, sent))?.clause ?? null
      );
    },
    /** Ids of those that act, and of those that wait. */
    ids: () =>
      [control.profiles, installed.all.slice(control.profiles.length)].map((all) =>
        all.map((each) => each.profile.profileId),
      ),
  };
}

describe('OCPP 1.6 installed charging profiles', () => {
  it('another purpose, stackLevel or connector is another profile (5.16.3)', () => {
    const { put, ids } = rigOf();
    put(0, 1);
    put(0, 2, max);
    put(0, 3, { stackLevel: 1 });
    put(1, 4);
    expect(ids()).to.deep.equal([[1, 2, 3, 4], []]);
    put(0, 5);
    expect(ids()).to.deep.equal([[2, 3, 4, 5], []]);
    put(2, 2);
    expect(ids()).to.deep.equal([[3, 4, 5, 2], []]);
  });

  it('those that wait count, are replaced like the others, and alone (9.4)', () => {
    const { put, ids } = rigOf(3);
    put(1, 1, tx, true);
    put(2, 2, tx, true);
    expect(put(0, 3)).to.equal(null);
    expect(put(0, 4, { stackLevel: 1 })).to.equal('OCPP 1.6 9.4');
    expect(put(1, 5, tx, true)).to.equal(null);
    expect(ids()).to.deep.equal([[3], [2, 5]]);
    expect(put(0, 2, { stackLevel: 1 })).to.equal(null);
    expect(ids()).to.deep.equal([[3, 2], [5]]);
  });

  it('those that wait are removed and counted with the others', () => {
    const { put, ids, installed } = rigOf();
    put(1, 1, tx, true);
    put(2, 2, tx, true);
    put(0, 3);
    expect(installed.remove(({ profileId }) => profileId > 1)).to.equal(2);
    expect(ids()).to.deep.equal([[], [1]]);
    expect(installed.remove(() => false)).to.equal(0);
    expect(installed.remove(() => true)).to.equal(1);
    expect(ids()).to.deep.equal([[], []]);
  });

  it('a transaction that begins takes what waits at its connector, once, and is evaluated without it', () => {
    const { put, ids, installed, control } = rigOf();
    put(1, 1, tx, true);
    installed.begin(2);
    expect([ids(), control.refreshes]).to.deep.equal([[[], [1]], 1]);
    installed.begin(1);
    expect([ids(), control.refreshes]).to.deep.equal([[[1], []], 1]);
    installed.remove(() => true);
    installed.begin(1);
    expect([ids(), control.refreshes]).to.deep.equal([[[], []], 2]);
  });

  it('a transaction that ends takes its own profiles with it', () => {
    const { put, ids, installed, control } = rigOf();
    put(1, 1, tx);
    put(2, 2, tx);
    put(1, 3);
    installed.end(1);
    expect([ids(), control.refreshes]).to.deep.equal([[[2, 3], []], 0]);
    installed.end(1);
    expect([ids(), control.refreshes]).to.deep.equal([[[2, 3], []], 1]);
  });

  it('a transaction that does not begin leaves nothing behind', () => {
    const { put, ids, installed } = rigOf();
    put(1, 1, tx, true);
    put(2, 2, tx, true);
    installed.forget(1);
    expect(ids()).to.deep.equal([[], [2]]);
  });
});

describe('OCPP 1.6 smart charging: what is told beside the answer', () => {
  it('the transactionId of another purpose is ignored, and that is found (7.8)', async () => {
    const { set, findings } = chargingRig();
    expect(await set(profile({ transactionId: 5 }))).to.equal('Accepted');
    expect(findings).to.deep.equal([
      'OCPP 1.6 7.8 profile 1: transactionId is only valid in a TxProfile, and is ignored',
    ]);
    expect(await set(profile())).to.equal('Accepted');
    expect(findings).to.have.length(1);
  });

  it('a TxProfile with its transaction is no finding, a composite schedule without a duration is (5.7)', async () => {
    const { set, plug, running, findings, call } = chargingRig();
    await plug();
    const transactionId = running[0]?.transactionId ?? expect.fail('no transaction');
    expect(await set(profile({ ...tx, transactionId }))).to.equal('Accepted');
    expect(findings).to.deep.equal([]);
    const { status } = await call('GetCompositeSchedule', { connectorId: 1, duration: -1 });
    expect(status).to.equal('Rejected');
    expect(findings).to.deep.equal(['OCPP 1.6 5.7 the duration -1 must be greater than 0']);
  });

  it('the profile of a remote start that breaks a rule is refused and found', () => {
    const { charging, findings } = chargingRig();
    expect(charging.install(1, profile({ ...tx, stackLevel: 100 }))).to.equal(false);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.match(/^OCPP 1\.6 9\.4 profile 1: stackLevel 100/);
    expect(charging.chargingProfiles()).to.deep.equal([]);
  });

  it('the profile of a remote start acts at once where its transaction runs', async () => {
    const { charging, plug, running } = chargingRig('EVSE-AC-7.4kW-2port');
    await plug(1);
    await plug(2);
    expect(charging.install(2, profile(tx))).to.equal(true);
    await charging.handlers.ClearChargingProfile?.({ id: 99 }, () => undefined);
    const [entry] = charging.chargingProfiles();
    expect(entry).to.include({ effective: true, connectorId: 2, transactionId: String(running[1]?.transactionId) });
  });

  it('the transaction of a profile is told of a TxProfile alone, and where it has an id', async () => {
    const { charging, plug, set, running } = chargingRig();
    await plug();
    await set(profile({ stackLevel: 1 }));
    await set(profile({ ...tx, chargingProfileId: 2 }));
    const told = () => charging.chargingProfiles().map(({ transactionId }) => transactionId);
    expect(told()).to.deep.equal([null, String(running[0]?.transactionId)]);
    const [transaction = expect.fail('no transaction')] = running;
    running[0] = { ...transaction, transactionId: null };
    expect(told()).to.deep.equal([null, null]);
  });

  it('the places of the station are told where one is asked for that it lacks', () => {
    const { charging } = chargingRig('EVSE-AC-7.4kW-2port');
    expect(() => charging.compositeSchedule(3, 60, 'W')).to.throw('there is no connector 3; the station has 0, 1, 2');
  });

  it('an ended station takes no part in transactions any more', async () => {
    const { charging, plug } = chargingRig();
    expect(charging.install(1, profile({ ...tx, chargingSchedule: periods([0, 8]) }))).to.equal(true);
    charging.stop();
    await plug();
    expect(charging.chargingProfiles().map(({ effective }) => effective)).to.deep.equal([false]);
  });
});
