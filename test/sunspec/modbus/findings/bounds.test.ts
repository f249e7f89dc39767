import { expect } from 'chai';
import { JudgeRig } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: bounds', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
    master.read(40_000, 3);
    master.readPoint('701.W_SF');
  });

  const times = (count: number, act: (i: number) => void) => {
    for (let i = 0; i < count; i += 1) act(i);
  };

  it('the result of an adoption is read by its register alone', () => {
    const result = rig.at('705.AdptCrvRslt');
    master.write('705.AdptCrvReq', 2);
    rig.pass(20);
    master.read(result - 1, 1);
    master.read(result + 1, 1);
    rig.pass(10);
    expect(rig.ids()).to.deep.equal(['adoption_result_unread']);
    master.write('705.AdptCrvReq', 2);
    rig.pass(20);
    master.read(result - 1, 2);
    rig.pass(10);
    expect(rig.exercised('adoption_result_unread')).to.equal(2);
  });

  it('a refused write is looked at by a read of one of its registers, and of no other', () => {
    const at = rig.at('704.WMaxLimPctEna');
    const refused = () => master.write(at, 1, 1001);
    times(3, () => {
      refused();
      master.read(at - 1, 1);
      master.read(at + 2, 1);
    });
    expect(rig.ids()).to.not.include('refused_write_repeated');
    refused();
    expect(rig.ids()).to.include('refused_write_repeated');
    rig = new JudgeRig();
    master = rig.connect();
    times(9, (i) => {
      refused();
      master.read(at + (i % 2), 1);
    });
    expect(rig.ids()).to.not.include('refused_write_repeated');
  });

  it('a refused read is another one with another begin or number', () => {
    const behind = rig.device.layout.base + rig.device.layout.size;
    times(6, (i) => {
      rig.pass(20);
      master.read(behind + 10 + i, 4);
      master.read(behind + 10, 5 + i);
    });
    expect(rig.ids()).to.deep.equal([]);
    times(6, () => {
      rig.pass(20);
      master.read(behind + 30, 4);
    });
    expect(rig.ids()).to.deep.equal(['exception_ignored_read']);
    expect(rig.caseOf('exception_ignored_read')?.facts['reads']).to.equal(6);
  });

  it('a read that was answered meanwhile forgets its own refusals alone', () => {
    const end = rig.device.layout.base + rig.device.layout.size;
    times(5, () => {
      rig.pass(20);
      master.read(end + 20, 4);
      master.readPoint('701.ConnSt');
    });
    master.read(end + 20, 4);
    expect(rig.ids()).to.deep.equal(['exception_ignored_read']);
  });

  it('the map ends with its last register, and one read up to there is right', () => {
    const { base, size } = rig.device.layout;
    master.read(base + size - 8, 8);
    expect(rig.exercised('chain_end_passed')).to.equal(1);
    master.read(base + size, 8);
    expect(rig.ids()).to.not.include('chain_end_passed');
    master.read(base + size - 8, 9);
    expect(rig.caseOf('chain_end_passed')?.facts['last']).to.equal(base + size - 1);
  });

  it('settings are compared by place and number of registers', () => {
    times(20, (i) => master.write('702.WMax', 500 + (i % 2)));
    expect(rig.ids()).to.deep.equal([]);
    times(11, () => master.write('702.WMax', 500));
    expect(rig.ids()).to.deep.equal(['settings_churn']);
  });

  it('cases name what was written', () => {
    master.write('701.W', 5);
    master.write('704.WMaxLimPct_SF', 0xffff);
    master.write('705.Crv[0].ActPt', 2);
    master.write(rig.at('704.WMaxLimPctRvrtTms'), 0);
    const texts = ['write_read_only', 'write_scale_factor', 'write_set_in_force', 'write_part_of_point'].map((rule) =>
      rig.caseOf(rule)?.text.replace(/^wrote register \d+ with /, ''),
    );
    expect(texts).to.deep.equal([
      '701.W, which is read only',
      'the scale factor 704.WMaxLimPct_SF',
      '705.Crv[0].ActPt of the set in force',
      'a part of 704.WMaxLimPctRvrtTms',
    ]);
  });
});
