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

  it('are made from texts that belong together', () => {
    const { cert, key } = pki.clients.ReadOnlySunSpec;
    expect(createClientContext({ cert, key, rootCert: pki.ca.cert }, 'sunspec', 'tls')).to.have.property('context');
  });

  it('name the member that does not fit, at its place in the request, and not its text', () => {
    const { cert } = pki.clients.ReadOnlySunSpec;
    const other = pki.clients.GridServiceSunSpec.key;
    const rootCert = pki.ca.cert;
    for (const [pem, members] of [
      [{ cert: 'S3CR3T', key: other, rootCert }, ['cert']],
      [{ cert, key: 'S3CR3T', rootCert }, ['key']],
      [{ rootCert: 'S3CR3T' }, ['root_cert']],
      [{ cert, key: other, rootCert: `${rootCert}S3CR3T\n-----BEGIN CERTIFICATE-----\n` }, ['key', 'root_cert']],
      [{ cert, key: other, rootCert }, ['key']],
      [{ cert, rootCert }, ['key']],
      [{ key: other, rootCert }, ['cert']],
    ] as const) {
      let failure: unknown;
      try {
        createClientContext(pem, 'sunspec', 'security');
      } catch (error) {
        failure = error;
      }
      expect(failure).to.be.instanceOf(SimError).and.to.have.property('code', 'COMMAND_BAD_VALUE');
      expect((failure as SimError).issues.map((issue) => issue.name)).to.deep.equal(
        members.map((name) => `/security/${name}`),
      );
      expect(JSON.stringify(failure) + (failure as SimError).message).to.not.include('S3CR3T');
    }
  });
});
