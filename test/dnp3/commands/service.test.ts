import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';

describe('switch and service by DNP3', () => {
  it('CONN: opens and closes the switch, and goes back after the reversion time', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(5);
    rig.done(['AO17', 120], ['BO5', false]);
    // power goes down before the relay opens
    await rig.pass(20);
    expect([rig.value('BI23'), rig.activePowerW]).to.deep.equal([0, 0]);
    await rig.pass(92);
    expect(rig.device.switchClosed).to.equal(false);
    await rig.pass(10);
    expect(rig.device.switchClosed).to.equal(true);
    expect(rig.value('BI23')).to.equal(1);
  });

  it('CONN: another command ends the reversion of the one before', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO17', 60], ['BO5', false], ['AO17', 0], ['BO5', false]);
    await rig.pass(100);
    expect(rig.device.switchClosed).to.equal(false);
  });

  it('SERV: stops and starts again through entering service', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO10', 10], ['AO12', 5], ['BO2', true]);
    await rig.pass(20);
    expect([rig.value('BI15'), rig.value('BI14'), rig.activePowerW]).to.deep.equal([1, 0, 0]);
    rig.done(['BO1', true]);
    await rig.pass(2);
    expect([rig.value('BI12'), rig.value('BI14')]).to.deep.equal([1, 0]);
    await rig.pass(60);
    expect([rig.value('BI12'), rig.value('BI14'), rig.value('BI15')]).to.deep.equal([0, 1, 0]);
    expect(rig.activePowerW).to.be.greaterThan(5000);
    expect(rig.register(703, 'ESDlyTms')).to.equal(10);
  });

  it('SERV: without permission start and stop are blocked', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['BO4', false]);
    expect(rig.operate('BO2', true)).to.equal(15);
    await rig.pass(5);
    expect(rig.value('BI14')).to.equal(1);
    rig.done(['BO4', true], ['BO3', false]);
    expect(rig.register(703, 'ES')).to.equal('DISABLED');
    expect(rig.operate('BO1', true, true)).to.equal(15);
  });

  it('a lockout stops the device and blocks start and connection', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['BO0', true]);
    await rig.pass(20);
    expect([rig.value('BI11'), rig.value('BI15'), rig.value('BI22')]).to.deep.equal([1, 1, 1]);
    expect(rig.operate('BO1', true)).to.equal(15);
    expect(rig.operate('BO5', true)).to.equal(15);
    rig.done(['BO0', false], ['BO1', true]);
  });

  it('of the operating states exactly one is set, whatever the device does', async () => {
    const rig = new PointRig('Batt-3Phase');
    const states = () => [18, 19, 20, 21, 22].filter((index) => rig.value(`BI${index}`) === 1);
    for (const [name, value] of [
      ['BO18', true],
      ['AO93', 500],
      ['AO93', -500],
      ['BO2', true],
      ['BO1', true],
      ['BO5', false],
      ['BO3', false],
    ] as const) {
      rig.operate(name, value);
      await rig.pass(30);
      expect(states(), `${name} = ${value}`).to.have.length(1);
    }
  });
});
