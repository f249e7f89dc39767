import { expect } from 'chai';
import { detailOf } from '../../support/detail.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { rampCommand, rampTowards } from '../../../src/der/inverter/ramp.ts';
import { quickEntry, Rig } from '../../support/rig.ts';

const limitTo = (rig: Rig, pct: number) => {
  rig.set((tx) => {
    tx.m704.WMaxLimPctEna = 'ENABLED';
    tx.m704.WMaxLimPct = pct;
  });
};
const maxW = 0;
const fixedW = 1;
const derated = 14;

describe('Ramps (704.WRmp)', () => {
  it('move at the rate and stop at the target', () => {
    expect(rampTowards(0, 10, 2, 1)).to.equal(2);
    expect(rampTowards(10, 0, 2, 1)).to.equal(8);
    expect(rampTowards(9, 10, 2, 1)).to.equal(10);
    expect(rampTowards(3, 3, 2, 1)).to.equal(3);
  });

  it('a command starts at the present power where that lies between its old and its new value', () => {
    expect(rampCommand(100, 20, 50, 10, 1)).to.equal(40);
    expect(rampCommand(100, 60, 50, 10, 1)).to.equal(60);
    expect(rampCommand(40, 100, 30, 10, 1)).to.equal(50);
    expect(rampCommand(0, 100, 30, 10, 1)).to.equal(40);
    expect(rampCommand(0, -100, 30, 10, 1)).to.equal(-10);
    expect(rampCommand(0, -100, -200, 10, 1)).to.equal(-100);
    expect(rampCommand(0, 100, 50, 10, Infinity)).to.equal(100);
  });
});

describe('Limit of maximum active power (704.WMaxLimPct; IEEE 1547-2018 4.6.2)', () => {
  it('ramps down with WRmp from the output, and up again', async () => {
    const rig = await Rig.sunny();
    limitTo(rig, 30);
    await rig.run(1);
    expect(rig.w).to.equal(8000);
    await rig.run(2);
    expect(rig.w).to.equal(4000);
    await rig.run(1);
    expect(rig.w).to.equal(3000);
    limitTo(rig, 90);
    await rig.run(2);
    expect(rig.w).to.equal(7000);
    await rig.run(2);
    expect(rig.w).to.equal(9000);
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'DISABLED';
    });
    await rig.run(0.25);
    expect(rig.w).to.equal(9500);
    await rig.run(1);
    expect(rig.w).to.equal(10_000);
  });

  it('a limit above the output takes effect at once', async () => {
    const rig = await Rig.sunny();
    rig.plant.setSurroundings({ irradianceWm2: 300 });
    await rig.run(10);
    const before = rig.w;
    limitTo(rig, 40);
    await rig.run(0.1);
    expect(rig.w).to.equal(before);
    rig.plant.setSurroundings({ irradianceWm2: 1000 });
    await rig.watch(10, 0.1, () => {
      expect(rig.w).to.be.at.most(4000);
    });
    expect(rig.w).to.equal(4000);
  });

  it('gives 0 at 0 %, and stays in service', async () => {
    const rig = await Rig.sunny();
    limitTo(rig, 0);
    await rig.run(6);
    expect([rig.w, rig.map.m701.A, rig.map.m714.DCW]).to.deep.equal([0, 0, 0]);
    expect(rig.state).to.equal('on throttled connected');
    expect([rig.map.m701.ThrotPct, rig.map.m701.ThrotSrc]).to.deep.equal([0, 1 << maxW]);
  });

  it('shows in ThrotSrc, ThrotPct and the active functions, only while it limits the power', async () => {
    const rig = await Rig.sunny();
    const { m701 } = rig.map;
    expect([m701.ThrotPct, m701.ThrotSrc]).to.deep.equal([100, 0]);
    limitTo(rig, 40);
    await rig.run(5);
    expect([m701.ThrotPct, m701.ThrotSrc]).to.deep.equal([40, 1 << maxW]);
    expect([...rig.device.activeFunctions]).to.deep.equal(['max_power']);
    rig.plant.setSurroundings({ irradianceWm2: 200 });
    await rig.run(5);
    expect([m701.ThrotPct, m701.ThrotSrc]).to.deep.equal([100, 0]);
    expect([...rig.device.activeFunctions]).to.deep.equal([]);
    expect(rig.state).to.equal('on running connected');
  });

  it('refers to the setting 702.WMax', async () => {
    const rig = await Rig.sunny();
    limitTo(rig, 50);
    rig.set((tx) => {
      tx.m702.WMax = 8000;
    });
    await rig.run(10);
    expect(rig.w).to.equal(4000);
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'DISABLED';
    });
    await rig.run(10);
    expect(rig.w).to.equal(8000);
    // the source could give more than the setting takes
    expect(rig.map.m701.DERMode).to.equal(1 + 4);
  });

  it('WRmp of A_MAX refers to the power at rated current', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WRmpRef = 'A_MAX';
      tx.m704.WRmp = 10;
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 10;
    });
    await rig.run(2);
    // AMaxRtg is 1.1 times the rated current: 11 kW at nominal voltage
    expect(rig.w).to.be.closeTo(10_000 - 2 * 1100, 3);
  });

  it('applies at once to a device that enters service', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig);
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(1);
    limitTo(rig, 20);
    rig.set((tx) => {
      tx.m703.ES = 'ENABLED';
    });
    await rig.run(0.2);
    expect(rig.w).to.equal(2000);
  });
});

