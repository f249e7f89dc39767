import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const site = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
/** Address of each view, and the key after `g` where it has one. */
const views: readonly (readonly [path: string, key?: string])[] = [
  ['overview', 'o'],
  ['devices', 'd'],
  ['charts', 'c'],
  ['inputs', 'i'],
  ['grid-support', 's'],
  ['faults', 'f'],
  ['protocols', 'p'],
  ['registers', 'r'],
  ['logs', 'l'],
  ...['modbus', 'csip', 'ocpp', 'dnp3', 'sunspec-client'].map((tab) => [`protocols/${tab}`] as const),
  ...site.slice(1).map((_type, index) => [`devices?device=${index + 1}`] as const),
];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Serious and critical findings. Injected by the debugger, which no policy of the page hinders. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const violations = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

/** Waits until the view stands: two frames without a request under way. */
async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
  await page.waitForLoadState('networkidle');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

const hashOf = (page: Page) => new URL(page.url()).hash;

describe('dashboard: all views', function () {
  this.timeout(120_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(site);
    if (started === undefined) this.skip();
    dashboard = started;
    await dashboard.step(4);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`nothing hinders readers in ${colorScheme}`, async () => {
      const { page, seen } = await dashboard.open();
      await page.emulateMedia({ colorScheme });
      const found: Record<string, readonly string[]> = {};
      for (const [path] of views) {
        await show(page, path);
        const here = await findings(page);
        if (here.length > 0) found[path] = here;
      }
      expect(found).to.deep.equal({});
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    });
  }

  it('names itself in every call', async () => {
    const { page, seen } = await dashboard.open();
    const anonymous: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/') && request.headers()['x-derbench-client'] !== 'dashboard')
        anonymous.push(`${request.method()} ${pathname}`);
    });
    for (const [path] of views) await show(page, path);
    expect(anonymous).to.deep.equal([]);
    expect(seen.requests.some((url) => url.includes('/api/sim/'))).to.equal(true);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('fits into 800 px', async () => {
    const { page, seen } = await dashboard.open();
    await page.setViewportSize({ width: 800, height: 900 });
    const wide: Record<string, number> = {};
    for (const [path] of views) {
      await show(page, path);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > 800) wide[path] = width;
    }
    expect(wide).to.deep.equal({});
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('is reached by keys, which show where they are', async () => {
    const { page, seen } = await dashboard.open('#/logs');
    for (const [path, key] of views) {
      if (key === undefined) continue;
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.hash.startsWith(`#/${path}`));
    }
    for (const [key, name] of [
      ['?', 'Keys'],
      ['/', 'Search'],
    ] as const) {
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press(key);
      await page.getByRole('dialog', { name }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.evaluate('document.activeElement.blur()');
    for (let each = 0; each < 12; each += 1) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate<string>(
        `document.activeElement === document.body ? 'body' : getComputedStyle(document.activeElement).outlineStyle`,
      );
      expect(outline, `stop ${each}`).not.to.equal('none');
    }
    expect(hashOf(page)).to.match(/^#\/logs/);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('comes back after a restart of the daemon', async () => {
    let running: RunningApp = await startApp(['PV-3Phase']);
    const { port } = running;
    const page = await dashboard.browser.newPage();
    page.setDefaultTimeout(30_000);
    try {
      await page.goto(`http://127.0.0.1:${port}/#/overview`);
      await page.waitForSelector('[data-test="clock"]');
      await running.app.stop();
      const banner = page.getByRole('alert').filter({ hasText: 'No connection to the daemon' });
      await banner.waitFor();
      expect(await banner.innerText()).to.match(/Next attempt in \d+ s/);
      running = await startApp(['PV-3Phase'], [], { webPort: port });
      await banner.waitFor({ state: 'detached' });
      await running.app.plant.step(3);
      await page.locator('[data-test="clock"][title$="tick 3"]').waitFor();
    } finally {
      await page.close();
      await running.app.stop();
    }
  });
});
