import { expect } from 'chai';
import { IdealRig, useCurve } from './ideal-rig.ts';

const categoryB = [
  [20, 0],
  [50, 0],
  [100, -44],
] as const;
const bothWays = [[-100, 44], [-50, 0], [-20, 0], ...categoryB] as const;

async function settled(
  rig: IdealRig,
  pairs: readonly (readonly [number, number])[],
  others: Readonly<Record<string, number | string>> = {},
): Promise<IdealRig> {
  rig.set((tx) => {
    tx.m704.VarRmp = 100;
    useCurve(tx, 712, pairs, others);
  });
  await rig.run(30);
  return rig;
}

describe('Watt-var (IEEE 1547-2018 5.3.4, Table 9; model 712)', () => {
  for (const [givesW, q] of [
    [1500, 0],
    [5000, 0],
    [6000, -880],
    [7500, -2200],
    [8500, -3080],
  ] as const) {
    it(`${givesW} W`, async () => {
      const rig = await settled(new IdealRig({ givesW }), categoryB);
      expect(rig.w).to.equal(givesW);
      expect(rig.q).to.be.closeTo(q, 1);
      expect([...rig.device.activeFunctions]).to.deep.equal(q === 0 ? [] : ['watt_var']);
    });
  }

  it('9.10: where the circle is too small the point slides along the curve to the circle', async () => {
    const rig = await settled(new IdealRig(), categoryB);
    expect(Math.hypot(rig.w, rig.q)).to.be.closeTo(10_000, 2);
    expect(rig.q).to.be.closeTo(-0.88 * (rig.w - 5000), 2);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << 9);
    expect(rig.state).to.equal('on throttled connected');
  });

  it('slides in the same way under the current limit of a dip', async () => {
    const rig = await settled(new IdealRig({ ratings: { VAMaxRtg: 10_000 } }), categoryB);
    rig.grid({ voltagePu: 0.8 });
    await rig.run(5);
    expect(Math.hypot(rig.w, rig.q)).to.be.closeTo(8800, 10);
    expect(rig.q).to.be.closeTo(-0.88 * (rig.w - 5000), 5);
  });

  for (const [demand, q] of [
    [-1500, 0],
    [-5000, 0],
    [-7500, 2200],
    [7500, -2200],
  ] as const) {
    it(`the charging side: ${demand} W`, async () => {
      const rig = IdealRig.store();
      rig.demand(demand);
      await settled(rig, bothWays);
      expect(rig.w).to.equal(demand);
      expect(rig.q).to.be.closeTo(q, 1);
    });
  }

  it('the charging side slides to the circle too', async () => {
    const rig = IdealRig.store();
    rig.demand(-10_000);
    await settled(rig, bothWays);
    expect(Math.hypot(rig.w, rig.q)).to.be.closeTo(10_000, 2);
    expect(rig.q).to.be.closeTo(0.88 * (-rig.w - 5000), 2);
  });

  it('DeptRef of each direction', async () => {
    const rig = await settled(new IdealRig({ givesW: 7500, ratings: { VarMaxAbsRtg: 2500 } }), categoryB, {
      DeptRef: 'VAR_MAX_PCT',
    });
    expect(rig.q).to.be.closeTo(-0.22 * 2500, 1);
  });

  it('follows the power, with 704.VarRmp', async () => {
    const rig = await settled(new IdealRig({ givesW: 5000 }), categoryB);
    rig.set((tx) => {
      tx.m704.VarRmp = 10;
    });
    rig.source.availableDcW = 7500;
    await rig.run(2);
    expect(rig.w).to.be.closeTo(7500, 60);
    expect(rig.q).to.be.closeTo(-880, 50);
    await rig.run(10);
    expect(rig.q).to.be.closeTo(-0.88 * (rig.w - 5000), 2);
  });
});
