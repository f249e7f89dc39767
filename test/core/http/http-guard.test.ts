import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createHttpGuard, hostName, isLoopback } from '../../../src/core/http/http-guard.ts';

function message(headers: Record<string, string>, hosts = 1): IncomingMessage {
  const { host } = headers;
  const rawHeaders = host === undefined ? [] : Array.from({ length: hosts }, () => ['Host', host]).flat();
  return { headers, rawHeaders } as unknown as IncomingMessage;
}

const guard = createHttpGuard({
  host: '192.168.1.5',
  allowedHosts: ['Sim.Example'],
  corsOrigins: ['https://tool.example'],
});
const anywhere = createHttpGuard({ host: '0.0.0.0', allowedHosts: [], corsOrigins: [] });

describe('host names served', () => {
  for (const host of [
    'localhost',
    'LOCALHOST:8111',
    '127.0.0.1',
    '127.0.0.1:8111',
    '127.1.2.3',
    '[::1]',
    '[::1]:8111',
    '192.168.1.5:80',
    'sim.example',
    'SIM.example:8111',
  ]) {
    it(`serves ${host}`, () => expect(guard.checkHost(message({ host }))).to.equal(null));
  }

  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example',
    '10.0.0.1',
    '[fe80::1]',
    'localhost:99999999',
    'localhost:',
    'user@localhost',
    'localhost/',
    '',
    ' ',
    '[::1',
    '[localhost]',
    'sim.example.',
    'localhost.',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1:8111:80',
    '[::ffff:127.0.0.1]',
    '[::ffff:192.168.1.5]',
    '[::]',
    '0.0.0.0',
    '[fe80::1%25eth0]',
    'localhost,evil.example',
    'localhost evil.example',
    'LOCALHOST\u0000',
    'loc\u0251lhost',
    '*.example',
    'a.sim.example',
    'xsim.example',
  ]) {
    it(`refuses ${JSON.stringify(host)}`, () => {
      expect(guard.checkHost(message({ host }))?.code).to.equal('misdirected-host');
    });
  }

  it('refuses a request without Host or with two', () => {
    expect(guard.checkHost(message({}))?.code).to.equal('misdirected-host');
    expect(guard.checkHost(message({ host: 'localhost' }, 2))?.code).to.equal('misdirected-host');
  });

  it('serves any address literal, but no name, when bound to all addresses', () => {
    expect(anywhere.checkHost(message({ host: '10.0.0.1:8111' }))).to.equal(null);
    expect(anywhere.checkHost(message({ host: '[2001:db8::1]' }))).to.equal(null);
    expect(anywhere.checkHost(message({ host: 'evil.example' }))?.code).to.equal('misdirected-host');
  });

  it('serves IPv6 literals in any spelling of the bound or configured address', () => {
    const six = createHttpGuard({ host: '2001:DB8:0:0::1', allowedHosts: ['[fd00:0::7]'], corsOrigins: [] });
    for (const host of ['[2001:db8::1]:8111', '[2001:0DB8:0::0001]', '[fd00::7]'])
      expect(six.checkHost(message({ host })), host).to.equal(null);
    expect(six.checkHost(message({ host: '[2001:db8::2]' }))?.code).to.equal('misdirected-host');
    const zone = createHttpGuard({ host: 'fe80::1%eth0', allowedHosts: [], corsOrigins: [] });
    expect(zone.checkHost(message({ host: '[::1]' }))).to.equal(null);
  });

  it('cuts port and brackets off', () => {
    expect(hostName('[::1]:8111')).to.equal('::1');
    expect(hostName('Name:1')).to.equal('name');
    expect(hostName('a b')).to.equal(null);
  });
});

