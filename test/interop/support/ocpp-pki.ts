/** What a central system does with keys and certificates, by OpenSSL. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../support/http.ts';

const openssl = (args: readonly string[], input = ''): Buffer =>
  execFileSync('openssl', args, { input, stdio: 'pipe' });

/** SHA-256 signature of a firmware, base64. @param key file */
export function signatureOf(key: string, text: string): string {
  return openssl(['dgst', '-sha256', '-sign', key], text).toString('base64');
}

/** Subject of a request to sign a certificate whose signature fits. @param csr PEM @throws Error for a wrong one */
export function verifiedSubject(csr: string): string {
  return openssl(['req', '-verify', '-noout', '-subject', '-nameopt', 'RFC2253'], csr).toString().trim();
}

/** The certificate for a request, PEM. @param authority path without the ending of its files */
function issue(authority: string, csr: string, extensions: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-csr-'));
  try {
    const file = join(directory, 'extensions');
    writeFileSync(file, ['basicConstraints = critical, CA:FALSE', ...extensions, ''].join('\n'));
    const files = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-extfile', file];
    return openssl(['x509', '-req', '-sha256', '-days', '365', ...files], csr).toString();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The certificate of a charge point for its request, PEM. */
export const signedBy = (authority: string, csr: string): string =>
  issue(authority, csr, ['extendedKeyUsage = clientAuth']);

/** Writes the files of a server on this machine. @param path without the ending of its files */
export function serverOf(authority: string, path: string): void {
  openssl(['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', `${path}.key`]);
  const csr = openssl(['req', '-new', '-key', `${path}.key`, '-subj', '/CN=server']).toString();
  const names = 'subjectAltName = DNS:localhost, IP:127.0.0.1';
  writeFileSync(`${path}.pem`, issue(authority, csr, ['extendedKeyUsage = serverAuth', names]));
}

/** CertificateHashData of a root, as OpenSSL asks for it by OCSP. @param root file, PEM */
export function hashDataOf(root: string): Json {
  const text = openssl(['ocsp', '-sha256', '-issuer', root, '-cert', root, '-no_nonce', '-req_text']).toString();
  const value = (name: string) => new RegExp(`${name}: *([0-9A-F]+)`, 'i').exec(text)?.[1] ?? '';
  return {
    hashAlgorithm: 'SHA256',
    issuerNameHash: value('Issuer Name Hash').toLowerCase(),
    issuerKeyHash: value('Issuer Key Hash').toLowerCase(),
    serialNumber: value('Serial Number').replace(/^0+(?=.)/, ''),
  };
}
