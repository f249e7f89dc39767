import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createLogBook } from '../../../../src/core/log/log.ts';
import { ask } from '../../../support/http.ts';
import { createAuthority, issue } from '../../../support/pki.ts';
import { startApp } from '../../../support/running-app.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { Central } from '../../central/central.ts';

const id = 'CP-1';
/** Looks at the state of the connection; some hundreds are needed. */
const maxAsked = 3000;

describe('the whole simulator: roots of a charge point of OCPP 1.6 (white paper, M05)', () => {
  it('an installed root is in force at the next connection, also when the central system was away meanwhile', async function () {
    // the port of the central system is free for a while, and another process may use it
    this.retries(2);
    this.timeout(30_000);
    const [before, after] = [await createAuthority('Before'), await createAuthority('After')];
    const serverOf = async (root: typeof before) => {
      const { cert, key } = await issue(root, 'central', { purpose: 'server' });
      return { tls: { cert, key } };
    };
    const folder = mkdtempSync(join(tmpdir(), 'derbench-'));
    const rootFile = join(folder, 'root.pem');
    writeFileSync(rootFile, before.cert);
    const first = await Central.open(await serverOf(before));
    const { port } = first;
    const timers = new HandTimers(new HandWall(Date.now()));
    const lines: string[] = [];
    const logBook = createLogBook({ write: (line) => lines.push(line) });
    const refusals = () => lines.filter((line) => line.includes('WARN') && line.includes(`${id}:`)).length;
    const { app, port: webPort } = await startApp(
      ['EVSE'],
      [
        ...['--ocpp_enable', 'yes', '--ocpp_csms_url', first.url, '--ocpp_csid', id, '--ocpp_security_profile', '2'],
        ...['--ocpp_password', 'S3CR3T-marker-of-20+', '--ocpp_root_cert', rootFile],
      ],
      { later: timers.later, logBook },
    );
    let asked = 0;
    /** The wait of the back-off passes, and no time while an attempt is under way. */
    const nextAttempt = async () => {
      asked += 1;
      if (asked > maxAsked) throw new Error(`no end of the attempts: ${lines.slice(-20).join('')}`);
      const waitS = await reconnectInS();
      if (typeof waitS === 'number') timers.pass(waitS * 1000);
      else await nextTurn();
    };
    const reconnectInS = async () => (await ask(webPort, `/api/sim/ocpp/${id}`)).json.reconnect_in_s as number | null;
    let second: Central | null = null;
    try {
      const station = first.station(id);
      await station.next('BootNotification');
      await station.next('StatusNotification');
      const reply = await station.call('InstallCertificate', {
        certificateType: 'CentralSystemRootCertificate',
        certificate: after.cert,
      });
      expect(reply).to.deep.equal({ kind: 'result', payload: { status: 'Accepted' } });
      await first.close();
      while (refusals() < 4) await nextAttempt();
      second = await Central.open(await serverOf(after), port);
      const station2 = second.station(id);
      while (station2.connects === 0) await nextAttempt();
      const connected = station2.nextConnection();
      expect((await connected).password?.toString()).to.equal('S3CR3T-marker-of-20+');
      expect(lines.join('')).to.not.include('S3CR3T');
    } finally {
      await app.stop();
      await second?.close();
      rmSync(folder, { recursive: true });
    }
  });
});
