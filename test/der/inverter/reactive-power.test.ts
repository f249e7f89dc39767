import { expect } from 'chai';
import { ReactivePower } from '../../../src/der/inverter/reactive-power.ts';
import type { ReactiveInput } from '../../../src/der/inverter/reactive-power.ts';
import { readSettings } from '../../../src/der/inverter/settings.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { Rig } from '../../support/rig.ts';

/** Sun for about 6 kW: room on the circle for every function. */
async function shaded(options = {}): Promise<Rig> {
  const rig = new Rig(options);
  rig.plant.setSurroundings({ irradianceWm2: 560, cellTemperatureC: 25 });
  await rig.run(30);
  expect(rig.w).to.be.within(5500, 6500);
  return rig;
}

const pf = (tx: WritableMapView, value: number, ext: 'OVER_EXCITED' | 'UNDER_EXCITED') => {
  tx.m704.PFWInjEna = 'ENABLED';
  tx.m704.PFWInj.PF = value;
  tx.m704.PFWInj.Ext = ext;
};
const vars = (tx: WritableMapView, pct: number) => {
  tx.m704.VarSetEna = 'ENABLED';
  tx.m704.VarSetPct = pct;
};
const fixedVar = 2;
const fixedPf = 3;

describe('Constant power factor (IEEE 1547-2018 5.3.2)', () => {
  for (const [ext, sign] of [
    ['OVER_EXCITED', 1],
    ['UNDER_EXCITED', -1],
  ] as const) {
    it(`${ext} ${sign > 0 ? 'injects' : 'absorbs'}, and PF keeps the sign of the active power`, async () => {
      const rig = await shaded();
      rig.set((tx) => {
        pf(tx, 0.95, ext);
      });
      await rig.run(10);
      expect(rig.q).to.be.closeTo(sign * rig.w * Math.tan(Math.acos(0.95)), 2);
      expect(rig.map.m701.PF).to.equal(0.95);
      expect([...rig.device.activeFunctions]).to.deep.equal(['pf_inject']);
      // it costs no active power here, so nothing is held back
      expect(rig.map.m701.ThrotSrc).to.equal(0);
      expect(rig.snapshot.pq.angle_deg).to.be.closeTo(sign * 18.195, 0.02);
    });
  }

  it('follows the active power', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      pf(tx, 0.9, 'OVER_EXCITED');
    });
    await rig.run(10);
    rig.plant.setSurroundings({ irradianceWm2: 200 });
    await rig.run(10);
    expect(rig.map.m701.PF).to.be.closeTo(0.9, 0.001);
  });

  for (const value of [0.9, 0.95, 0.98]) {
    it(`at full sun shrinks P and Q together: PF stays ${value}`, async () => {
      const rig = await Rig.sunny();
      rig.set((tx) => {
        pf(tx, value, 'OVER_EXCITED');
      });
      await rig.run(30);
      expect(rig.w).to.be.closeTo(10_000 * value, 2);
      expect(rig.map.m701.VA).to.equal(10_000);
      expect(rig.map.m701.PF).to.be.closeTo(value, 0.001);
      expect(rig.map.m701.ThrotSrc).to.equal(1 << fixedPf);
      expect(rig.state).to.equal('on throttled connected');
    });
  }

  it('keeps the power factor under the current limit of a voltage dip', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      pf(tx, 0.9, 'UNDER_EXCITED');
    });
    await rig.run(10);
    rig.plant.setGrid({ voltagePu: 0.6 });
    await rig.run(5);
    expect(rig.map.m701.VA).to.be.closeTo(6600, 5);
    expect(rig.map.m701.PF).to.be.closeTo(0.9, 0.001);
  });

  it('a device that only injects has no setting for absorbed power', async () => {
    const rig = await shaded();
    expect(() => {
      rig.set((tx) => {
        tx.m704.PFWAbsEna = 'ENABLED';
      });
    }).to.throw(/PFWAbsEna is not implemented/);
  });

  it('the rated power factor of the excitation counts, also when only the excitation changes', async () => {
    const rig = new Rig({ models: { 702: { NorOpCatRtg: 'CAT_A' } } });
    rig.set((tx) => {
      pf(tx, 0.9, 'OVER_EXCITED');
    });
    expect(() => {
      rig.set((tx) => {
        tx.m704.PFWInj.Ext = 'UNDER_EXCITED';
      });
    }).to.throw(/PFWInj.PF: 0.9 is outside 0.968/);
    rig.set((tx) => {
      pf(tx, 0.97, 'UNDER_EXCITED');
    });
    await rig.run(10);
    expect(rig.q).to.be.below(0);
  });

  it('a power factor below the rated one is refused', async () => {
    const rig = await shaded();
    expect(() => {
      rig.set((tx) => {
        pf(tx, 0.8, 'OVER_EXCITED');
      });
    }).to.throw(/PFWInj.PF: 0.8 is outside/);
  });
});

