/**
 * The subscriptions of one connection identity: created at the SubscriptionList of the EndDevice, renewed, created
 * again after the server has ended them or was unreachable, and deleted at the end. Polling continues in parallel.
 */
import { createHmac } from 'node:crypto';
import type { CsipNotification, CsipSubscription } from '../../contract/csip-reports.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { AddressBook } from '../addresses.ts';
import type { SepAnswer, SepExchange } from '../transport/exchange.ts';
import { isPassing, retryWaits } from '../transport/exchange.ts';
import type { DocumentName } from '../xml/schema.ts';
import type { NotificationListener, ReceivedNotification } from './listener.ts';

/** A resource whose `subscribable` is 1 or 3. */
export interface SubscribableResource {
  /** absolute */
  readonly url: string;
  readonly name: DocumentName;
  /** SubscriptionList of its EndDevice or of that of the connection; absolute */
  readonly listUrl: string;
  readonly deviceIndex: number | null;
}

/** A notification for a subscription of this client. */
export interface Notified {
  /** the subscribed resource; absolute */
  readonly resource: string;
  /** Notification.status: 0 changed, 1 cancelled, 2 moved, 3 definition changed, 4 deleted */
  readonly status: number;
}

/** Sees subscriptions and notifications, to judge the server. It must not throw. */
export interface SubscriptionWitness {
  /** @param url the subscribed resource, absolute */
  subscribed(url: string, isActive: boolean): void;
  notified(url: string, received: ReceivedNotification): void;
}

export interface SubscriptionsOptions {
  readonly exchange: SepExchange;
  readonly listener: Pick<NotificationListener, 'take' | 'uriOf'>;
  /** Known to this client alone, and constant over restarts: no other server can compute the paths of notifications. */
  readonly secret: string;
  /** true: resources that the walk polls are subscribed to automatically */
  readonly automatic: boolean;
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** Called so that the resource is read again. */
  readonly onNotification: (notified: Notified) => void;
  /** absent: nobody judges the server */
  readonly witness?: SubscriptionWitness;
  /** addresses of the subscriptions of an earlier process; absent: none are known */
  readonly addresses?: Pick<AddressBook, 'get' | 'set'>;
}

/** Resources that the walk reads repeatedly (CSIP 5.3). */
const polledDocuments: ReadonlySet<DocumentName> = new Set([
  'EndDeviceList',
  'FunctionSetAssignmentsList',
  'DERProgramList',
  'DERControlList',
  'DefaultDERControl',
]);

/** Time until an active or refused subscription is posted again, ms. */
const renewMs = 12 * 3_600_000;
const maxNotifications = 100;
/** Maximum time for deleting subscriptions at the end, ms. */
const farewellMs = 1_000;

