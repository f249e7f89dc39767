import { expect } from 'chai';
import type { Dnp3Endpoint } from '../../../src/core/adapter.ts';
import { TestMaster } from '../../dnp3/rig/master.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: Modbus, DNP3 and the SunSpec client', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase'], ['--dnp3_enable', 'yes', '--dnp3_port', '0']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  it('says which write of a master was refused, and why', async () => {
    const { page, seen } = await dashboard.open('#/protocols/modbus/messages');
    await page.getByText('Recording began: Modbus messages.').waitFor();
    await page.getByRole('button', { name: 'Stop recording' }).waitFor();
    const client = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
    const { points } = await dashboard.get('registers/704?points=WMaxLimPct');
    const { address } = points[0];
    await client.request(readRequest(1, address, 1));
    // 600 %
    expect(await client.request(adu(2, 1, `06${address.toString(16)}ea60`))).to.match(/8603$/);
    const rows = page.locator('table[aria-label="Modbus messages"] tbody tr');
    await rows.nth(3).waitFor();
    await page.getByRole('button', { name: 'Refused only' }).click();
    const refused = rows.filter({ hasText: '600 is outside 0..100' });
    await refused.waitFor();
    expect(await rows.count()).to.equal(1);
    expect(await refused.innerText()).to.contain('exception 3 (illegal data value)');
    expect(await refused.innerText()).to.contain('704.WMaxLimPct = 600');
    await refused.click();
    const { messages } = await dashboard.get('modbus/messages');
    await page.locator('pre[aria-label="Octets"]').waitFor();
    expect((await page.locator('pre[aria-label="Octets"]').innerText()).replaceAll(' ', '')).to.equal(
      messages.at(-1).raw,
    );
    await page.reload();
    await refused.waitFor();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('button', { name: 'Record', exact: true }).waitFor();
    expect((await dashboard.get('modbus/messages')).enabled).to.equal(false);
    client.destroy();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows refused writes of the log without a recording, and begins to record in place', async () => {
    const client = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
    const { points } = await dashboard.get('registers/704?points=WMaxLimPct');
    const write = `06${points[0].address.toString(16)}ea60`;
    expect(await client.request(adu(3, 1, write))).to.match(/8603$/);
    const { page, seen } = await dashboard.open('#/protocols/modbus?refused=only');
    await page.getByRole('button', { name: 'Stop recording' }).click();
    const { logs } = await dashboard.get('logs?modules=Modbus&levels=warning');
    expect(logs.at(-1).message).to.match(
      /unit 1: function 6 .*\(704\.WMaxLimPct\) refused with exception 3 .*600 is outside/,
    );
    const rows = page.locator('table[aria-label="Refusals in the log"] tbody tr');
    await rows.nth(logs.length - 1).waitFor();
    expect(await rows.count()).to.equal(logs.length);
    await page.getByText('Messages are not being recorded').waitFor();
    await page.getByRole('button', { name: 'Record messages', exact: true }).click();
    await page.getByText('Messages are not being recorded').waitFor({ state: 'detached' });
    expect((await dashboard.get('modbus/messages')).enabled).to.equal(true);
    await client.request(adu(4, 1, write));
    const refused = page
      .locator('table[aria-label="Modbus messages"] tbody tr')
      .filter({ hasText: '600 is outside 0..100' });
    await refused.last().click();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText('Messages are not being recorded').waitFor();
    await page.reload();
    // the chosen message stays
    await page.locator('pre[aria-label="Octets"]').waitFor();
    client.destroy();
    await page.goto(`${dashboard.origin}/#/events/log?level=warning&module=Modbus`);
    const lines = page.locator('table[aria-label="Log"] tbody tr');
    await lines.filter({ hasText: 'refused with exception 3' }).first().waitFor();
    expect(await lines.first().innerText()).to.contain('warning');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('keeps the settings of each view to that view', async () => {
    const { page, seen } = await dashboard.open('#/protocols/modbus/messages');
    await page.getByLabel('Find in Modbus messages').fill('nothing like this');
    await page.getByLabel('Device of the messages').selectOption('0');
    await page.reload();
    expect(await page.getByLabel('Find in Modbus messages').inputValue()).to.equal('nothing like this');
    const { hash } = new URL(page.url());
    // also where someone takes the settings along by hand
    for (const [view, label] of [
      ['protocols/dnp3/messages', 'Find in DNP3 messages'],
      ['logs', 'Find in the log'],
    ] as const) {
      await page.goto(`${dashboard.origin}/${hash.replace('protocols/modbus/messages', view)}`);
      expect(await page.getByLabel(label).inputValue(), view).to.equal('');
    }
    expect(await page.getByLabel('Device of the lines').inputValue()).to.equal('');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows the masters, points and messages of an outstation', async () => {
    const { page, seen } = await dashboard.open('#/protocols/dnp3/sequence');
    await page.getByRole('button', { name: 'Stop recording' }).waitFor();
    const { port, outstation } = dashboard.app.adapters
      .map((adapter) => adapter.endpointOf?.(0))
      .find((endpoint): endpoint is Dnp3Endpoint => endpoint?.protocol === 'dnp3') as Dnp3Endpoint;
    const master = await TestMaster.connect({ port, outstation, address: 4 });
    // READ of class 0
    master.send(1, Buffer.from('3c0106', 'hex'));
    await page.locator('.sequence .arrow').nth(1).waitFor();
    const parts = page.getByRole('navigation', { name: 'Parts of DNP3' });
    await parts.getByText('State').click();
    await page.locator('table[aria-label="Masters"]').getByText('connected', { exact: true }).waitFor();
    const { masters } = await dashboard.get('dnp3?device=0');
    expect(masters[0].connected).to.equal(true);
    expect(await page.locator('table[aria-label="Masters"]').innerText()).to.contain(
      masters[0].iin.map((name: string) => name.replaceAll('_', ' ')).join(', '),
    );
    await parts.getByText('Points').click();
    await page.getByLabel('Find points').fill('702.WMaxRtg');
    await page.reload();
    const rows = page.locator('table[aria-label="Points"] tbody tr');
    await rows.first().waitFor();
    const points = (await dashboard.get('dnp3/points?device=0&type=AI')).points.filter(
      (point: { bound_to: string | null }) => point.bound_to === '702.WMaxRtg',
    );
    expect(await rows.count()).to.equal(points.length);
    expect(await rows.first().innerText()).to.contain(String(points[0].value));
    await master.close();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('connects to a device, writes to it and says what it refused', async () => {
    const { page, seen } = await dashboard.open('#/protocols/sunspec-client');
    // this simulator itself is the device
    const { port } = modbusEndpoint(dashboard.app, 0);
    await page.getByLabel('Host').fill('127.0.0.1');
    await page.getByLabel('Port', { exact: true }).fill(String(port));
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.locator('table[aria-label="Models of the device"]').getByText('DERCtlAC').click();
    const point = page
      .locator('table[aria-label="Points of model 704"] tr')
      .filter({ has: page.getByText('WMaxLimPct', { exact: true }) });
    await point.click();
    await page.getByLabel('New value of WMaxLimPct').fill('80');
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await page.getByText('returns the same value').waitFor();
    const [written] = (await dashboard.get('registers/704?points=WMaxLimPct')).points;
    expect([written.value, written.source]).to.deep.equal([80, 'modbus']);
    await page.getByLabel('New value of WMaxLimPct').fill('300');
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'illegal data value' }).waitFor();
    await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
    await page.getByText('not connected', { exact: true }).waitFor();
    expect((await dashboard.get('sunspec-client')).state).to.equal('disabled');
    expect(seen.complaints.filter((text) => !/50\d|409|42\d/.test(text))).to.deep.equal([]);
    await page.close();
  });
});
