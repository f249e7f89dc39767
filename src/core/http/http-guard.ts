import { isIP, isIPv4 } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { ProblemCode } from './problem.ts';

export interface HttpGuardConfig {
  /** the bound address */
  readonly host: string;
  /** further names of the server */
  readonly allowedHosts: readonly string[];
  /** other origins whose pages may use the interface, as `scheme://host[:port]` */
  readonly corsOrigins: readonly string[];
}

interface Refusal {
  readonly code: Extract<ProblemCode, 'misdirected-host' | 'cross-origin'>;
  readonly detail: string;
}

/**
 * The browser rules of an interface without a password: which host names are served (against DNS rebinding)
 * and which pages may change state. Requests without `Origin` (scripts) pass.
 */
export interface HttpGuard {
  /** Refusal of a request whose `Host` is not served here; null: it is served. */
  checkHost(request: IncomingMessage): Refusal | null;
  /** Refusal of a state-changing request, or an upgrade, of an origin that is not allowed; null: allowed. */
  checkOrigin(request: IncomingMessage): Refusal | null;
  /**
   * Refusal of a read by a page of an origin that is not allowed; null: allowed. Without CORS headers such a page
   * cannot see the answer; the refusal also stops it from loading the answer as script, image or frame. Links to it
   * work.
   */
  checkRead(request: IncomingMessage): Refusal | null;
  /** The origin of the request if it is a configured one, for the CORS headers; any other origin is never echoed. */
  corsOrigin(request: IncomingMessage): string | undefined;
}

const wildcardAddresses = new Set(['0.0.0.0', '::', '[::]', '']);

/** An IPv6 address in the one spelling that browsers send, without brackets. */
function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** Host name of a `Host` header in lower case, without port and brackets; null: the header is not valid. */
export function hostName(header: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(header);
  if (!match) return null;
  const name = (match[1] ?? match[2] ?? '').toLowerCase();
  if (match[1] === undefined) return name;
  return isIP(name) === 6 ? canonicalIPv6(name) : null;
}

/** True if a host name, in lower case and without brackets, always means this machine. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** True for a connection from this machine or over TLS, which nobody on the network can read. */
export function isPrivateConnection({
  remoteAddress = '',
  encrypted = false,
}: {
  readonly remoteAddress?: string | undefined;
  readonly encrypted?: boolean;
}): boolean {
  return encrypted || isLoopback(remoteAddress.replace(/^::ffff:/, ''));
}

/** A configured name or address in the form of `hostName`. */
function configuredName(name: string): string {
  const bare = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  // an address with a zone (fe80::1%eth0) is no address of a URL
  return isIP(bare) === 6 && !bare.includes('%') ? canonicalIPv6(bare) : bare;
}

function fetchMetadata({ headers }: IncomingMessage, name: 'site' | 'mode' | 'dest'): string | undefined {
  const value = headers[`sec-fetch-${name}`];
  return typeof value === 'string' ? value.toLowerCase() : undefined;
}

const ownSites = new Set([undefined, 'same-origin', 'none']);

/** True if no page of another origin has caused a request, as far as its `Sec-Fetch-Site` says. */
export function isFromOwnSite(request: IncomingMessage): boolean {
  return ownSites.has(fetchMetadata(request, 'site'));
}

/** `Host` as sent; null: missing, or sent more than once. */
function singleHost(request: IncomingMessage): string | null {
  let host: string | null = null;
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== null) return null;
    host = request.rawHeaders[i + 1] ?? null;
  }
  return host;
}

const maxServed = 64;

export function createHttpGuard(config: HttpGuardConfig): HttpGuard {
  const anyLiteral = wildcardAddresses.has(config.host);
  const names = new Set([config.host, ...config.allowedHosts].map(configuredName).filter((name) => name !== ''));
  const origins = new Set(config.corsOrigins.map((origin) => origin.toLowerCase()));
  /** accepted `Host` headers as sent: a client sends the same one each time */
  const served = new Set<string>();

  function corsOrigin(request: IncomingMessage): string | undefined {
    const origin = request.headers.origin?.toLowerCase();
    return origin !== undefined && origins.has(origin) ? origin : undefined;
  }

  return {
    corsOrigin,
    checkHost(request) {
      const header = singleHost(request);
      if (header !== null && served.has(header)) return null;
      const name = header === null ? null : hostName(header);
      if (header === null || name === null) {
        return { code: 'misdirected-host', detail: 'The request must carry exactly one valid Host header.' };
      }
      if (names.has(name) || isLoopback(name) || (anyLiteral && isIP(name) !== 0)) {
        if (served.size < maxServed) served.add(header);
        return null;
      }
      return {
        code: 'misdirected-host',
        detail:
          `The host name "${name}" is not served here. Names besides localhost and the bound address are ` +
          'admitted with --allowed_host.',
      };
    },
    checkOrigin(request) {
      const { origin, host } = request.headers;
      if (corsOrigin(request) !== undefined) return null;
      if (origin !== undefined && origin.toLowerCase() !== `http://${(host ?? '').toLowerCase()}`) {
        return {
          code: 'cross-origin',
          detail: 'The Origin header names another origin than this server. Origins are admitted with --cors_origin.',
        };
      }
      if (!isFromOwnSite(request)) {
        return { code: 'cross-origin', detail: 'A page of another origin may not change the state of the simulator.' };
      }
      return null;
    },
    checkRead(request) {
      if (isFromOwnSite(request) || corsOrigin(request) !== undefined) return null;
      if (fetchMetadata(request, 'mode') === 'navigate' && fetchMetadata(request, 'dest') === 'document') return null;
      return { code: 'cross-origin', detail: 'A page of another origin may link to this address, but not load it.' };
    },
  };
}
