/** What a station does at the start of a process that continues another one. */
import { expect } from 'chai';
import type { OcppVersion } from '../../../src/contract/ocpp.ts';
import { answers16 } from '../central/answers.ts';
import type { CentralAnswer } from '../central/answers.ts';
import { answers2 } from '../central/answers-2.ts';
import { RestartSite } from './site.ts';

type Json = Record<string, unknown>;
type Sent = readonly [action: string, payload: Json];

const ev = { socPct: 10, batteryCapacityWh: 500_000 };

/** A station and all that has arrived of it. */
class Rig {
  readonly sent: Sent[] = [];
  site!: RestartSite;
  /** of the next process */
  startsOffline = false;
  /** clock of the central system */
  aheadMs = 0;

  static async open(version: OcppVersion, profile?: string): Promise<Rig> {
    const rig = new Rig();
    rig.site = await RestartSite.open({
      version,
      ...(profile !== undefined && { profile }),
      get startsOffline() {
        return rig.startsOffline;
      },
      answers: (siteMs) => {
        const nowMs = () => siteMs() + rig.aheadMs;
        const answers =
          version === 'ocpp1.6j' ? answers16(nowMs) : answers2(version === 'ocpp2.1' ? 'ocpp2.1' : 'ocpp2.0.1', nowMs);
        const recorded = (action: string, answer: CentralAnswer): CentralAnswer => {
          return (payload) => {
            rig.sent.push([action, payload]);
            return answer(payload);
          };
        };
        return Object.fromEntries(Object.entries(answers).map(([action, each]) => [action, recorded(action, each)]));
      },
    });
    return rig;
  }

  of(action: string): readonly Json[] {
    return this.sent.filter(([name]) => name === action).map(([, payload]) => payload);
  }

  /** `Started Authorized`, `Ended AbnormalCondition PowerLoss`, ... */
  get events(): readonly string[] {
    return this.of('TransactionEvent').map(({ eventType, triggerReason, transactionInfo }) => {
      const { stoppedReason = '' } = transactionInfo as { readonly stoppedReason?: string };
      return `${String(eventType)} ${String(triggerReason)} ${stoppedReason}`.trim();
    });
  }

  get powerW(): number {
    return this.site.process.port.connector(1).powerW;
  }

  async charge(seconds: number): Promise<void> {
    await this.site.do({ kind: 'evse.plug', connectorId: 1, ev });
    await this.site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
    await this.site.run(seconds);
    expect(this.powerW).to.be.greaterThan(1000);
  }
}

const versions = ['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1'] as const;

