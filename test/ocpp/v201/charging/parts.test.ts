/** Parts of smart charging of 2.x by themselves: what is installed, offline, priority, and reports. */
import { expect } from 'chai';
import type { StoredProfile } from '../../../../src/ocpp/charging/control.ts';
import { createInstalled } from '../../../../src/ocpp/v201/charging/smart-charging.ts';
import { createOfflineWatch } from '../../../../src/ocpp/v201/charging/external.ts';
import { createPriorityCharging, getChargingProfiles, refusal } from '../../../../src/ocpp/v201/charging/handlers.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { fakeControl } from '../../charging/fake-control.ts';
import { stateOf } from '../../charging/profiles.ts';
import type { Change } from '../../charging/profiles.ts';
import { entry, fakeCalls, fakeRegistration } from './doubles.ts';
import { profile } from './rig.ts';

const tx = { chargingProfilePurpose: 'TxProfile' } as const;
const idsOf = (all: readonly StoredProfile[]) => all.map((each) => each.profile.profileId);
type Profile = Parameters<typeof profile>[0];

describe('OCPP 2.x installed charging profiles', () => {
  function installedRig(maxProfiles = 9) {
    const control = fakeControl();
    const local = { offsetMs: 0 };
    const installed = createInstalled({
      control,
      maxProfiles,
      random: { next: () => 0 },
      localOffsetMs: () => local.offsetMs,
    });
    return {
      control,
      installed,
      local,
      /** @returns the reason of the refusal; null: installed */
      put: (evseId: number, id: number, change: Profile = {}, awaited = false) => {
        const sent = profile({ id, stackLevel: id, ...change });
        return (awaited ? installed.put(evseId, sent, { awaited }) : installed.put(evseId, sent))?.reason ?? null;
      },
      /** Ids of all, and of those that act. */
      ids: () => [idsOf(installed.all), idsOf(control.profiles)],
    };
  }

  it('those that wait count, and an id is replaced wherever it is (K01.FR.05)', () => {
    const { put, ids } = installedRig(2);
    expect(put(1, 1, tx, true)).to.equal(null);
    expect(put(2, 2)).to.equal(null);
    expect(put(2, 3)).to.equal('OutOfStorage');
    expect(ids()).to.deep.equal([[2, 1], [2]]);
    expect(put(2, 1)).to.equal(null);
    expect(ids()).to.deep.equal([
      [2, 1],
      [2, 1],
    ]);
    expect(put(1, 3, tx, true)).to.equal('OutOfStorage');
  });

  it('one that waits has duplicates, and leaves the others that wait', () => {
    const { put, ids } = installedRig();
    put(1, 1, { ...tx, stackLevel: 0 }, true);
    put(2, 2, { ...tx, stackLevel: 0 }, true);
    expect(put(1, 3, { ...tx, stackLevel: 0 })).to.equal('DuplicateProfile');
    expect(put(1, 1, { ...tx, stackLevel: 5 })).to.equal(null);
    expect(ids()).to.deep.equal([[1, 2], [1]]);
  });

  it('those that wait are removed and counted with the others', () => {
    const { put, ids, installed } = installedRig();
    put(1, 1, tx, true);
    put(2, 2, tx, true);
    put(0, 3);
    expect(installed.remove(({ profileId }) => profileId > 1)).to.equal(2);
    expect(ids()).to.deep.equal([[1], []]);
    expect(installed.remove(() => false)).to.equal(0);
    expect(installed.remove(() => true)).to.equal(1);
    expect(ids()).to.deep.equal([[], []]);
  });

  it('a transaction that begins takes what waits at its EVSE, once, and is evaluated without it', () => {
    const { put, ids, installed, control } = installedRig();
    put(1, 1, tx, true);
    installed.started({ evseId: 2, transactionId: 'T' });
    expect([ids(), control.refreshes]).to.deep.equal([[[1], []], 1]);
    installed.started({ evseId: 1, transactionId: 'T' });
    expect([ids(), control.refreshes]).to.deep.equal([[[1], [1]], 1]);
    expect(control.profiles[0]?.profile.transactionId).to.equal('T');
    expect(control.profiles[0]?.sent).to.include({ transactionId: 'T' });
    installed.remove(() => true);
    installed.started({ evseId: 1, transactionId: 'U' });
    expect([ids(), control.refreshes]).to.deep.equal([[[], []], 2]);
  });

  it('a transaction that ends takes its own profiles with it', () => {
    const { put, ids, installed, control } = installedRig();
    put(1, 1, { ...tx, transactionId: 'T' });
    put(2, 2, { ...tx, transactionId: 'U' });
    put(1, 3);
    installed.end(1);
    expect([ids()[1], control.refreshes]).to.deep.equal([[2, 3], 0]);
    installed.end(1);
    expect([ids()[1], control.refreshes]).to.deep.equal([[2, 3], 1]);
  });

  it('a transaction that does not begin leaves nothing behind', () => {
    const { put, ids, installed } = installedRig();
    put(1, 1, tx, true);
    put(2, 2, tx, true);
    installed.forget(1);
    expect(ids()).to.deep.equal([[2], []]);
  });

  it('another local time moves those in local time alone, from when they came', () => {
    const { put, installed, control, local } = installedRig();
    put(1, 1, { schedule: { useLocalTime: true } });
    put(2, 2);
    const starts = () => control.profiles.map((each) => [each.profile.profileId, each.profile.schedule.startMs]);
    const startMs = control.profiles[1]?.profile.schedule.startMs ?? expect.fail('no start');
    control.nowMs = noonMs + 5000;
    local.offsetMs = 60_000;
    installed.localTimeChanged();
    expect(starts()).to.deep.equal([
      [2, startMs],
      [1, startMs - 60_000],
    ]);
    expect(control.profiles[1]?.profile).to.include({ connectorId: 1, receivedMs: noonMs });
  });
});

