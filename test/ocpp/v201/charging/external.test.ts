import { expect } from 'chai';
import { createExternalLimits, limitSource } from '../../../../src/ocpp/v201/charging/external.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { settled } from '../../v16/fakes.ts';
import { fakeCalls, fakeRegistration, listeners } from './doubles.ts';

const stamp = new Date(noonMs).toISOString();

type External = { readonly limitW: number; readonly writer: { readonly source: string } | null };

function externalRig({ isAccepted = true } = {}) {
  const { sent, calls } = fakeCalls(() => state.outcome);
  const { registration, state: registered, accepted } = fakeRegistration(isAccepted);
  const transitions = listeners<unknown>();
  const state = {
    outcome: { kind: 'result', payload: {}, durationMs: 0 } as object,
    external: null as External | null,
    local: [null, null] as (number | null)[],
    nowMs: noonMs,
    changed: 0,
    percent: 10,
    withSchedules: false,
  };
  const parts = {
    registration,
    calls,
    clock: { nowMs: () => state.nowMs },
    variables: { decimal: () => state.percent, boolean: () => state.withSchedules },
    device: {
      get detail() {
        return {
          externalLimit: state.external,
          connectors: state.local.map((localLimitW, i) => ({ connectorId: i + 1, localLimitW })),
        };
      },
      onTransition: transitions.on,
    },
  };
  const external = createExternalLimits(parts as never, () => {
    state.changed += 1;
  });
  return {
    external,
    state,
    sent,
    registered,
    accepted,
    transitions,
    /** Calls since the last look: the action, and what names its place. */
    told: () => sent.splice(0).map(({ action, payload }) => [action, payload['evseId'] ?? 0, sourceOf(payload)]),
  };
}

function sourceOf(payload: Record<string, unknown>): unknown {
  const limit = payload['chargingLimit'] as { chargingLimitSource?: string } | undefined;
  return limit?.chargingLimitSource ?? payload['chargingLimitSource'];
}

const csip = (limitW: number): External => ({ limitW, writer: { source: 'csip' } });
const rest = (limitW: number): External => ({ limitW, writer: { source: 'rest' } });
const notified = (evseId: number, source: string) => ['NotifyChargingLimit', evseId, source];
const cleared = (evseId: number, source: string) => ['ClearedChargingLimit', evseId, source];

