/** The listener of a process for notifications, and the subscriptions of its connections. */
import type { CsipSettings } from '../contract/csip-settings.ts';
import { errorText, SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import type { Jitter } from '../core/net/back-off.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { Later } from '../core/time/timers.ts';
import { clientMaterial } from '../core/tls/client-context.ts';
import { TlsGate } from '../core/tls/gate.ts';
import type { TlsMaterial } from '../core/tls/material.ts';
import { NotificationListener } from './notify/listener.ts';
import { Subscriptions } from './notify/subscriptions.ts';
import type { SubscriptionWitness } from './notify/subscriptions.ts';
import type { AddressBook } from './addresses.ts';
import type { ClientCredentials } from './transport/certificates.ts';
import type { SepExchange } from './transport/exchange.ts';
import { recordExchange } from './transport/messages.ts';
import type { CsipChannel } from './transport/messages.ts';
import type { SepCodec } from './transport/sep-exchange.ts';
import type { Walk } from './walk/walk.ts';

const names = { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' };

export interface NotificationsOptions {
  readonly settings: Pick<CsipSettings, 'notifications' | 'strictCipher'>;
  readonly codec: Pick<SepCodec, 'parse'>;
  readonly clock: WallClock;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  readonly channel: CsipChannel;
}

/** A connection for which resources are subscribed to. */
export interface SubscriberOptions {
  readonly exchange: SepExchange;
  /** as in `SubscriptionsOptions` */
  readonly secret: string;
  /** true: resources that the walk polls are subscribed to automatically */
  readonly automatic: boolean;
  readonly jitter: Jitter;
  readonly reread: (url: string) => void;
  readonly witness?: SubscriptionWitness;
  /** of subscriptions at the server, over restarts */
  readonly addresses?: AddressBook;
}

export class Notifications {
  readonly #options: NotificationsOptions;
  #listener: NotificationListener | null = null;
  #gate: TlsGate<null> | null = null;
  #opening: Promise<void> = Promise.resolve();

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  /** Base URL of the notification paths; null: no listener. */
  get base(): string | null {
    return this.#listener?.base ?? null;
  }

  /** Why notifications cannot be received at present, in words; null: they can, or no listener was started. */
  get trouble(): string | null {
    return this.#listener?.trouble ?? null;
  }

  /**
   * Starts the listener, with the certificate of a client.
   * @throws SimError LISTEN_FAILED, CONFIG_INVALID for certificates that cannot be used
   */
  async open(credentials: Pick<ClientCredentials, 'pem'>): Promise<void> {
    if (this.#listener !== null) return;
    const { settings, codec, clock, later, log, channel } = this.#options;
    const { host, port, tls, uri } = settings.notifications;
    const gate = tls ? this.#gateOf(credentials) : null;
    const listener: NotificationListener = new NotificationListener({
      host,
      port,
      gate,
      uri,
      parse: (body) => codec.parse(body),
      clock,
      later,
      log,
      onAnswer({ peer, method, url, headers, body, status, durationMs }) {
        if (!channel.active) return;
        recordExchange(channel, {
          direction: 'in',
          peer,
          deviceIndex: null,
          method,
          url: listener.base + url,
          status,
          durationMs,
          requestHeaders: headers,
          requestBody: body,
          responseHeaders: {},
          responseBody: null,
          error: null,
        });
      },
    });
    this.#opening = listener.open().then(() => {
      this.#listener = listener;
      this.#gate = gate;
    });
    await this.#opening;
  }

  /** Replaces the certificate and the trusted authorities, unless they are unusable. */
  certificatesChanged(credentials: Pick<ClientCredentials, 'pem'>): void {
    try {
      this.#gate?.replace(this.#materialOf(credentials));
    } catch (error) {
      this.#options.log.warning(`notifications are still received with the previous certificate: ${errorText(error)}`);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#opening]);
    await this.#listener?.close();
    this.#listener = null;
    this.#gate = null;
  }

  #gateOf(credentials: Pick<ClientCredentials, 'pem'>): TlsGate<null> {
    // the server only needs a chain to the authorities of the client
    return new TlsGate(this.#materialOf(credentials), { identify: () => null, rootCertName: names.rootCert });
  }

  /** The certificate of the client, and its authorities. @throws SimError CONFIG_INVALID */
  #materialOf({ pem }: Pick<ClientCredentials, 'pem'>): TlsMaterial {
    const result = clientMaterial(pem, this.#options.settings.strictCipher ? 'csip_strict' : 'csip', names);
    if ('material' in result) return result.material;
    throw new SimError('CONFIG_INVALID', 'the listener for notifications has no certificate', result.issues);
  }

  /** The subscriptions of one connection; null: nothing listens. */
  subscriptions({ reread, ...options }: SubscriberOptions): Subscriptions | null {
    if (this.#listener === null) return null;
    const { clock, later, log } = this.#options;
    return new Subscriptions({
      ...options,
      listener: this.#listener,
      clock,
      later,
      log,
      onNotification: ({ resource }) => reread(resource),
    });
  }
}

/** Updates the subscriptions of one connection after each of its walks. */
export class SubscriptionFollower {
  readonly subscriptions: Subscriptions;

  constructor(subscriptions: Subscriptions) {
    this.subscriptions = subscriptions;
  }

  follow({ subscribable }: Walk): void {
    this.subscriptions.follow(
      subscribable.map(({ resource: { url, name }, listUrl, deviceIndex }) => ({ url, name, listUrl, deviceIndex })),
    );
  }

  reachable(isReachable: boolean): void {
    this.subscriptions.reachable(isReachable);
  }

  /** @param farewell true: deletes the subscriptions at the server; false: sends nothing */
  close(farewell: boolean): Promise<void> {
    return this.subscriptions.close(farewell);
  }
}
