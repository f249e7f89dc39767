import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HeadEnd, lfdiOf } from '../csip/head-end/head-end.ts';
import type { Control } from '../csip/head-end/model.ts';
import { headEndPki } from '../support/head-end.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { ForeignClient } from './support/py20305-client.ts';
import { Stream } from './support/stream.ts';

const ticks = ['--tick', '0.1'];
const limit = { opModMaxLimW: 4000 };

describeWith(['py20305', 'pysunspec2'], 'a DERControl, seen by a master of SunSpec', () => {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-csip-device-'));
  let headEnd: HeadEnd;
  let lfdi: string;
  let control: Control;
  let program: ReturnType<HeadEnd['program']>;

  beforeEach(async () => {
    const pki = await headEndPki();
    lfdi = lfdiOf(new X509Certificate(pki.device.cert).raw);
    headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: Date.now });
    headEnd.register(lfdi);
    program = headEnd.program({ default: {} });
  });
  const schedule = () => {
    control = headEnd.control(program, { modes: limit, inS: 8, durationS: 6 });
  };
  afterEach(() => headEnd.close());
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  interface Seen {
    /** of 701, while the limit of 704 was on */
    readonly watts: number;
    readonly limitPct: number;
    /** of 704 afterwards */
    readonly enabledAfter: number;
  }

  /** What the master reads at the start, in the middle and after the end of the control. */
  async function seen({ httpPort, modbusPort }: RunningSimulator): Promise<Seen> {
    const master = new PythonPeer('sunspec_master', modbusPort);
    const stream = await Stream.open(httpPort);
    try {
      await master.ask('scan');
      const read = async (model: number) => (await master.ask('read', { model })) as Record<string, number>;
      await headEnd.response(control.mRID, 2);
      const { WMaxLimPctEna, WMaxLimPct = NaN } = await read(704);
      expect(WMaxLimPctEna).to.equal(1);
      const watts = await stream.until('the limit', 5, async () => {
        const { W = NaN } = await read(701);
        return W < 4010 ? W : undefined;
      });
      await headEnd.response(control.mRID, 3);
      return { watts, limitPct: WMaxLimPct, enabledAfter: (await read(704))['WMaxLimPctEna'] ?? NaN };
    } finally {
      await stream.close();
      await master.stop();
    }
  }

  const results: Seen[] = [];

  it('through our own client is in 704 at its start, and 701.W follows', async () => {
    schedule();
    const pki = await headEndPki();
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const simulator = await startSimulator([
      ...ticks,
      ...['--csip_client_enable', 'yes', '--csip_server_port', String(headEnd.port), '--csip_website_port', '0'],
      ...['--csip_cert', file('cert.pem', pki.device.cert), '--csip_key', file('key.pem', pki.device.key)],
      ...['--csip_root_cert', file('root.pem', pki.root.cert)],
    ]);
    try {
      results.push(await seen(simulator));
      expect(results[0]?.enabledAfter).to.equal(0);
      expect(headEnd.statuses(control.mRID)).to.deep.equal([1, 2, 3]);
    } finally {
      expect(await simulator.stop()).to.equal(0);
    }
  });

  it('through py20305 moves 701.W to the same value', async () => {
    const simulator = await startSimulator(ticks);
    const pki = await headEndPki();
    const client = new ForeignClient({ pki, serverUrl: headEnd.origin, lfdi, modbusPort: simulator.modbusPort });
    try {
      // the start of the client takes any time
      await headEnd.request('GET', '/dcap');
      schedule();
      results.push(await seen(simulator));
      const [own, foreign] = results;
      expect(foreign?.limitPct).to.equal(own?.limitPct);
      expect(foreign?.watts).to.be.closeTo(own?.watts ?? NaN, 2);
    } finally {
      await client.stop();
      expect(await simulator.stop()).to.equal(0);
    }
  });
});