describe('OCPP 2.1 profiles of a station that is offline (K01)', () => {
  function offlineRig(isAccepted = true) {
    const control = fakeControl();
    const { registration, accepted, ended } = fakeRegistration(isAccepted);
    const clock = { nowMs: () => control.nowMs };
    const watch = createOfflineWatch({ clock: clock as never, registration });
    watch.begin(control);
    return { control, watch, accepted, ended };
  }

  it('it is offline from the first end of its registration, or from the start', () => {
    const { control, watch, accepted, ended } = offlineRig();
    expect(watch.sinceMs).to.equal(null);
    ended.emit(null);
    control.nowMs += 5000;
    ended.emit(null);
    expect([watch.sinceMs, control.refreshes]).to.deep.equal([noonMs, 2]);
    accepted.emit(null);
    expect([watch.sinceMs, control.refreshes]).to.deep.equal([null, 3]);
    expect(offlineRig(false).watch.sinceMs).to.equal(noonMs);
  });

  it('a profile whose time is over is removed where it says so', () => {
    const invalid = { invalidAfterOfflineDuration: true } as const;
    const { control, accepted, ended } = offlineRig();
    control.profiles = [
      entry({ id: 1, maxOfflineDuration: 60, ...invalid }),
      entry({ id: 2, maxOfflineDuration: 60 }),
      entry({ id: 3, maxOfflineDuration: 60, invalidAfterOfflineDuration: false }),
      entry({ id: 4, ...invalid }),
      entry({ id: 5, maxOfflineDuration: 61, ...invalid }),
    ];
    const offlineFor = (ms: number) => {
      ended.emit(null);
      control.nowMs += ms;
      accepted.emit(null);
      return idsOf(control.profiles);
    };
    expect(offlineFor(59_999)).to.deep.equal([1, 2, 3, 4, 5]);
    const { refreshes } = control;
    expect(offlineFor(60_000)).to.deep.equal([2, 3, 4, 5]);
    // what is removed is evaluated with the removal
    expect(control.refreshes).to.equal(refreshes + 1);
    accepted.emit(null);
    expect(idsOf(control.profiles)).to.deep.equal([2, 3, 4, 5]);
  });

  it('it listens until the end', () => {
    const { watch, accepted, ended } = offlineRig();
    expect([accepted.count, ended.count]).to.deep.equal([1, 1]);
    watch.stop();
    expect([accepted.count, ended.count]).to.deep.equal([0, 0]);
  });
});

