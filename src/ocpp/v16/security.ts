/** Security events and certificates of a 1.6 station (white paper 1.6, use cases A02, A03, M03 to M05). */
import type { X509Certificate } from 'node:crypto';
import type { OcppCertificateEntry } from '../../contract/ocpp.ts';
import { errorText } from '../../core/errors.ts';
import type { After, CallOptions } from '../rpc/model.ts';
import { rootHashData } from '../security/certificates.ts';
import type { CertificateUses } from '../security/certificates.ts';
import { createEventLog, securityEventTableOf } from '../security/events.ts';
import type { EventLog, FailureEvents, SecurityEventRow } from '../security/events.ts';
import { CertificateKeeper } from '../security/keeper.ts';
import type { CertificateFiles } from '../security/keeper.ts';
import type { Handlers, Part, Replies, Requests, StationParts } from './parts.ts';

// Security events of the white paper "Improved security for OCPP 1.6-J", edition 3, section 5.

/** `reported`: sent though not critical, as use cases A02, A03, L01 and M05 require. */
export const securityEventTable = [
  { type: 'FirmwareUpdated', critical: true },
  { type: 'FailedToAuthenticateAtCentralSystem', critical: false },
  { type: 'CentralSystemFailedToAuthenticate', critical: false },
  { type: 'SettingSystemTime', critical: true },
  { type: 'StartupOfTheDevice', critical: true },
  { type: 'ResetOrReboot', critical: true },
  { type: 'SecurityLogWasCleared', critical: true },
  { type: 'ReconfigurationOfSecurityParameters', critical: false },
  { type: 'MemoryExhaustion', critical: true },
  { type: 'InvalidMessages', critical: false },
  { type: 'AttemptedReplayAttacks', critical: false },
  { type: 'TamperDetectionActivated', critical: true },
  { type: 'InvalidFirmwareSignature', critical: false, reported: true },
  { type: 'InvalidFirmwareSigningCertificate', critical: false, reported: true },
  { type: 'InvalidCentralSystemCertificate', critical: false, reported: true },
  { type: 'InvalidChargePointCertificate', critical: false, reported: true },
  { type: 'InvalidTLSVersion', critical: false, reported: true },
  { type: 'InvalidTLSCipherSuite', critical: false, reported: true },
] as const satisfies readonly SecurityEventRow[];

export const { isCritical, isReported } = securityEventTableOf(securityEventTable);

// SecurityEventNotification and the security log (white paper 1.6, use cases A04 and N01).

export { securityLogCapacity } from '../security/events.ts';
export type { SecurityLogEntry } from '../security/events.ts';

const failures = {
  certificate: 'InvalidCentralSystemCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCentralSystem',
} as const satisfies FailureEvents;

/** Keys whose change raises a security event. */
const securityKeys = ['AuthorizationKey', 'CpoName', 'SecurityProfile'] as const;

/** @param parts all of a station except the security events */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): EventLog {
  const { keys, calls } = parts;
  return createEventLog(parts, {
    isCritical,
    isReported,
    failures,
    send: (report) => calls.send('SecurityEventNotification', report),
    watch: (changed) =>
      securityKeys.map((key) =>
        keys.onChange(key, () => {
          changed(key);
        }),
      ),
  });
}

export type { CertificateFiles } from '../security/keeper.ts';

type RootUse = Requests['InstallCertificate']['certificateType'];
const ownUse = 'ChargePointCertificate';
type Keeper = CertificateKeeper<RootUse, typeof ownUse>;

const uses: CertificateUses<RootUse, typeof ownUse> = {
  roots: ['CentralSystemRootCertificate', 'ManufacturerRootCertificate'],
  central: 'CentralSystemRootCertificate',
  own: [ownUse],
  presented: ownUse,
  storedNames: {
    CentralSystemRootCertificate: 'CSMSRootCertificate',
    ChargePointCertificate: 'ChargingStationCertificate',
  },
};

export interface Certificates extends Part {
  readonly handlers: Handlers;
  readonly entries: readonly OcppCertificateEntry[];
  roots(use: RootUse): readonly X509Certificate[];
  /** Restores the previous certificate of the station after a new one has failed; null: that of the settings. */
  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void;
  /** true: CpoName is set, which a request to sign needs (A02) */
  readonly canSign: boolean;
  /**
   * Sends SignCertificate with a new key: on ExtendedTriggerMessage SignChargePointCertificate, and before the expiry.
   */
  sign(options?: CallOptions & { readonly triggered?: boolean }): Promise<void>;
}

