import { expect } from 'chai';
import { BankUnit } from '../../../../src/sunspec/modbus/unit-bridge.ts';
import { byRest, createTestBank, words } from '../../../support/map.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { JudgeRig, readPdu, writePdu } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: commands', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
    master.read(40_000, 3);
    master.readPoint('701.W_SF');
  });

  afterEach(() => {
    expect(rig.findings.lines.filter((line) => line.includes('failed'))).to.deep.equal([]);
  });

  const pollFor = (seconds: number, by = master) => {
    for (let i = 0; i < seconds / 50; i += 1) {
      rig.pass(50);
      by.readPoint('701.W');
    }
  };

  describe('enable_before_value', () => {
    const before = 500;
    const enable = (value = 1) => master.write('704.WMaxLimPctEna', value);
    const set = (value: number) => master.write('704.WMaxLimPct', value);
    const broken = () => rig.ids().filter((id) => id === 'enable_before_value');
    const other = () => rig.connect({ address: '192.0.2.8' });

    beforeEach(() => {
      rig.device.set({ '704.WMaxLimPct': before / 10 }, byRest);
    });

    it('is found when the value follows later, with both values', () => {
      enable();
      rig.pass(0.2);
      set(300);
      expect(broken()).to.have.length(1);
      expect(rig.caseOf('enable_before_value')?.facts).to.deep.equal({
        point: '704.WMaxLimPct',
        enable: '704.WMaxLimPctEna',
        before: '50',
        after: '30',
      });
    });

    it('is found after ten seconds, and after a reversion', () => {
      enable();
      rig.pass(10);
      set(300);
      expect(broken()).to.have.length(1);
      expect(rig.caseOf('enable_before_value')?.text).to.equal(
        'switched on 704.WMaxLimPctEna with 704.WMaxLimPct at 50, and wrote 30 10000 ms later',
      );
      master.write('704.WMaxLimPctEna', 1, 300, 400, 0, 0, 60);
      rig.pass(70);
      expect(rig.device.value('704.WMaxLimPctEna')).to.equal('DISABLED');
      enable();
      rig.pass(1);
      set(200);
      expect(rig.findings.row(rig.peer(), 'modbus.enable_before_value').broken).to.equal(2);
    });

    it('is kept by both in one request, by a value at once, and by the value first', () => {
      master.write('704.WMaxLimPctEna', 1, 300);
      enable(0);
      other().write('704.WMaxLimPct', 500);
      enable();
      rig.pass(0.1);
      set(310);
      enable(0);
      set(320);
      enable();
      rig.pass(1);
      set(330);
      expect(broken()).to.deep.equal([]);
      expect(rig.exercised('enable_before_value')).to.equal(3);
    });

    it('leaves a limit of 100 %, the same value, a later command and an enable that was there alone', () => {
      rig.device.set({ '704.WMaxLimPct': 100 }, byRest);
      enable();
      rig.pass(1);
      set(300);
      enable(0);
      rig.device.set({ '704.WMaxLimPct': 50 }, byRest);
      enable();
      rig.pass(1);
      set(before);
      enable(0);
      rig.device.set({ '704.WMaxLimPct': 40 }, byRest);
      enable();
      rig.pass(11);
      set(300);
      enable();
      rig.pass(1);
      set(310);
      expect(broken()).to.deep.equal([]);
    });

    it('is kept by a value that comes before 200 ms or after ten seconds, or that is the same', () => {
      for (const [waitS, value] of [
        [0.199, 300],
        [10.001, 300],
        [1, before],
      ] as const) {
        rig = new JudgeRig();
        rig.device.set({ '704.WMaxLimPct': before / 10 }, byRest);
        master = rig.connect();
        master.read(40_000, 3);
        enable();
        rig.pass(waitS);
        set(value);
        expect(broken(), String(waitS)).to.deep.equal([]);
        expect(rig.exercised('enable_before_value'), String(waitS)).to.equal(1);
      }
    });

    it('is found after a change by somebody else of a value that the master never wrote', () => {
      enable();
      enable(0);
      rig.device.set({ '704.WMaxLimPct': 60 }, byRest);
      enable();
      rig.pass(1);
      set(300);
      expect(broken()).to.have.length(1);
    });

    it('leaves an enable alone that somebody else has switched off or taken over', () => {
      enable();
      rig.pass(1);
      rig.device.set({ '704.WMaxLimPctEna': 'DISABLED' }, byRest);
      set(300);
      rig.device.set({ '704.WMaxLimPctEna': 'ENABLED', '704.WMaxLimPct': 60 }, byRest);
      enable();
      rig.pass(1);
      set(310);
      enable(0);
      rig.device.set({ '704.WMaxLimPct': 60 }, byRest);
      enable();
      rig.pass(1);
      other().write('704.WMaxLimPct', 400);
      expect(broken()).to.deep.equal([]);
      expect(rig.ids('broken', rig.peer('192.0.2.8'))).to.deep.equal([]);
    });

    it('leaves a set-point alone that the master had written before a reversion, or before a change by somebody else', () => {
      master.write('704.WMaxLimPctEna', 1, 300, 300, 0, 0, 60);
      rig.pass(70);
      expect(rig.device.value('704.WMaxLimPctEna')).to.equal('DISABLED');
      enable();
      rig.pass(1);
      set(200);
      enable(0);
      rig.device.set({ '704.WMaxLimPct': 60 }, byRest);
      enable();
      rig.pass(1);
      set(200);
      expect(broken()).to.deep.equal([]);
      expect(rig.findings.row(rig.peer(), 'modbus.enable_before_value').undecided).to.equal(1);
    });

    it('is found at a device whose limit was there from the start', () => {
      rig = new JudgeRig({
        start: (registers) => {
          registers.m704.WMaxLimPct = 50;
        },
      });
      master = rig.connect();
      master.read(40_000, 3);
      enable();
      rig.pass(1);
      set(300);
      expect(broken()).to.have.length(1);
    });

    it('leaves a function alone that the master has switched off again, or that was on already', () => {
      enable();
      rig.pass(1);
      enable(0);
      set(300);
      enable();
      other().write('704.WMaxLimPct', 400);
      enable();
      rig.pass(1);
      set(310);
      expect(broken()).to.deep.equal([]);
    });

    it('leaves a write that a fault has disturbed alone, whether it was carried out or not', () => {
      enable();
      master.unanswered(writePdu(rig.at('704.WMaxLimPct'), [300]));
      rig.pass(1);
      set(310);
      enable(0);
      rig.device.set({ '704.WMaxLimPct': before / 10 }, byRest);
      rig.unit.write(rig.at('704.WMaxLimPctEna'), words(1), { peer: '192.0.2.7:4711' });
      master.unanswered(writePdu(rig.at('704.WMaxLimPctEna'), [1]));
      enable();
      rig.pass(1);
      set(310);
      expect(broken()).to.deep.equal([]);
    });

    it('is found in spite of other requests that a fault has disturbed', () => {
      enable();
      master.unanswered(readPdu(rig.at('704.WMaxLimPct'), 1), writePdu(rig.at('704.WMaxLimPct'), []));
      master.unanswered(Buffer.from([16, 0, 0, 0, 1, 2, 0]), Buffer.from([6, 0, 0, 0]));
      rig.unit = { read: () => Buffer.alloc(2), write: () => undefined, deviceIndex: 0 };
      master.unanswered(writePdu(rig.at('704.WMaxLimPct'), [300]));
      rig.unit = new BankUnit({ index: 0, bank: rig.device.bank });
      rig.pass(1);
      master.read(40_000, 3);
      set(310);
      expect(broken()).to.have.length(1);
    });
  });

  describe('readback_missing', () => {
    const limit = (value = 500, by = master) => by.write('704.WMaxLimPctEna', 1, value, 1000, 0, 0, 3600);

    it('is found after five minutes, with the value', () => {
      limit();
      pollFor(250);
      expect(rig.ids()).to.deep.equal([]);
      pollFor(50);
      expect(rig.ids()).to.deep.equal(['readback_missing']);
      expect(rig.caseOf('readback_missing')?.facts).to.deep.equal({ point: '704.WMaxLimPct', values: '50' });
      expect(rig.caseOf('readback_missing')?.text).to.equal('wrote 704.WMaxLimPct (50) and did not read it back');
    });

    it('leaves a master alone that has written an enable alone', () => {
      master.write('704.WMaxLimPctEna', 1);
      pollFor(300);
      expect(rig.ids()).to.not.include('readback_missing');
    });

    it('is kept by reads of two set-points one after the other, and found after a read that was refused', () => {
      limit();
      master.write('704.VarSetEna', 0, 0, 0, 0, 100);
      master.write('704.WSetEna', 0);
      master.readPoint('704.WSet');
      for (let i = 0; i < 2; i += 1) master.readPoint('704.WMaxLimPct');
      master.readPoint('704.VarSet', '704.VarSetPct');
      pollFor(300);
      expect(rig.ids()).to.deep.equal([]);
      limit(600);
      const { unit } = rig;
      rig.unit = {
        deviceIndex: 0,
        judged: unit.judged ?? null,
        write: () => undefined,
        read() {
          throw new SimError('MAP_ILLEGAL_ADDRESS', 'refused');
        },
      };
      master.readPoint('704.WMaxLimPct');
      rig.unit = unit;
      pollFor(300);
      expect(rig.ids()).to.deep.equal(['readback_missing']);
    });

    it('is found at a master that writes again and again', () => {
      for (let i = 0; i < 7; i += 1) {
        limit(500 + i);
        pollFor(50);
      }
      expect(rig.ids()).to.deep.equal(['readback_missing']);
      expect(rig.findings.registry.pending).to.equal(1);
    });

    it('is kept by a read of the point after others', () => {
      limit();
      master.readPoint('701.W');
      master.readPoint('704.WMaxLimPct');
      pollFor(400);
      expect(rig.ids()).to.deep.equal([]);
    });

    it('is kept by a read of the point, at once and over another connection', () => {
      master.readPoint('704.WMaxLimPct');
      limit();
      master.readPoint('704.WMaxLimPct');
      pollFor(400);
      const second = rig.connect();
      second.readPoint('704.WMaxLimPctEna', '704.WMaxLimPct');
      limit(600);
      second.readPoint('704.WMaxLimPctEna', '704.WMaxLimPct');
      second.close();
      pollFor(400);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('readback_missing')).to.equal(2);
    });

    it('leaves set-points that somebody else has changed, refused writes and silent masters alone', () => {
      limit();
      rig.device.set({ '704.WMaxLimPct': 70 }, byRest);
      pollFor(400);
      limit(1001);
      pollFor(400);
      limit();
      limit(400, rig.connect({ address: '192.0.2.8' }));
      pollFor(400);
      limit();
      rig.pass(400);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.findings.row(rig.peer(), 'modbus.readback_missing').undecided).to.equal(1);
    });

    it('is not kept by a read of another point, or by another master', () => {
      limit();
      master.readPoint('704.VarSetPct');
      rig.connect({ address: '192.0.2.8' }).readPoint('704.WMaxLimPct');
      pollFor(300);
      expect(rig.ids()).to.deep.equal(['readback_missing']);
    });
  });

  it('reads count at a device that was set up anew, of which the master still knows the registers', () => {
    const other = createTestBank();
    rig.unit = new BankUnit({ index: 0, bank: other.bank });
    master.readPoint('701.W');
    master.write('704.WMaxLimPctEna', 1, 500, 1000, 0, 0, 3600);
    master.readPoint('704.WMaxLimPct');
    master.write('705.AdptCrvReq', 2);
    master.readPoint('705.AdptCrvRslt');
    pollFor(400);
    expect(rig.ids()).to.deep.equal([]);
    expect([rig.exercised('readback_missing'), rig.exercised('adoption_result_unread')]).to.deep.equal([1, 1]);
  });

  describe('adoption_forgotten', () => {
    const stage = (set = 1) => master.write(`705.Crv[${set}].DeptRef`, 1);
    const adopt = (number: number) => {
      master.write('705.AdptCrvReq', number);
      master.readPoint('705.AdptCrvRslt');
    };

    beforeEach(() => {
      rig.device.set({ '705.Ena': 'ENABLED' }, byRest);
    });

    it('is found after ten minutes, with the set', () => {
      expect(stage()).to.equal(0);
      pollFor(550);
      expect(rig.ids()).to.deep.equal([]);
      pollFor(50);
      expect(rig.ids()).to.deep.equal(['adoption_forgotten']);
      expect(rig.caseOf('adoption_forgotten')?.facts).to.deep.equal({ model: 705, set: 2 });
    });

    it('is kept by the adoption of the set, and not by that of another one', () => {
      stage(1);
      adopt(2);
      pollFor(600);
      expect(rig.exercised('adoption_forgotten')).to.equal(1);
      expect(rig.ids()).to.not.include('adoption_forgotten');
      stage(1);
      stage(2);
      adopt(3);
      pollFor(600);
      expect(rig.caseOf('adoption_forgotten')?.facts).to.deep.equal({ model: 705, set: 2 });
    });

    it('leaves a function that is off, then or at the end, and an adoption by somebody else alone', () => {
      rig.device.set({ '705.Ena': 'DISABLED' }, byRest);
      stage();
      pollFor(700);
      rig.device.set({ '705.Ena': 'ENABLED' }, byRest);
      stage();
      rig.device.set({ '705.Ena': 'DISABLED' }, byRest);
      pollFor(700);
      rig.device.set({ '705.Ena': 'ENABLED' }, byRest);
      stage();
      rig.device.set({ '705.AdptCrvReq': 2 }, byRest);
      pollFor(700);
      expect(rig.ids()).to.deep.equal([]);
    });

    it('waits once for a set that is written again', () => {
      stage();
      stage();
      adopt(2);
      pollFor(600);
      expect(rig.findings.row(rig.peer(), 'modbus.adoption_forgotten')).to.include({ exercised: 1, undecided: 0 });
    });

    it('leaves an adoption alone that was refused, and no set after another refused write', () => {
      stage();
      expect(master.write('705.AdptCrvReq', 9)).to.equal(3);
      pollFor(700);
      expect(rig.ids()).to.deep.equal(['value_out_of_range']);
      stage();
      expect(master.write('704.WMaxLimPct', 1001)).to.equal(3);
      pollFor(600);
      expect(rig.ids()).to.deep.equal(['value_out_of_range', 'adoption_forgotten']);
      expect(rig.caseOf('adoption_forgotten')?.text).to.equal('wrote set 2 of model 705 and did not adopt it');
    });
  });
});
