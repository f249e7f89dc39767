/** Issues X.509 certificates with keys on P-256. The library that encodes them is loaded at the first certificate. */
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type X509 from '@peculiar/x509';
import { SimError } from '../core/errors.ts';
import { certificatesOf } from '../core/tls/material.ts';
import { loadX509 } from '../core/tls/x509.ts';
import { oids } from './extensions.ts';
import type { CertificateExtension } from './extensions.ts';

/** A certificate, followed by the intermediates of its chain, and its private key (PKCS#8), PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** The content of a certificate apart from keys, serial number and issuer. */
export interface Template {
  /** attributes in their order; empty: no subject */
  readonly subject: readonly (readonly [type: 'CN' | 'O', text: string])[];
  /** validity, ms since the epoch */
  readonly fromMs: number;
  readonly untilMs: number;
  /** in the order of the certificate */
  readonly extensions: readonly CertificateExtension[];
}

type Library = Awaited<ReturnType<typeof loadX509>>;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const serialBytes = 20;

/** A positive serial number of 20 octets, the longest that RFC 5280 4.1.2.2 permits, as hex digits. */
function newSerial(): string {
  const bytes = randomBytes(serialBytes);
  // neither negative nor shorter
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** Name and keys by which an authority signs. */
interface Signer {
  readonly name: X509.Name;
  readonly publicKey: webcrypto.CryptoKey;
  readonly privateKey: webcrypto.CryptoKey;
}

const bodyOf = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]*-----/g, ''), 'base64');

/** @throws SimError COMMAND_CONFLICT for a certificate that is no authority, or a key that is not on P-256 */
async function signerOf({ X509Certificate }: Library, { cert, key }: Identity): Promise<Signer> {
  const [certificate] = certificatesOf(cert) ?? [];
  if (certificate?.ca !== true)
    throw new SimError('COMMAND_CONFLICT', 'an existing certificate is no authority, so it cannot issue others');
  try {
    return {
      name: new X509Certificate(certificate.raw).subjectName,
      publicKey: await webcrypto.subtle.importKey(
        'spki',
        certificate.publicKey.export({ type: 'spki', format: 'der' }),
        algorithm,
        true,
        ['verify'],
      ),
      privateKey: await webcrypto.subtle.importKey('pkcs8', bodyOf(key), algorithm, false, ['sign']),
    };
  } catch {
    throw new SimError('COMMAND_CONFLICT', 'an existing authority has no key on P-256, so it cannot issue others');
  }
}

type Keys = Pick<Signer, 'publicKey'>;

async function extensionOf(
  library: Library,
  extension: CertificateExtension,
  subject: Keys,
  issuer: Keys,
): Promise<X509.Extension> {
  if (extension === 'subject_key') return library.SubjectKeyIdentifierExtension.create(subject.publicKey);
  if (extension === 'authority_key') return library.AuthorityKeyIdentifierExtension.create(issuer.publicKey);
  if ('hosts' in extension)
    return new library.SubjectAlternativeNameExtension(
      extension.hosts.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    );
  return new library.Extension(oids[extension.name], extension.isCritical, extension.value);
}

/**
 * Issues a certificate for a new key.
 * @param issuer null: the certificate signs itself
 * @returns the certificate without its chain
 * @throws SimError COMMAND_CONFLICT for an issuer that cannot sign, SHORTAGE
 */
export async function issue(template: Template, issuer: Identity | null): Promise<Identity> {
  const library = await loadX509();
  const { Name, PemConverter, X509CertificateGenerator } = library;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  // typed, since commas, quotes and a leading `#` are syntax in a plain text
  const name = new Name(template.subject.map(([type, utf8String]) => ({ [type]: [{ utf8String }] })));
  const signer = issuer === null ? { name, ...keys } : await signerOf(library, issuer);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: name,
    issuer: signer.name,
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(template.fromMs),
    notAfter: new Date(template.untilMs),
    extensions: await Promise.all(template.extensions.map((each) => extensionOf(library, each, keys, signer))),
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: `${certificate.toString('pem')}\n`, key: `${PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}
