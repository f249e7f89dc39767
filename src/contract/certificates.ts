/** Certificates that a simulator keeps by name. REST adds and removes them; settings choose them by name. */
import { SimError } from '../core/errors.ts';

/** `device`: what a client presents; `server`: what a server presents; `ca`: an authority. */
export const certificateKinds = ['device', 'server', 'ca'] as const;
export type CertificateKind = (typeof certificateKinds)[number];

/** Letters, digits, `-`, `_` and `.`, the first one no dot and no dash. */
export const certificateNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
export const maxCertificates = 256;
/** Characters of one PEM text. */
export const maxPemLength = 32_768;
/** Characters of all PEM texts of a store. */
export const maxStoredLength = 4 * 1024 * 1024;

/** The public part of a certificate of the store. */
export interface StoredCertificate {
  readonly name: string;
  readonly kind: CertificateKind;
  /** may be empty, as in certificates of devices */
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** hex digits in upper case */
  readonly serial: string;
  /** certificates of `certPem` */
  readonly chainLength: number;
  readonly hasKey: boolean;
  /** null: it is not a `device` */
  readonly lfdi: string | null;
  readonly sfdi: number | null;
  /** reasons for which peers may refuse it now */
  readonly warnings: readonly string[];
  /** settings and connections that use it */
  readonly usedBy: readonly string[];
  /** wall clock, ms since the epoch */
  readonly addedAtMs: number;
  /** the certificate, followed by its intermediates */
  readonly certPem: string;
  /** authorities that the other end must descend from; null: none were given */
  readonly caPem: string | null;
}

/** PEM texts for a TLS context. */
export interface CertificatePem {
  /** the certificate, followed by its intermediates */
  readonly cert: string;
  /** PKCS#8 */
  readonly key: string;
  /** authorities that the other end must descend from; null: none were given */
  readonly ca: string | null;
}

export interface CertificateAddition {
  readonly name: string;
  readonly certPem: string;
  readonly keyPem?: string;
  readonly caPem?: string;
}

/** A test hierarchy of IEEE 2030.5, as `derbench pki` writes it. */
export interface PkiRequest {
  readonly devices: number;
  /** names and addresses of the server besides those of this machine */
  readonly hosts: readonly string[];
  /** before each name */
  readonly prefix: string;
}

export interface GeneratedPki {
  readonly created: readonly StoredCertificate[];
  /** names that were there before, and stayed */
  readonly kept: readonly string[];
}

/** A name that the store does not have is refused with SimError UNKNOWN_RESOURCE. */
export interface CertificateStore {
  /** by name */
  list(): readonly StoredCertificate[];
  get(name: string): StoredCertificate;
  /** The texts for TLS, with the private key. @throws SimError COMMAND_CONFLICT for a certificate without a key */
  tls(name: string): CertificatePem;
  /**
   * Keeps a certificate from being removed.
   * @param by setting or connection, as `used_by` shows it
   * @returns ends the use; further calls do nothing
   */
  use(name: string, by: string): () => void;
  /**
   * Resolves when the certificate is durable.
   * @throws SimError COMMAND_BAD_VALUE with issues that never quote a key, COMMAND_CONFLICT for a name in use or a full store
   */
  add(addition: CertificateAddition): Promise<StoredCertificate>;
  /**
   * Generates the certificates of a hierarchy whose names the store does not have; those that it has stay, and issue the others.
   * @throws SimError COMMAND_CONFLICT for a full store or an issuer without a key, SHORTAGE
   */
  generate(request: PkiRequest): Promise<GeneratedPki>;
  /** Resolves when it is removed for good. @throws SimError COMMAND_CONFLICT while it is in use */
  remove(name: string): Promise<StoredCertificate>;
}

const unknown = (name: string): never => {
  throw new SimError('UNKNOWN_RESOURCE', `there is no certificate ${JSON.stringify(name)}`);
};
const notKept = () => Promise.reject(new SimError('COMMAND_CONFLICT', 'this simulator keeps no certificates'));

/** A store without room. */
export const noCertificates: CertificateStore = {
  list: () => [],
  get: unknown,
  tls: unknown,
  use: unknown,
  add: notKept,
  generate: notKept,
  remove: unknown,
};
