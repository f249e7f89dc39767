import { expect } from 'chai';
import { quickEntry } from '../../support/rig.ts';
import { counters, StorageRig } from './support-storage.ts';

describe('battery device: set-points', () => {
  it('discharges and charges by 704.WSet, with the same sign in 701, 714 and 802', async () => {
    const rig = StorageRig.battery();
    rig.demand(4000);
    await rig.run(600);
    const { m701, m713, m714 } = rig.map;
    expect([rig.w, rig.state, rig.active]).to.deep.equal([4000, 'on running connected', 'active_power']);
    expect(m714.DCW).to.be.within(4080, 4160);
    expect([m714.Prt[0]?.DCW, rig.m802.W, m714.Prt[0]?.PrtTyp]).to.deep.equal([m714.DCW, m714.DCW, 'ESS']);
    expect([rig.m802.State, rig.m802.ChaSt, m713.Sta]).to.deep.equal(['CONNECTED', 'DISCHARGING', 'OK']);
    expect(m713.SoC).to.be.below(46);
    rig.demand(-6000);
    await rig.run(600);
    expect([rig.w, m701.PF, rig.m802.ChaSt]).to.deep.equal([-6000, -1, 'CHARGING']);
    expect(m714.DCW).to.be.within(-5880, -5780);
    expect(rig.m802.A).to.be.below(0);
    expect(m701.TotWhInj).to.be.closeTo(4000 / 6, 15);
    expect(m701.TotWhAbs).to.be.closeTo(6000 / 6, 15);
  });

  it('moves through zero with 704.WRmp and rests without a set-point', async () => {
    const rig = StorageRig.battery();
    rig.demand(4000);
    await rig.run(10);
    rig.demand(-6000);
    const seen: number[] = [];
    await rig.watch(6, 1, () => seen.push(rig.w));
    expect(seen).to.deep.equal([2000, 0, -2000, -4000, -6000, -6000]);
    rig.demand(null);
    await rig.run(10);
    expect([rig.w, rig.map.m714.DCW, rig.m802.State, rig.m802.ChaSt]).to.deep.equal([0, 0, 'STANDBY', 'HOLDING']);
    expect(rig.device.trace.now.activeDecidedBy).to.equal('idle');
  });

  it('takes 704.WSetPct of either sign', async () => {
    const rig = StorageRig.battery();
    for (const pct of [-35, 60]) {
      rig.write(({ m704 }) => {
        Object.assign(m704, { WSetMod: 'W_MAX_PCT', WSetPct: pct, WSetEna: 'ENABLED' });
      });
      await rig.run(20);
      expect(rig.w).to.equal(100 * pct);
    }
  });

  it('704.WMaxLimPct limits discharging only', async () => {
    const rig = StorageRig.battery();
    rig.limit(30);
    rig.demand(-6000);
    await rig.run(20);
    expect([rig.w, rig.active]).to.deep.equal([-6000, 'active_power']);
    rig.demand(8000);
    await rig.run(20);
    expect([rig.w, rig.active, rig.state]).to.deep.equal([3000, 'max_power', 'on throttled connected']);
    rig.limit(0);
    await rig.run(20);
    expect(rig.w).to.equal(0);
  });

  it('702.WChaRteMax limits charging only, also a charge in progress', async () => {
    const rig = StorageRig.battery();
    rig.demand(-8000);
    await rig.run(20);
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 2500;
    });
    await rig.run(20);
    expect(rig.w).to.equal(-2500);
    expect(
      rig.refusalOf(({ m704 }) => {
        m704.WSet = -2501;
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      rig.refusalOf(({ m702 }) => {
        m702.WChaRteMax = 10_001;
      }),
    ).to.equal('MAP_BAD_VALUE');
    rig.demand(8000);
    await rig.run(20);
    expect(rig.w).to.equal(8000);
  });

  for (const type of ['Batt-1Phase', 'Batt-2Phase']) {
    it(`a ${type} device works in both directions`, async () => {
      const rig = new StorageRig({ types: [type] });
      const phases = type === 'Batt-1Phase' ? 1 : 2;
      for (const watts of [3000, -3000]) {
        rig.demand(watts);
        await rig.run(30);
        expect([rig.w, rig.map.m701.WL1]).to.deep.equal([watts, watts / phases]);
        expect(Math.sign(rig.m802.W)).to.equal(Math.sign(watts));
      }
    });
  }
});

