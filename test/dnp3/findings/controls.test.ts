import { expect } from 'chai';
import type { ControlStatus } from '../../../src/dnp3/stack/outstation/types.ts';
import { class1, integrity, JudgeRig, latch, setPoint } from './rig.ts';

/** BO0 latched off, and AO0 with another width of its index. */
const unlatch = latch.replace('03 01', '04 01');
const narrow = '29 02 17 01 00 90 01 00';
const pair = ['operate_without_select', 'operate_differs', 'operate_sequence', 'operate_late', 'select_interrupted'];

describe('findings about DNP3 masters: SELECT and OPERATE', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  const selectAndOperate = (objects = latch) => {
    rig.next(`03 ${objects}`);
    rig.next(`04 ${objects}`);
  };

  it('hold for a SELECT with its OPERATE', () => {
    selectAndOperate();
    selectAndOperate(setPoint);
    expect(rig.rules()).to.deep.equal([]);
    expect(rig.rules('held')).to.include.members([...pair, 'select_abandoned', 'control_unknown', 'control_value']);
    expect(rig.peer.hasWritten).to.equal(true);
  });

  describe('operate_without_select', () => {
    it('finds an OPERATE with nothing before it, and one after an OPERATE of another output', () => {
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_without_select').cases[0]?.text).to.equal('sent OPERATE, and no SELECT before it');
      rig.pass(61_000);
      selectAndOperate();
      rig.next(`04 ${unlatch}`);
      expect(rig.row('operate_without_select').broken).to.equal(2);
      expect(rig.rules()).to.deep.equal(['operate_without_select']);
    });

    it('takes the same OPERATE for a retry, with its number or the next one', () => {
      selectAndOperate();
      rig.next(`04 ${latch}`, rig.seq);
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_without_select')).to.include({ broken: 0, undecided: 1 });
    });

    it('does not judge a SELECT that a restart, a broadcast or the connection has ended', () => {
      rig.next(`03 ${latch}`);
      rig.stack.outstation.restart();
      rig.next(`04 ${latch}`);
      rig.next(`03 ${unlatch}`);
      rig.ask('c9 07 14 00 06', 'broadcast-no-confirm');
      rig.next(`04 ${unlatch}`, 9);
      rig.next(`03 ${latch}`);
      rig.reconnect();
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_without_select')).to.include({ broken: 0, undecided: 3 });
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('operate_differs', () => {
    it('finds other octets', () => {
      rig.next(`03 ${latch}`);
      rig.next(`04 ${unlatch}`);
      expect(rig.rules()).to.deep.equal(['operate_differs']);
    });

    it('takes an index of another width for the same', () => {
      rig.next(`03 ${setPoint}`);
      rig.next(`04 ${narrow}`);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('operate_sequence', () => {
    it('finds a number that does not follow that of the SELECT', () => {
      rig.next(`03 ${latch}`, 3);
      rig.next(`04 ${latch}`, 5);
      expect(rig.row('operate_sequence').cases[0]?.facts).to.deep.equal({ sequence: 5, select: 3 });
      expect(rig.rules()).to.deep.equal(['operate_sequence']);
    });

    it('counts from 15 to 0, and a SELECT that is sent again once', () => {
      for (let n = 3; n < 15; n += 1) rig.next(class1);
      rig.next(`03 ${latch}`);
      rig.next(`03 ${latch}`, rig.seq);
      expect(rig.seq).to.equal(15);
      rig.next(`04 ${latch}`);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('operate_late', () => {
    it('finds an OPERATE more than 5 s after its SELECT', () => {
      rig.next(`03 ${latch}`);
      rig.pass(5001);
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_late').cases[0]?.facts).to.deep.equal({ took_ms: 5001, limit_ms: 5000 });
    });

    it('takes one after 5 s, and is excused by a stall of this process', () => {
      rig.next(`03 ${latch}`);
      rig.pass(5000);
      rig.next(`04 ${latch}`);
      expect(rig.state('operate_late')).to.equal('held');
      rig.findings.hasStalled = true;
      rig.next(`03 ${latch}`);
      rig.pass(6000);
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_late')).to.include({ broken: 0, excused: 1 });
    });
  });

  describe('select_interrupted', () => {
    it('finds a poll between the two', () => {
      rig.next(`03 ${latch}`);
      rig.next(class1);
      rig.next(`04 ${latch}`);
      expect(rig.rules()).to.deep.equal(['select_interrupted']);
    });

    it('takes a confirm between them, and a refused SELECT', () => {
      rig.next(`03 ${latch}`);
      rig.confirm(1);
      rig.next(`04 ${latch}`);
      rig.next(`03 ${latch.replace('00 00 00 03', '09 00 00 03')}`);
      rig.next(class1);
      rig.next(`04 ${latch}`);
      expect(rig.rules()).to.not.include('select_interrupted');
    });
  });

  describe('select_abandoned', () => {
    it('finds three accepted SELECTs in a row without an OPERATE', () => {
      for (let n = 0; n < 4; n += 1) {
        expect(rig.rules()).to.deep.equal([]);
        rig.next(`03 ${latch}`);
        rig.next(integrity);
      }
      expect(rig.rules()).to.deep.equal(['select_abandoned']);
    });

    it('counts anew after an OPERATE, and no SELECT that is refused', () => {
      for (let n = 0; n < 4; n += 1) {
        rig.next(`03 ${latch}`);
        rig.next(`03 ${latch}`);
        selectAndOperate();
      }
      let status: ControlStatus = 15;
      rig = new JudgeRig({ judge: () => status });
      for (let n = 0; n < 6; n += 1) rig.next(`03 ${latch}`);
      status = 0;
      selectAndOperate();
      expect(rig.rules()).to.deep.equal([]);
    });
  });
});

describe('findings about DNP3 masters: bounds of SELECT and OPERATE', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  it('a SELECT of a connection that was lost may be meant for 30 s', () => {
    for (const [waitMs, broken] of [
      [30_000, 0],
      [30_001, 1],
    ] as const) {
      rig.next(`03 ${latch}`);
      rig.pass(waitMs);
      rig.reconnect();
      rig.next(`04 ${latch}`);
      expect(rig.row('operate_without_select'), `${waitMs} ms`).to.include({ broken, undecided: 1 });
    }
  });

  it('the same OPERATE is a retry for 30 s', () => {
    rig.next(`03 ${latch}`);
    rig.next(`04 ${latch}`);
    rig.pass(30_000);
    rig.next(`04 ${latch}`);
    expect(rig.row('operate_without_select')).to.include({ broken: 0, undecided: 1 });
    rig.pass(30_001);
    rig.next(`04 ${latch}`);
    expect(rig.row('operate_without_select')).to.include({ broken: 1, undecided: 1 });
    expect(rig.row('select_abandoned').exercised).to.equal(1);
  });

  it('two polls between SELECT and OPERATE are an interruption as one is', () => {
    rig.next(`03 ${latch}`);
    rig.next(class1);
    rig.next(class1);
    rig.next(`04 ${latch}`);
    expect(rig.rules()).to.deep.equal(['select_interrupted']);
  });

  it('nothing is asked of an OPERATE whose SELECT was refused', () => {
    rig = new JudgeRig({ judge: () => 7 });
    rig.settle();
    rig.next(`03 ${latch}`);
    rig.next(`04 ${unlatch}`);
    expect(rig.rules()).to.deep.equal([]);
    expect(rig.row('select_abandoned').exercised).to.equal(0);
  });

  it('a late OPERATE is told in seconds', () => {
    rig.next(`03 ${latch}`);
    rig.pass(7240);
    rig.next(`04 ${latch}`);
    expect(rig.row('operate_late').cases[0]?.text).to.equal('sent OPERATE 7.2 s after its SELECT');
  });
});

describe('findings about DNP3 masters: objects of controls', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  const analog = (value: number, index = 0) => {
    const octets = Buffer.alloc(4);
    octets.writeInt32LE(value);
    return `29 01 28 01 00 0${index} 00 ${octets.toString('hex')} 00`;
  };

  describe('control_unknown', () => {
    it('finds an output that the point map does not have, each by itself', () => {
      rig.next(`05 ${analog(1, 2)}`);
      rig.next(`05 ${analog(1, 3)}`);
      expect(rig.row('control_unknown').cases.map(({ facts }) => facts)).to.deep.equal([
        { point: 'AO2' },
        { point: 'AO3' },
      ]);
    });

    it('names a binary output, and judges no object but those of controls', () => {
      rig.next(`05 ${latch.replace('01 00 00 00', '01 00 03 00')}`);
      expect(rig.row('control_unknown').cases[0]?.facts).to.deep.equal({ point: 'BO3' });
      rig.next('05 32 01 07 01 00 68 e5 cf 8b 01');
      expect(rig.state('control_status')).to.equal('held');
    });

    it('takes an output of the map that the device lacks', () => {
      rig = new JudgeRig({ facts: { rangeOf: () => ({ min: 0, max: 1 }) } });
      rig.next(`05 ${analog(1, 2)}`);
      expect(rig.state('control_unknown')).to.equal('held');
    });
  });

  describe('control_value', () => {
    it('finds values outside of the range of the map, and those that are no number', () => {
      rig.next(`05 ${analog(1001)}`);
      expect(rig.row('control_value').cases[0]?.text).to.equal('sent 1001 to AO0, whose range is 0 to 1000');
      rig.pass(60_000);
      rig.next('05 29 03 28 01 00 00 00 00 00 c0 7f 00');
      expect(rig.row('control_value').cases[1]?.text).to.equal('sent NaN to AO0, whose range is 0 to 1000');
    });

    it('finds a value below the range', () => {
      rig.next(`05 ${analog(-1)}`);
      expect(rig.row('control_value').cases[0]?.text).to.equal('sent -1 to AO0, whose range is 0 to 1000');
    });

    it('takes the ends of the range, and a value that this device alone refuses', () => {
      rig = new JudgeRig({ judge: () => 12 });
      rig.next(`05 ${analog(0)}`);
      rig.next(`05 ${analog(1000)}`);
      expect(rig.row('control_value')).to.include({ state: 'held', exercised: 2 });
    });
  });

  describe('control_code', () => {
    const code = (text: string) => latch.replace('03 01', `${text} 01`);

    it('finds a reserved operation, and trip with close', () => {
      rig.next(`05 ${code('05')}`);
      rig.next(`05 ${code('c1')}`);
      expect(rig.row('control_code')).to.include({ broken: 1, repeats: 1 });
      expect(rig.row('control_code').cases[0]?.facts).to.deep.equal({ code: 5 });
    });

    it('takes every defined code, with the queue and clear bits too', () => {
      for (const text of ['00', '01', '02', '03', '04', '41', '81', '33', '10']) rig.next(`05 ${code(text)}`);
      expect(rig.row('control_code')).to.include({ state: 'held', exercised: 9 });
    });
  });

  describe('control_status', () => {
    it('finds a status in a request', () => {
      rig.next(`05 ${latch.replace(/00$/, '04')}`);
      expect(rig.row('control_status').cases[0]?.text).to.equal('sent a control of BO0 with the status 4');
    });

    it('holds for the status 0, whatever the answer says', () => {
      rig = new JudgeRig({ judge: () => 4 });
      rig.next(`05 ${latch}`);
      expect(rig.state('control_status')).to.equal('held');
    });
  });

  describe('control_unacknowledged', () => {
    it('finds a set-point with DIRECT_OPERATE_NR', () => {
      rig.next(`06 ${setPoint}`);
      expect(rig.rules()).to.deep.equal(['control_unacknowledged']);
      expect(rig.row('control_unacknowledged').cases[0]?.text).to.equal(
        'sent a set-point of AO0 with DIRECT_OPERATE_NR',
      );
    });

    it('holds for one with an answer', () => {
      rig.next(`05 ${setPoint}`);
      expect(rig.state('control_unacknowledged')).to.equal('held');
    });

    it('takes a broadcast, a SELECT, and a switch', () => {
      rig.next(`03 ${setPoint}`);
      rig.ask(`c0 06 ${setPoint}`, 'broadcast-no-confirm');
      rig.next(`06 ${latch}`);
      expect(rig.rules()).to.deep.equal([]);
      expect(rig.state('control_unacknowledged')).to.equal('not_exercised');
    });
  });

  describe('refused_repeated', () => {
    let status: ControlStatus;

    beforeEach(() => {
      status = 4;
      rig = new JudgeRig({ judge: () => status });
    });

    it('finds the fourth refusal of one value', () => {
      for (let n = 0; n < 3; n += 1) rig.next(`05 ${setPoint}`);
      expect(rig.state('refused_repeated')).to.equal('held');
      rig.next(`05 ${setPoint}`);
      expect(rig.row('refused_repeated').cases[0]?.text).to.equal('sent 400 to AO0 3 times more after status 4');
    });

    it('takes other values, refusals that pass, long pauses, and a success between', () => {
      for (const value of [1, 2, 3, 4, 5]) rig.next(`05 ${analog(value)}`);
      for (let n = 0; n < 6; n += 1) {
        rig.next(`05 ${setPoint}`);
        rig.pass(601_000);
      }
      for (let n = 0; n < 6; n += 1) {
        status = n % 3 === 2 ? 0 : 4;
        rig.next(`05 ${setPoint}`);
      }
      status = 15;
      for (let n = 0; n < 6; n += 1) rig.next(`05 ${setPoint}`);
      expect(rig.row('refused_repeated').broken).to.equal(0);
    });
  });

  describe('refused_repeated, point by point', () => {
    let status: ControlStatus;

    beforeEach(() => {
      status = 4;
      rig = new JudgeRig({ judge: () => status });
    });

    const refuse = (times: number, index: number) => {
      for (let n = 0; n < times; n += 1) rig.next(`05 ${analog(1, index)}`);
    };
    const analog = (value: number, index: number) =>
      `29 01 28 01 00 ${index.toString(16).padStart(2, '0')} 00 0${value} 00 00 00 00`;

    it('finds a switch, whose other position is another value, and counts one occasion', () => {
      for (let n = 0; n < 8; n += 1) rig.next(`05 ${n % 2 === 0 ? latch : unlatch}`);
      expect(rig.row('refused_repeated').broken).to.equal(0);
      for (let n = 0; n < 3; n += 1) rig.next(`05 ${unlatch}`);
      expect(rig.row('refused_repeated')).to.include({ broken: 1, exercised: 9 });
      expect(rig.row('refused_repeated').cases[0]?.text).to.equal('sent 0 to BO0 3 times more after status 4');
    });

    it('takes another status for another refusal, and one 10 min ago for the same', () => {
      for (let n = 0; n < 8; n += 1) {
        status = n % 2 === 0 ? 4 : 3;
        rig.next(`05 ${setPoint}`);
      }
      expect(rig.row('refused_repeated').broken).to.equal(0);
      for (let n = 0; n < 3; n += 1) {
        rig.pass(600_000);
        rig.next(`05 ${setPoint}`);
      }
      expect(rig.row('refused_repeated').broken).to.equal(1);
    });

    it('follows 16 points, and forgets them all for the next one', () => {
      for (let index = 0; index < 16; index += 1) refuse(1, index);
      refuse(3, 0);
      refuse(3, 1);
      expect(rig.row('refused_repeated').broken).to.equal(2);
      refuse(1, 0);
      refuse(1, 1);
      refuse(1, 16);
      refuse(3, 2);
      expect(rig.row('refused_repeated').broken).to.equal(2);
      refuse(1, 2);
      expect(rig.row('refused_repeated').broken).to.equal(3);
    });
  });

  describe('local_ignored', () => {
    let status: ControlStatus;

    beforeEach(() => {
      status = 7;
      rig = new JudgeRig({ judge: () => status });
      rig.next(`05 ${setPoint}`);
    });

    it('finds three controls more after the first minute', () => {
      rig.pass(61_000);
      for (let n = 0; n < 3; n += 1) rig.next(`05 ${setPoint}`);
      expect(rig.state('local_ignored')).to.equal('broken');
    });

    it('begins after just a minute, and tells since when', () => {
      rig.pass(60_000);
      for (let n = 0; n < 3; n += 1) rig.next(`05 ${setPoint}`);
      rig.pass(1000);
      for (let n = 0; n < 2; n += 1) rig.next(`05 ${setPoint}`);
      expect(rig.row('local_ignored').broken).to.equal(0);
      rig.next(`05 ${setPoint}`);
      const [one] = rig.row('local_ignored').cases;
      expect(one?.text).to.equal('sent 3 controls more, 61 s after the first refusal for local control');
      expect(one!.wallMs - one!.sinceMs!).to.equal(61_000);
    });

    it('takes refusals of the first minute, and begins anew after a success', () => {
      for (let n = 0; n < 5; n += 1) rig.next(`05 ${setPoint}`);
      rig.pass(61_000);
      status = 0;
      rig.next(`05 ${setPoint}`);
      status = 7;
      for (let n = 0; n < 3; n += 1) rig.next(`05 ${setPoint}`);
      expect(rig.state('local_ignored')).to.equal('held');
    });
  });
});
