import { expect } from 'chai';
import { byRest } from '../../../support/map.ts';
import { JudgeRig } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: set-points of the models', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig({ classic: true });
    master = rig.connect();
    master.read(40_000, 3);
  });

  it('704: finds a limit without its enable, and one that is enabled in the same request is kept', () => {
    master.write('704.WMaxLimPct', 500);
    master.poll(10);
    expect(rig.ids()).to.deep.equal(['enable_forgotten']);
    expect(rig.caseOf('enable_forgotten')?.facts).to.deep.include({
      point: '704.WMaxLimPct',
      enable: '704.WMaxLimPctEna',
      values: '50',
    });
    const other = rig.connect({ address: '192.0.2.8' });
    other.write('704.WMaxLimPctEna', 1, 400);
    expect(rig.ids('held', rig.peer('192.0.2.8'))).to.include('enable_forgotten');
  });

  it('704: the value first and the enable in the next request, with function 6, is right', () => {
    master.write('704.WMaxLimPct', 500);
    const at = rig.at('704.WMaxLimPctEna');
    master.send(Buffer.from([6, at >> 8, at & 0xff, 0, 1]));
    master.poll(10);
    expect(rig.ids()).to.deep.equal(['no_reversion']);
  });

  it('123: follows its own enable', () => {
    master.write('123.WMaxLimPct', 50);
    master.poll(10);
    expect(rig.ids()).to.deep.equal(['enable_forgotten']);
    expect(rig.caseOf('enable_forgotten')?.facts['enable']).to.equal('123.WMaxLim_Ena');
  });

  it('leaves a refused enable, and one from REST, alone', () => {
    master.write('704.WMaxLimPct', 500);
    expect(master.write('704.WMaxLimPctEna', 7)).to.equal(3);
    master.poll(10);
    master.write('704.VarSetPct', 100);
    rig.device.set({ '704.VarSetEna': 'ENABLED' }, byRest);
    master.poll(10);
    expect(rig.ids()).to.deep.equal(['value_out_of_range']);
  });

  it('finds a renewal after the reversion of the device', () => {
    const renew = () => master.write('704.WMaxLimPctEna', 1, 500, 1000, 0, 0, 60);
    renew();
    rig.pass(40);
    renew();
    rig.pass(40);
    renew();
    rig.pass(62);
    expect(rig.device.value('704.WMaxLimPctEna')).to.equal('DISABLED');
    expect(rig.ids()).to.deep.equal([]);
    renew();
    expect(rig.ids()).to.deep.equal(['reversion_lapsed']);
    expect(rig.caseOf('reversion_lapsed')?.facts['late_s']).to.be.closeTo(2, 2);
  });

  it('finds a limit that is written without change and without a reversion time', () => {
    for (let i = 0; i <= 30; i += 1) master.write('704.WMaxLimPctEna', 1, 500);
    expect(rig.ids()).to.deep.equal(['setpoint_churn']);
  });
});
