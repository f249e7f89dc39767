import { expect } from 'chai';
import { chargingRig, profile, schedule, watts } from './rig.ts';
import type { SentProfile } from './rig.ts';

const rows = (...all: readonly (readonly [number, number])[]) =>
  all.map(([startPeriod, limit]) => ({ startPeriod, limit }));
const ofStation = { chargingProfilePurpose: 'ChargingStationMaxProfile' } as const;

type Refused = readonly [what: string, reason: string, rule: string | null, sent: SentProfile, evseId?: number];

/** In both versions. */
const refused: readonly Refused[] = [
  ['an EVSE that there is not', 'UnknownEvse', 'K01.FR.28', profile(), 7],
  [
    'external constraints',
    'InvalidValue',
    'K01.FR.22',
    profile({ chargingProfilePurpose: 'ChargingStationExternalConstraints' }),
    0,
  ],
  ['a maximum of the station at an EVSE', 'InvalidValue', 'K01', profile(ofStation), 1],
  [
    'a relative maximum of the station',
    'InvalidProfile',
    'K01.FR.38',
    profile({ ...ofStation, chargingProfileKind: 'Relative', schedule: {} }),
    0,
  ],
  [
    'a TxProfile for all',
    'InvalidValue',
    'K01.FR.16',
    profile({ chargingProfilePurpose: 'TxProfile', transactionId: 'tx' }),
    0,
  ],
  [
    'a TxProfile without its transaction',
    'MissingParam',
    'K01.FR.03',
    profile({ chargingProfilePurpose: 'TxProfile' }),
  ],
  [
    'a TxProfile where nothing runs',
    'TxNotFound',
    'K01.FR.09',
    profile({ chargingProfilePurpose: 'TxProfile', transactionId: 'tx' }),
  ],
  ['a stackLevel above the highest', 'InvalidStackLevel', 'K01', profile({ stackLevel: 101 })],
  [
    'no start of an absolute schedule',
    'InvalidProfile',
    'K01.FR.40',
    { ...profile(), chargingSchedule: [{ id: 1, chargingRateUnit: 'A', chargingSchedulePeriod: rows([0, 6]) }] },
  ],
  ['a start of a relative schedule', 'InvalidProfile', 'K01.FR.41', profile({ chargingProfileKind: 'Relative' })],
  ['no recurrency of a recurring profile', 'InvalidProfile', 'K01', profile({ chargingProfileKind: 'Recurring' })],
  [
    'an end before the beginning',
    'InvalidProfile',
    'K01',
    profile({ validFrom: '2026-06-22T00:00:00Z', validTo: '2026-06-21T00:00:00Z' }),
  ],
  [
    'a first period later than 0',
    'InvalidSchedule',
    'K01.FR.31',
    profile({ schedule: { chargingSchedulePeriod: rows([5, 6]) } }),
  ],
  [
    'periods out of order',
    'InvalidSchedule',
    'K01.FR.35',
    profile({ schedule: { chargingSchedulePeriod: rows([0, 6], [60, 7], [60, 8]) } }),
  ],
  ['a negative limit', 'InvalidSchedule', 'K01', profile({ schedule: { chargingSchedulePeriod: rows([0, -1]) } })],
  ['a duration of 0', 'InvalidSchedule', 'K01', profile({ schedule: { duration: 0 } })],
  [
    'a phase without one phase',
    'InvalidSchedule',
    'K01.FR.19',
    profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, phaseToUse: 2 }] } }),
  ],
  [
    'a choice of the phase',
    'InvalidSchedule',
    'K01.FR.20',
    profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases: 1, phaseToUse: 2 }] } }),
  ],
  [
    'no phases',
    'InvalidSchedule',
    'K01.FR.45',
    profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases: 0 }] } }),
  ],
  [
    'a second schedule that breaks a rule',
    'InvalidSchedule',
    'K01.FR.31',
    { ...profile(), chargingSchedule: [schedule(), schedule({ id: 2, chargingSchedulePeriod: rows([1, 6]) })] },
  ],
  [
    'prices',
    'UnsupportedParam',
    null,
    profile({ schedule: { salesTariff: { id: 1, salesTariffEntry: [{ relativeTimeInterval: { start: 0 } }] } } }),
  ],
  [
    'numbers beyond all',
    'InvalidProfile',
    'K01',
    profile({ schedule: { chargingSchedulePeriod: rows([0, Infinity]) } }),
  ],
];

