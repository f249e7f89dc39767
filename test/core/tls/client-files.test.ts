import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { openSocket } from '../../../src/core/net/connect.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { ClientTlsFiles } from '../../../src/core/tls/client-context.ts';
import type { ClientIdentity } from '../../../src/core/tls/client-context.ts';
import { HeadEnd, headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { issue } from '../../support/pki.ts';
import { MemoryFiles } from '../../support/tls.ts';

const paths = { cert: '/pki/device.pem', key: '/pki/device.key', rootCert: '/pki/root.pem' };
const names = { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' };

describe('certificate files of clients', () => {
  let pki: HeadEndPki;
  let files: MemoryFiles;
  let lines: string[];
  let rounds: (() => void)[];
  let changes: number;

  before(async () => {
    pki = await headEndPki();
  });
  beforeEach(() => {
    files = new MemoryFiles();
    files.set(paths.cert, pki.device.cert);
    files.set(paths.key, pki.device.key);
    files.set(paths.rootCert, pki.root.cert);
    [lines, rounds, changes] = [[], [], 0];
  });

  function open(given: ClientIdentity<string> = paths): ClientTlsFiles {
    const write = (level: string) => (message: string) => {
      lines.push(`${level} ${message}`);
    };
    const logger: Logger = {
      debug: write('debug'),
      info: write('info'),
      warning: write('warning'),
      error: write('error'),
    };
    return new ClientTlsFiles({
      files: given,
      names,
      policy: 'csip',
      protocol: 'CSIP',
      clock: systemClock,
      logger,
      io: files,
      every: (_, run) => {
        rounds.push(run);
        return () => {
          rounds = rounds.filter((each) => each !== run);
        };
      },
      onChange: () => {
        changes += 1;
      },
    });
  }
  const look = () => {
    for (const run of rounds) run();
  };

  it('give another context when they change, and the one before until then', async () => {
    const tls = open();
    tls.watch();
    const first = tls.context;
    look();
    expect([tls.context === first, changes]).to.deep.equal([true, 0]);
    const other = await issue(pki.intermediate, 'another device', { purpose: 'client' });
    files.set(paths.cert, other.cert + pki.intermediate.cert);
    look();
    expect([tls.context === first, changes, lines]).to.deep.equal([
      true,
      0,
      [
        'warning CSIP TLS: changed certificate files are not used, those before stay in force. csip_key: ' +
          'does not belong to the certificate',
      ],
    ]);
    files.set(paths.key, other.key);
    look();
    expect([tls.context === first, changes, lines.at(-1)]).to.deep.equal([
      false,
      1,
      'info CSIP TLS: new certificate files are in force for sessions from now on',
    ]);
    tls.unwatch();
    expect(rounds).to.deep.equal([]);
    const mutual = { requestCert: true, rejectUnauthorized: true, ca: pki.root.cert } as const;
    const head = await HeadEnd.open(pki.server, { ...mutual, maxVersion: 'TLSv1.2' });
    const target = { host: '127.0.0.1', port: head.port, timeoutMs: 5000 };
    const signal = new AbortController().signal;
    const socket = await openSocket({ ...target, tls: { context: tls.context, checkHostname: true } }, signal);
    expect((await head.session()).getPeerX509Certificate()?.subject).to.equal('CN=another device');
    socket.destroy();
    await head.close();
  });

  it('tell on request that nothing has changed', () => {
    open().reload();
    expect(lines).to.deep.equal(['info CSIP TLS: the certificate files have not changed']);
  });

  it('may be the root alone', () => {
    const tls = open({ rootCert: paths.rootCert });
    files.set(paths.cert, 'changed');
    tls.check();
    expect([changes, lines]).to.deep.equal([0, []]);
    files.set(paths.rootCert, pki.root.cert + pki.intermediate.cert);
    tls.check();
    expect(changes).to.equal(1);
  });

  it('that do not fit end the start with every reason, and neither paths nor texts', () => {
    files.set(paths.cert, 'S3CR3T');
    files.delete(paths.rootCert);
    for (const [given, expected] of [
      [paths, ['csip_root_cert cannot be read: there is no such file']],
      [
        { ...paths, rootCert: paths.cert },
        ['csip_cert is not a certificate in PEM', 'csip_root_cert is not a certificate in PEM'],
      ],
    ] as const) {
      let failure: unknown;
      try {
        open(given);
      } catch (error) {
        failure = error;
      }
      expect(failure).to.be.instanceOf(SimError).and.to.have.property('code', 'CONFIG_INVALID');
      const { issues, message } = failure as SimError;
      expect(issues.map(({ name, detail }) => `${name} ${detail}`)).to.deep.equal(expected);
      expect(message + JSON.stringify(issues)).to.not.match(/S3CR3T|\/pki/);
    }
  });

  it('are remarked on when they are old or open to everybody', async () => {
    const old = await issue(pki.intermediate, 'old', { purpose: 'client', validDays: [-20, -10] });
    files.set(paths.cert, old.cert);
    files.set(paths.key, old.key);
    files.open.add(paths.key);
    open();
    expect(lines).to.have.lengthOf(2);
    expect(lines[0]).to.match(/^warning CSIP TLS: the certificate of csip_cert expired at .*; servers will refuse it$/);
    expect(lines[1]).to.equal(
      'warning CSIP TLS: the mode of the file of csip_key lets everybody on this machine read it',
    );
  });
});
