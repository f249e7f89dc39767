import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createHttpGuard, hostName, isLoopback } from '../../src/core/http-guard.ts';

function message(headers: Record<string, string>, hosts = 1): IncomingMessage {
  const { host } = headers;
  const rawHeaders = host === undefined ? [] : Array.from({ length: hosts }, () => ['Host', host]).flat();
  return { headers, rawHeaders } as unknown as IncomingMessage;
}

const guard = createHttpGuard({
  host: '192.168.1.5', allowedHosts: ['Sim.Example'], corsOrigins: ['https://tool.example'],
});
const anywhere = createHttpGuard({ host: '0.0.0.0', allowedHosts: [], corsOrigins: [] });

describe('host names served', () => {
  for (const host of [
    'localhost', 'LOCALHOST:8111', '127.0.0.1', '127.0.0.1:8111', '127.1.2.3', '[::1]', '[::1]:8111', '192.168.1.5:80',
    'sim.example', 'SIM.example:8111',
  ]) {
    it(`serves ${host}`, () => expect(guard.checkHost(message({ host }))).to.equal(null));
  }

  for (const host of [
    'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '127.evil.example', '10.0.0.1', '[fe80::1]',
    'localhost:99999999', 'localhost:', 'user@localhost', 'localhost/', '', ' ', '[::1', '[localhost]', 'sim.example.',
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

  it('cuts port and brackets off', () => {
    expect(hostName('[::1]:8111')).to.equal('::1');
    expect(hostName('Name:1')).to.equal('name');
    expect(hostName('a b')).to.equal(null);
  });
});

describe('origins that may change state', () => {
  const origin = (headers: Record<string, string>) => guard.checkOrigin(message({ host: 'localhost:8111', ...headers }))?.code;

  it('lets scripts without Origin pass', () => expect(origin({})).to.equal(undefined));
  it('lets the own pages pass', () => expect(origin({ origin: 'http://LocalHost:8111' })).to.equal(undefined));
  it('lets configured origins pass, cross-site too', () => {
    expect(origin({ origin: 'https://tool.example', 'sec-fetch-site': 'cross-site' })).to.equal(undefined);
  });

  for (const other of [
    'http://localhost', 'http://localhost:8112', 'https://localhost:8111', 'http://evil.example', 'null',
    'http://localhost:8111.evil.example', 'https://tool.example.evil.example', '',
  ]) {
    it(`refuses ${JSON.stringify(other)}`, () => expect(origin({ origin: other })).to.equal('cross-origin'));
  }

  it('refuses what the browser marks as cross-site', () => {
    expect(origin({ 'sec-fetch-site': 'cross-site' })).to.equal('cross-origin');
    expect(origin({ 'sec-fetch-site': 'same-origin' })).to.equal(undefined);
  });

  it('names only configured origins for CORS', () => {
    expect(guard.corsOrigin(message({ origin: 'https://tool.example' }))).to.equal('https://tool.example');
    expect(guard.corsOrigin(message({ origin: 'http://localhost:8111', host: 'localhost:8111' }))).to.equal(undefined);
  });
});

describe('loopback names', () => {
  it('are localhost, 127.0.0.0/8 and ::1', () => {
    for (const name of ['localhost', '127.0.0.1', '127.9.8.7', '::1']) expect(isLoopback(name), name).to.equal(true);
    for (const name of ['0.0.0.0', '::', '127.evil.example', '127.1', '10.0.0.1', 'localhost.example', '']) expect(isLoopback(name), name).to.equal(false);
  });
});
