/** A connection of NATS without a server, for the code above it. */
import { headers } from '@nats-io/transport-node';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { fits } from './memory-link.ts';

interface Options {
  readonly headers?: MsgHdrs;
  readonly reply?: string;
}

interface Own {
  readonly subject: string;
  readonly callback: (error: Error | null, message: Msg) => void;
}

const octets = (body: Uint8Array | string = '') => Buffer.from(body);

/** Headers of NATS. */
export function headersFrom(entries: Readonly<Record<string, string>>): MsgHdrs {
  const result = headers();
  for (const [name, value] of Object.entries(entries)) result.set(name, value);
  return result;
}

/** A message that a test makes; its responses go to `responses`. */
export function message(
  body: Uint8Array | string = '',
  entries: Readonly<Record<string, string>> = {},
): { readonly msg: Msg; readonly responses: Msg[] } {
  const responses: Msg[] = [];
  const respond = (data: Uint8Array | string, options: Options = {}) => {
    responses.push({ data: octets(data), headers: options.headers } as unknown as Msg);
    return true;
  };
  const own = Object.keys(entries).length === 0 ? undefined : headersFrom(entries);
  return { msg: { subject: 'x', data: octets(body), headers: own, respond } as unknown as Msg, responses };
}

/** Carries messages to the subscriptions of this process at once. */
export class NatsStub {
  readonly #own = new Set<Own>();
  /** largest message, bytes */
  maxPayload = 1_048_576;
  /** an error of the next publication */
  failure: Error | null = null;
  /** subjects of all messages */
  readonly published: string[] = [];

  /** As the packages of NATS take it. */
  get connection(): NatsConnection {
    return this as unknown as NatsConnection;
  }

  get info() {
    return { max_payload: this.maxPayload };
  }

  get subjects(): readonly string[] {
    return [...this.#own].map(({ subject }) => subject);
  }

  subscribe(subject: string, { callback }: Pick<Own, 'callback'>): Subscription {
    const own = { subject, callback };
    this.#own.add(own);
    return {
      closed: new Promise<undefined>(() => undefined),
      getSubject: () => subject,
      unsubscribe: () => this.#own.delete(own),
    } as unknown as Subscription;
  }

  publish(subject: string, body: Uint8Array | string = '', { headers: head, reply }: Options = {}): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
    this.published.push(subject);
    const respond = (data: Uint8Array | string, options: Options = {}) => {
      if (reply !== undefined) this.publish(reply, data, options);
      return true;
    };
    const heard = [...this.#own].filter((own) => fits(own.subject, subject));
    const sent = { subject, data: octets(body), headers: head, reply, respond } as unknown as Msg;
    for (const { callback } of heard) callback(null, sent);
    // the server itself answers where nobody listens
    if (heard.length > 0 || reply === undefined) return;
    const nobody = { subject: reply, data: octets(), headers: { code: 503, has: () => false } } as unknown as Msg;
    for (const own of this.#own) if (fits(own.subject, reply)) own.callback(null, nobody);
  }
}