describe('battery device: grid functions from rest', () => {
  it('volt-var has all of its reactive power at P = 0, and P stays 0', async () => {
    const rig = StorageRig.battery();
    rig.useCurve(705, [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ]);
    for (const [voltagePu, q] of [
      [0.92, 4400],
      [0.95, 2200],
      [1, 0],
      [1.05, -2200],
      [1.09, -4400],
    ] as const) {
      rig.plant.setGrid({ voltagePu });
      await rig.run(20);
      expect([rig.w, rig.map.m714.DCW, rig.m802.State], `at ${voltagePu}`).to.deep.equal([0, 0, 'STANDBY']);
      expect(rig.q, `at ${voltagePu}`).to.be.closeTo(q, 1);
    }
    expect(rig.map.m701.PF).to.equal(0);
  });

  it('volt-watt with a negative second point makes it charge, whatever the set-point says', async () => {
    const rig = StorageRig.battery();
    rig.useCurve(706, [
      [106, 100],
      [110, -100],
    ]);
    for (const demandW of [null, 5000]) {
      rig.demand(demandW);
      for (const [voltagePu, w] of [
        [1.06, demandW ?? 0],
        [1.09, -5000],
        [1.0999, -9950],
      ] as const) {
        rig.plant.setGrid({ voltagePu });
        await rig.run(10);
        expect(rig.w, `set-point ${demandW} at ${voltagePu}`).to.be.closeTo(w, 1);
      }
      expect([rig.active, rig.m802.ChaSt]).to.deep.equal(['volt_watt', 'CHARGING']);
      rig.plant.setGrid({ voltagePu: 1 });
      await rig.run(20);
      expect(rig.w).to.equal(demandW ?? 0);
    }
  });

  it('volt-watt limits discharging and leaves charging alone', async () => {
    const rig = StorageRig.battery();
    rig.useCurve(706, [
      [106, 100],
      [110, 0],
    ]);
    rig.plant.setGrid({ voltagePu: 1.09 });
    rig.demand(8000);
    await rig.run(12);
    expect([rig.w, rig.active]).to.deep.equal([2500, 'volt_watt']);
    rig.demand(-8000);
    await rig.run(12);
    expect([rig.w, rig.active]).to.deep.equal([-8000, 'active_power']);
  });

  it('droop charges on high and discharges on low frequency, with its response time', async () => {
    const rig = StorageRig.battery();
    // 0.3 Hz beyond the dead band of 0.036 Hz is a tenth of WMax at a droop of 5 %
    for (const [frequencyHz, w] of [
      [60.336, -1000],
      [59.664, 1000],
    ] as const) {
      rig.plant.setGrid({ frequencyHz });
      await rig.run(5);
      expect(rig.w, 'after the open-loop response time').to.be.closeTo(0.9 * w, 2);
      await rig.run(35);
      expect([rig.w, rig.active, rig.m802.ChaSt]).to.deep.equal([w, 'freq_droop', w > 0 ? 'DISCHARGING' : 'CHARGING']);
      rig.plant.setGrid({ frequencyHz: 60 });
      await rig.run(60);
      expect([rig.w, rig.active]).to.deep.equal([0, '']);
    }
  });

  it('droop moves a charging battery by the same power', async () => {
    const rig = StorageRig.battery();
    rig.demand(-5000);
    await rig.run(20);
    for (const [frequencyHz, w] of [
      [60.336, -6000],
      [60, -5000],
      [59.664, -4000],
      [59.136, -4000 + 1760],
    ] as const) {
      rig.plant.setGrid({ frequencyHz });
      await rig.run(60);
      expect(rig.w, `at ${frequencyHz}`).to.be.closeTo(w, 1);
    }
  });

  it('704.PFWAbs acts while it charges, PFWInj while it discharges', async () => {
    const rig = StorageRig.battery();
    rig.write(({ m704 }) => {
      Object.assign(m704.PFWAbs, { PF: 0.95, Ext: 'UNDER_EXCITED' });
      m704.PFWAbsEna = 'ENABLED';
    });
    await rig.run(10);
    expect([rig.w, rig.q]).to.deep.equal([0, 0]);
    rig.demand(-5000);
    await rig.run(20);
    const q = 5000 * Math.tan(Math.acos(0.95));
    expect([rig.w, rig.map.m701.PF, rig.active]).to.deep.equal([-5000, -0.95, 'active_power pf_absorb']);
    expect(rig.q).to.be.closeTo(-q, 1);
    rig.write(({ m704 }) => {
      m704.PFWAbs.Ext = 'OVER_EXCITED';
    });
    await rig.run(20);
    expect(rig.q).to.be.closeTo(q, 1);
    rig.demand(5000);
    await rig.run(20);
    expect([rig.w, rig.q]).to.deep.equal([5000, 0]);
  });
});

