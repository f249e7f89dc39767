/** Settings choose a certificate of the simulator by `certificate:NAME` in place of a PEM file. */
import type { TlsTriple } from '../core/tls/material.ts';
import type { TlsIo } from '../core/tls/watch.ts';
import { certificateNamePattern } from './certificates.ts';
import type { CertificateStore } from './certificates.ts';

const prefix = 'certificate:';

/** Part that a certificate plays in TLS. */
type Role = keyof TlsTriple<unknown>;

/** Certificates by name, as readers of PEM texts use them. */
export type CertificateTexts = Pick<CertificateStore, 'get' | 'list' | 'tls'>;

/** Value of a setting that chooses a certificate. */
export const certificateChoice = (name: string): string => prefix + name;

/** The name in `certificate:NAME`; null: the path of a file. */
export function chosenCertificate(value: string): string | null {
  return value.startsWith(prefix) ? value.slice(prefix.length) : null;
}

/** False for `certificate:` with a text that no certificate may have as its name. */
export function isPemSource(value: string): boolean {
  const name = chosenCertificate(value);
  return name === null || certificateNamePattern.test(name);
}

/** @throws SimError UNKNOWN_RESOURCE, Error for a part that the certificate does not have */
function textOf(certificates: CertificateTexts, name: string, role: Role): string {
  if (role === 'key') return certificates.tls(name).key;
  const { certPem, caPem, kind } = certificates.get(name);
  if (role === 'cert' || kind === 'ca') return certPem;
  if (caPem === null) throw new Error(`the certificate ${JSON.stringify(name)} has no authorities`);
  return caPem;
}

/** Reads PEM texts from files and, by their names, from certificates of the simulator. */
export function pemReader(readFile: TlsIo['readText'], certificates: CertificateTexts): TlsIo['readText'] {
  return (source, maxBytes, role) => {
    const name = chosenCertificate(source);
    return name === null ? readFile(source, maxBytes, role) : textOf(certificates, name, role);
  };
}

/** Access to both. A certificate never changes, and nobody else can read its key. */
export function pemIo(files: TlsIo, certificates: CertificateTexts): TlsIo {
  return {
    readText: pemReader(files.readText, certificates),
    stampOf: (source) => (chosenCertificate(source) === null ? files.stampOf(source) : source),
    readableByAll: (source) => chosenCertificate(source) === null && files.readableByAll(source),
  };
}
