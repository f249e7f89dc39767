import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/core/time/clock.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { TlsFiles } from '../../../src/core/tls/watch.ts';
import type { RoleFinding } from '../../../src/sunspec/modbus/access/certificate-role.ts';
import { modbusTlsFiles } from '../../../src/app/adapters/modbus.ts';
import { createTestBank } from '../../support/map.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { createAuthority, issue, testPki, utf8String } from '../../support/pki.ts';
import type { Authority, Identity, TestPki } from '../../support/pki.ts';
import type { MemoryFiles } from '../../support/tls.ts';
import { connectTls, openTls, serverFiles, tlsOver, tlsPaths } from '../../support/tls.ts';

const marker = readRequest(1, 40000, 2);
const sunS = '0001000000070103045375' + '6e53';

describe('certificate files of Modbus over TLS', () => {
  let pki: TestPki;
  let files: MemoryFiles;
  let adapter: ModbusAdapter;
  let tls: TlsFiles<RoleFinding>;
  let lines: string[];
  let rounds: (() => void)[];
  const clients: RawClient[] = [];

  const logger = (): Logger => {
    const write = (level: string) => (message: string) => {
      if (message.startsWith('Modbus TLS')) lines.push(`${level} ${message}`);
    };
    return { debug: write('debug'), info: write('info'), warning: write('warning'), error: write('error') };
  };

  before(async () => {
    pki = await testPki();
  });
  beforeEach(async () => {
    files = serverFiles(pki);
    [lines, rounds] = [[], []];
    tls = tlsOver(files, {
      logger: logger(),
      every: (ms, run) => {
        expect(ms).to.equal(5000);
        rounds.push(run);
        return () => {
          rounds = rounds.filter((each) => each !== run);
        };
      },
    });
    adapter = createModbusAdapter({
      devices: [{ index: 0, bank: createTestBank().bank }],
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      tlsFiles: tls,
    });
    await adapter.start();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await adapter.stop();
  });

  async function open(trusted: { readonly ca: Authority }, identity: Identity): Promise<RawClient> {
    const client = await openTls(adapter.endpointOf(0)?.port ?? 0, trusted, identity, { maxVersion: 'TLSv1.2' });
    clients.push(client);
    return client;
  }

  /** Fails unless a handshake ends with this error of the client: by default the server breaks it off. */
  async function refuses(trusted: { readonly ca: Authority }, identity: Identity, code = 'ECONNRESET'): Promise<void> {
    let failure: unknown;
    try {
      await open(trusted, identity);
    } catch (error) {
      failure = error;
    }
    expect(failure).to.be.instanceOf(Error).with.property('code', code);
  }

  /** As the timer does it. */
  const look = () => {
    for (const run of rounds) run();
  };
  const taken = 'info Modbus TLS: new certificate files are in force for sessions from now on';
  const same = 'info Modbus TLS: the certificate files were rewritten with the content that is in force already';
  const openKey = 'warning Modbus TLS: the mode of the file of mb_key lets everybody on this machine read it';
  const reader = () => pki.clients.ReadOnlySunSpec;

  it('are looked at while the adapter runs, and no longer', async () => {
    expect(rounds).to.have.lengthOf(1);
    look();
    expect(lines).to.deep.equal([]);
    await adapter.stop();
    expect(rounds).to.have.lengthOf(0);
  });

  it('that were replaced count for new sessions, and old ones go on', async () => {
    const old = await open(pki, reader());
    expect(await old.request(marker)).to.equal(sunS);
    const newCa = await createAuthority('New CA');
    const [server, client] = [
      await issue(newCa, 'server', { purpose: 'server' }),
      await issue(newCa, 'client', { purpose: 'client', roles: [utf8String('GridServiceSunSpec')] }),
    ];
    files.set(tlsPaths.cert, server.cert);
    files.set(tlsPaths.key, server.key);
    files.set(tlsPaths.rootCert, newCa.cert);
    look();
    expect(lines).to.deep.equal([taken]);
    expect(await (await open({ ca: newCa }, client)).request(marker)).to.equal(sunS);
    await refuses({ ca: newCa }, reader());
    await refuses(pki, client, 'SELF_SIGNED_CERT_IN_CHAIN');
    expect(await old.request(marker)).to.equal(sunS);
    expect(adapter.clients().map(({ role }) => role)).to.deep.equal(['ReadOnlySunSpec', 'GridServiceSunSpec']);
    look();
    expect(lines).to.have.lengthOf(1);
  });

  it('may change alone: a further CA beside the first', async () => {
    const foreign = pki.refused['foreign CA'];
    await refuses(pki, foreign);
    files.set(tlsPaths.rootCert, pki.ca.cert + pki.foreignCa.cert);
    look();
    expect(await (await open(pki, foreign)).request(marker)).to.equal(sunS);
    files.set(tlsPaths.rootCert, pki.ca.cert);
    look();
    await refuses(pki, foreign);
  });

  it('that do not fit together leave the old ones in force, are told once and tried again', async () => {
    const next = await issue(pki.ca, 'server', { purpose: 'server' });
    files.set(tlsPaths.cert, next.cert);
    for (let i = 0; i < 3; i += 1) look();
    expect(lines).to.deep.equal([
      'warning Modbus TLS: changed certificate files are not used, those before stay in force. ' +
        'mb_key: the key does not belong to the certificate of mb_cert',
    ]);
    expect(await (await open(pki, reader())).request(marker)).to.equal(sunS);
    files.set(tlsPaths.key, next.key.slice(0, 40));
    for (let i = 0; i < 3; i += 1) look();
    expect(lines).to.have.lengthOf(2);
    expect(lines[1]).to.match(/mb_key: holds no private key that can be read/);
    files.set(tlsPaths.key, next.key);
    look();
    expect(lines[2]).to.equal(taken);
    const socket = await connectTls(adapter.endpointOf(0)?.port ?? 0, pki, reader());
    clients.push(RawClient.over(socket));
    expect(socket.getPeerX509Certificate()?.fingerprint256).to.equal(new X509Certificate(next.cert).fingerprint256);
  });

  it('that are gone leave the old ones in force, until they come back', async () => {
    files.delete(tlsPaths.rootCert);
    look();
    expect(lines).to.deep.equal([
      'warning Modbus TLS: changed certificate files are not used, those before stay in force. ' +
        'mb_root_cert: cannot be read: there is no such file',
    ]);
    expect(await (await open(pki, reader())).request(marker)).to.equal(sunS);
    files.set(tlsPaths.rootCert, pki.ca.cert);
    look();
    expect(lines[1]).to.equal(same);
  });

  it('are read at once when somebody asks, who always hears of it', () => {
    adapter.reload?.();
    expect(lines).to.deep.equal(['info Modbus TLS: the certificate files have not changed']);
    files.set(tlsPaths.key, 'half');
    look();
    adapter.reload?.();
    expect(lines.slice(1).map((line) => line.split(' ')[0])).to.deep.equal(['warning', 'warning']);
    files.set(tlsPaths.key, pki.server.key);
    adapter.reload?.();
    expect(lines.at(-1)).to.equal(same);
  });

  it('that do not fit at the start are faults of the configuration, with nothing of the key in them', () => {
    files.set(tlsPaths.key, 'S3CR3T-marker');
    let failure: unknown;
    try {
      tlsOver(files);
    } catch (error) {
      failure = error;
    }
    expect(failure).to.be.instanceOf(SimError);
    expect(failure).to.have.property('code', 'CONFIG_INVALID');
    expect(JSON.stringify((failure as SimError).issues))
      .to.match(/mb_key/)
      .and.not.match(/S3CR3T/);
  });

  it('are remarked on when the certificate has expired or is early, or everybody can read the key', async () => {
    const expired = await issue(pki.ca, 'server', { purpose: 'server', validDays: [-20, -10] });
    const early = await issue(pki.ca, 'server', { purpose: 'server', validDays: [10, 20] });
    for (const { cert, key } of [expired, early]) {
      files.set(tlsPaths.cert, cert);
      files.set(tlsPaths.key, key);
      look();
    }
    expect(
      lines.filter((line) => line.startsWith('warning')).map((line) => line.replace(/\d{4}-\S+Z/, 'DATE')),
    ).to.deep.equal([
      'warning Modbus TLS: the certificate of mb_cert expired at DATE; clients will refuse it',
      'warning Modbus TLS: the certificate of mb_cert is not valid before DATE; clients will refuse it',
    ]);
    files.open.add(tlsPaths.key);
    tlsOver(files, { logger: logger() });
    expect(lines.at(-1)).to.equal(openKey);
  });

  it('are shown as such: endpoint, status, no port in clear', () => {
    const endpoint = adapter.endpointOf(0);
    expect(endpoint?.tls).to.equal(true);
    expect(adapter.status().endpoint).to.equal(`tls://127.0.0.1:${endpoint?.port ?? 0}`);
    expect(createModbusAdapter({ devices: [], host: '127.0.0.1', port: 0, sharedPort: false }).reload).to.equal(
      undefined,
    );
  });

  describe('on a disk', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'derbench-tls-'));
    });
    afterEach(() => {
      rmSync(directory, { recursive: true, force: true });
    });

    const onDisk = (name: string) => join(directory, name);
    const paths = () => ({ cert: onDisk('server.pem'), key: onDisk('server.key'), rootCert: onDisk('ca.pem') });

    function write({ cert, key }: Identity): void {
      writeFileSync(paths().cert, cert);
      writeFileSync(paths().key, key, { mode: 0o600 });
      writeFileSync(paths().rootCert, pki.ca.cert);
    }

    const read = () =>
      modbusTlsFiles({
        settings: { files: paths(), ciphers: null, minVersion: '1.2' },
        clock: systemClock,
        logger: logger(),
      });

    it('are taken over when they are renamed into place', () => {
      write(pki.server);
      const onTheDisk = read();
      onTheDisk.check();
      expect(lines).to.deep.equal([]);
      writeFileSync(onDisk('next.pem'), pki.ca.cert.replace('-----BEGIN', '\n-----BEGIN'));
      renameSync(onDisk('next.pem'), paths().rootCert);
      onTheDisk.check();
      expect(lines).to.deep.equal([taken]);
    });

    it('never get into the log by their paths, which clients can read, whatever becomes of them', () => {
      write(pki.server);
      chmodSync(paths().key, 0o644);
      const onTheDisk = read();
      const changes = [
        () => {
          writeFileSync(paths().cert, 'half');
        },
        () => {
          writeFileSync(paths().rootCert, Buffer.of(0xff));
        },
        () => {
          write(pki.server);
        },
        () => {
          rmSync(paths().key);
          symlinkSync('server.key', paths().key);
        },
        () => {
          rmSync(directory, { recursive: true });
          writeFileSync(directory, '');
        },
      ];
      for (const change of changes) {
        change();
        onTheDisk.reload();
      }
      expect(lines.map((line) => line.split(' ')[0])).to.deep.equal([
        'warning',
        'warning',
        'warning',
        'info',
        'warning',
        'warning',
        'warning',
      ]);
      expect(lines.join()).to.not.include(directory);
    });

    it('with a key that everybody can read are remarked on', () => {
      write(pki.server);
      chmodSync(paths().key, 0o644);
      read();
      expect(lines).to.deep.equal([openKey]);
    });

    it('are refused when they are no files, by name', () => {
      write(pki.server);
      rmSync(paths().key);
      mkdirSync(paths().key);
      expect(read)
        .to.throw(SimError)
        .with.property('issues')
        .that.deep.equals([{ name: 'mb_key', detail: 'cannot be read: it is not a regular file' }]);
    });
  });
});
