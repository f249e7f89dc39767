import { expect } from 'chai';
import { JudgeRig } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: scale factors', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
  });

  const poll = (count: number, point = '701.W', last = point) => {
    for (let i = 0; i < count; i += 1) {
      rig.pass(10);
      master.readPoint(point, last);
    }
  };

  describe('scale_factor_unread', () => {
    it('is found at the 20th read of a value, with the scale factor and its value', () => {
      master.read(40_000, 3);
      poll(19);
      expect(rig.ids()).to.deep.equal([]);
      poll(1);
      expect(rig.ids()).to.deep.equal(['scale_factor_unread']);
      const { facts } = rig.caseOf('scale_factor_unread') ?? {};
      expect(facts).to.deep.include({ point: '701.W', scale_factor: '701.W_SF', reads: 20 });
      expect(facts?.['value']).to.equal(rig.device.value('701.W_SF'));
      expect(rig.caseOf('scale_factor_unread')?.text).to.equal(
        'read 701.W 20 times and has not read 701.W_SF, which is 1',
      );
    });

    it('is found for each scale factor of a block that was not read', () => {
      master.read(40_000, 3);
      master.readPoint('701.V_SF');
      poll(20, '701.W', '701.Hz');
      const facts = rig.findings.row(rig.peer(), 'modbus.scale_factor_unread').cases.map((one) => one.facts);
      const names = facts.map((one) => one['scale_factor']);
      expect(names).to.include('701.W_SF').and.not.include('701.V_SF');
    });

    it('is kept by one read of the scale factor, before or after', () => {
      master.readPoint('701.W_SF');
      master.read(40_000, 3);
      poll(30);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('scale_factor_unread')).to.equal(30);
    });

    it('leaves values without a scale factor, and masters that have not looked for the models, alone', () => {
      poll(30);
      expect(rig.ids()).to.deep.equal(['no_discovery']);
      rig = new JudgeRig();
      master = rig.connect();
      master.read(40_000, 3);
      poll(30, '701.ConnSt');
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('scale_factor_unread')).to.equal(0);
    });
  });
});
