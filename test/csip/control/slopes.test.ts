import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { apply, control, event, point, standard, target } from '../../support/csip-controls.ts';

describe('Slopes of DERControls and default controls', () => {
  it('shows setGradW and the slope of the device without the ramps of single controls', async () => {
    const plant = testPlant({ tickIntervalS: 0.5 });
    await plant.step(60);
    const device = plant.device(0);
    const bridge = target(plant);
    const own = device.gradient.w.pctPerS;
    const ramped = event(
      'A',
      control({ opModExpLimW: { multiplier: 3, value: 3 }, opModTargetW: { multiplier: 3, value: 2 }, rampTms: 6000 }),
    );
    expect(bridge.gradW(0)).to.equal(own);
    apply(bridge, ramped);
    expect(device.gradient.w.pctPerS).not.to.equal(own);
    expect(bridge.gradW(0)).to.equal(own);
    apply(bridge, ramped, standard({ ...control({}), settings: { setGradW: 100 } }));
    expect(device.gradient.w.pctPerS).not.to.equal(1);
    expect(bridge.gradW(0)).to.equal(1);
    await plant.step(2);
    apply(bridge);
    expect(bridge.gradW(0)).to.equal(own);
    device.command({ kind: 'gradient', wPctPerS: 7 }, { source: 'rest' });
    expect(bridge.gradW(0)).to.equal(7);
    expect(() => bridge.gradW(1)).to.throw(/device 1/);
  });

  it('disconnects without the slope of setGradW, which holds for the power before and after', async () => {
    const plant = testPlant({ tickIntervalS: 0.5 });
    await plant.step(60);
    const device = plant.device(0);
    const bridge = target(plant);
    const slow = standard({ ...control({}), settings: { setGradW: 27 } });
    apply(bridge, slow);
    expect(device.gradient.w.pctPerS).to.equal(0.27);
    apply(bridge, event('A', control({ opModConnect: false })), slow);
    await plant.step(60);
    expect(point(device, '701.ConnSt')).to.equal('DISCONNECTED');
    expect(bridge.gradW(0)).to.equal(0.27);
    apply(bridge, event('B', control({ opModConnect: true })), slow);
    expect(device.gradient.w.pctPerS).to.equal(0.27);
  });
});
