/**
 * Endpoints that answer requests, and the service protocol of NATS (ADR-32) by which tools list them. The package
 * `@nats-io/services` ends the whole service where one subscription ends, and has no end of one endpoint.
 */
import { nuid } from '@nats-io/transport-node';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from '../../core/log/log.ts';
import { callEvery } from '../../core/time/timers.ts';
import type { FleetService } from '../link-options.ts';
import { errorText } from '../../core/errors.ts';
import type { ServedAnswer, Stop } from '../link.ts';
import { entriesOf, sendAnswer, sendFailure, sendSignOfLife } from './parts.ts';

const signOfLifeMs = 5000;
const nanosPerMs = 1e6;

interface Endpoint {
  readonly name: string;
  readonly subject: string;
  requests: number;
  errors: number;
  lastError: string;
  tookMs: number;
}

export interface EndpointsOptions {
  readonly connection: NatsConnection;
  readonly service: FleetService | undefined;
  readonly log: Pick<Logger, 'warning'>;
  /** Keeps a subscription, and says why the server ended it. */
  readonly keep: (subscription: Subscription) => void;
}

export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #endpoints = new Set<Endpoint>();
  readonly #id = nuid.next();
  readonly #started = new Date().toISOString();

  constructor(options: EndpointsOptions) {
    this.#options = options;
    if (options.service) this.#announce(options.service);
  }

  /** Without a queue group: each of several processes that serve a subject gets every request. */
  add(name: string, subject: string, answer: ServedAnswer): Stop {
    const endpoint: Endpoint = { name, subject, requests: 0, errors: 0, lastError: '', tookMs: 0 };
    const subscription = this.#options.connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) void this.#answer(endpoint, message, answer);
      },
    });
    this.#options.keep(subscription);
    this.#endpoints.add(endpoint);
    return () => {
      this.#endpoints.delete(endpoint);
      subscription.unsubscribe();
    };
  }

  async #answer(endpoint: Endpoint, message: Msg, answer: ServedAnswer): Promise<void> {
    const beginMs = performance.now();
    const stopSigns = callEvery(signOfLifeMs, () => {
      this.#send(endpoint, () => {
        sendSignOfLife(message);
      });
    });
    let send: () => void;
    try {
      const result = await answer({ headers: entriesOf(message), body: message.data });
      send = () => {
        if (result !== null) sendAnswer(message, result);
      };
    } catch (error) {
      endpoint.errors += 1;
      endpoint.lastError = errorText(error);
      send = () => {
        sendFailure(message, error);
      };
    } finally {
      stopSigns();
    }
    this.#send(endpoint, send);
    endpoint.requests += 1;
    endpoint.tookMs += performance.now() - beginMs;
  }

  /** An answer that cannot be sent is lost: the other side runs into its time limit. */
  #send(endpoint: Endpoint, send: () => void): void {
    try {
      send();
    } catch (error) {
      this.#options.log.warning(`an answer on "${endpoint.subject}" cannot be sent: ${errorText(error)}`);
    }
  }

  #announce(service: FleetService): void {
    const identity = { name: service.name, id: this.#id, version: service.version, metadata: service.metadata };
    const replies = {
      PING: () => identity,
      INFO: () => ({ ...identity, description: service.description, endpoints: this.#infos() }),
      STATS: () => ({ ...identity, started: this.#started, endpoints: this.#stats() }),
    };
    for (const [verb, reply] of Object.entries(replies)) {
      const type = `io.nats.micro.v1.${verb.toLowerCase()}_response`;
      const callback = (error: Error | null, message: Msg) => {
        if (!error) message.respond(JSON.stringify({ type, ...reply() }));
      };
      for (const selector of ['', `.${service.name}`, `.${service.name}.${this.#id}`])
        this.#options.keep(this.#options.connection.subscribe(`$SRV.${verb}${selector}`, { callback }));
    }
  }

  #infos() {
    return [...this.#endpoints].map(({ name, subject }) => ({ name, subject, queue_group: '', metadata: {} }));
  }

  #stats() {
    return [...this.#endpoints].map(({ name, subject, requests, errors, lastError, tookMs }) => ({
      name,
      subject,
      queue_group: '',
      num_requests: requests,
      num_errors: errors,
      last_error: lastError,
      processing_time: Math.round(tookMs * nanosPerMs),
      average_processing_time: Math.round((tookMs * nanosPerMs) / Math.max(requests, 1)),
    }));
  }
}
