/**
 * The discovery walk of one connection identity and the polls that keep its results up to date: DeviceCapability, Time,
 * EndDeviceList, and below each own EndDevice its Registration, DERs and groups (IEEE 2030.5-2018 clause 7 and 10; CSIP
 * Implementation Guide 5 and 6).
 */
import { errorText } from '../../core/errors.ts';
import { LoopShare } from '../../core/turns.ts';
import { onceEach } from '../../core/log/limited-log.ts';
import { sfdiOf } from '../../contract/csip-identity.ts';
import type { SepRequest } from '../transport/exchange.ts';
import { isPassing } from '../transport/exchange.ts';
import type { Received } from '../xml/schema.ts';
import type { DeviceCapability, EndDevice } from '../xml/documents.ts';
import { EndDeviceWalk } from './end-device-walk.ts';
import { sameCase, foundResource } from './programs.ts';
import type {
  FoundResource,
  Located,
  ServerFacts,
  SubscribableFound,
  WalkOptions,
  WalkStage,
  WalkTarget,
} from './model.ts';
import { defaultPollRateS, failure, missing, Poll } from './poll.ts';
import type { PollResult } from './poll.ts';
import type { WalkParts } from './programs.ts';
import { WalkBounds, walkMaximum } from './bounds.ts';
import type { Holding } from './bounds.ts';
import { resolved, Reader } from './reader.ts';
import { remarksOfMissed } from './remarks.ts';
import type { Missed, Remark } from './remarks.ts';
import { TimeFollower } from './time.ts';

/** After a reading without an answer the DeviceCapability is read, unless the server gave it within this time, ms. */
const probeAfterMs = 10_000;
/** EndDevices of the list that are kept for views. */
const maxSeen = 1000;

type Answered = Located<DeviceCapability>;

