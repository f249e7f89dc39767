import { expect } from 'chai';
import { IdealRig, useCurve } from './ideal-rig.ts';

const steep = [
  [102, 0],
  [104, -44],
] as const;
const adopted = (rig: IdealRig) => rig.map.m705.AdptCrvRslt;

describe('Adoption that takes time (705 to 712 AdptCrvRslt; inverter parameter adoptionS)', () => {
  it('is in progress for that simulated time, and takes effect only then', async () => {
    const rig = new IdealRig({ givesW: 5000, inverter: { adoptionS: 5 } });
    rig.grid({ voltagePu: 1.04 });
    rig.set((tx) => {
      useCurve(tx, 705, steep, { RspTms: 1 });
    });
    expect(adopted(rig)).to.equal('IN_PROGRESS');
    await rig.run(4.999);
    expect(adopted(rig)).to.equal('IN_PROGRESS');
    // the default curve has a third of its way at 1.04
    expect(rig.q).to.be.within(-1470, -1200);
    await rig.run(0.001);
    expect(adopted(rig)).to.equal('COMPLETED');
    expect(rig.map.m705.Crv[0]!.Pt[1]).to.include({ V: 104, Var: -44 });
    await rig.run(30);
    expect(rig.q).to.equal(-4400);
  });

  it('inside one long tick the curve acts from the exact instant on', async () => {
    const long = new IdealRig({ givesW: 5000, inverter: { adoptionS: 5 } });
    const short = new IdealRig({ givesW: 5000, inverter: { adoptionS: 5 } });
    for (const rig of [long, short]) {
      rig.grid({ voltagePu: 1.04 });
      rig.set((tx) => {
        useCurve(tx, 705, steep, { RspTms: 2 });
      });
    }
    await long.run(6);
    for (let i = 0; i < 60; i += 1) await short.run(0.1);
    expect(long.q).to.be.closeTo(short.q, 1);
  });

  it('a set that becomes invalid meanwhile fails, and the curve in force stays', async () => {
    const rig = new IdealRig({ inverter: { adoptionS: 5 } });
    const before = rig.map.m705.Crv[0]!.Pt[1]!.V;
    rig.set((tx) => {
      useCurve(tx, 705, steep);
    });
    await rig.run(1);
    rig.set((tx) => {
      tx.m705.Crv[1]!.ActPt = 0;
    });
    expect(adopted(rig)).to.equal('IN_PROGRESS');
    await rig.run(5);
    expect(adopted(rig)).to.equal('FAILED');
    expect(rig.map.m705.Crv[0]!.Pt[1]!.V).to.equal(before);
  });

  it('a second request replaces the first, with its own time', async () => {
    const rig = new IdealRig({ inverter: { adoptionS: 5 } });
    rig.set((tx) => {
      useCurve(tx, 705, steep);
    });
    await rig.run(3);
    rig.set((tx) => {
      Object.assign(tx.m705.Crv[2]!, { ActPt: 1 });
      Object.assign(tx.m705.Crv[2]!.Pt[0]!, { V: 100, Var: 11 });
      tx.m705.AdptCrvReq = 3;
    });
    await rig.run(4.9);
    expect(adopted(rig)).to.equal('IN_PROGRESS');
    await rig.run(0.2);
    expect(adopted(rig)).to.equal('COMPLETED');
    expect(rig.map.m705.Crv[0]!).to.deep.include({ ActPt: 1 });
    expect(rig.map.m705.Crv[0]!.Pt[0]).to.include({ V: 100, Var: 11 });
  });

  it('models adopt independently; without adoptionS there is no delay', async () => {
    const rig = new IdealRig({ inverter: { adoptionS: 5 } });
    rig.set((tx) => {
      useCurve(tx, 705, steep);
    });
    await rig.run(2);
    rig.set((tx) => {
      tx.m711.Ctl[1]!.KOf = 0.03;
      tx.m711.AdptCtlReq = 2;
    });
    await rig.run(3);
    expect([adopted(rig), rig.map.m711.AdptCtlRslt]).to.deep.equal(['COMPLETED', 'IN_PROGRESS']);
    await rig.run(2);
    expect([rig.map.m711.AdptCtlRslt, rig.map.m711.Ctl[0]!.KOf]).to.deep.equal(['COMPLETED', 0.03]);
    const quick = new IdealRig();
    quick.set((tx) => {
      useCurve(tx, 705, steep);
    });
    expect(adopted(quick)).to.equal('COMPLETED');
  });

  it('a reset of the device ends it without effect', async () => {
    const rig = new IdealRig({ inverter: { adoptionS: 5 } });
    rig.set((tx) => {
      useCurve(tx, 705, steep);
    });
    await rig.run(1);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(10);
    expect(rig.map.m705.Crv[0]!.Pt[1]!.V).to.equal(98);
    expect(adopted(rig)).to.equal('COMPLETED');
  });
});
