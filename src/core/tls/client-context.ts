/** TLS of clients: contexts from PEM texts or files by policy, and the options of a connection with them. */
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket, DEFAULT_CIPHERS } from 'node:tls';
import type { ConnectionOptions, SecureContext, SecureContextOptions } from 'node:tls';
import { SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import { certificatesOf, keyOf, withCcm8InForce, readPemFiles } from './material.ts';
import type { TlsMaterial } from './material.ts';
import { TlsWatch } from './watch.ts';
import type { TlsWatchBasics } from './watch.ts';

/** Versions and ciphers offered by the clients of each protocol in a TLS handshake. */
export type ClientPolicy = 'csip' | 'csip_strict' | 'ocpp' | 'sunspec';

type Offer = Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers'>;

/** The suite that IEEE 2030.5 and Secure SunSpec Modbus require, which runtimes do not offer by default. */
const ccm8 = 'ECDHE-ECDSA-AES128-CCM8';
/** The level that permits CCM8 in every OpenSSL. It also permits weak keys, so only protocols that need CCM8 use it. */
const anyStrength = '@SECLEVEL=0';

/** IEEE 2030.5 6.7: TLS 1.2 alone, since with TLS 1.3 on offer the required suite would never be used. */
const only12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

/** OCPP 2.x part 2, A00, and ECDHE-RSA for central systems with an RSA key that offer forward secrecy. */
const ocppSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
];

export const clientOffers: Readonly<Record<ClientPolicy, Offer>> = {
  // many head-ends offer GCM alone
  csip: { ...only12, ciphers: `${ccm8}:ECDHE-ECDSA-AES128-GCM-SHA256:${anyStrength}` },
  csip_strict: { ...only12, ciphers: `${ccm8}:${anyStrength}` },
  ocpp: { minVersion: 'TLSv1.2', ciphers: ocppSuites.join(':') },
  // loads the module of Node for TLS, which most runs do not need
  get sunspec() {
    return { minVersion: 'TLSv1.2', ciphers: withCcm8InForce(`${DEFAULT_CIPHERS}:${ccm8}`) } as const;
  },
};

/** Root certificates of the other end, and the certificate and key of this end if the other end requests them. */
export interface ClientIdentity<T> {
  readonly rootCert: T;
  /** certificate of this end, followed by those of intermediate CAs */
  readonly cert?: T;
  readonly key?: T;
}

/** Names of certificate, key and root certificates in issues. */
export type ClientNames = Required<ClientIdentity<string>>;

function identityIssues({ cert, key }: ClientIdentity<string>, names: ClientNames): Issue[] {
  if (cert === undefined && key === undefined) return [];
  if (cert === undefined) return [{ name: names.cert, detail: 'is required with a key' }];
  if (key === undefined) return [{ name: names.key, detail: 'is required with a certificate' }];
  const [certificate] = certificatesOf(cert) ?? [];
  const privateKey = keyOf(key);
  const issues: Issue[] = [];
  if (certificate === undefined) issues.push({ name: names.cert, detail: 'is not a certificate in PEM' });
  if (typeof privateKey === 'string')
    issues.push({ name: names.key, detail: 'is not an unencrypted private key in PEM' });
  else if (certificate?.checkPrivateKey(privateKey) === false)
    issues.push({ name: names.key, detail: 'does not belong to the certificate' });
  return issues;
}

/** Options of the context of a client, or issues of the texts, which never quote them. */
export function clientMaterial(
  pem: ClientIdentity<string>,
  policy: ClientPolicy,
  names: ClientNames,
): { readonly material: TlsMaterial } | { readonly issues: readonly Issue[] } {
  const issues = identityIssues(pem, names);
  if (!certificatesOf(pem.rootCert)) issues.push({ name: names.rootCert, detail: 'is not a certificate in PEM' });
  if (issues.length > 0) return { issues };
  const { rootCert: ca, cert, key } = pem;
  const context: SecureContextOptions = { ca, ...(cert && key && { cert, key }), ...clientOffers[policy] };
  try {
    createSecureContext(context);
  } catch {
    const name = cert === undefined ? names.rootCert : names.cert;
    return { issues: [{ name, detail: 'cannot be used: its key or its signature is too weak' }] };
  }
  const [certificate] = cert === undefined ? [] : (certificatesOf(cert) ?? []);
  return {
    material: {
      context,
      validFromMs: certificate === undefined ? -Infinity : Date.parse(certificate.validFrom),
      validToMs: certificate === undefined ? Infinity : Date.parse(certificate.validTo),
    },
  };
}