export class Walk {
  readonly #options: WalkOptions;
  readonly #warnOnce: (message: string) => void;
  readonly #reader: Reader;
  readonly #bounds: WalkBounds;
  readonly #holding: Holding;
  readonly #follower: TimeFollower;
  readonly #share: LoopShare;
  readonly #dcapPoll: Poll;
  readonly #timePoll: Poll;
  readonly #listPoll: Poll;
  readonly #walks = new Map<WalkTarget, EndDeviceWalk>();
  readonly #refused = new Set<WalkTarget>();
  #dcap: Answered | null = null;
  #time: ServerFacts['time'] = null;
  #list: FoundResource | null = null;
  /** why the server does not give the EndDeviceList; null: no refusal */
  #listRefusal: string | null = null;
  #seen: readonly Located<EndDevice>[] = [];
  /**
   * SubscriptionList of the connection's own EndDevice, absolute: a server may have only this one for all devices of an
   * aggregator. null: none
   */
  #ownSubscriptionListUrl: string | null = null;
  #stage: WalkStage = 'connecting';
  /** true if everything is to be read again: at the start, after a loss, and on request */
  #all = true;
  #contactMs = -Infinity;
  #stopped = false;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#warnOnce = onceEach((message) => options.log.warning(message));
    this.#reader = new Reader(options.exchange, {}, options.witness);
    this.#share = options.share ?? new LoopShare();
    this.#bounds = new WalkBounds(walkMaximum(options.targets.length));
    this.#holding = this.#bounds.part();
    const { remoteClock, clock, log, conduct } = options;
    this.#follower = new TimeFollower({
      remoteClock,
      monotonicMs: () => clock.monotonicMs(),
      warn: (message) => log.warning(message),
      inUse: () => conduct.useServerTime,
    });
    this.#dcapPoll = this.#makePoll(() => this.#readDcap());
    this.#timePoll = this.#makePoll(() => this.#readTime());
    this.#listPoll = this.#makePoll(() => this.#readList());
  }

  get stage(): WalkStage {
    return this.#stage;
  }

  /** null: no DeviceCapability yet */
  get server(): ServerFacts | null {
    return this.#dcap === null ? null : { ...this.#dcap, time: this.#time };
  }

  /** EndDevices of the list, including those of other clients, at most `maxSeen`. */
  get seen(): readonly Located<EndDevice>[] {
    return this.#seen;
  }

  /** Resources that permit subscriptions, each with the SubscriptionList of its EndDevice or of the connection. */
  get subscribable(): readonly SubscribableFound[] {
    const ownListUrl = this.#ownSubscriptionListUrl;
    const lists = [...this.#walks].flatMap(([{ deviceIndex }, walk]) => {
      const listUrl = walk.subscriptionListUrl ?? ownListUrl;
      return listUrl === null ? [] : [{ listUrl, deviceIndex, resources: walk.resources }];
    });
    const [first] = lists;
    const shared = first === undefined || this.#list === null ? [] : [{ ...first, resources: [this.#list] }];
    return [...shared, ...lists].flatMap(({ resources, ...where }) =>
      resources.filter((resource) => resource.subscribable).map((resource) => ({ resource, ...where })),
    );
  }

  /** Rates in force by resource; of several the lowest. */
  get pollRatesS(): Readonly<Record<string, number>> {
    const rates: Record<string, number> = {};
    for (const { name, poll } of this.#polls) {
      if (poll.rateS !== null) rates[name] = Math.min(poll.rateS, rates[name] ?? Infinity);
    }
    return rates;
  }

  /** Parts of the last readings that are not as they should be. */
  get remarks(): readonly Remark[] {
    return this.#polls.flatMap(({ poll }) => poll.remarks);
  }

  get #timeUrl(): string | null {
    const href = this.#dcap?.document.TimeLink?.href;
    return this.#dcap === null || href === undefined ? null : resolved(href, this.#dcap.base);
  }

  get #polls(): readonly { readonly name: string; readonly poll: Poll }[] {
    return [
      { name: 'DeviceCapability', poll: this.#dcapPoll },
      { name: 'Time', poll: this.#timePoll },
      { name: 'EndDeviceList', poll: this.#listPoll },
      ...[...this.#walks.values()].flatMap((walk) => walk.polls),
    ];
  }

  /** ms until the DeviceCapability is read again; null: it is being read */
  get retryInMs(): number | null {
    return this.#dcapPoll.dueInMs;
  }

  /** State of the EndDeviceList for a client that waits until its EndDevice is in it. */
  get admission(): { readonly refusal: string | null; readonly retryInMs: number | null } {
    return { refusal: this.#listRefusal, retryInMs: this.#listPoll.dueInMs };
  }

  /** Starts the walk; resolves after the first attempt. */
  start(): Promise<void> {
    return this.rediscover();
  }

  /** Walks again from the DeviceCapability, at once. */
  rediscover(): Promise<void> {
    this.#all = true;
    return this.#dcapPoll.now();
  }

  /** Reads every polled resource at once. */
  async poll(): Promise<void> {
    await Promise.all(this.#polls.map(({ poll }) => poll.now()));
  }

  /** Reads the resource of a notification, or the list that contains it, at once. @param url absolute */
  async reread(url: string): Promise<void> {
    if (url === this.#list?.url || [...this.#walks.values()].some((walk) => walk.url === url)) {
      await this.#listPoll.anew();
      return;
    }
    for (const walk of this.#walks.values()) await walk.reread(url);
  }

  stop(): void {
    this.#stopped = true;
    for (const { poll } of this.#polls) poll.stop();
    for (const walk of this.#walks.values()) walk.stop();
  }

  #makePoll(read: () => Promise<PollResult>): Poll {
    const { clock, later, jitter } = this.#options;
    return new Poll({ clock, later, jitter, read });
  }

  #rateOf(pollRate: number | undefined): number {
    return this.#options.conduct.pollRateS ?? pollRate ?? defaultPollRateS;
  }

  #enter(stage: WalkStage): void {
    if (stage === this.#stage || this.#stopped) return;
    this.#stage = stage;
    this.#options.listener.stage(stage);
  }

  /** Handles a failed reading below the DeviceCapability. */
  #missed(what: Missed): void {
    const { log, clock } = this.#options;
    if (what.closed || this.#stopped) return;
    log.warning(what.reason);
    if (what.status === null && clock.monotonicMs() - this.#contactMs > probeAfterMs) void this.#dcapPoll.now();
  }

  async #readDcap(): Promise<PollResult> {
    const { conduct, listener, clock } = this.#options;
    const read = await this.#reader.document('DeviceCapability', { href: conduct.dcap }, null);
    if (this.#stopped) return 'failed';
    if (read.kind !== 'found') {
      this.#all = true;
      for (const { poll } of this.#polls) if (poll !== this.#dcapPoll) poll.pause();
      this.#enter('connecting');
      listener.noContact(read.reason);
      return failure(read);
    }
    this.#contactMs = clock.monotonicMs();
    const links = linksOf(this.#dcap);
    this.#dcap = { url: read.url, base: read.url, document: read.value };
    listener.contact();
    const all = this.#all || linksOf(this.#dcap) !== links;
    if (all) {
      this.#enter('discovering');
      // the Time comes before any resource that contains times
      await this.#timePoll.now();
      await this.#listPoll.now();
    }
    return { rateS: this.#rateOf(read.value.pollRate), remarks: read.remarks };
  }

  async #readTime(): Promise<PollResult> {
    const link = this.#dcap?.document.TimeLink?.href;
    if (this.#dcap === null || link === undefined) return { rateS: this.#rateOf(undefined) };
    const read = await this.#reader.document('Time', { href: link, base: this.#dcap.base }, null);
    if (this.#stopped) return 'failed';
    if (read.kind !== 'found') {
      this.#missed(read);
      this.#warnOfAge();
      return read.kind === 'failed' ? failure(read) : missing(read, this.#rateOf(undefined));
    }
    const sample = { time: read.value, middleMonotonicMs: read.middleMonotonicMs };
    if (this.#follower.take(sample))
      this.#time = {
        url: this.#timeUrl ?? read.url,
        base: read.url,
        document: read.value,
        readAtMonotonicMs: read.middleMonotonicMs,
      };
    return { rateS: this.#rateOf(read.value.pollRate), remarks: read.remarks };
  }

  #warnOfAge(): void {
    const { clock, log, conduct } = this.#options;
    if (this.#time === null) return;
    const ageS = (clock.monotonicMs() - this.#time.readAtMonotonicMs) / 1000;
    if (ageS > conduct.timeStaleS)
      log.warning(
        `the Time of the server was not read for ${Math.round(ageS)} s; its last known offset stays in force`,
      );
  }

  async #readList(): Promise<PollResult> {
    const result = await this.#readListOnce();
    if (result !== 'posted') return result;
    // the list now shows the posted EndDevice
    const again = await this.#readListOnce();
    return again === 'posted' ? { rateS: this.#rateOf(undefined) } : again;
  }

  async #readListOnce(): Promise<PollResult | 'posted'> {
    const link = this.#dcap?.document.EndDeviceListLink?.href;
    if (this.#dcap === null) return 'failed';
    const all = this.#all;
    if (link === undefined) {
      this.#listRefusal = null;
      this.#enter('registering');
      this.#warnOnce('the DeviceCapability of the server has no EndDeviceListLink');
      return { rateS: this.#rateOf(this.#dcap.document.pollRate) };
    }
    this.#holding.begin();
    const read = await this.#reader.list('EndDeviceList', { href: link, base: this.#dcap.base }, null, this.#holding);
    this.#holding.end(read.kind === 'found');
    if (this.#stopped) return 'failed';
    if (read.kind === 'failed') {
      this.#missed(read);
      return failure(read);
    }
    // 403, 404: the server shows the list to registered clients only
    const { items, base, rate } =
      read.kind === 'found'
        ? { items: read.value.items, base: read.url, rate: read.value.list.pollRate }
        : { items: [], base: this.#dcap.base, rate: undefined };
    if (read.kind !== 'found') this.#warnOnce(read.reason);
    this.#listRefusal = read.kind === 'found' ? null : read.reason;
    const url = resolved(link, this.#dcap.base) ?? base;
    this.#list = foundResource('EndDeviceList', url, read.kind === 'found' ? read.value.list : null);
    this.#seen = items
      .slice(0, maxSeen)
      .map((document) => ({ url: resolved(document.href ?? '', base) ?? base, base, document }));
    this.#ownSubscriptionListUrl = this.#subscriptionListOf(items, base);
    const { matches, posted } = await this.#match(items, base, url);
    if (posted) return 'posted';
    this.#all = false;
    await Promise.all(matches.map(([target, located]) => this.#follow(target, located, all)));
    this.#settleStage();
    const isWaiting = matches.some(([, located]) => located === null);
    const remarks = read.kind === 'found' ? read.remarks : remarksOfMissed(read);
    if (this.#stage !== 'registering' && !isWaiting) return { rateS: this.#rateOf(rate), remarks };
    // until a client is admitted, the pollRate of the DeviceCapability says how often it may ask
    const { pollRate = defaultPollRateS } = this.#dcap.document;
    return { rateS: this.#rateOf(Math.min(rate ?? Infinity, pollRate)), remarks };
  }

  /** The SubscriptionList of the connection's own EndDevice, absolute; null: none. */
  #subscriptionListOf(items: readonly Received<EndDevice>[], base: string): string | null {
    const { ownLfdi: lfdi } = this.#options;
    const endDevice = lfdi === undefined ? undefined : byIdentity(items)({ lfdi, sfdi: sfdiOf(lfdi) });
    const href = endDevice?.SubscriptionListLink?.href;
    return href === undefined ? null : resolved(href, base);
  }

  /** Matches EndDevices to targets, and posts those that are missing. */
  async #match(items: readonly Received<EndDevice>[], base: string, listUrl: string) {
    const matches: [WalkTarget, Located<EndDevice> | null][] = [];
    const firstOf = byIdentity(items);
    let posted = false;
    for (const target of this.#options.targets) {
      if (this.#refused.has(target)) continue;
      const document = firstOf(target);
      if (document === undefined) posted = (await this.#register(target, listUrl)) || posted;
      const url = document === undefined ? null : (resolved(document.href ?? '', base) ?? base);
      matches.push([target, document === undefined || url === null ? null : { url, base, document }]);
    }
    return { matches, posted };
  }

  /** In-band registration, once for each identity. @returns true if the server has accepted it */
  async #register(target: WalkTarget, listUrl: string): Promise<boolean> {
    const { conduct, registrations, remoteClock, log } = this.#options;
    if (!conduct.register || !(await registrations.begin(target))) return false;
    this.#enter('registering');
    const { lfdi, sfdi, deviceCategory, deviceIndex } = target;
    const changedTime = Math.floor(remoteClock.nowMs() / 1000);
    const value = { deviceCategory: hexBinary(deviceCategory), lFDI: lfdi, sFDI: sfdi, changedTime };
    const body = { name: 'EndDevice', value } as const;
    const status = await this.#post({ href: listUrl, resource: 'EndDevice', body }, deviceIndex);
    if (status === null || isPassing(status)) registrations.failed(target);
    if (status === null) return false;
    if (status < 400) log.info(`the server has registered the EndDevice ${lfdi} (${status})`, deviceIndex ?? undefined);
    else {
      const outOfBand = status === 403 ? ': it registers EndDevices out of band' : '';
      log.warning(`the server answers ${status} to the EndDevice ${lfdi}${outOfBand}`, deviceIndex ?? undefined);
    }
    return status < 400;
  }

  /** @returns the status of the answer; null: no answer */
  async #post(
    request: Pick<SepRequest, 'href' | 'resource' | 'body'>,
    deviceIndex: number | null,
  ): Promise<number | null> {
    const { exchange, log } = this.#options;
    try {
      const { status } = await exchange.request({ ...request, method: 'POST', deviceIndex });
      return status;
    } catch (error) {
      log.warning(`the ${request.resource} could not be posted: ${errorText(error)}`, deviceIndex ?? undefined);
      return null;
    }
  }

  async #follow(target: WalkTarget, located: Located<EndDevice> | null, all: boolean): Promise<void> {
    const previous = this.#walks.get(target);
    const gone = located === null || located.document.enabled === false;
    if (previous !== undefined && (gone || previous.url !== located.url)) {
      previous.stop();
      this.#walks.delete(target);
      this.#options.listener.endDevice(target, null);
    }
    if (gone) return;
    const walk = this.#walks.get(target) ?? new EndDeviceWalk(located, this.#partsOf(target));
    this.#walks.set(target, walk);
    await walk.take(located, all);
  }

  #partsOf(target: WalkTarget): ConstructorParameters<typeof EndDeviceWalk>[1] {
    const { listener, conduct, remoteClock, clock, log } = this.#options;
    const { deviceIndex } = target;
    const parts: WalkParts = {
      reader: this.#reader,
      bounds: this.#bounds,
      share: this.#share,
      deviceIndex,
      makePoll: (read) => this.#makePoll(read),
      rateOf: (pollRate) => this.#rateOf(pollRate),
      missed: (what) => this.#missed(what),
      warn: (message) => log.warning(message, deviceIndex ?? undefined),
    };
    return {
      ...parts,
      conduct,
      pin: () => target.pin ?? conduct.pin,
      derCount: target.derCount,
      post: (request) => this.#post(request, deviceIndex),
      groups: {
        remoteClock,
        monotonicMs: () => clock.monotonicMs(),
        timeStaleS: () => conduct.timeStaleS,
        serverTimeUrl: () => this.#timeUrl,
      },
      lost: () => void this.#listPoll.now(),
      changed: (facts) => {
        listener.endDevice(target, facts);
        this.#settleStage();
      },
      programs: (programs) => listener.programs(target, programs),
      refused: (reason) => {
        this.#refused.add(target);
        this.#walks.delete(target);
        listener.refused(target, reason);
        if (this.#refused.size === this.#options.targets.length) this.stop();
      },
    };
  }

  #settleStage(): void {
    const admitted = [...this.#walks.values()].some((walk) => walk.admitted);
    this.#enter(admitted ? 'running' : 'registering');
  }
}

/** Finds the first EndDevice of an identity: by its LFDI, or by its SFDI where the server shows no LFDI. */
function byIdentity(items: readonly Received<EndDevice>[]) {
  const places = new Map<string | number, number>();
  for (const [place, { lFDI, sFDI }] of items.entries()) {
    const key = lFDI === undefined ? sFDI : sameCase(lFDI);
    if (key !== undefined && !places.has(key)) places.set(key, place);
  }
  return ({ lfdi, sfdi }: Pick<WalkTarget, 'lfdi' | 'sfdi'>): Received<EndDevice> | undefined => {
    const first = Math.min(places.get(lfdi) ?? Infinity, places.get(sfdi) ?? Infinity);
    return items[first];
  };
}

function linksOf(dcap: Answered | null): string {
  const { TimeLink, EndDeviceListLink } = dcap?.document ?? {};
  return [dcap?.base, TimeLink?.href, EndDeviceListLink?.href].join();
}

/** Hexadecimal digits of whole octets, for HexBinary. */
function hexBinary(value: number): string {
  const digits = value.toString(16).toUpperCase();
  return digits.padStart(digits.length + (digits.length % 2), '0');
}
