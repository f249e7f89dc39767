/** What a central system of 2.1 sets at a station leaves nothing in its registers once it is taken away again. */
import { expect } from 'chai';
import { pick as byDepth } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import { casesOf } from '../../support/random.ts';
import { request, settingTypes, testedTypes } from '../v201/der/rig.ts';
import type { TestedType } from '../v201/der/rig.ts';
import { id, Site } from './site.ts';

const batches = 3;
const sequences = byDepth({ quick: 12, ci: 50 });
/** bidirectional, beside the one of the start */
const device = 1;
const evseId = 1;

/** Takes each of a list with the same chance. */
function chance(seed: number) {
  const random = casesOf('sequences', seed);
  const upTo = (n: number) => Math.floor(random.next() * n);
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length)] as T;
  return { next: () => random.next(), upTo, pick };
}

type Chance = ReturnType<typeof chance>;

const localFrequency = (lowW: number, highW: number): Json => ({
  operationMode: 'LocalFrequency',
  v2xBaseline: lowW,
  v2xFreqWattCurve: [
    { frequency: 59, power: lowW },
    { frequency: 61, power: highW },
  ],
  v2xSignalWattCurve: [
    { signal: -50, power: -5000 },
    { signal: 50, power: 5000 },
  ],
});

/** A period of a random mode with a power that the station can give or take. */
function period({ pick, upTo }: Chance, purpose: string): Json {
  const limit = upTo(50_000);
  const dischargeLimit = -upTo(50_000);
  const modes: readonly Json[] = [
    { limit },
    { operationMode: 'ChargingOnly', limit },
    { operationMode: 'CentralSetpoint', setpoint: pick([0.5 * limit, 0.5 * dischargeLimit]), limit, dischargeLimit },
    { operationMode: 'CentralSetpoint', setpoint: -15_000 },
    { operationMode: 'Idle' },
    localFrequency(dischargeLimit, limit),
  ];
  return purpose === 'ChargingStationMaxProfile' || purpose === 'PriorityCharging' ? { limit } : pick(modes);
}

