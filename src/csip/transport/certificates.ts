/** The certificate of one connection (from files, a bad test chain, or PEM texts of REST), with its LFDI and SFDI. */
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { createHash } from 'node:crypto';
import { csipCertificateNames } from '../../contract/csip-client.ts';
import type { CsipCertificateName, CsipCertificates, CsipPem } from '../../contract/csip-client.ts';
import { lfdiOf, sfdiOf } from '../../contract/csip-identity.ts';
import type { CsipPemFiles } from '../../contract/csip-settings.ts';
import { SimError } from '../../core/errors.ts';
import { clientMaterial, ClientTlsFiles, clientOffers } from '../../core/tls/client-context.ts';
import type { ClientNames } from '../../core/tls/client-context.ts';
import { readPemFiles, certificatesOf } from '../../core/tls/material.ts';
import { fileIo } from '../../core/tls/watch.ts';
import type { TlsIo, TlsWatchBasics } from '../../core/tls/watch.ts';
import type { TlsDisturbance, CertificateFacts } from './exchange.ts';
import type { TlsIdentity } from './sep-exchange.ts';

const lfdiDigits = 40;
/** hex digits of 32 bits */
const penLength = 8;

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex').toUpperCase();

/**
 * A private enterprise number as the last 32 bits of an identifier: in binary, or as its decimal digits, as CSIP-AUS
 * does (TS 5573 4.2).
 */
export function penDigits(pen: number, form: 'number' | 'decimal'): string {
  return pen
    .toString(form === 'number' ? 16 : 10)
    .toUpperCase()
    .padStart(penLength, '0');
}

/**
 * The LFDI of a device behind an aggregator, which has no certificate (CSIP-AUS). It ends with the private enterprise
 * number; the digits before it depend on aggregator and name only.
 * @param aggregator LFDI of the aggregator
 * @param name distinguishes the devices
 */
export function managedLfdi(aggregator: string, name: string, pen: number): string {
  const digits = sha256(`${aggregator.toUpperCase()}/${name}`).slice(0, lfdiDigits - penLength);
  return digits + penDigits(pen, 'decimal');
}

/**
 * The facts of the first certificate of a PEM text, which may contain its chain too.
 * @returns null for an invalid certificate
 */
export function certificateFacts(pem: string): CertificateFacts | null {
  const chain = certificatesOf(pem);
  const [certificate] = chain ?? [];
  if (chain === null || certificate === undefined) return null;
  const lfdi = lfdiOf(certificate.raw);
  return {
    lfdi,
    sfdi: sfdiOf(lfdi),
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    chainLength: chain.length,
  };
}

/**
 * The name of the authority whose certificate is in neither the chain that a client presents nor its root certificates;
 * null: none is missing, or the texts are unreadable.
 */
export function missingIssuer({ cert, rootCert }: Pick<CsipPem, 'cert' | 'rootCert'>): string | null {
  const chain = certificatesOf(cert) ?? [];
  const last = chain.at(-1);
  const roots = certificatesOf(rootCert);
  if (last === undefined || roots === null || last.checkIssued(last)) return null;
  return roots.some((root) => last.checkIssued(root)) ? null : oneLine(last.issuer);
}

/** A distinguished name in one line. Older runtimes give undefined for the empty name of device certificates. */
function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ');
}

export interface CredentialsOptions extends Omit<TlsWatchBasics, 'protocol'> {
  readonly files: CsipPemFiles;
  /** names of the settings for the files */
  readonly names: ClientNames;
  /** true: offers only `ECDHE-ECDSA-AES128-CCM8` */
  readonly strictCipher: boolean;
  /** directory with the chains of COMM-004; null: none */
  readonly testPki: string | null;
  /** called when another certificate or root is in force */
  readonly onChange?: () => void;
}

/** Certificates in force in place of those of the files. */
interface Chosen {
  /** null: PEM texts */
  readonly name: CsipCertificateName | null;
  readonly pem: CsipPem;
  readonly context: SecureContext;
}

const protocol = 'CSIP';
/** Members of a request with PEM texts, for issues. */
const restNames: ClientNames = { cert: '/cert_pem', key: '/key_pem', rootCert: '/root_cert_pem' };

export class ClientCredentials implements TlsIdentity {
  readonly #options: CredentialsOptions;
  readonly #io: TlsIo;
  /** null: plain HTTP, with a certificate for LFDI and SFDI alone */
  readonly #files: ClientTlsFiles | null;
  readonly #plainCert: string;
  #chosen: Chosen | null = null;

