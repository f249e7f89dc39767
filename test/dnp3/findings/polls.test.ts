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

  describe('bounds', () => {
    const broadcast = (times: number, objects: string) => {
      for (let n = 0; n < times; n += 1) rig.ask(`c9 ${objects}`, 'broadcast-no-confirm');
    };
    const unsolicited = () => {
      rig = new JudgeRig({ unsolicited: true });
      rig.next(class0);
      rig.next(clearRestart);
      rig.writeTime();
    };
    const nullResponse = 'f0 82 00 00';
    const confirmed = (uns: boolean) => {
      rig.observer.confirmed({ seq: 0, uns, fir: true, fin: true, con: false });
    };

    it('polls of class 0 count from the end of the first minute on, also after a restart', () => {
      rig.next(integrity);
      repeat(8, 5_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
      repeat(1, 5_000, integrity);
      expect(rig.row('integrity_often').broken).to.equal(1);
      rig = new JudgeRig();
      rig.settle();
      repeat(20, 2_000, integrity);
      expect(rig.rules()).to.deep.equal([]);
      rig.stack.outstation.restart();
      rig.settle();
      rig.pass(60_000);
      rig.next(integrity);
      repeat(9, 5_000, integrity);
      expect(rig.rules()).to.deep.equal(['integrity_often']);
    });

    it('polls of class 0 count with static reads between them; repetitions and broadcasts do not count', () => {
      rig.next(integrity);
      for (let n = 0; n < 12; n += 1) rig.next(integrity, rig.seq);
      broadcast(12, integrity);
      expect(rig.rules()).to.deep.equal([]);
      for (let n = 0; n < 9; n += 1) {
        repeat(1, 5_000, '01 01 00 06');
        repeat(1, 5_000, integrity);
      }
      expect(rig.rules()).to.include('integrity_often');
    });

    it('events that are announced are an occasion once they are read, and a case has their time', () => {
      rig.stack.disturbance.iin = 0x02;
      rig.next('17');
      rig.next(class1);
      expect(rig.row('events_unpolled').exercised).to.equal(1);
      repeat(20, 30_000, '17');
      const [one] = rig.row('events_unpolled').cases;
      expect(one!.wallMs - one!.sinceMs!).to.equal(600_000);
    });

    it('events of a class that was disabled again have to be polled', () => {
      unsolicited();
      rig.pass(500);
      rig.confirm(0, true);
      rig.next(enable);
      rig.next('15 3c 03 06');
      rig.stack.disturbance.iin = 0x06;
      repeat(21, 30_000, '17');
      expect(rig.row('events_unpolled').cases.map(({ facts }) => facts)).to.deep.equal([{ class: 2 }]);
    });

    it('DISABLE is no use of unsolicited responses, and a restart or the end of the connection ends the wait', () => {
      const wait = () => {
        unsolicited();
        rig.sent(nullResponse);
        confirmed(true);
        rig.pass(300_000);
      };
      wait();
      rig.next(disable);
      rig.pass(300_000);
      expect(rig.row('unsolicited_unused').broken).to.equal(1);
      wait();
      rig.stack.outstation.restart();
      expect(rig.row('unsolicited_unused').undecided).to.equal(1);
      rig.pass(300_000);
      expect(rig.row('unsolicited_unused').broken).to.equal(0);
      wait();
      rig.reconnect();
      expect(rig.row('unsolicited_unused').undecided).to.equal(1);
    });

    it('only the confirm of a response without objects begins the wait, once', () => {
      unsolicited();
      rig.sent(nullResponse);
      confirmed(false);
      rig.sent('f0 82 00 00 02 01 28');
      confirmed(true);
      expect(rig.state('unsolicited_unused')).to.equal('not_exercised');
      rig.next(enable);
      for (let n = 0; n < 2; n += 1) {
        rig.sent(nullResponse);
        confirmed(true);
        confirmed(true);
      }
      expect(rig.row('unsolicited_unused')).to.include({ state: 'held', exercised: 2 });
    });

    it('six changes within just 10 min are a case, whatever came before, and count anew after it', () => {
      unsolicited();
      for (const objects of [disable, enable, disable, enable, disable]) repeat(1, 700_000, objects);
      for (const objects of [enable, disable, enable, disable, enable]) repeat(1, 120_000, objects);
      expect(rig.row('unsolicited_toggled')).to.include({ broken: 1, repeats: 0 });
      for (const objects of [disable, enable, disable, enable, disable]) repeat(1, 1000, objects);
      expect(rig.row('unsolicited_toggled')).to.include({ broken: 1, repeats: 0 });
    });

    it('the first refusal of ENABLE is the occasion; a wrong object is none', () => {
      repeat(3, 1000, enable);
      expect(rig.row('refused_enable_repeated').exercised).to.equal(1);
      unsolicited();
      repeat(6, 1000, '14 01 02 06');
      expect(rig.state('refused_enable_repeated')).to.equal('not_exercised');
    });
  });
});
