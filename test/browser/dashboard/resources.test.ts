/** A page that stays open: hidden it rests, and over many views it does not grow. */
import { expect } from 'chai';
import type { CDPSession, Page } from 'playwright-core';
import { noChromium } from '../../support/browser.ts';
import { dealt } from '../../support/choice.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { show, startSite, views } from '../../support/dashboard-views.ts';
import { pick } from '../../support/depth.ts';
import { runSeed } from '../../support/seed.ts';
import { skip } from '../../support/skip.ts';

/** Rounds through the views before each of the two counts. */
const rounds = pick({ quick: 2, ci: 3, full: 5 });
/** Parts of the views; the first run of each walks through one of them. */
const parts = pick({ quick: 8, ci: 4, full: 1 });

interface Taken {
  readonly nodes: number;
  readonly listeners: number;
  readonly heapBytes: number;
}

/** What the page holds after a collection of garbage. */
async function taken(session: CDPSession): Promise<Taken> {
  // the first one runs finalisers, whose objects the second one frees
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? NaN;
  return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heapBytes: of('JSHeapUsedSize') };
}

/** A browser without a window takes every page for shown. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`(() => {
    for (const [name, value] of [['hidden', ${isHidden}], ['visibilityState', '${isHidden ? 'hidden' : 'visible'}']])
      Object.defineProperty(document, name, { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);

/** Runs in the page before its code: keeps the addresses that it reads. */
const keepRequests = `(() => {
  [globalThis.asked, globalThis.waiting] = [[], 0];
  const send = fetch;
  globalThis.fetch = async (...request) => {
    globalThis.asked.push(String(request[0].url ?? request[0]));
    globalThis.waiting += 1;
    try {
      return await send(...request);
    } finally {
      globalThis.waiting -= 1;
    }
  };
})()`;

/** Runs in the page: keeps requests and changes of the document from now on. */
const watchDocument = `(() => {
  [globalThis.asked, globalThis.mutations] = [[], []];
  globalThis.watching?.disconnect();
  globalThis.watching = new MutationObserver((all) => globalThis.mutations.push(...all.map(({ target }) =>
    (target.parentElement ?? target).outerHTML?.slice(0, 120) ?? target.nodeName)));
  globalThis.watching.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
})()`;

describe('dashboard: a page that stays open', function () {
  this.timeout(180_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startSite();
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('reads and draws nothing while it is hidden, keeps its stream, and catches up when it is shown', async () => {
    const sockets: string[] = [];
    let [messages, irradiance] = [0, 300];
    const { page, seen } = await dashboard.open('#/overview', async (prepared) => {
      await prepared.clock.install();
      await prepared.addInitScript(keepRequests);
      prepared.on('websocket', (socket) => {
        sockets.push(socket.url());
        socket.on('framereceived', () => (messages += 1));
      });
    });
    for (const path of ['overview', 'devices/2/picture', 'charts', 'events/timeline', 'events/log', 'compare']) {
      await show(page, path);
      await page.clock.runFor(5000);
      await setHidden(page, true);
      // what was under way comes to its end
      while ((await page.evaluate<number>('globalThis.waiting')) > 0);
      await page.clock.runFor(2000);
      const opened = sockets.length;
      await page.evaluate(watchDocument);
      messages = 0;
      await dashboard.post('controls/environment', { irradiance_w_m2: (irradiance += 50) });
      await dashboard.step(3);
      // the stream stays
      while (messages === 0) await page.evaluate('0');
      await page.clock.runFor(20_000);
      expect(await page.evaluate('globalThis.asked'), path).to.deep.equal([]);
      expect(await page.evaluate('globalThis.mutations'), path).to.deep.equal([]);
      expect(sockets.slice(opened), path).to.deep.equal([]);
      await setHidden(page, false);
      const { tick } = await dashboard.get('controls/time');
      await page.clock.runFor(2000);
      await page.locator(`[data-test="clock"][title$="tick ${tick}"]`).waitFor();
      expect(await page.evaluate('globalThis.asked'), path).not.to.deep.equal([]);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('holds no more nodes, listeners and memory after many views than after some', async () => {
    const { page, seen } = await dashboard.open('#/overview');
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const walked = dealt(
      views.map(([path]) => path),
      parts,
      runSeed,
    );
    const walk = async (): Promise<Taken> => {
      for (let round = 0; round < rounds; round += 1) for (const path of walked) await show(page, path);
      await show(page, 'overview');
      return taken(session);
    };
    const [before, after] = [await walk(), await walk()];
    const grown = JSON.stringify({ before, after, walked });
    expect(after.nodes - before.nodes, grown).to.be.below(100);
    expect(after.listeners - before.listeners, grown).to.be.below(20);
    expect(after.heapBytes - before.heapBytes, grown).to.be.below(1e6);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
