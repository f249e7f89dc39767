import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../src/api/http/server.ts';
import type { Api } from '../../src/api/http/server.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { apiContext } from '../support/api-context.ts';
import { findChromium, launch, watch } from '../support/browser.ts';
import { testPlant } from '../support/plant.ts';

describe('documentation pages in a browser', () => {
  let browser: Browser;
  let api: Api;
  let origin: string;

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) {
      console.log('      no Chromium found (set CHROMIUM): the documentation pages are not tested');
      this.skip();
    }
    browser = await launch(executable);
    api = createApi(apiContext({ plant: testPlant() }));
    const { port } = await api.start();
    origin = `http://127.0.0.1:${port}`;
  });

  after(async () => {
    // a skipped suite has started neither
    await (browser as Browser | undefined)?.close();
    await (api as Api | undefined)?.stop();
  });

  async function open(path: string): Promise<{ page: Page; seen: ReturnType<typeof watch> }> {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}${path}`);
    return { page, seen };
  }

  /** The operations of /docs. From 150 lines on Swagger UI makes only those in sight, so the page is scrolled through. */
  async function listed(page: Page): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (;;) {
      for (const id of await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id))) ids.add(id);
      // two frames: one for the scroll, one for what it brings into sight
      const atEnd = await page.evaluate<boolean>(`new Promise((done) => {
        const { scrollingElement: all } = document;
        const before = all.scrollTop;
        scrollBy(0, innerHeight / 2);
        requestAnimationFrame(() => requestAnimationFrame(() => done(all.scrollTop === before)));
      })`);
      if (atEnd) return ids;
    }
  }

  it('/docs lists every operation and sends requests', async () => {
    const { page, seen } = await open('/docs');
    await page.waitForSelector('.opblock');
    expect(page.url()).to.equal(`${origin}/docs/`);
    const ids = await listed(page);
    expect(ids.size).to.equal(allRoutes.length);
    expect([...ids].some((id) => id.startsWith('operations-Controls-'))).to.equal(true);
    await page.evaluate('scrollTo(0, 0)');
    await page
      .locator('.opblock', { hasText: 'get_health' })
      .or(page.locator('#operations-Core-get_health'))
      .first()
      .click();
    await page.click('.opblock .execute');
    expect(await page.textContent('.live-responses-table .response .response-col_status')).to.match(/^200/);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('the browser shows the answer of an operation when its address is typed', async () => {
    const { page, seen } = await open('/api/sim/server-info');
    expect(JSON.parse(await page.locator('body').innerText())).to.include({ device_count: 1 });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('/docs ignores documents named in its address', async () => {
    const { page, seen } = await open('/docs/?url=http://evil.example/a.json&configUrl=http://evil.example/b.json');
    await page.waitForSelector('.opblock');
    expect((await listed(page)).size).to.equal(allRoutes.length);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('/redoc shows every operation', async () => {
    const { page, seen } = await open('/redoc');
    await page.waitForSelector('h1');
    const operations = page.locator('[data-section-id*="operation/"]');
    await operations.nth(allRoutes.length - 1).waitFor({ state: 'attached' });
    expect(await page.locator('text=Quantities that a device does not have are null').count()).to.be.greaterThan(0);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('/ links to everything', async () => {
    const { page, seen } = await open('/');
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).to.include.members(['/docs/', '/redoc']);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
