/** Certificate, key, root certificates and cipher suites of a TLS server: read, checked, made into options of Node. */
import { errorText } from '../errors.ts';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import type { Issue } from '../errors.ts';
import { fileReason } from '../text-file.ts';

export const tlsVersions = ['1.2', '1.3'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

/** Own certificate, its key and the root certificates of the peers, each as `T`. */
export interface TlsTriple<T> {
  readonly cert: T;
  readonly key: T;
  readonly rootCert: T;
}

export interface TlsPolicy {
  /** the suites offered, as OpenSSL names with colons between; null: those of Secure SunSpec Modbus */
  readonly ciphers: string | null;
  /** minimum version; the later one is offered as well */
  readonly minVersion: TlsVersion;
}

/** Suites that Secure SunSpec Modbus requires, those of TLS 1.3 first. */
export const secureSunSpecCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_CCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-CCM8',
] as const;

/**
 * A list of suites in which CCM8 takes effect. OpenSSL from 3.2 on rates the short tag of CCM8 at 64 bits, which only
 * security level 0 permits.
 */
export function withCcm8InForce(list: string, openssl = process.versions.openssl): string {
  const [major = 0, minor = 0] = openssl.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 2) ? `${list}:@SECLEVEL=0` : list;
}

/** The cipher string in force. */
function cipherString({ ciphers }: TlsPolicy): string {
  return ciphers === null ? withCcm8InForce(secureSunSpecCiphers.join(':')) : joined(ciphers);
}

const pemBegin = '-----BEGIN CERTIFICATE-----';
const pemEnd = '-----END CERTIFICATE-----';

/** Every certificate of a PEM file; null: none, or one is unreadable or truncated. */
export function certificatesOf(pem: string): readonly X509Certificate[] | null {
  const bodies = pem
    .split(pemBegin)
    .slice(1)
    .map((part) => part.split(pemEnd));
  if (bodies.length === 0 || bodies.some((parts) => parts.length < 2)) return null;
  try {
    return bodies.map(([body = '']) => new X509Certificate(pemBegin + body + pemEnd));
  } catch {
    return null;
  }
}

/** The key in a PEM text, or its error. */
export function keyOf(pem: string): KeyObject | string {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem))
    return 'holds an encrypted key; allowed: a key without a passphrase';
  try {
    return createPrivateKey(pem);
  } catch {
    return 'holds no private key that can be read; allowed: a private key in PEM form';
  }
}

const isP256 = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

function pemIssues({ cert, key, rootCert }: TlsTriple<PemFile>, policy: TlsPolicy): Issue[] {
  const issues: Issue[] = [];
  const report = ({ name }: PemFile, detail: string) => {
    issues.push({ name, detail });
  };
  const [certificate] = certificatesOf(cert.text) ?? [];
  if (!certificate)
    report(
      cert,
      'holds no certificate that can be read; allowed: the certificate of the server in PEM form, followed by those of intermediate CAs',
    );
  const privateKey = keyOf(key.text);
  if (typeof privateKey === 'string') report(key, privateKey);
  else if (certificate && !certificate.checkPrivateKey(privateKey))
    report(key, `the key does not belong to the certificate of ${cert.name}`);
  else if (policy.ciphers === null && !isP256(privateKey))
    report(
      key,
      'not a P-256 key, which the suites of Secure SunSpec need; allowed: an EC key on P-256, or a list of suites that fit the key',
    );
  if (!certificatesOf(rootCert.text))
    report(
      rootCert,
      'holds no certificates that can be read; allowed: the certificates of the CAs whose clients are served, in PEM form',
    );
  return issues;
}

/**
 * Issues of a list of cipher suites for a minimum TLS version. OpenSSL itself ignores a name that it does not
 * know as long as another one fits.
 * @param names of the two settings, for the issues
 */
export function cipherIssues(
  policy: TlsPolicy,
  names: { readonly ciphers: string; readonly minVersion: string },
): Issue[] {
  const { ciphers, minVersion } = policy;
  if (ciphers === null) return [];
  const words = wordsOf(ciphers);
  const unknown = words.filter((word) => /^\w/.test(word) && !selectsSuites(word));
  const allowed = 'OpenSSL names of cipher suites with a colon between';
  if (words.length === 0 || unknown.length > 0)
    return [
      { name: names.ciphers, detail: `given "${unknown.join(':')}", which OpenSSL does not know; allowed: ${allowed}` },
    ];
  if (!selectsSuites(joined(ciphers)))
    return [
      {
        name: names.ciphers,
        detail: `given "${ciphers}", which OpenSSL cannot read or which leaves no suite; allowed: ${allowed}`,
      },
    ];
  if (minVersion === '1.3' && !words.some(isSuite13)) {
    return [
      {
        name: names.ciphers,
        detail: `given no suite of TLS 1.3 with ${names.minVersion} 1.3; allowed: at least one, for example ${secureSunSpecCiphers[0]}`,
      },
    ];
  }
  return [];
}

