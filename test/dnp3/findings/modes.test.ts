import { expect } from 'chai';
import type { SetpointChange } from '../../../src/core/findings/setpoints.ts';
import { spec } from '../rig/stack.ts';
import { class1, JudgeRig } from './rig.ts';
import type { JudgeRigOptions } from './rig.ts';

const outputs = [
  spec('analogOutput', 85, { class: 0 }),
  spec('analogOutput', 88, { class: 0 }),
  spec('binaryOutput', 17, { class: 0 }),
];
const octets = (value: number) => {
  const hex = value.toString(16).padStart(4, '0');
  return `${hex.slice(2)} ${hex.slice(0, 2)}`;
};

describe('findings about DNP3 masters: set-points of modes', () => {
  let rig: JudgeRig;
  let state: { limit: number; isOn: boolean; reversionS: number };
  let status: 0 | 15;
  let tell: (enable: number, how: SetpointChange) => void;

  const open = (facts: JudgeRigOptions['facts'] = {}) => {
    state = { limit: 1000, isOn: false, reversionS: 0 };
    status = 0;
    rig = new JudgeRig({
      specs: outputs,
      judge: () => status,
      facts: {
        outputOf: (kind, index) =>
          kind === 'binary'
            ? Number(index === 17 && state.isOn)
            : index === 88
              ? state.limit
              : index === 85
                ? state.reversionS
                : undefined,
        rangeOf: () => ({ min: 0, max: 1000 }),
        onModeChange: (listener) => {
          tell = listener;
        },
        ...facts,
      },
    });
    rig.settle();
  };

  beforeEach(() => {
    open();
  });

  /** Writes AO88. @param code function, `05` for DIRECT_OPERATE */
  const limit = (value: number, code = '05') => {
    if (status === 0 && code === '05') state.limit = value;
    rig.next(`${code} 29 02 28 01 00 58 00 ${octets(value)} 00`);
  };
  const enable = (isOn: boolean) => {
    if (status === 0) state.isOn = isOn;
    rig.next(`05 0c 01 28 01 00 11 00 0${isOn ? 3 : 4} 01 00 00 00 00 00 00 00 00 00`);
  };
  const reversion = (seconds: number) => {
    state.reversionS = seconds;
    rig.next(`05 29 02 28 01 00 55 00 ${octets(seconds)} 00`);
  };
  /** Lets time pass while the master polls each second. */
  const poll = (seconds: number) => {
    for (let left = seconds; left > 0; left -= 1) {
      rig.pass(1000);
      rig.next(class1);
    }
  };

  describe('enable_forgotten', () => {
    it('finds a set-point whose mode is off a minute later', () => {
      limit(40);
      poll(59);
      expect(rig.rules()).to.deep.equal([]);
      poll(1);
      const [first] = rig.row('enable_forgotten').cases;
      expect(first).to.deep.include({
        text: 'wrote AO88 (40) and did not switch on BO17',
        message: { channel: 'dnp3', id: 7 },
      });
    });

    it('holds where the master enables the mode, and where it is on', () => {
      limit(40);
      poll(1);
      enable(true);
      poll(61);
      limit(50);
      expect(rig.row('enable_forgotten')).to.include({ state: 'held', exercised: 2, broken: 0 });
    });

    it('takes a mode that others enable, a SELECT, a refusal, and other maps', () => {
      limit(40);
      state.isOn = true;
      tell(17, 'by_others');
      poll(61);
      state.isOn = false;
      limit(40, '03');
      poll(61);
      status = 15;
      limit(50);
      poll(61);
      expect(rig.rules()).to.deep.equal([]);
      open({ hasBuiltInMap: false });
      limit(40);
      poll(61);
      expect(rig.rules()).to.deep.equal([]);
    });

    it('takes a value without effect, one put back, an enable that is refused, and a restart', () => {
      limit(1000);
      poll(61);
      enable(false);
      limit(40);
      poll(61);
      limit(30);
      status = 15;
      enable(true);
      poll(61);
      status = 0;
      limit(20);
      rig.stack.outstation.restart();
      poll(61);
      expect(rig.rules()).to.not.include('enable_forgotten');
    });

    it('is undecided where the master sends nothing more', () => {
      limit(40);
      rig.reconnect();
      rig.pass(61_000);
      rig.next(class1);
      expect(rig.row('enable_forgotten')).to.include({ broken: 0, undecided: 1 });
    });
  });

  it('the state of a mode outlives a connection, and two set-points demand nothing only together', () => {
    limit(40);
    rig.reconnect();
    poll(1);
    enable(true);
    poll(61);
    expect(rig.row('enable_forgotten')).to.include({ exercised: 1, broken: 0 });
    const values: Record<number, number> = { 87: 1000, 88: 40, 85: 0 };
    open({ outputOf: (kind, index) => (kind === 'binary' ? 0 : values[index]) });
    limit(40);
    poll(61);
    expect(rig.row('enable_forgotten').cases[0]?.text).to.equal(
      'wrote AO87 and AO88 (1000 40) and did not switch on BO17',
    );
    tell(99, 'reverted');
    expect(rig.state('no_reversion')).to.equal('not_exercised');
  });

  describe('no_reversion', () => {
    it('finds a limit in force whose reversion time stays 0', () => {
      limit(40);
      enable(true);
      poll(60);
      expect(rig.rules()).to.deep.equal(['no_reversion']);
      expect(rig.row('no_reversion').cases[0]?.text).to.equal('put AO88 (40) in force and left AO85 at 0');
    });

    it('holds where the time comes after the enable, and is not asked of a mode without one', () => {
      limit(40);
      enable(true);
      reversion(300);
      poll(61);
      expect(rig.state('no_reversion')).to.equal('held');
      open({ outputOf: (kind, index) => (kind === 'binary' ? 1 : index === 88 ? 400 : undefined) });
      limit(400);
      poll(61);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('reversion_lapsed, heartbeat_late', () => {
    /** A limit that is renewed every so many seconds. */
    const renew = (everyS: number, times: number) => {
      for (let n = 0; n < times; n += 1) {
        limit(40);
        poll(everyS);
      }
    };
    const begin = () => {
      reversion(30);
      limit(40);
      enable(true);
    };

    it('finds a set-point that is renewed after its time has run out, and one renewed late', () => {
      begin();
      renew(29, 6);
      expect(rig.rules()).to.deep.equal(['heartbeat_late']);
      tell(17, 'reverted');
      poll(5);
      limit(40);
      expect(rig.row('reversion_lapsed').cases[0]).to.deep.include({
        text: 'renewed AO88 5 s after its reversion time of 30 s had run out',
        message: { channel: 'dnp3', id: 7 },
      });
    });

    it('holds for a heartbeat in time, and a command that ends is no case', () => {
      begin();
      renew(15, 8);
      expect([rig.state('reversion_lapsed'), rig.state('heartbeat_late')]).to.deep.equal(['held', 'held']);
      tell(17, 'reverted');
      poll(31);
      limit(40);
      tell(18, 'reverted');
      expect(rig.rules()).to.deep.equal([]);
    });

    it('a change by others ends the command of the master', () => {
      begin();
      renew(15, 3);
      tell(17, 'by_others');
      tell(17, 'reverted');
      limit(40);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('setpoint_churn', () => {
    const write = (times: number, everyMs: number, value: (n: number) => number) => {
      state.isOn = true;
      for (let n = 0; n < times; n += 1) {
        limit(value(n));
        rig.pass(everyMs);
      }
    };

    it('finds 60 values in 10 min, and 30 of the same', () => {
      write(59, 5000, (n) => n);
      expect(rig.rules()).to.not.include('setpoint_churn');
      write(1, 5000, () => 99);
      expect(rig.row('setpoint_churn').cases[0]?.text).to.contain('wrote AO88 60 times within 295 s');
      open();
      write(30, 5000, () => 7);
      expect(rig.state('setpoint_churn')).to.equal('held');
      write(1, 5000, () => 7);
      expect(rig.row('setpoint_churn').cases[0]?.text).to.contain('30 times with the value before');
    });

    it('holds for one value in 21 s, and with a reversion time', () => {
      write(70, 21_000, (n) => n);
      state.reversionS = 60;
      write(70, 1000, () => 7);
      expect(rig.state('setpoint_churn')).to.equal('held');
    });
  });
});
