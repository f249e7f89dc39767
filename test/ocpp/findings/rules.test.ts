import { expect } from 'chai';
import { ocppRules } from '../../../src/finding-rules/ocpp.ts';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import type { OcppSubprotocol, Payload } from '../../../src/ocpp/rpc/model.ts';
import { JudgeRig, url } from './rig.ts';

type Act = (rig: JudgeRig) => void;

interface Trial {
  readonly version?: OcppSubprotocol;
  readonly wrong: Act;
  /** of the first case */
  readonly text: string;
  readonly right: Act;
  readonly trap: Act;
}

const times = (count: number, act: (n: number) => void) => {
  for (let n = 1; n <= count; n += 1) act(n);
};

const profile16 = (chargingProfilePurpose: string, limit = 16, more: Payload = {}): Payload => ({
  connectorId: 1,
  csChargingProfiles: {
    chargingProfilePurpose,
    chargingSchedule: {
      chargingRateUnit: 'A',
      chargingSchedulePeriod: [{ startPeriod: 0, limit }],
      ...more,
    },
  },
});

const boot = { status: 'Accepted', interval: 300, currentTime: '2026-06-21T08:00:00Z' };
const violated = (rig: JudgeRig, action: string, payload: Payload, description: string) => {
  rig.hear(JSON.stringify([2, 'a', action, payload]), () => {
    rig.judge.violated({ code: 'X', description, details: {} }, action, 'a');
  });
};

/** Twice a call of the central system; the second one breaks a rule. */
const second =
  (rule: OcppRule): Act =>
  (rig) => {
    rig.call('Reset');
    rig.call('Reset', {}, rule);
  };
const readFirst: Act = (rig) => {
  rig.call('GetConfiguration');
  rig.call('GetVariables');
};

