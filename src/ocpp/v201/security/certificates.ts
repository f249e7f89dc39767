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

const requests: Readonly<Partial<Record<Requests['TriggerMessage']['requestedMessage'], OwnUse>>> = {
  SignChargingStationCertificate: 'ChargingStationCertificate',
  SignV2GCertificate: 'V2GCertificate',
};

const eventOf: Readonly<Record<OwnUse, string>> = {
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
  const issueOf = (use: OwnUse | null, { certificateChain, requestId }: Requests['CertificateSigned']) => {
    if (use === null) return 'certificates of this type are not supported';
    const pending = keeper.pending(use);
    if (requestId !== undefined && pending !== null && pending.requestId !== requestId)
      return 'it is for another request';
    return keeper.adopt(use, certificateChain, {
      maxBytes: variables.integer('SecurityCtrlr', 'MaxCertificateChainSize'),
      anchors: use === 'V2GCertificate' ? keeper.roots('V2GRootCertificate') : null,
    });
  };
  return (request, after) => {
    const use = useOf(request, keeper);
    const issue = issueOf(use, request);
    if (issue !== null || use === null) {
      const why = issue ?? '';
      security.raise('InvalidChargingStationCertificate', why);
      return { status: 'Rejected', statusInfo: { reasonCode: 'InvalidCertificate', additionalInfo: why } };
    }
    signing.done(use);
    renew(use);
    security.raise('ReconfigurationOfSecurityParameters', eventOf[use]);
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
      const use = requests[message];
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
