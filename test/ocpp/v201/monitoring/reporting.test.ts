import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v201/messages.ts';
import { fault, lost, monitoringRig, monitorOf, noFault, power, settled, toldOf } from './rig.ts';

type NotifyEvent = Requests['NotifyEvent'];

describe('OCPP 2.x: which events go out', () => {
  it('N07.FR.15: not those of monitors above the level; what holds when the level rises is told then', async () => {
    const rig = await monitoringRig();
    await rig.ask(rig.monitoring, 'SetMonitoringLevel', { severity: 4 });
    power(rig, 5000);
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000, severity: 5 }));
    await rig.pass(3);
    expect(toldOf(rig, id)).to.be.empty;
    await rig.ask(rig.monitoring, 'SetMonitoringLevel', { severity: 5 });
    await settled();
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('none while MonitoringCtrlr.Enabled is false', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000 }));
    rig.variables.set('MonitoringCtrlr', 'Enabled', 'false');
    await settled();
    expect(rig.timers.waiting).to.equal(0);
    power(rig, 5000);
    await fault(rig);
    await rig.pass(3);
    expect(rig.events()).to.be.empty;
    rig.variables.set('MonitoringCtrlr', 'Enabled', 'true');
    await settled();
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('one of a transaction acts while it runs, and names it', async () => {
    const rig = await monitoringRig();
    power(rig, 5000);
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000, transaction: true }));
    await rig.pass(3);
    expect(toldOf(rig, id)).to.be.empty;
    rig.startTransaction(1);
    await settled();
    expect(toldOf(rig, id)).to.have.length(1);
    expect(toldOf(rig, id)[0]).to.include({ transactionId: 'tx-1' });
    rig.endTransaction(1);
    power(rig, 0);
    await rig.pass(3);
    expect(toldOf(rig, id)).to.have.length(1);
    expect(rig.timers.waiting).to.equal(0);
  });

  it('nothing while the device is off', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'Periodic', value: 1 }));
    rig.device.dark = true;
    rig.device.tell({ event: 'power_down', connectorId: 0 });
    await rig.pass(10);
    expect(toldOf(rig, id)).to.be.empty;
    rig.device.dark = false;
    rig.device.tell({ event: 'power_up', connectorId: 0 });
    await rig.pass(1);
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('N07.FR.04: offline, severe ones wait; of the others the situation is told that holds after it', async () => {
    const rig = await monitoringRig();
    const severe = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000, severity: 3 }));
    const light = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000, severity: 7 }));
    rig.registration.end();
    for (const watts of [5000, 100, 5000, 100]) {
      power(rig, watts);
      await rig.pass(1);
    }
    expect(rig.events()).to.be.empty;
    expect(rig.monitoring.waiting).to.equal(4);
    rig.registration.accept();
    await settled();
    expect(toldOf(rig, severe).map(({ cleared }) => cleared)).to.deep.equal([undefined, true, undefined, true]);
    expect(toldOf(rig, light)).to.be.empty;
    expect(rig.monitoring.waiting).to.equal(0);
  });

  it('N07.FR.04: events that wait survive a restart of the station', async () => {
    const rig = await monitoringRig();
    rig.registration.end();
    await fault(rig);
    const next = await rig.restart();
    expect(next.events()).to.be.empty;
    next.registration.accept({ booted: true });
    await settled();
    expect(next.events()).to.have.length(1);
    expect(next.events()[0]).to.include({ techCode: 'GroundFailure' });
    const third = await next.restart();
    third.registration.accept();
    await settled();
    expect(third.events()).to.have.length(1);
  });

  it('sends many that have waited in parts of one report', async () => {
    const rig = await monitoringRig();
    rig.registration.end();
    for (let i = 0; i < 45; i++) await fault(rig).then(() => noFault(rig));
    rig.registration.accept();
    await settled();
    const parts = rig.reports('NotifyEvent') as unknown as readonly NotifyEvent[];
    expect(parts.map(({ seqNo, tbc = false, eventData }) => [seqNo, tbc, eventData.length])).to.deep.equal([
      [0, true, 20],
      [1, true, 20],
      [2, true, 20],
      [3, true, 20],
      [4, false, 10],
    ]);
  });

  it('keeps at most 500, without the oldest of the least severe', async () => {
    const rig = await monitoringRig();
    rig.variables.set('MonitoringCtrlr', 'OfflineQueuingSeverity', '9');
    rig.registration.end();
    const notice = { component: 'Connector', variable: 'AvailabilityState', trigger: 'Delta' } as const;
    const place = { evseId: 1, connectorId: 1 };
    for (let i = 0; i < 600; i++)
      rig.monitoring.notify({ ...notice, place, actualValue: String(i), severity: i % 2 === 0 ? 2 : 8 });
    rig.registration.accept();
    while (rig.monitoring.waiting > 0) await settled();
    expect(rig.events()).to.have.length(500);
    expect(rig.events().filter(({ severity }) => severity === 2)).to.have.length(300);
    expect(rig.events().at(-1)).to.include({ actualValue: '599' });
  });

  it('repeats a report that the connection has cost, and one without an answer', async () => {
    const rig = await monitoringRig();
    rig.line.answers.set('NotifyEvent', lost);
    await fault(rig);
    rig.registration.end();
    rig.line.answers.set('NotifyEvent', () => ({ kind: 'timeout' }));
    rig.registration.accept();
    await rig.pass(30);
    expect(rig.monitoring.waiting).to.equal(1);
    rig.line.answers.delete('NotifyEvent');
    await rig.pass(60);
    expect(rig.reports('NotifyEvent')).to.have.length(3);
    expect(new Set(rig.events().map(({ eventId }) => eventId)).size).to.equal(1);
    expect(rig.monitoring.waiting).to.equal(0);
  });

  it('gives up a report that is never answered', async () => {
    const rig = await monitoringRig();
    rig.line.answers.set('NotifyEvent', () => ({ kind: 'timeout' }));
    await fault(rig);
    await rig.pass(600);
    expect(rig.reports('NotifyEvent')).to.have.length(3);
    expect(rig.monitoring.waiting).to.equal(0);
  });
});

