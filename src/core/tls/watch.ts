/** Certificate files that may change while they are in use, and those of a TLS gate. */
import { statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import type { Logger } from '../log/log.ts';
import { readTextFile } from '../text-file.ts';
import type { WallClock } from '../time/clock.ts';
import { callEvery } from '../time/timers.ts';
import type { Every } from '../time/timers.ts';
import { readTlsMaterial } from './material.ts';
import type { TlsMaterial, TlsReading, TlsPolicy, TlsTriple } from './material.ts';
import { TlsGate } from './gate.ts';
import type { TlsGateOptions } from './gate.ts';

/** Access to files, or to what is in their place. */
export interface TlsIo {
  /**
   * @param role part of the text in TLS, which a file does not depend on
   * @throws Error that `fileReason` puts into words
   */
  readonly readText: (path: string, maxBytes: number, role: keyof TlsTriple<unknown>) => string;
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

export const fileIo: TlsIo = {
  readText: readTextFile,
  stampOf(path) {
    const stat = statOf(path);
    return stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  },
  readableByAll: (path) => ((statOf(path)?.mode ?? 0n) & 0o004n) !== 0n,
};

/** Options shared by all users of watched files. */
export interface TlsWatchBasics {
  /** `Modbus`, for messages */
  readonly protocol: string;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly io?: TlsIo;
  readonly every?: Every;
}

interface TlsWatchOptions extends TlsWatchBasics {
  readonly paths: readonly string[];
  /** of the private key; undefined: no key */
  readonly keyPath: string | undefined;
  /** the settings that name the files, for messages: clients can read the log and must not see paths */
  readonly names: { readonly cert: string; readonly key: string };
  /** the other ends, that would refuse a certificate that is not valid */
  readonly peers: 'clients' | 'servers';
  readonly read: (readText: TlsIo['readText']) => TlsReading;
  /** called with material that differs from that in force */
  readonly replaced: (material: TlsMaterial) => void;
}

function isSame({ context: a }: TlsMaterial, { context: b }: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}

/** Time between two checks of the files, ms. */
const watchMs = 5000;

/**
 * Reads the files at the start, and again when they change. Files that do not fit together, for example while they are
 * being written, are not used and are tried again; the previous files stay in force.
 */
export class TlsWatch {
  readonly #options: TlsWatchOptions;
  readonly #io: TlsIo;
  /** stamps of the files in force */
  #inForce: string;
  #material: TlsMaterial;
  #lastFailure: string | undefined;
  #endWatch: (() => void) | undefined;

  /** @throws SimError CONFIG_INVALID with the errors in the files */
  constructor(options: TlsWatchOptions) {
    this.#options = options;
    this.#io = options.io ?? fileIo;
    // before reading: files that are written meanwhile are read again
    this.#inForce = this.#stamps();
    const reading = options.read(this.#io.readText);
    if ('issues' in reading) throw new SimError('CONFIG_INVALID', `${options.protocol} cannot use TLS`, reading.issues);
    this.#material = reading.material;
    this.#remark(reading.material);
  }

  /** The material in force. */
  get material(): TlsMaterial {
    return this.#material;
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
   * As `check`, on request: always logs the outcome, also a repeated failure, or that nothing has changed.
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
    const reading = this.#options.read(this.#io.readText);
    if ('issues' in reading) {
      this.#logUnused(reading.issues);
      return;
    }
    this.#inForce = stamps;
    this.#lastFailure = undefined;
    if (isSame(reading.material, this.#material)) {
      this.#info('the certificate files were rewritten with the content that is in force already');
    } else {
      this.#material = reading.material;
      this.#options.replaced(reading.material);
      this.#info('new certificate files are in force for sessions from now on');
    }
    this.#remark(reading.material);
  }

  #stamps(): string {
    return this.#options.paths.map((path) => this.#io.stampOf(path) ?? 'none').join(' | ');
  }

  /** Logs why the files are not used, once for each failure, however often they are tried again. */
  #logUnused(issues: readonly Issue[]): void {
    const failure = issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
    if (failure === this.#lastFailure) return;
    this.#lastFailure = failure;
    this.#warn(`changed certificate files are not used, those before stay in force. ${failure}`);
  }

  #remark({ validFromMs, validToMs }: TlsMaterial): void {
    const { clock, names, peers, keyPath } = this.#options;
    const nowMs = clock.nowMs();
    const iso = (ms: number) => new Date(ms).toISOString();
    if (nowMs < validFromMs)
      this.#warn(`the certificate of ${names.cert} is not valid before ${iso(validFromMs)}; ${peers} will refuse it`);
    if (nowMs > validToMs)
      this.#warn(`the certificate of ${names.cert} expired at ${iso(validToMs)}; ${peers} will refuse it`);
    if (keyPath !== undefined && this.#io.readableByAll(keyPath))
      this.#warn(`the mode of the file of ${names.key} lets everybody on this machine read it`);
  }

  #info(message: string): void {
    this.#options.logger.info(`${this.#options.protocol} TLS: ${message}`);
  }

  #warn(message: string): void {
    this.#options.logger.warning(`${this.#options.protocol} TLS: ${message}`);
  }
}

/** TLS of a group of listeners. */
interface TlsSettings extends TlsPolicy {
  /** paths of PEM files */
  readonly files: TlsTriple<string>;
}

export interface TlsFilesOptions<Identity> extends TlsWatchBasics {
  readonly settings: TlsSettings;
  /** the settings that name the files, for messages: clients can read the log and must not see paths */
  readonly names: TlsTriple<string>;
  /** option of the gate */
  readonly identify: TlsGateOptions<Identity>['identify'];
}

/** A gate whose certificate, key and root certificates are replaced while it runs, for sessions from then on. */
export class TlsFiles<Identity> extends TlsWatch {
  readonly gate: TlsGate<Identity>;

  /** @throws SimError CONFIG_INVALID with the errors in the files */
  constructor(options: TlsFilesOptions<Identity>) {
    const {
      settings: { files: paths, ...policy },
      names,
      identify,
      ...basics
    } = options;
    const files = {
      cert: { name: names.cert, path: paths.cert },
      key: { name: names.key, path: paths.key },
      rootCert: { name: names.rootCert, path: paths.rootCert },
    };
    super({
      ...basics,
      names,
      peers: 'clients',
      paths: [paths.cert, paths.key, paths.rootCert],
      keyPath: paths.key,
      read: (readText) => readTlsMaterial(files, policy, readText),
      replaced: (material) => {
        this.gate.replace(material);
      },
    });
    this.gate = new TlsGate(this.material, { identify, rootCertName: names.rootCert });
  }
}