const trials: Readonly<Record<OcppRule, Trial>> = {
  schema: {
    wrong: (rig) => {
      violated(rig, 'Reset', { type: 'Warm' }, '/type must be one of Hard, Soft');
    },
    text: 'Reset: /type must be one of Hard, Soft',
    right: (rig) => {
      rig.call('Reset', { type: 'Hard' });
    },
    trap: (rig) => {
      rig.hear('[2,"a","GetLog",{"requestId":12345678901234567890}]', () => {
        const description = 'the number 12345678901234567890 cannot be held exactly';
        rig.judge.violated({ code: 'X', description, details: {} }, 'GetLog', 'a');
      });
    },
  },
  time_zoneless: {
    wrong: (rig) => {
      const description = '/expiryDate must be a date and time with zone (RFC 3339)';
      violated(rig, 'ReserveNow', { expiryDate: '2026-06-21T08:00:00' }, description);
    },
    text: 'ReserveNow: /expiryDate must be a date and time with zone (RFC 3339)',
    right: (rig) => {
      rig.call('ReserveNow', { expiryDate: '2026-06-21T08:00:00Z' });
    },
    trap: (rig) => {
      const description = '/expiryDate must be a date and time with zone (RFC 3339)';
      violated(rig, 'ReserveNow', { expiryDate: 'tomorrow' }, description);
    },
  },
  frame: {
    wrong: (rig) => {
      rig.hear('{"action":"Reset"}', () => {
        rig.finds('frame', null, null);
      });
      rig.call('Reset');
      rig.hear('nonsense', () => {
        rig.finds('frame', null, null);
      });
    },
    text: 'why',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      rig.hear('[2,"a","ClearCache",null]', () => {
        rig.finds('frame', null, 'a');
      });
      rig.hear('[3,"a",null]', () => {
        rig.finds('frame', null, 'a');
      });
    },
  },
  id_reused: {
    wrong: second('id_reused'),
    text: 'Reset: why',
    right: second('schema'),
    trap: (rig) => {
      rig.judge.closed();
      rig.open('ocpp2.1');
      second('id_reused')(rig);
    },
  },
  id_long: {
    wrong: (rig) => {
      rig.call('Reset', {}, 'id_long');
    },
    text: 'Reset: why',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      rig.hear(JSON.stringify([2, 'x'.repeat(36), 'Reset', {}]));
    },
  },
  call_overlap: {
    version: 'ocpp2.0.1',
    wrong: second('call_overlap'),
    text: 'Reset: why',
    right: second('schema'),
    trap: (rig) => {
      const call = rig.sent('Heartbeat');
      rig.call('Reset');
      rig.judge.answered(call, {});
    },
  },
  call_overlap_16: {
    wrong: second('call_overlap_16'),
    text: 'Reset: why',
    right: second('schema'),
    trap: (rig) => {
      const call = rig.sent('Heartbeat');
      rig.call('Reset');
      rig.judge.answered(call, {});
    },
  },
  action_unknown: {
    wrong: (rig) => {
      rig.call('Dance', {}, 'action_unknown');
    },
    text: 'Dance: why',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      rig.call('DataTransfer', { vendorId: 'v' });
    },
  },
  action_direction: {
    wrong: (rig) => {
      rig.call('Heartbeat', {}, 'action_direction');
    },
    text: 'Heartbeat: why',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      rig.call('DataTransfer', { vendorId: 'v' });
    },
  },
  answer_unknown: {
    wrong: (rig) => {
      rig.pass(60_000);
      rig.hear('[3,"stray",{}]', () => {
        rig.finds('answer_unknown', null, 'stray');
      });
    },
    text: 'why',
    right: (rig) => {
      rig.answered('Heartbeat', {});
    },
    trap: (rig) => {
      rig.hear('[3,"of an earlier connection",{}]', () => {
        rig.finds('answer_unknown', null, 'of an earlier connection');
      });
      rig.pass(60_000);
      rig.judge.version = '2.0.1';
      rig.hear('[4,"-1","RpcFrameworkError","",{}]', () => {
        rig.finds('answer_unknown', null, '-1');
      });
    },
  },
  answer_late: {
    wrong: (rig) => {
      rig.timedOut('StatusNotification', { id: 'late' });
      rig.pass(5000);
      rig.judge.late('late');
    },
    text: 'the answer to StatusNotification came 35 s after it was sent',
    right: (rig) => {
      rig.answered('StatusNotification', {}, { afterMs: 29_999 });
    },
    trap: (rig) => {
      rig.timedOut('StatusNotification', { id: 'made up', isJudged: false });
      rig.judge.late('made up');
      rig.isDisturbed = true;
      rig.timedOut('StatusNotification', { id: 'changed' });
      rig.judge.late('changed');
      rig.isDisturbed = false;
      // the time of the station is shorter
      rig.judge.timedOut({ ...rig.sent('StatusNotification', { id: 'short', afterMs: 10_000 }) });
      rig.judge.late('short');
    },
  },
  answer_missing: {
    wrong: (rig) => {
      rig.timedOut('StartTransaction');
      rig.pass(90_000);
    },
    text: 'StartTransaction is not answered within 120 s',
    right: (rig) => {
      rig.timedOut('StartTransaction', { id: 'late' });
      rig.pass(89_999);
      rig.judge.late('late');
      rig.pass(90_000);
    },
    trap: (rig) => {
      rig.timedOut('StartTransaction', { isBusy: false });
      rig.pass(90_000);
      rig.timedOut('StartTransaction');
      rig.judge.closed();
      rig.open();
      rig.pass(90_000);
      rig.timedOut('StartTransaction');
      rig.judge.disturbed();
      rig.pass(90_000);
    },
  },
  error_code: {
    wrong: (rig) => {
      rig.hear('[4,"a","Nope","",{}]', () => {
        rig.finds('error_code', 'Heartbeat', 'a');
      });
    },
    text: 'Heartbeat: why',
    right: (rig) => {
      rig.refused('DataTransfer', 'NotSupported');
    },
    trap: (rig) => {
      rig.hear('[4,"a","OccurrenceConstraintViolation","",{}]', () => {
        rig.finds('error_code', 'Heartbeat', 'a');
      });
    },
  },
  call_error_wrong: {
    wrong: (rig) => {
      rig.refused('Heartbeat', 'NotImplemented');
    },
    text: 'Heartbeat is answered with the error NotImplemented',
    right: (rig) => {
      rig.answered('Heartbeat', {});
    },
    trap: (rig) => {
      rig.refused('Heartbeat', 'SecurityError');
      rig.refused('SecurityEventNotification', 'NotImplemented');
      rig.refused('DataTransfer', 'NotSupported');
      rig.refused('Heartbeat', 'FormationViolation', { isJudged: false });
      rig.isDisturbed = true;
      rig.refused('Heartbeat', 'FormationViolation');
    },
  },
  stop_refused: {
    wrong: (rig) => {
      times(3, () => {
        rig.refused('StopTransaction', 'InternalError', { payload: { transactionId: 7 } });
      });
    },
    text: 'StopTransaction: the end of transaction 7 is refused with InternalError for the 3. time in a row',
    right: (rig) => {
      rig.answered('StopTransaction', {}, { payload: { transactionId: 7 } });
    },
    trap: (rig) => {
      times(2, () => {
        rig.refused('StopTransaction', 'InternalError', { payload: { transactionId: 7 } });
      });
      rig.answered('StopTransaction', {}, { payload: { transactionId: 7 } });
      times(2, (transactionId) => {
        rig.refused('StopTransaction', 'InternalError', { payload: { transactionId } });
      });
    },
  },
  id_token_info_missing: {
    version: 'ocpp2.0.1',
    wrong: (rig) => {
      const idToken = { idToken: '1', type: 'Central' };
      rig.answered('TransactionEvent', {}, { payload: { eventType: 'Started', idToken } });
    },
    text: 'TransactionEvent: the answer to the event Started with a token has no idTokenInfo',
    right: (rig) => {
      const idToken = { idToken: '1', type: 'Central' };
      const idTokenInfo = { status: 'Accepted' };
      rig.answered('TransactionEvent', { idTokenInfo }, { payload: { eventType: 'Started', idToken } });
    },
    trap: (rig) => {
      const idToken = { idToken: '1', type: 'Central' };
      for (const payload of [
        { eventType: 'Updated' },
        { eventType: 'Ended', idToken },
        { eventType: 'Started', idToken, offline: true },
        { eventType: 'Started', idToken: { idToken: '', type: 'NoAuthorization' } },
      ])
        rig.answered('TransactionEvent', {}, { payload });
    },
  },
  transaction_id: {
    wrong: (rig) => {
      rig.answered('StartTransaction', { transactionId: 5 }, { id: 'start' });
      rig.finds('transaction_id', 'StartTransaction', 'start');
    },
    text: 'StartTransaction: why',
    right: (rig) => {
      rig.answered('StartTransaction', { transactionId: 5 });
    },
    trap: (rig) => {
      times(2, () => {
        rig.answered('StartTransaction', { transactionId: 5 }, { id: 'start' });
      });
    },
  },
  transaction_id_range: {
    wrong: (rig) => {
      rig.answered('StartTransaction', { transactionId: 2 ** 31 });
      rig.answered('StartTransaction', { transactionId: -1 });
    },
    text: 'StartTransaction: the transaction has the id 2147483648',
    right: (rig) => {
      rig.answered('StartTransaction', { transactionId: 1 });
    },
    trap: (rig) => {
      rig.answered('StartTransaction', { transactionId: 0 });
      rig.answered('StartTransaction', { transactionId: 2 ** 31 - 1 });
    },
  },
  subprotocol: {
    wrong: (rig) => {
      rig.judge.chose(url, 'ocpp1.5');
    },
    text: 'the handshake chooses ocpp1.5, which was not offered',
    right: (rig) => {
      rig.open('ocpp2.1');
    },
    trap: (rig) => {
      // a refusal of the handshake does not reach the judge
      rig.judge.closed();
    },
  },
  ping_unanswered: {
    wrong: (rig) => {
      const pingedMs = rig.findings.wall.monotonicMs();
      rig.pass(10_000);
      rig.call('GetConfiguration');
      rig.pass(20_000);
      rig.judge.unponged(pingedMs);
    },
    text: 'a ping is not answered within 30 s, while messages still came',
    right: (rig) => {
      rig.judge.ponged();
    },
    trap: (rig) => {
      rig.call('GetConfiguration');
      const pingedMs = rig.findings.wall.monotonicMs();
      rig.pass(9999);
      rig.call('GetConfiguration');
      rig.judge.unponged(pingedMs);
      rig.pass(10_000);
      rig.judge.disturbed();
      rig.call('GetConfiguration');
      rig.judge.unponged(pingedMs);
    },
  },
  remote_while_pending: {
    wrong: (rig) => {
      rig.call('RemoteStartTransaction', {}, 'remote_while_pending');
    },
    text: 'RemoteStartTransaction: why',
    right: (rig) => {
      rig.booted({ status: 'Pending' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.call('GetConfiguration');
    },
  },
  call_while_rejected: {
    wrong: (rig) => {
      rig.isRegistered = false;
      rig.call('GetConfiguration', {}, 'call_while_rejected');
    },
    text: 'GetConfiguration: why',
    right: (rig) => {
      rig.booted({ status: 'Rejected' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.isRegistered = false;
      rig.call('GetConfiguration');
    },
  },
  before_registration: {
    version: 'ocpp2.0.1',
    wrong: (rig) => {
      rig.isRegistered = false;
      rig.call('GetVariables', {}, 'before_registration');
    },
    text: 'GetVariables: why',
    right: (rig) => {
      rig.booted({ status: 'Rejected' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.isRegistered = false;
      rig.call('TriggerMessage', { requestedMessage: 'BootNotification' });
    },
  },
  no_registration: {
    wrong: (rig) => {
      times(5, () => {
        rig.booted({ status: 'Pending' });
        rig.pass(150_000);
      });
    },
    text: 'BootNotification: the station is pending for 10 min and 5 answers, and no call came',
    right: (rig) => {
      rig.booted({ status: 'Pending' });
      rig.booted({});
    },
    trap: (rig) => {
      times(6, () => {
        rig.booted({ status: 'Pending' });
        rig.pass(110_000);
        rig.call('GetConfiguration');
        rig.pass(110_000);
      });
      times(9, () => {
        rig.booted({ status: 'Rejected' });
        rig.pass(150_000);
      });
    },
  },
  interval: {
    wrong: (rig) => {
      rig.booted({ interval: -1 });
      rig.finds('interval', 'BootNotification', 'own');
    },
    text: 'BootNotification: why',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ interval: 0 });
    },
  },
  interval_short: {
    wrong: (rig) => {
      rig.booted({ interval: 9 });
    },
    text: 'BootNotification: the interval is 9 s',
    right: (rig) => {
      rig.booted({ interval: 10 });
    },
    trap: (rig) => {
      rig.booted({ interval: 5, status: 'Pending' });
      rig.booted({ interval: 0 });
    },
  },
  interval_long: {
    wrong: (rig) => {
      rig.booted({ interval: 86_401 });
    },
    text: 'BootNotification: the interval is 86401 s',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ interval: 86_400 });
    },
  },
  current_time: {
    wrong: (rig) => {
      rig.booted({ currentTime: '1970-01-01T00:00:00Z' });
      rig.finds('current_time', 'BootNotification', 'own');
    },
    text: 'BootNotification: why',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ currentTime: '2026-06-21T10:00:00+02:00' });
    },
  },
  time_local: {
    wrong: (rig) => {
      times(3, () => {
        rig.beat(2 * 3_600_000 + 60_000);
      });
    },
    text: 'Heartbeat: currentTime is 121 min off UTC',
    right: (rig) => {
      rig.beat(0);
    },
    trap: (rig) => {
      times(2, () => {
        rig.beat(2 * 3_600_000);
      });
      rig.beat(15 * 60_000);
      times(2, () => {
        rig.beat(-3_600_000);
      });
    },
  },
  time_wrong: {
    wrong: (rig) => {
      times(3, () => {
        rig.beat(15 * 60_000);
      });
    },
    text: 'Heartbeat: currentTime is 900 s off this machine',
    right: (rig) => {
      rig.beat(59_000);
    },
    trap: (rig) => {
      times(5, () => {
        rig.beat(3_600_000);
      });
      times(2, () => {
        rig.beat(100_000);
      });
    },
  },
  profile_rule: {
    wrong: (rig) => {
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'), 'profile_rule');
    },
    text: 'SetChargingProfile: why',
    right: (rig) => {
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'));
    },
    trap: (rig) => {
      rig.call('SetChargingProfile', profile16('ChargePointMaxProfile'));
    },
  },
  profile_limits: {
    wrong: (rig) => {
      readFirst(rig);
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'), 'profile_limits');
    },
    text: 'SetChargingProfile: why',
    right: (rig) => {
      readFirst(rig);
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'));
    },
    trap: (rig) => {
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'), 'profile_limits');
    },
  },
  profile_clash: {
    version: 'ocpp2.1',
    wrong: (rig) => {
      rig.call('SetChargingProfile', {}, 'profile_clash');
    },
    text: 'SetChargingProfile: why',
    right: (rig) => {
      rig.call('SetChargingProfile');
    },
    trap: (rig) => {
      times(2, () => {
        rig.call('SetChargingProfile', { chargingProfile: { id: 1 } });
      });
    },
  },
  tx_profile_without_tx: {
    wrong: (rig) => {
      rig.pass(60_000);
      rig.call('SetChargingProfile', profile16('TxProfile'), 'tx_profile_without_tx');
    },
    text: 'SetChargingProfile: why',
    right: (rig) => {
      rig.pass(60_000);
      rig.call('SetChargingProfile', profile16('TxProfile'));
    },
    trap: (rig) => {
      const tooEarly = () => {
        rig.call('SetChargingProfile', profile16('TxProfile'), 'tx_profile_without_tx');
      };
      rig.pass(59_000);
      tooEarly();
      rig.pass(1000);
      rig.answered('StopTransaction', {});
      rig.pass(9999);
      tooEarly();
      rig.call('RemoteStopTransaction');
      rig.pass(9999);
      tooEarly();
      rig.pass(1);
      rig.hasBacklog = true;
      tooEarly();
    },
  },
  profile_churn: {
    wrong: (rig) => {
      times(60, () => {
        rig.pass(10_000);
        rig.call('SetChargingProfile', profile16('TxDefaultProfile'));
      });
    },
    text: 'SetChargingProfile: 60 profiles that last within 10 min',
    right: (rig) => {
      rig.call('SetChargingProfile', profile16('TxDefaultProfile'));
    },
    trap: (rig) => {
      times(100, () => {
        rig.call('SetChargingProfile', profile16('TxProfile'));
      });
      times(100, () => {
        rig.pass(10_200);
        rig.call('SetChargingProfile', profile16('TxDefaultProfile'));
      });
    },
  },
  limit_below_minimum: {
    wrong: (rig) => {
      rig.call('SetChargingProfile', profile16('TxProfile', 5.9));
    },
    text: 'SetChargingProfile: a limit of 5.9 A',
    right: (rig) => {
      rig.call('SetChargingProfile', profile16('TxProfile', 6));
    },
    trap: (rig) => {
      rig.call('SetChargingProfile', profile16('TxProfile', 0));
      rig.call('SetChargingProfile', profile16('TxProfile', 3, { chargingRateUnit: 'W' }));
      rig.call('SetChargingProfile', profile16('TxProfile', 3, { duration: 59 }));
    },
  },
  config_limits: {
    wrong: (rig) => {
      readFirst(rig);
      rig.call('GetConfiguration', {}, 'config_limits');
    },
    text: 'GetConfiguration: why',
    right: (rig) => {
      readFirst(rig);
      rig.call('GetConfiguration');
    },
    trap: (rig) => {
      rig.call('GetConfiguration', {}, 'config_limits');
    },
  },
  local_list: {
    wrong: (rig) => {
      readFirst(rig);
      rig.call('SendLocalList', {}, 'local_list');
    },
    text: 'SendLocalList: why',
    right: (rig) => {
      readFirst(rig);
      rig.call('SendLocalList');
    },
    trap: (rig) => {
      rig.call('SendLocalList', {}, 'local_list');
    },
  },
  reservation: {
    wrong: (rig) => {
      rig.call('ReserveNow', {}, 'reservation');
    },
    text: 'ReserveNow: why',
    right: (rig) => {
      rig.call('ReserveNow');
    },
    trap: (rig) => {
      // the station finds nothing for an expiry within the last minute
      rig.call('ReserveNow', { expiryDate: new Date(rig.findings.wall.nowMs() - 30_000).toISOString() });
    },
  },
  der_rule: {
    version: 'ocpp2.1',
    wrong: (rig) => {
      rig.call('SetDERControl', {}, 'der_rule');
    },
    text: 'SetDERControl: why',
    right: (rig) => {
      rig.call('SetDERControl');
    },
    trap: (rig) => {
      rig.judge.closed();
      rig.open('ocpp2.0.1');
      rig.call('SetDERControl', {}, 'der_rule');
    },
  },
  request_rule: {
    version: 'ocpp2.1',
    wrong: (rig) => {
      rig.call('CustomerInformation', {}, 'request_rule');
    },
    text: 'CustomerInformation: why',
    right: (rig) => {
      rig.call('CustomerInformation');
    },
    trap: (rig) => {
      rig.call('SetVariables', {}, null);
    },
  },
  trigger_flood: {
    wrong: (rig) => {
      times(20, () => {
        rig.pass(4999);
        rig.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId: 1 });
      });
    },
    text: 'TriggerMessage: MeterValues is triggered 20 times in a row, each within 5 s',
    right: (rig) => {
      rig.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId: 1 });
    },
    trap: (rig) => {
      times(40, (n) => {
        rig.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId: n % 2 });
      });
      times(40, () => {
        rig.pass(5000);
        rig.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId: 1 });
      });
    },
  },
  reset_loop: {
    wrong: (rig) => {
      times(3, () => {
        rig.pass(299_000);
        rig.call('Reset');
      });
    },
    text: 'Reset: 3 resets within 10 min',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      times(9, () => {
        rig.pass(300_001);
        rig.call('Reset');
      });
    },
  },
};

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
    rig.hear('[3,"own",null]', () => {
      rig.judge.violated({ code: 'X', description: 'no object', details: {} }, 'Heartbeat', 'own');
    });
    expect(rig.row('schema').broken).to.equal(0);
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
});
