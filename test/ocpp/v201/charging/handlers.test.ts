import { expect } from 'chai';
import type { CompositeSchedule } from '../../../../src/ocpp/charging/composite.ts';
import { createView, ruleFacts } from '../../../../src/ocpp/v201/charging/smart-charging.ts';
import {
  clearChargingProfile,
  getCompositeSchedule,
  setChargingProfile,
} from '../../../../src/ocpp/v201/charging/handlers.ts';
import type { HandlerDeps } from '../../../../src/ocpp/v201/charging/handlers.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { fakeControl } from '../../charging/fake-control.ts';
import { one, profile as installed, stateOf } from '../../charging/profiles.ts';
import type { Change } from '../../charging/profiles.ts';
import { entry } from './doubles.ts';
import { profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

const three = { type: 'ac', phases: 3, modes: ['ChargingOnly'] } as const;
const anyFacts = {
  version: 'ocpp2.1',
  maxStackLevel: 9,
  maxPeriods: 9,
  maxExternalId: -1,
  rateUnits: ['A', 'W'],
  evses: [three],
} as const;
describe('OCPP 2.x smart charging: handlers', () => {
  const rating = {
    connectorId: 1,
    type: 'ac',
    phases: 3,
    nominalVoltageV: 230,
    maxPowerW: 22_000,
    maxCurrentA: 32,
    bidirectional: false,
    supplyPhases: [1, 2, 3],
    attachedCable: false,
  } as const;
  const stationRating = { ...rating, connectorId: 0, maxPowerW: 44_000, maxCurrentA: 64 };

  function handlerRig(change: { readonly units?: readonly string[]; readonly awaits?: boolean } = {}) {
    const control = fakeControl();
    const findings: string[] = [];
    const queries: unknown[] = [];
    const acted: unknown[] = [];
    control.composite = ({ connectorId, durationS, unit, maxPeriods }, more) => {
      queries.push([connectorId, unit, maxPeriods, more?.length]);
      const composite: CompositeSchedule = {
        startMs: noonMs,
        durationS,
        unit,
        periods: [{ startS: 0, limit: null, numberPhases: null }],
      };
      return connectorId === 9 ? null : composite;
    };
    const deps = {
      control,
      parts: {
        version: 'ocpp2.1',
        finding: (clause: string) => findings.push(clause),
        device: { connectorIds: [1, 2], ratings: [rating], stationRating },
        variables: { list: () => change.units ?? ['A', 'W'], integer: () => 7 },
      },
      installed: {
        put: () => null,
        remove: (which: (profile: ReturnType<typeof installed>) => boolean) => control.remove(which),
      },
      external: { profiles: () => [installed()] },
      transactions: {
        at: (evseId: number) => (evseId === 1 ? { transactionId: 'T' } : null),
        byId: () => null,
      },
      facts: () => anyFacts,
      awaitsNeeds: () => change.awaits ?? false,
      txProfileSet: (evseId: number, { id }: SentProfile) => acted.push([evseId, id]),
    } as unknown as HandlerDeps;
    return {
      control,
      findings,
      queries,
      acted,
      set: async (sent: SentProfile, evseId = 1) => {
        const acts: (() => void)[] = [];
        const reply = await setChargingProfile(deps)({ evseId, chargingProfile: sent }, (act) => acts.push(act));
        expect(acted).to.deep.equal([]);
        for (const act of acts) act();
        return reply.statusInfo?.reasonCode ?? reply.status;
      },
      /** @returns the ids that are left */
      clear: async (request: Requests['ClearChargingProfile'], ...changes: readonly Change[]) => {
        control.profiles = changes.map((each, i) => ({
          profile: installed({ profileId: i + 1, ...each }),
          sent: null,
        }));
        const { status } = await clearChargingProfile(deps)(request, () => undefined);
        return [status, control.profiles.map((each) => each.profile.profileId)];
      },
      composite: async (evseId: number, chargingRateUnit?: 'W' | 'A', duration = 60) => {
        const request = { evseId, duration, ...(chargingRateUnit && { chargingRateUnit }) };
        const { statusInfo, schedule } = await getCompositeSchedule(deps)(request, () => undefined);
        const [first] = schedule?.chargingSchedulePeriod ?? [];
        return statusInfo?.reasonCode ?? [schedule?.chargingRateUnit, first?.limit];
      },
    };
  }

  it('a TxProfile before the needs of the vehicle is out of order (K15.FR.17), another purpose is not', async () => {
    const tx = profile({ id: 5, chargingProfilePurpose: 'TxProfile', transactionId: 'T' });
    const waiting = handlerRig({ awaits: true });
    expect(await waiting.set(tx)).to.equal('InvalidMessageSeq');
    expect(waiting.findings).to.deep.equal(['OCPP 2.1 K15.FR.17']);
    expect(waiting.acted).to.deep.equal([]);
    expect(await waiting.set(profile())).to.equal('Accepted');
    const ready = handlerRig();
    expect(await ready.set(tx)).to.equal('Accepted');
    expect(ready.acted).to.deep.equal([[1, 5]]);
  });

  it('only a TxProfile is told to those that wait for one', async () => {
    const { set, acted } = handlerRig();
    expect(await set(profile(), 0)).to.equal('Accepted');
    expect(acted).to.deep.equal([]);
  });

  it('ClearChargingProfile: each criterion alone, and all together (K10)', async () => {
    const { clear } = handlerRig();
    const all: readonly Change[] = [
      { connectorId: 0 },
      { connectorId: 1, purpose: 'tx_default' },
      { connectorId: 1, purpose: 'tx_default', stackLevel: 1 },
      { connectorId: 2, purpose: 'priority', stackLevel: 1 },
    ];
    const by = (chargingProfileCriteria: Requests['ClearChargingProfile']['chargingProfileCriteria'] & object) =>
      clear({ chargingProfileCriteria }, ...all);
    expect(await by({ evseId: 0 })).to.deep.equal(['Accepted', [2, 3, 4]]);
    expect(await by({ stackLevel: 0 })).to.deep.equal(['Accepted', [3, 4]]);
    expect(await by({ chargingProfilePurpose: 'TxDefaultProfile' })).to.deep.equal(['Accepted', [1, 4]]);
    expect(await by({ chargingProfilePurpose: 'TxDefaultProfile', stackLevel: 1 })).to.deep.equal([
      'Accepted',
      [1, 2, 4],
    ]);
    expect(await by({ evseId: 2, stackLevel: 0 })).to.deep.equal(['Unknown', [1, 2, 3, 4]]);
    expect(await by({})).to.deep.equal(['Accepted', []]);
    expect(await clear({ chargingProfileId: 2, chargingProfileCriteria: { evseId: 2 } }, ...all)).to.deep.equal([
      'Accepted',
      [1, 3, 4],
    ]);
    expect(await clear({ chargingProfileId: 7 }, ...all)).to.deep.equal(['Unknown', [1, 2, 3, 4]]);
  });

  it('a composite schedule is in the unit of what is in force, of the EVSE before the station', async () => {
    const { composite, control, queries } = handlerRig();
    const at = (...changes: readonly Change[]) => {
      control.state = stateOf(changes);
      return composite(1);
    };
    const inA = { unit: 'A', periods: one({ limit: 5 }) } as const;
    expect(await at()).to.deep.equal(['W', 22_000]);
    expect(await at({ schedule: inA })).to.deep.equal(['A', 32]);
    expect(await at({ schedule: inA }, { connectorId: 1, purpose: 'external' })).to.deep.equal(['W', 22_000]);
    expect(await at({}, { connectorId: 1, purpose: 'external', schedule: inA })).to.deep.equal(['A', 32]);
    expect(await composite(0)).to.deep.equal(['W', 44_000]);
    expect(queries[0]).to.deep.equal([1, 'W', 7, 1]);
  });

  it('the unit is one of RateUnit', async () => {
    const only = handlerRig({ units: ['A'] });
    expect(await only.composite(1)).to.deep.equal(['A', 32]);
    only.control.state = stateOf([{}]);
    expect(await only.composite(1)).to.deep.equal(['A', 32]);
    expect(await only.composite(1, 'A')).to.deep.equal(['A', 32]);
    expect(await only.composite(1, 'W')).to.equal('UnsupportedRateUnit');
    expect(only.findings).to.deep.equal(['OCPP 2.1 K08.FR.07']);
    expect(await handlerRig({ units: ['W'] }).composite(1)).to.deep.equal(['W', 22_000]);
  });

  it('a duration is above 0, and the EVSE one of the station', async () => {
    const { composite, findings } = handlerRig();
    expect(await composite(1, 'A', 1)).to.deep.equal(['A', 32]);
    expect(await composite(1, 'A', 0)).to.equal('ValuePositiveOnly');
    expect(await composite(9)).to.equal('UnknownEvse');
    expect(findings).to.deep.equal(['OCPP 2.1 K08', 'OCPP 2.1 K08.FR.05']);
  });

  it('profiles are checked against their EVSE, all of them, or the grid connection', () => {
    const second = { ...rating, connectorId: 2, type: 'dc', phases: 1 } as const;
    const parts = {
      version: 'ocpp2.1',
      device: { ratings: [rating, second], stationRating },
      variables: {
        integer: (_component: string, name: string) => (name === 'ProfileStackLevel' ? 5 : 6),
        list: () => ['W'],
      },
    };
    const facts = (evseId: number, chargingProfilePurpose: SentProfile['chargingProfilePurpose'] = 'TxProfile') =>
      ruleFacts(parts as never, { enabled: (id: number) => id === 2 } as never, evseId, { chargingProfilePurpose });
    const types = (...all: Parameters<typeof facts>) =>
      facts(...all).evses.map(({ type, phases, modes }) => [type, phases, modes.length]);
    expect(facts(1)).to.deep.include({ version: 'ocpp2.1', maxStackLevel: 5, maxPeriods: 6, rateUnits: ['W'] });
    expect(types(1)).to.deep.equal([['ac', 3, 1]]);
    expect(types(2)).to.deep.equal([['dc', 1, 5]]);
    expect(types(0)).to.deep.equal([
      ['ac', 3, 1],
      ['dc', 1, 5],
    ]);
    for (const purpose of ['ChargingStationMaxProfile', 'LocalGeneration'] as const)
      expect(types(0, purpose)).to.deep.equal([['ac', 3, 1]]);
  });

  it('REST lists profiles by EVSE, with those from outside, and whether each is in force', () => {
    const control = fakeControl();
    const all = [entry({ id: 1 }), entry({ id: 2, stackLevel: 1 }), entry({ id: 3 }, 2)];
    control.state = stateOf(all.map((each) => each.profile));
    const view = createView({
      control,
      evseIds: [1, 2],
      installed: { all },
      external: { profiles: () => [], reported: () => [{ evseId: 2, source: 'EMS', profile: profile({ id: -3 }) }] },
    });
    const rows = (evseId?: number) =>
      view.chargingProfiles(evseId).map(({ profileId, connectorId, effective }) => [profileId, connectorId, effective]);
    expect(rows()).to.deep.equal([
      [1, 1, false],
      [2, 1, true],
      [3, 2, true],
      [-3, 2, true],
    ]);
    expect(rows(1)).to.deep.equal(rows().slice(0, 2));
    expect(rows(0)).to.deep.equal([]);
    expect(() => view.compositeSchedule(3, 60, 'W')).to.throw('there is no EVSE 3; the station has 0, 1, 2');
  });
});
