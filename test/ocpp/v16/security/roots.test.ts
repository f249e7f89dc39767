import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogBook } from '../../../../src/core/log/log.ts';
import { ask } from '../../../support/http.ts';
import { createAuthority, issue } from '../../../support/pki.ts';
import { freePorts } from '../../../support/ports.ts';
import { startApp } from '../../../support/running-app.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { Central } from '../../central/central.ts';
import { Mailbox } from '../../central/station.ts';

const id = 'CP-1';

describe('the whole simulator: roots of a charge point of OCPP 1.6 (white paper, M05)', () => {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const folder = mkdtempSync(join(tmpdir(), 'derbench-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const centralOf = async (root: Awaited<ReturnType<typeof createAuthority>>, port: number) => {
    const { cert, key } = await issue(root, 'central', { purpose: 'server' });
    return Central.open({ tls: { cert, key }, nowMs: () => wall.nowMs() }, port);
  };

  it('an installed root is in force at the next connection, also when the central system was away meanwhile', async () => {
    const [before, after] = [await createAuthority('Before'), await createAuthority('After')];
    const rootFile = join(folder, 'root.pem');
    writeFileSync(rootFile, before.cert);
    // no listener of another test gets it while the central system is away
    const port = await freePorts(1);
    const first = await centralOf(before, port);
    const lines: string[] = [];
    const logged = new Mailbox<string>();
    const write = (line: string) => {
      lines.push(line);
      logged.put(line);
    };
    const nextLine = (text: string) => logged.take((line) => line.includes(`${id}: ${text}`));
    const { app, port: webPort } = await startApp(
      ['EVSE'],
      [
        ...['--ocpp_enable', 'yes', '--ocpp_csms_url', first.url, '--ocpp_csid', id, '--ocpp_security_profile', '2'],
        ...['--ocpp_password', 'S3CR3T-marker-of-20+', '--ocpp_root_cert', rootFile],
      ],
      { wall, later: timers.later, logBook: createLogBook({ write }) },
    );
    /** The wait of the back-off passes. */
    const nextAttempt = async () => {
      const { json } = await ask(webPort, `/api/sim/ocpp/${id}`);
      expect(json.reconnect_in_s).to.be.a('number');
      timers.pass(json.reconnect_in_s * 1000 + 1);
    };
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
      await nextLine('the connection ended');
      for (let i = 0; i < 4; i += 1) {
        await nextAttempt();
        expect(await nextLine('no connection')).to.include('the connection was refused');
      }
      second = await centralOf(after, port);
      await nextAttempt();
      const connection = await second.station(id).nextConnection();
      expect(connection.password?.toString()).to.equal('S3CR3T-marker-of-20+');
      expect(lines.join('')).to.not.include('S3CR3T');
    } finally {
      await app.stop();
      await second?.close();
    }
  });
});
