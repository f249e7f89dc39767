/**
 * Updates of firmware, one at a time, from the download to the restart with the new version (OCPP 1.6 5.19; white paper
 * and 2.x, L01 and L02). The version of an installed firmware stands in BootNotification; the register of the device keeps
 * its own.
 */
import { constants, createVerify } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';

import { shownLocation, TransferError, waitFor, withRetries } from '../files/transfer.ts';
import type { FileTransfer } from '../files/transfer.ts';
import type { Connection } from '../station/connection.ts';
import type { StationPort } from '../station/port.ts';
import { createSaver } from '../station/stack.ts';
import { firmwareStep } from './states.ts';
import type { FirmwareEvent, FirmwarePhase, FirmwareStep } from './states.ts';

/**
 * Content of a firmware file. Any octets count as a firmware. A first line `derbench-firmware <version>` names its
 * version, otherwise the file name does (`evse-2.4.1.bin`), otherwise the version in force gets a suffix. Two words may
 * follow the version for tests of a central system: `damaged` (the check before the installation fails) and `fails` (the
 * installation does).
 */

interface FirmwareFile {
  /** null: neither header nor file name has one */
  readonly version: string | null;
  readonly damaged: boolean;
  readonly fails: boolean;
}

/** Octets of the file that `firmwareFileOf` looks at. */
const headerOctets = 256;
/** CiString50 of BootNotification */
const versionLength = 50;

const headerPattern = /^derbench-firmware[ \t]+([\x21-\x7e]{1,50})(?:[ \t]+(damaged|fails))?[ \t]*\r?(?:\n|$)/;
const namePattern = /\d+(?:\.\d+)+(?:[-+][0-9A-Za-z]+(?:\.[0-9]+)*)?/;
const extension = /\.[A-Za-z][A-Za-z0-9]*$/;

/** @param head the first octets @param octets of the whole file */
export function firmwareFileOf(name: string, head: Buffer, octets: number): FirmwareFile {
  const header = headerPattern.exec(head.toString('latin1', 0, headerOctets));
  const [inName] = namePattern.exec(name.replace(extension, '')) ?? [];
  return {
    version: header?.[1] ?? inName?.slice(0, versionLength) ?? null,
    damaged: octets === 0 || header?.[2] === 'damaged',
    fails: header?.[2] === 'fails',
  };
}

/** `1.2.0` becomes `1.2.0+1`, that `1.2.0+2`. */
export function nextVersion(version: string): string {
  const [, base = version, count = '0'] = /^(.*)\+(\d{1,6})$/.exec(version) ?? [];
  const suffix = `+${Number(count) + 1}`;
  return `${base.slice(0, versionLength - suffix.length)}${suffix}`;
}

// Signature of a firmware, checked while its octets arrive (white paper 1.6 and 2.x, L01 and A00.FR.604: SHA-256).

/** A signature, for as many attempts of a download as it takes. */
export interface FirmwareSignature {
  begin(): SignatureCheck;
}

interface SignatureCheck {
  update(octets: Buffer): void;
  /** once, after the last octets */
  fits(): boolean;
}

/** @param signature base64. RSA in both paddings, since signers use either; ECDSA in DER. */
export function firmwareSignature({ publicKey: key }: X509Certificate, signature: string): FirmwareSignature {
  const octets = Buffer.from(signature, 'base64');
  const paddings = [constants.RSA_PKCS1_PADDING, constants.RSA_PKCS1_PSS_PADDING];
  const forms = key.asymmetricKeyType === 'rsa' ? paddings.map((padding) => ({ key, padding })) : [{ key }];
  return {
    begin() {
      const checks = forms.map((form) => ({ form, verify: createVerify('sha256') }));
      return {
        update(piece) {
          for (const { verify } of checks) verify.update(piece);
        },
        fits: () =>
          checks.some(({ form, verify }) => {
            try {
              return verify.verify(form, octets);
            } catch {
              return false;
            }
          }),
      };
    },
  };
}

// Connectors that take no vehicle while a firmware waits for its installation and while it is installed (L01.FR.07).