interface Item {
  readonly resource: SubscribableResource;
  readonly backOff: BackOff;
  isActive: boolean;
  state: CsipSubscription['state'];
  /** of the Subscription on the server */
  href: string | null;
  /** `href` is from an earlier process, and has not been read yet */
  isKept: boolean;
  /** next request, on `WallClock.monotonicMs`; null: none planned */
  dueMs: number | null;
  renewedAtMs: number | null;
  notifications: number;
  lastError: string | null;
  endTake: (() => void) | null;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** by URL */
  readonly #items = new Map<string, Item>();
  /** choices of the user by URL, which outlive the resource */
  readonly #chosen = new Map<string, boolean>();
  #subscribable: readonly SubscribableResource[] = [];
  readonly #received: CsipNotification[] = [];
  readonly #ending = new AbortController();
  #reachable = false;
  #closed = false;
  #working: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Sets the subscribable resources; subscriptions to other resources end. */
  follow(resources: readonly SubscribableResource[]): void {
    if (this.#closed) return;
    this.#subscribable = resources;
    const byUrl = new Map(resources.map((resource) => [resource.url, resource]));
    for (const [url, item] of this.#items) {
      const stays = byUrl.get(url)?.listUrl === item.resource.listUrl;
      if (!stays && item.isActive) this.#drop(item);
      if (stays && item.isActive) byUrl.delete(url);
    }
    for (const resource of byUrl.values())
      if (this.#chosen.get(resource.url) ?? (this.#options.automatic && polledDocuments.has(resource.name)))
        this.#want(resource);
    void this.#work();
  }

  /** Pauses while the server is unreachable; afterwards it may have lost every subscription. */
  reachable(isReachable: boolean): void {
    if (isReachable === this.#reachable) return;
    this.#reachable = isReachable;
    if (!isReachable) return;
    for (const item of this.#items.values()) {
      // the server may have lost it
      this.#options.witness?.subscribed(item.resource.url, false);
      this.#plan(item, 0);
    }
    void this.#work();
  }

  /**
   * Subscribes to a resource or ends its subscription; resolves when the server has answered.
   * @param href absolute, or relative to the server
   * @throws SimError UNKNOWN_RESOURCE, NOT_CONNECTED
   */
  async choose(href: string, on: boolean): Promise<void> {
    const { origin } = this.#options.exchange;
    const url = URL.canParse(href, origin) ? new URL(href, origin).href : href;
    const resource = this.#subscribable.find((each) => each.url === url);
    const item = this.#items.get(url);
    if (resource === undefined && (on || item === undefined))
      throw new SimError('UNKNOWN_RESOURCE', `${url} is no resource that can be subscribed to`);
    if (!this.#reachable || this.#closed) throw new SimError('NOT_CONNECTED', 'the server cannot be reached');
    this.#chosen.set(url, on);
    if (on && resource !== undefined && item?.isActive !== true) this.#want(resource);
    if (!on && item?.isActive === true) this.#drop(item);
    const chosen = this.#items.get(url);
    while (chosen !== undefined && this.#isDue(chosen)) await this.#work();
    // a request may already be under way
    await this.#working;
  }

  list(): readonly CsipSubscription[] {
    return [...this.#items.values()].map(({ resource, href, state, renewedAtMs, notifications, lastError }) => {
      return { resource: resource.url, href, state, renewedAtMs, notifications, lastError };
    });
  }

  /** Newest first. */
  get notifications(): readonly CsipNotification[] {
    return this.#received;
  }

  /**
   * Stops taking notifications, and deletes the subscriptions if the server is reachable.
   * @param farewell false: aborts requests and sends none
   */
  async close(farewell = true): Promise<void> {
    this.#closed = true;
    const items = [...this.#items.values()];
    for (const item of items) item.endTake?.();
    if (!farewell) this.#ending.abort();
    const endWait = this.#options.later(farewellMs, () => this.#ending.abort());
    await this.#working;
    this.#cancelTimer?.();
    if (this.#reachable && farewell) await Promise.all(items.map((item) => this.#delete(item)));
    endWait();
    this.#items.clear();
  }

  #want(resource: SubscribableResource): void {
    const { listener, jitter, addresses } = this.#options;
    const kept = addresses?.get(this.#idOf(resource)) ?? null;
    const previous = this.#items.get(resource.url);
    previous?.endTake?.();
    const item: Item = {
      resource,
      backOff: new BackOff(fullJitter(retryWaits, jitter)),
      isActive: true,
      state: 'pending',
      href: previous?.href ?? kept,
      isKept: previous === undefined && kept !== null,
      dueMs: this.#options.clock.monotonicMs(),
      renewedAtMs: null,
      notifications: previous?.notifications ?? 0,
      lastError: null,
      endTake: null,
    };
    item.endTake = listener.take(this.#idOf(resource), (received) => this.#take(item, received));
    this.#items.set(resource.url, item);
  }

  #drop(item: Item): void {
    this.#options.witness?.subscribed(item.resource.url, false);
    item.isActive = false;
    item.state = 'cancelled';
    item.endTake?.();
    item.endTake = null;
    this.#plan(item, 0);
  }

  /** Constant over restarts, so that notifications to earlier subscriptions are recognised and none is doubled. */
  #idOf({ url, listUrl }: SubscribableResource): string {
    return createHmac('sha256', this.#options.secret).update(`${listUrl} ${url}`).digest('hex').slice(0, 32);
  }

  #take(item: Item, received: ReceivedNotification): void {
    const { notification, peer } = received;
    this.#options.witness?.notified(item.resource.url, received);
    if ((notification.status ?? 0) !== 0) this.#options.witness?.subscribed(item.resource.url, false);
    const { subscribedResource, status = 0, Resource } = notification;
    item.notifications += 1;
    this.#received.unshift({
      receivedAtMs: this.#options.clock.nowMs(),
      resource: subscribedResource ?? null,
      status: notification.status ?? null,
      content: Resource?.name ?? null,
      httpStatus: 204,
      peer,
    });
    this.#received.splice(maxNotifications);
    if (status === 0) item.backOff.reset();
    else {
      item.state = 'cancelled';
      this.#setHref(item, null);
      item.lastError = `the server has ended the subscription (status ${status})`;
      // back-off against a server that ends each subscription at once
      this.#plan(item, item.backOff.nextMs());
      void this.#work();
    }
    this.#options.onNotification({ resource: item.resource.url, status });
  }

  #plan(item: Item, inMs: number): void {
    item.dueMs = this.#options.clock.monotonicMs() + inMs;
  }

  #isDue({ dueMs }: Item): boolean {
    return this.#reachable && !this.#closed && dueMs !== null && dueMs <= this.#options.clock.monotonicMs();
  }

  /** Sends due requests one after the other; a call while it sends gets the same promise. */
  #work(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#working ??= this.#sendAll().finally(() => {
      this.#working = null;
      // more may have become due meanwhile
      if ([...this.#items.values()].some((item) => this.#isDue(item))) void this.#work();
      else this.#wait();
    });
    return this.#working;
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const item = [...this.#items.values()].find((each) => this.#isDue(each));
      if (item === undefined) return;
      item.dueMs = null;
      if (item.isActive) await this.#post(item);
      else await this.#unsubscribe(item);
    }
  }

