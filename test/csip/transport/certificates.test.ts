import { expect } from 'chai';
import type { CsipPemFiles } from '../../../src/contract/csip-settings.ts';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { ClientCredentials, certificateFacts, missingIssuer } from '../../../src/csip/transport/certificates.ts';
import type { CredentialsOptions } from '../../../src/csip/transport/certificates.ts';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { MemoryFiles } from '../../support/tls.ts';
import { exchangeWith, get, PeerServer, refusalOf, serverTls } from './support.ts';

const paths: CsipPemFiles = { cert: '/pki/own.pem', tls: { key: '/pki/own.key', rootCert: '/pki/root.pem' } };
const names = { cert: '--csip_cert', key: '--csip_key', rootCert: '--csip_root_cert' };

function errorOf(act: () => void): SimError {
  try {
    act();
  } catch (error) {
    if (error instanceof SimError) return error;
  }
  throw new Error('expected a SimError');
}

describe('certificates of a client', () => {
  let pki: HeadEndPki;
  let files: MemoryFiles;
  let changes: number;
  const open: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  before(async () => {
    pki = await headEndPki();
  });
  beforeEach(() => {
    files = new MemoryFiles();
    changes = 0;
    put('/pki/own', pki.device);
    files.set('/pki/root.pem', pki.root.cert);
  });

  const put = (path: string, { cert, key }: HeadEndPki['device']) => {
    files.set(`${path}.pem`, cert);
    files.set(`${path}.key`, key);
  };
  const credentials = (more: Partial<CredentialsOptions> = {}) =>
    new ClientCredentials({
      files: paths,
      names,
      strictCipher: false,
      testPki: null,
      clock: systemClock,
      logger: silentLogger,
      io: files,
      onChange: () => {
        changes += 1;
      },
      ...more,
    });
  const lfdi = ({ cert }: { readonly cert: string }) => certificateFacts(cert)?.lfdi;

  it('an intermediate certificate that a chain lacks is named', () => {
    const { device, foreignDevice, root, selfSigned } = pki;
    const rootCert = root.cert;
    const leaf = device.cert.slice(0, device.cert.indexOf('-----BEGIN', 5));
    expect(missingIssuer({ cert: leaf, rootCert })).to.equal('CN=Head-end intermediate');
    expect(missingIssuer({ cert: device.cert, rootCert })).to.equal(null);
    expect(missingIssuer({ cert: device.cert + rootCert, rootCert })).to.equal(null);
    expect(missingIssuer({ cert: foreignDevice.cert, rootCert })).to.equal('CN=Another root');
    expect(missingIssuer({ cert: selfSigned.cert, rootCert })).to.equal(null);
    expect(missingIssuer({ cert: '', rootCert })).to.equal(null);
    expect(missingIssuer({ cert: leaf, rootCert: '' })).to.equal(null);
  });

  it('are those of the files, and change with them', () => {
    const own = credentials();
    const { context } = own;
    expect(own.facts?.lfdi).to.equal(lfdi(pki.device));
    expect(own.view).to.deep.include({ selected: 'default', available: ['default'] });
    put('/pki/own', pki.foreignDevice);
    own.reload();
    expect(changes).to.equal(1);
    expect(own.context).to.not.equal(context);
    expect(own.facts?.lfdi).to.equal(lfdi(pki.foreignDevice));
  });

  it('files that do not fit stop the start, and are named by their settings', () => {
    files.set('/pki/own.key', 'S3CR3T-marker');
    files.delete('/pki/root.pem');
    const { code, issues } = errorOf(() => credentials());
    expect(code).to.equal('CONFIG_INVALID');
    expect(issues).to.deep.equal([{ name: '--csip_root_cert', detail: 'cannot be read: there is no such file' }]);
    files.set('/pki/root.pem', pki.root.cert);
    expect(errorOf(() => credentials()).issues).to.deep.equal([
      { name: '--csip_key', detail: 'is not an unencrypted private key in PEM' },
    ]);
  });

  it('over plain HTTP the certificate gives LFDI and SFDI, without a key', () => {
    files.delete('/pki/own.key');
    const plain = credentials({ files: { cert: '/pki/own.pem', tls: null } });
    expect(plain.facts?.lfdi).to.equal(lfdi(pki.device));
    expect(errorOf(() => plain.context).code).to.equal('NOT_CONNECTED');
    files.set('/pki/own.pem', '');
    expect(errorOf(() => credentials({ files: { cert: '/pki/own.pem', tls: null } })).issues).to.deep.equal([
      { name: '--csip_cert', detail: 'is not a certificate in PEM' },
    ]);
    // REST may bring the rest later
    plain.use({ key: pki.device.key, rootCert: pki.root.cert });
    expect(plain.context).to.not.equal(undefined);
  });

  it('a chain of COMM-004 and back, while it runs', () => {
    put('/pki/comm_004a', pki.foreignDevice);
    put('/pki/comm_004g', { cert: pki.foreignDevice.cert, key: pki.device.key });
    const own = credentials({ testPki: '/pki' });
    expect(own.view.available).to.deep.equal(['default', 'comm_004a', 'comm_004g']);
    own.select('comm_004a');
    expect(own.view.selected).to.equal('comm_004a');
    expect(own.facts?.lfdi).to.equal(lfdi(pki.foreignDevice));
    expect(errorOf(() => own.select('comm_004g')).issues).to.deep.equal([
      { name: '/select', detail: 'does not belong to the certificate' },
    ]);
    expect(errorOf(() => own.select('comm_004b'))).to.include({ code: 'COMMAND_BAD_VALUE' });
    expect(own.view.selected).to.equal('comm_004a');
    // files that change meanwhile do not count
    files.set('/pki/own.pem', `${pki.device.cert}\n`);
    own.reload();
    expect(changes).to.equal(1);
    own.select('default');
    own.select('default');
    expect(changes).to.equal(2);
    expect(own.facts?.lfdi).to.equal(lfdi(pki.device));
    expect(errorOf(() => credentials().select('comm_004a')).message).to.contain('use_test_pki_certs');
  });

  it('texts take the place of those in force, and no refusal repeats them', () => {
    const own = credentials();
    const { code, message, issues } = errorOf(() => own.use({ cert: 'S3CR3T-marker', key: 'S3CR3T-marker' }));
    expect(code).to.equal('COMMAND_BAD_VALUE');
    expect(issues.map(({ name }) => name)).to.deep.equal(['/cert_pem', '/key_pem']);
    expect(message + JSON.stringify(issues)).to.not.contain('S3CR3T');
    expect(errorOf(() => own.use({ cert: pki.foreignDevice.cert })).issues).to.deep.equal([
      { name: '/key_pem', detail: 'does not belong to the certificate' },
    ]);
    expect(changes).to.equal(0);
    own.use(pki.foreignDevice);
    expect(own.view.selected).to.equal(null);
    expect(own.facts?.lfdi).to.equal(lfdi(pki.foreignDevice));
  });

  it('disturbed: without a certificate, without trust, with another version', async () => {
    const own = credentials();
    const peer = await PeerServer.open(await serverTls(), (_request, response) => response.end('<Time/>'));
    let by: 'no_certificate' | 'server_not_trusted' | 'wrong_version' = 'no_certificate';
    const disturber = { active: true, disturb: () => ({ tls: by }) };
    open.push(peer);
    const exchange = exchangeWith(peer.port, { tls: { identity: own, checkHostname: true }, disturber });
    open.push(exchange);
    expect((await refusalOf(exchange.request(get('/tm')))).message).to.match(/certificate of this (?:client|end)/);
    by = 'server_not_trusted';
    expect((await refusalOf(exchange.request(get('/tm')))).message).to.contain('an authority that was not given');
    by = 'wrong_version';
    expect((await refusalOf(exchange.request(get('/tm')))).message).to.contain('none of the TLS versions');
    disturber.active = false;
    expect((await exchange.request(get('/tm'))).status).to.equal(200);
  });

  it('the strict cipher is that of every context', () => {
    const own = credentials({ strictCipher: true });
    expect(own.disturbed('no_certificate')).to.not.equal(own.context);
    own.use(pki.device);
    expect(own.facts?.lfdi).to.equal(lfdi(pki.device));
  });
});
