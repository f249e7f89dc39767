/** Answers of a central system at the limits of the rules, registration and clock among them. */
import { expect } from 'chai';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import { offsetOf } from '../../../src/ocpp/findings/boot.ts';
import { JudgeRig } from './rig.ts';
import { times } from './trial.ts';

const quarterMs = 900_000;

describe('OCPP findings: answers of a central system', () => {
  let rig: JudgeRig;
  beforeEach(() => {
    rig = new JudgeRig().open();
  });
  const exercised = (rule: OcppRule) => rig.row(rule).exercised;
  const broken = (rule: OcppRule) => rig.row(rule).broken;

  it('in time are occasions of being late or missing; those of 30 s and more are none', () => {
    rig.answered('Heartbeat', {}, { afterMs: 29_999 });
    rig.refused('DataTransfer', 'GenericError', { afterMs: 29_999 });
    expect([exercised('answer_late'), exercised('answer_missing')]).to.deep.equal([2, 2]);
    rig.answered('Heartbeat', {}, { afterMs: 30_000 });
    expect([exercised('answer_late'), exercised('answer_missing')]).to.deep.equal([2, 2]);
  });

  it('to messages of every central system alone count for errors in place of results', () => {
    rig.answered('DataTransfer', {});
    expect(exercised('call_error_wrong')).to.equal(0);
    rig.answered('Heartbeat', {});
    expect(exercised('call_error_wrong')).to.equal(1);
  });

  it('to calls of a user count nothing', () => {
    rig.answered('StartTransaction', { transactionId: -1, idTagInfo: { status: 'Accepted' } }, { isJudged: false });
    rig.refused('Heartbeat', 'NotImplemented', { isJudged: false });
    rig.timedOut('Heartbeat', { isJudged: false });
    for (const rule of ['answer_late', 'answer_missing', 'transaction_id_range', 'call_error_wrong'] as const)
      expect(rig.row(rule).state, rule).to.equal('not_exercised');
  });

  it('that are missing are undecided without a frame since the call, within a shorter time, or without a connection', () => {
    const undecided = () => rig.row('answer_missing').undecided;
    rig.timedOut('Heartbeat', { isBusy: false });
    expect(undecided()).to.equal(1);
    // frames before the call prove nothing
    rig.call('GetConfiguration');
    rig.timedOut('Heartbeat', { isBusy: false });
    expect(undecided()).to.equal(2);
    const call = rig.sent('Heartbeat');
    rig.call('GetConfiguration');
    rig.pass(29_999);
    rig.judge.timedOut({ ...call, durationMs: 29_999 });
    expect(undecided()).to.equal(3);
    rig.judge.closed();
    rig.judge.timedOut({ ...call, durationMs: 30_000 });
    rig.pass(120_000);
    expect([undecided(), broken('answer_missing')]).to.deep.equal([3, 0]);
  });

  it('that are missing date back to their call', () => {
    rig.timedOut('Heartbeat');
    rig.pass(90_000);
    const [first] = rig.row('answer_missing').cases;
    expect(first?.sinceMs).to.equal(rig.findings.wall.nowMs() - 120_000);
    expect(first?.facts).to.include({ action: 'Heartbeat', message_id: 'own' });
  });

  it('that come late once are not late twice, and not of another connection or after a fault', () => {
    rig.timedOut('Heartbeat');
    rig.judge.late('other');
    rig.judge.late('own');
    rig.judge.late('own');
    expect(rig.row('answer_late')).to.include({ broken: 1, repeats: 0 });
    for (const act of [
      () => {
        rig.judge.disturbed();
      },
      () => {
        rig.judge.closed();
        rig.open();
      },
    ]) {
      rig.timedOut('BootNotification');
      act();
      rig.judge.late('own');
    }
    rig.pass(120_000);
    expect(rig.row('answer_late')).to.include({ broken: 1, repeats: 0 });
  });

  it('that may be late are kept in mind for the last 20 calls', () => {
    times(21, (n) => {
      rig.timedOut('Heartbeat', { id: `call ${n}` });
    });
    rig.judge.late('call 1');
    expect(broken('answer_late')).to.equal(0);
    rig.judge.late('call 2');
    expect(broken('answer_late')).to.equal(1);
  });

  it('about the end of a transaction begin anew with another transaction and with a result', () => {
    const refuse = (transactionId: number) => {
      rig.refused('StopTransaction', 'InternalError', { payload: { transactionId } });
    };
    for (const transactionId of [1, 1, 2, 1, 1]) refuse(transactionId);
    expect(broken('stop_refused')).to.equal(0);
    refuse(1);
    expect(broken('stop_refused')).to.equal(1);
  });

  it('about a transaction of 2.x are its end only if the event is', () => {
    rig = new JudgeRig().open('ocpp2.0.1');
    const transactionInfo = { transactionId: '1' };
    for (const payload of [{ eventType: 'Updated', transactionInfo }, { eventType: 'Ended' }] as const)
      times(3, () => {
        rig.refused('TransactionEvent', 'InternalError', { payload });
        rig.refused('MeterValues', 'InternalError', { payload: { eventType: 'Ended', transactionInfo } });
      });
    rig.answered('TransactionEvent', {}, { payload: { eventType: 'Updated', transactionInfo } });
    expect(rig.row('ended_refused').state).to.equal('not_exercised');
  });

  it('to StartTransaction have an id of 31 bits, if they accept it', () => {
    const started = (transactionId: unknown, idTagInfo: unknown = { status: 'Accepted' }) => {
      rig = new JudgeRig().open();
      rig.answered('StartTransaction', { transactionId, idTagInfo });
      return rig.row('transaction_id_range').state;
    };
    expect([started(0), started(2 ** 31 - 1)]).to.deep.equal(['held', 'held']);
    expect([started(-1), started(2 ** 31)]).to.deep.equal(['broken', 'broken']);
    for (const idTagInfo of [{ status: 'Blocked' }, null, 'Accepted'])
      expect(started(-1, idTagInfo), JSON.stringify(idTagInfo)).to.equal('not_exercised');
    expect(started('-1')).to.equal('not_exercised');
    rig.answered('MeterValues', { transactionId: -1, idTagInfo: { status: 'Accepted' } });
    rig.answered('MeterValues', {}, { payload: { eventType: 'Started', idToken: { type: 'Central' } } });
    expect(broken('transaction_id_range')).to.equal(0);
  });

  it('without a payload that can be used show nothing of it', () => {
    const call = rig.sent('StartTransaction');
    expect(() => {
      rig.judge.answered(call, null);
    }).not.to.throw();
    expect(rig.row('transaction_id').state).to.equal('not_exercised');
  });
});

