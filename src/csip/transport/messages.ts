/** The messages of CSIP in the wire log: requests of the clients with their answers, and notifications of servers. */
import type { CsipMessage, CsipMessageFilter, CsipMessages, CsipSentResponse } from '../../contract/csip-reports.ts';
import { SimError } from '../../core/errors.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { WireChannel, WireEntry, WireLog, WireMessage } from '../../core/wire/wire-log.ts';
import { parseDocument } from '../xml/codec.ts';

/** One request and its answer, from the transport. */
export interface Exchanged
  extends Omit<CsipMessage, 'id' | 'atMs' | 'at' | 'truncated' | 'requestBody' | 'responseBody'> {
  readonly requestBody: Buffer | null;
  readonly responseBody: Buffer | null;
}

/** Facts beside the octets of the two bodies; the body of the request comes first. */
export interface CsipFacts
  extends Pick<Exchanged, 'method' | 'url' | 'status' | 'durationMs' | 'requestHeaders' | 'responseHeaders' | 'error'> {
  /** octets of the request's body; null: no body */
  readonly requestLength: number | null;
  /** true if the answer has a body */
  readonly answered: boolean;
  /** true if a body was cut off */
  readonly truncated: boolean;
}

export interface CsipBodies {
  readonly requestBody: string | null;
  readonly responseBody: string | null;
}

export type CsipChannel = WireChannel<CsipFacts, CsipBodies>;

/** Name of the channel in evidence. */
export const csipChannelName = 'csip';

const keptEntries = 500;
const keptBytes = 8 * 1024 * 1024;
/** Maximum of stored octets of one body. */
const keptBodyBytes = 256 * 1024;

const hidden = '(hidden)';
const secretHeaders: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
/** The PIN of a Registration, without an end tag where the body was cut off. */
const pinElement = /(<(?:[\w.-]+:)?pIN\b[^>]*>)[\s\S]*?(<\/(?:[\w.-]+:)?pIN\s*>|$)/g;

const noBytes = Buffer.alloc(0);

function withoutPin(body: Buffer): Buffer {
  if (!body.includes('pIN')) return body;
  // latin1 maps octets to characters one to one, so that all other octets stay the same
  return Buffer.from(body.toString('latin1').replace(pinElement, `$1${hidden}$2`), 'latin1');
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const redacted = Object.entries(headers).map(([name, value]) => [
    name,
    secretHeaders.has(name.toLowerCase()) ? hidden : value,
  ]);
  return Object.fromEntries(redacted) as Readonly<Record<string, string>>;
}

function redact(message: WireMessage<CsipFacts>): WireMessage<CsipFacts> {
  const { facts, raw } = message;
  // the search does not find elements in UTF-16
  if (raw.includes(0)) throw new Error('the body is not UTF-8');
  const cut = facts.requestLength ?? 0;
  const request = withoutPin(raw.subarray(0, cut));
  return {
    ...message,
    raw: Buffer.concat([request, withoutPin(raw.subarray(cut))]),
    facts: {
      ...facts,
      requestHeaders: withoutSecrets(facts.requestHeaders),
      responseHeaders: withoutSecrets(facts.responseHeaders),
      requestLength: facts.requestLength === null ? null : request.length,
    },
  };
}

/** The channel of all clients of the process. */
export function csipChannel(wireLog: WireLog): CsipChannel {
  return wireLog.lasting<CsipFacts, CsipBodies>({
    protocol: csipChannelName,
    key: '',
    entries: keptEntries,
    bytes: keptBytes,
    messageBytes: 2 * keptBodyBytes,
    text: true,
    redact,
    report: ({ facts }) => ({
      method: facts.method,
      url: facts.url,
      status: facts.status,
      duration_ms: facts.durationMs,
      request_headers: facts.requestHeaders,
      response_headers: facts.responseHeaders,
      request_octets: facts.requestLength,
      error: facts.error,
      ...(facts.truncated && { truncated: true }),
    }),
    decode({ raw, facts: { requestLength, answered } }) {
      const cut = requestLength ?? 0;
      return {
        requestBody: requestLength === null ? null : raw.toString('utf8', 0, cut),
        responseBody: answered ? raw.toString('utf8', cut) : null,
      };
    },
  });
}

