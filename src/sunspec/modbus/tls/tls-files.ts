/** The files behind a TLS gate: read at start, and again when they change. */
import { statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import { callEvery } from '../../../core/time/timers.ts';
import type { Every } from '../../../core/time/timers.ts';
import type { Logger } from '../../../core/log/log.ts';
import { readTextFile } from '../../../core/text-file.ts';
import { readTlsMaterial } from '../../../core/tls/material.ts';
import type { TlsMaterial, TlsPolicy, TlsTriple } from '../../../core/tls/material.ts';
import { TlsGate } from './tls-gate.ts';

/** TLS of a group of listeners. */
export interface TlsSettings extends TlsPolicy {
  /** paths of PEM files */
  readonly files: TlsTriple<string>;
}

/** The disk, so that tests need none. */
export interface TlsIo {
  /** @throws Error that `fileReason` puts into words */
  readonly readText: (path: string, maxBytes: number) => string;
  /** changes whenever the file does; null: there is none that can be got at */
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

export interface TlsFilesOptions {
  readonly settings: TlsSettings;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly io?: TlsIo;
  readonly every?: Every;
}

function isSame({ context: a }: TlsMaterial, { context: b }: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}

/** How often the files are looked at. */
const watchMs = 5000;

/**
 * A gate whose certificate, key and root certificates are replaced while it runs, for sessions from then on. Files that
 * do not fit together, since they are just being written or for good, leave it as it is and are tried again.
 */
export class TlsFiles {
  readonly gate: TlsGate;
  readonly #options: TlsFilesOptions;
  readonly #io: TlsIo;
  /** stamps of what is in force */
  #inForce: string;
  #material: TlsMaterial;
  #lastFailure: string | undefined;
  #endWatch: (() => void) | undefined;

  /** @throws SimError CONFIG_INVALID with what is wrong in the files */
  constructor(options: TlsFilesOptions) {
    this.#options = options;
    this.#io = options.io ?? systemIo;
    // before reading: what is written meanwhile is read again
    this.#inForce = this.#stamps();
    const reading = this.#read();
    if ('issues' in reading) throw new SimError('CONFIG_INVALID', 'Modbus cannot use TLS', reading.issues);
    this.#material = reading.material;
    this.gate = new TlsGate(reading.material);
    this.#remark(reading.material);
  }

  /** Begins to look at the files from time to time. */
  watch(): void {
    this.#endWatch ??= (this.#options.every ?? callEvery)(watchMs, () => {
      this.check();
    });
  }

  unwatch(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  /** As `check`, for somebody who asks and is to hear of it: a failure is told again, and that nothing has changed. */
  reload(): void {
    this.#lastFailure = undefined;
    if (this.#stamps() === this.#inForce)
      this.#options.logger.info('Modbus TLS: the certificate files have not changed');
    else this.check();
  }

  /** Takes the files over if they have changed since they were read. */
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
      this.#options.logger.info(
        'Modbus TLS: the certificate files were written anew and hold what is in force already',
      );
    } else {
      this.#material = reading.material;
      this.gate.replace(reading.material);
      this.#options.logger.info('Modbus TLS: new certificate files are in force for sessions from now on');
    }
    this.#remark(reading.material);
  }

  #read() {
    const {
      files: { cert, key, rootCert },
      ...policy
    } = this.#options.settings;
    const files = {
      cert: { name: 'mb_cert', path: cert },
      key: { name: 'mb_key', path: key },
      rootCert: { name: 'mb_root_cert', path: rootCert },
    };
    return readTlsMaterial(files, policy, this.#io.readText);
  }

  #stamps(): string {
    const { cert, key, rootCert } = this.#options.settings.files;
    return [cert, key, rootCert].map((path) => this.#io.stampOf(path) ?? 'none').join(' | ');
  }

  /** Told once for each state of affairs, however often it is tried again. */
  #keep(issues: readonly Issue[]): void {
    const failure = issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    this.#options.logger.warning(
      `Modbus TLS: changed certificate files are not used, those before stay in force. ${failure}`,
    );
  }

  #remark({ validFromMs, validToMs }: TlsMaterial): void {
    const {
      clock,
      logger,
      settings: { files },
    } = this.#options;
    // by the names of the settings: clients can read the log, and paths are not for them
    const now = clock.nowMs();
    if (now < validFromMs)
      logger.warning(
        `Modbus TLS: the certificate of mb_cert is not valid before ${new Date(validFromMs).toISOString()}; clients will refuse it`,
      );
    if (now > validToMs)
      logger.warning(
        `Modbus TLS: the certificate of mb_cert expired at ${new Date(validToMs).toISOString()}; clients will refuse it`,
      );
    if (this.#io.readableByAll(files.key))
      logger.warning('Modbus TLS: the mode of the file of mb_key lets everybody on this machine read it');
  }
}
