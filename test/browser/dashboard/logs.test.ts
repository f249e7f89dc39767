import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: log', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('shows the lines of the API, follows new ones, and keeps its filters over a reload', async () => {
    const { page, seen } = await dashboard.open('#/events/log');
    const rows = page.locator('table[aria-label="Log"] tbody tr');
    await rows.first().waitFor();
    const { logs } = await dashboard.get('logs');
    for (const { message, level, module } of logs.slice(-3)) {
      const row = rows.filter({ hasText: message }).first();
      const text = await row.innerText();
      expect(text).to.contain(level);
      expect(text).to.contain(module);
    }
    await dashboard.post('controls/grid', { frequency_hz: 47 });
    await dashboard.step(20);
    const [last] = (await dashboard.get('logs')).logs.slice(-1);
    await rows.filter({ hasText: last.message }).first().waitFor();
    await page.getByLabel('Module').selectOption('Modbus');
    const ofModbus = (await dashboard.get('logs?modules=Modbus')).count;
    await rows.nth(ofModbus).waitFor({ state: 'detached' });
    await rows.nth(ofModbus - 1).waitFor();
    expect(await rows.filter({ hasText: 'Modbus' }).count()).to.equal(ofModbus);
    await page.getByLabel('Find in the log').fill('no such text');
    await page.getByText('No line matches.').waitFor();
    await page.reload();
    await page.getByText('No line matches.').waitFor();
    expect(await page.getByLabel('Module').inputValue()).to.equal('Modbus');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
