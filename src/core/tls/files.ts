/** The files behind a TLS gate: read at start, and again when they change. */
import { statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import type { WallClock } from '../time/clock.ts';
import { callEvery } from '../time/timers.ts';
import type { Every } from '../time/timers.ts';
import type { Logger } from '../log/log.ts';
import { readTextFile } from '../text-file.ts';
import { readTlsMaterial } from './material.ts';
import type { TlsMaterial, TlsPolicy, TlsTriple } from './material.ts';
import { TlsGate } from './gate.ts';
import type { TlsGateOptions } from './gate.ts';

/** TLS of a group of listeners. */
export interface TlsSettings extends TlsPolicy {
  /** paths of PEM files */
  readonly files: TlsTriple<string>;
}

/** The disk, so that tests need none. */
export interface TlsIo {
  /** @throws Error that `fileReason` puts into words */
  readonly readText: (path: string, maxBytes: number) => string;
  /** changes whenever the file does; null: there is no file, or it cannot be examined */
  readonly stampOf: (path: string) => string | null;
  readonly readableByAll: (path: string) => boolean;
}

function statOf(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null;
  }
}

const systemIo: TlsIo = {
  readText: readTextFile,
  stampOf(path) {
    const stat = statOf(path);
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  },
  readableByAll: (path) => ((statOf(path)?.mode ?? 0n) & 0o004n) !== 0n,
};

export interface TlsFilesOptions<Identity> {
  readonly settings: TlsSettings;
  /** `Modbus`, for messages */
  readonly protocol: string;
  /** the settings that name the files, for messages: clients can read the log and must not see paths */
  readonly names: TlsTriple<string>;
  /** as the gate has it */
  readonly identify: TlsGateOptions<Identity>['identify'];
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly io?: TlsIo;
  readonly every?: Every;
}

function isSame({ context: a }: TlsMaterial, { context: b }: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}

/** Time between two checks of the files, ms. */
const watchMs = 5000;

/**
 * A gate whose certificate, key and root certificates are replaced while it runs, for sessions from then on. Files that
 * do not fit together, for example while they are being written, leave it as it is and are tried again.
 */
export class TlsFiles<Identity> {
  readonly gate: TlsGate<Identity>;
  readonly #options: TlsFilesOptions<Identity>;
  readonly #io: TlsIo;
  /** stamps of the files in force */
  #inForce: string;
  #material: TlsMaterial;
  #lastFailure: string | undefined;
  #endWatch: (() => void) | undefined;

  /** @throws SimError CONFIG_INVALID with what is wrong in the files */
  constructor(options: TlsFilesOptions<Identity>) {
    this.#options = options;
    this.#io = options.io ?? systemIo;
    // before reading: files that are written meanwhile are read again
    this.#inForce = this.#stamps();
    const reading = this.#read();
    if ('issues' in reading) throw new SimError('CONFIG_INVALID', `${options.protocol} cannot use TLS`, reading.issues);
    this.#material = reading.material;
    this.gate = new TlsGate(reading.material, {
      identify: options.identify,
      rootCertName: options.names.rootCert,
    });
    this.#remark(reading.material);
  }

  /** Begins to check the files periodically. */
  watch(): void {
    this.#endWatch ??= (this.#options.every ?? callEvery)(watchMs, () => {
      this.check();
    });
  }

  unwatch(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  /**
   * As `check`, on request: always logs the outcome, also a failure that was logged before or that nothing has changed.
   */
  reload(): void {
    this.#lastFailure = undefined;
    if (this.#stamps() === this.#inForce) this.#info('the certificate files have not changed');
    else this.check();
  }

  /** Loads the files if they have changed since they were read. */
  check(): void {
    const stamps = this.#stamps();
    if (stamps === this.#inForce) return;
    const reading = this.#read();
    if ('issues' in reading) {
      this.#keep(reading.issues);
      return;
    }
    this.#inForce = stamps;
    this.#lastFailure = undefined;
    if (isSame(reading.material, this.#material)) {
      this.#info('the certificate files were rewritten with the content that is in force already');
    } else {
      this.#material = reading.material;
      this.gate.replace(reading.material);
      this.#info('new certificate files are in force for sessions from now on');
    }
    this.#remark(reading.material);
  }

  #read() {
    const {
      settings: { files: paths, ...policy },
      names,
    } = this.#options;
    const files = {
      cert: { name: names.cert, path: paths.cert },
      key: { name: names.key, path: paths.key },
      rootCert: { name: names.rootCert, path: paths.rootCert },
    };
    return readTlsMaterial(files, policy, this.#io.readText);
  }

  #stamps(): string {
    const { cert, key, rootCert } = this.#options.settings.files;
    return [cert, key, rootCert].map((path) => this.#io.stampOf(path) ?? 'none').join(' | ');
  }

  /** Logged once for each failure, however often the files are tried again. */
  #keep(issues: readonly Issue[]): void {
    const failure = issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    this.#warn(`changed certificate files are not used, those before stay in force. ${failure}`);
  }

  #remark({ validFromMs, validToMs }: TlsMaterial): void {
    const { clock, names, settings } = this.#options;
    const now = clock.nowMs();
    const iso = (ms: number) => new Date(ms).toISOString();
    if (now < validFromMs)
      this.#warn(`the certificate of ${names.cert} is not valid before ${iso(validFromMs)}; clients will refuse it`);
    if (now > validToMs)
      this.#warn(`the certificate of ${names.cert} expired at ${iso(validToMs)}; clients will refuse it`);
    if (this.#io.readableByAll(settings.files.key))
      this.#warn(`the mode of the file of ${names.key} lets everybody on this machine read it`);
  }

  #info(message: string): void {
    this.#options.logger.info(`${this.#options.protocol} TLS: ${message}`);
  }

  #warn(message: string): void {
    this.#options.logger.warning(`${this.#options.protocol} TLS: ${message}`);
  }
}
