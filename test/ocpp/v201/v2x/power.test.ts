import { expect } from 'chai';
import { chargingRig, profile, watts } from '../charging/rig.ts';
import type { ChargingRig } from '../charging/rig.ts';

const bidirectional = () => chargingRig('EVSE-V2G-DC-50kW-bidir');
const full = { socPct: 60, maxChargeW: 50_000 };
type Period = Parameters<typeof watts>[0];

/** Sets a TxDefaultProfile of one period. @returns Accepted, or the reason code */
const setPeriod = ({ set }: ChargingRig, period: Period) => set(profile({ schedule: watts(period) }));

const droop = {
  operationMode: 'LocalFrequency',
  v2xBaseline: 1000,
  v2xFreqWattCurve: [
    { frequency: 59.5, power: -20_000 },
    { frequency: 59.9, power: 0 },
    { frequency: 60.1, power: 0 },
    { frequency: 60.5, power: 20_000 },
  ],
} as const;

describe('OCPP 2.1 block Q: the vehicle follows set-points', () => {
  for (const operationMode of ['CentralSetpoint', 'CentralFrequency'] as const)
    it(`${operationMode}: a negative set-point discharges the vehicle into the grid, a positive one charges it (Q02, Q05)`, async () => {
      const station = bidirectional();
      const { rig, plug, kw, device, updates } = station;
      await plug(1, full);
      expect(kw()).to.be.above(30);
      expect(await setPeriod(station, { operationMode, setpoint: -20_000 })).to.equal('Accepted');
      await rig.run(60);
      expect(kw()).to.equal(-20);
      expect(rig.w / 1000).to.be.within(19.9, 20);
      expect(device.sample(1).powerW).to.equal(-20_000);
      const { energyExportWh } = device.sample(1);
      const socPct = rig.connector().ev?.socPct ?? NaN;
      await rig.run(360);
      expect(device.sample(1).energyExportWh - energyExportWh).to.be.closeTo(2000, 1);
      expect(rig.connector().ev?.socPct).to.be.below(socPct);
      expect(updates).to.deep.equal([{ evseId: 1, trigger: 'OperationModeChanged', extras: { operationMode } }]);
      await setPeriod(station, { operationMode, setpoint: 12_000 });
      await rig.run(60);
      expect(kw()).to.equal(12);
      expect(updates.at(-1)).to.deep.include({ trigger: 'ChargingRateChanged', extras: { operationMode } });
    });

  it('set-points in amperes are those of the cable', async () => {
    const { rig, plug, set, device } = bidirectional();
    await plug(1, full);
    const chargingSchedulePeriod = [{ startPeriod: 0, operationMode: 'CentralSetpoint', setpoint: -20 } as const];
    expect(await set(profile({ schedule: { chargingRateUnit: 'A', chargingSchedulePeriod } }))).to.equal('Accepted');
    await rig.run(60);
    const { powerW, currentA } = device.sample(1);
    expect(powerW).to.be.below(-5000);
    expect(currentA[0]).to.be.closeTo(20, 0.1);
  });

  it('a set-point outside of its limits, and modes that the station lacks, are refused as InvalidSchedule (Q01)', async () => {
    const station = bidirectional();
    const refused: readonly Period[] = [
      { operationMode: 'CentralSetpoint', setpoint: 8000, limit: 5000 },
      { operationMode: 'CentralSetpoint', setpoint: -5000, dischargeLimit: -3000 },
      { operationMode: 'CentralSetpoint', limit: 5000 },
      { operationMode: 'CentralFrequency' },
      { operationMode: 'Idle', limit: 0 },
      { operationMode: 'ExternalSetpoint' },
      { operationMode: 'ExternalLimits' },
      { operationMode: 'LocalLoadBalancing' },
      { limit: 5000, dischargeLimit: -1 },
      { ...droop, setpoint: 5 },
    ];
    for (const period of refused)
      expect(await setPeriod(station, period), JSON.stringify(period)).to.equal('InvalidSchedule');
    expect(station.charging.chargingProfiles()).to.deep.equal([]);
  });

  it('dischargeLimit of the station binds the sum; a set-point stays within it', async () => {
    const station = bidirectional();
    const { rig, plug, set, kw } = station;
    await plug(1, full);
    await setPeriod(station, { operationMode: 'CentralSetpoint', setpoint: -20_000 });
    const ofStation = profile({
      id: 2,
      chargingProfilePurpose: 'ChargingStationMaxProfile',
      schedule: watts({ limit: 30_000, dischargeLimit: -7000 }),
    });
    expect(await set(ofStation, 0)).to.equal('Accepted');
    await rig.run(60);
    expect(kw()).to.be.within(-7.05, -6.9);
  });

  it('Idle: no power in any direction (Q11)', async () => {
    const station = bidirectional();
    const { rig, plug, kw, updates } = station;
    await plug(1, full);
    expect(await setPeriod(station, { operationMode: 'Idle' })).to.equal('Accepted');
    await rig.run(60);
    expect(kw()).to.equal(0);
    expect(rig.connector().status).to.equal('suspended_evse');
    expect(updates.at(-1)).to.deep.include({ trigger: 'OperationModeChanged', extras: { operationMode: 'Idle' } });
  });

  it('a Dynamic profile moves the set-point from charging to discharging and back (K28, Q02)', async () => {
    const { rig, plug, set, kw, call } = bidirectional();
    await plug(1, full);
    const period = {
      operationMode: 'CentralSetpoint',
      setpoint: 10_000,
      limit: 30_000,
      dischargeLimit: -30_000,
    } as const;
    await set(profile({ chargingProfileKind: 'Dynamic', schedule: watts(period) }));
    const to = async (setpoint: number) => {
      const { status, statusInfo } = await call('UpdateDynamicSchedule', {
        chargingProfileId: 1,
        scheduleUpdate: { setpoint },
      });
      await rig.run(60);
      return [status, statusInfo?.reasonCode, kw()];
    };
    expect(await to(-15_000)).to.deep.equal(['Accepted', undefined, -15]);
    expect(await to(-31_000)).to.deep.equal(['Rejected', 'InvalidSchedule', -15]);
    expect(await to(5000)).to.deep.equal(['Accepted', undefined, 5]);
  });

  it('V2XChargingCtrlr.Enabled: off, no set-point discharges, and the modes are refused', async () => {
    const station = bidirectional();
    const { rig, plug, kw, variables } = station;
    await plug(1, full);
    await setPeriod(station, { operationMode: 'CentralSetpoint', setpoint: -20_000 });
    await rig.run(60);
    expect(kw()).to.equal(-20);
    variables.set('V2XChargingCtrlr', 'Enabled', 'false', { evseId: 1 });
    await rig.run(30);
    expect(kw()).to.equal(0);
    expect(await setPeriod(station, { operationMode: 'CentralSetpoint', setpoint: 5 })).to.equal('InvalidSchedule');
    variables.set('V2XChargingCtrlr', 'Enabled', 'true', { evseId: 1 });
    await rig.run(60);
    expect(kw()).to.equal(-20);
  });

  it('V2XChargingCtrlr stands at bidirectional EVSEs alone, and in 2.1 alone', () => {
    const there = ({ variables }: ChargingRig) =>
      variables.has('V2XChargingCtrlr', 'SupportedOperationModes', { evseId: 1 });
    expect(there(bidirectional())).to.equal(true);
    expect(there(chargingRig('EVSE-DC-150kW-CCS-1port'))).to.equal(false);
    expect(there(chargingRig('EVSE-V2G-DC-50kW-bidir', { version: 'ocpp2.0.1' }))).to.equal(false);
    const { variables } = bidirectional();
    const list = (name: string) => variables.list('V2XChargingCtrlr', name, { evseId: 1 });
    expect(list('SupportedEnergyTransferModes')).to.deep.equal(['DC', 'DC_BPT']);
    expect(list('SupportedOperationModes')).to.include.members(['ChargingOnly', 'CentralSetpoint', 'CentralFrequency']);
  });
});