describe('Constant reactive power (IEEE 1547-2018 5.3.5)', () => {
  for (const [mode, pct, expected] of [
    ['W_MAX_PCT', 20, 1800],
    ['W_MAX_PCT', -20, -1800],
    ['VAR_MAX_PCT', 50, 2200],
    ['VAR_MAX_PCT', -50, -1250],
    ['VA_MAX_PCT', 10, 1000],
    ['VA_MAX_PCT', -10, -1000],
  ] as const) {
    it(`${pct} % of ${mode}`, async () => {
      // category A absorbs less than it injects: the base of VAR_MAX_PCT follows the sign
      const rig = await shaded({ models: { 702: { NorOpCatRtg: 'CAT_A', WMax: 9000 } } });
      rig.set((tx) => {
        tx.m704.VarSetMod = mode;
        vars(tx, pct);
      });
      await rig.run(10);
      expect(rig.q).to.equal(expected);
      expect([...rig.device.activeFunctions]).to.deep.equal(['constant_var']);
    });
  }

  it('VAR_AVAIL_PCT: of what the active power leaves', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 95;
      tx.m704.VarSetMod = 'VAR_AVAIL_PCT';
      vars(tx, 50);
    });
    await rig.run(10);
    expect(rig.q).to.be.closeTo(0.5 * Math.sqrt(10_000 ** 2 - 9500 ** 2), 2);
    expect(rig.w).to.equal(9500);
    rig.set((tx) => {
      tx.m704.WMaxLimPct = 20;
    });
    await rig.run(10);
    // the capability is less than the room now
    expect(rig.q).to.equal(2200);
  });

  it('VARS: in var', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      tx.m704.VarSetMod = 'VARS';
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSet = -1234;
    });
    await rig.run(10);
    expect(rig.q).to.equal(-1234);
  });

  it('is clamped to the capability settings', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      tx.m702.VarMaxInj = 1000;
      tx.m702.VarMaxAbs = 500;
      tx.m704.VarSetMod = 'VA_MAX_PCT';
      vars(tx, 40);
    });
    await rig.run(10);
    expect(rig.q).to.equal(1000);
    rig.set((tx) => {
      vars(tx, -40);
    });
    await rig.run(10);
    expect(rig.q).to.equal(-500);
  });

  it('a lowered capability binds at once, also at 0', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      vars(tx, 100);
    });
    await rig.run(10);
    expect(rig.q).to.equal(4400);
    rig.set((tx) => {
      tx.m702.VarMaxInj = 900;
    });
    await rig.run(0.1);
    expect(rig.q).to.equal(900);
    rig.set((tx) => {
      tx.m702.VarMaxInj = 0;
      tx.m702.VarMaxAbs = 0;
    });
    await rig.run(0.1);
    expect(rig.q).to.equal(0);
  });

  it('moves with VarRmp, on and off', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      tx.m704.VarRmp = 10;
      vars(tx, 50);
    });
    await rig.run(2);
    expect(rig.q).to.equal(880);
    await rig.run(10);
    expect(rig.q).to.equal(2200);
    rig.set((tx) => {
      tx.m704.VarSetEna = 'DISABLED';
    });
    await rig.run(1);
    expect(rig.q).to.equal(1760);
    await rig.run(5);
    expect(rig.q).to.equal(0);
  });

  // reactive power always wins up to the 44 % of Table 7; the priority is about what lies beyond
  for (const [priority, q] of [
    ['REACTIVE', 6000],
    ['ACTIVE', 4400],
    ['VENDOR', 6000],
  ] as const) {
    it(`at full sun VarSetPri ${priority} decides whether P or Q is reduced beyond 44 %`, async () => {
      const rig = await Rig.sunny({ models: { 702: { VarMaxInjRtg: 6000 } } });
      rig.set((tx) => {
        tx.m704.VarSetPri = priority;
        tx.m704.VarSetMod = 'VAR_MAX_PCT';
        vars(tx, 100);
      });
      await rig.run(15);
      expect(rig.w).to.be.closeTo(Math.sqrt(1e8 - q ** 2), 1);
      expect(rig.q).to.be.closeTo(q, 1);
      expect(rig.map.m701.ThrotSrc).to.equal(1 << fixedVar);
    });
  }

  it('with ACTIVE priority uses the room that a cloud leaves', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.VarSetPri = 'ACTIVE';
      vars(tx, 100);
    });
    await rig.run(15);
    rig.plant.setSurroundings({ irradianceWm2: 560 });
    await rig.run(10);
    expect(rig.q).to.equal(4400);
  });

  it('an active power limit is the only active function when reactive power costs no active power', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 40;
      vars(tx, 50);
    });
    await rig.run(10);
    expect(rig.map.m701.ThrotSrc).to.equal(1);
    expect([...rig.device.activeFunctions].sort()).to.deep.equal(['constant_var', 'max_power']);
  });

  it('ends with the source, and when out of service', async () => {
    const rig = await shaded();
    rig.set((tx) => {
      vars(tx, 50);
    });
    await rig.run(10);
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    await rig.run(10);
    expect([rig.w, rig.q]).to.deep.equal([-2, 0]);
    rig.plant.setSurroundings({ irradianceWm2: 560 });
    await rig.run(30);
    expect(rig.q).to.equal(2200);
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(0.1);
    expect([rig.w, rig.q]).to.deep.equal([0, 0]);
  });

  it('goes to zero before the switch opens', async () => {
    const rig = await shaded({ inverter: { lowPowerVars: 'full' } });
    rig.set((tx) => {
      vars(tx, 100);
      tx.m704.VarRmp = 10;
      tx.m704.WRmp = 100;
    });
    await rig.run(15);
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    await rig.run(5);
    expect(rig.state).to.equal('off shutting_down connected');
    expect([rig.w, rig.q]).to.deep.equal([0, 2200]);
    await rig.run(5.1);
    expect(rig.state).to.equal('off off disconnected');
  });
});

