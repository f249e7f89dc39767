/**
 * Certificates of a station and their requests (A02, A03, M03 to M05), security events and the security log (A04, N01).
 * The vehicles of the simulator have no contract certificate, so the station never sends Get15118EVCertificate,
 * GetCertificateStatus or GetCertificateChainStatus by itself.
 */
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { hashDataOf, isIssuedBy, isSelfIssued, rootHashData, sameHashData } from '../security/certificates.ts';
import type { CertificateHashData, HashAlgorithm, OwnCertificate, CertificateUses } from '../security/certificates.ts';
import { CertificateKeeper } from '../security/keeper.ts';
import type { CertificateFiles, SigningSubject } from '../security/keeper.ts';
import type { Network } from '../station/connection.ts';
import type { Version2 } from '../station/stack.ts';
import type { Handler, Handlers, Part, Replies, Requests, StationParts } from './parts.ts';
import { maxCertificates } from './variables/rows/controllers.ts';
import { errorText } from '../../core/errors.ts';
import { createEventLog, securityEventTableOf } from '../security/events.ts';
import type { EventLog, FailureEvents, SecurityEventRow } from '../security/events.ts';

// Uses of certificates in 2.x.

/** OEMRootCertificate is of 2.1: the schema of 2.0.1 refuses it. */
export type RootUse = Requests['InstallCertificate']['certificateType'];
/** V2G20Certificate of 2.1 is for ISO 15118-20 alone, which needs another kind of key: it is not supported. */
type OwnUse = 'ChargingStationCertificate' | 'V2GCertificate';
type Keeper = CertificateKeeper<RootUse, OwnUse>;

const ownUses: readonly OwnUse[] = ['ChargingStationCertificate', 'V2GCertificate'];

const centralUse = 'CSMSRootCertificate' satisfies RootUse;
const presentedUse = 'ChargingStationCertificate' satisfies OwnUse;
const rootUses: readonly RootUse[] = [
  centralUse,
  'ManufacturerRootCertificate',
  'V2GRootCertificate',
  'MORootCertificate',
];

function certificateUsesOf(version: Version2): CertificateUses<RootUse, OwnUse> {
  return {
    roots: version === 'ocpp2.1' ? [...rootUses, 'OEMRootCertificate'] : rootUses,
    central: centralUse,
    own: ownUses,
    presented: presentedUse,
  };
}

interface Signing {
  /** True if a certificate of this use can be requested: by OrganizationName or V2GCertificateInstallationEnabled. */
  can(use: OwnUse): boolean;
  /** Sends SignCertificate now, and ends the wait of an earlier request. */
  begin(use: OwnUse, options?: { readonly triggered?: boolean }): Promise<void>;
  /** The certificate was received: cancels further requests. */
  done(use: OwnUse): void;
  stop(): void;
}

/** maximum length of `serialNumber` in BootNotification */
const serialLength = 25;

const isV2g = (use: OwnUse) => use === 'V2GCertificate';

/** country code of ISO 3166-1 for a certificate; null: the text is not one */
const countryOf = (text: string) => (/^[A-Z]{2}$/.test(text) ? text : null);

function subjectOf({ variables, device, id }: StationParts, use: OwnUse): SigningSubject {
  if (isV2g(use))
    return {
      commonName: variables.text('ISO15118Ctrlr', 'SeccId'),
      organization: variables.text('ISO15118Ctrlr', 'OrganizationName') || null,
      country: countryOf(variables.text('ISO15118Ctrlr', 'CountryName')),
      // ISO 15118-2 requires it in certificates of charging stations
      domainComponent: 'CPO',
    };
  return {
    // as in BootNotification
    commonName: device.nameplate.serialNumber?.slice(0, serialLength) ?? id,
    organization: variables.text('SecurityCtrlr', 'OrganizationName') || null,
  };
}

/** The newest root of ISO 15118 shows the central system which authority is to sign (2.1). */
function rootOf({ version }: StationParts, use: OwnUse, { installed }: Keeper) {
  const root = installed.filter((each) => each.use === 'V2GRootCertificate').at(-1);
  if (version !== 'ocpp2.1' || !isV2g(use) || root === undefined) return {};
  return { hashRootCertificate: rootHashData(root, installed) };
}

