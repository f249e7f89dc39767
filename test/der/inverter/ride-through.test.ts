import { expect } from 'chai';
import { rideThroughMode } from '../../../src/der/inverter/trip.ts';
import type { GridPatch } from '../../../src/contract/environment.ts';
import { IdealRig, ratedW } from './ideal-rig.ts';

const categories = ['CAT_1', 'CAT_2', 'CAT_3'] as const;
const words = {
  o: 'continuous_operation',
  m: 'mandatory_operation',
  p: 'permissive_operation',
  c: 'momentary_cessation',
  z: 'cease_to_energize',
} as const;

describe('Ride-through regions (IEEE 1547-2018 6.4.2, Tables 14 to 16)', () => {
  /** percent of nominal, and the region in categories I, II, III */
  const rows: readonly (readonly [number, string])[] = [
    [0, 'zzc'],
    [29.99, 'zzc'],
    [30, 'zpc'],
    [45, 'zpc'],
    [49.99, 'zpc'],
    [50, 'ppm'],
    [64.99, 'ppm'],
    [65, 'pmm'],
    [69.99, 'pmm'],
    [70, 'mmm'],
    [87.99, 'mmm'],
    [88, 'ooo'],
    [100, 'ooo'],
    [110, 'ooo'],
    [110.01, 'ppc'],
    [115, 'ppc'],
    [117.5, 'ppc'],
    [120, 'ppc'],
    [120.01, 'zzz'],
    [140, 'zzz'],
  ];
  for (const [pct, regions] of rows) {
    it(`${pct} %`, () => {
      categories.forEach((category, i) => {
        const mode = rideThroughMode(category, { lowestVoltagePct: pct, highestVoltagePct: pct, hz: 60 }, 60);
        expect(mode, category).to.equal(words[regions[i] as keyof typeof words]);
      });
    });
  }

  it('the lowest phase decides, then the highest', () => {
    expect(rideThroughMode('CAT_3', { lowestVoltagePct: 40, highestVoltagePct: 125, hz: 60 }, 60)).to.equal(
      'momentary_cessation',
    );
    expect(rideThroughMode('CAT_3', { lowestVoltagePct: 80, highestVoltagePct: 125, hz: 60 }, 60)).to.equal(
      'mandatory_operation',
    );
    expect(rideThroughMode('CAT_3', { lowestVoltagePct: 95, highestVoltagePct: 115, hz: 60 }, 60)).to.equal(
      'momentary_cessation',
    );
  });
});

describe('Frequency ride-through regions (IEEE 1547-2018 6.5.2, Table 19)', () => {
  for (const [hz, word] of [
    [57, 'm'],
    [58.799, 'm'],
    [58.8, 'o'],
    [60, 'o'],
    [61.2, 'o'],
    [61.201, 'm'],
    [61.8, 'm'],
  ] as const) {
    it(`${hz} Hz`, () => {
      for (const category of categories) {
        const input = { lowestVoltagePct: 100, highestVoltagePct: 100 };
        expect(rideThroughMode(category, { ...input, hz }, 60)).to.equal(words[word]);
        expect(rideThroughMode(category, { ...input, hz: hz - 10 }, 50), '50 Hz').to.equal(words[word]);
      }
    });
  }
});