describe('OCPP findings: registration and clock', () => {
  const booted = (...replies: readonly Payload[]) => {
    const rig = new JudgeRig().open();
    for (const reply of replies) rig.booted(reply);
    return rig;
  };

  it('an offset is local from half an hour to 14 hours, within 90 s of a quarter, and wrong above a minute', () => {
    for (const [offMs, kind] of [
      [60_000, 'right'],
      [-60_000, 'right'],
      [60_001, 'wrong'],
      [quarterMs, 'wrong'],
      [2 * quarterMs, 'local'],
      [2 * quarterMs + 90_000, 'local'],
      [2 * quarterMs + 90_001, 'wrong'],
      [-2 * quarterMs - 90_000, 'local'],
      [56 * quarterMs, 'local'],
      [57 * quarterMs, 'wrong'],
      [0, 'right'],
    ] as const)
      expect(offsetOf(offMs), String(offMs)).to.equal(kind);
  });

  it('intervals are judged at 0, 1, 9, 10 and 86400 s, and those of a start only once it is accepted', () => {
    const states = (interval: number, status = 'Accepted') => {
      const rig = booted({ interval, status });
      return (['interval', 'interval_short', 'interval_long'] as const).map((rule) => rig.row(rule).state);
    };
    expect(states(0)).to.deep.equal(['held', 'held', 'held']);
    expect(states(1)).to.deep.equal(['held', 'broken', 'held']);
    expect(states(9)).to.deep.equal(['held', 'broken', 'held']);
    expect(states(10)).to.deep.equal(['held', 'held', 'held']);
    expect(states(86_400)).to.deep.equal(['held', 'held', 'held']);
    expect(states(86_401)).to.deep.equal(['held', 'held', 'broken']);
    // the station finds a negative one
    expect(states(-1)).to.deep.equal(['not_exercised', 'held', 'held']);
    expect(states(5, 'Pending')).to.deep.equal(['held', 'not_exercised', 'not_exercised']);
  });

  it('what came while pending or rejected counts with the next answer', () => {
    const rig = booted({ status: 'Accepted' }, { status: 'Accepted' });
    const states = () =>
      (['remote_while_pending', 'call_while_rejected'] as const).map((rule) => rig.row(rule).exercised);
    expect(states()).to.deep.equal([0, 0]);
    rig.booted({ status: 'Pending' });
    expect(states()).to.deep.equal([0, 0]);
    rig.booted({ status: 'Rejected' });
    expect(states()).to.deep.equal([1, 0]);
    rig.booted({ status: 'Accepted' });
    expect(states()).to.deep.equal([1, 1]);
    const other = new JudgeRig().open('ocpp2.0.1');
    for (const status of ['Accepted', 'Pending', 'Rejected', 'Accepted']) other.booted({ status });
    expect(other.row('before_registration').exercised).to.equal(2);
  });

  it('a station stays pending from 5 answers and 10 min on, of one connection', () => {
    const wait = (gapMs: number, answers: number, act: (rig: JudgeRig, n: number) => void = () => undefined) => {
      const rig = new JudgeRig().open();
      times(answers, (n) => {
        rig.booted({ status: 'Pending' });
        act(rig, n);
        // each answer takes 1 ms
        rig.pass(gapMs - 1);
      });
      return rig.row('no_registration').broken;
    };
    expect(wait(150_000, 5)).to.equal(1);
    expect(wait(149_999, 5)).to.equal(0);
    expect(wait(200_000, 4)).to.equal(0);
    const reopen = (rig: JudgeRig, n: number) => {
      if (n !== 4) return;
      rig.judge.closed();
      rig.open();
    };
    expect(wait(200_000, 6, reopen)).to.equal(0);
  });

  it('the time is that of BootNotification and Heartbeat, unless the station is rejected, in a year that can be', () => {
    const exercised = (action: string, reply: Payload) => {
      const rig = new JudgeRig().open();
      rig.answered(action, reply);
      return rig.row('current_time').exercised;
    };
    const at = (currentTime: unknown, status = 'Accepted') => ({ currentTime, status, interval: 60 });
    expect(exercised('Heartbeat', at('2026-06-21T08:00:00Z', 'Rejected'))).to.equal(1);
    expect(exercised('BootNotification', at('2026-06-21T08:00:00Z'))).to.equal(1);
    expect(exercised('BootNotification', at('2026-06-21T08:00:00Z', 'Rejected'))).to.equal(0);
    expect(exercised('DataTransfer', at('2026-06-21T08:00:00Z'))).to.equal(0);
    expect(exercised('Heartbeat', at(5))).to.equal(0);
    for (const [year, count] of [
      [2009, 0],
      [2010, 1],
      [2100, 1],
      [2101, 0],
    ] as const)
      expect(exercised('Heartbeat', at(`${year}-06-21T08:00:00Z`)), String(year)).to.equal(count);
  });

  it('the time is compared with the middle of the call', () => {
    const rig = new JudgeRig().open();
    times(3, () => {
      const midMs = rig.findings.wall.nowMs() + 1 + 10_000;
      rig.answered('Heartbeat', { currentTime: new Date(midMs + 60_000).toISOString() }, { afterMs: 20_000 });
    });
    expect(rig.row('time_wrong').broken).to.equal(0);
    times(3, () => {
      const midMs = rig.findings.wall.nowMs() + 1 + 10_000;
      rig.answered('Heartbeat', { currentTime: new Date(midMs + 60_001).toISOString() }, { afterMs: 20_000 });
    });
    expect(rig.row('time_wrong').broken).to.equal(1);
  });

  it('three readings of one kind in a row make a case, and each other one is kept', () => {
    const rig = new JudgeRig().open();
    const kept = () => [rig.row('time_local').exercised, rig.row('time_wrong').exercised];
    for (const offMs of [4 * quarterMs, 4 * quarterMs, 300_000, 300_000, 4 * quarterMs, 0]) rig.beat(offMs);
    expect([rig.row('time_local').broken, rig.row('time_wrong').broken]).to.deep.equal([0, 0]);
    // right ones count for both, local ones as not wrong, wrong ones as not local
    expect(kept()).to.deep.equal([3, 4]);
    times(3, () => {
      rig.beat(0);
    });
    expect(kept()).to.deep.equal([6, 7]);
  });
});