describe('OCPP 2.1 priority charging (K21)', () => {
  const priorityProfile: Change = { purpose: 'priority', connectorId: 1 };

  function priorityRig(...profiles: readonly Change[]) {
    const running = new Map([['T', { evseId: 1 }]]);
    const { sent, calls } = fakeCalls();
    const control = fakeControl();
    const transaction = { connectorId: 1, transactionId: 'T', startedMs: noonMs };
    control.state = stateOf(profiles, { transactions: [transaction] });
    const priority = createPriorityCharging({
      control,
      parts: { calls },
      transactions: { byId: (id: string) => (running.get(id) ?? null) as never },
    });
    return {
      priority,
      control,
      running,
      /** @returns the answer, and what is told after it */
      use: async (transactionId: string, activate: boolean) => {
        const acts: (() => void)[] = [];
        const reply = await priority.handlers.UsePriorityCharging?.({ transactionId, activate }, (act) =>
          acts.push(act),
        );
        expect(sent).to.deep.equal([]);
        for (const act of acts) act();
        return [reply?.status, ...sent.splice(0).map(({ payload }) => payload['activated'])];
      },
      told: () => sent.splice(0).map(({ payload }) => payload),
    };
  }

  it('needs its transaction and a profile in force; its end needs no profile', async () => {
    const none = priorityRig();
    expect(await none.use('T', true)).to.deep.equal(['NoProfile']);
    expect(await none.use('T', false)).to.deep.equal(['Accepted', false]);
    expect(await none.use('U', false)).to.deep.equal(['Rejected']);
    const { use, priority, control } = priorityRig(priorityProfile);
    expect(await use('U', true)).to.deep.equal(['Rejected']);
    expect(priority.has('T')).to.equal(false);
    expect(await use('T', true)).to.deep.equal(['Accepted', true]);
    expect([priority.has('T'), priority.has('U'), control.refreshes]).to.deep.equal([true, false, 1]);
    expect(await use('T', false)).to.deep.equal(['Accepted', false]);
    expect(priority.has('T')).to.equal(false);
  });

  it('ends with its profile, which is told, and with its transaction, which is not', async () => {
    const { use, priority, control, running, told } = priorityRig({ ...priorityProfile, validToMs: noonMs + 1000 });
    await use('T', true);
    priority.check();
    expect([priority.has('T'), told()]).to.deep.equal([true, []]);
    control.nowMs = noonMs + 1000;
    priority.check();
    expect([priority.has('T'), told()]).to.deep.equal([false, [{ transactionId: 'T', activated: false }]]);
    priority.check();
    expect(told()).to.deep.equal([]);
    control.nowMs = noonMs;
    await use('T', true);
    running.clear();
    priority.check();
    expect([priority.has('T'), told()]).to.deep.equal([false, []]);
  });

  it('a transaction that has ended is forgotten', async () => {
    const { use, priority } = priorityRig(priorityProfile);
    await use('T', true);
    priority.forget('T');
    expect(priority.has('T')).to.equal(false);
  });
});

