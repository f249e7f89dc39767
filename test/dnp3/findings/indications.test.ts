import { expect } from 'chai';
import { spec } from '../rig/stack.ts';
import { clearRestart, class0, class1, integrity, JudgeRig } from './rig.ts';

describe('findings about DNP3 masters: indications', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
  });

  const poll = (times: number, everyMs: number) => {
    for (let n = 0; n < times; n += 1) {
      rig.pass(everyMs);
      rig.next(class1);
    }
  };

  describe('restart_uncleared', () => {
    it('finds a master that leaves DEVICE_RESTART for 30 s, with the message and the time', () => {
      rig.next(integrity);
      poll(2, 14_900);
      expect(rig.state('restart_uncleared')).to.equal('not_exercised');
      poll(1, 200);
      const { cases, deviceIndexes } = rig.row('restart_uncleared');
      expect(cases.map(({ text }) => text)).to.deep.equal([
        '4 responses in 30 s had IIN1.7 DEVICE_RESTART, and no write of g80v1 cleared it',
      ]);
      expect(cases[0]?.message).to.deep.equal({ channel: 'dnp3', id: 7 });
      expect(cases[0]!.wallMs - cases[0]!.sinceMs!).to.equal(30_000);
      expect(deviceIndexes).to.deep.equal([0]);
    });

    it('holds where the bit is cleared', () => {
      rig.next(integrity);
      rig.next(clearRestart);
      poll(5, 20_000);
      expect(rig.state('restart_uncleared')).to.equal('held');
    });

    it('takes two responses, a refused attempt, and another connection for no proof', () => {
      rig.next(integrity);
      poll(1, 40_000);
      rig.next('02 50 01 00 06 07 00');
      poll(2, 14_000);
      rig.reconnect();
      poll(2, 14_000);
      expect(rig.rules()).to.not.include('restart_uncleared');
    });

    it('counts the fragments of one response once, and not the answers to a repeated request', () => {
      const specs = Array.from({ length: 2000 }, (_, index) => spec('analogInput', index));
      rig = new JudgeRig({ specs });
      rig.next(class0);
      for (let seq = 0; seq < 4; seq += 1) {
        rig.pass(4500);
        rig.confirm(seq);
      }
      rig.pass(20_000);
      for (let n = 0; n < 3; n += 1) {
        rig.next(class1, 6);
        rig.pass(10_000);
      }
      expect(rig.rules()).to.deep.equal([]);
    });

    it('is excused by a stall of this process', () => {
      rig.settle();
      rig.stack.disturbance.iin = 0x80;
      rig.findings.hasStalled = true;
      poll(4, 20_000);
      expect(rig.row('restart_uncleared')).to.include({ broken: 0, excused: 1 });
    });
  });

  describe('no_integrity', () => {
    it('finds a master that reads no static data within 60 s of a restart', () => {
      rig.next(class1);
      poll(3, 19_900);
      expect(rig.state('no_integrity')).to.equal('not_exercised');
      poll(1, 300);
      const [one] = rig.row('no_integrity').cases;
      expect(one?.text).to.equal('sent 4 requests in the 60 s after it was told of a restart, and read no static data');
      expect(one!.wallMs - one!.sinceMs!).to.equal(60_000);
    });

    it('takes silence, a repeated request, and the second turn of a slow master for no neglect', () => {
      rig.next(class1);
      rig.pass(500_000);
      rig.next(clearRestart);
      rig.next(clearRestart, rig.seq);
      rig.pass(100_000);
      rig.next(class1);
      rig.next(integrity);
      expect(rig.row('no_integrity')).to.include({ state: 'held', broken: 0 });
    });

    it('holds where the first request of all is the poll, or one follows, by class or by type', () => {
      rig.next(integrity);
      expect(rig.state('no_integrity')).to.equal('held');
      rig.stack.outstation.restart();
      rig.next(class1);
      rig.pass(50_000);
      rig.next('01 01 00 06');
      rig.pass(60_000);
      expect(rig.row('no_integrity')).to.include({ state: 'held', exercised: 2 });
    });

    it('asks for none on a new connection without a restart, and is undecided where the connection ends', () => {
      rig.settle();
      rig.reconnect();
      rig.next(class1);
      rig.pass(70_000);
      expect(rig.row('no_integrity')).to.include({ state: 'held', exercised: 1, undecided: 0 });
      rig.stack.outstation.restart();
      rig.next(class1);
      rig.reconnect();
      rig.pass(70_000);
      expect(rig.row('no_integrity')).to.include({ broken: 0, undecided: 1 });
    });
  });

  describe('overflow_ignored', () => {
    const overflow = (on: boolean) => {
      rig.stack.disturbance.iin = on ? 0x0800 : 0;
    };

    it('finds a master that reads no static data after an overflow', () => {
      rig.settle();
      overflow(true);
      rig.next(class1);
      poll(2, 30_000);
      expect(rig.state('overflow_ignored')).to.equal('not_exercised');
      poll(1, 30_000);
      expect(rig.row('overflow_ignored').cases[0]?.text).to.contain('after it was told of lost events');
    });

    it('holds after an integrity poll, and asks for one only while the bit stays', () => {
      rig.settle();
      overflow(true);
      rig.next(class1);
      rig.next(class0);
      poll(5, 20_000);
      expect(rig.row('overflow_ignored')).to.include({ state: 'held', exercised: 1 });
    });

    it('asks anew after an overflow that comes again', () => {
      rig.settle();
      overflow(true);
      rig.next(integrity);
      rig.next(class1);
      overflow(false);
      rig.next(class0);
      overflow(true);
      rig.next(class1);
      poll(3, 20_000);
      expect(rig.state('overflow_ignored')).to.equal('broken');
    });

    it('asks for none after a restart, which empties the buffers', () => {
      rig.settle();
      overflow(true);
      rig.next(class1);
      overflow(false);
      rig.stack.outstation.restart();
      poll(4, 20_000);
      expect(rig.row('overflow_ignored')).to.include({ broken: 0, undecided: 1 });
    });
  });

  describe('restart_cleared_blind', () => {
    it('finds a write that no response asked for', () => {
      rig.settle();
      rig.pass(31_000);
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind').cases[0]?.excerpt).to.match(/^c3025001/);
    });

    it('holds where a response had the bit, also one that crossed the write', () => {
      rig.settle();
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind')).to.include({ state: 'held', exercised: 2 });
    });

    it('holds where the last response had the bit, however long ago', () => {
      rig.next(integrity);
      rig.pass(120_000);
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind')).to.include({ state: 'held', broken: 0 });
    });

    it('does not judge the first request of a connection', () => {
      rig.settle();
      rig.pass(31_000);
      rig.reconnect();
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind').broken).to.equal(0);
    });
  });

  describe('no_time_sync', () => {
    it('finds a master that leaves NEED_TIME for 60 s', () => {
      rig.next(integrity);
      rig.next(clearRestart);
      poll(5, 11_000);
      expect(rig.rules()).to.not.include('no_time_sync');
      poll(1, 11_000);
      expect(rig.row('no_time_sync').cases[0]?.text).to.contain('IIN1.4 NEED_TIME, and no time was written');
    });

    it('holds where the time is written', () => {
      rig.settle();
      poll(8, 10_000);
      expect(rig.state('no_time_sync')).to.equal('held');
      expect(rig.rules()).to.deep.equal([]);
    });

    it('takes an attempt that is refused for no neglect', () => {
      rig.next(integrity);
      poll(2, 25_000);
      // g50v3 without RECORD_CURRENT_TIME
      rig.writeTime(0, 3);
      poll(2, 25_000);
      expect(rig.rules()).to.not.include('no_time_sync');
    });
  });

  describe('time_wrong', () => {
    it('finds a time that is an hour ahead, and says that local time would be', () => {
      rig.next(integrity);
      rig.writeTime(3_600_000);
      const [one] = rig.row('time_wrong').cases;
      expect(one?.text).to.equal('wrote a time 3600 s ahead of the clock of this machine, as local time would be');
      expect(one?.facts).to.deep.equal({ offset_s: 3600, variation: 1 });
    });

    it('does not call a time that no zone has local time', () => {
      rig.writeTime(-15 * 3_600_000);
      expect(rig.row('time_wrong').cases[0]?.text).to.equal('wrote a time 54000 s behind the clock of this machine');
    });

    it('holds within a minute, and counts g50v3 from RECORD_CURRENT_TIME', () => {
      rig.writeTime(-60_000);
      rig.next('18');
      const { wall } = rig.findings;
      const recordedMs = wall.nowMs();
      rig.pass(300_000);
      rig.writeTime(recordedMs - wall.nowMs(), 3);
      expect(rig.row('time_wrong')).to.include({ state: 'held', exercised: 2 });
      rig.writeTime(-61_000);
      expect(rig.row('time_wrong').cases[0]?.text).to.equal('wrote a time 61 s behind the clock of this machine');
    });

    it('judges no time that runs on the simulated clock', () => {
      rig = new JudgeRig({ facts: { isWallTime: false } });
      rig.writeTime(3_600_000);
      expect(rig.state('time_wrong')).to.equal('not_observable');
    });
  });

  describe('time_often', () => {
    const write = (times: number, everyMs: number) => {
      for (let n = 0; n < times; n += 1) {
        rig.pass(everyMs);
        rig.writeTime();
      }
    };

    it('finds ten writes in 10 min that nothing asked for', () => {
      rig.settle();
      write(9, 60_000);
      expect(rig.rules()).to.deep.equal([]);
      write(1, 60_000);
      expect(rig.row('time_often').cases[0]?.text).to.equal('wrote the time 10 times in 540 s unasked');
    });

    it('holds at one write in 2 min, and where NEED_TIME asks', () => {
      rig.settle();
      write(15, 120_000);
      rig.stack.disturbance.iin = 0x10;
      rig.next(class1);
      write(15, 5000);
      expect(rig.state('time_often')).to.equal('held');
    });
  });

  describe('bounds', () => {
    const readRestart = '01 50 01 00 07 07';
    const broadcast = (objects: string) => rig.ask(`c9 ${objects}`, 'broadcast-no-confirm');

    it('three responses in just 30 s are a case, whatever else is read or written', () => {
      rig.next(integrity);
      rig.pass(15_000);
      rig.next(readRestart);
      rig.pass(15_000);
      rig.writeTime();
      expect(rig.row('restart_uncleared').cases[0]?.text).to.contain('3 responses in 30 s');
    });

    it('only an accepted write that was needed is an occasion', () => {
      rig.next(integrity);
      rig.next('02 50 01 00 06 07 00');
      rig.writeTime(0, 3);
      expect(rig.state('restart_uncleared')).to.equal('not_exercised');
      expect(rig.state('no_time_sync')).to.equal('not_exercised');
      rig.settle();
      rig.next(clearRestart);
      rig.writeTime();
      expect(rig.row('restart_uncleared').exercised).to.equal(1);
      expect(rig.row('no_time_sync').exercised).to.equal(1);
    });

    it('an hour and the tolerance, and 14 hours, are local time; more is not', () => {
      const texts: string[] = [];
      for (const offsetMs of [3_660_000, 3_660_001, -14 * 3_600_000, -14.25 * 3_600_000]) {
        rig = new JudgeRig();
        rig.writeTime(offsetMs);
        texts.push(rig.row('time_wrong').cases[0]?.text ?? '');
      }
      expect(texts.map((text) => text.endsWith('as local time would be'))).to.deep.equal([true, false, true, false]);
    });

    it('a write is blind after 30 s of responses without the bit; a read and a broadcast are no such write', () => {
      rig.settle();
      rig.pass(30_000);
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind')).to.include({ broken: 0, exercised: 2 });
      poll(2, 500);
      rig.next(readRestart);
      broadcast(clearRestart);
      expect(rig.row('restart_cleared_blind')).to.include({ broken: 0, exercised: 2 });
      rig.next(clearRestart);
      rig.next(clearRestart, rig.seq);
      expect(rig.row('restart_cleared_blind')).to.include({ broken: 1, repeats: 0 });
    });

    it('an unsolicited response is not the last response to a request', () => {
      rig.settle();
      rig.sent('f0 82 80 00');
      rig.pass(30_001);
      rig.next(clearRestart);
      expect(rig.row('restart_cleared_blind').broken).to.equal(1);
    });

    it('an integrity poll is due after a restart that was shown, and not by broadcasts', () => {
      rig.next(clearRestart);
      poll(5, 20_000);
      expect(rig.state('no_integrity')).to.equal('not_exercised');
      rig.stack.outstation.restart();
      rig.next(class1);
      for (let n = 0; n < 5; n += 1) {
        rig.pass(20_000);
        broadcast('07 14 00 06');
      }
      expect(rig.row('no_integrity').broken).to.equal(0);
      poll(3, 100);
      expect(rig.row('no_integrity').broken).to.equal(1);
    });

    it('ten of the last time writes within just 10 min are a case, which ends their count', () => {
      const write = (times: number, everyMs: number) => {
        for (let n = 0; n < times; n += 1) {
          rig.pass(everyMs);
          rig.writeTime();
        }
      };
      rig.settle();
      rig.reconnect();
      // no response of the connection has told what it needs
      write(5, 300_000);
      expect(rig.row('time_often').broken).to.equal(0);
      write(1, 300_000);
      write(8, 60_000);
      expect(rig.row('time_often').broken).to.equal(0);
      write(1, 120_000);
      expect(rig.row('time_often').broken).to.equal(1);
      write(9, 1000);
      expect(rig.row('time_often')).to.include({ broken: 1, repeats: 0 });
      rig.reconnect();
      write(10, 1000);
      expect(rig.row('time_often')).to.include({ broken: 1, repeats: 0 });
    });
  });
});
