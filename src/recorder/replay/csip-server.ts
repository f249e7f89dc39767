/** The server of a recording: answers each request as it did, and the last time again where more come. */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CsipAnswer, CsipExchange, CsipRequest, CsipScript } from './csip-script.ts';
import { differenceInWords } from './json-compare.ts';
import type { ReplayOptions } from './options.ts';
import type { Findings } from './report.ts';
import { compareXml, rootOf } from './xml-compare.ts';

/** Octets of one body of a client. */
const maxBody = 1024 * 1024;
/** Documents whose number depends on how long a session lasts. */
const periodic = /^(MirrorMeterReading|MirrorMeterReadingList|DERStatus|DERAvailability|DERCapability|DERSettings)$/;
/** Headers that this server makes anew. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'content-encoding'],
]);
const hiddenPin = /(<(?:[\w.-]+:)?pIN\b[^>]*>)\(hidden\)/g;
const timeElement = /(<(?:[\w.-]+:)?(?:currentTime|localTime)\b[^>]*>)(-?\d+)/g;

/** Each repetition of one request. */
interface Served {
  readonly request: CsipRequest;
  count: number;
}

type CsipServerOptions = Pick<ReplayOptions, 'moving' | 'ignore' | 'pin'>;

export class CsipServer {
  readonly server = createServer((request, response) => {
    this.#take(request, response).catch(() => response.destroy());
  });
  readonly #script: CsipScript;
  readonly #options: CsipServerOptions;
  readonly #findings: Findings;
  /** called when something comes that has not come before */
  readonly #progress: () => void;
  readonly #served: ReadonlyMap<string, Served>;
  readonly #unknown = new Set<string>();
  readonly #ids = new Map<string, string>();
  #origin = '';
  /** times of the recording go on from the first one */
  #firstTime: { readonly recorded: number; readonly atMs: number } | null = null;

  constructor(script: CsipScript, options: CsipServerOptions, findings: Findings, progress: () => void) {
    this.#script = script;
    this.#options = options;
    this.#findings = findings;
    this.#progress = progress;
    this.#served = new Map([...script.requests].map(([name, request]) => [name, { request, count: 0 }]));
  }

  /** @param origin `http://host:port`, in the place of the recorded ones */
  at(origin: string): void {
    this.#origin = origin;
  }

  get done(): boolean {
    return [...this.#served.values()].every((served) => this.#missing(served) === 0);
  }

  /** Adds the requests that have not come to the findings. */
  finish(): void {
    for (const served of this.#served.values()) {
      const missing = this.#missing(served);
      const { name, exchanges } = served.request;
      if (missing > 0 && served.count === 0) this.#findings.differ(`${name}: is missing`);
      else if (missing > 0)
        this.#findings.differ(`${name}: came ${exchanges.length} times, comes ${served.count} times`);
    }
  }

  /** Requests that a client is sure to make and has not made: polls and reports may be fewer, but for the first one. */
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
      if (!this.#unknown.has(name)) this.#findings.differ(`${name}: was not requested`);
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
    // what is counted and comes too often
    else if (body.length > 0 && !periodic.test(rootOf(body)) && served.request.name.startsWith('POST '))
      this.#findings.differ(`${served.request.name}: came ${exchanges.length} times, comes ${served.count} times`);
    if (isNew) this.#progress();
    if (exchange.answer === null) response.destroy();
    else this.#send(exchange.answer, response);
  }

  #compare({ request: { name }, count }: Served, { body: was }: CsipExchange, is: Buffer): void {
    if (was.length === 0 && is.length === 0) return;
    const { moving, ignore } = this.#options;
    const { differences, ignored } = compareXml(was, is, { moving, ignore, ids: this.#ids });
    this.#findings.ignored += ignored;
    for (const difference of differences)
      this.#findings.differ(`${name}, request ${count}: ${differenceInWords(difference)}`);
  }

  #send({ status, headers, body }: CsipAnswer, response: ServerResponse): void {
    const own = Object.entries(headers).filter(([name]) => !ownHeaders.has(name.toLowerCase()));
    const octets = Buffer.from(this.#timely(this.#here(body.toString()).replace(hiddenPin, `$1${this.#options.pin}`)));
    response.writeHead(status, {
      ...Object.fromEntries(own.map(([name, value]) => [name, this.#here(value)])),
      'Content-Length': octets.length,
    });
    response.end(octets);
  }

  /** Addresses of the recorded servers become those of this one. */
  #here(text: string): string {
    return this.#script.origins.reduce((changed, origin) => changed.replaceAll(origin, this.#origin), text);
  }

  /** A Time goes on from the first one of the recording. */
  #timely(text: string): string {
    const [, recorded] = /<(?:[\w.-]+:)?currentTime\b[^>]*>(-?\d+)/.exec(text) ?? [];
    if (recorded === undefined) return text;
    const nowMs = performance.now();
    this.#firstTime ??= { recorded: Number(recorded), atMs: nowMs };
    const shift = this.#firstTime.recorded + Math.round((nowMs - this.#firstTime.atMs) / 1000) - Number(recorded);
    return text.replace(timeElement, (_match, tag: string, seconds: string) => `${tag}${Number(seconds) + shift}`);
  }
}
