/** UpdateFirmware (OCPP 1.6 5.19) and SignedUpdateFirmware (white paper L01), and the messages that tell their states. */
import { certificatesOf } from '../../../core/tls/material.ts';
import type { FileTransfer } from '../../files/model.ts';
import { anchorIssue } from '../../pki/chain.ts';
import { errorCode } from '../../rpc/errors.ts';
import { CallError } from '../../rpc/model.ts';
import type { After } from '../../rpc/model.ts';
import { fullFirmwareStatus, plainFirmwareStatus } from '../../upkeep/firmware-states.ts';
import type { FullFirmwareStatus } from '../../upkeep/firmware-states.ts';
import { FirmwareUpdater } from '../../upkeep/firmware-updater.ts';
import type { FirmwareProgress } from '../../upkeep/firmware-updater.ts';
import { createOutbox } from '../../upkeep/outbox.ts';
import type { Availability, Handlers, Part, Replies, Requests, StationParts, Transactions } from '../parts.ts';
import type { Certificates } from '../security/certificates.ts';
import { keptOrder, orderOf } from './firmware-update.ts';
import type { UpdateRequest } from './firmware-update.ts';
import type { Report } from './report.ts';

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
  /** in force, for BootNotification */
  readonly version: string;
  /**
   * At a trigger. @param signed by ExtendedTriggerMessage: SignedFirmwareStatusNotification, except while an update without
   * a signature is under way; else FirmwareStatusNotification
   */
  report(signed: boolean): void;
}

type StatusAction = 'FirmwareStatusNotification' | 'SignedFirmwareStatusNotification';

const triggered = { triggered: true } as const;

/** requestId is in all but Idle (L01.FR.20). */
function signedStatus(
  status: FullFirmwareStatus,
  requestId: number | null,
): Requests['SignedFirmwareStatusNotification'] {
  return { status, ...(status !== 'Idle' && requestId !== null && { requestId }) };
}

/** What an update under way tells; null: nothing at this step. */
function reportOf({ step, requestId }: FirmwareProgress): Report<StatusAction> | null {
  if (requestId !== null)
    return step.full === null
      ? null
      : { action: 'SignedFirmwareStatusNotification', request: signedStatus(step.full, requestId) };
  return step.plain === null ? null : { action: 'FirmwareStatusNotification', request: { status: step.plain } };
}

/** Answers of both actions; the answer goes first, the update and its reports after it. */
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
    restored: keptOrder,
    tell: (progress) => {
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
