import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { hashAlgorithms, hashDataOf, sameHashData } from '../../../src/ocpp/security/certificates.ts';
import { hashes, leafPem, rootPem, version1Pem } from './fixtures.ts';

const root = new X509Certificate(rootPem);
const leaf = new X509Certificate(leafPem);
const version1 = new X509Certificate(version1Pem);

describe('OCPP hash data of certificates (CertificateHashDataType, RFC 6960 4.1.1)', () => {
  for (const hashAlgorithm of hashAlgorithms)
    it(`${hashAlgorithm}: the values of OpenSSL`, () => {
      expect(hashDataOf(leaf, root, hashAlgorithm)).to.deep.equal({
        hashAlgorithm,
        ...hashes.leaf[hashAlgorithm],
        serialNumber: 'F',
      });
    });

  it('a root is its own issuer; SHA256 unless another one is asked for', () => {
    expect(hashDataOf(root, root)).to.deep.equal({ hashAlgorithm: 'SHA256', ...hashes.root });
  });

  it('a certificate of version 1, which has no element for its version', () => {
    expect(hashDataOf(version1, version1)).to.deep.equal({ hashAlgorithm: 'SHA256', ...hashes.version1 });
  });

  it('central systems differ in case and in leading zeros', () => {
    const own = hashDataOf(leaf, root);
    const upper = {
      hashAlgorithm: own.hashAlgorithm,
      issuerNameHash: own.issuerNameHash.toUpperCase(),
      issuerKeyHash: own.issuerKeyHash.toUpperCase(),
      serialNumber: '000f',
    };
    expect(sameHashData(own, upper)).to.equal(true);
    expect(sameHashData({ ...own, serialNumber: '0' }, { ...own, serialNumber: '00' })).to.equal(true);
    for (const other of [
      { ...own, hashAlgorithm: 'SHA384' as const },
      { ...own, issuerNameHash: own.issuerKeyHash },
      { ...own, issuerKeyHash: own.issuerNameHash },
      { ...own, serialNumber: 'F0' },
    ])
      expect(sameHashData(own, other), JSON.stringify(other)).to.equal(false);
  });
});
