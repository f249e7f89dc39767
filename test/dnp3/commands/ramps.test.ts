import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';

describe('ramps by DNP3', () => {
  it('a set-point is reached within its ramp time, and the slope is then what it was', async () => {
    const rig = new PointRig('Batt-3Phase');
    await rig.pass(5);
    const wMax = Number(rig.register(702, 'WMax'));
    rig.done(['AO91', 100], ['AO93', 500], ['BO18', true]);
    expect(rig.value('AI152')).to.equal(100);
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(0.25 * wMax, 0.02 * wMax);
    await rig.pass(52);
    expect(rig.activePowerW).to.be.closeTo(0.5 * wMax, 0.01 * wMax);
    expect(rig.device.gradient.w.source).to.equal('register');
    rig.done(['AO93', -500]);
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(0, 0.02 * wMax);
  });

  it('so are a limit of generation, reactive power and a stop', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(5);
    const [wMax, before] = [Number(rig.register(702, 'WMax')), rig.activePowerW];
    rig.done(['AO84', 100], ['AO88', 200], ['BO17', true]);
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo((before + 0.2 * wMax) / 2, 0.03 * wMax);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(0.2 * wMax, 0.01 * wMax);
    const varMax = Number(rig.register(702, 'VarMaxInj'));
    rig.done(['AO5', 2], ['AO201', 100], ['AO203', 400], ['BO27', true]);
    await rig.pass(50);
    expect(Number(rig.register(701, 'Var'))).to.be.closeTo(0.2 * varMax, 0.02 * varMax);
    await rig.pass(60);
    rig.done(['AO14', 100], ['BO2', true]);
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(0.1 * wMax, 0.02 * wMax);
    // stopping, and not stopped while power flows
    expect(['BI13', 'BI14', 'BI15', 'BI19', 'BI21'].map((name) => rig.value(name as 'BI13'))).to.deep.equal([
      1, 0, 0, 1, 0,
    ]);
    await rig.pass(60);
    expect([rig.activePowerW, rig.value('BI13'), rig.value('BI15')]).to.deep.equal([0, 0, 1]);
  });

  it('a newer ramp takes the place of one that lasts, and gives back the slope from before both', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(5);
    rig.done(['AO84', 100], ['AO88', 200], ['BO17', true]);
    await rig.pass(30);
    rig.done(['AO14', 300], ['BO2', true]);
    await rig.pass(100);
    expect(rig.device.gradient.w.source).to.equal('gradient');
    await rig.pass(210);
    expect(rig.device.gradient.w.source).to.equal('register');
  });

  it('leaves a slope that another protocol has set meanwhile', async () => {
    const rig = new PointRig('Batt-3Phase');
    rig.done(['AO91', 100], ['AO93', 500], ['BO18', true]);
    rig.device.command({ kind: 'gradient', wPctPerS: 0.27 }, { source: 'rest' });
    await rig.pass(200);
    expect(rig.device.gradient.w).to.deep.include({ pctPerS: 0.27, source: 'gradient' });
  });

  it('ramp rates are the slope of the device: one for all four', async () => {
    const rig = new PointRig('Batt-3Phase');
    await rig.pass(5);
    const wMax = Number(rig.register(702, 'WMax'));
    rig.done(['AO96', 5], ['AO93', 500], ['BO18', true]);
    expect(['AI157', 'AI158', 'AI159', 'AI160', 'AI62'].map((name) => rig.value(name as 'AI62'))).to.deep.equal(
      Array.from({ length: 5 }, () => 5),
    );
    await rig.pass(50);
    expect(rig.activePowerW).to.be.closeTo(0.25 * wMax, 0.02 * wMax);
    expect([rig.operate('AO96', 0), rig.operate('AO96', 10_001)]).to.deep.equal([12, 12]);
    const [rate] = rig.points.views({ type: 'AO', from: 96, to: 96 });
    expect([rate?.min, rate?.max]).to.deep.equal([1, 10_000]);
  });
});
