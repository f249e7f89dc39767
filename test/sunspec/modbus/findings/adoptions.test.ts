import { expect } from 'chai';
import { JudgeRig } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: adoptions', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  /** Stages two points of the second set of volt-var, and adopts it. */
  const adopt = (x1: number, x2: number, active = 2) => {
    const [first, second] = [rig.at('705.Crv[1].Pt[0].V'), rig.at('705.Crv[1].Pt[1].V')];
    master.write(first, x1, 100);
    master.write(second, x2, 50);
    master.write('705.Crv[1].ActPt', active);
    expect(master.write('705.AdptCrvReq', 2)).to.equal(0);
  };

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
  });

  describe('curve_unordered', () => {
    it('is found for points that fall back and for none in use, with the point', () => {
      adopt(9800, 9700);
      expect(rig.device.value('705.AdptCrvRslt')).to.equal('FAILED');
      expect(rig.ids()).to.deep.equal(['curve_unordered']);
      expect(rig.caseOf('curve_unordered')?.facts['point']).to.equal('705.Crv[1].Pt[1].V');
      rig = new JudgeRig();
      master = rig.connect();
      adopt(9700, 9800, 0);
      expect(rig.caseOf('curve_unordered')?.facts['point']).to.equal('705.Crv[1].ActPt');
    });

    it('is kept by a curve that rises', () => {
      adopt(9700, 9800);
      expect(rig.device.value('705.AdptCrvRslt')).to.equal('COMPLETED');
      expect(rig.ids('held')).to.include('curve_unordered');
    });

    it('leaves a set alone that only this device cannot take', () => {
      master.write('705.Crv[1].Pt[1].V', 0xffff);
      master.write('705.Crv[1].ActPt', 2);
      master.write('705.AdptCrvReq', 2);
      expect(rig.device.value('705.AdptCrvRslt')).to.equal('FAILED');
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('adoption_result_unread', () => {
    it('is found after 30 s of other requests, with the register', () => {
      adopt(9700, 9800);
      master.poll(30);
      expect(rig.ids()).to.deep.equal(['adoption_result_unread']);
      expect(rig.caseOf('adoption_result_unread')?.facts).to.deep.equal({
        model: 705,
        result: rig.at('705.AdptCrvRslt'),
      });
      expect(rig.caseOf('adoption_result_unread')?.text).to.equal(
        `adopted a curve of model 705 and did not read the result (register ${rig.at('705.AdptCrvRslt')})`,
      );
    });

    it('is kept by a read of the whole model', () => {
      adopt(9700, 9800);
      rig.pass(29);
      master.readPoint('705.Ena', '705.AdptCrvRslt');
      rig.pass(10);
      expect(rig.ids('held')).to.include('adoption_result_unread');
    });

    it('leaves a master alone that has gone away', () => {
      adopt(9700, 9800);
      rig.pass(60);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.ids('undecided')).to.include('adoption_result_unread');
    });
  });
});
