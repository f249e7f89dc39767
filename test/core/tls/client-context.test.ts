import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createClientContext } from '../../../src/core/tls/client-context.ts';
import { testPki } from '../../support/pki.ts';
import type { TestPki } from '../../support/pki.ts';

describe('TLS contexts of clients', () => {
  let pki: TestPki;
  before(async () => {
    pki = await testPki();
  });

  const ciphers = 'ECDHE-ECDSA-AES128-GCM-SHA256';

  it('are made from texts that belong together', () => {
    const { cert, key } = pki.clients.ReadOnlySunSpec;
    expect(createClientContext({ cert, key, rootCert: pki.ca.cert }, ciphers, 'tls')).to.have.property('context');
  });

  it('name the member that does not fit, at its place in the request, and not its text', () => {
    const { cert } = pki.clients.ReadOnlySunSpec;
    const other = pki.clients.GridServiceSunSpec.key;
    const rootCert = pki.ca.cert;
    for (const [pem, name] of [
      [{ cert: 'S3CR3T', key: other, rootCert }, 'cert'],
      [{ cert, key: 'S3CR3T', rootCert }, 'key'],
      [{ cert, key: other, rootCert: 'S3CR3T' }, 'root_cert'],
      [{ cert, key: other, rootCert }, 'key'],
    ] as const) {
      let failure: unknown;
      try {
        createClientContext(pem, ciphers, 'security');
      } catch (error) {
        failure = error;
      }
      expect(failure).to.be.instanceOf(SimError).and.to.have.property('code', 'COMMAND_BAD_VALUE');
      expect((failure as SimError).issues.map((issue) => issue.name)).to.deep.equal([`/security/${name}`]);
      expect(JSON.stringify(failure) + (failure as SimError).message).to.not.include('S3CR3T');
    }
  });
});
