import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const panelOf = (page: Page, title: string): Locator =>
  page.locator('section.panel').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const press = (panel: Locator, name: string) => panel.getByRole('button', { name, exact: true }).click();

/** Complaints but for those about answers that a test provokes. */
const unexpected = (complaints: readonly string[]) => complaints.filter((text) => !/\b(409|422)\b/.test(text));

describe('dashboard: faults', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('injects an exception that a Modbus master gets, and ends it', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults?fault=modbus.exception');
    const master = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
    const read = async () => (await master.request(readRequest(1, 40000, 2))).slice(14);
    expect(await read()).to.equal('030453756e53');
    const panel = panelOf(page, 'Make one');
    await press(panel, 'Inject');
    await panel.locator('label.field:has([name="/code"]) .issue', { hasText: 'is required' }).waitFor();
    await panel.locator('[name="/code"]').fill('6');
    await panel.locator('[name="/function"]').fill('3, 4');
    await panel.getByText('When and how often').click();
    await panel.locator('[name="/duration_s"]').fill('500');
    await press(panel, 'Inject');
    const list = panelOf(page, 'Faults in force');
    await list.getByText('modbus exception').waitFor();
    expect(await read()).to.equal('8306');
    const { faults } = await dashboard.get('faults');
    expect(faults[0]).to.deep.include({ kind: 'exception', device_index: 0, strikes: 1, source: 'dashboard' });
    expect(faults[0].target.function).to.deep.equal([3, 4]);
    expect(faults[0].duration_s).to.equal(500);
    await dashboard.step();
    await list.getByText('acted 1 of 1').waitFor();
    await press(panelOf(page, 'Faults in force'), 'Clear all');
    await page.getByRole('table', { name: 'Ended faults' }).getByText('modbus exception').waitFor();
    expect(await read()).to.equal('030453756e53');
    expect((await dashboard.get('faults')).total).to.equal(0);
    master.destroy();
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('injects a profile, and clears by number and by protocol', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults?device=1');
    await page.getByLabel('Search ready-made faults').fill('energy-dips');
    await page.locator('.fault-card').getByRole('button', { name: 'Inject' }).click();
    const list = panelOf(page, 'Faults in force');
    await list.getByText('modbus value').waitFor();
    const [fault] = (await dashboard.get('faults')).faults;
    expect(fault).to.include({ profile: 'energy-dips', device_index: 1, every: 10 });
    await press(list, `Clear ${fault.id}`);
    await list.getByText('No fault is in force').waitFor();
    await dashboard.post('faults', { profile: 'energy-dips', device: 'all' });
    await dashboard.post('faults', { inject: [{ protocol: 'device', kind: 'second_limiter', limit_pct: 10 }] });
    await dashboard.step();
    await press(list, 'Clear Modbus');
    await list.getByText('modbus value').first().waitFor({ state: 'detached' });
    expect((await dashboard.get('faults')).faults).to.have.length(1);
    await press(list, 'Clear Device');
    await list.getByText('No fault is in force').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('injects alarms chosen with check boxes, under a condition', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults?fault=device.alarm');
    const panel = panelOf(page, 'Make one');
    await panel.locator('[name="/codes/over_temp"]').check();
    await panel.locator('[name="/codes/ground_fault"]').check();
    await panel.getByText('When and how often').click();
    await panel.locator('[name="/when/point"]').fill('701.W');
    await panel.locator('[name="/when/above"]').fill('-1000000');
    await press(panel, 'Inject');
    await panelOf(page, 'Faults in force').getByText('device alarm').waitFor();
    const [fault] = (await dashboard.get('faults')).faults;
    expect(fault.parameters.codes).to.have.members(['over_temp', 'ground_fault']);
    expect(fault.when).to.include({ point: '701.W', above: -1_000_000 });
    await dashboard.post('faults', { clear: true });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('has one choice of what faults act on, kept over a reload, and terms with their units once', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults?fault=modbus.delay');
    const panel = panelOf(page, 'Make one');
    const choice = page.getByLabel('New faults act on');
    await page.getByLabel('Search ready-made faults').waitFor();
    await panel.getByText('When and how often').waitFor();
    expect(await page.locator('main select').count()).to.equal(3);
    await choice.selectOption('all');
    await page.getByLabel('Search ready-made faults').fill('energy-dips');
    await page.reload();
    expect(await choice.inputValue()).to.equal('all');
    expect(await page.getByLabel('Search ready-made faults').inputValue()).to.equal('energy-dips');
    await page.locator('.fault-card').getByRole('button', { name: 'Inject' }).click();
    const list = panelOf(page, 'Faults in force');
    await list.getByText('modbus value').first().waitFor();
    const ofProfile = (await dashboard.get('faults')).faults;
    expect(new Set(ofProfile.map(({ device_index }: { device_index: number | null }) => device_index))).to.deep.equal(
      new Set([null]),
    );
    await choice.selectOption('1');
    const labelled = (text: string) => panel.locator('label.field', { has: page.getByText(text, { exact: true }) });
    await labelled('Delay, ms (required)').locator('input').fill('7');
    await panel.getByText('When and how often').click();
    await labelled('Duration, s').locator('input').fill('90');
    await press(panel, 'Inject');
    await list.getByText('modbus delay').waitFor();
    const fault = (await dashboard.get('faults')).faults.at(-1);
    expect(fault).to.deep.include({ kind: 'delay', device_index: 1, duration_s: 90 });
    expect(fault.parameters.delay_ms).to.equal(7);
    await dashboard.post('faults', { clear: true });
    expect(seen.complaints).to.deep.equal([]);
    await choice.selectOption('meter');
    await page.evaluate(`location.hash = '#/inputs/faults?fault=device.reboot&fault-on=meter'`);
    await press(panel, 'Inject');
    await panel.locator('.problem', { hasText: 'The connection point has no meter' }).waitFor();
    expect((await dashboard.get('faults')).total).to.equal(0);
    await page.close();
  });

  it('takes the timing of a fault from the description of the API', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults?fault=modbus.exception');
    const panel = panelOf(page, 'Make one');
    await panel.getByText('When and how often').click();
    const { components } = (await (await fetch(`${dashboard.origin}/openapi.json`)).json()) as Answer;
    const { properties } = components.schemas.ModbusExceptionFault;
    await panel.locator('[name="/seed"]').waitFor();
    const names = await panel
      .locator('details [name^="/"]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('name')));
    const timing = ['count', 'duration_s', 'probability', 'every', 'seed'];
    expect(Object.keys(properties)).to.include.members([...timing, 'when']);
    expect(names).to.have.members([
      ...timing.map((name) => `/${name}`),
      ...Object.keys(components.schemas.FaultCondition.properties).map((name) => `/when/${name}`),
    ]);
    await panel.getByText(components.schemas.FaultCount.description).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('opens the form of each kind of the catalogue, and says when a protocol is off', async () => {
    const { page, seen } = await dashboard.open('#/inputs/faults');
    const panel = panelOf(page, 'Make one');
    const { kinds } = await dashboard.get('faults/kinds');
    for (const { protocol, kind, description, parameters } of kinds) {
      await page.evaluate(`location.hash = '#/inputs/faults?fault=${protocol}.${kind}'`);
      await panel.locator('[data-test="fault-description"]', { hasText: description }).waitFor();
      for (const { name } of parameters)
        expect(await panel.locator(`[name^="/${name}"]`).count(), `${kind} ${name}`).to.be.at.least(1);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.evaluate(`location.hash = '#/inputs/faults?fault=dnp3.no_confirm'`);
    await panel.locator('[data-test="fault-description"]', { hasText: 'Confirms' }).waitFor();
    await press(panel, 'Inject');
    await panel.locator('.problem', { hasText: 'DNP3' }).waitFor();
    await page.close();
  });
});