/** In 2.1 alone. */
const refused21: readonly Refused[] = [
  ['ids of external constraints', 'InvalidProfileId', 'K01.FR.81', profile({ id: -1 })],
  [
    'two periods of a dynamic profile',
    'InvalidSchedule',
    'K28.FR.03',
    profile({ chargingProfileKind: 'Dynamic', schedule: { chargingSchedulePeriod: rows([0, 6], [60, 7]) } }),
  ],
  ['an update of what is not dynamic', 'InvalidProfile', 'K28.FR.04', profile({ dynUpdateInterval: 30 })],
  [
    'a duration of priority',
    'InvalidSchedule',
    'K01.FR.70',
    profile({ chargingProfilePurpose: 'PriorityCharging', schedule: { duration: 60 } }),
  ],
  [
    'a mode of priority',
    'InvalidSchedule',
    'K01.FR.71',
    profile({
      chargingProfilePurpose: 'PriorityCharging',
      schedule: watts({ operationMode: 'CentralSetpoint', setpoint: 1 }),
    }),
  ],
  ['local generation at an EVSE', 'InvalidValue', 'K01', profile({ chargingProfilePurpose: 'LocalGeneration' }), 1],
  [
    'a delay of the whole station',
    'InvalidSchedule',
    'K01.FR.95',
    profile({ ...ofStation, schedule: { randomizedDelay: 60 } }),
    0,
  ],
  [
    'a limit of one phase',
    'UnsupportedParam',
    null,
    profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, limit_L2: 7, limit_L3: 8 }] } }),
  ],
  [
    'a sleeping EVSE',
    'InvalidSchedule',
    'K01.FR.126',
    profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, evseSleep: true }] } }),
  ],
  ['reactive power', 'UnsupportedParam', null, profile({ schedule: watts({ limit: 6, setpointReactive: 5 }) })],
  ['ChargingOnly without a limit', 'InvalidSchedule', 'Q01', profile({ schedule: watts({}) })],
  ['ChargingOnly with a set-point', 'InvalidSchedule', 'Q01', profile({ schedule: watts({ limit: 5, setpoint: 5 }) })],
  [
    'a set-point where nothing is bidirectional',
    'InvalidSchedule',
    null,
    profile({ schedule: watts({ operationMode: 'CentralSetpoint', setpoint: 5 }) }),
  ],
  ['prices of ISO 15118-20', 'UnsupportedParam', null, profile({ priceScheduleSignature: 'x' })],
];

