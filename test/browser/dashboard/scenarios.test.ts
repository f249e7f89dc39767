import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const panelOf = (page: Page, title: string): Locator =>
  page.locator('section.panel').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click();
const idIn = (page: Page) => /scenario=([\w-]+)/.exec(page.url())?.[1] ?? '';
const rowsOf = (page: Page, table: string) => page.getByRole('table', { name: table, exact: true }).locator('tbody tr');

/** Complaints but for those about answers that a test provokes. */
const unexpected = (complaints: readonly string[]) => complaints.filter((text) => !/\b(409|422)\b/.test(text));

/** The clock stands in its third step until a limit of 50 % is written: what the page shows stands too. */
const scenario = {
  name: 'High voltage',
  description: 'Waits for a limit.',
  parameters: { voltage: 1.05, watch: true, tariff: 'day' },
  steps: [
    { grid: { voltage_pu: '${voltage}' }, expect: { point: '701.LLV', above: 490, within: '5 s' } },
    { after: '3 s' },
    { name: 'limit comes', when: { point: '704.WMaxLimPct', equals: 50, real_timeout: '60 s' } },
    {
      after: '10 s',
      grid: { voltage_pu: 1 },
      expect: { name: 'still high', point: '701.LLV', above: 600, within: '5 s' },
    },
    { after: '20 s' },
  ],
};

