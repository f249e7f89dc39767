/** SecurityCtrlr, certificates of ISO15118Ctrlr, and new sessions while a firmware update is pending. */
import { rowsOf } from '../model.ts';
import type { VariableFacts, VariableRow } from '../model.ts';

/** Certificates installed at a time, those of the station itself included. */
export const maxCertificates = 20;
/** of `certificateChain`, octets; also the limit of the schema */
const maxChainSize = 10_000;
/** ub-organization-name of X.520 */
const organizationLength = 64;
const organization = ({ nameplate }: VariableFacts) => nameplate.vendor.slice(0, organizationLength);

const security = rowsOf('SecurityCtrlr');
/** Of the station, which has one certificate for all its EVSEs: DC, and bidirectional AC, over which vehicles speak it. */
const iso15118 = rowsOf('ISO15118Ctrlr', {
  where: ({ ratings }) => ratings.some(({ type, bidirectional }) => type === 'dc' || bidirectional),
});

export const securityRows: readonly VariableRow[] = [
  security.readOnly('AdditionalRootCertificateCheck', 'boolean', false),
  security.readWrite('AllowCSMSTLSWildcards', 'boolean', true),
  security.readOnly('CertificateEntries', 'integer', 0, { max: maxCertificates }),
  security.readWrite('CertSigningRepeatTimes', 'integer', 3, { min: 0, max: 10 }),
  security.readWrite('CertSigningWaitMinimum', 'integer', 60, { unit: 's', min: 1, max: 86_400 }),
  security.readOnly('Identity', 'string', ''),
  security.readOnly('MaxCertificateChainSize', 'integer', maxChainSize, { max: maxChainSize }),
  security.readWrite('OrganizationName', 'string', organization, { min: 1, max: organizationLength }),
  security.readOnly('SecurityProfile', 'integer', (facts) => String(facts.securityProfile), { min: 0, max: 3 }),

  iso15118.readOnly('ContractCertificateInstallationEnabled', 'boolean', false),
  iso15118.readWrite('CountryName', 'string', 'DE', { min: 2, max: 2 }),
  iso15118.readWrite('OrganizationName', 'string', organization, { min: 1, max: organizationLength }),
  iso15118.readWrite('SeccId', 'string', ({ nameplate: { serialNumber, model } }) => serialNumber ?? model, {
    min: 1,
    max: 64,
  }),
  iso15118.readWrite('V2GCertificateInstallationEnabled', 'boolean', true),

  rowsOf('ChargingStation').readWrite('AllowNewSessionsPendingFirmwareUpdate', 'boolean', false),
];