describe('a station that starts again', () => {
  let rig: Rig;
  afterEach(() => {
    rig.site.close();
  });

  for (const version of versions)
    for (const end of ['kill', 'power', 'orderly'] as const)
      it(`${version}, ${end}: the transaction ends with PowerLoss at the meter of the device, and so does its session`, async () => {
        rig = await Rig.open(version);
        const { site } = rig;
        await rig.charge(20);
        const { energyWh } = site.process.port.connector(1);
        if (end === 'orderly') await site.restart();
        else await site.kill(end);
        await site.run(5);
        expect(site.process.port.connector(1)).to.include({ phase: 'finishing', authorised: false });
        expect(site.process.port.connector(1).session?.stopReason).to.equal('PowerLoss');
        expect(rig.powerW).to.equal(0);
        if (version === 'ocpp1.6j') {
          expect(rig.of('StartTransaction')).to.have.length(1);
          const [stop, ...others] = rig.of('StopTransaction');
          expect(stop).to.include({ reason: 'PowerLoss', meterStop: Math.round(energyWh), transactionId: 1 });
          expect(others).to.deep.equal([]);
        } else {
          expect(rig.events.filter((text) => !text.startsWith('Updated'))).to.deep.equal([
            'Started Authorized',
            'Ended AbnormalCondition PowerLoss',
          ]);
          const [{ meterValue }] = rig.of('TransactionEvent').slice(-1) as unknown as readonly [
            { readonly meterValue: readonly { readonly sampledValue: readonly { readonly value: number }[] }[] },
          ];
          expect(meterValue[0]?.sampledValue[0]?.value).to.equal(Math.round(energyWh));
        }
        expect(site.issues).to.deep.equal([]);
      });

  for (const version of versions)
    it(`${version}: its clock is that of the central system before the first answer too`, async () => {
      rig = await Rig.open(version);
      const { site } = rig;
      rig.aheadMs = 3_600_000;
      await site.connect(false);
      await site.connect(true);
      await site.run(300 * 2);
      expect(site.process.clock.offsetS).to.be.closeTo(3600, 0.01);
      rig.startsOffline = true;
      await site.kill('power');
      expect(site.process.clock.offsetS).to.be.closeTo(3600, 0.01);
      expect(rig.of('SecurityEventNotification').map(({ type }) => type)).to.include('SettingSystemTime');
      rig.sent.length = 0;
      await site.connect(true);
      await site.run(5);
      expect(rig.of('BootNotification')).to.have.length(1);
      expect(rig.of('SecurityEventNotification').map(({ type }) => type)).not.to.include('SettingSystemTime');
      expect(site.issues).to.deep.equal([]);
    });

  for (const [timeout, awayS, story] of [
    ['300', 60, 'Updated TxResumed'],
    ['300', 400, 'Ended AbnormalCondition PowerLoss'],
    ['0', 0, 'Ended AbnormalCondition PowerLoss'],
  ] as const)
    it(`2.1, ResumptionTimeout ${timeout}, ${awayS} s away: ${story} (E17)`, async () => {
      rig = await Rig.open('ocpp2.1');
      const { site } = rig;
      const variable = { component: { name: 'TxCtrlr' }, variable: { name: 'ResumptionTimeout' } };
      await site.ask('SetVariables', { setVariableData: [{ ...variable, attributeValue: timeout }] });
      await rig.charge(20);
      const count = rig.events.length;
      await site.kill('power', awayS);
      await site.run(5);
      expect(rig.events.slice(count)).to.deep.equal([story]);
      const isResumed = story.includes('TxResumed');
      expect(rig.powerW > 1000).to.equal(isResumed);
      if (!isResumed) return;
      await site.do({ kind: 'evse.stop', connectorId: 1 });
      expect(rig.events.at(-1)).to.equal('Ended StopAuthorized Local');
      const numbers = rig.of('TransactionEvent').map(({ seqNo }) => seqNo);
      expect(numbers).to.deep.equal(numbers.map((_, at) => at));
      const ids = rig.of('TransactionEvent').map(({ transactionInfo }) => (transactionInfo as Json)['transactionId']);
      expect(new Set(ids).size).to.equal(1);
    });

  it('2.1: a resumed transaction has the time charged up to the last instant of the device (E17)', async () => {
    rig = await Rig.open('ocpp2.1');
    const { site } = rig;
    const variable = { component: { name: 'TxCtrlr' }, variable: { name: 'ResumptionTimeout' } };
    await site.ask('SetVariables', { setVariableData: [{ ...variable, attributeValue: '300' }] });
    await rig.charge(50);
    await site.kill('kill');
    await site.run(5);
    const resumed = rig.of('TransactionEvent').find(({ triggerReason }) => triggerReason === 'TxResumed');
    const { timeSpentCharging } = resumed?.['transactionInfo'] as Json;
    expect(timeSpentCharging).to.be.within(45, 50);
  });

  it('2.1: the profile of a resumed transaction holds, and that of an ended one does not', async () => {
    for (const timeout of ['300', '0']) {
      rig = await Rig.open('ocpp2.1');
      const { site } = rig;
      const variable = { component: { name: 'TxCtrlr' }, variable: { name: 'ResumptionTimeout' } };
      await site.ask('SetVariables', { setVariableData: [{ ...variable, attributeValue: timeout }] });
      await rig.charge(10);
      const { transactionInfo } = rig.of('TransactionEvent')[0] as { readonly transactionInfo: Json };
      const reply = await site.ask('SetChargingProfile', {
        evseId: 1,
        chargingProfile: {
          id: 1,
          stackLevel: 1,
          chargingProfilePurpose: 'TxProfile',
          chargingProfileKind: 'Relative',
          transactionId: transactionInfo['transactionId'],
          chargingSchedule: [
            { id: 1, chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 2000 }] },
          ],
        },
      });
      expect(reply).to.include({ status: 'Accepted' });
      await site.run(5);
      expect(rig.powerW).to.be.closeTo(2000, 100);
      await site.kill('power');
      await site.run(5);
      if (timeout === '300') expect(rig.powerW).to.be.closeTo(2000, 100);
      else {
        await site.do({ kind: 'evse.unplug', connectorId: 1 });
        await rig.charge(10);
        expect(rig.powerW).to.be.greaterThan(3000);
      }
      if (timeout === '300') site.close();
    }
  });

  it('1.6: a limit of an ended transaction does not stay at the device', async () => {
    rig = await Rig.open('ocpp1.6j');
    const { site } = rig;
    await rig.charge(10);
    const reply = await site.ask('SetChargingProfile', {
      connectorId: 1,
      csChargingProfiles: {
        chargingProfileId: 1,
        stackLevel: 1,
        chargingProfilePurpose: 'TxProfile',
        chargingProfileKind: 'Relative',
        chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 2000 }] },
      },
    });
    expect(reply).to.include({ status: 'Accepted' });
    await site.run(5);
    expect(rig.powerW).to.be.closeTo(2000, 100);
    await site.kill();
    await site.do({ kind: 'evse.unplug', connectorId: 1 });
    await rig.charge(10);
    expect(rig.powerW).to.be.greaterThan(3000);
  });

  it('2.x: a reservation that has ended meanwhile is reported once, and the connector is free', async () => {
    rig = await Rig.open('ocpp2.0.1j');
    const { site } = rig;
    const expiryDateTime = new Date(Date.UTC(2026, 5, 21, 12, 0, 30)).toISOString();
    const idToken = { idToken: 'R', type: 'Central' };
    expect(await site.ask('ReserveNow', { id: 7, expiryDateTime, evseId: 2, idToken })).to.include({
      status: 'Accepted',
    });
    await site.connect(false);
    await site.run(40);
    for (let n = 0; n < 3; n += 1) await site.kill('power');
    expect(rig.of('ReservationStatusUpdate')).to.deep.equal([{ reservationId: 7, reservationUpdateStatus: 'Expired' }]);
    expect(site.process.port.connector(2)).to.include({ status: 'available', reservation: null });
  });

  it('2.1: a DER control is in force after each end, and leaves nothing when it is cleared', async () => {
    rig = await Rig.open('ocpp2.1', 'EVSE-V2G-DC-50kW-bidir');
    const { site } = rig;
    const control = { isDefault: true, controlId: 'L', controlType: 'LimitMaxDischarge' };
    const limitMaxDischarge = { priority: 1, pctMaxDischargePower: 40 };
    const limit = () => {
      const { WMaxLimPct, WMaxLimPctEna } = site.process.kind.map.m704;
      return { WMaxLimPct, WMaxLimPctEna };
    };
    const free = limit();
    for (const end of ['kill', 'power', 'orderly'] as const) {
      expect(await site.ask('SetDERControl', { ...control, limitMaxDischarge })).to.include({ status: 'Accepted' });
      for (let n = 0; n < 2; n += 1) {
        if (end === 'orderly') await site.restart();
        else await site.kill(end);
        expect(limit(), end).to.deep.equal({ WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED' });
        await site.run(1);
      }
      const cleared = await site.ask('ClearDERControl', { isDefault: true, controlId: 'L' });
      expect(cleared).to.include({ status: 'Accepted' });
      expect(limit(), end).to.deep.equal(free);
      await site.kill('power');
      expect(limit(), end).to.deep.equal(free);
    }
  });

  it('2.1: an accepted monitor, display message and tariff are there after a loss of power', async () => {
    rig = await Rig.open('ocpp2.1');
    const { site } = rig;
    const monitor = { component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' }, severity: 3 };
    const setMonitor = async () => {
      const setMonitoringData = [{ ...monitor, type: 'UpperThreshold', value: 3000 }];
      const reply = await site.ask('SetVariableMonitoring', { setMonitoringData });
      const [result] = reply?.['setMonitoringResult'] as readonly [{ readonly id: number; readonly status: string }];
      return `${result.id} ${result.status}`;
    };
    const id = (await setMonitor()).replace(' Accepted', '');
    await site.kill('power');
    expect(await setMonitor()).to.match(/Duplicate/);
    const reply = await site.ask('ClearVariableMonitoring', { id: [Number(id)] });
    expect(reply?.['clearMonitoringResult']).to.deep.equal([{ id: Number(id), status: 'Accepted' }]);
    const message = { format: 'UTF8', language: 'en', content: 'Hello' };
    const display = { message: { id: 5, priority: 'NormalCycle', message } };
    expect(await site.ask('SetDisplayMessage', display)).to.include({ status: 'Accepted' });
    const tariff = { tariffId: 'T', currency: 'EUR', energy: { prices: [{ priceKwh: 0.3 }] } };
    expect(await site.ask('SetDefaultTariff', { evseId: 0, tariff })).to.include({ status: 'Accepted' });
    await site.kill('power');
    expect(await site.ask('ClearDisplayMessage', { id: 5 })).to.include({ status: 'Accepted' });
    const cleared = await site.ask('ClearTariffs', { tariffIds: ['T'] });
    expect(cleared?.['clearTariffsResult']).to.deep.equal([{ tariffId: 'T', status: 'Accepted' }]);
  });

  it('an authorisation that waits for a vehicle ends with the process', async () => {
    for (const version of versions) {
      rig = await Rig.open(version);
      const { site } = rig;
      await site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
      await site.run(2);
      expect(site.process.port.connector(1).authorised, version).to.equal(true);
      await site.kill();
      expect(site.process.port.connector(1).authorised, version).to.equal(false);
      if (version !== 'ocpp2.1') site.close();
    }
  });

  it('a meter that the device has lost is raised to its last reading, unless a person has set it', async () => {
    rig = await Rig.open('ocpp1.6j');
    const { site } = rig;
    await rig.charge(20);
    await site.do({ kind: 'evse.stop', connectorId: 1 });
    const [{ meterStop }] = rig.of('StopTransaction') as unknown as readonly [{ readonly meterStop: number }];
    // the device of before the transaction
    await site.process.store.slot('plant').replace([]);
    await site.kill();
    expect(site.process.port.connector(1).energyWh).to.equal(meterStop);
    await site.run(1);
    await site.do({ kind: 'evse.meter', connectorId: 1, energyWh: 3 });
    await site.run(2);
    await site.kill();
    expect(site.process.port.connector(1).energyWh).to.equal(3);
  });
});
