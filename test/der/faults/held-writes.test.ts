import { expect } from 'chai';
import { enableEdgeFault, ignoreEffectFault, lateEffectFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { errorOf } from '../../support/map.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { byTest, quickEntry } from '../../support/rig.ts';

/** Ramps of commands would hide at which instant a command is felt. */
const instantRamps = { '704': { WRmp: 1000 } } as const;
const ratedW = 10_000;

async function sunny(options: TestPlantOptions = {}): Promise<FaultyRig> {
  const rig = await FaultyRig.sunny({ models: instantRamps, ...options });
  expect(rig.w).to.be.closeTo(ratedW, 20);
  return rig;
}

const limit = (pct: number) => ({ '704.WMaxLimPct': pct, '704.WMaxLimPctEna': 'ENABLED' });
/** Power in percent of the rating, after it has settled. */
async function settledPct(rig: FaultyRig): Promise<number> {
  await rig.run(5);
  return Math.round((rig.w / ratedW) * 100);
}

describe('device fault ignore_effect', () => {
  it('registers hold what was written, the power stays; the end of the fault lets it through at once', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault);
    rig.write(limit(50));
    expect([rig.value('704.WMaxLimPct'), rig.value('704.WMaxLimPctEna')]).to.deep.equal([50, 'ENABLED']);
    expect(await settledPct(rig)).to.equal(100);
    expect(rig.faults.clear()).to.equal(1);
    expect(await settledPct(rig)).to.equal(50);
  });

  it('keeps what was in force, also where that was a limit, and lets other points through', async () => {
    const rig = await sunny();
    rig.write(limit(60));
    expect(await settledPct(rig)).to.equal(60);
    rig.inject(ignoreEffectFault, {}, { target: { points: ['704.WMaxLimPct'] } });
    rig.write({ '704.WMaxLimPct': 30 });
    expect(await settledPct(rig)).to.equal(60);
    rig.write({ '704.WMaxLimPctEna': 'DISABLED' });
    expect(await settledPct(rig)).to.equal(100);
    rig.write(limit(20));
    expect(await settledPct(rig), 'the enable acts, the value is the old one').to.equal(60);
  });

  it('an adoption completes in the registers, and the curve before it stays in force', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { target: { points: ['706.AdptCrvReq'] } });
    rig.write({ '706.Ena': 'ENABLED' });
    rig.plant.setGrid({ voltagePu: 1.08 });
    expect(await settledPct(rig)).to.be.within(60, 99);
    await rig.run(60);
    const before = await settledPct(rig);
    rig.write({
      '706.Crv[1].Pt[0].V': 101,
      '706.Crv[1].Pt[0].W': 100,
      '706.Crv[1].Pt[1].V': 105,
      '706.Crv[1].Pt[1].W': 0,
      '706.Crv[1].ActPt': 2,
      '706.Crv[1].RspTms': 1,
      '706.AdptCrvReq': 2,
    });
    expect([rig.value('706.AdptCrvRslt'), rig.value('706.Crv[0].Pt[0].V')]).to.deep.equal(['COMPLETED', 101]);
    await rig.run(60);
    expect(await settledPct(rig)).to.equal(before);
    rig.faults.clear();
    await rig.run(60);
    expect(await settledPct(rig)).to.be.below(5);
  });

  it('strikes by occasion: with count 1 one write is lost, and stays lost until the point is written again', async () => {
    const rig = await sunny();
    const fault = rig.inject(ignoreEffectFault, {}, { count: 1 });
    rig.write({ '703.ESDlyTms': 5 });
    expect([fault.strikeCount, rig.faults.active.length]).to.deep.equal([1, 0]);
    rig.write(limit(50));
    expect(await settledPct(rig)).to.equal(50);
    const second = rig.inject(ignoreEffectFault, {}, { count: 1, target: { points: ['704'] } });
    rig.write({ '704.WMaxLimPct': 30 });
    expect(second.strikeCount).to.equal(1);
    expect(await settledPct(rig)).to.equal(50);
    rig.write({ '704.WMaxLimPct': 30 });
    expect(await settledPct(rig)).to.equal(30);
  });

  it('every second write is lost', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { every: 2, target: { points: ['704'] } });
    const felt: number[] = [];
    for (const pct of [90, 80, 70, 60]) {
      rig.write(limit(pct));
      felt.push(await settledPct(rig));
    }
    expect(felt).to.deep.equal([90, 90, 70, 70]);
  });

  it('rests while its condition does not hold', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { when: { point: '701.W', below: 5000 } });
    rig.write(limit(40));
    expect(await settledPct(rig)).to.equal(40);
    rig.write(limit(90));
    expect(await settledPct(rig)).to.equal(40);
  });

  it('a reversion is not a write of a master: it takes effect', async () => {
    const rig = await sunny();
    rig.write({ '704.WMaxLimPctRvrt': 70, '704.WMaxLimPctEnaRvrt': 'ENABLED', '704.WMaxLimPctRvrtTms': 20 });
    rig.inject(ignoreEffectFault);
    rig.write(limit(50));
    expect(await settledPct(rig)).to.equal(100);
    await rig.run(20);
    expect(await settledPct(rig)).to.equal(70);
  });

  it('a stop that is ignored', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { target: { points: ['715.OpCtl'] } });
    rig.write({ '715.OpCtl': 'STOP' });
    expect(await settledPct(rig)).to.equal(100);
    rig.faults.clear();
    expect(await settledPct(rig)).to.equal(0);
  });

  it('of one device; the others are as always', async () => {
    const rig = await sunny({ types: ['PV-3Phase', 'PV-3Phase'] });
    rig.inject(ignoreEffectFault, {}, { deviceIndex: 0 });
    for (const { bank } of rig.plant.devices)
      bank.transact(byTest, (tx) => {
        tx.m704.WMaxLimPct = 50;
        tx.m704.WMaxLimPctEna = 'ENABLED';
      });
    await rig.run(5);
    expect(rig.plant.devices.map(({ bank }) => Math.round(bank.map.m701.W! / 100))).to.deep.equal([100, 50]);
  });

  it('a reset of the device ends a fault of its own and forgets what was lost', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { deviceIndex: 0 });
    rig.write(limit(50));
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(rig.faults.active).to.deep.equal([]);
    rig.write({ '704.WRmp': 1000, ...limit(30) });
    expect(await settledPct(rig)).to.equal(30);
  });

  it('refuses points that nobody can write', async () => {
    const rig = await sunny();
    const error = errorOf(() => {
      rig.inject(ignoreEffectFault, {}, { target: { points: ['701.W'] } });
    });
    expect([error.code, error.issues[0]?.name]).to.deep.equal(['COMMAND_BAD_VALUE', '/0/target/points']);
  });
});

