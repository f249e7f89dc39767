import 'reflect-metadata';
import { expect } from 'chai';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import { createSigningRequest } from '../../../src/ocpp/security/keeper.ts';

describe('OCPP requests to sign a certificate (PKCS#10; white paper 1.6, A02)', () => {
  it('has CN and O, is signed by its own key on P-256, and fits the schema of SignCertificate', async () => {
    const { csr, key } = await createSigningRequest({ commonName: 'SN-1', organization: 'Example CPO' });
    const request = new Pkcs10CertificateRequest(csr);
    expect(request.subjectName.toJSON()).to.deep.equal([{ CN: ['SN-1'] }, { O: ['Example CPO'] }]);
    expect(await request.verify()).to.equal(true);
    const own = createPrivateKey(key);
    expect(own.asymmetricKeyDetails?.namedCurve).to.equal('prime256v1');
    const spki = createPublicKey(own).export({ type: 'spki', format: 'der' });
    expect(Buffer.from(request.publicKey.rawData).equals(spki)).to.equal(true);
    expect(csr).to.match(/^-----BEGIN CERTIFICATE REQUEST-----\n[^]+-----END CERTIFICATE REQUEST-----\n$/);
    expect(payloadChecks.check('ocpp1.6', 'SignCertificate', 'request', { csr })).to.equal(null);
  });

  it('names stay as they are, whatever a text of a name could mean; no O without an organisation', async () => {
    const commonName = '#0c, O=Other "x" \\ +';
    const { csr } = await createSigningRequest({ commonName, organization: null });
    expect(new Pkcs10CertificateRequest(csr).subjectName.toJSON()).to.deep.equal([{ CN: [commonName] }]);
  });

  it('has C and DC where a certificate for vehicles needs them (ISO 15118-2)', async () => {
    const subject = { commonName: 'SECC-1', organization: 'Example CPO', country: 'NL', domainComponent: 'CPO' };
    const { csr } = await createSigningRequest(subject);
    const request = new Pkcs10CertificateRequest(csr);
    expect(request.subjectName.toString()).to.equal('CN=SECC-1, O=Example CPO, C=NL, DC=CPO');
    expect(await request.verify()).to.equal(true);
    const { csr: bare } = await createSigningRequest({ ...subject, country: null });
    expect(new Pkcs10CertificateRequest(bare).subjectName.getField('C')).to.deep.equal([]);
  });

  it('makes a new key each time', async () => {
    const subject = { commonName: 'SN-1', organization: null };
    const [a, b] = [await createSigningRequest(subject), await createSigningRequest(subject)];
    expect(a.key).not.to.equal(b.key);
  });
});
