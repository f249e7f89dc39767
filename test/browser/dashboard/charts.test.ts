import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: charts of a short history', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase'], ['--history_samples', '100']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('says since when samples are kept, where the window reaches before that', async () => {
    await dashboard.step(90);
    const { page, seen } = await dashboard.open('#/charts?device=0');
    // those of the steps, and that of the start
    const kept = page.locator('[data-test="sight"] p').filter({ hasText: 'Kept since' });
    await page.getByRole('table', { name: 'Data' }).getByRole('cell', { name: '91', exact: true }).first().waitFor();
    expect(await kept.count()).to.equal(0);
    for (const again of [false, true]) {
      if (again) await page.reload();
      else await dashboard.step(30);
      const { samples } = await dashboard.get('history?device=0&limit=100000');
      expect(samples.length).to.equal(100);
      const since = String(samples[0].timestamp).slice(0, 19).replace('T', ' ');
      await kept.filter({ hasText: `Kept since ${since}` }).waitFor();
    }
    await dashboard.post('controls/time', { rate: 600 });
    await dashboard.step(2);
    await kept.waitFor({ state: 'detached' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});

describe('dashboard: charts', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.step(40);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const row = (page: Page, device: number) => page.getByRole('table', { name: 'Data' }).locator('tbody tr').nth(device);

  async function holds(page: Page, device: number, at: number): Promise<void> {
    const { samples } = await dashboard.get(`history?device=${device}&limit=100000`);
    const newest = samples.at(-1);
    await row(page, at)
      .getByRole('cell', { name: String(samples.length), exact: true })
      .first()
      .waitFor();
    for (const metric of ['power_kw', 'reactive_power_kvar', 'voltage_ln_v', 'frequency_hz'])
      expect(await row(page, at).locator(`[data-metric="${metric}"]`).textContent()).to.equal(String(newest[metric]));
  }

  it('draws the history, and adds what the stream brings', async () => {
    const { page, seen } = await dashboard.open('#/charts?devices=0,1');
    for (const steps of [0, 3]) {
      if (steps > 0) await dashboard.step(steps);
      await holds(page, 0, 0);
      await holds(page, 1, 1);
    }
    // P, Q, V, f, state of charge of the battery
    expect(await page.locator('.chart canvas').count()).to.equal(5);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('moves nothing while the samples are read', async () => {
    const page = await dashboard.browser.newPage({ viewport: { width: 1350, height: 940 } });
    await page.addInitScript(`new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) globalThis.moved = (globalThis.moved ?? 0) + value;
    }).observe({ type: 'layout-shift', buffered: true })`);
    // the view stands before its samples come
    await page.route('**/api/sim/history?*', async (route) => {
      await page.getByRole('region', { name: 'Frequency' }).waitFor();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      await route.continue();
    });
    for (const hash of ['#/charts?device=1', '#/charts?devices=0,1']) {
      await page.goto(`${dashboard.origin}/${hash}`);
      await page.reload();
      await page.getByRole('group', { name: /^State of charge/ }).waitFor();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      expect(await page.evaluate<number>('globalThis.moved ?? 0'), hash).to.be.below(0.05);
    }
    await page.close();
  });

  it('holds the picture, and goes on with everything that came meanwhile', async () => {
    const { page } = await dashboard.open('#/charts?device=0');
    await holds(page, 0, 0);
    const before = await row(page, 0).textContent();
    await page.getByRole('button', { name: 'Freeze' }).click();
    const { tick } = await dashboard.get('controls/time');
    await dashboard.step(2);
    await page.locator(`[data-test="clock"][title$="tick ${Number(tick) + 2}"]`).waitFor();
    expect(await row(page, 0).textContent()).to.equal(before);
    const sight = page.locator('[data-test="sight"]');
    await sight.filter({ hasText: /Frozen at .*; 2 newer samples wait\./ }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await sight.filter({ hasText: 'Frozen at' }).waitFor({ state: 'detached' });
    await dashboard.step(1);
    await holds(page, 0, 0);
    await page.close();
  });

  it('keeps devices, window and further metric over a reload', async () => {
    const { page, seen } = await dashboard.open('#/charts?device=0');
    await page.getByRole('button', { name: '1 h', exact: true }).click();
    await page.getByText(/1 of 2 devices/).click();
    await page.getByRole('checkbox', { name: /^1 / }).check();
    await page.getByText('Further metrics: 0').click();
    await page.getByRole('checkbox', { name: 'Irradiance, W/m²' }).check();
    await page.locator('.chart canvas').nth(5).waitFor();
    await page.reload();
    await page.locator('.chart canvas').nth(5).waitFor();
    expect(await page.getByRole('button', { name: '1 h', exact: true }).getAttribute('aria-pressed')).to.equal('true');
    await row(page, 1).waitFor();
    expect(page.url()).to.contain('extra=irradiance_w_m2');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows every value of the API as a table, also of metrics that the stream does not carry', async () => {
    const { page, seen } = await dashboard.open('#/charts?device=0&panels=values&extra=irradiance_w_m2');
    for (const steps of [0, 2]) {
      if (steps > 0) await dashboard.step(steps);
      const { samples } = await dashboard.get('history?device=0');
      const wanted = samples
        .toReversed()
        .slice(0, 10)
        .map((sample: Record<string, string | number | null>) => [
          String(sample['timestamp']).replace('T', ' ').replace('Z', ''),
          ...['power_kw', 'reactive_power_kvar', 'voltage_ln_v', 'frequency_hz'].map((name) => String(sample[name])),
          '–',
          '–',
          '–',
          ...['limit_kw', 'possible_kw', 'irradiance_w_m2'].map((name) => String(sample[name] ?? '–')),
        ]);
      const rows = page.getByRole('table', { name: /^Values of/ }).locator('tbody tr');
      const [newest = []] = wanted;
      await rows
        .first()
        .filter({ hasText: newest[0] })
        .filter({ hasText: newest.at(-1) })
        .waitFor();
      for (const [at, cells] of wanted.entries())
        expect(await rows.nth(at).getByRole('cell').allTextContents()).to.deep.equal(cells);
    }
    expect(await page.locator('.chart').count()).to.equal(1);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('zooms all charts by dragging, keeps that over ticks and a reload, and goes back', async () => {
    const { page, seen } = await dashboard.open('#/charts?device=1');
    const over = page.locator('.chart .u-over');
    await over.nth(4).waitFor();
    const box = await over.first().boundingBox();
    if (box === null) throw new Error('the chart has no place on the page');
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 3 });
    // the end of a drag counts wherever the mouse is
    await page.mouse.move(box.x + box.width * 0.5, box.y - 30);
    await page.mouse.up();
    const back = page.getByRole('button', { name: 'Whole window, follow' });
    await back.waitFor();
    const zoom = new URL(page.url()).hash.split('zoom=')[1];
    await dashboard.step(2);
    await holds(page, 1, 0);
    await page.reload();
    await back.waitFor();
    expect(new URL(page.url()).hash.split('zoom=')[1]).to.equal(zoom);
    // the cursor at the end is at the end of what is in sight
    const chart = page.getByRole('group', { name: /^State of charge/ });
    await over.nth(4).waitFor();
    await chart.focus();
    await page.keyboard.press('End');
    const until = Number(decodeURIComponent(zoom ?? '').split(',')[1]);
    const shownAt = async () => Date.parse(`${(await chart.locator('.u-value').first().textContent()) ?? ''}Z`) / 1000;
    expect(Math.abs((await shownAt()) - until)).to.be.lessThan(2.5);
    await page.keyboard.press('Escape');
    await back.waitFor({ state: 'detached' });
    await page.keyboard.press('End');
    const { samples } = await dashboard.get('history?device=1&limit=1');
    expect(await shownAt()).to.equal(Math.floor(Date.parse(samples[0].timestamp) / 1000));
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('exports what the API has as CSV, and the charts as a picture', async () => {
    const { page } = await dashboard.open('#/charts?device=0&api=1');
    await holds(page, 0, 0);
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    const text = await readFile(await csv.path(), 'utf8');
    const curl = (await page.getByRole('button', { name: /^Copy as curl: GET .*history/ }).getAttribute('title')) ?? '';
    const address = /'(http[^']+)'$/.exec(curl)?.[1] ?? '';
    expect(text).to.equal(await (await fetch(address)).text());
    expect(text.split('\n')[0]).to.contain('power_kw');
    const [png] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'PNG', exact: true }).click(),
    ]);
    const picture = await readFile(await png.path());
    expect(picture.subarray(1, 4).toString()).to.equal('PNG');
    expect(picture.length).to.be.greaterThan(5000);
    await page.close();
  });

  it('exports several devices as one table', async () => {
    const { page } = await dashboard.open('#/charts?devices=0,1');
    await holds(page, 1, 1);
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    expect(csv.suggestedFilename()).to.equal('derbench-devices-0-1.csv');
    const [head = '', ...lines] = (await readFile(await csv.path(), 'utf8')).trimEnd().split('\n');
    const names = head.split(',');
    const rows = lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell])));
    const wanted: Record<string, string>[] = [];
    for (const device of [0, 1]) {
      const text = await (
        await fetch(`${dashboard.origin}/api/sim/history?device=${device}&format=csv&seconds=900`)
      ).text();
      const [own = '', ...ownLines] = text.trimEnd().split(/\r?\n/);
      for (const line of ownLines) {
        const cells = line.split(',');
        const empty = Object.fromEntries(names.map((name) => [name, '']));
        wanted.push({
          ...empty,
          ...Object.fromEntries(own.split(',').map((name, at) => [name, cells[at] ?? ''])),
          device_index: String(device),
        });
      }
    }
    expect(names).to.include.members(['irradiance_w_m2', 'state_of_charge_pct']);
    expect(rows).to.deep.equal(wanted);
    await page.close();
  });

  it('says where a zoom has no samples, and what it leaves out', async () => {
    const { samples } = await dashboard.get('history?device=0&limit=100000');
    const first = Date.parse(samples[0].timestamp) / 1000;
    const last = Date.parse(samples.at(-1).timestamp) / 1000;
    const textAt = async (from: number, to: number) => {
      const { page, seen } = await dashboard.open(`#/charts?device=0&zoom=${from},${to}`);
      const sight = page.locator('[data-test="sight"] p');
      const text = await sight.first().innerText();
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
      return text;
    };
    const words = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
    expect(await textAt(last + 60, last + 120)).to.equal(
      `No samples in view: ${words(last + 60)} to ${words(last + 120)} is after the newest sample, of ${words(last)}.`,
    );
    expect(await textAt(first - 120, first - 60)).to.contain(`is before the oldest drawn sample, of ${words(first)}.`);
    expect(await textAt(last - 10, last + 60)).to.contain(`The newest sample is of ${words(last)}`);
    expect(await textAt(last - 20, last - 10)).to.contain('Newer samples are outside.');
  });

  it('shows the point of the P-Q plane and what is available', async () => {
    const { page, seen } = await dashboard.open('#/charts?device=0');
    const { metrics } = await dashboard.get('overview?device=0');
    const { inject_kw: injectKw } = await dashboard.get('controls/available?device=0');
    await page
      .locator('[data-test="plane-point"]')
      .filter({ hasText: `${metrics.power_kw.toFixed(2)}\u00a0kW` })
      .waitFor();
    await page
      .locator('figcaption')
      .filter({ hasText: `available ${injectKw.toFixed(2)}\u00a0kW out` })
      .waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('draws the power of a group beside its limit, also when the limit has ended', async () => {
    const limit = (kw: number | null) => dashboard.post('site', { devices: [0, 1], export_limit_kw: kw });
    await limit(2);
    await dashboard.step(2);
    const { page, seen } = await dashboard.open('#/charts?devices=0,1&panels=p');
    await page.getByRole('button', { name: 'Group', exact: true }).click();
    const chart = page.getByRole('group', { name: /^Net power/ });
    const shown = async (step: 'End' | 'Home') => {
      await chart.focus();
      await page.keyboard.press(step);
      return (await chart.locator('.u-value').allTextContents()).slice(1).map((text) => text.replace(/\s/gu, ' '));
    };
    await chart.locator('.u-label').filter({ hasText: 'export limit' }).waitFor();
    const { samples } = await dashboard.get('site/scopes/history?devices=0,1&limit=1');
    expect(await shown('End')).to.deep.equal([`${samples[0].net_power_kw.toFixed(2)} kW`, '2.00 kW']);
    await limit(null);
    await page.reload();
    await chart.locator('.u-label').filter({ hasText: 'export limit' }).waitFor();
    expect((await shown('Home'))[1]).to.equal('2.00 kW');
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    expect(csv.suggestedFilename()).to.equal('derbench-group-0-1.csv');
    const text = await readFile(await csv.path(), 'utf8');
    const query = 'devices=0,1&seconds=900&limit=100000';
    expect(text).to.equal(
      await (await fetch(`${dashboard.origin}/api/sim/site/scopes/history?${query}&format=csv`)).text(),
    );
    const { count } = await dashboard.get(`site/scopes/history?${query}`);
    expect(text.trimEnd().split('\r\n').slice(1)).to.have.lengthOf(count);
    expect(count).to.equal(2);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('is loaded when it is first shown; a page that is older than the daemon asks to load it again', async () => {
    const { page, seen } = await dashboard.open('#/logs');
    const loads = (name: string) => seen.requests.filter((url) => url.includes(`/assets/${name}-`)).length;
    expect(loads('charts')).to.equal(0);
    await page.route('**/assets/charts-*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Charts', exact: true }).first().click();
    await page.getByRole('alert').filter({ hasText: 'derbench was updated.' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await row(page, 0).waitFor();
    expect(loads('uplot-chart')).to.be.greaterThan(0);
    await page.close();
  });

  it('starts anew where the clock is set back, and says so', async () => {
    const { page, seen } = await dashboard.open('#/charts?device=0&window=all');
    await holds(page, 0, 0);
    await dashboard.post('controls/time', { clock_time: '09:00:00' });
    await dashboard.step(3);
    const { samples } = await dashboard.get('history?device=0');
    const from = samples.findLastIndex(
      (sample: { timestamp: string }, index: number) => sample.timestamp < (samples[index - 1]?.timestamp ?? ''),
    );
    expect(from).to.be.greaterThan(0);
    const note = page.getByText(`The clock was set back: ${from} earlier samples are in the CSV only.`);
    for (const again of [false, true]) {
      if (again) await page.reload();
      await note.waitFor();
      await row(page, 0)
        .getByRole('cell', { name: String(samples.length - from), exact: true })
        .first()
        .waitFor();
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
