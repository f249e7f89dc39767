import { expect } from 'chai';
import { ReferenceVoltage, voltVarPct } from '../../../src/der/inverter/reactive-power.ts';
import type { VoltVarSetting } from '../../../src/der/inverter/settings.ts';
import { IdealRig, useCurve } from './ideal-rig.ts';

const categoryB = [
  [92, 44],
  [98, 0],
  [102, 0],
  [108, -44],
] as const;
const setting: VoltVarSetting = {
  enabled: true,
  points: categoryB.map(([x, y]) => ({ x, y })),
  reference: 'VA_MAX_PCT',
  reactiveFirst: true,
  vRefPct: 100,
  autoReference: true,
  autoReferenceS: 300,
  responseS: 5,
};

describe('Volt-var curve and reference (IEEE 1547-2018 5.3.3, Table 8)', () => {
  it('the default of category B', () => {
    for (const [v, q] of [
      [80, 44],
      [92, 44],
      [95, 22],
      [98, 0],
      [100, 0],
      [102, 0],
      [105, -22],
      [108, -44],
      [120, -44],
    ] as const) {
      expect(voltVarPct(setting, v, 100), `${v}`).to.be.closeTo(q, 1e-9);
    }
  });

  it('VRef shifts the points and keeps the shape', () => {
    for (const vRef of [95, 97.5, 103, 105]) {
      for (const offset of [-9, -5, -1, 0, 3, 6, 12]) {
        expect(voltVarPct(setting, vRef + offset, vRef)).to.be.closeTo(voltVarPct(setting, 100 + offset, 100), 1e-9);
      }
    }
  });

  it('5.3.3.3: the autonomous reference has done 63 % of a step after its time constant', () => {
    const reference = new ReferenceVoltage();
    const once = reference.advance(setting, 103, 300);
    expect(once).to.be.closeTo(100 + 3 * (1 - Math.exp(-1)), 1e-9);
    const other = new ReferenceVoltage();
    for (let i = 0; i < 1000; i += 1) other.advance(setting, 103, 0.3);
    expect(other.advance(setting, 103, 0)).to.be.closeTo(once, 1e-9);
  });

  it('5.3.3.3: stays between 95 and 105 %, wherever the voltage goes', () => {
    for (const [v, end] of [
      [50, 95],
      [94, 95],
      [96, 96],
      [104.5, 104.5],
      [106, 105],
      [130, 105],
    ] as const) {
      const reference = new ReferenceVoltage();
      expect(reference.advance(setting, v, 1e6)).to.equal(end);
    }
  });

  it('starts at the setting, and is the setting where it is off', () => {
    const reference = new ReferenceVoltage();
    expect(reference.advance({ ...setting, vRefPct: 102 }, 95, 0)).to.equal(102);
    reference.advance(setting, 95, 600);
    expect(reference.advance({ ...setting, autoReference: false, vRefPct: 101 }, 95, 1)).to.equal(101);
    // restarted
    expect(reference.advance({ ...setting, vRefPct: 102 }, 95, 0)).to.equal(102);
    expect(reference.advance({ ...setting, enabled: false, vRefPct: 99 }, 95, 10)).to.equal(99);
    expect(new ReferenceVoltage().advance({ ...setting, autoReferenceS: 0 }, 103, 0)).to.equal(103);
  });
});

