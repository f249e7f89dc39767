import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { adu, RawClient } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const panelOf = (page: Page, title: string): Locator => page.getByRole('region', { name: title, exact: true });
const press = (panel: Locator, name: string) => panel.getByRole('button', { name, exact: true }).click();
const fill = (panel: Locator, name: string, text: string) => panel.locator(`[name="${name}"]`).fill(text);

/** Types a value into the number of a slider. */
const enter = async (page: Page, name: string, text: string) => {
  const field = page.getByRole('textbox', { name, exact: true }).first();
  await field.fill(text);
  await field.press('Enter');
};

/** Complaints but for those about answers that a test provokes. */
const unexpected = (complaints: readonly string[]) => complaints.filter((text) => !/\b(403|404|409|422)\b/.test(text));

describe('dashboard: grid and inputs', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.post('controls/environment', { irradiance_w_m2: 800 });
    await dashboard.step(5);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const metrics = async (device = 0) => (await dashboard.get(`devices?device=${device}`)).devices[0].metrics;

  it('sets the voltage of one device, which the device measures after a step, and takes it back', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid?on=0');
    const state = page.locator('[data-test="grid-state"]');
    const before = await metrics();
    await enter(page, 'Voltage, %', '97');
    await state.getByText('97.0\u00a0%').waitFor();
    await state.getByText(/dashboard 127\.0\.0\.1/).waitFor();
    await dashboard.step(3);
    expect((await metrics()).voltage_ln_v).to.be.closeTo(before.voltage_ln_v * 0.97, before.voltage_ln_v * 0.02);
    expect((await dashboard.get('controls/grid?device=1')).voltage_a_pu).to.equal(1);
    await page.getByRole('combobox', { name: 'Acts on' }).selectOption('all');
    const deviations = panelOf(page, 'Not on the common grid (1)');
    await press(deviations, 'Back to the common grid');
    await deviations.waitFor({ state: 'detached' });
    await enter(page, 'Frequency, Hz', '59.5');
    await state.getByText('59.500\u00a0Hz').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await state.getByText('60.000\u00a0Hz').waitFor();
    expect(await page.getByRole('button', { name: 'Follow the profile' }).isDisabled()).to.equal(true);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('starts a sag, shows it under way, and stops it', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid');
    const card = page.getByRole('form', { name: 'Sag' });
    await fill(card, 'residual_pu', '500');
    await press(card, 'Start sag');
    await card.locator('.issue').waitFor();
    await fill(card, 'residual_pu', '95');
    await fill(card, 'duration_s', '30');
    await press(card, 'Start sag');
    const panel = panelOf(page, 'Grid');
    await panel.locator('.chip', { hasText: 'sag' }).waitFor();
    expect((await dashboard.get('controls/grid')).event).to.include({ name: 'sag', remaining_s: 30 });
    await dashboard.step();
    const { remaining_s } = (await dashboard.get('controls/grid')).event;
    expect(remaining_s).to.be.below(30);
    await panel.getByText(`${Math.round(remaining_s)}\u00a0s left`).waitFor();
    await press(panel, 'Stop event');
    await panel.locator('.chip', { hasText: 'sag' }).waitFor({ state: 'detached' });
    expect((await dashboard.get('controls/grid')).event).to.equal(null);
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('opens the form of each named event', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid?event=sag');
    const panel = page.locator('.more-events');
    const { events } = await dashboard.get('grid-events');
    for (const { name, description, parameters } of events) {
      await panel.getByRole('combobox', { name: 'Event', exact: true }).selectOption(name);
      await panel.getByText(description, { exact: true }).waitFor();
      expect(await panel.locator('.form .field').count(), name).to.equal(parameters.length);
      for (const label of await panel.locator('.form .field > span').allInnerTexts()) {
        const [term = ''] = label.split(/, (?=[^,]*$)/);
        expect(term, 'a unit stands once, behind the term').not.to.match(/_|\b(pu|pct|hz|deg|s)\b/i);
      }
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('changes the irradiance, and with it the power', async () => {
    await dashboard.step(60);
    const before = await metrics();
    const { page, seen } = await dashboard.open('#/inputs/weather');
    const state = page.locator('[data-test="weather-state"]');
    await enter(page, 'Irradiance, W/m²', '200');
    await state.getByText('200\u00a0W/m²').waitFor();
    await dashboard.step(30);
    expect((await metrics()).power_kw).to.be.within(0.01, before.power_kw * 0.5);
    await page.getByRole('button', { name: 'Undo' }).click();
    await state.getByText('800\u00a0W/m²').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('overrides the wind and shades the array, and ends both', async () => {
    const { page, seen } = await dashboard.open('#/inputs/weather');
    const wind = panelOf(page, 'Wind');
    await enter(page, 'Wind speed, m/s', '9');
    await wind.getByText('constant').waitFor();
    expect((await dashboard.get('wind?device=2')).override_wind_speed_m_s).to.equal(9);
    await press(wind, 'From data');
    await wind.locator('small', { hasText: 'from data' }).waitFor();
    const shade = panelOf(page, 'Shade');
    await press(shade, 'Half');
    await shade.locator('[aria-pressed="true"]', { hasText: 'Half' }).waitFor();
    expect(await dashboard.get('controls/shading')).to.include({ shaded_share: 0.5, irradiance_share: 0.2 });
    await enter(page, 'Light on the shaded modules, %', '40');
    await page.getByRole('status').getByText('Light on the shaded modules: 40\u00a0%').waitFor();
    expect(await dashboard.get('controls/shading')).to.include({ shaded_share: 0.5, irradiance_share: 0.4 });
    await press(shade, 'None');
    await shade.locator('[aria-pressed="true"]', { hasText: 'None' }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('sets the time of day and the rate', async () => {
    const { page, seen } = await dashboard.open('#/inputs/clock');
    const panel = panelOf(page, 'What time it is');
    await fill(panel, 'clock_time', '25:00:00');
    await press(panel, 'Set the time');
    await panel.locator('label.field:has([name="clock_time"]) .issue').waitFor();
    await fill(panel, 'clock_time', '12:30:00');
    await press(panel, 'Set the time');
    await panelOf(page, 'Clock').getByText('12:30:00', { exact: true }).waitFor();
    await enter(page, 'Rate, ×', '2');
    await panelOf(page, 'Clock').getByText('×2.00').waitFor();
    expect(await dashboard.get('controls/time')).to.include({ clock_time: '12:30:00', rate: 2, mode: 'paused' });
    await dashboard.post('controls/time', { rate: 1 });
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('caps the power with an export limit of an owner, and ends it', async () => {
    const { page, seen } = await dashboard.open('#/inputs/site?owner=feeder');
    const panel = panelOf(page, 'Whole site');
    await enter(page, 'Export limit, kW', '1');
    await enter(page, 'Generation limit, kW', '1');
    await panel.getByRole('cell', { name: 'rest:feeder' }).first().waitFor();
    await dashboard.step(60);
    const site = await dashboard.get('site');
    expect(site.net_power_kw).to.be.at.most(1.05);
    expect(site.export_limit_owner).to.equal('rest:feeder');
    await panel.locator('.chip', { hasText: 'limits' }).first().waitFor();
    await press(panel, 'End rest:feeder');
    await panel.getByRole('cell', { name: 'rest:feeder' }).first().waitFor({ state: 'detached' });
    expect((await dashboard.get('site')).owners).to.deep.equal([]);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('limits a group of devices', async () => {
    const { page, seen } = await dashboard.open('#/inputs/site');
    const choice = panelOf(page, 'Limit a group of devices');
    await choice.getByRole('checkbox', { name: /^0 / }).check();
    await choice.getByRole('checkbox', { name: /^1 / }).check();
    const group = panelOf(page, 'Devices 0, 1');
    const field = group.getByRole('textbox', { name: 'Export limit, kW' });
    await field.fill('2');
    await field.press('Enter');
    await group.getByText('2.00\u00a0kW in force, rest').waitFor();
    expect((await dashboard.get('site/scopes')).scopes[1]).to.deep.include({ devices: [0, 1], export_limit_kw: 2 });
    await press(group, 'End rest');
    await group.getByText('in force').waitFor({ state: 'detached' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('turns the local switch, which refuses a write over Modbus, and turns it back', async () => {
    const { page, seen } = await dashboard.open('#/devices/1/picture');
    await page.getByRole('button', { name: 'Device menu', exact: true }).click();
    const master = await RawClient.open(modbusEndpoint(dashboard.app, 1).port);
    const { points } = await dashboard.get('registers/704?device=1');
    const { address } = points.find(({ name }: { name: string }) => name === 'WMaxLimPctEna');
    const pdu = `06${address.toString(16).padStart(4, '0')}0000`;
    const write = async () => (await master.request(adu(1, 1, pdu))).slice(14);
    await page.getByRole('button', { name: 'Local control', exact: true }).click();
    await page.getByRole('button', { name: 'Remote control', exact: true }).waitFor();
    expect((await dashboard.get('controls/local?device=1')).local).to.equal(true);
    expect(await write()).to.match(/^86/);
    await page.getByRole('button', { name: 'Remote control', exact: true }).click();
    await page.getByRole('button', { name: 'Local control', exact: true }).waitFor();
    expect((await dashboard.get('controls/local?device=1')).local).to.equal(false);
    expect(await write()).to.match(/^06/);
    master.destroy();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('stops a device and starts it', async () => {
    const { page, seen } = await dashboard.open('#/events/timeline?kind=command&device=0');
    const panel = panelOf(page, 'Operator commands');
    await press(panel, 'Stop');
    await panel.locator('.chip', { hasText: 'queued' }).waitFor();
    await dashboard.step(120);
    await panel.locator('.chip', { hasText: 'completed' }).waitFor();
    expect((await dashboard.get('devices?device=0')).devices[0].status.inverter_state).to.equal('off');
    await press(panel, 'Start');
    await panel.getByRole('cell', { name: 'start' }).waitFor();
    await dashboard.step(5);
    expect((await dashboard.get('commands')).commands[0]).to.include({ command: 'start', source: 'dashboard' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('adds a device and removes it', async () => {
    const { page, seen } = await dashboard.open('#/simulator');
    await press(panelOf(page, 'Devices'), 'Add a device');
    const dialog = page.getByRole('dialog', { name: 'Add a device' });
    await dialog.locator('[name="/device_type"]').selectOption('Batt-1Phase');
    await fill(dialog, '/name', 'Added here');
    await fill(dialog, 'further', '{"modbus": {"port": -1}}');
    await press(dialog, 'Add');
    await dialog.locator('.problem').waitFor();
    await fill(dialog, 'further', '');
    await press(dialog, 'Add');
    await panelOf(page, 'Devices').first().getByRole('link', { name: 'Added here' }).waitFor();
    const { devices } = await dashboard.get('devices');
    expect(devices.at(-1)).to.include({ name: 'Added here', device_type: 'Batt-1Phase' });
    page.on('dialog', (question) => void question.accept());
    await page.getByRole('button', { name: `Remove ${devices.at(-1).device_index}`, exact: true }).click();
    await page.getByRole('link', { name: 'Added here' }).waitFor({ state: 'detached' });
    expect((await dashboard.get('devices')).devices).to.have.length(3);
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });
});