describe('OCPP 2.x reports of charging profiles (K09)', () => {
  const report = async (all: readonly StoredProfile[], criteria: object, evseId?: number) => {
    const { sent, calls } = fakeCalls();
    const findings: string[] = [];
    const outside = {
      evseId: 0,
      source: 'SO',
      profile: profile({ id: -1, chargingProfilePurpose: 'ChargingStationExternalConstraints' }),
    } as const;
    const handler = getChargingProfiles({
      parts: { calls, version: 'ocpp2.1', finding: (clause) => findings.push(clause) },
      installed: { all },
      external: { reported: () => [outside] },
    });
    const request: Requests['GetChargingProfiles'] = {
      requestId: 3,
      chargingProfile: criteria,
      ...(evseId !== undefined && { evseId }),
    };
    const acts: (() => void)[] = [];
    const { status } = await handler(request, (act) => acts.push(act));
    expect(sent).to.deep.equal([]);
    for (const act of acts) act();
    return {
      status,
      findings,
      sent,
      reports: sent.map(({ payload: { evseId: at, chargingLimitSource, tbc, chargingProfile } }) => [
        ...[at, chargingLimitSource, tbc],
        (chargingProfile as readonly { id: number }[]).map(({ id }) => id),
      ]),
    };
  };
  const many = (count: number, evseId = 1) =>
    Array.from({ length: count }, (_, i) => entry({ id: i + 1, stackLevel: i }, evseId));

  it('an id counts at its EVSE, whatever the other criteria', async () => {
    const all = [...many(2), entry({ id: 9 }, 2)];
    const asked = async (criteria: object, evseId?: number) => (await report(all, criteria, evseId)).reports;
    expect(await asked({ chargingProfileId: [2], stackLevel: 7 })).to.deep.equal([[1, 'CSO', false, [2]]]);
    expect(await asked({ chargingProfileId: [2] }, 2)).to.deep.equal([]);
    expect(await asked({ chargingProfileId: [2, 9, -1] })).to.deep.equal([
      [1, 'CSO', true, [2]],
      [2, 'CSO', true, [9]],
      [0, 'SO', false, [-1]],
    ]);
  });

  it('all criteria count together', async () => {
    const all = [...many(2), entry({ id: 9, stackLevel: 1, chargingProfilePurpose: 'PriorityCharging' })];
    const asked = async (criteria: object) => (await report(all, criteria)).reports.flatMap((each) => each[3]);
    expect(await asked({ stackLevel: 1 })).to.deep.equal([2, 9]);
    expect(await asked({ chargingProfilePurpose: 'TxDefaultProfile' })).to.deep.equal([1, 2]);
    expect(await asked({ stackLevel: 1, chargingProfilePurpose: 'TxDefaultProfile' })).to.deep.equal([2]);
    expect(await asked({ stackLevel: 0, chargingLimitSource: ['SO'] })).to.deep.equal([-1]);
    expect(await asked({ stackLevel: 0, chargingLimitSource: ['EMS', 'CSO'] })).to.deep.equal([1]);
  });

  it('five profiles are one report, six are two', async () => {
    const reports = async (count: number) => (await report(many(count), {}, 1)).reports;
    expect(await reports(5)).to.deep.equal([[1, 'CSO', false, [1, 2, 3, 4, 5]]]);
    expect(await reports(6)).to.deep.equal([
      [1, 'CSO', true, [1, 2, 3, 4, 5]],
      [1, 'CSO', false, [6]],
    ]);
  });

  it('a question for nothing is found and answered with all; for an EVSE it is none', async () => {
    const all = await report(many(1), {});
    expect(all.findings).to.deep.equal(['OCPP 2.1 K09.FR.03']);
    expect(all.reports).to.have.length(2);
    expect((await report(many(1), {}, 1)).findings).to.deep.equal([]);
    expect((await report(many(1), { stackLevel: 0 })).findings).to.deep.equal([]);
    expect(await report([], {}, 5)).to.deep.include({ status: 'NoProfiles', reports: [] });
    expect(all.sent[0]).to.include({ action: 'ReportChargingProfiles', triggered: true });
    expect(all.sent[0]?.payload).to.include({ requestId: 3 });
  });
});

describe('OCPP 2.x refusals of charging profiles', () => {
  const told = (
    rule: string | null,
    text: string,
    subject?: string,
    action = 'SetChargingProfile',
    reason = 'Reason',
  ) => {
    const findings: string[] = [];
    const parts = {
      version: 'ocpp2.0.1',
      finding: (...all: readonly (string | null)[]) => findings.push(all.join(' | ')),
    } as const;
    const { statusInfo } = refusal(parts, action, { reason, text, rule }, subject);
    return { findings, statusInfo };
  };

  it('of the central system are findings with their subject, of the station none', () => {
    expect(told('K01', 'why', 'profile 1').findings).to.deep.equal([
      'OCPP 2.0.1 K01 | profile 1: why | SetChargingProfile | profile_rule',
    ]);
    expect(told('K01', 'why').findings).to.deep.equal(['OCPP 2.0.1 K01 | why | SetChargingProfile | profile_rule']);
    expect(told(null, 'why', 'profile 1').findings).to.deep.equal([]);
  });

  it('judge no central system for a probe of a place, or for a profile that has ended', () => {
    expect(told('K01.FR.28', 'why', undefined, 'SetChargingProfile', 'UnknownEvse').findings).to.deep.equal([
      'OCPP 2.0.1 K01.FR.28 | why | SetChargingProfile | ',
    ]);
    expect(told('K28', 'why', undefined, 'UpdateDynamicSchedule', 'InvalidProfile').findings).to.deep.equal([
      'OCPP 2.0.1 K28 | why | UpdateDynamicSchedule | ',
    ]);
  });

  it('are told to the central system in 512 characters at most', () => {
    expect(told('K01', 'why').statusInfo).to.deep.equal({ reasonCode: 'Reason', additionalInfo: 'why' });
    expect(told(null, 'x'.repeat(513)).statusInfo.additionalInfo).to.have.length(512);
  });
});
