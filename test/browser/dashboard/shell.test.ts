import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';

describe('dashboard: the frame of all views', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) this.skip();
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('steps the clock with a button and with a key, and runs it', async () => {
    const { page, seen } = await dashboard.open();
    const tick = Number((await dashboard.get('controls/time')).tick);
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await page.locator(`[data-test=\"clock\"][title$=\"tick ${tick + 1}\"]`).waitFor();
    await page.keyboard.press('.');
    await page.locator(`[data-test=\"clock\"][title$=\"tick ${tick + 2}\"]`).waitFor();
    expect((await dashboard.get('controls/time')).stepped_by.source).to.equal('dashboard');
    // on a button that has the focus, space presses that button
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    expect((await dashboard.get('controls/time')).mode).to.equal('paused');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
