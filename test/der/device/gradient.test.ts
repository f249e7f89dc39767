import { expect } from 'chai';
import fc from 'fast-check';
import type { DeviceCommand, Gradient } from '../../../src/contract/device.ts';
import { ignoreEffectFault, lateEffectFault, rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { Owner } from '../../support/holds.ts';
import { codeOf, errorOf } from '../../support/map.ts';
import { holdsAsync } from '../../support/property.ts';
import { byTest, quickEntry, Rig } from '../../support/rig.ts';
import { IdealRig } from '../inverter/ideal-rig.ts';

interface HasDevice {
  readonly device: SimDevice;
}

const slope = ({ device }: HasDevice, change: Partial<Gradient>) => {
  device.command({ kind: 'gradient', ...change }, byTest);
};
const limitTo = (pct: number) => (tx: WritableMapView) => {
  Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: pct });
};
const varsTo = (pct: number) => (tx: WritableMapView) => {
  Object.assign(tx.m704, { VarSetEna: 'ENABLED', VarSetMod: 'VAR_MAX_PCT', VarSetPri: 'REACTIVE', VarSetPct: pct });
};
const inForce = ({ device: { gradient } }: HasDevice) =>
  `${gradient.w.pctPerS} ${gradient.w.source}, ${gradient.var.pctPerS} ${gradient.var.source}`;
const registers = '20 register, 20 register';

describe('A gradient in the place of 704.WRmp and VarRmp', () => {
  it('0.27 % per second moves a limit down and up, which no whole percent could', async () => {
    const rig = await Rig.sunny();
    slope(rig, { wPctPerS: 0.27 });
    rig.set(limitTo(50));
    await rig.run(60);
    expect(rig.w).to.equal(10_000 - 27 * 60);
    await rig.run(200);
    expect(rig.w).to.equal(5000);
    rig.set(limitTo(80));
    await rig.run(10);
    expect(rig.w).to.equal(5270);
  });

  it('moves a set-point through zero', async () => {
    const rig = IdealRig.store();
    slope(rig, { wPctPerS: 0.5 });
    rig.demand(1000);
    await rig.run(20);
    expect(rig.w).to.equal(1000);
    rig.demand(-1000);
    await rig.run(30);
    expect(rig.w).to.equal(-500);
  });

  it('moves reactive power, and leaves the open-loop response of volt-var alone', async () => {
    const rig = await Rig.sunny();
    rig.set(limitTo(50));
    await rig.run(10);
    slope(rig, { varPctPerS: 0.5 });
    rig.set(varsTo(50));
    await rig.run(20);
    expect(rig.q).to.equal(440);
    rig.set((tx) => {
      tx.m704.VarSetEna = 'DISABLED';
    });
    await rig.run(10);
    expect(rig.q).to.equal(220);
    await rig.run(10);
    rig.set((tx) => {
      tx.m705.Ena = 'ENABLED';
    });
    rig.plant.setGrid({ voltagePu: 0.9 });
    await rig.run(20);
    expect(rig.q).to.be.above(4300);
  });

  it('is percent of WMax, whatever WRmpRef says', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WRmpRef = 'A_MAX';
      tx.m702.WMax = 8000;
    });
    await rig.run(1);
    slope(rig, { wPctPerS: 0.5 });
    rig.set(limitTo(50));
    await rig.run(10);
    expect(rig.w).to.equal(8000 - 400);
  });

  it('shows 704.WRmp of A_MAX as percent of WMax', () => {
    const rig = new Rig();
    rig.set((tx) => {
      Object.assign(tx.m704, { WRmpRef: 'A_MAX', WRmp: 10 });
      tx.m702.WMax = 5000;
    });
    const { AMax, VNom, WMax } = rig.map.m702;
    const expected = (10 * AMax! * (VNom! / Math.sqrt(3))) / WMax!;
    expect(rig.device.gradient.w.pctPerS).to.be.closeTo(expected, 1e-9);
    expect(rig.device.gradient.w.source).to.equal('register');
  });

  it('also slows a stop, from whose way back a start goes on', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig);
    slope(rig, { wPctPerS: 0.5 });
    rig.set((tx) => {
      tx.m715.OpCtl = 'STOP';
    });
    await rig.run(100);
    expect([rig.w, rig.state]).to.deep.equal([5000, 'off shutting_down connected']);
    rig.set((tx) => {
      tx.m715.OpCtl = 'START';
    });
    await rig.run(20);
    expect(rig.w).to.equal(6000);
  });

  it('an operator stop has the time of its ramp before it counts as failed', async () => {
    const rig = await Rig.sunny();
    slope(rig, { wPctPerS: 0.5, varPctPerS: 0.5 });
    rig.set((tx) => {
      Object.assign(tx.m703, { ESDlyTms: 0, ESRndTms: 0, ESRmpTms: 0 });
    });
    const { id } = rig.plant.commands.submit({ command: 'stop', deviceIndex: 0 }, byTest);
    await rig.run(190);
    expect(rig.plant.commands.get(id)?.state).to.equal('running');
    await rig.run(15);
    expect(rig.plant.commands.get(id)?.state).to.equal('completed');
  });

  it('also holds for a rising bound of the site', async () => {
    const rig = await Rig.sunny();
    slope(rig, { wPctPerS: 0.5 });
    rig.plant.setSite({ export: 4000 }, byTest);
    await rig.run(5);
    expect(rig.w).to.equal(4000);
    rig.plant.setSite({ export: null }, byTest);
    await rig.run(20);
    expect(rig.w).to.be.within(4900, 5000);
  });

  it('changes on the way from the present power on', async () => {
    const rig = await Rig.sunny();
    slope(rig, { wPctPerS: 0.5 });
    rig.set(limitTo(0));
    await rig.run(10);
    slope(rig, { wPctPerS: 2 });
    await rig.run(10);
    expect(rig.w).to.equal(10_000 - 500 - 2000);
    slope(rig, { wPctPerS: null });
    await rig.run(1);
    expect(rig.w).to.equal(5500);
  });

  it('takes the slowest slope without harm, and the fastest', async () => {
    const rig = await Rig.sunny();
    slope(rig, { wPctPerS: 1e-4, varPctPerS: 1e-4 });
    rig.set((tx) => {
      limitTo(50)(tx);
      varsTo(100)(tx);
    });
    await rig.run(1000);
    expect([rig.w, rig.q]).to.deep.equal([9990, 4]);
    slope(rig, { wPctPerS: 1000, varPctPerS: 1000 });
    await rig.run(0.1);
    expect([rig.w, rig.q]).to.deep.equal([5000, 4400]);
  });
});

