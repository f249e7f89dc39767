/** What an authority does with a request to sign a certificate. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Pkcs10CertificateRequest,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Authority } from '../../../support/pki.ts';

cryptoProvider.set(webcrypto);

const dayMs = 86_400_000;

/** @param validDays from now. @returns the certificate, PEM */
export async function signRequest(
  csr: string,
  by: Authority,
  [from, to]: readonly [from: number, to: number] = [-1, 365],
): Promise<string> {
  const request = new Pkcs10CertificateRequest(csr);
  const certificate = await X509CertificateGenerator.create({
    subject: request.subject,
    issuer: by.certificate.subject,
    publicKey: request.publicKey,
    signingKey: by.keys.privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    notBefore: new Date(Date.now() + from * dayMs),
    notAfter: new Date(Date.now() + to * dayMs),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}