function createSigning(parts: StationParts, keeper: Keeper): Signing {
  const { variables, version, random, calls, later, log, device } = parts;
  const waits = new Map<OwnUse, () => void>();
  const end = (use: OwnUse) => {
    waits.get(use)?.();
    waits.delete(use);
  };
  const send = async (use: OwnUse, triggered: boolean): Promise<boolean> => {
    const requestId = version === 'ocpp2.1' ? Math.floor(random.next() * 2 ** 31) : null;
    const csr = await keeper.request(use, subjectOf(parts, use), requestId);
    const request: Requests['SignCertificate'] = {
      csr,
      certificateType: use,
      ...(requestId !== null && { requestId }),
      ...rootOf(parts, use, keeper),
    };
    const outcome = await calls.send('SignCertificate', request, { triggered });
    if (outcome.kind !== 'result') log.warning('the request to sign a certificate failed', device.deviceIndex);
    else if (outcome.payload.status === 'Rejected')
      log.warning('the central system rejects the request to sign a certificate', device.deviceIndex);
    return outcome.kind !== 'result' || outcome.payload.status === 'Accepted';
  };
  /** @param repeats number of earlier requests. A02.FR.17 to FR.19: each wait is twice the one before */
  const attempt = async (use: OwnUse, triggered: boolean, repeats: number): Promise<void> => {
    end(use);
    const ending = new AbortController();
    waits.set(use, () => {
      ending.abort();
    });
    try {
      const isOpen = await send(use, triggered);
      if (ending.signal.aborted || !isOpen || keeper.pending(use) === null) return;
    } catch (error) {
      log.error(`no request to sign a certificate could be made: ${errorText(error)}`, device.deviceIndex);
      return;
    }
    if (repeats >= variables.integer('SecurityCtrlr', 'CertSigningRepeatTimes')) return;
    const waitS = variables.integer('SecurityCtrlr', 'CertSigningWaitMinimum') * 2 ** repeats;
    waits.set(
      use,
      later(waitS * 1000, () => void attempt(use, false, repeats + 1)),
    );
  };
  return {
    can: (use) => {
      if (!isV2g(use)) return variables.text('SecurityCtrlr', 'OrganizationName') !== '';
      const enabled = ['ISO15118Ctrlr', 'V2GCertificateInstallationEnabled'] as const;
      return variables.has(...enabled) && variables.boolean(...enabled);
    },
    begin: (use, { triggered = false } = {}) => attempt(use, triggered, 0),
    done: end,
    stop: () => {
      for (const use of ownUses) end(use);
    },
  };
}

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

// InstallCertificate, GetInstalledCertificateIds and DeleteCertificate (M03 to M05).

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

function installedHandlers(parts: StationParts, keeper: Keeper): Handlers {
  return {
    InstallCertificate: (request) => install(parts, keeper, request),
    GetInstalledCertificateIds: (request) => listed(keeper, request),
    DeleteCertificate: (request) => remove(parts, keeper, request),
  };
}

export interface Certificates extends Part {
  readonly handlers: Handlers;
  readonly entries: readonly OcppCertificateEntry[];
  roots(use: RootUse): readonly X509Certificate[];
  /** Restores the previous certificate of the station after a new one failed; null: that of the settings. */
  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void;
  /** True if the certificate of a message cannot be requested now: TriggerMessage is rejected. */
  refuses(message: Requests['TriggerMessage']['requestedMessage']): boolean;
}

/** Use of the certificate that each message requests. */
const requestedUses: Readonly<Partial<Record<Requests['TriggerMessage']['requestedMessage'], OwnUse>>> = {
  SignChargingStationCertificate: 'ChargingStationCertificate',
  SignV2GCertificate: 'V2GCertificate',
};

/** Texts of ReconfigurationOfSecurityParameters for a new certificate in force. */
const replacedTexts: Readonly<Record<OwnUse, string>> = {
  ChargingStationCertificate: 'certificate of the charging station replaced',
  V2GCertificate: 'certificate of the charging station for vehicles replaced',
};

/** The use of a signed certificate; without a type, the first use with a pending key. Null: not supported. */
function useOf({ certificateType }: Requests['CertificateSigned'], keeper: Keeper): OwnUse | null {
  if (certificateType !== undefined) return ownUses.find((use) => use === certificateType) ?? null;
  return ownUses.find((use) => keeper.pending(use) !== null) ?? presentedUse;
}

/** CertificateSigned. @param renew requests the next certificate before the end of this one */
function signedHandler(
  { variables, security, connection }: StationParts,
  keeper: Keeper,
  signing: Signing,
  renew: (use: OwnUse) => void,
): Handler<'CertificateSigned'> {
  /** Puts a certificate into force. @returns its use, or the reason of the refusal */
  const adopt = (request: Requests['CertificateSigned']): OwnUse | { readonly why: string } => {
    const use = useOf(request, keeper);
    if (use === null) return { why: 'certificates of this type are not supported' };
    const pending = keeper.pending(use);
    if (request.requestId !== undefined && pending !== null && pending.requestId !== request.requestId)
      return { why: 'the certificate is for another request' };
    const why = keeper.adopt(use, request.certificateChain, {
      maxBytes: variables.integer('SecurityCtrlr', 'MaxCertificateChainSize'),
      anchors: use === 'V2GCertificate' ? keeper.roots('V2GRootCertificate') : null,
    });
    return why === null ? use : { why };
  };
  return (request, after) => {
    const use = adopt(request);
    if (typeof use === 'object') {
      security.raise('InvalidChargingStationCertificate', use.why);
      return { status: 'Rejected', statusInfo: { reasonCode: 'InvalidCertificate', additionalInfo: use.why } };
    }
    signing.done(use);
    renew(use);
    security.raise('ReconfigurationOfSecurityParameters', replacedTexts[use]);
    if (use === presentedUse && connection.securityProfile === 3)
      after(() => {
        connection.reconnect('a new certificate of the charging station');
      });
    return { status: 'Accepted' };
  };
}

