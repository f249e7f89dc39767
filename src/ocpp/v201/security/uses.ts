/** Uses of certificates in 2.x. */
import type { CertificateUses } from '../../security/certificates.ts';
import type { CertificateKeeper } from '../../security/keeper.ts';
import type { Version2 } from '../../station/stack.ts';
import type { Requests } from '../parts.ts';

/** OEMRootCertificate is of 2.1: the schema of 2.0.1 refuses it. */
export type RootUse = Requests['InstallCertificate']['certificateType'];
/** V2G20Certificate of 2.1 is for ISO 15118-20 alone, which needs another kind of key: it is not supported. */
export type OwnUse = 'ChargingStationCertificate' | 'V2GCertificate';
export type Keeper = CertificateKeeper<RootUse, OwnUse>;

export const ownUses: readonly OwnUse[] = ['ChargingStationCertificate', 'V2GCertificate'];

export const centralUse = 'CSMSRootCertificate' satisfies RootUse;
export const presentedUse = 'ChargingStationCertificate' satisfies OwnUse;
const rootUses: readonly RootUse[] = [
  centralUse,
  'ManufacturerRootCertificate',
  'V2GRootCertificate',
  'MORootCertificate',
];

export function certificateUsesOf(version: Version2): CertificateUses<RootUse, OwnUse> {
  return {
    roots: version === 'ocpp2.1' ? [...rootUses, 'OEMRootCertificate'] : rootUses,
    central: centralUse,
    own: ownUses,
    presented: presentedUse,
  };
}