describe('Active power set-point (704.WSet)', () => {
  it('in percent and in watts, below the limit', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WSetEna = 'ENABLED';
      tx.m704.WSetMod = 'W_MAX_PCT';
      tx.m704.WSetPct = 55.5;
    });
    await rig.run(5);
    expect(rig.w).to.equal(5550);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << fixedW);
    expect([...rig.device.activeFunctions]).to.deep.equal(['active_power']);
    rig.set((tx) => {
      tx.m704.WSetMod = 'WATTS';
      tx.m704.WSet = 1234;
    });
    await rig.run(5);
    expect(rig.w).to.equal(1234);
    rig.set((tx) => {
      tx.m704.WSet = 9000;
    });
    limitTo(rig, 25);
    await rig.run(10);
    expect(rig.w).to.equal(2500);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << maxW);
    rig.set((tx) => {
      tx.m704.WSet = 2500;
    });
    await rig.run(5);
    expect(rig.map.m701.ThrotSrc).to.equal((1 << maxW) + (1 << fixedW));
  });

  it('a set-point to charge is refused by a device that cannot charge', async () => {
    const rig = await Rig.sunny();
    for (const change of [
      (tx: WritableMapView) => {
        tx.m704.WSetPct = -1;
      },
      (tx: WritableMapView) => {
        tx.m704.WSet = -1;
      },
    ]) {
      expect(() => {
        rig.set(change);
      }).to.throw(/is outside/);
    }
  });

  it('ramps both ways with WRmp', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WRmp = 50;
      tx.m704.WSetEna = 'ENABLED';
      tx.m704.WSetPct = 0;
    });
    await rig.run(1);
    expect(rig.w).to.equal(5000);
    await rig.run(1);
    rig.set((tx) => {
      tx.m704.WSetEna = 'DISABLED';
    });
    await rig.run(1.5);
    expect(rig.w).to.equal(7500);
  });
});

describe('Reversion of the active power limit (704.WMaxLimPctRvrtTms)', () => {
  const start = (rig: Rig, seconds: number) => {
    rig.set((tx) => {
      Object.assign(tx.m704, {
        WRmp: 1000,
        WMaxLimPctEna: 'ENABLED',
        WMaxLimPct: 20,
        WMaxLimPctRvrt: 60,
        WMaxLimPctEnaRvrt: 'ENABLED',
        WMaxLimPctRvrtTms: seconds,
      });
    });
  };

  it('counts down and takes the reversion values', async () => {
    const rig = await Rig.sunny();
    const { m704 } = rig.map;
    start(rig, 5);
    expect(m704.WMaxLimPctRvrtRem).to.equal(5);
    const seen: (number | null)[] = [];
    await rig.watch(5, 1, () => seen.push(m704.WMaxLimPctRvrtRem));
    expect(seen).to.deep.equal([4, 3, 2, 1, 0]);
    expect([m704.WMaxLimPct, m704.WMaxLimPctEna, m704.WMaxLimPctRvrtTms]).to.deep.equal([60, 'ENABLED', 5]);
    await rig.run(1);
    expect(rig.w).to.equal(6000);
    const slot = rig.device.bank.layout.slot(704, 'WMaxLimPct')!;
    expect(rig.device.bank.provenance(slot)?.source).to.equal('reversion');
  });

  for (const [tickS, ticksBefore] of [
    [1.5, 3],
    [15, 0],
    [150, 0],
    [0.1, 49],
  ] as const) {
    it(`at its exact instant in ticks of ${tickS} s`, async () => {
      const rig = await Rig.sunny();
      start(rig, 5);
      const before = rig.map.m701.TotWhInj!;
      await rig.watch(ticksBefore * tickS, tickS, () => {
        expect(rig.map.m704.WMaxLimPct).to.equal(20);
      });
      await rig.run(tickS);
      expect(rig.map.m704.WMaxLimPct).to.equal(60);
      await rig.run(0.1);
      expect(rig.w).to.equal(6000);
      const totalS = (ticksBefore + 1) * tickS + 0.1;
      // falling and rising at 100 kW/s: 0.08 s and 0.04 s on the way
      const expected = (2000 * 5 + 6000 * (totalS - 5) + (100_000 * 0.08 ** 2) / 2 - (100_000 * 0.04 ** 2) / 2) / 3600;
      expect(rig.map.m701.TotWhInj! - before).to.be.closeTo(expected, 1.01);
    });
  }

  it('reverts to a switched-off limit', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      Object.assign(tx.m704, {
        WMaxLimPctEna: 'ENABLED',
        WMaxLimPct: 20,
        WMaxLimPctEnaRvrt: 'DISABLED',
        WMaxLimPctRvrtTms: 10,
      });
    });
    await rig.run(9.999);
    expect(rig.map.m704.WMaxLimPctEna).to.equal('ENABLED');
    await rig.run(5);
    expect(rig.map.m704.WMaxLimPctEna).to.equal('DISABLED');
    expect(rig.w).to.equal(10_000);
  });

  it('a write while it counts restarts it; a reset of the device ends it', async () => {
    const rig = await Rig.sunny();
    start(rig, 5);
    await rig.run(4);
    limitTo(rig, 30);
    await rig.run(4.9);
    expect(rig.map.m704.WMaxLimPct).to.equal(30);
    await rig.run(0.1);
    expect(rig.map.m704.WMaxLimPct).to.equal(60);
    start(rig, 5);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(10);
    expect([rig.map.m704.WMaxLimPct, rig.map.m704.WMaxLimPctRvrtRem, rig.map.m704.WMaxLimPctEna]).to.deep.equal([
      100,
      0,
      'DISABLED',
    ]);
  });
});

