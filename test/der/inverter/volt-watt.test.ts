import { expect } from 'chai';
import { IdealRig, ratedW, useCurve } from './ideal-rig.ts';

const voltWattBit = 10;

async function at(
  rig: IdealRig,
  pairs: readonly (readonly [number, number])[],
  others: Readonly<Record<string, number | string>> = {},
): Promise<IdealRig> {
  rig.set((tx) => {
    useCurve(tx, 706, pairs, { RspTms: 10, ...others });
  });
  await rig.run(1);
  return rig;
}

const steep = [
  [106, 100],
  [110, 20],
] as const;

describe('Volt-watt (IEEE 1547-2018 5.4.2; model 706)', () => {
  it('is a limit in percent of WMax with its open-loop response, not a scaling of the output', async () => {
    const rig = await at(new IdealRig(), steep);
    rig.grid({ voltagePu: 1.08 });
    await rig.run(10);
    expect(rig.w).to.be.closeTo(ratedW - 0.9 * 4000, 5);
    await rig.run(100);
    expect(rig.w).to.equal(6000);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << voltWattBit);
    expect(rig.map.m701.ThrotPct).to.equal(60);
    expect(rig.state).to.equal('on throttled connected');
    const small = await at(new IdealRig({ givesW: 5000 }), steep);
    small.grid({ voltagePu: 1.08 });
    await small.run(100);
    expect(small.w).to.equal(5000);
    expect(small.state).to.equal('on running connected');
  });

  it('W_AVAL_PCT refers to what the source can give', async () => {
    const rig = await at(new IdealRig({ givesW: 5000 }), steep, { DeptRef: 'W_AVAL_PCT' });
    rig.grid({ voltagePu: 1.08 });
    await rig.run(100);
    expect(rig.w).to.equal(3000);
    rig.source.availableDcW = 8000;
    await rig.run(1);
    expect(rig.w).to.be.closeTo(4800, 30);
  });

  it('starts smoothly, and ends smoothly when it is disabled', async () => {
    const rig = await at(new IdealRig(), steep);
    rig.grid({ voltagePu: 1.1 });
    await rig.run(0.1);
    expect(rig.w).to.be.above(9700);
    await rig.run(100);
    expect(rig.w).to.equal(2000);
    rig.set((tx) => {
      tx.m706.Ena = 'DISABLED';
    });
    await rig.run(0.1);
    expect(rig.w).to.be.within(2000, 2300);
    await rig.run(9.9);
    expect(rig.w).to.be.closeTo(2000 + 0.9 * 8000, 5);
    await rig.run(100);
    expect(rig.w).to.equal(ratedW);
    expect(rig.map.m701.ThrotSrc).to.equal(0);
  });

  it('a negative limit makes a storage charge', async () => {
    const rig = await at(IdealRig.store(), [
      [106, 100],
      [110, -100],
    ]);
    rig.demand(5000);
    rig.grid({ voltagePu: 1.09 });
    await rig.run(100);
    expect(rig.w).to.equal(-5000);
    expect([...rig.device.activeFunctions]).to.deep.equal(['volt_watt']);
    rig.grid({ voltagePu: 1.1 });
    await rig.run(100);
    expect(rig.w).to.equal(-ratedW);
  });

  it('a negative limit ends at the power that the device can absorb', async () => {
    const rig = await at(IdealRig.store({ takesW: 3000 }), [
      [106, 100],
      [110, -100],
    ]);
    rig.grid({ voltagePu: 1.1 });
    await rig.run(100);
    expect(rig.w).to.equal(-3000);
    const oneWay = await at(new IdealRig(), [
      [106, 100],
      [110, 0],
    ]);
    oneWay.grid({ voltagePu: 1.1 });
    await oneWay.run(200);
    expect(oneWay.w).to.equal(0);
  });

  it('is a limit: a storage that charges more continues', async () => {
    const rig = await at(IdealRig.store(), [
      [106, 100],
      [110, -20],
    ]);
    rig.demand(-6000);
    rig.grid({ voltagePu: 1.1 });
    await rig.run(100);
    expect(rig.w).to.equal(-6000);
  });

  it('RspTms 0 follows at once', async () => {
    const rig = await at(new IdealRig(), steep, { RspTms: 0 });
    rig.grid({ voltagePu: 1.08 });
    await rig.run(0.1);
    expect(rig.w).to.equal(6000);
  });
});
