/** Trials of the rules about what a central system asks of a station. */
import type { ocppRequestRules } from '../../../src/finding-rules/ocpp-requests.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import type { JudgeRig } from './rig.ts';
import { times } from './trial.ts';
import type { Act, Trial } from './trial.ts';

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

const remoteStart = (rig: JudgeRig, more: Payload = {}, status = 'Accepted') => {
  rig.replied('RemoteStartTransaction', { idTag: 'A', connectorId: 1, ...more }, { status });
};

const readFirst: Act = (rig) => {
  rig.call('GetConfiguration');
};

/** Reads settings of 1.6 and 2.x that name no limit of a call. */
const readOthers: Act = (rig) => {
  rig.call('GetConfiguration', { key: ['HeartbeatInterval', 'SupportedFeatureProfiles'] });
  rig.call('GetVariables', { getVariableData: [{ component: { name: 'OCPPCommCtrlr' } }] });
  rig.call('GetReport', { componentVariable: [{ component: { name: 'OCPPCommCtrlr' } }] });
  rig.call('GetBaseReport', { reportBase: 'SummaryInventory' });
};

export const requestsTrials: Readonly<Record<keyof typeof ocppRequestRules, Trial>> = {
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
      readOthers(rig);
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
  limit_unit_phases: {
    wrong: (rig) => {
      rig.call('SetChargingProfile', profile16('TxProfile', 11_000));
    },
    text: 'SetChargingProfile: a limit of 11000 A, which would be a power of this station in W',
    right: (rig) => {
      rig.call('SetChargingProfile', profile16('TxProfile', 96));
    },
    trap: (rig) => {
      for (const limit of [96, 500, 1379, 2000, 5000, 9999, 10_000, 26_401, 99_999])
        rig.call('SetChargingProfile', profile16('TxProfile', limit));
      const inWatts = { chargingRateUnit: 'W' };
      rig.call('SetChargingProfile', profile16('TxProfile', 11_000, inWatts));
      // what is left of the sun
      for (const limit of [16, 32, 17, 16, 16, 0, 11])
        rig.call('SetChargingProfile', profile16('TxProfile', limit, inWatts));
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
      readOthers(rig);
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
      readOthers(rig);
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
  config_unknown: {
    wrong: (rig) => {
      times(4, () => {
        rig.replied('GetConfiguration', { key: ['Nonsense'] }, { unknownKey: ['Nonsense'] });
      });
    },
    text: 'GetConfiguration: Nonsense is refused for the 4. time or more',
    right: (rig) => {
      times(9, () => {
        rig.replied('ChangeConfiguration', { key: 'HeartbeatInterval', value: '60' }, { status: 'Accepted' });
      });
    },
    trap: (rig) => {
      times(9, (n) => {
        rig.replied('ChangeConfiguration', { key: 'MeterValuesSampledData', value: `M${n}` }, { status: 'Rejected' });
      });
      times(3, () => {
        rig.replied('GetConfiguration', { key: ['Nonsense'] }, { unknownKey: ['Nonsense'] });
      });
      // once in a while
      times(9, () => {
        rig.pass(600_001);
        rig.replied('GetConfiguration', { key: ['Nonsense'] }, { unknownKey: ['Nonsense'] });
      });
      rig.judge.closed();
      rig.open('ocpp2.0.1');
      const asked = (attributeValue: string) => ({
        component: { name: 'A' },
        variable: { name: 'B' },
        attributeValue,
      });
      times(9, (n) => {
        const setVariableResult = [{ ...asked(''), attributeStatus: 'Rejected' }];
        rig.replied('SetVariables', { setVariableData: [asked(String(n))] }, { setVariableResult });
      });
    },
  },
  remote_stop_unknown: {
    wrong: (rig) => {
      rig.answered('StopTransaction', {}, { payload: { transactionId: 5 } });
      rig.pass(60_001);
      rig.call('RemoteStopTransaction', { transactionId: 5 });
    },
    text: 'RemoteStopTransaction: transaction 5 has ended 60 s ago',
    right: (rig) => {
      rig.call('RemoteStopTransaction', { transactionId: 5 });
    },
    trap: (rig) => {
      rig.answered('StopTransaction', {}, { payload: { transactionId: 5 } });
      rig.pass(59_000);
      rig.call('RemoteStopTransaction', { transactionId: 5 });
      rig.answered('StartTransaction', { transactionId: 5 });
      rig.pass(60_000);
      rig.call('RemoteStopTransaction', { transactionId: 5 });
      // of an earlier process
      rig.call('RemoteStopTransaction', { transactionId: 4 });
    },
  },
  remote_start_repeated: {
    wrong: (rig) => {
      remoteStart(rig);
      times(3, () => {
        rig.pass(9999);
        remoteStart(rig, {}, 'Rejected');
      });
    },
    text: 'RemoteStartTransaction: an accepted start is sent 3 times more, each within 10 s of the last one',
    right: (rig) => {
      remoteStart(rig);
    },
    trap: (rig) => {
      times(3, () => {
        remoteStart(rig);
      });
      times(9, () => {
        rig.pass(10_000);
        remoteStart(rig);
      });
      times(9, (connectorId) => {
        remoteStart(rig, { connectorId });
        rig.replied('RemoteStartTransaction', { idTag: 'A' }, { status: 'Accepted' });
      });
      times(9, (n) => {
        remoteStart(rig, { idTag: `A${n}` });
      });
      rig.pass(10_000);
      times(9, () => {
        remoteStart(rig, {}, 'Rejected');
      });
      times(9, () => {
        remoteStart(rig);
        rig.answered('StartTransaction', {});
      });
      rig.judge.closed();
      rig.open('ocpp2.1');
      times(9, (n) => {
        const idToken = { idToken: `A${n}`, type: 'Central' };
        rig.replied('RequestStartTransaction', { idToken, evseId: 1 }, { status: 'Accepted' });
      });
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