describe('Momentary cessation (IEEE 1547-2018 6.4.2.7.3; MomCess curves of 707 to 710)', () => {
  const lvrt = 7,
    hvrt = 8,
    lfrt = 12,
    hfrt = 13;
  const instant = 0.001;

  /** Cessation on frequency is offered, and not used by default. */
  const frequencyCurves = (rig: IdealRig) => {
    rig.set((tx) => {
      for (const [model, Hz] of [
        [tx.m709, 58],
        [tx.m710, 61.5],
      ] as const) {
        const { MomCess } = model.Crv[1]!;
        MomCess.ActPt = 1;
        Object.assign(MomCess.Pt[0]!, { Hz, Tms: 0.5 });
        model.AdptCrvReq = 2;
      }
    });
  };

  const alarmOf: Record<number, string> = {
    [lvrt]: 'lvrt_active',
    [hvrt]: 'hvrt_active',
    [lfrt]: 'frt_active',
    [hfrt]: 'frt_active',
  };
  const cases: readonly (readonly [string, GridPatch, number, number])[] = [
    ['below 50 %', { voltagePu: 0.49 }, 0.083, lvrt],
    ['above 110 %', { voltagePu: 1.15 }, 0.083, hvrt],
    ['one phase below', { voltageBPu: 0.3 }, 0.083, lvrt],
    ['low frequency', { frequencyHz: 57.9 }, 0.5, lfrt],
    ['high frequency', { frequencyHz: 61.6 }, 0.5, hfrt],
  ];
  for (const [name, patch, seconds, bit] of cases) {
    it(`${name}: nothing flows after ${seconds} s, the device stays connected`, async () => {
      const rig = new IdealRig();
      frequencyCurves(rig);
      await rig.run(1);
      rig.grid(patch);
      await rig.run(seconds - instant);
      expect(rig.w).to.be.above(0);
      expect(rig.device.alarms).to.deep.equal([]);
      await rig.run(2 * instant);
      expect([rig.w, rig.q, rig.map.m701.A, rig.map.m714.DCW]).to.deep.equal([0, 0, 0, 0]);
      expect(rig.state).to.equal('on throttled connected');
      expect([rig.map.m701.ThrotSrc, rig.map.m701.ThrotPct]).to.deep.equal([1 << bit, 0]);
      expect(rig.map.m701.Alrm).to.equal(0);
      expect(rig.device.alarms.map(({ code, severity, latched }) => [code, severity, latched])).to.deep.equal([
        [alarmOf[bit], 'warning', false],
      ]);
      expect(rig.device.trace.now).to.include({
        service: 'momentary_cessation',
        rideThrough: 'momentary_cessation',
        activeDecidedBy: 'cessation',
        reactiveDecidedBy: 'cessation',
      });
    });
  }

  it('returns after the return delay, in the ramp time', async () => {
    const rig = new IdealRig({ inverter: { cessationReturnS: 0.2, cessationRampS: 0.4 } });
    rig.grid({ voltagePu: 0.4 });
    await rig.run(0.5);
    rig.grid({ voltagePu: 1 });
    await rig.run(0.199);
    expect(rig.w).to.equal(0);
    expect(rig.device.alarms).to.deep.equal([]);
    await rig.run(0.201);
    expect(rig.w).to.be.closeTo(ratedW / 2, 5);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('cessation');
    await rig.run(0.2 + instant);
    expect(rig.w).to.equal(ratedW);
    expect(rig.state).to.equal('on running connected');
    expect(rig.map.m701.ThrotSrc).to.equal(0);
  });

  it('6.4.2.7.4: by default 80 % of the power before is back within 0.4 s', async () => {
    const rig = new IdealRig();
    rig.grid({ voltagePu: 0.4 });
    await rig.run(1);
    rig.grid({ voltagePu: 0.95 });
    await rig.run(0.4);
    expect(rig.w).to.be.at.least(0.8 * ratedW);
  });

  it('a second dip during the return ceases again, after its own time', async () => {
    const rig = new IdealRig({ inverter: { cessationReturnS: 0, cessationRampS: 1 } });
    rig.grid({ voltagePu: 0.4 });
    await rig.run(0.5);
    rig.grid({ voltagePu: 1 });
    await rig.run(0.5);
    expect(rig.w).to.be.closeTo(5000, 5);
    rig.grid({ voltagePu: 0.4 });
    await rig.run(0.1);
    expect(rig.w).to.equal(0);
    rig.grid({ voltagePu: 1 });
    await rig.run(0.5);
    expect(rig.w).to.be.closeTo(5000, 5);
  });

  it('a dip shorter than the time of the curve is ridden through', async () => {
    const rig = new IdealRig();
    rig.grid({ voltagePu: 0.45, durationS: 0.08 });
    await rig.run(0.0801);
    await rig.run(0.02);
    expect(rig.w).to.equal(ratedW);
  });

  it('the output returns to the reactive power of the functions', async () => {
    const rig = new IdealRig({ givesW: 6000 });
    rig.set((tx) => {
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSetPct = 50;
    });
    await rig.run(20);
    rig.grid({ voltagePu: 0.4 });
    await rig.run(1);
    expect(rig.q).to.equal(0);
    rig.grid({ voltagePu: 1 });
    await rig.run(20);
    expect([rig.w, rig.q]).to.deep.equal([6000, 2200]);
  });

  it('still trips when the must-trip time is over, and the alarm of the cessation ends', async () => {
    const rig = new IdealRig();
    rig.grid({ voltagePu: 0.4 });
    await rig.run(1.999);
    expect(rig.state).to.equal('on throttled connected');
    await rig.run(0.002);
    expect(rig.state).to.equal('off fault disconnected');
    expect(rig.device.alarms.map(({ code }) => code)).to.deep.equal(['ac_under_volt']);
  });

  it('ends with the model: 707.Ena DISABLED lets the power flow', async () => {
    const rig = new IdealRig();
    rig.grid({ voltagePu: 0.45 });
    await rig.run(0.5);
    expect(rig.w).to.equal(0);
    rig.set((tx) => {
      tx.m707.Ena = 'DISABLED';
    });
    await rig.run(5);
    // 1.1 times rated current
    expect(rig.w).to.be.closeTo(4950, 5);
  });

  it('categories I and II cease where their tables require it', async () => {
    for (const [category, ceases, flows] of [
      ['CAT_1', 0.49, 0.51],
      ['CAT_2', 0.29, 0.31],
    ] as const) {
      for (const [voltagePu, none] of [
        [ceases, true],
        [flows, false],
      ] as const) {
        const rig = new IdealRig({ ratings: { AbnOpCatRtg: category } });
        // without the trips there is time to look
        rig.set((tx) => {
          tx.m707.Crv[1]!.MustTrip.ActPt = 1;
          Object.assign(tx.m707.Crv[1]!.MustTrip.Pt[0]!, { V: 0, Tms: 10 });
          tx.m707.AdptCrvReq = 2;
        });
        await rig.run(0.1);
        rig.grid({ voltagePu });
        await rig.run(0.165);
        expect(rig.w === 0, `${category} ${voltagePu}`).to.equal(none);
      }
    }
  });

  it('a storage ceases while it charges, and continues to charge', async () => {
    const rig = IdealRig.store();
    rig.demand(-6000);
    await rig.run(10);
    rig.grid({ voltagePu: 0.45 });
    await rig.run(0.5);
    expect(rig.w).to.equal(0);
    rig.grid({ voltagePu: 1 });
    await rig.run(5);
    expect(rig.w).to.equal(-6000);
  });
});

