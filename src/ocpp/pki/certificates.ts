/** Certificates of a station as they survive a restart. Keys are kept here and shown nowhere. */
import { createHash } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import type { JsonValue } from '../../core/store.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { isIssuedBy, isSelfIssued } from './chain.ts';
import { hashDataOf } from './hash-data.ts';
import type { CertificateHashData, HashAlgorithm } from './hash-data.ts';

/** What a version calls the uses of certificates. */
export interface CertificateUses<RootUse extends string, OwnUse extends string> {
  readonly roots: readonly RootUse[];
  /** of the roots that the connection to the central system trusts */
  readonly central: RootUse;
  /** of the certificates of the station itself */
  readonly own: readonly OwnUse[];
  /** of the one that the connection to the central system shows */
  readonly shown: OwnUse;
}

export interface Root<RootUse extends string> {
  readonly use: RootUse;
  readonly pem: string;
  readonly certificate: X509Certificate;
}

/** Certificate with its chain, and the key; PEM. Key null: it is in a file, whose text is not here. */
export interface OwnCertificate {
  readonly pem: string;
  readonly key: string | null;
  readonly certificate: X509Certificate;
}

/** A key that waits for its certificate. */
export interface PendingKey {
  /** PEM */
  readonly key: string;
  /** of the request to sign; null: it had none */
  readonly requestId: number | null;
}

export interface CertificateState<RootUse extends string, OwnUse extends string> {
  readonly roots: readonly Root<RootUse>[];
  readonly own: ReadonlyMap<OwnUse, OwnCertificate>;
  readonly pending: ReadonlyMap<OwnUse, PendingKey>;
}

export const pemOf = (certificate: X509Certificate): string => certificate.toString();

export function rootsOf<RootUse extends string>(use: RootUse, pem: string): readonly Root<RootUse>[] {
  return (certificatesOf(pem) ?? []).map((certificate) => ({ use, pem: pemOf(certificate), certificate }));
}

export function ownOf(pem: string, key: string | null): OwnCertificate | null {
  const [certificate] = certificatesOf(pem) ?? [];
  return certificate === undefined ? null : { pem, key, certificate };
}

/** A copy of a map with one entry set, or gone (null). */
export function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value | null): Map<Key, Value> {
  const copy = new Map(map);
  if (value === null) copy.delete(key);
  else copy.set(key, value);
  return copy;
}

/** Hash data of a root; of one that another root has issued by that one's key. */
export function rootHashData<RootUse extends string>(
  root: Root<RootUse>,
  roots: readonly Root<RootUse>[],
  algorithm?: HashAlgorithm,
): CertificateHashData {
  const { certificate } = root;
  const above = isSelfIssued(certificate)
    ? certificate
    : (roots.find((other) => isIssuedBy(certificate, other.certificate))?.certificate ?? certificate);
  return hashDataOf(certificate, above, algorithm);
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

/** As REST shows them: no key. */
export function entriesOf<RootUse extends string, OwnUse extends string>({
  roots,
  own,
}: CertificateState<RootUse, OwnUse>): readonly OcppCertificateEntry[] {
  return [
    ...roots.map(({ use, certificate }) => entryOf(use, certificate)),
    ...[...own].map(([use, { certificate }]) => entryOf(use, certificate)),
  ];
}

/** Values for the store. */
export function storedCertificates<RootUse extends string, OwnUse extends string>({
  roots,
  own,
  pending,
}: CertificateState<RootUse, OwnUse>): readonly JsonValue[] {
  return [
    ...roots.map(({ use, pem }) => ({ kind: 'root', use, pem })),
    ...[...own].map(([use, { pem, key }]) => ({ kind: 'own', use, pem, key })),
    ...[...pending].map(([use, { key, requestId }]) => ({ kind: 'pending', use, key, requestId })),
  ];
}

/** null: nothing was kept. Values that do not fit are left out. */
export function keptCertificates<RootUse extends string, OwnUse extends string>(
  values: readonly JsonValue[],
  uses: CertificateUses<RootUse, OwnUse>,
): CertificateState<RootUse, OwnUse> | null {
  const none: CertificateState<RootUse, OwnUse> = { roots: [], own: new Map(), pending: new Map() };
  return values.length === 0 ? null : values.reduce((state, value) => withValue(state, value, uses), none);
}

function withValue<RootUse extends string, OwnUse extends string>(
  state: CertificateState<RootUse, OwnUse>,
  value: JsonValue,
  uses: CertificateUses<RootUse, OwnUse>,
): CertificateState<RootUse, OwnUse> {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return state;
  const { kind, use, pem, key, requestId } = value;
  const rootUse = uses.roots.find((each) => each === use);
  if (kind === 'root' && rootUse !== undefined && typeof pem === 'string')
    return { ...state, roots: [...state.roots, ...rootsOf(rootUse, pem)] };
  const ownUse = use === undefined ? uses.shown : uses.own.find((each) => each === use);
  if (ownUse === undefined) return state;
  if (kind === 'own' && typeof pem === 'string') {
    const own = ownOf(pem, typeof key === 'string' ? key : null);
    return { ...state, own: withEntry(state.own, ownUse, own) };
  }
  if (kind !== 'pending' || typeof key !== 'string') return state;
  const pending = { key, requestId: typeof requestId === 'number' ? requestId : null };
  return { ...state, pending: withEntry(state.pending, ownUse, pending) };
}