describe('Volt-var of a device (IEEE 1547-2018 5.3.3; model 705)', () => {
  const active = (rig: IdealRig) => [...rig.device.activeFunctions];

  async function at(
    voltagePu: number,
    others: Readonly<Record<string, number | string>> = {},
    options: ConstructorParameters<typeof IdealRig>[0] = {},
  ): Promise<IdealRig> {
    const rig = new IdealRig({ givesW: 6000, ...options });
    rig.set((tx) => {
      useCurve(tx, 705, categoryB, { RspTms: 5, ...others });
    });
    await rig.run(1);
    rig.grid({ voltagePu });
    return rig;
  }

  it('has done 90 % after RspTms, on the way there and back', async () => {
    const rig = await at(1.05);
    await rig.run(5);
    expect(rig.q).to.be.closeTo(-0.9 * 2200, 2);
    await rig.run(30);
    expect(rig.q).to.equal(-2200);
    expect(active(rig)).to.deep.equal(['volt_var']);
    rig.grid({ voltagePu: 1 });
    await rig.run(5);
    expect(rig.q).to.be.closeTo(-0.1 * 2200, 2);
    await rig.run(30);
    expect(rig.q).to.equal(0);
    expect(active(rig)).to.deep.equal([]);
  });

  for (const [reference, injects, absorbs] of [
    ['VA_MAX_PCT', 2200, -2200],
    ['W_MAX_PCT', 0.22 * 9000, -0.22 * 9000],
    ['VAR_MAX_PCT', 0.22 * 4400, -0.22 * 2500],
    ['VAR_AVAL_PCT', 0.22 * 4400, -0.22 * 2500],
  ] as const) {
    it(`DeptRef ${reference}`, async () => {
      const ratings = { VarMaxInjRtg: 4400, VarMaxAbsRtg: 2500, WMax: 9000 };
      const rig = await at(0.95, { DeptRef: reference }, { ratings });
      await rig.run(60);
      expect(rig.q).to.be.closeTo(injects, 1);
      rig.grid({ voltagePu: 1.05 });
      await rig.run(60);
      expect(rig.q).to.be.closeTo(absorbs, 1);
    });
  }

  it('is bounded by 702.VarMaxInj and VarMaxAbs', async () => {
    const rig = await at(0.9);
    rig.set((tx) => {
      tx.m702.VarMaxInj = 1500;
      tx.m702.VarMaxAbs = 700;
    });
    await rig.run(60);
    expect(rig.q).to.equal(1500);
    rig.grid({ voltagePu: 1.09 });
    await rig.run(60);
    expect(rig.q).to.equal(-700);
  });

  it('by priority takes room from active power, or only beyond 44 %', async () => {
    for (const [Pri, q] of [
      ['REACTIVE', -6000],
      ['ACTIVE', -4400],
    ] as const) {
      const rig = new IdealRig({ ratings: { VarMaxAbsRtg: 6000, VarMaxInjRtg: 6000 } });
      rig.set((tx) => {
        useCurve(
          tx,
          705,
          [
            [102, 0],
            [106, -60],
          ],
          { RspTms: 1, Pri },
        );
      });
      rig.grid({ voltagePu: 1.07 });
      await rig.run(30);
      expect(rig.q, Pri).to.be.closeTo(q, 1);
      expect(rig.w, Pri).to.be.closeTo(Math.sqrt(1e8 - q ** 2), 1);
      expect(rig.map.m701.ThrotSrc).to.equal(1 << 4);
    }
  });

  it('Table 7: falls with the active power, to none below 5 %', async () => {
    for (const [givesW, q] of [
      [3000, -4400],
      [1000, -2200],
      [510, -0.255 * 4400],
      [400, 0],
    ] as const) {
      const rig = await at(1.09, {}, { givesW });
      await rig.run(60);
      expect(rig.q, `${givesW} W`).to.be.closeTo(q, 5);
    }
    const full = await at(1.09, {}, { givesW: 400, inverter: { lowPowerVars: 'full' } });
    await full.run(60);
    expect(full.q).to.equal(-4400);
  });

  it('VRef and the autonomous reference, which 705.VRefAuto shows', async () => {
    const rig = await at(1.05, { VRef: 103 });
    await rig.run(60);
    // 2 % above the reference is inside the dead band
    expect(rig.q).to.equal(0);
    // 0: no reference, which is 100 %
    const none = await at(1.05, { VRef: 0 });
    const plain = await at(1.05, { VRef: 100 });
    await none.run(60);
    await plain.run(60);
    expect(none.q).to.equal(plain.q).and.below(0);
    expect(none.map.m705.Crv[0]).to.include({ VRef: 0, VRefAuto: 100 });
    const auto = await at(1.05, { VRefAutoEna: 'ENABLED', VRefAutoTms: 300 });
    await auto.run(300);
    const vRef = 100 + 5 * (1 - Math.exp(-1));
    expect(auto.map.m705.Crv[0]!.VRefAuto).to.be.closeTo(vRef, 0.5);
    await auto.run(3600);
    expect(auto.map.m705.Crv[0]!.VRefAuto).to.equal(105);
    expect(auto.q).to.equal(0);
    auto.grid({ voltagePu: 1.07 });
    await auto.run(3600);
    // the reference has come to its limit, the voltage is 2 % above
    expect(auto.q).to.equal(0);
    auto.grid({ voltagePu: 1.1 });
    await auto.run(60);
    expect(auto.q).to.be.closeTo(-2200, 1);
  });

  it('ramps to zero with 704.VarRmp when it is disabled', async () => {
    const rig = await at(1.08);
    await rig.run(60);
    expect(rig.q).to.equal(-4400);
    rig.set((tx) => {
      tx.m705.Ena = 'DISABLED';
    });
    await rig.run(2);
    // 20 %/s of 4400 var
    expect(rig.q).to.be.closeTo(-4400 + 2 * 880, 1);
    await rig.run(10);
    expect(rig.q).to.equal(0);
  });
});
