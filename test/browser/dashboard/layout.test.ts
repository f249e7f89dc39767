/**
 * Places of the named parts of views against stored ones. A change of the layout on purpose stores them anew:
 * `LAYOUT=renew npx mocha --config .mocharc.browser.cjs --spec test/browser/dashboard/layout.test.ts`
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const file = new URL('layout.json', import.meta.url);

const views = {
  overview: 'overview',
  device: 'devices/0/picture',
  capture: 'events/captures/1',
  protocols: 'protocols',
  compare: 'compare/all',
};
/** Views whose chart comes with a library of its own, behind their other content. */
const hasChart: readonly string[] = [views.device];
const widths = [1280, 390];

/** Left, top, width and height in px; null: the part has no place of its own. */
type Box = readonly [left: number, top: number, width: number, height: number];
type Layout = Readonly<Record<string, Box>>;
type Layouts = Readonly<Record<string, Layout>>;

/** Runs in the page: the frame, and every panel by its title. */
const boxesOf = `() => {
  const boxes = {};
  const add = (name, element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    boxes[name] = [left, top + scrollY, width, height].map(Math.round);
  };
  for (const name of ['.top', '.side', 'main']) {
    const element = document.querySelector(name);
    if (element) add(name, element);
  }
  for (const panel of document.querySelectorAll('main section.panel'))
    add(panel.querySelector('h2')?.textContent.replace(/ *[(][0-9]+[)]/, '').replace(/[0-9]+/g, '#') ?? '', panel);
  return boxes;
}`;

/** Fonts of machines differ: text of another width breaks into other lines. */
const isNear = (is: number, was: number) => Math.abs(is - was) <= Math.max(24, 0.08 * Math.abs(was));

/** Parts that are elsewhere, new or gone. */
function changes(is: Layout, was: Layout): readonly string[] {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names.flatMap((name) => {
    const [now, before] = [is[name], was[name]];
    if (now === undefined || before === undefined) return [`${name} is ${now === undefined ? 'gone' : 'new'}`];
    const isSame = now.every((value, index) => isNear(value, before[index] ?? 0));
    return isSame ? [] : [`${name}: ${before.join(' ')} -> ${now.join(' ')}`];
  });
}

async function layoutOf(page: Page, hash: string): Promise<Layout> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
  await page.waitForLoadState('networkidle');
  await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
  if (hasChart.includes(hash)) await page.locator('main .u-wrap').first().waitFor();
  // a view stands when two readings are equal
  let [before, now] = ['', JSON.stringify(await page.evaluate(`(${boxesOf})()`))];
  while (now !== before) {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    [before, now] = [now, JSON.stringify(await page.evaluate(`(${boxesOf})()`))];
  }
  return JSON.parse(now) as Layout;
}

describe('dashboard: layout', function () {
  this.timeout(60_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase', 'EVSE'], ['--seed', '1']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.step(4);
    await dashboard.post('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 0.5 } });
    await dashboard.step(40);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('of the main views is the stored one', async () => {
    const { page } = await dashboard.open();
    // a busy machine has entries of its own, such as a late tick
    await page.route(/\/api\/sim\/(attention|timeline)(\?|$)/, async (route) => {
      const answer = (await (await route.fetch()).json()) as Readonly<Record<string, unknown>>;
      const emptied = Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? [] : value]);
      await route.fulfill({ json: Object.fromEntries(emptied) });
    });
    await page.reload();
    await page.waitForSelector('[data-test="clock"]');
    const layouts: Record<string, Layout> = {};
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      for (const [name, hash] of Object.entries(views)) layouts[`${name} at ${width} px`] = await layoutOf(page, hash);
    }
    await page.close();
    if (process.env['LAYOUT'] === 'renew') writeFileSync(file, `${JSON.stringify(layouts, null, 2)}\n`);
    const stored = (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}) as Layouts;
    const found = Object.entries(layouts).map(([name, layout]) => [name, changes(layout, stored[name] ?? {})] as const);
    expect(found.filter(([, changed]) => changed.length > 0)).to.deep.equal([]);
  });

  it('that differs is told', () => {
    const was: Layout = { a: [0, 0, 400, 100], b: [0, 110, 400, 100] };
    expect(changes({ a: [0, 0, 410, 100], b: [0, 110, 400, 100] }, was)).to.deep.equal([]);
    expect(changes({ a: [0, 0, 400, 130], c: [0, 140, 400, 100] }, was)).to.deep.equal([
      'a: 0 0 400 100 -> 0 0 400 130',
      'b is gone',
      'c is new',
    ]);
  });
});
