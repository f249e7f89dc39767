/** SecurityCtrlr, what ISO15118Ctrlr has of certificates, and what a pending firmware update does to new sessions. */
import type { VariableFacts, VariableRow } from '../model.ts';

/** Certificates installed at a time, those of the station itself included. */
export const maxCertificates = 20;
/** of `certificateChain`, octets; also the limit of the schema */
const maxChainSize = 10_000;
/** ub-organization-name of X.520 */
const organizationLength = 64;

const security = (row: Omit<VariableRow, 'component'>): VariableRow => ({ component: 'SecurityCtrlr', ...row });

const securityCtrlrRows: readonly VariableRow[] = [
  security({ variable: 'AdditionalRootCertificateCheck', type: 'boolean', mutability: 'ReadOnly', initial: 'false' }),
  security({ variable: 'AllowCSMSTLSWildcards', type: 'boolean', mutability: 'ReadWrite', initial: 'true' }),
  security({
    variable: 'CertificateEntries',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: '0',
    max: maxCertificates,
  }),
  security({
    variable: 'CertSigningRepeatTimes',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '3',
    min: 0,
    max: 10,
  }),
  security({
    variable: 'CertSigningWaitMinimum',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 1,
    max: 86_400,
  }),
  security({ variable: 'Identity', type: 'string', mutability: 'ReadOnly', initial: '' }),
  security({
    variable: 'MaxCertificateChainSize',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: String(maxChainSize),
    max: maxChainSize,
  }),
  security({
    variable: 'OrganizationName',
    type: 'string',
    mutability: 'ReadWrite',
    initial: ({ nameplate }) => nameplate.vendor.slice(0, organizationLength),
    min: 1,
    max: organizationLength,
  }),
  security({
    variable: 'SecurityProfile',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: ({ securityProfile }) => String(securityProfile),
    min: 0,
    max: 3,
  }),
];

/** DC, and bidirectional AC: the connectors over which vehicles speak ISO 15118. */
const speaksIso15118 = ({ ratings }: VariableFacts): boolean =>
  ratings.some(({ type, bidirectional }) => type === 'dc' || bidirectional);

/** Of the station: it has one certificate for all its EVSEs. */
const iso15118 = (
  row: Pick<VariableRow, 'variable' | 'type' | 'mutability' | 'min' | 'max'> & {
    readonly initial: (facts: VariableFacts) => string;
  },
): VariableRow => ({
  component: 'ISO15118Ctrlr',
  ...row,
  initial: (facts) => (speaksIso15118(facts) ? row.initial(facts) : null),
});

const iso15118Rows: readonly VariableRow[] = [
  iso15118({
    variable: 'ContractCertificateInstallationEnabled',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: () => 'false',
  }),
  iso15118({
    variable: 'CountryName',
    type: 'string',
    mutability: 'ReadWrite',
    initial: () => 'DE',
    min: 2,
    max: 2,
  }),
  iso15118({
    variable: 'OrganizationName',
    type: 'string',
    mutability: 'ReadWrite',
    initial: ({ nameplate }) => nameplate.vendor.slice(0, organizationLength),
    min: 1,
    max: organizationLength,
  }),
  iso15118({
    variable: 'SeccId',
    type: 'string',
    mutability: 'ReadWrite',
    initial: ({ nameplate: { serialNumber, model } }) => serialNumber ?? model,
    min: 1,
    max: 64,
  }),
  iso15118({
    variable: 'V2GCertificateInstallationEnabled',
    type: 'boolean',
    mutability: 'ReadWrite',
    initial: () => 'true',
  }),
];

export const securityRows: readonly VariableRow[] = [
  ...securityCtrlrRows,
  ...iso15118Rows,
  {
    component: 'ChargingStation',
    variable: 'AllowNewSessionsPendingFirmwareUpdate',
    type: 'boolean',
    mutability: 'ReadWrite',
    initial: 'false',
  },
];