const wordsOf = (ciphers: string) => ciphers.split(/[:;, ]+/).filter((word) => word !== '');
/**
 * Rewrites a cipher list with `:`, the only separator that Node knows. OpenSSL knows more, but Node would pass such a
 * list on unsorted and OpenSSL would ignore it.
 */
const joined = (ciphers: string) => wordsOf(ciphers).join(':');
const isSuite13 = (word: string) => word.startsWith('TLS_');

function selectsSuites(ciphers: string): boolean {
  try {
    createSecureContext({ ciphers });
    return true;
  } catch {
    return false;
  }
}

/** The options of a context, and the validity of its certificate. */
export interface TlsMaterial {
  readonly context: SecureContextOptions;
  /** wall time from and until which the own certificate is valid, ms since the epoch; infinite without one */
  readonly validFromMs: number;
  readonly validToMs: number;
}

export type TlsReading = { readonly material: TlsMaterial } | { readonly issues: readonly Issue[] };

/** Versions to offer. For a list without suites of TLS 1.3 OpenSSL would offer them all, so TLS 1.3 is left out. */
function versionsOf({ ciphers, minVersion }: TlsPolicy): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  const words = ciphers === null ? [] : wordsOf(ciphers);
  const names13 = words.some(isSuite13);
  if (ciphers !== null && !names13) return { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' };
  return {
    minVersion:
      minVersion === '1.3' || (names13 && words.every((word) => isSuite13(word) || word.startsWith('@')))
        ? 'TLSv1.3'
        : 'TLSv1.2',
  };
}

/** A file of PEM text, and the setting that names it, for the issues. */
export interface TlsFile {
  readonly name: string;
  readonly path: string;
}

interface PemFile extends TlsFile {
  readonly text: string;
}

export const maxPemBytes = 1024 * 1024;

/** Texts of PEM files by their role, and an issue for each that cannot be read. */
export function readPemFiles<Role extends keyof TlsTriple<unknown>>(
  files: readonly (readonly [Role, TlsFile])[],
  readText: (path: string, maxBytes: number, role: Role) => string,
): { readonly texts: Partial<Record<Role, string>>; readonly issues: readonly Issue[] } {
  const texts: Partial<Record<Role, string>> = {};
  const issues: Issue[] = [];
  for (const [role, { name, path }] of files) {
    try {
      texts[role] = readText(path, maxPemBytes, role);
    } catch (error) {
      issues.push({ name, detail: `cannot be read: ${fileReason(error)}` });
    }
  }
  return { texts, issues };
}

/**
 * Reads the three files and checks each of them and whether they fit together. Issues bear the names of the settings,
 * with no path in them and nothing of the key.
 * @param readText text of a file up to a number of bytes, by its role; throws if it cannot be read
 */
export function readTlsMaterial(
  files: TlsTriple<TlsFile>,
  policy: TlsPolicy,
  readText: (path: string, maxBytes: number, role: keyof TlsTriple<unknown>) => string,
): TlsReading {
  const { texts, issues } = readPemFiles(
    [
      ['cert', files.cert],
      ['key', files.key],
      ['rootCert', files.rootCert],
    ],
    readText,
  );
  if (issues.length > 0) return { issues };
  const { cert = '', key = '', rootCert = '' } = texts;
  const pem = {
    cert: { ...files.cert, text: cert },
    key: { ...files.key, text: key },
    rootCert: { ...files.rootCert, text: rootCert },
  };
  const wrong = pemIssues(pem, policy);
  return wrong.length > 0 ? { issues: wrong } : materialOf(pem, policy);
}

function materialOf({ cert, key, rootCert }: TlsTriple<PemFile>, policy: TlsPolicy): TlsReading {
  const context: SecureContextOptions = {
    cert: cert.text,
    key: key.text,
    ca: rootCert.text,
    ciphers: cipherString(policy),
    ...versionsOf(policy),
    // in TLS 1.2 this restricts the keys of certificates as well
    ecdhCurve: policy.ciphers === null ? 'P-256' : 'auto',
  };
  try {
    createSecureContext(context);
  } catch (error) {
    return {
      issues: [{ name: cert.name, detail: `refused by OpenSSL: ${errorText(error)}` }],
    };
  }
  const certificate = new X509Certificate(cert.text);
  return {
    material: { context, validFromMs: Date.parse(certificate.validFrom), validToMs: Date.parse(certificate.validTo) },
  };
}