describe('origins that may change state', () => {
  const origin = (headers: Record<string, string>) =>
    guard.checkOrigin(message({ host: 'localhost:8111', ...headers }))?.code;

  it('lets scripts without Origin pass', () => expect(origin({})).to.equal(undefined));
  it('lets the own pages pass', () => expect(origin({ origin: 'http://LocalHost:8111' })).to.equal(undefined));
  it('lets configured origins pass, cross-site too', () => {
    expect(origin({ origin: 'https://tool.example', 'sec-fetch-site': 'cross-site' })).to.equal(undefined);
  });

  for (const other of [
    'http://localhost',
    'http://localhost:8112',
    'https://localhost:8111',
    'http://evil.example',
    'null',
    'http://localhost:8111.evil.example',
    'https://tool.example.evil.example',
    '',
    'http://localhost:8111/',
    ' http://localhost:8111',
    'http://127.0.0.1:8111',
    'http://localhost:8111, http://evil.example',
    'http://evil.example, http://localhost:8111',
    'https://tool.example/',
    'https://tool.example:443',
    'http://tool.example',
    'file://',
    'chrome-extension://abc',
    'localhost:8111',
  ]) {
    it(`refuses ${JSON.stringify(other)}`, () => expect(origin({ origin: other })).to.equal('cross-origin'));
  }

  it('refuses what the browser marks as caused by another origin', () => {
    for (const site of ['cross-site', 'same-site', 'Cross-Site', 'unheard-of', '']) {
      expect(origin({ 'sec-fetch-site': site }), site).to.equal('cross-origin');
      expect(origin({ 'sec-fetch-site': site, origin: 'http://localhost:8111' }), site).to.equal('cross-origin');
    }
    for (const site of ['same-origin', 'none', 'Same-Origin'])
      expect(origin({ 'sec-fetch-site': site }), site).to.equal(undefined);
  });

  it('names only configured origins for CORS, as they are configured', () => {
    expect(guard.corsOrigin(message({ origin: 'https://tool.example' }))).to.equal('https://tool.example');
    expect(guard.corsOrigin(message({ origin: 'HTTPS://Tool.example' }))).to.equal('https://tool.example');
    for (const origin of ['null', 'https://tool.example.evil', 'https://tool.example,https://evil.example', '*']) {
      expect(guard.corsOrigin(message({ origin })), origin).to.equal(undefined);
    }
    expect(guard.corsOrigin(message({ origin: 'http://localhost:8111', host: 'localhost:8111' }))).to.equal(undefined);
  });
});

describe('reads', () => {
  const read = (site: string | undefined, mode = '', dest = '', origin?: string) =>
    guard.checkRead(
      message({
        host: 'localhost:8111',
        ...(site !== undefined && { 'sec-fetch-site': site }),
        'sec-fetch-mode': mode,
        'sec-fetch-dest': dest,
        ...(origin !== undefined && { origin }),
      }),
    )?.code;

  it('of scripts, own pages, typed addresses and links pass', () => {
    expect(read(undefined)).to.equal(undefined);
    expect(read('same-origin', 'cors', 'empty')).to.equal(undefined);
    expect(read('none', 'navigate', 'document')).to.equal(undefined);
    for (const site of ['cross-site', 'same-site'])
      expect(read(site, 'navigate', 'document'), site).to.equal(undefined);
    expect(read('cross-site', 'cors', 'empty', 'https://tool.example')).to.equal(undefined);
  });

  for (const [mode, dest] of [
    ['no-cors', 'script'],
    ['no-cors', 'image'],
    ['no-cors', 'empty'],
    ['cors', 'empty'],
    ['navigate', 'iframe'],
    ['navigate', 'object'],
    ['navigate', 'embed'],
    ['websocket', 'websocket'],
    ['', ''],
  ] as const) {
    it(`of other origins' pages are refused: ${mode} ${dest}`, () => {
      for (const site of ['cross-site', 'same-site']) expect(read(site, mode, dest), site).to.equal('cross-origin');
    });
  }
});

describe('loopback names', () => {
  it('are localhost, 127.0.0.0/8 and ::1', () => {
    for (const name of ['localhost', '127.0.0.1', '127.9.8.7', '::1']) expect(isLoopback(name), name).to.equal(true);
    for (const name of ['0.0.0.0', '::', '127.evil.example', '127.1', '10.0.0.1', 'localhost.example', ''])
      expect(isLoopback(name), name).to.equal(false);
  });
});