describe('device fault late_effect', () => {
  /** Instant in seconds from now at which the power first falls below `pct`, by watching every 100 ms. */
  async function fallsAfter(rig: FaultyRig, pct: number, withinS: number): Promise<number | null> {
    let passed = 0;
    let found: number | null = null;
    await rig.watch(withinS, 0.1, () => {
      passed += 1;
      if (found === null && rig.w < (pct / 100) * ratedW) found = passed / 10;
    });
    return found;
  }

  it('physics follows after the delay, to the instant, whatever the tick', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 7.3 });
    rig.write(limit(50));
    expect(rig.value('704.WMaxLimPct')).to.equal(50);
    expect(await fallsAfter(rig, 99, 12)).to.be.within(7.3, 7.5);
    expect(await settledPct(rig)).to.equal(50);
  });

  it('is a delay line: each write arrives by itself', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 10 });
    rig.write(limit(80));
    await rig.run(5);
    rig.write(limit(40));
    await rig.run(4);
    expect(Math.round(rig.w / 100)).to.equal(100);
    await rig.run(4);
    expect(Math.round(rig.w / 100)).to.equal(80);
    await rig.run(5);
    expect(Math.round(rig.w / 100)).to.equal(40);
  });

  it('one tick over everything gives the same as many', async () => {
    const powers: number[] = [];
    for (const pieces of [[20], [5, 5, 5, 5], Array.from({ length: 40 }, () => 0.5)]) {
      const rig = await sunny();
      rig.inject(lateEffectFault, { delay_s: 7.3 });
      rig.write(limit(50));
      for (const piece of pieces) await rig.run(piece);
      powers.push(Number(rig.map.m701.TotWhInj), rig.w);
    }
    expect([powers[2], powers[4]]).to.deep.equal([powers[0], powers[0]]);
    expect([powers[3], powers[5]]).to.deep.equal([powers[1], powers[1]]);
  });

  it('cleared, all is in force at once; by duration at its own instant', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 60 });
    rig.write(limit(50));
    rig.faults.clear();
    expect(await settledPct(rig)).to.equal(50);
    rig.inject(lateEffectFault, { delay_s: 60 }, { durationS: 4.2 });
    rig.write(limit(20));
    expect(await fallsAfter(rig, 49, 8)).to.be.within(4.2, 4.4);
    expect(rig.faults.active).to.deep.equal([]);
  });

  it('keeps a thousand writes apart: a further one arrives with the newest of them', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 10 });
    for (let i = 0; i < 1000; i += 1) rig.write(limit(90));
    await rig.run(5);
    rig.write({ '704.WMaxLimPct': 60 });
    rig.write({ '704.WMaxLimPct': 30, '704.WMaxLimPctRvrt': 20 });
    await rig.run(4.9);
    expect(Math.round(rig.w / 100)).to.equal(100);
    expect(await settledPct(rig)).to.equal(30);
    rig.write({ '704.WMaxLimPct': 50 });
    expect(await settledPct(rig), 'there is room again').to.equal(30);
    await rig.run(2);
    expect(await settledPct(rig)).to.equal(50);
  });

  it('with count 1 only one write is late, and it still arrives', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 10 }, { count: 1, target: { points: ['704'] } });
    rig.write(limit(50));
    expect(await settledPct(rig)).to.equal(100);
    await rig.run(6);
    expect(await settledPct(rig)).to.equal(50);
  });

  it('a write that is not late overtakes one that is, for good', async () => {
    const rig = await sunny();
    rig.inject(lateEffectFault, { delay_s: 10 }, { count: 1, target: { points: ['704'] } });
    rig.write(limit(50));
    rig.write(limit(70));
    expect(await settledPct(rig)).to.equal(70);
    await rig.run(10);
    expect(await settledPct(rig)).to.equal(70);
  });
});

