/** What 2.x calls the uses of certificates. */
import type { CertificateUses } from '../../pki/certificates.ts';
import type { CertificateKeeper } from '../../pki/keeper.ts';
import type { Requests } from '../parts.ts';

/** OEMRootCertificate is of 2.1: the schema of 2.0.1 refuses it. */
export type RootUse = Requests['InstallCertificate']['certificateType'];
/** V2G20Certificate of 2.1 is for ISO 15118-20 alone, which needs another kind of key: it is not supported. */
export type OwnUse = 'ChargingStationCertificate' | 'V2GCertificate';
export type Keeper = CertificateKeeper<RootUse, OwnUse>;

export const ownUses: readonly OwnUse[] = ['ChargingStationCertificate', 'V2GCertificate'];

export const certificateUses: CertificateUses<RootUse, OwnUse> = {
  roots: [
    'CSMSRootCertificate',
    'ManufacturerRootCertificate',
    'V2GRootCertificate',
    'MORootCertificate',
    'OEMRootCertificate',
  ],
  central: 'CSMSRootCertificate',
  own: ownUses,
  shown: 'ChargingStationCertificate',
};
