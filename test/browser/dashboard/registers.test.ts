import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: registers', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase'], ['--meter_unit', '200']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const rowOf = (point: string) => `tr[data-point="${point}"]`;

  it('shows every point of a model as the API gives it', async () => {
    const { page, seen } = await dashboard.open('#/devices/1/registers?model=702');
    const { points } = await dashboard.get('registers/702?device=1&raw=true');
    await page.waitForSelector(rowOf('WMax'));
    expect(await page.locator('tr[data-point]').count()).to.equal(points.length);
    for (const name of ['WMax', 'WMaxRtg', 'CtrlModes']) {
      const point = points.find((one: { name: string }) => one.name === name);
      const text = await page.locator(rowOf(name)).innerText();
      expect(text).to.contain(point.label);
      expect(text).to.contain(point.raw.map((register: number) => register.toString(16).padStart(4, '0')).join(' '));
    }
    const absent = points.filter((point: { implemented: boolean }) => !point.implemented).length;
    expect(absent).to.be.greaterThan(0);
    await page.getByRole('button', { name: 'Hide points not implemented' }).click();
    await page
      .locator('tr[data-point]')
      .nth(points.length - absent)
      .waitFor({ state: 'detached' });
    expect(await page.locator('tr[data-point]').count()).to.equal(points.length - absent);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('writes several points at once, flashes what changed, and keeps its place over a reload', async () => {
    const { page, seen } = await dashboard.open('#/devices/1/registers?model=704&point=WMaxLimPct');
    await page.waitForSelector(`${rowOf('WMaxLimPct')}[aria-selected="true"]`);
    await page.getByRole('button', { name: 'Edit values' }).click();
    await page.getByLabel('New value of WMaxLimPct', { exact: true }).fill('45.5');
    await page.getByLabel('New value of WMaxLimPctEna', { exact: true }).fill('ENABLED');
    await page.getByRole('button', { name: 'Write 2 points' }).click();
    await page.waitForSelector(`${rowOf('WMaxLimPct')} .flash:has-text("45.50 %")`);
    const { points } = await dashboard.get('registers/704?device=1&points=WMaxLimPct,WMaxLimPctEna');
    expect(points.map((point: { value: unknown; source: unknown }) => [point.value, point.source])).to.deep.equal([
      [1, 'dashboard'],
      [45.5, 'dashboard'],
    ]);
    expect(await page.locator(rowOf('WMaxLimPct')).innerText()).to.contain('dashboard');
    await page.reload();
    await page.waitForSelector(`${rowOf('WMaxLimPct')}[aria-selected="true"]`);
    expect(await page.locator('.strip button[aria-pressed="true"]').innerText()).to.equal('11c6');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('says at the point why a write was refused, and writes nothing', async () => {
    const { page, seen } = await dashboard.open('#/devices/0/registers?model=704');
    await page.getByRole('button', { name: 'Edit values' }).click();
    await page.getByLabel('New value of WMaxLimPct', { exact: true }).fill('50');
    await page.getByLabel('New value of WMaxLimPctEna', { exact: true }).fill('MAYBE');
    await page.getByRole('button', { name: 'Write 2 points' }).click();
    const issue = page.locator(`${rowOf('WMaxLimPctEna')} .issue`);
    await issue.waitFor();
    expect(await issue.innerText()).to.contain('which are DISABLED, ENABLED');
    expect((await dashboard.get('registers/704?device=0&points=WMaxLimPct')).points[0].value).to.equal(100);
    expect(seen.complaints.filter((text) => !text.includes('422'))).to.deep.equal([]);
    await page.close();
  });

  it('folds groups, finds points of other models, and shows the site meter', async () => {
    const { page, seen } = await dashboard.open('#/devices/0/registers?model=705');
    const group = page.getByRole('button', { name: '▾ Crv[0]', exact: true });
    await group.click();
    await page.locator(rowOf('Crv[0].Pt[0].V')).waitFor({ state: 'detached' });
    await page.reload();
    await page.waitForSelector(rowOf('Ena'));
    expect(await page.locator(rowOf('Crv[0].Pt[0].V')).count()).to.equal(0);
    await page.getByLabel('Search points of all models').fill('WMaxLimPct');
    await page.getByRole('link', { name: '704.WMaxLimPct', exact: true }).click();
    await page.waitForSelector(`${rowOf('WMaxLimPct')}[aria-selected="true"]`);
    await page.getByRole('link', { name: 'Devices', exact: true }).click();
    await page.getByRole('link', { name: 'Site meter', exact: true }).click();
    await page.waitForSelector(rowOf('TotWhExp'));
    expect(await page.locator('.models a').count()).to.equal((await dashboard.get('site/registers')).models.length);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
