/**
 * Certificates of a station (A02, A03, M03 to M05). The vehicles of the simulator have no contract certificate, so the
 * station never sends Get15118EVCertificate, GetCertificateStatus or GetCertificateChainStatus by itself.
 */
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../../contract/ocpp.ts';
import { CertificateKeeper } from '../../pki/keeper.ts';
import type { CertificateFiles } from '../../pki/keeper.ts';
import type { Network } from '../../station/network.ts';
import type { Handler, Handlers, Part, Requests, StationParts } from '../parts.ts';
import { installedHandlers } from './installed.ts';
import { createSigning } from './signing.ts';
import type { Signing } from './signing.ts';
import { certificateUses, ownUses } from './uses.ts';
import type { Keeper, OwnUse, RootUse } from './uses.ts';

export type { CertificateFiles } from '../../pki/keeper.ts';
export type { OwnUse, RootUse } from './uses.ts';

export interface Certificates extends Part {
  readonly handlers: Handlers;
  readonly entries: readonly OcppCertificateEntry[];
  roots(use: RootUse): readonly X509Certificate[];
  /** The own certificate as it is in force, after another one has failed. Null: that of the settings. */
  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void;
  /** A certificate cannot be asked for now: TriggerMessage is rejected. */
  refuses(message: Requests['TriggerMessage']['requestedMessage']): boolean;
}

/** The certificate that each message asks for. */
const askedUses: Readonly<Partial<Record<Requests['TriggerMessage']['requestedMessage'], OwnUse>>> = {
  SignChargingStationCertificate: 'ChargingStationCertificate',
  SignV2GCertificate: 'V2GCertificate',
};

/** Of ReconfigurationOfSecurityParameters, when a new certificate is in force. */
const replacedTexts: Readonly<Record<OwnUse, string>> = {
  ChargingStationCertificate: 'certificate of the charging station replaced',
  V2GCertificate: 'certificate of the charging station for vehicles replaced',
};

/** Without a type the certificate is that of the key which waits, the one of the connection first; null: not supported. */
function useOf({ certificateType }: Requests['CertificateSigned'], keeper: Keeper): OwnUse | null {
  if (certificateType !== undefined) return ownUses.find((use) => use === certificateType) ?? null;
  return ownUses.find((use) => keeper.pending(use) !== null) ?? certificateUses.shown;
}

/** CertificateSigned. @param renew asks for the next certificate before the end of this one */
function signedHandler(
  { variables, security, connection }: StationParts,
  keeper: Keeper,
  signing: Signing,
  renew: (use: OwnUse) => void,
): Handler<'CertificateSigned'> {
  /** The use of the certificate that is in force now, or why it is not. */
  const adopted = (request: Requests['CertificateSigned']): OwnUse | { readonly why: string } => {
    const use = useOf(request, keeper);
    if (use === null) return { why: 'certificates of this type are not supported' };
    const pending = keeper.pending(use);
    if (request.requestId !== undefined && pending !== null && pending.requestId !== request.requestId)
      return { why: 'it is for another request' };
    const why = keeper.adopt(use, request.certificateChain, {
      maxBytes: variables.integer('SecurityCtrlr', 'MaxCertificateChainSize'),
      anchors: use === 'V2GCertificate' ? keeper.roots('V2GRootCertificate') : null,
    });
    return why === null ? use : { why };
  };
  return (request, after) => {
    const use = adopted(request);
    if (typeof use === 'object') {
      security.raise('InvalidChargingStationCertificate', use.why);
      return { status: 'Rejected', statusInfo: { reasonCode: 'InvalidCertificate', additionalInfo: use.why } };
    }
    signing.done(use);
    renew(use);
    security.raise('ReconfigurationOfSecurityParameters', replacedTexts[use]);
    if (use === certificateUses.shown && connection.securityProfile === 3)
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
  const keeper: Keeper = new CertificateKeeper(parts, certificateUses, initial);
  const signing = createSigning(parts, keeper);
  const renew = (use: OwnUse) => {
    if (signing.can(use)) keeper.renew(use, () => void signing.begin(use));
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
      const use = askedUses[message];
      return use !== undefined && !signing.can(use);
    },
    get entries() {
      return keeper.entries;
    },
    roots: (use) => keeper.roots(use),
    restoreOwn: (own) => {
      const discarded = keeper.own(certificateUses.shown)?.pem;
      keeper.restoreShown(own);
      const isOther = discarded !== keeper.own(certificateUses.shown)?.pem;
      if (isOther && version === 'ocpp2.1')
        security.raise('DiscardedRenewedClientCertificate', 'no connection came about with it');
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
