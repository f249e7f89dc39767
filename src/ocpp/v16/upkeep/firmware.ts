/**
 * UpdateFirmware (OCPP 1.6 5.19) and SignedUpdateFirmware (white paper L01). The version of an installed firmware stands
 * in BootNotification; the register of the device keeps its own.
 */
import { errorText } from '../../../core/errors.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { withRetries } from '../../files/attempts.ts';
import { shownLocation } from '../../files/locations.ts';
import { TransferError } from '../../files/model.ts';
import type { FileTransfer } from '../../files/model.ts';
import { anchorIssue } from '../../pki/chain.ts';
import { errorCode } from '../../rpc/errors.ts';
import { CallError } from '../../rpc/model.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { After } from '../../rpc/model.ts';
import type { Availability, Handlers, Part, Replies, Requests, StationParts, Transactions } from '../parts.ts';
import { createSaver } from '../../station/saver.ts';
import type { Certificates } from '../security/certificates.ts';
import { createConnectorHold } from './connector-hold.ts';
import { firmwareFileOf, headerOctets, nextVersion } from './firmware-file.ts';
import { firmwareStatus, firmwareStep, signedFirmwareStatus } from './firmware-states.ts';
import type { FirmwareEvent, FirmwarePhase, SignedFirmwareStatus } from './firmware-states.ts';
import { keptUpdate, updateOf } from './firmware-update.ts';
import type { Update, UpdateRequest } from './firmware-update.ts';
import { createOutbox } from './outbox.ts';
import { waitFor } from './waits.ts';

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

interface Fetched {
  readonly name: string;
  readonly head: Buffer;
  readonly octets: number;
}

type StatusAction = 'FirmwareStatusNotification' | 'SignedFirmwareStatusNotification';

const defaultInstallMs = 10_000;
/** The last report goes out before the line drops. */
const beforeRestartMs = 1_000;
const triggered = { triggered: true } as const;

export function createFirmware(parts: StationParts, deps: FirmwareDeps): Firmware {
  return new FirmwarePart(parts, deps);
}

class FirmwarePart implements Firmware {
  readonly handlers: Handlers;
  readonly #parts: StationParts;
  readonly #deps: FirmwareDeps;
  readonly #outbox;
  readonly #hold;
  readonly #saver;
  readonly #ends: (() => void)[];
  #phase: FirmwarePhase = 'idle';
  #version: string;
  /** of the update under way, or the last one; null: unsigned or none */
  #requestId: number | null = null;
  /** under way, until its installation begins; null: none, or it would not be taken up again */
  #update: Update | null = null;
  /** the new version is in force, and the central system has not accepted it yet */
  #restarted = false;
  #ending = new AbortController();

