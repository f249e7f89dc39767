import { expect } from 'chai';
import type { EventData, Requests } from '../../../../src/ocpp/v201/messages.ts';
import { lost, monitoringRig, monitorOf, settled } from './rig.ts';
import type { MonitoringRig } from './rig.ts';

type NotifyEvent = Requests['NotifyEvent'];

const connector1 = { name: 'Connector', evse: { id: 1, connectorId: 1 } };

const toldOf = (rig: MonitoringRig, id: number): readonly EventData[] =>
  rig.events().filter(({ variableMonitoringId }) => variableMonitoringId === id);

function power(rig: MonitoringRig, powerW: number, evseId = 1): void {
  rig.meters.set(evseId, { powerW });
}

async function fault(rig: MonitoringRig, evseId = 1): Promise<void> {
  rig.device.change(evseId, { errorCode: 'GroundFailure', errorInfo: 'residual current', status: 'faulted' }, 'fault');
  await settled();
}

describe('OCPP 2.x: events of monitors (N07)', () => {
  it('N07.FR.06, FR.07, FR.16: tells the variable, the monitor and its value, once it is above the threshold', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 7000 }));
    await rig.pass(2);
    expect(rig.events()).to.be.empty;
    power(rig, 7000.1);
    await rig.pass(1);
    const [report] = rig.reports('NotifyEvent');
    expect(report).to.include({ seqNo: 0 }).and.not.have.property('tbc');
    const [event] = rig.events();
    expect(event).to.deep.include({
      trigger: 'Alerting',
      actualValue: '7000.1',
      component: { name: 'EVSE', evse: { id: 1 } },
      variable: { name: 'Power' },
      variableMonitoringId: id,
      eventNotificationType: 'CustomMonitor',
      severity: 4,
    });
    expect(event).to.not.have.property('cleared');
  });

  it('N07.FR.02: tells once that it is over, with another event id', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 7000 }));
    for (const watts of [7100, 6990, 7010, 6900, 6900]) {
      power(rig, watts);
      await rig.pass(1);
    }
    const told = toldOf(rig, id);
    expect(told.map(({ actualValue, cleared }) => [actualValue, cleared])).to.deep.equal([
      ['7100', undefined],
      ['6900', true],
    ]);
    expect(new Set(told.map(({ eventId }) => eventId)).size).to.equal(2);
  });

  it('N07.FR.11: a threshold that moves clears what it has told, or triggers at once', async () => {
    const rig = await monitoringRig();
    power(rig, 5000);
    const data = monitorOf({ type: 'UpperThreshold', value: 4000 });
    const id = await rig.accepted(data);
    await settled();
    expect(toldOf(rig, id)).to.have.length(1);
    await rig.set({ ...data, id, value: 6000 });
    await settled();
    expect(toldOf(rig, id).at(-1)).to.include({ cleared: true });
    await rig.set({ ...data, id, value: 4500 });
    await settled();
    expect(toldOf(rig, id)).to.have.length(3);
  });

  it('N07.FR.12: a monitor that is removed clears nothing', async () => {
    const rig = await monitoringRig();
    power(rig, 5000);
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000 }));
    await settled();
    await rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: [id] });
    power(rig, 0);
    await rig.pass(5);
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('N07.FR.13, FR.14: monitors survive a restart, and what went back meanwhile is cleared after it', async () => {
    const rig = await monitoringRig();
    power(rig, 5000);
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000 }));
    await settled();
    power(rig, 100);
    const next = await rig.restart();
    await next.pass(1);
    const told = toldOf(next, id);
    expect(told.map(({ cleared }) => cleared)).to.deep.equal([undefined, true]);
    expect(told[1]?.eventId).to.be.greaterThan(told[0]?.eventId ?? Infinity);
    const again = await next.accepted(monitorOf({ type: 'UpperThreshold', value: 4000, severity: 5 }));
    expect(again).to.be.greaterThan(id);
  });

  it('N07.FR.18: a difference is told, with the value that it counts from next', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(
      monitorOf({ type: 'Delta', value: 5, variable: { name: 'ACVoltage', instance: 'L2' } }),
    );
    for (const volts of [233, 237, 240, 231]) {
      rig.meters.set(1, { voltageV: [230, volts, 230] });
      await rig.pass(1);
    }
    expect(toldOf(rig, id).map(({ actualValue, trigger }) => [actualValue, trigger])).to.deep.equal([
      ['237', 'Delta'],
      ['231', 'Delta'],
    ]);
    expect(toldOf(rig, id)[0]?.variable).to.deep.equal({ name: 'ACVoltage', instance: 'L2' });
  });

  it('2.1: the power of an EVSE has what the vehicle is allotted as its target', async () => {
    const rig = await monitoringRig();
    rig.device.change(1, { allocatedW: 7000 });
    power(rig, 6900);
    const id = await rig.accepted(monitorOf({ type: 'TargetDelta', value: 500 }));
    await rig.pass(2);
    expect(toldOf(rig, id)).to.be.empty;
    power(rig, 6400);
    await rig.pass(2);
    expect(toldOf(rig, id)).to.have.length(1);
  });

  it('N07.FR.10: of a write-only variable it tells that it has changed, not to what', async () => {
    const rig = await monitoringRig();
    const named = { component: { name: 'SecretCtrlr' }, variable: { name: 'Password' } };
    const id = await rig.accepted(monitorOf({ type: 'Delta', value: 1, ...named }));
    await rig.pass(2);
    rig.variables.set('SecretCtrlr', 'Password', 'a secret of the station');
    await settled();
    expect(toldOf(rig, id).map(({ actualValue }) => actualValue)).to.deep.equal(['']);
    expect(JSON.stringify(rig.line.calls)).to.not.include('a secret');
  });

  it('a transition is told at its own instant', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(
      monitorOf({ type: 'Delta', value: 1, component: connector1, variable: { name: 'Problem' }, severity: 2 }),
    );
    await fault(rig);
    expect(toldOf(rig, id)[0]).to.deep.include({
      actualValue: 'true',
      timestamp: new Date(rig.clock.ofSim(rig.device.now)).toISOString(),
      techCode: 'GroundFailure',
      techInfo: 'residual current',
    });
  });

  it('without monitors of live values no timer runs', async () => {
    const rig = await monitoringRig();
    expect(rig.timers.waiting).to.equal(0);
    const id = await rig.accepted(monitorOf({ type: 'UpperThreshold', value: 4000 }));
    expect(rig.timers.waiting).to.equal(1);
    await rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: [id] });
    expect(rig.timers.waiting).to.equal(0);
    await rig.accepted(monitorOf({ type: 'Delta', value: 1, component: connector1, variable: { name: 'Problem' } }));
    expect(rig.timers.waiting).to.equal(0);
    rig.monitoring.stop();
    expect(rig.device.listening).to.equal(0);
  });

  it('2.0.1 tells no severity', async () => {
    const rig = await monitoringRig('ocpp2.0.1');
    await fault(rig);
    expect(rig.events()).to.have.length(1);
    expect(rig.events()[0]).to.not.have.property('severity');
  });
});