describe('Which reactive function acts: the one enabled last', () => {
  it('power factor and constant var in turn', async () => {
    const rig = await shaded();
    const active = () => [...rig.device.activeFunctions];
    rig.set((tx) => {
      pf(tx, 0.95, 'OVER_EXCITED');
    });
    await rig.run(10);
    expect(active()).to.deep.equal(['pf_inject']);
    rig.set((tx) => {
      vars(tx, -50);
    });
    await rig.run(15);
    expect(active()).to.deep.equal(['constant_var']);
    expect(rig.q).to.equal(-2200);
    expect(rig.map.m704.PFWInjEna).to.equal('ENABLED');
    // a new set-point is not a new enable
    rig.set((tx) => {
      tx.m704.PFWInj.PF = 0.9;
    });
    await rig.run(10);
    expect(active()).to.deep.equal(['constant_var']);
    rig.set((tx) => {
      tx.m704.VarSetEna = 'DISABLED';
    });
    await rig.run(15);
    expect(active()).to.deep.equal(['pf_inject']);
    rig.set((tx) => {
      tx.m704.VarSetEna = 'ENABLED';
    });
    await rig.run(15);
    rig.set((tx) => {
      tx.m704.PFWInjEna = 'DISABLED';
    });
    rig.set((tx) => {
      tx.m704.PFWInjEna = 'ENABLED';
    });
    await rig.run(15);
    expect(active()).to.deep.equal(['pf_inject']);
  });

  it('both enabled by the profile: constant var, as after a restart', async () => {
    const rig = await shaded({
      models: { 704: { PFWInjEna: 'ENABLED', VarSetEna: 'ENABLED', VarSetPct: 10, 'PFWInj.PF': 0.95 } },
    });
    expect([...rig.device.activeFunctions]).to.deep.equal(['constant_var']);
    expect(rig.q).to.equal(440);
  });
});

describe('Constant power factor on the circle', () => {
  const rig = new Rig();
  rig.set(({ m704 }) => {
    m704.PFWInjEna = 'ENABLED';
    m704.PFWInj.PF = 0.9;
  });
  const input: ReactiveInput = {
    settings: readSettings(rig.map, 'stay'),
    requestedW: 20_000,
    sVa: 10_000,
    vPct: 100,
    running: true,
    capability: { wMaxRtgW: 10_000, minInjectVar: 4400, minAbsorbVar: 4400, reducedAtLowPower: true },
  };

  it('P may use the whole circle while Q is moving, and its own share at the end', () => {
    const reactive = new ReactivePower();
    reactive.step(input, 0);
    expect([reactive.pW, reactive.qVar]).to.deep.equal([10_000, 0]);
    reactive.step(input, 2);
    // 704.VarRmp is 20 %/s of 4400 var
    expect(reactive.qVar).to.be.closeTo(1760, 1e-9);
    expect(reactive.pW).to.be.closeTo(Math.sqrt(1e8 - 1760 ** 2), 1e-6);
    reactive.step(input, Infinity);
    expect(reactive.pW).to.be.closeTo(9000, 1e-6);
    expect(reactive.qVar).to.be.closeTo(4358.9, 0.1);
    expect(reactive.moving).to.equal(false);
  });

  it('without a converter running the target is zero', () => {
    const reactive = new ReactivePower();
    reactive.step({ ...input, running: false }, Infinity);
    expect(reactive.targetVar).to.equal(0);
  });
});
