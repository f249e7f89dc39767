import { expect } from 'chai';
import type { CallOutcome } from '../../../../src/ocpp/rpc/model.ts';
import {
  createSecurityEvents,
  isCritical,
  isReported,
  securityEventTable,
} from '../../../../src/ocpp/v201/security/events.ts';
import { settled } from '../../v16/fakes.ts';
import { rig } from '../rig.ts';
import type { Rig } from '../rig.ts';

const action = 'SecurityEventNotification';

async function eventsOn(before?: Rig) {
  const s = rig({ version: 'ocpp2.0.1' });
  const kept = before?.store ?? s.store;
  const log = createSecurityEvents({ ...s.parts, store: (name) => kept.slot(name) });
  await log.load();
  await settled();
  return {
    ...s,
    store: kept,
    log,
    sent: () => s.line.of(action).map(({ type }) => type),
    answer: (outcome: CallOutcome) => s.line.answers.set(action, () => outcome),
  };
}

describe('OCPP 2.x security events (A04)', () => {
  it('the list of the appendices: five are not critical and only logged', () => {
    const logged = securityEventTable.map(({ type }) => type).filter((type) => !isCritical(type));
    expect(logged).to.deep.equal([
      'FailedToAuthenticateAtCsms',
      'CsmsFailedToAuthenticate',
      'ReconfigurationOfSecurityParameters',
      'InvalidMessages',
      'AttemptedReplayAttacks',
    ]);
    for (const { type } of securityEventTable) expect(isReported(type)).to.equal(isCritical(type));
    expect(isReported('OfAVendor')).to.equal(false);
  });

  it('a critical one is sent with its time, the others stand in the log', async () => {
    const s = await eventsOn();
    const timestamp = new Date(s.clock.nowMs()).toISOString();
    s.log.raise('TamperDetectionActivated', 'lid');
    s.log.raise('InvalidMessages');
    await settled();
    expect(s.line.of(action)).to.deep.equal([
      { type: 'StartupOfTheDevice', timestamp },
      { type: 'TamperDetectionActivated', timestamp, techInfo: 'lid' },
    ]);
    expect(s.log.entries.map(({ type }) => type)).to.deep.equal([
      'StartupOfTheDevice',
      'TamperDetectionActivated',
      'InvalidMessages',
    ]);
  });

  it('A04.FR.02: one that was not delivered waits, over a restart of the process too', async () => {
    const s = await eventsOn();
    s.answer({ kind: 'lost' });
    s.log.raise('ResetOrReboot', 'a');
    await settled();
    s.registration.end();
    s.log.raise('FirmwareUpdated', '2');
    expect(s.log.waiting).to.equal(2);
    await settled();
    const again = await eventsOn(s);
    again.registration.end();
    expect(again.sent()).to.deep.equal(['ResetOrReboot', 'FirmwareUpdated', 'StartupOfTheDevice']);
    expect(again.log.waiting).to.equal(0);
  });

  it('one without an answer is sent again after a minute', async () => {
    const s = await eventsOn();
    s.answer({ kind: 'timeout' });
    s.log.raise('ResetOrReboot');
    await settled();
    s.answer({ kind: 'result', payload: {}, durationMs: 0 });
    await s.pass(60);
    expect([s.sent(), s.log.waiting]).to.deep.equal([['StartupOfTheDevice', 'ResetOrReboot', 'ResetOrReboot'], 0]);
  });

  it('techInfo is cut to its length', async () => {
    const s = await eventsOn();
    s.log.raise('ResetOrReboot', 'x'.repeat(300));
    await settled();
    expect(s.line.of(action).at(-1)?.techInfo).to.equal('x'.repeat(255));
  });

  it('a changed variable of security is one, without its value', async () => {
    const s = await eventsOn();
    s.variables.override('SecurityCtrlr', 'BasicAuthPassword', 'S3CR3T-marker-1234');
    s.variables.override('SecurityCtrlr', 'OrganizationName', 'S3CR3T-marker');
    s.variables.override('ClockCtrlr', 'TimeSource', 'Heartbeat');
    expect(s.log.entries.slice(1).map(({ type, techInfo }) => `${type}: ${techInfo ?? ''}`)).to.deep.equal([
      'ReconfigurationOfSecurityParameters: SecurityCtrlr.BasicAuthPassword changed',
      'ReconfigurationOfSecurityParameters: SecurityCtrlr.OrganizationName changed',
    ]);
    s.log.stop();
    s.variables.override('SecurityCtrlr', 'OrganizationName', 'other');
    expect(s.log.entries).to.have.lengthOf(3);
  });

  it('attempts to connect that tell something about security', async () => {
    const s = await eventsOn();
    const failures = [
      ['certificate', null],
      ['tls_version', null],
      ['cipher_suite', null],
      ['rejected', 401],
      ['rejected', 403],
      ['rejected', 404],
      ['network', null],
    ] as const;
    for (const [kind, status] of failures) s.log.failed({ kind, status, text: 'why' });
    expect(s.log.entries.slice(1).map(({ type }) => type)).to.deep.equal([
      'InvalidCsmsCertificate',
      'InvalidTLSVersion',
      'InvalidTLSCipherSuite',
      'FailedToAuthenticateAtCsms',
      'FailedToAuthenticateAtCsms',
    ]);
  });
});
