import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { AddressBook } from '../../../src/csip/addresses.ts';
import { Subscriptions } from '../../../src/csip/notify/subscriptions.ts';
import type { Notified, SubscribableResource } from '../../../src/csip/notify/subscriptions.ts';
import type { NotificationTaker } from '../../../src/csip/notify/listener.ts';
import type { SepAnswer, SepExchange, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type { DocumentName } from '../../../src/csip/xml/schema.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const origin = 'https://server:8443';
const listUrl = `${origin}/edev/1/sub`;

const resource = (path: string, name: DocumentName = 'DERControlList'): SubscribableResource => ({
  url: origin + path,
  name,
  listUrl,
  deviceIndex: 0,
});

/** A server that knows subscriptions by the URI at which they are notified, and the client of it. */
class Rig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly takers = new Map<string, NotificationTaker>();
  /** `POST /derc`, `DELETE /sub/1` */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** notification URI by Location */
  readonly made = new Map<string, string>();
  readonly notified: Notified[] = [];
  readonly lines: string[] = [];
  /** status of the next answers; an Error: none comes */
  answers: (number | Error)[] = [];
  hold: Promise<void> = Promise.resolve();
  readonly subscriptions: Subscriptions;

  /** @param addresses of an earlier process */
  constructor(automatic = true, addresses?: AddressBook, secret = 'key') {
    const note = (line: string) => this.lines.push(line);
    this.subscriptions = new Subscriptions({
      exchange: this.#exchange(),
      listener: {
        uriOf: (id) => `https://client/notify/${id}`,
        take: (id, taker) => {
          this.takers.set(id, taker);
          return () => this.takers.delete(id);
        },
      },
      secret,
      automatic,
      clock: this.wall,
      later: this.timers.later,
      jitter: { next: () => 1 },
      log: { info: note, warning: note },
      onNotification: (notified) => this.notified.push(notified),
      ...(addresses && { addresses }),
    });
  }

  #exchange(): SepExchange {
    const request = async ({ method, href, body, signal }: SepRequest): Promise<SepAnswer> => {
      const subscription = body?.name === 'Subscription' ? body.value : null;
      this.requests.push(`${method} ${subscription?.subscribedResource ?? new URL(href).pathname}`);
      if (subscription) this.bodies.push(subscription);
      await Promise.race([
        this.hold,
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new SimError('STOPPING', 'ended')))),
      ]);
      const status = this.answers.shift() ?? (method === 'POST' ? 201 : 204);
      if (status instanceof Error) throw status;
      const location = status === 201 ? `${origin}/sub/${this.made.size + 1}` : null;
      if (location !== null) this.made.set(location, subscription?.notificationURI ?? '');
      const notificationURI = method === 'GET' ? this.made.get(href) : undefined;
      const answer = { url: href, location, document: null, middleMonotonicMs: 0 };
      if (method !== 'GET') return { ...answer, status };
      if (notificationURI === undefined) return { ...answer, status: 404 };
      return { ...answer, status: 200, document: { name: 'Subscription', value: { notificationURI } } };
    };
    return { origin, request, negotiated: null, close: () => Promise.resolve() };
  }

  /** Lets everything run that waits for nothing but promises. */
  async settled(): Promise<this> {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    return this;
  }

  async pass(ms: number): Promise<void> {
    this.timers.pass(ms);
    await this.settled();
  }

  async start(...resources: readonly SubscribableResource[]): Promise<this> {
    this.subscriptions.reachable(true);
    this.subscriptions.follow(resources);
    return this.settled();
  }

  /** As the server notifies a subscription. @returns false: 404 */
  notify(location: string, status = 0): boolean {
    const taker = this.takers.get(this.made.get(location)?.split('/').at(-1) ?? '');
    const notification = { subscribedResource: '/derc', status, subscriptionURI: location };
    taker?.({ document: { name: 'Notification', value: notification }, notification, peer: 'server:1' });
    return taker !== undefined;
  }

  get states(): Record<string, string> {
    return Object.fromEntries(
      this.subscriptions.list().map(({ resource: of, state }) => [of.slice(origin.length), state]),
    );
  }
}

const codeOf = async (act: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await act.catch((reason: unknown) => reason);
  return error instanceof SimError ? error.code : error;
};

