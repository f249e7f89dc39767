import { expect } from 'chai';
import type { EventData } from '../../../../src/ocpp/v201/messages.ts';
import { Site } from '../../whole/site.ts';

const events = (site: Site): readonly EventData[] =>
  site.station.calls
    .filter(({ action }) => action === 'NotifyEvent')
    .flatMap(({ payload }) => (payload as { readonly eventData: readonly EventData[] }).eventData);

describe('OCPP 2.1: monitors of a whole station', () => {
  let site: Site;
  beforeEach(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
  });
  afterEach(async () => {
    await site.close();
  });

  const monitor = { severity: 4, component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' } };
  const charge = async (): Promise<void> => {
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 20 } });
    await site.settle();
    await site.post('evse/CP-1/connectors/1/authorize', { id_token: 'TAG' });
    await site.until('energy flows', () => site.connector().powerW > 3000);
  };

  it('tells that the power of the device has passed a threshold, and that it is over', async () => {
    const { setMonitoringResult } = await site.call('SetVariableMonitoring', {
      setMonitoringData: [{ ...monitor, type: 'UpperThreshold', value: 3000 }],
    });
    const [{ id, status }] = setMonitoringResult as readonly [{ id: number; status: string }];
    expect(status).to.equal('Accepted');
    await charge();
    await site.advance(2);
    site.do({ kind: 'evse.unplug', connectorId: 1 });
    await site.advance(3);
    const told = events(site).filter(({ variableMonitoringId }) => variableMonitoringId === id);
    expect(told.map(({ cleared = false }) => cleared)).to.deep.equal([false, true]);
    expect(Number(told[0]?.actualValue)).to.be.greaterThan(3000);
    expect(told[0]?.transactionId).to.be.a('string');
  });

  it('N07.FR.13: a monitor acts after a restart of the simulator', async () => {
    await site.call('SetVariableMonitoring', {
      setMonitoringData: [{ ...monitor, type: 'UpperThreshold', value: 3000 }],
    });
    await site.settle();
    await site.stop();
    await site.start();
    await charge();
    await site.advance(2);
    expect(events(site).filter(({ trigger }) => trigger === 'Alerting')).to.have.length(1);
  });

  it('streams the power of the device', async () => {
    await charge();
    await site.call('SetVariableMonitoring', {
      setMonitoringData: [{ ...monitor, type: 'Periodic', value: 1, periodicEventStream: { values: 5 } }],
    });
    await site.settle();
    await site.advance(11);
    const sends = site.station.frames.filter(({ text }) => text.includes('"NotifyPeriodicEventStream"'));
    expect(sends).to.have.length(2);
    expect(sends[0]?.frame?.[0]).to.equal(6);
    const { data } = sends[1]?.frame?.[3] as { readonly data: readonly { readonly t: number; readonly v: string }[] };
    expect(data.map(({ t }) => t)).to.deep.equal([0, 1, 2, 3, 4]);
    for (const { v } of data) expect(Number(v)).to.be.greaterThan(3000);
  });

  it('tells the fault of a connector', async () => {
    site.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'GroundFailure', info: 'residual current' });
    await site.advance(1);
    const told = events(site).filter(({ variable }) => variable.name === 'Problem');
    expect(told.map(({ component: { name }, actualValue }) => [name, actualValue])).to.deep.equal([
      ['Connector', 'true'],
      ['ChargingStation', 'true'],
    ]);
    expect(told[0]).to.include({ techCode: 'GroundFailure' });
    expect(told[1]?.cause).to.equal(told[0]?.eventId);
  });
});
