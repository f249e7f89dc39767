/** Requests to one server of IEEE 2030.5 over HTTP: documents, redirects, faults and messages. */
import type { SecureContext } from 'node:tls';
import { errorText, SimError } from '../../core/errors.ts';
import type { NameSources } from '../../core/net/outbound.ts';
import { packageVersion } from '../../core/package-files.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { OutgoingDocument, ReceivedDocument } from '../xml/document.ts';
import { undisturbed } from './disturber.ts';
import type { Disturbance, ExchangeDisturber, TlsDisturbance } from './disturber.ts';
import type { SepAnswer, SepExchange, SepRequest } from './exchange.ts';
import { HttpClient, httpLimits } from './http.ts';
import type { HttpAnswer, HttpLimits } from './http.ts';
import { Links } from './links.ts';
import { recordExchange } from './messages.ts';
import type { CsipChannel } from './messages.ts';
import { retryAfterMs } from './retries.ts';

/** Reads and writes bodies. */
export interface SepCodec {
  /** @throws SimError PEER_ERROR */
  parse(octets: Uint8Array): ReceivedDocument;
  build(document: OutgoingDocument): string;
}

/** Certificates that a client presents and trusts. */
export interface TlsIdentity {
  /** replaced when certificates change */
  readonly context: SecureContext;
  disturbed(by: TlsDisturbance): SecureContext;
}

/** TLS of an exchange. A replaced context applies to new connections. */
export interface ExchangeTls {
  readonly identity: TlsIdentity;
  readonly checkHostname: boolean;
}

export interface ExchangeOptions {
  readonly host: string;
  readonly port: number;
  /** null: plain HTTP */
  readonly tls: ExchangeTls | null;
  /** hosts allowed in links besides that of the server; lower case, without port */
  readonly allowedHosts: readonly string[];
  /** true for a server from a flag or file, which may be anywhere; false: the rules of outgoing connections hold */
  readonly anywhere: boolean;
  readonly codec: SepCodec;
  readonly clock: WallClock;
  readonly later: Later;
  readonly channel: CsipChannel;
  readonly disturber?: ExchangeDisturber;
  readonly limits?: Partial<HttpLimits>;
  readonly names?: NameSources;
}

const mediaType = 'application/sep+xml';
const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const permanent: ReadonlySet<number> = new Set([301, 308]);
/** Lowest status of a refusal, which may have a document. */
const firstRefusal = 400;

/** One request on its way through redirects. */
interface Leg {
  readonly request: SepRequest;
  readonly http: HttpClient;
  readonly body: Buffer | null;
  /** of the body; undefined: that of the standard */
  readonly contentType?: string | undefined;
  readonly signal: AbortSignal | null;
}

interface Arrived extends HttpAnswer {
  readonly url: URL;
  readonly middleMonotonicMs: number;
}

export class HttpExchange implements SepExchange {
  readonly origin: string;
  readonly #options: ExchangeOptions;
  readonly #disturber: ExchangeDisturber;
  readonly #links: Links;
  readonly #ending = new AbortController();
  /** connections of disturbed requests under way */
  readonly #odd = new Set<HttpClient>();
  #http: HttpClient;
  /** the context of `#http` */
  #context: SecureContext | null;

  constructor(options: ExchangeOptions) {
    const { host, port, tls, allowedHosts, anywhere, disturber = undisturbed } = options;
    this.#options = options;
    this.#disturber = disturber;
    const url = new URL(`${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`);
    this.origin = url.origin;
    this.#links = new Links({ origin: url, allowedHosts, anywhere });
    this.#context = tls?.identity.context ?? null;
    this.#http = this.#client(this.#context);
  }

  get negotiated(): SepExchange['negotiated'] {
    const handshake = this.#http.negotiated;
    return handshake === null ? null : { protocol: handshake.version, cipher: handshake.suite };
  }

