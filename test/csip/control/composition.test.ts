import { expect } from 'chai';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { testPlant } from '../../support/plant.ts';
import {
  apply,
  control,
  curve,
  differences,
  event,
  groupTarget,
  point,
  points,
  stateOf,
  target,
} from '../../support/csip-controls.ts';
import type { ControlOutcome } from '../../../src/csip/control/model.ts';

const link = { href: '/c' };
const out = (outcomes: readonly ControlOutcome[]) =>
  outcomes.map(({ state, leftOut }) => [state, ...leftOut.map(({ mode, reason }) => `${mode} ${reason}`)]);
const factor = (displacement: number) => ({ displacement, excitation: true, multiplier: -3 });

async function battery(): Promise<SimPlant> {
  const plant = testPlant({ types: ['Batt-3Phase'] });
  const { bank } = plant.device(0);
  bank.transact({ source: 'rest' }, (tx) => {
    tx.m704.WSetMod = 'WATTS';
    tx.m704.WSet = 5000;
    tx.m704.WSetEna = 'ENABLED';
  });
  await plant.step(8);
  return plant;
}

describe('Several DERControls at a time', () => {
  it('the function with the least reactive power takes precedence, and the order of arrival does not count', async () => {
    const some = event('SOME', control({ opModFixedVar: { refType: 1, value: 2000 } }));
    const less = event('LESS', control({ opModFixedPFInjectW: factor(990) }));
    const more = event('MORE', control({ opModTargetVar: { multiplier: 3, value: 3 } }));
    for (const order of [
      [some, less, more],
      [more, less, some],
      [less, more, some],
    ]) {
      const plant = await battery();
      const outcomes = apply(target(plant), ...order);
      const device = plant.device(0);
      expect(points(device, '704.PFWInjEna', '704.VarSetEna', '705.Ena')).to.deep.equal([
        'ENABLED',
        'DISABLED',
        'DISABLED',
      ]);
      expect(outcomes.map(({ state }) => state)).to.deep.equal(['applied', 'applied', 'applied']);
      expect(outcomes.flatMap(({ leftOut }) => leftOut.map(({ mode }) => mode)).sort()).to.deep.equal([
        'opModFixedVar',
        'opModTargetVar',
      ]);
      await plant.step(10);
      expect(point(device, '701.Var')).to.be.closeTo(-5000 * Math.tan(Math.acos(0.99)), 10);
    }
  });

  it('the winner stays until another function joins or leaves', async () => {
    const plant = await battery();
    const bridge = target(plant);
    const device = plant.device(0);
    const fixed = event('A', control({ opModFixedVar: { refType: 1, value: 1000 } }));
    const volt = event(
      'B',
      control(
        { opModVoltVar: link },
        {
          '/c': curve(11, [
            [95, 30],
            [100, 0],
            [105, -30],
          ]),
        },
      ),
    );
    // at nominal voltage the curve asks for nothing
    expect(out(apply(bridge, fixed, volt))).to.deep.equal([['applied', 'opModFixedVar outweighed'], ['applied']]);
    plant.setGrid({ voltageAPu: 1.05, voltageBPu: 1.05, voltageCPu: 1.05 });
    await plant.step(2);
    expect(out(apply(bridge, fixed, volt))).to.deep.equal([['applied', 'opModFixedVar outweighed'], ['applied']]);
    expect(points(device, '705.Ena', '704.VarSetEna')).to.deep.equal(['ENABLED', 'DISABLED']);
    expect(out(apply(bridge, fixed))).to.deep.equal([['applied']]);
    expect(points(device, '705.Ena', '704.VarSetEna')).to.deep.equal(['DISABLED', 'ENABLED']);
    expect(out(apply(bridge, fixed, volt))).to.deep.equal([['applied'], ['applied', 'opModVoltVar outweighed']]);
  });

  it('power factors for both directions run side by side, from one control or two', async () => {
    const plant = await battery();
    const before = stateOf(plant);
    const bridge = target(plant);
    const device = plant.device(0);
    const inject = event('A', control({ opModFixedPFInjectW: factor(950) }));
    const absorb = event('B', control({ opModFixedPFAbsorbW: factor(900) }));
    const enables = () => points(device, '704.PFWInjEna', '704.PFWAbsEna', '704.VarSetEna');
    expect(out(apply(bridge, inject, absorb))).to.deep.equal([['applied'], ['applied']]);
    expect(enables()).to.deep.equal(['ENABLED', 'ENABLED', 'DISABLED']);
    apply(bridge, absorb);
    expect(enables()).to.deep.equal(['DISABLED', 'ENABLED', 'DISABLED']);
    apply(bridge, absorb, inject);
    expect(enables()).to.deep.equal(['ENABLED', 'ENABLED', 'DISABLED']);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
  });

  it('set-points of active power share points: the control of higher priority has them', async () => {
    const plant = await battery();
    const bridge = target(plant);
    const device = plant.device(0);
    const high = event('A', control({ opModFixedW: 3000 }));
    const low = event('B', control({ opModTargetW: { multiplier: 3, value: 2 }, opModMaxLimW: 9000 }));
    expect(out(apply(bridge, high, low))).to.deep.equal([['applied'], ['applied', 'opModTargetW outweighed']]);
    expect(points(device, '704.WSetPct', '704.WSet', '704.WMaxLimPct')).to.deep.equal([30, 5000, 90]);
    expect(out(apply(bridge, low))).to.deep.equal([['applied']]);
    expect(points(device, '704.WSetMod', '704.WSet', '704.WMaxLimPct')).to.deep.equal(['WATTS', 2000, 90]);
  });

  it('of two limits the lower one holds', async () => {
    const plant = await battery();
    const bridge = target(plant, 0, '2023');
    const pct = event('A', control({ opModMaxLimW: 5000 }));
    const watts = event('B', control({ opModMaxLimWInject: { multiplier: 3, value: 4 } }));
    expect(out(apply(bridge, pct, watts))).to.deep.equal([['applied', 'opModMaxLimW outweighed'], ['applied']]);
    expect(point(plant.device(0), '704.WMaxLimPct')).to.equal(40);
  });

  it('trip curves of one model from two controls', async () => {
    const plant = await battery();
    const before = stateOf(plant);
    const bridge = target(plant);
    const device = plant.device(0);
    const must = event(
      'A',
      control(
        { opModLVRTMustTrip: link },
        {
          '/c': curve(10, [
            [1, 45],
            [15, 85],
          ]),
        },
      ),
    );
    const may = event(
      'B',
      control(
        { opModLVRTMayTrip: link },
        {
          '/c': curve(8, [
            [0.5, 45],
            [10, 85],
          ]),
        },
      ),
    );
    expect(out(apply(bridge, must, may))).to.deep.equal([['applied'], ['applied']]);
    apply(bridge, may);
    expect(points(device, '707.Ena', '707.Crv[0].MayTrip.ActPt', '707.Crv[0].MustTrip.Pt[0].V')).to.deep.equal([
      'ENABLED',
      2,
      50,
    ]);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
  });

  it('an invalid control does not stop another one', async () => {
    const plant = await battery();
    const bad = event('A', control({ opModMaxLimW: 20_000 }));
    const good = event('B', control({ opModMaxLimW: 5000 }));
    expect(out(apply(target(plant), bad, good))).to.deep.equal([['invalid', 'opModMaxLimW invalid'], ['applied']]);
    expect(point(plant.device(0), '704.WMaxLimPct')).to.equal(50);
  });
});

