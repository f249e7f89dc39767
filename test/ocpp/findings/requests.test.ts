/** Calls of a central system: settings that it has read, refusals that it repeats, and how often they come. */
import { expect } from 'chai';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import { JudgeRig } from './rig.ts';
import { times } from './trial.ts';

const named = (component: string, variable: string, instance?: string) => ({
  component: { name: component },
  variable: { name: variable, ...(instance !== undefined && { instance }) },
});

describe('OCPP findings: requests', () => {
  let rig: JudgeRig;
  beforeEach(() => {
    rig = new JudgeRig().open('ocpp2.0.1');
  });
  const broken = (rule: OcppRule) => rig.row(rule).broken;
  const exercised = (rule: OcppRule) => rig.row(rule).exercised;

  const refuseVariables = (
    count: number,
    name: Payload,
    attributeStatus = 'UnknownVariable',
    attributeValue?: string,
  ) => {
    times(count, () => {
      const data = { ...name, ...(attributeValue !== undefined && { attributeValue }) };
      if (attributeValue === undefined)
        rig.replied('GetVariables', { getVariableData: [data] }, { getVariableResult: [{ ...name, attributeStatus }] });
      else
        rig.replied('SetVariables', { setVariableData: [data] }, { setVariableResult: [{ ...name, attributeStatus }] });
    });
  };

  it('for variables count by component, variable, instance and value, four times refused', () => {
    refuseVariables(3, named('A', 'B'));
    refuseVariables(3, named('A', 'B', 'I'));
    refuseVariables(3, named('A', 'C'));
    refuseVariables(3, named('A', 'B'), 'Rejected', '1');
    refuseVariables(3, named('A', 'B'), 'NotSupportedAttributeType', '2');
    refuseVariables(9, named('A', 'D'), 'Accepted', '2');
    refuseVariables(9, named('A', 'D'), 'Accepted');
    expect(broken('config_unknown')).to.equal(0);
    refuseVariables(1, named('A', 'B', 'I'));
    expect(rig.row('config_unknown').cases[0]?.text).to.equal(
      'GetVariables: A.B[I] is refused for the 4. time or more',
    );
    refuseVariables(1, named('A', 'B'), 'Rejected', '1');
    expect(rig.row('config_unknown').cases[1]?.text).to.equal('SetVariables: A.B is refused for the 4. time or more');
  });

  it('for keys of 1.6 count by their names, or with their values', () => {
    rig = new JudgeRig().open();
    const change = (value: string, status: string) => {
      rig.replied('ChangeConfiguration', { key: 'K', value }, { status });
    };
    times(3, () => {
      change('1', 'NotSupported');
      change('2', 'Rejected');
      rig.replied('GetConfiguration', { key: ['K'] }, { unknownKey: ['K'] });
    });
    expect([broken('config_unknown'), exercised('config_unknown')]).to.deep.equal([0, 9]);
    change('1', 'NotSupported');
    expect(rig.row('config_unknown').cases[0]?.text).to.equal(
      'ChangeConfiguration: K is refused for the 4. time or more',
    );
    rig.replied('GetConfiguration', {}, { configurationKey: [] });
    rig.replied('ClearCache', {}, { status: 'Rejected' });
    expect(exercised('config_unknown')).to.equal(11);
  });

  it('count no refusal of another connection, nor after ten minutes, and of the last 64 settings alone', () => {
    rig = new JudgeRig().open();
    const get = (key: string) => {
      rig.replied('GetConfiguration', { key: [key] }, { unknownKey: [key] });
    };
    times(3, () => {
      get('K');
    });
    rig.judge.closed();
    rig.open();
    times(3, () => {
      get('K');
      rig.pass(600_000);
    });
    expect(broken('config_unknown')).to.equal(0);
    get('K');
    expect(broken('config_unknown')).to.equal(1);
    times(3, () => {
      get('first');
    });
    times(63, (n) => {
      get(`other ${n}`);
    });
    get('first');
    expect(broken('config_unknown') + rig.row('config_unknown').repeats).to.equal(2);
    times(64, (n) => {
      get(`next ${n}`);
    });
    get('first');
    expect(broken('config_unknown') + rig.row('config_unknown').repeats).to.equal(2);
  });

  it('of long names are cut', () => {
    rig = new JudgeRig().open();
    const key = 'k'.repeat(300);
    times(4, () => {
      rig.replied('GetConfiguration', { key: [key] }, { unknownKey: [key] });
    });
    expect(rig.row('config_unknown').cases[0]?.text).to.equal(
      `GetConfiguration: ${'k'.repeat(200)} is refused for the 4. time or more`,
    );
  });

  it('to stop a transaction of 2.x that has ended are found above 60 s, for the last 20 of them', () => {
    const event = (transactionId: string, eventType = 'Ended') => {
      rig.answered('TransactionEvent', {}, { payload: { eventType, transactionInfo: { transactionId } } });
    };
    const stop = (transactionId: string) => {
      rig.call('RequestStopTransaction', { transactionId });
    };
    event('running', 'Updated');
    event('a');
    rig.pass(60_000);
    stop('a');
    stop('running');
    expect(broken('remote_stop_unknown')).to.equal(0);
    expect(exercised('remote_stop_unknown')).to.equal(2);
    rig.call('GetTransactionStatus', { transactionId: 'a' });
    expect(exercised('remote_stop_unknown')).to.equal(2);
    rig.pass(1);
    stop('a');
    expect(broken('remote_stop_unknown')).to.equal(1);
    times(20, (n) => {
      event(`b${n}`);
    });
    rig.pass(60_001);
    rig.findings.wall.advance(1000);
    stop('a');
    expect(rig.row('remote_stop_unknown').repeats + broken('remote_stop_unknown')).to.equal(1);
    stop('b1');
    expect(rig.row('remote_stop_unknown').repeats + broken('remote_stop_unknown')).to.equal(2);
  });

  it('with a profile are occasions of the rules about profiles, also as part of a start', () => {
    const chargingProfile = { chargingProfilePurpose: 'TxProfile' };
    rig.pass(60_000);
    rig.call('RequestStartTransaction', { chargingProfile });
    expect([exercised('profile_rule'), exercised('tx_profile_without_tx')]).to.deep.equal([1, 0]);
    rig.call('RequestStartTransaction', {});
    rig.call('GetCompositeSchedule', { chargingProfile });
    expect(exercised('profile_rule')).to.equal(1);
    rig.pass(10_000);
    rig.call('SetChargingProfile', { chargingProfile });
    expect([exercised('profile_rule'), exercised('tx_profile_without_tx')]).to.deep.equal([2, 1]);
    rig.call('SetChargingProfile', { chargingProfile: { chargingProfilePurpose: 'TxDefaultProfile' } });
    expect([exercised('profile_rule'), exercised('tx_profile_without_tx')]).to.deep.equal([3, 1]);
    // which settings limit them has not been read
    expect(rig.row('profile_limits')).to.include({ exercised: 0, undecided: 3 });
  });

  it('of other actions count for no habit', () => {
    times(100, () => {
      rig.call('ClearCache', { requestedMessage: 'Heartbeat' });
    });
    for (const rule of ['profile_churn', 'trigger_flood', 'reset_loop'] as const)
      expect(rig.row(rule).state, rule).to.equal('not_exercised');
    times(20, () => {
      rig.call('ExtendedTriggerMessage', { requestedMessage: 'Heartbeat' });
    });
    expect(broken('trigger_flood')).to.equal(1);
  });

  it('of triggers count by message, connector, EVSE and custom trigger', () => {
    times(40, (n) => {
      rig.call('TriggerMessage', { requestedMessage: 'CustomTrigger', customTrigger: `c${n % 2}` });
      rig.call('TriggerMessage', { requestedMessage: 'MeterValues', evse: { id: 1 + (n % 2) } });
    });
    times(40, (n) => {
      rig.call('TriggerMessage', { requestedMessage: 'MeterValues', evse: { id: 1 + (n % 2) } });
    });
    expect(broken('trigger_flood')).to.equal(0);
  });

  it('read the settings of a rule by a report of all, or of its component', () => {
    const informed = (action: string, payload: Payload) => {
      const other = new JudgeRig().open('ocpp2.0.1');
      other.call(action, payload);
      other.call('GetVariables', {}, 'config_limits');
      return other.row('config_limits').broken === 1;
    };
    const monitoring = { component: { name: 'MonitoringCtrlr' } };
    const others = { component: { name: 'ClockCtrlr' } };
    expect(informed('GetReport', {})).to.equal(true);
    expect(informed('GetReport', { componentVariable: [others] })).to.equal(false);
    expect(informed('GetReport', { componentVariable: [others, monitoring] })).to.equal(true);
    expect(informed('GetBaseReport', { reportBase: 'FullInventory' })).to.equal(true);
    expect(informed('GetBaseReport', { reportBase: 'SummaryInventory' })).to.equal(false);
    expect(informed('GetVariables', { getVariableData: [monitoring] })).to.equal(true);
    expect(informed('GetConfiguration', { key: [] })).to.equal(true);
    expect(informed('GetConfiguration', { key: ['Other'] })).to.equal(false);
    expect(informed('ClearCache', {})).to.equal(false);
  });

  it('around the begin and end of a transaction may be about one that only one side knows', () => {
    const judged = (act: () => void) => {
      rig = new JudgeRig().open('ocpp2.0.1');
      rig.pass(100_000);
      act();
      rig.call('SetChargingProfile', {}, 'tx_profile_without_tx');
      return broken('tx_profile_without_tx') === 1;
    };
    const call = (eventType: string) => ({ payload: { eventType } });
    expect(judged(() => undefined)).to.equal(true);
    expect(judged(() => rig.sent('TransactionEvent', call('Started')))).to.equal(false);
    expect(judged(() => rig.sent('TransactionEvent', { ...call('Ended'), afterMs: 9999 }))).to.equal(false);
    expect(judged(() => rig.sent('TransactionEvent', { ...call('Ended'), afterMs: 10_000 }))).to.equal(true);
    expect(judged(() => rig.sent('TransactionEvent', call('Updated')))).to.equal(true);
    expect(judged(() => rig.sent('StatusNotification', call('Started')))).to.equal(true);
    expect(judged(() => rig.answered('TransactionEvent', {}, { ...call('Started'), afterMs: 20_000 }))).to.equal(false);
    expect(judged(() => rig.refused('TransactionEvent', 'X', { ...call('Started'), afterMs: 20_000 }))).to.equal(false);
    expect(judged(() => rig.call('RequestStopTransaction', {}))).to.equal(false);
    expect(judged(() => rig.call('ClearCache', {}))).to.equal(true);
  });
});
