import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard, Shown } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const refused = /status of 4(09|22)|^4(09|22) |ERR_ABORTED/;

/** A model with stored sets: which cell of set 2 is changed, and where that stands. */
interface Case {
  readonly path: string;
  readonly model: number;
  readonly request: string;
  readonly stage: string;
  readonly cell: string;
  readonly register: string;
  readonly value: number;
  readonly wrong: number;
  /** the value in the answer of `grid-support` */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly inForce: (answer: any) => number;
}

const cases: readonly Case[] = [
  {
    path: 'volt-var',
    model: 705,
    request: 'AdptCrvReq',
    stage: 'Stage points',
    cell: 'Point 1, Reactive power',
    register: 'Crv[1].Pt[0].Var',
    value: 30,
    wrong: 130,
    inForce: ({ points }) => points[0].var_pct,
  },
  {
    path: 'watt-var',
    model: 712,
    request: 'AdptCrvReq',
    stage: 'Stage points',
    cell: 'Point 6, Reactive power',
    register: 'Crv[1].Pt[5].Var',
    value: -20.5,
    wrong: -130,
    inForce: ({ points }) => points[5].var_pct,
  },
  {
    path: 'lv-trip',
    model: 707,
    request: 'AdptCrvReq',
    stage: 'Stage points',
    cell: 'Point 2, Time',
    register: 'Crv[1].MustTrip.Pt[1].Tms',
    value: 12.345,
    wrong: 4000,
    inForce: ({ must_trip }) => must_trip.points[1].time_s,
  },
  {
    path: 'freq-droop',
    model: 711,
    request: 'AdptCtlReq',
    stage: 'Stage droop',
    cell: 'Dead band, over-frequency, Hz',
    register: 'Ctl[1].DbOf',
    value: 0.2,
    wrong: 7,
    inForce: ({ db_of_hz }) => db_of_hz,
  },
];

