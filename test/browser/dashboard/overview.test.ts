import { expect } from 'chai';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: overview', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(
      ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'],
      [],
    );
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** As the page writes a number. */
  const shown = (value: number, decimals: number, unit: string) =>
    `${value
      .toFixed(decimals)
      .replace(/^-(?=0*\.?0*$)/, '')
      .replace('-', '−')}\u00a0${unit}`;

  /** As the page writes a power: that of the turbine in megawatts. */
  const power = (kw: number) => (Math.abs(kw) < 10_000 ? shown(kw, 2, 'kW') : shown(kw / 1000, 2, 'MW'));

  /** Powers of the lines of the diagram, kW, positive towards the grid; each from the API. */
  async function flowsOf(device: number): Promise<Record<string, number>> {
    const { metrics, asset_type: kind } = (await dashboard.get(`devices?device=${device}`)).devices[0];
    const { load_kw: load } = await dashboard.get(`controls/environment?device=${device}`);
    const ask = (path: string) => dashboard.get(`${path}?device=${device}`);
    const dc = { 'dc-inverter': metrics.dc_power_kw };
    const sources: Record<string, () => Promise<Record<string, number>>> = {
      pv: () => Promise.resolve({ 'source-dc': metrics.dc_power_kw, ...dc }),
      battery: () => Promise.resolve(dc),
      wind: async () => {
        const wind = await ask('wind');
        return { 'source-dc': wind.mechanical_power_kw, 'dc-inverter': wind.electrical_power_kw };
      },
      fuelcell: async () => ({ 'source-dc': (await ask('fuelcell')).stack_power_kw, ...dc }),
      'hybrid-dc': async () => {
        const { pv, battery, inverter } = await ask('hybrid-dc');
        return { 'pv-dc': pv.power_kw, 'battery-dc': battery.power_kw, 'dc-inverter': inverter.dc_power_kw };
      },
      evse: async () => {
        const [{ connectors }] = (await dashboard.get('evse')).evses;
        return Object.fromEntries(
          connectors.map(({ connector_id: id, power_kw: kw }: { connector_id: number; power_kw: number }) => [
            `connector${id}-inverter`,
            -kw,
          ]),
        );
      },
    };
    const source = await sources[kind]?.();
    return { ...source, 'inverter-grid': metrics.power_kw, ...(load > 0 && { 'inverter-load': load }) };
  }

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
    // something flows in each of them
    await dashboard.post('grid-support/max-power?device=0', { enabled: false });
    await dashboard.post('controls/environment', { load_kw: 1.5 });
    await dashboard.post('controls/battery?device=1', { mode: 'charge', power_kw: 3 });
    const { charge_point_id: id } = (await dashboard.get('devices?device=5')).devices[0];
    await dashboard.post(`evse/${id}/connectors/1/plug`, { ev: { id: 'EV-7', soc_pct: 40 } });
    await dashboard.step(30);
    const { page, seen } = await dashboard.open();
    for (let device = 0; device < 6; device += 1) {
      await page.getByRole('table', { name: 'Devices' }).locator('tbody tr').nth(device).click();
      for (const again of [false, true]) {
        if (again) await page.reload();
        const wanted = await flowsOf(device);
        const said = Object.entries(wanted).map(([flow, kw]) => `${flow.replace('-', ' to ')}: ${power(kw)}`);
        await page.getByRole('img', { name: `One-line diagram. ${said.join('; ')}`, exact: true }).waitFor();
        expect(page.url()).to.contain(`device=${device}`);
        for (const [flow, kw] of Object.entries(wanted)) {
          const wire = page.locator(`[data-flow="${flow}"] .flow`);
          const isFlowing = Math.abs(kw) >= 0.0005;
          expect(await wire.count(), `${device} ${flow}`).to.equal(isFlowing ? 1 : 0);
          if (isFlowing) expect(await wire.getAttribute('class')).to.equal(kw < 0 ? 'flow back' : 'flow');
          expect(await page.locator(`[data-flow="${flow}"] .open`).count()).to.equal(0);
        }
      }
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows alarms, and this page among the peers', async () => {
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
    expect((await dashboard.get('stream/clients')).clients).to.have.length(1);
    expect(await peers.getByText('Telemetry (WebSocket)').count()).to.equal(1);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});

describe('dashboard: overview of a device with a disconnect switch', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard();
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    // its map has model 123, whose Conn is the switch
    await dashboard.post('devices', { device_type: 'PV-3Phase', profile: { name: 'With a switch', layout: 'mixed' } });
    await dashboard.step(10);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('draws the switch as the API has it, and no flow over an open one', async () => {
    const { page, seen } = await dashboard.open('#/overview?device=1');
    for (const closed of [false, true]) {
      await dashboard.post('registers/123?device=1', { points: { Conn: closed ? 1 : 0 } });
      await dashboard.step(400);
      const { service } = await dashboard.get('controls?device=1');
      expect(service.switch_closed).to.equal(closed);
      const { metrics } = await dashboard.get('overview?device=1');
      const text = closed ? `${metrics.power_kw.toFixed(2)}\u00a0kW` : 'switch open';
      await page.getByRole('img', { name: `inverter to grid: ${text}` }).waitFor();
      expect(await page.locator('[data-flow="inverter-grid"] .open').count()).to.equal(closed ? 0 : 1);
      expect(await page.locator('[data-flow="inverter-grid"] .flow').count()).to.equal(closed ? 1 : 0);
    }
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