describe('battery device: service', () => {
  it('ramps to zero on a stop, opens, and comes back to its set-point', async () => {
    const rig = StorageRig.battery();
    quickEntry(rig, { delayS: 10, rampS: 10 });
    rig.demand(-5000);
    await rig.run(20);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'STOP';
    });
    await rig.run(1);
    expect([rig.w, rig.state]).to.deep.equal([-3000, 'off shutting_down connected']);
    await rig.run(5);
    expect([rig.w, rig.map.m714.DCW, rig.state, rig.m802.State]).to.deep.equal([
      0,
      0,
      'off off disconnected',
      'STANDBY',
    ]);
    expect(rig.alarmCodes).to.deep.equal(['manual_shutdown']);
    const before = counters(rig);
    await rig.run(60);
    expect(counters(rig)).to.deep.equal(before);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'START';
    });
    await rig.run(9);
    expect([rig.w, rig.state]).to.deep.equal([0, 'off standby disconnected']);
    await rig.run(4);
    expect([rig.w, rig.state]).to.deep.equal([-3000, 'on starting connected']);
    await rig.run(10);
    expect([rig.w, rig.state]).to.deep.equal([-5000, 'on running connected']);
  });

  it('trips on low voltage while charging, and returns through enter service', async () => {
    const rig = StorageRig.battery();
    quickEntry(rig, { delayS: 10 });
    rig.demand(-5000);
    await rig.run(20);
    rig.plant.setGrid({ voltagePu: 0.4, durationS: 5 });
    await rig.run(1);
    expect([rig.w, rig.state, rig.alarmCodes.join()]).to.deep.equal([0, 'on throttled connected', 'lvrt_active']);
    await rig.run(3);
    expect([rig.w, rig.map.m714.DCW, rig.state, rig.alarmCodes.join()]).to.deep.equal([
      0,
      0,
      'off fault disconnected',
      'ac_under_volt',
    ]);
    await rig.run(6);
    expect(rig.state).to.equal('off standby disconnected');
    await rig.run(6);
    expect([rig.w, rig.state, rig.alarmCodes]).to.deep.equal([-5000, 'on running connected', []]);
  });

  it('delivers nothing in momentary cessation, and stays connected', async () => {
    const rig = StorageRig.battery();
    quickEntry(rig);
    rig.demand(5000);
    await rig.run(20);
    rig.write(({ m703 }) => {
      m703.ES = 'DISABLED';
    });
    await rig.run(2);
    expect([rig.w, rig.map.m714.DCW, rig.state]).to.deep.equal([0, 0, 'off standby connected']);
    rig.write(({ m703 }) => {
      m703.ES = 'ENABLED';
    });
    await rig.run(2);
    expect(rig.w).to.equal(5000);
  });
});

