/** Facts and issues of certificates in PEM form. */
import type { X509Certificate } from 'node:crypto';
import type { CertificateAddition, CertificateKind, StoredCertificate } from '../contract/certificates.ts';
import { lfdiOf, sfdiOf } from '../contract/csip-identity.ts';
import { SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import { certificatesOf, keyOf } from '../core/tls/material.ts';

/** PEM texts of one certificate without anything between their blocks. */
export interface CheckedPem {
  readonly cert: string;
  /** PKCS#8; null: none */
  readonly key: string | null;
  readonly ca: string | null;
}

const maxChain = 10;
const serverAuth = '1.3.6.1.5.5.7.3.1';

export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function chainIssue(chain: readonly X509Certificate[]): string | null {
  if (chain.length > maxChain) return `has ${chain.length} certificates; allowed: at most ${maxChain}`;
  const at = chain.findIndex((certificate, i) => {
    const issuer = chain[i + 1];
    return issuer !== undefined && !isIssuedBy(certificate, issuer);
  });
  if (at < 0) return null;
  return `its certificate ${at + 1} is not issued by the next one; allowed: the certificate, then each issuer in turn`;
}

const unreadable = 'holds no certificate that can be read, or one that cannot; allowed: certificates in PEM form';

const pemOf = (chain: readonly X509Certificate[]) => chain.map((each) => each.toString()).join('');

/** The key as PKCS#8, or its issue. */
function checkedKey(keyPem: string, certificate: X509Certificate | undefined): { readonly pem: string } | string {
  const key = keyOf(keyPem);
  if (typeof key === 'string') return key;
  if (certificate?.checkPrivateKey(key) === false) return 'does not belong to the certificate';
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/**
 * Checks that texts can be read and fit together.
 * @throws SimError COMMAND_BAD_VALUE with every issue, which never quotes a text
 */
export function checkedPem({ certPem, keyPem, caPem }: Omit<CertificateAddition, 'name'>): CheckedPem {
  const issues: Issue[] = [];
  const report = (name: string, detail: string | null) => {
    if (detail !== null) issues.push({ name, detail });
  };
  const chain = certificatesOf(certPem);
  report('/cert_pem', chain === null ? unreadable : chainIssue(chain));
  const key = keyPem === undefined ? null : checkedKey(keyPem, chain?.[0]);
  if (typeof key === 'string') report('/key_pem', key);
  const authorities = caPem === undefined ? [] : certificatesOf(caPem);
  if (authorities === null) report('/ca_pem', unreadable);
  if (issues.length > 0 || chain === null || authorities === null || typeof key === 'string')
    throw new SimError(
      'COMMAND_BAD_VALUE',
      issues.map(({ name, detail }) => `${name.slice(1)} ${detail}`).join('; '),
      issues,
    );
  return { cert: pemOf(chain), key: key?.pem ?? null, ca: authorities.length === 0 ? null : pemOf(authorities) };
}

function kindOf(certificate: X509Certificate): CertificateKind {
  if (certificate.ca) return 'ca';
  // the types have no undefined, but a certificate without the extension gives it
  const purposes = (certificate.keyUsage as readonly string[] | undefined) ?? [];
  const isServer = purposes.includes(serverAuth) || /(^|, )(DNS|IP Address):/.test(certificate.subjectAltName ?? '');
  return isServer ? 'server' : 'device';
}

/** A distinguished name in one line. Older runtimes give undefined for an empty one. */
const oneLine = (name: string | undefined) => (name ?? '').replaceAll('\n', ', ');

type Facts = Omit<StoredCertificate, 'name' | 'warnings' | 'usedBy' | 'addedAtMs'>;

/** @throws RangeError for a text that `checkedPem` did not make */
export function factsOf({ cert, key, ca }: CheckedPem): Facts {
  const chain = certificatesOf(cert);
  const certificate = chain?.[0];
  if (!chain || !certificate) throw new RangeError('a kept certificate cannot be read');
  const kind = kindOf(certificate);
  const lfdi = kind === 'device' ? lfdiOf(certificate.raw) : null;
  return {
    kind,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    serial: certificate.serialNumber,
    chainLength: chain.length,
    hasKey: key !== null,
    lfdi,
    sfdi: lfdi === null ? null : sfdiOf(lfdi),
    certPem: cert,
    caPem: ca,
  };
}

/** Reasons for which peers may refuse a certificate at an instant. */
export function warningsOf(
  { notBeforeMs, notAfterMs }: Pick<Facts, 'notBeforeMs' | 'notAfterMs'>,
  nowMs: number,
): readonly string[] {
  const date = (ms: number) => new Date(ms).toISOString();
  if (nowMs < notBeforeMs) return [`it is valid from ${date(notBeforeMs)} on only`];
  return nowMs > notAfterMs ? [`it has expired at ${date(notAfterMs)}`] : [];
}
