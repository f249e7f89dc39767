import { expect } from 'chai';
import { IdealRig, ratedW } from './ideal-rig.ts';

describe('Power in both directions (704.WSet below zero, 702.WChaRteMax)', () => {
  it('idles without a set-point, and shows RUNNING', async () => {
    const rig = IdealRig.store();
    await rig.run(10);
    expect([rig.w, rig.q, rig.state]).to.deep.equal([0, 0, 'on running connected']);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('idle');
    expect(rig.map.m701.ThrotSrc).to.equal(0);
  });

  it('moves with 704.WRmp through zero to a negative set-point, and back to zero', async () => {
    const rig = IdealRig.store();
    rig.demand(4000);
    await rig.run(10);
    rig.demand(-6000);
    await rig.run(1);
    expect(rig.w).to.equal(2000);
    await rig.run(2);
    expect(rig.w).to.equal(-2000);
    await rig.run(10);
    expect(rig.w).to.equal(-6000);
    expect(rig.map.m701.PF).to.equal(-1);
    expect(rig.map.m714.DCW).to.equal(-6000);
    // the set-point of a storage is not a limit
    expect([rig.state, rig.map.m701.ThrotSrc]).to.deep.equal(['on running connected', 0]);
    expect([...rig.device.activeFunctions]).to.deep.equal(['active_power']);
    rig.set((tx) => {
      tx.m704.WSetEna = 'DISABLED';
    });
    await rig.run(1);
    expect(rig.w).to.equal(-4000);
    await rig.run(10);
    expect(rig.w).to.equal(0);
  });

  it('absorbs no more than 702.WChaRteMax, the source, and WSetPct of WMax allow', async () => {
    const rig = IdealRig.store();
    rig.demand(-6000);
    rig.set((tx) => {
      tx.m702.WChaRteMax = 4000;
    });
    await rig.run(10);
    expect(rig.w).to.equal(-4000);
    expect(() => {
      rig.demand(-4001);
    }).to.throw(/704.WSet: -4001 is outside -4000..10000/);
    rig.set((tx) => {
      tx.m702.WChaRteMax = 8000;
    });
    await rig.run(10);
    expect(rig.w).to.equal(-6000);
    rig.set((tx) => {
      Object.assign(tx.m704, { WSetMod: 'W_MAX_PCT', WSetPct: -25 });
    });
    await rig.run(10);
    expect(rig.w).to.equal(-2500);
    const small = IdealRig.store({ takesW: 3000 });
    small.demand(-6000);
    await small.run(10);
    expect(small.w).to.equal(-3000);
    expect(small.device.trace.now.activeDecidedBy).to.equal('charge_limit');
  });

  it('704.WMaxLimPct limits injection, not absorption', async () => {
    const rig = IdealRig.store();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 30;
    });
    rig.demand(-8000);
    await rig.run(10);
    expect(rig.w).to.equal(-8000);
    rig.demand(8000);
    await rig.run(20);
    expect(rig.w).to.equal(3000);
  });

  it('an empty storage that charges is not asleep', async () => {
    const rig = IdealRig.store({ givesW: 0 });
    rig.demand(-3000);
    await rig.run(10);
    expect([rig.w, rig.state]).to.deep.equal([-3000, 'on running connected']);
    const dead = IdealRig.store({ givesW: 0, takesW: 0 });
    await dead.run(1);
    expect(dead.state).to.equal('on sleeping connected');
  });

  it('limited while absorbing, ThrotPct is the share of WMax that flows', async () => {
    const rig = IdealRig.store({ ratings: { VAMax: 7000 } });
    rig.demand(-ratedW);
    await rig.run(10);
    expect(rig.w).to.equal(-7000);
    expect(rig.state).to.equal('on throttled connected');
    expect(rig.map.m701.ThrotPct).to.equal(70);
  });

  for (const demand of [8000, -8000]) {
    const way = Math.sign(demand);

    it(`4.10.3: enters service along the ramp to ${demand} W`, async () => {
      const rig = IdealRig.store();
      rig.set((tx) => {
        Object.assign(tx.m703, { ESDlyTms: 5, ESRmpTms: 100 });
      });
      rig.demand(demand);
      rig.grid({ frequencyHz: 70, durationS: 1 });
      await rig.run(1 + 5);
      expect(rig.w).to.be.closeTo(0, 1);
      await rig.run(50);
      expect(rig.w).to.be.closeTo(way * 5000, 2);
      expect(rig.state).to.equal('on starting connected');
      await rig.run(30);
      expect(rig.w).to.be.closeTo(demand, 2);
      await rig.run(21);
      expect([rig.w, rig.state]).to.deep.equal([demand, 'on running connected']);
    });

    it(`4.6.2: stops along 704.WRmp from ${demand} W, and a revoked stop continues from the present power`, async () => {
      const rig = IdealRig.store();
      rig.demand(demand);
      await rig.run(10);
      rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
      await rig.run(2);
      expect(rig.w).to.be.closeTo(way * 4000, 20);
      expect(rig.state).to.equal('off shutting_down connected');
      rig.device.command({ kind: 'switch', closed: true }, { source: 'rest' });
      await rig.run(1);
      expect(rig.w).to.be.closeTo(way * 6000, 20);
      rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
      await rig.run(3.2);
      expect([rig.w, rig.state]).to.deep.equal([0, 'off off disconnected']);
    });
  }

  it('energy: a ramp from -8 to +8 kW goes to both counters in equal parts', async () => {
    const rig = IdealRig.store();
    rig.demand(-8000);
    await rig.run(10);
    rig.set((tx) => {
      tx.m704.WRmp = 1;
    });
    const { TotWhInj, TotWhAbs } = rig.map.m701;
    rig.demand(8000);
    await rig.run(160);
    // 80 s at 4 kW on average, both ways
    expect(rig.w).to.equal(8000);
    expect(rig.map.m701.TotWhAbs! - TotWhAbs!).to.be.closeTo((4000 * 80) / 3600, 1);
    expect(rig.map.m701.TotWhInj! - TotWhInj!).to.be.closeTo((4000 * 80) / 3600, 1);
    const { m701, m714 } = rig.map;
    expect(m714.DCWhAbs).to.be.at.most(m701.TotWhAbs! + 1);
    expect(m714.DCWhInj).to.be.at.least(m701.TotWhInj! - 1);
  });
});