  /** Deletes a subscription on the server; one that the user has ended stays in the list. */
  async #unsubscribe(item: Item): Promise<void> {
    await this.#delete(item);
    const { url } = item.resource;
    if (this.#chosen.get(url) !== false && this.#items.get(url) === item) this.#items.delete(url);
  }

  #wait(): void {
    if (this.#closed || !this.#reachable) return;
    const { clock, later } = this.#options;
    const dues = [...this.#items.values()].flatMap(({ dueMs }) => (dueMs === null ? [] : [dueMs]));
    if (dues.length === 0) return;
    this.#cancelTimer = later(Math.max(0, Math.min(...dues) - clock.monotonicMs()), () => {
      void this.#work();
    });
  }

  async #post(item: Item): Promise<void> {
    const { exchange, listener } = this.#options;
    const { url, listUrl, deviceIndex } = item.resource;
    const { origin, pathname } = new URL(url);
    const value = {
      // without a query; servers identify resources by path
      subscribedResource: origin === exchange.origin ? pathname : origin + pathname,
      encoding: 0,
      level: '+S1',
      limit: 1,
      notificationURI: listener.uriOf(this.#idOf(item.resource)),
    };
    const body = { name: 'Subscription', value } as const;
    try {
      if (item.isKept && (await this.#isAlive(item, value.notificationURI))) {
        this.#settle(item, { status: 200, location: item.href });
        return;
      }
      const request = { method: 'POST', href: listUrl, resource: 'Subscription', body, deviceIndex } as const;
      this.#settle(item, await exchange.request({ ...request, signal: this.#ending.signal }));
    } catch (error) {
      item.lastError = errorText(error);
      this.#plan(item, item.backOff.nextMs());
    }
  }

  /**
   * True if the server still has the subscription of an earlier process: a second one would double its notifications.
   * @throws SimError as `SepExchange.request`
   */
  async #isAlive(item: Item, notificationURI: string): Promise<boolean> {
    const { exchange } = this.#options;
    const { deviceIndex } = item.resource;
    const request = { method: 'GET', href: item.href ?? '', resource: 'Subscription', deviceIndex } as const;
    const { status, document } = await exchange.request({ ...request, signal: this.#ending.signal });
    item.isKept = false;
    if (status < 300 && document?.name === 'Subscription' && document.value.notificationURI === notificationURI)
      return true;
    this.#setHref(item, null);
    return false;
  }

  #settle(item: Item, { status, location }: Pick<SepAnswer, 'status' | 'location'>): void {
    const { clock, log } = this.#options;
    // the user or the server may have ended the subscription meanwhile
    if (!item.isActive) {
      this.#setHref(item, location ?? item.href);
      return;
    }
    if (status < 300 || status === 409) {
      if (item.state === 'active') item.backOff.reset();
      item.state = 'active';
      this.#options.witness?.subscribed(item.resource.url, true);
      this.#setHref(item, location ?? item.href);
      item.renewedAtMs = clock.nowMs();
      item.lastError = null;
      this.#plan(item, renewMs);
      return;
    }
    item.lastError = `HTTP ${status}`;
    if (isPassing(status)) {
      this.#plan(item, item.backOff.nextMs());
      return;
    }
    item.state = 'refused';
    this.#setHref(item, null);
    log.warning(`the server refuses a subscription to ${item.resource.url}: HTTP ${status}`);
    this.#plan(item, renewMs);
  }

  #setHref(item: Item, href: string | null): void {
    item.href = href;
    this.#options.addresses?.set(this.#idOf(item.resource), href);
  }

  /** One attempt: a subscription left on the server ends with its next notification, which is answered 404. */
  async #delete(item: Item): Promise<void> {
    const { exchange, log } = this.#options;
    const { href } = item;
    if (href === null) return;
    this.#setHref(item, null);
    try {
      await exchange.request({
        method: 'DELETE',
        href,
        resource: 'Subscription',
        deviceIndex: item.resource.deviceIndex,
        signal: this.#ending.signal,
      });
    } catch (error) {
      log.info(`a subscription could not be deleted: ${errorText(error)}`);
    }
  }
}