describe('OCPP 2.1 LocalFrequency: a set-point from frequency and signal', () => {
  it('baseline plus the curve at the frequency of each second (Q08)', async () => {
    const station = bidirectional();
    const { rig, plant, plug, kw, updates, of } = station;
    await plug(1, full);
    // the droop of the device would hold the power by itself
    rig.write(({ m711 }) => {
      m711.Ena = 'DISABLED';
    });
    expect(await setPeriod(station, droop)).to.equal('Accepted');
    const at = async (frequencyHz: number) => {
      plant.setGrid({ frequencyHz });
      // registers and meters show a frequency at the end of a tick
      await rig.watch(30, 1, () => undefined);
      return kw();
    };
    expect(await at(60)).to.equal(1);
    expect(await at(59.7)).to.equal(-9);
    expect(await at(59.5)).to.equal(-19);
    expect(await at(60.3)).to.equal(11);
    expect(updates.map(({ trigger }) => trigger)).to.deep.equal(['OperationModeChanged']);
    expect(of('NotifyChargingLimit')).to.deep.equal([]);
  });

  it('LocalFrequencyUpdateThreshold: smaller changes of the frequency leave the set-point', async () => {
    const station = bidirectional();
    const { rig, plant, plug, kw, variables } = station;
    variables.set('V2XChargingCtrlr', 'LocalFrequencyUpdateThreshold', '200', { evseId: 1 });
    await plug(1, full);
    await setPeriod(station, droop);
    await rig.run(30);
    plant.setGrid({ frequencyHz: 60.18 });
    await rig.watch(30, 1, () => undefined);
    expect(kw()).to.equal(1);
    plant.setGrid({ frequencyHz: 60.3 });
    await rig.watch(30, 1, () => undefined);
    expect(kw()).to.equal(11);
  });

  it('AFRRSignal moves the set-point by its curve, at its instant; without a curve NoSignalWattCurve (Q07)', async () => {
    const station = bidirectional();
    const { rig, plug, kw, call, stampIn } = station;
    await plug(1, full);
    const signal = async (value: number, inS: number) => {
      const { status, statusInfo } = await call('AFRRSignal', { timestamp: stampIn(inS), signal: value });
      return status === 'Accepted' ? status : statusInfo?.reasonCode;
    };
    expect(await signal(50, 0)).to.equal('NoSignalWattCurve');
    await setPeriod(station, droop);
    expect(await signal(50, 0)).to.equal('NoSignalWattCurve');
    const v2xSignalWattCurve = [
      { signal: -100, power: -10_000 },
      { signal: 100, power: 10_000 },
    ];
    await setPeriod(station, { ...droop, v2xSignalWattCurve });
    expect(await signal(50, 0)).to.equal('Accepted');
    await rig.run(30);
    expect(kw()).to.equal(6);
    expect(await signal(-100, 60)).to.equal('Accepted');
    await rig.run(50);
    expect(kw()).to.equal(6);
    await rig.run(40);
    expect(kw()).to.equal(-9);
  });

  it('needs the unit W and two ascending points (Q08.FR.02, Q08.FR.05)', async () => {
    const { set } = bidirectional();
    const inA = profile({ schedule: { ...watts(droop), chargingRateUnit: 'A' } });
    expect(await set(inA)).to.equal('UnsupportedRateUnit');
    const [first] = droop.v2xFreqWattCurve;
    expect(await set(profile({ schedule: watts({ ...droop, v2xFreqWattCurve: [first] }) }))).to.equal(
      'NoFreqWattCurve',
    );
    const back = [...droop.v2xFreqWattCurve].reverse();
    expect(await set(profile({ schedule: watts({ ...droop, v2xFreqWattCurve: back }) }))).to.equal('InvalidSchedule');
  });
});