describe('Limits of apparent power and current (IEEE 1547-2018 4.6, 5.2)', () => {
  it('at low voltage the current limits the power, and ThrotSrc shows DERATED', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 0.6 });
    await rig.run(1);
    const { m701, m702 } = rig.map;
    // 1.1 times rated current at 60 % of the voltage
    expect(rig.w).to.be.closeTo(6600, 5);
    expect(m701.A).to.be.closeTo(m702.AMax!, 0.02);
    expect(rig.state).to.equal('on throttled connected');
    expect([m701.ThrotSrc, m701.ThrotPct]).to.deep.equal([1 << derated, 66]);
    rig.plant.setGrid({ voltagePu: 0.95 });
    await rig.run(1);
    expect(rig.state).to.equal('on running connected');
    expect(rig.w).to.equal(10_000);
  });

  it('the current limit refers to volts, not to 702.VNom', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m702.VNom = 440;
    });
    rig.plant.setGrid({ voltagePu: 0.6 });
    await rig.run(1);
    expect(rig.w).to.be.closeTo(6600, 5);
  });

  it('702.VAMax and 702.AMax bind', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m702.VAMax = 7000;
    });
    await rig.run(1);
    expect(rig.w).to.equal(7000);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << derated);
    rig.set((tx) => {
      tx.m702.AMax = tx.m702.AMaxRtg! / 2;
    });
    await rig.run(1);
    expect(rig.w).to.be.closeTo(5500, 6);
  });
});

describe('DC side', () => {
  it('curtailment raises the DC voltage and lowers the DC current', async () => {
    const rig = await Rig.sunny();
    const volts: number[] = [];
    for (const pct of [100, 80, 60, 40, 20, 0]) {
      limitTo(rig, pct);
      await rig.run(10);
      volts.push(rig.map.m714.Prt[0]!.DCV!);
    }
    expect(volts).to.deep.equal([...volts].sort((a, b) => a - b));
    const detail = detailOf(rig.device, 'pv');
    expect(volts.at(-1)).to.be.closeTo(detail.operatingPoint.v, 0.1);
    expect(detail.mpptState).to.equal('limit');
  });

  it('takes at least what it gives, and power is voltage times current', async () => {
    const rig = new Rig();
    for (const irradianceWm2 of [0, 20, 60, 200, 500, 1000]) {
      rig.plant.setSurroundings({ irradianceWm2 });
      await rig.run(30);
      const { m701, m714 } = rig.map;
      expect(m714.DCW).to.be.at.least(m701.W!);
      const port = m714.Prt[0]!;
      expect(port.DCV! * port.DCA!).to.be.closeTo(port.DCW!, Math.max(5, 0.001 * port.DCW!));
      expect([m714.DCW, m714.DCA]).to.deep.equal([port.DCW, port.DCA]);
    }
  });

  it('opens the array when out of service, which is then at open-circuit voltage', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(1);
    const { Prt } = rig.map.m714;
    expect([Prt[0]!.DCA, Prt[0]!.DCW]).to.deep.equal([0, 0]);
    expect(Prt[0]!.DCV).to.be.closeTo(rig.device.dcCurve(undefined, 50).vOcV!, 0.1);
    expect(Prt[0]!.DCSta).to.equal('ON');
  });
});