describe('Constant power factor while absorbing (704.PFWAbs; IEEE 1547-2018 5.3.2)', () => {
  const both = async (demand: number) => {
    const rig = IdealRig.store();
    rig.set((tx) => {
      Object.assign(tx.m704, { VarRmp: 100, PFWInjEna: 'ENABLED', PFWAbsEna: 'ENABLED' });
      Object.assign(tx.m704.PFWInj, { PF: 0.95, Ext: 'OVER_EXCITED' });
      Object.assign(tx.m704.PFWAbs, { PF: 0.9, Ext: 'UNDER_EXCITED' });
    });
    rig.demand(demand);
    await rig.run(20);
    return rig;
  };

  it('each direction has its own setting', async () => {
    const gives = await both(5000);
    expect(gives.q).to.be.closeTo(5000 * Math.tan(Math.acos(0.95)), 2);
    expect([gives.map.m701.PF, [...gives.device.activeFunctions].sort().join()]).to.deep.equal([
      0.95,
      'active_power,pf_inject',
    ]);
    const takes = await both(-5000);
    expect(takes.q).to.be.closeTo(-5000 * Math.tan(Math.acos(0.9)), 2);
    expect([takes.map.m701.PF, [...takes.device.activeFunctions].sort().join()]).to.deep.equal([
      -0.9,
      'active_power,pf_absorb',
    ]);
  });

  it('over-excited is injection of reactive power, whichever way the active power goes', async () => {
    const rig = await both(-5000);
    rig.set((tx) => {
      tx.m704.PFWAbs.Ext = 'OVER_EXCITED';
    });
    await rig.run(20);
    expect(rig.q).to.be.closeTo(5000 * Math.tan(Math.acos(0.9)), 2);
  });

  it('at full power P and Q shrink together', async () => {
    const rig = await both(-ratedW);
    await rig.run(60);
    expect(rig.w).to.be.closeTo(-9000, 2);
    expect(rig.map.m701.VA).to.equal(ratedW);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << 3);
  });

  it('enabled alone it leaves the other direction at power factor 1', async () => {
    const rig = await both(5000);
    rig.set((tx) => {
      tx.m704.PFWInjEna = 'DISABLED';
    });
    await rig.run(20);
    expect(rig.q).to.equal(0);
    rig.demand(-5000);
    await rig.run(20);
    expect(rig.q).to.be.closeTo(-2422, 2);
  });
});
