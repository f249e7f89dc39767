/** Open requests of a connection: their answers come on one subscription, and all end when the connection is lost. */
import { createInbox } from '@nats-io/transport-node';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { callLater } from '../../core/time/timers.ts';
import type { Later } from '../../core/time/timers.ts';
import { FleetError } from '../link.ts';
import type { FleetAnswer, FleetMessage, RequestOptions } from '../link.ts';
import { fleetErrorOf } from './errors.ts';
import { PartsReader, headersOf, isNoResponder, isSignOfLife, wholeAnswer } from './parts.ts';

/** One request and what ends it. */
interface Exchange<T> {
  readonly subject: string;
  /** @returns the result; undefined: further messages follow. @throws FleetError */
  readonly receive: (message: Msg) => T | undefined;
  /** @returns the result when the time is over. @throws FleetError */
  readonly late: () => T;
  readonly timeoutMs: number;
  readonly options: RequestOptions;
}

interface Open {
  readonly subject: string;
  readonly receive: (message: Msg) => void;
  readonly fail: (error: FleetError) => void;
}

function reasonOf(signal: AbortSignal | undefined): FleetError {
  const reason: unknown = signal?.reason;
  return reason instanceof FleetError ? reason : new FleetError('timeout', 'the request was given up');
}

export class Requests {
  readonly #connection: NatsConnection;
  readonly #open = new Map<string, Open>();
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #later: Later;
  #count = 0;

  /**
   * @param inboxPrefix first token of the subjects of answers
   * @param later replaced in tests
   */
  constructor(connection: NatsConnection, inboxPrefix: string | undefined, later: Later = callLater) {
    this.#later = later;
    this.#connection = connection;
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    this.#subscription = connection.subscribe(`${this.#inbox}*`, {
      callback: (error, message) => {
        if (!error) this.#open.get(message.subject.slice(this.#inbox.length))?.receive(message);
      },
    });
  }

  /** Resolves with the error for which the server ended the subscription of the answers. */
  get closed(): Promise<unknown> {
    return this.#subscription.closed;
  }

  one(subject: string, request: FleetMessage, timeoutMs: number, options: RequestOptions): Promise<FleetMessage> {
    const parts = new PartsReader();
    return this.#run(request, {
      subject,
      timeoutMs,
      options,
      receive: (message) => parts.add(message),
      late: () => {
        throw new FleetError('timeout', `"${subject}" has not answered within ${timeoutMs / 1000} s`);
      },
    });
  }

  all(subject: string, request: FleetMessage, count: number, timeoutMs: number): Promise<readonly FleetAnswer[]> {
    const answers: FleetAnswer[] = [];
    return this.#run<readonly FleetAnswer[]>(request, {
      subject,
      timeoutMs,
      options: {},
      receive: (message) => {
        const answer = wholeAnswer(message);
        // several may arrive in one turn
        if (answer && answers.length < count) answers.push(answer);
        return answers.length >= count ? answers : undefined;
      },
      late: () => answers,
    });
  }

  /** Ends all requests, or those of a subject. */
  fail(error: FleetError, subject?: string): void {
    for (const open of this.#open.values()) if (subject === undefined || open.subject === subject) open.fail(error);
  }

  async #run<T>(request: FleetMessage, exchange: Exchange<T>): Promise<T> {
    const { subject, timeoutMs, options } = exchange;
    const { signal, whileAlive = false } = options;
    this.#count += 1;
    const token = this.#count.toString(36);
    let cancelTimer: () => void = () => undefined;
    let abort: () => void = () => undefined;
    const work = new Promise<T>((resolve, reject: (error: Error) => void) => {
      const settle = (outcome: () => T | undefined) => {
        try {
          const result = outcome();
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const watch = () => {
        cancelTimer();
        cancelTimer = this.#later(timeoutMs, () => {
          settle(exchange.late);
        });
      };
      const receive = (message: Msg) => {
        if (isNoResponder(message)) {
          reject(new FleetError('no-responder', `nobody serves "${subject}"`));
          return;
        }
        if (whileAlive) watch();
        if (!isSignOfLife(message)) settle(() => exchange.receive(message));
      };
      abort = () => {
        reject(reasonOf(signal));
      };
      this.#open.set(token, { subject, receive, fail: reject });
      watch();
      signal?.addEventListener('abort', abort);
      if (signal?.aborted === true) abort();
      else this.#send(token, subject, request);
    });
    try {
      return await work;
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', abort);
      this.#open.delete(token);
    }
  }

  /** @throws FleetError */
  #send(token: string, subject: string, request: FleetMessage): void {
    const max = this.#connection.info?.max_payload ?? Infinity;
    const headers = headersOf(request.headers);
    // the limit of the server is for headers and body together
    const bytes = request.body.length + Object.entries(request.headers).flat().join('----').length + 64;
    if (bytes > max) throw new FleetError('too-large', `a request of ${bytes} bytes: the server takes ${max}`);
    try {
      this.#connection.publish(subject, request.body, { headers, reply: this.#inbox + token });
    } catch (error) {
      throw fleetErrorOf(`request to "${subject}"`, error);
    }
  }
}
