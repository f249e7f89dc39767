import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';

describe('dashboard: overview', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(
      ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'],
      [],
    );
    if (started === undefined) this.skip();
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** As the page writes a number. */
  const shown = (value: number, decimals: number, unit: string) =>
    `${value
      .toFixed(decimals)
      .replace(/^-(?=0*\.?0*$)/, '')
      .replace('-', '−')}\u00a0${unit}`;

  it('shows the telemetry of the chosen device, and newer telemetry after a step', async () => {
    const { page, seen } = await dashboard.open('#/overview?device=0');
    for (const seconds of [1, 2]) {
      await dashboard.post('controls/environment', { irradiance_w_m2: 400 * seconds });
      await dashboard.step(10);
      const { metrics } = await dashboard.get('overview?device=0');
      const tile = (quantity: string) => page.locator(`[data-test="${quantity}"] .value`);
      await tile('activePower')
        .filter({ hasText: shown(metrics.power_kw, 2, 'kW') })
        .waitFor();
      expect(await tile('reactivePower').textContent()).to.equal(shown(metrics.reactive_power_kvar, 2, 'kvar'));
      expect(await tile('voltage').textContent()).to.equal(shown(metrics.voltage_ln_v, 1, 'V'));
      expect(await tile('frequency').textContent()).to.equal(shown(metrics.frequency_hz, 3, 'Hz'));
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('lists every device with what sets its power and its last write', async () => {
    await dashboard.post('grid-support/max-power?device=0', { enabled: true, limit_pct: 10 });
    await dashboard.step(20);
    const { page, seen } = await dashboard.open();
    const { devices } = await dashboard.get('overview');
    const rows = page.getByRole('table', { name: 'Devices' }).locator('tbody tr');
    await rows.nth(devices.length - 1).waitFor();
    for (const [index, device] of devices.entries()) {
      const text = await rows.nth(index).textContent();
      expect(text).to.contain(device.name).and.to.contain(device.decided_by.active.replaceAll('_', ' '));
    }
    expect(await rows.nth(0).textContent())
      .to.contain('max power')
      .and.to.contain(`rest ${devices[0].last_write.name}`);
    await page.getByLabel('Filter devices').fill('batt');
    await rows.nth(1).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Devices (1 of 6)' }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('draws the flows of each kind of device, and keeps the choice over a reload', async () => {
    const { page, seen } = await dashboard.open();
    const nodes: Record<number, readonly string[]> = {
      0: ['source', 'dc', 'inverter', 'grid'],
      1: ['dc', 'inverter', 'grid'],
      2: ['source', 'dc', 'inverter', 'grid'],
      3: ['source', 'dc', 'inverter', 'grid'],
      4: ['pv', 'battery', 'dc', 'inverter', 'grid'],
      5: ['connector1', 'inverter', 'grid'],
    };
    for (const [device, wanted] of Object.entries(nodes)) {
      await page.getByRole('table', { name: 'Devices' }).locator('tbody tr').nth(Number(device)).click();
      for (const node of wanted) await page.locator(`[data-node="${node}"]`).first().waitFor();
      await page.reload();
      await page.locator(`[data-node="${wanted[0]}"]`).first().waitFor();
      expect(page.url()).to.contain(`device=${device}`);
      const drawn = await page
        .locator('[data-node]')
        .evaluateAll((all) => all.map((node) => node.getAttribute('data-node')));
      expect(drawn).to.include.members([...wanted]);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows an open switch, alarms, and this page among the peers', async () => {
    await dashboard.post('controls/grid', { outage: true });
    await dashboard.step(5);
    const { page, seen } = await dashboard.open('#/overview?device=0');
    const { alarms } = await dashboard.get('overview?device=0');
    expect(alarms.active_count).to.be.greaterThan(0);
    await page.getByRole('heading', { name: `Alarms (${alarms.active_count})` }).waitFor();
    const table = await page.getByRole('table', { name: 'Alarms' }).textContent();
    for (const { message } of alarms.active) expect(table).to.contain(message);
    const peers = page.getByRole('table', { name: 'Connected peers' });
    await peers.getByText('Telemetry (WebSocket)').first().waitFor();
    await dashboard.post('controls/grid', { outage: false });
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
