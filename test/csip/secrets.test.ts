/** Keys and PINs of the client are shown nowhere, whatever is asked of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { csipRoutes } from '../../src/api/csip-client/routes.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import { prefix } from '../support/rest.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { pathsToSearch } from '../support/secret-search.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';
import { HeadEnd, lfdiOf } from './head-end/head-end.ts';
import { examplesOf } from '../../src/api/description/openapi.ts';

const marker = 'S3CR3T-marker';
const pin = '987655';
/** of PINs that are set over REST */
const otherPin = '876540';
const secrets = [marker, pin, otherPin];

describe('secrets of the client of IEEE 2030.5', () => {
  let directory: string;
  let headEnd: HeadEnd;
  let running: RunningApp;
  let lines: string;
  let key: string;
  let cert: string;
  let root: string;
  let timers: HandTimers;
  let searches = 0;

  before(async () => {
    const pki = await headEndPki();
    ({ key, cert } = pki.device);
    root = pki.root.cert;
    // text around the block is no part of a key, and no part of it may be repeated
    key = `${marker}\n${key}${marker}\n`;
    directory = mkdtempSync(join(tmpdir(), 'derbench-secrets-'));
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const wall = new HandWall();
    timers = new HandTimers(wall);
    headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: () => wall.nowMs() });
    headEnd.register(lfdiOf(new X509Certificate(cert).raw), { pin: Number(pin) });
    lines = '';
    running = await startApp(
      ['PV-3Phase'],
      [
        ...['--csip_client_enable', 'yes', '--csip_server_port', String(headEnd.port), '--csip_website_port', '0'],
        ...['--csip_cert', file('cert.pem', cert), '--csip_key', file('key.pem', key)],
        ...['--csip_root_cert', file('root.pem', root), '--csip_pin', pin],
      ],
      { logBook: createLogBook({ level: 'debug', write: (line) => (lines += line) }), wall, later: timers.later },
    );
    await post('/csip/messages', { enabled: true });
    await until('running');
  });
  after(async () => {
    await running.app.stop();
    await headEnd.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const call = (path: string, body?: unknown) =>
    ask(running.port, prefix + path, body === undefined ? {} : { method: 'POST', body });
  async function post(path: string, body: unknown): Promise<string> {
    return (await call(path, body)).text;
  }

  async function until(state: string): Promise<void> {
    let seen = '';
    for (let turns = 0; turns < 3000; turns += 1) {
      timers.pass(20);
      await nextTurn();
      seen = (await call('/csip-client')).json.state;
      if (seen === state) return;
    }
    throw new Error(`the client is ${seen} and not ${state}\n${lines}`);
  }

  /** Everything that can be read now. */
  async function everything(): Promise<string> {
    const texts: string[] = [lines];
    for (const path of pathsToSearch(/^\/(csip|logs|commands)/, (searches += 1))) {
      const filled = path.replaceAll('{model_id}', '701').replaceAll(/\{\w+\}/g, '0');
      texts.push(`${path} ${(await call(filled)).text}`);
    }
    for (const level of ['debug', 'info', 'warning', 'error']) {
      const { status, text } = await call(`/logs?levels=${level}&limit=1000`);
      expect(status, text).to.equal(200);
      texts.push(text);
    }
    return texts.join('\n');
  }

  function expectNone(text: string): void {
    for (const secret of secrets) {
      const at = text.indexOf(secret);
      expect(at, at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 50)).to.equal(-1);
    }
  }

  it('are in no answer, log line or message while it runs', async () => {
    await post('/csip/rediscover', {});
    await until('running');
    const text = await everything();
    expect(text).to.contain('"pin_matches":true');
    expect(text, 'the Registration was recorded').to.match(/dateTimeRegistered/);
    expectNone(text);
  });

  it('are in no answer to an operation, nor anywhere afterwards', async () => {
    const texts: string[] = [];
    for (const route of csipRoutes) {
      const { method, path, operationId } = route;
      if (method !== 'post' || operationId === 'disconnect_csip' || operationId === 'discover_csip_servers') continue;
      texts.push(await post(path.replace('{mrid}', 'A1'), examplesOf(route).body ?? {}));
    }
    const bad: readonly (readonly [path: string, body: object])[] = [
      ['/csip/config', { key_pem: marker }],
      ['/csip/config', { key_pem: marker, cert_pem: cert, root_cert_pem: root }],
      ['/csip/config', { cert_pem: marker, key_pem: key, root_cert_pem: marker }],
      ['/csip/config', { key_pem: 1, pin: otherPin }],
      ['/csip/certificates', { cert_pem: cert, key_pem: marker, root_cert_pem: root }],
      ['/csip/certificates', { select: marker, key_pem: marker }],
    ];
    for (const [path, body] of bad) {
      const { status, text } = await call(path, body);
      expect(status, text).to.equal(422);
      texts.push(text);
    }
    texts.push(await post('/csip/certificates', { cert_pem: cert, key_pem: key, root_cert_pem: root }));
    texts.push(await post('/csip/config', { pin: Number(otherPin) }));
    await post('/csip/connect', {});
    timers.pass(2000);
    await until('stopped');
    texts.push(await everything());
    expectNone(texts.join('\n'));
    expect(texts.join('\n'), 'the PIN is wrong').to.contain('PIN');
  });
});
