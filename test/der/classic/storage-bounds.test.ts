import { expect } from 'chai';
import { ignoreEffectFault } from '../../../src/fault-kinds/device-effect.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { both, pointOf, shown, write } from '../../support/faces.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byTest, Rig } from '../../support/rig.ts';

type Values = Readonly<Record<string, AnyPointValue>>;

const rates = (mode: number, inPct: number, outPct: number): Values => ({
  '124.StorCtl_Mod': mode,
  '124.InWRte': inPct,
  '124.OutWRte': outPct,
});

/** Power of the battery in kW, + to discharge. */
const batteryKw = (rig: Rig) =>
  Math.round((Number(pointOf(rig, '160.module[3].DCW')) - Number(pointOf(rig, '160.module[2].DCW'))) / 100) / 10;
/** The powers to which the rates refer, kW. */
const chargeKw = (rig: Rig) => Number(pointOf(rig, '124.WChaMax')) / 1000;
const dischargeKw = (rig: Rig) => Number(pointOf(rig, '120.MaxDisChaRte')) / 1000;
const kw = (rig: Rig) => Math.round(rig.w / 100) / 10;

/** A hybrid with a load of 2 kW. @param irradianceWm2 0: night */
async function hybridAt(irradianceWm2: number): Promise<Rig> {
  const rig = new Rig({ types: ['HybridDC-3Phase'], ...both, models: { '704': { WRmp: 1000 } } });
  rig.plant.setSurroundings({ irradianceWm2, cellTemperatureC: 25, loadKw: 2 });
  await rig.run(60);
  return rig;
}

async function after(rig: Rig, values: Values): Promise<[batteryKw: number, acKw: number]> {
  write(rig, values);
  await rig.run(30);
  return [batteryKw(rig), kw(rig)];
}

