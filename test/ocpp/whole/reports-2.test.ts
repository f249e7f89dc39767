/** Events, security events and reports of a station of 2.1 over a line that breaks: each arrives, and in order (A04, N07, B07). */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { casesOf } from '../../support/random.ts';
import { Site } from './site.ts';

const rounds = 60;

describe('what a station of OCPP 2.1 tells over a line that breaks', () => {
  let site: Site;
  beforeEach(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
    await site.until('it is available', () => site.station.callsOf('StatusNotification').length > 0);
  });
  afterEach(() => site.close());

  const set = async (component: string, variable: string, attributeValue: string) => {
    const data = { component: { name: component }, variable: { name: variable }, attributeValue };
    const { setVariableResult } = await site.call('SetVariables', { setVariableData: [data] });
    expect(setVariableResult[0].attributeStatus, variable).to.equal('Accepted');
  };
  const back = () => site.until('it is back', () => site.peers === 1, 2000);
  const told = (): Json[] => site.station.callsOf('NotifyEvent').flatMap(({ payload }) => payload.eventData as Json[]);

  /** Breaks the line at some of the calls of an action, before their answer. */
  const breaking = (action: string, chance: () => number) => {
    const answer = site.station.answers[action];
    site.station.answers[action] = (payload) => {
      if (chance() < 0.4 && site.station.connected) site.station.cut();
      return answer?.(payload) ?? {};
    };
  };

  it('every event of a monitor arrives, offline ones too', async () => {
    const random = casesOf('events');
    await set('MonitoringCtrlr', 'OfflineQueuingSeverity', '9');
    const monitor = {
      component: { name: 'EVSE', evse: { id: 1 } },
      variable: { name: 'AvailabilityState' },
      type: 'Delta',
      severity: 5,
      value: 1,
    };
    const { setMonitoringResult } = await site.call('SetVariableMonitoring', { setMonitoringData: [monitor] });
    expect(setMonitoringResult[0].status).to.equal('Accepted');
    const { id: monitorId } = setMonitoringResult[0] as { id: number };
    breaking('NotifyEvent', () => random.next());
    const expected: string[] = [];
    for (let n = 0; n < rounds; n += 1) {
      const isPlugged = site.connector().cable.evPlugged;
      site.do({ kind: isPlugged ? 'evse.unplug' : 'evse.plug', connectorId: 1 });
      expected.push(isPlugged ? 'Available' : 'Occupied');
      await site.advance(0.5 + 2 * random.next());
      if (random.next() < 0.3 && site.station.connected) site.station.cut();
      await site.settle();
    }
    await back();
    await site.until('nothing waits', () => new Set(ids()).size >= expected.length, 60);
    function ids(): number[] {
      return told()
        .filter(({ variableMonitoringId }) => variableMonitoringId === monitorId)
        .map(({ eventId }) => Number(eventId));
    }
    const unique = new Map(
      told()
        .filter(({ variableMonitoringId }) => variableMonitoringId === monitorId)
        .map((event) => [Number(event.eventId), event]),
    );
    expect([...unique.values()].map(({ actualValue }) => String(actualValue))).to.deep.equal(expected);
    const times = [...unique.values()].map(({ timestamp }) => Date.parse(timestamp));
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    // one that came again is the same
    for (const event of told()) {
      const first = unique.get(Number(event.eventId));
      if (first !== undefined) expect(event).to.deep.equal(first);
    }
    expect(ids().length).to.be.greaterThan(expected.length);
  });

  it('critical security events arrive, in order, also those of an earlier process', async () => {
    const random = casesOf('security');
    breaking('SecurityEventNotification', () => random.next());
    const seen = () => site.station.callsOf('SecurityEventNotification').map(({ payload }) => payload);
    site.central.admit = () => 503;
    site.station.cut();
    await site.advance(1);
    for (let n = 0; n < 5; n += 1) {
      site.app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest', peer: 'test' });
      await site.advance(1);
    }
    await site.stop();
    site.central.admit = () => null;
    await site.start();
    await back();
    const distinct = () => new Set(seen().map(({ type, timestamp }) => `${timestamp} ${type}`));
    const resets = () => [...distinct()].filter((each) => each.includes('ResetOrReboot'));
    await site.until('all have arrived', () => resets().length === 5, 2000);
    await back();
    expect([...distinct()].filter((each) => each.includes('StartupOfTheDevice'))).to.have.length.within(1, 2);
  });

  it('a report whose line breaks leaves the station able to make the next one', async () => {
    const parts = () => site.station.callsOf('NotifyReport').map(({ payload }) => payload);
    const answer = site.station.answers['NotifyReport'];
    site.station.answers['NotifyReport'] = (payload) => {
      if (payload['seqNo'] === 1 && payload['requestId'] === 1) site.station.cut();
      return answer?.(payload) ?? {};
    };
    const ask = (requestId: number) => site.call('GetBaseReport', { requestId, reportBase: 'FullInventory' });
    expect(await ask(1)).to.deep.equal({ status: 'Accepted' });
    await site.settle();
    await back();
    await site.settle();
    expect(await ask(2)).to.deep.equal({ status: 'Accepted' });
    await site.until('it has ended', () => parts().some(({ requestId, tbc }) => requestId === 2 && tbc !== true));
    const second = parts().filter(({ requestId }) => requestId === 2);
    expect(second.map(({ seqNo }) => Number(seqNo))).to.deep.equal(second.map((_, at) => at));
    expect(second.length).to.be.greaterThan(2);
  });
});
