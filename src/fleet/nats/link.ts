/** The link of a fleet over one NATS connection. */
import type { NatsConnection, Status, Subscription } from '@nats-io/transport-node';
import { errorText } from '../../core/errors.ts';
import { Listeners } from '../../core/listeners.ts';
import type { LinkOptions } from '../link-options.ts';
import { FleetError } from '../link.ts';
import type { FleetAnswer, FleetLink, FleetMessage, LinkState, RequestOptions, ServedAnswer, Stop } from '../link.ts';
import { NatsBucket } from './bucket.ts';
import { connectionOptions, firstConnection } from './connect.ts';
import { deniedText, fleetErrorOf, violationOf } from './errors.ts';
import { Requests } from './requests.ts';
import { Endpoints } from './service.ts';

/** time limit of a lease */
const leaseMs = 4000;

/** @throws FleetError `denied`, `offline`; `refused`: a bucket of another form */
export async function openLink(options: LinkOptions): Promise<FleetLink> {
  if (!/^[A-Za-z0-9_-]+$/.test(options.prefix))
    throw new FleetError('refused', `the prefix "${options.prefix}" is no token of letters, digits, "_" and "-"`);
  const connection = await firstConnection(options);
  const link = new NatsLink(connection, options);
  try {
    await link.open();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return link;
}

class NatsLink implements FleetLink {
  readonly #connection: NatsConnection;
  readonly #options: LinkOptions;
  readonly #requests: Requests;
  readonly #endpoints: Endpoints;
  readonly #states: Listeners<[LinkState]>;
  readonly leases: NatsBucket;
  readonly shared: NatsBucket;
  #state: LinkState = 'connected';
  #server: string;

  constructor(connection: NatsConnection, options: LinkOptions) {
    const { prefix, log, inboxPrefix, service } = options;
    this.#connection = connection;
    this.#options = options;
    this.#server = this.#serverWords();
    this.#states = new Listeners((error) => {
      log.warning(`a listener of the connection failed: ${errorText(error)}`);
    });
    const keep = (subscription: Subscription) => {
      this.#keep(subscription);
    };
    this.#requests = new Requests(connection, inboxPrefix);
    this.#endpoints = new Endpoints({ connection, service, log, keep });
    const common = { connection, log, state: () => this.#state };
    this.leases = new NatsBucket({
      ...common,
      form: { name: `${prefix}_lease`, ttlMs: leaseMs, storage: 'memory' },
    });
    this.shared = new NatsBucket({ ...common, form: { name: `${prefix}_state`, ttlMs: 0, storage: 'file' } });
    void this.#follow();
    void connection.closed().then(() => {
      this.#change('closed');
    });
  }

  /** @throws FleetError */
  async open(): Promise<void> {
    const { servers } = connectionOptions(this.#options);
    // a server that was away at the first connection has been removed
    if (Array.isArray(servers) && servers.length > 1) this.#connection.setServers(servers);
    await Promise.all([this.leases.open(), this.shared.open()]);
  }

  get state(): LinkState {
    return this.#state;
  }

  get server(): string {
    return this.#server;
  }

  onState(listener: (state: LinkState) => void): Stop {
    return this.#states.add(listener);
  }

  publish(subject: string, body: Uint8Array): boolean {
    if (this.#state !== 'connected') return false;
    this.#connection.publish(subject, body);
    return true;
  }

  subscribe(subject: string, listener: (body: Uint8Array, subject: string) => void): Stop {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) return;
        try {
          listener(message.data, message.subject);
        } catch (failure) {
          this.#options.log.warning(`a listener of "${subject}" failed: ${errorText(failure)}`);
        }
      },
    });
    this.#keep(subscription);
    return () => {
      subscription.unsubscribe();
    };
  }

  async serve(name: string, subject: string, answer: ServedAnswer): Promise<Stop> {
    const stop = this.#endpoints.add(name, subject, answer);
    await this.flush();
    return stop;
  }

  request(
    subject: string,
    request: FleetMessage,
    timeoutMs: number,
    options: RequestOptions = {},
  ): Promise<FleetMessage> {
    if (this.#state !== 'connected') return Promise.reject(this.#offline());
    return this.#requests.one(subject, request, timeoutMs, options);
  }

  requestAll(
    subject: string,
    request: FleetMessage,
    count: number,
    timeoutMs: number,
  ): Promise<readonly FleetAnswer[]> {
    if (this.#state !== 'connected') return Promise.reject(this.#offline());
    return this.#requests.all(subject, request, count, timeoutMs);
  }

  async flush(): Promise<void> {
    if (this.#state !== 'connected') throw this.#offline();
    try {
      await this.#connection.flush();
    } catch (error) {
      throw this.#isConnected() ? fleetErrorOf('flush', error) : this.#offline();
    }
  }

  /** A function, so that the compiler does not carry a check over an `await`. */
  #isConnected(): boolean {
    return this.#state === 'connected';
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.leases.stop();
    this.shared.stop();
    const isConnected = this.#state === 'connected';
    this.#change('closed');
    await (isConnected ? this.#connection.drain() : this.#connection.close());
  }

  #offline(): FleetError {
    return new FleetError('offline', `no connection to ${this.#options.servers.join(', ')}`);
  }

  #serverWords(): string {
    const { info } = this.#connection;
    return `${info?.server_name ?? 'nats-server'} (${info?.version ?? 'unknown version'})`;
  }

  #change(state: LinkState): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    if (state === 'connected') {
      this.#server = this.#serverWords();
      this.leases.reopen();
      this.shared.reopen();
    } else {
      this.#requests.fail(this.#offline());
      for (const bucket of [this.leases, this.shared]) bucket.fail(this.#offline());
    }
    this.#states.notify(state);
  }

  /** The server ends a subscription that lacks a permission. */
  #keep(subscription: Subscription): void {
    void subscription.closed.then((error) => {
      if (error instanceof Error && this.#state !== 'closed')
        this.#options.log.warning(`the subscription of "${subscription.getSubject()}" has ended: ${errorText(error)}`);
    });
  }

  async #follow(): Promise<void> {
    for await (const status of this.#connection.status()) this.#take(status);
  }

  #take(status: Status): void {
    if (status.type === 'disconnect' || status.type === 'staleConnection') this.#change('offline');
    else if (status.type === 'reconnect') this.#change('connected');
    else if (status.type === 'error') this.#complain(status.error);
  }

  #complain(error: Error): void {
    const violation = violationOf(error);
    const text = violation ? deniedText(violation) : error.message;
    this.#options.log.warning(`NATS: ${text}`);
    if (violation?.operation === 'publish') this.#requests.fail(new FleetError('denied', text), violation.subject);
  }
}
