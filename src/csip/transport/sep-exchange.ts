/** Requests to one server of IEEE 2030.5 over HTTP: documents, redirects, faults and messages. */
import type { SecureContext } from 'node:tls';
import { errorText, SimError } from '../../core/errors.ts';
import { ConnectError } from '../../core/net/connect.ts';
import type { NameSources } from '../../core/net/outbound.ts';
import { packageVersion } from '../../core/package-files.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { OutgoingDocument, ReceivedDocument } from '../xml/schema.ts';
import { undisturbed, retryAfterMs } from './exchange.ts';
import type {
  Disturbance,
  ExchangeDisturber,
  ExchangeWitness,
  RefusalReason,
  SepAnswer,
  SepExchange,
  SepRequest,
  TlsDisturbance,
} from './exchange.ts';
import { HttpClient, httpLimits } from './http.ts';
import type { HttpAnswer, HttpLimits } from './http.ts';
import { csipChannelName, recordExchange } from './messages.ts';
import type { CsipChannel } from './messages.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';

interface LinkRules {
  /** scheme, host and port of the server */
  readonly origin: URL;
  /** additional hosts, lower case, without port */
  readonly allowedHosts: readonly string[];
  /** false: the rules of outgoing connections hold, for a target from REST or the network */
  readonly anywhere: boolean;
}

const maxMoved = 1000;
const maxHrefLength = 4096;

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();

/** A link or redirect of the server that is not followed. */
class LinkRefusal extends SimError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super('PEER_ERROR', message);
    this.reason = reason;
  }
}

/** Rules for links and redirects of a server, and its permanent redirects. */
class Links {
  readonly #rules: LinkRules;
  readonly #hosts: ReadonlySet<string>;
  /** targets of 301 and 308 by URL */
  readonly #moved = new Map<string, string>();
  /** targets of redirects that keep the query, without it: such a resource has moved with all its pages */
  readonly #movedPaths = new Map<string, string>();

  constructor(rules: LinkRules) {
    this.#rules = rules;
    this.#hosts = new Set([bareHost(rules.origin), ...rules.allowedHosts]);
  }