describe('OCPP 2.x: periodic events (N08)', () => {
  it('N08.FR.05, FR.06: each interval since it was set', async () => {
    const rig = await monitoringRig();
    power(rig, 3000);
    await rig.pass(7);
    const startMs = rig.wall.nowMs();
    const id = await rig.accepted(monitorOf({ type: 'Periodic', value: 15 }));
    await rig.pass(46);
    expect(toldOf(rig, id).map(({ timestamp, trigger }) => [Date.parse(timestamp) - startMs, trigger])).to.deep.equal([
      [15_000, 'Periodic'],
      [30_000, 'Periodic'],
      [45_000, 'Periodic'],
    ]);
    expect(toldOf(rig, id)[0]).to.include({ actualValue: '3000' });
  });

  it('N08.FR.07: clock-aligned ones at multiples of the interval from midnight, together in one report', async () => {
    const rig = await monitoringRig();
    await rig.pass(7);
    await rig.accepted(monitorOf({ type: 'PeriodicClockAligned', value: 900 }));
    await rig.accepted(monitorOf({ type: 'PeriodicClockAligned', value: 900, variable: { name: 'ACVoltage' } }));
    await rig.pass(1800);
    const reports = rig.reports('NotifyEvent') as unknown as readonly NotifyEvent[];
    expect(reports.map(({ eventData }) => eventData.map(({ timestamp }) => timestamp))).to.deep.equal([
      Array(2).fill('2026-06-21T08:15:00.000Z'),
      Array(2).fill('2026-06-21T08:30:00.000Z'),
    ]);
  });

  it('N08.FR.03: offline those that are not severe enough are not kept, and go on with the next instant', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'Periodic', value: 10, severity: 8 }));
    rig.registration.end();
    await rig.pass(95);
    rig.registration.accept();
    await settled();
    expect(toldOf(rig, id)).to.be.empty;
    await rig.pass(6);
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('goes on after the clock was set back', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'Periodic', value: 10 }));
    rig.clock.sync(rig.wall.nowMs() - 3_600_000, rig.wall.monotonicMs());
    rig.registration.accept({ booted: true });
    await rig.pass(31);
    expect(toldOf(rig, id)).to.have.length(3);
  });
});