/** Adds a message to the channel; call only while it is `active`. @returns its id */
export function recordExchange(channel: CsipChannel, exchanged: Exchanged): number {
  const { direction, peer, deviceIndex, requestBody, responseBody, ...facts } = exchanged;
  const { method, url, status, error } = facts;
  const bodies = [requestBody, responseBody].map((body) => body?.subarray(0, keptBodyBytes) ?? noBytes);
  return channel.push({
    direction,
    peer,
    deviceIndex,
    kind: method,
    summary: `${method} ${url} ${status ?? error ?? ''}`,
    raw: Buffer.concat(bodies),
    facts: {
      ...facts,
      requestLength: requestBody === null ? null : (bodies[0]?.length ?? 0),
      answered: responseBody !== null && responseBody.length > 0,
      truncated: [requestBody, responseBody].some((body) => (body?.length ?? 0) > keptBodyBytes),
    },
  });
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

/** The response to an event in a body; null: the body has none that can be read. */
function responseIn(body: string): Pick<CsipSentResponse, 'mrid' | 'status'> | null {
  // a cheap check first, since readings are posted far more often
  if (!body.includes('DERControlResponse')) return null;
  try {
    const { name, value } = parseDocument(Buffer.from(body));
    if (name !== 'DERControlResponse' || value.subject === undefined || value.status === undefined) return null;
    return { mrid: value.subject.toUpperCase(), status: value.status };
  } catch (error) {
    if (error instanceof SimError) return null;
    throw error;
  }
}

/** The channel as REST shows it. */
export class CsipMessageBook implements CsipMessages {
  readonly #channel: CsipChannel;

  constructor(channel: CsipChannel) {
    this.#channel = channel;
  }

  get recording(): boolean {
    return this.#channel.recording;
  }

  get capacity(): number {
    return this.#channel.capacity;
  }

  get count(): number {
    return this.#channel.count;
  }

  get bytes(): number {
    return this.#channel.bytes;
  }

  get lastId(): number {
    return this.#channel.lastId;
  }

  get dropped(): number {
    return this.#channel.dropped;
  }

  get changedBy(): Provenance | null {
    return this.#channel.changedBy;
  }

  record(on: boolean, by: Origin): void {
    this.#channel.record(on, by);
  }

  clear(): void {
    this.#channel.clear();
  }

  list({ afterId, toId, method, path, deviceIndex, limit }: CsipMessageFilter): readonly CsipMessage[] {
    const entries = this.#channel.list({
      ...(afterId !== undefined && { afterId }),
      ...(toId !== undefined && { toId }),
      ...(limit !== undefined && { limit }),
      where: ({ facts, deviceIndex: index }) =>
        (method === undefined || facts.method === method) &&
        (path === undefined || pathOf(facts.url).startsWith(path)) &&
        (deviceIndex === undefined || index === deviceIndex),
    });
    return entries.map((entry) => this.#view(entry));
  }

  responses(): readonly CsipSentResponse[] {
    const entries = this.#channel.list({
      where: ({ direction, facts: { method, status } }) =>
        direction === 'out' && method === 'POST' && status !== null && status < 400,
    });
    return entries.flatMap((entry) => {
      const { id, wallMs, sim, peer, deviceIndex } = entry;
      const response = responseIn(this.#channel.decode(entry)?.requestBody ?? '');
      return response === null ? [] : [{ id, atMs: wallMs, at: sim, peer, deviceIndex, ...response }];
    });
  }

  #view(entry: WireEntry<CsipFacts>): CsipMessage {
    const { id, wallMs, sim, direction, peer, deviceIndex, facts } = entry;
    const { method, url, status, durationMs, requestHeaders, responseHeaders, truncated, error } = facts;
    const bodies = this.#channel.decode(entry);
    return {
      id,
      atMs: wallMs,
      at: sim,
      direction,
      peer,
      deviceIndex,
      method,
      url,
      status,
      durationMs,
      requestHeaders,
      requestBody: bodies?.requestBody ?? null,
      responseHeaders,
      responseBody: bodies?.responseBody ?? null,
      truncated,
      error,
    };
  }
}
