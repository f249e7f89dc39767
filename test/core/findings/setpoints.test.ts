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
  timer: string | null = '704.WMaxLimPctRvrtTms';
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
  const row = (rule: string) => rig.row(peer, `dnp3.${rule}`);
  const caseOf = (rule: string) => row(rule).cases.at(-1);

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
      expect(row('enable_forgotten').exercised).to.equal(3);
    });

    it('is kept at once by an enable that came by another point, also as seen at a write of another limit', () => {
      write({ value: 50 });
      judge.changed(limit, 'by_peer');
      expect(row('enable_forgotten').exercised).to.equal(0);
      limit.isOn = true;
      judge.changed(limit, 'by_peer');
      expect(row('enable_forgotten').exercised).to.equal(1);
      limit.isOn = false;
      write({ value: 60 });
      limit.isOn = true;
      judge.wrote(peer, { group: new Limit(), setsValue: false, setsEnable: true, evidence: {} });
      expect(row('enable_forgotten').exercised).to.equal(2);
      pass(20);
      expect(row('enable_forgotten')).to.include({ broken: 0, undecided: 0 });
    });

    it('is kept by values while the function is on, and by nothing else', () => {
      write({ value: 50, isOn: true });
      write({ timeS: 60 });
      expect(row('enable_forgotten').exercised).to.equal(1);
    });

    it('is found once for several values, with the first one', () => {
      write({ value: 50 });
      pass(5);
      write({ value: 60 });
      pass(10);
      expect(row('enable_forgotten')).to.include({ broken: 1, repeats: 0 });
      expect(caseOf('enable_forgotten')?.facts['values']).to.equal('50');
    });

    it('is found for a value that others had set before, and for one that they have taken away', () => {
      limit.value = 50;
      write({ timeS: 60 });
      write({ value: 50 });
      pass(10);
      expect(row('enable_forgotten').broken).to.equal(1);
      judge.changed(limit, 'by_others');
      pass(60);
      write({ value: 50 });
      pass(10);
      expect(row('enable_forgotten').broken).to.equal(2);
    });

    it('is found in spite of a refusal to another master', () => {
      const other = rig.registry.peer({ protocol: 'dnp3', address: '192.0.2.8' });
      judge.refused(other, limit);
      write({ value: 50 });
      judge.refused(other, limit);
      pass(10);
      expect(ids()).to.deep.equal(['enable_forgotten']);
    });

    it('leaves a value alone that was in force before, and one that another master has replaced', () => {
      write({ value: 50, isOn: true, timeS: 60 });
      write({ isOn: false });
      pass(61);
      write({ value: 50 });
      pass(20);
      write({ value: 60 });
      pass(5);
      write({ value: 70 }, rig.registry.peer({ protocol: 'dnp3', address: '192.0.2.8' }));
      pass(20);
      expect(row('enable_forgotten')).to.include({ broken: 0, undecided: 0 });
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
      expect(row('no_reversion')).to.include({ exercised: 1, undecided: 0 });
      write({ value: 60 });
      expect(row('no_reversion').exercised).to.equal(2);
    });

    it('is found once for several writes', () => {
      write({ value: 50, isOn: true });
      pass(5);
      write({ value: 60 });
      pass(10);
      expect(row('no_reversion')).to.include({ broken: 1, repeats: 0 });
    });

    it('leaves a function without a reversion time alone, and a refused write', () => {
      write({ value: 50, isOn: true });
      judge.refused(peer, limit);
      pass(20);
      limit.timer = null;
      write({ value: 60 });
      pass(20);
      expect(row('no_reversion')).to.include({ broken: 0, undecided: 0, exercised: 0 });
    });

    it('leaves a limit alone that somebody has lifted or switched off without a message', () => {
      for (const lift of [() => (limit.value = 100), () => (limit.isOn = false)]) {
        write({ value: 50, isOn: true });
        lift();
        pass(10);
      }
      expect(row('no_reversion')).to.include({ broken: 0, undecided: 2 });
    });

    it('leaves limits alone that limit nothing or end before', () => {
      write({ value: 100, isOn: true });
      pass(20);
      write({ value: 50 });
      pass(5);
      write({ isOn: false });
      pass(20);
      expect(ids()).to.deep.equal([]);
      expect(row('no_reversion').undecided).to.equal(0);
    });
  });

  it('no_reversion and enable_forgotten leave alone what somebody else has set meanwhile', () => {
    write({ value: 50, isOn: true });
    pass(5);
    limit.timeS = 60;
    pass(5);
    expect(row('no_reversion')).to.include({ broken: 0, undecided: 1 });
    write({ isOn: false, timeS: 0 });
    pass(60);
    write({ value: 40 });
    limit.isOn = true;
    pass(10);
    expect(row('enable_forgotten')).to.include({ broken: 0, undecided: 1 });
  });

  describe('reversion_lapsed', () => {
    const revert = () => {
      limit.isOn = false;
      judge.changed(limit, 'reverted');
    };
    const renewTwice = () => {
      times(3, (i) => {
        write({ value: 50, isOn: true, timeS: 60 });
        if (i < 2) pass(50);
      });
    };
    const renewLate = (pauseS: number) => {
      revert();
      pass(pauseS);
      write({ value: 50, isOn: true });
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

    it('is found up to the reversion time after the end, with the time', () => {
      for (const [lateS, counts] of [
        [60, { broken: 1, undecided: 0 }],
        [60.1, { broken: 0, undecided: 1 }],
      ] as const) {
        rig.registry.clear();
        renewTwice();
        pass(60);
        renewLate(lateS);
        expect(row('reversion_lapsed'), String(lateS)).to.include(counts);
      }
      rig.registry.clear();
      pass(60);
      renewTwice();
      pass(60);
      renewLate(2.5);
      expect(caseOf('reversion_lapsed')?.text).to.equal(
        'renewed 704.WMaxLimPct 2.5 s after its reversion time of 60 s had run out',
      );
    });

    it('counts from the first end, up to the next write of the value', () => {
      renewTwice();
      pass(60);
      revert();
      pass(3);
      revert();
      pass(2);
      write({ isOn: true });
      expect(ids()).to.deep.equal([]);
      pass(1);
      write({ value: 50 });
      expect(caseOf('reversion_lapsed')?.facts['late_s']).to.equal(6);
    });

    it('is found where the simulated clock is two seconds ahead, and not where it is more', () => {
      for (const [afterS, counts] of [
        [58, { broken: 1, undecided: 0 }],
        [57.999, { broken: 0, undecided: 1, exercised: 2 }],
      ] as const) {
        rig.registry.clear();
        renewTwice();
        pass(afterS);
        renewLate(5);
        expect(row('reversion_lapsed'), String(afterS)).to.include(counts);
        write({ isOn: false });
        pass(60);
      }
    });

    it('leaves limits alone that the master has switched off, or whose reversion time it has changed', () => {
      for (const end of [{ isOn: false }, { timeS: 0 }]) {
        renewTwice();
        write(end);
        pass(60);
        revert();
        pass(5);
        write({ value: 50, isOn: true, timeS: 60 });
        write({ isOn: false });
        pass(60);
      }
      renewTwice();
      write({ value: 50, timeS: 300 });
      pass(300);
      renewLate(5);
      expect(row('reversion_lapsed').broken).to.equal(0);
    });

    it('counts renewals from the first write of the value, and those a second apart', () => {
      limit.value = 50;
      write({ isOn: true, timeS: 60 });
      times(2, () => {
        pass(50);
        write({ value: 50 });
      });
      expect(row('reversion_lapsed').exercised).to.equal(1);
      pass(60);
      renewLate(5);
      expect(row('reversion_lapsed').broken).to.equal(0);
      for (const [pauseS, exercised] of [
        [0.999, 0],
        [1, 2],
      ] as const) {
        rig.registry.clear();
        write({ isOn: false });
        times(3, (i) => {
          if (i > 0) rig.timers.pass(pauseS * 1000);
          write({ value: 50, isOn: true });
        });
        expect(row('reversion_lapsed').exercised, String(pauseS)).to.equal(exercised);
      }
    });

    it('ends nothing where nothing was written or renewed', () => {
      judge.changed(limit, 'reverted');
      judge.changed(limit, 'by_others');
      write({ value: 50 });
      judge.changed(limit, 'reverted');
      expect(row('reversion_lapsed')).to.include({ exercised: 0, undecided: 0 });
    });

    it('is kept by renewals in time', () => {
      times(3, () => {
        write({ value: 50, isOn: true, timeS: 60 });
        pass(30);
      });
      expect(row('reversion_lapsed')).to.include({ state: 'held', exercised: 2 });
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
      expect(caseOf('heartbeat_late')?.text).to.equal(
        'renewed 704.WMaxLimPct every 50 s with a reversion time of 60 s',
      );
    });

    it('is kept at exactly 80 % of it', () => {
      beat(48);
      expect(row('heartbeat_late')).to.include({ broken: 0, exercised: 1 });
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

    it('leaves times of up to five seconds alone', () => {
      for (const [timeS, broken] of [
        [2, 0],
        [5, 0],
        [6, 1],
      ] as const) {
        times(6, () => {
          write({ value: 50, isOn: true, timeS });
          pass(0.95 * timeS);
        });
        expect(row('heartbeat_late'), String(timeS)).to.include({ broken, exercised: broken });
      }
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
      expect(caseOf('setpoint_churn')?.facts).to.deep.include({ writes: 60, identical: 0, within_s: 0 });
      times(30, () => {
        write({ value: 50 });
      });
      expect(row('setpoint_churn').repeats).to.equal(1);
    });

    it('counts writes of the last ten minutes', () => {
      for (const [laterS, broken] of [
        [600.001, 0],
        [600, 1],
      ] as const) {
        const other = rig.peer(`192.0.2.${laterS}`, 'dnp3');
        times(59, (i) => {
          write({ value: 40 + (i % 2) }, other);
        });
        rig.timers.pass(laterS * 1000);
        write({ value: 50 }, other);
        const { broken: count, cases } = rig.row(other, 'dnp3.setpoint_churn');
        expect(count, String(laterS)).to.equal(broken);
        if (broken === 0) continue;
        expect(cases[0]?.facts['within_s']).to.equal(600);
        expect(cases[0]?.text).to.equal(
          'wrote 704.WMaxLimPct 60 times within 600 s, 0 times with the value before, without a reversion time',
        );
      }
    });

    it('counts anew after a write with a reversion time, and no writes of the enable', () => {
      const writeOften = () => {
        times(59, (i) => {
          write({ value: 40 + (i % 2) });
        });
      };
      writeOften();
      write({ value: 50, timeS: 60 });
      expect(row('setpoint_churn').exercised).to.equal(60);
      limit.timeS = 0;
      writeOften();
      times(70, () => {
        write({ isOn: true });
      });
      expect(churn()).to.deep.equal([]);
      expect(row('setpoint_churn').exercised).to.equal(119);
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
