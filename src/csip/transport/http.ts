/**
 * One HTTP request and its answer, over persistent connections, and a probe over plain HTTP. The HTTP library is loaded
 * by the first request.
 */
import type { NameSources } from '../../core/net/outbound.ts';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type Undici from 'undici';
import { request } from 'node:http';
import { errorText, SimError, shortageOf } from '../../core/errors.ts';
import { lazily } from '../../core/lazy.ts';
import { openSocket, socketErrorText } from '../../core/net/connect.ts';
import { negotiatedBy } from '../../core/tls/client-context.ts';
import type { ClientTlsUse, Negotiated } from '../../core/tls/client-context.ts';
import type { Later } from '../../core/time/timers.ts';
import type { SepMethod } from './exchange.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { guardedLookup, isRefusedTarget, openLookup, refusedTargetText } from '../../core/net/outbound.ts';
import type { CsipHttpProbe } from '../../contract/csip-reports.ts';
import { withoutInterim } from './interim.ts';

const require = createRequire(import.meta.url);
const loadUndici = lazily(() => require('undici') as typeof Undici);

export interface HttpLimits {
  readonly connectMs: number;
  /** from the request to the headers of the answer */
  readonly headersMs: number;
  /** from the headers to the end of the body */
  readonly bodyMs: number;
  /** maximum of one body, before and after decompression */
  readonly bodyBytes: number;
  /** maximum of parallel requests to one server */
  readonly atOnce: number;
}

export const httpLimits: HttpLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  bodyBytes: 1024 * 1024,
  atOnce: 4,
};

/** Idle connections end after this time, so that clients that poll each minute do not hold one permanently. */
const keepAliveMs = 15_000;
const headerBytes = 16 * 1024;

interface HttpRequest {
  readonly method: SepMethod;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** aborts the request; null: only the end of the connection does */
  readonly signal: AbortSignal | null;
}

export interface HttpAnswer {
  readonly status: number;
  /** names in lower case; repeated ones joined by a comma */
  readonly headers: Readonly<Record<string, string>>;
  /** decompressed */
  readonly body: Buffer;
}

interface HttpClientOptions {
  /** applies to new connections; null: plain HTTP */
  readonly tls: ClientTlsUse | null;
  /** true for targets of flags; false for those of REST: the rules of outgoing connections hold */
  readonly anywhere: boolean;
  readonly limits: HttpLimits;
  readonly later: Later;
  readonly names?: NameSources;
}

const inflaters: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** True if the connection ended before the answer was complete. */
const isCut = (error: unknown) => isCode(error, 'UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED');

/** Methods that may be repeated safely. */
const idempotent: ReadonlySet<SepMethod> = new Set(['GET', 'PUT', 'DELETE']);

