import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click();
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

describe('dashboard: scenarios', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('runs one here with a press, follows it, and keeps the clock from others meanwhile', async () => {
    await dashboard.post('scenarios', { scenario });
    const { page, seen } = await dashboard.open('#/scenarios');
    expect(await axeFindings(page)).to.deep.equal([]);
    await press(page, 'Run: High voltage');
    await page.waitForURL(/#\/scenarios\/runs\/1$/);
    await page.locator('progress[value="2"]').waitFor();
    await page.getByText('Step 3 of 5: limit comes', { exact: true }).waitFor();
    const { run } = await dashboard.get('scenario-runs/1');
    expect(run).to.include({ state: 'running', pace: 'fast', steps_done: 2, sim_s: 3 });
    const steps = await rowsOf(page, 'Steps').locator('td:first-child').allInnerTexts();
    expect(steps.toSorted()).to.deep.equal(run.steps.map(({ state }: Answer) => state).toSorted());
    const clock = page.getByRole('group', { name: 'Simulated clock' });
    expect(await clock.getByRole('button').allInnerTexts()).to.deep.equal(['Stop scenario']);
    await dashboard.post('registers/704', { points: { WMaxLimPct: 50 } });
    await page.getByRole('status').getByText('failed').waitFor();
    await page.locator('[data-test="clock-owner"]').waitFor({ state: 'detached' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('tells why it failed, over a reload too, with its chart and the reports', async () => {
    const { run } = await dashboard.get('scenario-runs/1');
    const { page, seen } = await dashboard.open('#/scenarios/runs/1');
    await page.reload();
    await page.getByRole('group', { name: 'Failed first' }).getByText(run.failures[0], { exact: true }).waitFor();
    const failed = run.assertions.find(({ state }: Answer) => state === 'failed');
    await page.getByText(`✕ failed at ${failed.decided_s}\u00a0s`, { exact: true }).waitFor();
    const first = await rowsOf(page, 'Assertions').first().locator('td').allInnerTexts();
    expect(first[2]?.split(/\s*\n/)).to.deep.equal([failed.name, failed.message.replace(`${failed.name}: `, '')]);
    expect(await axeFindings(page)).to.deep.equal([]);
    const [report] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'Report (new tab)' }).click(),
    ]);
    await report.getByRole('heading', { name: /High voltage\s+failed/ }).waitFor();
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

  it('runs one of the library beside, again, and compares the two runs', async () => {
    const { page, seen } = await dashboard.open('#/scenarios?find=droop');
    await press(page, 'More for Frequency droop');
    await press(page, 'Run beside');
    await page.waitForURL(/#\/scenarios\/runs\/2$/);
    await page.getByRole('status').getByText('passed').waitFor();
    await press(page, 'Run again');
    await page.waitForURL(/#\/scenarios\/runs\/3$/);
    await page.getByRole('status').getByText('passed').waitFor();
    await page.getByRole('link', { name: 'Compare with run 2' }).click();
    const { run } = await dashboard.get('scenario-runs/2');
    await page.getByText(`0 differ, ${run.assertions.length} passed in both`, { exact: true }).waitFor();
    expect(await rowsOf(page, 'Assertions').count()).to.equal(run.assertions.length);
    await page.locator('figure .trace.second').first().waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('edits: completes, marks problems, undoes, and keeps the draft over a reload', async () => {
    const { page, seen } = await dashboard.open('#/scenarios/editor');
    const area = page.getByRole('textbox', { name: 'Scenario as YAML' });
    await area.fill('name: Storm\nsteps:\n  - af');
    await area.press('Control+End');
    await area.press('Control+Space');
    await page.getByRole('option', { name: /^after/ }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await area.press('Enter');
    await page.keyboard.type('soon');
    expect(await area.inputValue()).to.equal('name: Storm\nsteps:\n  - after: soon');
    await page.locator('.code-line.marked').getByText('3', { exact: true }).waitFor();
    const shown = await page.locator('.code-line .code-text').allInnerTexts();
    expect(shown).to.deep.equal(['name: Storm', 'steps:', '  - after: soon']);
    await press(page, 'line 3');
    for (let keys = 0; keys < 4; keys += 1) await area.press('Control+z');
    expect(await area.inputValue()).not.to.contain('soon');
    await area.press('Control+End');
    const typed = await area.inputValue();
    await page.reload();
    expect(await area.inputValue()).to.equal(typed);
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });
});
