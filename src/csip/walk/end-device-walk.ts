/** One EndDevice of the server: its Registration, its DERs and its groups. */
import { onceEach } from '../../core/log/limited-log.ts';
import type { SepRequest } from '../transport/exchange.ts';
import type { Received } from '../xml/schema.ts';
import type { DER, EndDevice, Registration } from '../xml/documents.ts';
import { GroupsWalk } from './groups.ts';
import type { GroupsOptions } from './groups.ts';
import type { EndDeviceFacts, FoundProgram, FoundResource, Located, WalkConduct } from './model.ts';
import { failure, missing } from './poll.ts';
import type { Poll, PollResult } from './poll.ts';
import type { WalkParts } from './programs.ts';
import { foundResource } from './programs.ts';
import { resolved } from './reader.ts';
import type { Found } from './reader.ts';

export interface EndDeviceWalkOptions extends WalkParts {
  readonly conduct: WalkConduct;
  /** with check digit; null: none is compared */
  readonly pin: () => number | null;
  /** DERs that the EndDevice needs now */
  readonly derCount: () => number;
  /** @returns the status of the answer; null: no answer */
  readonly post: (request: Pick<SepRequest, 'href' | 'resource' | 'body'>) => Promise<number | null>;
  /** options of its groups beyond those of this walk */
  readonly groups: Pick<GroupsOptions, 'remoteClock' | 'monotonicMs' | 'timeStaleS' | 'serverTimeUrl'>;
  /** called when a resource below it is gone, so that the EndDeviceList is read again */
  readonly lost: () => void;
  readonly changed: (facts: EndDeviceFacts) => void;
  readonly programs: (programs: readonly FoundProgram[]) => void;
  readonly refused: (reason: string) => void;
}

/** Result of comparing the PIN. */
type Admission = 'unknown' | 'admitted' | 'refused';

export class EndDeviceWalk {
  readonly #options: EndDeviceWalkOptions;
  readonly #warnOnce: (message: string) => void;
  #located: Located<EndDevice>;
  #admission: Admission = 'unknown';
  #registration: Received<Registration> | null = null;
  #registrationPoll: Poll | null = null;
  #ders: readonly Located<DER>[] = [];
  #derPoll: Poll | null = null;
  #groups: GroupsWalk | null = null;
  /** the links from which the polls and groups were made */
  #links = '';
  /** true after the first admission, which reads the DERs and groups */
  #begun = false;
  /** the number of DERs for which a POST was last tried */
  #postedFor = 0;
  #stopped = false;

  constructor(located: Located<EndDevice>, options: EndDeviceWalkOptions) {
    this.#located = located;
    this.#options = options;
    this.#warnOnce = onceEach(options.warn);
  }

  get url(): string {
    return this.#located.url;
  }

  /** true if controls may be carried out for the EndDevice */
  get admitted(): boolean {
    return this.#admission === 'admitted';
  }

  /** absolute URI of its SubscriptionList; null: it has none */
  get subscriptionListUrl(): string | null {
    const { base, document } = this.#located;
    const href = document.SubscriptionListLink?.href;
    return href === undefined ? null : resolved(href, base);
  }

