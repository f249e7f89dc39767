import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { replayCommand } from '../../src/recorder/replay/command.ts';
import { HeadEnd, lfdiOf } from '../csip/head-end/head-end.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

describe('replays the server of a recorded session of IEEE 2030.5', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;
  let files: readonly string[];

  async function post({ port }: RunningApp, path: string, body: unknown): Promise<void> {
    const { status, text } = await ask(port, `/api/sim/${path}`, { method: 'POST', body });
    expect(status, text).to.be.within(200, 299);
  }
  const client = (port: number) =>
    startApp(
      ['PV-3Phase'],
      [
        ...['--csip_client_enable', 'yes', '--csip_server_port', String(port), '--csip_website_port', '0'],
        ...['--csip_enc', 'no', ...files],
      ],
      { paused: false },
    );

  async function replayed() {
    const port = await freePorts(1);
    const lines: string[] = [];
    const write = (line: string) => {
      lines.push(line);
    };
    const ended = replayCommand([file, '--csip', String(port), '--timeout', '8'], { out: write, error: write });
    const running = await client(port);
    try {
      return { code: await ended, lines };
    } finally {
      await running.app.stop();
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    file = join(folder, 'recording.jsonl');
    const pki = await headEndPki();
    const put = async (name: string, text: string) => {
      await writeFile(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    files = [
      ...['--csip_cert', await put('cert.pem', pki.device.cert), '--csip_key', await put('key.pem', pki.device.key)],
      ...['--csip_root_cert', await put('root.pem', pki.root.cert)],
    ];
    const headEnd = await HeadEnd.open({ tls: null, nowMs: () => Date.now() });
    headEnd.register(lfdiOf(new X509Certificate(pki.device.cert).raw));
    const program = headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20 });
    // the client finds no server until the recorder is on
    const running = await client(headEnd.port);
    await post(running, 'csip/disconnect', {});
    await post(running, 'recorder', { enabled: true, protocols: ['csip'] });
    const control = headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 4, durationS: 5 });
    await post(running, 'csip/connect', {});
    const lfdi = lfdiOf(new X509Certificate(pki.device.cert).raw);
    await headEnd.response(control.mRID, 3);
    expect(headEnd.statuses(control.mRID, lfdi)).to.deep.equal([1, 2, 3]);
    const { text } = await ask(running.port, '/api/sim/recorder/download');
    for (const line of pki.device.key.split('\n').slice(1, 3)) expect(text).not.to.include(line);
    await writeFile(file, text);
    await running.app.stop();
    await headEnd.close();
  });
  after(() => rm(folder, { recursive: true }));

  it('without a difference', async () => {
    const { code, lines } = await replayed();
    expect(lines.at(-1), lines.join('\n')).to.match(/^csip: \d+ requests replayed, 0 differences/);
    expect(code).to.equal(0);
  });

  it('and ends with the exit code of the program when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const lines: string[] = [];
    const code = await replayCommand([file, '--csip', String(port)], {
      out: () => undefined,
      error: (line) => lines.push(line),
    });
    other.close();
    expect(code).to.equal(3);
    expect(lines.join()).to.include(String(port));
  });

  it('and shows what another build does not send, and sends otherwise', async () => {
    const recorded = await readFile(file, 'utf8');
    const older = recorded
      .split('\n')
      .map((line) =>
        line.includes('"method":"PUT"') ? line.replace('<rtgMaxW><multiplier>0', '<rtgMaxW><multiplier>1') : line,
      )
      .join('\n');
    await writeFile(file, older.replaceAll('/der/1/derg"', '/der/1/settings"'));
    const { code, lines } = await replayed();
    await writeFile(file, recorded);
    const [, ...found] = lines;
    expect(found.at(-1)).to.match(/replayed, 3 differences/);
    expect(found.slice(0, -1)).to.have.members([
      'PUT /edev/1/der/1/dercap, request 1: /DERCapability/rtgMaxW/multiplier was "1", is "0"',
      'PUT /edev/1/der/1/derg: is not in the recording',
      'PUT /edev/1/der/1/settings: is missing',
    ]);
    expect(code).to.equal(4);
  });
});