describe('device fault enable_edge', () => {
  it('a new limit counts only after the function was off and on again', async () => {
    const rig = await sunny();
    rig.write(limit(80));
    expect(await settledPct(rig)).to.equal(80);
    rig.inject(enableEdgeFault);
    rig.write(limit(50));
    expect(await settledPct(rig), 'still enabled').to.equal(80);
    rig.write({ '704.WMaxLimPctEna': 'DISABLED' });
    expect(await settledPct(rig)).to.equal(100);
    rig.write({ '704.WMaxLimPctEna': 'ENABLED' });
    expect(await settledPct(rig)).to.equal(50);
  });

  it('value and enable in one write from disabled are an edge', async () => {
    const rig = await sunny();
    rig.inject(enableEdgeFault);
    rig.write(limit(40));
    expect(await settledPct(rig)).to.equal(40);
  });

  it('curves too: an adopted set waits for the edge', async () => {
    const rig = await sunny();
    rig.write({ '706.Ena': 'ENABLED' });
    rig.inject(enableEdgeFault, {}, { target: { points: ['706'] } });
    rig.plant.setGrid({ voltagePu: 1.05 });
    rig.write({
      '706.Crv[1].Pt[0].V': 101,
      '706.Crv[1].Pt[0].W': 100,
      '706.Crv[1].Pt[1].V': 103,
      '706.Crv[1].Pt[1].W': 20,
      '706.Crv[1].ActPt': 2,
      '706.Crv[1].RspTms': 1,
      '706.AdptCrvReq': 2,
    });
    await rig.run(60);
    expect(await settledPct(rig)).to.equal(100);
    rig.write({ '706.Ena': 'DISABLED' });
    rig.write({ '706.Ena': 'ENABLED' });
    await rig.run(60);
    expect(await settledPct(rig)).to.equal(20);
  });

  it('refuses points that no enable point belongs to', async () => {
    const rig = await sunny();
    expect(
      errorOf(() => {
        rig.inject(enableEdgeFault, {}, { target: { points: ['702.WMax'] } });
      }).code,
    ).to.equal('COMMAND_BAD_VALUE');
  });
});

describe('faults in what a device does: no trace of them', () => {
  it('when all are over the registers alone count', async () => {
    const [rig, plain] = [await sunny(), await sunny()];
    const faults = [ignoreEffectFault, enableEdgeFault].map((kind) => rig.inject(kind));
    rig.inject(lateEffectFault, { delay_s: 30 });
    for (const each of [rig, plain]) {
      quickEntry(each);
      each.write(limit(50));
      each.write({ '704.VarSetMod': 'VAR_MAX_PCT', '704.VarSetPct': 30, '704.VarSetEna': 'ENABLED' });
    }
    expect(faults[0]!.strikeCount).to.equal(3);
    rig.faults.clear();
    for (const each of [rig, plain]) await each.run(60);
    expect(rig.dump().equals(plain.dump())).to.equal(true);
  });
});
