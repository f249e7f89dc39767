/** TLS of clients: contexts from PEM texts by policy, and the options of a connection with them. */
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { ConnectionOptions, SecureContext, SecureContextOptions } from 'node:tls';
import { SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import { clientOffers } from './client-policy.ts';
import type { ClientPolicy } from './client-policy.ts';
import { certificatesOf, keyOf } from './material.ts';
import type { TlsMaterial } from './material.ts';

/** Root certificates of the other end, and the own certificate with its key where the other end asks for one. */
export interface ClientIdentity<T> {
  readonly rootCert: T;
  /** certificates of intermediate CAs behind it */
  readonly cert?: T;
  readonly key?: T;
}

/** How issues name the three. */
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

/** Options of the context of a client, or the errors in the texts, which no issue repeats. */
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
 * A context from texts that came over REST.
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
  /** true if the certificate of the other end must be one of the host; its chain is checked either way */
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

/** @param socket after its handshake. @returns null for one in clear */
export function negotiatedBy(socket: Socket): Negotiated | null {
  if (!(socket instanceof TLSSocket)) return null;
  return { version: socket.getProtocol() ?? 'none', suite: socket.getCipher().name };
}