/** CiString25 of chargePointSerialNumber */
const serialLength = 25;

/** InstallCertificate, GetInstalledCertificateIds and DeleteCertificate. */
function rootHandlers({ keys, security, connection }: StationParts, keeper: Keeper) {
  const install = ({ certificateType: use, certificate }: Requests['InstallCertificate']) => {
    const outcome = keeper.install(use, certificate, {
      max: keys.integer('CertificateStoreMaxLength'),
      replaces: keys.boolean('AdditionalRootCertificateCheck'),
    });
    if (typeof outcome === 'object' && use === uses.central)
      security.raise('InvalidCentralSystemCertificate', outcome.why);
    if (outcome === 'installed') security.raise('ReconfigurationOfSecurityParameters', `${use} installed`);
    return outcome === 'installed' || outcome === 'present' ? 'Accepted' : 'Rejected';
  };
  const installedIds = ({
    certificateType: use,
  }: Requests['GetInstalledCertificateIds']): Replies['GetInstalledCertificateIds'] => {
    const roots = keeper.installed;
    const hashes = roots.filter((root) => root.use === use).map((root) => rootHashData(root, roots));
    return hashes.length === 0 ? { status: 'NotFound' } : { status: 'Accepted', certificateHashData: hashes };
  };
  const remove = ({ certificateHashData }: Requests['DeleteCertificate']) => {
    // without a root certificate, connections of profiles 2 and 3 would fail from then on
    const outcome = keeper.remove(certificateHashData, connection.securityProfile >= 2);
    if (outcome === 'removed') security.raise('ReconfigurationOfSecurityParameters', 'root certificate deleted');
    return ({ removed: 'Accepted', unknown: 'NotFound', last: 'Failed' } as const)[outcome];
  };
  return {
    InstallCertificate: (request) => ({ status: install(request) }),
    GetInstalledCertificateIds: installedIds,
    DeleteCertificate: (request) => ({ status: remove(request) }),
  } satisfies Handlers;
}

/** @param initial certificates of the settings, used until the central system installs others */
export function createCertificates(parts: StationParts, initial: CertificateFiles): Certificates {
  const { keys, device, id, log, calls, security, connection } = parts;
  const keeper: Keeper = new CertificateKeeper(parts, uses, initial);
  const canSign = () => keys.text('CpoName') !== '';

  const sign = async (options: CallOptions & { readonly triggered?: boolean } = {}): Promise<void> => {
    try {
      const csr = await keeper.request(ownUse, {
        // same text as in BootNotification
        commonName: device.nameplate.serialNumber?.slice(0, serialLength) ?? id,
        organization: keys.text('CpoName') || null,
      });
      const outcome = await calls.send('SignCertificate', { csr }, options);
      if (outcome.kind !== 'result') log.warning('the request to sign a certificate failed', device.deviceIndex);
      else if (outcome.payload.status === 'Rejected')
        log.warning('the central system rejects the request to sign a certificate', device.deviceIndex);
    } catch (error) {
      log.error(`no request to sign a certificate could be made: ${errorText(error)}`, device.deviceIndex);
    }
  };
  /**
   * Requests the next certificate before the end of the present one. Call it once per connection and per new
   * certificate.
   */
  const renew = () => {
    if (canSign()) keeper.planRenewal(ownUse, () => void sign());
  };
  const signed = ({ certificateChain }: Requests['CertificateSigned'], after: After) => {
    const issue = keeper.adopt(ownUse, certificateChain, { maxBytes: keys.integer('CertificateSignedMaxChainSize') });
    if (issue !== null) {
      security.raise('InvalidChargePointCertificate', issue);
      return 'Rejected';
    }
    renew();
    security.raise('ReconfigurationOfSecurityParameters', 'certificate of the charge point replaced');
    if (connection.securityProfile === 3)
      after(() => {
        connection.reconnect('a new certificate of the charge point');
      });
    return 'Accepted';
  };
  const endAccepted = parts.registration.onAccepted(renew);

  return {
    handlers: {
      ...rootHandlers(parts, keeper),
      CertificateSigned: (request, after) => ({ status: signed(request, after) }),
    },
    get entries() {
      return keeper.entries;
    },
    get canSign() {
      return canSign();
    },
    roots: (use) => keeper.roots(use),
    restoreOwn: (restored) => {
      keeper.restorePresented(restored);
    },
    sign,
    load: () => keeper.load(),
    stop() {
      endAccepted();
      keeper.stop();
    },
  };
}