describe('OCPP 2.x limits from outside (K11 to K13)', () => {
  it('have the source of their writer; one of the central system is none', () => {
    const of = (source: string) => limitSource({ writer: { source } } as never);
    expect(['csip', 'dnp3', 'modbus'].map(of)).to.deep.equal(['SO', 'SO', 'SO']);
    expect(['rest', 'dashboard', 'scenario'].map(of)).to.deep.equal(['EMS', 'EMS', 'EMS']);
    expect(['default', 'profile', 'reversion', 'fault'].map(of)).to.deep.equal(['Other', 'Other', 'Other', 'Other']);
    expect([of('ocpp'), limitSource({ writer: null })]).to.deep.equal([null, 'EMS']);
  });

  it('the lowest of station and EVSE holds at an EVSE', () => {
    const { external, state } = externalRig();
    expect([0, 1, 2].map((evseId) => external.limitAt(evseId))).to.deep.equal([null, null, null]);
    state.local = [7000, null];
    expect([0, 1, 2].map((evseId) => external.limitAt(evseId))).to.deep.equal([null, 7000, null]);
    state.external = csip(5000);
    expect([0, 1, 2].map((evseId) => external.limitAt(evseId))).to.deep.equal([5000, 5000, 5000]);
    state.local = [0, 9000];
    expect([0, 1, 2].map((evseId) => external.limitAt(evseId))).to.deep.equal([5000, 0, 5000]);
    state.external = { limitW: 1, writer: { source: 'ocpp' } };
    expect([0, 1, 2].map((evseId) => external.limitAt(evseId))).to.deep.equal([null, 0, 9000]);
  });

  it('are profiles from the instant at which each was seen as it is', () => {
    const { external, state } = externalRig();
    state.external = csip(5000);
    state.local = [null, 7000.06];
    expect(external.profiles().map(({ receivedMs }) => receivedMs)).to.deep.equal([noonMs, noonMs]);
    state.nowMs = noonMs + 1500.4;
    expect(external.profiles().map(({ receivedMs }) => receivedMs)).to.deep.equal([noonMs, noonMs]);
    state.external = rest(5000);
    expect(external.profiles().map(({ receivedMs }) => receivedMs)).to.deep.equal([noonMs + 1500, noonMs]);
    state.nowMs = noonMs + 2000;
    state.external = rest(4000);
    state.local = [null, null];
    const [of0, ...others] = external.profiles();
    expect(others).to.deep.equal([]);
    expect(of0).to.deep.equal({
      profileId: -1,
      connectorId: 0,
      stackLevel: 0,
      purpose: 'external',
      kind: 'absolute',
      validFromMs: null,
      validToMs: null,
      transactionId: null,
      receivedMs: noonMs + 2000,
      schedule: {
        unit: 'W',
        durationS: null,
        startMs: noonMs + 2000,
        minChargingRate: null,
        periods: [{ startS: 0, limit: 4000, numberPhases: null }],
      },
    });
    state.nowMs = noonMs + 3000;
    state.local = [null, 7000.06];
    expect(external.profiles()[1]).to.include({ profileId: -3, connectorId: 2, receivedMs: noonMs + 3000 });
    expect(external.reported()[1]).to.deep.equal({
      evseId: 2,
      source: 'EMS',
      profile: {
        id: -3,
        stackLevel: 0,
        chargingProfilePurpose: 'ChargingStationExternalConstraints',
        chargingProfileKind: 'Absolute',
        chargingSchedule: [
          {
            id: 0,
            startSchedule: new Date(noonMs + 3000).toISOString(),
            chargingRateUnit: 'W',
            chargingSchedulePeriod: [{ startPeriod: 0, limit: 7000.1 }],
          },
        ],
      },
    });
  });

  it('are told when they begin, change enough, and end', () => {
    const { external, state, told } = externalRig();
    external.sendChanges();
    expect(told()).to.deep.equal([]);
    state.external = csip(5000);
    state.local = [7000, null];
    external.sendChanges();
    expect(told()).to.deep.equal([notified(0, 'SO'), notified(1, 'EMS')]);
    external.sendChanges();
    state.external = csip(5499);
    external.sendChanges();
    expect(told()).to.deep.equal([]);
    state.external = csip(5500);
    external.sendChanges();
    expect(told()).to.deep.equal([notified(0, 'SO')]);
    state.local = [null, null];
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(1, 'EMS')]);
    state.external = null;
    external.sendChanges();
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(0, 'SO')]);
  });

  it('the end of a limit at one EVSE is told though another one holds elsewhere', () => {
    const { external, state, told } = externalRig();
    state.local = [7000, 6000];
    external.sendChanges();
    told();
    state.local = [null, 6000];
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(1, 'EMS')]);
  });

  it('one of another source ends the one before', () => {
    const { external, state, told } = externalRig();
    state.external = csip(5000);
    external.sendChanges();
    told();
    state.external = rest(5000);
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(0, 'SO'), notified(0, 'EMS')]);
  });

  it('name the station by no EVSE, and their schedule where that is asked for', () => {
    const { external, state, sent } = externalRig();
    state.external = csip(5000.06);
    external.sendChanges();
    expect(sent.at(-1)?.payload).to.deep.equal({ chargingLimit: { chargingLimitSource: 'SO' } });
    state.withSchedules = true;
    state.local = [6000, null];
    external.sendChanges();
    expect(sent.at(-1)?.payload).to.deep.equal({
      chargingLimit: { chargingLimitSource: 'EMS' },
      evseId: 1,
      chargingSchedule: [
        {
          id: 0,
          startSchedule: stamp,
          chargingRateUnit: 'W',
          chargingSchedulePeriod: [{ startPeriod: 0, limit: 6000 }],
        },
      ],
    });
    state.external = null;
    state.local = [null, null];
    external.sendChanges();
    expect(sent.slice(-2).map(({ payload }) => payload)).to.deep.equal([
      { chargingLimitSource: 'SO' },
      { chargingLimitSource: 'EMS', evseId: 1 },
    ]);
  });

  it('are told to an accepted station alone, all again after a boot, and none twice', () => {
    const { external, state, registered, accepted, told } = externalRig({ isAccepted: false });
    state.external = csip(5000);
    external.sendChanges();
    expect(told()).to.deep.equal([]);
    registered.accepted = true;
    accepted.emit(null);
    expect(told()).to.deep.equal([notified(0, 'SO')]);
    accepted.emit(null);
    expect(told()).to.deep.equal([]);
    registered.boots += 1;
    accepted.emit(null);
    expect(told()).to.deep.equal([notified(0, 'SO')]);
    accepted.emit(null);
    expect(told()).to.deep.equal([]);
    // after a boot the end of a limit from before is no news
    registered.boots += 1;
    state.external = null;
    accepted.emit(null);
    expect(told()).to.deep.equal([]);
  });

  for (const kind of ['lost', 'unsent'])
    it(`what is ${kind} is told again`, async () => {
      const { external, state, told } = externalRig();
      state.outcome = { kind };
      state.external = csip(5000);
      external.sendChanges();
      expect(told()).to.deep.equal([notified(0, 'SO')]);
      external.sendChanges();
      expect(told()).to.deep.equal([]);
      await settled();
      external.sendChanges();
      expect(told()).to.deep.equal([notified(0, 'SO')]);
      state.outcome = { kind: 'result' };
      await settled();
      external.sendChanges();
      await settled();
      external.sendChanges();
      expect(told()).to.deep.equal([notified(0, 'SO')]);
      state.outcome = { kind };
      state.external = null;
      external.sendChanges();
      await settled();
      external.sendChanges();
      expect(told()).to.deep.equal([cleared(0, 'SO'), cleared(0, 'SO')]);
    });

  it('what is refused is not told again', async () => {
    const { external, state, told } = externalRig();
    state.outcome = { kind: 'error' };
    state.external = csip(5000);
    external.sendChanges();
    await settled();
    external.sendChanges();
    expect(told()).to.deep.equal([notified(0, 'SO')]);
    state.external = null;
    external.sendChanges();
    await settled();
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(0, 'SO')]);
  });

  it('a newer limit is not forgotten with the lost message of an older one', async () => {
    const { external, state, told } = externalRig();
    state.outcome = { kind: 'lost' };
    state.external = csip(5000);
    external.sendChanges();
    state.outcome = { kind: 'result' };
    state.external = csip(9000);
    external.sendChanges();
    await settled();
    external.sendChanges();
    expect(told()).to.deep.equal([notified(0, 'SO'), notified(0, 'SO')]);
    state.outcome = { kind: 'lost' };
    state.external = null;
    external.sendChanges();
    state.outcome = { kind: 'result' };
    state.external = csip(7000);
    external.sendChanges();
    await settled();
    external.sendChanges();
    expect(told()).to.deep.equal([cleared(0, 'SO'), notified(0, 'SO')]);
    state.external = csip(7100);
    external.sendChanges();
    expect(told()).to.deep.equal([]);
  });

  it('a transition of the device tells them until the end', () => {
    const { external, state, told, transitions, accepted } = externalRig();
    state.external = csip(5000);
    transitions.emit(null);
    expect([told(), state.changed]).to.deep.equal([[notified(0, 'SO')], 1]);
    expect([transitions.count, accepted.count]).to.deep.equal([1, 1]);
    external.stop();
    expect([transitions.count, accepted.count]).to.deep.equal([0, 0]);
  });
});
