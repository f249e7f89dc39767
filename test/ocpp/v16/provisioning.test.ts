import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { CallOutcome } from '../../../src/ocpp/rpc/model.ts';
import { afterBoot, backOffS } from '../../../src/ocpp/provisioning/registration.ts';
import { createRegistration16 } from '../../../src/ocpp/v16/provisioning.ts';
import { rig, settled } from './fakes.ts';

const time = '2026-06-21T08:00:00.000Z';

function answer(status: string, interval: number, currentTime = time, durationMs = 0): () => CallOutcome {
  return () => ({ kind: 'result', payload: { status, interval, currentTime }, durationMs });
}

function station() {
  const parts = rig();
  let firmwareVersion = '1.0';
  const moves: number[] = [];
  const { registration, calls } = createRegistration16({
    clockMoved: (byS) => moves.push(byS),
    clock: parts.clock,
    clockSet: () => undefined,
    wall: parts.wall,
    later: parts.timers.later,
    log: silentLogger,
    keys: parts.keys,
    line: parts.line,
    finding: parts.find,
    nameplate: () => ({ vendor: 'A vendor with a name that is long', model: 'M', serialNumber: null, firmwareVersion }),
  });
  parts.line.answers.set('Heartbeat', () => ({ kind: 'result', payload: { currentTime: time }, durationMs: 0 }));
  const accepted: number[] = [];
  registration.onAccepted(() => accepted.push(registration.boots));
  return {
    ...parts,
    registration,
    calls,
    accepted,
    moves,
    boots: () => parts.line.of('BootNotification').length,
    heartbeats: () => parts.line.of('Heartbeat').length,
    setFirmware: (version: string) => {
      firmwareVersion = version;
    },
  };
}

