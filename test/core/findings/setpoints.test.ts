import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import type { CellState } from '../../../src/core/findings/report.ts';
import { SetpointJudge } from '../../../src/core/findings/setpoints.ts';
import type { SetpointGroup } from '../../../src/core/findings/setpoints.ts';
import { setpointRules } from '../../../src/finding-rules/setpoints.ts';
import { FindingsRig } from '../../support/findings.ts';

/** A limit whose state a test sets. */
class Limit implements SetpointGroup {
  readonly name = '704.WMaxLimPct';
  readonly enable = '704.WMaxLimPctEna';
  readonly timer = '704.WMaxLimPctRvrtTms';
  value = 100;
  isOn = false;
  timeS = 0;
  isEnabled = () => this.isOn;
  reversionS = () => this.timeS;
  isNeutral = () => this.value === 100;
  values = () => String(this.value);
}

describe('findings: set-points', () => {
  let rig: FindingsRig;
  let peer: Peer;
  let limit: Limit;
  let judge: SetpointJudge;

  beforeEach(() => {
    rig = new FindingsRig();
    peer = rig.registry.peer({ protocol: 'dnp3', address: '192.0.2.7' });
    peer.isValid = true;
    limit = new Limit();
    judge = new SetpointJudge({
      findings: rig.registry,
      rules: rig.registry.rules('dnp3', setpointRules),
      deviceIndex: 3,
      monotonicMs: () => rig.wall.monotonicMs(),
    });
  });

  const ids = (state: CellState = 'broken') => rig.ids(peer, state).map((id) => id.replace('dnp3.', ''));
  const caseOf = (rule: string) => rig.row(peer, `dnp3.${rule}`).cases.at(-1);

  /** Writes members of the limit. */
  function write({ value, isOn, timeS }: { value?: number; isOn?: boolean; timeS?: number }, by = peer): void {
    limit.value = value ?? limit.value;
    limit.isOn = isOn ?? limit.isOn;
    limit.timeS = timeS ?? limit.timeS;
    const evidence = { excerpt: 'frame' };
    judge.wrote(by, { group: limit, setsValue: value !== undefined, setsEnable: isOn !== undefined, evidence });
  }

  /** Lets time pass while the peer sends other requests, one a second. */
  function pass(seconds: number): void {
    for (let left = seconds; left > 0; left -= 1) {
      rig.timers.pass(Math.min(left, 1) * 1000);
      peer.requests += 1;
    }
  }

  const times = (count: number, act: (i: number) => void) => {
    for (let i = 0; i < count; i += 1) act(i);
  };

  describe('enable_forgotten', () => {
    it('is found 10 s after the value, with the evidence of the write', () => {
      write({ value: 50 });
      pass(9.9);
      expect(ids()).to.deep.equal([]);
      pass(0.1);
      expect(ids()).to.deep.equal(['enable_forgotten']);
      expect(caseOf('enable_forgotten')).to.deep.include({
        deviceIndex: 3,
        excerpt: 'frame',
        text: 'wrote 704.WMaxLimPct (50) and did not switch on 704.WMaxLimPctEna',
      });
    });

    it('is kept by the enable in the same write, in a later one, and before', () => {
      write({ value: 50, isOn: true });
      write({ isOn: false });
      pass(60);
      write({ value: 40 });
      pass(9);
      write({ isOn: true });
      write({ value: 30 });
      pass(20);
      expect(ids().filter((id) => id !== 'no_reversion')).to.deep.equal([]);
      expect(rig.row(peer, 'dnp3.enable_forgotten').exercised).to.equal(3);
    });

    it('leaves values alone that limit nothing, that are put back, and those of a master that is gone', () => {
      write({ value: 100 });
      pass(20);
      write({ value: 50, isOn: false });
      pass(20);
      write({ value: 60 });
      pass(20);
      pass(60);
      write({ value: 70 });
      rig.timers.pass(60_000);
      expect(ids()).to.deep.equal([]);
    });

    it('leaves a value alone whose enable was refused or came from elsewhere', () => {
      write({ value: 50 });
      judge.refused(peer, limit);
      pass(20);
      write({ value: 60 });
      judge.changedByOthers(limit);
      pass(20);
      write({ value: 70 });
      limit.isOn = true;
      judge.follow();
      pass(20);
      expect(ids()).to.deep.equal([]);
    });
  });

  describe('no_reversion', () => {
    it('is found 10 s after the limit came in force', () => {
      write({ value: 50, isOn: true });
      pass(10);
      expect(ids()).to.deep.equal(['no_reversion']);
      expect(caseOf('no_reversion')?.facts['timer']).to.equal('704.WMaxLimPctRvrtTms');
    });

    it('is kept by a reversion time in the next write', () => {
      write({ value: 50, isOn: true });
      pass(9);
      write({ timeS: 60 });
      pass(20);
      expect(ids('held')).to.include('no_reversion');
      expect(ids()).to.deep.equal([]);
    });

    it('leaves limits alone that limit nothing or end before', () => {
      write({ value: 100, isOn: true });
      pass(20);
      write({ value: 50 });
      pass(5);
      write({ isOn: false });
      pass(20);
      expect(ids()).to.deep.equal([]);
    });
  });

  it('no_reversion and enable_forgotten leave alone what somebody else has set meanwhile', () => {
    write({ value: 50, isOn: true });
    pass(5);
    limit.timeS = 60;
    pass(5);
    expect(rig.row(peer, 'dnp3.no_reversion')).to.include({ broken: 0, undecided: 1 });
    write({ isOn: false, timeS: 0 });
    pass(60);
    write({ value: 40 });
    limit.isOn = true;
    pass(10);
    expect(rig.row(peer, 'dnp3.enable_forgotten')).to.include({ broken: 0, undecided: 1 });
  });

  describe('reversion_lapsed', () => {
    const revert = () => {
      limit.isOn = false;
      judge.reverted(limit);
    };

    it('is found when the renewal comes after the end', () => {
      write({ value: 50, isOn: true, timeS: 60 });
      times(2, () => {
        pass(50);
        write({ value: 50 });
      });
      pass(60);
      revert();
      pass(5);
      expect(ids()).to.deep.equal([]);
      write({ value: 50, isOn: true });
      expect(ids()).to.deep.equal(['reversion_lapsed']);
      expect(caseOf('reversion_lapsed')?.facts).to.deep.include({ late_s: 5, reversion_s: 60, renewals_before: 2 });
    });

    it('is kept by renewals in time', () => {
      times(3, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        pass(30);
      });
      expect(rig.row(peer, 'dnp3.reversion_lapsed')).to.include({ state: 'held', exercised: 2 });
    });

    it('leaves a command of one write, another value and a later command alone', () => {
      write({ value: 50, isOn: true, timeS: 60 });
      pass(60);
      revert();
      write({ value: 50, isOn: true });
      for (const [value, pause] of [
        [60, 5],
        [50, 61],
      ] as const) {
        times(3, () => {
          write({ value: 50, isOn: true });
          pass(30);
        });
        pass(30);
        revert();
        pass(pause);
        write({ value, isOn: true });
      }
      expect(ids()).to.deep.equal([]);
    });

    it('leaves a master alone whose reversion time a fast or moved clock has ended', () => {
      times(3, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        pass(50);
      });
      revert();
      pass(5);
      write({ value: 50, isOn: true });
      expect(ids()).to.deep.equal([]);
    });

    it('takes the set-points of one moment for one renewal', () => {
      times(2, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        write({ value: 50 });
        pass(0.9);
        write({ value: 50 });
        pass(50);
      });
      pass(10);
      revert();
      pass(5);
      write({ value: 50, isOn: true });
      expect(ids()).to.deep.equal([]);
    });

    it('leaves a limit alone that somebody else has changed', () => {
      times(3, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        pass(30);
      });
      judge.changedByOthers(limit);
      revert();
      write({ value: 50, isOn: true });
      expect(ids()).to.deep.equal([]);
    });
  });

  describe('heartbeat_late', () => {
    const beat = (seconds: number) => {
      times(6, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        pass(seconds);
      });
    };

    it('is found above 80 % of the reversion time', () => {
      beat(50);
      expect(ids()).to.deep.equal(['heartbeat_late']);
      expect(caseOf('heartbeat_late')?.facts).to.deep.include({ mean_s: 50, reversion_s: 60 });
    });

    it('is kept at half of it', () => {
      beat(30);
      expect(ids('held')).to.include('heartbeat_late');
    });

    it('is kept by writes of the enable or the reversion time in between', () => {
      times(12, (i) => {
        write(i % 2 === 0 ? { value: 50, isOn: true, timeS: 60 } : { timeS: 60 });
        pass(30);
      });
      expect(ids()).to.deep.equal([]);
      expect(ids('held')).to.include('heartbeat_late');
    });

    it('leaves very short times alone', () => {
      times(6, () => {
        write({ value: 50, isOn: true, timeS: 2 });
        pass(1.9);
      });
      expect(ids()).to.deep.equal([]);
      expect(ids('not_exercised')).to.include('heartbeat_late');
    });
  });

  describe('setpoint_churn', () => {
    beforeEach(() => {
      limit.isOn = true;
    });
    const churn = () => ids().filter((id) => id !== 'no_reversion');

    it('is found at 60 writes in 10 minutes and at 30 repetitions', () => {
      times(59, (i) => {
        write({ value: 40 + (i % 2) });
      });
      expect(churn()).to.deep.equal([]);
      write({ value: 50 });
      expect(churn()).to.deep.equal(['setpoint_churn']);
      expect(caseOf('setpoint_churn')?.facts).to.deep.include({ writes: 60, identical: 0 });
      times(30, () => {
        write({ value: 50 });
      });
      expect(rig.row(peer, 'dnp3.setpoint_churn').repeats).to.equal(1);
    });

    it('is kept by fewer writes', () => {
      times(29, () => {
        write({ value: 50 });
      });
      expect(ids('held')).to.include('setpoint_churn');
    });

    it('leaves heartbeats, slow writers and two masters in turn alone', () => {
      times(70, () => {
        write({ value: 50, timeS: 60 });
      });
      limit.timeS = 0;
      times(70, (i) => {
        write({ value: i });
        pass(11);
      });
      const other = rig.registry.peer({ protocol: 'dnp3', address: '192.0.2.8' });
      times(70, (i) => {
        write({ value: 50 }, i % 2 === 0 ? peer : other);
      });
      expect(churn()).to.deep.equal([]);
    });

    it('is not judged while simulated time runs at another rate', () => {
      rig.isRealTime = false;
      times(70, () => {
        write({ value: 50 });
      });
      expect(churn()).to.deep.equal([]);
    });
  });
});
