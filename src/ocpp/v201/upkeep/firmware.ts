/** UpdateFirmware and FirmwareStatusNotification (L01, L02). PublishFirmware is for local controllers and not supported. */
import type { FileTransfer } from '../../files/model.ts';
import { fullFirmwareStatus } from '../../upkeep/firmware-states.ts';
import { FirmwareUpdater } from '../../upkeep/firmware-updater.ts';
import type { FirmwareProgress } from '../../upkeep/firmware-updater.ts';
import { createOutbox } from '../../upkeep/outbox.ts';
import type {
  Availability,
  Handler,
  Handlers,
  Part,
  Requests,
  StationParts,
  Transactions,
  Version2,
} from '../parts.ts';
import type { Certificates } from '../security/certificates.ts';
import { keptOrder, orderOf, refusalOf } from './firmware-order.ts';

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
  /** the new version is in force, and the central system has not accepted it yet: the boot reason is FirmwareUpdate */
  readonly restarted: boolean;
}

type Status = Requests['FirmwareStatusNotification'];

const infoLength = 500;

/** What a step tells; null: nothing. */
function statusOf({ step, requestId, signed, why }: FirmwareProgress, version: Version2): Status | null {
  // L02: an update without a signature has nothing that could be verified
  if (step.full === null || requestId === null || (step.full === 'SignatureVerified' && !signed)) return null;
  const additionalInfo = why?.slice(0, infoLength);
  const tellsWhy = additionalInfo !== undefined && version === 'ocpp2.1';
  return {
    status: step.full,
    requestId,
    ...(tellsWhy && { statusInfo: { reasonCode: 'Unspecified', additionalInfo } }),
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
    const cancels = updater.phase !== 'idle';
    after(() => {
      updater.begin(order);
    });
    return { status: cancels ? 'AcceptedCanceled' : 'Accepted' };
  };
}

export function createFirmware(parts: StationParts, deps: FirmwareDeps): Firmware {
  const { calls, variables, version } = parts;
  const send = (status: Status) => calls.send('FirmwareStatusNotification', status);
  const outbox = createOutbox<Status>({ parts, send, capacity: 50, repeatMs: null });
  /** told last, of this process */
  let last: Status | null = null;
  const updater = new FirmwareUpdater(parts, {
    ...deps,
    stopAll: () => {
      deps.transactions.stopAll({ reason: 'Reboot', trigger: 'ResetCommand' });
    },
    newSessions: () => variables.boolean('ChargingStation', 'AllowNewSessionsPendingFirmwareUpdate'),
    restored: (asked) => keptOrder(version, asked),
    tell: (progress) => {
      const status = statusOf(progress, version);
      if (status === null) return;
      last = status;
      outbox.push(status);
    },
  });
  if (variables.has('ChargingStation', 'FirmwareVersion'))
    variables.provide('ChargingStation', 'FirmwareVersion', () => updater.version);

  /** L01.FR.25 and FR.26: Idle after Installed, else what was told last. */
  const toldAgain = (): Status => {
    const { phase, requestId } = updater;
    if (last !== null && last.status !== 'Installed') return last;
    const status = fullFirmwareStatus(phase);
    return status === 'Idle' || requestId === null ? { status: 'Idle' } : { status, requestId };
  };
  return {
    handlers: { UpdateFirmware: updateHandler(parts, deps, updater) },
    triggers: {
      FirmwareStatusNotification: () => void calls.send('FirmwareStatusNotification', toldAgain(), { triggered: true }),
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
