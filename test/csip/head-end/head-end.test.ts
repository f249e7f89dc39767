import { request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { expect } from 'chai';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { X509Certificate } from 'node:crypto';
import { parsed } from './bodies.ts';
import { HeadEnd, lfdiOf, sfdiOf } from './head-end.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

describe('the head-end of the tests', () => {
  let pki: HeadEndPki;
  let headEnd: HeadEnd;
  let agent: Agent;
  let lfdi: string;
  const nowS = 1_800_000_000;

  const ask = (path: string, method = 'GET', body = '', options: RequestOptions = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const send = headEnd.origin.startsWith('https') ? request : plainRequest;
      const sending = send(headEnd.origin + path, { method, agent, ...options }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sending.on('error', reject);
      sending.end(body);
    });
  const client = () => ({
    ca: pki.root.cert,
    cert: pki.device.cert,
    key: pki.device.key,
    maxVersion: 'TLSv1.2' as const,
    ciphers: 'ECDHE-ECDSA-AES128-CCM8:@SECLEVEL=0',
  });

  before(async () => {
    pki = await headEndPki();
    lfdi = lfdiOf(new X509Certificate(pki.device.cert).raw);
  });
  beforeEach(async () => {
    headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: () => nowS * 1000 });
    agent = new Agent({ ...client(), keepAlive: true });
  });
  afterEach(async () => {
    agent.destroy();
    await headEnd.close();
  });

  it('knows the LFDI of its client and the number that belongs to it', async () => {
    await ask('/dcap');
    expect(headEnd.requests[0]?.lfdi).to.equal(lfdi);
    expect(sfdiOf('3E4F45AB31EDFE5B67E343E5E4562E31984E23E5')).to.equal(167_261_211_391);
    expect(sfdiOf('B75B155D1C9D865DC052924DB565155563851708')).to.equal(492_191_963_691);
  });

  it('refuses a client without a certificate, and one of another root', async () => {
    const bare = { ...client(), cert: undefined, key: undefined };
    const failed: string[] = [];
    for (const wrong of [bare, { ...client(), ...pki.foreignDevice }]) {
      await ask('/dcap', 'GET', '', { ...wrong, agent: new Agent(wrong) }).catch(() => failed.push('refused'));
    }
    expect(failed).to.deep.equal(['refused', 'refused']);
    expect(headEnd.requests).to.deep.equal([]);
  });

  it('gives one item of a list unless the client asks for more, and shows an EndDevice to its owner only', async () => {
    const device = headEnd.register(lfdi);
    headEnd.register('A'.repeat(40));
    const program = headEnd.program();
    for (const inS of [300, 100, 200]) headEnd.control(program, { modes: { opModMaxLimW: inS }, inS });
    const list = parsed((await ask(`/edev/${device.id}/derp/1/derc`)).text).value;
    expect(list).to.include({ '@all': '3', '@results': '1' });
    expect(list.DERControl.DERControlBase.opModMaxLimW).to.equal('100');
    const rest = parsed((await ask(`/edev/${device.id}/derp/1/derc?s=1&l=9`)).text).value;
    expect(
      rest.DERControl.map(({ interval }: { interval: { start: string } }) => Number(interval.start) - nowS),
    ).to.deep.equal([200, 300]);
    const devices = parsed((await ask('/edev?l=10')).text).value;
    expect(devices['@all']).to.equal('1');
    expect(devices.EndDevice.lFDI).to.equal(lfdi);
    expect((await ask('/edev/2')).status).to.equal(404);
  });

  it('registers in-band once, and keeps responses and readings', async () => {
    const ns = 'xmlns="urn:ieee:std:2030.5:ns"';
    const registering = `<EndDevice ${ns}><lFDI>${lfdi}</lFDI><sFDI>1</sFDI><changedTime>1</changedTime></EndDevice>`;
    const first = await ask('/edev', 'POST', registering);
    expect([first.status, first.headers.location]).to.deep.equal([201, '/edev/1']);
    expect((await ask('/edev', 'POST', registering)).status).to.equal(409);
    const answered = headEnd.response('AB', 2);
    await ask(
      '/edev/1/rsps/site_control/rsp',
      'POST',
      '<s:DERControlResponse xmlns:s="urn:ieee:std:2030.5:ns"><s:createdDateTime>5</s:createdDateTime>' +
        `<s:endDeviceLFDI>${lfdi}</s:endDeviceLFDI><s:status>2</s:status><s:subject>ab</s:subject>` +
        '</s:DERControlResponse>',
    );
    expect(await answered).to.include({ createdS: 5, lfdi, atS: nowS });
    const type = '<ReadingType><powerOfTenMultiplier>0</powerOfTenMultiplier><uom>38</uom></ReadingType>';
    const point = (reading: string) =>
      `<MirrorUsagePoint ${ns}><mRID>0C</mRID><roleFlags>0049</roleFlags><serviceCategoryKind>0</serviceCategoryKind>` +
      `<status>1</status><deviceLFDI>${lfdi}</deviceLFDI>${reading}</MirrorUsagePoint>`;
    const mirror = await ask('/mup', 'POST', point(`<MirrorMeterReading><mRID>0D</mRID>${type}</MirrorMeterReading>`));
    expect(mirror.status).to.equal(201);
    expect((await ask('/mup', 'POST', point(''))).status).to.equal(204);
    const reading = (value: number) =>
      `<MirrorMeterReading ${ns}><mRID>0D</mRID><Reading>` +
      `<timePeriod><duration>60</duration><start>7</start></timePeriod><value>${value}</value>` +
      '</Reading></MirrorMeterReading>';
    expect((await ask(String(mirror.headers.location), 'POST', reading(4321))).status).to.equal(201);
    expect(headEnd.readings[0]).to.deep.include({ value: 4321, startS: 7, durationS: 60 });
    expect(headEnd.readings[0]?.type).to.deep.equal({ powerOfTenMultiplier: 0, uom: 38 });
    expect((await ask('/mup/999', 'POST', reading(1))).status).to.equal(404);
  });

  it('plays every trick as often as it is told to', async () => {
    headEnd.trick('GET', '/dcap', { kind: 'answer', status: 503, headers: { 'Retry-After': '7' } }, 1);
    expect((await ask('/dcap')).headers['retry-after']).to.equal('7');
    expect((await ask('/dcap')).status).to.equal(200);
    const end = headEnd.trick('*', /^\/tm/, { kind: 'redirect', status: 307, to: '/dcap' });
    expect((await ask('/tm')).headers.location).to.equal('/dcap');
    end();
    let release: () => void = () => undefined;
    headEnd.trick('GET', '/tm', { kind: 'hold', until: new Promise((resolve) => (release = resolve)) }, 1);
    const held = ask('/tm');
    await headEnd.until(() => headEnd.sent('GET', '/tm').at(1));
    release();
    expect((await held).status).to.equal(200);
    headEnd.trick('GET', '/tm', { kind: 'http10' }, 1);
    expect((await ask('/tm')).text).to.include('<quality>7</quality>');
    const cut: string[] = [];
    headEnd.trick('GET', '/tm', { kind: 'cut', afterBytes: 20 }, 1);
    await ask('/tm').catch(() => cut.push('cut'));
    headEnd.trick('GET', '/tm', { kind: 'reset' }, 1);
    await ask('/tm').catch(() => cut.push('reset'));
    expect(cut).to.deep.equal(['cut', 'reset']);
    headEnd.style.prefix = 'sep';
    headEnd.style.zeroHints = true;
    headEnd.style.lowerHex = true;
    headEnd.register('A'.repeat(40), { owner: lfdi });
    const { text } = await ask('/edev?l=5');
    expect(text)
      .to.include('<sep:EndDeviceList xmlns:sep="urn:ieee:std:2030.5:ns"')
      .and.include(`<sep:lFDI>${'a'.repeat(40)}<`);
    expect(text).to.include('<sep:DERListLink href="/edev/1/der" all="0"/>');
  });

  it('speaks plain HTTP when it is asked to', async () => {
    await headEnd.close();
    headEnd = await HeadEnd.open({ tls: null, nowMs: () => nowS * 1000 });
    const { status, text } = await ask('/tm', 'GET', '', { agent: undefined });
    expect(status).to.equal(200);
    expect(parsed(text).value.currentTime).to.equal(String(nowS));
    expect(headEnd.requests[0]?.lfdi).to.equal(null);
  });
});
