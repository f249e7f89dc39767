import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: what the grid did to a device', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.step(5);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const sag = (residual: number, seconds: number) =>
    dashboard.post('controls/grid/event', {
      event: 'sag',
      parameters: { residual_pu: residual, duration_s: seconds },
    });
  const timeOf = (iso: string) => iso.slice(11, 19);
  const trace = (): Promise<Answer> => dashboard.get('grid-support/trace?device=0&limit=0');
  const lastTo = ({ transitions }: Answer, to: string) =>
    transitions.findLast((change: { to: string }) => change.to === to);

  /** The same sentence in every view that has it. */
  async function says(page: Page, text: string, views = ['devices', 'inputs']): Promise<void> {
    for (const view of views) {
      await page.evaluate(`location.hash = '#/${view}?device=0'`);
      await page.locator('[data-test="outcome"]').filter({ hasText: text }).waitFor();
    }
  }

  it('says nothing as long as the grid is as it was at the start', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid?device=0');
    await page.getByRole('region', { name: 'Start an event' }).waitFor();
    expect(await page.locator('[data-test="outcome"]').count()).to.equal(0);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('gives no verdict about a change of the grid that lasts', async () => {
    const { page, seen } = await dashboard.open();
    await dashboard.post('controls/grid', { voltage_pu: 0.95 });
    const { changed_by: by } = await dashboard.get('controls/grid?device=0');
    const since = `no trip and no cessation since ${by.source} set the grid at ${timeOf(by.changed_at)}`;
    await says(page, `So far ${since}`);
    await dashboard.step(2);
    await says(page, `So far ${since}`);
    await dashboard.post('controls/grid', { voltage_pu: 1 });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('tells a sag that was ridden through, during it and afterwards', async () => {
    const { page, seen } = await dashboard.open();
    await sag(0.7, 4);
    await dashboard.step(1);
    const { now } = await trace();
    expect(now.ride_through).not.to.equal('continuous_operation');
    const left = now.time_to_trip_s.lv_trip;
    await says(
      page,
      `Riding through (${now.ride_through.replaceAll('_', ' ')}): trip by low voltage (707) in ${left.toFixed(left < 10 ? 2 : 0)}\u00a0s`,
    );
    await dashboard.step(4);
    expect((await trace()).transitions).to.deep.equal([]);
    const { changed_by: by } = await dashboard.get('controls/grid?device=0');
    await says(
      page,
      `Rode through: no trip and no cessation since ${by.source} set the grid at ${timeOf(by.changed_at)}`,
    );
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('tells a momentary cessation', async () => {
    const { page, seen } = await dashboard.open();
    await sag(0.4, 1);
    await dashboard.step(4);
    const answer = await trace();
    const [from, to] = [lastTo(answer, 'momentary_cessation'), lastTo(answer, 'in_service')];
    await says(page, `Rode through without a trip: momentary cessation from ${timeOf(from.at)} to ${timeOf(to.at)}`);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('tells a trip: by what, when, and when the device returns', async () => {
    const { page, seen } = await dashboard.open();
    await sag(0.3, 6);
    await dashboard.step(3);
    const trip = lastTo(await trace(), 'tripped');
    expect(trip.cause).to.equal('lv_trip');
    const head = `Tripped by low voltage (707) at ${timeOf(trip.at)}`;
    // the page of the device has the sentence of the daemon about the trip instead
    const others = ['inputs'];
    await says(page, `${head}, returns after voltage and frequency are back`, others);
    await dashboard.step(3);
    const { now } = await trace();
    expect(now.service).to.equal('waiting');
    await says(page, `${head}, returns in ${now.time_to_enter_service_s.toFixed(0)}\u00a0s`, others);
    await dashboard.step(300);
    const back = lastTo(await trace(), 'ramping');
    await says(page, `${head}, back since ${timeOf(back.at)}, ramping up`);
    await dashboard.step(300);
    await says(page, `${head}, back since ${timeOf(back.at)}`);
    expect(await page.locator('[data-test="outcome"]').innerText()).not.to.contain('ramping');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
