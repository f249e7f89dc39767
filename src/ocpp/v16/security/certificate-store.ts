/** Certificates of a station as they survive a restart. Keys are kept here and shown nowhere. */
import { createHash } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../../contract/ocpp.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { isIssuedBy, isSelfIssued } from '../../pki/chain.ts';
import { hashDataOf } from '../../pki/hash-data.ts';
import type { CertificateHashData, HashAlgorithm } from '../../pki/hash-data.ts';
import type { Requests } from '../parts.ts';

export type RootUse = Requests['InstallCertificate']['certificateType'];
export const rootUses: readonly RootUse[] = ['CentralSystemRootCertificate', 'ManufacturerRootCertificate'];

export interface Root {
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

export interface CertificateState {
  readonly roots: readonly Root[];
  readonly own: OwnCertificate | null;
  /** PEM of the key that waits for its certificate */
  readonly pendingKey: string | null;
}

export const noCertificates: CertificateState = { roots: [], own: null, pendingKey: null };

export const pemOf = (certificate: X509Certificate): string => certificate.toString();

export function rootsOf(use: RootUse, pem: string): readonly Root[] {
  return (certificatesOf(pem) ?? []).map((certificate) => ({ use, pem: pemOf(certificate), certificate }));
}

export function ownOf(pem: string, key: string | null): OwnCertificate | null {
  const [certificate] = certificatesOf(pem) ?? [];
  return certificate === undefined ? null : { pem, key, certificate };
}

/** Hash data of a root; of one that another root has issued by that one's key. */
export function rootHashData(root: Root, roots: readonly Root[], algorithm?: HashAlgorithm): CertificateHashData {
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
export function entriesOf({ roots, own }: CertificateState): readonly OcppCertificateEntry[] {
  return [
    ...roots.map(({ use, certificate }) => entryOf(use, certificate)),
    ...(own === null ? [] : [entryOf('ChargePointCertificate', own.certificate)]),
  ];
}

/** Values for the store. */
export function storedCertificates({ roots, own, pendingKey }: CertificateState): readonly JsonValue[] {
  return [
    ...roots.map(({ use, pem }) => ({ kind: 'root', use, pem })),
    ...(own === null ? [] : [{ kind: 'own', pem: own.pem, key: own.key }]),
    ...(pendingKey === null ? [] : [{ kind: 'pending', key: pendingKey }]),
  ];
}

/** null: nothing was kept. Values that do not fit are left out. */
export async function loadCertificates(slot: Slot): Promise<CertificateState | null> {
  const values = await slot.read();
  return values.length === 0 ? null : values.reduce(withValue, noCertificates);
}

function withValue(state: CertificateState, value: JsonValue): CertificateState {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return state;
  const { kind, use, pem, key } = value;
  const rootUse = rootUses.find((each) => each === use);
  if (kind === 'root' && rootUse !== undefined && typeof pem === 'string')
    return { ...state, roots: [...state.roots, ...rootsOf(rootUse, pem)] };
  if (kind === 'own' && typeof pem === 'string')
    return { ...state, own: ownOf(pem, typeof key === 'string' ? key : null) };
  if (kind === 'pending' && typeof key === 'string') return { ...state, pendingKey: key };
  return state;
}