describe('battery device: forced modes', () => {
  it('override the set-point and release it after their time, at any tick', async () => {
    for (const tickS of [0.1, 1.5, 9, 45]) {
      const rig = StorageRig.battery();
      rig.demand(2000);
      await rig.run(45);
      rig.command({ kind: 'battery.control', mode: 'charge', powerW: 5000, durationS: 44.95 });
      const [injWh = 0, absWh = 0] = counters(rig);
      await rig.watch(45, tickS, () => undefined);
      const [nowInjWh = 0, nowAbsWh = 0] = counters(rig);
      expect(rig.battery.control, `ticks of ${tickS} s`).to.equal('auto');
      expect(nowAbsWh - absWh, `ticks of ${tickS} s`).to.be.closeTo((5143 * 44.95) / 3600, 1.1);
      expect(nowInjWh - injWh, `ticks of ${tickS} s`).to.be.within(0, 1);
      await rig.run(20);
      expect(rig.w).to.equal(2000);
    }
  });

  it('are DC powers at the battery, limited to its ability', async () => {
    const rig = StorageRig.battery();
    rig.demand(7000);
    rig.command({ kind: 'battery.control', mode: 'charge', powerW: 5000 });
    await rig.run(20);
    expect([rig.m802.W, rig.map.m714.DCW, rig.battery.control]).to.deep.equal([-5000, -5000, 'forced']);
    expect(rig.w).to.be.within(-5200, -5100);
    rig.command({ kind: 'battery.control', mode: 'discharge', powerW: 50_000 });
    await rig.run(20);
    // the rating of the inverter comes before that of the battery
    expect(rig.w).to.equal(10_000);
    expect(rig.battery).to.include({ requestedPowerW: 50_000, clampedPowerW: 10_500 });
    rig.command({ kind: 'battery.control', mode: 'idle' });
    await rig.run(20);
    expect([rig.w, rig.m802.W]).to.deep.equal([0, 0]);
  });

  it('obey droop, volt-watt, the limit and a stop', async () => {
    const rig = StorageRig.battery();
    quickEntry(rig);
    rig.command({ kind: 'battery.control', mode: 'discharge', powerW: 8000 });
    await rig.run(20);
    const freeW = rig.w;
    rig.plant.setGrid({ frequencyHz: 60.336 });
    await rig.run(40);
    expect([rig.w, rig.active]).to.deep.equal([freeW - 1000, 'freq_droop']);
    rig.plant.setGrid({ frequencyHz: 60 });
    rig.limit(30);
    await rig.run(60);
    expect([rig.w, rig.active]).to.deep.equal([3000, 'max_power']);
    rig.useCurve(706, [
      [106, 100],
      [110, 0],
    ]);
    rig.plant.setGrid({ voltagePu: 1.09 });
    await rig.run(10);
    expect([rig.w, rig.active]).to.deep.equal([2500, 'volt_watt']);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'STOP';
    });
    await rig.run(10);
    expect([rig.w, rig.battery.control]).to.deep.equal([0, 'forced']);
    rig.plant.setGrid({ voltagePu: 1 });
    rig.write(({ m715 }) => {
      m715.OpCtl = 'START';
    });
    rig.command({ kind: 'battery.control', mode: 'charge', powerW: 4000 });
    await rig.run(20);
    expect(rig.m802.W).to.equal(-4000);
    rig.plant.setGrid({ frequencyHz: 59.664 });
    await rig.run(40);
    expect(rig.w).to.be.closeTo(-4119 + 1000, 3);
  });
});