const wildcards = ['SecurityCtrlr', 'AllowCSMSTLSWildcards'] as const;

/**
 * @param initial certificates of the flags; they count until the central system installs others
 * @param network where certificates of the central system are checked
 */
export function createCertificates(
  parts: StationParts,
  initial: CertificateFiles,
  network: Pick<Network, 'setWildcards'>,
): Certificates {
  const { variables, version, security, connection, id } = parts;
  const keeper: Keeper = new CertificateKeeper(parts, certificateUsesOf(version), initial);
  const signing = createSigning(parts, keeper);
  const renew = (use: OwnUse) => {
    if (signing.can(use)) keeper.planRenewal(use, () => void signing.begin(use));
  };
  variables.provide('SecurityCtrlr', 'CertificateEntries', () => String(keeper.entries.length));
  variables.provide('SecurityCtrlr', 'SecurityProfile', () => String(connection.securityProfile));
  variables.provide('SecurityCtrlr', 'Identity', () => id);
  const endAccepted = parts.registration.onAccepted(() => {
    for (const use of ownUses) renew(use);
  });
  const endWildcards = variables.onChange(...wildcards, (value) => {
    network.setWildcards(value === 'true');
  });
  const triggered = { triggered: true };
  return {
    handlers: {
      ...installedHandlers(parts, keeper),
      CertificateSigned: signedHandler(parts, keeper, signing, renew),
    },
    triggers: {
      SignChargingStationCertificate: () => void signing.begin('ChargingStationCertificate', triggered),
      ...(variables.has('ISO15118Ctrlr', 'V2GCertificateInstallationEnabled') && {
        SignV2GCertificate: () => void signing.begin('V2GCertificate', triggered),
      }),
    },
    refuses: (message) => {
      const use = requestedUses[message];
      return use !== undefined && !signing.can(use);
    },
    get entries() {
      return keeper.entries;
    },
    roots: (use) => keeper.roots(use),
    restoreOwn: (material) => {
      const discarded = keeper.own(presentedUse)?.pem;
      keeper.restorePresented(material);
      const isChanged = discarded !== keeper.own(presentedUse)?.pem;
      if (isChanged && version === 'ocpp2.1')
        security.raise('DiscardedRenewedClientCertificate', 'no connection was made with it');
    },
    load: () => {
      network.setWildcards(variables.boolean(...wildcards));
      return keeper.load();
    },
    stop: () => {
      endAccepted();
      endWildcards();
      signing.stop();
      keeper.stop();
    },
  };
}

// Security events of the appendices of 2.0.1 and 2.1. Critical ones reach the central system (A04).

export const securityEventTable = [
  { type: 'FirmwareUpdated', critical: true },
  { type: 'FailedToAuthenticateAtCsms', critical: false },
  { type: 'CsmsFailedToAuthenticate', critical: false },
  { type: 'SettingSystemTime', critical: true },
  { type: 'StartupOfTheDevice', critical: true },
  { type: 'ResetOrReboot', critical: true },
  { type: 'SecurityLogWasCleared', critical: true },
  { type: 'ReconfigurationOfSecurityParameters', critical: false },
  { type: 'MemoryExhaustion', critical: true },
  { type: 'InvalidMessages', critical: false },
  { type: 'AttemptedReplayAttacks', critical: false },
  { type: 'TamperDetectionActivated', critical: true },
  { type: 'InvalidFirmwareSignature', critical: true },
  { type: 'InvalidFirmwareSigningCertificate', critical: true },
  { type: 'InvalidCsmsCertificate', critical: true },
  { type: 'InvalidChargingStationCertificate', critical: true },
  { type: 'InvalidTLSVersion', critical: true },
  { type: 'InvalidTLSCipherSuite', critical: true },
  // raised by a station of 2.1 only
  { type: 'DiscardedRenewedClientCertificate', critical: true },
  { type: 'MaintenanceLoginAccepted', critical: true },
  { type: 'MaintenanceLoginFailed', critical: true },
] as const satisfies readonly SecurityEventRow[];

export const { isCritical, isReported } = securityEventTableOf(securityEventTable);

const failures = {
  certificate: 'InvalidCsmsCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCsms',
} as const satisfies FailureEvents;

/** Variables whose change is a security event. */
const securityVariables = [
  ['SecurityCtrlr', 'BasicAuthPassword'],
  ['SecurityCtrlr', 'OrganizationName'],
  ['SecurityCtrlr', 'AllowCSMSTLSWildcards'],
  ['SecurityCtrlr', 'AdditionalRootCertificateCheck'],
] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): EventLog {
  const { variables, calls } = parts;
  return createEventLog(parts, {
    isCritical,
    isReported,
    failures,
    send: (report) => calls.send('SecurityEventNotification', report),
    watch: (changed) =>
      securityVariables.map(([component, variable]) =>
        variables.onChange(component, variable, () => {
          changed(`${component}.${variable}`);
        }),
      ),
  });
}
