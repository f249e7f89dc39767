/** Ten tasks of an operator on a fresh page, each with the most actions that it may take. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { Central } from '../../ocpp/central/central.ts';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { openByHand } from '../../support/hand.ts';
import type { Hand } from '../../support/hand.ts';
import { adu, RawClient } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { skip } from '../../support/skip.ts';

const card = (page: Page, name: string) => page.getByRole('region', { name });

/** The link of a device below the picture of the site. */
const deviceLink = (page: Page, name: string) => page.locator('.feeders').getByRole('link', { name, exact: true });

/** A place of the handle of a slider, px. The handle is 16 px wide and stays within the track. */
async function handleAt(slider: Locator, value: number) {
  const box = await slider.boundingBox();
  if (box === null) throw new Error('the slider is not shown');
  const max = Number(await slider.getAttribute('max'));
  return { x: 8 + ((box.width - 16) * value) / max, y: box.height / 2 };
}

interface Places {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** texts that do not fit into their box */
  readonly cut: readonly string[];
}

/** @throws AssertionError when a part is not on the screen as a whole, or its text is cut off */
async function expectOnScreen(target: Locator): Promise<void> {
  const places = await target.evaluate((element): Places => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const cut = [element, ...element.querySelectorAll('*')].filter(
      (each) =>
        each.closest('.visually-hidden') === null &&
        Number(each.scrollWidth) > Number(each.clientWidth) + 1 &&
        each.ownerDocument.defaultView.getComputedStyle(each).overflowX !== 'visible',
    );
    return { left, top, right, bottom, cut: cut.map(({ textContent }) => textContent) };
  });
  const { width, height } = target.page().viewportSize() ?? { width: 0, height: 0 };
  expect(places.left, 'left').to.be.within(0, width);
  expect(places.right, 'right').to.be.within(0, width);
  expect(places.top, 'top').to.be.within(0, height);
  expect(places.bottom, 'bottom').to.be.within(0, height);
  expect(places.cut, 'cut off').to.deep.equal([]);
}

/** The lowest point of the voltage in the drawing of a capture, read by the axis beside it, pu. */
async function lowestDrawnPu(page: Page): Promise<number> {
  const line = page.locator('[data-curve="V grid"]');
  await line.waitFor();
  await expectOnScreen(line);
  return line.evaluate((path) => {
    const corners = String(path.getAttribute('d')).split(/[ML]/);
    const heights = corners.map((point) => Number(point.split(' ')[1])).filter((height) => Number.isFinite(height));
    const ticks = [...path.closest('g:not([clip-path])').querySelectorAll('g > .grid-line + text')].map(
      (text) => [Number(text.textContent), Number(text.previousElementSibling.getAttribute('y1'))] as const,
    );
    const [low, lowY] = ticks.at(0) ?? [NaN, NaN];
    const [high, highY] = ticks.at(-1) ?? [NaN, NaN];
    return low + ((high - low) * (Math.max(...heights) - lowY)) / (highY - lowY);
  });
}

interface Task {
  readonly page: Page;
  readonly hand: Hand;
}

/** The most that a task may take. */
interface Budget {
  readonly actions: number;
  readonly scrolls?: number;
}

/** Does a task on a fresh page of its own, from the front of the dashboard. */
async function perform(
  dashboard: Dashboard,
  { actions, scrolls }: Budget,
  act: (task: Task) => Promise<void>,
): Promise<void> {
  const { page, seen, hand } = await openByHand(dashboard);
  await act({ page, hand });
  await hand.expectAtMost(actions, scrolls);
  expect(seen.complaints).to.deep.equal([]);
  await page.close();
}

