import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { issue, testPki } from '../../support/pki.ts';
import type { TestPki } from '../../support/pki.ts';
import { issueLines, run } from '../support.ts';

describe('interface 12: TLS of Modbus', () => {
  const argv = ['-e', 'yes', '-mbc', 'server.pem', '-mbk', 'server.key', '-mbr', 'ca.pem'] as const;
  let pki: TestPki;
  let files: Record<string, string>;

  before(async () => {
    pki = await testPki();
    files = { '/site/server.pem': pki.server.cert, '/site/server.key': pki.server.key, '/site/ca.pem': pki.ca.cert };
  });

  const issuesWith = (changed: Readonly<Record<string, string>>, more: readonly string[] = []) =>
    issueLines([...argv, ...more], { files: { ...files, ...changed } });

  it('is off by default, and the files then do not count', () => {
    expect(run([]).modbus.tls).to.equal(null);
    expect(run([]).unused).to.be.empty;
    const inClear = run(['-mbc', 'nowhere.pem', '--rtu_port', '/dev/ttyS0']);
    expect(inClear.modbus.tls).to.equal(null);
    expect(inClear.unused).to.deep.equal([
      'mb_cert is given and has no effect, because mb_enc is off',
      'rtu_port is given and has no effect, because rtu_enable is off',
    ]);
    expect(run(['-mb', 'no', '-e', 'yes']).modbus.tls).to.equal(null);
  });

  it('takes files, suites and a least version; in a file the version may be a number', () => {
    expect(run(argv, { files }).modbus.tls).to.deep.equal({
      files: { cert: '/site/server.pem', key: '/site/server.key', rootCert: '/site/ca.pem' },
      ciphers: null,
      minVersion: '1.2',
    });
    const text = 'mb_enc: yes\nmb_cert: server.pem\nmb_key: server.key\nmb_root_cert: ca.pem\nmb_tls_version: 1.3\n';
    expect(run(['--config', 'c.yaml'], { files: { ...files, '/site/c.yaml': text } }).modbus.tls?.minVersion).to.equal(
      '1.3',
    );
    expect(issueLines([...argv, '-mbv', '1.1'], { files })).to.deep.equal(['-mbv: given "1.1"; allowed: 1.2, 1.3']);
  });

  it('names every flag that is missing, and every file', () => {
    expect(issueLines(['-e', 'yes'])).to.deep.equal(
      ['--mb_cert', '--mb_key', '--mb_root_cert'].map(
        (flag) =>
          `${flag}: not given with -e yes; allowed: the path of a PEM file, or certificate:NAME (GET certificates)`,
      ),
    );
    expect(issueLines(argv)).to.deep.equal(
      [
        ['-mbc', 'server.pem'],
        ['-mbk', 'server.key'],
        ['-mbr', 'ca.pem'],
      ].map(([flag, file]) => `${flag}: given "/site/${file}"; allowed: the path of a file that exists`),
    );
  });

  it('takes certificates by name from each layer, and leaves their check to the start', () => {
    const text = 'mb_enc: yes\nmb_cert: certificate:site\nmb_root_cert: ca.pem\n';
    const more = { env: { DERBENCH_MB_KEY: 'certificate:site' }, files: { ...files, '/site/c.yaml': text } };
    expect(run(['--config', 'c.yaml'], more).modbus.tls?.files).to.deep.equal({
      cert: 'certificate:site',
      key: 'certificate:site',
      rootCert: '/site/ca.pem',
    });
    expect(issueLines(['--config', 'c.yaml', '-mbr', 'nowhere.pem'], more)).to.deep.equal([
      '-mbr: given "/site/nowhere.pem"; allowed: the path of a file that exists',
    ]);
    expect(issueLines(['-mbc', 'certificate:a/b'])).to.deep.equal([
      '-mbc: given "certificate:a/b"; allowed: the path of a PEM file, or certificate:NAME (GET certificates)',
    ]);
    expect(run(['-mbc', './certificate:a']).settings.values.mb_cert).to.equal('/site/certificate:a');
  });

  it('refuses files that hold something else, by flag and file', () => {
    expect(
      issuesWith({ '/site/server.pem': '', '/site/server.key': 'S3CR3T-marker', '/site/ca.pem': pki.ca.key }),
    ).to.deep.equal([
      '-mbc: /site/server.pem: holds no certificate that can be read; allowed: the certificate of the ' +
        'server in PEM form, followed by those of intermediate CAs',
      '-mbk: /site/server.key: holds no private key that can be read; allowed: a private key in PEM form',
      '-mbr: /site/ca.pem: holds no certificates that can be read; allowed: the certificates of the CAs ' +
        'whose clients are served, in PEM form',
    ]);
    const half = pki.ca.cert.slice(0, 200);
    for (const text of [half, pki.ca.cert + half, pki.ca.cert.replace('MII', 'MIJ')]) {
      expect(issuesWith({ '/site/ca.pem': text })[0]).to.match(
        /^-mbr: \/site\/ca.pem: holds no certificates that can be read/,
      );
    }
    expect(
      run(argv, { files: { ...files, '/site/ca.pem': `a comment\n${pki.foreignCa.cert}\n${pki.ca.cert}` } }).modbus.tls,
    ).to.not.equal(null);
  });

  it('refuses a key that belongs to another certificate, is encrypted or is not on P-256', async () => {
    expect(issuesWith({ '/site/server.key': pki.ca.key })).to.deep.equal([
      '-mbk: /site/server.key: the key does not belong to the certificate of -mbc',
    ]);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const encrypted = privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'S3CR3T-marker' })
      .toString();
    expect(issuesWith({ '/site/server.key': encrypted })).to.deep.equal([
      '-mbk: /site/server.key: holds an encrypted key; allowed: a key without a passphrase',
    ]);
    const other = await issue(pki.ca, 'server', { purpose: 'server', curve: 'P-384' });
    const changed = { '/site/server.pem': other.cert, '/site/server.key': other.key };
    expect(issuesWith(changed)).to.deep.equal([
      '-mbk: /site/server.key: not a P-256 key, which the suites of Secure SunSpec need; allowed: an EC ' +
        'key on P-256, or a list of suites that fit the key',
    ]);
    expect(
      run([...argv, '-mbx', 'ECDHE-ECDSA-AES256-GCM-SHA384'], { files: { ...files, ...changed } }).modbus.tls,
    ).to.not.equal(null);
  });

  it('refuses suites that OpenSSL does not know, each by its name', () => {
    const allowed = 'allowed: OpenSSL names of cipher suites with a colon between';
    expect(issuesWith({}, ['-mbx', 'FOO:ECDHE-ECDSA-AES128-CCM8:TLS_BAR'])).to.deep.equal([
      `-mbx: given "FOO:TLS_BAR", which OpenSSL does not know; ${allowed}`,
    ]);
    expect(issuesWith({}, ['-mbx', '!ALL'])).to.deep.equal([
      `-mbx: given "!ALL", which OpenSSL cannot read or which leaves no suite; ${allowed}`,
    ]);
    expect(issuesWith({}, ['-mbx', ' : '])).to.have.lengthOf(1);
    expect(issuesWith({}, ['-mbx', 'HIGH', '-mbv', '1.3'])).to.deep.equal([
      '-mbx: given no suite of TLS 1.3 with -mbv 1.3; allowed: at least one, for example TLS_AES_128_GCM_SHA256',
    ]);
    for (const ciphers of [
      'HIGH:!aNULL',
      'TLS_AES_128_CCM_SHA256',
      'ECDHE-ECDSA-AES128-CCM8:@SECLEVEL=0',
      'TLS_AES_128_CCM_SHA256, HIGH',
    ]) {
      expect(run([...argv, '-mbx', ciphers], { files }).modbus.tls?.ciphers).to.equal(ciphers);
    }
  });

  it('is not for RTU frames', () => {
    expect(issuesWith({}, ['--mb_framing', 'rtu_over_tcp'])).to.deep.equal([
      '-e: given yes together with --mb_framing rtu_over_tcp; allowed: one of the two',
    ]);
  });
});
