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

  it('sets the voltage of one device, which the device measures after a step', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid?on=0');
    const panel = panelOf(page, 'Grid');
    const before = await metrics();
    await fill(panel, 'voltage_pu', '0.97');
    await press(panel, 'Set the grid');
    await panel.getByText('0.9700 pu, 0.9700 pu, 0.9700 pu').waitFor();
    await panel.getByText(/dashboard 127\.0\.0\.1/).waitFor();
    await dashboard.step(3);
    expect((await metrics()).voltage_ln_v).to.be.closeTo(before.voltage_ln_v * 0.97, before.voltage_ln_v * 0.02);
    expect((await dashboard.get('controls/grid?device=1')).voltage_a_pu).to.equal(1);
    await page.reload();
    await panel.getByText('0.9700 pu, 0.9700 pu, 0.9700 pu').waitFor();
    await press(panel, 'Back to the common grid');
    await panel.getByText('1.0000 pu, 1.0000 pu, 1.0000 pu').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows the objection to a voltage beside its field', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid');
    const panel = panelOf(page, 'Grid');
    await panel.getByText('No grid profile is loaded: start with --grid_profile FILE.').waitFor();
    expect(await panel.getByRole('button', { name: 'Back to the grid profile' }).isDisabled()).to.equal(true);
    await fill(panel, 'voltage_a_pu', '3');
    await press(panel, 'Set the grid');
    await panel.locator('label.field:has([name="voltage_a_pu"]) .issue').waitFor();
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('starts a sag, shows it under way, and stops it', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid?event=sag');
    const panel = panelOf(page, 'Grid events');
    await fill(panel, '/residual_pu', '5');
    await press(panel, 'Start the event');
    await panel.locator('label.field:has([name="/residual_pu"]) .issue').waitFor();
    await fill(panel, '/residual_pu', '0.95');
    await fill(panel, '/duration_s', '30');
    await press(panel, 'Start the event');
    await panel.locator('.chip', { hasText: 'sag' }).waitFor();
    expect((await dashboard.get('controls/grid')).event).to.include({ name: 'sag', remaining_s: 30 });
    await dashboard.step();
    const { remaining_s } = (await dashboard.get('controls/grid')).event;
    expect(remaining_s).to.be.below(30);
    await panel.getByText(`${remaining_s.toFixed(1)} s`).waitFor();
    await press(panel, 'Stop the event');
    await panel.getByText('No event acts on').waitFor();
    expect((await dashboard.get('controls/grid')).event).to.equal(null);
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('opens the form of each named event', async () => {
    const { page, seen } = await dashboard.open('#/inputs/grid');
    const panel = panelOf(page, 'Grid events');
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
    const panel = panelOf(page, 'Environment');
    await fill(panel, 'irradiance_w_m2', '200');
    await press(panel, 'Set the environment');
    await panel.getByText('200 W/m²').waitFor();
    await dashboard.step(30);
    expect((await metrics()).power_kw).to.be.within(0.01, before.power_kw * 0.5);
    await fill(panel, 'irradiance_w_m2', '800');
    await press(panel, 'Set the environment');
    await panel.getByText('800 W/m²').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('overrides the wind and shades the array, and ends both', async () => {
    const { page, seen } = await dashboard.open('#/inputs/weather');
    const wind = panelOf(page, 'Wind');
    await fill(wind, 'wind_speed_m_s', '9');
    await press(wind, 'Override the wind');
    await wind.getByText('9.0 m/s').first().waitFor();
    expect((await dashboard.get('wind?device=2')).override_wind_speed_m_s).to.equal(9);
    await press(wind, 'End the override');
    await wind.getByText('dataset').waitFor();
    const shading = panelOf(page, 'Shading');
    await fill(shading, 'shaded_share', '0.5');
    await fill(shading, 'irradiance_share', '0.2');
    await press(shading, 'Shade');
    await shading.getByText('50.0 %').waitFor();
    expect(await dashboard.get('controls/shading')).to.include({ shaded_share: 0.5, irradiance_share: 0.2 });
    await press(shading, 'End the shading');
    await shading.getByText('0.0 %', { exact: true }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('sets the time of day and the rate', async () => {
    const { page, seen } = await dashboard.open('#/inputs/clock');
    const panel = panelOf(page, 'Time');
    await fill(panel, 'clock_time', '25:00:00');
    await press(panel, 'Set the clock');
    await panel.locator('label.field:has([name="clock_time"]) .issue').waitFor();
    await fill(panel, 'clock_time', '12:30:00');
    await fill(panel, 'rate', '2');
    await press(panel, 'Set the clock');
    await panel.getByText('12:30:00', { exact: true }).waitFor();
    expect(await dashboard.get('controls/time')).to.include({ clock_time: '12:30:00', rate: 2, mode: 'paused' });
    await dashboard.post('controls/time', { rate: 1 });
    expect(unexpected(seen.complaints)).to.deep.equal([]);
    await page.close();
  });

  it('caps the power with an export limit of an owner, and ends it', async () => {
    const { page, seen } = await dashboard.open('#/inputs/site');
    const panel = panelOf(page, 'Site limits');
    await fill(panel, 'export_limit_kw', '1');
    await fill(panel, 'generation_limit_kw', '1');
    await fill(panel, 'owner', 'feeder');
    await press(panel, 'Set the limits');
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
    const panel = panelOf(page, 'Site limits');
    await fill(panel, 'export_limit_kw', '2');
    await fill(panel, 'devices', '0, 1');
    await press(panel, 'Set the limits');
    const group = panel.getByRole('region', { name: 'Devices 0, 1', exact: true });
    await group.getByRole('cell', { name: '2.00 kW' }).first().waitFor();
    await group.getByRole('button', { name: 'End rest', exact: true }).click();
    await group.waitFor({ state: 'detached' });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('turns the local switch, which refuses a write over Modbus, and turns it back', async () => {
    const { page, seen } = await dashboard.open('#/devices/1/details');
    const panel = panelOf(page, 'Local/remote switch');
    const master = await RawClient.open(modbusEndpoint(dashboard.app, 1).port);
    const { points } = await dashboard.get('registers/704?device=1');
    const { address } = points.find(({ name }: { name: string }) => name === 'WMaxLimPctEna');
    const pdu = `06${address.toString(16).padStart(4, '0')}0000`;
    const write = async () => (await master.request(adu(1, 1, pdu))).slice(14);
    await press(panel, 'Switch to local');
    await panel.locator('.chip', { hasText: 'local' }).waitFor();
    expect((await dashboard.get('controls/local?device=1')).local).to.equal(true);
    expect(await write()).to.match(/^86/);
    await press(panel, 'Switch to remote');
    await panel.locator('.chip', { hasText: 'remote' }).waitFor();
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
