/** UpdateFirmware and FirmwareStatusNotification (L01, L02). PublishFirmware is for local controllers alone. */
import type { X509Certificate } from 'node:crypto';
import type { JsonValue } from '../../core/store.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { createOutbox } from '../files/outbox.ts';
import type { FileTransfer } from '../files/transfer.ts';
import { fullFirmwareStatus } from '../firmware-management/states.ts';
import { firmwareSignature, FirmwareUpdater } from '../firmware-management/updater.ts';
import type { FirmwareOrder, FirmwareProgress, FirmwareSignature } from '../firmware-management/updater.ts';
import { payloadChecks } from '../rpc/schemas.ts';
import { anchorIssue } from '../security/certificates.ts';
import { instantOf } from '../station/stack.ts';
import type { Availability, Handler, Handlers, Part, Replies, Requests, StationParts, Transactions } from './parts.ts';
import type { Version2 } from '../station/stack.ts';
import type { Certificates } from './security/certificates.ts';

// UpdateFirmware: refusals, and the order from a valid request (L01, L02).

type Request = Requests['UpdateFirmware'];

/** A request that is not carried out. */
interface Refusal {
  readonly status: Exclude<Replies['UpdateFirmware']['status'], 'Accepted' | 'AcceptedCanceled'>;
  readonly reasonCode: string;
  readonly additionalInfo: string;
}

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  reasonCode,
  additionalInfo,
});

/**
 * The refusal of a request, regardless of a present update; null: none. The station gets no lists of revoked
 * certificates, so it never answers RevokedCertificate.
 * @param roots of the manufacturer
 */
function refusalOf({ firmware }: Request, roots: readonly X509Certificate[], nowMs: number): Refusal | null {
  const { location, signingCertificate, signature } = firmware;
  if (signingCertificate === undefined && signature !== undefined)
    return rejected('MissingParam', 'a signature needs a signingCertificate');
  if (signingCertificate !== undefined) {
    const chain = certificatesOf(signingCertificate);
    const issue = chain === null ? 'the signingCertificate is not in PEM form' : anchorIssue(chain, roots, nowMs);
    if (issue !== null)
      return { status: 'InvalidCertificate', reasonCode: 'InvalidCertificate', additionalInfo: issue };
    if (signature === undefined) return rejected('MissingParam', 'a signingCertificate needs a signature');
  }
  return URL.canParse(location) ? null : rejected('InvalidURL', 'the location is not a URL');
}

function signatureOf({ signingCertificate, signature }: Request['firmware']): FirmwareSignature | null {
  const [signer] = certificatesOf(signingCertificate ?? '') ?? [];
  return signer === undefined || signature === undefined ? null : firmwareSignature(signer, signature);
}

/** @param request without a refusal by `refusalOf` */
function orderOf(request: Request): FirmwareOrder {
  const { requestId, retries, retryInterval: retryIntervalS, firmware } = request;
  const { location, retrieveDateTime, installDateTime = '' } = firmware;
  return {
    request: request as unknown as JsonValue,
    location,
    retries,
    retryIntervalS,
    retrieveMs: instantOf(retrieveDateTime),
    installMs: instantOf(installDateTime),
    requestId,
    signature: signatureOf(firmware),
  };
}

/** The order of an update that an earlier process began; null: none, or the stored request does not fit its schema. */
function keptOrder(version: Version2, value: JsonValue | undefined): FirmwareOrder | null {
  if (value === undefined || payloadChecks.check(version, 'UpdateFirmware', 'request', value) !== null) return null;
  return orderOf(value as unknown as Request);
}

interface FirmwareDeps {
  readonly transfer: FileTransfer;
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'stopAll' | 'onEnded'>;
  readonly availability: Availability;
  readonly certificates: Pick<Certificates, 'roots'>;
  /** duration of an installation, ms; default 10 s */
  readonly installMs?: number;
}

export interface Firmware extends Part {
  readonly handlers: Handlers;
  /** firmware version in force, for BootNotification */
  readonly version: string;
  /** true: restarted with a new version and not accepted yet, so that the boot reason is FirmwareUpdate */
  readonly restarted: boolean;
}

type Status = Requests['FirmwareStatusNotification'];

const infoLength = 500;

/** The status that reports a step; null: the step is not reported. */
function statusOf({ step, requestId, signed, why }: FirmwareProgress, version: Version2): Status | null {
  // L02: an update without a signature has nothing that could be verified
  if (step.full === null || requestId === null || (step.full === 'SignatureVerified' && !signed)) return null;
  const additionalInfo = why?.slice(0, infoLength);
  const hasReason = additionalInfo !== undefined && version === 'ocpp2.1';
  return {
    status: step.full,
    requestId,
    ...(hasReason && { statusInfo: { reasonCode: 'Unspecified', additionalInfo } }),
  };
}

function updateHandler(
  { clock, security }: StationParts,
  { certificates }: FirmwareDeps,
  updater: FirmwareUpdater,
): Handler<'UpdateFirmware'> {
  return (request, after) => {
    const refusal = refusalOf(request, certificates.roots('ManufacturerRootCertificate'), clock.nowMs());
    if (refusal !== null) {
      const { status, ...statusInfo } = refusal;
      if (status === 'InvalidCertificate')
        security.raise('InvalidFirmwareSigningCertificate', statusInfo.additionalInfo);
      return { status, statusInfo };
    }
    if (updater.busy) return { status: 'Rejected', statusInfo: { reasonCode: 'FwUpdateInProgress' } };
    const order = orderOf(request);
    const isCancelling = updater.phase !== 'idle';
    after(() => {
      updater.begin(order);
    });
    return { status: isCancelling ? 'AcceptedCanceled' : 'Accepted' };
  };
}

export function createFirmware(parts: StationParts, deps: FirmwareDeps): Firmware {
  const { calls, variables, version } = parts;
  const send = (status: Status) => calls.send('FirmwareStatusNotification', status);
  const outbox = createOutbox<Status>({ parts, send, capacity: 50, repeatMs: null });
  /** last status that this process reported */
  let lastStatus: Status | null = null;
  const updater = new FirmwareUpdater(parts, {
    ...deps,
    stopAll: () => {
      deps.transactions.stopAll({ reason: 'Reboot', trigger: 'ResetCommand' });
    },
    newSessions: () => variables.boolean('ChargingStation', 'AllowNewSessionsPendingFirmwareUpdate'),
    restored: (request) => keptOrder(version, request),
    report: (progress) => {
      const status = statusOf(progress, version);
      if (status === null) return;
      lastStatus = status;
      outbox.push(status);
    },
  });
  if (variables.has('ChargingStation', 'FirmwareVersion'))
    variables.provide('ChargingStation', 'FirmwareVersion', () => updater.version);

  /** L01.FR.25 and FR.26: Idle after Installed, else the last reported status. */
  const repeatedStatus = (): Status => {
    const { phase, requestId } = updater;
    if (lastStatus !== null && lastStatus.status !== 'Installed') return lastStatus;
    const status = fullFirmwareStatus(phase);
    return status === 'Idle' || requestId === null ? { status: 'Idle' } : { status, requestId };
  };
  return {
    handlers: { UpdateFirmware: updateHandler(parts, deps, updater) },
    triggers: {
      FirmwareStatusNotification: () =>
        void calls.send('FirmwareStatusNotification', repeatedStatus(), { triggered: true }),
    },
    get version() {
      return updater.version;
    },
    get restarted() {
      return updater.restarted;
    },
    load: () => updater.load(),
    stop: () => {
      updater.stop();
      outbox.stop();
    },
  };
}