describe('dashboard: stored sets of grid support', () => {
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
  async function send(page: Page, name: string, within = 'main'): Promise<number> {
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.locator(within).getByRole('button', { name, exact: true }).first().click();
    return (await answered).status();
  }

  async function show(hash: string): Promise<Page> {
    await shown.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    return shown.page;
  }

  async function type(page: Page, cell: string, value: number): Promise<void> {
    await page.getByLabel(cell, { exact: true }).fill(String(value));
    await page.keyboard.press('Tab');
  }

  for (const { path, model, request, stage, cell, register, value, wrong, inForce } of cases) {
    it(`stages and adopts a set of model ${model}, and marks what is refused`, async () => {
      const page = await show(`#/devices/1/grid-support/${path}`);
      const before = inForce(await dashboard.get(`grid-support/${path}?device=1`));
      await page.getByRole('button', { name: 'Edit set 2' }).click();
      await page.getByRole('heading', { name: /, set 2$/ }).waitFor();

      await type(page, cell, wrong);
      expect(await send(page, stage)).to.equal(422);
      await page.locator('.plot .handle.wrong').first().waitFor();
      const input = page.getByLabel(cell, { exact: true });
      expect(await input.getAttribute('aria-invalid')).to.equal('true');
      await page.locator(`td:has(input[aria-label="${cell}"]) .issue`, { hasText: `${wrong} is outside` }).waitFor();
      expect(await page.locator('main [aria-invalid="true"]').count()).to.equal(1);

      await type(page, cell, value);
      expect(await send(page, stage)).to.equal(200);
      expect(await point(model, register)).to.equal(value);
      expect(inForce(await dashboard.get(`grid-support/${path}?device=1`))).to.equal(before);
      await page.getByText('not staged yet').waitFor({ state: 'detached' });

      expect(await send(page, 'Adopt', '[data-set="2"]')).to.equal(200);
      expect(await point(model, request)).to.equal(2);
      await dashboard.step();
      await page.getByText('adoption of set 2: completed').waitFor();
      expect(inForce(await dashboard.get(`grid-support/${path}?device=1`))).to.equal(value);
    });
  }

  it('marks the point for which a set cannot be adopted', async () => {
    const page = await show('#/devices/1/grid-support/lv-trip?set=3');
    await page.getByRole('heading', { name: /, set 3$/ }).waitFor();
    // the register takes it, the check before the adoption does not
    await type(page, 'Point 2, Voltage', 150);
    expect(await send(page, 'Stage points')).to.equal(200);
    await page.locator('td:has(input[aria-label="Point 2, Voltage"]) .issue').waitFor();
    await page.locator('[data-set="3"]').getByText('707.Crv[2].MustTrip.Pt[1].V: 150 is outside 0..100').waitFor();
    expect(await send(page, 'Adopt', '[data-set="3"]')).to.equal(200);
    await dashboard.step();
    await page.getByText('adoption of set 3: failed').waitFor();
    expect((await dashboard.get('grid-support/lv-trip?device=1')).must_trip.points[1].v_pct).to.equal(88);
    await page.reload();
    await page.getByRole('heading', { name: /, set 3$/ }).waitFor();
    await page.getByRole('button', { name: 'Copy points of set 1' }).click();
    expect(await send(page, 'Stage points')).to.equal(200);
    await page.locator('[data-set="3"]').getByText('adoptable', { exact: true }).waitFor();
    expect(await point(707, 'Crv[2].MustTrip.Pt[1].V')).to.equal(88);
  });

  it('stages the values of a set', async () => {
    const page = await show('#/devices/1/grid-support/volt-var?set=3');
    await page.getByLabel(/^Reference of 100 %/).selectOption('w_max_pct');
    await page.getByLabel(/^Response time, s/).fill('9');
    expect(await send(page, 'Stage values')).to.equal(200);
    expect(await point(705, 'Crv[2].DeptRef')).to.equal('W_MAX_PCT');
    expect(await point(705, 'Crv[2].RspTms')).to.equal(9);
    await page.getByLabel(/^Response time, s/).fill('900');
    expect(await send(page, 'Stage values')).to.equal(422);
    await page.locator('label.field:has([name="/response_time_s"]) .issue').waitFor();
  });

  it('keeps a draft when another device, function or view is shown, and over a reload', async () => {
    let page = await show('#/devices/1/grid-support/hf-trip');
    await type(page, 'Point 1, Time', 1.5);
    await page.locator('[data-function="hf_trip"]').getByText('draft').waitFor();
    page = await show('#/devices/0/grid-support/hf-trip');
    await page.getByText('not applied yet', { exact: true }).waitFor({ state: 'detached' });
    page = await show('#/overview');
    await page.locator('[data-function]').first().waitFor({ state: 'detached' });
    page = await show('#/devices/1/grid-support/hf-trip');
    await page.getByText('not applied yet', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('not applied yet', { exact: true }).waitFor();
    expect(await page.getByLabel('Point 1, Time').inputValue()).to.equal('1.5');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await page.getByLabel('Point 1, Time').inputValue()).to.equal('0.16');
  });

  it('steps in proportion on a logarithmic axis, and holds the axes during a drag', async () => {
    const page = await show('#/devices/1/grid-support/hf-trip');
    const time = () => page.getByLabel('Point 1, Time').inputValue();
    const handle = page.locator('.plot .handle').first();
    await handle.press('ArrowUp');
    expect(await time()).to.equal('0.17');
    await type(page, 'Point 1, Time', 5);
    await handle.press('ArrowDown');
    expect(await time()).to.equal('4.9');
    await type(page, 'Point 1, Time', 50);
    await handle.press('ArrowUp');
    expect(await time()).to.equal('51');
    await page.getByRole('button', { name: 'Discard' }).click();

    const tick = page.locator('.plot .axes > g:nth-child(3) > text');
    const before = await tick.getAttribute('x');
    const box = await handle.boundingBox();
    const plot = await page.locator('.plot svg').boundingBox();
    if (box === null || plot === null) throw new Error('the point is not to be seen');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width + 60, box.y, { steps: 5 });
    await page.getByText('not applied yet', { exact: true }).waitFor();
    expect(await tick.getAttribute('x')).to.equal(before);
    await page.mouse.up();
    await page.locator(`.plot .axes > g:nth-child(3) > text:not([x="${before ?? ''}"])`).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  it('draws the operating point of droop', async () => {
    await dashboard.post('controls/grid?device=0', { frequency_hz: 60.5 });
    const page = await show('#/devices/0/grid-support/freq-droop');
    await dashboard.step(3);
    await page.locator('.plot .live-point title', { hasText: 'Now: 60.50 Hz' }).waitFor({ state: 'attached' });
    await dashboard.step(30);
    const { now } = await dashboard.get('grid-support/trace?device=0&limit=0');
    await page
      .getByText(`60.500 Hz, ${now.active_power_kw.toFixed(2)} kW`.replace(/ /g, '\u00a0').replace(',\u00a0', ', '))
      .waitFor();
    // 0.5 Hz less the dead band of 0.036 Hz, by a droop of 5 % of 60 Hz
    const change = -((0.5 - 0.036) / 3) * 100;
    const title = await page.locator('.plot .live-point title').textContent();
    const [, seen = ''] = /Hz, −?([\d.]+) %/.exec(title ?? '') ?? [];
    expect(-Number(seen)).to.be.closeTo(change, 0.5);
  });

  it('puts all start values back, and says what is refused', async () => {
    await dashboard.post('grid-support/volt-var?device=1', {
      points: [
        { v_pct: 90, var_pct: 10 },
        { v_pct: 110, var_pct: -10 },
      ],
      response_time_s: 3,
    });
    const page = await show('#/devices/1/grid-support/changes?api=1');
    await page.getByRole('button', { name: 'Put set 1 back' }).first().waitFor();
    const before = (await dashboard.get('registers/changes?device=1')).changes;
    expect(before.length).to.be.above(8);
    await page.getByRole('button', { name: 'Put all back' }).click();
    const dialog = page.getByRole('dialog', { name: 'Put all back' });
    await dialog.getByText(/^Set 1 of Volt-var/).waitFor();
    const calls = await dialog.getByRole('listitem').count();
    expect(await dialog.getByRole('button', { name: /^Copy as curl/ }).count()).to.equal(calls);
    // the daemon takes start values as a rule: the refusal of one call is put in its way here
    const detail = 'not while this test says no';
    await page.route(/registers\/707/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 409, contentType: 'application/problem+json', json: { code: 'conflict', detail } })
        : route.continue(),
    );
    await dialog.getByRole('button', { name: /^Make/ }).click();
    await dialog.getByRole('status').getByText(`1 of ${calls} refused.`).waitFor();
    await dialog
      .getByRole('listitem')
      .filter({ hasText: /^Model 707/ })
      .getByText(detail)
      .waitFor();
    const left: { point: string }[] = (await dashboard.get('registers/changes?device=1')).changes;
    expect(left.map((change) => change.point)).to.deep.equal([
      '707.Crv[1].MustTrip.Pt[1].Tms',
      '707.Crv[2].MustTrip.Pt[1].Tms',
    ]);
    const { points, response_time_s } = await dashboard.get('grid-support/volt-var?device=1');
    expect(points).to.have.length(4);
    expect(points[3]).to.deep.equal({ v_pct: 108, var_pct: -44 });
    expect(response_time_s).to.equal(5);
    await page.unroute(/registers\/707/);

    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 points', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Put all back' }).click();
    await dialog.getByRole('button', { name: 'Make 1 call' }).click();
    await dialog.getByText('All start values are restored.').waitFor();
    expect((await dashboard.get('registers/changes?device=1')).count).to.equal(0);
    expect(shown.seen.complaints.filter((complaint) => !refused.test(complaint))).to.deep.equal([]);
  });
});