describe('Which of gradient and register counts', () => {
  it('each slope is set and ended by itself; an absent one stays', () => {
    const rig = new Rig();
    expect(inForce(rig)).to.equal(registers);
    slope(rig, { wPctPerS: 0.27 });
    expect(inForce(rig)).to.equal('0.27 gradient, 20 register');
    slope(rig, { varPctPerS: 3.5 });
    expect(inForce(rig)).to.equal('0.27 gradient, 3.5 gradient');
    slope(rig, { wPctPerS: null });
    expect(inForce(rig)).to.equal('20 register, 3.5 gradient');
    slope(rig, {});
    expect(inForce(rig)).to.equal('20 register, 3.5 gradient');
  });

  it('the register keeps its value meanwhile; a write of it ends its own slope, also with the same value', () => {
    const rig = new Rig();
    slope(rig, { wPctPerS: 0.27, varPctPerS: 0.5 });
    expect([rig.map.m704.WRmp, rig.map.m704.VarRmp]).to.deep.equal([20, 20]);
    rig.set((tx) => {
      tx.m704.WRmp = 20;
    });
    expect(inForce(rig)).to.equal('20 register, 0.5 gradient');
    rig.set((tx) => {
      tx.m704.VarRmp = 7;
    });
    expect(inForce(rig)).to.equal('20 register, 7 register');
    slope(rig, { wPctPerS: 0.27 });
    expect(inForce(rig)).to.equal('0.27 gradient, 7 register');
  });

  it('writes of other points, WRmpRef among them, and refused writes leave it in force', () => {
    const rig = new Rig();
    slope(rig, { wPctPerS: 0.27 });
    rig.set((tx) => {
      Object.assign(tx.m704, { WRmpRef: 'A_MAX', WMaxLimPct: 30 });
    });
    expect(
      codeOf(() => {
        rig.set((tx) => {
          tx.m704.WRmp = 0;
        });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(inForce(rig)).to.equal('0.27 gradient, 20 register');
  });

  it('a write that a fault keeps from physics ends it when physics follows the write', async () => {
    const rig = new FaultyRig();
    slope(rig, { wPctPerS: 0.27 });
    rig.inject(lateEffectFault, { delay_s: 10 });
    rig.write({ '704.WRmp': 7 });
    await rig.run(9);
    expect(inForce(rig)).to.equal('0.27 gradient, 20 register');
    await rig.run(2);
    expect(inForce(rig)).to.equal('7 register, 20 register');
  });

  it('a write that a fault swallows does not end it, until the fault ends', () => {
    const rig = new FaultyRig();
    slope(rig, { wPctPerS: 0.27 });
    rig.inject(ignoreEffectFault);
    rig.write({ '704.WRmp': 7 });
    expect(inForce(rig)).to.equal('0.27 gradient, 20 register');
    rig.faults.clear();
    expect(inForce(rig)).to.equal('7 register, 20 register');
  });

  it('a command after a write that is still held back wins over it', async () => {
    const rig = new FaultyRig();
    slope(rig, { wPctPerS: 0.27 });
    rig.inject(lateEffectFault, { delay_s: 10 });
    rig.write({ '704.WRmp': 7 });
    slope(rig, { wPctPerS: 0.5 });
    await rig.run(20);
    expect(inForce(rig)).to.equal('0.5 gradient, 20 register');
  });

  it('starts with the gradient of the profile, to which a reset of the device returns', async () => {
    const rig = new Rig({ inverter: { gradient: { wPctPerS: 0.5, varPctPerS: null } } });
    expect(inForce(rig)).to.equal('0.5 gradient, 20 register');
    expect(rig.device.overrides).to.deep.equal([]);
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rig.run(30);
    rig.set(limitTo(50));
    await rig.run(10);
    expect(rig.w).to.equal(9500);
    slope(rig, { wPctPerS: null, varPctPerS: 2 });
    rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    expect(inForce(rig)).to.equal('20 register, 2 gradient');
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(inForce(rig)).to.equal('0.5 gradient, 20 register');
    expect(rig.device.overrides.map(({ name }) => name)).to.deep.equal(['device_reset']);
  });

  for (const forget of [false, true]) {
    it(`a reboot that ${forget ? 'forgets' : 'keeps'} settings ${forget ? 'ends' : 'keeps'} it`, () => {
      const rig = new FaultyRig();
      slope(rig, { wPctPerS: 0.27 });
      rig.inject(rebootFault, { off_s: 5, forget });
      expect(inForce(rig)).to.equal(forget ? registers : '0.27 gradient, 20 register');
      const [last] = rig.device.overrides.filter(({ name }) => name === 'gradient');
      expect(last?.source).to.equal(forget ? 'fault' : 'rest');
      expect(
        codeOf(() => {
          slope(rig, { wPctPerS: 1 });
        }),
      ).to.equal('COMMAND_CONFLICT');
    });
  }
});

describe('A gradient and a timed control of 704.WRmp', () => {
  it('is back with the end of the control, also after a handover', () => {
    const rig = new Rig();
    const owner = new Owner(rig.device.bank, 'csip');
    slope(rig, { wPctPerS: 0.27, varPctPerS: 0.5 });
    owner.begin('a', { '704.WRmp': 5 });
    expect(inForce(rig)).to.equal('5 register, 0.5 gradient');
    owner.begin('b', { '704.WRmp': 6 }, ['a']);
    expect(inForce(rig)).to.equal('6 register, 0.5 gradient');
    owner.end('b');
    expect([inForce(rig), rig.map.m704.WRmp]).to.deep.equal(['0.27 gradient, 0.5 gradient', 20]);
  });

  it('is not back when a master has written the register meanwhile', () => {
    const rig = new Rig();
    const owner = new Owner(rig.device.bank, 'csip');
    slope(rig, { wPctPerS: 0.27 });
    owner.begin('a', { '704.WRmp': 5 });
    rig.set((tx) => {
      tx.m704.WRmp = 9;
    });
    owner.end('a');
    expect(inForce(rig)).to.equal('9 register, 20 register');
  });

  it('a newer one outlasts the end of the control', () => {
    const rig = new Rig();
    const owner = new Owner(rig.device.bank, 'csip');
    slope(rig, { wPctPerS: 0.27 });
    owner.begin('a', { '704.WRmp': 5 });
    slope(rig, { wPctPerS: 0.5 });
    owner.end('a');
    expect([inForce(rig), rig.map.m704.WRmp]).to.deep.equal(['0.5 gradient, 20 register', 20]);
  });

  it('none comes from a control that found none', () => {
    const rig = new Rig();
    const owner = new Owner(rig.device.bank, 'csip');
    owner.begin('a', { '704.WRmp': 5 });
    owner.end('a');
    expect(inForce(rig)).to.equal(registers);
  });
});

describe('Commands for a gradient', () => {
  it('remember their writer', () => {
    const rig = new Rig();
    rig.device.command({ kind: 'gradient', wPctPerS: 0.27 }, { source: 'csip', peer: 'DEFAULT' });
    expect(rig.device.overrides.map(({ name, source, peer }) => [name, source, peer])).to.deep.equal([
      ['gradient', 'csip', 'DEFAULT'],
    ]);
  });

  for (const bad of [0, -1, 9e-5, 1000.1, NaN, Infinity]) {
    it(`${bad} % per second is refused, and nothing changes`, () => {
      const rig = new Rig();
      const command: DeviceCommand = { kind: 'gradient', wPctPerS: 5, varPctPerS: bad };
      const error = errorOf(() => {
        rig.device.command(command, byTest);
      });
      expect(error.code).to.equal('COMMAND_BAD_VALUE');
      expect(error.issues.map(({ name }) => name)).to.deep.equal(['varPctPerS']);
      expect(error.message).to.contain('allowed: 0.0001 to 1000 percent per second, or null to end it');
      expect([inForce(rig), rig.device.overrides]).to.deep.equal([registers, []]);
    });
  }

  it('from afar are refused under local control', () => {
    const rig = new Rig();
    rig.device.command({ kind: 'local', local: true }, byTest);
    expect(
      codeOf(() => {
        rig.device.command({ kind: 'gradient', wPctPerS: 1 }, { source: 'dnp3' });
      }),
    ).to.equal('COMMAND_CONFLICT');
    slope(rig, { wPctPerS: 1 });
    expect(inForce(rig)).to.equal('1 gradient, 20 register');
  });
});

describe('The way along a gradient', () => {
  for (const type of ['PV-3Phase', 'Batt-3Phase']) {
    it(`does not depend on the tick (${type})`, async () => {
      const pctPerS = fc.double({ min: 0.01, max: 5, noNaN: true });
      const pct = fc.integer({ min: 0, max: 100 });
      await holdsAsync(
        `${type}: gradients at any tick`,
        [pctPerS, pctPerS, fc.tuple(pct, pct), fc.tuple(pct, pct)],
        async (w, q, powers, vars) => {
          const courses = [];
          for (const tickS of [0.1, 1, 60]) {
            const rig = new Rig({ types: [type] });
            rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
            await rig.watch(60, tickS, () => undefined);
            slope(rig, { wPctPerS: w, varPctPerS: q });
            for (const at of [0, 1] as const) {
              rig.set((tx) => {
                Object.assign(tx.m704, { WSetEna: 'ENABLED', WSetMod: 'W_MAX_PCT', WSetPct: powers[at] });
                varsTo(vars[at])(tx);
              });
              await rig.watch(60, tickS, () => undefined);
            }
            const { TotWhInj, TotVarhInj, W, Var } = rig.map.m701;
            courses.push({ W, Var, TotWhInj, TotVarhInj });
          }
          expect(courses[1]).to.deep.equal(courses[0]);
          expect(courses[2]).to.deep.equal(courses[0]);
        },
        { runs: 10 },
      );
    });
  }
});