/**
 * A context from texts of a request over REST.
 * @param place the member of the request that holds the texts: `tls` gives the issues `/tls/cert`, `/tls/key`,
 *   `/tls/root_cert`
 * @throws SimError COMMAND_BAD_VALUE; the texts themselves are never in it
 */
export function createClientContext(pem: ClientIdentity<string>, policy: ClientPolicy, place: string): SecureContext {
  const names = { cert: `/${place}/cert`, key: `/${place}/key`, rootCert: `/${place}/root_cert` };
  const result = clientMaterial(pem, policy, names);
  if ('material' in result) return createSecureContext(result.material.context);
  const words = result.issues.map(({ name, detail }) => `${name.slice(1).replaceAll('/', '.')} ${detail}`);
  throw new SimError('COMMAND_BAD_VALUE', words.join('; '), result.issues);
}

/** TLS of a connection that is opened here. */
export interface ClientTlsUse {
  readonly context: SecureContext;
  /** true if the certificate of the other end must name the host; its chain is checked in any case */
  readonly checkHostname: boolean;
}

/**
 * Options for `tls.connect`, `https.request`, the `connect` of an `Agent` of undici, and `ws`. Agents keep connections
 * by host and not by context: each context needs an agent of its own.
 */
export function clientTlsOptions({ context, checkHostname }: ClientTlsUse): ConnectionOptions {
  return {
    secureContext: context,
    // also where the environment says otherwise (NODE_TLS_REJECT_UNAUTHORIZED)
    rejectUnauthorized: true,
    ...(!checkHostname && { checkServerIdentity: () => undefined }),
  };
}

/** Negotiated version and cipher: `TLSv1.2`, `ECDHE-ECDSA-AES128-CCM8`. */
export interface Negotiated {
  readonly version: string;
  /** OpenSSL name */
  readonly suite: string;
}

/** @param socket after its handshake. @returns null for a connection in clear */
export function negotiatedBy(socket: Socket): Negotiated | null {
  if (!(socket instanceof TLSSocket)) return null;
  return { version: socket.getProtocol() ?? 'none', suite: socket.getCipher().name };
}

/** The certificate files of a client: read at start, and again when they change. */
interface ClientTlsFilesOptions extends TlsWatchBasics {
  /** paths of PEM files */
  readonly files: ClientIdentity<string>;
  /** the settings that name the files */
  readonly names: ClientNames;
  readonly policy: ClientPolicy;
  /** called after `context` was replaced; open connections keep the previous one */
  readonly onChange?: () => void;
}

/** A context that is replaced when its files change. */
export class ClientTlsFiles extends TlsWatch {
  #context: SecureContext;

  /** @throws SimError CONFIG_INVALID with the errors in the files */
  constructor({ files, names, policy, onChange, ...basics }: ClientTlsFilesOptions) {
    const filesByRole = (['cert', 'key', 'rootCert'] as const).flatMap((name) => {
      const path = files[name];
      return path === undefined ? [] : [[name, { name: names[name], path }] as const];
    });
    super({
      ...basics,
      names,
      peers: 'servers',
      paths: filesByRole.map(([, { path }]) => path),
      keyPath: files.key,
      read(readText) {
        const { texts, issues } = readPemFiles(filesByRole, readText);
        return issues.length > 0 ? { issues } : clientMaterial({ rootCert: '', ...texts }, policy, names);
      },
      replaced: (material) => {
        this.#context = createSecureContext(material.context);
        onChange?.();
      },
    });
    this.#context = createSecureContext(this.material.context);
  }

  /** For new connections. */
  get context(): SecureContext {
    return this.#context;
  }
}
