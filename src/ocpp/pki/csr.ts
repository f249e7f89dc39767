/** Requests to sign a certificate (PKCS#10, RFC 2986). The library behind them is loaded with the first one. */
import { webcrypto } from 'node:crypto';
import { createRequire } from 'node:module';
import type X509 from '@peculiar/x509';
import { lazily } from '../../core/lazy.ts';

const require = createRequire(import.meta.url);
const loadX509 = lazily(() => {
  // the library declares its parts with it
  require('reflect-metadata');
  return require('@peculiar/x509') as typeof X509;
});

export interface SigningSubject {
  readonly commonName: string;
  /** null: none */
  readonly organization: string | null;
  /** two letters; absent: none */
  readonly country?: string | null;
  /** of ISO 15118-2: `CPO`; absent: none */
  readonly domainComponent?: string;
}

/** PEM. The key is PKCS#8, for the store alone. */
export interface SigningRequest {
  readonly csr: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A new P-256 key and the request that it signs (white paper 1.6, A00.FR.510 and A02). */
export async function createSigningRequest({
  commonName,
  organization,
  country = null,
  domainComponent,
}: SigningSubject): Promise<SigningRequest> {
  const { Name, Pkcs10CertificateRequestGenerator, PemConverter } = await loadX509();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  // typed: in a plain text commas, quotes and a leading `#` have a meaning
  const text = (utf8String: string) => [{ utf8String }];
  const name = new Name([
    { CN: text(commonName) },
    ...(organization === null ? [] : [{ O: text(organization) }]),
    ...(country === null ? [] : [{ C: [{ printableString: country }] }]),
    ...(domainComponent === undefined ? [] : [{ DC: [{ ia5String: domainComponent }] }]),
  ]);
  const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { csr: `${request.toString('pem')}\n`, key: `${PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}
