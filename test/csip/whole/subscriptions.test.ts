/** Subscriptions and notifications. */
import { expect } from 'chai';
import type { SimError } from '../../../src/core/errors.ts';
import { closed, occupied } from '../../support/ports.ts';
import { parsed } from '../head-end/bodies.ts';
import { Site } from './site.ts';

const limit = (percent: number) => ({ opModMaxLimW: percent * 100 });

describe('an aggregator at a head-end: subscriptions', () => {
  let site: Site;
  let managed: readonly string[];

  beforeEach(async () => {
    site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      aggregator: true,
      flags: ['--csip_register', 'yes', '--csip_subscribe', 'yes'],
      prepare(headEnd, [own = '']) {
        headEnd.subscribable = true;
        headEnd.notifies = true;
        headEnd.register(own);
        headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20 });
        headEnd.program({ fsa: headEnd.fsa('transformer'), primacy: 5, endDevices: [2] });
      },
    });
    await site.until('two devices', 90, () => (site.headEnd.endDevices.length === 3 ? true : undefined));
    await site.advance(75);
    managed = site.headEnd.endDevices.slice(1).map(({ lfdi }) => lfdi);
  });
  afterEach(() => site.close());

  const limits = () => Promise.all([0, 1].map(async (device) => Number((await site.points(704, device)).WMaxLimPct)));
  const statuses = (mRID: string) => managed.map((lfdi) => site.headEnd.statuses(mRID, lfdi));

  it('CORE-018, CORE-019, AGG-002, ALL-14: subscribes to what it may, and acts on a notification at once', async () => {
    const resources = site.headEnd.subscriptions.map(({ resource }) => resource);
    for (const path of ['/edev', '/edev/2/fsa', '/edev/2/derp/1/derc', '/edev/3/derp/1/derc']) {
      expect(resources, path).to.include(path);
    }
    for (const resource of resources) expect(resource).to.not.include('?');
    const lines = site.app.adapters.flatMap((adapter) => adapter.startLines?.() ?? []);
    expect(lines.join('\n')).to.match(/CSIP +notifications at https:\/\/127\.0\.0\.1:[1-9]/);
    const [system] = site.headEnd.programs;
    if (system === undefined) throw new Error('no program');
    const control = site.headEnd.control(system, { modes: limit(50), durationS: 600 });
    await site.settle();
    expect(site.headEnd.notifier.sent.map(({ status }) => status)).to.satisfy((all: number[]) =>
      all.every((status) => status === 201 || status === 204),
    );
    await site.advance(3);
    expect(statuses(control.mRID)).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
    expect(await limits()).to.deep.equal([50, 50]);
  });

  it('subscribes at the EndDevice of the aggregator where those of the devices have no SubscriptionList', async () => {
    const { headEnd } = site;
    await site.stop();
    headEnd.subscriptions.splice(0);
    for (const { without } of headEnd.endDevices.slice(1)) without.add('SubscriptionListLink');
    await site.start();
    await site.advance(75);
    for (const path of ['/edev', '/edev/2/fsa', '/edev/2/derp/1/derc', '/edev/3/derp/1/derc']) {
      const found = headEnd.subscriptions.filter(({ resource }) => resource === path);
      expect(found, path).to.have.length(1);
      expect(found[0]?.href, path).to.match(/^\/edev\/1\/sub\//);
    }
  });

  it('MAINT-006, ERR-002: subscribes anew when the server ends a subscription; an unknown one is answered with 404', async () => {
    const { headEnd } = site;
    const ended = headEnd.subscriptions.find(({ resource }) => resource === '/edev/2/derp/1/derc');
    if (ended === undefined) throw new Error(site.story());
    headEnd.subscriptions.splice(headEnd.subscriptions.indexOf(ended), 1);
    expect(await headEnd.notifier.send(ended, 1, null)).to.be.oneOf([201, 204]);
    await site.until('a new subscription', 200, () =>
      headEnd.subscriptions.find(({ resource }) => resource === '/edev/2/derp/1/derc'),
    );
    const unknown = { ...ended, notificationUri: new URL('unknown', ended.notificationUri).href };
    expect(await headEnd.notifier.send(unknown, 0, null)).to.equal(404);
    await site.stop();
    const { length } = headEnd.requests;
    await site.start();
    await site.advance(80);
    const renewed = headEnd.sent('POST', /sub$/, length).map(({ body }) => parsed(body).value.subscribedResource);
    expect(renewed).to.include('/edev/2/derp/1/derc');
  });
});

describe('a client in clear whose notifications come over TLS', () => {
  let site: Site;
  afterEach(() => site.close());

  it('starts, and listens with the certificate of the files', async () => {
    site = await Site.open({
      tls: null,
      flags: ['--csip_subscribe', 'yes', '--csip_notify_enc', 'yes'],
    });
    const lines = site.app.adapters.flatMap((adapter) => adapter.startLines?.() ?? []);
    expect(lines.join('\n')).to.match(
      /CSIP +\d client of http:.*\nCSIP +notifications at https:\/\/127\.0\.0\.1:[1-9]/,
    );
    await site.until('a request in clear', 30, () => site.headEnd.sent('GET', '/dcap')[0]);
  });
});

describe('a port of notifications in use', () => {
  it('fails the start with the flag of another one', async () => {
    const { server, port } = await occupied();
    const site = await Site.open({
      tls: null,
      flags: ['--csip_subscribe', 'yes', '--csip_notify_port', String(port)],
      startsLater: true,
    });
    const failure = await site.start().then(
      () => null,
      (error: unknown) => (error as SimError).message,
    );
    await Promise.all([site.close(), closed(server)]);
    expect(failure).to.equal(
      `CSIP notifications: cannot listen on 127.0.0.1:${port}: the port is in use; ` +
        '--csip_notify_port takes another port, or 0 for any free one',
    );
  });
});
