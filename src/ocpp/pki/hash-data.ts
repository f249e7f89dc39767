/** Certificates as OCPP names them: CertificateHashDataType, as CertID of OCSP (RFC 6960 4.1.1). */
import { createHash } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';

export const hashAlgorithms = ['SHA256', 'SHA384', 'SHA512'] as const;
export type HashAlgorithm = (typeof hashAlgorithms)[number];

export interface CertificateHashData {
  readonly hashAlgorithm: HashAlgorithm;
  /** of the DER form of the issuer's name, hex in lower case */
  readonly issuerNameHash: string;
  /** of the issuer's public key without tag, length and number of unused bits, hex in lower case */
  readonly issuerKeyHash: string;
  /** hex without leading zeros */
  readonly serialNumber: string;
}

/** One element of DER: where it begins, where its content does, and where it ends. */
interface Element {
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** Only for DER that OpenSSL has parsed before. */
function elementAt(der: Buffer, start: number): Element {
  const first = der.readUInt8(start + 1);
  if (first < 0x80) return { start, content: start + 2, end: start + 2 + first };
  const octets = first & 0x7f;
  const content = start + 2 + octets;
  return { start, content, end: content + der.readUIntBE(start + 2, octets) };
}

function childrenOf(der: Buffer, { content, end }: Element): readonly Element[] {
  const children: Element[] = [];
  for (let at = content; at < end; ) {
    const child = elementAt(der, at);
    children.push(child);
    at = child.end;
  }
  return children;
}

/** `issuer` of TBSCertificate (RFC 5280 4.1), DER; node:crypto shows it only as text. */
function issuerName({ raw }: X509Certificate): Buffer {
  const [tbs] = childrenOf(raw, elementAt(raw, 0));
  const members = tbs === undefined ? [] : childrenOf(raw, tbs);
  const hasVersion = members[0] !== undefined && raw[members[0].start] === 0xa0;
  const issuer = members[hasVersion ? 3 : 2];
  return issuer === undefined ? Buffer.alloc(0) : raw.subarray(issuer.start, issuer.end);
}

/** The bits of `subjectPublicKey`. */
function keyBits({ publicKey }: X509Certificate): Buffer {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const bits = childrenOf(der, elementAt(der, 0))[1];
  return bits === undefined ? Buffer.alloc(0) : der.subarray(bits.content + 1, bits.end);
}

const plainSerial = (hex: string) => hex.replace(/^0+(?=.)/, '').toUpperCase();

/** @param issuer the certificate above; of a root the root itself */
export function hashDataOf(
  certificate: X509Certificate,
  issuer: X509Certificate,
  hashAlgorithm: HashAlgorithm = 'SHA256',
): CertificateHashData {
  const hash = (octets: Buffer) => createHash(hashAlgorithm.toLowerCase()).update(octets).digest('hex');
  return {
    hashAlgorithm,
    issuerNameHash: hash(issuerName(certificate)),
    issuerKeyHash: hash(keyBits(issuer)),
    serialNumber: plainSerial(certificate.serialNumber),
  };
}

/** Whether two data name one certificate; central systems differ in case and zeros. */
export function sameHashData(a: CertificateHashData, b: CertificateHashData): boolean {
  return (
    a.hashAlgorithm === b.hashAlgorithm &&
    a.issuerNameHash.toLowerCase() === b.issuerNameHash.toLowerCase() &&
    a.issuerKeyHash.toLowerCase() === b.issuerKeyHash.toLowerCase() &&
    plainSerial(a.serialNumber) === plainSerial(b.serialNumber)
  );
}