  constructor(parts: StationParts, deps: FirmwareDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#version = parts.device.nameplate.firmwareVersion;
    this.#outbox = createOutbox<StatusAction>({ parts, capacity: 50, repeatMs: null });
    this.#hold = createConnectorHold(parts, deps.availability, deps.transactions);
    this.#saver = createSaver(parts.store('firmware'), () => [this.#state()], parts.log);
    this.#ends = [
      parts.registration.onAccepted(() => {
        if (this.#restarted) this.#installed();
        else this.#resume();
      }),
    ];
    this.handlers = {
      UpdateFirmware: (request, after) => this.#unsigned(request, after),
      SignedUpdateFirmware: (request, after) => ({ status: this.#signed(request, after) }),
    };
  }

  get version(): string {
    return this.#version;
  }

  async load(): Promise<void> {
    const [kept] = await this.#parts.store('firmware').read();
    if (typeof kept !== 'object' || kept === null || !('version' in kept)) return;
    const { version, requestId, restarting, update } = kept;
    if (typeof version === 'string') this.#version = version;
    this.#requestId = typeof requestId === 'number' ? requestId : null;
    this.#update = keptUpdate(update);
    if (restarting !== true) return;
    this.#phase = 'rebooting';
    this.#restarted = true;
  }

  #state(): JsonValue {
    const update = (this.#update?.asked ?? null) as unknown as JsonValue;
    return { version: this.#version, requestId: this.#requestId, restarting: this.#restarted, update };
  }

  stop(): void {
    this.#ending.abort();
    for (const end of this.#ends) end();
    this.#outbox.stop();
    this.#hold.release();
  }

  report(signed: boolean): void {
    const { calls } = this.#parts;
    const phase = this.#phase;
    if (signed && (phase === 'idle' || this.#requestId !== null))
      void calls.send('SignedFirmwareStatusNotification', this.#signedStatus(signedFirmwareStatus(phase)), triggered);
    else void calls.send('FirmwareStatusNotification', { status: firmwareStatus(phase) }, triggered);
  }

  /** requestId is in all but Idle (L01.FR.20). */
  #signedStatus(status: SignedFirmwareStatus): Requests['SignedFirmwareStatusNotification'] {
    return { status, ...(status !== 'Idle' && this.#requestId !== null && { requestId: this.#requestId }) };
  }

  #unsigned(request: Requests['UpdateFirmware'], after: After): Replies['UpdateFirmware'] {
    if (this.#busy)
      throw new CallError(errorCode('ocpp1.6', 'generic'), 'an installation is under way and cannot be cancelled');
    this.#accept({ action: 'UpdateFirmware', request }, after);
    return {};
  }

  #signed(request: Requests['SignedUpdateFirmware'], after: After): Replies['SignedUpdateFirmware']['status'] {
    const { clock, security } = this.#parts;
    const chain = certificatesOf(request.firmware.signingCertificate);
    const roots = this.#deps.certificates.roots('ManufacturerRootCertificate');
    const issue = chain === null ? 'it is not in PEM form' : anchorIssue(chain, roots, clock.nowMs());
    if (issue !== null) {
      security.raise('InvalidFirmwareSigningCertificate', issue);
      return 'InvalidCertificate';
    }
    if (this.#busy) return 'Rejected';
    const cancels = this.#phase !== 'idle';
    this.#accept({ action: 'SignedUpdateFirmware', request }, after);
    return cancels ? 'AcceptedCanceled' : 'Accepted';
  }

  /** The answer first; what it begins, and the reports of it, after it. */
  #accept(asked: UpdateRequest, after: After): void {
    const update = updateOf(asked);
    if (update === null)
      throw new CallError(errorCode('ocpp1.6', 'internal'), 'the signing certificate cannot be read');
    after(() => {
      this.#begin(update);
    });
  }

  get #busy(): boolean {
    return this.#phase === 'installing' || this.#phase === 'rebooting';
  }

  #begin(update: Update): void {
    const { log, device } = this.#parts;
    this.#ending.abort();
    this.#tell('cancel');
    this.#hold.release();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    this.#requestId = update.requestId;
    this.#keep(update);
    log.info(`firmware update from ${shownLocation(update.location)}`, device.deviceIndex);
    this.#run(update, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      log.error(`the firmware update has failed: ${errorText(error)}`, device.deviceIndex);
      this.#tell('install_failed');
      this.#phase = 'idle';
      this.#keep(null);
      this.#hold.release();
    });
  }

  /** What a new process would begin again; once per change. */
  #keep(update: Update | null): void {
    if (this.#update === update) return;
    this.#update = update;
    this.#saver.save();
  }

  /** An update that an earlier process has not come to the end of. */
  #resume(): void {
    if (this.#update !== null && this.#phase === 'idle') this.#begin(this.#update);
  }

  /** Takes a step of the table and reports it. */
  #tell(event: FirmwareEvent): void {
    const step = firmwareStep(this.#phase, event);
    if (step === null) return;
    this.#phase = step.to;
    const isSigned = this.#requestId !== null;
    if (step.to === 'idle') this.#keep(null);
    if (isSigned && step.signed !== null)
      this.#outbox.push({ action: 'SignedFirmwareStatusNotification', request: this.#signedStatus(step.signed) });
    if (!isSigned && step.unsigned !== null)
      this.#outbox.push({ action: 'FirmwareStatusNotification', request: { status: step.unsigned } });
  }

  async #run(update: Update, signal: AbortSignal): Promise<void> {
    const { clock, later, log, device, security } = this.#parts;
    if (update.retrieveMs > clock.nowMs()) {
      this.#tell('schedule_download');
      await waitFor(signal, (done) => clock.at(update.retrieveMs, done));
    }
    const fetched = await this.#fetch(update, signal);
    if (fetched === null || signal.aborted) return;
    this.#tell('downloaded');
    if (update.signature !== null && !fetched.signed) {
      security.raise('InvalidFirmwareSignature', 'the signature does not fit the file and the certificate');
      this.#tell('bad_signature');
      return;
    }
    this.#tell('verified');
    const file = firmwareFileOf(fetched.name, fetched.head, fetched.octets);
    if (file.damaged) {
      this.#tell('damaged');
      return;
    }
    await this.#idle(update, signal);
    this.#tell('install');
    await waitFor(signal, (done) => later(this.#deps.installMs ?? defaultInstallMs, done));
    if (file.fails) {
      this.#tell('install_failed');
      this.#hold.release();
      return;
    }
    this.#tell('reboot');
    await waitFor(signal, (done) => later(beforeRestartMs, done));
    this.#version = file.version ?? nextVersion(this.#version);
    this.#restarted = true;
    this.#update = null;
    this.#saver.save();
    log.info(`firmware ${this.#version} is installed; the station restarts`, device.deviceIndex);
    this.#restart();
  }

  /** null: it has failed, and that is reported. */
  async #fetch(update: Update, signal: AbortSignal): Promise<(Fetched & { readonly signed: boolean }) | null> {
    const { later, log, device } = this.#parts;
    this.#tell('download');
    try {
      return await withRetries(
        {
          later,
          signal,
          retries: update.retries,
          retryIntervalS: update.retryIntervalS,
          paused: () => {
            this.#tell('pause');
          },
          resumed: () => {
            this.#tell('download');
          },
        },
        () => this.#attempt(update, signal),
      );
    } catch (error) {
      if (signal.aborted) return null;
      const why = error instanceof TransferError ? error.message : errorText(error);
      log.warning(`the firmware could not be fetched: ${why}`, device.deviceIndex);
      this.#tell('download_failed');
      return null;
    }
  }

  async #attempt({ location, signature }: Update, signal: AbortSignal) {
    let head = Buffer.alloc(0);
    const check = signature?.begin() ?? null;
    const chunk = (octets: Buffer) => {
      if (head.length < headerOctets) head = Buffer.concat([head, octets.subarray(0, headerOctets - head.length)]);
      check?.update(octets);
    };
    const { name, octets } = await this.#deps.transfer.download(location, { signal, chunk });
    return { name, octets, head, signed: check?.fits() ?? false };
  }

  /** Transactions go on to their end; meanwhile no new one begins. */
  async #idle({ installMs }: Update, signal: AbortSignal): Promise<void> {
    const { transactions } = this.#deps;
    const { clock } = this.#parts;
    const early = installMs > clock.nowMs();
    if (early || transactions.running.length > 0) this.#tell('schedule_install');
    if (early) await waitFor(signal, (done) => clock.at(installMs, done));
    this.#hold.take();
    while (transactions.running.length > 0) {
      await waitFor(signal, (done) => {
        const end = transactions.onEnded(() => {
          end();
          done();
        });
        return end;
      });
      this.#hold.take();
    }
  }

  #restart(): void {
    const { connection, log, device } = this.#parts;
    try {
      this.#deps.transactions.stopAll('Reboot');
    } catch (error) {
      log.warning(`a session goes on over the restart: ${errorText(error)}`, device.deviceIndex);
    }
    connection.restart('firmware update');
    this.#hold.release();
  }

  #installed(): void {
    this.#restarted = false;
    this.#tell('installed');
    this.#saver.save();
    this.#parts.security.raise('FirmwareUpdated', this.#version);
  }
}