describe('DERControls on a device that is off', () => {
  it('wait for its return, as their ends do', async () => {
    const rig = new FaultyRig({ tickIntervalS: 1, types: ['Batt-3Phase'] });
    const { plant } = rig;
    const bridge = target(plant);
    const before = stateOf(plant);
    const told: string[] = [];
    bridge.onChange((reset) => told.push(reset ? 'reset' : 'ready'));
    const first = event('A', control({ opModMaxLimW: 5000, opModConnect: false, rampTms: 500 }));
    const second = event('B', control({ opModFixedVar: { refType: 1, value: 1000 } }));
    apply(bridge, first);
    rig.inject(rebootFault, { off_s: 20, forget: false });
    expect(bridge.check(second.control).state).to.equal('waiting');
    expect(out(apply(bridge, second))).to.deep.equal([['waiting']]);
    expect(point(plant.device(0), '704.WMaxLimPct')).to.equal(50);
    await plant.step(25);
    expect(told).to.deep.equal(['ready']);
    expect(out(apply(bridge, second))).to.deep.equal([['applied']]);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
  });

  it('are over where it forgets its settings', async () => {
    const rig = new FaultyRig({ tickIntervalS: 1, types: ['Batt-3Phase'] });
    const bridge = target(rig.plant);
    const before = stateOf(rig.plant);
    const told: string[] = [];
    bridge.onChange((reset) => told.push(reset ? 'reset' : 'ready'));
    apply(bridge, event('A', control({ opModMaxLimW: 5000, opModConnect: false })));
    rig.inject(rebootFault, { off_s: 20 });
    expect(told).to.deep.equal(['reset']);
    await rig.plant.step(25);
    apply(bridge);
    expect(rig.plant.device(0).switchClosed).to.equal(true);
    expect(Object.keys(differences(before, stateOf(rig.plant)))).to.not.include('704.WMaxLimPct');
  });
});

