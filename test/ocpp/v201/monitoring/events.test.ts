import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v201/messages.ts';
import { fault, monitoringRig, monitorOf, power, settled, toldOf } from './rig.ts';

const connector1 = { name: 'Connector', evse: { id: 1, connectorId: 1 } };

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

  it('so is what other parts derive from a transition', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(
      monitorOf({ type: 'Delta', value: 1, component: connector1, variable: { name: 'AvailabilityState' } }),
    );
    const { now: before } = rig.device;
    await rig.pass(1);
    const end = rig.device.port.onTransition(() => {
      rig.variables.set('Connector', 'AvailabilityState', 'Reserved', { evseId: 1, connectorId: 1 });
    });
    rig.device.tell({ event: 'reserve', connectorId: 1, at: before });
    end();
    await settled();
    expect(toldOf(rig, id)).to.have.length(1);
    expect(toldOf(rig, id)[0]).to.include({
      actualValue: 'Reserved',
      timestamp: new Date(rig.wall.nowMs() - 1000).toISOString(),
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
    rig.stop();
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
    const [, second] = rig.reports('NotifyEvent') as unknown as readonly Requests['NotifyEvent'][];
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
