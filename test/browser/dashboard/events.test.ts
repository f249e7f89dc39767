import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: events', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('starts a sag, says what the devices did, and has one cursor through all lanes', async () => {
    const { page, seen } = await dashboard.open('#/events/captures');
    await page.getByRole('button', { name: 'Start a sag' }).click();
    await page.getByRole('link', { name: 'Sag to 50 % for 0.50 s' }).waitFor();
    await dashboard.step(30);
    const notice = page.locator('.notice');
    await notice.filter({ hasText: 'Capture 1, sag to 50 % for 0.50 s:' }).waitFor();
    await notice.getByRole('link', { name: 'Open' }).click();
    const { summary, verdicts } = await dashboard.get('captures/1');
    await page.locator('[data-test="summary"]', { hasText: summary }).waitFor();
    expect(await page.getByRole('table', { name: 'Verdicts' }).locator('tbody').count()).to.equal(verdicts.length);
    // the dip is in the drawn path: the line of the grid comes down by far
    const dipPx = await page.evaluate<number>(`document.querySelector('[data-curve="V grid"]').getBBox().height`);
    expect(dipPx).to.be.above(60);
    const box = await page.locator('svg.capture').boundingBox();
    if (box === null) throw new Error('nothing is drawn');
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
    // a line is as wide as a browser calls hidden
    await page.locator('[data-test="cursor"]').waitFor({ state: 'attached' });
    const instant = page.locator('[data-test="instant"]');
    const pointed = await instant.innerText();
    await page.locator('.drawing-box').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      `document.querySelector('[data-test="instant"]').innerText !== ${JSON.stringify(pointed)}`,
    );
    const whole = await page.locator('svg.capture').getAttribute('aria-label');
    await page.mouse.wheel(0, -200);
    await page.locator(`svg.capture:not([aria-label="${whole}"])`).waitFor();
    await page.mouse.dblclick(box.x + box.width / 3, box.y + box.height / 2);
    await page.locator(`svg.capture[aria-label="${whole}"]`).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('follows what happens in the timeline, and opens the capture of an entry', async () => {
    const { page, seen } = await dashboard.open('#/events/timeline?kind=capture');
    const rows = page.locator('table[aria-label="Timeline"] tbody tr');
    await rows.first().waitFor();
    await page.keyboard.press('c');
    await page.locator('.notice', { hasText: 'Capture 2 records' }).waitFor();
    await dashboard.step(30);
    await rows.filter({ hasText: 'Capture 2, capture now' }).waitFor();
    await rows.first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Capture 1', exact: true }).click();
    await page.getByRole('heading', { name: 'Capture 1: Sag to 50 % for 0.50 s' }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
