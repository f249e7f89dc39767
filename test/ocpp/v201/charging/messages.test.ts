import { expect } from 'chai';
import { chargingRig, profile, watts } from './rig.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';

const large = { maxChargeW: 22_000 };
type Report = Requests['ReportChargingProfiles'];

describe('OCPP 2.x smart charging: messages', () => {
  it('GetChargingProfiles reports by EVSE and source, in parts with tbc and requestId (K09)', async () => {
    const { call, set, of, findings } = chargingRig('EVSE-AC-7.4kW-2port');
    for (let id = 1; id <= 7; id += 1) await set(profile({ id, stackLevel: id }), 1);
    await set(profile({ id: 20 }), 2);
    await set(profile({ id: 30, chargingProfilePurpose: 'ChargingStationMaxProfile' }), 0);
    const ask = async (criteria: Requests['GetChargingProfiles']['chargingProfile'], evseId?: number) => {
      const before = of('ReportChargingProfiles').length;
      const request = { requestId: 5, chargingProfile: criteria, ...(evseId !== undefined && { evseId }) };
      const { status } = await call('GetChargingProfiles', request);
      const reports = of('ReportChargingProfiles').slice(before) as unknown as Report[];
      expect(
        reports.every(({ requestId, chargingLimitSource }) => requestId === 5 && chargingLimitSource === 'CSO'),
      ).to.equal(true);
      return [
        status,
        ...reports.map(({ evseId: at, tbc, chargingProfile }) => [at, tbc, chargingProfile.map(({ id }) => id)]),
      ];
    };
    expect(await ask({ chargingProfileId: [2, 20, 99] })).to.deep.equal(['Accepted', [1, true, [2]], [2, false, [20]]]);
    expect(await ask({ chargingProfileId: [99] })).to.deep.equal(['NoProfiles']);
    expect(await ask({ chargingProfilePurpose: 'ChargingStationMaxProfile' })).to.deep.equal([
      'Accepted',
      [0, false, [30]],
    ]);
    expect(await ask({ stackLevel: 0 }, 2)).to.deep.equal(['Accepted', [2, false, [20]]]);
    expect(await ask({ chargingLimitSource: ['SO'] })).to.deep.equal(['NoProfiles']);
    expect(await ask({ chargingLimitSource: ['CSO'] }, 1)).to.deep.equal([
      'Accepted',
      [1, true, [1, 2, 3, 4, 5]],
      [1, false, [6, 7]],
    ]);
    expect(findings).to.deep.equal([]);
    expect((await ask({})).length).to.equal(5);
    expect(findings[0]).to.match(/K09\.FR\.03/);
  });

  it('reports go out while the station is still pending: the central system has asked for them', async () => {
    const { call, set, sent } = chargingRig();
    await set(profile());
    await call('GetChargingProfiles', { requestId: 1, chargingProfile: { stackLevel: 0 } });
    expect(sent.at(-1)).to.include({ action: 'ReportChargingProfiles', triggered: true });
  });

  it('ClearChargingProfile: an id alone, else all given criteria, else everything (K10)', async () => {
    const { call, set, charging } = chargingRig('EVSE-AC-7.4kW-2port');
    for (const [id, evseId, stackLevel] of [
      [1, 1, 0],
      [2, 2, 0],
      [3, 1, 1],
      [4, 2, 2],
    ] as const)
      await set(profile({ id, stackLevel }), evseId);
    const clear = async (request: Requests['ClearChargingProfile']) => {
      const { status } = await call('ClearChargingProfile', request);
      return [status, charging.chargingProfiles().map(({ profileId }) => profileId)];
    };
    expect(await clear({ chargingProfileId: 9 })).to.deep.equal(['Unknown', [1, 2, 3, 4]]);
    expect(await clear({ chargingProfileCriteria: { evseId: 1, stackLevel: 2 } })).to.deep.equal([
      'Unknown',
      [1, 2, 3, 4],
    ]);
    expect(await clear({ chargingProfileCriteria: { evseId: 1, stackLevel: 1 } })).to.deep.equal([
      'Accepted',
      [1, 2, 4],
    ]);
    expect(await clear({ chargingProfileCriteria: { stackLevel: 0 } })).to.deep.equal(['Accepted', [4]]);
    expect(await clear({})).to.deep.equal(['Accepted', []]);
  });

  it('GetCompositeSchedule: from now, in the unit asked for, of an EVSE or of the grid connection (K08)', async () => {
    const { call, set, stampIn, charging } = chargingRig('EVSE-AC-22kW-1port-EU', { version: 'ocpp2.0.1' });
    const rows = [
      { startPeriod: 0, limit: 10 },
      { startPeriod: 60, limit: 16, numberPhases: 1 },
    ];
    await set(profile({ schedule: { startSchedule: stampIn(0), chargingSchedulePeriod: rows, duration: 120 } }));
    const { status, schedule } = await call('GetCompositeSchedule', {
      evseId: 1,
      duration: 300,
      chargingRateUnit: 'A',
    });
    expect(status).to.equal('Accepted');
    expect(schedule).to.deep.equal({
      evseId: 1,
      duration: 300,
      scheduleStart: stampIn(0),
      chargingRateUnit: 'A',
      chargingSchedulePeriod: [
        { startPeriod: 0, limit: 10 },
        { startPeriod: 60, limit: 16, numberPhases: 1 },
        { startPeriod: 120, limit: 32 },
      ],
    });
    const whole = await call('GetCompositeSchedule', { evseId: 0, duration: 30, chargingRateUnit: 'W' });
    expect(whole.schedule?.chargingSchedulePeriod).to.deep.equal([{ startPeriod: 0, limit: 6900 }]);
    const reason = async (evseId: number, duration: number) =>
      (await call('GetCompositeSchedule', { evseId, duration })).statusInfo?.reasonCode;
    expect(await reason(5, 60)).to.equal('UnknownEvse');
    expect(await reason(1, 0)).to.equal('ValuePositiveOnly');
    expect(charging.compositeSchedule(1, 30, 'A')).to.deep.include({ connectorId: 1, unit: 'A', durationS: 30 });
    expect(() => charging.compositeSchedule(5, 30, 'A')).to.throw('there is no EVSE 5');
  });

  it('an outside limit is told, reported, part of composite schedules, and cleared (K11 to K13)', async () => {
    const { rig, call, plug, of, charging, updates, kw, variables } = chargingRig();
    await plug(1, large);
    const limit = (pct: number | null) => {
      rig.write(({ m704 }) => {
        if (pct === null) m704.WSetEna = 'DISABLED';
        else Object.assign(m704, { WSetMod: 'WATTS', WSet: -220 * pct, WSetEna: 'ENABLED' });
      });
    };
    expect(of('NotifyChargingLimit')).to.deep.equal([]);
    limit(50);
    await rig.run(30);
    expect(kw()).to.be.within(10.5, 11.1);
    expect(of('NotifyChargingLimit')).to.deep.equal([{ chargingLimit: { chargingLimitSource: 'SO' } }]);
    expect(updates.map(({ trigger }) => trigger)).to.deep.equal(['ChargingRateChanged']);
    const entry = charging.chargingProfiles().at(-1);
    expect(entry).to.include({ profileId: -1, purpose: 'ChargingStationExternalConstraints', effective: true });
    await call('GetChargingProfiles', { requestId: 3, chargingProfile: { chargingLimitSource: ['SO'] } });
    expect(of('ReportChargingProfiles')[0]).to.include({ evseId: 0, chargingLimitSource: 'SO', tbc: false });
    const composite = await call('GetCompositeSchedule', { evseId: 1, duration: 60, chargingRateUnit: 'W' });
    expect(composite.schedule?.chargingSchedulePeriod[0]?.limit).to.be.within(10_900, 11_100);
    expect((await call('ClearChargingProfile', { chargingProfileId: -1 })).status).to.equal('Unknown');
    variables.set('SmartChargingCtrlr', 'NotifyChargingLimitWithSchedules', 'true');
    limit(30);
    await rig.run(30);
    const told = of('NotifyChargingLimit').at(-1) as unknown as Requests['NotifyChargingLimit'];
    expect(told.chargingSchedule?.[0]?.chargingSchedulePeriod[0]?.limit).to.be.within(6500, 6700);
    limit(null);
    await rig.run(60);
    expect(of('ClearedChargingLimit')).to.deep.equal([{ chargingLimitSource: 'SO' }]);
    expect(kw()).to.be.above(20);
    expect(updates).to.have.length(3);
  });

  it('an outside limit that came while offline is told after the reconnect; one of REST is of an EMS (K12)', async () => {
    const { rig, of, offline, online } = chargingRig();
    offline();
    rig.device.bank.transact({ source: 'rest' }, ({ m704 }) => {
      Object.assign(m704, { WSetMod: 'WATTS', WSet: -5000, WSetEna: 'ENABLED' });
    });
    await rig.run(10);
    expect(of('NotifyChargingLimit')).to.deep.equal([]);
    online();
    expect(of('NotifyChargingLimit')).to.deep.equal([{ chargingLimit: { chargingLimitSource: 'EMS' } }]);
    online();
    expect(of('NotifyChargingLimit')).to.have.length(1);
    online(true);
    expect(of('NotifyChargingLimit')).to.have.length(2);
  });

  it('a local limit of an EVSE without a vehicle is told too, and its end (K12, K13)', async () => {
    const { rig, of } = chargingRig();
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: 7000 });
    await rig.run(1);
    expect(of('NotifyChargingLimit')).to.deep.equal([{ evseId: 1, chargingLimit: { chargingLimitSource: 'EMS' } }]);
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: null });
    await rig.run(1);
    expect(of('ClearedChargingLimit')).to.deep.equal([{ evseId: 1, chargingLimitSource: 'EMS' }]);
  });

  it('an outside limit and its end are told again where the line broke with them (K12, K13)', async () => {
    const { rig, plug, of, offline, online, lost } = chargingRig();
    await plug(1, large);
    const limit = async (powerW: number | null) => {
      rig.command({ kind: 'evse.limit', connectorId: 1, powerW });
      await rig.run(30);
    };
    const breakLine = () => {
      offline();
      lost.clear();
      online();
    };
    lost.add('NotifyChargingLimit').add('ClearedChargingLimit');
    await limit(7000);
    expect(of('NotifyChargingLimit')).to.have.length(1);
    breakLine();
    expect(of('NotifyChargingLimit')).to.have.length(2);
    lost.add('ClearedChargingLimit');
    await limit(null);
    expect(of('ClearedChargingLimit')).to.have.length(1);
    breakLine();
    expect(of('ClearedChargingLimit')).to.have.length(2);
    offline();
    online();
    expect(of('ClearedChargingLimit')).to.have.length(2);
    expect(of('NotifyChargingLimit')).to.have.length(2);
  });

  it('a local limit of one EVSE is that of an EMS there (K11 to K13)', async () => {
    const { rig, call, plug, of, updates, kw } = chargingRig();
    await plug(1, large);
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: 7000 });
    await rig.run(30);
    expect(kw()).to.equal(7);
    const ofEvse = { evseId: 1, chargingLimit: { chargingLimitSource: 'EMS' } };
    expect(of('NotifyChargingLimit')).to.deep.equal([ofEvse]);
    expect(updates.map(({ trigger }) => trigger)).to.deep.equal(['ChargingRateChanged']);
    await call('GetChargingProfiles', { requestId: 3, evseId: 1, chargingProfile: { chargingLimitSource: ['EMS'] } });
    expect(of('ReportChargingProfiles')[0]).to.include({ evseId: 1, chargingLimitSource: 'EMS' });
    const { schedule } = await call('GetCompositeSchedule', { evseId: 1, duration: 60, chargingRateUnit: 'W' });
    expect(schedule?.chargingSchedulePeriod).to.deep.equal([{ startPeriod: 0, limit: 7000 }]);
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: null });
    await rig.run(30);
    expect(of('ClearedChargingLimit')).to.deep.equal([{ evseId: 1, chargingLimitSource: 'EMS' }]);
    expect(updates).to.have.length(2);
  });

  it('what the composite schedule of a bidirectional EVSE shows beside limits (2.1)', async () => {
    const { call, set } = chargingRig('EVSE-V2G-DC-50kW-bidir');
    const period = {
      operationMode: 'CentralSetpoint',
      setpoint: -10_000,
      limit: 20_000,
      dischargeLimit: -15_000,
    } as const;
    expect(await set(profile({ schedule: watts(period) }))).to.equal('Accepted');
    const { schedule } = await call('GetCompositeSchedule', { evseId: 1, duration: 60 });
    expect(schedule?.chargingSchedulePeriod).to.deep.equal([{ startPeriod: 0, ...period }]);
  });
});
