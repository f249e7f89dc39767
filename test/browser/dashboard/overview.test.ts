import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: overview', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard([
      'PV-3Phase',
      'Batt-3Phase',
      'Wind-T4-3Phase',
      'Fuelcell-3Phase',
      'HybridDC-3Phase',
      'EVSE',
    ]);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** As the page writes a power: that of the turbine in megawatts. */
  const power = (kw: number) =>
    Math.abs(kw) < 1000
      ? `${kw.toFixed(2)}\u00a0kW`
      : Math.abs(kw) < 10_000
        ? `${kw.toFixed(1)}\u00a0kW`
        : `${(kw / 1000).toFixed(2)}\u00a0MW`;

  it('shows the powers of the site, and newer ones after a step', async () => {
    const { page, seen } = await dashboard.open();
    for (const irradiance of [400, 800]) {
      await dashboard.post('controls/environment', { irradiance_w_m2: irradiance, load_kw: 1.5 });
      await dashboard.step(10);
      const { net_power_kw: netKw, by_kind: kinds } = await dashboard.get('site');
      await page
        .locator('.net .value')
        .filter({ hasText: power(Math.abs(netKw)) })
        .waitFor();
      await page
        .locator('[data-test="feeder-Solar"] .value')
        .filter({ hasText: power(kinds.pv.delivered_kw) })
        .waitFor();
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('says who limits a device, what needs attention, and what happened', async () => {
    await dashboard.post('grid-support/max-power?device=0', { enabled: true, limit_pct: 10 });
    await dashboard.post('controls/grid', { outage: true });
    await dashboard.step(5);
    const { page, seen } = await dashboard.open();
    const card = (name: string) => page.getByRole('region', { name });
    const [item] = (await dashboard.get('attention')).items;
    await card('Needs attention').getByText(item.title, { exact: true }).waitFor();
    await page.locator('.pill').filter({ hasText: 'to look at' }).waitFor();
    await dashboard.post('controls/grid', { outage: false });
    await dashboard.step(400);
    const { sentence } = (await dashboard.get('controls/why?device=0')) as { sentence: string };
    const reason = sentence.slice(sentence.indexOf(': ') + 2).toLowerCase();
    await card('Who controls what').getByText(reason, { exact: false }).waitFor();
    const events = card('Last events');
    await events.getByRole('listitem').nth(3).waitFor();
    expect(await page.getByRole('img', { name: 'Net power of the site in the last hour' }).count()).to.equal(1);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('draws a limit of the site in the last hour, dashed and at its value', async () => {
    await dashboard.post('site', { export_limit_kw: 2000 });
    await dashboard.step(8);
    const { page, seen } = await dashboard.open();
    const chart = page.getByRole('img', { name: 'Net power of the site in the last hour' });
    await chart.getByText('export limit', { exact: true }).waitFor();
    const middleOf = async (what: Locator) => {
      const box = await what.boundingBox();
      return (box?.y ?? NaN) + (box?.height ?? NaN) / 2;
    };
    const axis = chart.locator('text[text-anchor="end"]');
    const texts = (await axis.allTextContents()).map((text) => Number(text.replace('\u2212', '-')));
    const [lowY, highY] = [await middleOf(axis.first()), await middleOf(axis.last())];
    const [low = NaN, high = NaN] = [texts[0], texts.at(-1)];
    const isMega = (await chart.getByText('MW', { exact: true }).count()) > 0;
    const line = chart.locator('path.limit.export');
    const kw = low + (((await middleOf(line)) - lowY) / (highY - lowY)) * (high - low);
    expect(kw * (isMega ? 1000 : 1)).to.be.closeTo(2000, (high - low) * (isMega ? 1000 : 1) * 0.03);
    const dashes = `getComputedStyle(document.querySelector('.site-chart .limit.export')).strokeDasharray`;
    expect(await page.evaluate(dashes)).to.equal('6px, 4px');
    await dashboard.post('site', { export_limit_kw: null });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('lists every device with its limit and its last write, and keeps the filter over a reload', async () => {
    const { page, seen } = await dashboard.open('#/devices');
    const { devices } = await dashboard.get('overview');
    const rows = page.getByRole('table', { name: 'Devices' }).locator('tbody tr');
    await rows.nth(devices.length - 1).waitFor();
    expect(await rows.nth(0).textContent())
      .to.contain('power limit')
      .and.to.match(/REST, \d\d:\d\d:\d\d/);
    await rows.nth(0).getByTitle(devices[0].last_write.name, { exact: true }).waitFor();
    await page.getByLabel('Filter devices').fill('batt');
    await rows.nth(1).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Devices (1 of 6)' }).waitFor();
    await page.getByLabel('Filter devices').press('Enter');
    await page.waitForURL((url) => url.hash.startsWith('#/devices/1/picture'));
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});

describe('dashboard: overview of a fleet', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(Array.from({ length: 32 }, () => 'PV-3Phase'));
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.step(3);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('has a map that follows one message for all, and a device that follows its own', async () => {
    const { page, seen } = await dashboard.open();
    const cells = page.getByRole('gridcell');
    await cells.nth(31).waitFor();
    await dashboard.post('controls/grid?device=7', { voltage_pu: 0.3 });
    await dashboard.step(5);
    await page.getByRole('gridcell', { name: /^7 .* tripped$/ }).waitFor();
    await cells.nth(0).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tooltip').filter({ hasText: /^1 / }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.hash.startsWith('#/devices/1/picture'));
    await page.getByRole('region', { name: 'Controls' }).waitFor();
    await dashboard.step(2);
    const streams = async () =>
      ((await dashboard.get('stream/clients')).clients as { device_index: number | null }[]).map(
        ({ device_index: index }) => index,
      );
    expect(await streams()).to.include.members([null, 1]);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