  /** @throws SimError CONFIG_INVALID with the issues of the files */
  constructor(options: CredentialsOptions) {
    const { files, names, io = fileIo, onChange } = options;
    this.#options = options;
    this.#io = io;
    if (files.tls === null) {
      this.#files = null;
      this.#plainCert = readCertificate(files.cert, names.cert, io.readText);
      return;
    }
    this.#plainCert = '';
    this.#files = new ClientTlsFiles({
      ...options,
      protocol,
      files: { cert: files.cert, ...files.tls },
      policy: this.#policy,
      onChange: () => {
        if (this.#chosen === null) onChange?.();
      },
    });
  }

  /** @throws SimError NOT_CONNECTED without a key */
  get context(): SecureContext {
    const context = this.#chosen?.context ?? this.#files?.context;
    if (context === undefined)
      throw new SimError('NOT_CONNECTED', 'TLS needs the key of the certificate and the root certificates of servers');
    return context;
  }

  /** Facts of the certificate in force; null: none, or unreadable. */
  get facts(): CertificateFacts | null {
    return certificateFacts(this.#texts.cert);
  }

  get view(): Omit<CsipCertificates, 'endDevices'> {
    return {
      selected: this.#chosen === null ? 'default' : this.#chosen.name,
      available: this.#available,
      certificate: this.facts,
    };
  }

  /** PEM texts in force: the listener of notifications presents the same certificate. */
  get pem(): CsipPem {
    return this.#texts;
  }

  /** The private key; without TLS the certificate, which is not sent then. */
  get secret(): string {
    const { key, cert } = this.#texts;
    return key === '' ? cert : key;
  }

  disturbed(by: TlsDisturbance): SecureContext {
    const { cert, key, rootCert } = this.#texts;
    const offer = clientOffers[this.#policy];
    if (by === 'no_certificate') return createSecureContext({ ca: rootCert, ...offer });
    if (by === 'server_not_trusted') return createSecureContext({ cert, key, ca: [], ...offer });
    return createSecureContext({ cert, key, ca: rootCert, minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' });
  }

  /** @throws SimError COMMAND_BAD_VALUE for a chain that is missing or unusable */
  select(name: CsipCertificateName): void {
    if (name === 'default') {
      const changed = this.#chosen !== null;
      this.#chosen = null;
      if (changed) this.#options.onChange?.();
      return;
    }
    const { testPki } = this.#options;
    const available = this.#available;
    if (testPki === null || !available.includes(name)) {
      const detail =
        testPki === null
          ? 'is a test certificate, which needs use_test_pki_certs'
          : 'is not in the directory of use_test_pki_certs';
      throw new SimError('COMMAND_BAD_VALUE', `${name} ${detail}`, [{ name: '/select', detail, allowed: available }]);
    }
    const path = (file: string) => ({ name: '/select', path: join(testPki, file) });
    const { texts, issues } = readPemFiles(
      [
        ['cert', path(`${name}.pem`)],
        ['key', path(`${name}.key`)],
        ['rootCert', path('root.pem')],
      ],
      this.#io.readText,
    );
    if (issues.length > 0) throw refusal(issues);
    const { cert = '', key = '', rootCert = '' } = texts;
    this.#choose(name, { cert, key, rootCert }, { cert: '/select', key: '/select', rootCert: '/select' });
  }

  /**
   * Replaces some of the texts in force.
   * @throws SimError COMMAND_BAD_VALUE with the issues, never with the texts themselves
   */
  use(pem: Partial<CsipPem>): void {
    this.#choose(null, { ...this.#texts, ...pem }, restNames);
  }

  /** Starts checking the files for changes periodically. */
  watch(): void {
    this.#files?.watch();
  }

  unwatch(): void {
    this.#files?.unwatch();
  }

  /** Reads changed files, on request. */
  reload(): void {
    this.#files?.reload();
  }

  get #policy(): 'csip' | 'csip_strict' {
    return this.#options.strictCipher ? 'csip_strict' : 'csip';
  }

  get #available(): readonly CsipCertificateName[] {
    const { testPki } = this.#options;
    return csipCertificateNames.filter(
      (name) => name === 'default' || (testPki !== null && this.#io.stampOf(join(testPki, `${name}.pem`)) !== null),
    );
  }

  get #texts(): CsipPem {
    if (this.#chosen !== null) return this.#chosen.pem;
    const { cert, key, ca } = this.#files?.material.context ?? {};
    return { cert: text(cert) || this.#plainCert, key: text(key), rootCert: text(ca) };
  }

  #choose(name: CsipCertificateName | null, pem: CsipPem, names: ClientNames): void {
    const result = clientMaterial(pem, this.#policy, names);
    if ('issues' in result) throw refusal(result.issues);
    this.#chosen = { name, pem, context: createSecureContext(result.material.context) };
    this.#options.onChange?.();
  }
}

/** A member of TLS material as PEM text; empty if it is not text. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function refusal(issues: readonly { readonly name: string; readonly detail: string }[]): SimError {
  const words = issues.map(({ name, detail }) => `${name.slice(1)} ${detail}`);
  return new SimError('COMMAND_BAD_VALUE', words.join('; '), issues);
}

/** @throws SimError CONFIG_INVALID */
function readCertificate(path: string, name: string, readText: TlsIo['readText']): string {
  const { texts, issues } = readPemFiles([['cert', { name, path }]], readText);
  const { cert = '' } = texts;
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', `${protocol} has no certificate`, issues);
  if (certificateFacts(cert) !== null) return cert;
  throw new SimError('CONFIG_INVALID', `${protocol} has no certificate`, [
    { name, detail: 'is not a certificate in PEM' },
  ]);
}
