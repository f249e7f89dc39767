import { expect } from 'chai';
import { class0, class1, clearRestart, integrity, JudgeRig } from './rig.ts';

const enable = '14 3c 02 06 3c 03 06 3c 04 06';
const disable = '15 3c 02 06 3c 03 06 3c 04 06';

describe('findings about DNP3 masters: polls', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
    rig.pass(60_000);
  });

  /** Requests, each after a pause. */
  const repeat = (times: number, everyMs: number, objects: string) => {
    for (let n = 0; n < times; n += 1) {
      rig.pass(everyMs);
      rig.next(objects);
    }
  };

  describe('integrity_often', () => {
    it('finds ten polls of class 0 in a row', () => {
      repeat(9, 30_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
      repeat(1, 30_000, integrity);
      expect(rig.row('integrity_often').cases[0]?.facts).to.deep.equal({ polls: 10, points: 200 });
    });

    it('holds where events are polled alone between them, or polls are a minute apart', () => {
      for (let n = 0; n < 30; n += 1) repeat(1, 10_000, n % 8 === 7 ? class1 : integrity);
      repeat(20, 60_000, integrity);
      expect(rig.state('integrity_often')).to.equal('held');
    });

    it('takes the first minute, a restart, an overflow, enabled classes and few points for a reason', () => {
      rig.stack.disturbance.iin = 0x0800;
      repeat(20, 10_000, integrity);
      rig.stack.disturbance.iin = 0;
      rig.stack.outstation.restart();
      rig.next(integrity);
      rig.next(clearRestart);
      rig.writeTime();
      repeat(11, 5_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
      rig = new JudgeRig({ facts: { staticPoints: () => 199 } });
      rig.settle();
      repeat(20, 10_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
      rig = new JudgeRig({ unsolicited: true });
      rig.settle();
      rig.pass(500);
      rig.confirm(0, true);
      rig.next(enable);
      repeat(20, 10_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('events_unpolled', () => {
    it('finds a class whose events wait for 10 min', () => {
      rig.event(1);
      repeat(20, 30_000, class1);
      expect(rig.rules()).to.deep.equal([]);
      repeat(1, 30_000, class1);
      expect(rig.row('events_unpolled').cases[0]).to.deep.include({
        text: 'read no events of class 2 in 600 s, though each response announced some',
        facts: { class: 2 },
      });
    });

    for (const [name, request] of [
      ['the class is polled', '01 3c 02 06 3c 03 06 3c 04 07 01'],
      ['events are polled by their type', '01 02 00 06'],
    ] as const)
      it(`holds where ${name}`, () => {
        for (let n = 0; n < 30; n += 1) {
          rig.event(n % 3);
          repeat(1, 30_000, class0);
          if (n % 6 === 5) repeat(1, 1000, request);
        }
        expect(rig.state('events_unpolled')).to.equal('held');
      });

    it('holds where each poll takes the events before a response announces them', () => {
      repeat(1, 30_000, class1);
      expect(rig.state('events_unpolled')).to.equal('not_exercised');
      rig.event();
      repeat(1, 30_000, class1);
      expect(rig.state('events_unpolled')).to.equal('held');
    });

    it('takes enabled unsolicited responses for a reason', () => {
      rig = new JudgeRig({ unsolicited: true });
      rig.settle();
      rig.pass(500);
      rig.confirm(0, true);
      rig.next(enable);
      rig.stack.disturbance.iin = 0x0e;
      repeat(30, 30_000, '17');
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('unsolicited_unused', () => {
    const listen = () => {
      rig = new JudgeRig({ unsolicited: true });
      rig.next(class0);
      rig.pass(500);
      rig.next(clearRestart);
      rig.writeTime();
      rig.pass(500);
      rig.confirm(0, true);
      rig.pass(599_000);
    };

    it('finds a master that neither enables nor polls within 10 min', () => {
      listen();
      expect(rig.state('unsolicited_unused')).to.equal('undecided');
      rig.pass(1000);
      expect(rig.rules()).to.deep.equal(['unsolicited_unused']);
    });

    for (const [name, request] of [
      ['enables a class', enable],
      ['polls for events', class1],
    ] as const)
      it(`holds where it ${name}`, () => {
        listen();
        rig.next(request);
        rig.pass(10_000);
        expect(rig.state('unsolicited_unused')).to.equal('held');
      });

    it('takes polls before the first unsolicited response, and is undecided where the connection ends', () => {
      rig = new JudgeRig({ unsolicited: true });
      rig.settle();
      rig.pass(500);
      rig.confirm(0, true);
      expect(rig.state('unsolicited_unused')).to.equal('held');
      listen();
      rig.reconnect();
      rig.pass(10_000);
      expect(rig.row('unsolicited_unused')).to.include({ broken: 0, undecided: 1 });
    });
  });

  describe('unsolicited_toggled', () => {
    const toggle = (times: number, everyMs: number) => {
      rig = new JudgeRig({ unsolicited: true });
      rig.settle();
      rig.pass(500);
      rig.confirm(0, true);
      for (let n = 0; n < times; n += 1) repeat(1, everyMs, n % 2 === 0 ? disable : enable);
    };

    it('finds six changes in 10 min', () => {
      toggle(6, 20_000);
      expect(rig.rules()).to.deep.equal([]);
      toggle(7, 20_000);
      expect(rig.row('unsolicited_toggled').cases[0]?.text).to.contain('6 times in 100 s');
    });

    it('holds for each once, classes one by one, and changes that are slow or follow a restart', () => {
      toggle(2, 100);
      for (const header of ['3c 02 06', '3c 03 06', '3c 04 06']) repeat(3, 100, `14 ${header}`);
      expect(rig.state('unsolicited_toggled')).to.equal('held');
      toggle(14, 121_000);
      expect(rig.rules()).to.not.include('unsolicited_toggled');
      toggle(2, 100);
      for (let n = 0; n < 8; n += 1) {
        rig.stack.outstation.restart();
        rig.next(disable);
        rig.next(enable);
      }
      expect(rig.rules()).to.not.include('unsolicited_toggled');
    });
  });

  describe('refused_enable_repeated', () => {
    it('finds the fourth refusal of one function', () => {
      repeat(3, 1000, enable);
      expect(rig.rules()).to.deep.equal([]);
      repeat(1, 1000, enable);
      expect(rig.row('refused_enable_repeated').cases[0]?.text).to.equal(
        'sent ENABLE_UNSOLICITED 3 times more after its refusal',
      );
    });

    it('holds for each once per connection', () => {
      for (let n = 0; n < 6; n += 1) {
        rig.next(disable);
        rig.next(enable);
        rig.reconnect();
      }
      expect(rig.state('refused_enable_repeated')).to.equal('held');
    });
  });
});
