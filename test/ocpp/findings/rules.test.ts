import { expect } from 'chai';
import { ocppRules } from '../../../src/finding-rules/ocpp.ts';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import { JudgeRig } from './rig.ts';
import { times } from './trial.ts';
import type { Trial } from './trial.ts';
import { connectionTrials } from './trials-connection.ts';
import { messagesTrials } from './trials-messages.ts';
import { requestsTrials } from './trials-requests.ts';
import { upkeepTrials } from './trials-upkeep.ts';

const trials: Readonly<Record<OcppRule, Trial>> = {
  ...connectionTrials,
  ...messagesTrials,
  ...requestsTrials,
  ...upkeepTrials,
};
const boot = { status: 'Accepted', interval: 300, currentTime: '2026-06-21T08:00:00Z' };

describe('OCPP findings: rules', () => {
  for (const [rule, { version = 'ocpp1.6', wrong, text, right, trap }] of Object.entries(trials) as [
    OcppRule,
    Trial,
  ][]) {
    it(`${rule}: a wrong central system is found`, () => {
      const rig = new JudgeRig().open(version);
      wrong(rig);
      const row = rig.row(rule);
      expect(row.state).to.equal('broken');
      expect(row.cases[0]?.text).to.equal(text);
      expect(row.cases[0]?.facts).to.include({ station: 'CP-1' });
    });

    it(`${rule}: a right central system is not`, () => {
      const rig = new JudgeRig().open(version);
      right(rig);
      expect(rig.row(rule)).to.include({ broken: 0, excused: 0 });
      expect(rig.row(rule).state).to.equal('held');
    });

    it(`${rule}: a central system that only seems wrong is not`, () => {
      const rig = new JudgeRig().open(version);
      trap(rig);
      expect(rig.row(rule)).to.include({ broken: 0, excused: 0, repeats: 0 });
    });
  }

  it('are each a row with sentences, and a violation has a clause', () => {
    for (const [rule, row] of Object.entries(ocppRules)) {
      for (const text of [row.title, row.situation, row.proof, row.consequence, row.trap])
        expect(text, rule).to.match(/^\S.{10,}\S$/);
      if (row.severity === 'violation') expect(row.basis, rule).to.be.oneOf(['clause', 'schema']);
      expect(row.clause, rule).to.have.length.above(5);
    }
  });

  it('about schemas leave alone what is no frame at all', () => {
    const rig = new JudgeRig().open();
    rig.hear('[3,"own",[]]', () => {
      rig.judge.violated({ code: 'X', description: 'no object', details: {} }, 'Heartbeat', 'own');
    });
    expect(rig.row('schema').broken).to.equal(0);
  });

  it('show neither message nor id with its secrets', () => {
    const rig = new JudgeRig().open();
    rig.hear('[2,"my secret","Reset",{"key":"a secret"}]', () => {
      rig.finds('id_long', 'Reset', 'my secret');
    });
    const [first] = rig.row('id_long').cases;
    expect(first?.excerpt).to.equal('[2,"my (hidden)","Reset",{"key":"a (hidden)"}]');
    expect(first?.facts).to.deep.include({ message_id: 'my (hidden)' });
    expect(first?.message).to.deep.equal({ channel: 'ocpp/CP-1', id: 1 });
  });

  it('about the clock are not observable where times are simulated', () => {
    const rig = new JudgeRig({ isWallTime: false }).open();
    times(5, () => {
      rig.beat(3_600_000);
    });
    expect(rig.row('time_local')).to.include({
      state: 'not_observable',
      reason: 'the clock of OCPP is the simulated one',
    });
  });

  it('about an expiry are undecided where the station counts by the simulated clock', () => {
    const rig = new JudgeRig({ isWallTime: false }).open();
    rig.call('ReserveNow', {}, 'reservation');
    expect(rig.row('reservation')).to.include({ state: 'undecided', broken: 0 });
  });

  for (const [rule, read] of [
    ['profile_limits', (rig) => rig.call('GetConfiguration', { key: ['ChargingScheduleMaxPeriods'] })],
    [
      'config_limits',
      (rig) => rig.call('GetVariables', { getVariableData: [{ component: { name: 'DeviceDataCtrlr' } }] }),
    ],
    [
      'local_list',
      (rig) => rig.call('GetReport', { componentVariable: [{ component: { name: 'LocalAuthListCtrlr' } }] }),
    ],
    ['profile_limits', (rig) => rig.call('GetBaseReport', { reportBase: 'FullInventory' })],
  ] as readonly (readonly [OcppRule, (rig: JudgeRig) => void])[])
    it(`${rule}: its settings may be read by themselves, and only by the central system that breaks it`, () => {
      const rig = new JudgeRig().open();
      read(rig);
      rig.judge.closed();
      rig.open('ocpp1.6', 'ws://other.example/ocpp');
      rig.call('SendLocalList', {}, rule);
      expect(rig.findings.ids(rig.judge.peer!)).to.deep.equal([]);
      rig.judge.closed();
      rig.open();
      read(rig);
      rig.call('SendLocalList', {}, rule);
      expect(rig.row(rule).broken).to.equal(1);
    });

  it('of a right answer to BootNotification are all held that it tests', () => {
    const rig = new JudgeRig().open();
    rig.answered('BootNotification', boot);
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
    expect(rig.findings.ids(rig.peer, 'held')).to.include.members([
      'ocpp.interval',
      'ocpp.current_time',
      'ocpp.schema',
    ]);
  });

  it('accuse nobody of an answer that came while findings were off', () => {
    for (const isLate of [true, false]) {
      const rig = new JudgeRig().open();
      rig.timedOut('Heartbeat');
      rig.findings.isOn = false;
      if (isLate) rig.judge.late('own');
      rig.findings.isOn = true;
      rig.pass(120_000);
      expect(rig.findings.ids(rig.peer).includes('ocpp.answer_missing')).to.equal(!isLate);
    }
  });
});