  get resources(): readonly FoundResource[] {
    const { url, document } = this.#located;
    return [foundResource('EndDevice', url, document), ...(this.#groups?.resources ?? [])];
  }

  get polls(): readonly { readonly name: string; readonly poll: Poll }[] {
    return [
      ...(this.#registrationPoll ? [{ name: 'Registration', poll: this.#registrationPoll }] : []),
      ...(this.#derPoll ? [{ name: 'DERList', poll: this.#derPoll }] : []),
      ...(this.#groups?.polls ?? []),
    ];
  }

  /** Follows the EndDevice of the latest list. @param all true: everything below is read again */
  async take(located: Located<EndDevice>, all: boolean): Promise<void> {
    if (this.#admission === 'refused' || this.#stopped) return;
    const { RegistrationLink, DERListLink, FunctionSetAssignmentsListLink } = located.document;
    const before = JSON.stringify(this.#located.document);
    this.#located = located;
    const links = [
      located.base,
      RegistrationLink?.href,
      DERListLink?.href,
      FunctionSetAssignmentsListLink?.href,
    ].join();
    const hasNewLinks = links !== this.#links;
    this.#links = links;
    if (hasNewLinks) this.#makeParts();
    if (hasNewLinks || all || !this.admitted) await this.#readAll(hasNewLinks);
    else if (JSON.stringify(located.document) !== before) this.#report();
  }

  /** Reads a resource at once if it lies below this EndDevice. */
  async reread(url: string): Promise<void> {
    await this.#groups?.reread(url);
  }

  stop(): void {
    this.#stopped = true;
    for (const { poll } of this.polls) poll.stop();
    this.#groups?.stop();
  }

  #makeParts(): void {
    this.#registrationPoll?.stop();
    this.#derPoll?.stop();
    this.#groups?.stop();
    const { RegistrationLink, DERListLink, FunctionSetAssignmentsListLink } = this.#located.document;
    const { makePoll, groups, programs } = this.#options;
    this.#registrationPoll = RegistrationLink?.href === undefined ? null : makePoll(() => this.#readRegistration());
    this.#derPoll = DERListLink?.href === undefined ? null : makePoll(() => this.#readDers());
    const href = FunctionSetAssignmentsListLink?.href;
    const { base } = this.#located;
    const url = href === undefined ? null : resolved(href, base);
    this.#groups =
      href === undefined || url === null
        ? null
        : new GroupsWalk({ ...this.#options, ...groups, link: { href, base }, url, changed: programs });
  }

  /** Reads the Registration first: nothing else is read or sent before the PIN is confirmed. */
  async #readAll(anew: boolean): Promise<void> {
    const { conduct, pin, refused } = this.#options;
    const hadBegun = this.#begun;
    if (this.#registrationPoll !== null) await this.#registrationPoll.now();
    else if (pin() !== null && conduct.withoutRegistration === 'stop') {
      this.#refuse('its EndDevice has no RegistrationLink, so that the PIN cannot be compared', refused);
      return;
    } else this.#admission = 'admitted';
    if (!this.admitted) return;
    if (!this.#begun) await this.#begin();
    // the first Registration that admits the EndDevice calls `#begin`, which reads the parts
    else if (hadBegun) await this.#readParts(anew);
  }

  async #begin(): Promise<void> {
    this.#begun = true;
    await this.#readParts(true);
  }

  async #readParts(anew: boolean): Promise<void> {
    await this.#derPoll?.now();
    if (this.#stopped) return;
    this.#report();
    if (this.#groups === null) this.#options.programs([]);
    else if (anew) await this.#groups.poll.now();
    else await this.#groups.all();
  }

  async #readRegistration(): Promise<PollResult> {
    const { reader, deviceIndex, pin, refused, missed, rateOf } = this.#options;
    const { base, document } = this.#located;
    const href = document.RegistrationLink?.href ?? '';
    const read = await reader.document('Registration', { href, base }, deviceIndex);
    if (this.#stopped) return 'failed';
    if (read.kind !== 'found') {
      missed(read);
      // without a PIN nothing is compared; with a PIN, an EndDevice stays admitted until a Registration has another one
      if (pin() === null) this.#admission = 'admitted';
      return read.kind === 'failed' ? failure(read) : missing(read, rateOf(undefined));
    }
    this.#registration = read.value;
    const { pIN } = read.value;
    if (pin() !== null && pIN === undefined) return this.#withoutPin(read);
    if (pin() !== null && pIN !== pin()) {
      this.#refuse('the Registration of the server has another PIN', refused);
      return 'failed';
    }
    const first = !this.admitted;
    this.#admission = 'admitted';
    if (first && !this.#begun) await this.#begin();
    return { rateS: rateOf(read.value.pollRate), remarks: read.remarks };
  }

  /** A Registration without the PIN that its schema demands confirms none, and contradicts none. */
  #withoutPin({ url, value, remarks }: Found<Received<Registration>>): PollResult {
    const { rateOf } = this.#options;
    const reason = 'the Registration of the server has no PIN that can be read: it cannot be compared';
    this.#warnOnce(reason);
    return {
      rateS: rateOf(value.pollRate),
      remarks: [...remarks, { code: 'registration-without-pin', message: `${reason} (${url})` }],
    };
  }

  #refuse(reason: string, refused: (reason: string) => void): void {
    this.#admission = 'refused';
    this.stop();
    refused(reason);
  }

  async #readDers(): Promise<PollResult> {
    const { reader, deviceIndex, missed, rateOf } = this.#options;
    const { base, document } = this.#located;
    const read = await reader.list('DERList', { href: document.DERListLink?.href ?? '', base }, deviceIndex);
    if (this.#stopped) return 'failed';
    if (read.kind !== 'found') {
      missed(read);
      return read.kind === 'failed' ? failure(read) : missing(read, rateOf(undefined));
    }
    if (await this.#postDers(read.value.items.length, read.url)) return this.#readDers();
    const before = JSON.stringify(this.#ders);
    this.#ders = read.value.items.map((der) => ({
      url: (der.href === undefined ? null : resolved(der.href, read.url)) ?? read.url,
      base: read.url,
      document: der,
    }));
    // the first reading is reported together with the EndDevice
    if (this.#derPoll?.rateS !== null && JSON.stringify(this.#ders) !== before) this.#report();
    return { rateS: rateOf(read.value.list.pollRate), remarks: read.remarks };
  }

  /** Posts missing DERs, once for each number needed. @returns true if the server has accepted a DER */
  async #postDers(listed: number, listUrl: string): Promise<boolean> {
    const { post, derCount } = this.#options;
    const needed = derCount();
    if (listed >= needed || needed <= this.#postedFor) return false;
    this.#postedFor = needed;
    for (let count = listed; count < needed; count += 1) {
      const status = await post({ href: listUrl, resource: 'DER', body: { name: 'DER', value: {} } });
      if (status === null || status >= 400) return count > listed;
    }
    return true;
  }

  #report(): void {
    const { base, document } = this.#located;
    const href = document.DERListLink?.href;
    this.#options.changed({
      ...this.#located,
      registration: this.#registration,
      ders: this.#ders,
      derListUrl: href === undefined ? null : resolved(href, base),
    });
  }
}