const refusedHint = 'it may refuse the certificate of this client';

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #pools = new Map<string, Undici.Pool>();
  readonly #ending = new AbortController();
  #negotiated: Negotiated | null = null;
  #peerCertificate: string | null = null;
  #answered = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Version and suite of the last handshake. */
  get negotiated(): Negotiated | null {
    return this.#negotiated;
  }

  /** SHA-256 of the certificate of the server in the last handshake, hex; null: none. */
  get peerCertificate(): string | null {
    return this.#peerCertificate;
  }

  /** @throws SimError PEER_ERROR, PEER_TIMEOUT, NOT_CONNECTED, SHORTAGE */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    try {
      const { statusCode: status, headers, body } = await this.#begin(request);
      this.#answered = true;
      const octets = await this.#read(body);
      // until the next turn the library considers the connection busy, and would open another one
      await setImmediate();
      const flat = flatHeaders(headers);
      return { status, headers: flat, body: await this.#inflated(octets, flat) };
    } catch (error) {
      throw this.#asSimError(error, request);
    }
  }

  /** Closes connections as their requests end. */
  retire(): void {
    for (const pool of this.#pools.values()) void pool.close().catch(() => undefined);
  }

  /** Closes at once; requests under way fail. */
  async close(): Promise<void> {
    this.#ending.abort();
    const closed = new SimError('NOT_CONNECTED', 'the connection was closed');
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy(closed)));
    this.#pools.clear();
  }

  async #begin({ method, url, headers, body, signal }: HttpRequest): Promise<Undici.Dispatcher.ResponseData> {
    const pool = await this.#poolOf(url);
    const options = { method, path: url.pathname + url.search, headers, body, signal };
    try {
      return await pool.request(options);
    } catch (error) {
      // a server may close an idle connection at the moment of a request
      if (!this.#answered || !isCut(error) || !idempotent.has(method) || signal?.aborted) throw error;
      return pool.request(options);
    }
  }

  async #poolOf(url: URL): Promise<Undici.Pool> {
    const existing = this.#pools.get(url.origin);
    if (existing !== undefined) return existing;
    const { Pool } = await loadUndici();
    if (this.#ending.signal.aborted) throw new SimError('NOT_CONNECTED', 'the connection was closed');
    const { limits } = this.#options;
    const pool =
      this.#pools.get(url.origin) ??
      new Pool(url.origin, {
        connections: limits.atOnce,
        connect: (_options, done) => {
          this.#connect(url).then(
            (socket) => done(null, socket),
            (error: unknown) => done(error instanceof Error ? error : new Error(errorText(error)), null),
          );
        },
        headersTimeout: limits.headersMs,
        // #read limits the whole body; the limit of undici is one between two pieces
        bodyTimeout: 0,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMs,
        maxHeaderSize: headerBytes,
      });
    this.#pools.set(url.origin, pool);
    return pool;
  }

  async #connect({ hostname, port, protocol }: URL): Promise<Socket> {
    const { tls, anywhere, limits, names } = this.#options;
    const target = {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeoutMs: limits.connectMs,
      anywhere,
      ...(tls !== null && protocol === 'https:' && { tls }),
    };
    try {
      const socket = await openSocket(target, this.#ending.signal, names);
      this.#negotiated = negotiatedBy(socket);
      this.#peerCertificate = certificateOf(socket);
      return withoutInterim(socket);
    } catch (error) {
      const mayBeRefusal = tls !== null && /(?:reset|closed) the connection$/.test(errorText(error));
      if (!mayBeRefusal) throw error;
      throw new SimError('PEER_ERROR', `${errorText(error)}; ${refusedHint}`);
    }
  }

  /** Reads a whole body. Any early end destroys the connection. */
  async #read(body: Undici.Dispatcher.ResponseData['body']): Promise<Buffer> {
    const { bodyBytes, bodyMs } = this.#options.limits;
    const cancel = this.#options.later(bodyMs, () => {
      body.destroy(new SimError('PEER_TIMEOUT', `the body of the answer did not end within ${bodyMs / 1000} s`));
    });
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        length += piece.length;
        // leaving the loop destroys the body
        if (length > bodyBytes) throw tooLarge(bodyBytes);
        pieces.push(piece);
      }
    } finally {
      cancel();
    }
    return Buffer.concat(pieces, length);
  }

  async #inflated(octets: Buffer, headers: HttpAnswer['headers']): Promise<Buffer> {
    const { bodyBytes } = this.#options.limits;
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (octets.length === 0 || encoding === 'identity') return octets;
    const name = encoding.replace(/^x-/, '');
    const inflater = Object.hasOwn(inflaters, name) ? inflaters[name] : undefined;
    if (inflater === undefined)
      throw new SimError('PEER_ERROR', `the answer has the unknown encoding ${encoding.slice(0, 40)}`);
    try {
      return await inflater(octets, { maxOutputLength: bodyBytes });
    } catch (error) {
      if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(bodyBytes);
      throw new SimError('PEER_ERROR', `the ${encoding} data of the answer cannot be decompressed`);
    }
  }

  #asSimError(error: unknown, { signal, url }: HttpRequest): SimError {
    if (this.#ending.signal.aborted) return new SimError('NOT_CONNECTED', 'the connection was closed');
    if (signal?.aborted) return new SimError('NOT_CONNECTED', 'the request was aborted');
    if (error instanceof SimError) return error;
    const shortage = shortageOf(error);
    if (shortage !== null) return shortage;
    const { limits, tls } = this.#options;
    if (isCode(error, 'UND_ERR_HEADERS_TIMEOUT'))
      return new SimError('PEER_TIMEOUT', `${url.origin} did not answer within ${limits.headersMs / 1000} s`);
    if (isCut(error)) {
      const hint = tls !== null && !this.#answered ? `; ${refusedHint}` : '';
      return new SimError('PEER_ERROR', `${url.origin} closed the connection before its answer was complete${hint}`);
    }
    const text = isCode(error, 'UND_ERR_HEADERS_OVERFLOW')
      ? `the header of its answer has more than ${headerBytes / 1024} KiB`
      : error instanceof Error && error.name === 'HTTPParserError'
        ? 'its answer is not HTTP'
        : error instanceof Error
          ? socketErrorText(error)
          : String(error);
    return new SimError('PEER_ERROR', `${url.origin}: ${text}`);
  }
}

const certificateOf = (socket: Socket): string | null =>
  socket instanceof TLSSocket
    ? (socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toLowerCase() ?? null)
    : null;

function tooLarge(bytes: number): SimError {
  return new SimError('PEER_ERROR', `the answer has more than ${bytes} octets`);
}

function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(flat) as Record<string, string>;
}

interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  /** includes the query */
  readonly path: string;
  /** true if host and port come from flags */
  readonly anywhere: boolean;
  /** default 10 s */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;

/**
 * Sends a GET over plain HTTP, to find out if a server redirects to TLS, and follows no redirect.
 * @returns status and `Location` of the answer
 * @throws SimError PEER_ERROR, PEER_TIMEOUT
 */
export function httpProbe(
  { host, port, path, anywhere, timeoutMs = defaultTimeoutMs }: ProbeTarget,
  names?: NameSources,
): Promise<CsipHttpProbe> {
  const url = `http://${hostAndPort(host, port)}${path}`;
  if (!anywhere && isRefusedTarget(host))
    return Promise.reject(new SimError('PEER_ERROR', `${host} ${refusedTargetText}`));
  const ending = new AbortController();
  const lookup = (anywhere ? openLookup : guardedLookup)(ending.signal, names);
  return new Promise<CsipHttpProbe>((resolve, reject) => {
    const probe = request({ host, port, path, lookup, agent: false, headers: { accept: 'application/sep+xml' } });
    const limit = setTimeout(() => {
      fail(new SimError('PEER_TIMEOUT', `${url} did not answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const end = () => {
      clearTimeout(limit);
      ending.abort();
      probe.destroy();
    };
    const fail = (error: SimError) => {
      end();
      reject(error);
    };
    probe.on('error', (error: NodeJS.ErrnoException) => {
      const notHttp = error.code?.startsWith('HPE_') === true;
      fail(new SimError('PEER_ERROR', `${url}: ${notHttp ? 'its answer is not HTTP' : socketErrorText(error)}`));
    });
    probe.once('response', ({ statusCode = 0, headers }) => {
      end();
      resolve({ url, status: statusCode, location: headers.location ?? null });
    });
    probe.end();
  });
}