describe('OCPP 2.x: monitors of the station itself', () => {
  it('tells the problem of a connector, and that it is over', async () => {
    const rig = await monitoringRig();
    await fault(rig);
    rig.device.change(1, { errorCode: 'NoError', errorInfo: null, status: 'available' }, 'clear_fault');
    await settled();
    expect(
      rig
        .events()
        .map(({ actualValue, eventNotificationType, techCode }) => [actualValue, eventNotificationType, techCode]),
    ).to.deep.equal([
      ['true', 'PreconfiguredMonitor', 'GroundFailure'],
      ['false', 'PreconfiguredMonitor', undefined],
    ]);
  });

  it('N07.FR.05: a problem of all connectors is one of the station, and names its cause in the same report', async () => {
    const rig = await monitoringRig();
    await fault(rig, 1);
    await fault(rig, 2);
    const [, second] = rig.reports('NotifyEvent') as unknown as readonly NotifyEvent[];
    const [connector, station] = second?.eventData ?? [];
    expect(connector).to.deep.include({ component: { name: 'Connector', evse: { id: 2, connectorId: 1 } } });
    expect(station).to.deep.include({
      component: { name: 'ChargingStation' },
      eventNotificationType: 'HardWiredMonitor',
      cause: connector?.eventId,
    });
  });

  it('2.x: parts send hard-wired notifications', async () => {
    const rig = await monitoringRig();
    const id = rig.monitoring.notify({
      component: 'Connector',
      variable: 'AvailabilityState',
      place: { evseId: 2, connectorId: 1 },
      trigger: 'Delta',
      actualValue: 'Occupied',
    });
    await settled();
    const [event] = rig.events();
    expect(event).to.deep.include({
      eventId: id,
      eventNotificationType: 'HardWiredNotification',
      component: { name: 'Connector', evse: { id: 2, connectorId: 1 } },
      variable: { name: 'AvailabilityState' },
      actualValue: 'Occupied',
      severity: 8,
    });
    expect(event).to.not.have.property('variableMonitoringId');
    expect(() =>
      rig.monitoring.notify({ component: 'Nothing', variable: 'At all', trigger: 'Delta', actualValue: '' }),
    ).to.throw('there is no variable');
  });
});

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
    for (let i = 0; i < 45; i++) await fault(rig).then(() => clear(rig));
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

async function clear(rig: MonitoringRig): Promise<void> {
  rig.device.change(1, { errorCode: 'NoError', errorInfo: null, status: 'available' }, 'clear_fault');
  await settled();
}

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