const serious = `axe.run().then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

async function findings(page: Page): Promise<unknown> {
  await page.evaluate(axeSource);
  return page.evaluate(serious);
}

describe('dashboard: scenarios', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const add = async (page: Page, content: unknown) => {
    const panel = panelOf(page, 'Add your own');
    await panel.getByRole('textbox').fill(JSON.stringify(content, null, 2));
    const posted = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await press(panel, 'Add scenario');
    const answer = await posted;
    if (!answer.ok()) return;
    const { id } = await answer.json();
    // until then the view shows one that was added before, whose form would take what the test types
    await page.waitForURL((url) => url.hash.includes(`scenario=${id}`));
  };

  it('says how to fill the empty view, and adds a bundled scenario', async () => {
    const { page, seen } = await dashboard.open('#/scenarios');
    await page.getByText('No scenario is kept').waitFor();
    const { bundled } = await dashboard.get('scenarios');
    for (const { name, description } of bundled) {
      await page.getByText(description).waitFor();
      await page.getByRole('button', { name: `Add ${name}`, exact: true }).waitFor();
    }
    await press(page, 'Add pv-battery-day');
    await panelOf(page, 'A day of PV and battery').getByText('seed, tick, start_clock_time').waitFor();
    const [kept] = (await dashboard.get('scenarios')).scenarios;
    expect(kept).to.include({ bundled: 'pv-battery-day', id: idIn(page) });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows objections at their lines, and takes the text when they are gone', async () => {
    const { page, seen } = await dashboard.open('#/scenarios');
    const panel = panelOf(page, 'Add your own');
    const text = panel.getByRole('textbox');
    await panel.locator('input[type=file]').setInputFiles({
      name: 'storm.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from('name: Storm\nsteps: []\n'),
    });
    await panel.getByText('REST accepts JSON only').waitFor();
    expect(await panel.getByRole('button', { name: 'Add scenario' }).isDisabled()).to.equal(true);
    const wrong =
      '{\n "name": "a: {",\n "steps": [\n  { "grid": {\n    "voltage_pu": 99 } },\n  { "after": "foo", "x": 1 }\n ]\n}';
    await panel.locator('input[type=file]').setInputFiles({
      name: 'wrong.json',
      mimeType: 'application/json',
      buffer: Buffer.from(wrong),
    });
    await press(panel, 'Add scenario');
    const objections = panel.getByRole('list', { name: 'Objections' }).getByRole('listitem');
    await objections.first().waitFor();
    const shown = await objections.evaluateAll((all) =>
      all.map((each) => [...each.children].map((part) => part.textContent)),
    );
    const places = shown.map(([line, pointer, , excerpt]) => [line, pointer, excerpt]);
    expect(places).to.deep.include(['line 5', '/steps/0/grid/voltage_pu', '"voltage_pu": 99 } },']);
    expect(places).to.deep.include(['line 6', '/steps/1/after', '{ "after": "foo", "x": 1 }']);
    expect(places).to.deep.include(['line 6', '/steps/1/x', '{ "after": "foo", "x": 1 }']);
    expect(shown[0]?.[2]).to.contain('from 0 to 2; given 99');
    await press(objections.first(), 'line 5');
    const marked = await text.evaluate(
      (area: Answer) => area.value.slice(area.selectionStart, area.selectionEnd) as string,
    );
    expect(marked).to.equal('    "voltage_pu": 99 } },');
    expect((await dashboard.get('scenarios')).scenarios).to.have.length(1);
    await add(page, scenario);
    await panelOf(page, 'High voltage').waitFor();
    expect(await objections.count()).to.equal(0);
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('starts with parameters, follows the run, and keeps the clock from others meanwhile', async () => {
    const { page, seen } = await dashboard.open('#/scenarios');
    await add(page, scenario);
    const panel = panelOf(page, 'High voltage');
    await panel.locator('[name="parameters/voltage"]').fill('1.06');
    await panel.locator('[name="parameters/watch"]').uncheck();
    await press(panel, 'Start');
    const progress = panel.getByRole('progressbar', { name: 'Progress' });
    await panel.locator('progress[value="2"]').waitFor();
    const id = idIn(page);
    const { run } = await dashboard.get(`scenarios/${id}`);
    expect(run).to.include({ state: 'running', pace: 'fast', steps_done: 2, sim_s: 3 });
    expect(await progress.getAttribute('max')).to.equal(String(run.steps_in_all));
    const fact = (name: string) => panel.locator(`dt:text-is("${name}") + dd`).innerText();
    expect(await fact('Steps')).to.equal(`${run.steps_done} of ${run.steps_in_all}`);
    expect(await fact('Assertions')).to.equal('1 passed');
    expect(await fact('Simulated')).to.contain('3.0\u00a0s from');
    const steps = await rowsOf(page, 'Steps').locator('td:first-child').allInnerTexts();
    expect(steps.toSorted()).to.deep.equal(run.steps.map(({ state }: Answer) => state).toSorted());
    await page.getByRole('link', { name: 'scenario High voltage', exact: true }).waitFor();
    const clock = page.getByRole('group', { name: 'Simulated clock' });
    expect(await clock.getByRole('button').allInnerTexts()).to.deep.equal(['Stop scenario']);
    expect(await panel.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).to.equal(true);
    expect(await findings(page)).to.deep.equal([]);
    await dashboard.post('registers/704', { points: { WMaxLimPct: 50 } });
    await panel.getByRole('status').getByText('failed').waitFor();
    const report = await dashboard.get(`scenarios/${id}/report`);
    expect(report.scenario.parameters).to.deep.equal({ voltage: 1.06, watch: false, tariff: 'day' });
    await page.locator('[data-test="clock-owner"]').waitFor({ state: 'detached' });
    expect(await clock.getByRole('button', { name: 'Step', exact: true }).isDisabled()).to.equal(false);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('tells why it failed, first and over a reload, and leads to the reports', async () => {
    const failed = (await dashboard.get('scenarios')).scenarios.find(({ run }: Answer) => run?.state === 'failed');
    const { run } = await dashboard.get(`scenarios/${failed.id}`);
    const { page, seen } = await dashboard.open(`#/scenarios?scenario=${failed.id}`);
    for (const again of [false, true]) {
      if (again) await page.reload();
      const panel = panelOf(page, 'High voltage');
      await panel.getByRole('list', { name: 'Failures' }).getByText(run.failures[0], { exact: true }).waitFor();
      const first = await rowsOf(page, 'Assertions').first().locator('td').allInnerTexts();
      const { name, message, decided_s } = run.assertions.find(({ state }: Answer) => state === 'failed');
      expect(first.slice(0, 2)).to.deep.equal(['failed', `${decided_s.toFixed(1)}\u00a0s`]);
      expect(first[2]?.split(/\s*\n/)).to.deep.equal([name, message]);
      expect(await rowsOf(page, 'Assertions').count()).to.equal(run.assertions.length);
    }
    expect(await findings(page)).to.deep.equal([]);
    const [report] = await Promise.all([page.waitForEvent('popup'), page.getByText('page (new tab)').click()]);
    const complaints: string[] = [];
    report.on('console', (message) => complaints.push(message.text()));
    await report.reload();
    await report.getByRole('heading', { name: /High voltage\s+failed/ }).waitFor();
    const family = await report.evaluate<string>('getComputedStyle(document.body).fontFamily');
    expect(family).to.contain('system-ui');
    expect(complaints).to.deep.equal([]);
    for (const [link, ending, words] of [
      ['JSON', '.json', 'derbench-scenario-result'],
      ['JUnit XML', '.xml', '<testsuite'],
    ] as const) {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('group', { name: 'Reports' }).getByText(link, { exact: true }).click(),
      ]);
      expect(file.suggestedFilename()).to.equal(`High-voltage${ending}`);
      expect(readFileSync(await file.path(), 'utf8')).to.contain(words);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('refuses a wrong parameter in the words of the daemon; stops and deletes', async () => {
    const { page, seen } = await dashboard.open('#/scenarios');
    await add(page, scenario);
    const panel = panelOf(page, 'High voltage');
    await panel.locator('[name="parameters/voltage"]').fill('99');
    await press(panel, 'Start');
    await panel.getByText('must be from 0 to 2; given 99').waitFor();
    await panel.locator('[name="parameters/voltage"]').fill('1.05');
    await dashboard.post('registers/704', { points: { WMaxLimPct: 100 } });
    await press(panel, 'Start');
    await press(panel, 'Stop');
    await panel.getByRole('status').getByText('stopped').waitFor();
    const id = idIn(page);
    expect((await dashboard.get(`scenarios/${id}`)).run.state).to.equal('stopped');
    page.on('dialog', (dialog) => void dialog.accept());
    await press(panel, 'Delete');
    await page.waitForURL(({ hash }) => !hash.includes('scenario='));
    const { scenarios } = await dashboard.get('scenarios');
    expect(scenarios.some((each: Answer) => each.id === id)).to.equal(false);
    await page.evaluate(`location.hash = '#/scenarios?scenario=${id}'`);
    await page.getByText('is not kept any more').waitFor();
    // the page reads everything again after a call, also what it has just deleted
    expect(unexpected(seen.complaints).filter((text) => !/\b404\b/.test(text))).to.deep.equal([]);
    await page.close();
  });
});
