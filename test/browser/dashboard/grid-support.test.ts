import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard, Shown } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const refused = /status of 4(09|22)|^4(09|22) |ERR_ABORTED/;

describe('dashboard: grid support', () => {
  let dashboard: Dashboard;
  let shown: Shown;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    shown = await dashboard.open('#/devices/1/grid-support/volt-var');
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  async function point(model: number, name: string, device = 1): Promise<unknown> {
    const { points } = await dashboard.get(`registers/${model}?device=${device}&points=${name}`);
    return points[0].symbol ?? points[0].value;
  }

  /** Clicks, and waits for the answer to a POST. */
  async function send(page: Page, name: string | RegExp, within = 'main'): Promise<number> {
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.locator(within).getByRole('button', { name, exact: true }).first().click();
    return (await answered).status();
  }

  async function show(hash: string): Promise<Page> {
    await shown.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    return shown.page;
  }

  it('switches a function on', async () => {
    const { page } = shown;
    const toggle = page.getByRole('switch', { name: 'Volt-var enabled' });
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await toggle.click();
    await answered;
    expect(await point(705, 'Ena')).to.equal('ENABLED');
    await page.locator('[data-function="volt_var"]').getByText('dashboard').waitFor();
    expect(await toggle.isChecked()).to.equal(true);
  });

  it('moves a point by dragging and by keys, and applies it', async () => {
    const { page } = shown;
    const handle = page.locator('.plot .handle').nth(1);
    await handle.scrollIntoViewIfNeeded();
    const box = await handle.boundingBox();
    if (box === null) throw new Error('the point is not to be seen');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 20, box.y + box.height / 2 - 20, { steps: 4 });
    await page.mouse.up();
    await page.getByText('not applied yet', { exact: true }).waitFor();
    const dragged = Number(await page.getByLabel('Point 2, Reactive power').inputValue());
    expect(dragged).to.be.above(1);
    await handle.press('ArrowUp');
    const typed = await page.getByLabel('Point 2, Reactive power').inputValue();
    expect(Number(typed)).to.be.closeTo(dragged + 1, 1e-9);
    expect(await send(page, 'Apply points')).to.equal(200);
    await page.getByText('not applied yet', { exact: true }).waitFor({ state: 'detached' });
    expect(await point(705, 'Crv[0].Pt[1].Var')).to.be.closeTo(Number(typed), 0.051);
    expect(await point(705, 'Crv[0].Pt[1].V')).to.be.below(98);
  });

  it('keeps what is typed into a point while ticks come', async () => {
    const { page } = shown;
    const field = page.getByLabel('Point 2, Reactive power');
    await field.focus();
    await field.press('ControlOrMeta+a');
    for (const key of '17.5') {
      await page.keyboard.press(key);
      const read = page.waitForResponse((response) => response.url().includes('/grid-support?'));
      await dashboard.step(1);
      await read;
    }
    expect(await field.inputValue()).to.equal('17.5');
    await field.press('Tab');
    await page.getByText('not applied yet', { exact: true }).waitFor();
    expect(await field.inputValue()).to.equal('17.5');
    await page.getByRole('button', { name: 'Discard', exact: true }).first().click();
  });

  it('marks a point that is refused, and discards it', async () => {
    const { page } = shown;
    await page.getByLabel('Point 2, Voltage').fill('80');
    await page.keyboard.press('Tab');
    expect(await send(page, 'Apply points')).to.equal(422);
    await page.locator('.plot .handle.wrong').waitFor();
    expect(await page.getByLabel('Point 2, Voltage').getAttribute('aria-invalid')).to.equal('true');
    await page.getByRole('button', { name: 'Discard' }).click();
    const before = await page.getByLabel('Point 2, Voltage').inputValue();
    expect(Number(before)).to.be.above(90);
    // an empty cell is no 0
    await page.getByLabel('Point 2, Voltage').fill('');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Point 2, Voltage').inputValue()).to.equal(before);
  });

  it('draws all regions of the API, and changes a trip curve', async () => {
    const page = await show('#/devices/1/grid-support/lv-trip');
    const { voltage } = await dashboard.get('grid-support/regions?device=1');
    await page
      .locator('.plot polygon')
      .nth(voltage.length - 1)
      .waitFor({ state: 'attached' });
    const titles: string[] = await page.evaluate(
      `[...document.querySelectorAll('.plot polygon title')].map((title) => title.textContent)`,
    );
    expect(titles).to.deep.equal(
      voltage.map(
        ({ region, clause }: { region: string; clause: string }) => `${region.replaceAll('_', ' ')} (${clause})`,
      ),
    );
    await page.getByLabel('Point 2, Time').fill('15');
    await page.keyboard.press('Tab');
    expect(await send(page, 'Apply points')).to.equal(200);
    expect((await dashboard.get('grid-support/lv-trip?device=1')).must_trip.points[1].time_s).to.equal(15);
  });

  it('sets droop and says which limit holds the power', async () => {
    let page = await show('#/devices/1/grid-support/freq-droop');
    await page.getByRole('group', { name: 'Frequency droop' }).waitFor();
    await page.locator('.plot .handle').nth(1).press('ArrowRight');
    expect(await send(page, 'Apply droop')).to.equal(200);
    expect((await dashboard.get('grid-support/freq-droop?device=1')).db_of_hz).to.be.closeTo(0.046, 1e-9);

    page = await show('#/devices/0/grid-support/max-power');
    await page.getByLabel(/^Active power limit, % of WMax/).fill('10');
    expect(await send(page, 'Apply values')).to.equal(200);
    await page.getByRole('switch', { name: 'Active power limit enabled' }).click();
    await page.locator('[data-function="max_power"]').getByText('dashboard').waitFor();
    await dashboard.step(30);
    const { sentence } = await dashboard.get('controls/why?device=0');
    expect(sentence).to.contain('written by dashboard');
    await page.locator('.why', { hasText: sentence }).waitFor();
    const { now } = await dashboard.get('grid-support/trace?device=0&limit=0');
    expect(now.active_decided_by).to.equal('max_power');
  });

  it('has a form for every member of a function', async () => {
    const page = await show('#/devices/1/grid-support/pf');
    const within = page.locator('main fieldset').first();
    await within.getByLabel(/^Power factor/).fill('0.95');
    await within.getByLabel(/^Enabled/).selectOption('true');
    expect(await send(page, 'Apply values')).to.equal(200);
    expect((await dashboard.get('grid-support/pf?device=1')).reversion).to.deep.equal({
      pf: 0.95,
      excitation: 'over_excited',
      enabled: true,
    });
    // the form has the new values before the next one is typed
    await page.locator('main form').first().getByText('done', { exact: true }).waitFor();
    await within.getByLabel(/^Power factor/).fill('2');
    expect(await send(page, 'Apply values')).to.equal(422);
    await within.locator('.issue').waitFor();
    // an emptied number is not sent
    await within.getByLabel(/^Power factor/).fill('');
    await page.getByRole('button', { name: 'Apply values' }).first().click();
    await within.getByText('must have a value').waitFor();
  });

  it('sets a gradient, and ends it with null', async () => {
    const page = await show('#/devices/1/grid-support/gradient');
    const none = page.getByRole('checkbox', { name: 'No gradient of active power' });
    await none.waitFor();
    expect(await none.isChecked()).to.equal(true);
    await page.getByLabel(/^Gradient of active power, %\/s/).fill('0.5');
    expect(await send(page, 'Set gradient')).to.equal(200);
    expect(await dashboard.get('controls/gradient?device=1')).to.include({ w_pct_per_s: 0.5, w_source: 'gradient' });
    await page.getByText('0.5000 % of WMax per s, from the gradient').waitFor();
    await none.check();
    expect(await send(page, 'Set gradient')).to.equal(200);
    expect((await dashboard.get('controls/gradient?device=1')).w_source).to.equal('register');
  });

  it('records sub-steps', async () => {
    const page = await show('#/devices/0/grid-support/why');
    expect(await send(page, 'Record 1000 sub-steps')).to.equal(200);
    await dashboard.step(5);
    await page.getByRole('img', { name: 'Recorded powers' }).waitFor();
    expect(await send(page, 'Stop recording')).to.equal(200);
    expect((await dashboard.get('grid-support/trace?device=0&limit=0')).recording.capacity).to.equal(0);
  });

  it('begins and ends a hold', async () => {
    const page = await show('#/devices/1/grid-support/holds');
    expect(await send(page, 'Begin hold')).to.be.oneOf([200, 201]);
    expect(await point(704, 'WMaxLimPct')).to.equal(30);
    await page.getByRole('button', { name: 'End hold' }).waitFor();
    expect(await send(page, 'Begin hold')).to.equal(409);
    expect(await send(page, 'End hold')).to.equal(200);
    await page.getByRole('button', { name: 'End hold' }).waitFor({ state: 'detached' });
    expect(await point(704, 'WMaxLimPct')).to.equal(100);
  });

  it('lists what differs from the start', async () => {
    const page = await show('#/devices/1/grid-support/changes');
    const { changes } = await dashboard.get('registers/changes?device=1');
    await page
      .locator('main tbody tr')
      .nth(changes.length - 1)
      .waitFor();
    const names: string[] = await page.evaluate(
      `[...document.querySelectorAll('main tbody a')].map((link) => link.textContent)`,
    );
    expect(names).to.deep.equal(changes.map((change: { point: string }) => change.point));
  });

  it('keeps function and device over a reload', async () => {
    const page = await show('#/devices/1/grid-support/hf-trip?curve=may_trip');
    await page.reload();
    await page.getByRole('group', { name: 'High-frequency trip curves' }).waitFor();
    expect(await page.getByRole('button', { name: 'May trip' }).getAttribute('aria-pressed')).to.equal('true');
    expect(await page.locator('main h1').innerText()).to.contain((await dashboard.get('devices/1')).name);
    expect(shown.seen.complaints.filter((complaint) => !refused.test(complaint))).to.deep.equal([]);
  });
});