describe('124 at a battery beside PV', () => {
  it('bounds a battery that covers the load by day, and binds nothing at 100 percent', async () => {
    const rig = await hybridAt(700);
    const [free, ac] = await after(rig, rates(0, 100, 100));
    expect([free < -4, ac]).to.deep.equal([true, 2]);
    for (const values of [rates(3, 100, 100), rates(3, 100, 0), rates(2, 100, 0), rates(2, 100, 50)])
      expect(await after(rig, values), JSON.stringify(values)).to.deep.equal([free, ac]);
    expect((await after(rig, rates(1, 20, 100)))[0]).to.equal(-0.2 * chargeKw(rig));
    expect((await after(rig, rates(1, 0, 100)))[0]).to.equal(0);
  });

  it('never draws on the grid by a limit, and holds the battery with an OutWRte of 0 at night', async () => {
    const rig = await hybridAt(0);
    const [free] = await after(rig, rates(0, 100, 100));
    expect(free).to.be.within(2, 2.3);
    for (const values of [rates(3, 100, 100), rates(1, 50, 100), rates(2, 100, 50)])
      expect(await after(rig, values), JSON.stringify(values)).to.deep.equal([free, 2]);
    for (const values of [rates(2, 100, 0), rates(3, 100, 0)])
      expect((await after(rig, values))[0], JSON.stringify(values)).to.equal(0);
    expect((await after(rig, rates(2, 100, 10)))[0]).to.equal(dischargeKw(rig) / 10);
  });

  it('forces the other direction by a negative rate, from PV alone with ChaGriSet PV', async () => {
    const rig = await hybridAt(0);
    const ratedKw = dischargeKw(rig);
    expect((await after(rig, rates(3, 100, -40)))[0]).to.be.closeTo(-0.4 * ratedKw, 0.11);
    expect(await after(rig, { '124.ChaGriSet': 'PV' })).to.deep.equal([0, 0]);
    expect((await after(rig, { '124.ChaGriSet': 'GRID' }))[0]).to.be.closeTo(-0.4 * ratedKw, 0.11);
    expect((await after(rig, rates(1, -30, 100)))[0]).to.be.closeTo(0.3 * chargeKw(rig), 0.11);
    // the lower of two bounds that exclude each other counts
    expect((await after(rig, rates(3, -50, 20)))[0]).to.be.closeTo(0.2 * ratedKw, 0.11);
  });

  it('bounds a mode that another protocol forces', async () => {
    const rig = await hybridAt(0);
    write(rig, rates(2, 100, 10));
    rig.device.command({ kind: 'battery.control', mode: 'discharge', powerW: 5000 }, byTest);
    await rig.run(10);
    expect(batteryKw(rig)).to.be.closeTo(1, 0.5);
    expect(shown(rig, '124.StorCtl_Mod', '124.OutWRte')).to.deep.equal([2, 10]);
  });

  it('ends with its reversion time, waits within its window and moves within its ramp time', async () => {
    const rig = await hybridAt(0);
    await after(rig, { ...rates(2, 100, 0), '124.InOutWRte_RvrtTms': 60 });
    await rig.run(31);
    expect([pointOf(rig, '124.StorCtl_Mod'), pointOf(rig, '124.OutWRte')]).to.deep.equal([0, 0]);
    expect(batteryKw(rig)).to.be.within(2, 2.3);
    write(rig, { ...rates(2, 100, 0), '124.InOutWRte_RvrtTms': 0, '124.InOutWRte_WinTms': 3600 });
    await rig.run(1);
    expect([pointOf(rig, '124.StorCtl_Mod'), batteryKw(rig) > 2]).to.deep.equal([2, true]);
    await rig.run(3600);
    expect(batteryKw(rig)).to.equal(0);
    const ratedKw = dischargeKw(rig);
    write(rig, { '124.OutWRte': -100, '124.InOutWRte_WinTms': 0, '124.InOutWRte_RmpTms': 100 });
    await rig.run(50);
    expect(batteryKw(rig)).to.be.closeTo(-ratedKw / 2, 0.3);
  });

  it('a write that waits is dropped under local control, and the rates in force show again', async () => {
    const rig = await hybridAt(0);
    write(rig, { ...rates(2, 100, 0), '124.InOutWRte_WinTms': 50 }, { source: 'modbus', peer: 'a' });
    rig.device.command({ kind: 'local', local: true }, { source: 'dashboard' });
    await rig.run(60);
    expect(shown(rig, '124.StorCtl_Mod', '124.OutWRte')).to.deep.equal([0, 100]);
    expect(batteryKw(rig)).to.be.within(2, 2.3);
  });
});

describe('124 at a battery alone', () => {
  it('bounds the set-point of 704, which it does not move, and forces by negative rates', async () => {
    const rig = new Rig({ types: ['Batt-3Phase'], ...both, models: { '704': { WRmp: 1000 } } });
    await rig.run(10);
    write(rig, rates(1, 50, 100));
    await rig.run(10);
    expect(kw(rig)).to.equal(0);
    write(rig, { '704.WSetMod': 'WATTS', '704.WSet': -8000, '704.WSetEna': 'ENABLED' });
    await rig.run(20);
    expect([kw(rig), pointOf(rig, '704.WSet')]).to.deep.equal([-5, -8000]);
    write(rig, { ...rates(2, 100, -30), '704.WSetEna': 'DISABLED' });
    await rig.run(20);
    expect(kw(rig)).to.equal(-3);
    write(rig, { '124.ChaGriSet': 'PV' });
    await rig.run(20);
    expect(kw(rig)).to.equal(0);
  });

  it('a fault of layer effect withholds the bounds from it', async () => {
    const rig = await FaultyRig.sunny({ types: ['Batt-3Phase'], ...both });
    rig.inject(ignoreEffectFault, {}, { target: { points: ['124.OutWRte'] } });
    rig.write(rates(2, 100, -50));
    await rig.run(20);
    expect(rig.w).to.be.closeTo(0, 1);
    rig.faults.clear();
    await rig.run(20);
    expect(rig.w).to.be.closeTo(-5000, 50);
  });
});
