/**
 * Updates of firmware, one at a time, from the download to the restart with the new version (OCPP 1.6 5.19; white paper
 * and 2.x, L01 and L02). BootNotification has the version of the installed firmware; the register of the device does
 * not change.
 */
import { z } from 'zod';
import { constants, createVerify } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, Misfit, readOne, recordOf } from '../../core/slot-values.ts';
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
 * Content of a firmware file. Any octets are accepted as firmware. A first line `derbench-firmware <version>` names its
 * version, otherwise the file name does (`evse-2.4.1.bin`), otherwise the version in force gets a suffix. One word may
 * follow the version for tests of a central system: `damaged` (the check before the installation fails) or `fails` (the
 * installation does).
 */

interface FirmwareFile {
  /** null: neither header nor file name has one */
  readonly version: string | null;
  readonly damaged: boolean;
  readonly fails: boolean;
}

/** Number of octets that `firmwareFileOf` reads. */
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

/** A signature, to be checked anew at each attempt of a download. */
export interface FirmwareSignature {
  begin(): SignatureCheck;
}

interface SignatureCheck {
  update(octets: Buffer): void;
  /** True if the signature fits all octets; to be called once, after the last octets. */
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

// Connectors that accept no vehicle while a firmware waits for its installation and while it is installed (L01.FR.07).

/** Operative states that the central system has set. */
interface OperativeStates {
  readonly stationInoperative: boolean;
  operative(connectorId: number): boolean;
}

interface ConnectorHold {
  /** Makes every connector without a transaction unavailable; to be called again after the end of a transaction. */
  take(): void;
  /** Restores the states that the central system has set. */
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
  /** A ChangeAvailability to Operative takes effect only after `release`. */
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

/** An update requested by the central system. */
export interface FirmwareOrder {
  /** the request, stored over a restart of the process */
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
  /** reason of a failure; null: no failure, or unknown */
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
  /** Ends the running sessions before the restart. @throws the refusal of the device */
  readonly stopAll: () => void;
  /** True if sessions may begin while an update waits for the end of transactions; absent: false (L01.FR.07). */
  readonly newSessions?: () => boolean;
  /** Reads the order of an earlier process; null: none, or the request does not fit. */
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
  /** true: the signature fits the octets */
  readonly fits: boolean;
}

const defaultInstallMs = 10_000;
/** Time for the last report before the connection closes. */
const beforeRestartMs = 1_000;

interface StoredUpdate {
  readonly requestId: number | null;
  readonly restarting: boolean;
  readonly update: JsonValue;
}

const versionForm = formOf<string>(z.string());
const updateForm = recordOf<StoredUpdate>({
  requestId: z.int().nullable(),
  restarting: z.boolean(),
  update: z.unknown(),
});

export class FirmwareUpdater {
  readonly #parts: UpdaterParts;
  readonly #deps: UpdaterDeps;
  readonly #hold;
  readonly #saver;
  /** the installed firmware is a fact of the station, whichever version has ordered it */
  readonly #versionSaver;
  readonly #unsubscribe: () => void;
  #phase: FirmwarePhase = 'idle';
  #version: string;
  /** of the update under way, or the last one */
  #requestId: number | null = null;
  #signed = false;
  /** order that a new process would resume, until its firmware is installed; null: none */
  #order: FirmwareOrder | null = null;
  #restarted = false;
  #ending = new AbortController();

  constructor(parts: UpdaterParts, deps: UpdaterDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#version = parts.device.nameplate.firmwareVersion;
    this.#hold = createConnectorHold(parts, deps.availability, deps.transactions);
    this.#saver = createSaver(parts.store('firmware'), () => [this.#state()], parts.log);
    this.#versionSaver = createSaver(parts.store('firmware-version'), () => [this.#version], parts.log);
    this.#unsubscribe = parts.registration.onAccepted(() => {
      if (this.#restarted) this.#reportInstalled();
      else this.#resume();
    });
  }

  get phase(): FirmwarePhase {
    return this.#phase;
  }

  /** version in force, for BootNotification */
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

  /** true: an installation is under way and cannot be cancelled */
  get busy(): boolean {
    return this.#phase === 'installing' || this.#phase === 'rebooting';
  }

  /** true: the station has restarted with a new version, but is not accepted yet */
  get restarted(): boolean {
    return this.#restarted;
  }