describe('dashboard: the tasks of an operator at the mixed site', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(null, ['--config', 'mixed-site']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    const connector = 'evse/SIM-CP-1/connectors/1';
    await dashboard.post(`${connector}/plug`, { ev: { id: 'EV-7', soc_pct: 40, max_charge_kw: 11 } });
    await dashboard.post(`${connector}/limit`, { power_kw: 6 });
    await dashboard.post('controls/battery?device=1', { mode: 'charge', power_kw: 50 });
    await dashboard.step(30);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('1. reads why charger 1 gives 6 kW, and who did it, without an action', () =>
    perform(dashboard, { actions: 0 }, async ({ page }) => {
      const row = card(page, 'Who controls what').getByRole('listitem').filter({ hasText: 'Charger 1' });
      await row.getByText('6.00 of 11.00 kW', { exact: true }).waitFor();
      const { sentence, delivered_kw: kw } = await dashboard.get('controls/why?device=5&connector=1');
      expect(kw).to.be.closeTo(6, 0.01);
      const reason = String(sentence).split(': ').at(-1) ?? '';
      expect(reason).to.contain('set by REST');
      await row.getByText(reason, { exact: false }).waitFor();
      await expectOnScreen(row);
    }));

  it('2. sets the irradiance of the carport to 300 W/m² in 2 actions', () =>
    perform(dashboard, { actions: 2 }, async ({ page, hand }) => {
      await hand.click(deviceLink(page, 'Carport'));
      const slider = page.getByRole('slider', { name: 'Irradiance' });
      const present = Number(await slider.inputValue());
      await hand.drag(slider, await handleAt(slider, present), await handleAt(slider, 300));
      await page.getByRole('group', { name: 'Irradiance' }).getByText('set by dashboard', { exact: false }).waitFor();
      expect(await dashboard.get('controls/environment?device=0')).to.include({ irradiance_w_m2: 300 });
    }));

  it('3. plugs a car in at charger 2 and limits it to 6 A in 3 actions', () =>
    perform(dashboard, { actions: 3 }, async ({ page, hand }) => {
      await hand.click(deviceLink(page, 'Charger 2'));
      await hand.press('Plug in');
      await hand.press('6 A');
      await page.locator('[data-test="limit-1"]').filter({ hasText: 'set by dashboard' }).waitFor();
      await dashboard.step(30);
      const [connector] = (await dashboard.get('evse/SIM-CP-1-6')).connectors;
      expect(connector).to.include({ status: 'charging', limit_source: 'local' });
      for (const amperes of connector.current_a) expect(amperes).to.be.closeTo(6, 0.1);
      await page.getByRole('button', { name: '6 A', pressed: true }).waitFor();
    }));

  it('4. starts a sag to 50 % for 0.5 s, and reads the verdicts and the dip in 3 actions', () =>
    perform(dashboard, { actions: 3 }, async ({ page, hand }) => {
      await hand.follow('Inputs');
      await hand.press('Start sag');
      await dashboard.step(10);
      await page.locator('[data-test="last-verdict"]').waitFor();
      await hand.follow('Sag to 50 % for 0.50 s');
      const [capture] = (await dashboard.get('captures')).captures.slice(-1);
      await page.getByRole('heading', { name: `Capture ${capture.id}: Sag to 50 % for 0.50 s` }).waitFor();
      expect(await lowestDrawnPu(page)).to.be.closeTo(0.5, 0.01);
      const { verdicts } = await dashboard.get(`captures/${capture.id}`);
      expect(verdicts.length).to.equal(7);
      const table = page.getByRole('table', { name: 'Verdicts' });
      const shown = await table.locator('tbody tr .chip').allInnerTexts();
      expect(shown.toSorted()).to.deep.equal(
        verdicts.map(({ verdict }: Answer) => String(verdict).replaceAll('_', ' ')).toSorted(),
      );
      await expectOnScreen(table.locator('tbody tr').last());
    }));

  it('5. finds the refused write of a master and its reason in 1 action', async () => {
    const limit = (await dashboard.get('registers/704?device=0')).points.find(
      ({ name }: Answer) => name === 'WMaxLimPct',
    );
    const master = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
    master.send(adu(1, 1, `10${limit.address.toString(16)}0001022ee0`));
    await master.answer();
    master.socket.destroy();
    await perform(dashboard, { actions: 1 }, async ({ page, hand }) => {
      await hand.click(card(page, 'Needs attention').getByRole('link', { name: 'Write refused' }));
      const entry = (await dashboard.get('timeline?kinds=refusal')).entries.at(-1);
      expect(entry.text).to.contain('704.WMaxLimPct: 120 is outside 0..100');
      const cause = card(page, 'Write refused');
      await cause.getByText(entry.text, { exact: true }).waitFor();
      await cause.getByText('Modbus 127.0.0.1', { exact: false }).waitFor();
      await cause.getByRole('link', { name: '0 Carport' }).waitFor();
      await expectOnScreen(cause.getByText(entry.text, { exact: true }));
    });
  });

  it('6. moves a point of a volt-var curve and applies it in 4 actions', () =>
    perform(dashboard, { actions: 4 }, async ({ page, hand }) => {
      await hand.click(deviceLink(page, 'Carport'));
      await hand.follow('Grid support');
      const point = page.getByRole('group', { name: 'Volt-var curve' }).locator('.handle').first();
      await point.waitFor();
      const box = await point.boundingBox();
      const middle = { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) / 2 };
      await hand.drag(point, middle, { x: middle.x, y: middle.y + 40 });
      await expectOnScreen(page.getByRole('button', { name: 'Apply points' }));
      const moved = Number(await page.getByLabel('Point 1, Reactive power').inputValue());
      expect(moved).to.be.below(40);
      await hand.press('Apply points');
      await page.getByText('not applied yet', { exact: true }).waitFor({ state: 'detached' });
      expect((await dashboard.get('grid-support/volt-var?device=0')).points[0].var_pct).to.equal(moved);
    }));

  it('7. sees the power of the storage in all protocols in 2 actions', () =>
    perform(dashboard, { actions: 2 }, async ({ page, hand }) => {
      // the device goes along to other views
      await hand.click(deviceLink(page, 'Storage'));
      await hand.follow('Compare');
      await page.waitForURL(/compare\?device=1/);
      const { quantities } = await dashboard.get('consistency?device=1');
      const { presentations } = quantities.find(({ quantity }: Answer) => quantity === 'active_power');
      const values = presentations.filter(({ value }: Answer) => typeof value === 'number');
      expect(values.length).to.be.at.least(3);
      const { power_kw: kw } = (await dashboard.get('overview')).devices[1];
      expect(kw).to.be.below(-49);
      const row = page.locator('[data-test="active_power"]');
      await row
        .getByText(`−${(-kw).toFixed(2)}`, { exact: false })
        .nth(values.length - 1)
        .waitFor();
      await expectOnScreen(row);
    }));

  it('8. connects charger 1 to a central system, started without OCPP, in 4 actions', async () => {
    const central = await Central.open();
    try {
      await perform(dashboard, { actions: 4 }, async ({ page, hand }) => {
        await hand.follow('Protocols');
        await hand.follow(/^Connect my central system/);
        await hand.type(page.getByRole('textbox', { name: 'Central system' }), central.url);
        await hand.press('Connect');
        await page.getByText('accepted', { exact: true }).waitFor();
        const [station] = (await dashboard.get('ocpp')).charge_points;
        expect(station).to.include({ id: 'SIM-CP-1', connection_state: 'connected', boot_status: 'accepted' });
      });
    } finally {
      await dashboard.post('ocpp/disable');
      await central.close();
    }
  });

  it('9. runs ride-through of category III and opens its report in 3 actions', () =>
    // the library is longer than the screen
    perform(dashboard, { actions: 3, scrolls: 1 }, async ({ page, hand }) => {
      await hand.follow('Scenarios');
      await hand.press('Run beside: Ride-through and trips, abnormal category III');
      const report = page.getByRole('link', { name: 'Report (new tab)' });
      await report.waitFor({ timeout: 60_000 });
      const [document] = await Promise.all([page.waitForEvent('popup'), hand.click(report)]);
      await document.getByText('Ride-through and trips, abnormal category III').first().waitFor();
      expect((await dashboard.get('scenario-runs/1')).run).to.include({ state: 'passed', steps_done: 38 });
    }));
});

describe('dashboard: a task of an operator at 1,000 devices', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(null, ['-d', 'PV-1Phase', '-N', '1000', '--mb_enable', 'no']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.post('controls/grid?device=637', { voltage_pu: 0.3 });
    await dashboard.step(4);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('10. opens the one that tripped in 1 action', () =>
    perform(dashboard, { actions: 1 }, async ({ page, hand }) => {
      // the map takes the place above the card "Needs attention"
      await hand.click(page.getByTitle(/^Tripped on low voltage: /));
      const { devices } = await dashboard.get('devices?device=637');
      await page.getByRole('heading', { level: 1, name: devices[0].name }).waitFor();
      const { kind_state: state } = (await dashboard.get('overview')).devices[637];
      expect(state).to.equal('tripped');
      await page.locator('[data-test="device-state"]').filter({ hasText: state }).waitFor();
    }));
});
