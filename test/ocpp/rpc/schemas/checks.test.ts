import { expect } from 'chai';
import { errorCode, isErrorCode } from '../../../../src/ocpp/rpc/frames.ts';
import { createPayloadChecks, readSchemas } from '../../../../src/ocpp/rpc/schemas.ts';

const checks = createPayloadChecks();

const profile = (schedule: object) => ({
  connectorId: 1,
  csChargingProfiles: {
    chargingProfileId: 1,
    stackLevel: 0,
    chargingProfilePurpose: 'TxProfile',
    chargingProfileKind: 'Absolute',
    chargingSchedule: { chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 16 }], ...schedule },
  },
});

const refused = (action: string, payload: unknown, side: 'request' | 'reply' = 'request') => {
  const issue = checks.check('ocpp1.6', action, side, payload);
  return issue === null ? null : `${issue.code}: ${issue.description}`;
};

describe('payloads against the schemas (OCPP-J 1.6 4.2.3, 2.x 4.3)', () => {
  it('what fits its schema has no issue, in each version', () => {
    expect(checks.check('ocpp1.6', 'Heartbeat', 'request', {})).to.equal(null);
    expect(checks.check('ocpp2.0.1', 'Heartbeat', 'reply', { currentTime: '2026-06-21T08:00:00Z' })).to.equal(null);
    expect(
      checks.check('ocpp2.1', 'NotifyPeriodicEventStream', 'request', {
        id: 1,
        pending: 0,
        basetime: '2026-06-21T08:00:00.000Z',
        data: [{ t: 0, v: '1' }],
      }),
    ).to.equal(null);
  });

  it('names place and rule, with the code of each situation in 1.6', () => {
    expect(refused('SetChargingProfile', profile({ duration: 1.5 }))).to.equal(
      'TypeConstraintViolation: /csChargingProfiles/chargingSchedule/duration must be an integer',
    );
    expect(refused('Authorize', {})).to.equal('OccurenceConstraintViolation: /idTag is missing');
    expect(refused('Authorize', { idTag: 'A'.repeat(21) })).to.equal(
      'PropertyConstraintViolation: /idTag must have at most 20 characters',
    );
    expect(refused('Reset', { type: 'Warm' })).to.equal('PropertyConstraintViolation: /type must be one of Hard, Soft');
    expect(refused('Reset', { type: 'Soft', 'a/b': 1 })).to.equal('FormationViolation: /a~1b is unknown');
    expect(refused('Heartbeat', { currentTime: 'yesterday' }, 'reply')).to.equal(
      'PropertyConstraintViolation: /currentTime must be a date and time with zone (RFC 3339)',
    );
    expect(refused('GetDiagnostics', { location: 'no place' })).to.equal(
      'PropertyConstraintViolation: /location must be a URI',
    );
    expect(refused('Heartbeat', [])).to.equal('FormationViolation: the payload must be an object');
    expect(refused('Heartbeat', undefined)).to.equal('FormationViolation: the payload must be an object');
    expect(refused('Dance', {})).to.equal('NotImplemented: the action is unknown');
    expect(refused('toString', {})).to.equal('NotImplemented: the action is unknown');
  });

  it('spells the codes of 2.x with two r and Format', () => {
    const codes = (['ocpp2.0.1', 'ocpp2.1'] as const).map((version) => [
      checks.check(version, 'Authorize', 'request', {})?.code,
      checks.check(version, 'Heartbeat', 'request', { x: 1 })?.code,
      checks.check(version, 'GetVariables', 'request', { getVariableData: [] })?.description,
      checks.check(version, 'GetDERControl', 'request', {})?.code,
    ]);
    expect(codes).to.deep.equal([
      [
        'OccurrenceConstraintViolation',
        'FormatViolation',
        '/getVariableData must have at least 1 entry',
        'NotImplemented',
      ],
      [
        'OccurrenceConstraintViolation',
        'FormatViolation',
        '/getVariableData must have at least 1 entry',
        'OccurrenceConstraintViolation',
      ],
    ]);
  });

  it('takes multiples of 0.1 as binary numbers have them, and no others', () => {
    const limit = (value: number) => profile({ chargingSchedulePeriod: [{ startPeriod: 0, limit: value }] });
    for (const value of [0.1, 0.3, 1.1, 16.3, 22.7, 11_000.1, 0.1 * 3]) {
      expect(refused('SetChargingProfile', limit(value)), String(value)).to.equal(null);
    }
    expect(refused('SetChargingProfile', limit(16.25))).to.equal(
      'PropertyConstraintViolation: ' +
        '/csChargingProfiles/chargingSchedule/chargingSchedulePeriod/0/limit must be a multiple of 0.1',
    );
  });

  it('repeats no value, and a name of the peer only in part', () => {
    const secret = 'S3CR3T-marker';
    const issue = checks.check('ocpp1.6', 'ChangeConfiguration', 'request', { key: 5, value: secret });
    expect(JSON.stringify(issue)).not.to.contain(secret);
    expect(JSON.stringify(checks.check('ocpp1.6', 'Reset', 'request', { type: secret }))).not.to.contain(secret);
    const long = checks.check('ocpp1.6', 'ClearCache', 'request', { ['n'.repeat(10_000)]: 1 });
    expect(long?.description).to.equal(`/${'n'.repeat(50)}... is unknown`);
  });

  it('the members called description are checked though remarks of schemas are left out', () => {
    const group = { id: 1, priority: 1, state: 'Charging', startDateTime: '2026-06-21T08:00:00Z' };
    expect(
      checks.check('ocpp2.0.1', 'SetDisplayMessage', 'request', {
        message: { ...group, priority: 'AlwaysFront', message: { format: 'UTF8', content: 5 } },
      })?.description,
    ).to.equal('/message/message/content must be a string');
    expect(readSchemas('ocpp2.1').get('SetDefaultTariff')?.request).to.contain('"description":{');
  });

  it('knows the actions of its version only', () => {
    expect(checks.knows('ocpp1.6', 'StartTransaction')).to.equal(true);
    expect(checks.knows('ocpp1.6', 'SignedUpdateFirmware')).to.equal(true);
    expect(checks.knows('ocpp2.0.1', 'StartTransaction')).to.equal(false);
    expect(checks.knows('ocpp2.0.1', 'SetDERControl')).to.equal(false);
    expect(checks.knows('ocpp2.1', 'SetDERControl')).to.equal(true);
    expect(['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'].map((version) => readSchemas(version as 'ocpp1.6').size)).to.deep.equal([
      39, 64, 91,
    ]);
  });

  it('reads a version at its first use, and once', () => {
    const read: string[] = [];
    const own = createPayloadChecks((version) => {
      read.push(version);
      return readSchemas(version);
    });
    expect(read).to.deep.equal([]);
    own.prepare('ocpp1.6');
    own.check('ocpp1.6', 'Heartbeat', 'request', {});
    own.knows('ocpp1.6', 'Reset');
    expect(read).to.deep.equal(['ocpp1.6']);
  });

  it('a message without an answer has no schema of one', () => {
    expect(checks.check('ocpp2.1', 'NotifyPeriodicEventStream', 'reply', {})?.description).to.equal(
      'the message has no answer',
    );
  });

  it('tells codes of a version from others', () => {
    expect(isErrorCode('ocpp1.6', 'OccurenceConstraintViolation')).to.equal(true);
    expect(isErrorCode('ocpp2.0.1', 'OccurenceConstraintViolation')).to.equal(false);
    expect(isErrorCode('ocpp1.6', 'OccurrenceConstraintViolation')).to.equal(false);
    expect(isErrorCode('ocpp2.1', 'ProtocolError')).to.equal(true);
    expect(isErrorCode('ocpp1.6', 'RpcFrameworkError')).to.equal(false);
    expect(errorCode('ocpp2.1', 'messageType')).to.equal('MessageTypeNotSupported');
  });
});