  async load(): Promise<void> {
    const { store, log } = this.#parts;
    this.#version = (await readOne(store('firmware-version'), versionForm, log)) ?? this.#version;
    const form = (json: JsonValue) => {
      const stored = updateForm(json);
      const isOdd =
        !(stored instanceof Misfit) && stored.update !== null && this.#deps.restored(stored.update) === null;
      return isOdd ? new Misfit('has an update that is no request') : stored;
    };
    const stored = await readOne(store('firmware'), form, log);
    if (stored === null) return;
    this.#requestId = stored.requestId;
    this.#order = stored.update === null ? null : this.#deps.restored(stored.update);
    if (!stored.restarting) return;
    this.#phase = 'rebooting';
    this.#restarted = true;
  }

  stop(): void {
    this.#ending.abort();
    this.#unsubscribe();
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
    this.#storeOrder(order);
    log.info(`firmware update from ${shownLocation(order.location)}`, device.deviceIndex);
    this.#run(order, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      log.error(`the firmware update has failed: ${errorText(error)}`, device.deviceIndex);
      this.#step('install_failed', errorText(error));
      this.#phase = 'idle';
      this.#storeOrder(null);
      this.#hold.release();
    });
  }

  #state(): JsonValue {
    return {
      requestId: this.#requestId,
      restarting: this.#restarted,
      update: this.#order?.request ?? null,
    };
  }

  /** Stores the order that a new process would resume. */
  #storeOrder(order: FirmwareOrder | null): void {
    if (this.#order === order) return;
    this.#order = order;
    this.#saver.save();
  }

  /** Resumes an update that an earlier process has not finished. */
  #resume(): void {
    if (this.#order !== null && this.#phase === 'idle') this.begin(this.#order);
  }

  /** Takes a step of the table and reports it. */
  #step(event: FirmwareEvent, why: string | null = null): void {
    const step = firmwareStep(this.#phase, event);
    if (step === null) return;
    this.#phase = step.to;
    if (step.to === 'idle') this.#storeOrder(null);
    this.#deps.report({ step, requestId: this.#requestId, signed: this.#signed, why });
  }

  async #run(order: FirmwareOrder, signal: AbortSignal): Promise<void> {
    const { clock, later } = this.#parts;
    if (order.retrieveMs > clock.nowMs()) {
      this.#step('schedule_download');
      await waitFor(signal, (done) => clock.at(order.retrieveMs, done));
    }
    const fetched = await this.#fetch(order, signal);
    if (fetched === null || signal.aborted || !this.#reportSignature(order, fetched)) return;
    const file = firmwareFileOf(fetched.name, fetched.head, fetched.octets);
    if (file.damaged) {
      this.#step('damaged', 'the file is damaged');
      return;
    }
    await this.#waitForInstallation(order, signal);
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
    this.#versionSaver.save();
    this.#saver.save();
    this.#restart();
  }

  /** Reports the download and the result of its signature check. @returns false: the signature does not fit */
  #reportSignature({ signature }: FirmwareOrder, { fits }: Fetched): boolean {
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

  /** @returns null: it has failed, which was reported */
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

  /**
   * Waits for the time of installation and the end of all transactions; new ones begin only if `newSessions` permits.
   */
  async #waitForInstallation({ installMs }: FirmwareOrder, signal: AbortSignal): Promise<void> {
    const { transactions, newSessions = () => false } = this.#deps;
    const { clock } = this.#parts;
    const isScheduled = installMs > clock.nowMs();
    if (isScheduled || transactions.running.length > 0) this.#step('schedule_install');
    if (isScheduled) await waitFor(signal, (done) => clock.at(installMs, done));
    if (!newSessions()) this.#hold.take();
    while (transactions.running.length > 0) {
      await waitFor(signal, (done) => {
        const unsubscribe = transactions.onEnded(() => {
          unsubscribe();
          done();
        });
        return unsubscribe;
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
      log.warning(`a session continues over the restart: ${errorText(error)}`, device.deviceIndex);
    }
    connection.restart('firmware update', 'FirmwareUpdate');
    this.#hold.release();
  }

  #reportInstalled(): void {
    this.#restarted = false;
    this.#step('installed');
    this.#saver.save();
    this.#parts.security.raise('FirmwareUpdated', this.#version);
  }
}