describe('a central system of OCPP 2.1 leaves nothing behind', () => {
  let site: Site;
  /** what was answered, to show that the script has done something */
  const said = new Map<string, number>();

  before(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  const station = () => site.central.station(`${id}-1`);
  /** Points that differ from the start, with their writers. */
  const changes = async (): Promise<Json> => (await site.get(`registers/changes?device=${device}`)).changes;
  const call = async (action: string, payload: Json): Promise<Json> => {
    const reply = await site.call(action, payload, station());
    const word = `${action} ${String(reply.status)}`;
    said.set(word, (said.get(word) ?? 0) + 1);
    return reply;
  };
  const inS = (seconds: number) => new Date(site.nowMs() + seconds * 1000).toISOString();
  const running = () => station().books.transactions.filter(({ ended }) => !ended);
  const charges = () => site.connector(evseId, device).session?.endedAtS === null;
  const setVariable = (component: Json, variable: string, attributeValue: string) =>
    call('SetVariables', { setVariableData: [{ component, variable: { name: variable }, attributeValue }] });

  function derControl({ pick, upTo, next }: Chance) {
    const type: TestedType = pick(testedTypes);
    const isDefault = settingTypes.includes(type) || next() < 0.5;
    const times = isDefault
      ? {}
      : {
          ...(next() < 0.6 && { startTime: inS(upTo(5)) }),
          ...(next() < 0.6 && { duration: 1 + upTo(10) }),
        };
    const controlId = `C${upTo(6)}`;
    return call('SetDERControl', request(controlId, type, { isDefault, priority: upTo(5), ...times }) as Json);
  }

  function profile(random: Chance) {
    const { pick, upTo, next } = random;
    const purpose = pick(['ChargingStationMaxProfile', 'TxDefaultProfile', 'TxProfile', 'PriorityCharging']);
    const isMax = purpose === 'ChargingStationMaxProfile';
    const kind = isMax ? 'Absolute' : pick(['Absolute', 'Relative', 'Recurring', 'Dynamic']);
    const [transaction] = running();
    const chargingProfile = {
      id: 1 + upTo(6),
      stackLevel: upTo(3),
      chargingProfilePurpose: purpose,
      chargingProfileKind: kind,
      ...(kind === 'Recurring' && { recurrencyKind: pick(['Daily', 'Weekly']) }),
      ...(kind === 'Dynamic' && next() < 0.5 && { dynUpdateInterval: 1 + upTo(3) }),
      ...(purpose === 'TxProfile' && { transactionId: transaction?.transactionId ?? 'none' }),
      ...(next() < 0.2 && { validTo: inS(1 + upTo(5)) }),
      chargingSchedule: [
        {
          id: 1,
          chargingRateUnit: 'W',
          ...(kind === 'Absolute' || kind === 'Recurring' ? { startSchedule: inS(-upTo(3600)) } : {}),
          ...(purpose !== 'PriorityCharging' && next() < 0.3 && { duration: 1 + upTo(3700) }),
          chargingSchedulePeriod: [{ startPeriod: 0, ...period(random, purpose) }],
        },
      ],
    };
    return call('SetChargingProfile', { evseId: isMax ? 0 : pick([0, evseId]), chargingProfile });
  }

  const reserve = ({ upTo }: Chance) =>
    call('ReserveNow', {
      id: 1 + upTo(3),
      expiryDateTime: inS(1 + upTo(60)),
      idToken: { idToken: 'A', type: 'Central' },
      evseId,
    });

  function steps(random: Chance): readonly (() => Promise<unknown>)[] {
    const { pick, upTo } = random;
    return [
      () => derControl(random),
      () => derControl(random),
      () => derControl(random),
      () => profile(random),
      () => profile(random),
      () => call('ClearDERControl', { isDefault: pick([true, false]), controlId: `C${upTo(6)}` }),
      () => call('ClearChargingProfile', { chargingProfileId: 1 + upTo(6) }),
      () => {
        const idToken = { idToken: 'A', type: 'Central' };
        return call('RequestStartTransaction', { evseId, idToken, remoteStartId: upTo(1000) });
      },
      () => call('RequestStopTransaction', { transactionId: running()[0]?.transactionId ?? 'none' }),
      () =>
        call('UsePriorityCharging', {
          transactionId: running()[0]?.transactionId ?? 'none',
          activate: pick([true, false]),
        }),
      () => dynamic(random),
      () => signalled(random),
      () => call('ChangeAvailability', { evse: { id: evseId }, operationalStatus: pick(['Operative', 'Inoperative']) }),
      () => reserve(random),
      () => setVariable({ name: 'TxCtrlr' }, 'EVConnectionTimeOut', String(1 + upTo(90))),
      () => {
        if (site.connector(evseId, device).operative)
          site.do({ kind: 'evse.authorize', connectorId: evseId, idToken: 'B' }, device);
        return site.settle();
      },
      () => {
        if (charges()) site.do({ kind: 'evse.discharge', connectorId: evseId, powerW: upTo(9000) }, device);
        return Promise.resolve();
      },
      () => {
        site.do({ kind: 'evse.limit', connectorId: evseId, powerW: upTo(50_000) }, device);
        return Promise.resolve();
      },
    ];
  }

  /** A profile for all transactions, above the others. */
  const topProfile = (profileId: number, kind: string, chargingSchedulePeriod: Json, startSchedule?: string) => ({
    id: profileId,
    stackLevel: profileId,
    chargingProfilePurpose: 'TxDefaultProfile',
    chargingProfileKind: kind,
    chargingSchedule: [
      { id: 1, chargingRateUnit: 'W', startSchedule, chargingSchedulePeriod: [chargingSchedulePeriod] },
    ],
  });

  /** Sets a limit, and updates it. */
  async function dynamic({ upTo }: Chance): Promise<unknown> {
    const chargingProfile = topProfile(7, 'Dynamic', { startPeriod: 0, limit: upTo(50_000) });
    await call('SetChargingProfile', { evseId, chargingProfile });
    return call('UpdateDynamicSchedule', { chargingProfileId: 7, scheduleUpdate: { limit: upTo(50_000) } });
  }

  /** A power that follows the frequency and a signal. */
  async function signalled({ upTo }: Chance): Promise<unknown> {
    const follows = { startPeriod: 0, ...localFrequency(-upTo(20_000), upTo(20_000)) };
    await call('SetChargingProfile', { evseId, chargingProfile: topProfile(8, 'Absolute', follows, inS(-10)) });
    return call('AFRRSignal', { timestamp: inS(upTo(3)), signal: upTo(100) - 50 });
  }

  async function takeAway(): Promise<void> {
    for (const { transactionId } of running()) await call('RequestStopTransaction', { transactionId });
    for (const isDefault of [true, false]) await call('ClearDERControl', { isDefault });
    await call('ClearChargingProfile', { chargingProfileCriteria: {} });
    for (const reservationId of [1, 2, 3]) await call('CancelReservation', { reservationId });
    await call('ChangeAvailability', { operationalStatus: 'Operative' });
    await call('ChangeAvailability', { evse: { id: evseId }, operationalStatus: 'Operative' });
    site.do({ kind: 'evse.limit', connectorId: evseId, powerW: null }, device);
    if (charges()) site.do({ kind: 'evse.discharge', connectorId: evseId, powerW: null }, device);
    const { authorised, cable } = site.connector(evseId, device);
    if (authorised) site.do({ kind: 'evse.stop', connectorId: evseId }, device);
    if (cable.evPlugged) site.do({ kind: 'evse.unplug', connectorId: evseId }, device);
    await site.advance(1);
  }

  /** sequences at whose end the device is not as before */
  let changed = 0;
  for (let batch = 0; batch < batches; batch += 1)
    it(`after random sequences of DER controls, profiles, set-points and transactions, ${batch + 1}`, async () => {
      const random = chance(40 + batch);
      const start = await changes();
      for (let n = 0; n < sequences; n += 1) {
        const ev = { socPct: 60, batteryCapacityWh: 200_000 };
        // an EVSE with an EV or a card is occupied, and later reservations are mostly refused
        if (random.next() < 0.2) await reserve(random);
        if (random.next() < 0.7) site.do({ kind: 'evse.plug', connectorId: evseId, ev }, device);
        if (random.next() < 0.5) site.do({ kind: 'evse.authorize', connectorId: evseId, idToken: 'A' }, device);
        await site.settle();
        for (let step = 0; step < 6; step += 1) await random.pick(steps(random))();
        await site.advance(0.5 + 5 * random.next(), 3);
        if (JSON.stringify(await changes()) !== JSON.stringify(start)) changed += 1;
        await takeAway();
        expect(await changes(), `sequence ${n}`).to.deep.equal(start);
      }
      const [evse] = (await site.get(`evse/${id}-1`)).connectors as Json[];
      expect(evse).to.include({ status: 'available', limit_source: 'none', reservation: null });
      expect(running()).to.deep.equal([]);
    }).timeout(60_000);

  it('and the script has done something', () => {
    expect(changed).to.be.greaterThan((batches * sequences) / 4);
    const frequent = ['SetDERControl', 'SetChargingProfile', 'ClearDERControl', 'RequestStopTransaction'];
    const rare = [
      'RequestStartTransaction',
      'ReserveNow',
      'UsePriorityCharging',
      'UpdateDynamicSchedule',
      'AFRRSignal',
    ];
    for (const action of byDepth({ quick: frequent, ci: [...frequent, ...rare] }))
      expect(said.get(`${action} Accepted`) ?? 0, JSON.stringify([...said])).to.be.greaterThan(0);
  });
});
