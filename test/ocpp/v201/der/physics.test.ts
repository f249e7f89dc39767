import { expect } from 'chai';
import { loadedRig, request, voltVarCurve } from './rig.ts';
import type { DerRig } from './rig.ts';

const varMax = 22_000;

/** Reactive power of a curve at a voltage, var. */
function onCurve(pct: number): number {
  const after = voltVarCurve.findIndex(({ x }) => x > pct);
  const [left, right] = [voltVarCurve[after - 1], voltVarCurve[after]];
  if (after === 0) return ((voltVarCurve[0]?.y ?? 0) / 100) * varMax;
  if (!left || !right) return ((voltVarCurve.at(-1)?.y ?? 0) / 100) * varMax;
  return ((left.y + ((right.y - left.y) * (pct - left.x)) / (right.x - left.x)) / 100) * varMax;
}

const kw = (rig: DerRig) => Math.round(rig.kind.w / 100) / 10;
const kvar = (rig: DerRig) => Math.round(rig.kind.q / 10) / 100;

describe('OCPP 2.1 R04: what DER controls do to the power of a station', () => {
  it('VoltVar: the reactive power follows the curve at nine voltages', async () => {
    const rig = await loadedRig();
    await rig.vehicle(20_000);
    await rig.set(request('V', 'VoltVar'));
    for (const pct of [90, 92, 94, 96, 100, 103, 105, 107, 109]) {
      rig.plant.setGrid({ voltagePu: pct / 100 });
      await rig.pass(20, 10);
      expect(rig.kind.q, `at ${pct} %`).to.be.closeTo(onCurve(pct), 60);
      expect(kw(rig), `at ${pct} %`).to.be.closeTo(20, 0.2);
    }
    await rig.call('ClearDERControl', { isDefault: false, controlType: 'VoltVar' });
    await rig.pass(20, 10);
    expect(kvar(rig)).to.equal(0);
  });

  it('VoltVar: vRef moves the curve, per unit and volts are voltages as well', async () => {
    const rig = await loadedRig();
    await rig.vehicle(20_000);
    const curve = { priority: 1, yUnit: 'PctMaxVar', responseTime: 1 } as const;
    const inVolts = voltVarCurve.map(({ x, y }) => ({ x: x * 4, y }));
    const perUnit = voltVarCurve.map(({ x, y }) => ({ x: x / 100, y }));
    rig.plant.setGrid({ voltagePu: 0.95 });
    for (const [vRef, curveData, pct] of [
      [100, inVolts, 95],
      [100, perUnit, 95],
      [95, voltVarCurve, 100],
      [105, voltVarCurve, 95 / 1.05],
    ] as const) {
      const reply = await rig.set({
        isDefault: false,
        controlId: 'V',
        controlType: 'VoltVar',
        curve: { ...curve, curveData, reactivePowerParams: { vRef } },
      });
      expect(reply, `vRef ${vRef}`).to.deep.equal({ status: 'Accepted' });
      await rig.pass(20, 10);
      expect(rig.kind.q, `vRef ${vRef}`).to.be.closeTo(onCurve(pct), 60);
    }
  });

  it('LimitMaxDischarge: limits the vehicle from its start to its end', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    const startS = rig.nowS() + 60;
    await rig.set(request('L', 'LimitMaxDischarge', { startTime: rig.at(startS), duration: 120 }));
    expect(kw(rig)).to.equal(40);
    await rig.pass(90, 30);
    expect([kw(rig), rig.kind.connector().limitSource]).to.deep.equal([20, 'der']);
    await rig.pass(120, 30);
    expect(kw(rig)).to.equal(40);
    expect(rig.told('NotifyDERStartStop')).to.deep.equal([
      { controlId: 'L', started: true, timestamp: startS },
      { controlId: 'L', started: false, timestamp: startS + 120 },
    ]);
  });

  it('FixedPFInject and FixedPFAbsorb: each in its direction, both at a time', async () => {
    const rig = await loadedRig();
    await rig.set(request('I', 'FixedPFInject'));
    await rig.set(request('A', 'FixedPFAbsorb', { isDefault: true }));
    expect(rig.part.entries().map(({ controlId, active }) => [controlId, active])).to.deep.equal([
      ['I', true],
      ['A', true],
    ]);
    await rig.vehicle(30_000);
    expect(rig.kind.q).to.be.closeTo(rig.kind.w * Math.tan(Math.acos(0.92)), 50);
    rig.kind.command({ kind: 'evse.discharge', connectorId: 1, powerW: null });
    rig.kind.command({ kind: 'evse.limit', connectorId: 1, powerW: 20_000 });
    await rig.pass(120, 60);
    expect(rig.kind.w).to.be.lessThan(-19_000);
    expect(rig.kind.q).to.be.closeTo(rig.kind.w * Math.tan(Math.acos(0.95)), 50);
    await rig.call('ClearDERControl', { isDefault: false, controlId: 'I' });
    await rig.pass(60, 60);
    // the other one goes on alone
    expect([rig.point('704.PFWInjEna'), rig.point('704.PFWAbsEna')]).to.deep.equal(['DISABLED', 'ENABLED']);
    expect(rig.kind.q).to.be.closeTo(rig.kind.w * Math.tan(Math.acos(0.95)), 50);
  });

  it('FixedVar and WattVar: percent of the largest reactive power', async () => {
    const rig = await loadedRig();
    await rig.vehicle(25_000);
    await rig.set(request('F', 'FixedVar'));
    await rig.pass(30, 30);
    expect(kvar(rig)).to.be.closeTo(6.6, 0.05);
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.set(request('W', 'WattVar'));
    await rig.pass(60, 30);
    // half of the power: half of -40 %
    expect(kvar(rig)).to.be.closeTo(-4.4, 0.1);
  });

  it('a scheduled function of reactive power goes before a default, which comes back after it', async () => {
    const rig = await loadedRig();
    await rig.vehicle(20_000);
    await rig.set(request('D', 'FixedVar', { isDefault: true, priority: 0 }));
    await rig.set(request('S', 'VoltVar', { priority: 5, duration: 60 }));
    const states = () => rig.part.entries().map(({ controlId, state }) => `${controlId} ${state}`);
    expect(states()).to.deep.equal(['D outweighed', 'S applied']);
    await rig.pass(30, 30);
    expect(kvar(rig)).to.equal(0);
    await rig.pass(60, 30);
    expect(states()).to.deep.equal(['D applied']);
    expect(kvar(rig)).to.be.closeTo(6.6, 0.05);
  });

  it('Gradients: power follows commands in the time that the gradient gives', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    await rig.set(request('G', 'Gradients'));
    expect(rig.point('703.ESRmpTms')).to.equal(60);
    await rig.set(request('L', 'LimitMaxDischarge'));
    await rig.pass(40, 10);
    // 100 % in 200 s: 250 W each second
    expect(kw(rig)).to.be.closeTo(30, 0.3);
    await rig.pass(60, 10);
    expect(kw(rig)).to.equal(20);
    await rig.call('ClearDERControl', { isDefault: true });
    expect(rig.device.gradient.w.source).to.equal('register');
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.pass(5, 1);
    expect(kw(rig)).to.equal(40);
  });

  it('FreqDroop and VoltWatt: less power on high frequency and high voltage', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    await rig.set(request('F', 'FreqDroop'));
    rig.plant.setGrid({ frequencyHz: 60.65 });
    await rig.pass(60, 30);
    // 0.6 Hz beyond the deadband are 1 % of nominal; the droop is 4 %
    expect(kw(rig)).to.be.closeTo(40 - 12.5, 0.3);
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.pass(600, 60);
    await rig.set(request('V', 'VoltWatt'));
    rig.plant.setGrid({ voltagePu: 1.09 });
    await rig.pass(60, 30);
    expect(kw(rig)).to.be.closeTo(0.5 * (100 - (80 * 5) / 6), 0.3);
  });

  it('EnterService: back in service after its delay, within its limits', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    await rig.set(request('E', 'EnterService'));
    await rig.set({
      isDefault: true,
      controlId: 'T',
      controlType: 'LVMustTrip',
      curve: {
        priority: 1,
        yUnit: 'Not_Applicable',
        curveData: [
          { x: 0.8, y: 1 },
          { x: 0.5, y: 0.5 },
        ],
      },
    });
    const service = () => rig.device.trace.now.service;
    rig.plant.setGrid({ voltagePu: 0.7 });
    await rig.pass(0.9, 0.1);
    expect(service()).to.not.equal('tripped');
    await rig.pass(0.3, 0.1);
    expect(service()).to.equal('tripped');
    // above the upper limit of the control, below that of the station itself
    rig.plant.setGrid({ voltagePu: 1.055 });
    await rig.pass(60, 10);
    expect(service()).to.equal('waiting');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.pass(6.5, 0.5);
    expect(service()).to.equal('waiting');
    await rig.pass(1, 0.5);
    expect(service()).to.not.equal('waiting');
  });
});
