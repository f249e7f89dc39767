import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HeadEnd, lfdiOf } from '../csip/head-end/head-end.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { Stream } from './support/stream.ts';

describe('a client of IEEE 2030.5 whose process is killed', function () {
  this.timeout(120_000);
  const directory = mkdtempSync(join(tmpdir(), 'derbench-csip-restart-'));
  let headEnd: HeadEnd;
  let simulator: RunningSimulator;
  let flags: readonly string[];

  before(async () => {
    const pki = await headEndPki();
    headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: Date.now });
    headEnd.register(lfdiOf(new X509Certificate(pki.device.cert).raw));
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    flags = [
      ['--tick', '0.1', '-d', 'PV-3Phase', '--state_dir', join(directory, 'state')],
      ['--csip_client_enable', 'yes', '--csip_server_port', String(headEnd.port), '--csip_website_port', '0'],
      ['--csip_cert', file('cert.pem', pki.device.cert), '--csip_key', file('key.pem', pki.device.key)],
      ['--csip_root_cert', file('root.pem', pki.root.cert), '--csip_poll_rate_s', '1'],
    ].flat();
  });
  after(async () => {
    await simulator.stop();
    await headEnd.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = async () => {
    simulator = await startSimulator(flags);
  };
  const kill = async () => {
    process.kill(simulator.pid, 'SIGKILL');
    await simulator.stop();
  };
  const limitPct = async (): Promise<unknown> => {
    const { json } = await ask(simulator.httpPort, '/api/sim/registers/704');
    return (json.points as { name: string; value: unknown }[]).find(({ name }) => name === 'WMaxLimPct')?.value;
  };
  const until = async (value: number) => {
    const stream = await Stream.open(simulator.httpPort);
    try {
      await stream.until(`a limit of ${value} %`, 30, async () => ((await limitPct()) === value ? true : undefined));
    } finally {
      await stream.close();
    }
  };
  const mirrorsMade = () => headEnd.requests.filter(({ method, path }) => method === 'POST' && path === '/mup').length;

  it('goes on with its event before the server answers, and answers each step once', async () => {
    const program = headEnd.program({ default: { opModMaxLimW: 9000 } });
    const options = { modes: { opModMaxLimW: 4000 }, randomizeStartS: 3, randomizeDurationS: 3 };
    const first = headEnd.control(program, { ...options, inS: 5, durationS: 12 });
    await start();
    await headEnd.response(first.mRID, 1);
    await kill();
    await start();
    await headEnd.response(first.mRID, 2);
    expect(await limitPct()).to.equal(40);
    await until(40);
    const mirrors = mirrorsMade();
    expect(mirrors).to.be.greaterThan(0);
    await kill();

    const restore = headEnd.trick('GET', /./, { kind: 'answer', status: 503 });
    await start();
    expect(await limitPct()).to.equal(40);
    const { json } = await ask(simulator.httpPort, `/api/sim/csip/controls/${first.mRID}`);
    expect(json).to.include({ state: 'active' });
    restore();
    await headEnd.response(first.mRID, 3);
    await until(90);

    const second = headEnd.control(program, { ...options, inS: 3, durationS: 60 });
    await headEnd.response(second.mRID, 2);
    await kill();
    headEnd.end(second, 2);
    await start();
    await headEnd.response(second.mRID, 6);
    await until(90);
    expect(headEnd.statuses(first.mRID)).to.deep.equal([1, 2, 3]);
    expect(headEnd.statuses(second.mRID)).to.deep.equal([1, 2, 6]);
    expect(mirrorsMade()).to.equal(mirrors);
    expect(headEnd.endDevices).to.have.length(1);
  });
});
