import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createApi } from '../../src/api/http/server.ts';
import type { Api } from '../../src/api/http/server.ts';
import { FakeClient, mrid } from '../api/csip-client/fake-client.ts';
import { apiContext } from '../support/api-context.ts';
import { findChromium, launch, watch } from '../support/browser.ts';
import { testPlant } from '../support/plant.ts';

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
    if (executable === undefined) {
      console.log('      no Chromium found (set CHROMIUM): the page of the CSIP client is not tested');
      this.skip();
    }
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

  it('shows status, events, reports and messages, and sends operations', async () => {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}/`);
    await page.waitForSelector('#messages td');
    expect(await page.textContent('#state')).to.equal('running');
    expect(await page.textContent('#status')).to.contain('https://127.0.0.1:8443/dcap');
    expect(await page.textContent('#end-device')).to.contain('/edev/0');
    expect(await page.textContent('#controls')).to.contain('op_mod_max_lim_w_pct');
    expect(await page.textContent('#responses')).to.contain('started');
    expect(await page.textContent('#der')).to.contain('modesSupported');
    expect(await page.textContent('#readings')).to.contain('-5000');
    expect(await page.textContent('#messages')).to.contain('DeviceCapability');
    expect(await page.textContent('#programs'), 'texts of the server are texts').to.contain(hostile);
    expect(await page.locator('img').count()).to.equal(0);

    await page.fill('#device', '1');
    for (const text of ['Poll', 'Lose communication', 'Send DER documents', 'Record messages']) {
      const sent = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.click(`#actions >> text="${text}"`);
      expect((await sent).status(), text).to.be.oneOf([200, 202]);
    }
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.locator('#controls button').first().click();
    await sent;
    expect(client.asked.map(([name]) => name)).to.deep.equal(['poll', 'communication', 'postDer', 'record', 'opt']);
    expect(client.asked[0]).to.deep.equal(['poll', 1]);
    expect(client.asked[4]).to.deep.equal(['opt', mrid, false, 1]);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
