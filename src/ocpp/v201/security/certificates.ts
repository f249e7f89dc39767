/**
 * Certificates of a station and their requests (A02, A03, M03 to M05). The vehicles of the simulator have no contract
 * certificate, so the station never sends Get15118EVCertificate, GetCertificateStatus or GetCertificateChainStatus by
 * itself.
 */
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../../contract/ocpp.ts';
import { CertificateKeeper } from '../../security/keeper.ts';
import type { CertificateFiles } from '../../security/keeper.ts';
import type { Network } from '../../station/connection.ts';
import type { Handler, Handlers, Part, Requests, StationParts } from '../parts.ts';
import { installedHandlers } from './installed.ts';
import { createSigning } from './signing.ts';
import type { Signing } from './signing.ts';
import { certificateUsesOf, ownUses, presentedUse } from './uses.ts';
import type { Keeper, OwnUse, RootUse } from './uses.ts';

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
