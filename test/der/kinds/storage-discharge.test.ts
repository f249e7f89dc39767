import { expect } from 'chai';
import { codeOf } from '../../support/map.ts';
import { KindRig, kindPlant, kindSpec, master } from './support.ts';
import { StorageRig } from './support-storage.ts';

describe('discharge settings of a storage', () => {
  it('a battery gives no more than 702.WDisChaRteMax: by set-point and by forced mode', async () => {
    const rig = StorageRig.battery();
    const { m702 } = rig.map;
    expect([m702.WDisChaRteMaxRtg, m702.WDisChaRteMax]).to.deep.equal([10_000, 10_000]);
    expect([m702.VADisChaRteMaxRtg, m702.VADisChaRteMax]).to.deep.equal([10_000, 10_000]);
    rig.demand(8000);
    await rig.run(30);
    expect(rig.w).to.equal(8000);
    rig.write((tx) => (tx.m702.WDisChaRteMax = 3000));
    await rig.run(5);
    expect(rig.w).to.equal(3000);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('discharge_limit');
    expect(rig.device.available.injectW).to.be.closeTo(3000, 1e-6);
    rig.command({ kind: 'battery.control', mode: 'discharge', powerW: 9000 });
    await rig.run(5);
    expect(rig.w).to.equal(3000);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('discharge_limit');
    // DC: the losses come on top
    expect(rig.battery.powerW).to.be.within(3050, 3250);
    expect(rig.battery.maxDischargeW).to.be.closeTo(rig.battery.powerW, 1e-6);
    expect(rig.battery.clampedPowerW).to.equal(rig.battery.maxDischargeW);
    rig.write((tx) => (tx.m702.WChaRteMax = 2000));
    rig.command({ kind: 'battery.control', mode: 'charge', powerW: 9000 });
    await rig.run(5);
    expect(rig.w).to.equal(-2000);
    expect(rig.battery.clampedPowerW).to.equal(rig.battery.maxChargeW);
    expect(rig.battery.maxChargeW).to.be.closeTo(-rig.battery.powerW, 1e-6);
    rig.write((tx) => (tx.m702.WChaRteMax = 10_000));
    rig.command({ kind: 'battery.control', mode: 'auto' });
    rig.demand(-8000);
    await rig.run(60);
    expect(rig.w).to.equal(-8000);
    rig.demand(8000);
    rig.write((tx) => (tx.m702.WDisChaRteMax = 10_000));
    await rig.run(60);
    expect(rig.w).to.equal(8000);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('active_power');
    expect(codeOf(() => rig.write((tx) => (tx.m702.WDisChaRteMax = 10_001)))).to.equal('MAP_BAD_VALUE');
  });

  it('702.VADisChaRteMax bounds apparent power of the discharge alone', async () => {
    const rig = StorageRig.battery();
    rig.write((tx) => {
      tx.m702.VADisChaRteMax = 5000;
      Object.assign(tx.m704, { VarSetMod: 'VARS', VarSet: 3000, VarSetEna: 'ENABLED' });
    });
    rig.demand(9000);
    await rig.run(60);
    expect(rig.q).to.equal(3000);
    expect(rig.w).to.equal(4000);
    rig.demand(-9000);
    await rig.run(60);
    expect([rig.w, rig.q]).to.deep.equal([-9000, 3000]);
  });

  it('of a hybrid they bound the battery, not the array', async () => {
    const rig = new KindRig({ args: ['-d', 'HybridDC-3Phase'] }, { time: '09:00:00' });
    rig.command({ kind: 'hybrid.policy', policy: 'manual' });
    rig.demand(14_000);
    await rig.run(120);
    const before = rig.detail('hybrid-dc');
    expect(before.batteryPowerW).to.be.above(3000);
    rig.write((tx) => (tx.m702.WDisChaRteMax = 1000));
    await rig.run(60);
    const after = rig.detail('hybrid-dc');
    expect(after.batteryPowerW).to.be.within(950, 1150);
    expect(after.pv.powerW).to.be.closeTo(before.pv.powerW, 100);
    expect(rig.w).to.be.below(before.pv.powerW + 1150);
    rig.write((tx) => Object.assign(tx.m702, { WDisChaRteMax: 5000, VADisChaRteMax: 2000 }));
    await rig.run(60);
    expect(rig.detail('hybrid-dc').batteryPowerW).to.be.within(1950, 2250);
  });

  it('devices without a storage do not have the points; those of a one-way charging station are 0', () => {
    const v2g = ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'];
    for (const [value, type, ...flags] of [
      [null, 'PV-3Phase'],
      [null, 'Fuelcell-3Phase'],
      [null, 'EVSE', ...v2g],
      [0, 'EVSE'],
    ] as const) {
      const { m702 } = new KindRig({ args: ['-d', type, ...flags] }).map;
      expect([m702.WDisChaRteMaxRtg, m702.WDisChaRteMax, m702.VADisChaRteMax]).to.deep.equal([value, value, value]);
    }
  });
});

describe('702.WChaRteMax of a hybrid', () => {
  it('holds at once when it is lowered amid the ramp to another policy', async () => {
    const plant = kindPlant([kindSpec('hybrid')], { tickIntervalS: 1 });
    plant.setSurroundings({ irradianceWm2: 0 });
    const device = plant.device(0);
    device.bank.transact(master, ({ m704 }) => {
      Object.assign(m704, { WSetMod: 'WATTS', WSet: -5000, WSetEna: 'ENABLED' });
    });
    await plant.step(60);
    expect(device.siteShare.powerW).to.be.closeTo(-5000, 1);
    device.command({ kind: 'hybrid.policy', policy: 'manual' }, { source: 'rest' });
    device.bank.transact(master, ({ m702, m704 }) => {
      m704.WRmp = 1;
      m702.WChaRteMax = 300;
    });
    await plant.step(1);
    expect(device.siteShare.powerW).to.be.at.least(-300);
  });
});
