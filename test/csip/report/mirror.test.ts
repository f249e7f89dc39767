import { expect } from 'chai';
import { Mirror } from '../../../src/csip/report/mirror.ts';
import { quantitiesOf } from '../../../src/csip/report/readings.ts';
import { AddressBook } from '../../../src/csip/addresses.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { origin, settled } from './fake-server.ts';
import { hrefsFor, lfdi, named, remoteStartS, rig, stopReporters, valuesOf } from './reporter-rig.ts';

describe('CSIP reporter: metering mirror', () => {
  afterEach(stopReporters);

  it('makes a mirror of the device and one of the site, with the types of their readings', async () => {
    const { server, reporter } = rig();
    reporter.follow(hrefsFor(1));
    await settled();
    const [device, site] = server.sent('MirrorUsagePoint');
    expect(device).to.include({ roleFlags: '0049', deviceLFDI: lfdi, serviceCategoryKind: 0, status: 1 });
    expect(site).to.include({ roleFlags: '0003', deviceLFDI: lfdi });
    expect(device?.mRID).not.to.equal(site?.mRID);
    expect(device?.MirrorMeterReading?.map(({ ReadingType: type }) => [type?.uom, type?.phase])).to.deep.equal([
      [38, undefined],
      [63, undefined],
      [29, 129],
      [29, 65],
      [29, 33],
      [33, undefined],
    ]);
  });

  it('a mirror of an earlier process is read, and made again only where the server has it no more', async () => {
    const slot = createMemoryStore().slot('mirrors');
    const first = rig({ mirrors: await AddressBook.open(slot, silentLogger) });
    first.server.postRate = 60;
    first.reporter.follow(hrefsFor(1));
    await settled();
    expect(first.server.sent('MirrorUsagePoint')).to.have.length(2);
    first.reporter.stop();
    const second = rig({ mirrors: await AddressBook.open(slot, silentLogger) });
    second.server.postRate = 30;
    const [, [siteHref, site] = []] = first.server.mirrors;
    if (siteHref !== undefined && site !== undefined) second.server.mirrors.set(siteHref, site);
    second.reporter.follow(hrefsFor(1));
    await settled();
    // the server has lost that of the device
    expect(second.server.sent('MirrorUsagePoint').map(({ roleFlags }) => roleFlags)).to.deep.equal(['0049']);
    expect(second.reporter.readings(null).postRateS).to.equal(30);
    await second.run(60);
    expect(second.server.sent('MirrorMeterReadingList').length).to.be.above(1);
  });

  it('a mirror of another device at the address of an earlier process gets no readings', async () => {
    const slot = createMemoryStore().slot('mirrors');
    const first = rig({ mirrors: await AddressBook.open(slot, silentLogger) });
    first.reporter.follow(hrefsFor(1));
    await settled();
    first.reporter.stop();
    const second = rig({ mirrors: await AddressBook.open(slot, silentLogger) });
    const [[deviceHref] = [], [, site] = []] = first.server.mirrors;
    if (deviceHref !== undefined && site !== undefined) second.server.mirrors.set(deviceHref, site);
    second.reporter.follow(hrefsFor(1));
    await settled();
    expect(second.server.sent('MirrorUsagePoint')[0]).to.include({ roleFlags: '0049' });
  });

  it('posts averages of the counters at the postRate that it reads back', async () => {
    const { plant, server, reporter, run } = rig({ types: ['Batt-3Phase'] });
    server.postRate = 60;
    plant.device(0).bank.transact({ source: 'rest' }, ({ m704 }) => {
      m704.WSetMod = 'WATTS';
      m704.WSet = -3000;
      m704.WSetEna = 'ENABLED';
    });
    await run(60);
    reporter.follow(hrefsFor(1));
    await settled();
    await run(180);
    const [device, site] = server.sent('MirrorUsagePoint');
    const import_ = valuesOf(server, named(device, 'Active power, import positive').mRID);
    expect(import_.map(({ start, duration }) => [start - remoteStartS, duration])).to.deep.equal([
      [60, 60],
      [120, 60],
      [180, 60],
    ]);
    for (const { value } of import_) expect(value).to.be.closeTo(3000, 1);
    const atSite = valuesOf(server, named(site, 'Active power, import positive').mRID);
    for (const { value } of atSite) expect(value).to.be.closeTo(3000, 1);
    const volts = valuesOf(server, named(device, 'Voltage L1').mRID);
    expect(volts[0]?.value).to.equal(Math.round((plant.device(0).bank.map.m701.VL1 ?? NaN) * 10));
    expect(server.sent('MirrorMeterReadingList')[0]?.MirrorMeterReading?.[0]).not.to.have.property('ReadingType');
  });

  it('agrees with the counters of the device', async () => {
    const { plant, server, reporter, run } = rig();
    server.postRate = 300;
    reporter.follow(hrefsFor(1));
    await settled();
    const whAt = () => plant.device(0).bank.map.m701.TotWhInj ?? NaN;
    const before = whAt();
    await run(600);
    const mrid = named(server.sent('MirrorUsagePoint')[0], 'Active power, import positive').mRID;
    const wh = valuesOf(server, mrid).reduce((sum, { value, duration }) => sum - ((value ?? 0) * duration) / 3600, 0);
    expect(wh).to.be.closeTo(whAt() - before, 1);
  });

  it('the site agrees with the meter of the connection point', async () => {
    const { plant, server, reporter, run } = rig({ meter: true, types: ['PV-3Phase', 'Batt-3Phase'] });
    server.postRate = 300;
    plant.setSurroundings({ loadKw: 2 });
    reporter.follow(hrefsFor(1));
    await settled();
    const before = plant.meter!.now;
    await run(600);
    const { now } = plant.meter!;
    const site = server.sent('MirrorUsagePoint').find(({ roleFlags }) => roleFlags === '0003');
    const readings = valuesOf(server, named(site, 'Active power, import positive').mRID);
    const wh = readings.reduce((sum, { value, duration }) => sum + ((value ?? 0) * duration) / 3600, 0);
    const metered = now.importedWh - before.importedWh - (now.exportedWh - before.exportedWh);
    expect(readings).to.have.lengthOf(2);
    // the last second, and what the sum of two rounded means leaves
    expect(wh).to.be.closeTo(metered, Math.abs(now.w) / 3600 + 1);
    const volts = valuesOf(server, named(site, 'Voltage L1').mRID);
    expect(volts[0]?.value).to.be.closeTo((now.volts[0] ?? NaN) * 10, 1);
  });

  it('obeys a postRate that changes at the next poll of the list', async () => {
    const { server, reporter, run } = rig();
    server.postRate = 60;
    server.pollRate = 30;
    reporter.follow(hrefsFor(1));
    await run(61.5);
    server.postRate = 15;
    await run(45);
    const mrid = named(server.sent('MirrorUsagePoint')[0], 'Frequency').mRID;
    // the answer comes after the tick that ends at 90 s
    const durations = valuesOf(server, mrid).map(({ duration }) => duration);
    expect(durations.slice(0, 3)).to.deep.equal([60, 30, 15]);
    expect(reporter.readings(null).postRateS).to.equal(15);
  });

  it('posts at most once a second, whatever the server asks for', async () => {
    const { server, reporter, run } = rig();
    server.postRate = 0;
    server.pollRate = 0;
    reporter.follow(hrefsFor(1, { postRateS: 0 }));
    await settled();
    await run(15);
    expect(server.sent('DERAvailability').length).to.be.at.most(16);
    expect(server.sent('MirrorMeterReadingList').length).to.be.within(10, 30);
  });

  it('makes the mirror again when the server has forgotten it, and keeps what was not sent', async () => {
    const { server, reporter, run } = rig();
    server.postRate = 15;
    reporter.follow(hrefsFor(1));
    await run(16.5);
    server.down = true;
    await run(45);
    server.down = false;
    server.mirrors.clear();
    await run(45);
    expect(server.sent('MirrorUsagePoint')).to.have.lengthOf(4);
    const mrid = named(server.sent('MirrorUsagePoint')[0], 'Frequency').mRID;
    const answered = new Set(valuesOf(server, mrid).map(({ start }) => start - remoteStartS));
    expect([...answered].sort((a, b) => a - b)).to.deep.equal([0, 15, 30, 45, 60, 75, 90].slice(0, answered.size));
    expect(answered.size).to.be.at.least(6);
  });

  it('makes the mirror again at a poll that no longer shows it', async () => {
    const { server, reporter, run } = rig();
    server.pollRate = 30;
    reporter.follow(hrefsFor(1));
    await run(3);
    server.mirrors.clear();
    await run(30);
    expect(server.sent('MirrorUsagePoint')).to.have.lengthOf(4);
  });

  it('posts to a mirror that cannot be read', async () => {
    const { server, reporter, run } = rig({ postRateS: 15 });
    server.statuses.set('GET MirrorUsagePoint', 404);
    reporter.follow(hrefsFor(1));
    await run(31.5);
    expect(server.sent('MirrorUsagePoint')).to.have.lengthOf(2);
    expect(reporter.readings(0).posted).to.equal(4);
  });

  it('keeps the newest 288 periods while there is no answer, and posts them in batches', async () => {
    const { server, wall, timers } = rig();
    const mirror = new Mirror({
      exchange: server,
      wall,
      later: timers.later,
      jitter: { next: () => 0.5 },
      log: silentLogger,
      onLost: () => undefined,
      isSingleDevice: true,
      role: 'device',
      deviceIndex: 0,
      lfdi,
      penDigits: '00009F1C',
      description: 'Device 0',
      quantities: quantitiesOf({ flow: 'net', positive: 'import' }, { volts: new Map(), storedWh: null }),
      onPostRate: () => undefined,
    });
    server.down = true;
    mirror.follow(`${origin}/mup`);
    const powers = {
      injectedW: 1,
      absorbedW: 0,
      injectedVar: 0,
      absorbedVar: 0,
      volts: new Map(),
      hz: 50,
      storedWh: null,
    };
    for (let i = 0; i < 300; i++) await mirror.post([{ startMs: i * 60_000, endMs: (i + 1) * 60_000, ...powers }]);
    server.down = false;
    await mirror.send();
    mirror.stop();
    const starts = valuesOf(server, named(server.sent('MirrorUsagePoint')[0], 'Frequency').mRID).map(
      ({ start }) => start,
    );
    expect(starts).to.deep.equal(Array.from({ length: 288 }, (_, i) => (i + 12) * 60));
    expect(mirror.posted).to.equal(24);
  });

  it('posts one by one where the server refuses lists', async () => {
    const { server, reporter, run } = rig({
      readings: { flow: 'split', positive: 'import', device: true, site: false },
    });
    server.postRate = 15;
    server.statuses.set('POST MirrorMeterReadingList', 400);
    reporter.follow(hrefsFor(1));
    await run(31.5);
    expect(server.sent('MirrorMeterReadingList')).to.have.lengthOf(1);
    expect(server.sent('MirrorMeterReading')).to.have.lengthOf(16);
    expect(reporter.readings(0)).to.include({ posted: 2, postRateS: 15 });
  });

  it('shows the values that were posted last, in their units', async () => {
    const { plant, server, reporter, run } = rig();
    server.postRate = 15;
    reporter.follow(hrefsFor(1));
    await run(15);
    const { sets, mupHref } = reporter.readings(0);
    expect(mupHref).to.equal(`${origin}/mup/1`);
    const hz = sets.find(({ uom }) => uom === 33);
    expect(hz?.values).to.deep.equal([
      { startServerMs: remoteStartS * 1000, durationS: 15, value: plant.device(0).bank.map.m701.Hz },
    ]);
  });

  it('sends the period under way on demand', async () => {
    const { server, reporter, run } = rig();
    reporter.follow(hrefsFor(1));
    await run(9);
    await reporter.sendReadings();
    const mrid = named(server.sent('MirrorUsagePoint')[0], 'Frequency').mRID;
    expect(valuesOf(server, mrid).map(({ start, duration }) => [start, duration])).to.deep.equal([[remoteStartS, 9]]);
  });

  it('goes on while the simulation is paused and the time of the server is not', async () => {
    const { server, reporter, timers } = rig({ mode: 'wall' });
    server.postRate = 60;
    reporter.follow(hrefsFor(1));
    await settled();
    timers.pass(70_000);
    await settled();
    const mrid = named(server.sent('MirrorUsagePoint')[0], 'Frequency').mRID;
    expect(valuesOf(server, mrid).map(({ start, duration }) => [start, duration])).to.deep.equal([[remoteStartS, 60]]);
  });

  it('says the same twice when it is stepped', async () => {
    const bodies = async () => {
      const { server, reporter, run } = rig({ types: ['PV-3Phase', 'Batt-3Phase'] });
      server.postRate = 30;
      reporter.follow(hrefsFor(2, { postRateS: 45 }));
      await run(120);
      return JSON.stringify(server.requests.map(({ href, body }) => [href, body]));
    };
    expect(await bodies()).to.equal(await bodies());
  });
});
