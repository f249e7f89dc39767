/** The certificate of one connection: from files, from a bad test chain, or from PEM texts of REST. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { csipCertificateNames } from '../../contract/csip-client.ts';
import type { CsipCertificateName, CsipCertificates, CsipPem } from '../../contract/csip-client.ts';
import type { CsipPemFiles } from '../../contract/csip-settings.ts';
import { SimError } from '../../core/errors.ts';
import { readTextFile } from '../../core/text-file.ts';
import { clientMaterial, ClientTlsFiles, clientOffers } from '../../core/tls/client-context.ts';
import type { ClientNames } from '../../core/tls/client-context.ts';
import { readPemFiles } from '../../core/tls/material.ts';
import type { TlsWatchBasics } from '../../core/tls/watch.ts';
import type { TlsDisturbance } from './disturber.ts';
import type { CertificateFacts } from './exchange.ts';
import { certificateFacts } from './identity.ts';
import type { TlsIdentity } from './sep-exchange.ts';

export interface CredentialsOptions extends Omit<TlsWatchBasics, 'protocol'> {
  readonly files: CsipPemFiles;
  /** names of the settings for the files */
  readonly names: ClientNames;
  /** only `ECDHE-ECDSA-AES128-CCM8` */
  readonly strictCipher: boolean;
  /** directory with the chains of COMM-004; null: none */
  readonly testPki: string | null;
  /** called when another certificate or root is in force */
  readonly onChange?: () => void;
}

/** Certificates in force instead of those of the files. */
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
  /** null: plain HTTP, without certificates */
  readonly #own: ClientTlsFiles | null;
  readonly #plainCert: string;
  #chosen: Chosen | null = null;

  /** @throws SimError CONFIG_INVALID with the issues of the files */
  constructor(options: CredentialsOptions) {
    const { files, names, io, onChange } = options;
    this.#options = options;
    if (files.tls === null) {
      this.#own = null;
      this.#plainCert = readCertificate(files.cert, names.cert, io?.readText ?? readTextFile);
      return;
    }
    this.#plainCert = '';
    this.#own = new ClientTlsFiles({
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
    const context = this.#chosen?.context ?? this.#own?.context;
    if (context === undefined)
      throw new SimError('NOT_CONNECTED', 'TLS needs the key of the certificate and the root certificates of servers');
    return context;
  }

  /** Facts of the certificate in force. */
  get facts(): CertificateFacts | null {
    return certificateFacts(this.#texts.cert);
  }

  get shown(): CsipCertificates {
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
    const { testPki, io } = this.#options;
    const available = this.#available;
    if (testPki === null || !available.includes(name)) {
      const detail =
        testPki === null
          ? 'is one of the test certificates, which are there with use_test_pki_certs only'
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
      io?.readText ?? readTextFile,
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
    this.#own?.watch();
  }

  unwatch(): void {
    this.#own?.unwatch();
  }

  /** Reads changed files, on request. */
  reload(): void {
    this.#own?.reload();
  }

  get #policy(): 'csip' | 'csip_strict' {
    return this.#options.strictCipher ? 'csip_strict' : 'csip';
  }

  get #available(): readonly CsipCertificateName[] {
    const { testPki, io } = this.#options;
    return csipCertificateNames.filter(
      (name) => name === 'default' || (testPki !== null && exists(join(testPki, `${name}.pem`), io)),
    );
  }

  get #texts(): CsipPem {
    if (this.#chosen !== null) return this.#chosen.pem;
    const { cert, key, ca } = this.#own?.material.context ?? {};
    return { cert: text(cert) || this.#plainCert, key: text(key), rootCert: text(ca) };
  }

  #choose(name: CsipCertificateName | null, pem: CsipPem, names: ClientNames): void {
    const result = clientMaterial(pem, this.#policy, names);
    if ('issues' in result) throw refusal(result.issues);
    this.#chosen = { name, pem, context: createSecureContext(result.material.context) };
    this.#options.onChange?.();
  }
}

/** Texts of material made from texts. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function refusal(issues: readonly { readonly name: string; readonly detail: string }[]): SimError {
  const words = issues.map(({ name, detail }) => `${name.slice(1)} ${detail}`);
  return new SimError('COMMAND_BAD_VALUE', words.join('; '), issues);
}

function exists(path: string, io: CredentialsOptions['io']): boolean {
  if (io !== undefined) return io.stampOf(path) !== null;
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** @throws SimError CONFIG_INVALID */
function readCertificate(path: string, name: string, readText: (path: string, maxBytes: number) => string): string {
  const { texts, issues } = readPemFiles([['cert', { name, path }]], readText);
  const { cert = '' } = texts;
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', `${protocol} has no certificate`, issues);
  if (certificateFacts(cert) !== null) return cert;
  throw new SimError('CONFIG_INVALID', `${protocol} has no certificate`, [
    { name, detail: 'is not a certificate in PEM' },
  ]);
}
