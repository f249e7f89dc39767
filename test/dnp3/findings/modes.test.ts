import { expect } from 'chai';
import { spec } from '../rig/stack.ts';
import { class1, JudgeRig } from './rig.ts';
import type { JudgeRigOptions } from './rig.ts';

const outputs = [spec('analogOutput', 88, { class: 0 }), spec('binaryOutput', 17, { class: 0 })];
const enable = (on: boolean) => `05 0c 01 28 01 00 11 00 0${on ? 3 : 4} 01 00 00 00 00 00 00 00 00 00`;
const limit = (value: number) => `05 29 02 28 01 00 58 00 ${value.toString(16).padStart(2, '0')} 00 00`;

describe('findings about DNP3 masters: set-points of modes', () => {
  let rig: JudgeRig;
  let isOn: boolean;
  let reversionS: number;

  const open = (facts: JudgeRigOptions['facts'] = {}) => {
    isOn = false;
    reversionS = 0;
    const outputOf = (kind: string) => (kind === 'binary' ? Number(isOn) : reversionS);
    rig = new JudgeRig({ specs: outputs, facts: { outputOf, rangeOf: () => ({ min: 0, max: 1000 }), ...facts } });
    rig.settle();
  };

  beforeEach(() => {
    open();
  });

  describe('enable_forgotten', () => {
    it('finds a set-point whose mode is off a minute later', () => {
      rig.next(limit(40));
      rig.pass(59_500);
      rig.next(class1);
      expect(rig.rules()).to.deep.equal([]);
      rig.pass(500);
      rig.next(class1);
      expect(rig.row('enable_forgotten').cases[0]).to.deep.include({
        text: 'wrote AO88 and did not enable its mode by BO17 in 60 s',
        facts: { set_point: 'AO88', enable: 'BO17' },
      });
    });

    it('holds where the master enables the mode, and where it is on', () => {
      rig.next(limit(40));
      rig.next(enable(true));
      rig.pass(61_000);
      rig.next(class1);
      isOn = true;
      rig.next(limit(50));
      expect(rig.row('enable_forgotten')).to.include({ state: 'held', exercised: 2, broken: 0 });
    });

    it('takes a mode that others enable, a SELECT, a refusal, and other maps', () => {
      rig.next(limit(40));
      isOn = true;
      rig.pass(61_000);
      rig.next(class1);
      isOn = false;
      rig.next(limit(40).replace('05', '03'));
      rig.pass(61_000);
      rig.next(class1);
      expect(rig.rules()).to.deep.equal([]);
      open({ hasBuiltInMap: false });
      rig.next(limit(40));
      rig.pass(61_000);
      rig.next(class1);
      expect(rig.rules()).to.deep.equal([]);
    });

    it('is undecided where the connection ends', () => {
      rig.next(limit(40));
      rig.reconnect();
      rig.pass(61_000);
      rig.next(class1);
      expect(rig.row('enable_forgotten')).to.include({ broken: 0, undecided: 1 });
    });
  });

  describe('setpoint_churn', () => {
    const write = (times: number, everyMs: number, value: (n: number) => number) => {
      isOn = true;
      for (let n = 0; n < times; n += 1) {
        rig.next(limit(value(n)));
        rig.pass(everyMs);
      }
    };

    it('finds 60 values in 10 min, and 30 of the same', () => {
      write(59, 5000, (n) => n);
      expect(rig.rules()).to.deep.equal([]);
      write(1, 5000, () => 99);
      expect(rig.row('setpoint_churn').cases[0]?.text).to.contain('wrote 60 values to AO88 in 295 s');
      open();
      write(29, 5000, () => 7);
      expect(rig.state('setpoint_churn')).to.equal('held');
      write(1, 5000, () => 7);
      expect(rig.row('setpoint_churn').cases[0]?.text).to.contain('wrote the value 7 30 times to AO88 in 145 s');
    });

    it('holds for one value in 11 s, and with a reversion time', () => {
      write(70, 11_000, (n) => n);
      reversionS = 60;
      write(70, 1000, () => 7);
      expect(rig.state('setpoint_churn')).to.equal('held');
    });
  });
});
