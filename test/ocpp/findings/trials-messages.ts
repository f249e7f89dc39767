/** Trials of the rules about messages of a central system and about its answers. */
import type { ocppMessageRules } from '../../../src/finding-rules/ocpp-messages.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import type { JudgeRig } from './rig.ts';
import { second, times } from './trial.ts';
import type { Trial } from './trial.ts';

const violated = (rig: JudgeRig, action: string, payload: Payload, description: string) => {
  rig.hear(JSON.stringify([2, 'a', action, payload]), () => {
    rig.judge.violated({ code: 'X', description, details: {} }, action, 'a');
  });
};

const ended = (transactionId: string): Payload => ({ eventType: 'Ended', transactionInfo: { transactionId } });

export const messagesTrials: Readonly<Record<keyof typeof ocppMessageRules, Trial>> = {
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
      rig.hear('{"action":"Reset"}');
      rig.call('Reset');
      rig.hear('nonsense');
    },
    text: 'why',
    right: (rig) => {
      rig.call('Reset');
    },
    trap: (rig) => {
      rig.hear('[2,"a","ClearCache",null]');
      rig.hear('[3,"a",null]');
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
      times(4, (transactionId) => {
        rig.refused('StopTransaction', 'InternalError', { payload: { transactionId } });
      });
    },
  },
  ended_refused: {
    version: 'ocpp2.1',
    wrong: (rig) => {
      times(3, () => {
        rig.refused('TransactionEvent', 'InternalError', { payload: ended('7') });
      });
    },
    text: 'TransactionEvent: the end of transaction 7 is refused with InternalError for the 3. time in a row',
    right: (rig) => {
      rig.answered('TransactionEvent', {}, { payload: ended('7') });
    },
    trap: (rig) => {
      times(2, () => {
        rig.refused('TransactionEvent', 'InternalError', { payload: ended('7') });
      });
      rig.answered('TransactionEvent', {}, { payload: ended('7') });
      times(4, (n) => {
        rig.refused('TransactionEvent', 'InternalError', { payload: ended(String(n)) });
        rig.refused('TransactionEvent', 'InternalError', { payload: { ...ended('7'), eventType: 'Updated' } });
        rig.refused('TransactionEvent', 'SecurityError', { payload: ended('7') });
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
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 5 }, { id: 'start' });
      rig.finds('transaction_id', 'StartTransaction', 'start');
    },
    text: 'StartTransaction: why',
    right: (rig) => {
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 5 });
    },
    trap: (rig) => {
      times(2, () => {
        rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 5 }, { id: 'start' });
      });
    },
  },
  transaction_id_range: {
    wrong: (rig) => {
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 2 ** 31 });
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: -1 });
    },
    text: 'StartTransaction: the transaction has the id 2147483648',
    right: (rig) => {
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 1 });
    },
    trap: (rig) => {
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 0 });
      rig.answered('StartTransaction', { idTagInfo: { status: 'Accepted' }, transactionId: 2 ** 31 - 1 });
    },
  },
};
