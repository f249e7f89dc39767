/** Certificates of a station and their stored form. Keys are stored, but never shown. */
import { createHash } from 'node:crypto';
import type { KeyObject, X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import { readBy } from '../../core/slot-values.ts';
import type { SlotForm } from '../../core/slot-values.ts';
import type { JsonValue } from '../../core/store.ts';
import { certificatesOf } from '../../core/tls/material.ts';

// Checks of certificates and chains, without the certificate store of the system.

/** An RSA key of fewer bits is refused (white paper 1.6, A00.FR.506: 2048; 112 bits of security). */
const minRsaBits = 2048;
const minEcBits = 224;
const maxChain = 10;

const curveBits: Readonly<Record<string, number>> = {
  secp224r1: 224,
  prime256v1: 256,
  secp256k1: 256,
  secp384r1: 384,
  secp521r1: 521,
};

function keyIssue({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | null {
  if (type === 'rsa' || type === 'rsa-pss')
    return (details?.modulusLength ?? 0) >= minRsaBits ? null : 'its RSA key is too short';
  if (type === 'ec')
    return (curveBits[details?.namedCurve ?? ''] ?? 0) >= minEcBits ? null : 'its curve is not supported';
  return 'its key is neither RSA nor EC';
}

/** Why a certificate cannot be used now; null: it can. @param atMs ms since the epoch */
export function validityIssue(certificate: X509Certificate, atMs: number): string | null {
  if (!(Date.parse(certificate.validTo) >= atMs)) return 'it has expired';
  if (!(Date.parse(certificate.validFrom) <= atMs)) return 'it is not valid yet';
  return keyIssue(certificate.publicKey);
}

/** True if the issuer is an authority, and the names and the signature match. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

export const isSelfIssued = (certificate: X509Certificate): boolean => certificate.subject === certificate.issuer;

/** Why a chain, the leaf first, is not valid now; null: it is. */
export function chainIssue(chain: readonly X509Certificate[], atMs: number): string | null {
  if (chain.length === 0 || chain.length > maxChain) return 'there is no chain of a usable length';
  for (const [at, certificate] of chain.entries()) {
    const issue = validityIssue(certificate, atMs);
    if (issue !== null) return at === 0 ? issue : `of a certificate above: ${issue}`;
    const issuer = chain[at + 1];
    if (issuer !== undefined && !isIssuedBy(certificate, issuer)) return 'a certificate is not issued by the next one';
  }
  return null;
}

/** Why a chain, the leaf first, does not lead to one of the roots; null: it does. */
export function anchorIssue(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  atMs: number,
): string | null {
  const issue = chainIssue(chain, atMs);
  if (issue !== null) return issue;
  const usable = roots.filter((root) => validityIssue(root, atMs) === null);
  // a root is in the chain or has issued a certificate of it; certificates after that one do not matter
  const anchored = chain.some((certificate) =>
    usable.some((root) => root.fingerprint256 === certificate.fingerprint256 || isIssuedBy(certificate, root)),
  );
  return anchored ? null : 'it leads to no installed root';
}

// Identification of certificates in OCPP: CertificateHashDataType, as CertID of OCSP (RFC 6960 4.1.1).

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

/** Offsets of one DER element: its start, its content and its end. */
interface Element {
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** Unchecked: only for DER that OpenSSL has parsed before. */
function elementAt(der: Buffer, start: number): Element {
  const length = der.readUInt8(start + 1);
  if (length < 0x80) return { start, content: start + 2, end: start + 2 + length };
  const octets = length & 0x7f;
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

/** @param issuer the issuer's certificate; for a root the root itself */
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

/** True if both are of one certificate; central systems differ in case and leading zeros. */
export function sameHashData(a: CertificateHashData, b: CertificateHashData): boolean {
  return (
    a.hashAlgorithm === b.hashAlgorithm &&
    a.issuerNameHash.toLowerCase() === b.issuerNameHash.toLowerCase() &&
    a.issuerKeyHash.toLowerCase() === b.issuerKeyHash.toLowerCase() &&
    plainSerial(a.serialNumber) === plainSerial(b.serialNumber)
  );
}

/** Uses of certificates in a version. */
export interface CertificateUses<RootUse extends string, OwnUse extends string> {
  readonly roots: readonly RootUse[];
  /** use of the roots that authenticate the central system */
  readonly central: RootUse;
  /** uses of certificates of the station itself */
  readonly own: readonly OwnUse[];
  /** use of the certificate that the station presents to the central system */
  readonly presented: OwnUse;
  /** names in the store, which all versions share, of uses that have another name in this version */
  readonly storedNames?: Readonly<Record<string, string>>;
}

export interface Root<RootUse extends string> {
  readonly use: RootUse;
  readonly pem: string;
  readonly certificate: X509Certificate;
}

/** Certificate with its chain, and the key; PEM. Key null: in a file, whose text is not kept here. */
export interface OwnCertificate {
  readonly pem: string;
  readonly key: string | null;
  readonly certificate: X509Certificate;
}

/** A key that waits for its certificate. */
export interface PendingKey {
  /** PEM */
  readonly key: string;
  /** id of the request to sign; null: none */
  readonly requestId: number | null;
}

export interface CertificateState<RootUse extends string, OwnUse extends string> {
  readonly roots: readonly Root<RootUse>[];
  readonly own: ReadonlyMap<OwnUse, OwnCertificate>;
  readonly pending: ReadonlyMap<OwnUse, PendingKey>;
  /** stored values of uses that only other versions have */
  readonly others: readonly JsonValue[];
}

const pemOf = (certificate: X509Certificate): string => certificate.toString();

export function rootsOf<RootUse extends string>(use: RootUse, pem: string): readonly Root<RootUse>[] {
  return (certificatesOf(pem) ?? []).map((certificate) => ({ use, pem: pemOf(certificate), certificate }));
}

export function ownOf(pem: string, key: string | null): OwnCertificate | null {
  const [certificate] = certificatesOf(pem) ?? [];
  return certificate === undefined ? null : { pem, key, certificate };
}

/** A copy of a map with one entry set or (null) removed. */
export function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value | null): Map<Key, Value> {
  const copy = new Map(map);
  if (value === null) copy.delete(key);
  else copy.set(key, value);
  return copy;
}

/** Hash data of a root; the issuer is the root that has issued it, or else itself. */
export function rootHashData<RootUse extends string>(
  root: Root<RootUse>,
  roots: readonly Root<RootUse>[],
  algorithm?: HashAlgorithm,
): CertificateHashData {
  const { certificate } = root;
  const issuer = isSelfIssued(certificate)
    ? certificate
    : (roots.find((other) => isIssuedBy(certificate, other.certificate))?.certificate ?? certificate);
  return hashDataOf(certificate, issuer, algorithm);
}

function entryOf(use: string, certificate: X509Certificate): OcppCertificateEntry {
  const oneLine = (name: string) => name.replaceAll('\n', ', ');
  return {
    use,
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    serialNumber: certificate.serialNumber,
    validFromMs: Date.parse(certificate.validFrom),
    validToMs: Date.parse(certificate.validTo),
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
  };
}

/** Entries for REST, without keys. */
export function entriesOf<RootUse extends string, OwnUse extends string>({
  roots,
  own,
}: CertificateState<RootUse, OwnUse>): readonly OcppCertificateEntry[] {
  return [
    ...roots.map(({ use, certificate }) => entryOf(use, certificate)),
    ...[...own].map(([use, { certificate }]) => entryOf(use, certificate)),
  ];
}

const nameInStore = (use: string, { storedNames = {} }: Pick<CertificateUses<string, string>, 'storedNames'>): string =>
  storedNames[use] ?? use;

/** Values for the store. */
export function storedCertificates<RootUse extends string, OwnUse extends string>(
  { roots, own, pending, others }: CertificateState<RootUse, OwnUse>,
  uses: CertificateUses<RootUse, OwnUse>,
): readonly JsonValue[] {
  return [
    ...roots.map(({ use, pem }) => ({ kind: 'root', use: nameInStore(use, uses), pem })),
    ...[...own].map(([use, { pem, key }]) => ({ kind: 'own', use: nameInStore(use, uses), pem, key })),
    ...[...pending].map(([use, pendingKey]) => ({ kind: 'pending', use: nameInStore(use, uses), ...pendingKey })),
    ...others,
  ];
}

const nothing = { roots: [], own: new Map(), pending: new Map(), others: [] };

/** The form of a value of `storedCertificates`. */
export const certificateForm = (uses: CertificateUses<string, string>): SlotForm<JsonValue> =>
  readBy((value) => {
    const { roots, own, pending, others } = withValue(nothing, value, uses);
    return roots.length + own.size + pending.size + others.length > 0 ? value : null;
  }, 'certificate or key');

/** null: nothing was stored */
export function restoredCertificates<RootUse extends string, OwnUse extends string>(
  values: readonly JsonValue[],
  uses: CertificateUses<RootUse, OwnUse>,
): CertificateState<RootUse, OwnUse> | null {
  const empty: CertificateState<RootUse, OwnUse> = nothing;
  return values.length === 0 ? null : values.reduce((state, value) => withValue(state, value, uses), empty);
}

function withValue<RootUse extends string, OwnUse extends string>(
  state: CertificateState<RootUse, OwnUse>,
  value: JsonValue,
  uses: CertificateUses<RootUse, OwnUse>,
): CertificateState<RootUse, OwnUse> {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return state;
  const { kind, use, pem, key, requestId } = value;
  const rootUse = uses.roots.find((each) => nameInStore(each, uses) === use);
  if (kind === 'root' && rootUse !== undefined && typeof pem === 'string')
    return { ...state, roots: [...state.roots, ...rootsOf(rootUse, pem)] };
  const ownUse = uses.own.find((each) => nameInStore(each, uses) === use);
  if (ownUse === undefined) return typeof use === 'string' ? { ...state, others: [...state.others, value] } : state;
  if (kind === 'own' && typeof pem === 'string') {
    const ownCertificate = ownOf(pem, typeof key === 'string' ? key : null);
    return { ...state, own: withEntry(state.own, ownUse, ownCertificate) };
  }
  if (kind !== 'pending' || typeof key !== 'string') return state;
  const pending = { key, requestId: typeof requestId === 'number' ? requestId : null };
  return { ...state, pending: withEntry(state.pending, ownUse, pending) };
}
