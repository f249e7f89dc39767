/** UpdateFirmware (OCPP 1.6 5.19) and SignedUpdateFirmware (white paper L01), and the reports of their states. */
import type { JsonValue } from '../../core/store.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import { createOutbox } from '../files/outbox.ts';
import type { FileTransfer } from '../files/transfer.ts';
import { fullFirmwareStatus, plainFirmwareStatus } from '../firmware-management/states.ts';
import type { FullFirmwareStatus } from '../firmware-management/states.ts';
import { firmwareSignature, FirmwareUpdater } from '../firmware-management/updater.ts';
import type { FirmwareOrder, FirmwareProgress } from '../firmware-management/updater.ts';
import { errorCode } from '../rpc/frames.ts';
import { CallError } from '../rpc/model.ts';
import type { After } from '../rpc/model.ts';
import { payloadChecks } from '../rpc/schemas.ts';
import { anchorIssue } from '../security/certificates.ts';
import type { Action, Availability, Handlers, Part, Replies, Requests, StationParts, Transactions } from './parts.ts';
import type { Certificates } from './security.ts';

// A firmware update from the request of the central system or, after a restart of the process, from the store.

type UpdateRequest =
  | { readonly action: 'UpdateFirmware'; readonly request: Requests['UpdateFirmware'] }
  | { readonly action: 'SignedUpdateFirmware'; readonly request: Requests['SignedUpdateFirmware'] };

/** @returns null: the signing certificate cannot be read */
function orderOf(update: UpdateRequest): FirmwareOrder | null {
  const { retries, retryInterval: retryIntervalS } = update.request;
  const common = { request: update as unknown as JsonValue, retries, retryIntervalS };
  if (update.action === 'UpdateFirmware') {
    const { location, retrieveDate } = update.request;
    const retrieveMs = Date.parse(retrieveDate);
    return { ...common, location, retrieveMs, installMs: NaN, requestId: null, signature: null };
  }
  const { requestId, firmware } = update.request;
  const { location, retrieveDateTime, installDateTime = '', signingCertificate, signature } = firmware;
  const [signer] = certificatesOf(signingCertificate) ?? [];
  if (signer === undefined) return null;
  return {
    ...common,
    location,
    retrieveMs: Date.parse(retrieveDateTime),
    installMs: Date.parse(installDateTime),
    requestId,
    signature: firmwareSignature(signer, signature),
  };
}

/** An update of an earlier process; null: none, or it does not fit its schema. */
function restoredOrder(value: JsonValue | undefined): FirmwareOrder | null {
  if (typeof value !== 'object' || value === null || !('action' in value)) return null;
  const { action, request } = value;
  if (action !== 'UpdateFirmware' && action !== 'SignedUpdateFirmware') return null;
  if (payloadChecks.check('ocpp1.6', action, 'request', request) !== null) return null;
  return orderOf({ action, request } as unknown as UpdateRequest);
}

/** A message that waits in an outbox. */
export interface Report<Name extends Action> {
  readonly action: Name;
  readonly request: Requests[Name];
}

export interface FirmwareDeps {
  readonly transfer: FileTransfer;
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'stopAll' | 'onEnded'>;
  readonly availability: Availability;
  readonly certificates: Pick<Certificates, 'roots'>;
  /** ms; default 10 s */
  readonly installMs?: number;
}

export interface Firmware extends Part {
  readonly handlers: Handlers;
  /** version in force, for BootNotification */
  readonly version: string;
  /**
   * Sends the status after a trigger: SignedFirmwareStatusNotification if `signed`, except during an update without a
   * signature; else FirmwareStatusNotification.
   * @param signed true: ExtendedTriggerMessage requested it
   */
  report(signed: boolean): void;
}

type StatusAction = 'FirmwareStatusNotification' | 'SignedFirmwareStatusNotification';

const triggered = { triggered: true } as const;

/** The requestId is in every status except Idle (L01.FR.20). */
function signedStatus(
  status: FullFirmwareStatus,
  requestId: number | null,
): Requests['SignedFirmwareStatusNotification'] {
  return { status, ...(status !== 'Idle' && requestId !== null && { requestId }) };
}

/** Status of a running update; null: none at this step. */
function reportOf({ step, requestId }: FirmwareProgress): Report<StatusAction> | null {
  if (requestId !== null)
    return step.full === null
      ? null
      : { action: 'SignedFirmwareStatusNotification', request: signedStatus(step.full, requestId) };
  return step.plain === null ? null : { action: 'FirmwareStatusNotification', request: { status: step.plain } };
}

/** Handlers of both actions; the update begins after the answer. */
function createHandlers(
  { clock, security }: StationParts,
  { certificates }: FirmwareDeps,
  updater: FirmwareUpdater,
): Handlers {
  const accept = (update: UpdateRequest, after: After): void => {
    const order = orderOf(update);
    if (order === null) throw new CallError(errorCode('ocpp1.6', 'internal'), 'the signing certificate cannot be read');
    after(() => {
      updater.begin(order);
    });
  };
  const signed = (
    request: Requests['SignedUpdateFirmware'],
    after: After,
  ): Replies['SignedUpdateFirmware']['status'] => {
    const chain = certificatesOf(request.firmware.signingCertificate);
    const roots = certificates.roots('ManufacturerRootCertificate');
    const issue = chain === null ? 'it is not in PEM form' : anchorIssue(chain, roots, clock.nowMs());
    if (issue !== null) {
      security.raise('InvalidFirmwareSigningCertificate', issue);
      return 'InvalidCertificate';
    }
    if (updater.busy) return 'Rejected';
    const cancels = updater.phase !== 'idle';
    accept({ action: 'SignedUpdateFirmware', request }, after);
    return cancels ? 'AcceptedCanceled' : 'Accepted';
  };
  return {
    UpdateFirmware: (request, after) => {
      if (updater.busy)
        throw new CallError(errorCode('ocpp1.6', 'generic'), 'an installation is under way and cannot be cancelled');
      accept({ action: 'UpdateFirmware', request }, after);
      return {};
    },
    SignedUpdateFirmware: (request, after) => ({ status: signed(request, after) }),
  };
}

export function createFirmware(parts: StationParts, deps: FirmwareDeps): Firmware {
  const { calls } = parts;
  const outbox = createOutbox<Report<StatusAction>>({
    parts,
    send: ({ action, request }) => calls.send(action, request),
    capacity: 50,
    repeatMs: null,
  });
  const updater = new FirmwareUpdater(parts, {
    ...deps,
    stopAll: () => {
      deps.transactions.stopAll('Reboot');
    },
    restored: restoredOrder,
    report: (progress) => {
      const report = reportOf(progress);
      if (report !== null) outbox.push(report);
    },
  });
  return {
    handlers: createHandlers(parts, deps, updater),
    get version() {
      return updater.version;
    },
    report(extended) {
      const { phase, requestId } = updater;
      const isSigned = extended && (phase === 'idle' || requestId !== null);
      const full = signedStatus(fullFirmwareStatus(phase), requestId);
      if (isSigned) void calls.send('SignedFirmwareStatusNotification', full, triggered);
      else void calls.send('FirmwareStatusNotification', { status: plainFirmwareStatus(phase) }, triggered);
    },
    load: () => updater.load(),
    stop() {
      updater.stop();
      outbox.stop();
    },
  };
}
