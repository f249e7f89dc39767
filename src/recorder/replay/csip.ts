/**
 * Replays the IEEE 2030.5 server of a recording to the clients of a new build, over plain HTTP. Each request gets its
 * recorded answers in order, and after them the last one again.
 */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostAndPort, listen } from '../../core/net/listen.ts';
import { firstClientMs, Idle } from './options.ts';
import type { ReplayOptions } from './options.ts';
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';
import { Findings, counted } from './report.ts';
import type { ReplayReport } from './report.ts';
import type { Target } from './targets.ts';
import { differenceInWords, compareXml, rootOf } from './document-compare.ts';

interface CsipAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface CsipExchange {
  readonly body: Buffer;
  /** null: the connection failed */
  readonly answer: CsipAnswer | null;
}

/** All requests with the same method, path and query, in recorded order. */
interface CsipRequest {
  /** `GET /dcap` */
  readonly name: string;
  readonly exchanges: CsipExchange[];
}

interface CsipScript {
  readonly requests: ReadonlyMap<string, CsipRequest>;
  /** origins of the recorded servers: `https://host:port` */
  readonly origins: readonly string[];
  readonly notes: readonly string[];
}

const texts = (value: unknown): Readonly<Record<string, string>> =>
  isMembers(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
      )
    : {};

function exchangeOf({ raw, details }: RecordedMessage): CsipExchange {
  const bodyEnd = typeof details.request_octets === 'number' ? details.request_octets : 0;
  const headers = texts(details.response_headers);
  const answer =
    typeof details.status === 'number' ? { status: details.status, headers, body: raw.subarray(bodyEnd) } : null;
  return { body: raw.subarray(0, bodyEnd), answer };
}

/** @param messages of CSIP only */
function csipScriptOf(messages: readonly RecordedMessage[]): CsipScript {
  const requests = new Map<string, CsipRequest>();
  const origins = new Set<string>();
  let [notifications, cut] = [0, 0];
  for (const message of messages) {
    const { method, url } = message.details;
    if (message.direction === 'in') notifications += 1;
    else if (message.cut || typeof method !== 'string' || typeof url !== 'string' || !URL.canParse(url)) cut += 1;
    else {
      const { origin, pathname, search } = new URL(url);
      origins.add(origin);
      const name = `${method} ${pathname}${search}`;
      const request = requests.get(name) ?? { name, exchanges: [] };
      requests.set(name, request);
      request.exchanges.push(exchangeOf(message));
    }
  }
  const notes = [
    ...(notifications > 0 ? [`left out: ${counted(notifications, 'notification')} of the server`] : []),
    ...(cut > 0 ? [`left out: ${counted(cut, 'exchange')} that were cut or have no address`] : []),
  ];
  return { requests, origins: [...origins], notes };
}

/** Maximum octets of one body of a client. */
const maxBody = 1024 * 1024;
/** Root elements of documents whose number depends on the length of a session. */
const periodic = /^(MirrorMeterReading|MirrorMeterReadingList|DERStatus|DERAvailability|DERCapability|DERSettings)$/;
/** Recorded headers that are not sent: the server sets them itself, or they do not hold for the body that is sent. */
const omittedHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'content-encoding'],
]);
const hiddenPin = /(<(?:[\w.-]+:)?pIN\b[^>]*>)\(hidden\)/g;
const timeElement = /(<(?:[\w.-]+:)?(?:currentTime|localTime)\b[^>]*>)(-?\d+)/g;

/** A recorded request, and how often the client has sent it. */
interface Served {
  readonly request: CsipRequest;
  count: number;
}

const inNumbers = ({ request: { exchanges }, count }: Served): string =>
  `${counted(exchanges.length, 'request')} recorded, ${count} received`;

type CsipServerOptions = Pick<ReplayOptions, 'measurementTolerance' | 'ignore' | 'pin'>;

class CsipServer {
  readonly server = createServer((request, response) => {
    this.#take(request, response).catch(() => response.destroy());
  });
  readonly #script: CsipScript;
  readonly #options: CsipServerOptions;
  readonly #findings: Findings;
  /** called for each request that was still missing or is not in the recording, before its answer */
  readonly #progress: () => void;
  readonly #served: ReadonlyMap<string, Served>;
  readonly #unknown = new Set<string>();
  readonly #ids = new Map<string, string>();
  #origin = '';
  /** recorded time of the first Time document, and the instant of its answer; later documents show the time since */
  #firstTime: { readonly recorded: number; readonly atMs: number } | null = null;

  constructor(script: CsipScript, options: CsipServerOptions, findings: Findings, progress: () => void) {
    this.#script = script;
    this.#options = options;
    this.#findings = findings;
    this.#progress = progress;
    this.#served = new Map([...script.requests].map(([name, request]) => [name, { request, count: 0 }]));
  }

  /** @param origin `http://host:port`, which replaces the recorded ones */
  setOrigin(origin: string): void {
    this.#origin = origin;
  }