describe('May-trip (IEEE 1547-2018 6.4.2, 6.5.2; MayTrip curves of 707 to 710)', () => {
  /** category III: between the may-trip and the must-trip curve */
  const cases: readonly (readonly [string, GridPatch, number, string])[] = [
    ['0.6 pu', { voltagePu: 0.6 }, 10, 'ac_under_volt'],
    ['0.8 pu', { voltagePu: 0.8 }, 20, 'ac_under_volt'],
    ['1.15 pu', { voltagePu: 1.15 }, 12, 'ac_over_volt'],
    ['58.7 Hz', { frequencyHz: 58.7 }, 299, 'under_frequency'],
    ['61.3 Hz', { frequencyHz: 61.3 }, 299, 'over_frequency'],
  ];
  for (const [name, patch, seconds, code] of cases) {
    it(`${name}: a device that stays is there after ${seconds} s, one that trips is not`, async () => {
      for (const mayTrip of ['stay', 'trip'] as const) {
        const rig = new IdealRig({ inverter: { mayTrip } });
        rig.grid(patch);
        await rig.run(seconds - 0.001);
        expect(rig.map.m701.ConnSt, mayTrip).to.equal('CONNECTED');
        await rig.run(0.002);
        expect(rig.map.m701.ConnSt, mayTrip).to.equal(mayTrip === 'stay' ? 'CONNECTED' : 'DISCONNECTED');
        if (mayTrip === 'trip') expect(rig.device.alarms.map((alarm) => alarm.code)).to.deep.equal([code]);
      }
    });
  }
});