/** Operative states that the central system has set. */
interface OperativeStates {
  readonly stationInoperative: boolean;
  operative(connectorId: number): boolean;
}

interface ConnectorHold {
  /** Every connector without a transaction becomes unavailable; call it again when a transaction has ended. */
  take(): void;
  /** The state that the central system has set returns. */
  release(): void;
}

/** @param transactions null at a connector without one */
function createConnectorHold(
  { device, log }: { readonly device: StationPort; readonly log: Logger },
  availability: OperativeStates,
  transactions: { at(connectorId: number): object | null },
): ConnectorHold {
  const held = new Set<number>();
  const set = (connectorId: number, operative: boolean) => {
    try {
      device.command({ kind: 'evse.availability', connectorId, operative });
    } catch (error) {
      log.warning(`connector ${connectorId} keeps its availability: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const hold = (connectorId: number) => {
    if (transactions.at(connectorId) !== null || !device.connector(connectorId).operative) return;
    held.add(connectorId);
    set(connectorId, false);
  };
  let endListening: (() => void) | null = null;
  /** ChangeAvailability to Operative meanwhile counts once the connectors are released. */
  const onTransition = (transition: EvseTransition) => {
    if (transition.event === 'availability') hold(transition.connectorId);
  };
  return {
    take() {
      endListening ??= device.onTransition(onTransition);
      for (const connectorId of device.connectorIds) hold(connectorId);
    },
    release() {
      endListening?.();
      endListening = null;
      for (const connectorId of held)
        if (!availability.stationInoperative && availability.operative(connectorId)) set(connectorId, true);
      held.clear();
    },
  };
}

/** An update as the central system has asked for it. */
export interface FirmwareOrder {
  /** the request, as it is kept over a restart of the process */
  readonly request: JsonValue;
  readonly location: string;
  readonly retries: number | undefined;
  readonly retryIntervalS: number | undefined;
  /** NaN: at once */
  readonly retrieveMs: number;
  /** NaN: at once */
  readonly installMs: number;
  /** null: the request has none (1.6, unsigned) */
  readonly requestId: number | null;
  /** null: not signed */
  readonly signature: FirmwareSignature | null;
}

/** A step of an update, for the message of the version. */
export interface FirmwareProgress {
  readonly step: FirmwareStep;
  readonly requestId: number | null;
  readonly signed: boolean;
  /** why it has failed; null: it has not, or nothing more is known */
  readonly why: string | null;
}

interface UpdaterParts {
  readonly device: StationPort;
  readonly clock: RemoteClock;
  readonly later: Later;
  readonly log: Logger;
  readonly store: (name: string) => Slot;
  readonly registration: { onAccepted(listener: () => void): () => void };
  readonly connection: Pick<Connection, 'restart'>;
  readonly security: { raise(type: string, techInfo?: string): void };
}

interface UpdaterTransactions {
  readonly running: readonly object[];
  at(connectorId: number): object | null;
  onEnded(listener: () => void): () => void;
}

interface UpdaterDeps {
  readonly transfer: FileTransfer;
  readonly transactions: UpdaterTransactions;
  readonly availability: OperativeStates;
  /** Ends what still runs before the restart. @throws the refusal of the device */
  readonly stopAll: () => void;
  /** true: vehicles may come while an update waits for the end of transactions; absent: they may not (L01.FR.07) */
  readonly newSessions?: () => boolean;
  /** An order of an earlier process; null: none, or it does not fit. */
  readonly restored: (request: JsonValue | undefined) => FirmwareOrder | null;
  /** Reports a step to the central system. */
  readonly report: (progress: FirmwareProgress) => void;
  /** ms; default 10 s */
  readonly installMs?: number;
}

interface Fetched {
  readonly name: string;
  readonly head: Buffer;
  readonly octets: number;
  /** the signature fits the octets */
  readonly fits: boolean;
}

const defaultInstallMs = 10_000;
/** The last report goes out before the line drops. */
const beforeRestartMs = 1_000;

export class FirmwareUpdater {
  readonly #parts: UpdaterParts;
  readonly #deps: UpdaterDeps;
  readonly #hold;
  readonly #saver;
  readonly #end: () => void;
  #phase: FirmwarePhase = 'idle';
  #version: string;
  /** of the update under way, or the last one */
  #requestId: number | null = null;
  #signed = false;
  /** under way, until its installation begins; null: none, or it would not be taken up again */
  #order: FirmwareOrder | null = null;
  #restarted = false;
  #ending = new AbortController();

  constructor(parts: UpdaterParts, deps: UpdaterDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#version = parts.device.nameplate.firmwareVersion;
    this.#hold = createConnectorHold(parts, deps.availability, deps.transactions);
    this.#saver = createSaver(parts.store('firmware'), () => [this.#state()], parts.log);
    this.#end = parts.registration.onAccepted(() => {
      if (this.#restarted) this.#installed();
      else this.#resume();
    });
  }

  get phase(): FirmwarePhase {
    return this.#phase;
  }

  /** in force, for BootNotification */
  get version(): string {
    return this.#version;
  }

  /** of the update under way, or of the last one */
  get requestId(): number | null {
    return this.#requestId;
  }

  /** true: that update has a signature */
  get signed(): boolean {
    return this.#signed;
  }

  /** an installation is under way: it cannot be cancelled */
  get busy(): boolean {
    return this.#phase === 'installing' || this.#phase === 'rebooting';
  }

  /** the new version is in force, and the central system has not accepted it yet */
  get restarted(): boolean {
    return this.#restarted;
  }

  async load(): Promise<void> {
    const [stored] = await this.#parts.store('firmware').read();
    if (typeof stored !== 'object' || stored === null || !('version' in stored)) return;
    const { version, requestId, restarting, update } = stored;
    if (typeof version === 'string') this.#version = version;
    this.#requestId = typeof requestId === 'number' ? requestId : null;
    this.#order = this.#deps.restored(update);
    if (restarting !== true) return;
    this.#phase = 'rebooting';
    this.#restarted = true;
  }

  stop(): void {
    this.#ending.abort();
    this.#end();
    this.#hold.release();
  }

  /** Cancels the update under way and begins this one. */
  begin(order: FirmwareOrder): void {
    const { log, device } = this.#parts;
    this.#ending.abort();
    this.#step('cancel');
    this.#hold.release();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    this.#requestId = order.requestId;
    this.#signed = order.signature !== null;
    this.#keep(order);
    log.info(`firmware update from ${shownLocation(order.location)}`, device.deviceIndex);
    this.#run(order, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      log.error(`the firmware update has failed: ${errorText(error)}`, device.deviceIndex);
      this.#step('install_failed', errorText(error));
      this.#phase = 'idle';
      this.#keep(null);
      this.#hold.release();
    });
  }

  #state(): JsonValue {
    return {
      version: this.#version,
      requestId: this.#requestId,
      restarting: this.#restarted,
      update: this.#order?.request ?? null,
    };
  }

  /** State with which a new process would begin again; once per change. */
  #keep(order: FirmwareOrder | null): void {
    if (this.#order === order) return;
    this.#order = order;
    this.#saver.save();
  }

  /** An update that an earlier process has not come to the end of. */
  #resume(): void {
    if (this.#order !== null && this.#phase === 'idle') this.begin(this.#order);
  }

  /** Takes a step of the table and reports it. */
  #step(event: FirmwareEvent, why: string | null = null): void {
    const step = firmwareStep(this.#phase, event);
    if (step === null) return;
    this.#phase = step.to;
    if (step.to === 'idle') this.#keep(null);
    this.#deps.report({ step, requestId: this.#requestId, signed: this.#signed, why });
  }

  async #run(order: FirmwareOrder, signal: AbortSignal): Promise<void> {
    const { clock, later } = this.#parts;
    if (order.retrieveMs > clock.nowMs()) {
      this.#step('schedule_download');
      await waitFor(signal, (done) => clock.at(order.retrieveMs, done));
    }
    const fetched = await this.#fetch(order, signal);
    if (fetched === null || signal.aborted || !this.#isSound(order, fetched)) return;
    const file = firmwareFileOf(fetched.name, fetched.head, fetched.octets);
    if (file.damaged) {
      this.#step('damaged', 'the file is damaged');
      return;
    }
    await this.#idle(order, signal);
    this.#step('install');
    await waitFor(signal, (done) => later(this.#deps.installMs ?? defaultInstallMs, done));
    if (file.fails) {
      this.#step('install_failed', 'the installation of this file fails');
      this.#hold.release();
      return;
    }
    this.#step('reboot');
    await waitFor(signal, (done) => later(beforeRestartMs, done));
    this.#version = file.version ?? nextVersion(this.#version);
    this.#restarted = true;
    this.#order = null;
    this.#saver.save();
    this.#restart();
  }

  /** Reports the download and the result of its signature check. */
  #isSound({ signature }: FirmwareOrder, { fits }: Fetched): boolean {
    this.#step('downloaded');
    if (signature !== null && !fits) {
      const why = 'the signature does not fit the file and the certificate';
      this.#parts.security.raise('InvalidFirmwareSignature', why);
      this.#step('bad_signature', why);
      return false;
    }
    this.#step('verified');
    return true;
  }

  /** null: it has failed, which has been reported. */
  async #fetch(order: FirmwareOrder, signal: AbortSignal): Promise<Fetched | null> {
    const { later, log, device } = this.#parts;
    const { retries, retryIntervalS } = order;
    this.#step('download');
    const paused = () => {
      this.#step('pause');
    };
    const resumed = () => {
      this.#step('download');
    };
    try {
      return await withRetries({ later, signal, retries, retryIntervalS, paused, resumed }, () =>
        this.#attempt(order, signal),
      );
    } catch (error) {
      if (signal.aborted) return null;
      const why = error instanceof TransferError ? error.message : errorText(error);
      log.warning(`the firmware could not be fetched: ${why}`, device.deviceIndex);
      this.#step('download_failed', why);
      return null;
    }
  }

  async #attempt({ location, signature }: FirmwareOrder, signal: AbortSignal): Promise<Fetched> {
    let head = Buffer.alloc(0);
    const check = signature?.begin() ?? null;
    const chunk = (octets: Buffer) => {
      if (head.length < headerOctets) head = Buffer.concat([head, octets.subarray(0, headerOctets - head.length)]);
      check?.update(octets);
    };
    const { name, octets } = await this.#deps.transfer.download(location, { signal, chunk });
    return { name, octets, head, fits: check?.fits() ?? false };
  }

  /** Transactions go on to their end; meanwhile no new one begins, unless it is permitted. */
  async #idle({ installMs }: FirmwareOrder, signal: AbortSignal): Promise<void> {
    const { transactions, newSessions = () => false } = this.#deps;
    const { clock } = this.#parts;
    const early = installMs > clock.nowMs();
    if (early || transactions.running.length > 0) this.#step('schedule_install');
    if (early) await waitFor(signal, (done) => clock.at(installMs, done));
    if (!newSessions()) this.#hold.take();
    while (transactions.running.length > 0) {
      await waitFor(signal, (done) => {
        const end = transactions.onEnded(() => {
          end();
          done();
        });
        return end;
      });
      if (!newSessions()) this.#hold.take();
    }
    if (newSessions()) this.#hold.take();
  }

  #restart(): void {
    const { connection, log, device } = this.#parts;
    log.info(`firmware ${this.#version} is installed; the station restarts`, device.deviceIndex);
    try {
      this.#deps.stopAll();
    } catch (error) {
      log.warning(`a session goes on over the restart: ${errorText(error)}`, device.deviceIndex);
    }
    connection.restart('firmware update', 'FirmwareUpdate');
    this.#hold.release();
  }

  #installed(): void {
    this.#restarted = false;
    this.#step('installed');
    this.#saver.save();
    this.#parts.security.raise('FirmwareUpdated', this.#version);
  }
}