  get done(): boolean {
    return [...this.#served.values()].every((served) => this.#missing(served) === 0);
  }

  /** Adds missing requests to the findings. */
  finish(): void {
    for (const served of this.#served.values()) {
      const missing = this.#missing(served);
      const { name } = served.request;
      if (missing > 0 && served.count === 0) this.#findings.differ(`${name}: is missing`);
      else if (missing > 0) this.#findings.differ(`${name}: ${inNumbers(served)}`);
    }
  }

  /** Number of missing requests: of polls and periodic reports only the first one is certain. */
  #missing({ request: { name, exchanges }, count }: Served): number {
    const isCounted = name.startsWith('POST ') && !exchanges.some(({ body }) => periodic.test(rootOf(body)));
    return Math.max(0, (isCounted ? exchanges.length : 1) - count);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBody) throw new Error('the body is too long');
      chunks.push(chunk);
    }
    const name = `${request.method ?? ''} ${request.url ?? ''}`;
    this.#findings.requests += 1;
    const served = this.#served.get(name);
    if (served === undefined) {
      if (!this.#unknown.has(name)) this.#findings.differ(`${name}: is not in the recording`);
      this.#unknown.add(name);
      this.#progress();
      response.writeHead(404).end();
      return;
    }
    this.#serve(served, Buffer.concat(chunks), response);
  }

  #serve(served: Served, body: Buffer, response: ServerResponse): void {
    const { exchanges } = served.request;
    const isNew = this.#missing(served) > 0;
    const exchange = exchanges[Math.min(served.count, exchanges.length - 1)];
    const isRecorded = served.count < exchanges.length;
    served.count += 1;
    if (exchange === undefined) return;
    if (isRecorded) this.#compare(served, exchange, body);
    // a POST that is not periodic and exceeds the recorded number
    else if (body.length > 0 && !periodic.test(rootOf(body)) && served.request.name.startsWith('POST '))
      this.#findings.differ(`${served.request.name}: ${inNumbers(served)}`);
    if (isNew) this.#progress();
    if (exchange.answer === null) response.destroy();
    else this.#send(exchange.answer, response);
  }

  #compare({ request: { name }, count }: Served, { body: recorded }: CsipExchange, replayed: Buffer): void {
    if (recorded.length === 0 && replayed.length === 0) return;
    const { measurementTolerance, ignore } = this.#options;
    const { differences, ignored } = compareXml(recorded, replayed, { measurementTolerance, ignore, ids: this.#ids });
    this.#findings.ignored += ignored;
    for (const difference of differences)
      this.#findings.differ(`${name}, request ${count}: ${differenceInWords(difference)}`);
  }

  #send({ status, headers, body }: CsipAnswer, response: ServerResponse): void {
    const recordedHeaders = Object.entries(headers).filter(([name]) => !omittedHeaders.has(name.toLowerCase()));
    const text = this.#withThisAddress(body.toString()).replace(hiddenPin, `$1${this.#options.pin}`);
    const octets = Buffer.from(this.#withPresentTime(text));
    response.writeHead(status, {
      ...Object.fromEntries(recordedHeaders.map(([name, value]) => [name, this.#withThisAddress(value)])),
      'Content-Length': octets.length,
    });
    response.end(octets);
  }

  /** Replaces the addresses of recorded servers by the address of this server. */
  #withThisAddress(text: string): string {
    return this.#script.origins.reduce((changed, origin) => changed.replaceAll(origin, this.#origin), text);
  }

  /** Sets the times of a Time document to the recorded time of the first one plus the time since. */
  #withPresentTime(text: string): string {
    const [, recorded] = /<(?:[\w.-]+:)?currentTime\b[^>]*>(-?\d+)/.exec(text) ?? [];
    if (recorded === undefined) return text;
    const nowMs = performance.now();
    this.#firstTime ??= { recorded: Number(recorded), atMs: nowMs };
    const shift = this.#firstTime.recorded + Math.round((nowMs - this.#firstTime.atMs) / 1000) - Number(recorded);
    return text.replace(timeElement, (_match, tag: string, seconds: string) => `${tag}${Number(seconds) + shift}`);
  }
}

/**
 * Listens until no recorded request is missing, or until no new request arrives within the timeout.
 * @param messages of CSIP only
 * @param say called with the address
 * @throws SimError LISTEN_FAILED
 */
export async function replayCsip(
  messages: readonly RecordedMessage[],
  { host, port }: Target,
  options: ReplayOptions,
  say: (line: string) => void,
): Promise<ReplayReport> {
  const findings = new Findings();
  const script = csipScriptOf(messages);
  findings.notes.push(...script.notes);
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const idle = new Idle(firstClientMs, options.timeoutMs, () => {
    end();
  });
  const csip = new CsipServer(script, options, findings, () => {
    idle.touch();
    if (csip.done) setTimeout(end, options.silenceMs);
  });
  const address = await listen(csip.server, host, port, 'the replayed server of IEEE 2030.5');
  const origin = `http://${hostAndPort(address.address, address.port)}`;
  csip.setOrigin(origin);
  say(`the IEEE 2030.5 server of the recording listens on ${origin}/`);
  await ended;
  idle.stop();
  csip.finish();
  csip.server.close();
  csip.server.closeAllConnections();
  return findings.report('csip');
}
