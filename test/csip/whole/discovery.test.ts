/** Transport, discovery and registration. Ids are those of the CSIP conformance procedures and of CSIP-AUS. */
import { expect } from 'chai';
import { headEndPki } from '../../support/head-end.ts';
import { parsed } from '../head-end/bodies.ts';
import { sfdiOf } from '../head-end/head-end.ts';
import { Site } from './site.ts';
import type { SiteOptions } from './site.ts';

describe('a client at a head-end: discovery', () => {
  let site: Site;
  const open = async (options: SiteOptions): Promise<Site> => {
    site = await Site.open(options);
    return site;
  };
  afterEach(() => site.close());

  it('COMM-002, COMM-003, CORE-001, CORE-003: walks from the configured address over TLS 1.2 with CCM-8 and polls', async () => {
    const { headEnd, device } = await open({
      flags: ['--csip_strict_cipher', 'yes', '--csip_pin', '111115'],
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi, { pin: 111_115 });
        opened.program({ default: { opModMaxLimW: 9000 } });
      },
    });
    await site.until('the default control', 30, () => headEnd.sent('GET', '/edev/1/derp/1/dderc')[0]);
    expect(headEnd.requests[0]).to.include({ method: 'GET', path: '/dcap', cipher: 'TLSv1.2 ECDHE-ECDSA-AES128-CCM8' });
    for (const { method, headers } of headEnd.requests) {
      if (method === 'GET') expect(headers.accept, method).to.include('application/sep+xml');
      else expect(headers['content-type'], method).to.include('application/sep+xml');
    }
    // time comes before anything that carries one
    const first = (path: string) => headEnd.sent('GET', path)[0]?.index ?? -1;
    expect(first('/tm')).to.be.within(1, headEnd.requests.findIndex(({ method }) => method !== 'GET') - 1);
    expect(first(`/edev/${device.id}/rg`)).to.be.greaterThan(first('/edev'));
    await site.until('limit', 30, async () => ((await site.points(704)).WMaxLimPct === 90 ? true : undefined));
    await site.advance(600);
    for (const path of ['/dcap', '/tm', '/edev/1/fsa', '/edev/1/fsa/1/derp', '/edev/1/derp/1/derc']) {
      const times = headEnd.sent('GET', path).filter(({ query }) => !query.includes('s=1'));
      const gaps = times.slice(2).map(({ atS }, index) => atS - (times[index + 1]?.atS ?? 0));
      expect(times.length, path).to.be.within(9, 14);
      expect(Math.max(...gaps), `${path}: ${gaps.join()}`).to.be.at.most(90);
    }
  });

  it('COMM-004: accepts a chain of three, and refuses servers of another root, out of date or self-signed', async () => {
    const pki = await headEndPki();
    for (const identity of [pki.foreign, pki.expired, pki.selfSigned, pki.elsewhere]) {
      await open({ tls: { identity } });
      await site.advance(30);
      expect(site.headEnd.requests).to.deep.equal([]);
      expect((await site.get('csip-client')).state).to.equal('retrying');
      await site.close();
    }
    await open({ tls: { identity: pki.elsewhere }, flags: ['--csip_check_hostname', 'no'] });
    await site.until('an answer', 10, () => site.headEnd.sent('GET', '/dcap')[0]);
  });

  it('CORE-002, ERR-001: goes on after redirects, refusals, cut answers, HTTP/1.0 and answers that come late', async () => {
    const { headEnd } = await open({
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi);
        const program = opened.program();
        opened.control(program, { modes: { opModMaxLimW: 5000 }, durationS: 3600 });
        opened.trick('GET', '/dcap', { kind: 'answer', status: 503, headers: { 'Retry-After': '20' } }, 1);
        opened.trick('GET', '/tm', { kind: 'answer', status: 500 }, 1);
        opened.trick('GET', '/edev', { kind: 'redirect', status: 301, to: '/moved?l=255' }, 1);
        opened.trick('GET', '/moved', { kind: 'redirect', status: 307, to: '/edev?l=255' });
        opened.trick('GET', '/edev/1/fsa', { kind: 'http10' }, 1);
        opened.trick('GET', '/edev/1/fsa/1/derp', { kind: 'cut', afterBytes: 60 }, 1);
        opened.trick('GET', '/edev/1/derp/1/derc', { kind: 'answer', status: 404 }, 1);
        opened.trick('PUT', /ders$/, { kind: 'answer', status: 501 }, 1);
      },
    });
    const { controls } = headEnd.programs[0] ?? { controls: [] };
    const [control] = controls;
    if (control === undefined) throw new Error('no control');
    await site.responded(control, 2, 400);
    const [first, second] = headEnd.sent('GET', '/dcap');
    expect((second?.atS ?? 0) - (first?.atS ?? 0)).to.be.at.least(20);
    expect(await site.points(704)).to.include({ WMaxLimPctEna: 1, WMaxLimPct: 50 });
  });

  it('CORE-004: reads every page of every list, in lower case and with hints that are wrong', async () => {
    const { headEnd } = await open({
      prepare(opened, [lfdi = '']) {
        opened.largestPage = 3;
        Object.assign(opened.style, { lowerHex: true, zeroHints: true, prefix: 'sep' });
        for (let other = 1; other <= 7; other += 1) opened.register(`${other}`.repeat(40), { owner: lfdi });
        opened.register(lfdi);
        for (let group = 1; group <= 4; group += 1) {
          const program = opened.program({ fsa: opened.fsa(`group ${group}`), primacy: group });
          for (let n = 0; n < 10; n += 1) {
            opened.control(program, { modes: { opModMaxLimW: 9000 }, inS: 3600 * (10 * group + n) });
          }
        }
      },
    });
    const all = headEnd.programs.flatMap(({ controls }) => controls);
    await site.until('40 responses', 120, () => (headEnd.responses.length >= 40 ? true : undefined));
    expect(all.map(({ mRID }) => headEnd.statuses(mRID))).to.deep.equal(all.map(() => [1]));
  });

  it('CORE-005, CORE-006: keeps the time of the server, whatever its distance, quality and jumps', async () => {
    const { headEnd } = await open({
      prepare(opened, [lfdi = '']) {
        Object.assign(opened.clock, { aheadS: -90 * 86_400, quality: 7, dstOffsetS: 3600 });
        opened.rates.endDevicePost = 60;
        opened.register(lfdi);
        opened.program();
      },
    });
    await site.advance(5);
    const status = await site.until('a status', 120, () => headEnd.sent('PUT', /ders$/)[0]);
    expect(Number(parsed(status.body).value.readingTime)).to.be.closeTo(status.atS, 2);
    headEnd.clock.aheadS += 7200;
    await site.advance(130);
    const [program] = headEnd.programs;
    if (program === undefined) throw new Error('no program');
    const control = headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 200, durationS: 50 });
    await site.responded(control, 3, 400);
    const at = headEnd.responses
      .filter(({ mRID }) => mRID === control.mRID)
      .map(({ createdS }) => createdS - control.startS);
    expect(at.slice(1)).to.deep.equal([0, 50]);
    headEnd.clock.aheadS -= 7200;
    const { length } = headEnd.requests;
    await site.advance(400, 5);
    for (const path of [/ders$/, /dera$/])
      expect(headEnd.sent('PUT', path, length).length, String(path)).to.be.within(5, 8);
  });

  it('CORE-009, CORE-014, BASIC-001, ALL-02, ALL-03: registers in-band and writes its documents', async () => {
    const { headEnd, lfdis } = await open({
      flags: ['--csip_register', 'yes', '--csip_pin', '111115', '--csip_aus', '1.2', '--csip_nmi', '6203832652'],
      prepare(opened) {
        opened.inBandPin = 111_115;
        opened.program({ default: {} });
      },
    });
    const [lfdi = ''] = lfdis;
    const registering = await site.until('registration', 30, () => headEnd.sent('POST', '/edev')[0]);
    const sent = parsed(registering.body).value;
    expect([sent.lFDI.toUpperCase(), Number(sent.sFDI)]).to.deep.equal([lfdi, sfdiOf(lfdi)]);
    expect(headEnd.endDevices.map((device) => device.lfdi)).to.deep.equal([lfdi]);
    for (const [path, root] of [
      [/dercap$/, 'DERCapability'],
      [/derg$/, 'DERSettings'],
      [/ders$/, 'DERStatus'],
      [/dera$/, 'DERAvailability'],
      [/di$/, 'DeviceInformation'],
      [/cp$/, 'ConnectionPoint'],
    ] as const) {
      const written = await site.until(root, 60, () => headEnd.sent('PUT', path).at(-1));
      expect([written.root, written.status]).to.deep.equal([root, 204]);
      if (root === 'ConnectionPoint') expect(written.body).to.include('6203832652');
    }
    await site.advance(300);
    expect(headEnd.sent('POST', '/edev')).to.have.length(1);
  });

  it('BASIC-001, ALL-03-REJ: a wrong PIN ends communication', async () => {
    const { headEnd } = await open({
      flags: ['--csip_pin', '111115'],
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi, { pin: 332_218 });
        opened.control(opened.program(), { modes: { opModMaxLimW: 1000 }, durationS: 3600 });
      },
    });
    await site.until('the registration', 30, () => headEnd.sent('GET', '/edev/1/rg')[0]);
    await site.advance(2);
    const { length } = headEnd.requests;
    await site.advance(900);
    expect(headEnd.requests).to.have.length(length);
    expect(headEnd.requests.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    expect((await site.points(704)).WMaxLimPctEna).to.equal(0);
    const { csip } = (await site.get('overview')).comm_status;
    expect(csip.state).to.equal('error');
    expect(csip.detail).to.match(/another PIN/);
  });

  it('ALL-05: without a RegistrationLink it goes on', async () => {
    const { headEnd } = await open({
      flags: ['--csip_pin', '111115'],
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi);
        opened.program();
      },
    });
    await site.until('groups', 30, () => headEnd.sent('GET', '/edev/1/fsa')[0]);
    expect(headEnd.sent('GET', '/edev/1/rg')).to.deep.equal([]);
  });

  it('MAINT-001, MAINT-002: an EndDevice that is added, disabled or removed out-of-band is followed', async () => {
    const { headEnd, lfdis } = await open({
      prepare: (opened) => void opened.program({ default: { opModMaxLimW: 5000 } }),
    });
    await site.advance(200);
    expect(headEnd.requests.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    const device = headEnd.register(lfdis[0] ?? '');
    const limit = async () => (await site.points(704)).WMaxLimPctEna;
    await site.until('the limit', 200, async () => ((await limit()) === 1 ? true : undefined));
    headEnd.deregister(device);
    await site.until('no limit', 400, async () => ((await limit()) === 0 ? true : undefined));
  });

  it('plain HTTP works when it is asked for', async () => {
    const { headEnd } = await open({
      tls: null,
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi);
        opened.program();
      },
    });
    await site.until('a status', 60, () => headEnd.sent('PUT', /ders$/)[0]);
    expect((await site.get('overview')).comm_status.csip.state).to.equal('connected');
  });
});
