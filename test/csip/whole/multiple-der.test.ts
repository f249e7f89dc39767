/** Several devices behind one EndDevice: `--csip_identity site`. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { amount, parsed } from '../head-end/bodies.ts';
import type { Program, ReadingRecord } from '../head-end/model.ts';
import { Site } from './site.ts';
import type { SiteOptions } from './site.ts';

const watts = (value: number) => ({ multiplier: 0, value });
const names = ['dercap', 'derg', 'ders', 'dera'] as const;

function open(options: Partial<SiteOptions> = {}, flags: readonly string[] = []): Promise<Site> {
  return Site.open({
    types: ['PV-3Phase', 'PV-3Phase'],
    identity: 'site',
    flags: ['--csip_readings_site', 'yes', ...flags],
    prepare(headEnd, [lfdi = '']) {
      headEnd.rates.endDevicePost = 60;
      headEnd.rates.mirrorPost = 60;
      headEnd.register(lfdi);
      headEnd.program({ default: {} });
    },
    ...options,
  });
}

function last(site: Site, name: string, der = 1): Json {
  const recorded = site.headEnd.sent('PUT', new RegExp(`/der/${der}/${name}$`)).at(-1);
  if (recorded === undefined) throw new Error(`${name} of DER ${der}\n${site.story()}`);
  return parsed(recorded.body).value;
}

async function sumOf(site: Site, model: number, point: string, devices: readonly number[] = [0, 1]): Promise<number> {
  const all = await Promise.all(devices.map((device) => site.points(model, device)));
  return all.reduce<number>((sum, points) => sum + Number(points[point]), 0);
}

describe('a site with several DERs at a head-end of CSIP-AUS', () => {
  let site: Site;
  beforeEach(async () => {
    site = await open({}, ['--csip_aus', '1.2']);
    await site.advance(75);
  });
  afterEach(() => site.close());

  const stop = (device: number) => site.post('commands', { command: 'stop', device });

  it('MUL-01: DERStatus stays connected while one device is, and is off when all are', async () => {
    const connection = () => Number.parseInt(last(site, 'ders').genConnectStatus.value, 16);
    expect(connection() & 0b111).to.equal(0b111);
    await stop(0);
    await site.advance(70);
    expect(connection() & 0b111).to.equal(0b111);
    expect(Number(last(site, 'ders').operationalModeStatus.value)).to.equal(2);
    await stop(1);
    await site.advance(70);
    expect(connection() & 0b111).to.equal(0);
    expect(Number(last(site, 'ders').operationalModeStatus.value)).to.equal(1);
    for (const device of [0, 1]) {
      const { status } = await site.get(`csip/der?device=${device}`);
      expect(status.href, String(device)).to.match(/\/der\/1\/ders$/);
    }
  });

  it('MUL-02: one mirror has the readings of all devices, and one those of the connection point', async () => {
    await site.advance(200);
    const { mirrors, readings } = site.headEnd;
    expect(mirrors.map(({ roleFlags, deviceLfdi }) => [roleFlags, deviceLfdi])).to.have.deep.members([
      ['0049', site.lfdis[0]],
      ['0003', site.lfdis[0]],
    ]);
    const total = await sumOf(site, 701, 'W');
    expect(total).to.be.greaterThan(0);
    for (const { id, roleFlags } of mirrors) {
      const of = (uom: number): readonly ReadingRecord[] =>
        readings.filter(({ mup, type }) => mup === id && type['uom'] === uom);
      const uoms = { active: 38, reactive: 63, voltage: 29 };
      for (const uom of Object.values(uoms)) expect(of(uom).length, `${roleFlags} ${uom}`).to.be.at.least(3);
      const value = of(uoms.active).at(-1)?.value ?? 0;
      expect(Math.abs(value), roleFlags).to.be.closeTo(total, total / 20);
    }
  });

  it('MUL-03: DERCapability and DERSettings are sums, and follow a changed rating and gradient', async () => {
    const { headEnd } = site;
    expect(amount(last(site, 'dercap').rtgMaxW)).to.equal(await sumOf(site, 702, 'WMaxRtg'));
    expect(amount(last(site, 'derg').setMaxW)).to.equal(await sumOf(site, 702, 'WMax'));
    const { WMax } = await site.points(702, 1);
    await site.post('registers/702?device=1', { points: { WMax: WMax / 2 } });
    headEnd.setDefault(headEnd.programs[0] as Program, {}, { setGradW: 100 });
    await site.advance(300);
    expect(amount(last(site, 'derg').setMaxW)).to.equal(await sumOf(site, 702, 'WMax'));
    expect(await sumOf(site, 702, 'WMax')).to.equal(1.5 * WMax);
    expect(Number(last(site, 'derg').setGradW)).to.equal(100);
    expect(headEnd.sent('POST', '/edev/1/der')).to.have.length(0);
  });
});

describe('a site with several DERs at a head-end', () => {
  let site: Site;
  beforeEach(async () => {
    site = await open();
    await site.advance(75);
  });
  afterEach(() => site.close());

  it('has one EndDevice with a DER for each device, and posts those that the list lacks', async () => {
    const { headEnd } = site;
    expect(headEnd.endDevices.map(({ lfdi, ders }) => [lfdi, ders])).to.deep.equal([[site.lfdis[0], [1, 2]]]);
    for (const der of [1, 2]) {
      for (const name of names) last(site, name, der);
      const { WMaxRtg } = await site.points(702, der - 1);
      expect(amount(last(site, 'dercap', der).rtgMaxW)).to.equal(WMaxRtg);
    }
    for (const device of [0, 1]) {
      const { identity, device_indices: indices, end_device: own } = await site.get(`csip-client?device=${device}`);
      expect([identity, indices, own.lfdi]).to.deep.equal(['site', [0, 1], site.lfdis[0]]);
    }
  });

  it('limits the export of all devices together, and answers an event once', async () => {
    const { headEnd, device } = site;
    const [program] = headEnd.programs as [Program];
    const before = (await site.watts(0)) + (await site.watts(1));
    const control = headEnd.control(program, {
      modes: { opModExpLimW: watts(Math.round(before / 4)) },
      inS: 20,
      durationS: 600,
    });
    await site.responded(control, 2);
    await site.advance(30);
    expect((await site.watts(0)) + (await site.watts(1))).to.be.closeTo(before / 4, before / 100);
    const { controls } = await site.get('csip/controls?device=1');
    expect((controls as Json[]).map(({ device_indices: indices }) => indices)).to.deep.equal([[0, 1]]);

    await site.post('devices', { device_type: 'PV-3Phase' });
    await site.advance(90);
    const all = async (devices: readonly number[]) => sumOf(site, 701, 'W', devices);
    expect(device.ders).to.deep.equal([1, 2, 3]);
    expect(await all([0, 1, 2])).to.be.closeTo(before / 4, before / 100);
    expect((await site.get('csip-client')).device_indices).to.deep.equal([0, 1, 2]);

    await site.post('devices/0/remove', {});
    await site.advance(90);
    expect(await all([1, 2])).to.be.closeTo(before / 4, before / 100);
    const [{ state, device_indices: left }] = (await site.get('csip/controls?device=2')).controls;
    expect([state, left]).to.deep.equal(['active', [1, 2]]);
    await site.responded(control, 3, 700);
    expect(headEnd.statuses(control.mRID)).to.deep.equal([1, 2, 3]);
    await site.advance(60);
    expect(await all([1, 2])).to.be.greaterThan(before / 2);
    expect((await site.get('site/scopes')).scopes.slice(1)).to.deep.equal([]);
  });

  it('gives a device that joins what is in force', async () => {
    const [program] = site.headEnd.programs as [Program];
    const control = site.headEnd.control(program, { modes: { opModMaxLimW: 4000 }, inS: 20, durationS: 600 });
    await site.responded(control, 2);
    await site.post('devices', { device_type: 'PV-3Phase' });
    await site.advance(5);
    for (const device of [0, 1, 2]) expect((await site.points(704, device)).WMaxLimPct, String(device)).to.equal(40);
    await site.responded(control, 3, 700);
    expect((await site.points(704, 2)).WMaxLimPctEna).to.equal(0);
  });
});