  /**
   * Resolves a reference by RFC 3986.
   * @param base URL of the document that contains it; default: the server
   * @throws SimError PEER_ERROR for a link that must not be followed
   */
  resolve(href: string, base: string = this.#rules.origin.href): URL {
    const { origin, anywhere } = this.#rules;
    const refuse = (reason: string) => new SimError('PEER_ERROR', `the server links to ${shortened(href)}, ${reason}`);
    if (href.length > maxHrefLength || !URL.canParse(href, base)) throw refuse('which is not a URI');
    const url = new URL(href, base);
    url.hash = '';
    const elsewhere = (reason: string) => new LinkRefusal('elsewhere', refuse(reason).message);
    if (url.protocol !== origin.protocol) throw elsewhere(`which is not of the scheme ${origin.protocol.slice(0, -1)}`);
    if (url.username !== '' || url.password !== '') throw refuse('which contains a user name');
    if (!this.#hosts.has(bareHost(url))) throw elsewhere('a host that is not allowed (csip_allowed_host)');
    if (!anywhere && isRefusedTarget(bareHost(url))) throw refuse(`which ${refusedTargetText}`);
    return url;
  }

  /** Stores a permanent redirect. */
  move(from: URL, to: URL): void {
    if (from.search === to.search) remember(this.#movedPaths, withoutQuery(from), withoutQuery(to));
    else remember(this.#moved, from.href, to.href);
  }

  /** The present URL of a resource. null: not moved. */
  movedTo(url: URL): URL | null {
    const whole = this.#moved.get(url.href);
    if (whole !== undefined) return new URL(whole);
    const path = this.#movedPaths.get(withoutQuery(url));
    if (path === undefined) return null;
    const moved = new URL(path);
    moved.search = url.search;
    return moved;
  }

  /** Forgets the redirect of a resource, for example after a 404. */
  forget(url: URL): void {
    this.#moved.delete(url.href);
    this.#movedPaths.delete(withoutQuery(url));
  }
}

function remember(moves: Map<string, string>, from: string, to: string): void {
  const oldest = moves.size >= maxMoved ? moves.keys().next() : null;
  if (oldest?.done === false) moves.delete(oldest.value);
  moves.set(from, to);
}

function withoutQuery(url: URL): string {
  return url.origin + url.pathname;
}

const shownLength = 200;

/** A text of the server, shortened for messages. */
function shortened(href: string): string {
  return href.length > shownLength ? `${href.slice(0, shownLength)}…` : href;
}

/** Reads and writes bodies. */
export interface SepCodec {
  /** A promise for a long document, which takes several turns of the event loop. @throws SimError PEER_ERROR */
  parse(octets: Uint8Array): ReceivedDocument | Promise<ReceivedDocument>;
  build(document: OutgoingDocument): string;
}

/** Certificates that a client presents and trusts. */
export interface TlsIdentity {
  /** replaced when certificates change */
  readonly context: SecureContext;
  disturbed(by: TlsDisturbance): SecureContext;
}

/** TLS of an exchange. A replaced context applies to new connections. */
interface ExchangeTls {
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
  /** absent: nobody judges the server */
  readonly witness?: ExchangeWitness;
  readonly limits?: Partial<HttpLimits>;
  readonly names?: NameSources;
}

const mediaType = 'application/sep+xml';
const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const permanent: ReadonlySet<number> = new Set([301, 308]);
/** A redirect of a GET; any other method was carried out, and its result is elsewhere (RFC 9110 15.4.4). */
const seeOther = 303;
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
  readonly redirects: number;
  readonly middleMonotonicMs: number;
  readonly durationMs: number;
  /** id in the wire log; null: it is off */
  readonly messageId: number | null;
}

export class HttpExchange implements SepExchange {
  readonly origin: string;
  readonly #options: ExchangeOptions;
  readonly #disturber: ExchangeDisturber;
  readonly #links: Links;
  readonly #ending = new AbortController();
  /** connections of disturbed requests under way */
  readonly #disturbedClients = new Set<HttpClient>();
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

  /** Version, suite and certificate of the server in the last handshake; null: none, or plain HTTP. */
  get handshake(): { readonly handshake: string; readonly certificate: string | null } | null {
    const { negotiated, peerCertificate } = this.#http;
    if (negotiated === null) return null;
    return { handshake: `${negotiated.version} ${negotiated.suite}`, certificate: peerCertificate };
  }

  async request(request: SepRequest): Promise<SepAnswer> {
    try {
      return await this.#request(request);
    } catch (error) {
      if (error instanceof LinkRefusal) this.#options.witness?.refused(request, error.reason, error.message);
      throw error;
    }
  }

  async #request(request: SepRequest): Promise<SepAnswer> {
    if (this.#ending.signal.aborted) throw new SimError('NOT_CONNECTED', 'the connection is closed');
    const url = this.#links.resolve(request.href, request.base);
    const disturbance = this.#disturber.active ? this.#disturbanceOf(request, url) : null;
    const document = request.body === undefined ? null : (disturbance?.body ?? request.body);
    const body = document === null ? null : this.#octetsOf(document, disturbance);
    const signal = request.signal ?? null;
    if (disturbance !== null) await this.#disturbed(disturbance, { request, url, body, signal });
    if (disturbance?.suppress) return { ...this.#asAccepted(url), arrived: null };
    const arrived = body === null ? {} : await this.#arrivedIn(body, disturbance);
    const disturbedClient = disturbance?.tls === undefined ? null : this.#disturbedClient(disturbance.tls);
    try {
      const http = disturbedClient ?? this.#current();
      const leg = { request, http, body, contentType: disturbance?.contentType, signal };
      if (disturbance?.twice) await this.#follow(leg, url);
      const came = await this.#follow(leg, url);
      return { ...(await this.#answerOf(request, came, disturbance !== null)), ...arrived };
    } finally {
      if (disturbedClient !== null) {
        this.#disturbedClients.delete(disturbedClient);
        await disturbedClient.close();
      }
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#http, ...this.#disturbedClients].map((client) => client.close()));
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
  #disturbedClient(by: TlsDisturbance): HttpClient | null {
    const { tls } = this.#options;
    if (tls === null) return null;
    const client = this.#client(tls.identity.disturbed(by));
    this.#disturbedClients.add(client);
    return client;
  }

  #disturbanceOf({ method, resource, deviceIndex, body }: SepRequest, { pathname }: URL): Disturbance | null {
    return this.#disturber.disturb({ method, resource, deviceIndex, path: pathname, body: body ?? null });
  }

  async #follow(leg: Leg, first: URL): Promise<Arrived> {
    const visited = [first];
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const url = visited.at(-1) ?? first;
      const moved = this.#links.movedTo(url);
      if (moved !== null) {
        visited.push(this.#links.resolve(moved.href));
        continue;
      }
      const arrived = await this.#send(leg, url);
      const { status, headers } = arrived;
      const isRedirect = redirects.has(status) || (status === seeOther && leg.request.method === 'GET');
      const location = isRedirect ? headers['location'] : undefined;
      if (location === undefined) {
        if (status >= firstRefusal) for (const each of visited) this.#links.forget(each);
        // neither success nor refusal, so callers would misread it
        else if (status >= 300 && (status !== seeOther || leg.request.method === 'GET'))
          throw new SimError('PEER_ERROR', `${url.href} answers ${status} without a location to follow`);
        return { ...arrived, redirects: hops };
      }
      const target = this.#links.resolve(location, url.href);
      if (permanent.has(status)) this.#links.move(url, target);
      visited.push(target);
    }
    // a loop of permanent redirects must not be remembered
    for (const each of visited) this.#links.forget(each);
    throw new LinkRefusal('endless', `${first.href} leads to more than ${maxRedirects} redirects`);
  }

  async #send({ request, http, body, contentType = mediaType, signal }: Leg, url: URL): Promise<Arrived> {
    const { clock, channel } = this.#options;
    const headers = {
      'user-agent': `derbench/${packageVersion()}`,
      accept: mediaType,
      ...(body !== null && { 'content-type': contentType }),
    };
    const beganMs = clock.monotonicMs();
    const record = (answer: HttpAnswer | null, error: string | null) => {
      if (!channel.active) return null;
      return recordExchange(channel, {
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
      const messageId = record(answer, null);
      const endMs = clock.monotonicMs();
      const times = { middleMonotonicMs: (beganMs + endMs) / 2, durationMs: endMs - beganMs };
      return { ...answer, url, redirects: 0, ...times, messageId };
    } catch (error) {
      record(null, errorText(error));
      const isExpired = error instanceof ConnectError && error.reason === 'CERT_HAS_EXPIRED';
      if (isExpired && http === this.#http) this.#options.witness?.certificateExpired();
      throw error;
    }
  }

  async #answerOf(request: SepRequest, came: Arrived, isDisturbed: boolean): Promise<SepAnswer> {
    const { status, headers, body, url, middleMonotonicMs } = came;
    const retryMs = retryAfterMs(headers['retry-after'], this.#options.clock.nowMs());
    const location = headers['location'];
    return {
      status,
      url: url.href,
      location: location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).href : null,
      document: await this.#witnessed(request, came, isDisturbed),
      middleMonotonicMs,
      octets: body.length,
      ...(retryMs !== null && { retryAfterMs: retryMs }),
    };
  }

  /** The document of an answer, which the witness sees first. @throws SimError PEER_ERROR */
  async #witnessed(request: SepRequest, came: Arrived, isDisturbed: boolean): Promise<ReceivedDocument | null> {
    const { witness } = this.#options;
    const { status, headers, body, url, redirects, middleMonotonicMs, durationMs, messageId } = came;
    const saw = (document: ReceivedDocument | null, unreadable: string | null) => {
      const message = messageId === null ? null : { channel: csipChannelName, id: messageId };
      const times = { middleMonotonicMs, durationMs };
      const answer = { status, url: url.href, redirects, headers, body, document, unreadable, ...times };
      witness?.answered({ request, ...answer, isDisturbed, message });
    };
    try {
      const document =
        status >= firstRefusal
          ? await this.#errorIn(body)
          : request.method === 'GET'
            ? await this.#documentIn(body, request.resource, headers)
            : null;
      saw(document, null);
      return document;
    } catch (error) {
      if (error instanceof SimError && error.code === 'PEER_ERROR') saw(null, error.message);
      throw error;
    }
  }

  /** @throws SimError PEER_ERROR */
  async #documentIn(body: Buffer, resource: string, headers: HttpAnswer['headers']): Promise<ReceivedDocument | null> {
    if (body.length === 0) return null;
    const type = headers['content-type'] ?? '';
    try {
      return await this.#options.codec.parse(body);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'PEER_ERROR') throw error;
      const hint = type === '' || /xml/i.test(type) ? '' : ` (its type is ${type.slice(0, 80)})`;
      throw new SimError('PEER_ERROR', `the answer about ${resource} cannot be read${hint}: ${error.message}`);
    }
  }

  /** The Error document of a refusal; other documents are ignored. */
  async #errorIn(body: Buffer): Promise<ReceivedDocument | null> {
    if (body.length === 0) return null;
    try {
      const document = await this.#options.codec.parse(body);
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
  async #arrivedIn(body: Buffer, disturbance: Disturbance | null): Promise<Pick<SepAnswer, 'arrived'>> {
    if (disturbance?.body === undefined && disturbance?.rewrite === undefined) return {};
    try {
      return { arrived: await this.#options.codec.parse(body) };
    } catch {
      return { arrived: null };
    }
  }

  /** A fabricated answer to a request that a fault suppresses. */
  #asAccepted({ href: url }: URL): SepAnswer {
    const { clock } = this.#options;
    return { status: 204, url, location: null, document: null, middleMonotonicMs: clock.monotonicMs() };
  }

  /** Applies the delay and the drop of a disturbance. @throws SimError PEER_TIMEOUT for a dropped request */
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
        reject(new SimError('NOT_CONNECTED', 'the request was aborted'));
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
