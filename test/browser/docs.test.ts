import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { App } from '../../src/app/start-stop.ts';
import { tags } from '../../src/api/http/route.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { findChromium, launch, noChromium, watch } from '../support/browser.ts';
import { startApp } from '../support/running-app.ts';
import { skip } from '../support/skip.ts';

describe('documentation pages in a browser', () => {
  let browser: Browser;
  let app: App;
  let origin: string;

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    browser = await launch(executable);
    const started = await startApp();
    const { port } = started;
    app = started.app;
    origin = `http://127.0.0.1:${port}`;
  });

  after(async () => {
    // a skipped suite has started neither
    await (browser as Browser | undefined)?.close();
    await (app as App | undefined)?.stop();
  });

  async function open(path: string): Promise<{ page: Page; seen: ReturnType<typeof watch> }> {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}${path}`);
    return { page, seen };
  }

  /** Tag and name of each operation that /docs lists, in sight or not. */
  async function listed(page: Page): Promise<readonly string[]> {
    await page.waitForSelector('.opblock-tag');
    return page.evaluate<string[]>(`Object.entries(ui.specSelectors.taggedOperations().toJS()).flatMap(
      ([tag, { operations }]) => operations.map(({ operation }) => tag + ' ' + operation.operationId))`);
  }

  it('/docs lists every operation once, by resource, collapsed at first, and sends requests', async () => {
    const { page, seen } = await open('/docs');
    await page.waitForSelector('.opblock-tag');
    expect(page.url()).to.equal(`${origin}/docs/`);
    expect(await page.locator('.opblock').count()).to.equal(0);
    expect(await page.locator('.topbar').count()).to.equal(0);
    expect(await page.locator('.derbench-top').innerText()).to.include('derbench');
    const ids = await listed(page);
    expect(ids).to.have.length(allRoutes.length);
    expect(ids).to.include('Clock get_time');
    await page.locator('#operations-tag-Simulator').click();
    await page.locator('#operations-Simulator-get_health').click();
    await page.click('.opblock .execute');
    expect(await page.textContent('.live-responses-table .response .response-col_status')).to.match(/^200/);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('/docs finds operations by their address and summary', async () => {
    const { page, seen } = await open('/docs');
    await page.fill('.operation-filter-input', 'volt-var');
    await page.locator('#operations-tag-Clock').waitFor({ state: 'detached' });
    expect(await page.locator('.opblock-tag').count()).to.equal(1);
    await page.locator('#operations-tag-Curves').click();
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id))).to.have.members([
      'operations-Curves-get_volt_var',
      'operations-Curves-set_volt_var',
    ]);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('/docs has the groups of the interface, with the finer tags below them, and finds both', async () => {
    const { page, seen } = await open('/docs');
    await page.waitForSelector('.opblock-tag');
    // an own heading, or for a group of one tag that tag
    const groups = page.locator('.derbench-group-name, .derbench-group .opblock-tag > a');
    expect(await groups.allInnerTexts()).to.deep.equal([...tags]);
    await page.fill('.operation-filter-input', 'controls');
    await page.locator('#operations-tag-Simulator').waitFor({ state: 'detached' });
    expect(await groups.allInnerTexts()).to.include('Controls');
    expect(await page.locator('.opblock-tag > a').allInnerTexts()).to.include.members(['Clock', 'Grid', 'Faults']);
    await page.fill('.operation-filter-input', 'hybrid dc');
    await page.locator('#operations-tag-Clock').waitFor({ state: 'detached' });
    expect(await groups.allInnerTexts()).to.deep.equal(['Hybrid DC']);
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
    expect(await listed(page)).to.have.length(allRoutes.length);
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

  it('the dashboard links to both pages (built before: npm run build:ui)', async () => {
    const { page, seen } = await open('/');
    await page.waitForSelector('nav.side a');
    await page.getByTitle('Menu of the simulator').click();
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).to.include.members(['/docs/', '/redoc']);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