describe('OCPP 1.6 registration (4.2, 4.6)', () => {
  const table: readonly (readonly [status: 'Accepted' | 'Pending' | 'Rejected', interval: number, ...unknown[]])[] = [
    ['Accepted', 60, 'accepted', null, 60],
    ['Accepted', 0, 'accepted', null, null],
    ['Accepted', -5, 'accepted', null, null],
    ['Pending', 30, 'pending', 30, null],
    ['Pending', 0, 'pending', 10, null],
    ['Rejected', 120, 'rejected', 120, null],
    ['Rejected', 0, 'rejected', 10, null],
    ['Rejected', -1, 'rejected', 10, null],
  ];
  for (const [status, interval, next, againInS, heartbeatS] of table)
    it(`4.2: ${status} with interval ${interval}`, () => {
      expect(afterBoot({ status, interval, currentTime: time }, 0)).to.deep.equal({
        status: next,
        againInS,
        heartbeatS,
      });
    });

  it('a heartbeat interval is at most a week, as HeartbeatInterval is', () => {
    expect(afterBoot({ status: 'Accepted', interval: 1e308, currentTime: time }, 0).heartbeatS).to.equal(604_800);
  });

  it('doubles its own wait up to five minutes', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 60].map(backOffS)).to.deep.equal([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('a part that fails at the acceptance keeps no other part from it', async () => {
    const s = station();
    const heard: string[] = [];
    s.registration.onAccepted(() => {
      throw new Error('a part that fails');
    });
    s.registration.onAccepted(() => heard.push('accepted'));
    s.line.answers.set('BootNotification', answer('Accepted', 60));
    s.registration.opened();
    await settled();
    expect(heard).to.deep.equal(['accepted']);
    s.registration.stop();
    s.registration.closed();
    s.registration.opened();
    expect(heard).to.have.length(1);
  });

  it('4.2: boots, keeps the members within their lengths, and takes over interval and time', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 77, '2026-06-21T09:30:00.000Z', 2_000));
    s.registration.opened();
    await settled();
    expect(s.line.calls[0]).to.deep.equal({
      action: 'BootNotification',
      payload: { chargePointVendor: 'A vendor with a name', chargePointModel: 'M', firmwareVersion: '1.0' },
      options: { urgent: true },
    });
    expect(s.registration.status).to.equal('accepted');
    expect(s.keys.integer('HeartbeatInterval')).to.equal(77);
    // the answer was written one second ago, in the middle of the request
    expect(s.clock.nowMs()).to.equal(Date.UTC(2026, 5, 21, 9, 30, 1));
    expect(s.accepted).to.deep.equal([1]);
  });

  it('4.2: sends nothing else before it is accepted, also no heartbeat', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Rejected', 60));
    expect(await s.calls.send('Heartbeat', {})).to.include({ kind: 'unsent' });
    s.registration.opened();
    await settled();
    expect(await s.calls.send('Heartbeat', {}, { triggered: true })).to.include({ kind: 'unsent' });
    await s.pass(59);
    expect(s.line.calls).to.have.lengthOf(1);
    await s.pass(1);
    expect(s.boots()).to.equal(2);
  });

  it('4.2.1: Pending boots again after the interval; only what is triggered goes out meanwhile', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Pending', 30));
    s.registration.opened();
    await settled();
    expect(await s.calls.send('DataTransfer', { vendorId: 'x' })).to.include({ kind: 'unsent' });
    expect(await s.calls.send('Heartbeat', {}, { triggered: true })).to.include({ kind: 'result' });
    await s.pass(29.9);
    expect(s.boots()).to.equal(1);
    s.line.answers.set('BootNotification', answer('Accepted', 0));
    await s.pass(0.2);
    expect(s.boots()).to.equal(2);
    expect(s.registration.isReady).to.equal(true);
    expect(await s.calls.send('DataTransfer', { vendorId: 'x' })).to.include({ kind: 'result' });
  });

  it('4.2.1: a triggered BootNotification ends Pending, and the one planned is not sent', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Pending', 30));
    s.registration.opened();
    await settled();
    s.line.answers.set('BootNotification', answer('Accepted', 3600));
    await s.registration.boot({ triggered: true });
    await s.pass(60);
    expect([s.registration.status, s.boots()]).to.deep.equal(['accepted', 2]);
  });

  it('4.2: interval 0 with Rejected: own back-off', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Rejected', 0));
    s.registration.opened();
    await s.pass(10 + 20 + 40 + 1);
    expect(s.boots()).to.equal(4);
  });

  it('4.2: a wait that the central system has asked for goes on over a new connection', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Rejected', 100));
    s.registration.opened();
    await s.pass(40);
    s.registration.closed();
    s.registration.opened();
    await s.pass(59);
    expect(s.boots()).to.equal(1);
    await s.pass(2);
    expect(s.boots()).to.equal(2);
  });

  it('boots again after an error or a time-out, and after a lost answer with the next connection', async () => {
    const s = station();
    s.line.answers.set('BootNotification', () => ({ kind: 'timeout' }));
    s.registration.opened();
    await s.pass(11);
    expect(s.boots()).to.equal(2);
    s.line.answers.set('BootNotification', () => {
      s.line.open = false;
      return { kind: 'lost' };
    });
    await s.pass(21);
    expect(s.boots()).to.equal(3);
    await s.pass(1_000);
    expect(s.boots()).to.equal(3);
    s.line.open = true;
    s.line.answers.set('BootNotification', answer('Accepted', 60));
    s.registration.opened();
    await settled();
    expect([s.boots(), s.registration.status]).to.deep.equal([4, 'accepted']);
  });

  it('J 5.3: no BootNotification after a plain reconnect, one after a restart or with new content', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 60));
    s.registration.opened();
    await settled();
    s.registration.closed();
    s.registration.opened();
    await settled();
    expect([s.boots(), s.accepted]).to.deep.equal([1, [1, 1]]);
    s.setFirmware('1.1');
    s.registration.opened();
    await settled();
    expect([s.boots(), s.accepted]).to.deep.equal([2, [1, 1, 2]]);
    s.registration.restarted();
    expect(s.registration.status).to.equal('none');
    s.registration.opened();
    await settled();
    expect(s.boots()).to.equal(3);
  });

  it('4.6: a heartbeat after each interval without other traffic, and at once by a new interval', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 60));
    s.registration.opened();
    await s.pass(61);
    expect(s.heartbeats()).to.equal(1);
    for (let i = 0; i < 5; i++) {
      await s.pass(30);
      s.registration.traffic();
    }
    expect(s.heartbeats()).to.equal(1);
    s.keys.change({ key: 'HeartbeatInterval', value: '10' });
    await s.pass(25);
    expect(s.heartbeats()).to.equal(3);
    expect(s.registration.lastHeartbeatMs).to.be.within(s.wall.nowMs() - 10_000, s.wall.nowMs());
    s.registration.closed();
    s.line.open = false;
    await s.pass(100);
    expect(s.heartbeats()).to.equal(3);
  });

  it('4.6: the clock is set at least every 24 hours whatever the traffic', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 3600));
    s.registration.opened();
    await settled();
    for (let i = 0; i < 49; i++) {
      await s.pass(1800);
      s.registration.traffic();
      await s.pass(1);
    }
    expect(s.heartbeats()).to.equal(1);
  });

  it('4.6: tells by how much each answer has moved the clock, back too', async () => {
    const s = station();
    const nowMs = s.clock.nowMs();
    const told = (byS: number) => new Date(nowMs + byS * 1000).toISOString();
    s.line.answers.set('BootNotification', () => ({
      kind: 'result',
      payload: { status: 'Accepted', interval: 300, currentTime: told(3600) },
      durationMs: 0,
    }));
    s.line.answers.set('Heartbeat', () => ({ kind: 'result', payload: { currentTime: told(2100) }, durationMs: 0 }));
    s.registration.opened();
    await settled();
    await s.registration.heartbeat();
    expect(s.moves.map(Math.round)).to.deep.equal([3600, -1500]);
  });

  it('4.6: a time of whole seconds leaves a clock that shows this second as it is', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 300));
    s.registration.opened();
    await settled();
    await s.pass(0.4);
    const shown = s.clock.nowMs();
    const wholeSecond = (aheadS: number) =>
      new Date(Math.floor(shown / 1000 + aheadS) * 1000).toISOString().replace('.000', '');
    for (const [currentTime, afterMs] of [
      [wholeSecond(0), shown],
      [wholeSecond(1), Math.floor(shown / 1000 + 1) * 1000],
      [wholeSecond(-2), Math.floor(shown / 1000 - 2) * 1000],
    ] as const) {
      s.line.answers.set('Heartbeat', () => ({ kind: 'result', payload: { currentTime }, durationMs: 0 }));
      await s.registration.heartbeat();
      expect(s.clock.nowMs(), currentTime).to.equal(afterMs);
    }
  });

  it('interval 0 of an accepted station does not flood', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 0));
    s.keys.set('HeartbeatInterval', '0');
    s.registration.opened();
    await s.pass(3_000);
    expect(s.heartbeats()).to.equal(10);
  });

  it('says which rule a time or an interval breaks, and keeps its clock', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', -1, 'yesterday'));
    s.registration.opened();
    await settled();
    const before = s.clock.offsetS;
    for (const currentTime of ['1970-01-01T00:00:00Z', '2026-13-45T00:00:00Z', '']) {
      s.line.answers.set('Heartbeat', () => ({ kind: 'result', payload: { currentTime }, durationMs: 0 }));
      await s.registration.heartbeat();
    }
    expect(s.clock.offsetS).to.equal(before);
    expect(s.findings.map(([clause, , action]) => [clause, action])).to.deep.equal([
      ['OCPP 1.6 6.4', 'BootNotification'],
      ['OCPP 1.6 4.6', 'BootNotification'],
      ['OCPP 1.6 4.6', 'Heartbeat'],
      ['OCPP 1.6 4.6', 'Heartbeat'],
      ['OCPP 1.6 4.6', 'Heartbeat'],
    ]);
  });

  it('sends nothing any more once it is stopped', async () => {
    const s = station();
    s.line.answers.set('BootNotification', answer('Accepted', 10));
    s.registration.opened();
    await settled();
    s.registration.stop();
    s.keys.set('HeartbeatInterval', '5');
    await s.pass(100);
    expect([s.boots(), s.heartbeats(), s.timers.waiting]).to.deep.equal([1, 0, 0]);
  });
});
