/** InstallCertificate, GetInstalledCertificateIds and DeleteCertificate (M03 to M05). */
import { rootHashData } from '../../pki/certificates.ts';
import { hashDataOf, sameHashData } from '../../pki/hash-data.ts';
import type { Handlers, Replies, Requests, StationParts } from '../parts.ts';
import { maxCertificates } from '../variables/rows/security.ts';
import { certificateUses } from './uses.ts';
import type { Keeper } from './uses.ts';
import { v2gChainOf } from './v2g-chain.ts';

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
    if (use === certificateUses.central) security.raise('InvalidCsmsCertificate', outcome.why);
    return { status: 'Rejected', ...info('InvalidCertificate', outcome.why) };
  }
  security.raise('ReconfigurationOfSecurityParameters', `${use} installed`);
  return { status: 'Accepted' };
}

/** The chain for vehicles; null: the station has none. */
function v2gOf(keeper: Keeper, algorithm?: HashData['hashAlgorithm']) {
  const own = keeper.own('V2GCertificate');
  return own === null ? null : v2gChainOf(own, keeper.roots('V2GRootCertificate'), algorithm);
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
  const found = [...roots, ...chains];
  return found.length === 0 ? { status: 'NotFound' } : { status: 'Accepted', certificateHashDataChain: found };
}

/** By issuer and serial number alone: the key of the issuer may be unknown here. */
function isShown(keeper: Keeper, wanted: HashData): boolean {
  const certificate = keeper.own(certificateUses.shown)?.certificate;
  if (certificate === undefined) return false;
  const data = hashDataOf(certificate, certificate, wanted.hashAlgorithm);
  return sameHashData({ ...data, issuerKeyHash: wanted.issuerKeyHash }, wanted);
}

function remove(
  { security }: StationParts,
  keeper: Keeper,
  { certificateHashData: wanted }: Requests['DeleteCertificate'],
): Replies['DeleteCertificate'] {
  const failed = (why: string) => ({ status: 'Failed', ...info('Unspecified', why) }) as const;
  if (isShown(keeper, wanted)) return failed('the certificate of the station itself cannot be deleted');
  const chain = v2gOf(keeper, wanted.hashAlgorithm);
  if (chain !== null && sameHashData(chain.leaf, wanted)) {
    keeper.removeOwn('V2GCertificate');
    security.raise('ReconfigurationOfSecurityParameters', 'V2GCertificateChain deleted');
    return { status: 'Accepted' };
  }
  if (chain?.children.some((child) => sameHashData(child, wanted)) === true)
    return failed('it belongs to the certificate of the station for vehicles');
  const outcome = keeper.remove(wanted, true);
  if (outcome === 'unknown') return { status: 'NotFound' };
  if (outcome === 'last') return failed('it is the last root of the central system');
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
