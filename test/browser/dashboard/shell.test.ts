import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const openRate = (page: Page) => page.getByRole('button', { name: /^Rate of the clock/ }).click();

/** The colour of the first element that a selector finds. */
const colourOf = (page: Page, selector: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).color`);

describe('dashboard: the frame of all views', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
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
    await openRate(page);
    await page.getByLabel('Run until').fill('12:20:00');
    await page.getByRole('button', { name: 'Run until', exact: true }).click();
    await page.locator('[data-test="clock"]').filter({ hasText: '12:20:00' }).waitFor();
    expect((await dashboard.get('controls/time')).clock_time).to.equal('12:20:00');
    const rated = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: '×60', exact: true }).click();
    await rated;
    expect(await dashboard.get('controls/time')).to.include({ rate: 60, mode: 'paused' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('finds a device, and a point by its name', async () => {
    const { page, seen } = await dashboard.open();
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: /Device, view/ }).fill('batt');
    await page.getByRole('dialog').getByRole('link').first().click();
    expect(page.url()).to.match(/#\/devices\/1\/picture$/);
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: /Device, view/ }).fill('704.WMaxLimPct');
    await page.keyboard.press('Enter');
    expect(page.url()).to.contain('#/devices/1/registers?model=704&point=WMaxLimPct');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('keeps the device from view to view', async () => {
    const { page, seen } = await dashboard.open('#/devices/1/picture');
    const links = page.getByRole('navigation', { name: 'Views' }).locator('a[href^="#"]');
    const count = await links.count();
    // the list of devices, the second entry, has no device
    for (const at of [...Array.from({ length: count }, (_none, index) => index).filter((index) => index !== 1), 4]) {
      await links.nth(at).click();
      await page.waitForURL((url) => /^#\/[\w-]+\?device=1$/.test(url.hash));
    }
    await page.getByRole('table', { name: 'Data' }).getByRole('cell', { name: /^1 / }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows the calls of its controls while the API switch is on, and copies them', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid');
    await page.getByRole('heading', { name: 'Grid', exact: true }).waitFor();
    expect(await page.locator('.call, .calls').count()).to.equal(0);
    await page.keyboard.press('a');
    const line = page.getByRole('button', { name: /^Copy as curl: POST .*controls\/grid/ }).first();
    const curl = await line.getAttribute('title');
    expect(curl)
      .to.match(/^curl -s .* '{.*}' 'http:.*\/api\/sim\/controls\/grid/)
      .and.to.include(dashboard.origin);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await line.click();
    await page.getByText('Copied as curl').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(curl);
    expect(page.url()).to.match(/#\/inputs\/grid\?api=1$/);
    await page.getByText('Calls of this page').click();
    await page.locator('.calls li').filter({ hasText: 'GET /api/sim/controls/grid' }).first().waitFor();
    await page.keyboard.press('a');
    await page.locator('.calls').waitFor({ state: 'detached' });
    expect(await page.locator('.call').count()).to.equal(0);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});

describe('dashboard: a long run of many devices', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    // the stream with a message for each device: the page gets four ticks a second of the thousands that are computed
    const started = await startDashboard(Array.from({ length: 12 }, () => 'PV-3Phase'));
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('shows how far a run until has come, and stops it', async () => {
    const { page } = await dashboard.open();
    const before = Date.parse((await dashboard.get('controls/time')).sim_time);
    const rated = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await openRate(page);
    await page.getByLabel('Other rate').fill('0.1');
    await page.getByRole('button', { name: 'Set rate', exact: true }).click();
    await rated;
    await openRate(page);
    // four hours in pieces of 0.15 s: nearly as many as one call may run
    const target = new Date(before + 14_900_000).toISOString().slice(11, 19);
    await page.getByLabel('Run until').fill(target);
    // a busy machine may need longer than the default to get as far as the click
    const ended = page.waitForResponse((answer) => answer.url().endsWith('/controls/time/step'), { timeout: 0 });
    await page.getByRole('button', { name: 'Run until', exact: true }).click();
    const progress = page.getByRole('progressbar', { name: 'Running until' });
    await progress.waitFor();
    expect(await page.locator('[data-test="run-progress"]').innerText()).to.match(
      new RegExp(`^[\\d:]{8} / ${target}$`),
    );
    const start = new Date(before).toISOString().slice(11, 19);
    await page.locator('[data-test="run-progress"]').filter({ hasNotText: start }).waitFor();
    expect(Number(await progress.getAttribute('value'))).to.be.greaterThan(0);
    await page.getByRole('button', { name: 'Stop there' }).click();
    expect((await ended).status()).to.equal(409);
    await page.getByRole('button', { name: 'Step', exact: true }).waitFor();
    const { mode, sim_time: at } = await dashboard.get('controls/time');
    expect(mode).to.equal('paused');
    expect(Date.parse(at) - before).to.be.lessThan(14_900_000);
    await page.close();
  });
});

describe('dashboard: a site in another time zone', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase'], ['-wc_tz', 'America/New_York']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('runs until a time of day there, and shows simulated instants in that zone', async () => {
    const { page, seen } = await dashboard.open();
    await openRate(page);
    await page.getByLabel('Run until').fill('12:10:00');
    await page.getByRole('button', { name: 'Run until', exact: true }).click();
    await page.locator('[data-test="clock"]').filter({ hasText: '12:10:00' }).waitFor();
    expect(await dashboard.get('controls/time')).to.include({
      clock_time: '12:10:00',
      sim_time: '2026-06-21T16:10:00.000Z',
    });
    await dashboard.post('grid-support/max-power', { enabled: true, limit_pct: 50 });
    await page.evaluate(`location.hash = '#/devices'`);
    await page.getByRole('table', { name: 'Devices' }).getByText('REST, 12:10:00').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});

describe('dashboard: devices that leave, and a daemon that hangs', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase'], [], { paused: false });
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('says that telemetry is old when ticks fail to come, and withdraws it with the next one', async () => {
    const { page } = await dashboard.open();
    await page.locator('.net .value').filter({ hasText: 'kW' }).waitFor();
    // the page goes on believing that the clock runs, as with a daemon that hangs
    await page.route('**/api/sim/**', () => undefined);
    await dashboard.post('controls/time', { mode: 'paused' });
    await page.getByRole('alert').filter({ hasText: 'Values are from' }).waitFor();
    await page.locator('.shell.old').waitFor();
    // also what stands in no panel
    const muted = await colourOf(page, '.net .note');
    for (const part of ['.net .value', '.feeder-box .value', '.in-out strong', '.lamps .chip', '.clock strong'])
      expect(await colourOf(page, part), part).to.equal(muted);
    await page.unroute('**/api/sim/**');
    await dashboard.step();
    await page.locator('.shell.old').waitFor({ state: 'detached' });
    await page.close();
  });

  it('marks what cannot be read any more, while the rest goes on', async () => {
    const { page } = await dashboard.open('#/inputs/grid');
    const panel = (title: string) => page.getByRole('region', { name: title, exact: true });
    const note = (title: string) => panel(title).getByRole('alert').filter({ hasText: 'not read since' });
    const fails = (path: string) =>
      page.route(`**/api/sim/${path}`, (route) =>
        route.request().method() === 'GET'
          ? route.fulfill({
              status: 503,
              contentType: 'application/problem+json',
              body: JSON.stringify({ code: 'busy', detail: 'This one rests.' }),
            })
          : route.continue(),
      );
    await panel('Grid').getByText('connected', { exact: true }).waitFor();
    await fails('controls/grid');
    await note('Grid').waitFor();
    expect(await note('Grid').innerText()).to.match(/^not read since \d\d:\d\d:\d\d UTC: This one rests\.$/);
    // what was read last stays, and is grey
    const muted = await colourOf(page, '.state-line .muted');
    expect(await colourOf(page, '.panel.outdated .state-line strong')).to.equal(muted);
    await note('Voltage and frequency').waitFor();
    expect(await page.locator('.panel.outdated').count()).to.equal(3);
    await fails('controls/time');
    await page.getByRole('alert').filter({ hasText: 'controls/time: not read since' }).waitFor();
    expect(await page.getByText('Values are from').count()).to.equal(0);
    await page.unrouteAll();
    await note('Grid').waitFor({ state: 'detached' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await page.locator('.panel.outdated').count()).to.equal(0);
    expect(await colourOf(page, '.panel .state-line strong')).not.to.equal(muted);
    await page.close();
  });

  it('does not act on another device in the place of one that left', async () => {
    const { page } = await dashboard.open('#/devices/0/picture');
    await page.getByRole('region', { name: 'Controls' }).waitFor();
    await dashboard.post('devices/0/remove');
    await page.getByRole('alert').filter({ hasText: 'There is no device 0.' }).waitFor();
    await page.getByRole('button', { name: 'Device menu' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'All devices' }).click();
    await page.getByRole('heading', { name: 'Devices (1)' }).waitFor();
    await dashboard.post('devices/1/remove');
    await page.getByText('No device: add one').waitFor();
    expect(await page.getByRole('button', { name: 'Device menu' }).count()).to.equal(0);
    await page.close();
  });

  it('opens with an address that is no address', async () => {
    const { page, seen } = await dashboard.open('#/overview/%E0%A4%A');
    expect(seen.complaints.filter((text) => !text.includes('404'))).to.deep.equal([]);
    await page.close();
  });
});
