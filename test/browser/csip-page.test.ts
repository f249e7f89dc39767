import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createApi } from '../../src/api/http/server.ts';
import type { Api } from '../../src/api/http/server.ts';
import { FakeClient } from '../api/csip-client/fake-client.ts';
import { apiContext } from '../support/api-context.ts';
import { findChromium, launch, noChromium, watch } from '../support/browser.ts';
import { testPlant } from '../support/plant.ts';
import { skip } from '../support/skip.ts';

const hostile = '<img src=x onerror="document.title=1">';

/** A head-end whose texts are HTML. */
class HostileClient extends FakeClient {
  override programs: FakeClient['programs'] = () => [
    { ...this.current.programs[0]!, description: hostile, defaultControl: null },
  ];
}

describe('page of the IEEE 2030.5 client in a browser', () => {
  let browser: Browser;
  let api: Api;
  let client: HostileClient;
  let origin: string;

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    browser = await launch(executable);
    client = new HostileClient();
    const context = apiContext({ plant: testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }), csipClient: client });
    api = createApi({ ...context, config: { ...context.config, csipWebsite: { host: '127.0.0.1', port: 0 } } });
    await api.start();
    origin = `http://127.0.0.1:${api.csipWebsite?.port}`;
  });

  after(async () => {
    // a skipped suite has started neither
    await (browser as Browser | undefined)?.close();
    await (api as Api | undefined)?.stop();
  });

  it('shows the client of the device in the address, texts as texts, and sends operations', async () => {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}/#/?device=1`);
    await page.getByText(hostile, { exact: true }).waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    expect(await page.title()).to.equal('derbench: IEEE 2030.5 client');
    expect(await page.getByRole('combobox', { name: 'Device' }).inputValue()).to.equal('1');
    expect(await page.textContent('#content')).to.contain('https://127.0.0.1:8443/dcap');
    const press = async (name: string) => {
      const sent = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name, exact: true }).first().click();
      expect((await sent).status(), name).to.be.oneOf([200, 202]);
    };
    await press('Poll');
    await press('Lose communication');
    await page.getByRole('link', { name: 'Reports', exact: true }).click();
    await page.getByText('modesSupported').waitFor();
    await press('Send DER documents');
    expect(client.asked.map(([name]) => name)).to.deep.equal(['poll', 'communication', 'postDer']);
    expect(client.asked[0]).to.deep.equal(['poll', 1]);
    expect(seen.requests.filter((url) => url.includes('/ws/'))).to.deep.equal([]);
    await page.reload();
    await page.getByText('modesSupported').waitFor();
    expect(await page.getByRole('combobox', { name: 'Device' }).inputValue()).to.equal('1');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('fits into 800 px in every part', async () => {
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    const seen = watch(page, origin);
    const wide: Record<string, number> = {};
    for (const part of ['state', 'events', 'reports', 'messages', 'sequence', 'client', 'settings', 'connect']) {
      await page.goto(`${origin}/#/protocols/csip/${part}?device=1`);
      await page.getByRole('navigation', { name: 'Parts of CSIP' }).getByText('State').waitFor();
      await page.waitForLoadState('networkidle');
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > 800) wide[part] = width;
    }
    expect(wide).to.deep.equal({});
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows a refusal at the field that is at fault', async () => {
    const page = await browser.newPage();
    await page.goto(`${origin}/#/?csip-part=settings`);
    const port = page.locator('input[name="server_port"]');
    await port.fill('99999');
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Change settings', exact: true }).click();
    expect((await sent).status()).to.equal(422);
    const { detail, errors } = (await (await sent).json()) as {
      detail: string;
      errors: readonly { name: string; detail: string }[];
    };
    expect(errors[0]?.name).to.equal('/server_port');
    expect(detail).to.contain(errors[0]?.detail ?? '-');
    await page
      .locator('.field')
      .filter({ has: port })
      .getByText(errors[0]?.detail ?? '-')
      .waitFor();
    expect(await port.getAttribute('aria-invalid')).to.equal('true');
    await page.close();
  });

  it('says that the daemon is gone, greys what is old, and goes on when it is back', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`${origin}/#/`);
    await page.getByText(hostile, { exact: true }).waitFor();
    const { port } = new URL(origin);
    await api.stop();
    const banner = page.getByRole('alert').filter({ hasText: 'Values are from' });
    await banner.waitFor();
    await page.locator('.panel.outdated').first().waitFor();
    const context = apiContext({ plant: testPlant({ types: ['PV-3Phase'] }), csipClient: client });
    api = createApi({
      ...context,
      config: { ...context.config, csipWebsite: { host: '127.0.0.1', port: Number(port) } },
    });
    await api.start();
    await banner.waitFor({ state: 'detached' });
    await page.locator('.panel.outdated').first().waitFor({ state: 'detached' });
    await page.getByText(hostile, { exact: true }).waitFor();
    expect(await banner.count()).to.equal(0);
    await page.close();
  });
});
