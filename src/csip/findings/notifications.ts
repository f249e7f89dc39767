/** Judges the notifications of a server, and those that do not come. */
import type { Deadline } from '../../core/findings/rule.ts';
import type { Notification } from '../xml/documents.ts';
import type { Received } from '../xml/schema.ts';
import type { SeenList } from '../walk/reader.ts';
import { pathOf, Remembered, short } from './model.ts';
import type { JudgeParts } from './model.ts';

/** Subscribed lists of one connection that are followed. */
const maxLists = 32;
/** Items of one list that are remembered; longer lists are not judged. */
const maxItems = 100;

/** Keys of the items of a list. */
interface Reading {
  readonly items: ReadonlySet<string>;
  /** on `WallClock.monotonicMs` */
  readonly atMs: number;
}

/** A subscribed list. */
interface Followed {
  /** the last reading since the subscription; null: none yet */
  reading: Reading | null;
  /** on `WallClock.monotonicMs` */
  notifiedMs: number;
  waiting: Deadline | null;
}

const keyOf = (item: SeenList['items'][number]): string | undefined =>
  ('mRID' in item ? item.mRID : undefined) ?? ('href' in item ? item.href : undefined);

export class NotificationJudge {
  readonly #parts: JudgeParts;
  /** by path */
  readonly #lists = new Remembered<Followed>(maxLists);
  /** a notification has come, so that the listener can be reached */
  #isReached = false;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** A subscription has begun or ended. */
  subscribed(url: string, isActive: boolean): void {
    const path = pathOf(url);
    const followed = this.#lists.get(path);
    if (isActive && followed === undefined)
      this.#lists.set(path, { reading: null, notifiedMs: -Infinity, waiting: null });
    if (isActive || followed === undefined) return;
    followed.waiting?.drop();
    this.#lists.delete(path);
  }

  notified(url: string, { subscribedResource }: Received<Notification>): void {
    const { rules, peer, clock } = this.#parts;
    const followed = this.#lists.get(pathOf(url));
    this.#isReached = true;
    if (followed !== undefined) {
      followed.notifiedMs = clock.monotonicMs();
      followed.waiting?.met();
      followed.waiting = null;
    }
    if (subscribedResource === undefined) return;
    const path = pathOf(
      URL.canParse(subscribedResource, url) ? new URL(subscribedResource, url).href : subscribedResource,
    );
    if (path === pathOf(url)) rules.notification_other.exercised(peer);
    else
      rules.notification_other.broken(peer, null, () => ({
        text: `a notification of the subscription to ${short(pathOf(url))} names ${short(path)}`,
        facts: { path: pathOf(url), subscribedResource: path },
      }));
  }

  /** Looks for new items of a subscribed list, about which a notification has to come. */
  list({ url, items, isWhole, deviceIndex, name }: SeenList): void {
    const { findings, rules, peer, clock } = this.#parts;
    const path = pathOf(url);
    const followed = this.#lists.get(path);
    // a client that has posted its EndDevice has changed that list itself
    if (followed === undefined || !isWhole || name === 'EndDeviceList') return;
    const keys = items.map(keyOf);
    const nowMs = clock.monotonicMs();
    const before = followed.reading;
    const isJudged = items.length <= maxItems && !keys.includes(undefined);
    followed.reading = isJudged ? { items: new Set(keys as string[]), atMs: nowMs } : null;
    if (before === null) return;
    const added = followed.reading && [...followed.reading.items].find((key) => !before.items.has(key));
    if (added === null || added === undefined || followed.waiting?.isPending === true) return;
    const rule = rules.notification_missing;
    const waitMs = rule.param('wait_s') * 1000;
    // a notification since the last reading may have been about the item
    if (followed.notifiedMs >= Math.min(before.atMs, nowMs - waitMs)) {
      rule.exercised(peer);
      return;
    }
    if (!this.#isReached) {
      rule.undecided(peer);
      return;
    }
    followed.waiting = findings.waitFor({
      rule,
      peer,
      deviceIndex,
      waitMs,
      presence: 'connected',
      key: path,
      expired: () => ({
        text: `the ${name} has a new item, and no notification of it came within ${waitMs / 1000} s`,
        facts: { path, item: added },
      }),
    });
  }

  close(): void {
    for (const [, { waiting }] of this.#lists.entries()) waiting?.drop();
  }
}
