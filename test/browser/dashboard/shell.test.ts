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

  it('runs until a time of day, and changes the rate', async () => {
    const { page, seen } = await dashboard.open();
    await page.getByLabel('Run until').fill('12:20:00');
    await page.getByRole('button', { name: 'Run until', exact: true }).click();
    await page.locator('[data-test="clock"]').filter({ hasText: '12:20:00' }).waitFor();
    expect((await dashboard.get('controls/time')).clock_time).to.equal('12:20:00');
    await page.getByLabel('Rate of the clock').selectOption('60');
    await page.waitForResponse((answer) => answer.request().method() === 'POST');
    expect(await dashboard.get('controls/time')).to.include({ rate: 60, mode: 'paused' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('finds a device, and a point by its name', async () => {
    const { page, seen } = await dashboard.open();
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: /Device, view/ }).fill('batt');
    await page.getByRole('dialog').getByRole('link').first().click();
    expect(page.url()).to.match(/#\/devices\?device=1$/);
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: /Device, view/ }).fill('704.WMaxLimPct');
    await page.keyboard.press('Enter');
    expect(page.url()).to.contain('#/registers?device=1&model=704&point=WMaxLimPct');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('copies the call of a control as a command that works', async () => {
    const { page } = await dashboard.open();
    const curl = await page
      .getByRole('button', { name: /^Copy as curl: POST .*controls\/time$/ })
      .getAttribute('title');
    expect(curl).to.equal(
      `curl -s -H 'Content-Type: application/json' -d '{"mode":"accelerated"}' '${dashboard.origin}/api/sim/controls/time'`,
    );
    await page.close();
  });
});

describe('dashboard: a site in another time zone', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase'], ['-wc_tz', 'America/New_York']);
    if (started === undefined) this.skip();
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('runs until a time of day there, and shows simulated instants in that zone', async () => {
    const { page, seen } = await dashboard.open();
    await page.getByLabel('Run until').fill('12:10:00');
    await page.getByRole('button', { name: 'Run until', exact: true }).click();
    await page.locator('[data-test="clock"]').filter({ hasText: '12:10:00' }).waitFor();
    expect(await dashboard.get('controls/time')).to.include({
      clock_time: '12:10:00',
      sim_time: '2026-06-21T16:10:00.000Z',
    });
    await dashboard.post('grid-support/max-power', { enabled: true, limit_pct: 50 });
    await page
      .getByRole('table', { name: 'Devices' })
      .getByText(/rest 704\.\w+ 12:10:00/)
      .waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
