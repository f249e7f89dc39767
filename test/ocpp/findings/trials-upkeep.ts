/** Trials of the rules about reports, settings that need a restart, security and firmware. */
import type { ocppUpkeepRules } from '../../../src/finding-rules/ocpp-upkeep.ts';
import type { Payload } from '../../../src/ocpp/rpc/model.ts';
import { rootPem } from '../security/fixtures.ts';
import type { JudgeRig } from './rig.ts';
import { times } from './trial.ts';
import type { Trial } from './trial.ts';

const accepted: Payload = { status: 'Accepted' };

const part = (rig: JudgeRig, requestId: number, more: Payload = {}, action = 'NotifyReport') => {
  rig.answered(action, {}, { payload: { requestId, ...more } });
};

const changed = (rig: JudgeRig, key: string, value: string, status: string) => {
  rig.replied('ChangeConfiguration', { key, value }, { status });
};

const firmware = (rig: JudgeRig, location: string, afterDays: number) => {
  const retrieveDate = new Date(rig.findings.wall.nowMs() + afterDays * 86_400_000).toISOString();
  rig.call('UpdateFirmware', { location, retrieveDate });
};

/** A change of a network profile of 2.x. */
const networkProfile = (basicAuthPassword: string): Payload => ({
  configurationSlot: 1,
  connectionData: { securityProfile: 1, basicAuthPassword },
});

export const upkeepTrials: Readonly<Record<keyof typeof ocppUpkeepRules, Trial>> = {
  request_id_reused: {
    version: 'ocpp2.0.1',
    wrong: (rig) => {
      rig.replied('GetBaseReport', { requestId: 1 }, accepted);
      part(rig, 1, { tbc: true });
      rig.pass(50_000);
      part(rig, 1, { tbc: true });
      rig.pass(50_000);
      rig.replied('GetReport', { requestId: 1 }, accepted);
    },
    text: 'GetReport: the report 1 is still being sent by NotifyReport',
    right: (rig) => {
      rig.replied('GetBaseReport', { requestId: 1 }, accepted);
      rig.replied('GetReport', { requestId: 2 }, accepted);
    },
    trap: (rig) => {
      rig.replied('GetBaseReport', { requestId: 1 }, accepted);
      rig.replied('GetMonitoringReport', { requestId: 1 }, accepted);
      part(rig, 1, { tbc: true });
      part(rig, 1, { tbc: false });
      rig.replied('GetBaseReport', { requestId: 1 }, accepted);
      part(rig, 1);
      rig.replied('GetReport', { requestId: 1 }, { status: 'EmptyResultSet' });
      rig.replied('GetReport', { requestId: 1 }, accepted);
      // its parts are lost
      rig.pass(60_000);
      rig.replied('GetReport', { requestId: 1 }, accepted);
      rig.judge.closed();
      rig.open('ocpp2.0.1');
      rig.replied('GetReport', { requestId: 1 }, accepted);
      rig.judge.disturbed();
      rig.replied('GetReport', { requestId: 1 }, accepted);
    },
  },
  reboot_required_ignored: {
    wrong: (rig) => {
      changed(rig, 'WebSocketCompression', 'true', 'RebootRequired');
      rig.pass(3_600_000);
    },
    text: 'WebSocketCompression needs a restart, and no Reset came within 60 min',
    right: (rig) => {
      changed(rig, 'WebSocketCompression', 'true', 'RebootRequired');
      rig.pass(3_599_000);
      rig.replied('Reset', { type: 'Soft' }, accepted);
    },
    trap: (rig) => {
      changed(rig, 'HeartbeatInterval', '60', 'Accepted');
      changed(rig, 'WebSocketCompression', 'maybe', 'Rejected');
      rig.pass(3_600_000);
      changed(rig, 'WebSocketCompression', 'true', 'RebootRequired');
      rig.judge.closed();
      rig.open();
      rig.pass(3_600_000);
      // a transaction goes on, which the central system does not want to end
      changed(rig, 'WebSocketCompression', 'true', 'RebootRequired');
      rig.pass(60_000);
      rig.answered('MeterValues', {}, { payload: { connectorId: 1, transactionId: 7 } });
      rig.pass(3_600_000);
      changed(rig, 'WebSocketCompression', 'false', 'RebootRequired');
      rig.judge.disturbed();
      rig.pass(3_600_000);
    },
  },
  security_downgrade: {
    wrong: (rig) => {
      changed(rig, 'SecurityProfile', '0', 'Rejected');
    },
    text: 'ChangeConfiguration: the security profile in force is 1, and a lower one is asked for',
    right: (rig) => {
      changed(rig, 'SecurityProfile', '1', 'Rejected');
    },
    trap: (rig) => {
      changed(rig, 'SecurityProfile', '', 'Rejected');
      changed(rig, 'CpoName', '0', 'Accepted');
      rig.judge.closed();
      rig.open('ocpp2.1');
      rig.replied('SetNetworkProfile', networkProfile('x'), accepted);
      rig.replied('SetNetworkProfile', networkProfile('x'), { status: 'Rejected' });
      const setVariableResult = [{ attributeStatus: 'Rejected', attributeStatusInfo: { reasonCode: 'InvalidValue' } }];
      rig.replied('SetVariables', { setVariableData: [] }, { setVariableResult });
    },
  },
  password_short: {
    wrong: (rig) => {
      rig.call('ChangeConfiguration', { key: 'AuthorizationKey', value: '0123456789abcde' });
    },
    text: 'ChangeConfiguration: a password of fewer than 16 characters',
    right: (rig) => {
      rig.call('ChangeConfiguration', { key: 'AuthorizationKey', value: '0123456789abcdef' });
    },
    trap: (rig) => {
      rig.call('ChangeConfiguration', { key: 'AuthorizationKey', value: '' });
      rig.call('ChangeConfiguration', { key: 'CpoName', value: 'short' });
      rig.call('SetNetworkProfile', { connectionData: {} });
      rig.call('SetNetworkProfile', networkProfile('0123456789abcdef'));
      const setVariableData = [{ variable: { name: 'Identity' }, attributeValue: 'short' }];
      rig.call('SetVariables', { setVariableData });
    },
  },
  certificate_bad: {
    wrong: (rig) => {
      rig.call('InstallCertificate', { certificate: rootPem.replace('BEGIN', 'START') });
    },
    text: 'InstallCertificate: the text has no certificate in PEM form',
    right: (rig) => {
      rig.call('CertificateSigned', { certificateChain: rootPem });
    },
    trap: (rig) => {
      // not valid yet by the clock of this machine, and with other text before it
      rig.call('InstallCertificate', { certificate: `subject=CN = root\n${rootPem}` });
    },
  },
  firmware_location: {
    wrong: (rig) => {
      firmware(rig, 'file:///evse.bin', 1);
    },
    text: 'UpdateFirmware: the firmware is at a location of file:',
    right: (rig) => {
      firmware(rig, 'https://central.example/evse.bin', 0);
    },
    trap: (rig) => {
      times(3, (n) => {
        firmware(rig, ['ftp://a/b', 'ftps://a/b', 'sftp://a/b'][n - 1]!, -1);
      });
    },
  },
};
