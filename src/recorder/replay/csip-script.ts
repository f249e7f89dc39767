/** The answers of an IEEE 2030.5 server by request. */
import type { Buffer } from 'node:buffer';
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';
import { counted } from './report.ts';

export interface CsipAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface CsipExchange {
  readonly body: Buffer;
  /** null: the connection failed */
  readonly answer: CsipAnswer | null;
}

/** All requests with the same method, path and query, in recorded order. */
export interface CsipRequest {
  /** `GET /dcap` */
  readonly name: string;
  readonly exchanges: CsipExchange[];
}

export interface CsipScript {
  readonly requests: ReadonlyMap<string, CsipRequest>;
  /** of the recorded servers: `https://host:port` */
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
  const cut = typeof details.request_octets === 'number' ? details.request_octets : 0;
  const headers = texts(details.response_headers);
  const answer =
    typeof details.status === 'number' ? { status: details.status, headers, body: raw.subarray(cut) } : null;
  return { body: raw.subarray(0, cut), answer };
}

/** @param messages of CSIP only */
export function csipScriptOf(messages: readonly RecordedMessage[]): CsipScript {
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