describe('OCPP 2.x SetChargingProfile: rules of K01', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
    const all = version === 'ocpp2.1' ? [...refused, ...refused21] : refused;
    it(`${version}: refuses what breaks a rule with its reason code, changes nothing, and finds the requirement`, async () => {
      const { call, charging, findings } = chargingRig('EVSE-AC-22kW-1port-EU', { version });
      for (const [what, reason, rule, chargingProfile, evseId = 1] of all) {
        findings.length = 0;
        // JSON has no Infinity, but its texts have 1e999
        const reply =
          what === 'numbers beyond all'
            ? await charging.handlers.SetChargingProfile?.({ evseId, chargingProfile }, () => undefined)
            : await call('SetChargingProfile', { evseId, chargingProfile });
        expect([reply?.status, reply?.statusInfo?.reasonCode], what).to.deep.equal(['Rejected', reason]);
        const clause = `OCPP ${version.slice(4)} ${rule} `;
        expect(
          findings.map((each) => each.startsWith(clause)),
          `${what}: ${findings.join()}`,
        ).to.deep.equal(rule === null ? [] : [true]);
      }
      expect(charging.chargingProfiles()).to.deep.equal([]);
    });
  }

  it('phases are none of DC: NoPhaseForDC in 2.1, InvalidSchedule in 2.0.1, whose list lacks it (K01.FR.44)', async () => {
    const phases = profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases: 3 }] } });
    const dc = chargingRig('EVSE-DC-150kW-CCS-1port');
    expect(await dc.set(phases)).to.equal('NoPhaseForDC');
    const old = chargingRig('EVSE-DC-150kW-CCS-1port', { version: 'ocpp2.0.1' });
    expect(await old.set(phases)).to.equal('InvalidSchedule');
    // the grid connection of the station is AC
    const atGrid = { ...phases, ...ofStation };
    expect(await dc.set(atGrid, 0)).to.equal('Accepted');
  });

  it('a transaction of another EVSE is no transaction here (K01.FR.33)', async () => {
    const { set, plug, findings } = chargingRig('EVSE-AC-7.4kW-2port');
    const transactionId = await plug(2);
    expect(await set(profile({ chargingProfilePurpose: 'TxProfile', transactionId }), 1)).to.equal('TxNotFound');
    expect(findings[0]).to.match(/^OCPP 2\.1 K01\.FR\.33 /);
  });

  it('one id is replaced anywhere; another of its purpose and level is a duplicate while both hold (K01.FR.05, 06, 53)', async () => {
    const { set, charging } = chargingRig('EVSE-AC-7.4kW-2port');
    expect(await set(profile(), 1)).to.equal('Accepted');
    expect(await set(profile(), 2)).to.equal('Accepted');
    expect(charging.chargingProfiles().map(({ connectorId }) => connectorId)).to.deep.equal([2]);
    expect(await set(profile({ id: 2 }), 1)).to.equal('Accepted');
    expect(await set(profile({ id: 3 }), 2)).to.equal('DuplicateProfile');
    expect(await set(profile({ id: 3 }), 0)).to.equal('DuplicateProfile');
    expect(await set(profile({ id: 3, stackLevel: 1 }), 0)).to.equal('Accepted');
    expect(await set(profile({ id: 4, stackLevel: 1 }), 1)).to.equal('DuplicateProfile');
    const [to, from] = [{ validTo: '2027-01-01T00:00:00Z' }, { validFrom: '2027-01-01T00:00:00Z' }];
    expect(await set(profile({ id: 5, stackLevel: 2, ...to }), 1)).to.equal('Accepted');
    expect(await set(profile({ id: 6, stackLevel: 2, ...from }), 1)).to.equal('Accepted');
  });

  it('there is an end to the profiles that a station holds, and Entries counts them', async () => {
    const { set, variables } = chargingRig();
    for (let id = 0; id < 100; id += 1) expect(await set(profile({ id, stackLevel: id }))).to.equal('Accepted');
    expect(await set(profile({ id: 100, stackLevel: 100 }))).to.equal('OutOfStorage');
    expect(await set(profile({ id: 7, stackLevel: 7 }))).to.equal('Accepted');
    expect(variables.integer('SmartChargingCtrlr', 'Entries[ChargingProfiles]')).to.equal(100);
  });

  it('SmartChargingCtrlr.Enabled: off, its calls are not supported and its profiles do nothing (K01.FR.29)', async () => {
    const { set, plug, variables, kw, rig } = chargingRig();
    await plug(1, { maxChargeW: 22_000 });
    await set(profile());
    await rig.run(30);
    const limited = kw();
    variables.set('SmartChargingCtrlr', 'Enabled', 'false');
    await rig.run(30);
    expect(kw()).to.be.above(limited + 5);
    const failure = await set(profile()).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'NotSupported' });
    variables.set('SmartChargingCtrlr', 'Enabled', 'true');
    await rig.run(30);
    expect(kw()).to.equal(limited);
  });
});
