/** What the client reports: documents, alarms, readings. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { amount, parsed } from '../head-end/bodies.ts';
import type { ReadingRecord } from '../head-end/model.ts';
import { documentSchema } from '../../../src/api/csip-client/documents.ts';
import { signed16 } from '../../../src/csip/report/units.ts';
import { Site } from './site.ts';

const monitoring = { activePower: 38, reactivePower: 63, voltage: 29, frequency: 33 } as const;
const scaled = ({ value, type }: ReadingRecord): number => value * 10 ** (type['powerOfTenMultiplier'] ?? 0);

describe('a client at a head-end: reports', () => {
  let site: Site;
  before(async () => {
    site = await Site.open({
      flags: ['--csip_readings_site', 'yes', '--csip_aus', '1.2'],
      prepare(headEnd, [lfdi = '']) {
        headEnd.rates.endDevicePost = 60;
        headEnd.register(lfdi);
        headEnd.program({ default: {} });
      },
    });
    await site.advance(200);
  });
  after(() => site.close());

  const last = (path: RegExp): Json => {
    const recorded = site.headEnd.sent('PUT', path).at(-1);
    if (recorded === undefined) throw new Error(`${String(path)}\n${site.story()}`);
    return parsed(recorded.body).value;
  };

  it('BASIC-028, ALL-09: capability, settings and status are those of 702, 701 and 703', async () => {
    const ratings = await site.points(702);
    const capability = last(/dercap$/);
    expect(amount(capability.rtgMaxW)).to.equal(ratings.WMaxRtg);
    expect(amount(capability.rtgMaxVA)).to.equal(ratings.VAMaxRtg);
    expect(Number(capability.type)).to.equal(4);
    const modes = Number.parseInt(capability.modesSupported, 16);
    for (const bit of [2, 3, 5, 6, 8, 20, 22, 23, 24, 26]) expect((modes >> bit) & 1, `bit ${bit}`).to.equal(1);
    for (const bit of [9, 25]) expect((modes >> bit) & 1, `bit ${bit}`).to.equal(0);
    const settings = last(/derg$/);
    expect(amount(settings.setMaxW)).to.equal(ratings.WMax);
    const status = last(/ders$/);
    expect(Number(status.inverterStatus.value)).to.equal(Number((await site.points(701)).InvSt) + 1);
    expect(Number(status.operationalModeStatus.value)).to.equal(2);
    expect(Number.parseInt(status.genConnectStatus.value, 16) & 0b111).to.equal(0b111);
  });

  it('GET csip/der has the documents as they were sent, and as its description says', async () => {
    const der = await site.get('csip/der');
    for (const [member, name, path] of [
      ['capability', 'DERCapability', /dercap$/],
      ['settings', 'DERSettings', /derg$/],
      ['status', 'DERStatus', /ders$/],
      ['availability', 'DERAvailability', /dera$/],
    ] as const) {
      const { body } = der[member];
      expect(documentSchema(name)().safeParse(body).error, name).to.equal(undefined);
      expect(Object.keys(body), name).to.have.members(Object.keys(last(path)));
    }
    expect(der.capability.body.rtgMaxW).to.deep.equal(signed16((await site.points(702)).WMaxRtg));
  });

  it('BASIC-027: alarms come and go as log events with their code', async () => {
    await site.post('controls/grid', { voltage_pu: 1.3 });
    const event = await site.until('a log event', 60, () => site.device.logEvents[0]);
    const { value } = parsed(event.body);
    expect([value.functionSet, value.profileID, value.logEventPEN]).to.deep.equal(['11', '2', '40732']);
    expect(Number(value.logEventCode)).to.equal(2);
    await site.post('controls/grid', { voltage_pu: 1 });
    const ended = await site.until('its end', 600, () =>
      site.device.logEvents.find(({ body }) => Number(parsed(body).value.logEventCode) === 3),
    );
    expect(Number(parsed(ended.body).value.logEventID)).to.be.greaterThan(Number(value.logEventID));
  });

  it('BASIC-029, ALL-06, ALL-10: readings of device and site, averaged over the post rate, which may change', async () => {
    await site.advance(180);
    const roles = site.headEnd.mirrors.map(({ roleFlags }) => Number.parseInt(roleFlags, 16));
    expect(roles).to.include.members([0x49, 0x03]);
    const device = site.headEnd.mirrors.find(({ roleFlags }) => Number.parseInt(roleFlags, 16) === 0x49);
    const own = () => site.headEnd.readings.filter(({ mup }) => mup === device?.id);
    for (const [name, uom] of Object.entries(monitoring)) {
      const readings = own().filter(({ type }) => type['uom'] === uom);
      expect(readings.length, name).to.be.at.least(5);
      const [, ...later] = readings.filter(({ type }) => type['phase'] === readings[0]?.type['phase']);
      for (const { durationS } of later) expect(durationS, name).to.be.closeTo(60, 2);
    }
    const voltage = own().find(({ type }) => type['uom'] === monitoring.voltage);
    if (voltage === undefined) throw new Error('no voltage');
    expect(scaled(voltage)).to.be.within(100, 500);
    const posts = () => site.headEnd.sent('POST', /^\/mup\/\d+$/).length;
    for (const mirror of site.headEnd.mirrors) mirror.postRate = 30;
    await site.advance(120);
    const counted = posts();
    await site.advance(300);
    expect((posts() - counted) / site.headEnd.mirrors.length).to.be.within(9, 11);
  });

  it('a MirrorUsagePoint that the head-end has lost is made again', async () => {
    const { length } = site.headEnd.sent('POST', '/mup');
    site.headEnd.mirrors.splice(0);
    await site.until('new mirrors', 200, () => (site.headEnd.sent('POST', '/mup').length > length ? true : undefined));
    await site.until('readings', 200, () =>
      site.headEnd.readings.find(({ mup }) => mup === site.headEnd.mirrors[0]?.id),
    );
    expect(site.headEnd.mirrors).to.have.length(site.headEnd.sent('POST', '/mup').length - length);
  });

  it('ALL-07, ALL-08: a status is sent when its content changes, and at the post rate', async () => {
    const { length } = site.headEnd.sent('PUT', /ders$/);
    await site.advance(300);
    expect(site.headEnd.sent('PUT', /ders$/).length - length).to.be.within(4, 6);
    await site.post('registers/703', { points: { ES: 0 } });
    await site.until('a status that is not operating', 90, () => {
      return (Number.parseInt(String(last(/ders$/).genConnectStatus.value), 16) & 0b100) === 0 ? true : undefined;
    });
    await site.post('registers/703', { points: { ES: 1 } });
  });
});