  async request(request: SepRequest): Promise<SepAnswer> {
    if (this.#ending.signal.aborted) throw new SimError('NOT_CONNECTED', 'the connection is closed');
    const url = this.#links.resolve(request.href, request.base);
    const disturbance = this.#disturber.active ? this.#disturbanceOf(request, url) : null;
    const document = request.body === undefined ? null : (disturbance?.body ?? request.body);
    const body = document === null ? null : this.#octetsOf(document, disturbance);
    const signal = request.signal ?? null;
    if (disturbance !== null) await this.#disturbed(disturbance, { request, url, body, signal });
    if (disturbance?.suppress) return { ...this.#asAccepted(url), arrived: null };
    const arrived = body === null ? {} : this.#arrivedIn(body, disturbance);
    const odd = disturbance?.tls === undefined ? null : this.#oddClient(disturbance.tls);
    try {
      const leg = { request, http: odd ?? this.#current(), body, contentType: disturbance?.contentType, signal };
      if (disturbance?.twice) await this.#follow(leg, url);
      return { ...this.#answerOf(request, await this.#follow(leg, url)), ...arrived };
    } finally {
      if (odd !== null) {
        this.#odd.delete(odd);
        await odd.close();
      }
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#http, ...this.#odd].map((client) => client.close()));
  }

  #client(context: SecureContext | null): HttpClient {
    const { tls, anywhere, limits, later, names } = this.#options;
    return new HttpClient({
      tls: tls === null || context === null ? null : { context, checkHostname: tls.checkHostname },
      anywhere,
      limits: { ...httpLimits, ...limits },
      later,
      ...(names && { names }),
    });
  }

  /** The connections with the present certificate. */
  #current(): HttpClient {
    const context = this.#options.tls?.identity.context ?? null;
    if (context !== this.#context) {
      this.#http.retire();
      this.#context = context;
      this.#http = this.#client(context);
    }
    return this.#http;
  }

  /** Connections for a disturbed request; null over plain HTTP. */
  #oddClient(by: TlsDisturbance): HttpClient | null {
    const { tls } = this.#options;
    if (tls === null) return null;
    const client = this.#client(tls.identity.disturbed(by));
    this.#odd.add(client);
    return client;
  }

  #disturbanceOf({ method, resource, deviceIndex, body }: SepRequest, { pathname }: URL): Disturbance | null {
    return this.#disturber.disturb({ method, resource, deviceIndex, path: pathname, body: body ?? null });
  }

  async #follow(leg: Leg, first: URL): Promise<Arrived> {
    let url = first;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const moved = this.#links.movedTo(url);
      if (moved !== null) {
        url = this.#links.resolve(moved.href);
        continue;
      }
      const arrived = await this.#send(leg, url);
      const location = redirects.has(arrived.status) ? arrived.headers['location'] : undefined;
      if (location === undefined) {
        if (arrived.status >= firstRefusal) this.#links.forget(first);
        // neither success nor refusal, so callers would misread it
        else if (arrived.status >= 300)
          throw new SimError('PEER_ERROR', `${url.href} answers ${arrived.status}, which leads nowhere`);
        return arrived;
      }
      const target = this.#links.resolve(location, url.href);
      if (permanent.has(arrived.status)) this.#links.move(url, target);
      url = target;
    }
    // a circle of permanent redirects must not be remembered
    this.#links.forget(first);
    throw new SimError('PEER_ERROR', `${first.href} leads to more than ${maxRedirects} redirects`);
  }

  async #send({ request, http, body, contentType = mediaType, signal }: Leg, url: URL): Promise<Arrived> {
    const { clock, channel } = this.#options;
    const headers = {
      'user-agent': `derbench/${packageVersion()}`,
      accept: mediaType,
      ...(body !== null && { 'content-type': contentType }),
    };
    const beganMs = clock.monotonicMs();
    const note = (answer: HttpAnswer | null, error: string | null) => {
      if (!channel.active) return;
      recordExchange(channel, {
        direction: 'out',
        peer: url.origin,
        deviceIndex: request.deviceIndex,
        method: request.method,
        url: url.href,
        status: answer?.status ?? null,
        durationMs: clock.monotonicMs() - beganMs,
        requestHeaders: headers,
        requestBody: body,
        responseHeaders: answer?.headers ?? {},
        responseBody: answer?.body ?? null,
        error,
      });
    };
    try {
      const answer = await http.request({ method: request.method, url, headers, body, signal });
      note(answer, null);
      return { ...answer, url, middleMonotonicMs: (beganMs + clock.monotonicMs()) / 2 };
    } catch (error) {
      note(null, errorText(error));
      throw error;
    }
  }

  #answerOf({ method, resource }: SepRequest, { status, headers, body, url, middleMonotonicMs }: Arrived): SepAnswer {
    const wait = retryAfterMs(headers['retry-after'], this.#options.clock.nowMs());
    const location = headers['location'];
    const refused = status >= firstRefusal;
    return {
      status,
      url: url.href,
      location: location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).href : null,
      document: refused ? this.#errorIn(body) : method === 'GET' ? this.#documentIn(body, resource, headers) : null,
      middleMonotonicMs,
      ...(wait !== null && { retryAfterMs: wait }),
    };
  }

  /** @throws SimError PEER_ERROR */
  #documentIn(body: Buffer, resource: string, headers: HttpAnswer['headers']): ReceivedDocument | null {
    if (body.length === 0) return null;
    const type = headers['content-type'] ?? '';
    try {
      return this.#options.codec.parse(body);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'PEER_ERROR') throw error;
      const hint = type === '' || /xml/i.test(type) ? '' : ` (its type is ${type.slice(0, 80)})`;
      throw new SimError('PEER_ERROR', `the answer about ${resource} cannot be read${hint}: ${error.message}`);
    }
  }

  /** The Error document of a refusal; other documents are ignored. */
  #errorIn(body: Buffer): ReceivedDocument | null {
    if (body.length === 0) return null;
    try {
      const document = this.#options.codec.parse(body);
      return document.name === 'Error' ? document : null;
    } catch {
      return null;
    }
  }

  #octetsOf(document: OutgoingDocument, disturbance: Disturbance | null): Buffer {
    const octets = Buffer.from(this.#options.codec.build(document));
    return disturbance?.rewrite?.(octets) ?? octets;
  }

  /** The document that a fault sends instead of the client's. */
  #arrivedIn(body: Buffer, disturbance: Disturbance | null): Pick<SepAnswer, 'arrived'> {
    if (disturbance?.body === undefined && disturbance?.rewrite === undefined) return {};
    try {
      return { arrived: this.#options.codec.parse(body) };
    } catch {
      return { arrived: null };
    }
  }

  /** A fabricated answer to a request that a fault suppresses. */
  #asAccepted({ href: url }: URL): SepAnswer {
    const { clock } = this.#options;
    return { status: 204, url, location: null, document: null, middleMonotonicMs: clock.monotonicMs() };
  }

  /** Delays and drops a disturbed request. */
  async #disturbed(
    { delayMs = 0, drop = false }: Disturbance,
    { request, url, body, signal }: { request: SepRequest; url: URL; body: Buffer | null; signal: AbortSignal | null },
  ): Promise<void> {
    if (delayMs > 0) await this.#wait(delayMs, signal);
    if (!drop) return;
    const error = 'the request was dropped by a fault';
    const { channel } = this.#options;
    if (channel.active)
      recordExchange(channel, {
        direction: 'out',
        peer: url.origin,
        deviceIndex: request.deviceIndex,
        method: request.method,
        url: url.href,
        status: null,
        durationMs: null,
        requestHeaders: {},
        requestBody: body,
        responseHeaders: {},
        responseBody: null,
        error,
      });
    throw new SimError('PEER_TIMEOUT', error);
  }

  #wait(ms: number, signal: AbortSignal | null): Promise<void> {
    const signals = signal === null ? [this.#ending.signal] : [this.#ending.signal, signal];
    return new Promise((resolve, reject) => {
      const end = () => {
        for (const each of signals) each.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        cancel();
        end();
        reject(new SimError('NOT_CONNECTED', 'the request was given up'));
      };
      const cancel = this.#options.later(ms, () => {
        end();
        resolve();
      });
      for (const each of signals) each.addEventListener('abort', giveUp, { once: true });
      if (signals.some(({ aborted }) => aborted)) giveUp();
    });
  }
}
