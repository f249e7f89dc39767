import { nowhere } from '../../../src/csip/report/reporter.ts';
import { expect } from 'chai';
import type { LogEvent } from '../../../src/csip/xml/documents.ts';
import { origin, settled } from './fake-server.ts';
import { bodiesOf, hrefsFor, remoteStartS, rig, stopReporters } from './reporter-rig.ts';

describe('CSIP reporter', () => {
  afterEach(stopReporters);

  describe('DER documents', () => {
    it('puts them at the start, the ratings first, and the others where they have a place', async () => {
      const { server, reporter } = rig({ nmi: '1234567890' });
      reporter.follow(hrefsFor(1));
      await settled();
      const der = server.requests
        .filter(({ href }) => href.includes('/der/'))
        .map(({ method, href }) => [method, href]);
      expect(der).to.deep.equal([
        ['PUT', `${origin}/der/0/dercap`],
        ['PUT', `${origin}/der/0/derg`],
        ['PUT', `${origin}/der/0/ders`],
        ['PUT', `${origin}/der/0/dera`],
      ]);
      expect(bodiesOf(server)).to.include.members([
        'DeviceInformation',
        'DeviceStatus',
        'PowerStatus',
        'ConnectionPoint',
      ]);
      expect(server.sent('ConnectionPoint')[0]).to.deep.equal({ connectionPointId: '1234567890' });
      expect(server.sent('DERStatus')[0]?.readingTime).to.equal(remoteStartS);
    });

    it('sends no connection point without one, and nothing where the server has no place', async () => {
      const { server, reporter } = rig();
      reporter.follow(hrefsFor(1, { ders: [null], deviceInformation: null, mirrorUsagePointList: null }));
      await settled();
      expect(bodiesOf(server)).to.deep.equal(['DeviceStatus', 'PowerStatus']);
    });

    it('writes them once, and again when the EndDevice comes back', async () => {
      const { server, reporter } = rig();
      reporter.follow(hrefsFor(1));
      await settled();
      reporter.follow(hrefsFor(1));
      await settled();
      expect(server.sent('DERCapability')).to.have.lengthOf(1);
      reporter.follow(nowhere);
      reporter.follow(hrefsFor(1));
      await settled();
      expect(server.sent('DERCapability')).to.have.lengthOf(2);
      expect(server.sent('MirrorUsagePoint')).to.have.lengthOf(4);
    });

    it('puts status and availability at the postRate of the server, or at the own one', async () => {
      const { server, reporter, run } = rig();
      reporter.follow(hrefsFor(1, { postRateS: 30 }));
      await settled();
      await run(91.5);
      expect(server.sent('DERStatus').map(({ readingTime }) => readingTime - remoteStartS)).to.deep.equal([
        0, 30, 60, 90,
      ]);
      expect(server.sent('DERAvailability')).to.have.lengthOf(4);
      expect(server.sent('DERCapability')).to.have.lengthOf(1);
      reporter.follow(hrefsFor(1, { postRateS: 10 }));
      await run(21);
      expect(server.sent('DERAvailability')).to.have.lengthOf(6);
      const own = rig({ postRateS: 15 });
      own.reporter.follow(hrefsFor(1));
      await own.run(31.5);
      expect(own.server.sent('DERAvailability')).to.have.lengthOf(3);
    });

    it('puts a status at the end of the tick in which it changed', async () => {
      const { plant, server, reporter, run } = rig();
      reporter.follow(hrefsFor(1));
      await run(3);
      expect(server.sent('DERStatus')).to.have.lengthOf(1);
      plant.commands.submit({ command: 'stop', deviceIndex: 0 }, { source: 'rest' });
      await run(9);
      const sent = server.sent('DERStatus');
      expect(sent.length).to.be.greaterThan(1);
      expect(sent.at(-1)?.inverterStatus?.value).to.equal(1);
      expect(sent.at(-1)?.alarmStatus).to.equal('00000080');
      expect(sent.at(-1)?.genConnectStatus?.value).to.equal('00');
      expect(server.sent('DERAvailability').at(-1)?.statWAvail?.value).to.equal(0);
    });

    it('puts the settings when one changes, with the time of that', async () => {
      const { plant, server, reporter, run } = rig();
      reporter.follow(hrefsFor(1));
      await run(6);
      plant.device(0).bank.transact({ source: 'csip' }, (tx) => {
        tx.m703.ESDlyTms = 7;
      });
      await run(3);
      const sent = server.sent('DERSettings');
      expect(sent).to.have.lengthOf(2);
      expect(sent[1]).to.include({ setESDelay: 700, updatedTime: remoteStartS + 7 });
      expect(sent[0]?.updatedTime).to.equal(remoteStartS);
    });

    it('has one DER for each device of the EndDevice', async () => {
      const { server, reporter } = rig({ types: ['PV-3Phase', 'Batt-3Phase'] });
      reporter.follow(hrefsFor(2));
      await settled();
      expect(server.sent('DERCapability', 0).map(({ type }) => type)).to.deep.equal([4]);
      expect(server.sent('DERCapability', 1).map(({ type }) => type)).to.deep.equal([80]);
      expect(reporter.lastSent(1).capability?.href).to.equal(`${origin}/der/1/dercap`);
      expect(() => reporter.lastSent(2))
        .to.throw()
        .with.property('code', 'UNKNOWN_DEVICE');
    });

    it('tries again with growing waits while there is no answer or the server is busy', async () => {
      const { server, reporter, timers } = rig({ mode: 'wall' });
      server.statuses.set('PUT DERSettings', 503);
      reporter.follow(hrefsFor(1, { mirrorUsagePointList: null }));
      await settled();
      expect(reporter.lastSent(0).settings).to.include({ result: 'refused', httpStatus: 503 });
      server.statuses.clear();
      server.down = true;
      timers.pass(600);
      await settled();
      expect(reporter.lastSent(0).settings).to.include({ result: 'failed', httpStatus: null });
      server.down = false;
      timers.pass(1100);
      await settled();
      expect(reporter.lastSent(0).settings).to.include({ result: 'accepted', httpStatus: 204 });
      expect(server.sent('DERSettings')).to.have.lengthOf(3);
    });

    it('does not repeat what is refused for good; tells once of a place that is lost, and tries it again', async () => {
      const { server, reporter, timers, lost } = rig({ mode: 'wall' });
      server.statuses.set('PUT DERCapability', 400);
      server.statuses.set('PUT DERSettings', 404);
      reporter.follow(hrefsFor(1, { mirrorUsagePointList: null }));
      await settled();
      timers.pass(600);
      await settled();
      expect(server.sent('DERCapability')).to.have.lengthOf(1);
      expect(server.sent('DERSettings')).to.have.lengthOf(2);
      expect(lost).to.deep.equal(['DERSettings']);
      // the walk has brought it back at the same place
      server.statuses.clear();
      reporter.follow(hrefsFor(1, { mirrorUsagePointList: null }));
      timers.pass(1100);
      await settled();
      expect(reporter.lastSent(0).settings?.result).to.equal('accepted');
    });

    it('sends on demand, and says what it sent', async () => {
      const { server, reporter } = rig();
      expect(reporter.lastSent(0)).to.deep.equal({
        capability: null,
        settings: null,
        status: null,
        availability: null,
      });
      let code: unknown;
      await reporter.sendNow(['status'], 0).catch((error: unknown) => {
        code = (error as { code: unknown }).code;
      });
      expect(code).to.equal('NOT_CONNECTED');
      reporter.follow(hrefsFor(1));
      await settled();
      await reporter.sendNow(['capability', 'status'], 0);
      expect(server.sent('DERCapability')).to.have.lengthOf(2);
      expect(reporter.lastSent(0).capability?.body).to.deep.equal(server.sent('DERCapability')[1]);
    });
  });

  describe('log events', () => {
    it('are sent for alarms that begin and end, with ids that count up', async () => {
      const { plant, server, reporter, run } = rig();
      reporter.follow(hrefsFor(1));
      await run(3);
      const by = { source: 'rest' } as const;
      plant.commands.submit({ command: 'stop', deviceIndex: 0 }, by);
      await run(9);
      plant.commands.submit({ command: 'start', deviceIndex: 0 }, by);
      await run(9);
      const sent = server.sent('LogEvent');
      expect(sent.map(({ logEventCode, logEventID }: LogEvent) => [logEventCode, logEventID])).to.deep.equal([
        [14, 0],
        [15, 1],
      ]);
      expect(sent[0]).to.include({ functionSet: 11, profileID: 2, logEventPEN: 40_732, details: 'emergency local' });
      expect(sent[0]?.createdDateTime).to.be.within(remoteStartS + 3, remoteStartS + 6);
      expect(reporter.logEvents.map(({ code, result }) => [code, result])).to.deep.equal([
        [15, 'sent'],
        [14, 'sent'],
      ]);
    });

    it('tell of a trip that is over before its tick ends', async () => {
      const { plant, server, reporter, run } = rig({ rate: 60 });
      plant.device(0).bank.transact({ source: 'rest' }, (tx) => {
        Object.assign(tx.m703, { ESDlyTms: 1, ESRndTms: 0, ESRmpTms: 1 });
      });
      reporter.follow(hrefsFor(1));
      await run(3);
      plant.startGridEvent('sag', { residual_pu: 0.2, duration_s: 5 });
      await run(1.5);
      expect(plant.device(0).bank.map.m701.InvSt).to.be.oneOf(['RUNNING', 'THROTTLED', 'SLEEPING']);
      await run(3);
      expect(server.sent('LogEvent').map(({ logEventCode }: LogEvent) => logEventCode)).to.deep.equal([4, 5]);
    });

    it('wait while there is no answer, and are then sent in their order', async () => {
      const { server, reporter, timers } = rig({ mode: 'wall' });
      reporter.follow(hrefsFor(1, { mirrorUsagePointList: null }));
      await settled();
      server.down = true;
      await reporter.sendLogEvent({ code: 2 }, 0);
      void reporter.sendLogEvent({ code: 4, functionSet: 0, details: 'x'.repeat(40) }, 0);
      await settled();
      server.down = false;
      server.requests.length = 0;
      timers.pass(5000);
      await settled();
      expect(server.sent('LogEvent').map(({ logEventCode }) => logEventCode)).to.deep.equal([2, 4]);
      expect(server.sent('LogEvent')[1]).to.include({ functionSet: 0, details: 'x'.repeat(32) });
    });

    it('are refused for good, or not made at all', async () => {
      const { plant, server, reporter, run } = rig();
      let code: unknown;
      await reporter.sendLogEvent({ code: 1 }, 0).catch((error: unknown) => {
        code = (error as { code: unknown }).code;
      });
      expect(code).to.equal('NOT_CONNECTED');
      reporter.follow(hrefsFor(1));
      server.statuses.set('POST LogEvent', 400);
      await reporter.sendLogEvent({ code: 1 }, 0);
      expect(reporter.logEvents[0]?.result).to.equal('refused');
      reporter.sendsAlarms = false;
      plant.commands.submit({ command: 'stop', deviceIndex: 0 }, { source: 'rest' });
      await run(9);
      expect(reporter.logEvents).to.have.lengthOf(1);
    });
  });
});
