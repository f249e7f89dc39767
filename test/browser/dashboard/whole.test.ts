import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { openIn, show, startSite, views } from '../../support/dashboard-views.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const hashOf = (page: Page) => new URL(page.url()).hash;

describe('dashboard: all views', function () {
  this.timeout(120_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startSite();
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`the form that changes a device hinders no reader in ${colorScheme}, and fits into 390 px`, async () => {
      const { page, seen } = await openIn(dashboard, colorScheme, '#/devices/5/picture');
      await page.setViewportSize({ width: 390, height: 800 });
      await page.getByRole('button', { name: 'Device menu', exact: true }).press('Enter');
      await page.getByRole('button', { name: 'Change device', exact: true }).press('Enter');
      await page.getByRole('group', { name: 'Modbus TCP' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      const overhang = await page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`,
      );
      expect(overhang).to.equal(0);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    });
  }

  it('names itself in every call, read or written, and reads one stream of each kind', async () => {
    const { page, seen } = await dashboard.open('#/overview?device=0');
    const made: Record<string, number> = {};
    const anonymous: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/api/')) return;
      // views of messages begin a recording unless an earlier one still runs
      if (!/\/(recordings|messages)$/.test(pathname)) made[request.method()] = (made[request.method()] ?? 0) + 1;
      if (request.headers()['x-derbench-client'] !== 'dashboard') anonymous.push(`${request.method()} ${pathname}`);
    });
    // browsers give sockets no headers: what counts is the address, and that there is one
    const streams: string[] = [];
    page.on('websocket', (socket) => streams.push(socket.url()));
    await page.reload();
    await page.waitForSelector('[data-test="clock"]');
    for (const [path] of views) await show(page, path);
    expect(streams.map((address) => address.replace(/.*\/ws\//, ''))).to.deep.equal([
      'telemetry?max_rate=4',
      'timeline',
    ]);
    const posted = async (act: () => Promise<void>) => {
      const answer = page.waitForResponse((one) => one.request().method() === 'POST');
      await act();
      expect((await answer).ok()).to.equal(true);
    };
    const press = (name: string) => posted(() => page.getByRole('button', { name, exact: true }).first().click());
    // a key, an action, a form, and operations without a body
    await show(page, 'overview?device=0');
    await page.evaluate('document.activeElement.blur()');
    await posted(() => page.keyboard.press('.'));
    await show(page, 'inputs/grid');
    await press('Outage');
    await press('End the outage');
    await show(page, 'inputs/weather');
    await page.getByRole('textbox', { name: /^Load beside each device, kW$/ }).fill('0.5');
    await posted(() => page.keyboard.press('Enter'));
    await show(page, 'devices/0/details');
    await page.getByRole('button', { name: 'Device menu', exact: true }).click();
    await press('Local control');
    await press('Remote control');
    await show(page, 'events/timeline?kind=command');
    await press('Reset alarms');
    await show(page, 'protocols/modbus');
    expect(made['POST']).to.equal(7);
    expect(made['GET']).to.be.greaterThan(50);
    expect(anonymous).to.deep.equal([]);
    const writers = [
      (await dashboard.get('controls/time')).stepped_by,
      (await dashboard.get('controls/grid')).changed_by,
      (await dashboard.get('controls/environment')).changed_by,
      (await dashboard.get('controls/local?device=0')).changed_by,
      (await dashboard.get('commands?limit=1')).commands[0],
    ];
    expect(writers.map(({ source }) => source)).to.deep.equal(writers.map(() => 'dashboard'));
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('two tabs follow, and an action in one is seen in the other', async () => {
    const [one, two] = [await dashboard.open('#/inputs/grid'), await dashboard.open('#/inputs/grid?device=0')];
    const at = Number((await dashboard.get('controls/time')).tick);
    await two.page.getByRole('button', { name: 'Step', exact: true }).click();
    for (const { page } of [one, two]) await page.locator(`[data-test="clock"][title$="tick ${at + 1}"]`).waitFor();
    const done = one.page.waitForResponse((answer) => answer.request().method() === 'POST');
    await one.page.getByRole('button', { name: 'Outage', exact: true }).click();
    await done;
    await two.page.getByRole('button', { name: 'Step', exact: true }).click();
    await two.page
      .locator('[data-test="last-verdict"]')
      .filter({ hasText: /^Outage/ })
      .waitFor();
    await two.page.evaluate(`location.hash = '#/inputs/grid'`);
    await two.page.getByRole('button', { name: 'End the outage', exact: true }).click();
    await two.page.getByRole('button', { name: 'Step', exact: true }).click();
    for (const { page } of [one, two]) await page.getByRole('button', { name: 'Outage', exact: true }).waitFor();
    for (const { page, seen } of [one, two]) {
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    }
  });

  it('shows what is chosen in forced colours, and moves nothing where motion is reduced', async () => {
    const { page, seen } = await dashboard.open('#/protocols');
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    const lookOf = (selector: string) =>
      page.evaluate<string>(`(({ backgroundColor, borderBottomColor, borderLeftWidth }) =>
        [backgroundColor, borderBottomColor, borderLeftWidth].join(' '))(
          getComputedStyle(document.querySelector(${JSON.stringify(selector)})))`);
    for (const [path, within, state] of [
      ['protocols', '.side > a', '[aria-current]'],
      ['protocols', '.tabs a', '[aria-current]'],
      ['protocols', 'button.switch', '[aria-checked="true"]'],
      ['charts', '.segments button', '[aria-pressed="true"]'],
      ['devices/0/picture', 'button.small', '[aria-pressed="true"]'],
      ['devices/0/grid-support', '.functions > li', '.chosen'],
    ] as const) {
      await show(page, path);
      await page.locator(`${within}${state}`).first().waitFor();
      await page.locator(`${within}:not(${state})`).first().waitFor();
      expect(await lookOf(`${within}${state}`), within).not.to.equal(await lookOf(`${within}:not(${state})`));
      expect(await page.evaluate('document.getAnimations().length'), path).to.equal(0);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('is reached by keys, which show where they are', async () => {
    const { page, seen } = await dashboard.open('#/events/log');
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
    expect(hashOf(page)).to.match(/^#\/scenarios/);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('comes back after a restart of the daemon, without drafts for the earlier run', async () => {
    let running: RunningApp = await startApp(['PV-3Phase'], [], { history: 'real' });
    const { port } = running;
    const page = await dashboard.browser.newPage();
    page.setDefaultTimeout(30_000);
    try {
      await page.goto(`http://127.0.0.1:${port}/#/devices/0/grid-support/hf-trip`);
      const time = page.getByLabel('Point 1, Time');
      await time.fill('1.5');
      await time.press('Tab');
      const draft = page.getByText('not applied yet', { exact: true });
      await draft.waitFor();
      // the same run: the draft stays
      await page.reload();
      await draft.waitFor();
      await running.app.stop();
      const banner = page.getByRole('alert').filter({ hasText: 'No connection since' });
      await banner.waitFor();
      expect(await banner.innerText()).to.match(/Next try in \d+ s/);
      running = await startApp(['PV-3Phase'], [], { history: 'real', webPort: port });
      await banner.waitFor({ state: 'detached' });
      await running.app.plant.step(3);
      await page.locator('[data-test="clock"][title$="tick 3"]').waitFor();
      await draft.waitFor({ state: 'detached' });
      expect(await time.inputValue()).to.equal('0.16');
    } finally {
      await page.close();
      await running.app.stop();
    }
  });
});
