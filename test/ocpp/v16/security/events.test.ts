import { expect } from 'chai';
import type { CallOutcome } from '../../../../src/ocpp/rpc/model.ts';
import {
  createSecurityEvents,
  isCritical,
  isReported,
  securityEventTable,
  securityLogCapacity,
} from '../../../../src/ocpp/v16/security.ts';
import { settled } from '../fakes.ts';
import type { Rig } from '../fakes.ts';
import { upkeepRig } from '../firmware-management/rig.ts';

const action = 'SecurityEventNotification';

async function eventsOn(before?: Rig) {
  const s = upkeepRig(before);
  const log = createSecurityEvents(s.parts);
  await log.load();
  return {
    ...s,
    log,
    sent: () => s.told(action).map(({ type }) => type),
    answer: (outcome: CallOutcome) => s.line.answers.set(action, () => outcome),
  };
}

describe('OCPP 1.6 security events (white paper, A04 and section 5)', () => {
  it('the table: what is critical, and what a use case has the station report', () => {
    const critical = securityEventTable.filter((row) => row.critical).map(({ type }) => type);
    expect(critical).to.deep.equal([
      'FirmwareUpdated',
      'SettingSystemTime',
      'StartupOfTheDevice',
      'ResetOrReboot',
      'SecurityLogWasCleared',
      'MemoryExhaustion',
      'TamperDetectionActivated',
    ]);
    for (const type of critical) expect([isCritical(type), isReported(type)]).to.deep.equal([true, true]);
    expect(securityEventTable.filter(({ type }) => isReported(type) && !isCritical(type))).to.have.lengthOf(6);
    expect([isCritical('OfAVendor'), isReported('OfAVendor')]).to.deep.equal([false, false]);
  });

  it('the start is one; it waits until the station is accepted, with its own time', async () => {
    const s = await eventsOn();
    const timestamp = new Date(s.clock.nowMs()).toISOString();
    await s.pass(100);
    expect([s.told(action), s.log.waiting]).to.deep.equal([[], 1]);
    await s.accept();
    expect(s.told(action)).to.deep.equal([{ type: 'StartupOfTheDevice', timestamp }]);
    expect(s.log.waiting).to.equal(0);
  });

  it('what is not critical is logged and not sent', async () => {
    const s = await eventsOn();
    await s.accept();
    for (const type of [
      'FailedToAuthenticateAtCentralSystem',
      'InvalidMessages',
      'AttemptedReplayAttacks',
      'OfAVendor',
    ])
      s.log.raise(type, 'why');
    await settled();
    expect(s.sent()).to.deep.equal(['StartupOfTheDevice']);
    expect(s.log.entries.map(({ type }) => type).slice(1)).to.deep.equal([
      'FailedToAuthenticateAtCentralSystem',
      'InvalidMessages',
      'AttemptedReplayAttacks',
      'OfAVendor',
    ]);
  });

  it('a changed key of security is one, without its value', async () => {
    const s = await eventsOn();
    s.keys.set('AuthorizationKey', '5333435233542d6d61726b6572');
    s.keys.set('CpoName', 'S3CR3T-marker');
    s.keys.set('HeartbeatInterval', '10');
    expect(s.log.entries.slice(1).map(({ type, techInfo }) => `${type}: ${techInfo ?? ''}`)).to.deep.equal([
      'ReconfigurationOfSecurityParameters: AuthorizationKey changed',
      'ReconfigurationOfSecurityParameters: CpoName changed',
    ]);
    s.log.stop();
    s.keys.set('CpoName', 'other');
    expect(s.log.entries).to.have.lengthOf(3);
  });

  it('techInfo is cut to its length; an empty one is left out', async () => {
    const s = await eventsOn();
    await s.accept();
    s.log.raise('ResetOrReboot', 'x'.repeat(300));
    s.log.raise('ResetOrReboot', '');
    await settled();
    const [, long, empty] = s.told(action);
    expect(long?.techInfo).to.equal('x'.repeat(255));
    expect(empty).to.not.have.property('techInfo');
  });

  it('one that the line lost is sent again after the reconnect, in order, until it is answered', async () => {
    const s = await eventsOn();
    await s.accept();
    s.answer({ kind: 'lost' });
    s.log.raise('ResetOrReboot', 'a');
    s.log.raise('FirmwareUpdated', '2');
    await settled();
    s.lose();
    await s.pass(1000);
    expect(s.log.waiting).to.equal(2);
    s.answer({ kind: 'result', payload: {}, durationMs: 0 });
    await s.accept();
    expect(s.sent().slice(-2)).to.deep.equal(['ResetOrReboot', 'FirmwareUpdated']);
    expect(s.log.waiting).to.equal(0);
  });

  it('one without an answer is sent again each minute; an error is an answer', async () => {
    const s = await eventsOn();
    await s.accept();
    s.answer({ kind: 'timeout' });
    s.log.raise('ResetOrReboot');
    await settled();
    expect(s.sent().length).to.equal(2);
    await s.pass(60);
    expect([s.sent().length, s.log.waiting]).to.deep.equal([3, 1]);
    s.answer({ kind: 'error', code: 'NotImplemented', description: '', details: {}, durationMs: 0 });
    await s.pass(60);
    expect([s.sent().length, s.log.waiting]).to.deep.equal([4, 0]);
    await s.pass(600);
    expect([s.sent().length, s.timers.waiting]).to.deep.equal([4, 0]);
  });

  it('what waits and the log survive a restart of the process', async () => {
    const s = await eventsOn();
    s.log.raise('InvalidFirmwareSignature', 'why');
    s.log.stop();
    await settled();
    const again = await eventsOn(s);
    expect(again.log.entries.map(({ type }) => type)).to.deep.equal([
      'StartupOfTheDevice',
      'InvalidFirmwareSignature',
      'StartupOfTheDevice',
    ]);
    await again.accept();
    expect(again.told(action).map(({ type, techInfo }) => [type, techInfo])).to.deep.equal([
      ['StartupOfTheDevice', undefined],
      ['InvalidFirmwareSignature', 'why'],
      ['StartupOfTheDevice', undefined],
    ]);
    await settled();
    expect(await again.store.slot('security-events').read()).to.deep.equal([]);
  });

  it('what does not fit in the store is left out', async () => {
    const before = upkeepRig();
    await before.store
      .slot('security-log')
      .replace([1, null, [], {}, { atMs: 5, type: 'A' }, { atMs: 'x', type: 'B' }]);
    await before.store.slot('security-events').replace([1, {}, { type: 'A' }, { type: 'A', timestamp: 1 }]);
    const s = await eventsOn(before);
    expect(s.log.entries.map(({ type, techInfo }) => [type, techInfo])).to.deep.equal([
      ['A', null],
      ['StartupOfTheDevice', null],
    ]);
    expect(s.log.waiting).to.equal(1);
  });

  it('500 wait at most: those that are not critical go first', async () => {
    const s = await eventsOn();
    s.log.raise('ResetOrReboot');
    for (let n = 0; n < 600; n += 1) s.log.raise('InvalidCentralSystemCertificate', String(n));
    expect(s.log.waiting).to.equal(500);
    await s.accept();
    while (s.log.waiting > 0) await settled();
    const sent = s.told(action).map(({ type, techInfo }) => `${String(type)} ${String(techInfo)}`);
    expect(sent.slice(0, 3)).to.deep.equal([
      'StartupOfTheDevice undefined',
      'ResetOrReboot undefined',
      'InvalidCentralSystemCertificate 102',
    ]);
    expect(sent).to.have.lengthOf(500);
  });

  it('the log has at most its newest lines', async () => {
    const s = await eventsOn();
    for (let n = 0; n < securityLogCapacity + 5; n += 1) s.log.raise('InvalidMessages', String(n));
    expect([s.log.entries.length, s.log.entries[0]?.techInfo]).to.deep.equal([securityLogCapacity, '5']);
  });

  it('a store that refuses costs no event', async () => {
    const s = await eventsOn();
    s.store.slot('security-log').replace = () => Promise.reject(new Error('full'));
    s.log.raise('ResetOrReboot');
    await settled();
    expect(s.logged).to.include('the store has refused a change: full');
    await s.accept();
    expect(s.sent()).to.deep.equal(['StartupOfTheDevice', 'ResetOrReboot']);
  });
});
