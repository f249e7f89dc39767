/** InstallCertificate, GetInstalledCertificateIds and DeleteCertificate (M03 to M05). */
import type { X509Certificate } from 'node:crypto';
import { certificatesOf } from '../../../core/tls/material.ts';
import { hashDataOf, isIssuedBy, isSelfIssued, rootHashData, sameHashData } from '../../security/certificates.ts';
import type { CertificateHashData, HashAlgorithm, OwnCertificate } from '../../security/certificates.ts';
import type { Handlers, Replies, Requests, StationParts } from '../parts.ts';
import { maxCertificates } from '../variables/rows/controllers.ts';
import { centralUse, presentedUse } from './uses.ts';
import type { Keeper } from './uses.ts';

// The certificate of the station for vehicles, with the certificates above it, as OCPP names them (M03, M04).

interface V2gChain {
  readonly leaf: CertificateHashData;
  /** certificates above the leaf, in order; at most 4, the limit of the message */
  readonly children: readonly CertificateHashData[];
}

const maxChildren = 4;

/** @param roots of ISO 15118, one of which issued the last certificate of the chain */
function v2gChainOf(
  { pem, certificate }: OwnCertificate,
  roots: readonly X509Certificate[],
  algorithm?: HashAlgorithm,
): V2gChain {
  const chain = (certificatesOf(pem) ?? []).filter((each, at) => at === 0 || !isSelfIssued(each));
  const hashData = (each: X509Certificate, at: number) => {
    const issuer = chain[at + 1] ?? roots.find((root) => isIssuedBy(each, root)) ?? each;
    return hashDataOf(each, issuer, algorithm);
  };
  const [leaf = hashDataOf(certificate, certificate, algorithm), ...children] = chain.map(hashData);
  return { leaf, children: children.slice(0, maxChildren) };
}

// The requests of the central system.

type Install = Requests['InstallCertificate'];
type HashData = Requests['DeleteCertificate']['certificateHashData'];
type ListedUse = NonNullable<Requests['GetInstalledCertificateIds']['certificateType']>[number];

const info = (reasonCode: string, additionalInfo: string) => ({ statusInfo: { reasonCode, additionalInfo } });

function install(
  { variables, security }: StationParts,
  keeper: Keeper,
  { certificateType: use, certificate }: Install,
): Replies['InstallCertificate'] {
  const outcome = keeper.install(use, certificate, {
    // the certificates of the station itself count too
    max: maxCertificates - (keeper.entries.length - keeper.installed.length),
    replaces: variables.boolean('SecurityCtrlr', 'AdditionalRootCertificateCheck'),
  });
  if (outcome === 'present') return { status: 'Accepted' };
  if (outcome === 'full')
    return { status: 'Rejected', ...info('OutOfStorage', `${maxCertificates} certificates are installed`) };
  if (outcome !== 'installed') {
    if (use === centralUse) security.raise('InvalidCsmsCertificate', outcome.why);
    return { status: 'Rejected', ...info('InvalidCertificate', outcome.why) };
  }
  security.raise('ReconfigurationOfSecurityParameters', `${use} installed`);
  return { status: 'Accepted' };
}

/** The chain for vehicles; null: the station has none. */
function v2gOf(keeper: Keeper, algorithm?: HashData['hashAlgorithm']) {
  const chain = keeper.own('V2GCertificate');
  return chain === null ? null : v2gChainOf(chain, keeper.roots('V2GRootCertificate'), algorithm);
}

function listed(
  keeper: Keeper,
  { certificateType: uses }: Requests['GetInstalledCertificateIds'],
): Replies['GetInstalledCertificateIds'] {
  const isWanted = (use: ListedUse) => uses === undefined || uses.includes(use);
  const roots = keeper.installed
    .filter(({ use }) => isWanted(use))
    .map((root) => ({
      certificateType: root.use,
      certificateHashData: rootHashData(root, keeper.installed),
    }));
  const chain = isWanted('V2GCertificateChain') ? v2gOf(keeper) : null;
  const chains =
    chain === null
      ? []
      : [
          {
            certificateType: 'V2GCertificateChain' as const,
            certificateHashData: chain.leaf,
            ...(chain.children.length > 0 && { childCertificateHashData: chain.children }),
          },
        ];
  const installed = [...roots, ...chains];
  return installed.length === 0 ? { status: 'NotFound' } : { status: 'Accepted', certificateHashDataChain: installed };
}

/** True for the presented certificate, compared without the key of the issuer, which the station may not know. */
function isPresented(keeper: Keeper, hashData: HashData): boolean {
  const certificate = keeper.own(presentedUse)?.certificate;
  if (certificate === undefined) return false;
  const data = hashDataOf(certificate, certificate, hashData.hashAlgorithm);
  return sameHashData({ ...data, issuerKeyHash: hashData.issuerKeyHash }, hashData);
}

function remove(
  { security }: StationParts,
  keeper: Keeper,
  { certificateHashData: hashData }: Requests['DeleteCertificate'],
): Replies['DeleteCertificate'] {
  const failed = (why: string) => ({ status: 'Failed', ...info('Unspecified', why) }) as const;
  if (isPresented(keeper, hashData)) return failed('the certificate of the station itself cannot be deleted');
  const chain = v2gOf(keeper, hashData.hashAlgorithm);
  if (chain !== null && sameHashData(chain.leaf, hashData)) {
    keeper.removeOwn('V2GCertificate');
    security.raise('ReconfigurationOfSecurityParameters', 'V2GCertificateChain deleted');
    return { status: 'Accepted' };
  }
  if (chain?.children.some((child) => sameHashData(child, hashData)) === true)
    return failed('the certificate belongs to the chain of the station for vehicles');
  const outcome = keeper.remove(hashData, true);
  if (outcome === 'unknown') return { status: 'NotFound' };
  if (outcome === 'last') return failed('the certificate is the last root of the central system');
  security.raise('ReconfigurationOfSecurityParameters', 'root certificate deleted');
  return { status: 'Accepted' };
}

export function installedHandlers(parts: StationParts, keeper: Keeper): Handlers {
  return {
    InstallCertificate: (request) => install(parts, keeper, request),
    GetInstalledCertificateIds: (request) => listed(keeper, request),
    DeleteCertificate: (request) => remove(parts, keeper, request),
  };
}
