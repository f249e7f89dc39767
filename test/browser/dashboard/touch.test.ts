/** Every view on a phone: what a finger presses is large enough, and nothing is left to a pointer that hovers. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { noChromium } from '../../support/browser.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { touchMisfits } from '../../support/dashboard-fit.ts';
import { show, startSite, views } from '../../support/dashboard-views.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: touch at 390 px', function () {
  this.timeout(120_000);
  let dashboard: Dashboard;
  let page: Page;

  before(async function skipWithoutBrowser() {
    const started = await startSite(true);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    page = await dashboard.browser.newPage({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    await page.goto(`${dashboard.origin}/#/overview`);
    await page.waitForSelector('[data-test="clock"]');
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('has a coarse pointer', async () => {
    expect(await page.evaluate('matchMedia("(pointer: coarse)").matches && innerWidth')).to.equal(390);
  });

  it('every control is large enough', async () => {
    const smallIn: Record<string, readonly string[]> = {};
    for (const [path] of views) {
      await show(page, path);
      const small = await touchMisfits(page);
      if (small.length > 0) smallIn[path] = small;
    }
    expect(smallIn).to.deep.equal({});
  });

  it('the timeline has its sentence, number and wall time in sight', async () => {
    await show(page, 'events/timeline');
    const heads = () => page.locator('.timeline th .sort').allInnerTexts();
    expect(await heads()).to.deep.equal(['Time', 'What']);
    const shown = await page.locator('.timeline tbody tr[tabindex]').last().innerText();
    const { entries } = await dashboard.get('timeline?limit=5000');
    const [last] = entries.slice(-1);
    expect(shown).to.contain(last.text);
    await page.getByRole('button', { name: 'Wall time', exact: true }).tap();
    expect(await heads()).to.deep.equal(['Time', 'Wall time', 'What']);
    await page.locator('.timeline tbody tr[tabindex]').last().tap();
    const cause = page.locator('.timeline > :nth-child(2)');
    await cause.waitFor();
    expect((await cause.boundingBox())?.width ?? 400).to.be.at.most(390);
    expect(new URL(page.url()).hash).to.contain(`entry=${last.id}`);
  });
});
