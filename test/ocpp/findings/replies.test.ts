/** Calls that follow the answers of a station, in the forms of 2.x, and while findings are off. */
import { expect } from 'chai';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import { JudgeRig } from './rig.ts';
import { times } from './trial.ts';

const result = (name: string, attributeStatus: string, reasonCode?: string): Payload => ({
  setVariableResult: [
    { component: { name: 'A' }, variable: { name: 'Other' }, attributeStatus: 'Accepted' },
    {
      component: { name: 'A' },
      variable: { name },
      attributeStatus,
      ...(reasonCode !== undefined && { attributeStatusInfo: { reasonCode } }),
    },
  ],
});

describe('OCPP findings: answers of a station', () => {
  it('RebootRequired of a variable waits for a Reset, with the first name', () => {
    const rig = new JudgeRig().open('ocpp2.0.1');
    rig.replied('SetVariables', {}, result('NetworkConfigurationPriority', 'RebootRequired'));
    rig.pass(1000);
    rig.replied('SetVariables', {}, result('Second', 'RebootRequired'));
    expect(rig.row('reboot_required_ignored').state).to.equal('undecided');
    rig.pass(3_600_000);
    const { broken, cases } = rig.row('reboot_required_ignored');
    expect([broken, cases[0]?.text]).to.deep.equal([
      1,
      'NetworkConfigurationPriority needs a restart, and no Reset came within 60 min',
    ]);
    expect(cases[0]?.facts).to.include({ station: 'CP-1', action: 'SetVariables', message_id: 'central-1' });
    rig.replied('SetVariables', {}, result('Second', 'RebootRequired'));
    rig.replied('Reset', {}, { status: 'Scheduled' });
    rig.pass(3_600_000);
    expect(rig.row('reboot_required_ignored').exercised).to.equal(2);
  });

  it('a Reset while findings are off ends the wait', () => {
    const rig = new JudgeRig().open();
    rig.replied('ChangeConfiguration', { key: 'K' }, { status: 'RebootRequired' });
    rig.findings.isOn = false;
    rig.replied('Reset', {}, { status: 'Accepted' });
    rig.findings.isOn = true;
    rig.pass(3_600_000);
    expect(rig.row('reboot_required_ignored').broken).to.equal(0);
  });

  it('a connection that ends before the hour is over decides nothing', () => {
    const rig = new JudgeRig().open();
    rig.replied('ChangeConfiguration', { key: 'K' }, { status: 'RebootRequired' });
    rig.judge.closed();
    expect(rig.row('reboot_required_ignored').undecided).to.equal(1);
    rig.open();
    rig.judge.closed();
    expect(rig.row('reboot_required_ignored').undecided).to.equal(1);
  });

  it('a lower security profile of 2.x is one that the station refuses for that reason', () => {
    for (const [action, reply] of [
      ['SetNetworkProfile', { status: 'Rejected', statusInfo: { reasonCode: 'NoSecurityDowngrade' } }],
      ['SetVariables', result('SecurityProfile', 'Rejected', 'NoSecurityDowngrade')],
    ] as const) {
      const rig = new JudgeRig().open('ocpp2.0.1');
      rig.replied(action, {}, reply);
      expect(rig.row('security_downgrade').broken, action).to.equal(1);
    }
    const rig = new JudgeRig().open('ocpp2.0.1');
    rig.replied('SetVariables', {}, result('SecurityProfile', 'Accepted'));
    rig.replied('SetNetworkProfile', {}, { status: 'Failed' });
    expect(rig.row('security_downgrade').state).to.equal('not_exercised');
    rig.replied('SetNetworkProfile', {}, { status: 'Accepted' });
    expect(rig.row('security_downgrade').state).to.equal('held');
  });

  it('starts again count from the answer before, with tokens of 2.x', () => {
    const start = (rig: JudgeRig) => {
      rig.replied('RequestStartTransaction', { idToken: { idToken: 'A' }, evseId: 2 }, { status: 'Accepted' });
    };
    const rig = new JudgeRig().open('ocpp2.1');
    times(3, () => {
      start(rig);
    });
    expect(rig.row('remote_start_repeated').broken).to.equal(0);
    start(rig);
    expect(rig.row('remote_start_repeated').cases[0]?.facts).to.include({ again: 3 });
    const other = new JudgeRig().open('ocpp2.1');
    times(3, () => {
      start(other);
      other.replied('Reset', {}, { status: 'Accepted' });
    });
    other.sent('TransactionEvent', { payload: { eventType: 'Updated' } });
    start(other);
    expect(other.row('remote_start_repeated').broken).to.equal(1);
  });

  it('reports end with their last part, whatever the answer to it', () => {
    const rig = new JudgeRig().open('ocpp2.0.1');
    const ask = (requestId: number) => {
      rig.replied('GetChargingProfiles', { requestId }, { status: 'Accepted' });
    };
    ask(1);
    expect(rig.row('request_id_reused').state).to.equal('not_exercised');
    rig.refused('ReportChargingProfiles', 'InternalError', { payload: { requestId: 1, tbc: false } });
    ask(1);
    rig.answered('NotifyReport', {}, { payload: { requestId: 1 } });
    expect(rig.row('request_id_reused').broken).to.equal(0);
    rig.pass(59_999);
    ask(1);
    expect(rig.row('request_id_reused').broken).to.equal(0);
    times(20, (n) => {
      ask(100 + n);
    });
    ask(116);
    expect(rig.row('request_id_reused').broken).to.equal(0);
    ask(110);
    expect(rig.row('request_id_reused').broken).to.equal(1);
  });
});
