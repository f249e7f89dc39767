import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { clientMaterial } from '../../../src/core/tls/client-context.ts';
import { callLater } from '../../../src/core/time/timers.ts';
import { Notifications } from '../../../src/csip/notifications.ts';
import type { Subscriptions } from '../../../src/csip/notify/subscriptions.ts';
import type { SubscribableResource } from '../../../src/csip/notify/subscriptions.ts';
import { csipChannel } from '../../../src/csip/transport/messages.ts';
import { HttpExchange } from '../../../src/csip/transport/sep-exchange.ts';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import { headEndPki } from '../../support/head-end.ts';
import { HandWall } from '../../support/wall.ts';
import { HeadEnd, lfdiOf } from '../head-end/head-end.ts';

const silent = { info: () => undefined, warning: () => undefined, error: () => undefined };

describe('CSIP: subscriptions at a head-end, over TLS both ways', () => {
  const clock = new HandWall();
  let headEnd: HeadEnd;
  let service: Notifications;
  let lines: string[];
  let exchange: HttpExchange;
  let subscriptions: Subscriptions;
  let resources: readonly SubscribableResource[];
  let notified: string[];
  let channel: ReturnType<typeof csipChannel>;

  beforeEach(async () => {
    const { root, server, device } = await headEndPki();
    const lfdi = lfdiOf(new X509Certificate(device.cert).raw);
    headEnd = await HeadEnd.open({ tls: { identity: server, ca: root.cert }, nowMs: () => clock.nowMs() });
    channel = csipChannel(new WireLog({ clock, sim: () => 0 as never, log: silent }));
    const made = clientMaterial({ ...device, rootCert: root.cert }, 'csip', { cert: '', key: '', rootCert: '' });
    if (!('material' in made)) throw new Error('no certificates');
    const context = createSecureContext(made.material.context);
    exchange = new HttpExchange({
      host: '127.0.0.1',
      port: headEnd.port,
      allowedHosts: [],
      anywhere: true,
      clock,
      later: callLater,
      channel,
      tls: { identity: { context, disturbed: () => context }, checkHostname: true },
      codec: { parse: parseDocument, build: (document) => buildDocument(document, { revision: '2018', aus: null }) },
    });
    lines = [];
    const log = { info: () => undefined, warning: (line: string) => lines.push(line) };
    const notifications = { subscribe: true, host: '127.0.0.1', port: 0, tls: true, uri: null };
    service = new Notifications({
      settings: { notifications, strictCipher: true },
      codec: { parse: parseDocument },
      clock,
      later: callLater,
      log,
      channel,
    });
    await service.open({ pem: { ...device, rootCert: root.cert } });
    notified = [];
    const joined = service.subscriptions({
      exchange,
      secret: device.key,
      automatic: true,
      jitter: { next: () => 0 },
      reread: (url) => notified.push(url),
    });
    if (joined === null) throw new Error('nothing listens');
    subscriptions = joined;
    headEnd.subscribable = true;
    const program = headEnd.program();
    const { id } = headEnd.register(lfdi);
    const url = `${headEnd.origin}/edev/${id}/derp/${program.id}/derc`;
    resources = [{ url, name: 'DERControlList', listUrl: `${headEnd.origin}/edev/${id}/sub`, deviceIndex: 0 }];
  });
  afterEach(async () => {
    await subscriptions.close(false);
    await service.close();
    await exchange.close();
    await headEnd.close();
  });

  it('subscribes, is notified with and without the resource, and ends it', async () => {
    subscriptions.reachable(true);
    subscriptions.follow(resources);
    await headEnd.until(() => headEnd.subscriptions[0]);
    const [{ resource, href } = { resource: '', href: '' }] = headEnd.subscriptions;
    await subscriptions.choose(new URL(resources[0]?.url ?? '').pathname, true);
    expect(subscriptions.list()[0]).to.include({ state: 'active', href: headEnd.origin + href });
    const seen: unknown[] = [];
    channel.subscribe(({ direction, facts: { method, status } }) => seen.push([direction, method, status]));
    expect(await headEnd.notify(resource)).to.deep.equal([204]);
    expect(await headEnd.notify(resource, 0, false)).to.deep.equal([204]);
    expect(notified).to.deep.equal([resources[0]?.url, resources[0]?.url]);
    expect(subscriptions.notifications.map(({ content }) => content)).to.deep.equal([null, 'DERControlList']);
    expect(seen).to.deep.equal([
      ['in', 'POST', 204],
      ['in', 'POST', 204],
    ]);
    const told = headEnd.subscriptions[0]!;
    await subscriptions.close();
    expect(headEnd.subscriptions).to.deep.equal([]);
    expect(await headEnd.notifier.send(told, 0, null)).to.equal(404);
  });

  it('subscribes again when the head-end has ended it', async () => {
    subscriptions.reachable(true);
    subscriptions.follow(resources);
    await headEnd.until(() => headEnd.subscriptions[0]);
    await subscriptions.choose(resources[0]?.url ?? '', true);
    const told = headEnd.subscriptions.splice(0);
    expect(await headEnd.notifier.send(told[0]!, 1, null)).to.equal(204);
    await headEnd.until(() => headEnd.subscriptions[0]);
    expect(headEnd.subscriptions[0]?.notificationUri).to.equal(told[0]?.notificationUri);
  });

  it('changed certificates hold for new connections, unusable ones change nothing', async () => {
    const { foreign, root } = await headEndPki();
    subscriptions.reachable(true);
    subscriptions.follow(resources);
    const record = await headEnd.until(() => headEnd.subscriptions[0]);
    const send = () => headEnd.notifier.send(record, 0, null);
    expect(await send()).to.equal(204);
    service.certificatesChanged({ pem: { cert: 'rubbish', key: 'rubbish', rootCert: 'rubbish' } });
    expect(lines).to.have.length(1);
    expect(await send()).to.equal(204);
    service.certificatesChanged({ pem: { ...foreign, rootCert: root.cert } });
    expect(await send(), 'the head-end does not trust it').to.equal(0);
  });
});