describe('CSIP: subscriptions', () => {
  it('posts a Subscription for each resource that is useful, and keeps its Location', async () => {
    const rig = await new Rig().start(resource('/derc'), resource('/derp', 'DERProgramList'), resource('/tm', 'Time'));
    expect(rig.requests).to.deep.equal(['POST /derc', 'POST /derp']);
    const [first] = rig.bodies as Record<string, unknown>[];
    expect(first).to.include({ subscribedResource: '/derc', encoding: 0, level: '+S1', limit: 1 });
    expect(first?.['notificationURI']).to.match(/^https:\/\/client\/notify\/[0-9a-f]{32}$/);
    expect(rig.subscriptions.list()[0]).to.deep.equal({
      resource: `${origin}/derc`,
      href: `${origin}/sub/1`,
      state: 'active',
      notifications: 0,
      lastError: null,
      renewedAtMs: rig.wall.nowMs(),
    });
  });

  it('a subscription of an earlier process goes on, and is made again only where the server has dropped it', async () => {
    const slot = createMemoryStore().slot('subscriptions');
    const resources = [resource('/derc'), resource('/derp', 'DERProgramList')];
    const first = await new Rig(true, await AddressBook.open(slot, silentLogger)).start(...resources);
    const second = new Rig(true, await AddressBook.open(slot, silentLogger));
    second.made.set(`${origin}/sub/1`, first.made.get(`${origin}/sub/1`) ?? '');
    await second.start(...resources);
    expect(second.requests).to.deep.equal(['GET /sub/1', 'GET /sub/2', 'POST /derp']);
    expect(second.states).to.deep.equal({ '/derc': 'active', '/derp': 'active' });
    expect(second.notify(`${origin}/sub/1`)).to.equal(true);
    await second.pass(12 * 3_600_000);
    expect(second.requests.slice(3)).to.deep.equal(['POST /derc', 'POST /derp']);
  });

  it('tells a notification, which is to be followed by a reading, and keeps the last 100', async () => {
    const rig = await new Rig().start(resource('/derc'));
    expect(rig.notify(`${origin}/sub/1`)).to.equal(true);
    expect(rig.notified).to.deep.equal([{ resource: `${origin}/derc`, status: 0 }]);
    for (let i = 0; i < 150; i++) rig.notify(`${origin}/sub/1`);
    expect(rig.subscriptions.notifications).to.have.length(100);
    expect(rig.subscriptions.notifications[0]).to.include({ resource: '/derc', status: 0, httpStatus: 204 });
    expect(rig.subscriptions.list()[0]?.notifications).to.equal(151);
  });

  it('has paths for notifications that no server can compute without the key of the client', async () => {
    const pathsOf = async (secret: string) => (await new Rig(true, undefined, secret).start(resource('/derc'))).takers;
    const [first, again, other] = [await pathsOf('key'), await pathsOf('key'), await pathsOf('another key')];
    expect([...first.keys()]).to.deep.equal([...again.keys()]);
    expect([...first.keys()]).to.not.deep.equal([...other.keys()]);
  });

  it('renews with the same notificationURI before half a day is over', async () => {
    const rig = await new Rig().start(resource('/derc'));
    await rig.pass(12 * 3_600_000);
    expect(rig.requests).to.deep.equal(['POST /derc', 'POST /derc']);
    expect(new Set(rig.made.values()).size).to.equal(1);
    expect(rig.states).to.deep.equal({ '/derc': 'active' });
  });

  it('subscribes again after the server has ended it, with waits that grow', async () => {
    for (const status of [1, 2, 3, 4]) {
      const rig = await new Rig().start(resource('/derc'));
      rig.notify(`${origin}/sub/1`, status);
      expect(rig.notified).to.deep.equal([{ resource: `${origin}/derc`, status }]);
      expect(rig.states).to.deep.equal({ '/derc': 'cancelled' });
      await rig.pass(999);
      expect(rig.requests).to.have.length(1);
      await rig.pass(1);
      expect(rig.requests).to.have.length(2);
      rig.notify(`${origin}/sub/2`, status);
      await rig.pass(1_999);
      expect(rig.requests).to.have.length(2);
      await rig.pass(1);
      expect(rig.states).to.deep.equal({ '/derc': 'active' });
    }
  });

  it('subscribes to everything again when the server was lost', async () => {
    const rig = await new Rig().start(resource('/derc'), resource('/derp', 'DERProgramList'));
    rig.subscriptions.reachable(false);
    rig.notify(`${origin}/sub/1`, 1);
    await rig.pass(3_600_000);
    expect(rig.requests).to.have.length(2);
    rig.subscriptions.reachable(true);
    await rig.settled();
    expect(rig.requests.slice(2)).to.deep.equal(['POST /derc', 'POST /derp']);
  });

  it('tries again after failures, and later only after a refusal', async () => {
    const rig = new Rig();
    rig.answers = [new SimError('PEER_ERROR', 'broken'), 503, 201];
    await rig.start(resource('/derc'));
    expect(rig.subscriptions.list()[0]).to.include({ state: 'pending', lastError: 'broken' });
    await rig.pass(1_000);
    expect(rig.subscriptions.list()[0]).to.include({ state: 'pending', lastError: 'HTTP 503' });
    await rig.pass(2_000);
    expect(rig.states).to.deep.equal({ '/derc': 'active' });
    const refused = new Rig();
    refused.answers = [403];
    await refused.start(resource('/derc'));
    expect(refused.subscriptions.list()[0]).to.include({ state: 'refused', href: null, lastError: 'HTTP 403' });
    await refused.pass(3_600_000);
    expect(refused.requests).to.have.length(1);
    expect(refused.lines).to.have.length(1);
  });

  it('a subscription that exists already (409) counts', async () => {
    const rig = new Rig();
    rig.answers = [409];
    await rig.start(resource('/derc'));
    expect(rig.subscriptions.list()[0]).to.include({ state: 'active', href: null });
  });

  it('leaves a resource that is gone, and takes it up when it returns', async () => {
    const rig = await new Rig().start(resource('/derc'));
    rig.subscriptions.follow([]);
    await rig.settled();
    expect(rig.requests).to.deep.equal(['POST /derc', 'DELETE /sub/1']);
    expect(rig.subscriptions.list()).to.deep.equal([]);
    expect(rig.notify(`${origin}/sub/1`)).to.equal(false);
    rig.subscriptions.follow([resource('/derc')]);
    await rig.settled();
    expect(rig.states).to.deep.equal({ '/derc': 'active' });
  });

  it('names a resource of another server in full', async () => {
    const rig = await new Rig().start({ ...resource('/derc'), url: 'https://other/derc?x=1' });
    expect(rig.requests).to.deep.equal(['POST https://other/derc']);
  });

  it('subscribes by choice where nothing is automatic, and ends by choice what is', async () => {
    const rig = await new Rig(false).start(resource('/derc'), resource('/tm', 'Time'));
    expect(rig.requests).to.deep.equal([]);
    await rig.subscriptions.choose(`${origin}/tm`, true);
    expect(rig.states).to.deep.equal({ '/tm': 'active' });
    await rig.subscriptions.choose(`${origin}/tm`, false);
    expect(rig.requests).to.deep.equal(['POST /tm', 'DELETE /sub/1']);
    expect(rig.states).to.deep.equal({ '/tm': 'cancelled' });
    rig.subscriptions.follow([resource('/derc'), resource('/tm', 'Time')]);
    await rig.settled();
    expect(rig.states, 'the choice holds').to.deep.equal({ '/tm': 'cancelled' });
    await rig.subscriptions.choose(`${origin}/tm`, true);
    expect(rig.states).to.deep.equal({ '/tm': 'active' });
  });

  it('refuses a choice that cannot be', async () => {
    const rig = new Rig(false);
    rig.subscriptions.follow([resource('/derc')]);
    expect(await codeOf(rig.subscriptions.choose(`${origin}/derc`, true))).to.equal('NOT_CONNECTED');
    rig.subscriptions.reachable(true);
    expect(await codeOf(rig.subscriptions.choose(`${origin}/none`, true))).to.equal('UNKNOWN_RESOURCE');
    expect(await codeOf(rig.subscriptions.choose(`${origin}/none`, false))).to.equal('UNKNOWN_RESOURCE');
    rig.answers = [404];
    await rig.subscriptions.choose(`${origin}/derc`, true);
    expect(rig.states).to.deep.equal({ '/derc': 'refused' });
  });

  it('a choice against it while it is being posted deletes it afterwards', async () => {
    const rig = new Rig();
    let release: () => void = () => undefined;
    rig.hold = new Promise((resolve) => (release = resolve));
    await rig.start(resource('/derc'));
    const choice = rig.subscriptions.choose(`${origin}/derc`, false);
    release();
    await choice;
    expect(rig.requests).to.deep.equal(['POST /derc', 'DELETE /sub/1']);
    expect(rig.states).to.deep.equal({ '/derc': 'cancelled' });
  });

  it('deletes its subscriptions at the end, and takes no notification any more', async () => {
    const rig = await new Rig().start(resource('/derc'), resource('/derp', 'DERProgramList'));
    await rig.subscriptions.close();
    expect(rig.requests.slice(2).sort()).to.deep.equal(['DELETE /sub/1', 'DELETE /sub/2']);
    expect(rig.takers.size).to.equal(0);
    expect(rig.timers.waiting).to.equal(0);
    rig.subscriptions.follow([resource('/derc')]);
    await rig.pass(86_400_000);
    expect(rig.requests).to.have.length(4);
  });

  it('does not wait at the end for a server that does not answer', async () => {
    const rig = await new Rig().start(resource('/derc'));
    rig.hold = new Promise(() => undefined);
    const closing = rig.subscriptions.close();
    await rig.settled();
    await rig.pass(1_000);
    await closing;
    expect(rig.lines.join()).to.contain('could not be deleted');
  });

  it('sends nothing at the end where communication has to cease', async () => {
    const rig = await new Rig().start(resource('/derc'));
    await rig.subscriptions.close(false);
    expect(rig.requests).to.deep.equal(['POST /derc']);
    expect(rig.takers.size).to.equal(0);
  });
});