describe('An EndDevice with several devices', () => {
  it('shares targets in watts, and runs each mode where it is supported', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase'] });
    await plant.step(4);
    const before = [0, 1, 2].map((index) => stateOf(plant, index));
    const bridge = groupTarget(plant);
    expect(bridge.supported.has('opModStorageTargetW')).to.equal(true);
    const of = control({
      opModTargetW: { multiplier: 0, value: 7000 },
      opModFixedPFAbsorbW: factor(950),
      opModConnect: true,
      opModExpLimW: { multiplier: 3, value: 6 },
    });
    expect(bridge.check(of)).to.deep.equal({ state: 'applied', leftOut: [], overwritten: false });
    expect(out(apply(bridge, event('A', of)))).to.deep.equal([['applied']]);
    const set = [0, 1, 2].map((index) => point(plant.device(index), '704.WSet'));
    expect(set).to.deep.equal([2000, 2000, 3000]);
    expect(plant.siteOf([0, 1, 2]).limits.export).to.include({ limitW: 6000, owner: 'csip:group' });
    await plant.step(20);
    expect(plant.siteOf([0, 1, 2]).netW).to.be.closeTo(6000, 10);
    bridge.close();
    expect(before.map((each, index) => differences(each, stateOf(plant, index)))).to.deep.equal([{}, {}, {}]);
  });

  it('waits with a limit where the plant takes none', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'] });
    await plant.step(1);
    const bridge = groupTarget(plant, [0, 1]);
    const limit = event('A', control({ opModExpLimW: { multiplier: 3, value: 5 } }));
    plant.setSite({ export: 7000 }, { source: 'rest' }, { devices: [1, 2] });
    expect(out(apply(bridge, limit))).to.deep.equal([['waiting']]);
    plant.setSite({ export: null }, { source: 'rest' }, { devices: [1, 2] });
    expect(out(apply(bridge, limit))).to.deep.equal([['applied']]);
    expect(plant.siteOf([0, 1]).limits.export.limitW).to.equal(5000);
  });

  it('gives its limits back after one of its devices, and then all, have left', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'] });
    await plant.step(1);
    const bridge = groupTarget(plant, [0, 1]);
    apply(bridge, event('A', control({ opModExpLimW: { multiplier: 3, value: 5 }, opModMaxLimW: 4000 })));
    await plant.remove(1);
    expect(plant.siteOf([0]).limits.export.limitW).to.equal(5000);
    apply(bridge);
    expect(plant.siteScopes.flatMap(({ owners }) => owners)).to.deep.equal([]);
    await plant.remove(0);
    bridge.close();
  });

  it('runs a control where one device is away', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'] });
    await plant.step(2);
    const bridge = groupTarget(plant);
    plant.device(1).command({ kind: 'local', local: true }, { source: 'rest' });
    const limit = event('A', control({ opModMaxLimW: 5000 }));
    expect(out(apply(bridge, limit))).to.deep.equal([['applied']]);
    expect([0, 1].map((index) => point(plant.device(index), '704.WMaxLimPct'))).to.deep.equal([50, 100]);
    plant.device(1).command({ kind: 'local', local: false }, { source: 'rest' });
    apply(bridge, limit);
    expect([0, 1].map((index) => point(plant.device(index), '704.WMaxLimPct'))).to.deep.equal([50, 50]);
    expect(bridge.check(control({ rampTms: 5 })).state).to.equal('unsupported');
    expect(out(apply(bridge, event('B', control({ opModFixedPFAbsorbW: factor(950) }))))).to.deep.equal([
      ['unsupported', 'opModFixedPFAbsorbW unsupported'],
    ]);
    expect(
      out(
        apply(
          bridge,
          event('C', control({ opModFixedPFAbsorbW: factor(950), opModGenLimW: { multiplier: 3, value: 1 } })),
        ),
      ),
    ).to.deep.equal([['applied', 'opModFixedPFAbsorbW unsupported']]);
  });
});
